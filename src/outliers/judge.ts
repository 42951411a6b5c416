// Finds the odd node of a job: it is given looks at all nodes, some seconds apart, and marks a node that differs from
// its peers in several new readings in a row, by a fault that good nodes never have, or as it did not while the job was
// young. All state is in it, and the caller gives the time. It judges no job in its first two minutes or after a change
// of most of its nodes, and no node that is not known to be the job's alone.

import { ALIKE_MS, type CountedValue, LEAVING_MS, OutlierCells } from './cells.js';
import { deviation, deviations, findMiddle, floorAt, type Middle, median } from './deviation.js';
import { LEARNING_MS, OwnParts } from './ownparts.js';
import { FEWEST, Peers } from './peers.js';
import { COMPARED, type Compared } from './readings.js';
import { Tallies } from './tallies.js';
import { JobTraffic } from './traffic.js';

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
  /** By how much it differed from them before: a factor, or so much more; absent: that does not count. */
  own?: number | undefined;
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
const TRAFFIC_ROWS = ['net', 'fabric'].map(of => COMPARED.findIndex(({ reading }) => reading === of));
/**
 * Loads first: who does something else is not compared in what depends on it. Those that tell nothing are only shown, or
 * stand behind another reading.
 */
const ORDER = [...COMPARED.keys()]
  .filter(row => COMPARED[row]?.class !== 'load' || COMPARED[row]?.tells !== undefined)
  .sort((a, b) => Number(COMPARED[b]?.class === 'load') - Number(COMPARED[a]?.class === 'load'));
/** The same without those of single GPUs, and the places of these by what they are. */
const WITHOUT_GPUS = ORDER.filter(row => COMPARED[row]?.gpu === undefined);
const GPU_ROWS = ['power_w', 'temp_degc', 'util_pct'].map(what =>
  [...COMPARED.keys()].filter(row => COMPARED[row]?.reading.endsWith(`.${what}`) && COMPARED[row]?.gpu !== undefined),
);
/** Those of which what is a node's own is learned, and whether that is a factor. */
const IS_OWN = COMPARED.map(one => one.class === 'condition' || one.tells === 'part');
/** Those of a whole node that its part of the work decides: in a farm of tasks, the task that it has now. */
const IS_OF_WORK = COMPARED.map(one => one.class === 'condition' && one.gpu === undefined);
/** Those that follow what the job does, each node a little sooner or later. */
const NEEDS_CALM = COMPARED.map(one => one.class === 'condition' || one.tells === 'hang');
const IS_SORTED = COMPARED.map(({ tells }) => tells === 'part');
const IS_FACTOR = COMPARED.map(({ floorShare }) => floorShare > 0);
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
/** A node does something else than before from so many units on. */
const ANOTHER_PART = 3;
/** Who is worse than it was is marked if it is worse than its peers, too, by so many units of at most so many floors. */
const WORSE = 2;
/** A node does nothing if it works less than this share of what its peers do. */
const NOTHING = 0.25;
/** A node writes or reads from so much on: some floors. */
const WRITING = ['disk', 'pressure_io'].map(of => {
  const row = COMPARED.findIndex(({ reading }) => reading === of);
  return [row, ANOTHER_PART * (COMPARED[row]?.floor ?? 0)] as const;
});
/** Several nodes that leave the others together are no accident: so long it has to last before it is no phase, ms. */
const GROUP_MS = 300_000;
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

/**
 * A reading of a GPU that works beside those of the other GPUs of its node: what all of these share, as a swing of their
 * work, is not in it. NaN: it does not work as they do.
 */
