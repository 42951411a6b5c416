// Other servers of this protocol, whose answers are part of ours: each is asked when we are asked, over one connection
// that stays open. A server that is silent, loops, or sends an invalid answer is reported, and its nodes are unknown.

import { connect, type Socket } from 'node:net';
import { whyNotReached } from '../net/connecting.js';
import { atom, atomsOf, BadExpression, type Expression, Scanner } from '../net/expressions.js';
import { type Address, formatAddress } from '../text/addresses.js';
import { SERVER, STATE } from './categories.js';

/** For how long a server without children may send nothing while it answers, ms; each level below may take as much. */
const PATIENCE_MS = 1000;
/** In how many times that time the answer must be complete. */
const MOST_PATIENCE = 10;
/** The time between two attempts while a server is silent, ms. */
const AGAIN_MS = 1000;
interface AnswerLimits {
  readonly bytes: number;
  readonly elements: number;
}
/** Several times what 10,000 nodes need: each has a dozen elements, 1.2 KB in all. */
const OF_SAMPLES: AnswerLimits = { bytes: 64 << 20, elements: 1 << 20 };
/** This answer is kept. Several times what 1,000 servers need: each has a dozen elements, 1 KB in all. */
const OF_SCHEMAS: AnswerLimits = { bytes: 16 << 20, elements: 1 << 18 };
/** How many names of its nodes are kept, and how long each may be, bytes: this limits what memory a server can take. */
const MOST_NODES = 1 << 17;
const MOST_NAME = 256;
/** How many levels of servers there may be below one. */
export const MOST_LEVELS = 8;

/** The category about servers, which is not about nodes. */
const NO_NODES: ReadonlySet<string> = new Set([SERVER.name, 'error']);

/** Why nothing of it is served; undefined: it is served. */
type ChildTrouble = 'silent' | 'loop' | 'deep' | 'bad' | undefined;

/** Asks over one connection, one question at a time. */
class ChildLine {
  #socket: Socket | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly address: Address) {}

