// Metrics about what the reader of Slurm has left: how old Slurm's answers are, and how much of them was left out. Only
// where the exporter may read its file.

import { type Answer, ageOf, readState } from '../schedulers/statefile.js';
import type { Small } from './exposition.js';

/**
 * The families by the file in that folder; none if it cannot be read. It is read with each scrape, some 14 ms for 10,000
 * nodes and 5,000 jobs: what an earlier scrape has found would be as old as the time between the two.
 */
export function schedulerFamilies(folder: string): () => Small[] {
  return () => {
    const found = readState(folder);
    if (found.why !== undefined) return [];
    const { nodes, jobs } = found.state;
    const each = (value: (answer: Answer<object>) => number | undefined) =>
      Object.entries({ nodes, jobs }).flatMap(([about, answer]) => {
        const number = value(answer);
        return number === undefined ? [] : [[{ about }, number] as const];
      });
    return [
      {
        name: 'beoboard_slurm_answer_age_seconds',
        type: 'gauge',
        help: "Age of Slurm's last answer, as beoboard slurm has left it.",
        samples: each(answer => {
          const ms = ageOf(answer);
          return ms === undefined ? undefined : ms / 1000;
        }),
      },
      {
        name: 'beoboard_slurm_left_out',
        type: 'gauge',
        help: 'Lines of that answer that were not understood and are left out; see the log of beoboard slurm.',
        samples: each(({ left_out = 0 }) => left_out),
      },
    ];
  };
}
