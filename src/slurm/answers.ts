// Reads what scontrol and squeue print: nodes, jobs, the configuration. Pure functions over foreign text, in which users and
// administrators have written as well: names of jobs, reasons, comments. None of it can make a row of its own, or change another's.

import { expand } from '../common/hostlists.js';
import { InputError } from '../common/text.js';
import type { Job, SlurmNode } from './statefile.js';

export type { SlurmNode } from './statefile.js';

/** With what is not left for those who show nodes. */
export interface ListedNode extends SlurmNode {
  /** When its slurmd began, as it said when it registered: seconds since 1970. */
  readonly slurmd_start_s?: number | undefined;
}

/** What a row has from a text that somebody wrote; more is cut. */
const TEXT_MOST = 256;

function cut(text: string): string {
  return text.length <= TEXT_MOST ? text : `${text.slice(0, TEXT_MOST - 1)}…`;
}

/** How a row begins: with a name as slurm.conf may have it. What begins so and has no number of CPUs is text of somebody's. */
const NODE_ROW = /^NodeName=([A-Za-z0-9][A-Za-z0-9._-]{0,62}) (?=.* CPUTot=\d)/;

/** What stands at the end of a row, and which an administrator writes. */
const FREE_TEXT = / (?:Reason|Comment|Extra)=/;

/** A reason, who gave it and when; behind that Slurm puts further lines of it, and what else it has to say. */
const REASON = /^ Reason=(.*?) \[([^\s@\]]+)@([^\s\]]+)\](?: {8}(.*?))?(?= Comment=| Extra=|$)/;

