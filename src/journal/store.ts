// The files of a journal: lines are appended to the newest segment, which is followed by another at the end of the UTC
// day and when it is full; the oldest go. A line that cannot be written waits, in bounded room, and then is counted.

import { closeSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import {
  isCountOfAll,
  type JobsLine,
  LINE_BYTES,
  type Line,
  LOCK,
  LongLines,
  parseLine,
  SEGMENT_BYTES,
  type SegmentKind,
  segmentName,
  segmentsOf,
  writeLine,
} from '../journalfile/format.js';
import { codeOf, type FolderKind, isStillAt, lockAlone, openOwnFolder, syncFolder } from '../service/ownfolder.js';
import type { Failure } from '../text/failure.js';
import { oneLine } from '../text/text.js';

/** So many bytes of lines wait for a disk. */
const WAITING_MOST = 8 << 20;
/** For the lines of today, and what is being deleted. */
const LEAST_SEGMENTS = 4;
/** So often old segments are looked for, ms. */
const PRUNE_MS = 600_000;
/** A wall clock that has not been set for so long tells how old a segment is, ms; a step of it, ms. */
const STANDS_MS = 3_600_000;
const STEP_MS = 60_000;

/** Everybody may read events; jobs, the group of the daemon, which is `beoboard-jobs`. */
const MODES: Readonly<Record<SegmentKind, number>> = { events: 0o644, jobs: 0o640 };

/** What is written together: a line, and one of jobs that belongs to it and that only some may read. */
export interface WrittenLine {
  readonly line: Line;
  readonly jobs?: JobsLine | undefined;
}

/** The same as text. */
interface Waiting {
  readonly id: string;
  readonly text: string;
  readonly jobs: string;
}

/** Bounds of a journal. */
export interface Retention {
  readonly keepMs: number;
  readonly mostBytes: number;
}

const KIND: FolderKind = {
  mode: 0o755,
  option: 'journal-dir',
  setting: 'LogsDirectory',
  open: 'who could write what they like; chmod go-w it',
};

class SegmentWriter {
  /** The end of the last whole line that is on the disk, as far as we know. */
  #end: number;

  private constructor(
    readonly path: string,
    readonly handle: FileHandle,
    bytes: number,
  ) {
    this.#end = bytes;
  }

  /**
   * Opens a segment, or makes it. What follows the last whole line was being written when the writer was killed.
   * `isCleared`: nothing that stands there is known to be on the disk.
   */
  static async open(path: string, mode: number, isCleared: boolean): Promise<SegmentWriter> {
    const handle = await open(path, 'a+', mode);
    try {
      await handle.chmod(mode);
      const { size } = await handle.stat();
      const end = isCleared ? 0 : await lastLineEnd(handle, size);
      if (end < size) await handle.truncate(end);
      return new SegmentWriter(path, handle, end);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.#end;
  }

  get isThere(): boolean {
    return isStillAt(this.path, this.handle.fd);
  }

  /** Whether something may stand behind its end: nothing more is appended. */
  isTorn = false;

  /** Appends whole lines, all or none. Throws what the file system throws. */
  async append(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.handle.write(bytes, at)).bytesWritten;
      await this.handle.datasync();
      this.#end += bytes.length;
    } catch (error) {
      await this.cut(this.#end);
      throw error;
    }
  }

  /** Takes away what stands behind this end. */
  async cut(end: number): Promise<void> {
    this.#end = end;
    await this.handle.truncate(end).catch(() => {
      this.isTorn = true;
    });
  }
}

async function lastLineEnd(handle: FileHandle, size: number): Promise<number> {
  const piece = Buffer.alloc(1 << 16);
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - piece.length);
    const { bytesRead } = await handle.read(piece, 0, end - from, from);
    const at = piece.subarray(0, bytesRead).lastIndexOf(10);
    if (at >= 0) return from + at + 1;
    end = from;
  }
  return 0;
}

const isPlain = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** The lines of a segment that are lines of ours; a disk may have changed one. */
function linesOf(path: string): Line[] {
  if (!isPlain(path)) return [];
  const text = readFileSync(path, 'utf8');
  const long = new LongLines();
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .flatMap(text => {
      const line = text === '' ? undefined : parseLine(text);
      return line === undefined || long.nodesOf(line) === undefined ? [] : line;
    });
}

export class Store {
  #lock: number;
  /** The number of the newest segment; 0: there is none. */
  #number: number;
  #day = '';
  /** The bytes at the head of the newest segment that are repeated, and whether they are still to be written. */
  #headBytes = 0;
  #needsHead = false;
  readonly #open = new Map<SegmentKind, SegmentWriter>();
  /** What an ill disk has left of the newest segment without a line of its own: it is to be cleared. */
  #torn: readonly SegmentKind[] = [];
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #prunedMs = Number.NEGATIVE_INFINITY;
  /** How far the wall clock is ahead of the monotonic one, and since when by that, ms. */
  #clock: { readonly aheadMs: number; readonly sinceMs: number } | undefined;
  /** Why the last lines could not be written, and since when: ms since 1970. */
  trouble: { readonly why: string; readonly sinceMs: number } | undefined;
  /** Lines that were lost and that no line tells of yet. */
  dropped = 0;
  lastId: string | undefined;

