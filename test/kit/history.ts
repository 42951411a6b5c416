// Earlier versions, from the history of the repository. No test of its own.

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { must } from './children.js';
import { ROOT } from './places.js';

/** Whether the repository has this commit: what was cloned without its history has not. */
export const isInHistory = (commit: string): boolean =>
  spawnSync('git', ['-C', ROOT, 'cat-file', '-e', `${commit}^{commit}`]).status === 0;

/** Writes the sources of a commit into a folder, which is made if it is missing. */
export function unpackCommit(commit: string, into: string): void {
  mkdirSync(into, { recursive: true });
  must('sh', ['-c', `git archive ${commit} | tar -x -C "$0"`, into], { cwd: ROOT });
}
