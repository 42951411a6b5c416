// Files that others read at any time: each is replaced completely or not at all.

import { closeSync, fchmodSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

/** Writes a file that replaces the one of that name, with exactly these permissions whatever the umask is. */
export function replaceFile(folder: string, name: string, text: string, mode: number): void {
  const made = join(folder, `.${name}.new`);
  rmSync(made, { force: true });
  const fd = openSync(made, 'wx', 0o600);
  try {
    writeWhole(fd, text);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
  renameSync(made, join(folder, name));
}
