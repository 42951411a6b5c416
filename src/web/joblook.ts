// The files of a scheduler's reader, for pages that may show them: read again when they change, at most every few seconds.

import { survey } from '../query/survey.js';
import { jobJson, listJobs, nodesOf } from '../schedulers/joblist.js';
import { Pairing, SchedulerView } from '../schedulers/schedulerview.js';
import { readState } from '../schedulers/statefile.js';
import type { Snapshot } from '../shm/snapshot.js';
import { fold } from '../text/hostlists.js';

/** It is looked at again after so long, ms, whether it has changed or not, because it gets older. */
const LOOK_MS = 2000;

export class Jobs {
  #view: SchedulerView | undefined;
  #names: readonly string[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(readonly folder: string) {}

  /** What the scheduler says about the nodes of these names. */
  view(names: readonly string[]): SchedulerView {
    const now = performance.now();
    const isFresh = now - this.#lookedAt < LOOK_MS && names.length === this.#names.length;
    if (this.#view === undefined || !isFresh) {
      this.#view = new SchedulerView(new Pairing(readState(this.folder), names));
      this.#names = [...names];
      this.#lookedAt = now;
    }
    return this.#view;
  }

  /** All jobs, and where the scheduler and the board disagree. */
  json(snapshot: Snapshot, names: readonly string[]) {
    const found = survey(snapshot, {}, names);
    const view = this.view(found.all.map(({ name }) => name));
    return {
      slurm: view.head,
      sentences: view.disagreements(found).map(({ text, nodes }) => ({
        ...{ kind: 'slurm', text },
        ...(nodes.length > 0 && { nodes: fold(nodes.map(({ name }) => name)) }),
      })),
      jobs: listJobs(view, nodesOf(found)).map(jobJson),
    };
  }
}
