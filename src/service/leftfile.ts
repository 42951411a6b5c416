// Files that other programs leave: how they are judged, read and followed. One that has not changed is not read again,
// and a program that looks again and again reads in the background, in slices.

import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  promises,
  readFileSync,
  type Stats,
} from 'node:fs';
// Not from node:fs/promises, which every program that reads a file once would load.
import { attempt } from '../text/failure.js';
import { isObject, isText, jsonOf } from '../text/shape.js';
import { atOnce, inSlices, type Steps } from './slices.js';

/** A kind of file. */
export interface LeftFile<T> {
  readonly path: string;
  /** What else is judged, as the folder in which it lies. */
  readonly beside?: string;
  readonly isLinkTaken?: boolean;
  /** Why it is not read; undefined: it is. Asked before it is opened, and then with its own stats. */
  judge(beside: Stats | undefined, stats?: Stats): string | undefined;
  /** What its JSON says; undefined: it is none. Never throws. */
  parse(value: unknown): Steps<T>;
  /** What is found if there is none, it cannot be read, or there is a Doubt. */
  without(error: Error & { readonly code?: string }): T;
}

/** Why a file is not read, as `judge` said it. */
export class Doubt extends Error {}

/** Whether others than its owner may write it. */
export const isOpen = ({ mode }: Stats) => (mode & 0o022) !== 0;

/** Whether only root, these users or ourselves can have written it. */
export const isOurs = (stats: Stats, users: readonly (number | undefined)[]) =>
  [0, process.geteuid?.(), ...users].includes(stats.uid) && !isOpen(stats);

/** Opens without waiting: if it is a FIFO, nobody may ever write into it. */
const modeOf = ({ isLinkTaken }: LeftFile<unknown>) =>
  constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | (isLinkTaken ? 0 : constants.O_NOFOLLOW);

function judged(file: LeftFile<unknown>, beside: Stats | undefined, stats?: Stats): void {
  const why = file.judge(beside, stats);
  if (why !== undefined) throw new Doubt(why);
}

/** Identifies what is in it, and what is thought of it. */
const whichOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats, beside: Stats | undefined) =>
  [dev, ino, size, mtimeNs, ctimeNs, beside?.uid, beside?.mode].join();

const besideOf = ({ beside }: LeftFile<unknown>) =>
  beside === undefined ? undefined : lstatSync(beside, { throwIfNoEntry: false });

/** Reads it at once. Never throws. */
export function readLeft<T>(file: LeftFile<T>): T {
  try {
    const beside = besideOf(file);
    judged(file, beside);
    const fd = openSync(file.path, modeOf(file));
    try {
      judged(file, beside, fstatSync(fd));
      return atOnce(file.parse(jsonOf(readFileSync(fd, 'utf8'))));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return file.without(error as Error);
  }
}

export class FileFollower<T> {
  last: T | undefined;
  /** Of the file that was read last; empty: it could not be read. */
  #which = '';
  #error: string | undefined;
  #looking: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  /** `changed` is called when something else has been found in the background. */
  constructor(
    readonly file: LeftFile<T>,
    private readonly changed: () => void = () => {},
  ) {}

  /** What the last look found, the same object while the file is the same; undefined: it is being read. Looks again. */
  get found(): T | undefined {
    if (this.#looking === undefined) void this.look();
    return this.last;
  }

  /** What is in it now. Never rejects, and nobody else waits for it. */
  look(): Promise<T> {
    if (this.#looking === undefined)
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined;
      });
    // One that is under way may have looked too early.
    else
      this.#next ??= this.#looking.then(() => {
        this.#next = undefined;
        return this.look();
      });
    return this.#next ?? this.#looking;
  }

  now(): T {
    // Where that is an error, reading meets the same, and says what is wrong.
    const which = attempt(() => whichOf(lstatSync(this.file.path, { bigint: true }), besideOf(this.file))) ?? '';
    if (which === '' || which !== this.#which) [this.last, this.#which] = [readLeft(this.file), which];
    return this.last as T;
  }

  async #look(): Promise<T> {
    const { file } = this;
    const before = this.last;
    try {
      const beside = besideOf(file);
      judged(file, beside);
      const stats = await (file.isLinkTaken ? promises.stat : promises.lstat)(file.path, { bigint: true });
      // If it is replaced from here on, the next look finds that.
      const which = whichOf(stats, beside);
      if (which !== this.#which) {
        const bytes = await this.#bytes(beside);
        this.last = await inSlices(parsedByRows(file, bytes));
        [this.#which, this.#error] = [which, undefined];
      }
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#error || before === undefined) this.last = file.without(error as Error);
      [this.#which, this.#error] = ['', message];
    }
    if (this.last !== before) this.changed();
    return this.last as T;
  }

  async #bytes(beside: Stats | undefined): Promise<Buffer> {
    const handle = await promises.open(this.file.path, modeOf(this.file));
    try {
      judged(this.file, beside, await handle.stat());
      return await handle.readFile();
    } finally {
      await handle.close();
    }
  }
}