  /** The answer. Throws an error about the answer or the connection, which is closed then. */
  ask(question: string, patience: number, bounds: AnswerLimits): Promise<Expression> {
    const asked = this.#last.then(() => this.#ask(question, patience, bounds));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async #ask(question: string, patience: number, bounds: AnswerLimits): Promise<Expression> {
    try {
      return await this.#exchange(question, patience, bounds);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #exchange(question: string, patience: number, { bytes, elements }: AnswerLimits): Promise<Expression> {
    return new Promise((resolve, reject) => {
      if (this.#socket === undefined || this.#socket.destroyed) {
        this.#socket = connect(this.address).setNoDelay();
        this.#socket.on('error', () => undefined);
      }
      const socket = this.#socket;
      const scanner = new Scanner(bytes, elements);
      const done = (act: () => void) => {
        clearTimeout(late);
        socket.off('data', hear).off('error', lost).off('close', closed);
        act();
      };
      const lost = (error: Error) => done(() => reject(new Error(whyNotReached(error))));
      const closed = () => done(() => reject(new Error('it closed the connection')));
      const giveUp = () => done(() => reject(new Error('it does not answer')));
      const late = setTimeout(giveUp, patience);
      const until = performance.now() + MOST_PATIENCE * patience;
      const hear = (chunk: Buffer) => {
        late.refresh();
        if (performance.now() > until) return giveUp();
        try {
          const expression = scanner.push(chunk);
          if (expression !== undefined) done(() => resolve(expression));
        } catch (error) {
          done(() => reject(error));
        }
      };
      socket.on('data', hear).on('error', lost).on('close', closed);
      socket.write(`${question}\n`);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}

export class Child {
  readonly name: string;
  trouble: ChildTrouble = 'silent';
  why = 'it was not asked yet';
  /** What a child has reported about itself and the servers below it. */
  #schema: { readonly expression: Expression; readonly levels: number } | undefined;
  /** The nodes in its last answer, as expressions: they are unknown while it is silent. */
  #nodes = new Set<string>();
  readonly #line: ChildLine;
  /** One question of each kind at a time, for all clients. */
  readonly #asked = new Map<number, Promise<Expression | undefined>>();
  readonly #timer: NodeJS.Timeout;
  #isTrying = false;
  #isMet = false;

  constructor(
    readonly address: Address,
    /** Our own name: a child that reports it loops back to us. */
    readonly us: string,
    readonly onChange: (child: Child) => void,
  ) {
    this.name = formatAddress(address);
    this.#line = new ChildLine(address);
    this.#timer = setInterval(() => void this.meet(), AGAIN_MS);
  }

  /** Levels of servers below us by this one. */
  get levels(): number {
    return (this.#schema?.levels ?? 0) + 1;
  }

  /** What it and the servers below it say that they serve. */
  get schema(): Expression | undefined {
    return this.trouble === undefined ? this.#schema?.expression : undefined;
  }

  get nodes(): number {
    return this.#nodes.size;
  }

  /** Asks for its name and its children. Returns whether it can be asked for more. */
  async meet(): Promise<boolean> {
    if (this.#isTrying) return this.trouble === undefined;
    this.#isTrying = true;
    try {
      const expression = await this.#line.ask('#', PATIENCE_MS, OF_SCHEMAS);
      let levels = 0;
      for (const element of expression.elements) {
        const [server = '', , , level = '0'] = atomsOf(expression, element, 4);
        if (server === this.us) return this.#is('loop', 'it asks this server, itself or by others');
        levels = Math.max(levels, Number(level) || 0);
      }
      if (levels >= MOST_LEVELS) return this.#is('deep', `there are ${levels} levels of servers below it`);
      this.#schema = { expression, levels };
      return this.#is(undefined, '');
    } catch (error) {
      return this.#is(error instanceof BadExpression ? 'bad' : 'silent', (error as Error).message);
    } finally {
      this.#isTrying = false;
    }
  }

  #is(trouble: ChildTrouble, why: string): boolean {
    const before = this.trouble;
    [this.trouble, this.why] = [trouble, why];
    if (before !== trouble || !this.#isMet) this.onChange(this);
    this.#isMet = true;
    return trouble === undefined;
  }

  /** Its answer, complete and unchanged; undefined: it is in trouble, and `unknown` has what to send instead. */
  sample(mask: number): Promise<Expression | undefined> {
    const asked = this.#asked.get(mask) ?? this.#sample(mask).finally(() => this.#asked.delete(mask));
    this.#asked.set(mask, asked);
    return asked;
  }

  async #sample(mask: number): Promise<Expression | undefined> {
    if (this.trouble !== undefined || !(await this.meet())) return undefined;
    try {
      const question = `0x${mask.toString(16)}S`;
      const expression = await this.#line.ask(question, PATIENCE_MS * (1 + this.levels), OF_SAMPLES);
      this.#remember(expression, (mask & STATE.mask) !== 0);
      return expression;
    } catch (error) {
      this.#is(error instanceof BadExpression ? 'bad' : 'silent', (error as Error).message);
      return undefined;
    }
  }

  /** `all`: the answer has each of its nodes; otherwise only nodes that have the requested values. */
  #remember(expression: Expression, all: boolean): void {
    const nodes = all ? new Set<string>() : this.#nodes;
    let last: string | undefined;
    for (const element of expression.elements) {
      const [node = '', category = ''] = atomsOf(expression, element, 2);
      if (node === last || NO_NODES.has(category) || node.length > MOST_NAME) continue;
      last = node;
      if (nodes.size < MOST_NODES) nodes.add(atom(node));
    }
    this.#nodes = nodes;
  }

  /** What is sent while there is no answer, whatever was asked: it is in trouble, and nothing known of its nodes. */
  *unknown(): Generator<string> {
    yield `(${atom(this.name)} ${SERVER.name} ${this.trouble ?? 'silent'} -1 ((nr 1) ${this.#nodes.size} nil))\n`;
    for (const node of this.#nodes) yield `(${node} ${STATE.name} unknown -1 ((nr 1) unknown nil nil nil))\n`;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#line.close();
  }
}
