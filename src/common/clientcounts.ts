// Tells of clients that a server did not serve, from what it counts. Knows no server.

import type { Log } from './log.js';

const LOOK_MS = 1000;

/**
 * Looks every second at what a server counts, and says seldom, by these words, how many clients there are more of a kind. To be
 * cleared when the server ends.
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
