// The file in which the reader leaves a scheduler's answers for programs that show them: its format, and how it is
// read. Never asks the scheduler, and never waits.

// Not from node:fs/promises, which every program that reads the file once would load.
import { closeSync, constants, fstatSync, openSync, promises, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { formatDuration } from '../text/durations.js';
import { isHostList } from '../text/hostlists.js';
import { isTellable } from '../text/moments.js';
import { oneLine, quote } from '../text/text.js';
import { type SchedulerJob, type SchedulerNode, SECONDS_MOST } from './scheduler.js';

/**
 * Of all schedulers the same. 1 had Slurm's words alone: programs of this version do not show such a file and say why,
 * until the reader that is started again has replaced it, after some seconds.
 */
export const SCHEMA = 2;

/** The scheduler's answer to one question. Times in ms: `time_ms` since 1970, `mono_ms` of CLOCK_MONOTONIC. */
export interface SchedulerAnswer<T> {
  /** The time of the answer below; absent: there has been none yet. */
  readonly time_ms?: number | undefined;
  readonly mono_ms?: number | undefined;
  readonly took_ms?: number | undefined;
  /** Why the newest question was not answered, and since when; absent: it was answered. */
  readonly error?: string | undefined;
  readonly error_since_ms?: number | undefined;
  /** How many lines or rows of the answer were not understood and are left out, and the first; absent: none. */
  readonly left_out?: number | undefined;
  readonly left_out_first?: string | undefined;
  /** Whether nothing is known to be missing: nothing was left out, and nothing is hidden from the reader. */
  readonly whole?: true | undefined;
  readonly list: readonly T[];
}

export const KINDS = ['silent_schedulable', 'job_on_silent', 'live_down', 'idle_in_job', 'busy_without_job'] as const;

export type DifferenceKind = (typeof KINDS)[number];

/** Where the scheduler and the board have disagreed in several samples in a row. */
export interface SchedulerDifference {
  readonly kind: DifferenceKind;
  /** The name on the board, and the scheduler's. */
  readonly node: string;
  readonly node_name: string;
  readonly jobs?: readonly string[] | undefined;
  readonly since_ms: number;
}

/**
 * A node that differs from its peers in a job (docs/jobs.md): numbers in the unit of the reading, of the peers their
 * count, median, lowest and highest.
 */
export interface OddMark {
  readonly job: string;
  /** The name on the board. */
  readonly node: string;
  readonly reading: string;
  readonly value: number;
  readonly peers: number;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  readonly since_ms: number;
}

/** What the judge of jobs says. */
export interface OddJobs {
  /** Why no job is judged, in a sentence; absent: jobs are. */
  readonly unjudged_all?: string | undefined;
  readonly marks: readonly OddMark[];
  /** Why a job of at least four nodes is not judged now, by its id: `young`, `changed`, `few` or `shared`. */
  readonly unjudged: Readonly<Record<string, string>>;
}

export interface SchedulerState {
  readonly schema: typeof SCHEMA;
  readonly pid: number;
  /** When it was written, and when it will be written again, of CLOCK_MONOTONIC. */
  readonly mono_ms: number;
  readonly next_ms: number;
  readonly time_ms: number;
  /** The scheduler's name for people, and what it runs on each node: `Slurm`, `slurmd`. */
  readonly scheduler: string;
  readonly daemon: string;
  readonly cluster: string;
  readonly version: string;
  /** Who asks, and what the scheduler hides from it, in a sentence. */
  readonly user: string;
  readonly hidden?: string | undefined;
  /** What a node that the scheduler does not show may be, besides unknown to it. */
  readonly unshown?: string | undefined;
  readonly nodes: SchedulerAnswer<SchedulerNode>;
  readonly jobs: SchedulerAnswer<SchedulerJob>;
  /** Names on the board of the scheduler's names that the administrator gave. */
  readonly names: Readonly<Record<string, string>>;
  readonly differences: readonly SchedulerDifference[];
  /** Absent in what a reader of an earlier version left. */
  readonly odd?: OddJobs | undefined;
}

/** CLOCK_MONOTONIC in ms: the same for all processes of this machine. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Each row has its own line: half a megabyte for 10,000 nodes, and people can grep it. */
export function stateText({ nodes, jobs, ...rest }: SchedulerState): string {
  const answer = ({ list, ...rest }: SchedulerAnswer<object>) => {
    const head = JSON.stringify({ count: list.length, ...rest }).slice(0, -1);
    return `${head},"list":[${list.map(row => `\n${JSON.stringify(row)}`).join(',')}]}`;
  };
  return `${JSON.stringify(rest).slice(0, -1)},\n"nodes":${answer(nodes)},\n"jobs":${answer(jobs)}}\n`;
}

/** The contents of the file, or a sentence that says why there are none and what to do. */
export type StateResult = { readonly state: SchedulerState; readonly why?: undefined } | { readonly why: string };

/** A reader that is late by more than this has ended, ms. */
const PATIENCE_MS = 15_000;

const nothing = (why: string): StateResult => ({ why: `nothing is known about jobs: ${why}` });

/** Why it cannot be read. */
function unread(path: string, { code, message }: NodeJS.ErrnoException): StateResult {
  if (code === 'ENOENT')
    return nothing(`${oneLine(path)} is not there; start beoboard slurm on this machine (docs/slurm.md)`);
  if (code === 'EACCES')
    return nothing(
      `${oneLine(path)} cannot be read by this user; ask the administrator to add you to the group beoboard-jobs`,
    );
  return nothing(oneLine(message));
}

/** What the values of an object are; one whose key ends with `?` may be absent. */
const shape = (types: Readonly<Record<string, 'string' | 'number' | 'boolean'>>) =>
  Object.entries(types).map(([key, type]) => ({ key: key.replace('?', ''), type, isNeeded: !key.endsWith('?') }));

type KeyTypes = ReturnType<typeof shape>;

const NODE = shape({
  ...{ name: 'string', 'host?': 'string', state: 'string', cpus: 'number', 'cpus_used?': 'number' },
  ...{ 'base?': 'string', 'takes_jobs?': 'boolean', 'ending?': 'boolean', 'asleep?': 'boolean', 'aside?': 'string' },
  ...{ 'memory_mib?': 'number', 'memory_used_mib?': 'number', 'gpus?': 'number', 'gpus_used?': 'number' },
  ...{ 'reason?': 'string', 'reason_by?': 'string', 'reason_s?': 'number', 'switch?': 'string' },
});
const JOB = shape({
  ...{ id: 'string', state: 'string', user: 'string', partition: 'string', nodes: 'string', name: 'string' },
  ...{ cpus: 'number', 'start_s?': 'number' },
});
const ANSWER = shape({
  ...{ 'time_ms?': 'number', 'mono_ms?': 'number', 'took_ms?': 'number', 'error?': 'string' },
  ...{ 'error_since_ms?': 'number', 'left_out?': 'number', 'left_out_first?': 'string', 'whole?': 'boolean' },
});
const DIFFERENCE = shape({ kind: 'string', node: 'string', node_name: 'string', since_ms: 'number' });
const MARK = shape({
  ...{ job: 'string', node: 'string', reading: 'string', value: 'number', peers: 'number', median: 'number' },
  ...{ lowest: 'number', highest: 'number', since_ms: 'number' },
});
const ODD = shape({ 'unjudged_all?': 'string' });
const STATE = shape({
  ...{ 'mono_ms?': 'number', 'next_ms?': 'number', 'time_ms?': 'number', scheduler: 'string', daemon: 'string' },
  ...{ cluster: 'string', version: 'string', user: 'string', 'hidden?': 'string', 'unshown?': 'string' },
});

/** Whether a number is one, and a time, whose key says its unit, is one that can be told. */
function isSound(key: string, value: unknown): boolean {
  if (key.endsWith('_ms')) return isTellable(value);
  return key.endsWith('_s') ? Math.abs(Number(value)) <= SECONDS_MOST : Number.isFinite(value);
}

function fits(value: unknown, shape: KeyTypes): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const row = value as Readonly<Record<string, unknown>>;
  return shape.every(({ key, type, isNeeded }) => {
    const value = row[key];
    if (!isNeeded && value === undefined) return true;
    return typeof value === type && (type !== 'number' || isSound(key, value));
  });
}

