// SIGHUP: a daemon reads its options again. It never ends because of what it reads.

import type { Log } from './log.js';
import { UsageError } from './options.js';

/** Somebody who is told that options are being read, and that all of them are in force again. */
interface Told {
  reloading(): void;
  ready(status: string): void;
}

/**
 * Calls `act` at each SIGHUP. If it throws a UsageError, one line is logged and everything goes on as before. `status`
 * is a line about what is in force then.
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

/** `slurmDir` in the form of an option: `slurm-dir`. */
const written = (name: string) => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);

/** Logs which of these options have changed although they need a restart. */
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
