// Finds the odd node of a job: it is given looks at all nodes, some seconds apart, and marks a node that differs from
// its peers in several new readings in a row. All state is in it, and the caller gives the time. It judges no job in its
// first two minutes or after a change of most of its nodes, and no node that is not known to be the job's alone.

import { type CountedValue, OutlierCells } from './cells.js';
import { deviation, findMiddle, floorAt, type Middle, median } from './deviation.js';
import { FEWEST, Peers } from './peers.js';
import { COMPARED, type Compared } from './readings.js';
import { Tallies } from './tallies.js';

/** All nodes at one moment, by their places; the same arrays may be used again for the next look. */
export interface NodesSeen {
  /** Of any clock that goes evenly, ms. */
  readonly nowMs: number;
  /** 1: it is live. */
  readonly live: Uint8Array;
  /** 1: it is known to be one job's alone. */
  readonly alone: Uint8Array;
  /** When its newest report came, of the same clock. */
  readonly stampMs: Float64Array;
  /** `hw_hash` and the number of GPUs; NaN: not known. */
  readonly hardware: Float64Array;
  readonly gpus: Float64Array;
  /** Of each node a value for each row of COMPARED; NaN: not measured. */
  readonly values: Float64Array;
}

/** A job that runs. */
export interface JobSeen {
  readonly id: string;
  /** When it began, of the clock of looks; absent: not known, and the first look counts. */
  readonly startMs?: number | undefined;
  /** Names of its nodes; the same array as long as they are the same. */
  readonly nodes: readonly string[];
  /** Their places; -1: it is not on the board. */
  readonly places: Int32Array;
}

/** A node that differs from its peers. Numbers are in the unit of the reading. */
interface Mark {
  readonly job: string;
  readonly node: string;
  readonly reading: string;
  value: number;
  /** Of the peers that are not marked for this reading: how many there are, their median, their lowest and highest. */
  peers: number;
  median: number;
  lowest: number;
  highest: number;
  /** Of the clock of looks, ms. */
  readonly sinceMs: number;
}

/**
 * Why a job is not judged now: it has just begun, most of its nodes have just changed, too few of its nodes can be
 * compared, or they are not known to be its alone.
 */
type Unjudged = 'young' | 'changed' | 'few' | 'shared';

export interface Judgement {
  /** Standing marks, also those that began earlier. */
  readonly marks: readonly Mark[];
  /** By the job's id. */
  readonly unjudged: ReadonlyMap<string, Unjudged>;
}

const ROW = COMPARED.length;
/** The readings that show how much nodes work, and when most nodes of a job begin to do something else. */
const WORK = ['cpu', 'gpu_util'] as const;
const WORK_ROWS = WORK.map(work => COMPARED.findIndex(({ reading }) => reading === work));
/** For each reading the place in WORK of the one that has to be equal among peers; -1: none. */
const EQUAL_BY = COMPARED.map(({ atEqual }) => (atEqual === undefined ? -1 : WORK.indexOf(atEqual)));

/** No marks begin for so long after a job's begin, ms. */
const QUIET_MS = 120_000;
/** No marks begin for so long after a change of most of a job's nodes, ms: then all slow readings are renewed twice. */
const CHANGED_MS = 30_000;
/** A step of CPU or GPU use of more points than this from one look to the next is a change. */
const CHANGE = 25;
/** A node is at work from so many per cent on, and as much as its peers within so many points of their median. */
const AT_WORK = 50;
const AS_MUCH = 15;
/** A load marks only among nodes of which at least so many have been alike. */
const MOST_ALIKE = 0.75;
/** 1,000 hours of a job that is looked at every 5 s. */
const LOOKS = 720_000;

/**
 * The limit in units of deviation: of so many values that are normally distributed, one is beyond it in 1,000 hours. It
 * grows as the largest of many values does (Gumbel). Three readings in a row are asked for beside it, because what nodes
 * do is not normal.
 */
export function limitOf(values: number): number {
  return Math.sqrt(2 * Math.log(values * LOOKS));
}

/** Whether a node is at work, and as much as its peers. */
export function isAtEqual(use: number, median: number): boolean {
  return median >= AT_WORK && use >= AT_WORK && Math.abs(use - median) <= AS_MUCH;
}

