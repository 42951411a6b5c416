// SIGHUP: a daemon reads its options again. Refuses to end because of what it reads.

import type { Log } from './log.js';
import { UsageError } from './options.js';

/** Calls `act` at each SIGHUP. A UsageError of its own is told in one line, and everything goes on as before. */
export function onHangup(log: Log, act: () => void): void {
  process.on('SIGHUP', () => {
    try {
      act();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      log.error(`SIGHUP: ${error.message.replace(/^beoboard \w+: /, '')}; goes on as before`);
    }
  });
}
