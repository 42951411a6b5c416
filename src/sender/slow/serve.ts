// The side that can hang: reads slow sources one after the other, round by round, and writes what they say onto a slate.
// Before each it notes there which one it begins, so that its parent sees which one hangs.

import { here } from '../world.js';
import { fillSlow } from './fill.js';
import { PAGE_WORDS, Slate } from './slate.js';
import type { Details, SlowReading, SlowSource } from './source.js';

/** What a parent wants read, and how often; by message again whenever that changes. */
export interface Orders {
  /** Names of sources. */
  sources: readonly string[];
  /** One round in so many ms. */
  roundMs: number;
}

/** What does not go onto the slate, for it seldom changes, and is said by message when it did; and that there is a first round. */
export type Word = { source: string; details: Details | undefined; trouble: string | undefined } | 'closed';

/** The descriptor under which a child finds its slate. */
export const SLATE_FD = 4;

/** CLOCK_MONOTONIC in ms, by which parent and child understand each other. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** A source and what it said last. */
class Asked {
  askedMs: number | undefined;
  /** A reading between two rounds lost what was measured before: the next does not go on from there. */
  isBroken = false;
  sets: SlowReading['sets'] = [];
  readonly #view: DataView;
  readonly #page = new Uint32Array(PAGE_WORDS);
  #said = '';
  #hasNothing = false;

  constructor(
    readonly source: SlowSource,
    /** Its part of the slate's pages. */
    readonly words: Uint32Array,
    private readonly say: (word: Word) => void,
  ) {
    this.#view = new DataView(this.#page.buffer);
  }

  /** Takes a reading; whether its page is another one now. */
  take(reading: SlowReading): boolean {
    const { details, trouble } = reading;
    const hadNothing = this.#hasNothing;
    this.#hasNothing = isNothing(reading);
    if (hadNothing && this.#hasNothing) return false; // most nodes lack most things
    const said = JSON.stringify([details, trouble], (_, value) => (value instanceof Map ? [...value] : value));
    if (said !== this.#said) this.say({ source: this.source.name, details, trouble });
    this.#said = said;
    this.sets = reading.sets;
    this.#page.fill(0);
    fillSlow(this.#view, [reading], 0n);
    if (this.#page.every((word, i) => word === this.words[i])) return false;
    this.words.set(this.#page);
    return true;
  }
}

function isNothing({ sets, flags, details, trouble }: SlowReading): boolean {
  return sets.length === 0 && flags === undefined && details === undefined && trouble === undefined;
}

const NOTHING: SlowReading = { fields: {}, sets: [] };

/** Reads these sources by the parent's orders, forever. */
export function serve(sources: readonly SlowSource[], read: (source: SlowSource) => SlowReading, orders: Orders): void {
  const slate = new Slate(SLATE_FD, sources.length);
  const pages = new Uint32Array(sources.length * PAGE_WORDS);
  const readIn = new Uint32Array(sources.length);
  const say = (word: Word) => process.send?.(word, undefined, undefined, () => undefined);
  const asked = sources.map(
    (source, i) => new Asked(source, pages.subarray(i * PAGE_WORDS, (i + 1) * PAGE_WORDS), say),
  );
  let wanted = new Set(orders.sources);
  let roundMs = orders.roundMs;
  let round = 0;

  const ask = (i: number, { source }: Asked): SlowReading => {
    slate.begin(i, sharedMs());
    return read(source);
  };
  const readRound = () => {
    // The parent is gone, perhaps before we could hear of it.
    if (!process.connected) process.exit();
    round++;
    // What an earlier child said of a source is not what this one says, even if that is nothing.
    let changed = round === 1;
    const nowMs = performance.now();
    for (const [i, one] of asked.entries()) {
      const { name, periodMs } = one.source;
      // Half a round early rather than half a round late.
      const isDue = one.askedMs === undefined || nowMs - one.askedMs >= periodMs - roundMs / 2;
      if (!isDue || !wanted.has(name)) continue;
      one.askedMs = nowMs;
      const reading = ask(i, one);
      if (one.take(one.isBroken ? NOTHING : reading)) changed = true;
      one.isBroken = false;
      readIn[i] = round;
    }
    slate.publish({ round, closedBootNs: here.clocks().bootNs, readIn, pages, changed });
    if (round === 1) say('closed');
  };
  /** What counts so fast that it would wrap unseen in a round as long as this. */
  const readBetween = () => {
    for (const [i, one] of asked.entries()) {
      if (one.source.mostMs === undefined || !wanted.has(one.source.name)) continue;
      const { sets } = ask(i, one);
      // What was lost here (a counter began anew) is not measured in the next round: it would look like growth.
      if (one.sets.some(set => !sets.includes(set))) one.isBroken = true;
    }
    slate.done();
  };

  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    clearInterval(timer);
    const most = sources.flatMap(({ mostMs }) => (mostMs === undefined ? [] : [mostMs]));
    const perRound = Math.ceil(roundMs / Math.min(roundMs, ...most));
    let tick = 0;
    const next = () => {
      if (tick++ % perRound === 0) readRound();
      else readBetween();
    };
    timer = setInterval(next, roundMs / perRound);
    next();
  };
  start();
  process.on('message', (orders: Orders) => {
    wanted = new Set(orders.sources);
    if (orders.roundMs === roundMs) return;
    roundMs = orders.roundMs;
    start();
  });
  // Node notices the parent's end, too, but only while no source hangs.
  process.once('disconnect', () => process.exit());
}

/** What a child is started with: what its sources need to know, and the first orders. */
export function readArguments<T>(): { world: T; orders: Orders } {
  return JSON.parse(process.argv[2] ?? '{}');
}
