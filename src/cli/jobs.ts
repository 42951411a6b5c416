// Jobs and the nodes they run on: the states of the nodes, how busy the allocated CPUs and GPUs are, and the worst
// node. Reads the board and the files of the Slurm reader, once; never asks Slurm. Only what no other job shares counts
// as a job's own.

import { listJobs } from '../jobs/joblist.js';
import { defineVerb, parseVerb } from '../options/options.js';
import { atOnce } from '../service/slices.js';
import { terminalWidth } from '../text/output.js';
import { showJob } from './jobpage.js';
import { showJobs } from './jobtable.js';
import { lookBesideScheduler } from './schedulerlook.js';

export const verb = defineVerb({
  name: 'jobs',
  options: ['nodes', 'long', 'json', 'slurm-dir', 'journal-run', 'color', 'board', 'owner', 'config'],
  letters: { w: 'nodes', l: 'long' },
  arguments: ['[lists...]'],
  examples: [
    'beoboard jobs',
    'beoboard jobs rack17n[01-48]',
    'beoboard jobs 4711',
    'beoboard jobs anna',
    "beoboard jobs --json | jq '.jobs[] | select(.efficiency < 0.5) | .id'",
  ],
  notes: `For each job with nodes: the states of its nodes, worst first; CPUs allocated, how many are busy, and their share (EFF); memory in use;
GPUs busy of those allocated. BUSY, EFF, MEM and GPUS are shown only if the job is alone on its nodes and all of these are live. WORST NODE is
the one in the worst state, or the unhealthy one, or else the least busy one. Host lists select jobs by their nodes, by board or Slurm name;
other words are users (anna is also anna@example.org and AD\\anna). Who has the name of a node is told apart: in JSON as of_user.

A job's id (4711, 4711_3, 4711+1, 4711[3].pbs01, or Slurm's raw number of one of these) shows that job: the trouble of its nodes, and a row for each. DIFFERS is what is farthest from the
middle of the job's live nodes with the same hardware (at least four), in units of their spread; who is farthest stands first. Nodes that report
other hardware, as after the loss of a GPU, are compared with most of the others. A job may share out its work as it likes: that a
node differs does not mean that it is at fault.

Job data is what beoboard scheduler last wrote. Exit codes: 0 done, 1 nothing is known about jobs, or a name is
unknown to board and scheduler, 2 usage, 4 no board, or stalled.`,
});

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  return await lookBesideScheduler(verb.name, values, args, (look, job) =>
    job === undefined
      ? showJobs(atOnce(listJobs(look.slurm, look.nodeOf, look.among, look.users)), look, values.long)
      : showJob(job, look, { ...values, width: terminalWidth() }),
  );
}
