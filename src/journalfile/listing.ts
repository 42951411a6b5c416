// What journals tell of a span: one row for each event, with its end if it lasted. Lines are read twice, so that only a
// few numbers of each are held: when it began and ended, and where it stands.

import { fold, NameRanges } from '../text/hostlists.js';
import { addTo } from '../text/maps.js';
import { BEGINS, ENDS, type JournalJob, LATER_MS, type Line, monotonicOf, whichOf } from './format.js';
import { type Journal, NO_JOBS, type Place } from './journal.js';

/** Which events are asked for. */
export interface EventQuery {
  /** ms since 1970; what goes on at some time from the first to the second counts. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** Events of these nodes, and those of no node. */
  readonly nodes?: ReadonlySet<string> | undefined;
  /** Names of events and problems. */
  readonly kinds?: ReadonlySet<string> | undefined;
}

/** When and after how long something was over, ms, for the first and the last of its nodes. */
export interface Ending {
  readonly toMs: number;
  readonly toLastMs: number;
  readonly leastMs: number;
  readonly mostMs: number;
  /** How many of them are known to have stood still, and for how long. */
  readonly still?: { readonly count: number; readonly leastMs: number; readonly mostMs: number } | undefined;
}

export interface ToldEvent {
  /** With the nodes that are asked for. */
  readonly line: Line;
  /** How many nodes the line has, if not all are asked for. */
  readonly of?: number;
  readonly ending?: Ending | undefined;
  /** For how many nodes it is over, and its end was not recorded. */
  readonly unrecorded?: number;
  /** The nodes for which it goes on; `true`: for all of it. */
  readonly goesOn?: readonly string[] | true | undefined;
  readonly jobs?: readonly JournalJob[];
  /** How many more jobs the line has, for which there was no room. */
  readonly jobsLeftOut?: number | undefined;
}

/** Whether an event is asked for by its name or its problem. */
export function isKind(event: string, { problem }: Line, { kinds }: Pick<EventQuery, 'kinds'>): boolean {
  return kinds === undefined || kinds.has(event) || (problem !== undefined && kinds.has(problem));
}

/** The nodes of a line that are asked for. An event of no node has none. */
export function askedNodes(names: NameRanges, { nodes }: Pick<EventQuery, 'nodes'>): readonly string[] {
  return nodes === undefined ? [...names.made()] : names.among(nodes);
}

/** Whether it is an event of no node, or of one that is asked for. */
export function areAsked(names: NameRanges, { nodes }: Pick<EventQuery, 'nodes'>): boolean {
  return nodes === undefined || names.size === 0 || names.meets(nodes);
}

/** What tells which end is that of a begin. */
type BeginLine = Pick<Line, 'id' | 'at' | 'mono_ms'> & {
  readonly from?: string | undefined;
  readonly from_last?: string | undefined;
};

/**
 * Whether an end is of that begin: 0; of one before: -1; of a later one: 1. What repeats within a minute is told by its
 * last begin and its last end, which may be of two. By CLOCK_MONOTONIC if it is of the same boot of the master.
 */
export function compareEnd(begin: BeginLine, end: Line): number {
  // What only happened at a moment ends whatever is open.
  if (end.from === undefined || end.to === undefined || bootOf(end) !== bootOf(begin)) return 0;
  const { from: first = begin.at, from_last: last = first } = begin;
  if (monotonicOf(end, end.from) > monotonicOf(begin, last) + LATER_MS) return 1;
  return monotonicOf(end, end.from_last ?? end.from) < monotonicOf(begin, first) - LATER_MS ? -1 : 0;
}

/** What is held of an event; times in ms since 1970. Those of its end are NaN until there is one. */
interface ListingRow {
  readonly from: number;
  readonly place: Place;
  to: number;
  toLast: number;
  /** How long it lasted, for the first and the last of its nodes. */
  least: number;
  most: number;
  still?: Ending['still'];
  /** For how many nodes it goes on, and for how many its end was not recorded. */
  left: number;
  unrecorded: number;
}

const bootOf = ({ id }: Pick<Line, 'id'>) => id.slice(0, 16);

/** How far the wall clock was ahead of CLOCK_MONOTONIC as a line was written, ms. */
const distanceOf = ({ at, mono_ms }: BeginLine) => Date.parse(at) - mono_ms;

/** What makes a time of a line, ms since 1970, one by the wall clock of a begin, also if that was set between them. */
export function clockSetMs(begin: BeginLine, line: Line): number {
  const aheadMs = bootOf(begin) === bootOf(line) ? distanceOf(begin) - distanceOf(line) : 0;
  return Math.abs(aheadMs) > LATER_MS ? aheadMs : 0;
}

/** The events of one journal. */
export class Listing {
  readonly #rows: ListingRow[] = [];
  /** The rows of what goes on, by kind and node. */
  #going = new Map<string, number>();
  /** The rows that went on before the daemon began anew, until it has repeated those that still do. */
  #before = new Map<string, number>();
  /** What goes on at the place that is being read. */
  readonly #open = new Map<number, BeginLine>();
  readonly #ids = new Map<string, number>();
  /** The nodes of rows that tell of some nodes of their line. */
  readonly #some = new Map<number, readonly string[]>();
  /** The beginnings of keys of what can go on. */
  readonly #heads = new Set<string>();

