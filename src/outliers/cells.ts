// What is remembered of one reading of one node of a job from look to look, as arrays over all of them: whether it is
// beyond the limit, since when, and whether it was like the others before. Pure; makes no objects.

/** So many new readings in a row begin a mark, and end it. */
const IN_A_ROW = 3;
/** Readings closer together than this are as one, ms: a short burst is no difference, however often it is looked at. */
const LEAST_MS = 4_500;
/** A slow source is a little early or late, ms. */
const SLACK_MS = 500;
/** For so long a load must have been as that of the others, ms. */
export const ALIKE_MS = 600_000;
/** The most time of being alike that is remembered, ms. Each millisecond away in between takes AWAY_COSTS of it. */
const MOST_ALIKE_MS = 1_200_000;
const AWAY_COSTS = 5;
/** A load marks only if it went from within the floor to beyond the limit in at most this time, ms. */
export const LEAVING_MS = 60_000;
/** A mark ends after so long without a reading that can be compared, ms. */
const KEPT_MS = 300_000;

/**
 * A new reading: of a report that came at `stampMs`, of a load among others of which most were alike, beyond the limit,
 * within the floor.
 */
export interface CountedValue {
  value: number;
  stampMs: number;
  isLoad: boolean;
  isBeyond: boolean;
  isWithin: boolean;
}

type OutlierChange = 'none' | 'begins' | 'ends';

export class OutlierCells {
  /** When the last new reading was counted, and its value. */
  readonly #countedMs: Float64Array;
  readonly last: Float64Array;
  /** New readings in a row beyond the limit, and within the floor. */
  readonly #beyond: Uint8Array;
  readonly #within: Uint8Array;
  /** Since when it has been within the floor, and since when its node has worked as much as its peers; NaN: it does not. */
  readonly #alikeMs: Float64Array;
  readonly #equalMs: Float64Array;
  /** When it left the floor, and when it went beyond the limit; NaN: it has not. */
  readonly leftMs: Float64Array;
  readonly beyondMs: Float64Array;
  readonly isMarked: Uint8Array;

  /** `nowMs`: before that nothing is known of them. */
  constructor(count: number, nowMs: number) {
    this.#countedMs = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
    this.last = new Float64Array(count).fill(Number.NaN);
    this.#beyond = new Uint8Array(count);
    this.#within = new Uint8Array(count);
    this.#alikeMs = new Float64Array(count).fill(nowMs);
    this.#equalMs = new Float64Array(count).fill(Number.NaN);
    this.leftMs = new Float64Array(count).fill(Number.NaN);
    this.beyondMs = new Float64Array(count).fill(Number.NaN);
    this.isMarked = new Uint8Array(count);
  }

