// The process that can hang: reads slow sources one after another, round by round, and writes their values to a slate.
// Before each source it notes there which one it begins, so that its parent can see which one hangs.

import { here } from '../world.js';
import { fillSlow } from './fill.js';
import { PAGE_WORDS, SlowValues } from './slowvalues.js';
import type { Details, SlowReading, SlowSource } from './source.js';

/** What the parent wants to be read, and how often; sent again when it changes. */
export interface Orders {
  /** Names of sources. */
  sources: readonly string[];
  /** The interval of the rounds, ms. */
  roundMs: number;
}

/**
 * Sent as messages and not on the slate, because it rarely changes: details and texts, and that the first round has
 * ended.
 */
export type Word = { source: string; details: Details | undefined; trouble: string | undefined } | 'closed';

/** The descriptor of the slate in a child. */
export const SLATE_FD = 4;

/** CLOCK_MONOTONIC in ms, which parent and child share. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** A source and its last values. */
class Asked {
  askedMs: number | undefined;
  /** An extra reading between two rounds lost the earlier value: the next reading must not continue from there. */
  isBroken = false;
  sets: SlowReading['sets'] = [];
  readonly #view: DataView;
  readonly #page = new Uint32Array(PAGE_WORDS);
  /** The bytes of the new page, and of the last one. */
  readonly #bytes = Buffer.from(this.#page.buffer);
  readonly #last: Buffer;
  /** Undefined: nothing yet; the parent may have details from an earlier child. */
  #said: string | undefined;
  #hasNothing = false;

  constructor(
    readonly source: SlowSource,
    /** Its part of the slate's pages. */
    readonly words: Uint32Array,
    private readonly say: (word: Word) => void,
  ) {
    this.#view = new DataView(this.#page.buffer);
    this.#last = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  }

  /** Stores a reading; returns whether its page has changed. */
  take(reading: SlowReading): boolean {
    const { details, trouble } = reading;
    const hadNothing = this.#hasNothing;
    this.#hasNothing = isNothing(reading);
    if (hadNothing && this.#hasNothing) return false; // Most nodes lack most of these.
    const said = details === undefined && trouble === undefined ? '' : textOf(details, trouble);
    if (said !== this.#said) this.say({ source: this.source.name, details, trouble });
    this.#said = said;
    this.sets = reading.sets;
    this.#page.fill(0);
    fillSlow(this.#view, [reading], 0n);
    if (this.#bytes.equals(this.#last)) return false;
    this.words.set(this.#page);
    return true;
  }
}

/** To notice that they have changed. */
function textOf(details: Details | undefined, trouble: string | undefined): string {
  return JSON.stringify([details, trouble], (_, value) =>
    value instanceof Map || value instanceof Set ? [...value] : value,
  );
}

function isNothing({ sets, flags, details, trouble }: SlowReading): boolean {
  return sets.length === 0 && flags === undefined && details === undefined && trouble === undefined;
}

const NOTHING: SlowReading = { fields: {}, sets: [] };

/** Reads these sources as the parent orders, forever. */
export function serve(sources: readonly SlowSource[], read: (source: SlowSource) => SlowReading, orders: Orders): void {
  const slate = new SlowValues(SLATE_FD, sources.length);
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
    // The parent is gone, perhaps before we could be told.
    if (!process.connected) process.exit();
    round++;
    // The values of an earlier child are not ours, even if we have none.
    let changed = round === 1;
    const nowMs = performance.now();
    for (const [i, one] of asked.entries()) {
      const { name, periodMs } = one.source;
      // Rather half a round early than half a round late.
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
  /** Counters so fast that they would wrap unnoticed in a round as long as this one. */
  const readBetween = () => {
    for (const [i, one] of asked.entries()) {
      if (one.source.mostMs === undefined || !wanted.has(one.source.name)) continue;
      const { sets } = ask(i, one);
      // A value that was lost here (a counter that began again) counts as not measured in the next round, too:
      // otherwise it would look like growth.
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

/** The parameters of a child: what its sources need to know, and the first orders. */
export function readArguments<T>(): { world: T; orders: Orders } {
  return JSON.parse(process.argv[2] ?? '{}');
}
