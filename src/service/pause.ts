// Apart from what every program loads: loading timers takes a short one longer.

import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for so long, or until it is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined);
}
