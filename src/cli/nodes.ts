// Names of nodes for scripts: the nodes in some states, as one host list. Reads only liveness, unless more is asked
// for.

import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { wantedNodes } from '../shm/answers.js';
import { NUMBERED } from '../shm/liveness.js';
import { NO_BOARD, stalledText } from '../shm/noboard.js';
import { type BoardReader, withReader } from '../shm/reader.js';
import { Failure, usable } from '../text/failure.js';
import { compareNames, fold } from '../text/hostlists.js';
import { print } from '../text/output.js';
import { words } from '../text/tables.js';
import { oneLine } from '../text/text.js';
import { fulfilling } from './selection.js';

export const verb = defineVerb({
  name: 'nodes',
  options: words(
    'state for-at-least healthy with-problem names nodes where job-id user fold expand count with-state for',
    'slurm-dir board owner config',
  ),
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
    'beoboard nodes --with-problem root_full,scratch_full --with-state',
    'beoboard nodes --with-state --names /etc/beoboard/slurm-names --nodes CN-7,Node008',
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

async function schedulerView(dir: string, reader: BoardReader) {
  const { schedulerViewOf } = await import('../schedulerfile/schedulerview.js');
  return schedulerViewOf(dir, reader.snapshot());
}

/** The names of --names. Throws a UsageError. */
async function boardNames(file: string) {
  const { readBoardNames } = await import('../schedulerfile/matching.js');
  return usable(() => readBoardNames(file), '--names: ');
}

/** What is missing in a scheduler's answers. */
function tellPartial(slurm: { readonly partial: readonly string[] } | undefined): void {
  for (const text of slurm?.partial ?? []) process.stderr.write(`beoboard nodes: ${text}\n`);
}

/** What refuses options that do not go together, or that lack another one. Throws a UsageError. */
function check({ forAtLeast, state, healthy, withProblem, names, ...values }: ValuesOf<typeof verb>): void {
  const refuse = (why: string) => new UsageError(why);
  const together = (one: string, other: string) => refuse(`--${one} and --${other} do not go together; leave one out`);
  const { expand, fold, count, withState } = values;
  const [first, second] = Object.entries({ expand, fold, count, 'with-state': withState }).filter(([, way]) => way);
  if (first !== undefined && second !== undefined) throw together(first[0], second[0]);
  if (healthy && withProblem !== undefined) throw together('healthy', 'with-problem');
  if (names !== undefined && values.for !== undefined) throw together('names', 'for');
  if (forAtLeast !== undefined && (state === undefined || state.includes('never') || state.includes('unknown')))
    throw refuse(
      '--for-at-least needs a state of which the begin is known; give --state silent, uncertain, left or live',
    );
  if (names === undefined && values.nodes?.wrong !== undefined) throw refuse(`--nodes: ${values.nodes.wrong}`);
}

/** The names on the board that are asked for; undefined: all. Throws a Failure if nothing is known of that job or user. */
async function namesAsked(
  { jobId: job, user, slurmDir }: ValuesOf<typeof verb>,
  nodes: readonly string[] | undefined,
  reader: BoardReader,
): Promise<readonly string[] | undefined> {
  if (job === undefined && user === undefined) return nodes;
  const slurm = await schedulerView(slurmDir, reader);
  // An old answer names nodes that the job may no longer have.
  if (slurm.trouble !== undefined) throw new Failure(slurm.trouble, 1);
  const { nodesOfJobs } = await import('../jobs/joblist.js');
  const { userFinder, withId } = await import('../text/jobnames.js');
  const users = user === undefined ? undefined : userFinder(slurm.jobs)(user);
  if ((users?.length ?? 0) > 1)
    throw new Failure(`several users have this name; name one of them: ${users?.map(oneLine).join(', ')}`, 1);
  const jobs = job === undefined ? slurm.jobs : withId(slurm.jobs, job);
  const members = nodesOfJobs(slurm, users === undefined ? jobs : jobs.filter(one => users.includes(one.user)));
  const whose = [...(job === undefined ? [] : [`job ${job}`]), ...(user === undefined ? [] : [`user ${user}`])];
  // The job that is asked for may be one that the scheduler's answers lack.
  tellPartial(slurm);
  if (members.size === 0) throw new Failure(`${slurm.name} tells no node of ${whose.join(' and ')}`, 1);
  return nodes === undefined ? [...members] : nodes.filter(name => members.has(name));
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  check(values);
  const { state, forAtLeast, names: file } = values;
  const called = file === undefined ? undefined : await boardNames(file);
  const toBoard = called?.toBoard ?? (name => name);
  // Each node under the first of the names by which it is asked for.
  const asked = values.nodes && new Map(values.nodes.names.toReversed().map(name => [toBoard(name), name]));
  return await withReader(values.board, values.owner, async reader => {
    const among = await namesAsked(values, asked && [...asked.keys()], reader);
    const fulfils = values.where === undefined ? undefined : await fulfilling(reader, values.where);
    const look = reader.nodeStates();
    const { closed, isMirror, stalled, retired } = look.board;
    const isUnknown = stalled || retired;
    const found = wantedNodes(look, {
      ...{ names: among, fulfils, states: state ?? NUMBERED, forMs: forAtLeast ?? 0 },
      ...{ problems: values.withProblem ?? [], healthy: values.healthy },
    });
    const missing = new Set(found.notOnBoard);
    const notOnBoard = values.nodes?.names.filter(name => missing.has(toBoard(name))) ?? found.notOnBoard;
    const slurm = values.for && (await schedulerView(values.slurmDir, reader));
    if (slurm && !slurm.hasAnswered('nodes')) {
      process.stderr.write(`beoboard nodes: ${slurm.trouble}\n`);
      return isUnknown ? NO_BOARD : 1;
    }
    const unknown = slurm ? found.names.filter(name => slurm.of(name) === undefined) : [];
    const shownAs = (name: string) =>
      slurm ? slurm.of(name)?.node.name : called === undefined ? name : (asked?.get(name) ?? called.toScheduler(name));
    const rows = found.names.flatMap((name, i) => {
      const shown = shownAs(name);
      return shown === undefined ? [] : [{ name: shown, state: NUMBERED[found.states[i]!] }];
    });
    // A stalled board has old reports: whether a condition holds now is unknown.
    if (isUnknown && values.where !== undefined) rows.length = 0;
    if (values.expand || values.withState) rows.sort((a, b) => compareNames(a.name, b.name));
    if (values.count) await print([`${rows.length}\n`]);
    else if (values.withState) await print(rows.map(({ name, state }) => `${name} ${state}\n`));
    else if (values.expand) await print(rows.map(({ name }) => `${name}\n`));
    else if (rows.length > 0) await print([`${fold(rows.map(({ name }) => name))}\n`]);
    if (isUnknown) {
      process.stderr.write(
        `beoboard nodes: ${stalledText({ closed, isMirror })}: nothing is known about nodes; see beoboard status\n`,
      );
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
  });
}
