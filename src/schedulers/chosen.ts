// Which scheduler is behind the door, by the option --scheduler. Only this file knows them all.

import { UsageError } from '../text/failure.js';
import { fileScheduler } from './file.js';
import type { Controller, Scheduler } from './scheduler.js';
import { slurmCalls } from './slurm/calls.js';
import type { CallOptions } from './slurm/command.js';
import { slurmOrders } from './slurm/orders.js';
import { slurm } from './slurm/slurm.js';

const FILE = 'file:';

/** The scheduler of that name, to be asked. */
export function schedulerOf(name: string, options: CallOptions): Scheduler {
  return name.startsWith(FILE) ? fileScheduler(name.slice(FILE.length)) : slurm(slurmCalls(options));
}

/** The same, to be given orders by that verb. Throws a UsageError if it takes none. */
export function controllerOf(verb: string, name: string, options: CallOptions): Controller {
  if (name.startsWith(FILE)) throw new UsageError(verb, `--scheduler ${FILE} takes no orders; only slurm does`);
  return slurmOrders(options);
}
