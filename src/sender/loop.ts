// The loop that sends: a report at once, then one at each point of the grid. Goes over to another interval or another name
// so that no receiver takes the node for silent. Refuses to collect, and to know where reports go.

import { type Identity, pack, type Source, type Tick } from './pack.js';
import { nextTick, phase } from './schedule.js';
import type { World } from './world.js';

/** What may change while the loop runs. */
export interface Course {
  /** With the node's own interval, whatever another one holds for a time. */
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

/** Whoever has a say in the interval, or has to know of it. */
export interface Helm {
  /** The interval that holds now, where the node's own is `ownMs`; asked before each report. */
  pace(now: Clocks, ownMs: number): number;
  /** Reports say another interval. */
  onInterval(): void;
  /** They come at another one. */
  onGrid(intervalMs: number): void;
}

/** Going over from some destinations to others. */
export interface Crossing {
  /** Drops reports that are not sent yet. */
  forget(): void;
  /** Goes over to the others. */
  swap(): void;
}

const STAYING: Crossing = { forget: () => {}, swap: () => {} };

const STRAIGHT: Helm = { pace: (_, ownMs) => ownMs, onInterval: () => {}, onGrid: () => {} };

type Due = Pick<Tick, 'lateUs' | 'skipped' | 'goodbye'>;
type Clocks = ReturnType<World['clocks']>;

/**
 * Reports that say a longer interval and still come at the old one. Until one of them has arrived, receivers count in old
 * intervals, and the sender does not know their limits; of twelve, at twice the loss at which anybody would still work, one arrives.
 * Losses come in bursts, too, which are counted in seconds, however often one reports: so they are to last as well.
 */
const ANNOUNCING = 12;
const ANNOUNCING_NS = 12_000_000_000n;

/**
 * The longest wait in one piece, ms. Timers stand still while the machine sleeps, and the grid does not: the clock that goes on
 * is looked at so often, so that a report that is overdue comes soon after the machine has woken, however long the interval.
 */
const PIECE_MS = 1000;

const DUE = { lateUs: 0, skipped: false, goodbye: false };
const GOODBYE = { ...DUE, goodbye: true };

/** Reports at once, then at the points of its grid, until it is stopped; then says goodbye. */
export class Loop {
  #course: Course;
  /** What reports say: the course's, with the interval that holds or is announced. */
  #identity: Identity;
  /** From one point of the grid to the next; shorter than what reports say while that is announced. */
  #intervalNs: bigint;
  #phaseNs: bigint;
  /** Reports that are still to come before the interval that they say holds. */
  #announcing = 0;
  readonly #source: Source;
  readonly #send: Send;
  readonly #world: World;
  readonly #helm: Helm;
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
    helm: Helm = STRAIGHT,
  ) {
    this.#course = course;
    this.#identity = course.identity;
    this.#intervalNs = nsOf(course.identity.intervalMs);
    this.#phaseNs = phase(course.identity.name, this.#intervalNs);
    this.#source = source;
    this.#send = send;
    this.#world = world;
    this.#helm = helm;
    this.#seq = seq;
    this.#missed = missedTicks;
    this.#onceLateUs = lateUs;
  }

  /** What reports say: the interval that holds, or that soon will. */
  get intervalMs(): number {
    return this.#identity.intervalMs;
  }

