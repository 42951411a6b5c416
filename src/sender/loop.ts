// The sending loop: a report at once, then one at each point of the grid. Changes its interval or name so that no
// receiver takes the node for silent meanwhile. Does not collect, and does not know the destinations.

import { type Identity, pack, type ReportSource, type ReportTick } from './pack.js';
import { nextTick, phase } from './schedule.js';
import type { HostMachine } from './world.js';

/** Settings that may change while the loop runs. */
export interface Course {
  /** With the node's own interval, even if another one is in force for a time. */
  identity: Identity;
  /** Whether the grid is aligned to the wall clock instead of spread by name. */
  aligned: boolean;
}

/** The start of a run; all 0 except in a pretended run. */
export interface RunStart {
  seq: number;
  missedTicks: number;
  lateUs: number;
}

/** Sends a report that says this interval; `done` is called with the number of destinations that took it. */
export type Send = (report: Uint8Array, intervalMs: number, done: (count: number) => void) => void;

/** Whoever can change the interval, or has to know it. */
export interface Helm {
  /** The interval in force if the node's own is `ownMs`; asked before each report. */
  pace(now: HostClocks, ownMs: number): number;
  /** Whether every destination was told that this is the next interval. */
  know(intervalMs: number): boolean;
  /** `rateMs` or `goalMs` has changed. */
  onInterval(): void;
  /** Reports are sent at another interval now. */
  onGrid(intervalMs: number): void;
}

/** A change from some destinations to others. */
export interface Crossing {
  /** For another node: drops reports that are not sent yet, and nobody was told anything of it. */
  forget(): void;
  /** Switches to the others; returns whether one of them is new. */
  swap(): boolean;
}

const STAYING: Crossing = { forget: () => {}, swap: () => false };

type Due = Pick<ReportTick, 'lateUs' | 'skipped' | 'goodbye'>;
type HostClocks = ReturnType<HostMachine['clocks']>;

/**
 * The longest interval at which a node begins to report, ms. It says that it goes on at twice that, goes on so once
 * every destination was told, and so on, until it has the interval that is wanted. So the first report is soon followed
 * by others if it is lost; a node that dies on the way is not waited for much longer than one with the interval that it
 * has; and a receiver that was deaf knows how much later than announced a report may come.
 */
const FIRST_MS = 1000;

/**
 * The longest single wait, ms. Timers stand still while the machine sleeps, but the grid does not: CLOCK_BOOTTIME is
 * checked this often, so that an overdue report is sent soon after the machine wakes, however long the interval is.
 */
const PIECE_MS = 1000;

const DUE = { lateUs: 0, skipped: false, goodbye: false };
const GOODBYE = { ...DUE, goodbye: true };

/** Reports at once, then at the points of the grid until it is stopped; then says goodbye. */
export class Loop {
  /** The contents of reports: those of the course, with the interval in force or the next one. */
  #identity: Identity;
  /** The interval that is wanted: reports reach it in steps. */
  goalMs: number;
  /** The time between two points of the grid; shorter than the interval in the reports while that is announced. */
  rateMs: number;
  #phaseNs: bigint;
  #seq: number;
  #missed: number;
  readonly #onceLateUs: number;
  #isStopped = false;
  #due = 0n;
  /** The last point of the grid with a report; undefined if the grid begins. */
  #point: bigint | undefined;
  /** Points that passed while the last report was made. */
  #overran = 0;
  #cancel = () => {};

  constructor(
    private course: Course,
    private readonly source: ReportSource,
    private readonly send: Send,
    private readonly world: HostMachine,
    private readonly helm: Helm,
    { seq, missedTicks, lateUs }: RunStart = { seq: 0, missedTicks: 0, lateUs: 0 },
  ) {
    this.#identity = course.identity;
    this.goalMs = this.rateMs = course.identity.intervalMs;
    this.#phaseNs = phase(course.identity.name, this.#intervalNs);
    this.#seq = seq;
    this.#missed = missedTicks;
    this.#onceLateUs = lateUs;
  }

