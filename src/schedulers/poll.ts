// One round of the reader: asks the scheduler for nodes and jobs, compares them with the board, and returns what is to be
// written. If there is no new answer it keeps the old one with its age. Writes nothing.

import { Cursor } from '../readings/cursor.js';
import { type Measure, taken } from '../readings/measures.js';
import { readingOf } from '../readings/readings.js';
import { Differences, type SeenOnBoard } from '../schedulerfile/differences.js';
import { differing, type Matched, match, namesText, parseExceptions } from '../schedulerfile/matching.js';
import {
  type About,
  type ListAnswer,
  NoAnswer,
  type Scheduler,
  type SchedulerJob,
  type SchedulerNode,
} from '../schedulerfile/scheduler.js';
import { bounded, monotonicMs, SCHEMA, type SchedulerAnswer, type SchedulerState } from '../schedulerfile/statefile.js';
import { NoBoard } from '../shm/noboard.js';
import type { BoardReader } from '../shm/reader.js';
import { InputError } from '../text/text.js';
import { PowerSaving } from './powersaving.js';

/** What a scheduler says of itself is asked rarely: it changes with a restart. */
const ABOUT_MS = 300_000;
/** How long a node may take to be up if it does not say it, s. */
const RESUME_S = 60;

const [CPUS, CPU, GPUS] = ['cpus', 'cpu', 'gpu_busy'].map(name => readingOf(name)?.measure as Measure);

/** All nodes of the board by name; undefined if nothing is known about them. */
function seenOn(reader: BoardReader): Map<string, SeenOnBoard> | undefined {
  const [found, cursor] = [new Map<string, SeenOnBoard>(), new Cursor()];
  const number = (measure: Measure | undefined) => {
    const value = taken(measure as Measure, cursor);
    return Number.isNaN(value) ? undefined : value;
  };
  try {
    for (const snapshot of reader.pieces()) {
      if (snapshot.stalled || snapshot.retired) return undefined;
      for (const [index, name] of snapshot.names().entries()) {
        const state = snapshot.stateOf(index);
        const isLive = state === 'live';
        if (isLive) cursor.moveTo(snapshot, index);
        const [cpus, cpu] = isLive ? [number(CPUS), number(CPU)] : [];
        const cpusBusy = cpus === undefined || cpu === undefined ? undefined : (cpus * cpu) / 100;
        found.set(name, { state, cpus, cpusBusy, gpusBusy: isLive ? number(GPUS) : undefined });
      }
    }
  } catch (error) {
    if (error instanceof NoBoard) return undefined;
    throw error;
  }
  return found;
}

/** The answer to a question; without one, the list of the last answer, and the reason. */
async function ask<T>(before: SchedulerAnswer<T>, question: () => Promise<ListAnswer<T>>): Promise<SchedulerAnswer<T>> {
  const begin = monotonicMs();
  try {
    const { list, leftOut, atMs } = await question();
    const [now, time_ms] = [monotonicMs(), Date.now()];
    const ageMs = atMs === undefined ? 0 : Math.max(0, time_ms - atMs);
    const times = { time_ms: atMs ?? time_ms, mono_ms: now - Math.round(ageMs), took_ms: now - begin };
    return leftOut.count === 0
      ? { ...times, list }
      : { ...times, left_out: leftOut.count, left_out_first: leftOut.first, list };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const { error_since_ms = monotonicMs() } = before;
    return { ...before, error: error.message, error_since_ms };
  }
}

/** The names of an earlier reader's file; of one that is invalid, none. */
function exceptionsIn(text: string): Record<string, string> {
  try {
    return parseExceptions(text, 'names');
  } catch (error) {
    if (error instanceof InputError) return {};
    throw error;
  }
}

/** Who is asked, and how its names are found on the board: see match(). */
export interface Asked {
  readonly scheduler: Scheduler;
  readonly exceptions: Readonly<Record<string, string>>;
  readonly domain: string | undefined;
}

export interface Round {
  readonly state: SchedulerState;
  readonly answered: boolean;
  /** Why not everybody may see all jobs; undefined: everybody may. */
  readonly closed: string | undefined;
  /** Undefined if nothing is known about the board or about the scheduler's nodes. */
  readonly matched: Matched | undefined;
  /** If no job was left out but for its many nodes: whether one of these may be on the node with that NodeName. */
  readonly mayName?: ((name: string) => boolean) | undefined;
  /** The files for the gate; undefined: there is nothing new to write. */
  readonly skip: string | undefined;
  readonly names: string | undefined;
}

export class Poll {
  readonly #differences = new Differences();
  #nodes: SchedulerAnswer<SchedulerNode> = { list: [] };
  #jobs: SchedulerAnswer<SchedulerJob> = { list: [] };
  /** The names of both sides at the last look, as a text, and which are whose: they seldom change. */
  #matched: { of: string; is: Matched } | undefined;
  #about: About;
  #aboutUntil = Number.NEGATIVE_INFINITY;
  readonly #power: PowerSaving;
  /** The last NodeName of each node of the board: the scheduler may show it no more. */
  #lastNames: ReadonlyMap<string, string>;

