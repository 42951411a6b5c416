// The slow side's access to this machine: file systems and the age of files. Never throws; may hang, which is why it
// runs in its own process.

import { realpathSync, statfsSync, statSync } from 'node:fs';
import { attempt } from '../../text/failure.js';
import { here } from '../world.js';
import type { FileSystem, SlowWorld } from './source.js';

/** Default paths, which options can change. */
export const PLACES = { proc: '/proc', sys: '/sys', run: '/run/beoboard', etc: '/etc', scratch: '/tmp' };

/** What can be given instead. */
export type SlowPlaces = typeof PLACES & Pick<SlowWorld, 'healthMostMs'>;

// Node returns f_bsize and not f_frsize, the unit of the block counts; for all local file systems these are equal.
function statfs(path: string): FileSystem {
  const { bsize, blocks, bavail, files, ffree } = statfsSync(path, { bigint: true });
  return { totalBytes: blocks * bsize, availableBytes: bavail * bsize, inodes: files, inodesFree: ffree };
}

function ageSeconds(path: string): number | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && (Date.now() - stat.mtimeMs) / 1000;
}

/** This machine, or trees that look like one. */
export function machineWorld(places: Partial<SlowPlaces> = {}): SlowWorld {
  return {
    ...PLACES,
    ...places,
    statfs: path => attempt(() => statfs(path)),
    bootNs: () => here.clocks().bootNs,
    ageSeconds: path => attempt(() => ageSeconds(path)),
    resolve: path => attempt(() => realpathSync(path)),
  };
}
