// The process that can hang: reads slow sources one after another, round by round, and writes their values to a file in
// memory. Before each source it notes there which one it begins, so that its parent can see which one hangs.

import { deserialize, serialize } from 'node:v8';
import { here } from '../world.js';
import { fillSlow } from './fill.js';
import { PAGE_WORDS, SlowValues } from './slowvalues.js';
import type { Details, SlowReading, SlowSource } from './source.js';

/** What the parent wants to be read, and how often; sent again when it changes. */
export interface RoundOrders {
  sources: readonly string[];
  roundMs: number;
}

/** Sent as messages, because it rarely changes: details and texts, and that the first round has ended. */
export type ChildMessage = { source: string; details: Details | undefined; trouble: string | undefined } | 'closed';

/** The descriptor of the file with the values in a child. */
const VALUES_FD = 4;

/** CLOCK_MONOTONIC in ms, which parent and child share. */
export const sharedMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

function send(message: ChildMessage): void {
  process.send?.(message, undefined, undefined, () => undefined);
}

class SourceState {
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
    /** Its part of the pages. */
    readonly words: Uint32Array,
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
    if (said !== this.#said) send({ source: this.source.name, details, trouble });
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

/** The rounds over some sources, as the parent orders them. */
class ServedRounds {
  readonly #values: SlowValues;
  readonly #pages: Uint32Array;
  /** For each source the round in which it was read last. */
  readonly #readIn: Uint32Array;
  readonly #sources: readonly SourceState[];
  readonly #keep: readonly object[];
  #kept: Buffer;
  #wanted: ReadonlySet<string> = new Set();
  #roundMs = 0;
  #round = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    sources: readonly SlowSource[],
    private readonly read: (source: SlowSource) => SlowReading,
  ) {
    this.#values = new SlowValues(VALUES_FD, sources.length);
    this.#pages = new Uint32Array(sources.length * PAGE_WORDS);
    this.#readIn = new Uint32Array(sources.length);
    this.#sources = sources.map(
      (source, i) => new SourceState(source, this.#pages.subarray(i * PAGE_WORDS, (i + 1) * PAGE_WORDS)),
    );
    this.#keep = sources.flatMap(({ kept = [] }) => kept);
    this.#kept = this.#values.kept();
    const before: object[] = this.#kept.length > 0 ? deserialize(this.#kept) : []; // of the last child
    this.#keep.forEach((kept, i) => {
      Object.assign(kept, before[i]);
    });
  }

  order({ sources, roundMs }: RoundOrders): void {
    this.#wanted = new Set(sources);
    if (roundMs === this.#roundMs) return;
    this.#roundMs = roundMs;
    clearInterval(this.#timer);
    const most = this.#sources.flatMap(({ source: { mostMs } }) => (mostMs === undefined ? [] : [mostMs]));
    const perRound = Math.ceil(roundMs / Math.min(roundMs, ...most));
    let tick = 0;
    const next = () => {
      if (tick++ % perRound === 0) this.#readRound();
      else this.#readBetween();
    };
    this.#timer = setInterval(next, roundMs / perRound);
    next();
  }

  #ask(i: number, { source }: SourceState): SlowReading {
    this.#values.begin(i, sharedMs());
    return this.read(source);
  }

  #readRound(): void {
    // The parent is gone, perhaps before we could be told.
    if (!process.connected) process.exit();
    const round = ++this.#round;
    // The values of an earlier child are not ours, even if we have none.
    let changed = round === 1;
    const nowMs = performance.now();
    for (const [i, state] of this.#sources.entries()) {
      const { name, periodMs } = state.source;
      // Rather half a round early than half a round late.
      const isDue = state.askedMs === undefined || nowMs - state.askedMs >= periodMs - this.#roundMs / 2;
      if (!isDue || !this.#wanted.has(name)) continue;
      state.askedMs = nowMs;
      const reading = this.#ask(i, state);
      if (state.take(state.isBroken ? NOTHING : reading)) changed = true;
      state.isBroken = false;
      this.#readIn[i] = round;
    }
    const kept = serialize(this.#keep);
    changed ||= !kept.equals(this.#kept);
    this.#kept = kept;
    const closedBootNs = here.clocks().bootNs;
    this.#values.publish({ round, closedBootNs, readIn: this.#readIn, pages: this.#pages, changed }, kept);
    if (round === 1) send('closed');
  }

  /** Counters so fast that they would wrap unnoticed in a round as long as this one. */
  #readBetween(): void {
    for (const [i, state] of this.#sources.entries()) {
      if (state.source.mostMs === undefined || !this.#wanted.has(state.source.name)) continue;
      const { sets } = this.#ask(i, state);
      // A value that was lost here (a counter that began again) counts as not measured in the next round, too:
      // otherwise it would look like growth.
      if (state.sets.some(set => !sets.includes(set))) state.isBroken = true;
    }
    this.#values.done();
  }
}

/** Reads these sources as the parent orders, forever. */
export function serve(
  sources: readonly SlowSource[],
  read: (source: SlowSource) => SlowReading,
  orders: RoundOrders,
): void {
  const rounds = new ServedRounds(sources, read);
  rounds.order(orders);
  process.on('message', (orders: RoundOrders) => rounds.order(orders));
  // Node notices the parent's end, too, but only while no source hangs.
  process.once('disconnect', () => process.exit());
}

/** The parameters of a child: what its sources need to know, and the first orders. */
export function readArguments<T>(): { world: T; orders: RoundOrders } {
  return JSON.parse(process.argv[2] ?? '{}');
}
