// Conditions, grouping rules and sort fields over all nodes, each computed once for all clients, at each look as long as a client
// uses it. Limits their number, their length, and their CPU time.

import { setTimeout as rest } from 'node:timers/promises';
import type { Grouping } from '../options/options.js';
import type { Reading } from '../readings/measures.js';
import { SlicedLook } from '../service/slices.js';
import { NoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import { InputError } from '../text/text.js';
import { Chosen, FieldValues, Grouped } from './layouts.js';
import type { StreamView } from './streams.js';
import { evaluateAll, type NodeConsumer, type Watcher } from './watcher.js';

/** The longest condition or rule, bytes. */
const LONGEST = 256;
/** The largest number of conditions, and of rules. */
const MOST = 16;
/** For how long an unused one is kept after the last request, ms. */
const KEPT_MS = 10_000;

/** A client that has just been answered may be about to use it, ms. */
const JUST_MS = 500;

/** A request that cannot be answered now, and may be later; a sentence. */
class TooMuch extends Error {
  readonly code = 'too_much';
}

type WallQuery = Chosen | Grouped | FieldValues;

interface SharedQuery<A extends NodeConsumer> {
  readonly consumer: A;
  /** Resolved when all nodes were evaluated once. */
  readonly first: Promise<void>;
  uses: number;
  lastAsked: number;
}

export class Queries {
  readonly #conditions = new Map<string, SharedQuery<Chosen>>();
  readonly #rules = new Map<string, SharedQuery<Grouped>>();
  readonly #values = new Map<string, SharedQuery<FieldValues>>();
  readonly #reader: BoardReader;
  /** Evaluations run one after another, half of the time. */
  #passes: Promise<void> = Promise.resolve();

  constructor(readonly watcher: Watcher) {
    this.#reader = new BoardReader(watcher.reader.path, watcher.reader.owner);
  }

  /** The nodes for which the condition holds. Throws an InputError if it is invalid, TooMuch if it takes too long. */
  async chosen(text: string): Promise<Chosen> {
    const kept = this.#keep(this.#conditions, 'where', text, () => new Chosen(text));
    return await this.#settled(kept, 'where');
  }

  /** The groups of that rule; throws likewise. */
  async grouped(text: string, grouping: Grouping): Promise<NonNullable<StreamView['by']>> {
    const kept = this.#keep(this.#rules, 'by', text, () => new Grouped(grouping));
    return { text, grouping, grouped: await this.#settled(kept, 'by') };
  }

  /** The values of that field; throws TooMuch if too many fields are asked for at once. */
  async values(field: Reading): Promise<FieldValues> {
    return await this.#settled(
      this.#keep(this.#values, 'sort', field.name, () => new FieldValues(field)),
      'sort',
    );
  }

  async #settled<A extends WallQuery>(kept: SharedQuery<A>, what: string): Promise<A> {
    // A client that waits counts as a user of it.
    kept.uses++;
    try {
      await kept.first;
    } finally {
      kept.uses--;
      kept.lastAsked = performance.now();
    }
    if (!kept.consumer.isTooSlow) return kept.consumer;
    throw new TooMuch(`${what}: it takes too long to evaluate; write a simpler one`);
  }

  #keep<A extends WallQuery>(
    all: Map<string, SharedQuery<A>>,
    what: string,
    text: string,
    make: () => A,
  ): SharedQuery<A> {
    const lastAsked = performance.now();
    const known = all.get(text);
    if (known !== undefined) {
      known.lastAsked = lastAsked;
      return known;
    }
    if (Buffer.byteLength(text) > LONGEST)
      throw new InputError(`${what}: it is longer than ${LONGEST} bytes; write a shorter one`);
    const consumer = make();
    if (all.size >= MOST) this.#drop(all, JUST_MS);
    if (all.size >= MOST) throw new TooMuch(`${what}: ${MOST} others are in use already; try again later`);
    const kept = { consumer, first: this.#ask(consumer), uses: 0, lastAsked };
    all.set(text, kept);
    return kept;
  }

  /** Evaluates all nodes once, and again at each look from then on. */
  #ask(consumer: WallQuery): Promise<void> {
    const began = this.#passes.then(() => performance.now());
    const pass = began.then(() => this.#pass(consumer));
    this.#passes = pass.then(async () => rest(performance.now() - (await began), undefined, { ref: false }));
    return pass;
  }

  async #pass(consumer: WallQuery): Promise<void> {
    const slices = new SlicedLook();
    try {
      do {
        let first = 0;
        for (const piece of this.#reader.pieces()) {
          if (first === 0) consumer.begin(piece.total, true);
          await evaluateAll(consumer, piece, first, slices);
          first += piece.count;
          if (consumer.isTooSlow) break;
        }
      } while (consumer instanceof Grouped && consumer.isNew && !consumer.isTooSlow);
    } catch (error) {
      // Without a board there is nothing to evaluate yet.
      if (!(error instanceof NoBoard)) throw error;
    }
    this.watcher.consumers.add(consumer);
  }

  /** A stream uses the queries of this view, or uses them no more. */
  use({ by, chosen }: StreamView, more: 1 | -1): void {
    const kept = [by && this.#rules.get(by.text), chosen && this.#conditions.get(chosen.text)];
    for (const one of kept) if (one !== undefined) one.uses += more;
  }

  has(grouped: Grouped): boolean {
    return this.watcher.consumers.has(grouped);
  }

  tidy(): void {
    this.#drop(this.#conditions, KEPT_MS);
    this.#drop(this.#rules, KEPT_MS);
    this.#drop(this.#values, KEPT_MS);
  }

  #drop(all: Map<string, SharedQuery<NodeConsumer>>, keptMs: number): void {
    const late = performance.now() - keptMs;
    for (const [text, { consumer, uses, lastAsked }] of all) {
      if (uses > 0 || lastAsked > late) continue;
      all.delete(text);
      this.watcher.consumers.delete(consumer);
    }
  }

  close(): void {
    this.#reader.close();
  }
}
