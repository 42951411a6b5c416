// What the scheduler says of a node, for people: columns of a table, and a part of the node's page.

import type { Section } from '../presentation/nodesheet.js';
import type { ExtraColumn } from '../query/columns.js';
import type { SchedulerNodeInfo, SchedulerView } from '../schedulerfile/schedulerview.js';
import { plural } from '../shm/sentences.js';
import { formatDuration } from '../text/durations.js';
import { expandNodeNames } from '../text/hostlists.js';
import { few, oneLine } from '../text/text.js';
import { ids } from '../trouble/disagreements.js';
import { brief } from './jobfacts.js';

const USERS_SHOWN = 4;

/** A column that needs nothing but a node's name. */
export interface SchedulerColumn extends ExtraColumn {
  readonly text: (node: { readonly name: string }) => string | undefined;
}

/** Columns for the table; in brackets if the answer is old. `isWhole`: nothing is cut for people. */
export function schedulerColumns(scheduler: SchedulerView, isWhole = false): SchedulerColumn[] {
  const cell = (text: string | undefined) =>
    text === undefined || text === '' || scheduler.trouble === undefined ? text || undefined : `[${text}]`;
  const column = (name: string, title: string, of: (side: SchedulerNodeInfo) => string): SchedulerColumn => ({
    name,
    title,
    left: true,
    text: node => {
      const side = scheduler.of(node.name);
      return side && cell(of(side));
    },
  });
  return [
    column('slurm', scheduler.name.toUpperCase(), ({ node }) => oneLine(node.state)),
    column('user', 'USER', ({ jobs }) => {
      const users = [...new Set(jobs.map(({ user }) => (isWhole ? oneLine(user) : brief(user))))];
      return isWhole ? users.join(',') : few(users, USERS_SHOWN, ',');
    }),
    column('jobs', 'JOBS', ({ jobs }) => ids(jobs.map(({ id }) => id))),
  ];
}

function facts(scheduler: SchedulerView, name: string, nowMs: number): string[][] {
  const side = scheduler.of(name);
  const partial = scheduler.partial.map(text => [text]);
  // The node may be among those that were left out of the scheduler's answer.
  if (side === undefined) return scheduler.state?.nodes.left_out ? partial : [];
  const { node, jobs } = side;
  const since = (s: number | undefined) =>
    s === undefined ? '' : ` for ${formatDuration(Math.max(0, nowMs - s * 1000))}`;
  const by = node.reason_by ? ` (${oneLine(node.reason_by)}${since(node.reason_s)})` : '';
  return [
    [
      ...(scheduler.trouble === undefined ? [] : [`(old: ${scheduler.trouble})`]),
      `${oneLine(node.state)}${node.name === name ? '' : ` as ${oneLine(node.name)}`}`,
      ...(node.cpus === 0 ? [] : [`${node.cpus_used ?? 0} of ${node.cpus} CPUs given to jobs`]),
      ...(node.gpus ? [`${node.gpus_used ?? 0} of ${node.gpus} GPUs given to jobs`] : []),
      ...(node.switch === undefined ? [] : [`behind ${oneLine(node.switch)}`]),
    ],
    ...(node.reason === undefined ? [] : [[`reason: ${oneLine(node.reason)}${by}`]]),
    ...jobs.map(job => [
      `job ${oneLine(job.id)}${job.user === '' ? '' : ` of ${oneLine(job.user)}`}`,
      `${oneLine(job.state)}${since(job.start_s)}`,
      `${job.cpus === 0 ? '' : `${job.cpus} ${job.cpus === 1 ? 'CPU' : 'CPUs'} `}on ${plural(expandNodeNames(job.nodes).length)}`,
      ...(job.partition === '' ? [] : [`partition ${oneLine(job.partition)}`]),
      ...(job.name === '' ? [] : [oneLine(job.name)]),
    ]),
    ...partial,
  ];
}

/** One node as a part of its page. `nowMs`: the time of the look, ms since 1970. */
export function schedulerSection(scheduler: SchedulerView, name: string, nowMs: number): Section {
  return { title: scheduler.name, facts: facts(scheduler, name, nowMs) };
}
