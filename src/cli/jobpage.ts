// One job on a page: what it is, the trouble of its nodes, and a row for each of them, who differs most from the others
// first.

import { shownNames } from '../presentation/rejections.js';
import { plural } from '../presentation/sentences.js';
import type { Painter } from '../presentation/style.js';
import { COLUMNS, short } from '../query/columns.js';
import { survey } from '../query/survey.js';
import { readingOf } from '../readings/readings.js';
import { writeValue } from '../readings/units.js';
import { jobJson, type ListedJob, listJobs } from '../schedulers/joblist.js';
import { type Difference, type JobMember, memberJson, membersOf, toldOf } from '../schedulers/jobmembers.js';
import type { Node } from '../shm/node.js';
import { cut, oneLine } from '../text/text.js';
import { readAcks } from '../trouble/ackfile.js';
import type { TroubleInfo } from '../trouble/info.js';
import { troubleOf } from '../trouble/trouble.js';
import { elapsedText, percent, showJobs, statesText } from './jobtable.js';
import { ROWS, type SchedulerLook, type Shown } from './schedulerlook.js';
import { type TableColumn, tableLines } from './table.js';
import { troubleLines, wrapped } from './troublelist.js';

/** How the page is laid out. */
export interface PageOptions {
  readonly board: string;
  readonly long?: boolean | undefined;
  /** Columns of the terminal. */
  readonly width: number;
}

/** Names of nodes, and what others wrote, take no more of a line. */
const TEXT_MOST = 24;
const DIFFERS_MOST = 42;

const brief = (text: string) => cut(oneLine(text), TEXT_MOST);

/** `CPU 8 %, others 97 %`. */
function differenceText({ compared, reading, value, median }: Difference): string {
  return `${compared.label} ${writeValue(value, reading.unit)}, others ${writeValue(median, reading.unit)}`;
}