  /** `left`: the files of these names that an earlier reader has left; empty: there is none. */
  constructor(
    private readonly board: BoardReader,
    private asked: Asked,
    private readonly user: string,
    { skip = '', names = '' }: { readonly skip?: string | undefined; readonly names?: string | undefined } = {},
  ) {
    this.#power = new PowerSaving(skip);
    this.#lastNames = new Map(Object.entries(exceptionsIn(names)).map(([name, on]) => [on, name]));
    this.#about = asked.scheduler.unasked;
  }

  change(asked: Asked): void {
    this.asked = asked;
    this.#matched = undefined;
    this.#aboutUntil = Number.NEGATIVE_INFINITY;
  }

  /** Asks once. `next`: in how many ms to ask again, depending on whether it was answered. */
  async round(next: (answered: boolean) => number): Promise<Round> {
    const { scheduler, exceptions } = this.asked;
    const before = [this.#nodes, this.#jobs].map(({ time_ms }) => time_ms).join();
    const [answer, all] = await Promise.all([
      ask(this.#nodes, () => scheduler.nodes()),
      ask(this.#jobs, () => scheduler.jobs()),
      this.#askAbout(),
    ]);
    const { jobs, mayName } = bounded(all, answer.list.length);
    [this.#nodes, this.#jobs] = [answer, jobs];
    const isOld = [this.#nodes, this.#jobs].map(({ time_ms }) => time_ms).join() === before;
    const answered = this.#nodes.error === undefined && this.#jobs.error === undefined;
    const seen = seenOn(this.board);
    const nodes = this.#nodes.list;
    const matched = seen && this.#nodes.mono_ms !== undefined ? this.#match(nodes, [...seen.keys()]) : undefined;
    const now = monotonicMs();
    const isInDoubt = all.left_out ? () => true : mayName;
    const look = { nodes, jobs: jobs.list, nowS: Math.floor(Date.now() / 1000), isOld, isInDoubt };
    if (!answered || seen === undefined || matched === undefined) this.#differences.forget();
    const differences =
      answered && seen !== undefined && matched !== undefined
        ? this.#differences.look({ ...look, matched, seen: name => seen.get(name) }, now)
        : [];
    const about = this.#about;
    const state: SchedulerState = {
      schema: SCHEMA,
      pid: process.pid,
      mono_ms: now,
      next_ms: now + next(answered),
      time_ms: Date.now(),
      ...{ scheduler: about.name, daemon: about.daemon, cluster: about.cluster, version: about.version },
      ...{ user: this.user, hidden: about.hidden(this.user), unshown: about.unshown },
      nodes: this.#told('nodes', this.#nodes),
      jobs: this.#told('jobs', this.#jobs),
      // Whoever reads this does not know the domain.
      names: { ...exceptions, ...Object.fromEntries(matched === undefined ? [] : differing(matched.boardName)) },
      differences,
    };
    const unseen = matched && this.#unseen(matched);
    if (this.#nodes.error === undefined)
      this.#power.look({
        nodes,
        isUsed: about.power_saving,
        resumeMs: (about.resume_timeout_s ?? RESUME_S) * 1000,
        unseen: unseen && new Set(unseen.values()),
        nowMs: now,
      });
    return {
      state,
      answered,
      closed: about.closed,
      matched,
      mayName: this.#told('jobs', all).whole && mayName,
      // Writing an old list would make the file look new; the gate goes by its age.
      skip: this.#nodes.error === undefined ? this.#power.text : undefined,
      names: matched && namesText(matched, unseen),
    };
  }

  #match(nodes: readonly SchedulerNode[], board: readonly string[]): Matched {
    const { exceptions, domain } = this.asked;
    const of = [...board, '', ...nodes.map(({ name, host = '' }) => `${name} ${host}`)].join('\n');
    if (this.#matched?.of !== of) this.#matched = { of, is: match(nodes, board, exceptions, domain) };
    return this.#matched.is;
  }

  /** The answer, marked `whole` if nothing was left out of it and the scheduler hides nothing of this kind. */
  #told<T>(kind: string, answer: SchedulerAnswer<T>): SchedulerAnswer<T> {
    const isWhole = answer.mono_ms !== undefined && !answer.left_out && this.#about.hides?.includes(kind) === false;
    return isWhole ? { ...answer, whole: true } : answer;
  }

  /**
   * The NodeNames of nodes of the board that the scheduler does not show, by the name on the board. A NodeName
   * that it shows, or that the administrator has given to another, is not theirs any more.
   */
  #unseen({ boardAlone, nodeName }: Matched): Map<string, string> {
    const exceptions = new Map(Object.entries(this.asked.exceptions));
    const given = new Map([...exceptions].map(([name, on]) => [on, name]));
    const shown = new Set(this.#nodes.list.map(({ name }) => name));
    const isFree = (name: string, on: string) => !shown.has(name) && (exceptions.get(name) ?? on) === on;
    const unseen = new Map<string, string>();
    for (const on of boardAlone) {
      const names = [given.get(on), this.#lastNames.get(on), on];
      const name = names.find(name => name !== undefined && isFree(name, on));
      if (name !== undefined) unseen.set(on, name);
    }
    this.#lastNames = new Map([...unseen, ...nodeName]);
    return unseen;
  }

  async #askAbout(): Promise<void> {
    if (monotonicMs() < this.#aboutUntil) return;
    try {
      this.#about = await this.asked.scheduler.about();
      this.#aboutUntil = monotonicMs() + ABOUT_MS;
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
  }
}
