// What verbs do alike that show jobs beside the board: one look at the board and at the file of the scheduler's reader,
// sentences where the two disagree, what is wrong with either, and the exit code.

import { type JobNode, nodesOf } from '../jobs/joblist.js';
import { type Survey, survey } from '../query/survey.js';
import { type SchedulerView, schedulerViewOf } from '../schedulerfile/schedulerview.js';
import { NO_BOARD, unknownText } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import { type Painter, painter } from '../terminal/style.js';
import { shownNames } from '../text/hostlists.js';
import { type TableColumn, tableLines } from '../text/layout.js';
import { json, print, terminalWidth } from '../text/output.js';
import { disagreements } from '../trouble/disagreements.js';

interface SchedulerOptions {
  readonly board: string;
  readonly owner: string | number | undefined;
  readonly slurmDir: string;
  readonly json: boolean | undefined;
  readonly color: Parameters<typeof painter>[0];
}

export interface SchedulerLook {
  readonly found: Survey;
  readonly slurm: SchedulerView;
  readonly nodeOf: (name: string) => JobNode | undefined;
  readonly among: ReadonlySet<string> | undefined;
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

/** Says which of these names neither the board nor the scheduler knows: "no jobs" is no answer. */
function unknownNames({ slurm, nodeOf }: SchedulerLook, names: readonly string[]): string | undefined {
  if (!slurm.hasAnswered('nodes')) return undefined;
  const isKnown = (name: string) =>
    nodeOf(name) !== undefined || slurm.nodeNamed(name) !== undefined || slurm.jobsOn(name).length > 0;
  const unknown = names.filter(name => !isKnown(name));
  return unknown.length === 0 ? undefined : `not on the board, and not known to ${slurm.name}: ${shownNames(unknown)}`;
}

/** Looks once, prints what `show` finds, and returns the exit code. `asked`: names of nodes; undefined: all. */
export async function lookBesideScheduler(
  verb: string,
  options: SchedulerOptions,
  asked: readonly string[] | undefined,
  show: (look: SchedulerLook) => LookResult,
): Promise<number> {
  const reader = new BoardReader(options.board, options.owner);
  try {
    const snapshot = reader.snapshot();
    const slurm = schedulerViewOf(options.slurmDir, snapshot);
    const found = survey(snapshot);
    const look = { found, slurm, nodeOf: nodesOf(found), among: asked && new Set(asked) };
    const shown = show(look);
    const about = shown.about ?? asked;
    const odd = disagreements(slurm, about === undefined ? found : survey(snapshot, { among: about }));
    const isKnown = slurm.hasAnswered('jobs');
    if (options.json) {
      const sentences = json(odd.map(({ text }) => text));
      const head = `{"schema":1,"slurm":${json(slurm.head)},"anomalies":${sentences},"${shown.key}":[`;
      await print([
        head,
        shown
          .json()
          .map(row => `\n${json(row)}`)
          .join(','),
        '\n]}\n',
      ]);
    } else if (isKnown) {
      const paint = painter(options.color);
      const lines = shown.lines(paint);
      if (odd.length > 0) lines.push(...(lines.length > 0 ? [''] : []), ...odd.map(({ text }) => paint.odd(text)));
      await print(lines.map(line => `${line}\n`));
    }
    const wrong = isKnown ? (shown.wrong ?? unknownNames(look, asked ?? [])) : slurm.trouble;
    if (wrong !== undefined) process.stderr.write(`beoboard ${verb}: ${wrong}\n`);
    if (!snapshot.stalled && !snapshot.retired) return wrong === undefined ? 0 : 1;
    process.stderr.write(`beoboard ${verb}: ${unknownText(snapshot.closed, snapshot.heartbeatAgeMs)}\n`);
    return NO_BOARD;
  } finally {
    reader.close();
  }
}
