// Where the project is, and folders for a test's own files. No test of its own.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The part of tap that a test needs: something to do at its end. */
export interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** The root of the project. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A folder that is removed at the end of the test. */
export function folder(t: Teardown, within = tmpdir()): string {
  const path = mkdtempSync(join(within, `beoboard-test.${process.pid}.`));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/**
 * A folder in shared memory, for boards and for trees that stand for /proc and /sys, because thousands of small files cost
 * ten times the CPU on a disk. Containers may have only 64 MB of it, and may not run programs there.
 */
export const memoryFolder = (t: Teardown): string => folder(t, MEMORY);

/** A path for a board of this test only. */
export const boardPath = (t: Teardown): string => join(memoryFolder(t), 'board');
