// The journal: what the bridge has done and is about to do, a JSON object per line, written to disk before the act.
// Each start reads it again to know which drains are the bridge's own. Nothing else writes to it.

import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  checkOwnFolder,
  codeOf,
  type FolderKind,
  failureAt,
  isStillAt,
  lockAlone,
  openOwnFolder,
  syncFolder,
} from '../../service/ownfolder.js';
import { writeWhole } from '../../service/replacefile.js';
import { Failure } from '../../text/failure.js';
import { oneLine } from '../../text/text.js';
import { Ledger } from './ownership.js';
import type { BridgeRecord, Timed } from './records.js';

const NAME = 'journal';
/** From this size on a new journal is begun, with a line that holds everything that still matters. */
const LONG_BYTES = 16 << 20;
/** Our journals never grow larger than what one run writes: a larger file is not read. */
const MOST_BYTES = 512 << 20;

const KIND: FolderKind = {
  mode: 0o700,
  option: 'journal',
  setting: 'StateDirectory',
  open: "who could claim drains as the bridge's own; chmod 700 it",
};

/** Makes the folder if it does not exist. Throws a Failure if it is not ours alone. */
export function openFolder(folder: string): void {
  openOwnFolder(folder, KIND);
}

/** Throws a Failure if the folder does not exist or is not ours alone. */
export function checkFolder(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined)
    throw failureAt(folder, 'is not there: no bridge has enforced with it; give the folder of one by --journal');
  checkOwnFolder(folder, KIND);
}

/** The lock by which only one bridge can act with that folder. */
export class Only {
  readonly #path: string;
  readonly #fd: number;

  /** Throws a Failure if another process holds it. */
  constructor(folder: string) {
    this.#path = join(folder, 'lock');
    this.#fd = lockAlone(
      this.#path,
      'another bridge runs with this folder; end it first, as by systemctl stop beoboard-bridge',
    );
  }

  /** Whether the lock file still exists: otherwise another process could make and lock a new one. */
  holds(): boolean {
    return isStillAt(this.#path, this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** A part of a line as it is written now. Lines of earlier versions have `ill` in place of `unhealthy`. */
function renamed(key: string, value: unknown): unknown {
  if ((key === 'incident' || key === 'ill') && typeof value === 'string') return value.replace(/^ill /, 'unhealthy ');
  if (key === 'brake' && value === 'ill') return 'unhealthy';
  if (typeof value !== 'object' || value === null || !('ill' in value)) return value;
  const { ill: unhealthy, ...others } = value;
  return { ...others, unhealthy };
}

/** Reads lines into a ledger. A last line without an end was cut by a power failure: nothing was done for it. */
export function readLines(text: string, place: string): { ledger: Ledger; entries: Timed[]; whole: number } {
  const ledger = new Ledger();
  const entries: Timed[] = [];
  const whole = text.lastIndexOf('\n') + 1;
  for (const [i, line] of text.slice(0, whole).split('\n').entries()) {
    if (line === '') continue;
    let entry: Timed | undefined;
    try {
      entry = JSON.parse(line, renamed) as Timed;
    } catch {}
    if (
      typeof entry !== 'object' ||
      entry === null ||
      typeof entry.what !== 'string' ||
      !Number.isFinite(entry.time_ms)
    )
      throw new Failure(
        `${oneLine(place)}:${i + 1}: is not a line of a journal; put the journal back from a backup, or undo the drains by hand and move the file away`,
        1,
      );
    ledger.apply(entry);
    entries.push(entry);
  }
  return { ledger, entries, whole: Buffer.byteLength(text.slice(0, whole)) };
}

/** The contents of a folder's journal; undefined if there is none. Throws a Failure. */
export function readJournal(folder: string): ReturnType<typeof readLines> | undefined {
  const path = join(folder, NAME);
  let text: string;
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw failureAt(path, 'is no plain file; move it away');
    if (stats.size > MOST_BYTES) throw failureAt(path, 'is too large; move it away');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (codeOf(error) === 'ENOENT') return undefined;
    throw failureAt(path, `cannot be read: ${codeOf(error)}; run as the user of the bridge`);
  }
  return readLines(text, path);
}

/** The destination of entries: a file, or nowhere. Each entry is in the ledger as soon as it is written. */
export interface BridgeJournal {
  readonly ledger: Ledger;
  /** Throws a Failure if it could not be written: then nothing may be done. */
  write(entries: readonly BridgeRecord[]): void;
  /** Whether the next start will find what is written. */
  isThere(): boolean;
}

/** A journal in memory only: what would have been written. */
export class Rehearsal implements BridgeJournal {
  constructor(readonly ledger: Ledger) {}

  isThere(): boolean {
    return true;
  }

  write(entries: readonly BridgeRecord[]): void {
    for (const entry of entries) this.ledger.apply({ ...entry, time_ms: Date.now() });
  }
}

const lineOf = (entry: Timed) => `${JSON.stringify({ time: new Date(entry.time_ms).toISOString(), ...entry })}\n`;

/** The journal of a folder that `Only` holds. */
export class JournalFile implements BridgeJournal {
  readonly ledger: Ledger;
  readonly #path: string;
  readonly #fd: number;
  /** The end of the last complete line. */
  #end: number;

  /** Throws a Failure. */
  constructor(folder: string) {
    const path = join(folder, NAME);
    this.#path = path;
    const before = readJournal(folder);
    this.ledger = before?.ledger ?? new Ledger();
    this.#end = before?.whole ?? 0;
    if (this.#end > LONG_BYTES) this.#beginAnew(folder, path);
    try {
      this.#fd = openSync(path, 'a', 0o600);
      ftruncateSync(this.#fd, this.#end);
      fsyncSync(this.#fd);
      syncFolder(folder);
    } catch (error) {
      throw failureAt(path, `cannot be written: ${codeOf(error)}`);
    }
  }

  /** The old journal is kept beside it, under the time of its end. At every moment there is a file under the name. */
  #beginAnew(folder: string, path: string): void {
    const now = Date.now();
    const line = lineOf({ what: 'state', state: this.ledger.state(now), time_ms: now });
    const made = `${path}.new`;
    const fd = openSync(made, 'w', 0o600);
    try {
      writeWhole(fd, line);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    linkSync(path, `${path}.${new Date(now).toISOString().replace(/[:.-]/g, '')}`);
    renameSync(made, path);
    syncFolder(folder);
    this.#end = Buffer.byteLength(line);
  }

  /** Throws a Failure: then the file may end with half a line, which the next start removes, and no more is written. */
  write(entries: readonly BridgeRecord[]): void {
    if (entries.length === 0) return;
    const timed = entries.map(entry => ({ ...entry, time_ms: Date.now() }));
    const text = timed.map(lineOf).join('');
    try {
      writeWhole(this.#fd, text);
      fsyncSync(this.#fd);
    } catch (error) {
      throw failureAt(this.#path, `cannot be written: ${codeOf(error)}; without it nothing is done in Slurm`);
    }
    this.#end += Buffer.byteLength(text);
    for (const entry of timed) this.ledger.apply(entry);
  }

  isThere(): boolean {
    return isStillAt(this.#path, this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}
