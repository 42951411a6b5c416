// What verbs do alike that show jobs beside the board: one look at the board and at the file of the scheduler's reader,
// sentences where the two disagree, what is wrong with either, and the exit code.

import { checkLists, type JobNode, type Meaning, meaningOf, nodesOf, nodesOfJobs } from '../jobs/joblist.js';
import { UsageError } from '../options/options.js';
import { type Survey, survey } from '../query/survey.js';
import { type SchedulerView, schedulerViewOf } from '../schedulerfile/schedulerview.js';
import { NO_BOARD, unknownText } from '../shm/noboard.js';
import { withReader } from '../shm/reader.js';
import { type Painter, painter } from '../terminal/style.js';
import { usable } from '../text/failure.js';
import { shownNames } from '../text/hostlists.js';
import { isJobId } from '../text/jobnames.js';
import { type TableColumn, tableLines, wrapped } from '../text/layout.js';
import { json, print, terminalWidth } from '../text/output.js';
import { oneLine } from '../text/text.js';
import { disagreements } from '../trouble/disagreements.js';

interface SchedulerOptions {
  readonly board: string;
  readonly owner: string | number | undefined;
  readonly slurmDir: string;
  readonly nodes: string[] | undefined;
  readonly json: boolean | undefined;
  readonly color: Parameters<typeof painter>[0];
}

export interface SchedulerLook {
  readonly found: Survey;
  readonly slurm: SchedulerView;
  readonly nodeOf: (name: string) => JobNode | undefined;
  /** The nodes and the users that are asked for; undefined: all. */
  readonly among: ReadonlySet<string> | undefined;
  readonly users?: ReadonlySet<string>;
}

export interface LookResult {
  readonly key: string;
  readonly json: () => readonly object[];
  readonly lines: (paint: Painter) => string[];
  /** The nodes about which sentences are told; undefined: about those that were asked for. */
  readonly about?: readonly string[] | undefined;
  /** What is wrong with the question, in a sentence: the exit code is 1. */
  readonly wrong?: string | undefined;
}

/** So many rows are shown without --long. */
export const ROWS = 40;

/** A table of the first rows, or with `--long` of all. */
export function rowsText<Row>(
  verb: string,
  columns: readonly TableColumn<Row>[],
  all: readonly Row[],
  { slurm, long, paint }: { slurm: SchedulerView; long: boolean | undefined; paint: Painter },
): string[] {
  // An old answer without jobs does not prove that there are none now.
  if (all.length === 0) return slurm.trouble === undefined ? ['no jobs'] : [];
  const rows = long ? all : all.slice(0, ROWS);
  const [titles = '', ...lines] = tableLines(columns, rows, terminalWidth(Number.POSITIVE_INFINITY));
  const more = all.length - rows.length;
  return [
    paint.title(titles),
    ...(slurm.trouble === undefined ? lines : lines.map(line => paint.state('left', line))),
    ...(more > 0 ? [`… ${more} more; all: beoboard ${verb} --long`] : []),
  ];
}

/** Whether the board or the scheduler has a node of that name. */
const isNode = ({ slurm, nodeOf }: Pick<SchedulerLook, 'slurm' | 'nodeOf'>, name: string) =>
  nodeOf(name) !== undefined || slurm.nodeNamed(name) !== undefined || slurm.jobsOn(name).length > 0;

/** Says which of these names neither the board nor the scheduler knows: "no jobs" is no answer. */
function unknownNames(look: SchedulerLook, names: Iterable<string>): string | undefined {
  const { slurm } = look;
  if (!slurm.hasAnswered('nodes')) return undefined;
  const unknown = [...names].filter(name => !isNode(look, name));
  return unknown.length === 0 ? undefined : `not on the board, and not known to ${slurm.name}: ${shownNames(unknown)}`;
}

