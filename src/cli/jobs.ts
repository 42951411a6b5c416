// Jobs beside the nodes that they run on: how these are, what of the given CPUs and GPUs is busy, which node is the worst. Reads the board
// and what the reader of Slurm has left, once; never asks Slurm, and counts as a job's own only what no other job has a part in.

import { formatDuration } from '../common/durations.js';
import { compareNames, expand, fold } from '../common/hostlists.js';
import { defineVerb, parseVerb } from '../common/options.js';
import { json, print } from '../common/output.js';
import { oneLine } from '../common/text.js';
import { VERBS } from '../common/verbs.js';
import { readingOf, type Value } from '../readings/readings.js';
import { AILMENTS } from '../shm/ailments.js';
import { STATES, type State } from '../shm/liveness.js';
import { BoardReader, NO_BOARD, type Node, type Snapshot, unknownText } from '../shm/reader.js';
import type { Job } from '../slurm/statefile.js';
import { cut, NOTHING } from './columns.js';
import { Beside } from './slurmbeside.js';
import { painter } from './style.js';
import { namesOf, type Survey, survey } from './survey.js';

export const verb = defineVerb({
  name: 'jobs',
  summary: VERBS.jobs,
  options: ['nodes', 'long', 'json', 'slurm-dir', 'color', 'board', 'owner', 'config'],
  letters: { w: 'nodes', l: 'long' },
  arguments: ['[lists...]'],
  examples: [
    'beoboard jobs',
    'beoboard jobs rack17n[01-48]',
    "beoboard jobs --json | jq '.jobs[] | select(.efficiency < 0.5) | .id'",
  ],
  notes: `Of each job that holds nodes: how these are, worst first; the CPUs that it was given, how many of them are busy, and which share that is (EFF); memory in use;
GPUs busy of those given. BUSY, EFF, MEM and GPUS are told where the job is alone on its nodes, and all of these are live: else nobody knows whose they are. WORST is the
node that is in the worst state, or ill, or else the least busy one. Host lists choose jobs by their nodes, as the board or as Slurm calls them.
What Slurm says is read from what beoboard slurm left. Exit codes: 0 done, 1 nothing is known of Slurm, 2 usage, 4 no board, or stalled.`,
});

const ROWS = 40;
/** What people call their jobs may not push everything else away. */
const NAME_MOST = 24;

/** What of a job's nodes is told. */
interface Told {
  readonly job: Job;
  /** Names on the board, else NodeNames. */
  readonly names: readonly string[];
  /** How many nodes are in each state; `absent` from the board. */
  readonly states: ReadonlyMap<State | 'absent', number>;
  /** No other job is on any of its nodes. */
  readonly alone: boolean;
  readonly busy?: number | undefined;
  readonly efficiency?: number | undefined;
  readonly memUsedMib?: number | undefined;
  readonly memTotalMib?: number | undefined;
  readonly gpus: number;
  readonly gpusBusy?: number | undefined;
  readonly worst: { readonly name: string; readonly why: string; readonly rank: number };
}

const READINGS = {
  cpus: readingOf('cpus'),
  cpu: readingOf('cpu'),
  gpus: readingOf('gpu_busy'),
  total: readingOf('mem_total_mib'),
  left: readingOf('mem_avail_mib'),
};

function numberOf(node: Node, name: keyof typeof READINGS): number | undefined {
  const value: Value = READINGS[name]?.value(node);
  return typeof value === 'number' ? value : undefined;
}

/** The sum, where all are known and there are any. */
function sum(values: readonly (number | undefined)[]): number | undefined {
  let all = 0;
  for (const value of values) {
    if (value === undefined) return undefined;
    all += value;
  }
  return values.length === 0 ? undefined : all;
}

const product = (a: number | undefined, b: number | undefined) =>
  a === undefined || b === undefined ? undefined : a * b;

/** Ranks of what may be the worst: states but the best come first, then who is ill, then who is absent, then who is idle. */
const [ILL, ABSENT, WELL] = [STATES.length, STATES.length + AILMENTS.length, STATES.length + AILMENTS.length + 1];