function differsText(member: JobMember): string | undefined {
  const most = toldOf(member);
  const what = most === undefined ? [] : [differenceText(most)];
  return [...(member.hardware === 'other' ? ['other hardware'] : []), ...what].join(': ') || undefined;
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

/** The text of a reading's number. */
function numberText(name: string, show: (value: number) => string): (node: Node) => string | undefined {
  const reading = readingOf(name);
  return node => {
    const value = reading?.value(node);
    return typeof value === 'number' ? show(value) : undefined;
  };
}

/** As the table of all nodes shows it. */
const asInStatus = (name: string) => COLUMNS.find(column => column.name === name)?.text ?? (() => undefined);

const PAGE_COLUMNS: readonly TableColumn<JobMember>[] = [
  { title: 'NODE', isLeft: true, text: ({ name }) => brief(name) },
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
  { title: 'DIFFERS', isLeft: true, text: member => cut(differsText(member) ?? '-', DIFFERS_MOST) },
];

/** What the job is. */
function headLines(row: ListedJob, width: number): string[] {
  const { job, names, states, alone, busy, efficiency, memUsedMib, memTotalMib, gpus, gpusBusy } = row;
  const time = elapsedText(job);
  const head = [
    `job ${brief(job.id)}`,
    ...(job.name === '' ? [] : [`(${brief(job.name)})`]),
    ...(job.user === '' ? [] : [`of ${brief(job.user)}`]),
    ...(job.partition === '' ? [] : [`in partition ${brief(job.partition)}`]),
  ].join(' ');
  const used = percent(memUsedMib === undefined || !memTotalMib ? undefined : memUsedMib / memTotalMib);
  const share = percent(efficiency);
  const busyText = busy === undefined ? '' : `, ${busy.toFixed(1)} busy${share === undefined ? '' : ` (${share})`}`;
  const facts = [
    ...(job.cpus === 0 ? [] : [`${job.cpus} ${job.cpus === 1 ? 'CPU' : 'CPUs'}${busyText}`]),
    ...(used === undefined ? [] : [`${used} of the memory of its nodes in use`]),
    ...(gpus === 0
      ? []
      : [`${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}${gpusBusy === undefined ? '' : `, ${gpusBusy} in use`}`]),
  ];
  const isAllLive = states.size === 1 && states.has('live');
  const nodes = `${plural(names.length)}, ${isAllLive ? 'all live' : statesText(row)}: ${shownNames(names)}`;
  return [
    `${head}: ${brief(job.state)}${time === undefined ? '' : ` for ${time}`}`,
    nodes,
    ...(facts.length === 0 ? [] : [facts.join('; ')]),
    ...(alone ? [] : ['other jobs run on some of these nodes, too: what is shown is of the whole node']),
  ].flatMap(line => wrapped(line, width));
}

/** The lines of trouble about the nodes of a job; that it runs there itself is not said. */
function troubleAbout({ found, slurm }: SchedulerLook, { job, names }: ListedJob, board: string): TroubleInfo[] {
  const chosen = survey(found.snapshot, { among: names });
  const scheduler = slurm.isKnown ? slurm : undefined;
  return troubleOf(chosen, { scheduler, ...readAcks(board) }).flatMap(line => {
    if (line.nodes === undefined) return [];
    const { jobs, ...rest } = line;
    const others = jobs?.filter(({ id }) => id !== oneLine(job.id)) ?? [];
    return [others.length === 0 ? rest : { ...rest, jobs: others }];
  });
}

const NOT_COMPARED = 'nothing is compared: fewer than four of these nodes are live and of the same hardware';

function pageLines(row: ListedJob, look: SchedulerLook, options: PageOptions, paint: Painter): string[] {
  const { width, board, long } = options;
  const members = membersOf(look.found, row);
  const shown = long ? members : members.slice(0, ROWS);
  const nowMs = Number(look.found.snapshot.realNs / 1_000_000n);
  const trouble = troubleLines(troubleAbout(look, row, board), { nowMs, width, paint }).flat();
  const [titles = '', ...rows] = tableLines(PAGE_COLUMNS, shown, width);
  const more = members.length - shown.length;
  const isCompared = members.some(({ hardware }) => hardware !== undefined);
  const head = headLines(row, width);
  const unjudged = look.slurm.unjudged(row.job.id);
  return [
    ...(look.slurm.trouble === undefined ? head : head.map(line => paint.state('left', line))),
    ...(trouble.length === 0 ? [] : ['', ...trouble]),
    ...['', paint.title(titles), ...rows],
    ...(more > 0 ? [`… ${more} more; all: beoboard jobs ${oneLine(row.job.id)} --long`] : []),
    ...(isCompared ? [] : ['', ...wrapped(NOT_COMPARED, width)]),
    ...(unjudged === undefined ? [] : ['', ...wrapped(`none of its nodes is marked: ${unjudged}`, width)]),
  ];
}

/** One job, for programs: with its trouble and its nodes. */
function pageJson(row: ListedJob, look: SchedulerLook, { board }: PageOptions) {
  return {
    ...jobJson(row),
    unjudged: look.slurm.unjudged(row.job.id),
    marks: look.slurm.marks.filter(({ job }) => job === row.job.id),
    trouble: troubleAbout(look, row, board),
    members: membersOf(look.found, row).map(memberJson),
  };
}

/** The job of that number; or a table of its parts, of which one has to be named. */
export function showJob(number: string, look: SchedulerLook, options: PageOptions): Shown {
  const jobs = listJobs(look.slurm, look.nodeOf);
  const exact = jobs.filter(({ job }) => job.id === number);
  const parts =
    exact.length > 0
      ? exact
      : jobs.filter(({ job }) => /^[_+]/.test(job.id.slice(number.length)) && job.id.startsWith(number));
  const [row] = parts;
  if (row === undefined)
    return {
      ...{ key: 'jobs', json: () => [], lines: () => [], about: [] },
      wrong: `no job ${number} has nodes; beoboard jobs lists those that have`,
    };
  if (parts.length > 1) {
    const table = showJobs(parts, look, options.long);
    const advice = `${parts.length} jobs have this number; name one of them: beoboard jobs ${oneLine(row.job.id)}`;
    return { ...table, about: [], lines: paint => [...table.lines(paint), '', advice] };
  }
  return {
    ...{ key: 'jobs', about: [] },
    json: () => [pageJson(row, look, options)],
    lines: paint => pageLines(row, look, options, paint),
  };
}
