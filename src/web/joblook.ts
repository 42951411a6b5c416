// The files of the Slurm reader, for pages that may show them: read again when they change, at most every few seconds.

import type { Oddity } from '../presentation/anomalies.js';
import { type Survey, survey } from '../query/survey.js';
import type { Snapshot } from '../shm/reader.js';
import { Beside, Pairing } from '../slurm/besideboard.js';
import { jobJson, nodesOf, tellJobs } from '../slurm/joblist.js';
import { readState } from '../slurm/statefile.js';
import { fold } from '../text/hostlists.js';

/** It is looked at again after so long, ms, whether it has changed or not, because it gets older. */
const LOOK_MS = 2000;

export class Jobs {
  #beside: Beside | undefined;
  #names: readonly string[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(readonly folder: string) {}

  /** What Slurm says about the nodes of these names. */
  beside(names: readonly string[]): Beside {
    const now = performance.now();
    const isFresh = now - this.#lookedAt < LOOK_MS && names.length === this.#names.length;
    if (this.#beside === undefined || !isFresh) {
      this.#beside = new Beside(new Pairing(readState(this.folder), names));
      this.#names = [...names];
      this.#lookedAt = now;
    }
    return this.#beside;
  }

  oddities(found: Survey): Oddity[] {
    return this.beside(found.all.map(({ name }) => name)).oddities(found);
  }

  /** All jobs, and where Slurm and the board disagree. */
  told(snapshot: Snapshot, names: readonly string[]) {
    const found = survey(snapshot, {}, names);
    const beside = this.beside(found.all.map(({ name }) => name));
    return {
      slurm: beside.head,
      sentences: beside.oddities(found).map(({ kind, text, nodes }) => ({
        kind,
        text,
        ...(nodes.length > 0 && { nodes: fold(nodes.map(({ name }) => name)) }),
      })),
      jobs: tellJobs(beside, nodesOf(found)).map(jobJson),
    };
  }
}
