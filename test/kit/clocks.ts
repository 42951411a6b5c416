// The present times of this machine's clocks, ns. No test of its own.

import { CLOCK, clocks } from '../../src/native/index.js';

export function now(): { mono: bigint; real: bigint; boot: bigint } {
  const into = new BigUint64Array(3);
  clocks(into);
  return { mono: into[CLOCK.monotonic] ?? 0n, real: into[CLOCK.real] ?? 0n, boot: into[CLOCK.boot] ?? 0n };
}

export const monotonicNs = () => now().mono;
