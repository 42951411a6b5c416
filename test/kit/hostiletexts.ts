// Texts of others, of whatever characters, in each place where a text comes from outside: nodes, a scheduler's file,
// acknowledgements. No test of its own.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readState } from '../../src/schedulerfile/statefile.js';
import type { Teardown } from './places.js';
import { start } from './program.js';
import { until } from './until.js';

/** The low bytes of some of these are a quote, a comma, a colon, a backslash, controls. */
export const HOSTILE: readonly string[] = [
  'plain, "quoted", back\\slash',
  'Lüfter „defekt“ Ģ',
  'ĢĬĺŜ\u0122\u012c\u022c\u013a,"forged":1',
  '日本語の理由',
  '🔥 disk 🇨🇭',
  'a\0b',
  '\x1b[31mred\x1b]0;title\x07',
  'user\u202Etxt.exe\u2066',
  '\ud800 half \udc22',
  'two\r\nlines\ttab\u2028\u2029\x85\x9b',
  '=1+1|cmd',
  "<b a='b'>&amp;--></b>",
  'ü'.repeat(100_000),
  '…'.repeat(300),
];
/** How many characters of a text the reader of a scheduler keeps; what is cut ends with …. */
const KEPT = 256;
export const keptOf = (text: string) => {
  const characters = Array.from(text);
  return characters.length <= KEPT ? text : `${characters.slice(0, KEPT - 1).join('')}…`;
};
/** As a report has it: up to a NUL would be all of it, and a half surrogate has no UTF-8. */
export const wellFormed = (text: string) => Buffer.from(text.replaceAll('\0', '')).toString();
/** A line of a scheduler's file. */
const inFile = (value: object) => `${JSON.stringify(value)}\n`;

/** What a terminal never gets, but for the ends of our lines, and our tabs. */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;
/** A text as it is written: without the ends of lines, and tabs. */
export const withoutEnds = (text: string) => text.replace(/\r?\n|\t/g, '');

/** The node of each text, and one with thousands of jobs. */
export const nodes = HOSTILE.map((_, i) => `n${i + 1}`);
export const MANY = 'n99';

/** What a node with such a text reports. */
export const osReleaseOf = (text: string) => Buffer.from(wellFormed(text)).subarray(0, 40).toString();

/** A scheduler that says each text of each thing, and has `count` jobs on MANY; its reader writes into `dir`. */
export async function hostileScheduler(t: Teardown, board: string, dir: string, count: number): Promise<void> {
  const file = join(dir, 'file');
  const many = Array.from({ length: count }, (_, i) => ({
    ...{ job: `j${i}`, nodes: MANY, user: `u${'x'.repeat(200)}`, partition: `p${'y'.repeat(200)}`, name: 'ü' },
  }));
  const rows = HOSTILE.flatMap((text, i) => [
    { node: nodes[i], state: 'drained', reason: text, reason_by: text, switch: text },
    { job: `x"${i}\\,`, nodes: nodes[i], user: text, name: text, partition: text, cpus: 1 },
  ]);
  const head = { schema: 1, scheduler: 'X', cluster: HOSTILE[2], version: HOSTILE[6], daemon: HOSTILE[7] };
  writeFileSync(file, [head, ...rows, { node: MANY, state: 'idle' }, ...many, { end: true }].map(inFile).join(''));
  start(t, ['slurm', '--board', board, '--slurm-dir', dir, '--scheduler', `file:${file}`, '--public-jobs']);
  await until('the file is read', () => {
    const found = readState(dir);
    return found.why === undefined && found.state.jobs.list.length > count;
  });
}
