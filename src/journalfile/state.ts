// What a running journal says of itself, in a file of /run: whether it writes, and if not, since when and why. How the
// file is written, read and told.

import { readdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { sentences } from '../layout/wording.gen.js';
import { findUser, JOURNAL } from '../options/users.js';
import { FileFollower, isOurs, type LeftFile } from '../service/leftfile.js';
import { replaceFile } from '../service/replacefile.js';
import { moment } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { attempt } from '../text/failure.js';
import type { Described } from '../text/schema.js';
import { type Check, isCount, isText, shapeOf, valuesOf } from '../text/shape.js';
import { brief } from '../text/text.js';

/** What all readers need. Times in whole ms: `mono_ms` and `next_ms` of CLOCK_MONOTONIC, the others since 1970. */
const isState = shapeOf({
  schema: (value => value === 1) as Check<1>,
  /** The board's file. */
  board: isText,
  /** When it was written, and when it will be written again. */
  ...{ time_ms: isCount, mono_ms: isCount, next_ms: isCount },
  /** Why nothing can be written to the journal; absent: all is well. And lines that were lost since then. */
  ...{ 'error?': isText, 'dropped?': isCount },
});

export interface JournalState extends Described<typeof isState> {
  /** The journal's folder; like the board's file as an absolute path. */
  readonly journal_dir?: string | undefined;
  readonly pid: number;
  readonly last_id?: string | undefined;
  /** Since when there is the error. */
  readonly error_since_ms?: number | undefined;
  /** See `HourCounts.most`; absent: the journal is younger than an hour. */
  readonly times_hour?: Readonly<Record<string, number>> | undefined;
  /** See `HourCounts.often`. */
  readonly often_hour?: Readonly<Record<string, Readonly<Record<string, number>>>> | undefined;
}

type WrittenState = JournalState & { readonly plain?: string };

interface FoundJournal {
  readonly name: string;
  readonly state: JournalState;
}

/** A journal that is late by more than this has stopped, ms; and one that is ahead by more, as a look is made first. */
const PATIENCE_MS = 15_000;
/** A state has a few hundred bytes, and some for each key of `times_hour` and node of `often_hour`. */
const MOST_BYTES = 65_536;
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*\.json$/;

/** A word of the plain line: its bytes, with %XX for those that would end the word or its text. */
function plainWord(value: string | number): string {
  const bytes = Buffer.from(typeof value === 'number' ? String(Math.round(value)) : value).toString('latin1');
  return bytes.replace(/[^!#$&-[\]-~]/g, byte => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Leaves the state of the journal `name`, whole or not at all. Throws what the file system throws. */
export function writeState(folder: string, name: string, state: JournalState): void {
  // Whoever reads it may stand in another folder.
  const { journal_dir: dir, time_ms, mono_ms, next_ms, error, error_since_ms = time_ms, dropped = 0 } = state;
  const board = resolve(state.board);
  const told = { ...state, board, journal_dir: dir === undefined ? undefined : resolve(dir) };
  const text = JSON.stringify(told, (_, value) => (typeof value === 'number' ? Math.round(value) : value));
  // A line of its own within the object, for beoboard-check, which reads no JSON.
  const trouble = error === undefined ? [] : [error_since_ms, dropped, error];
  const plain = [board, time_ms, mono_ms, next_ms, ...trouble].map(plainWord).join(' ');
  replaceFile(folder, `${name}.json`, `${text.slice(0, -1)},\n"plain":"${plain}"}\n`, 0o644);
}

/** At a clean shutdown: a journal that was stopped on purpose is no trouble. */
export function removeState(folder: string, name: string): void {
  rmSync(join(folder, `${name}.json`), { force: true });
}

const areCounts = valuesOf(isCount);
const areTables = valuesOf(areCounts);

/** The state in a file's JSON; undefined: this is none, or one of another version. */
function parseState(file: unknown): JournalState | undefined {
  if (!isState(file)) return undefined;
  const { journal_dir, times_hour, often_hour, plain, ...rest } = file as WrittenState;
  if (rest.error !== undefined && !isCount(rest.error_since_ms)) return undefined;
  return {
    ...rest,
    ...(isText(journal_dir) && { journal_dir }),
    ...(areCounts(times_hour) && { times_hour }),
    ...(areTables(often_hour) && { often_hour }),
  };
}

/** The state of one journal; undefined: nobody believes it, or it is none. */
export const stateFile = (path: string): LeftFile<JournalState | undefined> => ({
  path,
  judge: (_, stats) =>
    stats === undefined || (stats.isFile() && stats.size <= MOST_BYTES && isOurs(stats, [findUser(JOURNAL)?.uid]))
      ? undefined
      : 'is not believed',
  // biome-ignore lint/correctness/useYield: it is small.
  *parse(value) {
    return parseState(value);
  },
  without: () => undefined,
});

/** Those of the folder that was read last. */
let followed = new Map<string, FileFollower<JournalState | undefined>>();

/** The path without symbolic links, if there is such a file. */
const real = (path: string): string => attempt(() => realpathSync(path)) ?? resolve(path);

/** The states of the journals of a board, by name. Files that nobody believes, or that are none, are passed over. */
export function readJournalStates(folder: string, boardPath: string): FoundJournal[] {
  const names = attempt(() => readdirSync(folder).sort()) ?? [];
  const paths = names.filter(name => FILE_NAME.test(name)).map(name => join(folder, name));
  followed = new Map(paths.map(path => [path, followed.get(path) ?? new FileFollower(stateFile(path))]));
  const board = real(boardPath);
  return [...followed].flatMap(([path, file]) => {
    const state = file.now();
    return state !== undefined && real(state.board) === board ? [{ name: basename(path, '.json'), state }] : [];
  });
}

type Look = Pick<Snapshot, 'realNs'> & { readonly evidence: Pick<Snapshot['evidence'], 'nowNs'> };

interface JournalTrouble {
  readonly name: string;
  /** In a sentence. */
  readonly text: string;
  /** The same without a time. */
  readonly what: string;
  /** Since when, ms before the look. */
  readonly sinceMs: number;
}

/** Undefined: it writes. */
export function journalTrouble({ name, state }: FoundJournal, look: Look): JournalTrouble | undefined {
  const nowMs = Number(look.evidence.nowNs / 1_000_000n);
  const ago = (wallMs: number) => Math.max(0, Number(look.realNs / 1_000_000n) - wallMs);
  // One that wrote in the future wrote before this machine was booted; a moment ahead, after the board was read.
  if (state.mono_ms > nowMs + PATIENCE_MS || state.next_ms + PATIENCE_MS < nowMs) {
    const sinceMs = ago(state.time_ms);
    const text = sentences.journalStopped({ moment: moment(look, sinceMs), name });
    return {
      name,
      text,
      what: `the journal ${name} has stopped: see systemctl status beoboard-journal@${name}`,
      sinceMs,
    };
  }
  const { error, error_since_ms = state.time_ms, dropped: count = 0 } = state;
  if (error === undefined) return undefined;
  const [sinceMs, why] = [ago(error_since_ms), brief(error, 200)];
  const text = sentences.journalUnwritten({ moment: moment(look, sinceMs), why, count });
  return { name, text, what: `the journal ${name} is not written: ${why}`, sinceMs };
}

/** What is wrong with the journals of a board. */
export function journalTroubles(folder: string, board: Look & Pick<Snapshot, 'path'>): JournalTrouble[] {
  return readJournalStates(folder, board.path).flatMap(found => journalTrouble(found, board) ?? []);
}

/** How often troubles began in the last hour, by kind. */
export interface HourTimes {
  /** For the node that had it most. */
  readonly most: ReadonlyMap<string, number>;
  /** For the nodes that had it three times or more. */
  readonly nodes: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** By a journal of this board that is written; `folder`: where journals say how they are. */
export function hourTimes(folder: string | undefined, board: Look & Pick<Snapshot, 'path'>): HourTimes {
  const states = folder === undefined ? [] : readJournalStates(folder, board.path);
  const written = states.filter(found => journalTrouble(found, board) === undefined).map(({ state }) => state);
  const { often_hour: often = {} } = written.find(({ often_hour }) => often_hour) ?? {};
  return {
    most: new Map(Object.entries(written.find(({ times_hour }) => times_hour)?.times_hour ?? {})),
    nodes: new Map(Object.entries(often).map(([key, counts]) => [key, new Map(Object.entries(counts))])),
  };
}

/** The folder of the journal of this board that is written, or why there is none. */
export function runningJournal(
  folder: string,
  boardPath: string,
): { readonly path: string } | { readonly why: string } {
  const now = { realNs: BigInt(Date.now()) * 1_000_000n, evidence: { nowNs: process.hrtime.bigint() } };
  let why: string | undefined;
  for (const found of readJournalStates(folder, boardPath)) {
    const trouble = journalTrouble(found, now);
    if (trouble === undefined && found.state.journal_dir !== undefined) return { path: found.state.journal_dir };
    why ??= trouble?.what ?? 'the journal of this board does not say where it writes';
  }
  return { why: why ?? 'no journal of this board runs: start beoboard journal, or its unit beoboard-journal@default' };
}