  get #intervalNs(): bigint {
    return BigInt(this.rateMs) * 1_000_000n;
  }

  /**
   * Takes another course. If the name or the cluster changes, the old one says goodbye first, so that nobody looks for
   * a broken node. A report is sent at once after that, and after a change of the grid. Another node, or one with a
   * destination that it did not have, begins with the first interval.
   */
  change(course: Course, roads: Crossing = STAYING): void {
    const before = this.course;
    const { name, cluster } = before.identity;
    const renamed = course.identity.name !== name || course.identity.cluster !== cluster;
    if (renamed && !this.#isStopped) {
      this.#report(GOODBYE, this.world.clocks());
      roads.forget();
    }
    const toOthers = roads.swap();
    this.course = course;
    this.#identity = { ...course.identity, intervalMs: this.#identity.intervalMs };
    this.#phaseNs = phase(course.identity.name, this.#intervalNs);
    if (this.#isStopped) return;
    const now = this.world.clocks();
    const beforeMs = this.rateMs;
    if (renamed || toOthers) this.#begin();
    this.#steer(now);
    const other = this.rateMs !== beforeMs;
    if (!other && !renamed && course.aligned === before.aligned) return;
    this.#cancel();
    this.#point = undefined;
    this.#report(DUE, now);
    this.#await();
  }

  /** `tell` is called with the first report. Returns how many reports were made, and how many took the goodbye. */
  run(stop: AbortSignal, tell: () => void): Promise<{ reports: number; goodbyes: number }> {
    const now = this.world.clocks();
    this.#begin();
    this.#steer(now);
    this.#report(DUE, now, () => {
      if (!stop.aborted) tell();
    });
    return new Promise(resolve => {
      const end = () => {
        this.#isStopped = true;
        this.#cancel();
        this.#report(GOODBYE, this.world.clocks(), goodbyes => resolve({ reports: this.#seq, goodbyes }));
      };
      if (stop.aborted) return end();
      stop.addEventListener('abort', end, { once: true });
      this.#await();
    });
  }

  /** The only report of this run; returns how many destinations took it. */
  once(): Promise<number> {
    const tick = { ...GOODBYE, lateUs: this.#onceLateUs };
    return new Promise(resolve => this.#report(tick, this.world.clocks(), resolve));
  }

  /** Begins with the first interval: nobody knows this node. */
  #begin(): void {
    this.#take(Math.min(FIRST_MS, this.course.identity.intervalMs));
    this.#identity = { ...this.#identity, intervalMs: this.rateMs };
  }

  /** What reports say from now on: the interval that is wanted, or the next step on the way there. */
  #steer(now: HostClocks): void {
    const [rateMs, goalMs] = [this.rateMs, this.goalMs];
    const saidMs = this.#identity.intervalMs;
    this.goalMs = this.helm.pace(now, this.course.identity.intervalMs);
    if (this.goalMs < rateMs || this.helm.know(saidMs)) this.#take(Math.min(this.goalMs, saidMs));
    const nextMs = Math.min(this.goalMs, 2 * this.rateMs);
    if (nextMs !== saidMs) this.#identity = { ...this.#identity, intervalMs: nextMs };
    if (this.rateMs !== rateMs || this.goalMs !== goalMs) this.helm.onInterval();
  }

  #take(rateMs: number): void {
    if (rateMs === this.rateMs) return;
    this.rateMs = rateMs;
    this.#phaseNs = phase(this.#identity.name, this.#intervalNs);
    this.#point = undefined;
    this.helm.onGrid(rateMs);
  }

  /** Continues at the next point of the grid. */
  #await(): void {
    const now = this.world.clocks();
    this.#due = this.#nextDue(now);
    const passed = this.#point === undefined ? 0 : Number((this.#due - this.#point) / this.#intervalNs);
    this.#overran = Math.max(0, passed - 1);
    this.#sleep(now);
  }

  #sleep({ bootNs }: HostClocks): void {
    const leftMs = Number(this.#due - bootNs) / 1e6;
    this.#cancel = this.world.after(Math.min(Math.ceil(leftMs), PIECE_MS), this.#wake);
  }

  readonly #wake = (): void => {
    const now = this.world.clocks();
    const lateNs = now.bootNs - this.#due;
    // A timer may fire a little early, and a long wait is split.
    if (lateNs < 0n) {
      this.#sleep(now);
      return;
    }
    // Woken more than an interval late: the ticks in between had no report.
    const late = lateNs / this.#intervalNs;
    const skipped = Number(late) + this.#overran;
    this.#missed += skipped;
    this.#point = this.#due + late * this.#intervalNs;
    this.#steer(now);
    this.#report({ lateUs: Number(lateNs) / 1000, skipped: skipped > 0, goodbye: false }, now);
    this.#await();
  };

  /**
   * The next point of the grid, on CLOCK_BOOTTIME. An aligned grid is on the wall clock, but the wait is on the other
   * clock: a step of the wall clock moves the grid, and neither delays a report nor skips one.
   */
  #nextDue({ realNs, bootNs }: HostClocks): bigint {
    if (this.course.aligned) return bootNs + nextTick(realNs, this.#intervalNs, 0n) - realNs;
    return nextTick(bootNs, this.#intervalNs, this.#phaseNs);
  }

  #report(tick: Due, now: HostClocks, done: (count: number) => void = () => {}): void {
    const late = tick.lateUs > this.rateMs * 500;
    const known = { ...tick, ...now, late, seq: this.#seq++, missed: this.#missed };
    this.send(pack(this.#identity, known, this.source, this.world), this.#identity.intervalMs, done);
  }
}
