// Jobs and the nodes they run on: the states of the nodes, how busy the allocated CPUs and GPUs are, and the worst
// node. Only what no other job shares counts as a job's own.

import type { JobInfo } from '../presentation/shapes.js';
import type { Survey } from '../query/survey.js';
import type { Value } from '../readings/measures.js';
import { readingOf } from '../readings/readings.js';
import type { SchedulerJob } from '../schedulerfile/scheduler.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { STATES, type State } from '../shm/liveness.js';
import { PROBLEMS, type Problem } from '../shm/problems.js';
import type { Node } from '../shm/snapshot.js';
import { compareNames, expandNodeNames, fold } from '../text/hostlists.js';
import { isJobId, userFinder, withId } from '../text/jobnames.js';
import { getOrInsert } from '../text/maps.js';
import { readNodes } from '../text/nodefiles.js';

export interface ListedJob {
  readonly job: SchedulerJob;
  /** Names on the board; NodeNames where the board does not have the node. */
  readonly names: readonly string[];
  /** As programs get it. */
  readonly told: JobInfo;
  /** That of its worst node. */
  readonly rank: number;
}

const READINGS = {
  cpus: readingOf('cpus'),
  cpu: readingOf('cpu'),
  gpus: readingOf('gpu_busy'),
  gpuCount: readingOf('gpu_count'),
  gpu: readingOf('gpu'),
  total: readingOf('mem_total_mib'),
  left: readingOf('mem_avail_mib'),
};

const WHAT = Object.keys(READINGS) as (keyof typeof READINGS)[];

type JobNumbers = { readonly [N in keyof typeof READINGS]: number | undefined };

export interface JobNode extends JobNumbers {
  readonly state: State;
  readonly problems: readonly Problem[];
  readonly recently: readonly Problem[];
}

/** What is told of a node in jobs. */
export function jobNode(node: Node): JobNode {
  const number = (of: keyof typeof READINGS) => {
    const value: Value = READINGS[of]?.value(node);
    return typeof value === 'number' ? value : undefined;
  };
  const numbers = Object.fromEntries(WHAT.map(what => [what, number(what)])) as JobNumbers;
  return { state: node.state, problems: node.problems, recently: node.recently, ...numbers };
}

/** Looks up the node of a name, once; undefined: it is not on the board. */
export function nodesOf({ snapshot, all }: Survey): (name: string) => JobNode | undefined {
  const byName = new Map(all.map(({ name, index }) => [name, index]));
  const found = new Map<string, JobNode>();
  return name => {
    const index = byName.get(name);
    return index === undefined ? undefined : getOrInsert(found, name, () => jobNode(snapshot.node(index)));
  };
}

/** The sum, if all values are known and there is at least one. */
const sum = (values: readonly (number | undefined)[]) =>
  values.length === 0 || values.includes(undefined) ? undefined : (values as number[]).reduce((all, one) => all + one);

const product = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? undefined : a * b;

/** Ranks for the worst node: first states worse than live, then unhealthy, then absent, then idle. */
const [UNHEALTHY, ABSENT, WELL] = [STATES.length, STATES.length + PROBLEMS.length, STATES.length + PROBLEMS.length + 1];

function listJob(job: SchedulerJob, slurm: SchedulerView, nodeOf: (name: string) => JobNode | undefined): ListedJob {
  const nodeNames = expandNodeNames(job.nodes);
  const names = nodeNames.map(name => slurm.pairing.matched.boardName.get(name) ?? name);
  const nodes = nodeNames.map(name => nodeOf(slurm.pairing.matched.boardName.get(name) ?? ''));
  const states: Record<string, number> = {};
  let worst: JobInfo['worst'] = { node: names[0] ?? '' };
  let rank = Number.POSITIVE_INFINITY;
  let [unhealthy, recently] = [0, 0];
  for (const [i, node] of nodes.entries()) {
    const state = node?.state ?? 'absent';
    states[state] = (states[state] ?? 0) + 1;
    const [problem] = node?.problems ?? [];
    if (problem !== undefined) unhealthy++;
    else if (node?.recently.length) recently++;
    const cpu = node?.cpu;
    const [place, why]: [rank: number, why: string | undefined] =
      state === 'absent'
        ? [
            ABSENT,
            slurm.nodeNamed(nodeNames[i] as string) ? 'is not on the board' : `is not among ${slurm.name}'s nodes`,
          ]
        : state !== 'live'
          ? [STATES.indexOf(state), state]
          : problem !== undefined
            ? [UNHEALTHY + PROBLEMS.indexOf(problem), problem]
            : [WELL + (cpu ?? 0), cpu === undefined ? undefined : `${Math.round(cpu)}%`];
    if (place < rank) [rank, worst] = [place, { node: names[i] as string, why }];
  }
  // As far as is shown; whether anything is hidden is a sentence of its own.
  const alone = nodeNames.every(name => slurm.isAlone(name) !== false);
  const live = nodes.flatMap(node => (node?.state === 'live' ? [node] : []));
  const ours = alone && live.length === nodes.length ? live : [];
  const busy = sum(ours.map(node => product(node.cpus, node.cpu))); // CPUs times per cent.
  const total = sum(ours.map(node => node.total));
  const left = sum(ours.map(node => node.left));
  const gpus = alone ? nodeNames.reduce((all, name) => all + (slurm.nodeNamed(name)?.gpus_used ?? 0), 0) : 0;
  const { id, raw_id, state, user, partition, name, start_s, end_s, cpus } = job;
  const told: JobInfo = {
    ...{ id, raw_id, state, user, partition, name, start_s, end_s },
    // Only programs get it, and to fold the names of thousands of jobs takes long.
    get nodes() {
      return fold(names);
    },
    node_count: names.length,
    states,
    unhealthy,
    recently,
    alone,
    cpus,
    cpus_busy: busy === undefined ? undefined : busy / 100,
    efficiency: busy === undefined || cpus === 0 ? undefined : busy / 100 / cpus,
    mem_used_mib: total === undefined || left === undefined ? undefined : total - left,
    mem_total_mib: total,
    gpus: alone ? gpus : undefined,
    gpus_busy: gpus === 0 ? undefined : sum(ours.map(node => node.gpus)),
    worst,
  };
  return { job, names, told, rank };
}

