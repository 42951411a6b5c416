// The folder in which a daemon keeps its record: only its user writes there, and only one daemon at a time.

import { closeSync, fstatSync, fsyncSync, lstatSync, mkdirSync, openSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { lock } from '../native/index.js';
import type { ErrorCode } from '../text/errorcodes.js';
import { attempt, Failure } from '../text/failure.js';
import { oneLine } from '../text/text.js';

/** What a folder is to be, and what people are told if it is not. */
export interface FolderKind {
  readonly mode: 0o700 | 0o755;
  /** By which option another is given, and which setting of systemd makes it. */
  readonly option: string;
  readonly setting: string;
  /** Why others must not have the rights that the mode does not give, and what to do. */
  readonly open: string;
}

/** A Failure about a file or folder, of one line. */
export function failureAt(path: string, why: string, code?: ErrorCode): Failure {
  return new Failure(`${oneLine(path)}: ${oneLine(why)}`, 1, code);
}

/** The error number's name of a failed call. */
export const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? 'EIO';

/** Makes the folder if it does not exist. Throws a Failure, also if it is not ours alone. */
export function openOwnFolder(folder: string, kind: FolderKind): void {
  try {
    mkdirSync(folder, { mode: kind.mode });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST')
      throw failureAt(
        folder,
        `cannot be made: ${codeOf(error)}; let systemd make it (${kind.setting}=), or give another by --${kind.option}`,
      );
  }
  checkOwnFolder(folder, kind);
}

/** Throws a Failure if the folder, which exists, is not ours alone. */
export function checkOwnFolder(folder: string, { mode, option, open }: FolderKind): void {
  const found = lstatSync(folder);
  if (!found.isDirectory()) throw failureAt(folder, `is not a folder; remove it, or give another by --${option}`);
  if (found.uid !== process.geteuid?.())
    throw failureAt(folder, `belongs to user ${found.uid}; run as that user, or give another by --${option}`);
  if ((found.mode & ~mode & 0o077) !== 0) throw failureAt(folder, `is open to others, ${open}`);
}

/**
 * Locks a file until the process ends or closes it, and returns its descriptor. Throws a Failure: `lock_held`, which
 * says `held`, if another process has it, or `lock_failed`.
 */
export function lockAlone(path: string, held: string): number {
  const fd = lock(path);
  if (fd === -constants.errno.EWOULDBLOCK) throw failureAt(path, held, 'lock_held');
  if (fd < 0) throw failureAt(path, `cannot be locked: error ${-fd}`, 'lock_failed');
  return fd;
}

/** Whether a path leads to the open file: somebody may have removed it, or moved it away. */
export function isStillAt(path: string, fd: number): boolean {
  const { ino, dev } = fstatSync(fd);
  const now = attempt(() => statSync(path, { throwIfNoEntry: false }));
  return now?.ino === ino && now.dev === dev;
}

/** The names of new files outlive a power failure. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
