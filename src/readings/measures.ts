// How to get the number of a reading for a node: from its report, its record, or its two reports, and what is computed
// from these. Pure; an unknown value is NaN.

import { NOT_KNOWN, type ReportFields } from '../layout/codec.js';
import { bits, structs } from '../layout/layout.gen.js';
import {
  type Counter,
  type CounterName,
  counterOf,
  type InterfaceCounter,
  interfaceCounterOf,
  isMeasured,
  type SetBit,
  setBit,
} from '../shm/rates.js';
import type { Node } from '../shm/snapshot.js';
import { CPU_KINDS, type Cursor, TRAFFIC } from './cursor.js';
import { perOf, type Unit } from './units.js';

/**
 * A number that is only read and scaled, without any other computation; a program that wants many of each node has them
 * read by the addon (measurereader.ts).
 */
export type Plain = (
  | { readonly kind: 'field'; readonly offset: number; readonly type: string }
  | { readonly kind: 'bit'; readonly offset: number; readonly place: number }
  | { readonly kind: 'rate'; readonly counter: Counter }
  /** Places in CPU_KINDS, ascending. */
  | { readonly kind: 'share'; readonly places: readonly number[] }
  /** A place in TRAFFIC. */
  | { readonly kind: 'traffic'; readonly place: number }
) & { readonly factor: number };

/** How to take a number; with `plain`, it is that and no more. */
type TakeNumber<C extends Cursor> = ((cursor: C) => number) & { readonly plain?: Plain };

export interface Measure<C extends Cursor = Cursor> {
  /** The set that must have been measured, which `take` does not check again. Without a set it is in every report. */
  readonly set?: SetBit | undefined;
  /** It needs two reports that can have rates, which `take` does not check again. */
  readonly rate?: true | undefined;
  /** It comes from the record, and exists without a report, too. */
  readonly ofRecord?: true | undefined;
  /** The number; NaN: unknown. For a text, whether it is known: any number except NaN. */
  readonly take: TakeNumber<C>;
}

export type Value = number | string | undefined;

export interface Reading {
  readonly name: string;
  /** In words for people. */
  readonly about: string;
  readonly unit: Unit;
  readonly words?: readonly string[];
  readonly isText?: boolean;
  /** It is an identity or a mask: neither a mean nor a rounded one means anything. */
  readonly isId?: boolean;
  /** Its name has no unit although the reading has one, so a number beside it must have one, too. */
  readonly wantsUnit?: boolean;
  /** The name of the whole that per cent refer to. */
  readonly total?: string;
  /** The field of the contract of which it is made, if it is one: a struct's after a point: `net_if.mbps`. */
  readonly source?: string;
  /** In a few words, as the title of a graph. */
  readonly title?: string;
  /** How to get the number; absent for a text. */
  readonly measure?: Measure;
  /** The value for one node, number or text; undefined: unknown. */
  readonly value: (node: Node) => Value;
}

export type NumberField = {
  [K in keyof ReportFields]: ReportFields[K] extends { type: 'u8' | 'u16' | 'u32' | 'i16' | 'i32' | 'u64'; count: 0 }
    ? K
    : never;
}[keyof ReportFields];

const READERS: Record<string, (view: DataView, at: number) => number> = {
  u8: (view, at) => view.getUint8(at),
  u16: (view, at) => view.getUint16(at, true),
  u32: (view, at) => view.getUint32(at, true),
  i16: (view, at) => view.getInt16(at, true),
  i32: (view, at) => view.getInt32(at, true),
  u64: wide,
  i64: (view, at) => Number(view.getBigInt64(at, true)),
};

/** A u64 as a number; beyond 2^53 the nearest one, which is good to 16 digits. */
export function wide(view: DataView, at: number): number {
  return view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
}

function readerOf(type: string): (view: DataView, at: number) => number {
  return READERS[type] as (view: DataView, at: number) => number;
}

/** Structs that occur several times in a report. */
export type EntryStruct = 'cpu_group' | 'net_if' | 'gpu_slot';

const GPU_MEMORY = structs.gpu_slot.fields.mem_total_mib.offset;

