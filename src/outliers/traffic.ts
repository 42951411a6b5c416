// Whether the nodes of a job still exchange what they did: a rank that hangs stops all that wait for it, though they burn
// their time as before; a node that only has nothing to do stops nobody. Pure.

/** Less than this share of the usual traffic is none; where less than so many bytes a second are usual, nobody can say. */
const STOPPED = 0.2;
const LEAST_BYTES = 2e6;
/** The usual traffic is that of about so long, ms. */
const USUAL_MS = 600_000;
/** A stop that is shorter is none, ms. */
const PAUSE_MS = 15_000;
/** Nodes that work on one thing exchange alike: their traffic is spread by at most such a share. */
const SPREAD_MOST = 0.35;
/** The share of a new look in that. */
const SMOOTHING = 0.01;

export class JobTraffic {
  #usual = Number.NaN;
  #spread = Number.NaN;
  #lastMs = Number.NaN;
  /** Since when it has flowed without a stop, and since when it has stopped; NaN: it flows. */
  #sinceMs = Number.NaN;
  #stopMs = Number.NaN;
  #stops = 0;
  #isStill = false;

  /** The traffic of the node in the middle and of the one with most, bytes a second; NaN: nobody works, or it is not known. */
  look(traffic: number, most: number, nowMs: number): void {
    this.#isStill = most < STOPPED * this.#usual;
    const passedMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (Number.isNaN(traffic)) {
      this.#stopMs = Number.NaN;
      return;
    }
    if (Number.isNaN(this.#usual)) [this.#usual, this.#sinceMs] = [traffic, nowMs];
    else this.#usual += (traffic - this.#usual) * Math.min(1, passedMs / USUAL_MS);
    if (this.#usual >= LEAST_BYTES && traffic < STOPPED * this.#usual) {
      if (Number.isNaN(this.#stopMs)) this.#stopMs = nowMs;
      return;
    }
    if (nowMs - this.#stopMs >= PAUSE_MS) [this.#sinceMs, this.#stops] = [nowMs, this.#stops + 1];
    this.#stopMs = Number.NaN;
  }

  /** How far the traffic of its nodes is spread at this look, as a share of that in the middle. */
  share(spread: number): void {
    this.#spread = Number.isNaN(this.#spread) ? spread : this.#spread + SMOOTHING * (spread - this.#spread);
  }

  /** Whether all nodes work on one thing now, so that they can be expected to be alike: else each may have a task of its own. */
  get isOfAll(): boolean {
    return this.#usual >= LEAST_BYTES && this.#spread <= SPREAD_MOST && Number.isNaN(this.#stopMs);
  }

  /**
   * Whether it has stopped within so long before or after a moment, and had flowed for `flowedMs`; for as long again for
   * each stop that was over by itself, because a job that has stops has more of them.
   */
  hasStopped(atMs: number, withinMs: number, flowedMs: number): boolean {
    const flowed = this.#stopMs - this.#sinceMs;
    return this.#isStill && Math.abs(this.#stopMs - atMs) <= withinMs && flowed >= (1 + this.#stops) * flowedMs;
  }
}