/** What is told of one job. */
function tellJob(job: Job, beside: Beside, nodeOf: (name: string) => Node | undefined): Told {
  const nodeNames = expand(job.nodes, undefined, 'any');
  const names = nodeNames.map(name => beside.matched.boardName.get(name) ?? name);
  const nodes = nodeNames.map(name => nodeOf(beside.matched.boardName.get(name) ?? ''));
  const states = new Map<State | 'absent', number>();
  let worst: Told['worst'] = { name: names[0] ?? '', why: '', rank: Number.POSITIVE_INFINITY };
  for (const [i, node] of nodes.entries()) {
    const state = node?.state ?? 'absent';
    states.set(state, (states.get(state) ?? 0) + 1);
    const [ailment] = node?.ailments ?? [];
    const cpu = node && numberOf(node, 'cpu');
    const how: [rank: number, why: string] =
      state === 'absent'
        ? [ABSENT, 'is not on the board']
        : state !== 'live'
          ? [STATES.indexOf(state), state]
          : ailment !== undefined
            ? [ILL + AILMENTS.indexOf(ailment), ailment]
            : [WELL + (cpu ?? 0), cpu === undefined ? '' : `${Math.round(cpu)}%`];
    if (how[0] < worst.rank) worst = { name: names[i] as string, why: how[1], rank: how[0] };
  }
  const alone = nodeNames.every(name => beside.jobsOn(name).length === 1);
  const live = nodes.flatMap(node => (node?.state === 'live' ? [node] : []));
  const ours = alone && live.length === nodes.length ? live : [];
  const busy = sum(ours.map(node => product(numberOf(node, 'cpus'), numberOf(node, 'cpu')))); // CPUs times per cent
  const total = sum(ours.map(node => numberOf(node, 'total')));
  const left = sum(ours.map(node => numberOf(node, 'left')));
  const gpus = alone ? nodeNames.reduce((all, name) => all + (beside.slurmNode(name)?.gpus_used ?? 0), 0) : 0;
  return {
    job,
    names,
    states,
    alone,
    busy: busy === undefined ? undefined : busy / 100,
    efficiency: busy === undefined || job.cpus === 0 ? undefined : busy / 100 / job.cpus,
    memUsedMib: total === undefined || left === undefined ? undefined : total - left,
    memTotalMib: total,
    gpus,
    gpusBusy: gpus === 0 ? undefined : sum(ours.map(node => numberOf(node, 'gpus'))),
    worst,
  };
}

/** Jobs in the order of their worst nodes: those that are well by their numbers. */
function inOrder(told: readonly Told[]): Told[] {
  const rank = ({ worst }: Told) => Math.min(worst.rank, WELL);
  return [...told].sort((a, b) => rank(a) - rank(b) || compareNames(a.job.id, b.job.id));
}

/** `3 live, 1 silent`; `4` where all are live. */
function nodesText({ states }: Told): string {
  const counts = [...states];
  if (counts.length === 1 && counts[0]?.[0] === 'live') return String(counts[0][1]);
  const rank = (state: State | 'absent') => (state === 'absent' ? -1 : STATES.indexOf(state));
  return counts
    .sort(([a], [b]) => rank(a) - rank(b))
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');
}

const percent = (share: number | undefined) => (share === undefined ? NOTHING : `${Math.round(100 * share)}%`);

function elapsed({ start_s }: Job): number | undefined {
  return start_s === undefined ? undefined : Math.max(0, Date.now() - start_s * 1000);
}

const COLUMNS: readonly [title: string, isLeft: boolean, text: (told: Told) => string][] = [
  ['JOB', false, ({ job }) => oneLine(job.id)],
  ['USER', true, ({ job }) => oneLine(job.user)],
  ['STATE', true, ({ job }) => oneLine(job.state)],
  [
    'TIME',
    false,
    ({ job }) => {
      const ms = elapsed(job);
      return ms === undefined ? NOTHING : formatDuration(ms);
    },
  ],
  ['NODES', false, nodesText],
  ['CPUS', false, ({ job }) => String(job.cpus)],
  ['BUSY', false, ({ busy }) => busy?.toFixed(1) ?? NOTHING],
  ['EFF', false, ({ efficiency }) => percent(efficiency)],
  [
    'MEM',
    false,
    ({ memUsedMib, memTotalMib }) =>
      percent(memUsedMib === undefined || !memTotalMib ? undefined : memUsedMib / memTotalMib),
  ],
  ['GPUS', false, ({ gpus, gpusBusy }) => (gpus === 0 ? NOTHING : `${gpusBusy ?? NOTHING}/${gpus}`)],
  ['WORST', true, ({ worst }) => `${oneLine(worst.name)} ${worst.why}`.trim()],
  ['NAME', true, ({ job }) => cut(oneLine(job.name), NAME_MOST)],
];

