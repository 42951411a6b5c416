// /proc/meminfo: memory in MiB, rounded down. Refuses a text without a line that every kernel since 3.14 has.

import type { FieldsOf } from '../../layout/codec.js';
import { words } from '../../text/tables.js';
import { add, type KernelCount, lineStart, over, TextCursor, times } from './kerneltext.js';

// Required are all lines but two groups, which a kernel leaves out when it has nothing of the kind, so that 0 is a
// reading and no gap: HardwareCorrupted (no handling of memory failures: none taken out of use) and the HugePages
// lines (no huge pages of the default size). Of the latter, all or none must be there.
const REQUIRED = [
  ['mem_total_mib', 'MemTotal:'],
  ['mem_avail_mib', 'MemAvailable:'],
  ['swap_total_mib', 'SwapTotal:'],
  ['swap_free_mib', 'SwapFree:'],
  ['mem_free_mib', 'MemFree:'],
  ['mem_buffers_mib', 'Buffers:'],
  ['mem_cached_mib', 'Cached:'],
  ['mem_shmem_mib', 'Shmem:'],
  ['mem_sreclaimable_mib', 'SReclaimable:'],
  ['mem_sunreclaim_mib', 'SUnreclaim:'],
  ['mem_anon_mib', 'AnonPages:'],
  ['mem_committed_mib', 'Committed_AS:'],
  ['mem_commit_limit_mib', 'CommitLimit:'],
  ['mem_unevictable_mib', 'Unevictable:'],
  ['mem_pagetables_mib', 'PageTables:'],
] as const;

/** Containers show 4 PiB of swap and more where they have no limit, or a number below zero. */
const NO_SWAP_MIB = 2 ** 32;

/** Parts of the memory. */
const PARTS = words(
  'mem_avail_mib mem_free_mib mem_buffers_mib mem_cached_mib mem_shmem_mib mem_sreclaimable_mib',
  'mem_sunreclaim_mib mem_anon_mib mem_unevictable_mib mem_pagetables_mib mem_dirty_writeback_mib',
);

type Meminfo = FieldsOf<'memory'>;

function number(text: string, key: string, unit: string): KernelCount | undefined {
  const line = new TextCursor(text);
  if (!line.line(key)) return undefined;
  line.blanks();
  const value = line.digits();
  return line.eat(unit) ? value : undefined;
}

const kib = (text: string, key: string): KernelCount | undefined => number(text, key, ' kB\n');

const least = (a: KernelCount = 0, b: KernelCount = 0) => (a < b ? a : b);

/** Memory in MiB, `mem_corrupted_kib` in KiB; undefined if a required line is missing. */
export function parseMeminfo(text: string): Meminfo | undefined {
  // A last line without its end was cut, and must not look like a line that this kernel does not have.
  if (!text.endsWith('\n')) return undefined;
  const out: Partial<Meminfo> = {};
  for (const [field, key] of REQUIRED) {
    const value = kib(text, key);
    if (value === undefined) return undefined;
    out[field] = over(value, 1024);
  }

  const dirty = kib(text, 'Dirty:');
  const writeback = kib(text, 'Writeback:');
  if (dirty === undefined || writeback === undefined) return undefined;
  out.mem_dirty_writeback_mib = over(add(dirty, writeback), 1024);

  // A part of something is at most all of it: some containers' files have more, or a number below zero.
  const total = kib(text, 'MemTotal:') ?? 0;
  if (total === 0) return undefined;
  for (const part of PARTS) out[part] = least(out[part], over(total, 1024));
  if ((out.swap_total_mib ?? 0) >= NO_SWAP_MIB) out.swap_total_mib = 0;
  out.swap_free_mib = least(out.swap_free_mib, out.swap_total_mib);

  const has = (key: string) => lineStart(text, key) !== -1;
  const huge = has('HugePages_Total:') || has('HugePages_Free:') || has('Hugepagesize:');
  const pages = huge ? number(text, 'HugePages_Total:', '\n') : 0;
  const free = huge ? number(text, 'HugePages_Free:', '\n') : 0;
  const size = huge ? kib(text, 'Hugepagesize:') : 0;
  if (pages === undefined || free === undefined || size === undefined) return undefined;
  out.mem_huge_total_mib = over(times(pages, size), 1024);
  out.mem_huge_free_mib = over(times(least(free, pages), size), 1024);

  const corrupted = has('HardwareCorrupted:') ? kib(text, 'HardwareCorrupted:') : 0;
  if (corrupted === undefined) return undefined;
  out.mem_corrupted_kib = corrupted > total ? 0 : corrupted; // All of it would be an alarm.
  return out as Meminfo;
}
