// All slow sources of the contract. The rounds schedule them.

import { sources as contract } from '../../layout/layout.gen.js';
import { makeClockRates } from './clockrates.js';
import { container } from './container.js';
import { makeEdac } from './edac.js';
import { makeEnergy } from './energy.js';
import { makeFabric } from './fabric.js';
import { filesystems, root, scratch } from './filesystems.js';
import { gpus } from './gpus.js';
import { makeHwHash, swHash } from './hashes.js';
import { makeHealth } from './health.js';
import { hungTasks, taint } from './kernelstate.js';
import { links } from './linkspeeds.js';
import { power } from './power.js';
import type { SlowSource, SourceName } from './source.js';
import { makeTemperatures } from './temperatures.js';
import { makeThrottle } from './throttle.js';

const makers: Record<SourceName, () => SlowSource> = {
  taint: () => taint,
  hung_tasks: () => hungTasks,
  edac: makeEdac,
  throttle: makeThrottle,
  fabric: makeFabric,
  energy: makeEnergy,
  power: () => power,
  temperatures: makeTemperatures,
  root: () => root,
  scratch: () => scratch,
  filesystems: () => filesystems,
  health: makeHealth,
  gpu: () => gpus,
  hw_hash: makeHwHash,
  sw_hash: () => swHash,
  container: () => container,
  links: () => links,
  clock_rates: makeClockRates,
};

/** New sources without any state, in the order of the contract. */
export function makeSources(): SlowSource[] {
  return (Object.keys(contract.slow) as SourceName[]).map(name => makers[name]());
}

/** This process's own. */
export const sources: readonly SlowSource[] = makeSources();