/** A line of titles, and one for each job. */
function* tableLines(told: readonly Told[]): Generator<string> {
  const cells = told.map(row => COLUMNS.map(([, , text]) => text(row)));
  const widths = COLUMNS.map(([title], i) => Math.max(title.length, ...cells.map(row => row[i]?.length ?? 0)));
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => (COLUMNS[i]?.[1] ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  yield line(COLUMNS.map(([title]) => title));
  for (const row of cells) yield line(row);
}

function jobJson({
  job,
  names,
  states,
  alone,
  busy,
  efficiency,
  memUsedMib,
  memTotalMib,
  gpus,
  gpusBusy,
  worst,
}: Told) {
  const { id, state, user, partition, name, start_s, cpus } = job;
  return {
    id,
    state,
    user,
    partition,
    name,
    start_s,
    nodes: fold(names),
    node_count: names.length,
    states: Object.fromEntries(states),
    alone,
    cpus,
    cpus_busy: busy,
    efficiency,
    mem_used_mib: memUsedMib,
    mem_total_mib: memTotalMib,
    gpus: alone ? gpus : undefined,
    gpus_busy: gpusBusy,
    worst: { node: worst.name, why: worst.why === '' ? undefined : worst.why },
  };
}

/** The jobs that are asked for, told of. */
function tell(snapshot: Snapshot, beside: Beside, found: Survey, among: ReadonlySet<string> | undefined): Told[] {
  const byName = new Map(found.all.map(({ name, index }) => [name, index]));
  const nodeOf = (name: string) => {
    const index = byName.get(name);
    return index === undefined ? undefined : snapshot.node(index);
  };
  const told = beside.jobs.map(job => tellJob(job, beside, nodeOf));
  if (among === undefined) return inOrder(told);
  return inOrder(
    told.filter(({ job, names }) => [...names, ...expand(job.nodes, undefined, 'any')].some(name => among.has(name))),
  );
}

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  const asked = namesOf(verb.name, values.nodes, args);
  const among = asked && new Set(asked);
  const reader = new BoardReader(values.board, values.owner);
  try {
    const snapshot = reader.snapshot();
    const beside = new Beside(values.slurmDir, snapshot.names());
    const found = survey(snapshot);
    const told = tell(snapshot, beside, found, among);
    const odd = beside.oddities(among === undefined ? found : survey(snapshot, { among: asked }));
    if (values.json) {
      const head = `{"schema":1,"slurm":${json(beside.head)},"oddities":${json(odd.map(({ text }) => text))},"jobs":[`;
      await print([head, told.map(row => `\n${json(jobJson(row))}`).join(','), '\n]}\n']);
    } else if (beside.isKnown) {
      const paint = painter(values.color);
      const shown = values.long ? told : told.slice(0, ROWS);
      const [titles = '', ...rows] = tableLines(shown);
      const lines =
        told.length === 0
          ? ['no jobs']
          : [paint.title(titles), ...rows.map(row => (beside.trouble === undefined ? row : paint.state('left', row)))];
      const more = told.length - shown.length;
      if (more > 0) lines.push(`… ${more} more; all: beoboard jobs --long`);
      if (odd.length > 0) lines.push('', ...odd.map(({ text }) => paint.odd(text)));
      await print(lines.map(line => `${line}\n`));
    }
    if (!beside.isKnown) process.stderr.write(`beoboard jobs: ${beside.trouble}\n`);
    if (snapshot.stalled || snapshot.retired) {
      process.stderr.write(`beoboard jobs: ${unknownText(snapshot.closed, snapshot.heartbeatAgeMs)}\n`);
      return NO_BOARD;
    }
    return beside.isKnown ? 0 : 1;
  } finally {
    reader.close();
  }
}
