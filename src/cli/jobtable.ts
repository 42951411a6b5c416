// A line for each job, for terminals.

import { brief, elapsedText, memoryText, percent, statesText } from '../jobs/jobfacts.js';
import type { ListedJob } from '../jobs/joblist.js';
import { lookMs } from '../presentation/summary.js';
import { NOTHING, type TableColumn } from '../text/layout.js';
import { oneLine } from '../text/text.js';
import { type LookResult, rowsText, type SchedulerLook } from './schedulerlook.js';

const columnsAt = (nowMs: number): readonly TableColumn<ListedJob>[] => [
  { title: 'JOB', text: ({ job }) => oneLine(job.id), shrinks: 16 },
  { title: 'USER', isLeft: true, text: ({ job }) => oneLine(job.user), shrinks: 12 },
  { title: 'STATE', isLeft: true, text: ({ job }) => oneLine(job.state), leaves: 1, shrinks: 12 },
  { title: 'TIME', text: ({ job }) => elapsedText(job, nowMs), leaves: 2 },
  { title: 'NODES', text: statesText },
  { title: 'CPUS', text: ({ job }) => (job.cpus === 0 ? undefined : String(job.cpus)), leaves: 5 },
  { title: 'BUSY', text: ({ told }) => told.cpus_busy?.toFixed(1), leaves: 8 },
  { title: 'EFF', text: ({ told }) => percent(told.efficiency), leaves: 4 },
  { title: 'MEM', text: memoryText, leaves: 6 },
  {
    title: 'GPUS',
    text: ({ told: { gpus, gpus_busy } }) => (gpus ? `${gpus_busy ?? NOTHING}/${gpus}` : undefined),
    leaves: 7,
  },
  {
    title: 'WORST NODE',
    isLeft: true,
    text: ({ told: { worst } }) => `${oneLine(worst.node)} ${worst.why ?? ''}`.trim(),
    leaves: 3,
    shrinks: 20,
  },
  { title: 'NAME', isLeft: true, text: ({ job }) => brief(job.name), leaves: 9, shrinks: 8 },
];

/** A table of these jobs. */
export function showJobs(jobs: readonly ListedJob[], { slurm, found }: SchedulerLook, long?: boolean): LookResult {
  const columns = columnsAt(lookMs(found.snapshot));
  return {
    key: 'jobs',
    json: () => jobs.map(({ told }) => told),
    lines: paint => rowsText('jobs', columns, jobs, { slurm, long, paint }),
  };
}
