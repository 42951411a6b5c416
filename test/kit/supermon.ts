// Shared by the tests of Supermon's protocol: a board with a heartbeat, servers, a client, and expressions as arrays.
// No test of its own.

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { Encodable } from '../../src/layout/codec.js';
import type { Writer } from '../../src/native/index.js';
import { openWriter } from '../../src/shm/writer.js';
import { now } from './clocks.js';
import { FULL, S } from './ganglia.js';
import { keepAlive } from './heart.js';
import { lacks } from './lacking.js';
import { boardPath, folder } from './places.js';
import { type Running, start } from './program.js';
import { makeReport } from './reports.js';
import { deliver } from './testwriter.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** An expression: atoms are strings, lists are arrays. */
export type Expression = string | Expression[];
/** A member of an answer. */
export type Element = [name: string, category: string, state: string, age: string, data: Expression[]];

/** Parses one expression, independently of the product's parser; anything but blanks after it is an error. */
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

/** The members of an answer, with a check of their form. */
export function elementsOf(text: string): Element[] {
  const all = read(text);
  if (!Array.isArray(all)) throw new Error('no list');
  for (const element of all)
    if (!Array.isArray(element) || element.length !== 5 || !Array.isArray(element[4]))
      throw new Error(`no element: ${JSON.stringify(element)}`);
  return all as Element[];
}

/**
 * Finds where the first expression in a text that grows ends. It looks at each byte once: a test that searched a long
 * answer again with every piece would stand still for seconds, and so would the heartbeat of its board.
 */
class Ends {
  readonly #token = /[()]|"(?:[^"\\]|\\.)*("|$)/g;
  #from = 0;
  #depth = 0;

  /** The end of the first expression, -1 while it is incomplete; the text after it is the next one asked about. */
  of(text: string): number {
    this.#token.lastIndex = this.#from;
    for (let match = this.#token.exec(text); match !== null; match = this.#token.exec(text)) {
      const [token, closed] = match;
      // A string that has not ended is read again with what follows.
      if (closed === '') return -1;
      this.#from = this.#token.lastIndex;
      if (token === '(') this.#depth++;
      else if (token === ')' && --this.#depth === 0) {
        const end = this.#from;
        this.#from = 0;
        return end;
      }
    }
    return -1;
  }
}

/** A client that asks again and again over one connection. */
export class Asker {
  #text = '';
  #wake = () => {};
  readonly #ends = new Ends();

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

  /** Sends this, and returns the next complete answer. */
  async ask(words: string): Promise<string> {
    this.socket.write(words, 'latin1');
    return this.next();
  }

  async next(): Promise<string> {
    for (;;) {
      const end = this.#ends.of(this.#text);
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

/** A board as from a receiver, with a heartbeat until the test ends; its nodes stay live as long. */
export class LiveBoard {
  readonly path: string;
  readonly writer: Writer;
  /** Stops the heartbeat, as if the receiver stood still. */
  readonly stall: () => Promise<unknown>;
  #seq = 0;

  constructor(t: Teardown, nodes: readonly string[] = [], capacity = 64) {
    this.path = boardPath(t);
    this.writer = openWriter({
      ...{ path: this.path, cluster: 'test', capacity, nodes: [] },
      ...{ uncertainAfter: 3_600_000, silentAfter: 7_200_000 },
    });
    for (const name of nodes) this.lay(name);
    this.beat();
    this.stall = keepAlive(t, this.path);
    t.teardown(() => this.writer.close());
  }

  beat(): void {
    this.writer.heartbeat(now().mono);
  }

  /** Writes a report on which everything was measured, with these values changed. */
  lay(hostname: string, values: Encodable<'report'> = {}): void {
    const { mono, real } = now();
    const seq = ++this.#seq;
    const report = makeReport({ ...FULL, hostname, seq, t_boot_ns: 1001n * S + BigInt(seq), ...values }, 'test');
    const outcome = deliver(this.writer, report, mono, real);
    if (outcome !== 'accepted') throw new Error(outcome);
  }
}

/** Prints the category of each element and the number of members in its data, with the library of Supermon's author. */
const BY_SFSEXP = `
#include <sexp.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  size_t room = 1 << 22, length = 0, got;
  char *text = malloc(room);
  while ((got = fread(text + length, 1, room - length - 1, stdin)) > 0) length += got;
  text[length] = 0;
  sexp_t *all = parse_sexp(text, length);
  if (all == NULL || all->ty != SEXP_LIST) return 1;
  for (sexp_t *element = all->list; element != NULL; element = element->next) {
    sexp_t *last = element->list->next;
    const char *category = last->val;
    while (last->next != NULL) last = last->next;
    int members = 0;
    if (last->ty != SEXP_LIST) return 2;
    for (sexp_t *one = last->list; one != NULL; one = one->next) members++;
    printf("%s %d\\n", category, members);
  }
  return 0;
}
`;

const BY_PYTHON = `
import sys, sexpdata
for element in sexpdata.loads(sys.stdin.read(), true=None, nil=None):
    print(element[1].value(), len(element[-1]))
`;

/** Checks that the parser of Supermon's author and one in Python find the right members in an answer. */
export async function readByOthers(t: Test, text: string): Promise<void> {
  const wanted = elementsOf(text).map(([, category, , , data]) => `${category} ${data.length}`);
  const own = folder(t);
  await t.test(
    "by the author's parser",
    { skip: lacks('gcc libsexp-dev pkg-config', 'gcc', 'pkg-config') },
    async t => {
      const flags = spawnSync('pkg-config', ['--cflags', '--libs', 'sfsexp'], { encoding: 'utf8' });
      if (flags.status !== 0 && !process.env.CI)
        return void t.pass('sfsexp', { skip: 'missing: apt-get install libsexp-dev' });
      writeFileSync(join(own, 'read.c'), BY_SFSEXP);
      const words = ['-o', join(own, 'read'), join(own, 'read.c'), ...flags.stdout.trim().split(/\s+/)];
      const made = spawnSync('gcc', words, { encoding: 'utf8' });
      t.equal(made.status, 0, made.stderr);
      const { status, stdout } = spawnSync(join(own, 'read'), { input: text, encoding: 'utf8' });
      t.equal(status, 0);
      t.same(stdout.trim().split('\n'), wanted);
    },
  );

  await t.test('by Python', { skip: lacks('python3', '/usr/bin/python3') }, async t => {
    const { status, stdout, stderr } = spawnSync('/usr/bin/python3', ['-c', BY_PYTHON], {
      input: text,
      encoding: 'utf8',
    });
    if (/No module named/.test(stderr) && !process.env.CI)
      return void t.pass('sexpdata', { skip: 'missing: apt-get install python3-sexpdata' });
    t.equal(status, 0, stderr);
    t.same(stdout.trim().split('\n'), wanted);
  });
}
