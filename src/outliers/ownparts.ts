// By how much each node differs from the others of its job by nature and by its part of the work, learned while the job
// is young: what is compared later is how far it is from that. So a difference counts only if it began in the job. Pure.

/** So many new readings are learned, and for so long from the begin, ms. */
const LEAST = 15;
/** The share of a new value in a mean. */
const SMOOTHING = 0.1;
export const LEARNING_MS = 600_000;

export class OwnParts {
  readonly #sums: Float64Array;
  readonly #levels: Float64Array;
  readonly #counts: Uint16Array;
  readonly #smooth: Float64Array;
  /** What a cell has besides the level of all: a factor, or so much more; NaN: not known yet. */
  readonly #own: Float64Array;

  constructor(count: number) {
    this.#sums = new Float64Array(count);
    this.#levels = new Float64Array(count);
    this.#counts = new Uint16Array(count);
    this.#smooth = new Float64Array(count).fill(Number.NaN);
    this.#own = new Float64Array(count).fill(Number.NaN);
  }

  /** Takes over `count` cells from others, of a node that stays in its job. */
  copy(from: OwnParts, at: number, to: number, count: number): void {
    for (let i = 0; i < count; i++) {
      this.#sums[to + i] = from.#sums[at + i] as number;
      this.#levels[to + i] = from.#levels[at + i] as number;
      this.#counts[to + i] = from.#counts[at + i] as number;
      this.#smooth[to + i] = from.#smooth[at + i] as number;
      this.#own[to + i] = from.#own[at + i] as number;
    }
  }

  /** The mean of about the last minute. */
  smooth(cell: number, value: number): number {
    const last = this.#smooth[cell] as number;
    if (!Number.isNaN(value)) this.#smooth[cell] = Number.isNaN(last) ? value : last + SMOOTHING * (value - last);
    return Number.isNaN(value) ? value : (this.#smooth[cell] as number);
  }

  own(cell: number): number {
    return this.#own[cell] as number;
  }

  isKnown(cell: number): boolean {
    return !Number.isNaN(this.#own[cell] as number);
  }

  /** It is known from before. */
  know(cell: number, own: number): void {
    this.#own[cell] = own;
  }

  /** It has another part now, which is to be learned. */
  forget(cell: number): void {
    [this.#own[cell], this.#sums[cell], this.#levels[cell], this.#counts[cell]] = [Number.NaN, 0, 0, 0];
  }

  /** The value without what is the cell's own, which is known. */
  without(cell: number, value: number, isFactor: boolean): number {
    const own = this.#own[cell] as number;
    return isFactor ? value / own : value - own;
  }

  /** Learns a new reading beside the level of all; `isEnough`: the time for that is over. */
  learn(cell: number, value: number, level: number, isFactor: boolean, isEnough: boolean): void {
    const count = (this.#counts[cell] as number) + 1;
    this.#counts[cell] = Math.min(count, 65_535);
    const sum = (this.#sums[cell] as number) + value;
    const levels = (this.#levels[cell] as number) + level;
    [this.#sums[cell], this.#levels[cell]] = [sum, levels];
    // Sums, because a factor of what hardly anybody has says nothing.
    const own = isFactor ? sum / levels : (sum - levels) / count;
    // Who had nothing of what the others have is not measured by what it has.
    if (isEnough && count >= LEAST && !(isFactor && !(own >= 0.01))) this.#own[cell] = own;
  }
}
