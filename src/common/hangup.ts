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
      log.error(`SIGHUP: ${error.message.replace(/^beoboard \w+: /, '')}; nothing has changed`);
    } finally {
      service.ready(status());
    }
  });
}

/** `slurmDir` as people write it: `slurm-dir`. */
const written = (name: string) => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

/** Says which of these options are others now, though what runs is bound to what they were. */
export function tellLasting<T extends object>(
  log: Log,
  names: readonly (keyof T & string)[],
  before: T,
  after: T,
): void {
  for (const name of names)
    if (JSON.stringify(after[name]) !== JSON.stringify(before[name]))
      log.warn(`--${written(name)} has changed, which needs a restart: the old value stays`);
}
