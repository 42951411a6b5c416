// /proc/diskstats: the sum of the traffic of all whole disks, and how busy the busiest disk was. Refuses a text with
// any invalid line: the sum of the rest would be wrong.

import { add, type Count, Cursor, thousandths, times, u64 } from './kerneltext.js';

export interface Disk {
  name: string;
  reads: Count;
  sectorsRead: Count;
  writes: Count;
  sectorsWritten: Count;
  inflight: Count;
  busyMs: Count;
  weightedMs: Count;
}

/** Some kernels count requests down once too often, and write that with a sign or without. */
function parseInflight(word: string): Count | undefined {
  const isNegative = word.startsWith('-');
  const count = u64(isNegative ? word.slice(1) : word);
  return count !== undefined && (isNegative || count >= 2 ** 31) ? 0 : count;
}

function parseLine(line: Cursor): Disk | undefined {
  // 14 words since 2.6.25, 18 with discards since 4.18, 20 with flushes since 5.5.
  const [major, minor, name] = [line.count(), line.count(), line.word()];
  const reads = line.count();
  line.word();
  const sectorsRead = line.count();
  line.word();
  const writes = line.count();
  line.word();
  const sectorsWritten = line.count();
  line.word();
  const inflight = parseInflight(line.word());
  const busyMs = line.count();
  const weightedMs = line.count();
  if (major === undefined || minor === undefined || name === '') return undefined;
  if (reads === undefined || sectorsRead === undefined || writes === undefined) return undefined;
  if (sectorsWritten === undefined || inflight === undefined) return undefined;
  if (busyMs === undefined || weightedMs === undefined) return undefined;
  return { name, reads, sectorsRead, writes, sectorsWritten, inflight, busyMs, weightedMs };
}

/** All block devices, with partitions. An empty text is a node without any, and not an error. */
export function parseDiskstats(text: string): Disk[] | undefined {
  if (text !== '' && !text.endsWith('\n')) return undefined;
  const out: Disk[] = [];
  const line = new Cursor(text);
  while (line.at < text.length) {
    const end = text.indexOf('\n', line.at);
    const disk = parseLine(line);
    if (disk === undefined) return undefined;
    out.push(disk);
    line.at = end + 1;
  }
  return out;
}

/** The kernel counts sectors of 512 bytes, whatever the sector size of the disk is. */
const SECTOR = 512;

/** The fields of the set `disk` over the given disks. */
export function sumDisks(disks: readonly Disk[]) {
  const sum = (key: Exclude<keyof Disk, 'name'>) => disks.reduce<Count>((total, disk) => add(total, disk[key]), 0);
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
  const then = new Map(before.map(disk => [disk.name, disk.busyMs]));
  let busiest: number | undefined;
  for (const disk of now) {
    const from = then.get(disk.name);
    if (from !== undefined) busiest = Math.max(busiest ?? 0, grown(Number(from), Number(disk.busyMs)));
  }
  return busiest === undefined ? undefined : { disk_busiest_pm: thousandths(BigInt(busiest) * NS_PER_MS, elapsedNs) };
}

const NS_PER_MS = 1_000_000n;

/** The kernel shows this time modulo 2^32 ms. If it grew by half of that or more, another disk has the old name. */
function grown(from: number, to: number): number {
  const by = to >= from ? to - from : to - from + 2 ** 32;
  return by >= 0 && by < 2 ** 31 ? by : 0;
}
