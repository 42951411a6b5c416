// An ordinary user, as whom root runs a program. No test of its own.

import { spawnSync } from 'node:child_process';
import { PROGRAM } from './program.js';

export const NOBODY = 65_534;
export const ROOT_USER = process.getuid?.() === 0;

/** Goes before a command, to run it as an ordinary user. Without root, we are one already. */
export const AS_NOBODY = ROOT_USER ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];

let why: string | false | undefined;

/** Why no ordinary user can run the program here, as in a clone in root's home. */
export function noOrdinaryUser(): string | false {
  why ??=
    spawnSync('env', [...AS_NOBODY, process.execPath, PROGRAM, '-V']).status !== 0 &&
    'no ordinary user can run the program here';
  return why;
}
