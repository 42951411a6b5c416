// What is asked of all nodes besides their readings: conditions and rules for groups, each worked out once for all who ask, at each look as
// long as somebody does. Bounds how many there are, how long they are, and what they may cost.

import type { Grouping } from '../common/options.js';
import { InputError } from '../common/text.js';
import { BoardReader, NoBoard } from '../shm/reader.js';
import { Chosen, Grouped } from './layouts.js';
import type { View } from './streams.js';
import { type Asker, Slices, type Watcher } from './watcher.js';

/** Bytes of a condition or a rule. */
const LONGEST = 256;
/** Conditions and rules at once, each. */
const MOST = 16;
/** One that nobody watches by is kept for so long after it was asked for, ms. */
const KEPT_MS = 10_000;

/** Who has just been answered may be about to go by it, ms. */
const JUST_MS = 500;

/** What cannot be answered now, and may be later; a sentence. */
export class TooMuch extends Error {}

interface Kept<A extends Asker> {
  readonly asker: A;
  /** Done when all nodes were asked once. */
  readonly first: Promise<void>;
  /** Streams that go by it. */
  uses: number;
  lastAsked: number;
}

export class Questions {
  readonly #conditions = new Map<string, Kept<Chosen>>();
  readonly #rules = new Map<string, Kept<Grouped>>();
  readonly #reader: BoardReader;
  /** One pass after the other. */
  #passes: Promise<void> = Promise.resolve();

  constructor(readonly watcher: Watcher) {
    this.#reader = new BoardReader(watcher.reader.path, watcher.reader.owner);
  }

  /** For whom the condition holds. Throws an InputError for what is none, TooMuch for one that takes too long. */
  async chosen(text: string): Promise<Chosen> {
    return await this.#settled(
      this.#keep(this.#conditions, 'where', text, () => new Chosen(text)),
      'where',
    );
  }

  /** The groups by the rule that is written so; throws likewise. */
  async grouped(text: string, grouping: Grouping): Promise<NonNullable<View['by']>> {
    const kept = this.#keep(this.#rules, 'by', text, () => new Grouped(grouping));
    return { text, grouping, grouped: await this.#settled(kept, 'by') };
  }

  /** Waits until all nodes were asked once. */
  async #settled<A extends Chosen | Grouped>(kept: Kept<A>, what: string): Promise<A> {
    // Who waits for it goes by it.
    kept.uses++;
    try {
      await kept.first;
    } finally {
      kept.uses--;
      kept.lastAsked = performance.now();
    }
    if (!kept.asker.isTooSlow) return kept.asker;
    throw new TooMuch(`${what}: it takes too long to evaluate; write a simpler one`);
  }

  #keep<A extends Asker>(all: Map<string, Kept<A>>, what: string, text: string, make: () => A): Kept<A> {
    const lastAsked = performance.now();
    const known = all.get(text);
    if (known !== undefined) {
      known.lastAsked = lastAsked;
      return known;
    }
    if (Buffer.byteLength(text) > LONGEST)
      throw new InputError(`${what}: it is longer than ${LONGEST} bytes; write a shorter one`);
    const asker = make();
    if (all.size >= MOST) this.#drop(all, JUST_MS);
    if (all.size >= MOST) throw new TooMuch(`${what}: ${MOST} others are in use already; try again later`);
    const kept = { asker, first: this.#ask(asker), uses: 0, lastAsked };
    all.set(text, kept);
    return kept;
  }

  /** Asks all nodes once, and again at each look from then on. */
  #ask(asker: Asker): Promise<void> {
    this.#passes = this.#passes.then(() => this.#pass(asker));
    return this.#passes;
  }

  async #pass(asker: Asker): Promise<void> {
    const slices = new Slices();
    let first = 0;
    try {
      for (const piece of this.#reader.pieces()) {
        if (first === 0) asker.begin(piece.total, true);
        asker.ask(piece, first);
        first += piece.count;
        const pause = slices.next();
        if (pause !== undefined) await pause;
      }
    } catch (error) {
      // Where there is no board there is nobody to ask, yet.
      if (!(error instanceof NoBoard)) throw error;
    }
    this.watcher.askers.add(asker);
  }

  /** A stream goes by what this view has, or no longer does. */
  use({ by, chosen }: View, more: 1 | -1): void {
    const kept = [by && this.#rules.get(by.text), chosen && this.#conditions.get(chosen.text)];
    for (const one of kept) if (one !== undefined) one.uses += more;
  }

  /** Whether that rule is still worked out. */
  has(grouped: Grouped): boolean {
    return this.watcher.askers.has(grouped);
  }

  /** Forgets what nobody has asked for of late. */
  tidy(): void {
    this.#drop(this.#conditions, KEPT_MS);
    this.#drop(this.#rules, KEPT_MS);
  }

  #drop(all: Map<string, Kept<Asker>>, keptMs: number): void {
    const late = performance.now() - keptMs;
    for (const [text, { asker, uses, lastAsked }] of all) {
      if (uses > 0 || lastAsked > late) continue;
      all.delete(text);
      this.watcher.askers.delete(asker);
    }
  }

  close(): void {
    this.#reader.close();
  }
}
