// The reader's folder: it writes each file completely or not at all. Knows nothing of their contents.

import { closeSync, fchmodSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../text/failure.js';
import { oneLine } from '../text/text.js';

/** Writes a file that replaces the one of that name, with exactly these permissions whatever the umask is. */
export function replaceFile(folder: string, name: string, text: string, mode: number): void {
  const made = join(folder, `.${name}.new`);
  rmSync(made, { force: true });
  const fd = openSync(made, 'wx', 0o600);
  try {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
  renameSync(made, join(folder, name));
}

/** Makes the folder if it does not exist. Throws a Failure. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, 0o755);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    throw new Failure(
      `cannot make the folder ${oneLine(folder)}: ${code}; let systemd make it (RuntimeDirectory=), or give another by --slurm-dir`,
      1,
    );
  }
}
