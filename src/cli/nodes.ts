// Names of nodes for scripts: the nodes in some states, as one host list. Reads only liveness, unless more is asked
// for.

import { defineVerb, forms, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { VERBS } from '../options/verbs.js';
import { NO_BOARD, stalledText } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import { Failure } from '../text/failure.js';
import { compareNames, fold } from '../text/hostlists.js';
import { print } from '../text/output.js';
import { type Census, type NodeFilter, takeCensus } from './census.js';
import { select } from './selection.js';

export const verb = defineVerb({
  name: 'nodes',
  summary: VERBS.nodes,
  options: [
    'state',
    'for-at-least',
    'healthy',
    'nodes',
    'where',
    'job-id',
    'user',
    'fold',
    'expand',
    'count',
    'for',
    'slurm-dir',
    'board',
    'owner',
    'config',
  ],
  forms: forms.nodes,
  letters: { s: 'state', w: 'nodes', f: 'fold', e: 'expand', c: 'count' },
  examples: [
    'beoboard nodes --state live',
    'beoboard nodes --healthy',
    'x=$(beoboard nodes --state silent,uncertain) && sbatch --exclude="$x" job.sh',
    'x=$(beoboard nodes --state silent --for slurm) && sbatch --exclude="$x" job.sh',
    'beoboard nodes --state silent --expand',
    'beoboard nodes --state silent --for-at-least 5m',
    'beoboard nodes --state live --nodes rack17n[01-48] --count',
    "beoboard nodes --where 'state == live && load < 1'",
    'beoboard nodes --job-id 4711 --state silent',
  ],
  notes: `Prints one host list for Slurm and pdsh, or nothing if no node matches. --expand prints one name per line. Names given with --nodes that
are not on the board are reported on stderr. So are more likely causes than the nodes: an interface of this master that is down or
through which no node is heard, and why reports are rejected. sbatch rejects a list that contains a name unknown to Slurm: --for slurm
prints NodeNames of nodes that Slurm knows, and reports the others on stderr. --for-at-least counts from the last report of a node
that is silent or uncertain, from the goodbye of one that left, and for a live one from the first report after its last gap; how long a
node is never or unknown is not known, nor how long it has been healthy. Exit codes: 0 done, 1 a name is not on the board or
nothing is known about jobs, or it has no such job, 2 usage, 4 no board, or a stalled one: then all nodes are unknown and none is silent. Within --exclude=$(…)
the shell discards this exit code and excludes nobody: write it as in the example.`,
});

/** Only the nodes in these states: reads liveness. */
function counted(reader: BoardReader, question: NodeFilter) {
  const census = takeCensus(reader, question);
  return { ...census, names: census.kept.map(({ name }) => name) };
}

/** One line that says why nothing is known. */
function stalledLine({ closed }: Pick<Census, 'closed'>): string {
  return `${stalledText(closed)}: nothing is known about nodes; see beoboard status`;
}

async function schedulerView(dir: string, reader: BoardReader) {
  const { schedulerViewOf } = await import('../schedulerfile/schedulerview.js');
  return schedulerViewOf(dir, reader.snapshot());
}

/** What is missing in a scheduler's answers. */
function tellPartial(slurm: { readonly partial: readonly string[] } | undefined): void {
  for (const text of slurm?.partial ?? []) process.stderr.write(`beoboard nodes: ${text}\n`);
}

/** The names of nodes that are asked for; undefined: all. Throws a Failure if nothing is known of that job or user. */
async function namesAsked(
  { nodes, jobId: job, user, slurmDir }: ValuesOf<typeof verb>,
  reader: BoardReader,
): Promise<readonly string[] | undefined> {
  if (job === undefined && user === undefined) return nodes;
  const slurm = await schedulerView(slurmDir, reader);
  // An old answer names nodes that the job may no longer have.
  if (slurm.trouble !== undefined) throw new Failure(slurm.trouble, 1);
  const { nodesOfJobs } = await import('../jobs/joblist.js');
  const members = nodesOfJobs(slurm, { job, user });
  const whose = [...(job === undefined ? [] : [`job ${job}`]), ...(user === undefined ? [] : [`user ${user}`])];
  // The job that is asked for may be one that the scheduler's answers lack.
  tellPartial(slurm);
  if (members.size === 0) throw new Failure(`${slurm.name} tells no node of ${whose.join(' and ')}`, 1);
  return nodes === undefined ? [...members] : nodes.filter(name => members.has(name));
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  const ways = (['expand', 'fold', 'count'] as const).filter(way => values[way]);
  if (ways.length > 1)
    throw new UsageError(verb.name, `--${ways[0]} and --${ways[1]} do not go together; leave one out`);
  const states = values.state && new Set<string>(values.state);
  const { forAtLeast } = values;
  if (forAtLeast !== undefined && (states === undefined || states.has('never') || states.has('unknown')))
    throw new UsageError(
      verb.name,
      '--for-at-least needs a state of which the begin is known; give --state silent, uncertain, left or live',
    );
  const reader = new BoardReader(values.board, values.owner);
  try {
    const among = await namesAsked(values, reader);
    const question = { keep: (state: string) => states === undefined || states.has(state), among };
    const { where: condition, healthy } = values;
    const found = await (condition === undefined && !healthy && forAtLeast === undefined
      ? counted(reader, question)
      : select(verb.name, reader, { condition, healthy, forAtLeast }, question));
    const { notOnBoard } = found;
    const slurm = values.for && (await schedulerView(values.slurmDir, reader));
    if (slurm && !slurm.hasAnswered('nodes')) {
      process.stderr.write(`beoboard nodes: ${slurm.trouble}\n`);
      return found.stalled ? NO_BOARD : 1;
    }
    const unknown = slurm ? found.names.filter(name => slurm.of(name) === undefined) : [];
    const names = slurm ? found.names.flatMap(name => slurm.of(name)?.node.name ?? []) : found.names;
    // A stalled board has old reports: whether a condition holds now is unknown.
    if (found.stalled && values.where !== undefined) names.length = 0;
    if (values.count) await print([`${names.length}\n`]);
    else if (values.expand) await print(names.sort(compareNames).map(name => `${name}\n`));
    else if (names.length > 0) await print([`${fold(names)}\n`]);
    if (found.stalled) {
      process.stderr.write(`beoboard nodes: ${stalledLine(found)}\n`);
      return NO_BOARD;
    }
    if (unknown.length > 0) {
      process.stderr.write(`beoboard nodes: not known to ${slurm?.name}: ${fold(unknown)}\n`);
      // If the question names a job or a user, this was printed when their nodes were looked up.
      if (values.jobId === undefined && values.user === undefined) tellPartial(slurm);
    }
    for (const remark of found.remarks) process.stderr.write(`beoboard nodes: ${remark}\n`);
    if (notOnBoard.length === 0) return 0;
    process.stderr.write(`beoboard nodes: not on the board: ${fold(notOnBoard)}\n`);
    return 1;
  } finally {
    reader.close();
  }
}
