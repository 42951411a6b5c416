// SIGHUP: a daemon reads its options again. It never ends because of what it reads.

import { UsageError } from '../options/options.js';
import type { Log } from './log.js';

/** Somebody who is told that options are being read, and that all of them are in force again. */
interface ReloadObserver {
  reloading(): void;
  ready(status: string): void;
}

/** The time between two tries to read a key file that could not be read, ms. */
const AGAIN_MS = 2000;

/**
 * Calls `act` at each SIGHUP. If it throws a UsageError, one line is logged, `failed` is told, and everything goes on
 * as before. A key file that could not be read is tried again until it can be. `status` is a line about what is in force
 * then.
 */
export function onHangup(
  log: Log,
  service: ReloadObserver,
  status: () => string,
  act: () => void,
  failed: (error: UsageError) => void = () => {},
): void {
  let again: NodeJS.Timeout | undefined;
  let logged: string | undefined;
  const read = (isRetry: boolean) => {
    if (!isRetry) service.reloading();
    try {
      act();
      logged = undefined;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      failed(error);
      const retries = error.cause?.about === 'keys';
      if (!isRetry || error.message !== logged)
        log.error(`SIGHUP: ${error.message}; nothing has changed${retries ? ', tries again' : ''}`);
      logged = error.message;
      if (retries) again = setTimeout(read, AGAIN_MS, true).unref();
    } finally {
      service.ready(status());
    }
  };
  process.on('SIGHUP', () => {
    clearTimeout(again);
    read(false);
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