  /** Takes over `count` cells from others, of a node that stays in its job. */
  copy(from: OutlierCells, at: number, to: number, count: number): void {
    const pairs = [
      [from.#countedMs, this.#countedMs],
      [from.last, this.last],
      [from.#beyond, this.#beyond],
      [from.#within, this.#within],
      [from.#alikeMs, this.#alikeMs],
      [from.#equalMs, this.#equalMs],
      [from.leftMs, this.leftMs],
      [from.beyondMs, this.beyondMs],
      [from.isMarked, this.isMarked],
    ] as const;
    for (const [source, target] of pairs) for (let i = 0; i < count; i++) target[to + i] = source[at + i] as number;
  }

  /** It is marked since before anything is known here. */
  mark(cell: number, nowMs: number): void {
    this.isMarked[cell] = 1;
    this.#within[cell] = 0;
    this.#countedMs[cell] = nowMs;
  }

  /**
   * Whether a reading of a report that came at `stampMs` is new: the sender renews it every `renewMs`, and a value that
   * is another one is certainly new.
   */
  isNew(cell: number, value: number, stampMs: number, renewMs: number): boolean {
    const least = value === this.last[cell] ? Math.max(LEAST_MS, renewMs - SLACK_MS) : LEAST_MS;
    return stampMs - (this.#countedMs[cell] as number) >= least;
  }

  /** Takes note of a new reading that is not judged. */
  see(cell: number, value: number, stampMs: number): void {
    this.#countedMs[cell] = stampMs;
    this.last[cell] = value;
  }

  /** Whether it has been beyond the limit for long enough to be marked. */
  isRipe(cell: number): boolean {
    return (this.#beyond[cell] as number) >= IN_A_ROW;
  }

  /** Counts a new reading, whose difference has to last for `lastsMs` before it is a mark. */
  count(cell: number, { value, stampMs, isLoad, isBeyond, isWithin }: CountedValue, lastsMs: number): OutlierChange {
    this.see(cell, value, stampMs);
    this.#within[cell] = isWithin ? Math.min(255, (this.#within[cell] as number) + 1) : 0;
    if (this.isMarked[cell] === 1) {
      if ((this.#within[cell] as number) < IN_A_ROW) return 'none';
      this.#end(cell, stampMs);
      return 'ends';
    }
    const leftMs = this.leftMs[cell] as number;
    if (!isWithin && Number.isNaN(leftMs)) this.leftMs[cell] = stampMs;
    if (isWithin && !Number.isNaN(leftMs)) this.#return(cell, leftMs, stampMs);
    if (!isBeyond) {
      this.#beyond[cell] = 0;
      return 'none';
    }
    this.#beyond[cell] = Math.min(255, (this.#beyond[cell] as number) + 1);
    if (this.#beyond[cell] === 1) this.beyondMs[cell] = stampMs;
    const isLong = this.isRipe(cell) && stampMs - (this.beyondMs[cell] as number) >= lastsMs;
    if (!isLong || (isLoad && !this.#wasAlike(cell))) return 'none';
    this.isMarked[cell] = 1;
    return 'begins';
  }

  /** The reading is within the floor again. The time that it was alike before counts on, less what being away costs. */
  #return(cell: number, leftMs: number, nowMs: number): void {
    const fromMs = Math.max(this.#alikeMs[cell] as number, leftMs - MOST_ALIKE_MS);
    this.#alikeMs[cell] = Math.min(nowMs, fromMs + (1 + AWAY_COSTS) * (nowMs - leftMs));
    this.leftMs[cell] = Number.NaN;
  }

  /** Whether it is within the floor and has been for long. */
  isAlike(cell: number, nowMs: number): boolean {
    return Number.isNaN(this.leftMs[cell] as number) && nowMs - (this.#alikeMs[cell] as number) >= ALIKE_MS;
  }

  /** Whether its node, which works as much as its peers or not, has done so for long enough that it can be compared. */
  isSettled(cell: number, isEqual: boolean, nowMs: number, settlesMs: number): boolean {
    if (!isEqual) this.#equalMs[cell] = Number.NaN;
    else if (Number.isNaN(this.#equalMs[cell] as number)) this.#equalMs[cell] = nowMs;
    return nowMs - (this.#equalMs[cell] as number) >= settlesMs;
  }

  /** Whether it is marked, beyond the limit or not within the floor. */
  isOpen(cell: number): boolean {
    return this.isMarked[cell] === 1 || this.#beyond[cell] !== 0 || !Number.isNaN(this.leftMs[cell] as number);
  }

  #wasAlike(cell: number): boolean {
    const leftMs = this.leftMs[cell] as number;
    return (
      leftMs - (this.#alikeMs[cell] as number) >= ALIKE_MS && (this.beyondMs[cell] as number) - leftMs <= LEAVING_MS
    );
  }

  /** Ends a mark: what comes is a new story. */
  #end(cell: number, nowMs: number): void {
    this.isMarked[cell] = 0;
    this.#beyond[cell] = 0;
    this.leftMs[cell] = Number.NaN;
    this.#alikeMs[cell] = nowMs;
  }

  /** There is nothing to compare at this look; returns whether that ends a mark. */
  miss(cell: number, nowMs: number): boolean {
    this.#beyond[cell] = 0;
    if (this.isMarked[cell] === 0 || nowMs - (this.#countedMs[cell] as number) < KEPT_MS) return false;
    this.#end(cell, nowMs);
    return true;
  }
}
