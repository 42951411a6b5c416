// Long work in slices, between which other work gets its turn.

import { setImmediate as turn } from 'node:timers/promises';

/** After so long other work gets its turn, ms. */
export const SLICE_MS = 4;

/** Yields to the event loop if enough time has passed. */
export class SlicedLook {
  #began = performance.now();

  constructor(
    /** How it yields. */
    readonly pause: () => Promise<void> = turn,
    readonly most = SLICE_MS,
  ) {}

  /** Undefined: continue. */
  next(): Promise<void> | undefined {
    return performance.now() - this.#began < this.most ? undefined : this.wait();
  }

  async wait(): Promise<void> {
    await this.pause();
    this.#began = performance.now();
  }
}

/** Work that yields wherever it may be interrupted. */
export type Steps<T> = Generator<undefined, T>;

/** Its result, for which other work does not wait. */
export async function inSlices<T>(steps: Steps<T>, slices = new SlicedLook()): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const pause = slices.next();
    if (pause !== undefined) await pause;
  }
}

/** Its result, at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
