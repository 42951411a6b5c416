// The jobs on nodes that fall silent, and the odd nodes of jobs, by the file that the reader of a scheduler leaves.

import type { JournalJob } from '../journalfile/format.js';
import { Pairing } from '../schedulerfile/schedulerview.js';
import { type SchedulerState, StateFollower, stateTrouble } from '../schedulerfile/statefile.js';
import { fold } from '../text/hostlists.js';

/** The jobs of nodes: each once, with its nodes. */
export function byJob(each: Iterable<readonly [job: JournalJob, node: string]>): JournalJob[] {
  const found = new Map<string, { job: JournalJob; nodes: string[] }>();
  for (const [job, node] of each) {
    const one = found.get(job.id);
    if (one === undefined) found.set(job.id, { job, nodes: [node] });
    else one.nodes.push(node);
  }
  return [...found.values()].map(({ job, nodes }) => ({ ...job, nodes: fold(nodes) }));
}

export class JournalJobs {
  readonly #follower: StateFollower;
  #pairing: Pairing | undefined;

  /** @param folder of the reader of a scheduler */
  constructor(folder: string) {
    this.#follower = new StateFollower(folder, () => undefined);
  }

  /** Reads the file again if there is a newer one, in the background. */
  look(): void {
    void this.#follower.found;
  }

  /** What the scheduler said last; undefined: nobody knows what is so now. */
  get current(): SchedulerState | undefined {
    const { state } = this.#follower.found as { state?: SchedulerState };
    return state === undefined || stateTrouble(state) !== undefined ? undefined : state;
  }

  /** The jobs on these nodes of the board; none if nobody knows them now. `names`: all of the board. */
  on(nodes: readonly string[], names: readonly string[]): JournalJob[] {
    const { found } = this.#follower;
    if (this.current === undefined) return [];
    if (this.#pairing?.found !== found || this.#pairing.names !== names) this.#pairing = new Pairing(found, names);
    const { matched, jobs } = this.#pairing;
    return byJob(
      nodes.flatMap(node =>
        (jobs.get(matched.nodeName.get(node) ?? '') ?? []).map(
          ({ id, user, partition, name }) => [{ id, user, partition, name }, node] as const,
        ),
      ),
    );
  }
}
