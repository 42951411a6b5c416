// The file in which the reader leaves a scheduler's answers for programs that show them: its format, and how it is
// read. Never asks the scheduler, and never waits.

import { join } from 'node:path';
import { Doubt, jsonByRows, type LeftFile, readLeft } from '../service/leftfile.js';
import type { Steps } from '../service/slices.js';
import { formatDuration } from '../text/durations.js';
import { NameRanges } from '../text/hostlists.js';
import type { Described, DescribedKeys } from '../text/schema.js';
import {
  areAll,
  type Check,
  isFlag,
  isList,
  isMs,
  isNumber,
  isObject,
  isText,
  jsonOf,
  listOf,
  shapeOf,
  valuesOf,
} from '../text/shape.js';
import { oneLine, quote } from '../text/text.js';
import { cut, isJob, isNode, type SchedulerJob, type SchedulerNode } from './scheduler.js';

/**
 * Of all schedulers the same. 1 had Slurm's words alone: programs of this version do not show such a file and say why,
 * until the reader that is started again has replaced it, after some seconds.
 */
export const SCHEMA = 2;

const ANSWER = {
  /** The time of the answer below; absent: there has been none yet. */
  ...{ 'time_ms?': isMs, 'mono_ms?': isMs, 'took_ms?': isMs },
  /** Why the newest question was not answered, and since when; absent: it was answered. */
  ...{ 'error?': isText, 'error_since_ms?': isMs },
  /** How many lines or rows of the answer were not understood and are left out, and the first; absent: none. */
  ...{ 'left_out?': isNumber, 'left_out_first?': isText },
  /** Whether nothing is known to be missing: nothing was left out, and nothing is hidden from the reader. */
  'whole?': isFlag as Check<true>,
};
/** The scheduler's answer to one question. Times in ms: `time_ms` since 1970, `mono_ms` of CLOCK_MONOTONIC. */
export interface SchedulerAnswer<T> extends DescribedKeys<typeof ANSWER> {
  readonly list: readonly T[];
}
const answerOf = <T>() => shapeOf({ ...ANSWER, list: isList as Check<readonly T[]> });

export const KINDS = ['silent_schedulable', 'job_on_silent', 'live_down', 'idle_in_job', 'busy_without_job'] as const;

export type DifferenceKind = (typeof KINDS)[number];

/** Where the scheduler and the board have disagreed in several samples in a row. */
const isDifference = shapeOf({
  kind: isText as Check<DifferenceKind>,
  /** The name on the board, and the scheduler's. */
  ...{ node: isText, node_name: isText },
  ...{ 'jobs?': listOf(isText), since_ms: isMs },
});
export type SchedulerDifference = Described<typeof isDifference>;

/**
 * A node that differs from its peers in a job (docs/jobs.md): numbers in the unit of the reading, of the peers their
 * count, median, lowest and highest.
 */
const isMark = shapeOf({
  job: isText,
  /** The name on the board. */
  node: isText,
  ...{ reading: isText, value: isNumber, peers: isNumber, median: isNumber, lowest: isNumber, highest: isNumber },
  /** By how much it differed from them before, for the next reader: a factor, or so much more. */
  'own?': isNumber,
  since_ms: isMs,
});
export type OddMark = Described<typeof isMark>;

/** What the judge of jobs says. */
const isOdd = shapeOf({
  /** Why no job is judged, in a sentence; absent: jobs are. */
  'unjudged_all?': isText,
  marks: isList as Check<readonly OddMark[]>,
  /** Why a job of at least four nodes is not judged now, by its id: `young`, `changed`, `few` or `shared`. */
  unjudged: valuesOf(isText),
});
export type OddJobs = Described<typeof isOdd>;

const isState = shapeOf({
  /** The scheduler's name for people, and what it runs on each node: `Slurm`, `slurmd`. */
  ...{ scheduler: isText, daemon: isText, cluster: isText, version: isText },
  /** Who asks, and what the scheduler hides from it, in a sentence. */
  ...{ user: isText, 'hidden?': isText },
  /** What a node that the scheduler does not show may be, besides unknown to it. */
  'unshown?': isText,
  nodes: answerOf<SchedulerNode>(),
  jobs: answerOf<SchedulerJob>(),
  /** Names on the board by the scheduler's: those that the administrator gave, and those that were found. */
  names: valuesOf(isText),
  differences: isList as Check<readonly SchedulerDifference[]>,
  /** Absent in what a reader of an earlier version left. */
  'odd?': isOdd,
  // A file without a time has no reader.
  ...{ 'mono_ms?': isMs, 'next_ms?': isMs, 'time_ms?': isMs },
});
export interface SchedulerState extends Described<typeof isState> {
  readonly schema: typeof SCHEMA;
  readonly pid: number;
  /** When it was written, and when it will be written again, of CLOCK_MONOTONIC. */
  readonly mono_ms: number;
  readonly next_ms: number;
  readonly time_ms: number;
}

