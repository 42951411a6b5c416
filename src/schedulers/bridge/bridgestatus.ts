// The output of `beoboard bridge --status`: from the file that a running bridge writes after each tick, and from its
// journal.

import { join } from 'node:path';
import { isRunning } from '../../service/process.js';
import { formatDuration } from '../../text/durations.js';
import { oneLine, readText } from '../../text/text.js';
import { brakeText } from './massbrake.js';
import type { Ledger } from './ownership.js';
import type { Timed } from './records.js';
import type { TickOutcome } from './tick.js';

/** The file in the folder of the journal. */
export const STATUS = 'status';

/** What a bridge writes after each tick; `mono_ms` and `next_ms` are of CLOCK_MONOTONIC. */
export interface LastTick extends TickOutcome {
  readonly pid: number;
  readonly mono_ms: number;
  readonly next_ms: number;
}

/** A bridge that is late by more than this has ended, ms: it may be waiting for calls of 5 s each. */
const PATIENCE_MS = 60_000;

/** The last tick of a running bridge; undefined: none runs. */
export function lastTick(folder: string, monoMs: number): LastTick | undefined {
  try {
    const last = JSON.parse(readText(join(folder, STATUS))) as LastTick;
    // A file of an earlier boot lies in the future, or its process id belongs to another process now.
    return isRunning(last.pid) && monoMs >= last.mono_ms && monoMs < last.next_ms + PATIENCE_MS ? last : undefined;
  } catch {
    return undefined;
  }
}

const RECENT = 10;

export function statusOf(last: LastTick | undefined, ledger: Ledger, entries: readonly Timed[]) {
  return {
    running: last !== undefined,
    ...(last && { pid: last.pid, trouble: last.trouble, counts: last.counts, left: last.left }),
    // Slurm's nodes are not known while it does not answer.
    nodes: last?.isSlurmSilent ? undefined : last?.nodes,
    own: [...ledger.claims.values()],
    brakes: [...ledger.brakes].flatMap(([brake, state]) => (state.on ? [{ brake, ...state }] : [])),
    recent: entries
      .flatMap(entry =>
        entry.what === 'result'
          ? [{ time_ms: entry.time_ms, node: entry.node, act: entry.act, outcome: entry.outcome }]
          : [],
      )
      .slice(-RECENT),
  };
}

/** As lines. */
export function statusLines(status: ReturnType<typeof statusOf>, nowMs: number): string[] {
  const { running, pid, trouble, nodes, left = [], own, brakes, recent } = status;
  const ago = (ms: number) => `${formatDuration(Math.max(0, nowMs - ms))} ago`;
  return [
    running
      ? `The bridge is running (pid ${pid})${nodes === undefined ? '' : `: ${nodes} nodes are known to both the board and Slurm`}.`
      : 'No enforcing bridge is running with this journal.',
    ...(trouble === undefined ? [] : [`It does nothing now: ${trouble}.`]),
    ...brakes.map(brake => `BRAKE: no more drains: ${brakeText(brake.brake, brake)}; since ${ago(brake.sinceMs)}.`),
    own.length === 0 ? 'It has drained no nodes.' : 'Nodes that it drained:',
    ...own.map(
      ({ node, reason, sinceMs, phase }) =>
        `  ${node}  ${reason}  ${ago(sinceMs)}${phase === 'held' ? '' : '  may not have been done'}`,
    ),
    ...(left.length === 0 ? [] : ['Left alone:']),
    ...left.slice(0, 20).map(({ node, why }) => `  ${node}  ${why}`),
    ...(left.length > 20 ? [`  and ${left.length - 20} more`] : []),
    ...(recent.length === 0 ? [] : ['Last actions:']),
    ...recent.map(
      ({ time_ms, node, act, outcome }) =>
        `  ${ago(time_ms)}  ${act} ${node}${outcome === 'done' ? '' : `: ${outcome}`}`,
    ),
  ].map(oneLine);
}
