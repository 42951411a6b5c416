// The receiver's control socket for its own administrator: a Unix socket beside the board, by which nodes are removed.
// One line of JSON each way. Refuses everybody except the receiver's own user and root: the socket's mode is 0600.

import { lstatSync, rmSync } from 'node:fs';
import { createServer, connect as open, type Server, type Socket } from 'node:net';
import type { Log } from '../service/log.js';
import { isObject, isText, jsonOf } from '../text/shape.js';
import { oneLine } from '../text/text.js';

/** Names that had a record, and names that had none. */
export type Forgotten = { forgotten: string[]; unknown: string[] };
type ControlAnswer = Forgotten | { error: string };

const LONGEST_NAME = 63;

/** An object with exactly these keys, in any order. */
function hasKeys<K extends string>(value: unknown, ...keys: K[]): value is Record<K, unknown> {
  return isObject(value) && Object.keys(value).length === keys.length && keys.every(key => Object.hasOwn(value, key));
}

const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** The names to remove; undefined: the line is not a valid request. */
function namesOf(line: string): string[] | undefined {
  const question = jsonOf(line);
  if (!hasKeys(question, 'forget') || !areTexts(question.forget)) return undefined;
  return question.forget.every(name => name !== '' && name.length <= LONGEST_NAME) ? question.forget : undefined;
}

/** A receiver's answer; undefined: the line is not a valid answer. */
function answerOf(line: string): ControlAnswer | undefined {
  const answer = jsonOf(line);
  if (hasKeys(answer, 'error') && isText(answer.error)) return { error: answer.error };
  if (!hasKeys(answer, 'forgotten', 'unknown')) return undefined;
  const { forgotten, unknown } = answer;
  return areTexts(forgotten) && areTexts(unknown) ? { forgotten, unknown } : undefined;
}

/** A million names of the longest kind. */
const MOST_BYTES = 80 << 20;
/** How long each side waits for the other, ms. */
const PATIENCE_MS = 30_000;

/** The path of a board's socket: beside the board. */
export function controlPath(board: string): string {
  return `${board}.ctl`;
}

/** Sorts names by whether they had a record. */
export function sortOut(names: readonly string[], found: readonly boolean[]): Forgotten {
  return { forgotten: names.filter((_, i) => found[i]), unknown: names.filter((_, i) => !found[i]) };
}

/** Reads one line and ignores everything after it. */
async function readLine(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The socket stays half open: the answer goes out by it.
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const end = chunk.indexOf(10);
    chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
    bytes += chunk.length;
    if (end !== -1) return Buffer.concat(chunks).toString();
    if (bytes > MOST_BYTES) break;
  }
  throw new Error('no complete line came');
}

/** The socket, which exists as long as the receiver runs. */
export class Control {
  readonly #path: string;
  readonly #forget: (names: string[]) => boolean[];
  readonly #log: Log;
  #server: Server | undefined;
  /** Of the socket that we listen on. */
  #inode: number | undefined;

  /** @param forget returns for each name whether it had a record; throws one line for people */
  constructor(board: string, forget: (names: string[]) => boolean[], log: Log) {
    this.#path = controlPath(board);
    this.#forget = forget;
    this.#log = log;
  }

  /** Listens. A socket at the path is left over from an earlier receiver, because we hold the board. */
  open(): void {
    const failed = (error: Error) =>
      this.#log.seldom('control', `beoboard forget will not work: ${oneLine(error.message)}`);
    const server = createServer({ allowHalfOpen: true }, socket => void this.#serve(socket));
    server.maxConnections = 16;
    server.on('error', failed);
    try {
      rmSync(this.#path, { force: true });
    } catch (error) {
      failed(error as Error);
      return;
    }
    // The socket is created with its mode: between bind and chmod anybody could connect.
    const before = process.umask(0o177);
    server.listen(this.#path);
    process.umask(before);
    this.#server = server;
    this.#inode = this.#inodeThere();
  }

  #inodeThere(): number | undefined {
    return lstatSync(this.#path, { throwIfNoEntry: false })?.ino;
  }

  /**
   * Listens again if the socket at the path is not ours any more: it was removed, or its directory was removed and made
   * again.
   */
  keep(): void {
    if (this.#inode !== undefined && this.#inodeThere() === this.#inode && this.#server?.listening) return;
    this.#server?.close();
    this.open();
  }

  close(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  async #serve(socket: Socket): Promise<void> {
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    try {
      socket.end(`${JSON.stringify(this.#answer(await readLine(socket)))}\n`);
    } catch {
      socket.destroy(); // A client that sends nothing gets no answer.
    }
  }

  #answer(line: string): ControlAnswer {
    const names = namesOf(line);
    if (names === undefined) return { error: 'this is not a request' };
    try {
      const result = sortOut(names, this.#forget(names));
      this.#log.info(`forgot ${result.forgotten.length} nodes, as asked`);
      return result;
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}

/** No process listens at the socket: no receiver runs on that board. */
export class NobodyThere extends Error {}

/** Asks the receiver of a board to remove nodes. Throws NobodyThere, or an Error with one line for people. */
export async function askToForget(board: string, names: readonly string[]): Promise<Forgotten> {
  const path = controlPath(board);
  const socket = open(path);
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`the receiver does not answer at ${path}`)));
  socket.on('error', () => undefined); // The error is thrown where we wait.
  try {
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.write(`${JSON.stringify({ forget: names })}\n`);
    const said = answerOf(await readLine(socket));
    if (said === undefined)
      throw new Error(`what answers at ${path} is not a receiver; find out which program listens there`);
    if ('error' in said) throw new Error(said.error);
    return said;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(code ?? '')) throw new NobodyThere(message);
    if (code === 'EACCES')
      throw new Error(`${path} belongs to another user; run as the user of the receiver, or as root`);
    throw error;
  } finally {
    socket.destroy();
  }
}
