// A line for each job, for terminals, and what is said of a job there.

import { NOTHING } from '../query/columns.js';
import { jobJson, type ListedJob } from '../schedulers/joblist.js';
import type { Job } from '../schedulers/scheduler.js';
import { STATES, type State } from '../shm/liveness.js';
import { formatDuration } from '../text/durations.js';
import { cut, oneLine } from '../text/text.js';
import { rowsText, type SchedulerLook, type Shown } from './schedulerlook.js';
import type { TableColumn } from './table.js';

/** A long job name must not push everything else off the screen. */
const NAME_MOST = 24;

/** `3 live, 1 silent`; `4` if all are live. */
export function statesText({ states }: ListedJob): string {
  const counts = [...states];
  if (counts.length === 1 && counts[0]?.[0] === 'live') return String(counts[0][1]);
  const rank = (state: State | 'absent') => (state === 'absent' ? -1 : STATES.indexOf(state));
  return counts
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

export const percent = (share: number | undefined) => (share === undefined ? undefined : `${Math.round(100 * share)}%`);

/** For how long it has run. */
export function elapsedText({ start_s }: Job): string | undefined {
  return start_s === undefined ? undefined : formatDuration(Math.max(0, Date.now() - start_s * 1000));
}

const COLUMNS: readonly TableColumn<ListedJob>[] = [
  { title: 'JOB', text: ({ job }) => oneLine(job.id) },
  { title: 'USER', isLeft: true, text: ({ job }) => oneLine(job.user) },
  { title: 'STATE', isLeft: true, text: ({ job }) => oneLine(job.state) },
  { title: 'TIME', text: ({ job }) => elapsedText(job) },
  { title: 'NODES', text: statesText },
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

/** A table of these jobs. */
export function showJobs(jobs: readonly ListedJob[], { slurm }: SchedulerLook, long?: boolean): Shown {
  return {
    key: 'jobs',
    json: () => jobs.map(jobJson),
    lines: paint => rowsText('jobs', COLUMNS, jobs, { slurm, long, paint }),
  };
}
