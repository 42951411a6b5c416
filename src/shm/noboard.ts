// Why nothing is known of nodes: there is no board to read, or its receiver gives no evidence.

import type { BoardState } from '../native/index.js';
import { formatDuration } from '../text/durations.js';
import { Failure } from '../text/failure.js';

/** The exit code of a program that found no board, or a stalled one. */
export const NO_BOARD = 4;

/** A board that cannot be read now; `state` is one of the states of opening. */
export class NoBoard extends Failure {
  constructor(
    readonly state: Exclude<BoardState, 'ready'>,
    readonly path: string,
    why: string,
  ) {
    super(
      `${path}: ${why}${state === 'absent' ? '; start beoboard receive, or give its --board' : ''}`,
      NO_BOARD,
      'no_board',
    );
  }
}

/** What is read from a board, or the NoBoard that reading throws. */
export function orNoBoard<T>(read: () => T): T | NoBoard {
  try {
    return read();
  } catch (error) {
    if (error instanceof NoBoard) return error;
    throw error;
  }
}

/** What is known of a receiver, or of a mirror, that gives no evidence. */
interface Stalled {
  readonly closed: boolean;
  readonly isMirror?: boolean;
  readonly heartbeatAgeMs?: number | undefined;
  /** What it says of itself, as that it waits for keys. */
  readonly notice?: string;
}

/** Why it gives none. A mirror cannot tell whether its master, what lies between, or it itself is at fault. */
export function stalledText({ closed, isMirror = false, notice = '' }: Stalled): string {
  if (closed) return `the ${isMirror ? 'mirror' : 'receiver'} was stopped`;
  if (notice.startsWith('waits ')) return `the receiver ${notice}`;
  return isMirror ? 'nothing new comes from the master' : 'the receiver is stalled';
}

/** The age of a receiver's heartbeat, in words; undefined: there was none yet, negative: its clock is not ours. */
export function heartbeatText(ageMs: number | undefined): string {
  if (ageMs === undefined) return 'it has no heartbeat yet';
  return `its heartbeat is ${ageMs < 0 ? 'of another clock' : `${formatDuration(ageMs)} old`}`;
}

/** The same with the age of its heartbeat, and the consequence. */
export function unknownText(stalled: Stalled): string {
  return `${stalledText(stalled)}, ${heartbeatText(stalled.heartbeatAgeMs)}: nothing is known about nodes`;
}
