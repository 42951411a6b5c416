// /sys/block: which block devices are whole disks. Leaves out partitions, devices on top of other disks, in memory or
// on a network, drives with removable media, and flash with firmware: these would count twice or for nothing.

import { lstatSync, opendirSync } from 'node:fs';
import { readOnce } from '../kernelfile.js';
import { u64 } from './kerneltext.js';
import { KnownNames, leaps } from './known.js';

/**
 * What has a `device` and is no disk: optical and floppy drives (which have a size without a medium), flash without a
 * controller or with firmware, disks of Ceph.
 */
const NO_DISK = /^(?:(?:sr|fd|mtdblock|ubiblock|rbd)\d|mmcblk\d+(?:boot|rpmb))/;

/** The names that kernels give to whole disks. Nobody can give such a name to a device on top of them. */
const WHOLE = /^(?:(?:sd|hd|vd|xvd|dasd)[a-z]{1,4}|(?:cciss|ida|rd)\/c\d+d\d+|nvme\d+(?:c\d+)?n\d+|mmcblk\d+|pmem\d+)$/;

/** Whether a name alone looks like that of a whole disk. */
export const looksWhole = (name: string): boolean => WHOLE.test(name);

/** The whole disks among block devices, by their names in /proc/diskstats. */
export class WholeDisks {
  /** Of a disk, or of a path to one, its serial number; undefined: it is neither. */
  readonly #known = new KnownNames<string | undefined>();
  /** The names that are whole disks, and the count of changes of `#known` at which they were chosen (`of`). */
  #whole: { readonly names: ReadonlySet<string>; readonly of: number } = { names: new Set(), of: 0 };

  /** In the last tick. */
  #read: readonly { name: string }[] = [];

  /** Whether /sys/block can be read; otherwise names decide. */
  hasBlock = true;

  constructor(private readonly sys: string) {}

  /** For a tick; undefined if there are more new names than can be looked at in one. */
  among(all: readonly { name: string }[]): ReadonlySet<string> | undefined {
    const due = this.#known.meet(all);
    const { rows, changes: of } = this.#known;
    if (due.size > 0) this.hasBlock = lookInto(`${this.sys}/block`) !== undefined;
    let isChanged = of !== this.#whole.of;
    for (const name of due) {
      const is = this.hasBlock ? isDisk(this.sys, name) : looksWhole(name);
      isChanged ||= is !== (rows.get(name) !== undefined);
      rows.set(name, is ? serialOf(this.sys, name) : undefined);
    }
    for (const [i, disk] of all.entries())
      if (leaps(this.#read[i], disk) && !due.has(disk.name) && rows.get(disk.name) !== undefined)
        rows.set(disk.name, serialOf(this.sys, disk.name));
    this.#read = all;
    if (isChanged) this.#whole = { names: withoutHeads(rows), of };
    return this.#known.isWhole ? this.#whole.names : undefined;
  }

  /** What tells a disk from another one of its name, as far as it is known. */
  serial(name: string): string {
    return this.#known.rows.get(name) ?? '';
  }
}

/** Whether anything is in a folder; undefined if it cannot be read. */
function lookInto(path: string): boolean | undefined {
  try {
    const folder = opendirSync(path);
    try {
      return folder.readSync() !== null;
    } finally {
      folder.closeSync();
    }
  } catch {
    return undefined;
  }
}

/**
 * Of hardware the kernel knows the device. Loop, RAM and md devices, volumes of LVM and ZFS, pseudo devices of
 * multipathing, and most disks on a network have none.
 */
function isDisk(sys: string, name: string): boolean {
  const path = pathOf(sys, name);
  if (NO_DISK.test(name) || !u64(readOnce(`${path}/size`)?.trim()) || lookInto(`${path}/slaves`) === true) return false;
  return lstatSync(`${path}/device`, { throwIfNoEntry: false }) !== undefined || looksWhole(name);
}

/** A slash cannot be in a file's name: cciss/c0d0 is cciss!c0d0 there. */
const pathOf = (sys: string, name: string): string => `${sys}/block/${name.replaceAll('/', '!')}`;

/**
 * Its number in the order of all disks that came (since Linux 5.15), else the serial number of NVMe, else the name that
 * SCSI knows. None of them asks the disk.
 */
function serialOf(sys: string, name: string): string {
  const path = pathOf(sys, name);
  return readOnce(`${path}/diskseq`) ?? readOnce(`${path}/device/serial`) ?? readOnce(`${path}/device/wwid`) ?? '';
}

/**
 * NVMe multipath shows one disk as itself (nvme0n1) and once per path (nvme0c1n1). The paths count on every kernel, the
 * disk itself only since 6.4, so where there are paths the disk is left out.
 */
function withoutHeads(disks: ReadonlyMap<string, string | undefined>): Set<string> {
  const whole = new Set([...disks].filter(([, serial]) => serial !== undefined).map(([name]) => name));
  for (const name of [...whole]) {
    const path = /^(nvme\d+)c\d+(n\d+)$/.exec(name);
    if (path !== null) whole.delete(`${path[1]}${path[2]}`);
  }
  return whole;
}
