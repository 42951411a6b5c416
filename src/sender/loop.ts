// The loop that sends: a report at once, then one at each point of the grid. Refuses to collect, and to know where
// reports go.

import { type Identity, pack, type Source, type Tick } from './pack.js';
import { nextTick, phase } from './schedule.js';
import type { World } from './world.js';

/** What may change while the loop runs. */
export interface Course {
  identity: Identity;
  /** On the wall clock instead of spread by name. */
  aligned: boolean;
}

/** Where a run begins; all 0 but for a run that is pretended. */
export interface Beginning {
  seq: number;
  missedTicks: number;
  /** Of the only report. */
  lateUs: number;
}

/** Sends a report; `done` hears how many destinations took it. */
export type Send = (report: Uint8Array, done: (count: number) => void) => void;

const DUE = { lateUs: 0, skipped: false, goodbye: false };
const GOODBYE = { ...DUE, goodbye: true };

/** Reports at once, then at the points of its grid, until it is stopped; then says goodbye. */
export class Loop {
  #course: Course;
  #phaseNs: bigint;
  readonly #source: Source;
  readonly #send: Send;
  readonly #world: World;
  #seq: number;
  #missed: number;
  readonly #onceLateUs: number;
  #isStopped = false;
  #due = 0n;
  /** The last point of the grid that has its report; undefined where the grid begins. */
  #point: bigint | undefined;
  /** Points that passed while the last report was made. */
  #overran = 0;
  #cancel = () => {};

  constructor(
    course: Course,
    source: Source,
    send: Send,
    world: World,
    { seq, missedTicks, lateUs }: Beginning = { seq: 0, missedTicks: 0, lateUs: 0 },
  ) {
    this.#course = course;
    this.#phaseNs = phaseOf(course);
    this.#source = source;
    this.#send = send;
    this.#world = world;
    this.#seq = seq;
    this.#missed = missedTicks;
    this.#onceLateUs = lateUs;
  }

  /** Takes another course from the next report on, which comes at once when the grid has changed. */
  change(course: Course): void {
    const before = this.#course;
    this.#course = course;
    this.#phaseNs = phaseOf(course);
    const other = course.identity.intervalMs !== before.identity.intervalMs || course.aligned !== before.aligned;
    if (!other || this.#isStopped) return;
    this.#cancel();
    this.#point = undefined;
    this.#report(DUE);
    this.#await();
  }

  /** `tell` is called when the first report is out. Gives how many reports were made, and who took the goodbye. */
  run(stop: AbortSignal, tell: () => void): Promise<{ reports: number; goodbyes: number }> {
    this.#report(DUE, () => {
      if (!stop.aborted) tell();
    });
    return new Promise(resolve => {
      const end = () => {
        this.#isStopped = true;
        this.#cancel();
        this.#report(GOODBYE, goodbyes => resolve({ reports: this.#seq, goodbyes }));
      };
      if (stop.aborted) return end();
      stop.addEventListener('abort', end, { once: true });
      this.#await();
    });
  }

  /** The only report of this run; how many took it. */
  once(): Promise<number> {
    return new Promise(resolve => this.#report({ ...GOODBYE, lateUs: this.#onceLateUs }, resolve));
  }

  /** Goes on at the next point of the grid. */
  #await(): void {
    this.#due = this.#nextDue();
    const passed = this.#point === undefined ? 0 : Number((this.#due - this.#point) / this.#intervalNs);
    this.#overran = Math.max(0, passed - 1);
    this.#sleep();
  }

  get #intervalNs(): bigint {
    return BigInt(this.#course.identity.intervalMs) * 1_000_000n;
  }

  #sleep(): void {
    const leftMs = Number(this.#due - this.#world.clocks().bootNs) / 1e6;
    this.#cancel = this.#world.after(Math.ceil(leftMs), this.#wake);
  }

  readonly #wake = (): void => {
    const lateNs = this.#world.clocks().bootNs - this.#due;
    // A timer may fire a little early.
    if (lateNs < 0n) {
      this.#sleep();
      return;
    }
    // Woken more than an interval late: the ticks between brought no report.
    const late = lateNs / this.#intervalNs;
    const skipped = Number(late) + this.#overran;
    this.#missed += skipped;
    this.#point = this.#due + late * this.#intervalNs;
    this.#report({ lateUs: Number(lateNs) / 1000, skipped: skipped > 0, goodbye: false });
    this.#await();
  };

  /**
   * The next point of the grid, on CLOCK_BOOTTIME. An aligned grid lies on the wall clock, but it is waited for on the
   * other: a step of the wall clock moves the grid, and neither makes a report late nor skips one.
   */
  #nextDue(): bigint {
    const { realNs, bootNs } = this.#world.clocks();
    const intervalNs = this.#intervalNs;
    if (this.#course.aligned) return bootNs + nextTick(realNs, intervalNs, 0n) - realNs;
    return nextTick(bootNs, intervalNs, this.#phaseNs);
  }

  #report(tick: Pick<Tick, 'lateUs' | 'skipped' | 'goodbye'>, done: (count: number) => void = () => {}): void {
    const { realNs, bootNs } = this.#world.clocks();
    const report = pack(
      this.#course.identity,
      { ...tick, realNs, bootNs, seq: this.#seq++, missed: this.#missed },
      this.#source,
      this.#world,
    );
    this.#send(report, done);
  }
}

function phaseOf({ identity: { name, intervalMs } }: Course): bigint {
  return phase(name, BigInt(intervalMs) * 1_000_000n);
}