const isText = (value: unknown) => typeof value === 'string';

const isOdd = (odd: OddJobs) =>
  fits(odd, ODD) &&
  Array.isArray(odd.marks) &&
  odd.marks.every(mark => fits(mark, MARK)) &&
  fits(odd.unjudged, []) &&
  Object.values(odd.unjudged).every(isText);

/** Whether everything in it is what programs take it for: its writer may be broken, or broken into. */
function isWhole(state: SchedulerState): boolean {
  const { nodes, jobs, names, differences, odd } = state;
  return (
    [nodes, jobs].every(answer => fits(answer, ANSWER)) &&
    nodes.list.every(node => fits(node, NODE)) &&
    jobs.list.every(job => fits(job, JOB) && job.nodes !== '' && isHostList(job.nodes)) &&
    fits(names, []) &&
    Object.values(names).every(isText) &&
    Array.isArray(differences) &&
    differences.every(
      row => fits(row, DIFFERENCE) && (row.jobs === undefined || (Array.isArray(row.jobs) && row.jobs.every(isText))),
    ) &&
    (odd === undefined || isOdd(odd)) &&
    fits(state, STATE)
  );
}

/** The contents of a text that is in that file. */
export function parseState(path: string, text: string): StateResult {
  let state: SchedulerState | undefined;
  try {
    state = JSON.parse(text) as SchedulerState;
  } catch {}
  if (typeof state !== 'object' || state === null)
    return nothing(`${oneLine(path)} is not JSON; see what beoboard slurm says`);
  if (state.schema !== SCHEMA)
    return nothing(`${oneLine(path)} is of another version; restart beoboard slurm, so that both are of one`);
  if (!Array.isArray(state.nodes?.list) || !Array.isArray(state.jobs?.list))
    return nothing(`${oneLine(path)} has no nodes and jobs; see what beoboard slurm says`);
  if (!isWhole(state)) return nothing(`${oneLine(path)} holds what no reader writes; see what beoboard slurm says`);
  return { state };
}