/** CLOCK_MONOTONIC in ms: the same for all processes of this machine. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** The texts of lists that may be written again: between two answers only marks change. */
const written = new WeakMap<readonly object[], string>();

/** Each row has its own line: half a megabyte for 10,000 nodes. */
export function stateText({ nodes, jobs, differences, odd, ...rest }: SchedulerState): string {
  const head = (value: object) => JSON.stringify(value).slice(0, -1);
  const answer = ({ list, ...rest }: SchedulerAnswer<object>) => {
    const rows = written.get(list) ?? jsonByRows(list);
    written.set(list, rows);
    return `${head({ count: list.length, ...rest })},"list":${rows}}`;
  };
  const odds = odd && `,\n"odd":${head({ ...odd, marks: undefined })},"marks":${jsonByRows(odd.marks)}}`;
  return `${head(rest)},\n"differences":${jsonByRows(differences)}${odds ?? ''},\n"nodes":${answer(nodes)},\n"jobs":${answer(jobs)}}\n`;
}

/** Clocks that have moved further apart than this are of another boot, ms. */
const SAME_BOOT_MS = 60_000;

/** The marks that a reader left in its file in this boot; none if there are none, or they cannot be read. */
export function marksIn(text: string): readonly OddMark[] {
  const { odd, time_ms = 0, mono_ms = 0 } = (jsonOf(text) ?? {}) as Partial<SchedulerState>;
  const marks: unknown = isObject(odd) ? odd.marks : undefined;
  const isOfBoot = Math.abs(time_ms - mono_ms - (Date.now() - monotonicMs())) <= SAME_BOOT_MS;
  return isOfBoot && listOf(isMark)(marks) ? (marks as readonly OddMark[]) : [];
}

/** The contents of the file, or a sentence that says why there are none and what to do. */
export type StateResult =
  | { readonly state: SchedulerState; readonly why?: undefined }
  | { readonly state?: undefined; readonly why: string };

/** A reader that is late by more than this has ended, ms. */
const PATIENCE_MS = 15_000;

const nothing = (why: string): StateResult => ({ why: `nothing is known about jobs: ${why}` });

/** Whether everything in it is what programs take it for. */
function* isWhole(state: unknown): Steps<boolean> {
  return (
    isState(state) &&
    (yield* areAll(state.nodes.list, isNode)) &&
    (yield* areAll(state.jobs.list, isJob)) &&
    (yield* areAll(state.differences, isDifference)) &&
    (yield* areAll(state.odd?.marks ?? [], isMark))
  );
}

function* parseState(path: string, state: unknown): Steps<StateResult> {
  if (typeof state !== 'object' || state === null) return nothing(`${path} is not JSON; ${SEE}`);
  const { schema, nodes, jobs } = state as Partial<Record<string, unknown>>;
  if (schema !== SCHEMA)
    return nothing(`${path} is of another version; restart beoboard scheduler, so that both are of one`);
  if (![nodes, jobs].every(answer => isObject(answer) && isList(answer.list)))
    return nothing(`${path} has no nodes and jobs; ${SEE}`);
  if (!(yield* isWhole(state))) return nothing(`${path} holds what no reader writes; ${SEE}`);
  const whole = state as SchedulerState;
  return { state: { ...whole, jobs: bounded(whole.jobs, whole.nodes.list.length).jobs } };
}

/** So many names may the lists of an answer have together, and so many for each of its nodes if that is more. */
const [NAMES_MOST, NAMES_PER_NODE] = [100_000, 100];
/** So many characters, for each of the nodes, are searched for their names. */
const SEARCHED_MOST = 1 << 23;

/** An answer about jobs whose lists are not too long for those who show it. */
interface BoundedJobs {
  readonly jobs: SchedulerAnswer<SchedulerJob>;
  /** Whether a list that was left out has this NodeName, or may have it; undefined: none was left out. */
  readonly mayName?: ((name: string) => boolean) | undefined;
}

/**
 * Leaves out the longest lists of an answer, and counts them, as far as all have too many names together: so a long one
 * takes nothing from a short one. `nodes`: how many nodes the scheduler has.
 */
