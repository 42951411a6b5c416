// How much a tally has grown in the last minutes: what only grows says nothing by its level, which is as old as the
// node's boot. Pure.

/** A base is replaced after so long, ms: the growth told is that of one to two such times. */
const RENEWED_MS = 300_000;

export class Tallies {
  readonly #older: Float64Array;
  readonly #newer: Float64Array;
  readonly #renewedMs: Float64Array;

  constructor(count: number) {
    this.#older = new Float64Array(count).fill(Number.NaN);
    this.#newer = new Float64Array(count).fill(Number.NaN);
    this.#renewedMs = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  }

  /** The growth of a tally; 0 at first, and after it went back, as by a boot. NaN: it was not measured. */
  growth(cell: number, value: number, nowMs: number): number {
    if (Number.isNaN(value)) return value;
    if (!(value >= (this.#newer[cell] as number))) this.#older[cell] = value;
    else if (nowMs - (this.#renewedMs[cell] as number) < RENEWED_MS) return value - (this.#older[cell] as number);
    else this.#older[cell] = this.#newer[cell] as number;
    this.#newer[cell] = value;
    this.#renewedMs[cell] = nowMs;
    return value - (this.#older[cell] as number);
  }
}
