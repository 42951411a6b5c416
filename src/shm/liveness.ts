// Judges from evidence how a node is: live, uncertain, silent. Pure: no clock, no I/O; the caller brings both.

/** How a node is; see "Liveness" in proto/board-v1.md. */
export type State = 'never' | 'live' | 'uncertain' | 'silent' | 'left' | 'unknown';

/** From the worst to the best: the order in which people want to see nodes. */
export const STATES: readonly State[] = ['silent', 'unknown', 'uncertain', 'never', 'left', 'live'];

/** In the order of their numbers in beoboard.h. */
export const NUMBERED: readonly State[] = ['never', 'live', 'uncertain', 'silent', 'left', 'unknown'];

/** How many nodes there are of each state, the worst first, by the numbers of all their states. */
export function countStates(numbers: Uint8Array): Record<State, number> {
  // By number, not by name: thousands of nodes are counted in a short process, before anything is compiled.
  const counts = new Uint32Array(NUMBERED.length);
  for (let i = 0; i < numbers.length; i++) counts[numbers[i]!]!++;
  return Object.fromEntries(STATES.map(state => [state, counts[NUMBERED.indexOf(state)]])) as Record<State, number>;
}

/** The heartbeat is stored ten times a second: this old, the monitor has failed, not the nodes. */
const STALLED_AFTER_NS = 3_000_000_000n;
/** A time further ahead than this is of another clock; less is the reader's own delay between two loads. */
const AHEAD_NS = 1_000_000_000n;
const AHEAD = Number(AHEAD_NS);

/** What the board's header says, and the reader's CLOCK_MONOTONIC taken before it. All times in ns of that clock. */
export interface Evidence {
  nowNs: bigint;
  heartbeatNs: bigint;
  listeningSinceNs: bigint;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  retired: boolean;
}

/** What is known of a node's last report. */
export interface LastReport {
  stampNs: bigint;
  intervalMs: number;
  goodbye: boolean;
}

/** Whether the receiver gives no evidence at all: its heartbeat is too old, or of another clock. */
export function isStalled({ nowNs, heartbeatNs }: Evidence): boolean {
  return nowNs - heartbeatNs > STALLED_AFTER_NS || heartbeatNs - nowNs > AHEAD_NS;
}

/** Age of a stamp in ns; a stamp a little ahead of the reader's clock is of age 0. */
export function ageNs(nowNs: bigint, stampNs: bigint): bigint {
  return stampNs > nowNs ? 0n : nowNs - stampNs;
}

/**
 * The evidence as distances in numbers, ns: what thousands of nodes are judged by. Exact up to 2^53 ns, which are 104
 * days; what is longer is beyond every limit by far.
 */
export interface Distances {
  readonly unknown: boolean;
  readonly heartbeatAge: number;
  readonly listened: number;
  readonly uncertainAfter: number;
  readonly silentAfter: number;
}

export function distances(board: Evidence): Distances {
  return {
    unknown: board.retired || isStalled(board),
    heartbeatAge: Number(board.nowNs - board.heartbeatNs),
    listened: Number(board.heartbeatNs - board.listeningSinceNs),
    uncertainAfter: Number(board.uncertainAfterNs),
    silentAfter: Number(board.silentAfterNs),
  };
}

/** A limit for a node of this interval: in its own intervals when these are longer than a second. */
function limit(limitNs: number, intervalMs: number): number {
  return intervalMs > 1000 ? Math.floor((limitNs * intervalMs) / 1000) : limitNs;
}

/** The state of a node whose last report has this age in ns, negative when it is ahead of the reader's clock. */
export function judgeAge(board: Distances, age: number, intervalMs: number, goodbye: boolean): State {
  if (board.unknown) return 'unknown';
  if (goodbye) return 'left';
  if (age < -AHEAD) return 'uncertain';
  if (age <= limit(board.uncertainAfter, intervalMs)) return 'live';
  // Never measured to now: silence is evidence only up to the heartbeat, and only while somebody listened.
  const patience = limit(board.silentAfter, intervalMs);
  return age - board.heartbeatAge > patience && board.listened > patience ? 'silent' : 'uncertain';
}

/** The state of a node by the design's rules. `last` is undefined when the board holds no report of it. */
export function judge(board: Evidence, last: LastReport | undefined): State {
  const known = distances(board);
  if (last === undefined) return known.unknown ? 'unknown' : 'never';
  return judgeAge(known, Number(board.nowNs - last.stampNs), last.intervalMs, last.goodbye);
}
