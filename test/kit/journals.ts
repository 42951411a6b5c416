// Journals that a test writes itself, line by line, in the format of src/journalfile/format.ts. No test of its own.

import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Happening,
  type JournalJob,
  type Line,
  lineId,
  parseLine,
  segmentName,
  writeLine,
} from '../../src/journalfile/format.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';

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

/** The lines of a journal, each once. */
export function linesIn(dir: string): Line[] {
  const lines = new Map<string, Line>();
  const names = existsSync(dir) ? readdirSync(dir).filter(name => name.startsWith('events-')) : [];
  for (const name of names.sort())
    for (const text of readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1)) {
      const line = parseLine(text) as Line;
      if (!lines.has(line.id)) lines.set(line.id, line);
    }
  return [...lines.values()];
}

/** How many silences of nodes have a line, and how many more are counted; and what is wrong with the lines. */
export function silencesIn(lines: readonly Line[]): { silences: number; more: number; wrong: string[] } {
  const [open, wrong] = [new Map<string, number>(), [] as string[]];
  let [silences, more] = [0, 0];
  for (const { id, event, nodes = '', from = '', to, more: others = 0, missed = 0 } of lines) {
    if (event !== 'silent' && event !== 'heard_again') continue;
    if (event === 'silent') more += others + missed;
    if (to !== undefined && to < from) wrong.push(`${id}: ends before it begins`);
    for (const node of expand(nodes, BOARD_MOST)) {
      const begun = (open.get(node) ?? 0) + (event === 'silent' ? 1 : -1);
      open.set(node, begun);
      if (event === 'silent') silences++;
      // The end of one may stand behind the begin of the next: what ended while nobody looked is found by its count.
      if (begun < 0) wrong.push(`${id}: ${node} is heard again, and its silence has no line before`);
    }
  }
  return { silences, more, wrong };
}
