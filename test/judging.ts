// The rule of liveness once more, in whole numbers of any size and row by row as "Liveness" in proto/board-v2.md has it: what
// tests hold the product's own, in c/liveness.h, against. Pure.

import type { State } from '../src/shm/liveness.js';

const STALLED_AFTER_NS = 3_000_000_000n;
const AHEAD_NS = 1_000_000_000n;

/** What the board says of its receiver and of the node's link, and the reader's clock. All times in ns of CLOCK_MONOTONIC. */
export interface Evidence {
  nowNs: bigint;
  /** Of the receiver, and of the link where it is not told apart. */
  heartbeatNs: bigint;
  listeningSinceNs: bigint;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  retired: boolean;
  /** Of the node's link; not given: the receiver's own. */
  link?: { heartbeatNs: bigint; listeningSinceNs: bigint };
}

/** What is known of a node's last report. */
export interface LastReport {
  stampNs: bigint;
  intervalMs: number;
  goodbye: boolean;
}

export function isStalled({ nowNs, heartbeatNs }: Evidence): boolean {
  return nowNs - heartbeatNs > STALLED_AFTER_NS || heartbeatNs - nowNs > AHEAD_NS;
}

function limit(limitNs: bigint, intervalMs: number): bigint {
  return intervalMs > 1000 ? (limitNs * BigInt(intervalMs)) / 1000n : limitNs;
}

/** The state of a node; `last` is undefined when the board holds no report of it. */
export function judge(board: Evidence, last: LastReport | undefined): State {
  if (board.retired || isStalled(board)) return 'unknown';
  if (last === undefined) return 'never';
  if (last.goodbye) return 'left';
  const age = board.nowNs - last.stampNs;
  if (age < -AHEAD_NS) return 'uncertain';
  if (age <= limit(board.uncertainAfterNs, last.intervalMs)) return 'live';
  const { heartbeatNs, listeningSinceNs } = board.link ?? board;
  const patience = limit(board.silentAfterNs, last.intervalMs);
  return heartbeatNs - last.stampNs > patience && heartbeatNs - listeningSinceNs > patience ? 'silent' : 'uncertain';
}