/** A group of nodes at one look, of which one reading after another is compared. All jobs use it in turn. */
class JudgedGroup {
  /** Their numbers within the job. */
  nodes: Int32Array = new Int32Array(0);
  /** Where they are on the board; -1: it is not there, not live or not the job's alone. */
  places = new Int32Array(0);
  /** The values of a reading; NaN: a node has none that can be compared. Longer than `nodes`. */
  own = new Float64Array(0);
  scratch = new Float64Array(0);
  readonly work = new Float64Array(WORK.length);

  take(nodes: Int32Array, { live, alone, values }: NodesSeen, places: Int32Array): void {
    const { length } = nodes;
    if (length > this.places.length) {
      this.places = new Int32Array(length);
      [this.own, this.scratch] = [new Float64Array(length), new Float64Array(length)];
    }
    this.nodes = nodes;
    for (let i = 0; i < length; i++) {
      const place = places[nodes[i] as number] as number;
      this.places[i] = place >= 0 && live[place] === 1 && alone[place] === 1 ? place : -1;
    }
    for (let by = 0; by < WORK.length; by++) this.work[by] = this.#median(values, WORK_ROWS[by] as number);
  }

  #median(values: Float64Array, row: number): number {
    let count = 0;
    for (let i = 0; i < this.nodes.length; i++) {
      const place = this.places[i] as number;
      const value = place < 0 ? Number.NaN : (values[place * ROW + row] as number);
      if (!Number.isNaN(value)) this.scratch[count++] = value;
    }
    return median(this.scratch, count);
  }
}

class JudgedJob {
  #nodes: readonly string[] = [];
  #peers = new Peers(0);
  #cells = new OutlierCells(0, 0);
  #tallies = new Tallies(0);
  #sinceMs: number;
  #quietMs = Number.NEGATIVE_INFINITY;
  #marks = new Map<number, Mark>();
  readonly #middle: Middle = { count: 0, median: Number.NaN, unit: Number.NaN };

  readonly #counted: CountedValue = { value: 0, stampMs: 0, isLoad: false, isBeyond: false, isWithin: false };

  /** `stood`: marks of before its first look. */
  constructor(
    readonly id: string,
    sinceMs: number,
    readonly stood: readonly Mark[],
  ) {
    this.#sinceMs = sinceMs;
  }

  get marks(): Iterable<Mark> {
    return this.#marks.values();
  }