/** Reads a number of an entry at the entry's offset; NaN: unknown. */
export function leaf(struct: EntryStruct, name: string): (view: DataView, at: number) => number {
  const fields: Readonly<Record<string, { offset: number; type: string }>> = structs[struct].fields;
  const { offset, type } = fields[name] as (typeof fields)[string];
  const read = readerOf(type);
  // A GPU without memory is one whose memory is unknown.
  if (struct === 'gpu_slot' && name.startsWith('mem_'))
    return (view, at) => (view.getUint32(at + GPU_MEMORY, true) === 0 ? Number.NaN : read(view, at + offset));
  const unknown = NOT_KNOWN[name];
  return (view, at) => {
    const value = read(view, at + offset);
    return value === unknown ? Number.NaN : value;
  };
}

/** The set of a field, in the sense of `Measure`. */
export function setOf(name: keyof ReportFields): Pick<Measure, 'set'> {
  const { set }: { readonly type: string; readonly set?: keyof typeof bits.valid } = structs.report.fields[name];
  return set === undefined ? {} : { set: setBit(set) };
}

function readerOfPlain(plain: Plain): (cursor: Cursor) => number {
  switch (plain.kind) {
    case 'field': {
      const { offset } = plain;
      const read = readerOf(plain.type);
      return ({ view, report }) => read(view, report + offset);
    }
    case 'bit': {
      const { offset, place } = plain;
      return ({ view, report }) => (view.getUint8(report + offset) >>> place) & 1;
    }
    case 'rate': {
      const { counter } = plain;
      return ({ pair }) => pair.rate(counter);
    }
    case 'share': {
      const [first = 0, ...rest] = plain.places;
      return ({ shares }) => {
        let sum = shares[first] as number;
        for (const place of rest) sum += shares[place] as number;
        return sum;
      };
    }
    case 'traffic': {
      const { place } = plain;
      return ({ traffic }) => traffic[place] as number;
    }
  }
}

function takeOf(plain: Plain): TakeNumber<Cursor> {
  return Object.assign(scaledBy(plain.factor, readerOfPlain(plain)), { plain });
}

/** The same times a factor, in one function: 10,000 nodes are read for one document, and each call counts. */
function scaledBy(factor: number, take: (cursor: Cursor) => number): (cursor: Cursor) => number {
  if (factor === 1) return take;
  const per = perOf(factor);
  return per === 0 ? cursor => take(cursor) * factor : cursor => take(cursor) / per;
}

/** A field of the report, times a factor. */
export function field(name: NumberField, factor = 1): Measure {
  const { offset, type }: { offset: number; type: string } = structs.report.fields[name];
  return { ...setOf(name), take: takeOf({ kind: 'field', offset, type, factor }) };
}

/** The measure in another unit, which is so many of its own unit. */
export function times(measure: Measure, factor: number): Measure {
  if (factor === 1) return measure;
  const { take } = measure;
  const { plain } = take;
  return {
    ...measure,
    take: plain === undefined ? scaledBy(factor, take) : takeOf({ ...plain, factor: plain.factor * factor }),
  };
}

/** A number computed from another measure. */
export function map(measure: Measure, other: (number: number) => number): Measure {
  return { ...measure, take: cursor => other(measure.take(cursor)) };
}

/** A counter's rate per second, times a factor. */
export function rate(name: CounterName, factor = 1): Measure {
  return { ...setOf(name), rate: true, take: takeOf({ kind: 'rate', counter: counterOf(name), factor }) };
}

/** Per cent of all CPU time between the two reports. */
export function share(...kinds: (typeof CPU_KINDS)[number][]): Measure {
  const places = kinds.map(kind => CPU_KINDS.indexOf(kind)).sort((a, b) => a - b);
  return { ...setOf('cpu_idle_ms'), rate: true, take: takeOf({ kind: 'share', places, factor: 1 }) };
}

/** The sum of all network entries, per second; without the fabric, whose traffic may be part of them. */
export function traffic(counter: (typeof TRAFFIC)[number]): Measure {
  const place = TRAFFIC.indexOf(counter);
  return { ...setOf('net'), rate: true, take: takeOf({ kind: 'traffic', place, factor: 1 }) };
}

/** Rates of several interfaces that were added into one entry. */
export function sumRate(sum: 'net_rest' | 'fabric', name: InterfaceCounter): Measure {
  const counter = interfaceCounterOf(name);
  const take = ({ pair }: Cursor) => (pair.hasSum(sum) ? pair.sumRate(sum, counter) : Number.NaN);
  return { ...setOf(sum), rate: true, take };
}

