// Space and inodes by statvfs: of the root, the scratch, and all local file systems. Each is its own source, because
// each can hang alone. Leaves out network file systems before asking them anything, and impossible sizes.

import { constants } from '../../layout/layout.gen.js';
import { type KernelCount, over, thousandths } from '../collect/kerneltext.js';
import { MOST_BYTES } from '../kernelfile.js';
import { hasDisk, isLocal, type Mount, mountOf, parseMounts } from './mounts.js';
import { type FileSystem, type ReadingBuilder, type SlowWorld, source } from './source.js';

const MIB = 1 << 20;
const mib = (bytes: bigint): KernelCount => over(bytes, MIB);

/** The values of the file system, unless they are impossible: no size, or more free than there is. */
export function sane(fs: FileSystem | undefined): FileSystem | undefined {
  if (fs === undefined || fs.totalBytes <= 0n || fs.availableBytes < 0n || fs.inodesFree < 0n) return undefined;
  return fs.availableBytes > fs.totalBytes || fs.inodesFree > fs.inodes ? undefined : fs;
}

/** Thousandths of the inodes that are free: all of them if the file system makes them on demand. */
export function inodesFree({ inodes, inodesFree }: FileSystem): number {
  return inodes === 0n ? 1000 : thousandths(inodesFree, inodes);
}

/** The used share: what an ordinary user cannot have, in thousandths rounded down. */
export function fullness({ totalBytes, availableBytes }: FileSystem): number {
  return thousandths(totalBytes - availableBytes, totalBytes);
}

function readMounts({ proc }: SlowWorld, now: ReadingBuilder): Mount[] | undefined {
  return now.parse(`${proc}/self/mountinfo`, parseMounts, MOST_BYTES);
}

/** Asks one file system; complains only about impossible values. */
function ask(world: SlowWorld, path: string, now: ReadingBuilder): FileSystem | undefined {
  const fs = world.statfs(path);
  const good = sane(fs);
  if (fs !== undefined && good === undefined) now.complain(`the file system at ${path} reports an impossible size`);
  return good;
}

export const root = source('root', (now, world) => {
  now.flag('root_readonly', readMounts(world, now)?.find(({ point }) => point === '/')?.readOnly === true);
  const fs = ask(world, '/', now);
  if (fs !== undefined)
    now.put('root', {
      root_total_mib: mib(fs.totalBytes),
      root_avail_mib: mib(fs.availableBytes),
      root_inodes_free_pm: inodesFree(fs),
    });
});

function complainOfScratch({ scratch }: SlowWorld, now: ReadingBuilder): void {
  now.complain(`the scratch ${scratch} does not exist or cannot be measured: it is left out`);
}

/** The scratch with links resolved, if it is on a local file system. */
function localScratch(world: SlowWorld, now: ReadingBuilder): string | undefined {
  const mounts = readMounts(world, now);
  if (mounts === undefined) return undefined;
  const local = (path: string) => {
    const mount = mountOf(mounts, path);
    if (mount === undefined || isLocal(mount)) return mount !== undefined;
    now.complain(`the scratch ${world.scratch} is on ${mount.type}, which may not be local: it is left out`);
    return false;
  };
  // This comes before resolving links: even that could ask the network.
  if (!local(world.scratch)) return undefined;
  const path = world.resolve(world.scratch);
  if (path === undefined) complainOfScratch(world, now);
  return path !== undefined && local(path) ? path : undefined;
}

export const scratch = source('scratch', (now, world) => {
  const path = localScratch(world, now);
  const fs = path === undefined ? undefined : ask(world, path, now);
  if (path !== undefined && fs === undefined) complainOfScratch(world, now);
  if (fs !== undefined)
    now.put('scratch', {
      scratch_total_mib: mib(fs.totalBytes),
      scratch_avail_mib: mib(fs.availableBytes),
      scratch_inodes_free_pm: inodesFree(fs),
    });
});

/** Every device once, by the first of its mounts that answers. One that we may not ask is left out. */
function askAll(world: SlowWorld, mounts: readonly Mount[], now: ReadingBuilder): FileSystem[] {
  const found = new Map<string, FileSystem>();
  for (const mount of mounts) {
    if (!hasDisk(mount) || found.has(mount.device)) continue;
    const fs = ask(world, mount.point, now);
    if (fs !== undefined) found.set(mount.device, fs);
    if (found.size > constants.most.file_systems) {
      now.tooMany(constants.most.file_systems, 'file systems with a disk');
      return [];
    }
  }
  return [...found.values()];
}

export const filesystems = source('filesystems', (now, world) => {
  const all = askAll(world, readMounts(world, now) ?? [], now);
  const sum = (key: 'totalBytes' | 'availableBytes') => mib(all.reduce((total, fs) => total + fs[key], 0n));
  if (all.length > 0)
    now.put('filesystems', {
      fs_total_mib: sum('totalBytes'),
      fs_avail_mib: sum('availableBytes'),
      fs_fullest_pm: Math.max(...all.map(fullness)),
    });
});
