// Other servers of this protocol, whose answers are part of ours: asked when we are, each over one connection that stays open. One that is
// silent, loops or says what cannot be taken is told of, and its nodes are unknown.

import { connect, type Socket } from 'node:net';
import { type Address, formatAddress } from '../common/addresses.js';
import { whyNotReached } from '../common/connecting.js';
import { SERVER, STATE } from './categories.js';
import { atom, atomsOf, BadExpression, type Expression, Scanner } from './expressions.js';

/** For how long a server without others may be quiet while it answers, ms; each level below it may for as long. */
const PATIENCE_MS = 1000;
/** In how many times as long the answer has to be whole. */
const MOST_PATIENCE = 10;
/** From one try to the next while one is silent, ms. */
const AGAIN_MS = 1000;
/** How long an answer may be. */
interface Bounds {
  readonly bytes: number;
  readonly elements: number;
}
/** Some times what 10,000 nodes are: of each a dozen elements, 1.2 KB in all. */
const OF_SAMPLES: Bounds = { bytes: 64 << 20, elements: 1 << 20 };
/** It is kept. Some times what 1,000 servers are: of each a dozen elements, 1 KB in all. */
const OF_SCHEMAS: Bounds = { bytes: 16 << 20, elements: 1 << 18 };
/** How many names of its nodes are kept, and how long each may be, bytes: what another server takes of our memory. */
const MOST_NODES = 1 << 17;
const MOST_NAME = 256;
/** How many levels of servers there may be below one. */
export const MOST_LEVELS = 8;

/** What is told of servers, and not of nodes. */
const NO_NODES: ReadonlySet<string> = new Set([SERVER.name, 'error']);

/** Why nothing of it is served; undefined: it is. */
export type Trouble = 'silent' | 'loop' | 'deep' | 'bad' | undefined;

/** What a child has said of itself, and of those below it. */
interface Schema {
  readonly expression: Expression;
  /** How many levels of servers are below it. */
  readonly levels: number;
}

/** Asks over one connection, one question at a time. */
class Line {
  #socket: Socket | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly address: Address) {}

  /** The answer. Throws what is wrong with it or with the line, which is closed then. */
  ask(question: string, patience: number, bounds: Bounds): Promise<Expression> {
    const asked = this.#last.then(() => this.#ask(question, patience, bounds));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  async #ask(question: string, patience: number, bounds: Bounds): Promise<Expression> {
    try {
      return await this.#exchange(question, patience, bounds);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #exchange(question: string, patience: number, { bytes, elements }: Bounds): Promise<Expression> {
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
  /** As it is told of. */
  readonly name: string;
  trouble: Trouble = 'silent';
  /** What is wrong, in words. */
  why = 'it was not asked yet';
  #schema: Schema | undefined;
  /** The nodes that it had told of last, in expressions: of these nothing is known while it is silent. */
  #nodes = new Set<string>();
  readonly #line: Line;
  /** One question of a kind at a time, for all who ask. */
  readonly #asked = new Map<number, Promise<Expression | undefined>>();
  readonly #timer: NodeJS.Timeout;
  #isTrying = false;
  #isMet = false;

  constructor(
    readonly address: Address,
    /** Our own name: who tells of it loops. */
    readonly us: string,
    readonly onChange: (child: Child) => void,
  ) {
    this.name = formatAddress(address);
    this.#line = new Line(address);
    this.#timer = setInterval(() => void this.meet(), AGAIN_MS);
  }

  /** Levels of servers below us by this one. */
  get levels(): number {
    return (this.#schema?.levels ?? 0) + 1;
  }

  /** What it says that it tells, and what those below it do. */
  get schema(): Expression | undefined {
    return this.trouble === undefined ? this.#schema?.expression : undefined;
  }

  get nodes(): number {
    return this.#nodes.size;
  }

  /** Asks who it is, and whom it asks. Whether it can be asked more. */
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

  #is(trouble: Trouble, why: string): boolean {
    const before = this.trouble;
    [this.trouble, this.why] = [trouble, why];
    if (before !== trouble || !this.#isMet) this.onChange(this);
    this.#isMet = true;
    return trouble === undefined;
  }

  /** Its answer, whole and as it came; undefined: it is in trouble, and `unknown` has what is to be told instead. */
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

  /** `all`: it tells of each of its nodes; else only of those of which it has what was asked for. */
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

  /** What stands for its answer while there is none, whatever was asked for: that it is in trouble, and that nothing is known of its nodes. */
  *unknown(): Generator<string> {
    yield `(${atom(this.name)} ${SERVER.name} ${this.trouble ?? 'silent'} -1 ((nr 1) ${this.#nodes.size} nil))\n`;
    for (const node of this.#nodes) yield `(${node} ${STATE.name} unknown -1 ((nr 1) unknown nil nil nil))\n`;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#line.close();
  }
}