  constructor(
    readonly journal: Journal,
    readonly asked: EventQuery,
  ) {
    journal.read(asked.sinceMs, (line, place, names) => this.#take(line, place, names));
  }

  #take(line: Line, place: Place, names: NameRanges): void {
    if (line.event === 'counts') return;
    if (line.event === 'begin') {
      this.#forget();
      for (const [key, row] of this.#going) this.#before.set(key, row);
      this.#going = new Map();
    } else if (!line.repeated && this.#before.size > 0) this.#forget();
    const theirs = this.asked.nodes && names.among(this.asked.nodes);
    if (theirs?.length === 0 && names.size > 0) return;
    const subjects = () => (line.nodes === undefined ? [line.link ?? ''] : (theirs ?? [...names.made()]));
    if (line.event === 'removed')
      for (const node of subjects()) for (const head of this.#heads) this.#lose(head + node);
    const begin = BEGINS.get(line.event);
    if (line.event in ENDS) this.#begin(line, place, subjects());
    else if (begin !== undefined) this.#end(begin, line, place, subjects());
    else if (isKind(line.event, line, this.asked)) this.#add(line, place);
  }

  /** The beginning of the keys of an event that can go on; the rest of a key is the node. */
  #head(event: string, line: Line): string {
    const head = `${event} ${whichOf(line)} `;
    this.#heads.add(head);
    return head;
  }

  /** A row of a line; `left`: for how many nodes it goes on. */
  #add({ from, at, to, to_last = to }: Line, place: Place, left = 0): number {
    const ends = { to: Date.parse(to ?? ''), toLast: Date.parse(to_last ?? ''), least: Number.NaN, most: Number.NaN };
    return this.#rows.push({ from: Date.parse(from ?? at), place, ...ends, left, unrecorded: 0 }) - 1;
  }

  #begin(line: Line, place: Place, subjects: readonly string[]): void {
    if (!isKind(line.event, line, this.asked)) return;
    const head = this.#head(line.event, line);
    const known = line.repeated ? this.#ids.get(line.id) : undefined;
    if (known !== undefined) {
      for (const key of subjects.map(subject => head + subject))
        if (this.#before.get(key) === known) {
          this.#before.delete(key);
          this.#going.set(key, known);
        }
      return;
    }
    const row = this.#add(line, place, subjects.length);
    for (const subject of subjects) {
      this.#lose(head + subject);
      this.#going.set(head + subject, row);
    }
    const { id, at, mono_ms, from, from_last } = line;
    this.#open.set(row, { id, at, mono_ms, from, from_last });
    this.#ids.set(id, row);
  }