  /**
   * Takes another course. When the name or the cluster is another, the old one says goodbye first: that it is not heard any more
   * is then no reason to look for a node that is broken. A report comes at once after that, and when the grid has changed.
   */
  change(course: Course, roads: Crossing = STAYING): void {
    const before = this.#course;
    const { name, cluster } = before.identity;
    const renamed = course.identity.name !== name || course.identity.cluster !== cluster;
    if (renamed && !this.#isStopped) {
      this.#report(GOODBYE, this.#world.clocks());
      roads.forget();
    }
    roads.swap();
    this.#course = course;
    this.#identity = { ...course.identity, intervalMs: this.#identity.intervalMs };
    this.#phaseNs = phase(course.identity.name, this.#intervalNs);
    if (this.#isStopped) return;
    const now = this.#world.clocks();
    const other = this.#steer(now);
    if (!other && !renamed && course.aligned === before.aligned) return;
    this.#cancel();
    this.#point = undefined;
    this.#report(DUE, now);
    this.#await();
  }

  /** `tell` is called when the first report is out. Gives how many reports were made, and who took the goodbye. */
  run(stop: AbortSignal, tell: () => void): Promise<{ reports: number; goodbyes: number }> {
    const now = this.#world.clocks();
    this.#steer(now);
    this.#report(DUE, now, () => {
      if (!stop.aborted) tell();
    });
    return new Promise(resolve => {
      const end = () => {
        this.#isStopped = true;
        this.#cancel();
        this.#report(GOODBYE, this.#world.clocks(), goodbyes => resolve({ reports: this.#seq, goodbyes }));
      };
      if (stop.aborted) return end();
      stop.addEventListener('abort', end, { once: true });
      this.#await();
    });
  }

  /** The only report of this run; how many took it. */
  once(): Promise<number> {
    const tick = { ...GOODBYE, lateUs: this.#onceLateUs };
    return new Promise(resolve => this.#report(tick, this.#world.clocks(), resolve));
  }

  /**
   * Takes the interval that is to hold now. A shorter one holds at once; a longer one is announced first. Gives whether the
   * grid is another one now.
   */
  #steer(now: Clocks): boolean {
    const intervalMs = this.#helm.pace(now, this.#course.identity.intervalMs);
    const isNew = intervalMs !== this.#identity.intervalMs;
    if (isNew) {
      this.#identity = { ...this.#identity, intervalMs };
      this.#helm.onInterval();
    }
    if (nsOf(intervalMs) > this.#intervalNs) {
      if (isNew) this.#announcing = this.#announcements();
      return false;
    }
    this.#announcing = 0;
    return this.#goOver();
  }

  #announcements(): number {
    const lasting = (ANNOUNCING_NS + this.#intervalNs - 1n) / this.#intervalNs;
    return Math.max(ANNOUNCING, Number(lasting));
  }

  /** The grid becomes that of the interval that reports say; gives whether it was another. */
  #goOver(): boolean {
    const intervalNs = nsOf(this.#identity.intervalMs);
    if (intervalNs === this.#intervalNs) return false;
    this.#intervalNs = intervalNs;
    this.#phaseNs = phase(this.#identity.name, intervalNs);
    this.#point = undefined;
    this.#helm.onGrid(this.#identity.intervalMs);
    return true;
  }

  /** Goes on at the next point of the grid. */
  #await(): void {
    this.#due = this.#nextDue();
    const passed = this.#point === undefined ? 0 : Number((this.#due - this.#point) / this.#intervalNs);
    this.#overran = Math.max(0, passed - 1);
    this.#sleep();
  }

  #sleep(): void {
    const leftMs = Number(this.#due - this.#world.clocks().bootNs) / 1e6;
    this.#cancel = this.#world.after(Math.min(Math.ceil(leftMs), PIECE_MS), this.#wake);
  }

  readonly #wake = (): void => {
    const now = this.#world.clocks();
    const lateNs = now.bootNs - this.#due;
    // A timer may fire a little early, and a long wait has pieces.
    if (lateNs < 0n) {
      this.#sleep();
      return;
    }
    // Woken more than an interval late: the ticks between brought no report.
    const late = lateNs / this.#intervalNs;
    const skipped = Number(late) + this.#overran;
    this.#missed += skipped;
    this.#point = this.#due + late * this.#intervalNs;
    this.#steer(now);
    this.#report({ lateUs: Number(lateNs) / 1000, skipped: skipped > 0, goodbye: false }, now);
    this.#await();
  };

  /**
   * The next point of the grid, on CLOCK_BOOTTIME. An aligned grid lies on the wall clock, but it is waited for on the
   * other: a step of the wall clock moves the grid, and neither makes a report late nor skips one.
   */
  #nextDue(): bigint {
    const { realNs, bootNs } = this.#world.clocks();
    if (this.#course.aligned) return bootNs + nextTick(realNs, this.#intervalNs, 0n) - realNs;
    return nextTick(bootNs, this.#intervalNs, this.#phaseNs);
  }

  #report(tick: Due, now: Clocks, done: (count: number) => void = () => {}): void {
    const late = tick.lateUs > Number(this.#intervalNs) / 2000;
    const known = { ...tick, ...now, late, seq: this.#seq++, missed: this.#missed };
    this.#send(pack(this.#identity, known, this.#source, this.#world), done);
    if (this.#announcing > 0 && --this.#announcing === 0) this.#goOver();
  }
}

const nsOf = (ms: number): bigint => BigInt(ms) * 1_000_000n;
