// The receiver's ear for its own administrator: a Unix socket beside the board, on which nodes are forgotten. One line
// of JSON each way. Refuses everybody but the receiver's own user (and root): the socket's mode is 0600.

import { existsSync, rmSync } from 'node:fs';
import { createServer, connect as open, type Server, type Socket } from 'node:net';
import { z } from 'zod';
import type { Log } from '../common/log.js';
import { oneLine } from '../common/text.js';

/** What is asked. */
const question = z.strictObject({ forget: z.array(z.string().min(1).max(63)) });
/** What is answered. */
const answer = z.union([
  z.strictObject({ forgotten: z.array(z.string()), unknown: z.array(z.string()) }),
  z.strictObject({ error: z.string() }),
]);

/** Names that had a record, and names that had none. */
export type Forgotten = { forgotten: string[]; unknown: string[] };
type Answer = z.infer<typeof answer>;

/** A million names of the longest kind. */
const MOST_BYTES = 80 << 20;
/** How long either side waits for the other, ms. */
const PATIENCE_MS = 30_000;

/** The socket of a board: beside it. */
export function controlPath(board: string): string {
  return `${board}.ctl`;
}

/** Sorts names by whether they had a record. */
export function sortOut(names: readonly string[], found: readonly boolean[]): Forgotten {
  return { forgotten: names.filter((_, i) => found[i]), unknown: names.filter((_, i) => !found[i]) };
}

/** Reads one line, and nothing after it. */
async function readLine(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Left open: the answer goes out by the same socket.
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const end = chunk.indexOf(10);
    chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
    bytes += chunk.length;
    if (end !== -1) return Buffer.concat(chunks).toString();
    if (bytes > MOST_BYTES) break;
  }
  throw new Error('no whole line came');
}

/** The socket, as long as the receiver runs. */
export class Control {
  readonly #path: string;
  readonly #forget: (names: string[]) => boolean[];
  readonly #log: Log;
  #server: Server | undefined;

  /** @param forget of each name whether it had a record; throws one line for people */
  constructor(board: string, forget: (names: string[]) => boolean[], log: Log) {
    this.#path = controlPath(board);
    this.#forget = forget;
    this.#log = log;
  }

  /** Listens; what lies at the path is left over from a receiver before us, since we hold the board. */
  open(): void {
    const failed = (error: Error) =>
      this.#log.seldom('control', `nobody can ask us to forget nodes: ${oneLine(error.message)}`);
    const server = createServer({ allowHalfOpen: true }, socket => void this.#serve(socket));
    server.maxConnections = 16;
    server.on('error', failed);
    try {
      rmSync(this.#path, { force: true });
    } catch (error) {
      failed(error as Error);
      return;
    }
    // Made with its mode: between making and chmod anybody could come in.
    const before = process.umask(0o177);
    server.listen(this.#path);
    process.umask(before);
    this.#server = server;
  }

  /** Listens again where the socket is gone from its path, be it with its directory. */
  keep(): void {
    if (existsSync(this.#path)) return;
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
      socket.destroy(); // who says nothing gets no answer
    }
  }

  #answer(line: string): Answer {
    try {
      const { forget: names } = question.parse(JSON.parse(line));
      const result = sortOut(names, this.#forget(names));
      this.#log.info(`forgot ${result.forgotten.length} nodes, as asked`);
      return result;
    } catch (error) {
      const nonsense = error instanceof z.ZodError || error instanceof SyntaxError;
      return { error: nonsense ? 'that is no question' : (error as Error).message };
    }
  }
}

/** Nobody listens at the socket: no receiver runs on that board. */
export class NobodyThere extends Error {}

/** Asks the receiver of a board to forget nodes. Throws NobodyThere, or an Error with one line for people. */
export async function askToForget(board: string, names: readonly string[]): Promise<Forgotten> {
  const path = controlPath(board);
  const socket = open(path);
  socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`the receiver does not answer at ${path}`)));
  socket.on('error', () => undefined); // it is thrown where we wait
  try {
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.write(`${JSON.stringify({ forget: names })}\n`);
    const said = answer.parse(JSON.parse(await readLine(socket)));
    if ('error' in said) throw new Error(said.error);
    return said;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') throw new NobodyThere(message);
    if (code === 'EACCES')
      throw new Error(`${path} belongs to another user; run as the user of the receiver, or as root`);
    throw error;
  } finally {
    socket.destroy();
  }
}
