// What can be said of a node by a name: the fields of its report, counters and rates, and a few sums that people want.
// Reads no more of a report than is asked for.

import { enums, structs } from '../layout/layout.gen.js';
import type { Rates } from '../shm/rates.js';
import type { Node } from '../shm/reader.js';

export type Value = number | string | undefined;

export interface Field {
  readonly name: string;
  /** In words for people, with its unit. */
  readonly about: string;
  /** The words that stand for its numbers. */
  readonly words?: readonly string[];
  readonly isText?: boolean;
  readonly value: (node: Node) => Value;
}

function field(name: string, about: string, value: Field['value'], more: Partial<Field> = {}): Field {
  return { name, about, value, ...more };
}

type ReportField = { type: string; count: number; unit: string; kind: string };
const REPORT = Object.entries<ReportField>(structs.report.fields);

/** A value of a report as people compare it: ids in hexadecimal, times in numbers. */
function plain(value: unknown, unit: string): Value {
  if (typeof value === 'bigint') return unit === 'ns' ? Number(value) : value.toString(16).padStart(16, '0');
  return typeof value === 'number' || typeof value === 'string' ? value : undefined;
}

// Several fields of one node are asked for in turn; its rates take two whole reports.
let lastNode: Node | undefined;
let lastRates: Rates | undefined;
export function ratesOf(node: Node): Rates | undefined {
  if (node !== lastNode) [lastNode, lastRates] = [node, node.rates];
  return lastRates;
}

const number = (node: Node, name: Parameters<Node['field']>[0]) => node.field(name) as number | undefined;

function scaled(name: Parameters<Node['field']>[0], by: number): Field['value'] {
  return node => {
    const value = number(node, name);
    return value === undefined ? undefined : value / by;
  };
}

function used(total: number | undefined, free: number | undefined): number | undefined {
  if (total === undefined || free === undefined || total === 0 || free > total) return undefined;
  return (100 * (total - free)) / total;
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter(value => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0);
}

/** Bytes per second over all network entries; never the fabric, whose traffic may be in them, too. */
function network(node: Node, name: 'rx_bytes' | 'tx_bytes'): number | undefined {
  const rates = ratesOf(node);
  return sum([...(rates?.net ?? []), ...(rates?.net_rest ? [rates.net_rest] : [])].map(entry => entry[name]));
}

function rate(node: Node, name: string): number | undefined {
  const value = ratesOf(node)?.[name];
  return typeof value === 'number' ? value : undefined;
}

/** Shares of the last 10 s in which tasks waited, in per cent, by what for. */
export function pressures(node: Node): [what: string, percent: number][] {
  const known = (['cpu', 'mem', 'io'] as const).map(what => [what, number(node, `psi_${what}_some10`)] as const);
  return known.flatMap(([what, share]) => (share === undefined ? [] : [[what, share / 100]]));
}

/** Mean utilisation of the GPUs in per cent, or the share of them in use. */
function gpus(node: Node): number | undefined {
  const known = number(node, 'gpu_count');
  if (known === undefined || known === 0) return undefined;
  const shares = (node.report?.gpu ?? []).flatMap(({ util_pct }) => (util_pct === undefined ? [] : [util_pct]));
  const total = sum(shares);
  return total === undefined ? (100 * (number(node, 'gpu_busy') ?? 0)) / known : total / shares.length;
}

const COUNTERS = ['lost', 'unheard', 'duplicate', 'late', 'refused', 'restarts', 'reboots', 'resets'] as const;

const OWN: Field[] = [
  field('name', 'its name', node => node.name, { isText: true }),
  field('state', 'how it is', node => node.state, { isText: true }),
  field('address', 'where its last report came from', node => node.address || undefined, { isText: true }),
  field('age_ms', 'age of its last report, ms', node => node.ageMs),
  field('age', 'age of its last report, s', node => (node.ageMs === undefined ? undefined : node.ageMs / 1000)),
  field('reports', 'reports accepted', node => node.record.accepted),
  ...COUNTERS.map(name => field(name, `reports or times: ${name}`, node => node.record[name])),
  field('offset_us', "its clock less the master's, us", node => (node.report ? node.record.offset_us : undefined)),
  field('skew', "its clock less the master's, s", node =>
    node.report ? (node.record.offset_us ?? 0) / 1e6 : undefined,
  ),
  field('load', 'load average of the last minute', scaled('load1_c', 100)),
  field('cpus', 'CPUs online', node => number(node, 'cpus_online')),
  field('cpu', 'CPU in use, %', scaled('cpu_busy_pm', 10)),
  field('mem', 'memory in use, %', node => used(number(node, 'mem_total_mib'), number(node, 'mem_avail_mib'))),
  field('swap', 'swap in use, %', node => used(number(node, 'swap_total_mib'), number(node, 'swap_free_mib'))),
  field('in', 'network in, B/s', node => network(node, 'rx_bytes')),
  field('out', 'network out, B/s', node => network(node, 'tx_bytes')),
  field('disk', 'disk read and written, B/s', node =>
    sum([rate(node, 'disk_read_bytes'), rate(node, 'disk_write_bytes')]),
  ),
  field('pressure', 'tasks waited for CPU, memory or I/O, the largest, %', node =>
    pressures(node).reduce<number | undefined>((most, [, share]) => Math.max(most ?? 0, share), undefined),
  ),
  field('gpu', 'GPUs in use, %', gpus),
  field('up', 'time since it booted, s', node => {
    const ns = node.field('t_boot_ns') as bigint | undefined;
    return ns === undefined ? undefined : Number(ns) / 1e9;
  }),
];

/** Every field by its name: what is our own goes before what a report calls so. */
function all(): Map<string, Field> {
  const fields = new Map(OWN.map(own => [own.name, own]));
  for (const [name, { type, count, unit, kind }] of REPORT) {
    if (kind === 'reserved' || (count > 0 && type !== 'char') || Object.hasOwn(structs, type)) continue;
    const words = unit.startsWith('enum ') ? enums[unit.slice(5) as keyof typeof enums] : undefined;
    const key = name as Parameters<Node['field']>[0];
    const isText = type === 'char' || (type.endsWith('64') && (unit === 'id' || unit.startsWith('bits ')));
    const report = field(name, unit, node => plain(node.field(key), unit), { isText, ...(words ? { words } : {}) });
    if (!fields.has(name)) fields.set(name, report);
    if (kind === 'counter') {
      const rates = `rates.${name}`;
      fields.set(
        rates,
        field(rates, `${unit} per second`, node => rate(node, name)),
      );
      const share = `rates.${name.replace(/_ms$/, '_pct')}`;
      if (/^cpu_\w+_ms$/.test(name))
        fields.set(
          share,
          field(share, '%', node => rate(node, share.slice(6))),
        );
    }
  }
  return fields;
}

let known: Map<string, Field> | undefined;

/** The field that people call so. */
export function fieldOf(name: string): Field | undefined {
  known ??= all();
  return known.get(name);
}

export function fieldNames(): string[] {
  known ??= all();
  return [...known.keys()];
}
