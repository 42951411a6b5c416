// The answers: boards of this machine and the answers of other servers, joined without loss.

import { atom, type Expression } from '../net/expressions.js';
import { NoBoard } from '../shm/noboard.js';
import type { BoardSamples } from './boardsamples.js';
import { CATEGORIES, SERVER, STATE } from './categories.js';
import type { Child } from './children.js';
import type { Answering, Command } from './server.js';

const PIECE_BYTES = 1 << 16;
/** The size of an element, about, bytes. */
const ELEMENT_SIZE = 60;
const COUNTED_MS = 1000;
/** What an element takes besides its bytes: its beginning and end. */
const ELEMENT_BYTES = 40;

/** The bytes of another answer without its outer parentheses, in pieces. */
function* inner({ bytes, elements }: Expression): Generator<Uint8Array> {
  const [first, last] = [elements[0], elements.at(-1)];
  if (first === undefined || last === undefined) return;
  for (let at = first.start; at < last.end; at += PIECE_BYTES)
    yield bytes.subarray(at, Math.min(at + PIECE_BYTES, last.end));
  yield Buffer.from('\n');
}

function* pieces(lines: Iterable<string>): Generator<Uint8Array> {
  let piece = '';
  for (const line of lines) {
    piece += line;
    if (piece.length < PIECE_BYTES) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  if (piece !== '') yield Buffer.from(piece);
}

const hex = (mask: number) => `0x${mask.toString(16)}`;

/** Another server and its coming answer; undefined: it is in trouble. */
type ChildQuery = { readonly child: Child; readonly answer: Promise<Expression | undefined> };

export class Concentrator {
  #counted = { at: Number.NEGATIVE_INFINITY, nodes: 0 };

  constructor(
    readonly name: string,
    readonly boards: readonly BoardSamples[],
    readonly children: readonly Child[],
  ) {}

  /** About how long an answer is, bytes. */
  readonly sizeOf = (command: Command): number => {
    if (command.kind !== 'sample') return 0;
    const categories = [STATE, ...CATEGORIES].filter(({ mask }) => (mask & command.mask) !== 0).length;
    const nodes = this.children.reduce((sum, child) => sum + child.nodes, this.#ownNodes());
    return nodes * categories * ELEMENT_SIZE;
  };

  /** The nodes of our own boards, counted once a second at most. */
  #ownNodes(): number {
    const now = performance.now();
    if (now - this.#counted.at > COUNTED_MS) {
      const counts = this.boards.map(board => board.count()).filter(count => typeof count === 'number');
      this.#counted = { at: now, nodes: counts.reduce((sum, count) => sum + count, 0) };
    }
    return this.#counted.nodes;
  }

  readonly answer: Answering = (command, keep) => {
    if (command.kind === 'schema') return this.#schema();
    if (command.kind === 'sample') return this.#sample(command.mask, keep);
    return this.#refusal(command.word);
  };

  #rows(): string {
    const us = atom(this.name);
    const levels = Math.max(
      0,
      ...this.children.filter(({ trouble }) => trouble === undefined).map(({ levels }) => levels),
    );
    const row = (name: string, mask: number, count: string, variables: readonly string[]) =>
      `(${us} ${name} ${hex(mask)} ${levels} ((nr ${count}) ${variables.join(' ')}))\n`;
    return [
      row(SERVER.name, SERVER.mask, '1', SERVER.variables),
      row(STATE.name, STATE.mask, '1', STATE.variables),
      ...CATEGORIES.map(({ name, mask, one, each }) => {
        const variables = (one ?? each?.variables ?? []).map(([variable]) => variable);
        return row(name, mask, each === undefined ? '1' : 'n', variables);
      }),
    ].join('');
  }

  async *#schema(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`(${this.#rows()}`);
    for (const { schema } of this.children) if (schema !== undefined) yield* inner(schema);
    yield Buffer.from(')\n');
  }

  async *#sample(mask: number, keep: (bytes: number) => void): AsyncGenerator<Uint8Array> {
    // The other servers work while we read our own boards.
    const asked = this.children.map(child => ({ child, answer: child.sample(mask) }));
    let [kept, isOver] = [0, false];
    for (const { answer } of asked)
      void answer.then(expression => {
        if (expression === undefined || isOver) return;
        kept += expression.bytes.length + ELEMENT_BYTES * expression.elements.length;
        keep(kept);
      });
    try {
      yield* this.#elements(mask, asked);
    } finally {
      isOver = true;
    }
  }

  async *#elements(mask: number, asked: readonly ChildQuery[]): AsyncGenerator<Uint8Array> {
    yield Buffer.from('(');
    let [nodes, trouble] = [0, 'ok'];
    for (const board of this.boards) {
      const count = board.count();
      if (count instanceof NoBoard) {
        trouble = 'no-board';
        continue;
      }
      nodes += count;
      try {
        yield* board.sample(mask);
      } catch (error) {
        if (!(error instanceof NoBoard)) throw error;
        trouble = 'no-board';
      }
    }
    // Of this server since its start, µs.
    const { user, system } = process.cpuUsage();
    // Trouble is reported whatever was asked for.
    if ((mask & SERVER.mask) !== 0 || trouble !== 'ok')
      yield Buffer.from(`(${atom(this.name)} ${SERVER.name} ${trouble} 0 ((nr 1) ${nodes} ${user + system}))\n`);
    for (const { child, answer } of asked) {
      const expression = await answer;
      if (expression !== undefined) yield* inner(expression);
      else yield* pieces(child.unknown());
    }
    yield Buffer.from(')\n');
  }

  async *#refusal(word: string): AsyncGenerator<Uint8Array> {
    const why = `there is no command ${word.slice(0, 64)}; write # for the schema, S for a sample, 0x40S for a part of it`;
    yield Buffer.from(`((${atom(this.name)} error bad 0 (${atom(why)})))\n`, 'latin1');
  }
}
