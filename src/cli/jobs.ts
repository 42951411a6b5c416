// Jobs and the nodes they run on: the states of the nodes, how busy the allocated CPUs and GPUs are, and the worst
// node. Reads the board and the files of the Slurm reader, once; never asks Slurm. Only what no other job shares counts
// as a job's own.

import { defineVerb, parseVerb } from '../options/options.js';
import { VERBS } from '../options/verbs.js';
import { NOTHING } from '../query/columns.js';
import { namesOf } from '../query/survey.js';
import { jobJson, type ListedJob, listJobs } from '../schedulers/joblist.js';
import type { Job } from '../schedulers/scheduler.js';
import { STATES, type State } from '../shm/liveness.js';
import { formatDuration } from '../text/durations.js';
import { cut, oneLine } from '../text/text.js';
import { lookBesideScheduler, rowsText, type SchedulerLook, type Shown } from './schedulerlook.js';
import type { TableColumn } from './table.js';

export const verb = defineVerb({
  name: 'jobs',
  summary: VERBS.jobs,
  options: ['nodes', 'long', 'json', 'slurm-dir', 'color', 'board', 'owner', 'config'],
  letters: { w: 'nodes', l: 'long' },
  arguments: ['[lists...]'],
  examples: [
    'beoboard jobs',
    'beoboard jobs rack17n[01-48]',
    "beoboard jobs --json | jq '.jobs[] | select(.efficiency < 0.5) | .id'",
  ],
  notes: `For each job with nodes: the states of its nodes, worst first; CPUs allocated, how many are busy, and their share (EFF); memory in use;
GPUs busy of those allocated. BUSY, EFF, MEM and GPUS are shown only if the job is alone on its nodes and all of these are live. WORST is
the node in the worst state, or the unhealthy one, or else the least busy one. Host lists select jobs by their nodes, by board or Slurm name.
Job data is what beoboard slurm last wrote. Exit codes: 0 done, 1 nothing is known from Slurm, 2 usage, 4 no board, or stalled.`,
});

/** A long job name must not push everything else off the screen. */
const NAME_MOST = 24;

/** `3 live, 1 silent`; `4` if all are live. */
function nodesText({ states }: ListedJob): string {
  const counts = [...states];
  if (counts.length === 1 && counts[0]?.[0] === 'live') return String(counts[0][1]);
  const rank = (state: State | 'absent') => (state === 'absent' ? -1 : STATES.indexOf(state));
  return counts
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

const percent = (share: number | undefined) => (share === undefined ? undefined : `${Math.round(100 * share)}%`);

/** For how long it has run. */
function elapsedText({ start_s }: Job): string | undefined {
  return start_s === undefined ? undefined : formatDuration(Math.max(0, Date.now() - start_s * 1000));
}

const COLUMNS: readonly TableColumn<ListedJob>[] = [
  { title: 'JOB', text: ({ job }) => oneLine(job.id) },
  { title: 'USER', isLeft: true, text: ({ job }) => oneLine(job.user) },
  { title: 'STATE', isLeft: true, text: ({ job }) => oneLine(job.state) },
  { title: 'TIME', text: ({ job }) => elapsedText(job) },
  { title: 'NODES', text: nodesText },
  { title: 'CPUS', text: ({ job }) => (job.cpus === 0 ? undefined : String(job.cpus)) },
  { title: 'BUSY', text: ({ busy }) => busy?.toFixed(1) },
  { title: 'EFF', text: ({ efficiency }) => percent(efficiency) },
  {
    title: 'MEM',
    text: ({ memUsedMib, memTotalMib }) =>
      percent(memUsedMib === undefined || !memTotalMib ? undefined : memUsedMib / memTotalMib),
  },
  { title: 'GPUS', text: ({ gpus, gpusBusy }) => (gpus === 0 ? undefined : `${gpusBusy ?? NOTHING}/${gpus}`) },
  { title: 'WORST', isLeft: true, text: ({ worst }) => `${oneLine(worst.name)} ${worst.why}`.trim() },
  { title: 'NAME', isLeft: true, text: ({ job }) => cut(oneLine(job.name), NAME_MOST) },
];

/** The jobs on the chosen nodes. */
export function showJobs({ slurm, nodeOf, among }: SchedulerLook, long?: boolean): Shown {
  const jobs = listJobs(slurm, nodeOf, among);
  return {
    key: 'jobs',
    json: () => jobs.map(jobJson),
    lines: paint => rowsText(verb.name, COLUMNS, jobs, { slurm, long, paint }),
  };
}

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  const asked = namesOf(verb.name, values.nodes, args);
  return await lookBesideScheduler(verb.name, values, asked, look => showJobs(look, values.long));
}
