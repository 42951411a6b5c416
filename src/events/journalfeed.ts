// The journal of a board while its daemon runs: the lines of the last hour, then what it writes, look by look. Read in
// slices; its folder may be gone, unreadable or half written at any time, and is tried again.

import type { Line } from '../journalfile/format.js';
import { Journal, type Place } from '../journalfile/journal.js';
import { toldOf } from '../journalfile/listing.js';
import { believedUsers, JournalFolder } from '../journalfile/segments.js';
import { runningJournal } from '../journalfile/state.js';
import { journalEvent } from '../presentation/journallines.js';
import type { FoldedEvent } from '../presentation/shapes.js';
import { SlicedLook } from '../service/slices.js';
import type { BoardReader } from '../shm/reader.js';
import { painter } from '../terminal/style.js';
import { Failure } from '../text/failure.js';
import { EventLog } from './eventlog.js';

const HOUR_MS = 3_600_000;

interface Followed {
  readonly journal: Journal;
  readonly log: EventLog;
  /** Since when its lines are in the log, ms since 1970. */
  readonly sinceMs: number;
}

export class JournalFeed {
  /** Undefined: none is read. */
  followed: Followed | undefined;
  why = 'the journal was not read yet';
  readonly #plain = painter('never');
  /** The folder of the journal that is read; undefined: none. */
  #path: string | undefined;
  /** A journal whose last hour was read since the last look. */
  #next: Followed | undefined;
  #found: FoldedEvent[] = [];
  /** Another number means that what is being read is not wanted any more. */
  #turn = 0;
  #isReading = false;

  /** `folder`: where journals say how they are; `areJobsShown`: also the jobs that this user may read. */
  constructor(
    readonly reader: BoardReader,
    readonly folder: string,
    readonly areJobsShown: boolean,
  ) {}

  /** Whether lines or segments of the journal that is read are left out: no lines of one, or not believed. */
  get isLacking(): boolean {
    const { unreadable = 0, folder } = this.followed?.journal ?? {};
    return unreadable > 0 || (folder?.refused.size ?? 0) > 0;
  }

  /** Reads on, and adds to the log what was read since the last look. */
  look(seq: number): void {
    const path = this.#running();
    if (this.#next !== undefined) [this.followed, this.#next] = [this.#next, undefined];
    if (path !== undefined && !this.#isReading) {
      this.#isReading = true;
      // Most looks bring few lines, which are read at once.
      void this.#read(path, seq).finally(() => {
        this.#isReading = false;
      });
    }
    // The lines that one look finds need not stand in the order in which the events happened.
    this.#found.sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
    this.followed?.log.add(seq, this.#found);
    this.#found = [];
  }

  /** The folder of the journal if it is written. A daemon that was killed leaves one that can be read. */
  #running(): string | undefined {
    const before = this.#path;
    const running = runningJournal(this.folder, this.reader.path);
    if ('why' in running) [this.#path, this.why] = [undefined, running.why];
    else this.#path = running.path;
    if (this.#path !== before) this.#leave();
    return this.#path;
  }

  async #read(path: string, seq: number): Promise<void> {
    const turn = this.#turn;
    try {
      const { followed } = this;
      if (followed === undefined) await this.#open(path, seq, turn);
      else
        await this.#all(
          followed.journal.readingOn((line, place) => this.#take(followed.journal, line, place, this.#found)),
          turn,
        );
    } catch (error) {
      const isOutside = error instanceof Failure || (error as NodeJS.ErrnoException).code !== undefined;
      if (!isOutside) throw error;
      this.why = (error as Error).message;
      this.#path = undefined;
      this.#leave();
    }
  }

  async #open(path: string, seq: number, turn: number): Promise<void> {
    const journal = new Journal(new JournalFolder(path, believedUsers(this.reader.owner)));
    try {
      const log = new EventLog();
      const fromMs = Date.now() - HOUR_MS;
      let found: FoldedEvent[] = [];
      const take = (line: Line, place: Place) =>
        Date.parse(line.at) < fromMs || this.#take(journal, line, place, found);
      await this.#all(journal.reading(fromMs, take), turn, () => {
        log.add(seq, found, Number.POSITIVE_INFINITY);
        found = [];
      });
      if (turn !== this.#turn) return;
      log.sort();
      this.#next = { journal, log, sinceMs: Math.max(fromMs, journal.beginsMs ?? fromMs) };
    } finally {
      if (this.#next?.journal !== journal) journal.close();
    }
  }

  /** Lets it read to its end, unless it is not wanted any more; `each`: called after each piece. */
  async #all(pieces: Iterable<undefined>, turn: number, each = () => {}): Promise<void> {
    const slices = new SlicedLook();
    for (const _ of pieces) {
      each();
      const pause = slices.next();
      if (pause !== undefined) await pause;
      if (turn !== this.#turn) return;
    }
    each();
  }

  #take(journal: Journal, line: Line, place: Place, into: FoldedEvent[]): void {
    // What goes on stands at the head of each segment, and was told when it began.
    if (line.repeated) return;
    const told = this.areJobsShown ? toldOf(journal, line, place, undefined) : { line };
    into.push(journalEvent(told, this.#plain));
  }

  #leave(): void {
    this.#turn++;
    this.#found = [];
    for (const read of [this.followed, this.#next]) read?.journal.close();
    [this.followed, this.#next] = [undefined, undefined];
  }

  close(): void {
    this.#leave();
  }
}
