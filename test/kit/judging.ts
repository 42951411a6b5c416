// The rule of liveness a second time, with integers of any size and row by row like "Liveness" in proto/board-v2.md:
// the oracle for the product's own code in c/judge/liveness.h. Pure.

import type { State } from '../../src/shm/liveness.js';

const STALLED_AFTER_NS = 3_000_000_000n;
const AHEAD_NS = 1_000_000_000n;

/**
 * The board's evidence about its receiver and about the node's link, and the reader's clock. All times in ns of
 * CLOCK_MONOTONIC.
 */
export interface Evidence {
  nowNs: bigint;
  /** Of the receiver; also of the node's link if `link` is absent. */
  heartbeatNs: bigint;
  listeningSinceNs: bigint;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  /** Absent or infinite: none. */
  longestIntervalMs?: number;
  retired: boolean;
  /** Of the node's link; by default the receiver's. */
  link?: { heartbeatNs: bigint; listeningSinceNs: bigint };
}

/** What the board has of a node's last report. */
export interface LastReport {
  stampNs: bigint;
  intervalMs: number;
  goodbye: boolean;
}

export function isStalled({ nowNs, heartbeatNs }: Evidence): boolean {
  return nowNs - heartbeatNs > STALLED_AFTER_NS || heartbeatNs - nowNs > AHEAD_NS;
}

function limit(limitNs: bigint, intervalMs: number, longestMs = Number.POSITIVE_INFINITY): bigint {
  const judged = Math.min(intervalMs, longestMs);
  return judged > 1000 ? (limitNs * BigInt(judged)) / 1000n : limitNs;
}

/** The state of a node; `last` is undefined if the board has no report of it. */
export function judge(board: Evidence, last: LastReport | undefined): State {
  if (board.retired || isStalled(board)) return 'unknown';
  if (last === undefined) return 'never';
  if (last.goodbye) return 'left';
  const age = board.nowNs - last.stampNs;
  if (age < -AHEAD_NS) return 'uncertain';
  if (age <= limit(board.uncertainAfterNs, last.intervalMs, board.longestIntervalMs)) return 'live';
  const { heartbeatNs, listeningSinceNs } = board.link ?? board;
  const patience = limit(board.silentAfterNs, last.intervalMs, board.longestIntervalMs);
  return heartbeatNs - last.stampNs > patience && heartbeatNs - listeningSinceNs > patience ? 'silent' : 'uncertain';
}
