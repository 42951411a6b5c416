// The loop that sends: a report at once, then one at each point of the grid. Refuses to collect, and to know where
// reports go.

import { setTimeout as sleep } from 'node:timers/promises';
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

/** Reports at once, then at the points of its grid, until it is stopped; then says goodbye. */
export class Loop {
  #course: Course;
  readonly #source: Source;
  readonly #send: (report: Uint8Array) => Promise<number>;
  readonly #world: World;
  #wake = new AbortController();
  #seq: number;
  #missed: number;
  readonly #onceLateUs: number;

  /** @param send gives to how many destinations a report went */
  constructor(
    course: Course,
    source: Source,
    send: (report: Uint8Array) => Promise<number>,
    world: World,
    { seq, missedTicks, lateUs }: Beginning = { seq: 0, missedTicks: 0, lateUs: 0 },
  ) {
    this.#course = course;
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
    const other = course.identity.intervalMs !== before.identity.intervalMs || course.aligned !== before.aligned;
    if (other) this.#wake.abort();
  }

  /** `tell` is called when the first report is out. Gives how many reports were made, and who took the goodbye. */
  async run(stop: AbortSignal, tell: () => void): Promise<{ reports: number; goodbyes: number }> {
    void this.#report({ lateUs: 0, skipped: false, goodbye: false }).then(() => {
      if (!stop.aborted) tell();
    });
    stop.addEventListener('abort', () => this.#wake.abort());
    while (!stop.aborted) {
      const intervalNs = BigInt(this.#course.identity.intervalMs) * 1_000_000n;
      const due = this.#nextDue(intervalNs);
      const waited = await this.#waitUntil(due);
      if (stop.aborted) break;
      const lateNs = this.#world.clocks().bootNs - due;
      // Woken more than an interval late: the ticks between brought no report. Before its time: the interval changed.
      const skipped = waited && lateNs > 0n ? lateNs / intervalNs : 0n;
      this.#missed += Number(skipped);
      void this.#report({ lateUs: waited ? Number(lateNs) / 1000 : 0, skipped: skipped > 0n, goodbye: false });
    }
    const goodbyes = await this.#report({ lateUs: 0, skipped: false, goodbye: true });
    return { reports: this.#seq, goodbyes };
  }

  /** The only report of this run. */
  once(): Promise<number> {
    return this.#report({ lateUs: this.#onceLateUs, skipped: false, goodbye: true });
  }

  /**
   * The next point of the grid, on CLOCK_BOOTTIME. An aligned grid lies on the wall clock, but it is waited for on the
   * other: a step of the wall clock moves the grid, and neither makes a report late nor skips one.
   */
  #nextDue(intervalNs: bigint): bigint {
    const { realNs, bootNs } = this.#world.clocks();
    if (this.#course.aligned) return bootNs + nextTick(realNs, intervalNs, 0n) - realNs;
    return nextTick(bootNs, intervalNs, phase(this.#course.identity.name, intervalNs));
  }

  /** Whether the time has come; false when it was woken before. */
  async #waitUntil(due: bigint): Promise<boolean> {
    // A timer may fire a little early: look again until it is time.
    for (;;) {
      const leftMs = Number(due - this.#world.clocks().bootNs) / 1e6;
      if (leftMs <= 0) return true;
      const { signal } = this.#wake;
      await sleep(Math.ceil(leftMs), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        this.#wake = new AbortController();
        return false;
      }
    }
  }

  /** How many destinations took it. */
  #report(tick: Pick<Tick, 'lateUs' | 'skipped' | 'goodbye'>): Promise<number> {
    const report = pack(
      this.#course.identity,
      { ...tick, ...this.#world.clocks(), seq: this.#seq++, missed: this.#missed },
      this.#source,
      this.#world,
    );
    return this.#send(report);
  }
}
