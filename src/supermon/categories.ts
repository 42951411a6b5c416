// The values of a node by category: the category's bit, its variables, and how to get their numbers. Supermon's own
// categories first, then ours. The C program on a node uses the same names (c/mon/samples.c); a test compares the two.

import { CPU_KINDS, type Cursor } from '../readings/cursor.js';
import { entriesOf, entryReadings, isEntry } from '../readings/entries.js';
import { type Measure, map, field as rawField, taken } from '../readings/measures.js';

/** The kernel reports a second as a hundred jiffies everywhere. */
const MS_PER_JIFFY = 10;
/** The kernel's own fixed point: a load of 1 is 2^11. */
const LOAD_ONE = 2048;

/** One variable: its name and its number. */
type Variable = readonly [name: string, measure: Measure];

/** Variables of things that a node has several of: interfaces, GPUs. */
export interface Instances {
  /** How many places there are, and whether the place of that number is used. */
  count(cursor: Cursor): number;
  is(cursor: Cursor, entry: number): boolean;
  /** Its name; undefined: it has a number only. */
  name?(cursor: Cursor, entry: number): string;
  readonly variables: readonly (readonly [name: string, take: (cursor: Cursor, entry: number) => number])[];
}

export interface Category {
  readonly name: string;
  /** Its bit in the mask that may precede S. */
  readonly mask: number;
  readonly one?: readonly Variable[];
  readonly each?: Instances;
}

/** The state of a node, which every node has; and of servers. */
export const STATE = { name: 'beostate', mask: 0x100, variables: ['state', 'age_ms', 'reports', 'lost'] } as const;
export const SERVER = { name: 'server', mask: 0x8000, variables: ['nodes', 'cpu_us'] } as const;

/** A number that many readers could not represent (2^53 and beyond, in a double) is unknown for all. */
export const safe = (number: number) => (number < 2 ** 53 ? number : Number.NaN);

const field = (name: Parameters<typeof rawField>[0]) => map(rawField(name), safe);
const jiffies = (name: Parameters<typeof field>[0]) => map(field(name), ms => Math.floor(ms / MS_PER_JIFFY));
const load = (name: Parameters<typeof field>[0]) =>
  map(field(name), hundredths => Math.round((hundredths * LOAD_ONE) / 100));

const fields = (names: Readonly<Record<string, Parameters<typeof field>[0]>>, of = field): Variable[] =>
  Object.entries(names).map(([name, from]) => [name, of(from)] as const);

const entry = (name: string) => {
  const { take } = entryReadings().get(name) as { take: (cursor: Cursor, entry: number) => number };
  return (cursor: Cursor, number: number) => safe(take(cursor, number));
};
const text = (name: string) => {
  const { text: of } = entryReadings().get(name) as { text?: (cursor: Cursor, entry: number) => string | undefined };
  return (cursor: Cursor, number: number) => of?.(cursor, number) ?? '';
};

const several = (list: 'net' | 'gpu', fields: readonly (readonly [name: string, field: string])[]): Instances => ({
  count: cursor => entriesOf(cursor, list),
  is: (cursor, number) => isEntry(cursor, list, number),
  variables: fields.map(([name, of]) => [name, entry(`${list}.${of}`)] as const),
});

/** All except STATE and SERVER, in the order in which they are written. */
export const CATEGORIES: readonly Category[] = [
  {
    name: 'cpuinfo',
    mask: 0x1,
    one: CPU_KINDS.map(kind => [kind, jiffies(`cpu_${kind}_ms`)]),
  },
  {
    name: 'netinfo',
    mask: 0x2,
    each: {
      ...several('net', [
        ['rxbytes', 'rx_bytes'],
        ['rxpackets', 'rx_packets'],
        ['txbytes', 'tx_bytes'],
        ['txpackets', 'tx_packets'],
        ['errors', 'errors'],
        ['drops', 'drops'],
      ]),
      name: text('net.name'),
    },
  },
  {
    name: 'paging',
    mask: 0x4,
    one: fields({ majfaults: 'majfaults', swapin: 'swapin_pages', swapout: 'swapout_pages' }),
  },
  { name: 'switch', mask: 0x8, one: [['switch', field('ctxt')]] },
  {
    name: 'time',
    mask: 0x10,
    one: [
      ['timestamp', map(rawField('t_real_ns'), ns => Math.floor(ns / 1e9))],
      ['jiffies', map(rawField('t_boot_ns'), ns => Math.floor(ns / 1e6 / MS_PER_JIFFY))],
    ],
  },
  {
    name: 'avenrun',
    // The only bit that a published client fixes.
    mask: 0x40,
    one: fields({ avg1: 'load1_c', avg5: 'load5_c', avg15: 'load15_c' }, load),
  },
  {
    name: 'pressure',
    mask: 0x200,
    one: (['cpu_some_us', 'mem_some_us', 'mem_full_us', 'io_some_us', 'io_full_us'] as const).map(name => [
      name,
      field(`psi_${name}`),
    ]),
  },
  {
    name: 'gpu',
    mask: 0x400,
    each: several('gpu', [
      ['util_pct', 'util_pct'],
      ['mem_used_mib', 'mem_used_mib'],
      ['mem_total_mib', 'mem_total_mib'],
      ['temp_degc', 'temp_degc'],
      ['power_w', 'power_w'],
    ]),
  },
  {
    name: 'power',
    mask: 0x800,
    one: fields({ node_w: 'power_node_w', cpu_mj: 'energy_cpu_mj', dram_mj: 'energy_dram_mj' }),
  },
  {
    name: 'memory',
    mask: 0x1000,
    one: fields({
      total_mib: 'mem_total_mib',
      free_mib: 'mem_free_mib',
      avail_mib: 'mem_avail_mib',
      cached_mib: 'mem_cached_mib',
      dirty_mib: 'mem_dirty_writeback_mib',
      swap_total_mib: 'swap_total_mib',
      swap_free_mib: 'swap_free_mib',
    }),
  },
  {
    name: 'disk',
    mask: 0x2000,
    one: fields({
      reads: 'disk_reads',
      writes: 'disk_writes',
      rdbytes: 'disk_read_bytes',
      wrbytes: 'disk_write_bytes',
      busy_ms: 'disk_busy_ms',
      inflight: 'disk_inflight',
    }),
  },
  {
    name: 'procs',
    mask: 0x4000,
    one: fields({
      running: 'runnable',
      blocked: 'blocked',
      forks: 'forks',
    }),
  },
];

/** The numbers of one category, in the order of its variables; returns how many of them are known. */
export function takeOne(variables: readonly Variable[], cursor: Cursor, into: Float64Array): number {
  let known = 0;
  for (let i = 0; i < variables.length; i++) {
    const number = taken((variables[i] as Variable)[1], cursor);
    into[i] = number;
    if (!Number.isNaN(number)) known++;
  }
  return known;
}

/** The largest number of variables of a category. */
export const MOST_VARIABLES = Math.max(...CATEGORIES.map(({ one, each }) => (one ?? each?.variables ?? []).length));
