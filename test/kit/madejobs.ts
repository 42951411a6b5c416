// Jobs beside boards made in memory: what the reader of a scheduler has left, exactly as the test says it. No test of
// its own.

import type { SchedulerLook } from '../../src/cli/schedulerlook.js';
import { nodesOf } from '../../src/jobs/joblist.js';
import { survey } from '../../src/query/survey.js';
import type { SchedulerJob, SchedulerNode } from '../../src/schedulerfile/scheduler.js';
import { Pairing, SchedulerView } from '../../src/schedulerfile/schedulerview.js';
import { monotonicMs, type SchedulerState } from '../../src/schedulerfile/statefile.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { REAL, S } from './madeboard.js';

/** A running job; `since_s`: for how long. */
export function madeJob(
  id: string,
  nodes: string,
  { since_s = 11_540, ...more }: Partial<SchedulerJob> & { since_s?: number },
) {
  const start_s = Math.floor(Date.now() / 1000) - since_s;
  return { id, nodes, state: 'RUNNING', user: 'anna', partition: 'batch', cpus: 0, name: 'job', start_s, ...more };
}

/** Begun as long before the look at a made board as it was to have begun before now. */
export const atLook = ({ start_s = 0, ...job }: SchedulerJob): SchedulerJob => ({
  ...job,
  start_s: start_s + Number(REAL / S) - Math.floor(Date.now() / 1000),
});

/** What the reader has left, of now. */
export function madeState(
  nodes: readonly SchedulerNode[],
  jobs: readonly SchedulerJob[],
  more: Partial<SchedulerState> = {},
): SchedulerState {
  const now = monotonicMs();
  const answer = { time_ms: Date.now(), mono_ms: now, whole: true as const };
  return {
    ...{ schema: 2, pid: 1, mono_ms: now, next_ms: now + 600_000, time_ms: Date.now() },
    ...{ scheduler: 'Slurm', daemon: 'slurmd', cluster: 'alpha', version: '22.05.8', user: 'root' },
    ...{ names: {}, differences: [] },
    nodes: { ...answer, list: nodes },
    jobs: { ...answer, list: jobs },
    ...more,
  };
}

/** One look at both, at the jobs on these nodes or at all. */
export function madeLook(snapshot: Snapshot, state: SchedulerState, among?: readonly string[]): SchedulerLook {
  const found = survey(snapshot);
  const slurm = new SchedulerView(new Pairing({ state }, snapshot.names()));
  return { found, slurm, nodeOf: nodesOf(found), among: among && new Set(among) };
}
