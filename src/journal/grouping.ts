// What happened, made fewer: after the first of a kind, nodes to which it happens again within a minute are only
// counted; and nodes to which the same happens within two seconds share a line. Pure: the clock is given.

import { BEGINS, ENDS, type Happening, type JournalJob, SHARERS, TOGETHER_MS, whichOf } from '../journalfile/format.js';
import { fold } from '../text/hostlists.js';
import { getOrInsert, groupBy } from '../text/maps.js';

/** Something that happened to a node, a link or the board. Times are of CLOCK_MONOTONIC, ms. */
export interface Occurrence {
  /** All that nodes have to have in common to share a line. */
  readonly what: Happening;
  readonly node?: string | undefined;
  readonly fromMs: number;
  readonly toMs?: number | undefined;
  /** The stamp of the last report before a boot without goodbye. */
  readonly wordsMs?: number | undefined;
  /** How many before it were not written. */
  readonly more?: number | undefined;
  /** How often it has happened to the node, as the board counts since then. */
  readonly counted?: { readonly times: number; readonly sinceMs: number };
  /** The events of the board's ring that it comes from, with those that are only counted. */
  readonly ring?: readonly number[] | undefined;
  readonly job?: JournalJob | undefined;
}

/** The kind of an occurrence and what it happened to: the same again and again is only counted, with its ends. */
function keyOf({ what, node }: Occurrence): string {
  return [BEGINS.get(what.event) ?? what.event, whichOf(what) || (what.reason ?? ''), node ?? what.link ?? ''].join(
    '\0',
  );
}

const MINUTE_MS = 60_000;

/** So many of a kind are given at once; those that follow within the minute are counted, and the last is given then. */
const BURST = 3;

/** What was given of a kind since `atMs`, and what was held since: of begins and moments (false), and of ends (true). */
interface Given {
  readonly atMs: number;
  left: number;
  readonly held: Map<boolean, { last: Occurrence; count: number }>;
}

export class Limiter {
  /** By key, in the order of `atMs`. */
  readonly #given = new Map<string, Given>();

  admits(one: Occurrence, nowMs: number): boolean {
    const isEnd = BEGINS.has(one.what.event);
    const given = getOrInsert(this.#given, keyOf(one), () => ({ atMs: nowMs, left: BURST, held: new Map() }));
    // The end of what was given is given: neither stands there without the other.
    if (given.held.size === 0 && (isEnd || given.left-- > 0)) return true;
    const before = [given.held.get(isEnd), isEnd ? undefined : given.held.get(true)];
    const ring = [...before.flatMap(held => held?.last.ring ?? []), ...(one.ring ?? [])];
    // The end of what is only counted is counted with it.
    if (!isEnd) given.held.delete(true);
    given.held.set(isEnd, { last: { ...one, ring }, count: (before[0]?.count ?? 0) + 1 });
    return false;
  }

  /** Those that were held until now; all of them at the end. */
  *due(nowMs: number, all = false): Generator<Occurrence> {
    for (const [key, { atMs, held }] of this.#given) {
      if (!all && nowMs - atMs < MINUTE_MS) return;
      this.#given.delete(key);
      if (held.size === 0) continue;
      // Behind all others: this walk ends before it, because it is not due yet.
      if (!all) this.#given.set(key, { atMs: nowMs, left: 0, held: new Map() });
      for (const { last, count } of held.values()) yield { ...last, ...(count > 1 && { more: count - 1 }) };
    }
  }
}

export interface EventGroup {
  readonly what: Happening;
  readonly atMs: number;
  readonly nodes: Set<string>;
  first: string | undefined;
  fromMs: number;
  fromLastMs: number;
  toMs: number | undefined;
  toLastMs: number | undefined;
  wordsMs: number | undefined;
  more: number;
  readonly counted: (readonly [node: string, counted: NonNullable<Occurrence['counted']>])[];
  readonly ring: number[];
  readonly jobs: (readonly [job: JournalJob, node: string])[];
}

/** Whether a time and those of a group would lie close together. */
function fits(from: number | undefined, last: number | undefined, time: number | undefined): boolean {
  if (from === undefined || last === undefined || time === undefined) return from === time;
  return Math.max(last, time) - Math.min(from, time) <= TOGETHER_MS;
}

function join(group: EventGroup, one: Occurrence): void {
  const { node, fromMs, toMs, wordsMs, more = 0, counted, ring = [], job } = one;
  if (node !== undefined) group.nodes.add(node);
  if (node !== undefined && job !== undefined) group.jobs.push([job, node]);
  if (fromMs < group.fromMs) group.first = node;
  group.fromMs = Math.min(group.fromMs, fromMs);
  group.fromLastMs = Math.max(group.fromLastMs, fromMs);
  if (toMs !== undefined) {
    group.toMs = Math.min(group.toMs ?? toMs, toMs);
    group.toLastMs = Math.max(group.toLastMs ?? toMs, toMs);
  }
  if (wordsMs !== undefined) group.wordsMs = Math.min(group.wordsMs ?? wordsMs, wordsMs);
  group.more += more;
  if (node !== undefined && counted !== undefined) group.counted.push([node, counted]);
  for (const number of ring) group.ring.push(number);
}

/** What a group's begins or ends are of, for each node; none for what does not last. */
function spellsOf({ what, nodes }: EventGroup): string[] {
  const { event } = what;
  const begin = event in ENDS ? event : BEGINS.get(event);
  return begin === undefined ? [] : Array.from(nodes, node => [begin, whichOf(what), node].join('\0'));
}

/** When all of it has happened that has to follow what it ends. */
const orderOf = ({ what, fromMs, toLastMs = fromMs }: EventGroup) => (BEGINS.has(what.event) ? toLastMs : fromMs);

/** Occurrences that wait for others like them. */
export class EventGrouping {
  /** In the order in which they began. */
  #groups: EventGroup[] = [];
  #byWhat = new Map<string, EventGroup[]>();

