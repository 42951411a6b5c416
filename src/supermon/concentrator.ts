// The answers: boards of this machine and what other servers said, put together without loss.

import { NoBoard } from '../shm/reader.js';
import type { BoardSamples } from './boardsamples.js';
import { CATEGORIES, SERVER, STATE } from './categories.js';
import type { Child } from './children.js';
import type { Command, Reply } from './conversation.js';
import { atom, type Expression } from './expressions.js';

const PIECE_BYTES = 1 << 16;

/** Bytes of another answer without its outer parentheses, some at a time. */
function* inner({ bytes, elements }: Expression): Generator<Uint8Array> {
  const [first, last] = [elements[0], elements.at(-1)];
  if (first === undefined || last === undefined) return;
  for (let at = first.start; at < last.end; at += PIECE_BYTES)
    yield bytes.subarray(at, Math.min(at + PIECE_BYTES, last.end));
  yield Buffer.from('\n');
}

/** CPU time of this server since its start, µs. */
function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

const hex = (mask: number) => `0x${mask.toString(16)}`;

export class Concentrator {
  constructor(
    /** Our name, which no other server has. */
    readonly name: string,
    readonly boards: readonly BoardSamples[],
    readonly children: readonly Child[],
  ) {}

  readonly answer = (command: Command): Reply => {
    if (command.kind === 'schema') return this.#schema();
    if (command.kind === 'sample') return this.#sample(command.mask);
    return this.#refusal(command.word);
  };

  /** Levels of servers below us. */
  get #levels(): number {
    return Math.max(0, ...this.children.filter(({ trouble }) => trouble === undefined).map(({ levels }) => levels));
  }

  #rows(): string {
    const us = atom(this.name);
    const levels = this.#levels;
    const row = (name: string, mask: number, count: string, variables: readonly string[]) =>
      `(${us} ${name} ${hex(mask)} ${levels} ((nr ${count}) ${variables.join(' ')}))\n`;
    return [
      row(SERVER.name, SERVER.mask, '1', SERVER.variables),
      row(STATE.name, STATE.mask, '1', STATE.variables),
      ...CATEGORIES.map(({ name, mask, one, each }) =>
        row(
          name,
          mask,
          each === undefined ? '1' : 'n',
          (one ?? each?.variables ?? []).map(([variable]) => variable),
        ),
      ),
    ].join('');
  }

  async *#schema(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`(${this.#rows()}`);
    for (const { schema } of this.children) if (schema !== undefined) yield* inner(schema);
    yield Buffer.from(')\n');
  }

  async *#sample(mask: number): AsyncGenerator<Uint8Array> {
    // Others are at work while our own boards are read.
    const asked = this.children.map(child => ({ child, answer: child.sample(mask) }));
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
    if ((mask & SERVER.mask) !== 0)
      yield Buffer.from(`(${atom(this.name)} ${SERVER.name} ${trouble} 0 ((nr 1) ${nodes} ${cpuUs()}))\n`);
    for (const { child, answer } of asked) {
      const expression = await answer;
      if (expression !== undefined) yield* inner(expression);
      else for (const element of child.unknown(mask)) yield Buffer.from(element);
    }
    yield Buffer.from(')\n');
  }

  async *#refusal(word: string): AsyncGenerator<Uint8Array> {
    const why = `there is no command ${word.slice(0, 64)}; write # for the schema, S for a sample, 0x40S for a part of it`;
    yield Buffer.from(`((${atom(this.name)} error bad 0 (${atom(why)})))\n`, 'latin1');
  }
}
