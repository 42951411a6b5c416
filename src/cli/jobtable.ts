// A line for each job, for terminals.

import { elapsedText, memoryText, percent, statesText } from '../jobs/jobfacts.js';
import { jobJson, type ListedJob } from '../jobs/joblist.js';
import { NOTHING } from '../query/columns.js';
import { cut, oneLine } from '../text/text.js';
import { type LookResult, rowsText, type SchedulerLook } from './schedulerlook.js';
import type { TableColumn } from './table.js';

/** A long job name must not push everything else off the screen. */
const NAME_MOST = 24;

const COLUMNS: readonly TableColumn<ListedJob>[] = [
  { title: 'JOB', text: ({ job }) => oneLine(job.id) },
  { title: 'USER', isLeft: true, text: ({ job }) => oneLine(job.user) },
  { title: 'STATE', isLeft: true, text: ({ job }) => oneLine(job.state) },
  { title: 'TIME', text: ({ job }) => elapsedText(job) },
  { title: 'NODES', text: statesText },
  { title: 'CPUS', text: ({ job }) => (job.cpus === 0 ? undefined : String(job.cpus)) },
  { title: 'BUSY', text: ({ busy }) => busy?.toFixed(1) },
  { title: 'EFF', text: ({ efficiency }) => percent(efficiency) },
  { title: 'MEM', text: memoryText },
  { title: 'GPUS', text: ({ gpus, gpusBusy }) => (gpus === 0 ? undefined : `${gpusBusy ?? NOTHING}/${gpus}`) },
  { title: 'WORST', isLeft: true, text: ({ worst }) => `${oneLine(worst.name)} ${worst.why}`.trim() },
  { title: 'NAME', isLeft: true, text: ({ job }) => cut(oneLine(job.name), NAME_MOST) },
];

/** A table of these jobs. */
export function showJobs(jobs: readonly ListedJob[], { slurm }: SchedulerLook, long?: boolean): LookResult {
  return {
    key: 'jobs',
    json: () => jobs.map(jobJson),
    lines: paint => rowsText('jobs', COLUMNS, jobs, { slurm, long, paint }),
  };
}
