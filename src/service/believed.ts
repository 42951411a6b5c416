// Files of others that programs believe: only if nobody else can have written them, and without waiting for anybody.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/**
 * The file, if nobody but root, these users or ourselves can have written it, and it has no more than that many bytes;
 * undefined: it is not to be believed. Follows no symbolic link. Throws what the file system throws.
 */
export function believed(path: string, users: readonly (number | undefined)[], mostBytes: number): string | undefined {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(fd);
    const isOurs = [0, process.geteuid?.(), ...users].includes(stats.uid);
    const isFit = stats.isFile() && stats.size <= mostBytes && (stats.mode & 0o022) === 0;
    return isOurs && isFit ? readFileSync(fd, 'utf8') : undefined;
  } finally {
    closeSync(fd);
  }
}
