// Long work in slices, between which other work gets its turn.

import { setImmediate as turn } from 'node:timers/promises';

/** After so long other work gets its turn, ms. */
export const SLICE_MS = 4;

/** Yields to the event loop if enough time has passed. */
export class SlicedLook {
  #began = performance.now();

  /** Undefined: continue. */
  next(): Promise<void> | undefined {
    if (performance.now() - this.#began < SLICE_MS) return undefined;
    return turn().then(() => {
      this.#began = performance.now();
    });
  }
}
