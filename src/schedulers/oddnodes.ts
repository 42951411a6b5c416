// Looks at the board for the judge of jobs (src/outliers/), every few seconds: which nodes have which job to themselves is
// what the scheduler said last, and how they are what the board says now. Writes nothing.

import { type JobSeen, Judge, type Judgement, type NodesSeen } from '../outliers/judge.js';
import { FEWEST } from '../outliers/peers.js';
import { COMPARED, measureOf } from '../outliers/readings.js';
import { Cursor } from '../readings/cursor.js';
import { MeasureReader } from '../readings/measurereader.js';
import type { SchedulerJob } from '../schedulerfile/scheduler.js';
import { monotonicMs, type OddJobs, type OddMark } from '../schedulerfile/statefile.js';
import { LIVE } from '../shm/liveness.js';
import { NoBoard } from '../shm/noboard.js';
import type { BoardReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { expandNodeNames } from '../text/hostlists.js';
import { getOrInsert } from '../text/maps.js';
import type { Round } from './poll.js';

/** The time between looks, ms. */
export const LOOK_MS = 5_000;

const ROW = COMPARED.length;
/** What is compared of every node, and by what peers are chosen; then of each GPU, which stand last in the table. */
const OF_NODES = COMPARED.filter(({ gpu }) => gpu === undefined);
const FIRST_GPU = OF_NODES.length;
const MEASURES = [...OF_NODES, { reading: 'hw_hash' }, { reading: 'gpu_count' }].map(measureOf);
const GPU_MEASURES = COMPARED.slice(FIRST_GPU).map(measureOf);
const [HARDWARE, GPUS] = [FIRST_GPU, FIRST_GPU + 1];

/** The nodes that a job was told to have: the text of it, their names on the board, and their places. */
type ToldJob = Pick<JobSeen, 'nodes' | 'places'> & { readonly text: string };

/** `jobs`: how many are on each node; `judged`: 1 if one of them is. */
const roomFor = (count: number) => ({
  ...{
    jobs: new Uint32Array(count),
    judged: new Uint8Array(count),
    live: new Uint8Array(count),
    alone: new Uint8Array(count),
  },
  stampMs: new Float64Array(count),
  ...{ hardware: new Float64Array(count).fill(Number.NaN), gpus: new Float64Array(count).fill(Number.NaN) },
  values: new Float64Array(count * ROW).fill(Number.NaN),
});

/** Why nothing can be concluded about any job, in a sentence; undefined: it can. */
function objection({ state: { jobs, hidden, scheduler }, matched, mayName }: Round): string | undefined {
  if (jobs.error !== undefined) return `${scheduler} does not answer: ${jobs.error}`;
  if (matched === undefined) return 'nothing is known about the board';
  if (jobs.whole || mayName !== undefined) return undefined;
  return hidden ?? `not all that ${scheduler} says about jobs is understood, so another job may be on their nodes`;
}

export class OddNodes {
  readonly #judge: Judge;
  readonly #values = new Float64Array(MEASURES.length);
  readonly #reader = new MeasureReader(MEASURES, this.#values);
  readonly #gpuValues = new Float64Array(GPU_MEASURES.length);
  readonly #gpuReader = new MeasureReader(GPU_MEASURES, this.#gpuValues);
  readonly #cursor = new Cursor();
  /** By name on the board; of nodes of earlier jobs, too, as long as there is room. */
  #places = new Map<string, number>();
  #room = roomFor(0);
  #jobs: readonly JobSeen[] = [];
  /** What each job was told to have, by its id. */
  #told = new Map<string, ToldJob>();
  #boardName: ReadonlyMap<string, string> = new Map();
  /** Nodes on which a job may be that was left out, and how they are marked: as they were. */
  #doubted: ReadonlySet<string> = new Set();
  #kept: Judgement['marks'] = [];
  #why: string | undefined = 'the scheduler has not been asked yet';
  #last: Judgement;

  /** `stood`: marks that an earlier reader left; `clock`: CLOCK_MONOTONIC in ms. */
  constructor(
    private readonly board: Pick<BoardReader, 'pieces'>,
    stood: readonly OddMark[] = [],
    readonly clock: () => number = monotonicMs,
  ) {
    const marks = stood.map(({ since_ms: sinceMs, ...mark }) => ({ ...mark, sinceMs }));
    this.#last = { marks, unjudged: new Map() };
    this.#judge = new Judge(marks);
  }

  learn(round: Round): void {
    this.#why = objection(round);
    if (this.#why !== undefined) return;
    const [nowMs, nowS] = [this.clock(), Date.now() / 1000];
    const startOf = ({ start_s }: SchedulerJob) =>
      start_s === undefined ? undefined : nowMs - (nowS - start_s) * 1000;
    const boardName = round.matched?.boardName ?? new Map<string, string>();
    const { mayName } = round;
    const doubted = mayName === undefined ? [] : [...boardName].filter(([name]) => mayName(name)).map(([, on]) => on);
    const before = this.#marks;
    this.#doubted = new Set(doubted);
    this.#kept = before.filter(({ node }) => this.#doubted.has(node));
    const { list } = round.state.jobs;
    const isSame = boardName === this.#boardName;
    if (!isSame) [this.#boardName, this.#places] = [boardName, new Map()];
    const told = list.map(job => this.#toldOf(job, isSame));
    this.#told = new Map(list.map(({ id }, i) => [id, told[i] as ToldJob]));
    if (this.#places.size > this.#room.live.length) this.#room = roomFor(Math.ceil(1.2 * this.#places.size));
    const { jobs, judged, alone } = this.#room;
    for (const of of [jobs, judged]) of.fill(0);
    for (const { places } of told) for (const place of places) jobs[place] = (jobs[place] as number) + 1;
    for (const [place, count] of jobs.entries()) alone[place] = Number(count === 1);
    this.#jobs = list.flatMap((job, i) => {
      const { nodes, places } = told[i] as ToldJob;
      const isJudged = job.state === 'RUNNING' && nodes.length >= FEWEST;
      if (!isJudged || (doubted.length > 0 && nodes.some(name => this.#doubted.has(name)))) return [];
      for (const place of places) judged[place] = 1;
      return { id: job.id, startMs: startOf(job), nodes, places };
    });
  }

  /** `isSame`: nodes have the names and places that they had. */
  #toldOf({ id, nodes: text }: SchedulerJob, isSame: boolean): ToldJob {
    const last = this.#told.get(id);
    if (isSame && last?.text === text) return last;
    // A name that the board does not have stays the scheduler's: it is a node that nothing is known of.
    const names = expandNodeNames(text).map(name => this.#boardName.get(name) ?? name);
    const nodes = last !== undefined && last.nodes.join() === names.join() ? last.nodes : names;
    const places = Int32Array.from(nodes, name => getOrInsert(this.#places, name, () => this.#places.size));
    return { text, nodes, places };
  }

  /** Looks once; returns whether other nodes are marked than before, or other jobs judged. */
  look(): boolean {
    const before = this.#key();
    const nowMs = this.clock();
    if (this.#why === undefined && this.#see(nowMs)) {
      const seen: NodesSeen = { nowMs, ...this.#room };
      this.#last = this.#judge.look(seen, this.#jobs);
    }
    return this.#key() !== before;
  }

  get #marks(): Judgement['marks'] {
    return [...this.#last.marks.filter(({ node }) => !this.#doubted.has(node)), ...this.#kept];
  }

  #key(): string {
    const marks = this.#marks.map(({ job, node, reading, sinceMs }) => `${job} ${node} ${reading} ${sinceMs}`);
    return JSON.stringify([this.#why, marks, [...this.#last.unjudged]]);
  }

  /** Reads the board; returns whether it says how nodes are now. */
  #see(nowMs: number): boolean {
    this.#room.live.fill(0);
    try {
      for (const snapshot of this.board.pieces()) {
        if (snapshot.stalled || snapshot.retired) return false;
        this.#take(snapshot, nowMs);
      }
      return true;
    } catch (error) {
      if (error instanceof NoBoard) return false;
      throw error;
    }
  }

  #take(snapshot: Snapshot, nowMs: number): void {
    const { states, ages } = snapshot.overview;
    const [cursor, values, room] = [this.#cursor, this.#values, this.#room];
    const bytes = new Uint8Array(snapshot.view.buffer, snapshot.view.byteOffset, snapshot.view.byteLength);
    snapshot.names().forEach((name, index) => {
      const place = this.#places.get(name);
      if (place === undefined || room.judged[place] === 0 || states[index] !== LIVE) return;
      cursor.moveTo(snapshot, index);
      if (cursor.report < 0) return;
      this.#reader.read(cursor, bytes);
      room.live[place] = 1;
      room.stampMs[place] = nowMs - (ages[index] as number);
      room.hardware[place] = values[HARDWARE] as number;
      room.gpus[place] = values[GPUS] as number;
      const at = place * ROW;
      for (let row = 0; row < FIRST_GPU; row++) room.values[at + row] = values[row] as number;
      if (!((values[GPUS] as number) > 0)) {
        room.values.fill(Number.NaN, at + FIRST_GPU, at + ROW);
        return;
      }
      this.#gpuReader.read(cursor, bytes);
      room.values.set(this.#gpuValues, at + FIRST_GPU);
    });
  }

  /** What is to be written. */
  get told(): OddJobs {
    if (this.#why !== undefined) return { unjudged_all: this.#why, marks: [], unjudged: {} };
    const { unjudged } = this.#last;
    return {
      marks: this.#marks.map(({ sinceMs, ...mark }) => ({ ...mark, since_ms: Math.round(sinceMs) })),
      unjudged: Object.fromEntries(unjudged),
    };
  }
}
