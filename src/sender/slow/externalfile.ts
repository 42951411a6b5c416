// Files that others write for the sender; see "Files of others" in proto/stat-v1.md. Refuses what is not a regular
// file, what anybody could have written except root, beoboard and the sender's own user, and what is larger than 64 KiB.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { isTrustedWriter } from '../trusted.js';
import type { ReadingBuilder, SlowWorld } from './source.js';

const MOST_BYTES = 64 << 10;
/** A FIFO in its place must not hang us: with NONBLOCK it opens, and is then refused. */
const MODE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const ABSENT = ['ENOENT', 'ENOTDIR'];

const TOO_LARGE = `it is larger than ${MOST_BYTES} bytes`;

function objection(stats: Stats): string | undefined {
  if (!stats.isFile()) return 'it is not a regular file';
  if (!isTrustedWriter(stats.uid)) return 'it belongs neither to root nor to beoboard or the user of the sender';
  if ((stats.mode & 0o022) !== 0) return 'others may write it; chmod go-w it';
  return undefined;
}

/** What was found. Bad: not to be trusted; broken: unreadable or not understood. The age is of a trusted one. */
type FileReading<T> = { ageSeconds?: number } & (
  | { state: 'absent' }
  | { state: 'bad' | 'broken'; why: string }
  | { state: 'good'; value: T }
);

function take<T>(path: string, parser: (text: string) => T | undefined): FileReading<T> {
  const fd = openSync(path, MODE);
  try {
    const stats = fstatSync(fd);
    const why = objection(stats);
    if (why !== undefined) return { state: 'bad', why };
    if (stats.size > MOST_BYTES) return { state: 'broken', why: TOO_LARGE };
    // One byte more than allowed, so that a file that grew meanwhile is distinguished from one that just fits.
    const buffer = Buffer.alloc(MOST_BYTES + 1);
    let length = 0;
    for (let got = -1; got !== 0; length += got) got = readSync(fd, buffer, length, buffer.length - length, length);
    if (length > MOST_BYTES) return { state: 'broken', why: TOO_LARGE };
    const value = parser(buffer.toString('utf8', 0, length));
    return value === undefined ? { state: 'broken', why: 'its format is wrong' } : { state: 'good', value };
  } finally {
    closeSync(fd);
  }
}

export function refuse(path: string, now: ReadingBuilder, why: string): void {
  now.complain(`${path} is ignored: ${why}`);
}

/** What an error says of a file: that it is absent, or why it is in this state. */
function failed(error: unknown, state: 'bad' | 'broken'): Exclude<FileReading<never>, { state: 'good' }> {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  return ABSENT.includes(code) ? { state: 'absent' } : { state, why: code };
}

/** Looks at such a file, and does not complain. */
export function lookAtExternalFile<T>(
  world: SlowWorld,
  name: string,
  parser: (text: string) => T | undefined,
): FileReading<T> {
  const path = `${world.run}/${name}`;
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    return failed(error, 'bad');
  }
  // Most nodes do not have it, and an exception would cost more.
  if (stats === undefined) return { state: 'absent' };
  const why = objection(stats);
  if (why !== undefined) return { state: 'bad', why };
  // The age is read first: if the file is replaced meanwhile, it is taken for older than it is, never for younger.
  const ageSeconds = world.ageSeconds(path);
  if (ageSeconds === undefined || Number.isNaN(ageSeconds)) return { state: 'absent' };
  try {
    return { ...take(path, parser), ageSeconds };
  } catch (error) {
    return { ...failed(error, 'broken'), ageSeconds };
  }
}

/**
 * The result of `parser` for such a file; undefined, with a complaint, if anything is wrong with it. `there`:
 * whether the file exists, whatever its contents. `mostSeconds`: its maximum age; one with a date as far in the future
 * is not trusted either.
 */
export function readExternalFile<T>(
  world: SlowWorld,
  name: string,
  now: ReadingBuilder,
  parser: (text: string) => T | undefined,
  mostSeconds: number,
): { there: boolean; value?: T } {
  const path = `${world.run}/${name}`;
  const found = lookAtExternalFile(world, name, parser);
  if (found.state === 'absent') return { there: false };
  if (found.state !== 'good') refuse(path, now, found.why);
  else if (Math.abs(found.ageSeconds ?? 0) > mostSeconds)
    refuse(path, now, `it was not written within the last ${mostSeconds} s`);
  else return { there: true, value: found.value };
  return { there: true };
}

/** Whether a trusted file exists; its contents, and whether we may read it, do not matter. */
export function hasExternalFile(world: SlowWorld, name: string, now: ReadingBuilder): boolean {
  const path = `${world.run}/${name}`;
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    const why = objection(stats) ?? (stats.size > MOST_BYTES ? TOO_LARGE : undefined);
    if (why !== undefined) refuse(path, now, why);
    return why === undefined;
  } catch (error) {
    const found = failed(error, 'bad');
    if (found.state !== 'absent') refuse(path, now, found.why);
    return false;
  }
}
