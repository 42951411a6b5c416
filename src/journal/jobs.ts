// The jobs on nodes that fall silent, and the odd nodes of jobs, by the file that the reader of a scheduler leaves.

import type { JournalJob } from '../journalfile/format.js';
import { SchedulerViewFollower } from '../schedulerfile/schedulerview.js';
import { type SchedulerState, stateTrouble } from '../schedulerfile/statefile.js';
import { fold } from '../text/hostlists.js';
import { getOrInsert } from '../text/maps.js';

/** The jobs of nodes: each once, with its nodes. */
export function byJob(each: Iterable<readonly [job: JournalJob, node: string]>): JournalJob[] {
  const found = new Map<string, { job: JournalJob; nodes: string[] }>();
  for (const [job, node] of each) getOrInsert(found, job.id, () => ({ job, nodes: [] })).nodes.push(node);
  return [...found.values()].map(({ job, nodes }) => ({ ...job, nodes: fold(nodes) }));
}

/** What the reader of a scheduler has left, for a journal. */
export class JournalJobs extends SchedulerViewFollower {
  /** What the scheduler said last; undefined: nobody knows what is so now. */
  get current(): SchedulerState | undefined {
    const { state } = this.found ?? {};
    return state === undefined || stateTrouble(state) !== undefined ? undefined : state;
  }

  /** The jobs on these nodes of the board; none if nobody knows them now. `names`: all of the board. */
  on(nodes: readonly string[], names: readonly string[]): JournalJob[] {
    if (this.current === undefined) return [];
    const { matched, jobs } = this.pairing(names);
    return byJob(
      nodes.flatMap(node =>
        (jobs.get(matched.nodeName.get(node) ?? '') ?? []).map(
          ({ id, user, partition, name }) => [{ id, user, partition, name }, node] as const,
        ),
      ),
    );
  }
}
