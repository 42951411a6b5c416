// /proc/self/mountinfo: which file systems are mounted where, and which of them are local. Refuses a text with any
// invalid line. Asks no file system anything, because that can hang.

import { lines } from '../collect/kerneltext.js';

export interface Mount {
  /** `major:minor`: equal for all mounts of the same file system. */
  device: string;
  point: string;
  type: string;
  /** The mounted device, as named in the mount command. */
  source: string;
  /** Read-only: mounted so, remounted so after an error, or (ext4 since Linux 6.15) treated so after one. */
  readOnly: boolean;
  /** The options of the file system, as the kernel shows them. */
  options: string;
}

interface MountLine extends Mount {
  id: string;
  parent: string;
}

/** The kernel writes blanks, tabs, line ends, backslashes and # in octal. */
function plain(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function parseLine(line: string): MountLine | undefined {
  // id parent major:minor root point options tags… - type source options
  const fields = line.split(' ');
  const dash = fields.indexOf('-', 6);
  const [id, parent, device, , point, mountOptions] = fields;
  const [type, source, options] = dash === -1 ? [] : fields.slice(dash + 1);
  if (id === undefined || parent === undefined || device === undefined || !/^\d{1,10}$/.test(id)) return undefined;
  if (!/^\d{1,10}$/.test(parent) || !/^\d{1,7}:\d{1,7}$/.test(device) || !point?.startsWith('/')) return undefined;
  if (mountOptions === undefined || !type || source === undefined || options === undefined) return undefined;
  const readOnly = [...mountOptions.split(','), ...options.split(',')].some(o => o === 'ro' || o === 'emergency_ro');
  return { id, parent, device, point: plain(point), type, source: plain(source), readOnly, options };
}

/** The visible mounts: of several at the same point, the top one. */
export function parseMounts(text: string): Mount[] | undefined {
  if (!text.endsWith('\n')) return undefined;
  const all: MountLine[] = [];
  for (const line of lines(text)) {
    const mount = parseLine(line);
    if (mount === undefined) return undefined;
    all.push(mount);
  }
  // The order does not help: a root that was moved into place comes after the mounts on it.
  const covered = new Set(
    all.filter(({ id, parent }) => id !== parent).map(({ parent, point }) => `${parent} ${point}`),
  );
  return all.filter(({ id, point }) => !covered.has(`${id} ${point}`)).map(({ id: _, parent: __, ...mount }) => mount);
}

/** The mount of a path without links. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  let found: Mount | undefined;
  for (const mount of mounts) {
    const below = path === mount.point || path.startsWith(mount.point.endsWith('/') ? mount.point : `${mount.point}/`);
    if (below && (found === undefined || mount.point.length > found.point.length)) found = mount;
  }
  return found;
}

/** File systems on block devices that other machines write, too, or that are served by a program that may hang. */
const SHARED = /^(?:fuse|gfs2$|ocfs2$|gpfs$|mmfs$|acfs$)/;
/** File systems on several block devices, so that the kernel gives them a device number of their own. */
const POOLED = ['btrfs', 'bcachefs'];
/** File systems that have no block device and are still local. */
const INTERNAL = ['tmpfs', 'ramfs', 'rootfs', 'overlay', 'zfs'];
/** Always full, and nothing can run out of space there. */
const IMAGES = ['squashfs', 'iso9660', 'udf', 'erofs', 'cramfs', 'romfs'];
/** In memory (1: ram), or in a file of another file system (7: loop). */
const VIRTUAL = /^(?:1|7):/;

function onBlockDevice({ device, type }: Mount): boolean {
  return !SHARED.test(type) && (!device.startsWith('0:') || POOLED.includes(type));
}

/** Whether a file system is known to be local. One of an unknown type may hang on a network. */
export const isLocal = (mount: Mount): boolean => onBlockDevice(mount) || INTERNAL.includes(mount.type);

/** Whether a file system counts in `fs_total_mib`: local, on a block device, with its own space. */
export function hasDisk(mount: Mount): boolean {
  const virtual = VIRTUAL.test(mount.device) || mount.source.startsWith('/dev/zram');
  return onBlockDevice(mount) && !virtual && !IMAGES.includes(mount.type);
}
