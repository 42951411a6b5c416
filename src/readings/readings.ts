// What can be told of a node, by name: what its report says, what it counts and at which rate, what the board knows of it, and a few
// sums that people want. Columns, conditions and what else shows numbers take them from here. Reads no more of a report than is asked for.

import { formatDuration } from '../common/durations.js';
import { meanings } from '../common/terms.gen.js';
import { getter, NOT_KNOWN, reportField } from '../layout/codec.js';
import { bits, enums, structs } from '../layout/layout.gen.js';
import { AILMENTS, ailmentBit } from '../shm/ailments.js';
import { mayBeRefused } from '../shm/liveness.js';
import { type CounterName, CPU_TIMES, counterOf, interfaceCounterOf } from '../shm/rates.js';
import type { Node } from '../shm/reader.js';
import { LATELY_MS, reasonText } from '../shm/sentences.js';
import { entryOf, entryReadings, LISTS, type List, sumReadings } from './entries.js';
import { known, pairOf } from './pair.js';
import {
  BYTES_PER_SECOND,
  contractUnit,
  inBase,
  NUMBER,
  named,
  PERCENT,
  perSecond,
  SECONDS,
  UNIT_ENDING,
  type Unit,
} from './units.js';

export type Value = number | string | undefined;

export interface Reading {
  readonly name: string;
  /** In words for people. */
  readonly about: string;
  readonly unit: Unit;
  /** The words that stand for its numbers. */
  readonly words?: readonly string[];
  readonly isText?: boolean;
  /** Its name has no unit and it has one, so that a number beside it must have one, too. */
  readonly wantsUnit?: boolean;
  /** The name of the reading of which it is a part, and of which per cent are meant. */
  readonly total?: string;
  /** The name of the field of the contract that it is made of, where it is one: a struct's behind a point, as in `net_if.mbps`. */
  readonly source?: string;
  readonly value: (node: Node) => Value;
}

function reading(
  name: string,
  about: string,
  unit: Unit,
  value: Reading['value'],
  more: Partial<Reading> = {},
): Reading {
  return { name, about, unit, value, ...more };
}

function text(name: string, about: string, value: Reading['value']): Reading {
  return { name, about, unit: NUMBER, value, isText: true };
}

type Described = { type: string; count: number; unit: string; kind: string };
const REPORT = Object.entries<Described>(structs.report.fields);

/** A value of a report as people compare it: ids in hexadecimal, times in numbers. */
function plain(value: unknown, unit: string): Value {
  if (typeof value === 'bigint') return unit === 'ns' ? Number(value) : value.toString(16).padStart(16, '0');
  return typeof value === 'number' || typeof value === 'string' ? value : undefined;
}

const number = (node: Node, name: Parameters<Node['field']>[0]) => node.field(name) as number | undefined;

