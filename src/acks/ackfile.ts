// The file beside a board in which acknowledged lines of the trouble list stand: BOARD.acks, JSON, written only by those
// who may write the board's folder.

import { closeSync, lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asOwner } from '../service/asowner.js';
import { believed } from '../service/believed.js';
import { codeOf, failureAt, lockAlone } from '../service/ownfolder.js';
import { replaceFile } from '../service/replacefile.js';
import { codeOfError } from '../text/errorcodes.js';
import { Failure } from '../text/failure.js';
import { tryExpand } from '../text/hostlists.js';
import { isTellable } from '../text/moments.js';
import { oneLine } from '../text/text.js';
import type { Ack } from './acks.js';

/** At most so many, so that nobody's loop fills the board's file system. */
export const ACKS_MOST = 1000;
const MOST_BYTES = 16 << 20;
const STICKY = 0o1000;
/** How long another that writes is waited for, in steps of so many ms. */
const [STEP_MS, STEPS] = [20, 250];

/** What is acknowledged; `acksWhy`: why nothing is known. */
interface FoundAcks {
  readonly acks: readonly Ack[];
  readonly acksWhy?: string;
}

export const ackPath = (board: string) => `${board}.acks`;

const isText = (value: unknown, most: number) => typeof value === 'string' && value.length <= most;
const isTime = (value: unknown) => isText(value, 40) && isTellable(Date.parse(value as string));

function isAck(value: unknown): value is Ack {
  const { key, nodes, by, at, until, reason = '' } = (value ?? {}) as Partial<Ack>;
  const isWhole = isText(key, 200) && isText(by, 128) && isText(reason, 400) && isTime(at) && isTime(until);
  return isWhole && isText(nodes, MOST_BYTES) && tryExpand(nodes as string, 'node') !== undefined;
}

/** Those in the text of a file. */
function parseAcks(path: string, text: string): FoundAcks {
  try {
    const { schema, acks } = JSON.parse(text);
    if (schema === 1 && Array.isArray(acks) && acks.length <= ACKS_MOST && acks.every(isAck)) return { acks };
  } catch {}
  return { acks: [], acksWhy: `${oneLine(path)} is not understood, so no line is acknowledged; remove it` };
}

/** All acknowledgements of a board, expired ones too; none if there is no file. Never throws. */
export function readAcks(board: string): FoundAcks {
  const path = ackPath(board);
  try {
    const owner = lstatSync(board, { throwIfNoEntry: false })?.uid;
    const text = believed(path, [owner], MOST_BYTES);
    if (text !== undefined) return parseAcks(path, text);
    return { acks: [], acksWhy: `${oneLine(path)} may be written by others, so no line is acknowledged; remove it` };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { acks: [] };
    return { acks: [], acksWhy: `${oneLine(path)} cannot be read: ${codeOf(error)}; no line is acknowledged` };
  }
}

/** The same for programs that look again and again: it is read when it has changed. */
export class AckFollower {
  #which = 'ENOENT';
  #found: FoundAcks = { acks: [] };

  constructor(readonly board: string) {}

  get found(): FoundAcks {
    let which = '';
    try {
      const { ino, mtimeNs, ctimeNs } = lstatSync(ackPath(this.board), { bigint: true });
      which = `${ino} ${mtimeNs} ${ctimeNs}`;
    } catch (error) {
      // `readAcks` meets the same error, and says what is wrong.
      which = codeOf(error);
    }
    if (which !== this.#which) [this.#which, this.#found] = [which, readAcks(this.board)];
    return this.#found;
  }
}

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

/**
 * Changes what is acknowledged, and leaves out what is over. Nobody else's change is lost. Throws a Failure if the
 * board's folder may not be written, or if there would be too many.
 */
export function changeAcks(board: string, nowMs: number, change: (acks: readonly Ack[]) => readonly Ack[]): void {
  const [folder, name] = [dirname(board), basename(board)];
  try {
    // In a folder where each has files of its own, as in /dev/shm, root's would be in the way of the board's owner.
    const isSticky = (lstatSync(folder).mode & STICKY) !== 0;
    asOwner(isSticky ? board : folder, () => {
      const lock = locked(join(folder, `.${name}.acks.lock`));
      try {
        const before = readAcks(board);
        // What cannot be read is not thrown away.
        if (before.acksWhy !== undefined) throw new Failure(before.acksWhy, 1);
        const acks = change(before.acks.filter(({ until }) => Date.parse(until) > nowMs));
        if (!acks.every(isAck)) throw failureAt(ackPath(board), 'cannot take a key or reason of that length');
        if (acks.length > ACKS_MOST) throw failureAt(ackPath(board), `has ${ACKS_MOST} lines already; withdraw some`);
        replaceFile(folder, `${name}.acks`, `${JSON.stringify({ schema: 1, acks })}\n`, 0o644);
      } finally {
        closeSync(lock);
      }
    });
  } catch (error) {
    if (error instanceof Failure && error.code !== 'lock_failed') throw error;
    throw failureAt(ackPath(board), 'cannot be written; run it as the user of the receiver, or as root');
  }
}
