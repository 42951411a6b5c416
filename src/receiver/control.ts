// The receiver's control socket for its own administrator: a Unix socket beside the board, by which nodes are removed,
// and problems cleared.
// One line of JSON each way. Refuses everybody except the receiver's own user and root: the socket's mode is 0600.

import { lstatSync, rmSync } from 'node:fs';
import { createServer, connect as open, type Server, type Socket } from 'node:net';
import { asOwner } from '../service/asowner.js';
import type { Log } from '../service/log.js';
import { shownNames } from '../text/hostlists.js';
import { isObject, isText, jsonOf } from '../text/shape.js';
import { counted, oneLine } from '../text/text.js';

/** Names that had a record, and names that had none. */
type Forgotten = { forgotten: string[]; unknown: string[] };
/** Names of which something was cleared, those of which nothing was to clear, and those that had no record. */
type Cleared = { cleared: string[]; nothing: string[]; unknown: string[] };

/** What can be asked, and what is answered. */
export interface Answers {
  forget: Forgotten;
  clear: Cleared;
}
export type Request = keyof Answers;
const KEYS: Readonly<Record<Request, readonly string[]>> = {
  forget: ['forgotten', 'unknown'],
  clear: ['cleared', 'nothing', 'unknown'],
};

/** Does it with these names; throws one line for people. */
type Requests = { readonly [R in Request]: (names: string[]) => Answers[R] };

const LONGEST_NAME = 63;

/** An object with exactly these keys, in any order. */
function hasKeys<K extends string>(value: unknown, ...keys: K[]): value is Record<K, unknown> {
  return isObject(value) && Object.keys(value).length === keys.length && keys.every(key => Object.hasOwn(value, key));
}

const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** What is asked, and of which names; undefined: the line is not a valid request. */
function requestOf(line: string): readonly [Request, string[]] | undefined {
  const question = jsonOf(line);
  const request = (Object.keys(KEYS) as Request[]).find(key => hasKeys(question, key));
  const names: unknown = request && (question as Record<Request, unknown>)[request];
  if (request === undefined || !areTexts(names)) return undefined;
  return names.every(name => name !== '' && name.length <= LONGEST_NAME) ? [request, names] : undefined;
}

/** A receiver's answer; undefined: the line is not a valid answer. */
function answerOf<R extends Request>(request: R, line: string): Answers[R] | { error: string } | undefined {
  const answer = jsonOf(line);
  if (hasKeys(answer, 'error') && isText(answer.error)) return { error: answer.error };
  return hasKeys(answer, ...KEYS[request]) && Object.values(answer).every(areTexts)
    ? (answer as Answers[R])
    : undefined;
}

/** A million names of the longest kind. */
const MOST_BYTES = 80 << 20;
const PATIENCE_MS = 30_000;

/** The path of a board's socket: beside the board. */
export function controlPath(board: string): string {
  return `${board}.ctl`;
}

/** Sorts names by whether they had a record. */
export function sortOut(names: readonly string[], found: readonly boolean[]): Forgotten {
  return { forgotten: names.filter((_, i) => found[i]), unknown: names.filter((_, i) => !found[i]) };
}

/** Sorts names by what `Writer.clear` found of them. */
export function sortCleared(names: readonly string[], found: readonly number[]): Cleared {
  const [unknown, nothing, cleared] = [0, 1, 2].map(what => names.filter((_, i) => found[i] === what)) as [
    string[],
    string[],
    string[],
  ];
  return { cleared, nothing, unknown };
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
  readonly #requests: Requests;
  readonly #log: Log;
  #server: Server | undefined;
  #inode: number | undefined;

  constructor(board: string, requests: Requests, log: Log) {
    this.#path = controlPath(board);
    this.#requests = requests;
    this.#log = log;
  }

  /** Listens. A socket at the path is left over from an earlier receiver, because we hold the board. */
  open(): void {
    const failed = (error: Error) =>
      this.#log.seldom('control', `beoboard forget and clear will not work: ${oneLine(error.message)}`);
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

  /** Listens again if the socket at the path is not ours any more: it was removed, or its folder was made again. */
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

  #answer(line: string): Forgotten | Cleared | { error: string } {
    const asked = requestOf(line);
    if (asked === undefined) return { error: 'this is not a request' };
    const [request, names] = asked;
    try {
      const result = this.#requests[request](names);
      const [did, of] = 'forgotten' in result ? ['forgot', result.forgotten] : ['cleared', result.cleared];
      if (of.length > 0) this.#log.info(`${did} ${counted(of.length, 'node')}, as asked: ${shownNames(of, 10)}`);
      return result;
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}

/** No process listens at the socket: no receiver runs on that board. */
export class NobodyThere extends Error {}

/** Asks the receiver of a board to do that. Throws NobodyThere, or an Error with one line for people. */
export async function askReceiver<R extends Request>(
  board: string,
  request: R,
  names: readonly string[],
): Promise<Answers[R]> {
  const path = controlPath(board);
  let socket: Socket | undefined;
  try {
    // As its owner: whoever can lay a link there must not lead root to another program's socket.
    const to = asOwner(path, () => open(path));
    socket = to;
    to.setTimeout(PATIENCE_MS, () => to.destroy(new Error(`the receiver does not answer at ${path}`)));
    to.on('error', () => undefined); // The error is thrown where we wait.
    await new Promise((resolve, reject) => to.once('connect', resolve).once('error', reject));
    to.write(`${JSON.stringify({ [request]: names })}\n`);
    const said = answerOf(request, await readLine(to));
    if (said === undefined)
      throw new Error(`what answers at ${path} is not a receiver; find out which program listens there`);
    if ('error' in said) throw new Error(said.error);
    return said;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(code ?? '')) throw new NobodyThere(message);
    if (code === 'EACCES')
      throw new Error(
        process.geteuid?.() === 0
          ? `${path} is not its owner's own, or leads to what is not: permission denied`
          : `${path} belongs to another user; run as the user of the receiver, or as root`,
      );
    throw error;
  } finally {
    socket?.destroy();
  }
}
