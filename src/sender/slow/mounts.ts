// /proc/self/mountinfo: which file systems are mounted where, and which of them are this machine's own. Refuses a text
// with any line that it does not understand; asks no file system anything, for that is what hangs.

import { lines } from '../collect/kerneltext.js';

export interface Mount {
  /** `major:minor`: equal for all mounts of one file system. */
  device: string;
  point: string;
  type: string;
  /** What was mounted, as whoever mounted it called it. */
  source: string;
  /** Mounted so, remounted so by the kernel after an error, or (ext4 since Linux 6.15) treated so after one. */
  readOnly: boolean;
  /** Of the file system, as the kernel shows them. */
  options: string;
}

interface Line extends Mount {
  id: string;
  parent: string;
}

/** The kernel writes blanks, tabs, line ends, backslashes and # in octal. */
function plain(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function parseLine(line: string): Line | undefined {
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

/** The mounts that can be seen: of those at one point, the one that lies on top. */
export function parseMounts(text: string): Mount[] | undefined {
  if (!text.endsWith('\n')) return undefined;
  const all: Line[] = [];
  for (const line of lines(text)) {
    const mount = parseLine(line);
    if (mount === undefined) return undefined;
    all.push(mount);
  }
  // Its order tells nothing: a root that was moved into place comes after what is mounted upon it.
  const covered = new Set(
    all.filter(({ id, parent }) => id !== parent).map(({ parent, point }) => `${parent} ${point}`),
  );
  return all.filter(({ id, point }) => !covered.has(`${id} ${point}`)).map(({ id: _, parent: __, ...mount }) => mount);
}

/** The mount that a path without links lies on. */
export function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  let found: Mount | undefined;
  for (const mount of mounts) {
    const below = path === mount.point || path.startsWith(mount.point.endsWith('/') ? mount.point : `${mount.point}/`);
    if (below && (found === undefined || mount.point.length > found.point.length)) found = mount;
  }
  return found;
}

/** On block devices that other machines write too, or in the hands of a program that may hang. */
const SHARED = /^(?:fuse|gfs2$|ocfs2$|gpfs$|mmfs$|acfs$)/;
/** Upon several block devices, so that the kernel gives them a number of its own. */
const POOLED = ['btrfs', 'bcachefs'];
/** Without a block device, and yet on this machine alone. */
const INTERNAL = ['tmpfs', 'ramfs', 'rootfs', 'overlay', 'zfs'];
/** Full by nature, and no place where anything can run out. */
const IMAGES = ['squashfs', 'iso9660', 'udf', 'erofs', 'cramfs', 'romfs'];
/** In memory (1: ram), or in a file of another file system (7: loop). */
const VIRTUAL = /^(?:1|7):/;

function onBlockDevice({ device, type }: Mount): boolean {
  return !SHARED.test(type) && (!device.startsWith('0:') || POOLED.includes(type));
}

/** Whether a file system is known to be this machine's own. One of a type never heard of may hang on a network. */
export function isLocal(mount: Mount): boolean {
  return onBlockDevice(mount) || INTERNAL.includes(mount.type);
}

/** Whether a file system counts in `fs_total_mib`: local, on a block device, with space of its own. */
export function hasDisk(mount: Mount): boolean {
  const virtual = VIRTUAL.test(mount.device) || mount.source.startsWith('/dev/zram');
  return onBlockDevice(mount) && !virtual && !IMAGES.includes(mount.type);
}
