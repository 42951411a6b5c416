// What can be said of a node by a name: the fields of its report, counters and rates, and a few sums that people want.
// Reads no more of a report than is asked for.

import { formatDuration } from '../common/durations.js';
import { GPU_UNKNOWN, getter } from '../layout/codec.js';
import { enums, structs } from '../layout/layout.gen.js';
import { mayBeRefused } from '../shm/liveness.js';
import { type CounterName, CPU_TIMES, counterOf, interfaceCounterOf, Pair } from '../shm/rates.js';
import type { Node } from '../shm/reader.js';
import { LATELY_MS, reasonText } from '../shm/sentences.js';

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

// Several rates of one node are asked for in turn: its two reports are laid side by side once.
const pair = new Pair();
let lastNode: Node | undefined;
let paired = false;
function pairOf(node: Node): Pair | undefined {
  if (node !== lastNode) [lastNode, paired] = [node, pair.lay(node.view, node.previousAt, node.reportAt)];
  return paired ? pair : undefined;
}

const known = (value: number) => (Number.isNaN(value) ? undefined : value);

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
function network(name: 'rx_bytes' | 'tx_bytes'): Field['value'] {
  const counter = interfaceCounterOf(name);
  return node => {
    const reports = pairOf(node);
    if (!reports?.hasNet) return undefined;
    const { found } = reports.matchNet();
    const rates = Array.from({ length: found }, (_, i) => known(reports.entryRate(counter, i)));
    if (reports.hasSum('net_rest')) rates.push(known(reports.sumRate('net_rest', counter)));
    return sum(rates);
  };
}

/** A counter per second. */
function rate(name: CounterName): Field['value'] {
  const counter = counterOf(name);
  return node => {
    const reports = pairOf(node);
    return reports && known(reports.rate(counter));
  };
}

const shares = new Float64Array(CPU_TIMES.length);

/** The share of a CPU time, in per cent. */
function share(name: string): Field['value'] {
  const at = CPU_TIMES.findIndex(time => time.name === name);
  return node => {
    const reports = pairOf(node);
    reports?.shares(shares);
    return reports && known(shares[at] as number);
  };
}

/** Shares of the last 10 s in which tasks waited, in per cent, by what for. */
export function pressures(node: Node): [what: string, percent: number][] {
  const shares = (['cpu', 'mem', 'io'] as const).map(what => [what, number(node, `psi_${what}_some10`)] as const);
  return shares.flatMap(([what, share]) => (share === undefined ? [] : [[what, share / 100]]));
}

const utilisationOf = getter('gpu_slot', 'util_pct');

/** Mean utilisation of the GPUs in per cent, or the share of them in use. */
function gpus(node: Node): number | undefined {
  const count = number(node, 'gpu_count');
  if (count === undefined || count === 0 || node.reportAt === undefined) return undefined;
  const { offset, count: slots } = structs.report.fields.gpu;
  const shares: number[] = [];
  for (let i = 0; i < Math.min(count, slots); i++) {
    const share = utilisationOf(node.view, node.reportAt + offset + i * structs.gpu_slot.bytes);
    if (share !== GPU_UNKNOWN.util_pct) shares.push(share);
  }
  const total = sum(shares);
  return total === undefined ? (100 * (number(node, 'gpu_busy') ?? 0)) / count : total / shares.length;
}

/** What the record counts besides the reports that were accepted, in the order in which it is told. */
export const COUNTERS = ['lost', 'unheard', 'duplicate', 'late', 'refused', 'restarts', 'reboots', 'resets'] as const;

/** One number of the record, and nothing else of it. */
function ofRecord(name: (typeof COUNTERS)[number] | 'accepted' | 'offset_us'): Field['value'] {
  const get = getter('record', name);
  return node => get(node.view, node.offset);
}

const offset = ofRecord('offset_us') as (node: Node) => number | undefined;
const reported = (node: Node) => node.reportAt !== undefined;

const diskRead = rate('disk_read_bytes') as (node: Node) => number | undefined;
const diskWritten = rate('disk_write_bytes') as (node: Node) => number | undefined;

/** Why nothing newer is heard of a node that reports. */
function why(node: Node): string | undefined {
  const refusal = mayBeRefused(node.state) ? node.refusedSince : undefined;
  if (refusal === undefined) return undefined;
  const until = refusal.ageMs > LATELY_MS ? ` until ${formatDuration(refusal.ageMs)} ago` : '';
  return `refused${until}, ${reasonText(refusal)}`;
}

const OWN: Field[] = [
  field('name', 'its name', node => node.name, { isText: true }),
  field('state', 'how it is', node => node.state, { isText: true }),
  field('ails', 'what ails it, the worst first, separated by commas', node => node.ailments.join(',') || undefined, {
    isText: true,
  }),
  field('address', 'where its last report came from', node => node.address || undefined, { isText: true }),
  field('link', "the master's interface by which it reports", node => node.linkName, { isText: true }),
  field('age_ms', 'age of its last report, ms', node => node.ageMs),
  field('age', 'age of its last report, s', node => (node.ageMs === undefined ? undefined : node.ageMs / 1000)),
  field('reports', 'reports accepted', ofRecord('accepted')),
  ...COUNTERS.map(name => field(name, `reports or times: ${name}`, ofRecord(name))),
  field('offset_us', "its clock less the master's, us", node => (reported(node) ? offset(node) : undefined)),
  field('skew', "its clock less the master's, s", node => (reported(node) ? (offset(node) ?? 0) / 1e6 : undefined)),
  field('load', 'load average of the last minute', scaled('load1_c', 100)),
  field('cpus', 'CPUs online', node => number(node, 'cpus_online')),
  field('cpu', 'CPU in use, %', scaled('cpu_busy_pm', 10)),
  field('mem', 'memory in use, %', node => used(number(node, 'mem_total_mib'), number(node, 'mem_avail_mib'))),
  field('swap', 'swap in use, %', node => used(number(node, 'swap_total_mib'), number(node, 'swap_free_mib'))),
  field('in', 'network in, B/s', network('rx_bytes')),
  field('out', 'network out, B/s', network('tx_bytes')),
  field('disk', 'disk read and written, B/s', node => sum([diskRead(node), diskWritten(node)])),
  field('pressure', 'tasks waited for CPU, memory or I/O, the largest, %', node =>
    pressures(node).reduce<number | undefined>((most, [, share]) => Math.max(most ?? 0, share), undefined),
  ),
  field('gpu', 'GPUs in use, %', gpus),
  field('why', 'why it is not heard, though it reports', why, { isText: true }),
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
      fields.set(rates, field(rates, `${unit} per second`, rate(name as CounterName)));
      const shareName = `rates.${name.replace(/_ms$/, '_pct')}`;
      if (CPU_TIMES.some(time => time.name === name)) fields.set(shareName, field(shareName, '%', share(name)));
    }
  }
  return fields;
}

let fields: Map<string, Field> | undefined;

/** The field that people call so. */
export function fieldOf(name: string): Field | undefined {
  fields ??= all();
  return fields.get(name);
}

export function fieldNames(): string[] {
  fields ??= all();
  return [...fields.keys()];
}