export function bounded(jobs: SchedulerAnswer<SchedulerJob>, nodes: number): BoundedJobs {
  const sizes = jobs.list.map(job => NameRanges.ofNodeNames(job.nodes)?.size ?? Number.POSITIVE_INFINITY);
  let left = Math.max(NAMES_MOST, NAMES_PER_NODE * nodes);
  if (sizes.reduce((sum, size) => sum + size, 0) <= left) return { jobs };
  const sizeOf = (i: number) => sizes[i] as number;
  const fits = new Set<number>();
  for (const i of [...sizes.keys()].sort((a, b) => sizeOf(a) - sizeOf(b))) {
    left -= sizeOf(i);
    if (left >= 0) fits.add(i);
  }
  const over = jobs.list.filter((_, i) => !fits.has(i));
  const isSearched = nodes * over.reduce((sum, job) => sum + job.nodes.length, 0) <= SEARCHED_MOST;
  const ranges = isSearched ? over.map(job => NameRanges.ofNodeNames(job.nodes)) : [];
  const [{ id, nodes: list } = { id: '', nodes: '' }] = over;
  return {
    jobs: {
      ...jobs,
      left_out: (jobs.left_out ?? 0) + over.length,
      left_out_first: jobs.left_out_first ?? cut(`too many nodes: job ${id} on ${list}`),
      whole: undefined,
      list: jobs.list.filter((_, i) => fits.has(i)),
    },
    mayName: name => !isSearched || ranges.some(one => one?.has(name) !== false),
  };
}

const SEE = 'see what beoboard scheduler says';
/** A million nodes and as many jobs have less. */
const MOST_BYTES = 256 << 20;

/** The file of that folder. */
export function stateFile(folder: string): LeftFile<StateResult> {
  const file = join(folder, 'state');
  const path = oneLine(file);
  return {
    path: file,
    isLinkTaken: true,
    // What is no file of a reader's must not take the memory of those who read it.
    judge: (_, stats) =>
      stats?.isFile() === false ? 'no plain file' : (stats?.size ?? 0) > MOST_BYTES ? 'too large' : undefined,
    parse: value => parseState(path, value),
    without: error => {
      if (error instanceof Doubt) return nothing(`${path} is ${error.message}; ${SEE}`);
      if (error.code === 'ENOENT')
        return nothing(`${path} is not there; start beoboard scheduler on this machine (docs/slurm.md)`);
      if (error.code === 'EACCES')
        return nothing(
          `${path} cannot be read by this user, who is not in the group beoboard-jobs: usermod -aG beoboard-jobs USER; a service: SupplementaryGroups=beoboard-jobs in its unit`,
        );
      return nothing(oneLine(error.message));
    },
  };
}

/** Reads the file of that folder. */
export const readState = (folder: string): StateResult => readLeft(stateFile(folder));

/** While it is read for the first time. */
export const BEING_READ = nothing('its file is being read');

/** What was left out of the answers because it was not understood, in a sentence; undefined: nothing. */
function leftOut({ scheduler, version, nodes, jobs }: SchedulerState): string | undefined {
  const parts = (
    [
      [nodes, 'node'],
      [jobs, 'job'],
    ] as const
  ).flatMap(([{ left_out, left_out_first = '' }, what]) =>
    left_out
      ? [`${left_out} ${left_out === 1 ? 'line' : 'lines'} about ${what}s, the first: ${quote(left_out_first)}`]
      : [],
  );
  return parts.length === 0
    ? undefined
    : `of what ${oneLine(`${scheduler} ${version}`.trim())} answers, this is not understood and left out: ${parts.join('; ')}`;
}

/** Sentences about what is missing in the answers, hidden or left out. */
export function partialText(state: SchedulerState): string[] {
  return [state.hidden && oneLine(state.hidden), leftOut(state)].filter(text => text !== undefined);
}

/** The age of an answer, ms; undefined: there has been none. */
export function ageOf({ mono_ms }: SchedulerAnswer<object>, now = monotonicMs()): number | undefined {
  return mono_ms === undefined ? undefined : Math.max(0, now - mono_ms);
}

/** What is wrong with the answers or with the reader, in a sentence; undefined if they are current. */
export function stateTrouble(state: SchedulerState, now = monotonicMs()): string | undefined {
  const scheduler = oneLine(state.scheduler);
  if (state.mono_ms > now)
    return `beoboard scheduler has written nothing since this machine was booted: what is shown of ${scheduler} is older; see systemctl status beoboard-slurm`;
  // A file that does not say when it will be written again has no reader.
  if (!(now <= state.next_ms + PATIENCE_MS))
    return `beoboard scheduler has written nothing for ${formatDuration(now - state.mono_ms)}: what is shown of ${scheduler} is that old; see systemctl status beoboard-slurm`;
  for (const answer of [state.nodes, state.jobs]) {
    const { error } = answer;
    if (error === undefined) continue;
    const age = ageOf(answer, now);
    const old =
      age === undefined
        ? `nothing is known about ${scheduler} yet`
        : `what is shown of ${scheduler} is ${formatDuration(age)} old`;
    return `${scheduler} does not answer: ${oneLine(error)}; ${old}`;
  }
  return undefined;
}
