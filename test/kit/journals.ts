// Journals that a test writes itself, line by line, in the format of src/journalfile/format.ts. No test of its own.

import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Happening, type JournalJob, lineId, segmentName, writeLine } from '../../src/journalfile/format.js';

/** The day of the tests' journals, and its boot of the master. */
export const DAY = '2025-11-27';
const BOOT = 0xabcn;
const CREATED = 1_764_201_600_000_000_000n;

/** A time of that day, `03:04:58` or `03:04:58.001`, as a journal has it; whole dates stay. */
export function isoOf(time: string): string {
  return new Date(time.length > 12 ? time : `${DAY}T${time}Z`).toISOString();
}

const TIMES = ['from', 'from_last', 'to', 'to_last', 'words_from'] as const;

/** A journal in a folder. Times are those of DAY unless they have a date. */
export class MadeJournal {
  #number = 0;
  #segment = 1;

  /** @param boot another one is that of a master that was booted */
  constructor(
    readonly folder: string,
    readonly board = 'default',
    readonly boot = BOOT,
  ) {
    mkdirSync(folder, { recursive: true });
  }

  path(kind: 'events' | 'jobs' = 'events'): string {
    return join(this.folder, segmentName(kind, DAY, this.#segment));
  }

  /** What follows is written to the next segment. */
  next(): this {
    this.#segment++;
    return this;
  }

  /** Writes bytes as they are. */
  raw(text: string | Uint8Array): this {
    appendFileSync(this.path(), text);
    return this;
  }

  /** Writes a line and returns its id. `jobs` are written before it. */
  line(
    at: string,
    happening: Happening & { readonly id?: string; readonly mono_ms?: number },
    jobs?: JournalJob[],
    left_out?: number,
  ): string {
    this.#number++;
    const id = lineId(this.boot, CREATED, this.#number);
    const times = Object.fromEntries(
      TIMES.flatMap(key => (happening[key] === undefined ? [] : [[key, isoOf(happening[key])]])),
    );
    if (jobs !== undefined) appendFileSync(this.path('jobs'), writeLine({ id, jobs, ...(left_out && { left_out }) }));
    const iso = isoOf(at);
    const mono_ms = Date.parse(iso) - Date.parse(isoOf('00:00:00')) + 1e6;
    this.raw(writeLine({ id, at: iso, mono_ms, board: this.board, ring: this.#number, ...happening, ...times }));
    return id;
  }
}
