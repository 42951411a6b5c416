// What is told of one job, wherever it is shown: what it is, a row for each of its nodes, who differs most from the
// others first, and what is not compared or judged.

import { COLUMNS, short } from '../query/columns.js';
import { readingOf } from '../readings/readings.js';
import { writeValue } from '../readings/units.js';
import type { SchedulerJob } from '../schedulerfile/scheduler.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { STATES, type State } from '../shm/liveness.js';
import { plural } from '../shm/sentences.js';
import type { Node } from '../shm/snapshot.js';
import { healthTexts } from '../shm/standing.js';
import { formatDuration } from '../text/durations.js';
import { shownNames } from '../text/hostlists.js';
import { cutTo, NOTHING, type TableColumn } from '../text/layout.js';
import { oneLine } from '../text/text.js';
import type { ListedJob } from './joblist.js';
import { type JobMember, memberJson, toldOf } from './jobmembers.js';

/** Names of nodes, and what others wrote, take no more of a line. */
const TEXT_MOST = 24;
const DIFFERS_MOST = 42;

export const brief = (text: string): string => cutTo(oneLine(text), TEXT_MOST);

/** `3 live, 1 silent`; `4` if all are live. */
export function statesText({ told }: ListedJob): string {
  const counts = Object.entries(told.states) as [State | 'absent', number][];
  if (counts.length === 1 && counts[0]?.[0] === 'live') return String(counts[0][1]);
  const rank = (state: State | 'absent') => (state === 'absent' ? -1 : STATES.indexOf(state));
  return counts
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

export const percent = (share: number | undefined) => (share === undefined ? undefined : `${Math.round(100 * share)}%`);

/** The share of the memory of its nodes that is in use. */
export const memoryText = ({ told: { mem_used_mib, mem_total_mib } }: ListedJob) =>
  percent(mem_used_mib === undefined || !mem_total_mib ? undefined : mem_used_mib / mem_total_mib);

/** For how long it has run at that time, ms since 1970; undefined: nobody knows. */
export function elapsedMs({ start_s }: SchedulerJob, nowMs: number): number | undefined {
  return start_s === undefined ? undefined : Math.max(0, nowMs - start_s * 1000);
}

export function elapsedText(job: SchedulerJob, nowMs: number): string | undefined {
  const ms = elapsedMs(job, nowMs);
  return ms === undefined ? undefined : formatDuration(ms);
}

/** `CPU 8 %, others 97 %`; undefined: it hardly differs. */
function differsText(member: JobMember): string | undefined {
  const most = toldOf(member);
  const written = (value: number) => most && writeValue(value, most.reading.unit);
  const what = most && `${most.compared.label} ${written(most.value)}, others ${written(most.median)}`;
  return [...(member.hardware === 'other' ? ['other hardware'] : []), ...(what ? [what] : [])].join(': ') || undefined;
}

/** A column of a reading; in brackets where it is not of now. */
function column(title: string, leaves: number, text: (node: Node) => string | undefined): TableColumn<JobMember> {
  return {
    ...{ title, leaves },
    text: ({ node, state }) => {
      const shown = node && text(node);
      return shown === undefined || state === 'live' ? shown : `[${shown}]`;
    },
  };
}

function numberText(name: string, show: (value: number) => string): (node: Node) => string | undefined {
  const reading = readingOf(name);
  return node => {
    const value = reading?.value(node);
    return typeof value === 'number' ? show(value) : undefined;
  };
}

/** As the table of all nodes shows it. */
const asInStatus = (name: string) => COLUMNS.find(column => column.name === name)?.text ?? (() => undefined);

/** The columns of the nodes of a job; the first is the node's name. */
export const MEMBER_COLUMNS: readonly TableColumn<JobMember>[] = [
  { title: 'NODE', isLeft: true, text: ({ name }) => brief(name), shrinks: 16 },
  { title: 'STATE', isLeft: true, text: ({ state, problems }) => `${state}${problems.length > 0 ? '!' : ''}` },
  column('CPU', 1, asInStatus('cpu')),
  column(
    'GHZ',
    3,
    numberText('mhz', mhz => (mhz / 1000).toFixed(2)),
  ),
  column('MEM', 5, asInStatus('mem')),
  column('GPU', 2, asInStatus('gpu')),
  column('GPU°C', 9, numberText('gpu_temp', String)),
  column('GPUW', 8, numberText('gpu_power', short)),
  column('NET/s', 6, numberText('net', short)),
  column('FABRIC/s', 7, numberText('fabric', short)),
  column('DISK/s', 10, asInStatus('disk')),
  column('WAIT', 4, asInStatus('pressure')),
  { title: 'DIFFERS', isLeft: true, text: member => cutTo(differsText(member) ?? NOTHING, DIFFERS_MOST) },
];

/** What the job is, in lines. `nowMs`: the time of the look, ms since 1970. */
export function jobLines(row: ListedJob, nowMs: number): string[] {
  const { job, names, told } = row;
  const { states, alone, cpus_busy: busy, efficiency, gpus, gpus_busy } = told;
  const time = elapsedText(job, nowMs);
  const head = [
    `job ${brief(job.id)}`,
    ...(job.name === '' ? [] : [`(${brief(job.name)})`]),
    ...(job.user === '' ? [] : [`of ${brief(job.user)}`]),
    ...(job.partition === '' ? [] : [`in partition ${brief(job.partition)}`]),
  ].join(' ');
  const used = memoryText(row);
  const share = percent(efficiency);
  const busyText = busy === undefined ? '' : `, ${busy.toFixed(1)} busy${share === undefined ? '' : ` (${share})`}`;
  const facts = [
    ...(job.cpus === 0 ? [] : [`${job.cpus} ${job.cpus === 1 ? 'CPU' : 'CPUs'}${busyText}`]),
    ...(used === undefined ? [] : [`${used} of the memory of its nodes in use`]),
    ...(gpus
      ? [`${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}${gpus_busy === undefined ? '' : `, ${gpus_busy} in use`}`]
      : []),
  ];
  const isAllLive = Object.keys(states).join() === 'live';
  const nodes = `${plural(names.length)}, ${[isAllLive ? 'all live' : statesText(row), ...healthTexts(told)].join(', ')}: ${shownNames(names)}`;
  return [
    `${head}: ${brief(job.state)}${time === undefined ? '' : ` for ${time}`}`,
    nodes,
    ...(facts.length === 0 ? [] : [facts.join('; ')]),
    ...(alone ? [] : ['other jobs run on some of these nodes, too: what is shown is of the whole node']),
  ];
}

const NOT_COMPARED = 'nothing is compared: fewer than four of these nodes are live and of the same hardware';
const UNMARKED = 'what differs and is not marked does so since the job began, by its part of the work, or only just';

/** What is not compared or judged, and why. */
export function jobNotes({ job }: ListedJob, members: readonly JobMember[], slurm: SchedulerView): string[] {
  // Why none is marked is the same.
  if (members.every(({ hardware }) => hardware === undefined)) return [NOT_COMPARED];
  const unjudged = slurm.unjudged(job.id);
  if (unjudged !== undefined) return [`none of its nodes is marked: ${unjudged}`];
  const marks = slurm.marks.filter(mark => mark.job === job.id);
  const differs = members.some(member => {
    const { compared, reading } = toldOf(member) ?? {};
    const isMarked = marks.some(mark => mark.node === member.name && mark.reading === reading?.name);
    return reading !== undefined && compared?.class !== 'fault' && !isMarked;
  });
  return differs ? [UNMARKED] : [];
}

/** Why no job with that id can be shown, in a sentence: there is none, or several parts have it. */
export function noJobText(id: string, [first, ...others]: readonly ListedJob[]): string {
  return first === undefined
    ? `no job ${oneLine(id)} has nodes`
    : `${1 + others.length} jobs have this number; name one of them: ${brief(first.job.id)}`;
}

/** One job, for programs: with its trouble and these of its nodes. */
export function jobPageJson(
  row: ListedJob,
  members: readonly JobMember[],
  trouble: readonly object[],
  slurm: SchedulerView,
) {
  const { id } = row.job;
  return {
    ...row.told,
    unjudged: slurm.unjudged(id),
    marks: slurm.marks.filter(({ job }) => job === id),
    trouble,
    members: members.map(memberJson),
  };
}