/** Throws a UsageError if there is a job, and something beside it. */
function checkAlone(job: string | undefined, words: readonly string[], nodes: unknown): void {
  if (job !== undefined && (words.length > 1 || nodes !== undefined))
    throw new UsageError(`job ${oneLine(job)} is shown alone; leave out what stands beside it`);
}

/** The nodes, users and the job that these words mean. Throws a UsageError. */
function lookFor(
  words: readonly string[],
  nodes: readonly string[] | undefined,
  look: SchedulerLook,
): SchedulerLook & Pick<Meaning, 'both'> & { job?: string | undefined } {
  const asked = usable(() => meaningOf(words, look.slurm, name => isNode(look, name)));
  const [job] = asked.jobs;
  checkAlone(job, words, nodes);
  const isAll = words.length === 0 && nodes === undefined;
  const among = isAll ? undefined : new Set([...(nodes ?? []), ...asked.nodes]);
  return { ...look, among, users: new Set(asked.users), both: asked.both, job };
}

/** Looks once, prints what `show` finds about the job, nodes and users that the words mean, and returns the exit code. */
export async function lookBesideScheduler(
  verb: string,
  options: SchedulerOptions,
  words: readonly string[],
  show: (look: SchedulerLook, job: string | undefined) => LookResult,
): Promise<number> {
  usable(() => checkLists(words));
  checkAlone(
    words.find(word => isJobId(word) && !/[a-z]/i.test(word)),
    words,
    options.nodes,
  );
  return await withReader(options.board, options.owner, async reader => {
    const snapshot = reader.snapshot();
    const slurm = schedulerViewOf(options.slurmDir, snapshot);
    const found = survey(snapshot);
    const look = lookFor(words, options.nodes, { found, slurm, nodeOf: nodesOf(found), among: undefined });
    const { among, users = new Set(), both } = look;
    const shown = show(look, look.job);
    // Who has the name of a node is told apart from it.
    const others = both.map(user => ({
      user,
      ...show({ ...look, among: new Set(), users: new Set([user]) }, undefined),
    }));
    const theirs = slurm.jobs.filter(({ user }) => users.has(user) || both.includes(user));
    const about = shown.about ?? (among && [...among, ...nodesOfJobs(slurm, theirs)]);
    const odd = disagreements(slurm, about === undefined ? found : survey(snapshot, { among: about }));
    const isKnown = slurm.hasAnswered('jobs');
    if (options.json) {
      const sentences = json(odd.map(({ text }) => text));
      const head = `{"schema":1,"slurm":${json(slurm.head)},"anomalies":${sentences},"${shown.key}":[`;
      const rows = ({ json: list }: LookResult) =>
        list()
          .map(row => `\n${json(row)}`)
          .join(',');
      const more = others.length === 0 ? '' : `,"of_user":[${others.map(rows).join(',')}\n]`;
      await print([head, rows(shown), `\n]${more}}\n`]);
    } else if (isKnown) {
      const paint = painter(options.color);
      const lines = shown.lines(paint);
      const sentence = (text: string) => wrapped(text, terminalWidth(Number.POSITIVE_INFINITY), '  ');
      for (const { user, lines: more } of others)
        lines.push('', ...sentence(`${oneLine(user)} is a user, too:`), ...more(paint));
      const sentences = odd.flatMap(({ text }) => sentence(text));
      if (odd.length > 0) lines.push(...(lines.length > 0 ? [''] : []), ...sentences.map(paint.odd));
      await print(lines.map(line => `${line}\n`));
    }
    const wrong = isKnown ? (shown.wrong ?? unknownNames(look, among ?? [])) : slurm.trouble;
    if (wrong !== undefined) process.stderr.write(`beoboard ${verb}: ${wrong}\n`);
    if (!snapshot.stalled && !snapshot.retired) return wrong === undefined ? 0 : 1;
    process.stderr.write(`beoboard ${verb}: ${unknownText(snapshot)}\n`);
    return NO_BOARD;
  });
}