function besideOthers(values: Float64Array, at: number, row: number, gpu: number): number {
  const [value, rows] = [values[at + row] as number, GPU_ROWS.find(rows => rows[gpu] === row) as number[]];
  const use = values[at + ((GPU_ROWS[2] as number[])[gpu] as number)] as number;
  const usual = values[at + (WORK_ROWS[1] as number)] as number;
  if (!Number.isNaN(use) && !isAtEqual(use, usual)) return Number.NaN;
  let [sum, count] = [0, 0];
  for (const other of rows) {
    const more = values[at + other] as number;
    if (other === row || Number.isNaN(more)) continue;
    sum += more;
    count++;
  }
  if (count === 0) return value;
  return IS_FACTOR[row] ? value / (sum / count) : value - sum / count;
}

/** A group of nodes at one look, of which one reading after another is compared. All jobs use it in turn. */
class JudgedGroup {
  /** Their numbers within the job. */
  nodes: Int32Array = new Int32Array(0);
  /** Where they are on the board; -1: it is not there, not live or not the job's alone. */
  places = new Int32Array(0);
  /** The values of a reading; NaN: a node has none that can be compared. Longer than `nodes`. */
  own = new Float64Array(0);
  /** The same as they were measured: `own` may be without what is the node's own. */
  raw = new Float64Array(0);
  /** 1: at this look it works as much as the others; it does something else than while the job was young. */
  isAtWork = new Uint8Array(0);
  isElsewhere = new Uint8Array(0);
  /** Whether what is a node's own in the present reading is not known of all. */
  isLearning = false;
  /** The traffic of the node in the middle of those at work, and the reading with the most of it; NaN: most do not work. */
  traffic = Number.NaN;
  trafficRow = -1;
  /** That of the node at work that has the most. */
  mostTraffic = 0;
  scratch = new Float64Array(0);
  readonly work = new Float64Array(WORK.length);

  take(nodes: Int32Array, { live, alone, values }: NodesSeen, places: Int32Array): void {
    const { length } = nodes;
    if (length > this.places.length) {
      this.places = new Int32Array(length);
      [this.own, this.raw] = [new Float64Array(length), new Float64Array(length)];
      this.scratch = new Float64Array(length);
      [this.isAtWork, this.isElsewhere] = [new Uint8Array(length), new Uint8Array(length)];
    }
    this.isElsewhere.fill(0);
    this.nodes = nodes;
    for (let i = 0; i < length; i++) {
      const place = places[nodes[i] as number] as number;
      this.places[i] = place >= 0 && live[place] === 1 && alone[place] === 1 ? place : -1;
    }
    for (let by = 0; by < WORK.length; by++) this.work[by] = median(this.#known(values, WORK_ROWS[by] as number));
    for (let i = 0; i < length; i++) {
      const at = (this.places[i] as number) * ROW;
      const isEqual = (use: number, by: number) => isAtEqual(values[at + (WORK_ROWS[by] as number)] as number, use);
      this.isAtWork[i] = Number(at >= 0 && this.work.some(isEqual));
    }
    this.mostTraffic = 0;
    const [net = 0, fabric = 0] = TRAFFIC_ROWS.map(row => {
      const known = this.#known(values, row, this.isAtWork);
      for (const one of known) this.mostTraffic = Math.max(this.mostTraffic, one);
      return median(known);
    });
    const isAtWork = this.work.some(use => use >= AT_WORK);
    this.traffic = isAtWork ? (Number.isNaN(net) ? fabric : Number.isNaN(fabric) ? net : net + fabric) : Number.NaN;
    this.trafficRow = TRAFFIC_ROWS[fabric > net || Number.isNaN(net) ? 1 : 0] as number;
  }

  /** Until it is asked again. */
  #known(values: Float64Array, row: number, among?: Uint8Array): Float64Array {
    let count = 0;
    for (let i = 0; i < this.nodes.length; i++) {
      const place = among?.[i] === 0 ? -1 : (this.places[i] as number);
      const value = place < 0 ? Number.NaN : (values[place * ROW + row] as number);
      if (!Number.isNaN(value)) this.scratch[count++] = value;
    }
    return this.scratch.subarray(0, count);
  }
}

