// A line for each job, for terminals.

import { elapsedText, memoryText, percent, statesText } from '../jobs/jobfacts.js';
import type { ListedJob } from '../jobs/joblist.js';
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
  { title: 'BUSY', text: ({ told }) => told.cpus_busy?.toFixed(1) },
  { title: 'EFF', text: ({ told }) => percent(told.efficiency) },
  { title: 'MEM', text: memoryText },
  { title: 'GPUS', text: ({ told: { gpus, gpus_busy } }) => (gpus ? `${gpus_busy ?? NOTHING}/${gpus}` : undefined) },
  { title: 'WORST', isLeft: true, text: ({ told: { worst } }) => `${oneLine(worst.node)} ${worst.why ?? ''}`.trim() },
  { title: 'NAME', isLeft: true, text: ({ job }) => cut(oneLine(job.name), NAME_MOST) },
];

/** A table of these jobs. */
export function showJobs(jobs: readonly ListedJob[], { slurm }: SchedulerLook, long?: boolean): LookResult {
  return {
    key: 'jobs',
    json: () => jobs.map(({ told }) => told),
    lines: paint => rowsText('jobs', COLUMNS, jobs, { slurm, long, paint }),
  };
}