  /**
   * @param repeated what goes on, which stands at the head of each segment
   * @param lost makes the line that tells how many were lost
   * Throws a Failure.
   */
  constructor(
    readonly folder: string,
    public bounds: Retention,
    readonly repeated: () => Iterable<Line>,
    readonly lost: (count: number) => Line,
  ) {
    openOwnFolder(folder, KIND);
    this.#lock = this.#lockAlone();
    const segments = segmentsOf(readdirSync(folder), 'events');
    const last = segments.at(-1);
    this.#number = last?.number ?? 0;
    // A last segment that is no plain file is not ours. Without a day, the next line begins a new segment.
    this.#day = last !== undefined && isPlain(join(folder, last.name)) ? last.day : '';
  }

  #lockAlone(): number {
    const held = 'another beoboard journal writes there; end it first, or give another folder by --journal-dir';
    return lockAlone(join(this.folder, LOCK), held);
  }

  /** Makes the lock anew if somebody has removed it. Throws a Failure if another journal has it by now. */
  keepLock(): void {
    if (isStillAt(join(this.folder, LOCK), this.#lock)) return;
    try {
      const lock = this.#lockAlone();
      closeSync(this.#lock);
      this.#lock = lock;
    } catch (error) {
      // Without the folder nobody can write there: what waits says so.
      if ((error as Failure).code === 'lock_held') throw error;
    }
  }

  /**
   * What a daemon that starts has to know: the lines of the last segment with the counts of all, and of those around it;
   * where none has them, some tens of thousands.
   */
  readPast(): Line[] {
    let past: Line[] = [];
    for (const { name } of segmentsOf(readdirSync(this.folder), 'events').reverse()) {
      const isLast = past.length > 50_000 || past.some(isCountOfAll);
      past = [...linesOf(join(this.folder, name)), ...past];
      if (isLast) break;
    }
    this.lastId ??= past.at(-1)?.id;
    return past;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** The largest segment: several fit into the journal's bound. It holds as much of its own as of what goes on. */
  get segmentBytes(): number {
    return Math.min(SEGMENT_BYTES, Math.max(Math.floor(this.bounds.mostBytes / LEAST_SEGMENTS), 2 * this.#headBytes));
  }

  /** Takes lines, which `flush` writes. If too many wait, the oldest are lost. */
  add(records: readonly WrittenLine[]): void {
    for (const record of records) {
      const waiting = waitingOf(record);
      this.#waiting.push(waiting);
      this.#waitingBytes += sizeOf(waiting);
    }
    while (this.#waitingBytes > WAITING_MOST && this.#waiting.length > 1) {
      this.#waitingBytes -= sizeOf(this.#waiting.shift() as Waiting);
      this.dropped++;
    }
  }

  /** Writes what waits, and removes what is too old or too much. Never throws: see `trouble`. */
  async flush(nowMs: number, monoMs: number): Promise<void> {
    const aheadMs = nowMs - monoMs;
    const isSet = this.#clock === undefined || Math.abs(aheadMs - this.#clock.aheadMs) > STEP_MS;
    this.#clock = { aheadMs, sinceMs: isSet ? monoMs : (this.#clock?.sinceMs ?? monoMs) };
    if (this.trouble === undefined && monoMs - this.#prunedMs >= PRUNE_MS) this.#prune(nowMs, monoMs);
    if (this.#waiting.length === 0) return;
    const day = new Date(nowMs).toISOString().slice(0, 10);
    try {
      while (this.#waiting.length > 0) await this.#writeSome(day, nowMs, monoMs);
      this.trouble = undefined;
    } catch (error) {
      const why = `cannot write ${oneLine(this.folder)}: ${codeOf(error)}`;
      this.trouble = { why, sinceMs: this.trouble?.sinceMs ?? nowMs };
      if ([...this.#open.values()].some(({ isTorn }) => isTorn)) this.#leave();
      await this.#close();
    }
  }

  /** Goes on in the next segment, or anew in this one if it has no line of its own: so an ill disk does not fill. */
  #leave(): void {
    if ((this.#open.get('events')?.bytes ?? 0) > this.#headBytes) this.#day = '';
    else [this.#torn, this.#needsHead] = [[...this.#open.keys()], true];
  }

  /** Writes as many lines as fit into a segment. They wait again if that fails; others may be added meanwhile. */
  async #writeSome(day: string, nowMs: number, monoMs: number): Promise<void> {
    const dropped = this.dropped;
    const head = dropped > 0 ? [waitingOf({ line: this.lost(dropped) })] : [];
    const first = [...head, this.#waiting[0] as Waiting].reduce((sum, { text }) => sum + text.length, 0);
    const events = await this.#segment(first, day, nowMs, monoMs);
    let [count, bytes] = [1, events.bytes + first];
    for (; count < this.#waiting.length; count++) {
      bytes += (this.#waiting[count] as Waiting).text.length;
      if (bytes > this.segmentBytes) break;
    }
    const some = this.#waiting.splice(0, count);
    const jobs = some.map(({ jobs }) => jobs).join('');
    let undo = async () => {};
    try {
      // First what only some may read: whoever follows the events finds it.
      if (jobs !== '') {
        const beside = await this.#openSegment('jobs');
        const { bytes } = beside;
        undo = async () => await beside.cut(bytes);
        await beside.append(jobs);
      }
      await events.append([...head, ...some].map(({ text }) => text).join(''));
    } catch (error) {
      await undo();
      this.#waiting.unshift(...some);
      throw error;
    }
    this.dropped -= dropped;
    this.lastId = some.at(-1)?.id;
    this.#waitingBytes -= some.reduce((sum, waiting) => sum + sizeOf(waiting), 0);
  }

  /** The segment for the next lines, of so many bytes. */
  async #segment(bytes: number, day: string, nowMs: number, monoMs: number): Promise<SegmentWriter> {
    let segment =
      this.#number > 0 && (this.#day === day || this.#torn.length > 0) ? await this.#openSegment('events') : undefined;
    const areThere = [...this.#open.values()].every(({ isThere }) => isThere);
    if (segment === undefined || segment.bytes + bytes > this.segmentBytes || !areThere) {
      await this.#close();
      this.#number++;
      this.#day = day;
      this.#needsHead = true;
      this.#headBytes = 0;
      this.#torn = [];
      segment = await this.#openSegment('events');
    }
    if (this.#needsHead) {
      // What still waits follows as itself.
      const waiting = new Set(this.#waiting.map(({ id }) => id));
      const text = [...this.repeated()].map(line => (waiting.has(line.id) ? '' : writeLine(line))).join('');
      this.#headBytes = text.length;
      if (text !== '') await segment.append(text);
      syncFolder(this.folder);
      this.#needsHead = false;
      // An ill disk must not push out what is on it.
      if (this.trouble === undefined) this.#prune(nowMs, monoMs);
    }
    return segment;
  }

  async #openSegment(kind: SegmentKind): Promise<SegmentWriter> {
    let segment = this.#open.get(kind);
    if (segment === undefined) {
      const path = join(this.folder, segmentName(kind, this.#day, this.#number));
      segment = await SegmentWriter.open(path, MODES[kind], this.#torn.includes(kind));
      this.#torn = this.#torn.filter(one => one !== kind);
      this.#open.set(kind, segment);
    }
    return segment;
  }

  async #close(): Promise<void> {
    for (const { handle } of this.#open.values()) await handle.close().catch(() => undefined);
    this.#open.clear();
  }

  /** Removes the oldest segments until the rest is within the bounds; the newest stays. */
  #prune(nowMs: number, monoMs: number): void {
    this.#prunedMs = monoMs;
    try {
      const names = readdirSync(this.folder);
      const segments = [...segmentsOf(names, 'events'), ...segmentsOf(names, 'jobs')]
        .map(({ name, number, day }) => {
          const path = join(this.folder, name);
          return { path, number, day, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
        })
        .sort((a, b) => a.number - b.number);
      // The newest may grow to its full size.
      let sum = segments.reduce((sum, { bytes }) => sum + bytes, 0) + this.segmentBytes;
      // If the clock was set to a later year a moment ago, all segments would look old. So age counts only by a clock
      // that has stood for a while.
      const isOld = monoMs - (this.#clock?.sinceMs ?? monoMs) >= STANDS_MS;
      const oldest = isOld ? new Date(nowMs - this.bounds.keepMs).toISOString().slice(0, 10) : '';
      for (const { path, number, day, bytes } of segments) {
        if (number >= this.#number || (day >= oldest && sum <= this.bounds.mostBytes)) continue;
        rmSync(path, { force: true });
        sum -= bytes;
      }
    } catch {
      // Writing goes on; the next look says whether there is room.
    }
  }

  /** Writes what waits and closes the files. */
  async end(nowMs: number, monoMs: number): Promise<void> {
    await this.flush(nowMs, monoMs);
    await this.#close();
    closeSync(this.#lock);
  }
}

const sizeOf = ({ text, jobs }: Waiting) => text.length + jobs.length;

const waitingOf = ({ line, jobs }: WrittenLine): Waiting => ({
  ...{ id: line.id, text: writeLine(line), jobs: jobs === undefined ? '' : jobsText(jobs) },
});

/** A line of jobs, of as many as fit into one; the others are counted. */
function jobsText({ id, jobs }: JobsLine): string {
  for (let count = jobs.length; ; count >>= 1) {
    const left_out = jobs.length - count;
    const text = writeLine({ id, jobs: jobs.slice(0, count), ...(left_out > 0 && { left_out }) });
    if (Buffer.byteLength(text) <= LINE_BYTES) return text;
  }
}
