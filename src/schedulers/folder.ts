// The reader's folder.

import { mkdirSync, statSync } from 'node:fs';
import { Failure } from '../text/failure.js';
import { oneLine } from '../text/text.js';

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
