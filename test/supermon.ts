// What the tests of Supermon's protocol share: a board that lives, servers, a client, and expressions as arrays. No test of its own.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Encodable } from '../src/layout/codec.js';
import { CLOCK, clocks, type Writer } from '../src/native/index.js';
import { deliver, openWriter } from '../src/shm/writer.js';
import { FULL, S } from './ganglia.js';
import { folder, makeReport, type Running, start } from './lib.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** An expression: atoms as texts, lists as arrays. */
export type Expression = string | Expression[];
/** A member of an answer. */
export type Element = [name: string, category: string, state: string, age: string, data: Expression[]];

/** Reads one expression, by rules of its own; what stands behind it is none. */
export function read(text: string): Expression {
  const stack: Expression[][] = [[]];
  let end = 0;
  for (const { 0: token, index } of text.matchAll(/\(|\)|"((?:[^"\\]|\\.)*)"|[^\s()"]+|\s+/g)) {
    if (index !== end) throw new Error(`not read: ${text.slice(end, end + 40)}`);
    end += token.length;
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const list = stack.pop() as Expression[];
      if (stack.length === 0) throw new Error('a list is closed that is not open');
      stack.at(-1)?.push(list);
    } else if (token.startsWith('"')) stack.at(-1)?.push(token.slice(1, -1).replace(/\\(.)/g, '$1'));
    else if (/\S/.test(token)) stack.at(-1)?.push(token);
  }
  if (end !== text.length || stack.length !== 1 || stack[0]?.length !== 1)
    throw new Error(`${stack[0]?.length} expressions, ${stack.length - 1} lists open: ${text.slice(-80)}`);
  return stack[0][0] as Expression;
}

/** The members of an answer, each held against its form. */
export function elementsOf(text: string): Element[] {
  const all = read(text);
  if (!Array.isArray(all)) throw new Error('no list');
  for (const element of all)
    if (!Array.isArray(element) || element.length !== 5 || !Array.isArray(element[4]))
      throw new Error(`no element: ${JSON.stringify(element)}`);
  return all as Element[];
}

/** Where the first expression ends; -1: it is not all there. */
function endOf(text: string): number {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/[()]|"(?:[^"\\]|\\.)*("|$)/g))
    if (token === '(') depth++;
    else if (token === ')' && --depth === 0) return index + 1;
  return -1;
}

/** Asks over one connection, again and again. */
export class Asker {
  #text = '';
  #wake = () => {};

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#text += text;
      this.#wake();
    });
    socket.on('error', () => undefined).on('close', () => this.#wake());
  }

  static async open(t: Teardown, port: number): Promise<Asker> {
    const socket = connect(port, '127.0.0.1');
    t.teardown(() => void socket.destroy());
    await once(socket, 'connect');
    return new Asker(socket);
  }

  /** Says this, and gives the next answer, whole. */
  async ask(words: string): Promise<string> {
    this.socket.write(words, 'latin1');
    return this.next();
  }

  async next(): Promise<string> {
    for (;;) {
      const end = endOf(this.#text);
      if (end > 0) {
        const text = this.#text.slice(0, end);
        this.#text = this.#text.slice(end);
        return text;
      }
      if (this.socket.destroyed || this.socket.readableEnded)
        throw new Error(`closed after ${this.#text.length} bytes`);
      await new Promise<void>(wake => {
        this.#wake = wake;
      });
    }
  }
}

/** Starts `beoboard supermon` on a free port. */
export async function serve(t: Teardown, more: readonly string[]): Promise<Running & { port: number }> {
  const running = start(t, ['supermon', '--listen', '127.0.0.1:0', ...more]);
  const { listening = [] } = await running.ready;
  return { ...running, port: Number(listening[0]?.split(':').at(-1)) };
}

export const now = () => {
  const into = new BigUint64Array(3);
  clocks(into);
  return { mono: into[CLOCK.monotonic] ?? 0n, real: into[CLOCK.real] ?? 0n };
};

/** What a receiver would write, and a heart that beats as long as the test takes; nodes are live as long, too. */
export class LiveBoard {
  readonly path: string;
  readonly writer: Writer;
  readonly #heart: NodeJS.Timeout;
  #seq = 0;

  constructor(t: Teardown, nodes: readonly string[] = [], capacity = 64) {
    this.path = join(folder(t), 'board');
    this.writer = openWriter({
      ...{ path: this.path, cluster: 'test', capacity, nodes: [] },
      ...{ uncertainAfter: 3_600_000, silentAfter: 7_200_000 },
    });
    for (const name of nodes) this.lay(name);
    this.beat();
    this.#heart = setInterval(() => this.beat(), 100);
    t.teardown(() => {
      clearInterval(this.#heart);
      this.writer.close();
    });
  }

  beat(): void {
    this.writer.heartbeat(now().mono);
  }

  /** The receiver stands still from here on. */
  stall(): void {
    clearInterval(this.#heart);
  }

  /** A report on which everything was measured, but for these. */
  lay(hostname: string, values: Encodable<'report'> = {}): void {
    const { mono, real } = now();
    const seq = ++this.#seq;
    const report = makeReport({ ...FULL, hostname, seq, t_boot_ns: 1001n * S + BigInt(seq), ...values }, 'test');
    const outcome = deliver(this.writer, report, mono, real);
    if (outcome !== 'accepted') throw new Error(outcome);
  }
}
