// All slow sources, in the order of the contract's sets; then those of flags and details. Refuses to schedule them: see the schedule of the rounds.

import { makeClockRates } from './clockrates.js';
import { container } from './container.js';
import { edac } from './edac.js';
import { makeEnergy } from './energy.js';
import { fabric } from './fabric.js';
import { filesystems, root, scratch } from './filesystems.js';
import { gpus } from './gpus.js';
import { hwHash, swHash } from './hashes.js';
import { health } from './health.js';
import { hungTasks, taint } from './kernelstate.js';
import { links } from './linkspeeds.js';
import { power } from './power.js';
import type { SlowSource } from './source.js';
import { makeTemperatures } from './temperatures.js';
import { makeThrottle } from './throttle.js';

/** Sources that remember nothing yet. */
export function makeSources(): SlowSource[] {
  return [
    taint,
    hungTasks,
    edac,
    makeThrottle(),
    fabric,
    makeEnergy(),
    power,
    makeTemperatures(),
    root,
    scratch,
    filesystems,
    health,
    gpus,
    hwHash,
    swHash,
    container,
    links,
    makeClockRates(),
  ];
}

/** This process's own. */
export const sources: readonly SlowSource[] = makeSources();
