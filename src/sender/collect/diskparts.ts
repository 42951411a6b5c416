// /sys/block: which block devices are whole disks. Leaves out partitions, devices on top of other disks or in memory,
// drives with removable media, and flash with firmware: these would count twice or for nothing.

import { readdirSync } from 'node:fs';
import { readOnce } from '../kernelfile.js';
import { u64 } from './kerneltext.js';

/**
 * Devices in memory, on top of other disks, optical and floppy drives (which have a size without a medium), flash with
 * firmware.
 */
const NO_DISK = /^(?:(?:loop|ram|zram|md|bcache|drbd|sr|fd|mtdblock)\d|dm-|mmcblk\d+(?:boot|rpmb))/;

/** Used only when /sys/block cannot be read: the names that kernels give to whole disks. */
const WHOLE = /^(?:(?:sd|hd|vd|xvd|dasd)[a-z]+|nvme\d+(?:c\d+)?n\d+|mmcblk\d+|pmem\d+)$/;

/** Whether a name alone looks like that of a whole disk. */
export function looksWhole(name: string): boolean {
  return WHOLE.test(name);
}

/**
 * NVMe multipath shows one disk as itself (nvme0n1) and once per path (nvme0c1n1). The paths count on every kernel, the
 * disk itself only since 6.4, so where there are paths the disk is left out.
 */
function withoutHeads(names: string[]): Set<string> {
  const whole = new Set(names);
  for (const name of names) {
    const path = /^(nvme\d+)c\d+(n\d+)$/.exec(name);
    if (path !== null) whole.delete(`${path[1]}${path[2]}`);
  }
  return whole;
}

/** Names as in /proc/diskstats of the whole disks below `sys`; undefined when /sys/block cannot be read. */
export function readWholeDisks(sys: string): Set<string> | undefined {
  let names: string[];
  try {
    names = readdirSync(`${sys}/block`);
  } catch {
    return undefined;
  }
  const sized = names.filter(name => !NO_DISK.test(name) && hasSize(readOnce(`${sys}/block/${name}/size`)));
  // A slash cannot be in a file's name: cciss/c0d0 is cciss!c0d0 here.
  return withoutHeads(sized.map(name => name.replaceAll('!', '/')));
}

/** The whole disks among `names` where /sys/block cannot be read. */
export function guessWholeDisks(names: readonly string[]): Set<string> {
  return withoutHeads(names.filter(looksWhole));
}

function hasSize(text: string | undefined): boolean {
  const sectors = u64(text?.trim());
  return sectors !== undefined && sectors > 0;
}
