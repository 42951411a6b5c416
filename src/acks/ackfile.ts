// The file beside a board in which acknowledged lines of the trouble list stand: BOARD.acks, JSON, written only by those
// who may write the board's folder.

import { closeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asOwner } from '../service/asowner.js';
import { Doubt, isOurs, jsonByRows, type LeftFile, readLeft } from '../service/leftfile.js';
import { codeOf, failureAt, lockAlone } from '../service/ownfolder.js';
import { replaceFile } from '../service/replacefile.js';
import type { Steps } from '../service/slices.js';
import { codeOfError } from '../text/errorcodes.js';
import { Failure } from '../text/failure.js';
import { areAll, type Check, shapeOf } from '../text/shape.js';
import { oneLine } from '../text/text.js';
import { type Ack, isAck } from './acks.js';

/** At most so many, so that nobody's loop fills the board's file system. */
export const ACKS_MOST = 1000;
const MOST_BYTES = 16 << 20;
/** How long another that writes is waited for, in steps of so many ms. */
const [STEP_MS, STEPS] = [20, 250];

/** What is acknowledged; `acksWhy`: why nothing is known. */
export interface FoundAcks {
  readonly acks: readonly Ack[];
  readonly acksWhy?: string;
}

export const ackPath = (board: string) => `${board}.acks`;

const isFile = shapeOf({
  schema: value => value === 1,
  acks: (value => Array.isArray(value) && value.length <= ACKS_MOST) as Check<readonly Ack[]>,
});

function* parseAcks(path: string, file: unknown): Steps<FoundAcks> {
  if (isFile(file) && (yield* areAll(file.acks, isAck))) return { acks: file.acks };
  return { acks: [], acksWhy: `${path} is not understood, so no line is acknowledged; remove it` };
}

/** All acknowledgements of a board, expired ones too; none if there is no file. */
export function ackFile(board: string): LeftFile<FoundAcks> {
  const path = oneLine(ackPath(board));
  return {
    path: ackPath(board),
    beside: board,
    judge: (beside, stats) => {
      if (stats === undefined) return undefined;
      const size = stats.size > MOST_BYTES ? 'is too large' : undefined;
      const owner = isOurs(stats, [beside?.uid]) ? undefined : 'may be written by others';
      const why = stats.isFile() ? (owner ?? size) : 'is no plain file';
      return why && `${why}, so no line is acknowledged; remove it`;
    },
    parse: value => parseAcks(path, value),
    without: error => {
      if (error.code === 'ENOENT') return { acks: [] };
      if (error instanceof Doubt) return { acks: [], acksWhy: `${path} ${error.message}` };
      return { acks: [], acksWhy: `${path} cannot be read: ${codeOf(error)}; no line is acknowledged` };
    },
  };
}

/** Reads them. Never throws. */
export const readAcks = (board: string): FoundAcks => readLeft(ackFile(board));

/** Waits until nobody else writes. Returns the descriptor of the lock. Throws a Failure. */
function locked(path: string): number {
  for (let left = STEPS; ; left--)
    try {
      return lockAlone(path, 'another beoboard ack has been writing for five seconds; try again');
    } catch (error) {
      if (left === 0 || codeOfError(error) !== 'lock_held') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STEP_MS);
    }
}

const isRoot = () => process.geteuid?.() === 0;

/**
 * Changes what is acknowledged, and leaves out what is over. Nobody else's change is lost. Throws a Failure if the
 * board's folder may not be written, or if there would be too many.
 */
export function changeAcks(board: string, nowMs: number, change: (acks: readonly Ack[]) => readonly Ack[]): void {
  const [folder, name] = [dirname(board), basename(board)];
  try {
    asOwner(board, () => {
      const lock = locked(join(folder, `.${name}.acks.lock`));
      try {
        const before = readAcks(board);
        // What cannot be read is not thrown away.
        if (before.acksWhy !== undefined) throw new Failure(before.acksWhy, 1);
        const acks = change(before.acks.filter(({ until }) => Date.parse(until) > nowMs));
        if (!acks.every(isAck)) throw failureAt(ackPath(board), 'cannot take a key or reason of that length');
        if (acks.length > ACKS_MOST) throw failureAt(ackPath(board), `has ${ACKS_MOST} lines already; withdraw some`);
        replaceFile(folder, `${name}.acks`, `{"schema":1,"acks":${jsonByRows(acks)}}\n`, 0o644);
      } finally {
        closeSync(lock);
      }
    });
  } catch (error) {
    if (error instanceof Failure && (error.code !== 'lock_failed' || isRoot())) throw error;
    const why = error instanceof Failure ? error.message : codeOf(error);
    const advice = isRoot() ? '' : '; run it as the user of the receiver, or as root';
    throw failureAt(ackPath(board), `cannot be written: ${why}${advice}`);
  }
}