/** Jobs in the order of their worst nodes; healthy jobs by their numbers. */
function inOrder(jobs: readonly ListedJob[]): ListedJob[] {
  const rankOf = ({ rank }: ListedJob) => Math.min(rank, WELL);
  return [...jobs].sort((a, b) => rankOf(a) - rankOf(b) || compareNames(a.job.id, b.job.id));
}

/** The names on the board of the nodes of these jobs; NodeNames where the board does not have a node. */
export function nodesOfJobs({ pairing }: SchedulerView, jobs: readonly SchedulerJob[]): Set<string> {
  const { boardName } = pairing.matched;
  return new Set(jobs.flatMap(({ nodes }) => expandNodeNames(nodes).map(name => boardName.get(name) ?? name)));
}

/** The jobs that an id means, as `withId` says. */
export function jobsNamed(
  id: string,
  slurm: SchedulerView,
  nodeOf: (name: string) => JobNode | undefined,
): ListedJob[] {
  return inOrder(withId(slurm.jobs, id).map(job => listJob(job, slurm, nodeOf)));
}

/** The jobs on these nodes and of these users, or all jobs, ready to be shown, step by step. `nodeOf`: as for `nodesOf`. */
export function* listJobs(
  slurm: SchedulerView,
  nodeOf: (name: string) => JobNode | undefined,
  among?: ReadonlySet<string>,
  users?: ReadonlySet<string>,
): Generator<undefined, ListedJob[]> {
  const jobs: ListedJob[] = [];
  for (const job of slurm.jobs) {
    jobs.push(listJob(job, slurm, nodeOf));
    yield;
  }
  if (among === undefined) return inOrder(jobs);
  const isAmong = ({ job, names }: ListedJob) =>
    users?.has(job.user) || [...names, ...expandNodeNames(job.nodes)].some(name => among.has(name));
  return inOrder(jobs.filter(isAmong));
}

/** What the words behind a verb mean. */
export interface Meaning {
  /** Ids of jobs, also of such as are not there. */
  readonly jobs: readonly string[];
  /** Names of nodes, and words that are nothing that is known. */
  readonly nodes: readonly string[];
  readonly users: readonly string[];
  /** Users who have the name of a node that is asked for. */
  readonly both: readonly string[];
}

/** Refuses what can only be a host list and is invalid. Throws its error. */
export function checkLists(words: readonly string[]): void {
  for (const word of words) if (/^@|[[\]]/.test(word) && !isJobId(word)) readNodes(word);
}

/** A job, if there is one with that id; of other words and host lists: nodes, then users. Throws the error of a list. */
export function meaningOf(words: readonly string[], slurm: SchedulerView, isNode: (name: string) => boolean): Meaning {
  const found = { jobs: [] as string[], nodes: [] as string[], users: [] as string[], both: [] as string[] };
  const usersNamed = userFinder(slurm.jobs);
  const isJob = (word: string) => withId(slurm.jobs, word).length > 0;
  for (const word of words) {
    const users = word.startsWith('@') ? [] : usersNamed(word);
    const isNumber = isJobId(word) && !/[a-z]/i.test(word);
    if (isJobId(word) && isJob(word)) found.jobs.push(word);
    else if (users.length > 0 && !isNode(word)) found.users.push(...users);
    else if (!isNode(word) && (isNumber || isJob(word))) found.jobs.push(word);
    else
      for (const name of readNodes(word)) {
        const named = usersNamed(name);
        if (isNode(name) || named.length === 0) found.nodes.push(name);
        found[isNode(name) ? 'both' : 'users'].push(...named);
      }
  }
  return { ...found, both: [...new Set(found.both)] };
}