// ---- JSON by rows ----

/** The most bytes that are parsed in one piece: what is no row. */
const PIECE_BYTES = 8 << 20;

/** A row of a list, and what follows it on its line. */
const ROW = /^(\{.*?\})(,|\][\]},]{0,8}|)$/s;

/** Stands for rows in what is around them; our writers leave no such character. */
const MARK = '\0';

function parsedRow(line: string): { readonly row: object; readonly tail: string } | undefined {
  // Nearly all end so, and the pattern takes as long as parsing.
  const [, text = '', tail = ''] = line.endsWith('},') ? ['', line.slice(0, -1), ','] : (ROW.exec(line) ?? []);
  const row = jsonOf(text);
  return isObject(row) ? { row, tail } : undefined;
}

/** Puts rows back into the lists in which they stood, of the whole or of one of its objects. */
function filled(value: unknown, runs: readonly (readonly object[])[], depth = 2): unknown {
  if (Array.isArray(value))
    return value.flatMap(one => (isText(one) && one[0] === MARK ? runs[Number(one.slice(1))] : undefined) ?? [one]);
  if (isObject(value) && depth > 0)
    for (const key of Object.keys(value)) value[key] = filled(value[key], runs, depth - 1);
  return value;
}

/**
 * The value of a text of JSON. A list may have each of its objects on a line of its own, as `jsonByRows` writes them:
 * then they are parsed one by one, and it yields after each. Undefined: it is no JSON, or has more than 8 MiB besides
 * such rows.
 */
export function* jsonIn(bytes: Buffer): Steps<unknown> {
  const runs: object[][] = [];
  let around = '';
  // Whether another row may follow in the last run.
  let isRunning = false;
  for (let start = 0; start < bytes.length; yield) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.length : found;
    if (around.length + end - start > PIECE_BYTES) return undefined;
    const line = bytes.toString('utf8', start, end);
    const parsed = start > 0 && line.startsWith('{') ? parsedRow(line) : undefined;
    start = end + 1;
    if (parsed === undefined) {
      around += `${isRunning ? ',' : ''}${line}\n`;
      isRunning = false;
      continue;
    }
    if (isRunning) runs.at(-1)?.push(parsed.row);
    else around += `"\\u0000${runs.push([parsed.row]) - 1}"`;
    isRunning = parsed.tail === ',';
    if (!isRunning) around += parsed.tail;
  }
  // A last comma is none of JSON.
  const whole = jsonOf(isRunning ? `${around},` : around);
  return runs.length === 0 ? whole : filled(whole, runs);
}

function* parsedByRows<T>(file: LeftFile<T>, bytes: Buffer): Steps<T> {
  return yield* file.parse(yield* jsonIn(bytes));
}

/** A list for `jsonIn`, in pieces of at most one row; people can grep it. */
export const jsonByRows = (rows: readonly object[]) => `[${rows.map(row => `\n${JSON.stringify(row)}`).join(',')}]`;
