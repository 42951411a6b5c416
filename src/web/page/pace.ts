// How far what is shown is behind the server's clock, and at which interval the line carries the stream. Pure: it is told
// times of one clock, ms: that of `now`.

import { EVERY_MOST } from '../wire.js';

/** By so much a look may be older than the interval, and by so much more before the stream is opened anew, ms. */
const LATE_MS = 3000;
const ANEW_MS = 5000;
/** The intervals, s. */
const STEPS = [1, 2, 5, 10, 20, EVERY_MOST];
/** The share of an interval that a look may take on its way. */
const CARRIED = 0.8;
/** For how long the best measurement of the clocks counts, ms. */
const CLOCK_MS = 300_000;
/** A way to the server is not believed to take longer than this, ms: what waits in buffers waits on the way back. */
const WAY_MS = 500;
/** For how long looks have to come soon enough before a shorter interval is tried: at first, and after failures, ms. */
const WELL_MS = 10_000;
const WELL_MOST_MS = 300_000;

export class Pace {
  /** The interval that was asked for, and the longest that is in force until its first look is here, s. */
  every = 1;
  #before = 1;
  /** The least and the most that the server's clock is ahead of the browser's, and when that was measured. */
  #clock: { readonly low: number; readonly high: number; readonly at: number } | undefined;
  /** The server's time of the newest look. */
  #look: number | undefined;
  /** How long the first part of a look of this stream was on its way, through empty buffers; undefined: none is here yet. */
  #first: number | undefined;
  /** The slowest of those behind it, since when. */
  #worst = 0;
  #since = 0;
  #wait = WELL_MS;
  /** When a shorter interval was last tried. */
  #triedAt = Number.NEGATIVE_INFINITY;
  /** How far the wall clock and this one are ahead of one that nobody sets. */
  #ahead = { wall: 0, own: 0 };

  /** A sleep passes on this clock, but it is not set back with the wall clock: then nothing would seem old. */
  now(wall = Date.now(), steady = performance.now()): number {
    const more = wall - steady - this.#ahead.wall;
    if (Math.abs(more) > WAY_MS) this.#ahead = { wall: wall - steady, own: this.#ahead.own + Math.max(0, more) };
    return steady + this.#ahead.own;
  }

  /** A small request was sent and answered at these times, and the server's clock said that in between. */
  measured(asked: number, answered: number, server: number): void {
    const [low, high] = [server - answered, server - asked];
    const known = this.#clock;
    const isOther = known === undefined || low > known.high || high < known.low || answered - known.at > CLOCK_MS;
    if (isOther || high - low <= known.high - known.low) this.#clock = { low, high, at: answered };
  }

  /** The server's time; undefined: it was not measured yet. */
  serverMs(now: number): number | undefined {
    if (this.#clock === undefined) return undefined;
    const { low, high } = this.#clock;
    return now + high - Math.min(WAY_MS, (high - low) / 2);
  }

  /** The interval in force, s. */
  get inForce(): number {
    return this.#first === undefined ? Math.max(this.#before, this.every) : this.every;
  }

  /** A stream is opened. */
  opened(every = this.every): void {
    [this.#before, this.every, this.#first] = [this.inForce, every, undefined];
  }

  /** A look of that time has arrived, or another part of it. */
  looked(server: number, now: number): void {
    this.#look = server;
    const way = this.age(now) ?? 0;
    if (this.#first === undefined) [this.#first, this.#worst, this.#since] = [way, 0, now];
    else this.#worst = Math.max(this.#worst, way);
  }

  /** How old the newest look is, ms, negative: one of the clocks was set; undefined: that is not known. */
  age(now: number): number | undefined {
    const server = this.serverMs(now);
    return server === undefined || this.#look === undefined ? undefined : server - this.#look;
  }

  /** How many seconds what is shown is behind, if that is more than it may be. */
  behind(now: number): number | undefined {
    const age = this.age(now) ?? 0;
    return age > this.inForce * 1000 + LATE_MS ? Math.round(age / 1000) : undefined;
  }

  /** The interval at which the stream is to be opened anew; undefined: it goes on. */
  wanted(now: number): number | undefined {
    const [age, first] = [this.age(now), this.#first];
    if (age === undefined || first === undefined) return undefined;
    const most = this.every * 1000 + LATE_MS + ANEW_MS;
    const carries = (step: number, way: number) => way <= CARRIED * step * 1000;
    const isWorse = age - first > most;
    if (age > most && (isWorse || !carries(this.every, first))) {
      const longer = STEPS.find(step => step > this.every && carries(step, first)) ?? EVERY_MOST;
      if (longer === this.every && !isWorse) return undefined;
      // What was tried too early is tried later.
      this.#wait = now - this.#triedAt < 2 * this.#wait ? Math.min(WELL_MOST_MS, 2 * this.#wait) : WELL_MS;
      return longer;
    }
    if (this.every === 1 || now - this.#since < Math.max(this.#wait, 2500 * this.every) || this.#worst === 0)
      return undefined;
    const shorter = STEPS.find(step => step < this.every && carries(step, this.#worst));
    [this.#worst, this.#since] = [0, now];
    if (shorter !== undefined) this.#triedAt = now;
    return shorter;
  }
}
