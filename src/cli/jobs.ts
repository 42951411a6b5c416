// Jobs and the nodes they run on: the states of the nodes, how busy the allocated CPUs and GPUs are, and the worst
// node. Reads the board and the files of the Slurm reader, once; never asks Slurm. Only what no other job shares counts
// as a job's own.

import { defineVerb, parseVerb } from '../options/options.js';
import { VERBS } from '../options/verbs.js';
import { painter } from '../presentation/style.js';
import { NOTHING } from '../query/columns.js';
import { namesOf, survey } from '../query/survey.js';
import { jobJson, type ListedJob, listJobs, nodesOf } from '../schedulers/joblist.js';
import type { Job } from '../schedulers/scheduler.js';
import { schedulerViewOf } from '../schedulers/schedulerview.js';
import { STATES, type State } from '../shm/liveness.js';
import { NO_BOARD, unknownText } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import { formatDuration } from '../text/durations.js';
import { json, print } from '../text/output.js';
import { cut, oneLine } from '../text/text.js';

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
  notes: `For each job with nodes: the states of its nodes, worst first; CPUs allocated, how many are busy, and their share (EFF); memory in use;
GPUs busy of those allocated. BUSY, EFF, MEM and GPUS are shown only if the job is alone on its nodes and all of these are live. WORST is
the node in the worst state, or the unhealthy one, or else the least busy one. Host lists select jobs by their nodes, by board or Slurm name.
Job data is what beoboard slurm last wrote. Exit codes: 0 done, 1 nothing is known from Slurm, 2 usage, 4 no board, or stalled.`,
});

const ROWS = 40;
/** A long job name must not push everything else off the screen. */
const NAME_MOST = 24;

/** `3 live, 1 silent`; `4` if all are live. */
function nodesText({ states }: ListedJob): string {
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

const COLUMNS: readonly [title: string, isLeft: boolean, text: (job: ListedJob) => string][] = [
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
  ['CPUS', false, ({ job }) => (job.cpus === 0 ? NOTHING : String(job.cpus))],
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
function* tableLines(jobs: readonly ListedJob[]): Generator<string> {
  const cells = jobs.map(row => COLUMNS.map(([, , text]) => text(row)));
  const widths = COLUMNS.map(([title], i) => Math.max(title.length, ...cells.map(row => row[i]?.length ?? 0)));
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => (COLUMNS[i]?.[1] ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  yield line(COLUMNS.map(([title]) => title));
  for (const row of cells) yield line(row);
}

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  const asked = namesOf(verb.name, values.nodes, args);
  const among = asked && new Set(asked);
  const reader = new BoardReader(values.board, values.owner);
  try {
    const snapshot = reader.snapshot();
    const slurm = schedulerViewOf(values.slurmDir, snapshot);
    const found = survey(snapshot);
    const jobs = listJobs(slurm, nodesOf(found), among);
    const odd = slurm.disagreements(among === undefined ? found : survey(snapshot, { among: asked }));
    if (values.json) {
      const head = `{"schema":1,"slurm":${json(slurm.head)},"anomalies":${json(odd.map(({ text }) => text))},"jobs":[`;
      await print([head, jobs.map(row => `\n${json(jobJson(row))}`).join(','), '\n]}\n']);
    } else if (slurm.isKnown) {
      const paint = painter(values.color);
      const shown = values.long ? jobs : jobs.slice(0, ROWS);
      const [titles = '', ...rows] = tableLines(shown);
      // Without an answer of now, nobody knows that there are none.
      const lines =
        jobs.length === 0
          ? slurm.trouble === undefined
            ? ['no jobs']
            : []
          : [paint.title(titles), ...rows.map(row => (slurm.trouble === undefined ? row : paint.state('left', row)))];
      const more = jobs.length - shown.length;
      if (more > 0) lines.push(`… ${more} more; all: beoboard jobs --long`);
      if (odd.length > 0) lines.push(...(lines.length > 0 ? [''] : []), ...odd.map(({ text }) => paint.odd(text)));
      await print(lines.map(line => `${line}\n`));
    }
    if (!slurm.isKnown) process.stderr.write(`beoboard jobs: ${slurm.trouble}\n`);
    if (snapshot.stalled || snapshot.retired) {
      process.stderr.write(`beoboard jobs: ${unknownText(snapshot.closed, snapshot.heartbeatAgeMs)}\n`);
      return NO_BOARD;
    }
    return slurm.isKnown ? 0 : 1;
  } finally {
    reader.close();
  }
}