const { net: NET, net_rest: NET_REST } = structs.report.fields;
const NAME = structs.net_if.fields.name;
/** The number of interfaces that were added into an entry: bits 16 to 31 of its state. */
const ADDED = structs.net_if.fields.state.offset + 2;

const isUsed = (view: DataView, entry: number) => view.getUint8(entry) !== 0;

/** The sum of the counters of all network entries, as long as the entries are the same. */
export function counted(name: InterfaceCounter): Measure {
  const { offset, wide: isWide } = interfaceCounterOf(name);
  const read = readerOf(isWide ? 'u64' : 'u32');
  const take = ({ view, report }: Cursor) => {
    let sum = Number.NaN;
    const add = (entry: number) => {
      if (isUsed(view, entry)) sum = (Number.isNaN(sum) ? 0 : sum) + read(view, entry + offset);
    };
    for (let i = 0; i < NET.count; i++) add(report + NET.offset + i * structs.net_if.bytes);
    add(report + NET_REST.offset);
    return sum;
  };
  return { ...setOf('net'), take };
}

/** The counters of the interfaces that were added into one entry. */
export function sumCounted(sum: 'net_rest' | 'fabric', name: InterfaceCounter): Measure {
  const { offset, wide: isWide } = interfaceCounterOf(name);
  const read = readerOf(isWide ? 'u64' : 'u32');
  const at = structs.report.fields[sum].offset;
  const take = ({ view, report }: Cursor) =>
    isUsed(view, report + at) ? read(view, report + at + offset) : Number.NaN;
  return { ...setOf(sum), take };
}

/** The number of interfaces: of all network entries, or of the RDMA ports. */
export function devicesOf(which: 'net' | 'fabric'): Measure {
  const added = (view: DataView, entry: number) => (isUsed(view, entry) ? view.getUint16(entry + ADDED, true) : 0);
  const take = ({ view, report }: Cursor) => {
    if (which === 'fabric') return added(view, report + structs.report.fields.fabric.offset);
    let count = added(view, report + NET_REST.offset);
    for (let i = 0; i < NET.count; i++) if (isUsed(view, report + NET.offset + i * structs.net_if.bytes)) count++;
    return count;
  };
  return { ...setOf(which), take };
}

/** A number that is another one when other interfaces are added up: of other names, or more or fewer in the rest. */
export function entriesIn({ view, report }: Cursor): number {
  let number = view.getUint16(report + NET_REST.offset + ADDED, true);
  for (let i = 0; i < NET.count; i++) {
    const name = report + NET.offset + i * structs.net_if.bytes;
    for (let at = 0; at < NAME.count; at += 4) number = Math.imul(number ^ view.getUint32(name + at, true), 0x01000193);
  }
  return number >>> 0;
}

/** The used part of a whole, in per cent, computed from what is free. */
export function used(total: NumberField, left: NumberField): Measure {
  const [all, rest] = [field(total), field(left)];
  const take = (cursor: Cursor) => {
    const [whole, part] = [all.take(cursor), rest.take(cursor)];
    return whole === 0 || part > whole ? Number.NaN : (100 * (whole - part)) / whole;
  };
  return { ...setOf(total), take };
}

type Fold = (all: number, next: number, count: number) => number;
export const sum: Fold = (all, next) => all + next;
export const mean: Fold = (all, next, count) => all + (next - all) / count;
export const highest: Fold = (all, next) => Math.max(all, next);

const { gpu, gpu_count, valid } = structs.report.fields;

/** One number computed from those of all GPUs that know theirs; `ofAll`: not known unless all do. */
export function gpus(name: keyof typeof structs.gpu_slot.fields, fold: Fold, ofAll = false): Measure {
  const read = leaf('gpu_slot', name);
  const take = ({ view, report }: Cursor) => {
    const entries = Math.min(view.getUint8(report + gpu_count.offset), gpu.count);
    let all = Number.NaN;
    let count = 0;
    for (let i = 0; i < entries; i++) {
      const next = read(view, report + gpu.offset + i * structs.gpu_slot.bytes);
      if (Number.isNaN(next)) {
        if (ofAll) return Number.NaN;
        continue;
      }
      count++;
      all = count === 1 ? next : fold(all, next, count);
    }
    return all;
  };
  return { ...setOf('gpu'), take };
}