function whole(head: string, key: string): number | undefined {
  const [, digits] = new RegExp(` ${key}=(\\d{1,15})(?= |$)`).exec(head) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** How many GPUs a list of generic resources has: `gpu:2`, `gpu:a100:4(S:0-1),gpu:t4:1`. */
export function gpusIn(list: string | undefined): number {
  let sum = 0;
  for (const [, count] of (list ?? '').matchAll(/(?:^|,)gpu:(?:[^:,()]+:)?(\d{1,6})(?=$|[,(])/g)) sum += Number(count);
  return sum;
}

/** A row up to where an administrator's words begin. */
function headOf(row: string): string {
  const end = row.search(FREE_TEXT);
  return end < 0 ? row : row.slice(0, end);
}

function nodeOf(name: string, row: string): SlurmNode {
  const head = headOf(row);
  const end = head.length < row.length ? head.length : -1;
  const states = [...head.matchAll(/ State=(\S+)/g)].map(([, state]) => state as string);
  const [, host] = / NodeHostName=(\S+)/.exec(head) ?? [];
  const [, gres] = / Gres=(\S+)/.exec(head) ?? [];
  const [, gresUsed] = / GresUsed=(\S+)/.exec(head) ?? [];
  const [, reason, by, at, more] = (end < 0 ? undefined : REASON.exec(row.slice(end))) ?? [];
  const [gpus, gpusUsed] = [gpusIn(gres), gpusIn(gresUsed)];
  return {
    name,
    host: host === undefined || host === name ? undefined : host,
    // Two of them can only be forged: an operating system that calls itself so.
    state: states.length === 1 ? (states[0] as string).slice(0, 120) : '?',
    cpus: whole(head, 'CPUTot') ?? 0,
    cpus_used: whole(head, 'CPUAlloc') || undefined,
    memory_mib: whole(head, 'RealMemory') || undefined,
    memory_used_mib: whole(head, 'AllocMem') || undefined,
    gpus: gpus || undefined,
    gpus_used: gpusUsed || undefined,
    reason:
      reason === undefined
        ? undefined
        : cut(more === undefined ? reason : `${reason} ${more.replaceAll(' '.repeat(8), ' ')}`),
    reason_by: by === undefined ? undefined : cut(by),
    reason_s: at !== undefined && /^\d{1,12}$/.test(at) ? Number(at) : undefined,
  };
}

/**
 * The nodes of `scontrol -a -d -o show node`, in its order. Comments and reasons may have lines of their own, and lines that look
 * like a node's: a node that is told of twice is in no state that anything can be concluded from.
 */
export function parseNodes(text: string): SlurmNode[] {
  return rowsOf(text, nodeOf);
}

/** The same with the starts of slurmd. */
export function parseListedNodes(text: string): ListedNode[] {
  return rowsOf(text, (name, row) => ({ ...nodeOf(name, row), slurmd_start_s: whole(headOf(row), 'SlurmdStartTime') }));
}

function rowsOf<T extends SlurmNode>(text: string, read: (name: string, row: string) => T): T[] {
  const nodes = new Map<string, T>();
  for (const row of text.split('\n')) {
    const [, name] = NODE_ROW.exec(row) ?? [];
    if (name === undefined) continue;
    const twice = nodes.get(name);
    nodes.set(name, twice === undefined ? read(name, row) : { ...twice, state: '?' });
  }
  return [...nodes.values()];
}

/** What squeue is asked of each job: behind the nonce, with the one text that users write last. */
export function jobFormat(nonce: string): string {
  return `${nonce}|%A|%i|%T|%u|%P|%C|%S|%N|%j`;
}

/** Jobs that may hold nodes. */
export const JOB_STATES = 'RUNNING,COMPLETING,SUSPENDED,CONFIGURING,SIGNALING,STAGE_OUT,STOPPED,RESIZING';

/** The nodes of a host list of Slurm's; undefined where it is none. */
function nodesOf(list: string): string[] | undefined {
  try {
    return list === '' ? [] : expand(list, undefined, 'any');
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/**
 * The jobs of squeue with `jobFormat`. Only what follows the nonce begins a row, and nobody who names a job knows it: whatever a
 * name holds, it ends at the next one.
 */
export function parseJobs(text: string, nonce: string): Job[] {
  if (nonce.length < 16) throw new Error('a nonce that can be guessed');
  const jobs: Job[] = [];
  for (const row of `\n${text.replace(/\n$/, '')}`.split(`\n${nonce}|`).slice(1)) {
    const [number = '', id = '', state = '', user = '', partition = '', cpus = '', start = '', list = '', ...name] =
      row.split('|');
    const nodes = nodesOf(list);
    if (!/^\d{1,12}$/.test(number) || nodes === undefined || nodes.length === 0) continue;
    jobs.push({
      id: /^[\d_+[\]%,-]{1,64}$/.test(id) ? id : number,
      state: cut(state),
      user: cut(user),
      partition: cut(partition),
      cpus: /^\d{1,9}$/.test(cpus) ? Number(cpus) : 0,
      start_s: /^\d{1,12}$/.test(start) ? Number(start) : undefined,
      nodes: list,
      name: cut(name.join('|')),
    });
  }
  return jobs;
}

/** What of `scontrol show config` concerns us. */
export interface SlurmConfig {
  readonly cluster: string;
  readonly version: string;
  /** `none`, or what Slurm hides from who does not administer it: `jobs,users`. */
  readonly private_data: string;
}

export function parseConfig(text: string): SlurmConfig {
  const of = (key: string) => cut(new RegExp(`^${key}\\s*=\\s*(.*?)\\s*$`, 'm').exec(text)?.[1] ?? '');
  return { cluster: of('ClusterName'), version: of('SLURM_VERSION'), private_data: of('PrivateData') || 'unknown' };
}

/** ReturnToService of the same text: 0, 1 or 2; undefined where it is not said. */
export function parseReturnToService(text: string): number | undefined {
  const [, digit] = /^ReturnToService\s*=\s*([012])\s*$/m.exec(text) ?? [];
  return digit === undefined ? undefined : Number(digit);
}

/** The host of the controller that is called primary and is up, of `scontrol ping`; undefined where there is none. */
export function parsePrimary(text: string): string | undefined {
  return /^Slurmctld\(primary\) at (\S+) is UP$/m.exec(text)?.[1];
}