function scaled(name: Parameters<Node['field']>[0], by: number): Reading['value'] {
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
function network(name: 'rx_bytes' | 'tx_bytes'): Reading['value'] {
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
function rate(name: CounterName): Reading['value'] {
  const counter = counterOf(name);
  return node => {
    const reports = pairOf(node);
    return reports && known(reports.rate(counter));
  };
}

const shares = new Float64Array(CPU_TIMES.length);

/** The share of a CPU time, in per cent. */
function share(name: string): Reading['value'] {
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
    if (share !== NOT_KNOWN.util_pct) shares.push(share);
  }
  const total = sum(shares);
  return total === undefined ? (100 * (number(node, 'gpu_busy') ?? 0)) / count : total / shares.length;
}

/** What the record counts besides the reports that were accepted, in the order in which it is told. */
const COUNTED = {
  lost: 'reports that were missing while the receiver listened',
  unheard: 'reports that were missing while the receiver did not listen',
  duplicate: 'reports that came before by another road',
  late: 'reports that came after a newer one',
  refused: 'reports of its name that were refused',
  restarts: 'starts of its sender without a boot',
  reboots: 'boots of the node',
  resets: 'reports accepted only because nothing else was heard for long',
} as const;

export const COUNTERS = Object.keys(COUNTED) as (keyof typeof COUNTED)[];

/** One number of the record, and nothing else of it. */
function ofRecord(name: (typeof COUNTERS)[number] | 'accepted' | 'offset_us'): Reading['value'] {
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

const OWN: Reading[] = [
  text('name', 'its name', node => node.name),
  text('state', 'how it is', node => node.state),
  text('ails', 'what ails it, the worst first, separated by commas', node => node.ailments.join(',') || undefined),
  text('address', 'where its last report came from', node => node.address || undefined),
  text('link', "the master's interface by which it reports", node => node.linkName),
  reading('age_ms', 'age of its last report', contractUnit('ms'), node => node.ageMs),
  reading('age', 'age of its last report', SECONDS, node => (node.ageMs === undefined ? undefined : node.ageMs / 1000)),
  reading('reports', 'reports accepted', NUMBER, ofRecord('accepted')),
  ...COUNTERS.map(name => reading(name, COUNTED[name], NUMBER, ofRecord(name))),
  reading('offset_us', "its clock less the master's", contractUnit('us'), node =>
    reported(node) ? offset(node) : undefined,
  ),
  reading('skew', "its clock less the master's", SECONDS, node =>
    reported(node) ? (offset(node) ?? 0) / 1e6 : undefined,
  ),
  reading('load', 'load average of the last minute', NUMBER, scaled('load1_c', 100), { total: 'cpus_online' }),
  reading('cpus', 'CPUs online', NUMBER, node => number(node, 'cpus_online')),
  reading('cpu', 'CPU in use', PERCENT, scaled('cpu_busy_pm', 10)),
  reading('mem', 'memory in use', PERCENT, node => used(number(node, 'mem_total_mib'), number(node, 'mem_avail_mib'))),
  reading('swap', 'swap in use', PERCENT, node => used(number(node, 'swap_total_mib'), number(node, 'swap_free_mib'))),
  reading('in', 'network in', BYTES_PER_SECOND, network('rx_bytes')),
  reading('out', 'network out', BYTES_PER_SECOND, network('tx_bytes')),
  reading('disk', 'disk read and written', BYTES_PER_SECOND, node => sum([diskRead(node), diskWritten(node)])),
  reading('pressure', 'tasks waited for CPU, memory or I/O, the largest share', PERCENT, node =>
    pressures(node).reduce<number | undefined>((most, [, share]) => Math.max(most ?? 0, share), undefined),
  ),
  reading('gpu', 'GPUs in use', PERCENT, gpus),
  text('why', 'why it is not heard, though it reports', why),
  reading('up', 'time since it booted', SECONDS, node => {
    const ns = node.field('t_boot_ns') as bigint | undefined;
    return ns === undefined ? undefined : Number(ns) / 1e9;
  }),
  reading('ailing', 'whether anything ails it', NUMBER, node => Number(node.ailments.length > 0)),
  ...AILMENTS.map(ailment =>
    reading(`ails.${ailment}`, `an ailment: ${meanings.ailment[ailment]}`, NUMBER, ({ snapshot, index }) =>
      Number(((snapshot.overview.ails[index] ?? 0) & ailmentBit(ailment)) !== 0),
    ),
  ),
];

/** Of which reading a field of the report is a part. */
const TOTALS: [part: RegExp, total: string][] = [
  [/^mem_committed_mib$/, 'mem_commit_limit_mib'],
  [/^mem_huge_free_mib$/, 'mem_huge_total_mib'],
  [/^mem_(?!total|commit|huge).*_mib$/, 'mem_total_mib'],
  [/^swap_free_mib$/, 'swap_total_mib'],
  [/^root_avail_mib$/, 'root_total_mib'],
  [/^scratch_avail_mib$/, 'scratch_total_mib'],
  [/^fs_avail_mib$/, 'fs_total_mib'],
  [/^gpu_busy$/, 'gpu_count'],
  [/^(load\d+_c|runnable)$/, 'cpus_online'],
  [/^cpus_online$/, 'cpus_present'],
];

/** A field of the report as it is. */
function ofReport(name: string, { type, unit, kind }: Described): Reading[] {
  const words = unit.startsWith('enum ') ? enums[unit.slice(5) as keyof typeof enums] : undefined;
  const key = name as Parameters<Node['field']>[0];
  const isText = type === 'char' || (type.endsWith('64') && (unit === 'id' || unit.startsWith('bits ')));
  const total = TOTALS.find(([part]) => part.test(name))?.[1];
  const more = { isText, source: name, ...(words ? { words } : {}), ...(total ? { total } : {}) };
  const own = reading(name, '', contractUnit(unit), node => plain(node.field(key), unit), more);
  if (kind !== 'counter') return [own];
  const counted = { source: name };
  const rates = [
    reading(`rates.${name}`, `${name} per second`, perSecond(own.unit), rate(name as CounterName), counted),
  ];
  if (CPU_TIMES.some(time => time.name === name))
    rates.push(
      reading(
        `rates.${name.replace(/_ms$/, '_pct')}`,
        `share of ${name} in all CPU time`,
        PERCENT,
        share(name),
        counted,
      ),
    );
  return [own, ...rates];
}

/** A reading without the unit in its name, in the base unit: of a level, for what is counted is asked for by its rate. */
function withoutUnit(whole: Reading): Reading {
  const toBase = inBase(whole.unit);
  const value = (node: Node) => {
    const found = whole.value(node);
    return typeof found === 'number' ? toBase(found) : found;
  };
  return { ...whole, ...named(whole), value };
}

/** A bit of a field of the report as a number: 1 or 0. */
function ofBits(field: 'flags' | 'valid'): Reading[] {
  const get = reportField(field);
  return Object.entries<number>(bits[field]).map(([name, bit]) =>
    reading(
      `${field}.${name}`,
      '',
      NUMBER,
      node => {
        const word = node.reportAt === undefined ? undefined : get(node.view, node.reportAt);
        return word === undefined ? undefined : Number((BigInt(word as number) >> BigInt(bit)) & 1n);
      },
      { source: field },
    ),
  );
}

/** Every reading by its name: what is our own goes before what a report calls so, and that before names without their unit. */
function all(): Map<string, Reading> {
  const report: Reading[] = [];
  for (const [name, described] of REPORT) {
    const { type, count, kind } = described;
    if (kind === 'reserved' || (count > 0 && type !== 'char') || Object.hasOwn(structs, type)) continue;
    report.push(...ofReport(name, described));
  }
  const flags = ofBits('flags');
  const found = new Map<string, Reading>();
  const add = (more: readonly Reading[]) => {
    for (const one of more) if (!found.has(one.name)) found.set(one.name, one);
  };
  add(OWN);
  add(report);
  add([...flags, ...ofBits('valid'), ...sumReadings()]);
  add(flags.map(flag => ({ ...flag, name: flag.name.replace('flags.', '') })));
  const levels = REPORT.filter(([name, { kind }]) => /^(gauge|share)$/.test(kind) && UNIT_ENDING.test(name));
  for (const [name] of levels) add([withoutUnit(found.get(name) as Reading)]);
  return found;
}

let readings: Map<string, Reading> | undefined;

/** The reading that people call so; of an entry by its number, or an interface's name: `gpu.0.util_pct`, `net.ib0.mbps`. */
export function readingOf(name: string): Reading | undefined {
  readings ??= all();
  return readings.get(name) ?? ofEntry(name);
}

/** The names of all readings but those of entries. */
export function readingNames(): string[] {
  readings ??= all();
  return [...readings.keys()];
}

const ENTRY = new RegExp(`^(rates\\.)?(${Object.keys(LISTS).join('|')})\\.(.+)\\.(\\w+)$`);

/** A reading of the entry that a name tells. */
function ofEntry(name: string): Reading | undefined {
  const [, rates = '', list = '', key = '', leaf = ''] = ENTRY.exec(name) ?? [];
  const each = entryReadings().get(`${rates}${list}.${leaf}`);
  if (each === undefined) return undefined;
  if (/^\d+$/.test(key) && Number(key) >= structs.report.fields[list as List].count) return undefined;
  const { at, list: _, total, ...common } = each;
  const ofSame = total === undefined ? {} : { total: total.replace(list, `${list}.${key}`) };
  return { ...common, ...ofSame, name, value: node => at(node, entryOf(node, list as List, key)) };
}