  /** Its nodes are others now; of those that stay all is kept. */
  #change(nodes: readonly string[], nowMs: number): void {
    const before = new Map(this.#nodes.map((name, i) => [name, i]));
    const [peers, cells, marks] = [
      new Peers(nodes.length),
      new OutlierCells(nodes.length * ROW, nowMs),
      new Map<number, Mark>(),
    ];
    let kept = 0;
    nodes.forEach((name, node) => {
      const was = before.get(name);
      if (was === undefined) return;
      kept++;
      peers.take(node, this.#peers, was);
      cells.copy(this.#cells, was * ROW, node * ROW, ROW);
      for (let row = 0; row < ROW; row++) {
        const mark = this.#marks.get(was * ROW + row);
        if (mark !== undefined) marks.set(node * ROW + row, mark);
      }
    });
    if (before.size > 0 && kept < nodes.length / 2) this.#sinceMs = nowMs;
    for (const mark of before.size > 0 ? [] : this.stood) {
      const [node, row] = [nodes.indexOf(mark.node), COMPARED.findIndex(({ reading }) => reading === mark.reading)];
      if (node < 0 || row < 0) continue;
      cells.mark(node * ROW + row, nowMs);
      marks.set(node * ROW + row, mark);
    }
    [this.#nodes, this.#peers, this.#cells, this.#marks] = [nodes, peers, cells, marks];
    this.#tallies = new Tallies(nodes.length * ROW);
  }

  /** One look; returns why it is not judged now. */
  look(seen: NodesSeen, { nodes, places }: JobSeen, group: JudgedGroup): Unjudged | undefined {
    const { nowMs } = seen;
    if (nodes !== this.#nodes) this.#change(nodes, nowMs);
    if (this.#peers.isLearning) this.#learn(seen, places);
    let [most, mostShared] = [0, 0];
    for (const equals of this.#peers.groups) {
      let [own, shared] = [0, 0];
      for (let i = 0; i < equals.length; i++) {
        const place = places[equals[i] as number] as number;
        if (place < 0 || seen.live[place] === 0) continue;
        if (seen.alone[place] === 1) own++;
        else shared++;
      }
      most = Math.max(most, own);
      mostShared = Math.max(mostShared, own + shared);
      if (own >= FEWEST && this.#hasChanged(seen, places, equals)) this.#quietMs = nowMs + CHANGED_MS;
    }
    const isYoung = nowMs < this.#sinceMs + QUIET_MS;
    const isQuiet = isYoung || nowMs < this.#quietMs;
    for (const equals of this.#peers.groups) {
      group.take(equals, seen, places);
      for (let row = 0; row < ROW; row++) this.#judge(seen, group, row, isQuiet);
    }
    if (most < FEWEST) return mostShared < FEWEST ? 'few' : 'shared';
    if (isYoung) return 'young';
    return isQuiet ? 'changed' : undefined;
  }

  #learn({ live, hardware, gpus }: NodesSeen, places: Int32Array): void {
    for (let node = 0; node < places.length; node++) {
      const place = places[node] as number;
      if (place >= 0 && live[place] === 1) this.#peers.learn(node, hardware[place] as number, gpus[place] as number);
    }
  }

  /** Whether most nodes do something else than at their last new reading. */
  #hasChanged({ values, stampMs, alone, live }: NodesSeen, places: Int32Array, group: Int32Array): boolean {
    for (const row of WORK_ROWS) {
      let [known, changed] = [0, 0];
      for (let i = 0; i < group.length; i++) {
        const node = group[i] as number;
        const place = places[node] as number;
        if (place < 0 || live[place] === 0 || alone[place] === 0) continue;
        const [value, cell] = [values[place * ROW + row] as number, node * ROW + row];
        const last = this.#cells.last[cell] as number;
        if (Number.isNaN(value) || Number.isNaN(last)) continue;
        known++;
        if (Math.abs(value - last) > CHANGE && this.#cells.isNew(cell, value, stampMs[place] as number, 0)) changed++;
      }
      if (known >= FEWEST && changed > known / 2) return true;
    }
    return false;
  }

  #judge(seen: NodesSeen, group: JudgedGroup, row: number, isQuiet: boolean): void {
    const compared = COMPARED[row] as Compared;
    const { nowMs, stampMs } = seen;
    const { nodes, places, own, scratch } = group;
    const middle = this.#middle;
    // Most readings of most looks are all alike, which needs no median.
    const isCalm = this.#gather(seen, group, row);
    if (!isCalm) findMiddle(compared, own, nodes.length, scratch, middle);
    const isEnough = middle.count >= FEWEST;
    const limit = limitOf(middle.count * ROW);
    const floor = floorAt(compared, middle.median);
    const { renewMs = 0, lastsMs = 0 } = compared;
    const counted = this.#counted;
    counted.isLoad = compared.class === 'load';
    for (let i = 0; i < nodes.length; i++) {
      const value = own[i] as number;
      const cell = (nodes[i] as number) * ROW + row;
      if (!isEnough || Number.isNaN(value)) {
        if (this.#cells.miss(cell, nowMs)) this.#marks.delete(cell);
        continue;
      }
      const stamp = stampMs[places[i] as number] as number;
      if (!this.#cells.isNew(cell, value, stamp, renewMs)) continue;
      counted.value = value;
      counted.stampMs = stamp;
      const far = isCalm ? 0 : deviation(compared, value, middle);
      counted.isBeyond = far > limit && !isQuiet && (!counted.isLoad || this.#isAlikeAmong(group, row, nowMs));
      counted.isWithin = isCalm || (counted.isLoad ? Math.abs(value - middle.median) <= floor : far <= 1);
      if (this.#cells.count(cell, counted, lastsMs) === 'ends') this.#marks.delete(cell);
      if (this.#cells.isMarked[cell] === 1) this.#tell(cell, compared, group, i);
    }
  }

  /**
   * Takes the values of a group; returns whether they lie so close together that none is further from the median than
   * the floor, whatever it is. Then `#middle` has their count alone. Of a group of which less than half works equally
   * much nothing is compared: which nodes these are is chance, and so is their middle.
   */
  #gather({ nowMs, values }: NodesSeen, { nodes, places, own, work }: JudgedGroup, row: number): boolean {
    const compared = COMPARED[row] as Compared;
    const { isTally, settlesMs = 0 } = compared;
    const by = EQUAL_BY[row] as number;
    const byRow = WORK_ROWS[by];
    let [known, count, least, most] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = 0; i < nodes.length; i++) {
      const [place, cell] = [places[i] as number, (nodes[i] as number) * ROW + row];
      let value = place < 0 ? Number.NaN : (values[place * ROW + row] as number);
      if (!Number.isNaN(value)) known++;
      if (byRow !== undefined) {
        const isEqual = place >= 0 && isAtEqual(values[place * ROW + byRow] as number, work[by] as number);
        if (!this.#cells.isSettled(cell, isEqual, nowMs, settlesMs)) value = Number.NaN;
      }
      if (isTally && place >= 0) value = this.#tallies.growth(cell, value, nowMs);
      own[i] = value;
      if (Number.isNaN(value)) continue;
      count++;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    if (2 * count < known) {
      own.fill(Number.NaN, 0, nodes.length);
      count = 0;
    }
    this.#middle.count = count;
    return count > 0 && most - least <= floorAt(compared, least > 0 ? least : 0);
  }

  /** Whether most nodes of a group have been alike in a reading until now, if one of them has just left the others. */
  #isAlikeAmong({ nodes, places }: JudgedGroup, row: number, nowMs: number): boolean {
    let [known, alike] = [0, 1];
    for (let i = 0; i < nodes.length; i++) {
      if ((places[i] as number) < 0) continue;
      known++;
      if (this.#cells.isAlike((nodes[i] as number) * ROW + row, nowMs)) alike++;
    }
    return alike >= MOST_ALIKE * known;
  }

  #tell(cell: number, { reading }: Compared, { nodes, own }: JudgedGroup, which: number): void {
    const node = nodes[which] as number;
    const row = cell - node * ROW;
    const isOther = (value: number, i: number) => i !== which && i < nodes.length && !Number.isNaN(value);
    const isGood = (i: number) => this.#cells.isMarked[(nodes[i] as number) * ROW + row] === 0;
    const good = own.filter((value, i) => isOther(value, i) && isGood(i));
    const others = (good.length > 0 ? good : own.filter(isOther)).sort();
    const [low = Number.NaN, high = Number.NaN] = [others[(others.length - 1) >> 1], others[others.length >> 1]];
    const told = {
      ...{ value: own[which] as number, peers: others.length, median: (low + high) / 2 },
      ...{ lowest: others[0] ?? low, highest: others.at(-1) ?? high },
    };
    const mark = this.#marks.get(cell);
    if (mark !== undefined) Object.assign(mark, told);
    else
      this.#marks.set(cell, {
        ...{ job: this.id, node: this.#nodes[node] as string, reading, ...told },
        sinceMs: this.#cells.beyondMs[cell] as number,
      });
  }
}

/** Judges all jobs, from look to look. */
export class Judge {
  #jobs = new Map<string, JudgedJob>();
  readonly #group = new JudgedGroup();

  /** Marks that an earlier judge left, until the first look: they stand until this one finds otherwise. */
  #stood: readonly Mark[];

  constructor(stood: readonly Mark[] = []) {
    this.#stood = stood;
  }

  /** One look at all nodes; `jobs` are all that run, and what is known of others is forgotten. */
  look(seen: NodesSeen, jobs: Iterable<JobSeen>): Judgement {
    const [next, marks, unjudged] = [new Map<string, JudgedJob>(), [] as Mark[], new Map<string, Unjudged>()];
    for (const job of jobs) {
      const judged = this.#jobs.get(job.id) ?? this.#begin(job, seen.nowMs);
      next.set(job.id, judged);
      const why = judged.look(seen, job, this.#group);
      if (why !== undefined) unjudged.set(job.id, why);
      for (const mark of judged.marks) marks.push(mark);
    }
    this.#jobs = next;
    this.#stood = [];
    return { marks, unjudged };
  }

  #begin({ id, startMs }: JobSeen, nowMs: number): JudgedJob {
    const stood = this.#stood.filter(({ job }) => job === id);
    return new JudgedJob(id, startMs ?? nowMs, stood);
  }
}
