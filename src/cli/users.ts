// Users and the nodes that their jobs hold. Reads the board and the files of the scheduler's reader, once; never asks
// the scheduler.

import { brief, noJobText } from '../jobs/jobfacts.js';
import { jobsNamed, listJobs } from '../jobs/joblist.js';
import { type ListedUser, listUsers } from '../jobs/userlist.js';
import { defineVerb, parseVerb } from '../options/options.js';
import { atOnce } from '../service/slices.js';
import { shownNames } from '../text/hostlists.js';
import type { TableColumn } from '../text/layout.js';
import { type LookResult, lookBesideScheduler, rowsText, type SchedulerLook } from './schedulerlook.js';

export const verb = defineVerb({
  name: 'users',
  options: ['nodes', 'long', 'json', 'slurm-dir', 'color', 'board', 'owner', 'config'],
  letters: { w: 'nodes', l: 'long' },
  arguments: ['[lists...]'],
  examples: [
    'beoboard users',
    'beoboard users rack17n[01-48]',
    "beoboard users --json | jq -r '.users[] | select(.cpu_use < 0.1) | .user'",
  ],
  notes: `For each user whose jobs have nodes, most nodes first: the number of jobs, nodes, CPUs given to them and how much of these is in use, GPUs
likewise. Use is that of their live nodes: ~ means that jobs of others run on some of them, too, and that their use is in it. TROUBLE names nodes
that are not live, have a problem, or are not on the board. Arguments are as in beoboard jobs: host lists, by board or Slurm name, users, a job.
Job data is what beoboard scheduler last wrote. Exit codes: 0 done, 1 nothing is known about jobs, or a name is
unknown to board and scheduler, 2 usage, 4 no board, or stalled.`,
});

function useText(share: number | undefined, { told }: ListedUser): string | undefined {
  return share === undefined ? undefined : `${told.shared_count > 0 ? '~' : ''}${Math.round(100 * share)}%`;
}

const COLUMNS: readonly TableColumn<ListedUser>[] = [
  { title: 'USER', isLeft: true, text: ({ told: { user } }) => (user === '' ? undefined : brief(user)) },
  { title: 'JOBS', text: ({ told }) => String(told.job_count), leaves: 5 },
  { title: 'NODES', text: ({ told }) => String(told.node_count) },
  { title: 'CPUS', text: ({ told: { cpus } }) => (cpus === 0 ? undefined : String(cpus)), leaves: 3 },
  { title: 'CPU', text: user => useText(user.told.cpu_use, user), leaves: 1 },
  { title: 'GPUS', text: ({ told: { gpus } }) => (gpus === 0 ? undefined : String(gpus)), leaves: 4 },
  { title: 'GPU', text: user => useText(user.told.gpu_use, user), leaves: 2 },
  {
    title: 'TROUBLE',
    isLeft: true,
    text: ({ trouble }) => (trouble.length === 0 ? undefined : `${trouble.length}: ${shownNames(trouble)}`),
    shrinks: 16,
  },
];

/** The users of the jobs on the chosen nodes. */
export function showUsers(
  { slurm, nodeOf, among, users: named }: SchedulerLook,
  long?: boolean,
  job?: string,
): LookResult {
  const jobs = job === undefined ? atOnce(listJobs(slurm, nodeOf, among, named)) : jobsNamed(job, slurm, nodeOf);
  const users = atOnce(listUsers(jobs, slurm, nodeOf));
  return {
    ...{ key: 'users', wrong: job !== undefined && jobs.length === 0 ? noJobText(job, jobs) : undefined },
    json: () => users.map(({ told }) => told),
    lines: paint => rowsText(verb.name, COLUMNS, users, { slurm, long, paint }),
  };
}

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  return await lookBesideScheduler(verb.name, values, args, (look, job) => showUsers(look, values.long, job));
}