  #end(begin: string, line: Line, place: Place, subjects: readonly string[]): void {
    const isAsked = isKind(begin, line, this.asked);
    const head = this.#head(begin, line);
    const alone: string[] = [];
    let [order, was]: [number, number | undefined] = [0, undefined]; // Those of a row are compared once.
    if (isAsked)
      for (const subject of subjects) {
        const row = this.#going.get(head + subject);
        if (row !== was)
          [order, was] = [row === undefined ? 0 : compareEnd(this.#open.get(row) as BeginLine, line), row];
        if (row !== undefined && order === 0) this.#close(head + subject, row, line);
        else {
          if (order > 0) this.#lose(head + subject);
          alone.push(subject);
        }
      }
    if (this.asked.kinds?.has(line.event)) this.#add(line, place);
    else if (alone.length > 0) {
      // The begin of this event is not in the journal any more, but the line of its end says when it was.
      const row = this.#add(line, place);
      if (alone.length < subjects.length) this.#some.set(row, alone);
    }
  }

  #close(key: string, number: number, line: Line): void {
    const { from = line.at, to = from, to_last = to } = line;
    const row = this.#rows[number] as ListingRow;
    const setMs = clockSetMs(this.#open.get(number) as BeginLine, line);
    const [toMs, toLastMs] = [Date.parse(to) + setMs, Date.parse(to_last) + setMs];
    const fromMs = line.to === undefined ? row.from : Date.parse(from) + setMs;
    // Until there is one they are not numbers. Nothing ends before it began, to the ms.
    row.to = Math.max(row.from, Math.min(row.to || toMs, toMs));
    row.toLast = Math.max(row.to, row.toLast || toLastMs, toLastMs);
    row.least = Math.min(Number.isNaN(row.least) ? Number.POSITIVE_INFINITY : row.least, toMs - fromMs);
    row.most = Math.max(Number.isNaN(row.most) ? Number.NEGATIVE_INFINITY : row.most, toLastMs - fromMs);
    const { stood_still_ms: still } = line;
    if (still !== undefined) {
      const { count = 0, leastMs = still, mostMs = still } = row.still ?? {};
      row.still = { count: count + 1, leastMs: Math.min(leastMs, still), mostMs: Math.max(mostMs, still) };
    }
    this.#over(key, number);
  }

  #over(key: string, row: number): void {
    this.#going.delete(key);
    if (--(this.#rows[row] as ListingRow).left > 0) return;
    this.#ids.delete(this.#open.get(row)?.id ?? '');
    this.#open.delete(row);
  }

  /** It goes on no longer, and nothing says since when. */
  #lose(key: string): void {
    const row = this.#going.get(key);
    if (row === undefined) return;
    (this.#rows[row] as ListingRow).unrecorded++;
    this.#over(key, row);
  }

  /** What the daemon has not repeated when it began anew goes on no longer. */
  #forget(): void {
    const before = this.#before;
    this.#before = new Map();
    for (const [key, row] of before) {
      const now = this.#going.get(key);
      this.#going.set(key, row);
      this.#lose(key);
      if (now !== undefined) this.#going.set(key, now);
    }
  }

  /** The rows of the span, in the order in which they began. */
  order(): number[] {
    const { sinceMs, untilMs } = this.asked;
    // What is over and has no end was over at once.
    const isIn = ({ left, from, toLast }: ListingRow) => from <= untilMs && (left > 0 || (toLast || from) >= sinceMs);
    const rows = [...this.#rows.keys()].filter(row => isIn(this.#rows[row] as ListingRow));
    return rows.sort((a, b) => this.from(a) - this.from(b) || a - b);
  }

  /** When it began, ms since 1970. */
  from(row: number): number {
    return (this.#rows[row] as ListingRow).from;
  }

  /** The nodes of rows that go on for some of their nodes. */
  #partly(): ReadonlyMap<number, string[]> {
    const found = new Map<number, string[]>();
    for (const going of [this.#before, this.#going])
      for (const [key, row] of going) addTo(found, row, key.slice(key.lastIndexOf(' ') + 1));
    return found;
  }

  /** What rows tell, each when it is asked for; undefined: the line does not stand there any more. */
  teller(): (row: number) => ToldEvent | undefined {
    const partly = this.#partly();
    return row => {
      const { place, to: toMs, toLast, least, most, still, unrecorded } = this.#rows[row] as ListingRow;
      const line = this.journal.lineAt(place);
      if (line === undefined) return undefined;
      const some = this.#some.get(row);
      const told = toldOf(this.journal, line, place, some === undefined ? this.asked.nodes : new Set(some));
      const goesOn = partly.get(row);
      return {
        ...told,
        ending: Number.isNaN(least) ? undefined : { toMs, toLastMs: toLast, leastMs: least, mostMs: most, still },
        unrecorded,
        goesOn: goesOn && (told.line.nodes === undefined || goesOn.length === told.line.count ? true : goesOn),
      };
    };
  }
}

/** Events whose jobs are told. */
const OF_JOBS: readonly string[] = ['silent', 'odd'];

/** A line as it is told by itself: with the nodes that are asked for, and their jobs. */
export function toldOf(journal: Journal, line: Line, place: Place, among: EventQuery['nodes']): ToldEvent {
  const { jobs, left_out: jobsLeftOut } = OF_JOBS.includes(line.event) ? journal.jobsOf(line, place) : NO_JOBS;
  const names = NameRanges.of(line.nodes ?? '');
  const all = { line: names?.size ? { ...line, count: names.size } : line, jobs, jobsLeftOut };
  if (names === undefined || among === undefined) return all;
  const nodes = names.among(among);
  if (nodes.length === names.size) return all;
  const isTheirs = ({ nodes }: JournalJob) => nodes === undefined || NameRanges.of(nodes)?.meets(among) === true;
  return {
    line: { ...line, nodes: fold(nodes), count: nodes.length },
    of: names.size,
    jobs: jobs.filter(isTheirs),
    jobsLeftOut,
  };
}

/** The events of several journals in the order in which they began, each id once; of a span's only the last so many. */
export function* merged(listings: readonly Listing[], last = Number.POSITIVE_INFINITY): Generator<ToldEvent> {
  const queues = listings
    .map(listing => ({ listing, rows: listing.order(), at: 0, tell: listing.teller() }))
    .sort((a, b) => compare(a.listing.journal.board, b.listing.journal.board));
  let left = queues.reduce((sum, { rows }) => sum + rows.length, 0);
  let [fromMs, ids] = [Number.NaN, new Set<string>()];
  for (; left > 0; left--) {
    const heads = queues.filter(({ rows, at }) => at < rows.length);
    const first = heads.reduce((a, b) => (fromOf(b) < fromOf(a) ? b : a));
    const told = left > last ? undefined : first.tell(first.rows[first.at] as number);
    if (fromOf(first) !== fromMs) [fromMs, ids] = [fromOf(first), new Set()];
    first.at++;
    if (told === undefined || ids.has(told.line.id)) continue;
    ids.add(told.line.id);
    yield told;
  }
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

const fromOf = ({ listing, rows, at }: { listing: Listing; rows: readonly number[]; at: number }) =>
  listing.from(rows[at] as number);