class JudgedJob {
  #nodes: readonly string[] = [];
  #peers = new Peers(0);
  #cells = new OutlierCells(0, 0);
  #tallies = new Tallies(0);
  #parts = new OwnParts(0);
  /** 1 at the cell of the first node of a group: no node of it has left the others in that reading. */
  #isClosed = new Uint8Array(0);
  #traffic = new JobTraffic();
  /** When it was looked at for the first time. */
  #firstMs = Number.NaN;
  #quietMs = Number.NEGATIVE_INFINITY;
  #marks = new Map<number, Mark>();
  /** Marks that began together, which are told alike: of each its cells. */
  #together = new Map<number, readonly number[]>();
  readonly #middle: Middle = { count: 0, median: Number.NaN, unit: Number.NaN };

  readonly #counted: CountedValue = { value: 0, stampMs: 0, isLoad: false, isBeyond: false, isWithin: false };

  /** `stood`: marks of before its first look. */
  constructor(
    readonly id: string,
    private sinceMs: number,
    readonly stood: readonly Mark[],
  ) {}

  get marks(): Iterable<Mark> {
    return this.#marks.values();
  }

  /** Its nodes are others now; of those that stay all is kept. */
  #change(nodes: readonly string[], places: Int32Array, nowMs: number): void {
    const before = new Map(this.#nodes.map((name, i) => [name, i]));
    const [peers, cells, parts, marks] = [
      new Peers(nodes.length),
      new OutlierCells(nodes.length * ROW, nowMs),
      new OwnParts(nodes.length * ROW),
      new Map<number, Mark>(),
    ];
    let kept = 0;
    nodes.forEach((name, node) => {
      const was = before.get(name);
      if (was === undefined) return;
      kept++;
      peers.take(node, this.#peers, was);
      cells.copy(this.#cells, was * ROW, node * ROW, ROW);
      parts.copy(this.#parts, was * ROW, node * ROW, ROW);
      for (let row = 0; row < ROW; row++) {
        const mark = this.#marks.get(was * ROW + row);
        if (mark !== undefined) marks.set(node * ROW + row, mark);
      }
    });
    if (before.size > 0 && kept < nodes.length / 2) this.sinceMs = nowMs;
    if (kept < nodes.length / 2) [this.#firstMs, this.#traffic] = [nowMs, new JobTraffic()];
    for (const mark of before.size > 0 ? [] : this.stood) {
      const [node, row] = [nodes.indexOf(mark.node), COMPARED.findIndex(({ reading }) => reading === mark.reading)];
      if (row < 0 || !((places[node] ?? -1) >= 0)) continue;
      cells.mark(node * ROW + row, nowMs);
      parts.know(node * ROW + row, mark.own ?? (IS_FACTOR[row] ? 1 : 0));
      marks.set(node * ROW + row, mark);
    }
    [this.#nodes, this.#peers, this.#cells, this.#parts, this.#marks] = [nodes, peers, cells, parts, marks];
    this.#together = new Map();
    this.#isClosed = new Uint8Array(nodes.length * ROW);
    this.#tallies = new Tallies(nodes.length * ROW);
  }

  /** One look; returns why it is not judged now. */
  look(seen: NodesSeen, { nodes, places }: JobSeen, group: JudgedGroup): Unjudged | undefined {
    const { nowMs } = seen;
    if (nodes !== this.#nodes) this.#change(nodes, places, nowMs);
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
    const isYoung = nowMs < this.sinceMs + QUIET_MS;
    const isQuiet = isYoung || nowMs < this.#quietMs;
    this.#peers.groups.forEach((equals, i) => {
      group.take(equals, seen, places);
      if (i === 0) this.#traffic.look(group.traffic, group.mostTraffic, nowMs);
      // What good nodes never have does not depend on what they do.
      const rows = this.#peers.hasGpus(equals[0] as number) ? ORDER : WITHOUT_GPUS;
      for (const row of rows) this.#judge(seen, group, row, NEEDS_CALM[row] ? isQuiet : isYoung);
    });
    if (most < FEWEST) return mostShared < FEWEST ? 'few' : 'shared';
    if (isYoung) return 'young';
    return isQuiet ? 'changed' : undefined;
  }

  #learn({ live, hardware, gpus }: NodesSeen, places: Int32Array): void {
    this.#isClosed.fill(0);
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
    const { nodes, places, own, raw, scratch, isElsewhere } = group;
    const middle = this.#middle;
    // Most readings of most looks are all alike, which needs no median, and is nothing new where nobody had left.
    const isCalm = this.#gather(seen, group, row);
    if (!isCalm || group.isLearning) findMiddle(compared, own, nodes.length, scratch, middle);
    const isEnough = middle.count >= FEWEST;
    if (row === group.trafficRow && isEnough)
      this.#traffic.share(isCalm ? 0 : Math.min(1, middle.unit / middle.median));
    const first = (nodes[0] as number) * ROW + row;
    if (isCalm && !group.isLearning && this.#isClosed[first] === 1) return;
    this.#isClosed[first] = Number(!WORK_ROWS.includes(row));
    const limit = limitOf(middle.count * ROW);
    const floor = floorAt(compared, middle.median);
    const { renewMs = 0, lastsMs = 0 } = compared;
    const crowd = isCalm || !isEnough ? 0 : this.#crowd(compared, group, row, limit, nowMs);
    const counted = this.#counted;
    counted.isLoad = compared.class === 'load';
    // Loads that several nodes have are a share of the work, and conditions may be.
    const isAlone = crowd <= 1;
    const canBegin = !isQuiet && (isAlone || !counted.isLoad) && (!IS_OF_WORK[row] || this.#traffic.isOfAll);
    const lasts = isAlone || compared.class === 'fault' ? lastsMs : Number.POSITIVE_INFINITY;
    for (let i = 0; i < nodes.length; i++) {
      const value = own[i] as number;
      const cell = (nodes[i] as number) * ROW + row;
      if (group.isLearning && !Number.isNaN(value) && !this.#parts.isKnown(cell)) {
        this.#learnOwn(seen, group, row, cell, i);
        this.#isClosed[first] = 0;
        continue;
      }
      if (IS_SORTED[row]) {
        if (!isCalm && isEnough && deviation(compared, value, middle) >= ANOTHER_PART) isElsewhere[i] = 1;
        continue;
      }
      const stamp = stampMs[places[i] as number] as number;
      if (!isEnough || Number.isNaN(value)) {
        if (this.#cells.miss(cell, nowMs)) this.#unmark(cell);
      } else if (this.#cells.isNew(cell, raw[i] as number, stamp, renewMs)) {
        counted.value = raw[i] as number;
        counted.stampMs = stamp;
        const far = isCalm ? 0 : deviation(compared, value, middle);
        const isFar = far > limit && canBegin;
        counted.isBeyond = isFar && this.#doesTell(seen, group, row, i);
        // It was better than the others and is as they are now: that is its own from now on.
        if (isFar && !counted.isBeyond && IS_OF_WORK[row] && this.#cells.isMarked[cell] === 0) this.#parts.forget(cell);
        counted.isWithin = isCalm || (counted.isLoad ? Math.abs(value - middle.median) <= floor : far <= 1);
        if (this.#cells.count(cell, counted, lasts) === 'ends') this.#unmark(cell);
        if (this.#cells.isMarked[cell] === 1) this.#tell(cell, compared, group, i);
      }
      if (this.#cells.isOpen(cell)) this.#isClosed[first] = 0;
    }
    if (!isAlone && compared.class === 'condition') this.#beginTogether(seen, group, row);
  }

  #unmark(cell: number): void {
    this.#marks.delete(cell);
    this.#together.delete(cell);
  }

  /** How many nodes beyond the limit have left the others lately and are not marked. */
  #crowd(compared: Compared, { nodes, own }: JudgedGroup, row: number, limit: number, nowMs: number): number {
    let count = 0;
    for (let i = 0; i < nodes.length; i++) {
      if (!(deviation(compared, own[i] as number, this.#middle) > limit)) continue;
      const cell = (nodes[i] as number) * ROW + row;
      const isOld = nowMs - (this.#cells.leftMs[cell] as number) >= ALIKE_MS;
      if (!isOld && this.#cells.isMarked[cell] === 0) count++;
    }
    return count;
  }

  /** Marks all nodes that left the others together, once the first has been away for long. */
  #beginTogether({ nowMs }: NodesSeen, group: JudgedGroup, row: number): void {
    const { nodes } = group;
    const cells = Array.from(nodes, node => node * ROW + row).filter(
      cell => this.#cells.isMarked[cell] === 0 && this.#cells.isRipe(cell),
    );
    const sinceMs = Math.min(...cells.map(cell => this.#cells.beyondMs[cell] as number));
    if (!(nowMs - sinceMs >= GROUP_MS)) return;
    for (const cell of cells) {
      this.#cells.mark(cell, nowMs);
      this.#cells.beyondMs[cell] = sinceMs;
      if (cells.length > 1) this.#together.set(cell, cells);
    }
    nodes.forEach((node, i) => {
      if (cells.includes(node * ROW + row)) this.#tell(node * ROW + row, COMPARED[row] as Compared, group, i);
    });
  }

  /** Learns what is a node's own, beside the level of all. */
  #learnOwn({ nowMs, stampMs }: NodesSeen, group: JudgedGroup, row: number, cell: number, i: number): void {
    const { places, own, raw } = group;
    const [value, stamp] = [raw[i] as number, stampMs[places[i] as number] as number];
    if (this.#middle.count < FEWEST || !this.#cells.isNew(cell, value, stamp, COMPARED[row]?.renewMs ?? 0)) return;
    this.#cells.see(cell, value, stamp);
    const isEnough = nowMs - this.#firstMs >= LEARNING_MS;
    this.#parts.learn(cell, own[i] as number, this.#middle.median, IS_FACTOR[row] as boolean, isEnough);
  }

  /**
   * Takes the values of a group; returns whether they lie so close together that none is further from the median than
   * the floor, whatever it is. Then `#middle` has their count alone. Of a group of which less than half works equally
   * much nothing is compared: which nodes these are is chance, and so is their middle.
   */
  #gather({ nowMs, values }: NodesSeen, group: JudgedGroup, row: number): boolean {
    const { nodes, places, own, raw, work, isAtWork, isElsewhere } = group;
    group.isLearning = false;
    const compared = COMPARED[row] as Compared;
    const { isTally, tells, gpu, fallsWithUse, settlesMs = 0 } = compared;
    const by = EQUAL_BY[row] as number;
    const byRow = WORK_ROWS[by];
    let [known, count] = [0, 0];
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = 0; i < nodes.length; i++) {
      const [place, cell] = [places[i] as number, (nodes[i] as number) * ROW + row];
      let value = place < 0 ? Number.NaN : (values[place * ROW + row] as number);
      if (!Number.isNaN(value)) known++;
      if (byRow !== undefined) {
        const isSame = place >= 0 && isElsewhere[i] === 0;
        const isEqual = isSame && isAtEqual(values[place * ROW + byRow] as number, work[by] as number);
        if (!this.#cells.isSettled(cell, isEqual, nowMs, settlesMs)) value = Number.NaN;
      } else if (tells === 'part' && isAtWork[i] === 0) value = Number.NaN;
      if (isTally && place >= 0) value = this.#tallies.growth(cell, value, nowMs);
      raw[i] = value;
      if (fallsWithUse) value *= (work[by] as number) / (values[place * ROW + (byRow as number)] as number);
      if (gpu !== undefined && IS_OWN[row] && !Number.isNaN(value))
        value = this.#parts.smooth(cell, besideOthers(values, place * ROW, row, gpu));
      if (Number.isNaN(value)) {
        own[i] = value;
        continue;
      }
      if (IS_OWN[row] && !this.#parts.isKnown(cell)) group.isLearning = true;
      else if (IS_OWN[row]) value = this.#parts.without(cell, value, IS_FACTOR[row] as boolean);
      own[i] = value;
      count++;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    if (2 * count < known) {
      own.fill(Number.NaN, 0, nodes.length);
      count = 0;
    }
    this.#middle.count = count;
    return count === 0 || most - least <= floorAt(compared, least > 0 ? least : 0);
  }

  /** Whether a reading of a node that is beyond the limit tells of a fault. */
  #doesTell({ nowMs, values }: NodesSeen, group: JudgedGroup, row: number, i: number): boolean {
    const compared = COMPARED[row] as Compared;
    const { tells } = compared;
    const { nodes, places, raw, work } = group;
    if (IS_OF_WORK[row]) {
      const others = raw.slice(0, nodes.length).fill(Number.NaN, i, i + 1);
      const { middle } = deviations(compared, others);
      middle.unit = Math.min(middle.unit, WORSE * floorAt(compared, middle.median));
      return deviation(compared, raw[i] as number, middle) >= WORSE;
    }
    if (compared.class !== 'load') return true;
    if (!this.#isAlikeAmong(group, row, nowMs)) return false;
    if (tells !== 'hang') return true;
    // Others wait for one that writes for all, too.
    const at = (places[i] as number) * ROW;
    if (WRITING.some(([of, most]) => (values[at + of] as number) > most)) return false;
    const others = work[WORK_ROWS.indexOf(row)] as number;
    const leftMs = this.#cells.leftMs[(nodes[i] as number) * ROW + row] as number;
    const isIdle = others >= AT_WORK && (raw[i] as number) <= NOTHING * others;
    return isIdle && this.#traffic.hasStopped(leftMs, LEAVING_MS, ALIKE_MS);
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

  #tell(cell: number, { reading }: Compared, { nodes, raw }: JudgedGroup, which: number): void {
    const node = nodes[which] as number;
    const row = cell - node * ROW;
    const isOther = (value: number, i: number) => i !== which && i < nodes.length && !Number.isNaN(value);
    const cellOf = (i: number) => (nodes[i] as number) * ROW + row;
    const good = raw.filter((value, i) => isOther(value, i) && this.#cells.isMarked[cellOf(i)] === 0);
    const others = (good.length > 0 ? good : raw.filter(isOther)).sort();
    const middleOf = (sorted: Float64Array) => median(sorted, sorted.length);
    const together = this.#together.get(cell);
    const value = together
      ? middleOf(raw.filter((value, i) => i < nodes.length && !Number.isNaN(value) && together.includes(cellOf(i))))
      : (raw[which] as number);
    const told = {
      ...{ value, peers: others.length, median: middleOf(others) },
      ...{ lowest: others[0] ?? Number.NaN, highest: others.at(-1) ?? Number.NaN },
      ...(IS_OWN[row] && { own: Number(this.#parts.own(cell).toPrecision(6)) }),
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

  /** `stood`: marks that an earlier judge left, until the first look: they stand until this one finds otherwise. */
  constructor(private stood: readonly Mark[] = []) {}

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
    this.stood = [];
    return { marks, unjudged };
  }

  #begin({ id, startMs }: JobSeen, nowMs: number): JudgedJob {
    // A job that was begun again under its name, or on another board, is another one.
    const stood = this.stood.filter(({ job, sinceMs }) => job === id && !(sinceMs < (startMs ?? sinceMs)));
    return new JudgedJob(id, startMs ?? nowMs, stood);
  }
}
