// One journal: its segments in the order of writing, read from the one that covers a time on, and the jobs of its events.

import type { NameRanges } from '../text/hostlists.js';
import { type JobsLine, type Line, LongLines, parseJobsLine, parseLine, type Segment } from './format.js';
import { beganAt, closeSegment, type JournalFolder, lineAt, NoJournal, type OpenSegment, scan } from './segments.js';

/** Where a line stands. */
export interface Place {
  /** Which of `Journal.opened` it is in. */
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
}

/** Takes the lines of a journal, with their nodes, one after another. */
type TakeLine = (line: Line, place: Place, nodes: NameRanges) => unknown;

/** Where the jobs of each event stand in a segment. */
interface JobsIndex {
  readonly opened: OpenSegment;
  end: number;
  /** Whether nothing was written to it since it was read. */
  isWhole: boolean;
  readonly places: Map<string, readonly [offset: number, bytes: number]>;
}

type JobsTold = Omit<JobsLine, 'id'>;

export const NO_JOBS: JobsTold = { jobs: [] };

/** So many indices are kept: events come nearly in the order of their jobs. */
const INDICES = 3;

export class Journal {
  readonly opened: OpenSegment[] = [];
  /** How many lines could not be read. */
  unreadable = 0;
  /** The board's name on its first line. */
  board = '';
  /** When it begins, ms since 1970, if that is later than what is asked for. */
  beginsMs: number | undefined;
  #end = 0;
  readonly #long = new LongLines();
  readonly #jobs = new Map<number, JobsIndex>();
  /** The numbers of segments without jobs, or without a right to read them. */
  readonly #without = new Set<number>();
  #older: ReadonlyMap<string, JobsTold> | undefined;
  /** Ids of events that are repeated where reading began: their jobs stand in older segments. */
  readonly #repeated = new Set<string>();

  constructor(readonly folder: JournalFolder) {}

  /** Reads all from the segment that covers that moment on. Throws NoJournal. */
  read(sinceMs: number, take: TakeLine): void {
    for (const _ of this.reading(sinceMs, take));
  }

  /** The same piece by piece: whoever reads may do something else between two. */
  *reading(sinceMs: number, take: TakeLine): Generator<undefined> {
    const segments = this.folder.segments('events');
    if (segments.length === 0) throw this.folder.absent();
    for (const segment of this.#covering(segments, sinceMs)) yield* this.#scan(segment, take);
    if (this.opened.length === 0) throw this.folder.refused.size > 0 ? this.folder.unread() : this.folder.absent();
  }

  /** Opens the segments from the one that covers a moment on: from the last before the first one that begins later. */
  #covering(segments: readonly Segment[], sinceMs: number): OpenSegment[] {
    const later: OpenSegment[] = [];
    // The one that covers the moment, and those behind it of which nobody knows when they begin: a full disk leaves empty ones.
    let before: OpenSegment[] = [];
    let isCovered = false;
    for (const segment of segments) {
      const opened = this.folder.open(segment);
      if (opened === undefined) continue;
      const beganMs = later.length > 0 ? undefined : beganAt(opened);
      if (later.length > 0 || (beganMs !== undefined && beganMs > sinceMs)) {
        if (later.length === 0 && !isCovered) this.beginsMs = beganMs;
        later.push(opened);
      } else if (beganMs === undefined) before.push(opened);
      else {
        for (const old of before) closeSegment(old);
        before = [opened];
        isCovered = true;
      }
    }
    return [...before, ...later];
  }