/** Of one GPU; 0 is not known. */
export function ofGpu(name: keyof typeof structs.gpu_slot.fields, number: number): Measure {
  const read = leaf('gpu_slot', name);
  const take = ({ view, report }: Cursor) =>
    number < Math.min(view.getUint8(report + gpu_count.offset), gpu.count)
      ? read(view, report + gpu.offset + number * structs.gpu_slot.bytes) || Number.NaN
      : Number.NaN;
  return { ...setOf('gpu'), take };
}

const { group, groups, gpu_flags } = structs.report.fields;

/** The mean of all CPU groups that know theirs, weighted by their CPUs; NaN: no CPU is known. */
export function ofGroups(name: keyof typeof structs.cpu_group.fields): Measure {
  const [read, cpusOf] = [leaf('cpu_group', name), leaf('cpu_group', 'cpus')];
  const isTopologyKnown = setBit('topology');
  const take = ({ view, report }: Cursor) => {
    if (!isMeasured(view, report, isTopologyKnown)) return Number.NaN;
    const entries = Math.min(view.getUint8(report + groups.offset), group.count);
    let [all, cpus] = [0, 0];
    for (let i = 0; i < entries; i++) {
      const at = report + group.offset + i * structs.cpu_group.bytes;
      const [value, weight] = [read(view, at), cpusOf(view, at)];
      if (Number.isNaN(value)) continue;
      all += value * weight;
      cpus += weight;
    }
    return cpus > 0 ? all / cpus : Number.NaN;
  };
  return { ...setOf('group'), take };
}

/** How many GPUs have one of `some` and none of `none`, masks of `gpu_flags`. */
export function gpusWith(some: number, none: number): Measure {
  const take = ({ view, report }: Cursor) => {
    const entries = Math.min(view.getUint8(report + gpu_count.offset), gpu_flags.count);
    let count = 0;
    for (let i = 0; i < entries; i++) {
      const flags = view.getUint8(report + gpu_flags.offset + i);
      if ((flags & some) !== 0 && (flags & none) === 0) count++;
    }
    return count;
  };
  return { ...setOf('gpu'), take };
}

const [STATE, SPEED] = [leaf('net_if', 'state'), leaf('net_if', 'mbps')];
const CARRIER = 1 << bits.net_state.carrier;

/** Of all network entries with carrier: how many, or their speeds together in Mbit/s, unknown if one of them is. */
export function ofLinks(what: 'count' | 'speed'): Measure {
  const take = ({ view, report }: Cursor) => {
    let [count, speed] = [0, 0];
    for (let i = 0; i <= NET.count; i++) {
      const at = report + (i < NET.count ? NET.offset + i * structs.net_if.bytes : NET_REST.offset);
      if (!isUsed(view, at) || (STATE(view, at) & CARRIER) === 0) continue;
      count++;
      speed += SPEED(view, at) || Number.NaN;
    }
    return what === 'count' ? count : speed;
  };
  return { ...setOf('net'), take };
}

/** A number of the board's record: what the master knows about the node. */
export function ofRecord(name: keyof typeof structs.record.fields): Measure {
  const { offset, type } = structs.record.fields[name];
  const read = readerOf(type);
  return { ofRecord: true, take: ({ view, record }) => read(view, record + offset) };
}

/** A bit of a mask of the report: 1 or 0. */
export function bit(mask: 'flags' | 'valid', name: string): Measure {
  const place = (bits[mask] as Record<string, number>)[name] as number;
  const offset = (mask === 'flags' ? structs.report.fields.flags : valid).offset + (place >>> 3);
  return { take: takeOf({ kind: 'bit', offset, place: place & 7, factor: 1 }) };
}

/** The number if it is known: applies the checks that `take` leaves out. */
export function taken<C extends Cursor>({ set, rate, ofRecord, take }: Measure<C>, cursor: C): number {
  if (ofRecord !== true) {
    if (cursor.report < 0) return Number.NaN;
    if (set !== undefined && !isMeasured(cursor.view, cursor.report, set)) return Number.NaN;
    if (rate !== undefined && !cursor.moving) return Number.NaN;
  }
  return take(cursor);
}
