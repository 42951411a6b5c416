// Which scheduler is behind the door, by the option --scheduler. Only this file knows them all.

import type { Controller, Scheduler } from '../schedulerfile/scheduler.js';
import { UsageError } from '../text/failure.js';
import type { CallOptions } from './command.js';
import { fileScheduler } from './file.js';
import { gridEngine } from './gridengine/gridengine.js';
import { slurmCalls } from './slurm/calls.js';
import { slurmOrders } from './slurm/orders.js';
import { slurm } from './slurm/slurm.js';

const FILE = 'file:';

/** The scheduler of that name, to be asked. */
export function schedulerOf(name: string, options: CallOptions): Scheduler {
  if (name.startsWith(FILE)) return fileScheduler(name.slice(FILE.length));
  return name === 'gridengine' ? gridEngine(options) : slurm(slurmCalls(options));
}

/** The same, to be given orders. Throws a UsageError if it takes none. */
export function controllerOf(name: string, options: CallOptions): Controller {
  if (name !== 'slurm')
    throw new UsageError(`--scheduler ${name.replace(/:.*/s, ':')} takes no orders; only slurm does`);
  return slurmOrders(options);
}
