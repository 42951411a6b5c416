// /proc/diskstats: the sum of the traffic of all whole disks, and how busy the busiest disk was. Leaves out lines that
// are not understood: the report tells how many disks are in it.

import type { FieldsOf } from '../../layout/codec.js';
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
  whole,
} from './kerneltext.js';
import { MemberSum } from './membersum.js';

const COUNTS = ['sectorsRead', 'sectorsWritten', 'reads', 'writes', 'busyMs', 'weightedMs'] as const;

export interface Disk extends Record<(typeof COUNTS)[number], KernelCount> {
  name: string;
  /** As in `8:0`. */
  number: string;
  inflight: KernelCount;
}

/** A line: 14 words since 2.6.25, 18 with discards since 4.18, 20 with flushes since 5.5. See netdev.ts. */
const LINE =
  / *(\d+) +(\d+) +([^ \n]+) +(\d+) +[^ \n]+ +(\d+) +[^ \n]+ +(\d+) +[^ \n]+ +(\d+) +[^ \n]+ +(-?\d+) +(\d+) +(\d+)(?=[ \n])/y;

/** Some kernels count requests down once too often. */
const MOST_INFLIGHT = 2 ** 31 - 1;

function parseLine([, major = '', minor = '', name = '', ...texts]: RegExpExecArray): Disk | undefined {
  const [reads, sectorsRead, writes, sectorsWritten, , busyMs, weightedMs] = texts.map(digits);
  const inflight = new TextCursor(texts[4] ?? '').natural(MOST_INFLIGHT, quietly);
  const counts = whole({ reads, sectorsRead, writes, sectorsWritten, inflight, busyMs, weightedMs });
  const number = whole([digits(major), digits(minor)])?.join(':');
  return counts && number !== undefined ? { name: alone(name), number, ...counts } : undefined;
}

/** All block devices, with partitions. An empty text is a node without any, and not an error. For one file. */
export function diskstatsParser(lines = new LineParser(LINE, parseLine)) {
  return (text: string, leaveOut: LeaveOut = quietly): Disk[] | undefined =>
    text === '' || text.endsWith('\n') ? understood(lines.lines(text, 0), leaveOut) : undefined;
}

/** The kernel counts sectors of 512 bytes, whatever the sector size of the disk is. */
const SECTOR = 512;

/** The kernel shows these times modulo 2^32 ms. */
const MODULO = { busyMs: 2 ** 32, weightedMs: 2 ** 32 };

/** The sum over so many disks, from tick to tick. */
export const diskSum = (room = Number.POSITIVE_INFINITY) => new MemberSum(COUNTS, { room, isOfNone: true });

/**
 * The fields of the set `disk` over the given disks; undefined if there are more than there is room for. `serial`: what
 * tells a disk from another one of its name.
 */
export function sumDisks(
  disks: readonly Disk[],
  sum = diskSum(),
  serial: (name: string) => string = () => '',
): FieldsOf<'disk'> | undefined {
  const members = disks.map(disk => ({
    id: `${disk.number} ${disk.name} ${serial(disk.name)}`,
    counts: disk,
    modulo: MODULO,
  }));
  const total = sum.add(members, 0);
  return (
    total && {
      disk_read_bytes: times(total.sectorsRead, SECTOR),
      disk_write_bytes: times(total.sectorsWritten, SECTOR),
      disk_reads: total.reads,
      disk_writes: total.writes,
      disk_busy_ms: total.busyMs,
      disk_weighted_ms: total.weightedMs,
      disk_inflight: disks.reduce<KernelCount>((all, { inflight }) => add(all, inflight), 0),
      disks: disks.length,
    }
  );
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
