// /proc/diskstats: the sum of the traffic of all whole disks, and how busy the busiest disk was. Leaves out lines that
// are not understood: the report tells how many disks are in it.

import {
  add,
  alone,
  digits,
  type KernelCount,
  type LeaveOut,
  LineParser,
  less,
  quietly,
  TextCursor,
  thousandths,
  times,
  understood,
} from './kerneltext.js';

export interface Disk {
  name: string;
  reads: KernelCount;
  sectorsRead: KernelCount;
  writes: KernelCount;
  sectorsWritten: KernelCount;
  inflight: KernelCount;
  busyMs: KernelCount;
  weightedMs: KernelCount;
}

/** A line: 14 words since 2.6.25, 18 with discards since 4.18, 20 with flushes since 5.5. See netdev.ts. */
const LINE =
  / *(\d+) +(\d+) +([^ \n]+) +(\d+) +[^ \n]+ +(\d+) +[^ \n]+ +(\d+) +[^ \n]+ +(\d+) +[^ \n]+ +(-?\d+) +(\d+) +(\d+)(?=[ \n])/y;

/** Some kernels count requests down once too often. */
const MOST_INFLIGHT = 2 ** 31 - 1;

function parseLine([, major = '', minor = '', name = '', ...texts]: RegExpExecArray): Disk | undefined {
  const [reads, sectorsRead, writes, sectorsWritten, , busyMs, weightedMs] = texts.map(digits);
  const inflight = new TextCursor(texts[4] ?? '').natural(MOST_INFLIGHT, quietly);
  if (digits(major) === undefined || digits(minor) === undefined) return undefined;
  if (reads === undefined || sectorsRead === undefined || writes === undefined) return undefined;
  if (sectorsWritten === undefined || inflight === undefined) return undefined;
  if (busyMs === undefined || weightedMs === undefined) return undefined;
  return { name: alone(name), reads, sectorsRead, writes, sectorsWritten, inflight, busyMs, weightedMs };
}

/** For the lines of one file, from one text to the next. */
export const diskstatsLines = () => new LineParser(LINE, parseLine);

/** All block devices, with partitions. An empty text is a node without any, and not an error. */
export function parseDiskstats(
  text: string,
  leaveOut: LeaveOut = quietly,
  parser = diskstatsLines(),
): Disk[] | undefined {
  if (text !== '' && !text.endsWith('\n')) return undefined;
  return understood(parser.lines(text, 0), leaveOut);
}

/** The kernel counts sectors of 512 bytes, whatever the sector size of the disk is. */
const SECTOR = 512;

/** The fields of the set `disk` over the given disks. */
export function sumDisks(disks: readonly Disk[]) {
  const sum = (key: Exclude<keyof Disk, 'name'>) => {
    let total: KernelCount = 0;
    for (const disk of disks) total = add(total, disk[key]);
    return total;
  };
  return {
    disk_read_bytes: times(sum('sectorsRead'), SECTOR),
    disk_write_bytes: times(sum('sectorsWritten'), SECTOR),
    disk_reads: sum('reads'),
    disk_writes: sum('writes'),
    disk_busy_ms: sum('busyMs'),
    disk_weighted_ms: sum('weightedMs'),
    disk_inflight: sum('inflight'),
    disks: disks.length,
  };
}

/**
 * The share of `elapsedNs` in which the busiest disk was busy, in thousandths, rounded down; undefined if no time
 * passed, or if no disk existed at both ticks.
 */
export function busiestDisk(
  before: readonly Disk[],
  now: readonly Disk[],
  elapsedNs: bigint,
): { disk_busiest_pm: number } | undefined {
  if (elapsedNs <= 0n) return undefined;
  // Nearly always the same disks, in the same places.
  let then: ReadonlyMap<string, KernelCount> | undefined;
  let busiest: KernelCount | undefined;
  for (const [i, disk] of now.entries()) {
    const same = before[i];
    if (same?.name !== disk.name) then ??= new Map(before.map(disk => [disk.name, disk.busyMs]));
    const from = same?.name === disk.name ? same.busyMs : then?.get(disk.name);
    if (from === undefined) continue;
    const by = grown(from, disk.busyMs);
    if (by >= (busiest ?? 0)) busiest = by;
  }
  return busiest === undefined ? undefined : { disk_busiest_pm: thousandths(BigInt(busiest) * NS_PER_MS, elapsedNs) };
}

const NS_PER_MS = 1_000_000n;

/** The kernel shows this time modulo 2^32 ms. If it grew by half of that or more, another disk has the old name. */
function grown(from: KernelCount, to: KernelCount): KernelCount {
  const by = less(to >= from ? to : add(to, 2 ** 32), from);
  return by < 2 ** 31 ? by : 0;
}