/** Opens it without waiting: if it is a FIFO, nobody may ever write into it. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
/** A million nodes and as many jobs have less. */
const MOST_BYTES = 256 << 20;

/** What is no file of a reader's must not take the memory of those who read it; undefined: it may be one. */
function objectionTo(path: string, stats: Stats): StateResult | undefined {
  if (stats.isFile() && stats.size <= MOST_BYTES) return undefined;
  return nothing(`${oneLine(path)} is ${stats.isFile() ? 'too large' : 'no plain file'}; see what beoboard slurm says`);
}

/** Reads the file of that folder. */
export function readState(folder: string): StateResult {
  const path = join(folder, 'state');
  try {
    const fd = openSync(path, AT_ONCE);
    try {
      return objectionTo(path, fstatSync(fd)) ?? parseState(path, readFileSync(fd, 'utf8'));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    return unread(path, error as NodeJS.ErrnoException);
  }
}

/**
 * The file of that folder for a program that looks again and again: it is read in the background, and nobody waits for
 * it.
 */
export class StateFollower {
  readonly #path: string;
  readonly #changed: () => void;
  #found: StateResult = nothing('its file is being read');
  #reading = false;
  /** Identifies the file that was read: each answer is a new file. */
  #which = '';

  /** `changed` is called when the contents have changed. */
  constructor(folder: string, changed: () => void) {
    this.#path = join(folder, 'state');
    this.#changed = changed;
  }

  /**
   * The last contents, the same object while the file is the same; starts reading it again, unless that is under way.
   */
  get found(): StateResult {
    if (!this.#reading) {
      this.#reading = true;
      void this.#read();
    }
    return this.#found;
  }

  async #read(): Promise<void> {
    let found = this.#found;
    try {
      const { ino, mtimeNs } = await promises.stat(this.#path, { bigint: true });
      const which = `${ino} ${mtimeNs}`;
      if (which !== this.#which) {
        const file = await promises.open(this.#path, AT_ONCE);
        try {
          found = objectionTo(this.#path, await file.stat()) ?? parseState(this.#path, await file.readFile('utf8'));
        } finally {
          await file.close();
        }
        this.#which = which;
      }
    } catch (error) {
      const now = unread(this.#path, error as NodeJS.ErrnoException);
      if (now.why !== found.why) found = now;
      this.#which = '';
    }
    this.#reading = false;
    if (found === this.#found) return;
    this.#found = found;
    this.#changed();
  }
}

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
    : `of what ${oneLine(`${scheduler} ${version}`)} answers, this is not understood and left out: ${parts.join('; ')}`;
}

/** Sentences about what is missing in the answers, hidden or left out. */
export function partialText(state: SchedulerState): string[] {
  return [state.hidden && oneLine(state.hidden), leftOut(state)].filter(text => text !== undefined);
}

/** The age of an answer, ms; undefined: there has been none. */
export function ageOf({ mono_ms }: SchedulerAnswer<object>, now = monotonicMs()): number | undefined {
  return mono_ms === undefined ? undefined : Math.max(0, now - mono_ms);
}

/** Whether the reader does not write any more; a file that does not say when it will be written again has no reader. */
function hasStopped({ next_ms }: SchedulerState, now: number): boolean {
  return !(now <= next_ms + PATIENCE_MS);
}

/** What is wrong with the answers or with the reader, in a sentence; undefined if they are current. */
export function stateTrouble(state: SchedulerState, now = monotonicMs()): string | undefined {
  const scheduler = oneLine(state.scheduler);
  if (state.mono_ms > now)
    return `beoboard slurm has written nothing since this machine was booted: what is shown of ${scheduler} is older; see systemctl status beoboard-slurm`;
  if (hasStopped(state, now))
    return `beoboard slurm has written nothing for ${formatDuration(now - state.mono_ms)}: what is shown of ${scheduler} is that old; see systemctl status beoboard-slurm`;
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
