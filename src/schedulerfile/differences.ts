// Where the scheduler and the board disagree about a node in several looks in a row. Judges no node, and says nothing about one
// whose state is unknown, or about what has just begun or is about to end.

import type { State as BoardState } from '../shm/liveness.js';
import { expandNodeNames } from '../text/hostlists.js';
import { addTo, getOrInsert } from '../text/maps.js';
import type { Matched } from './matching.js';
import type { SchedulerJob, SchedulerNode } from './scheduler.js';
import { type DifferenceKind, KINDS, type SchedulerDifference } from './statefile.js';

/** A difference is reported after so many looks in a row. */
export const LOOKS = 3;
/** The first seconds of a job show nothing. */
const YOUNG_S = 30;
/** Below this share of the allocated CPUs: idle. */
const IDLE_SHARE = 0.05;
/** Above this share of a node's CPUs, and at least one CPU: busy. */
const BUSY_SHARE = 0.1;

/** A node on the board; a number that was not measured is absent. */
export interface SeenOnBoard {
  readonly state: BoardState;
  readonly cpus?: number | undefined;
  readonly cpusBusy?: number | undefined;
  readonly gpusBusy?: number | undefined;
}

interface LookAtBoth {
  readonly nodes: readonly SchedulerNode[];
  readonly jobs: readonly SchedulerJob[];
  readonly matched: Matched;
  /** By name on the board. */
  readonly seen: (name: string) => SeenOnBoard | undefined;
  readonly nowS: number;
  /** Whether the scheduler has said nothing new since the look before: it does not count as another one. */
  readonly isOld?: boolean;
  /** Whether a job that was left out may be on the node with that NodeName: what depends on jobs stays as it was. */
  readonly isInDoubt?: ((name: string) => boolean) | undefined;
}

const OF_JOBS: readonly DifferenceKind[] = ['job_on_silent', 'idle_in_job', 'busy_without_job'];

/** The jobs on each node, by NodeName. */
export function jobsByNode(jobs: readonly SchedulerJob[]): Map<string, SchedulerJob[]> {
  const found = new Map<string, SchedulerJob[]>();
  for (const job of jobs) for (const name of expandNodeNames(job.nodes)) addTo(found, name, job);
  return found;
}

function kindsOf(
  node: SchedulerNode,
  jobs: readonly SchedulerJob[],
  seen: SeenOnBoard,
  nowS: number,
): DifferenceKind[] {
  const { base } = node;
  if (base === undefined || node.ending) return [];
  const isSettled = ({ state, start_s }: SchedulerJob) =>
    state === 'RUNNING' && start_s !== undefined && nowS - start_s >= YOUNG_S;
  const settled = jobs.length > 0 && jobs.every(isSettled);
  if (seen.state === 'silent') {
    const kinds: DifferenceKind[] = node.takes_jobs ? ['silent_schedulable'] : [];
    return settled ? [...kinds, 'job_on_silent'] : kinds;
  }
  if (seen.state !== 'live') return [];
  if (base === 'down') return ['live_down'];
  const { cpus, cpusBusy, gpusBusy = 0 } = seen;
  if (cpusBusy === undefined || cpus === undefined) return [];
  if (settled && base === 'allocated' && gpusBusy === 0 && cpusBusy < IDLE_SHARE * (node.cpus_used ?? 0))
    return ['idle_in_job'];
  const isBusy = cpusBusy >= Math.max(1, BUSY_SHARE * cpus) || gpusBusy > 0;
  return jobs.length === 0 && base === 'idle' && isBusy && !node.no_jobs ? ['busy_without_job'] : [];
}

interface LastDifference {
  readonly looks: number;
  readonly found: SchedulerDifference;
}

/** Keeps the earlier differences. */
export class Differences {
  /** By NodeName, then by kind: most nodes have none. */
  #last = new Map<string, Map<DifferenceKind, LastDifference>>();

  /** The differences that enough looks have shown, including this one. */
  look(
    { nodes, jobs, matched, seen, nowS, isOld = false, isInDoubt }: LookAtBoth,
    nowMs: number,
  ): SchedulerDifference[] {
    const byNode = jobsByNode(jobs);
    const next = new Map<string, Map<DifferenceKind, LastDifference>>();
    const found: SchedulerDifference[] = [];
    for (const node of nodes) {
      const name = matched.boardName.get(node.name);
      const how = name === undefined ? undefined : seen(name);
      if (name === undefined || how === undefined) continue;
      const on = byNode.get(node.name) ?? [];
      const kinds = kindsOf(node, on, how, nowS);
      const last = this.#last.get(node.name);
      if (kinds.length === 0 && last === undefined) continue;
      const isDoubted = isInDoubt?.(node.name) === true;
      for (const kind of KINDS) {
        const before = last?.get(kind);
        const isKept = isDoubted && OF_JOBS.includes(kind);
        if (isKept ? before === undefined : !kinds.includes(kind)) continue;
        const ids = on.map(({ id }) => id);
        const now = {
          ...{ kind, node: name, node_name: node.name, since_ms: before?.found.since_ms ?? nowMs },
          jobs: ids.length === 0 ? undefined : ids,
        };
        const one =
          isKept && before !== undefined ? before : { looks: (before?.looks ?? 0) + (isOld ? 0 : 1), found: now };
        getOrInsert(next, node.name, () => new Map()).set(kind, one);
        if (one.looks >= LOOKS) found.push(one.found);
      }
    }
    this.#last = next;
    return found;
  }

  /** One of the two sides was not heard: earlier differences do not count any more. */
  forget(): void {
    this.#last.clear();
  }
}
