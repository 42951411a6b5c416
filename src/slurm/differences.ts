// Where Slurm and the board disagree about a node, in several looks one after the other. Judges no node, and says nothing of one whose
// state it does not know, nor of what has only just begun or is about to end.

import { expand } from '../common/hostlists.js';
import type { State as BoardState } from '../shm/liveness.js';
import type { Matched } from './matching.js';
import { isSchedulable, nodeState } from './nodestate.js';
import type { Difference, Job, Kind, SlurmNode } from './statefile.js';

/** A difference is told when so many looks in a row have shown it. */
export const LOOKS = 3;
/** What a job does in its first seconds says nothing. */
export const YOUNG_S = 30;
/** Less of the CPUs that Slurm gave away: idle. */
const IDLE_SHARE = 0.05;
/** More of a node's CPUs, and at least one: busy. */
const BUSY_SHARE = 0.1;

/** How a node is by the board; numbers are absent where they were not measured. */
export interface Seen {
  readonly state: BoardState;
  readonly cpus?: number | undefined;
  readonly cpusBusy?: number | undefined;
  readonly gpusBusy?: number | undefined;
}

/** One look at both. */
export interface LookAtBoth {
  readonly nodes: readonly SlurmNode[];
  readonly jobs: readonly Job[];
  readonly matched: Matched;
  /** By name on the board. */
  readonly seen: (name: string) => Seen | undefined;
  readonly nowS: number;
}

/** The jobs on each node, by NodeName. */
export function jobsByNode(jobs: readonly Job[]): Map<string, Job[]> {
  const found = new Map<string, Job[]>();
  for (const job of jobs)
    for (const name of expand(job.nodes, undefined, 'any')) {
      const same = found.get(name);
      if (same === undefined) found.set(name, [job]);
      else same.push(job);
    }
  return found;
}

/** Whether a job runs, and has done so long enough that something can be concluded from what it does. */
function isSettled({ state, start_s }: Job, nowS: number): boolean {
  return state === 'RUNNING' && start_s !== undefined && nowS - start_s >= YOUNG_S;
}

function kindsOf(node: SlurmNode, jobs: readonly Job[], seen: Seen, nowS: number): Kind[] {
  const state = nodeState(node.state);
  if (state.base === undefined || state.flags.has('COMPLETING')) return [];
  const settled = jobs.length > 0 && jobs.every(job => isSettled(job, nowS));
  if (seen.state === 'silent') {
    const kinds: Kind[] = isSchedulable(state) ? ['silent_schedulable'] : [];
    return settled ? [...kinds, 'job_on_silent'] : kinds;
  }
  if (seen.state !== 'live') return [];
  if (state.base === 'DOWN') return ['live_down'];
  const { cpus, cpusBusy, gpusBusy = 0 } = seen;
  if (cpusBusy === undefined || cpus === undefined) return [];
  const isAllocated = state.base === 'ALLOCATED' || state.base === 'MIXED';
  if (settled && isAllocated && gpusBusy === 0 && cpusBusy < IDLE_SHARE * (node.cpus_used ?? 0)) return ['idle_in_job'];
  const isBusy = cpusBusy >= Math.max(1, BUSY_SHARE * cpus) || gpusBusy > 0;
  return jobs.length === 0 && state.base === 'IDLE' && isBusy ? ['busy_without_job'] : [];
}

/** Remembers what was different before. */
export class Differences {
  #last = new Map<string, { looks: number; sinceMs: number }>();

  /** What has been different in enough looks, with this one. */
  look({ nodes, jobs, matched, seen, nowS }: LookAtBoth, nowMs: number): Difference[] {
    const byNode = jobsByNode(jobs);
    const next = new Map<string, { looks: number; sinceMs: number }>();
    const found: Difference[] = [];
    for (const node of nodes) {
      const name = matched.boardName.get(node.name);
      const how = name === undefined ? undefined : seen(name);
      if (name === undefined || how === undefined) continue;
      const on = byNode.get(node.name) ?? [];
      for (const kind of kindsOf(node, on, how, nowS)) {
        const key = `${kind} ${node.name}`;
        const before = this.#last.get(key);
        const now = { looks: (before?.looks ?? 0) + 1, sinceMs: before?.sinceMs ?? nowMs };
        next.set(key, now);
        if (now.looks < LOOKS) continue;
        const ids = on.map(({ id }) => id);
        found.push({
          kind,
          node: name,
          slurm: node.name,
          jobs: ids.length === 0 ? undefined : ids,
          since_ms: now.sinceMs,
        });
      }
    }
    this.#last = next;
    return found;
  }

  /** One of the two was not heard: what was different before says nothing any more. */
  forget(): void {
    this.#last.clear();
  }
}
