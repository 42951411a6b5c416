// SIGHUP: a daemon reads its options again. Refuses to end because of what it reads.

import type { Log } from './log.js';
import { UsageError } from './options.js';

/** Whoever is told that options are read, and that all is in force again. */
interface Told {
  reloading(): void;
  ready(status: string): void;
}

/**
 * Calls `act` at each SIGHUP. A UsageError of its own is told in one line, and everything goes on as before. `status` is
 * a line about what is in force then.
 */
export function onHangup(log: Log, service: Told, status: () => string, act: () => void): void {
  process.on('SIGHUP', () => {
    service.reloading();
    try {
      act();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      log.error(`SIGHUP: ${error.message.replace(/^beoboard \w+: /, '')}; goes on as before`);
    } finally {
      service.ready(status());
    }
  });
}
