// Files that others write for the sender; see "Files of others" in proto/stat-v1.md. Refuses what is not a regular
// file, what anybody could have written except root, beoboard and the sender's own user, and what is larger than 64 KiB.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { isTrustedWriter } from '../trusted.js';
import type { Reading, SlowWorld } from './source.js';

const MOST_BYTES = 64 << 10;
/** A FIFO in its place must not hang us: with NONBLOCK it opens, and is then refused. */
const MODE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const ABSENT = ['ENOENT', 'ENOTDIR'];

/** Why a file is not trusted; undefined if it is. */
function objection({ uid, mode, size }: Stats, regular: boolean): string | undefined {
  if (!regular) return 'it is not a regular file';
  if (!isTrustedWriter(uid)) return 'it belongs neither to root nor to beoboard or the user of the sender';
  if ((mode & 0o022) !== 0) return 'others may write it; chmod go-w it';
  if (size > MOST_BYTES) return `it is larger than ${MOST_BYTES} bytes`;
  return undefined;
}

function readAll(path: string): { text: string } | { objection: string } {
  const fd = openSync(path, MODE);
  try {
    const stats = fstatSync(fd);
    const why = objection(stats, stats.isFile());
    if (why !== undefined) return { objection: why };
    // One byte more than allowed, so that a file that grew meanwhile is distinguished from one that just fits.
    const buffer = Buffer.alloc(MOST_BYTES + 1);
    let length = 0;
    for (let got = -1; got !== 0; length += got) got = readSync(fd, buffer, length, buffer.length - length, length);
    if (length > MOST_BYTES) return { objection: `it is larger than ${MOST_BYTES} bytes` };
    return { text: buffer.toString('utf8', 0, length) };
  } finally {
    closeSync(fd);
  }
}

function refuse(path: string, now: Reading, why: string): undefined {
  now.complain(`${path} is ignored: ${why}`);
  return undefined;
}

function failed(path: string, now: Reading, error: unknown): { there: boolean } {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  if (ABSENT.includes(code)) return { there: false };
  refuse(path, now, code);
  return { there: true };
}

/**
 * The result of `parser` for a file of others. `there`: whether the file exists, whatever its contents. `mostSeconds`:
 * its maximum age; one with a date as far in the future is not trusted either.
 */
export function readOthers<T>(
  world: SlowWorld,
  name: string,
  now: Reading,
  parser: (text: string) => T | undefined,
  mostSeconds = Number.POSITIVE_INFINITY,
): { there: boolean; value?: T; ageSeconds?: number } {
  const path = `${world.run}/${name}`;
  try {
    // Most nodes do not have it, and an exception would cost more.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return { there: false };
    // The age is read first: if the file is replaced meanwhile, it is taken for older than it is, never for younger.
    const ageSeconds = world.ageSeconds(path);
    const read = readAll(path);
    if ('objection' in read) {
      refuse(path, now, read.objection);
      return { there: true };
    }
    const value = parser(read.text);
    if (value === undefined) {
      refuse(path, now, 'its format is wrong');
      return { there: true };
    }
    if (ageSeconds === undefined || Number.isNaN(ageSeconds)) return { there: true };
    if (Math.abs(ageSeconds) > mostSeconds) {
      refuse(path, now, `it is not of the last ${mostSeconds} s`);
      return { there: true };
    }
    return { there: true, value, ageSeconds };
  } catch (error) {
    return failed(path, now, error);
  }
}

/** Whether a trusted file exists; its contents, and whether we may read it, do not matter. */
export function others(world: SlowWorld, name: string, now: Reading): boolean {
  const path = `${world.run}/${name}`;
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    const why = objection(stats, stats.isFile());
    if (why !== undefined) refuse(path, now, why);
    return why === undefined;
  } catch (error) {
    failed(path, now, error);
    return false;
  }
}
