// Logs how many clients a server turned away, from its counters. Knows no server.

import type { Log } from '../service/log.js';

const LOOK_MS = 1000;

/**
 * Looks at a server's counters every second and logs, at long intervals and in these words, how many more clients there
 * are of each kind. The timer has to be cleared when the server ends.
 */
export function tellCounts<Kind extends string>(
  counts: Readonly<Record<Kind, number>>,
  words: Readonly<Partial<Record<Kind, string>>>,
  log: Log,
): NodeJS.Timeout {
  let last = { ...counts };
  return setInterval(() => {
    for (const [kind, why] of Object.entries(words) as [Kind, string][]) {
      const more = counts[kind] - last[kind];
      if (more > 0) log.seldom(kind, `${more} ${more === 1 ? 'client' : 'clients'} ${why}`);
    }
    last = { ...counts };
  }, LOOK_MS);
}