  add(one: Occurrence, nowMs: number): void {
    const alike = getOrInsert(this.#byWhat, JSON.stringify(one.what), () => []);
    let group =
      one.node === undefined
        ? undefined
        : alike.find(
            group =>
              group.nodes.size < SHARERS &&
              !group.nodes.has(one.node as string) &&
              fits(group.fromMs, group.fromLastMs, one.fromMs) &&
              fits(group.toMs, group.toLastMs, one.toMs),
          );
    if (group === undefined) {
      const { what, node, fromMs, toMs } = one;
      group = {
        ...{ what, atMs: nowMs, nodes: new Set(), first: node, fromMs, fromLastMs: fromMs, toMs, toLastMs: toMs },
        ...{ wordsMs: undefined, more: 0, counted: [], ring: [], jobs: [] },
      };
      this.#groups.push(group);
      alike.push(group);
    }
    join(group, one);
  }

  /**
   * The groups that have waited long enough, in the order of what happened; all of them at the end. The begin of what
   * ends there, or the end of what begins there again, is taken with it: neither is written before the other.
   */
  take(nowMs: number, all = false): EventGroup[] {
    const due = all ? this.#groups.length : this.#groups.findIndex(({ atMs }) => nowMs - atMs < TOGETHER_MS);
    const taken = this.#groups.splice(0, due < 0 ? this.#groups.length : due);
    // What comes along may bring others along.
    for (let from = 0; from < taken.length && this.#groups.length > 0; ) {
      const spells = new Set(taken.slice(from).flatMap(spellsOf));
      from = taken.length;
      const [along, rest] = [true, false].map(isAlong =>
        this.#groups.filter(group => spellsOf(group).some(spell => spells.has(spell)) === isAlong),
      ) as [EventGroup[], EventGroup[]];
      taken.push(...along);
      this.#groups = rest;
    }
    taken.sort(
      (a, b) => orderOf(a) - orderOf(b) || Number(BEGINS.has(a.what.event)) - Number(BEGINS.has(b.what.event)),
    );
    this.#byWhat = groupBy(this.#groups, ({ what }) => JSON.stringify(what));
    return taken;
  }
}

/** Host lists with the count of each of their nodes. */
export function countsOf(times: readonly (readonly [node: string, times: number])[]): Record<string, number> {
  const same = [...groupBy(times, ([, count]) => count)];
  return Object.fromEntries(same.map(([count, nodes]) => [fold(nodes.map(([node]) => node)), count]));
}

/** What a line says of a group. `wall`: the ISO time of a time of CLOCK_MONOTONIC. */
export function happeningOf(group: EventGroup, wall: (ms: number) => string): Happening {
  const { what, nodes, first, fromMs, fromLastMs, toMs, toLastMs, wordsMs, more, counted } = group;
  return {
    ...what,
    ...(nodes.size > 0 && { nodes: fold(nodes), count: nodes.size }),
    ...(nodes.size > 1 && first !== undefined && { first }),
    from: wall(fromMs),
    ...(fromLastMs > fromMs && { from_last: wall(fromLastMs) }),
    ...(toMs !== undefined && { to: wall(toMs) }),
    ...(toLastMs !== undefined && toMs !== undefined && toLastMs > toMs && { to_last: wall(toLastMs) }),
    ...(wordsMs !== undefined && { words_from: wall(wordsMs) }),
    ...(more > 0 && { more }),
    ...(counted.length > 0 && { counts: countsOf(counted.map(([node, { times }]) => [node, times])) }),
  };
}
