// Parses the output of scontrol and squeue: nodes, jobs, the configuration. Pure functions over text from outside,
// parts of which users and administrators have written: names of jobs, reasons, comments. None of these texts can forge
// a row or change another one.

import { cut, LeftOut, type SchedulerJob, type SchedulerNode } from '../../schedulerfile/scheduler.js';
import { BOARD_MOST, NameRanges } from '../../text/hostlists.js';
import { beginning } from '../../text/text.js';
import { meaningOf } from './nodestate.js';

/** With a field that only the bridge needs. */
export interface ListedNode extends SchedulerNode {
  /** When its slurmd started, as it said when it registered: seconds since 1970. */
  readonly daemon_start_s?: number | undefined;
}

/** The beginning of a row; Slurm takes nearly any name. A line that begins so without a number of CPUs is no row. */
const NODE_ROW = /^NodeName=(\S{1,255}) (?=.* CPUTot=\d)/;

/** The fields at the end of a row that administrators write, in Slurm's order; the reason comes first. */
const FREE_TEXT = / (?:Reason|Comment|Extra|InstanceId|InstanceType|ReservationName)=/;
const AFTER_REASON = / (?:Comment|Extra|InstanceId|InstanceType|ReservationName)=/;
/** What Slurm puts between the lines of a reason; its author stands behind the first. */
const LINE_BREAK = ' '.repeat(8);
/** The end of a reason's author, from the time on: `[AD\john doe@1795640000]`. His name may hold anything. */
const AUTHOR_END = new RegExp(`@(\\d{9,12})\\](?=${LINE_BREAK}|${AFTER_REASON.source}|$)`, 'g');

/**
 * A reason, its author and its time, from the row's part behind `Reason=`. If the text can be read in more than one way,
 * since a reason, a line of it or a comment ends like an author, all of it is the reason, and nobody knows whose.
 */
function reasonOf(text: string): Pick<SchedulerNode, 'reason' | 'reason_by' | 'reason_s'> {
  const upToNext = (part: string) => part.slice(0, (AFTER_REASON.exec(part) ?? { index: part.length }).index);
  const ends = [...text.matchAll(AUTHOR_END)];
  const last = ends.at(-1);
  const begin = last === undefined ? -1 : text.lastIndexOf(' [', last.index);
  if (last === undefined || begin < 0) return { reason: cut(upToNext(text)) };
  const behind = text.slice(last.index + last[0].length);
  const more = behind.startsWith(LINE_BREAK) ? upToNext(behind) : '';
  const reason = cut(`${text.slice(0, begin)}${more}`.replaceAll(LINE_BREAK, ' '));
  if (ends.length > 1) return { reason };
  return { reason, reason_by: cut(text.slice(begin + 2, last.index)), reason_s: Number(last[1]) };
}