  *#scan(opened: OpenSegment, take: TakeLine): Generator<undefined> {
    this.opened.push(opened);
    this.#end = 0;
    yield* this.#scanOn(take);
  }

  /** What is new in the last segment. */
  *#scanOn(take: TakeLine): Generator<undefined> {
    const segment = this.opened.length - 1;
    const { fd } = this.opened[segment] as OpenSegment;
    const each = (text: string | undefined, offset: number, bytes: number) => {
      const line = text === undefined ? undefined : parseLine(text);
      if (line?.repeated && segment === 0) this.#repeated.add(line.id);
      if (line !== undefined && this.board === '') this.board = line.board;
      const nodes = line && this.#long.nodesOf(line);
      if (line === undefined || nodes === undefined) this.unreadable++;
      else take(line, { segment, offset, bytes }, nodes);
    };
    for (let before = -1; this.#end > before; ) {
      if (before >= 0) yield;
      before = this.#end;
      this.#end = scan(fd, before, each, 1);
    }
  }

  /**
   * Takes the lines that were written since, also of newer segments; those before cannot be looked up any more. Throws
   * NoJournal if the folder is gone.
   */
  readOn(take: TakeLine): void {
    for (const _ of this.readingOn(take));
  }

  /** The same piece by piece. */
  *readingOn(take: TakeLine): Generator<undefined> {
    const last = this.opened.at(-1) as OpenSegment;
    for (const index of this.#jobs.values()) index.isWhole = false;
    this.#without.clear();
    yield* this.#scanOn(take);
    const segments = this.folder.segments('events');
    const newer = segments.filter(({ number }) => number > last.segment.number);
    // A folder that was emptied begins anew.
    const next = newer.length === 0 && !this.folder.has(last) ? segments : newer;
    for (const [i, one] of next.entries()) {
      // First the rest of the old segment, which was written until the next one began.
      if (i === 0) yield* this.#scanOn(take);
      const opened = this.folder.open(one);
      if (opened === undefined) continue;
      closeSegment(this.opened.at(-1) as OpenSegment);
      yield* this.#scan(opened, take);
    }
  }

  /** The line at a place; undefined if it does not stand there any more. */
  lineAt({ segment, offset, bytes }: Place): Line | undefined {
    const text = lineAt(this.opened[segment] as OpenSegment, offset, bytes);
    return text === undefined ? undefined : parseLine(text);
  }

  /** The jobs of an event; none if there are none, or this user may not read them. */
  jobsOf({ id, repeated }: Line, { segment }: Place): JobsTold {
    if (repeated && segment === 0) {
      this.#older ??= this.#readOlder();
      return this.#older.get(id) ?? NO_JOBS;
    }
    const index = this.#jobsIndex((this.opened[segment] as OpenSegment).segment.number);
    const place = index?.places.get(id);
    if (index === undefined || place === undefined) return NO_JOBS;
    return parseJobsLine(lineAt(index.opened, ...place) ?? '') ?? NO_JOBS;
  }

  /** None if the folder is gone meanwhile: an event is told all the same. */
  #jobsSegments(): Segment[] {
    try {
      return this.folder.segments('jobs');
    } catch (error) {
      if (error instanceof NoJournal) return [];
      throw error;
    }
  }

  #jobsIndex(number: number): JobsIndex | undefined {
    let index = this.#jobs.get(number);
    if (index === undefined) {
      if (this.#without.has(number)) return undefined;
      const segment = this.#jobsSegments().find(jobs => jobs.number === number);
      const opened = segment && this.folder.open(segment);
      if (opened === undefined) {
        this.#without.add(number);
        return undefined;
      }
      index = { opened, end: 0, isWhole: false, places: new Map() };
      this.#jobs.set(number, index);
      const [oldest] = this.#jobs.keys();
      if (this.#jobs.size > INDICES && oldest !== undefined) {
        closeSegment((this.#jobs.get(oldest) as JobsIndex).opened);
        this.#jobs.delete(oldest);
      }
    }
    if (index.isWhole) return index;
    const { places } = index;
    index.isWhole = true;
    index.end = scan(index.opened.fd, index.end, (text, offset, bytes) => {
      const id = text === undefined ? undefined : parseJobsLine(text)?.id;
      if (id === undefined) this.unreadable++;
      else places.set(id, [offset, bytes]);
    });
    return index;
  }

  /** The jobs of the events that go on where reading began: they were written when these began. */
  #readOlder(): ReadonlyMap<string, JobsTold> {
    const found = new Map<string, JobsTold>();
    const before = (this.opened[0] as OpenSegment).segment.number;
    for (const segment of this.#jobsSegments().filter(({ number }) => number < before)) {
      const opened = this.folder.open(segment);
      if (opened === undefined) continue;
      scan(opened.fd, 0, text => {
        const line = text === undefined ? undefined : parseJobsLine(text);
        if (line !== undefined && this.#repeated.has(line.id)) found.set(line.id, line);
      });
      closeSegment(opened);
    }
    return found;
  }

  close(): void {
    for (const opened of this.opened) closeSegment(opened);
    for (const { opened } of this.#jobs.values()) closeSegment(opened);
  }
}