function whole(head: string, key: string): number | undefined {
  const [, digits] = new RegExp(` ${key}=(\\d{1,15})(?= |$)`).exec(head) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** The number of GPUs in a list of generic resources: `gpu:2`, `gpu:a100:4(S:0-1),gpu:t4:1`. */
export function gpusIn(list: string | undefined): number {
  let sum = 0;
  for (const [, count] of (list ?? '').matchAll(/(?:^|,)gpu:(?:[^:,()]+:)?(\d{1,6})(?=$|[,(])/g)) sum += Number(count);
  return sum;
}

/** A row up to the beginning of an administrator's text. */
function headOf(row: string): string {
  const end = row.search(FREE_TEXT);
  return end < 0 ? row : row.slice(0, end);
}

function nodeOf(name: string, row: string): SchedulerNode {
  const head = headOf(row);
  const end = head.length < row.length ? head.length : -1;
  const states = [...head.matchAll(/ State=(\S+)/g)].map(([, state]) => state as string);
  const [, host] = / NodeHostName=(\S+)/.exec(head) ?? [];
  const [, gres] = / Gres=(\S+)/.exec(head) ?? [];
  const [, gresUsed] = / GresUsed=(\S+)/.exec(head) ?? [];
  const [, reason] = (end < 0 ? undefined : /^ Reason=(.*)/s.exec(row.slice(end))) ?? [];
  const [gpus, gpusUsed] = [gpusIn(gres), gpusIn(gresUsed)];
  // A second one can only be forged, by an operating system of that name.
  const state = states.length === 1 ? beginning(states[0] as string, 120) : '?';
  return {
    name,
    host: host === undefined || host === name ? undefined : host,
    state,
    ...meaningOf(state),
    // In every version that is read, a node of a partition has this.
    no_jobs: / Partitions=\S/.test(head) ? undefined : true,
    cpus: whole(head, 'CPUTot') ?? 0,
    cpus_used: whole(head, 'CPUAlloc') || undefined,
    memory_mib: whole(head, 'RealMemory') || undefined,
    memory_used_mib: whole(head, 'AllocMem') || undefined,
    gpus: gpus || undefined,
    gpus_used: gpusUsed || undefined,
    ...(reason === undefined ? {} : reasonOf(reason)),
  };
}

/**
 * The nodes of `scontrol -a -d -o show node`, in its order. Comments and reasons may have several lines, also lines
 * that look like those of a node: a node that occurs twice is in no known state.
 */
export function parseNodes(text: string, leftOut = new LeftOut()): SchedulerNode[] {
  return rowsOf(text, leftOut, nodeOf);
}

/** The same, with the start times of slurmd. */
export function parseListedNodes(text: string): ListedNode[] {
  return rowsOf(text, new LeftOut(), (name, row) => ({
    ...nodeOf(name, row),
    daemon_start_s: whole(headOf(row), 'SlurmdStartTime'),
  }));
}

/** What scontrol says if there are none. */
const NO_NODES = 'No nodes in the system';

function rowsOf<T extends SchedulerNode>(text: string, leftOut: LeftOut, read: (name: string, row: string) => T): T[] {
  const nodes = new Map<string, T>();
  // Further lines of a free text follow only a row that has one.
  let mayGoOn = false;
  for (const row of text.split('\n')) {
    const [, name] = NODE_ROW.exec(row) ?? [];
    if (name === undefined) {
      if (row.trim() !== '' && row !== NO_NODES && (!mayGoOn || row.startsWith('NodeName='))) leftOut.add(row);
      continue;
    }
    mayGoOn = FREE_TEXT.test(row);
    const twice = nodes.get(name);
    nodes.set(name, twice === undefined ? read(name, row) : { ...twice, state: '?', ...meaningOf('?') });
  }
  return [...nodes.values()];
}

/** What squeue is asked about each job: after the nonce, with the only text that users write at the end. */
export const jobFormat = (nonce: string): string => `${nonce}|%A|%i|%T|%u|%P|%C|%S,%e|%N|%j`;

const secondsIn = (text: string) => (/^\d{1,12}$/.test(text) ? Number(text) : undefined);

/** States of jobs that may hold nodes. */
export const JOB_STATES = 'RUNNING,COMPLETING,SUSPENDED,CONFIGURING,SIGNALING,STAGE_OUT,STOPPED,RESIZING';

/**
 * The jobs of squeue with `jobFormat`. A row begins only with the nonce, which nobody who names a job can know:
 * whatever a name contains, it ends at the next nonce.
 */
export function parseJobs(text: string, nonce: string, leftOut = new LeftOut()): SchedulerJob[] {
  if (nonce.length < 16) throw new Error('a nonce that can be guessed');
  const jobs: SchedulerJob[] = [];
  const [before = '', ...rows] = `\n${text.replace(/\n$/, '')}`.split(`\n${nonce}|`);
  for (const line of before.split('\n')) if (line !== '') leftOut.add(line);
  for (const row of rows) {
    const [number = '', id = '', state = '', user = '', partition = '', cpus = '', times = '', nodes, ...name] =
      row.split('|');
    if (!/^\d{1,12}$/.test(number) || nodes === undefined || NameRanges.ofNodeNames(nodes) === undefined) {
      leftOut.add(row);
      continue;
    }
    // A job that has no nodes yet, or none any more, is not shown.
    if (nodes === '') continue;
    const [start = '', end = ''] = times.split(',');
    const isId = /^[\d_+[\]%,-]{1,64}$/.test(id);
    jobs.push({
      id: isId ? id : number,
      raw_id: isId && id !== number ? number : undefined,
      state: cut(state),
      user: cut(user),
      partition: cut(partition),
      cpus: /^\d{1,9}$/.test(cpus) ? Number(cpus) : 0,
      start_s: secondsIn(start),
      end_s: secondsIn(end),
      nodes,
      name: cut(name.join('|')),
    });
  }
  return jobs;
}

/** The part of `scontrol show config` that we need. */
export interface SlurmConfig {
  readonly cluster: string;
  readonly version: string;
  /** `none`, or what Slurm hides from users who are not its administrators: `jobs,users`. */
  readonly private_data: string;
  /** Whether Slurm powers nodes down; undefined: it does not say so. */
  readonly power_saving?: boolean | undefined;
  /** How long a node may take from being powered up to its registration, s. */
  readonly resume_timeout_s?: number | undefined;
  /** Whether it may know which node is behind which switch. */
  readonly hasTopology: boolean;
}

export function parseConfig(text: string): SlurmConfig {
  const of = (key: string) => cut(new RegExp(`^${key}\\s*=\\s*(.*?)\\s*$`, 'm').exec(text)?.[1] ?? '');
  const suspends = of('SuspendProgram');
  const [, seconds] = /^(\d{1,9}) sec$/.exec(of('ResumeTimeout')) ?? [];
  return {
    cluster: of('ClusterName'),
    version: of('SLURM_VERSION'),
    private_data: of('PrivateData') || 'unknown',
    power_saving: suspends === '' ? undefined : suspends !== '(null)',
    resume_timeout_s: seconds === undefined ? undefined : Number(seconds),
    hasTopology: /^topology\/(?!none$|default$|flat$)/.test(of('TopologyPlugin')),
  };
}

/** A switch that nodes are plugged into, and the others of its row. */
const SWITCH_ROW = /^SwitchName=(\S{1,255}) Level=0 (?:[A-Z]\w*=\S* )*Nodes=(\S+)(?= |$)/;

/**
 * The switch of each of these NodeNames, from `scontrol show topology`. A row that is not understood, or that has more
 * nodes than a board can have, is left out as a whole, and so is a node behind two switches: what is told of a switch has
 * to be true of all its nodes. Undefined: there is more to look at than a board can have.
 */
export function parseTopology(text: string, known: ReadonlySet<string>): Map<string, string> | undefined {
  const found = new Map<string, string>();
  const twice = new Set<string>();
  let left = BOARD_MOST;
  for (const row of text.split('\n')) {
    const [, name, list = ''] = SWITCH_ROW.exec(row) ?? [];
    const nodes = name === undefined ? undefined : NameRanges.ofNodeNames(list);
    if (name === undefined || nodes === undefined || nodes.size > BOARD_MOST) continue;
    left -= nodes.looksFor(known.size);
    if (left < 0) return undefined;
    for (const node of nodes.among(known)) {
      if (found.has(node) && found.get(node) !== name) twice.add(node);
      found.set(node, name);
    }
  }
  for (const node of twice) found.delete(node);
  return found;
}

/** When slurmctld was started, from the same text, s since 1970; undefined if it is missing. */
export function parseBootTime(text: string): number | undefined {
  const [, seconds] = /^BOOT_TIME\s*=\s*(\d{1,12})\s*$/m.exec(text) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}

/** The host of the primary controller if it is up, from `scontrol ping`; undefined if there is none. */
export function parsePrimary(text: string): string | undefined {
  return /(?:^|\n)Slurmctld\(primary\) at (\S+) is UP(?:\n|$)/.exec(text)?.[1];
}
