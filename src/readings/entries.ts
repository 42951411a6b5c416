// Readings of parts that a report has several of: CPU groups, network entries, GPUs. They are read in place, by the
// number of the entry.

import { type Field, getter } from '../layout/codec.js';
import { bits, structs } from '../layout/layout.gen.js';
import { type InterfaceCounter, interfaceCounterOf, isMeasured, setBit } from '../shm/rates.js';
import type { Node } from '../shm/snapshot.js';
import { type Cursor, cursorOf } from './cursor.js';
import { type EntryStruct, leaf, type Measure, type Reading, setOf, sumRate, taken, type Value } from './measures.js';
import { contractUnit, NUMBER, named, perSecond, scaled, UNIT_ENDING } from './units.js';

/** The kinds of entries, by the name of the field that holds them. */
export const LISTS = { group: 'cpu_group', net: 'net_if', gpu: 'gpu_slot' } as const satisfies Record<
  string,
  EntryStruct
>;
export type EntryList = keyof typeof LISTS;

/** A reading of each entry: `gpu.util_pct`; a rate is `rates.net.rx_bytes`. */
export interface EntryReading extends Omit<Reading, 'value' | 'measure'> {
  readonly list: EntryList;
  /** The value of the entry of that number, from 0 on; NaN: there is none, it was not measured, or it is a text. */
  readonly take: (cursor: Cursor, entry: number) => number;
  /** The value if it is a text. */
  readonly text?: (cursor: Cursor, entry: number) => string | undefined;
}

/** The value for that entry of a node; undefined: there is none. */
export function entryValue({ take, text }: EntryReading, node: Node, entry: number): Value {
  const cursor = cursorOf(node);
  if (text !== undefined) return text(cursor, entry);
  const number = take(cursor, entry);
  return Number.isNaN(number) ? undefined : number;
}

const { fields } = structs.report;
const SET_OF = { group: setBit('groups'), net: setBit('net'), gpu: setBit('gpu') };
const GROUP_SHARE = setBit('group_share');
const TOPOLOGY = setBit('topology');
const nameOf = getter('net_if', 'name');

/** How many entries to look at; whether a network entry is used is known only by its name. */
export function entriesOf({ view, report }: Cursor, list: EntryList): number {
  if (report < 0 || !isMeasured(view, report, SET_OF[list])) return 0;
  const { count } = fields[list];
  if (list === 'net') return count;
  if (list === 'group' && !isMeasured(view, report, TOPOLOGY)) return 0;
  const used = list === 'group' ? fields.groups.offset : fields.gpu_count.offset;
  return Math.min(view.getUint8(report + used), count);
}

function placeOf(cursor: Cursor, list: EntryList, entry: number): number {
  if (!(entry >= 0 && entry < entriesOf(cursor, list))) return -1;
  const at = cursor.report + fields[list].offset + entry * structs[LISTS[list]].bytes;
  return list === 'net' && cursor.view.getUint8(at) === 0 ? -1 : at;
}

/** Whether there is an entry of that number. */
export function isEntry(cursor: Cursor, list: EntryList, entry: number): boolean {
  return placeOf(cursor, list, entry) >= 0;
}

/** The number of the entry that people call so: by its number, or by the name of an interface; -1: there is none. */
export function entryOf(cursor: Cursor, list: EntryList, key: string): number {
  if (/^\d+$/.test(key)) return Number(key);
  if (list !== 'net') return -1;
  for (let entry = 0; entry < entriesOf(cursor, list); entry++) {
    const at = placeOf(cursor, list, entry);
    if (at >= 0 && nameOf(cursor.view, at) === key) return entry;
  }
  return -1;
}

function ofField(list: EntryList, field: string, { unit, set, type }: Field): EntryReading {
  const struct = LISTS[list];
  const isText = type === 'char';
  const read = isText ? undefined : leaf(struct, field);
  const take = (cursor: Cursor, entry: number) => {
    const place = placeOf(cursor, list, entry);
    if (place < 0 || read === undefined) return Number.NaN;
    const { view, report } = cursor;
    if (set === 'group_share' && !isMeasured(view, report, GROUP_SHARE)) return Number.NaN;
    return read(view, place);
  };
  const text = (cursor: Cursor, entry: number) => {
    const place = placeOf(cursor, list, entry);
    return place < 0 ? undefined : nameOf(cursor.view, place);
  };
  return {
    name: `${list}.${field}`,
    list,
    about: '',
    unit: contractUnit(unit),
    source: `${struct}.${field}`,
    ...(field === 'mem_used_mib' ? { total: 'gpu.mem_total_mib' } : {}),
    ...(isText ? { isText, text } : {}),
    take,
  };
}

/** One bit of each entry as a number: 1 or 0. */
function ofBit(list: EntryList, name: string, bit: number, source: string, wordOf: EntryReading['take']): EntryReading {
  const take = (cursor: Cursor, entry: number) => {
    const word = wordOf(cursor, entry);
    return Number.isNaN(word) ? word : (word >>> bit) & 1;
  };
  return { name: `${list}.${name}`, list, about: '', unit: NUMBER, source, take };
}

function ofRate(name: InterfaceCounter, unit: string): EntryReading {
  const counter = interfaceCounterOf(name);
  const take = (cursor: Cursor, entry: number) => {
    const place = placeOf(cursor, 'net', entry);
    if (place < 0 || !cursor.moving || !cursor.pair.hasNet) return Number.NaN;
    const { pair } = cursor;
    const { found } = pair.matchNet();
    for (let i = 0; i < found; i++) if (pair.laterEntry(i) === place) return pair.entryRate(counter, i);
    return Number.NaN;
  };
  return {
    name: `rates.net.${name}`,
    list: 'net',
    about: `${name} of each interface per second`,
    unit: perSecond(contractUnit(unit)),
    source: `net_if.${name}`,
    ...(/^[rt]x_bytes$/.test(name) ? { total: 'net.mbps' } : {}),
    take,
  };
}

/** The flags of a GPU, which are not stored in its entry. */
function gpuFlags(cursor: Cursor, entry: number): number {
  const { view, report } = cursor;
  return placeOf(cursor, 'gpu', entry) < 0 ? Number.NaN : view.getUint8(report + fields.gpu_flags.offset + entry);
}

/** The same reading without the unit in its name. */
function withoutUnit(whole: EntryReading): EntryReading {
  const { size } = whole.unit;
  const take: EntryReading['take'] = (cursor, entry) => scaled(whole.take(cursor, entry), size);
  return { ...whole, ...named(whole), take };
}

function all(): Map<string, EntryReading> {
  const found = new Map<string, EntryReading>();
  const add = (one: EntryReading) => found.has(one.name) || found.set(one.name, one);
  const described = (['group', 'net', 'gpu'] as const).flatMap(list =>
    Object.entries<Field>(structs[LISTS[list]].fields).map(([field, of]) => ({ list, field, of })),
  );
  for (const { list, field, of } of described) {
    add(ofField(list, field, of));
    if (list === 'net' && of.kind === 'counter') add(ofRate(field as InterfaceCounter, of.unit));
  }
  const netState = ofField('net', 'state', structs.net_if.fields.state).take;
  for (const [name, bit] of Object.entries(bits.net_state)) add(ofBit('net', name, bit, 'net_if.state', netState));
  add({ name: 'gpu.flags', list: 'gpu', about: '', unit: NUMBER, source: 'gpu_flags', take: gpuFlags });
  for (const [name, bit] of Object.entries(bits.gpu_flags)) add(ofBit('gpu', name, bit, 'gpu_flags', gpuFlags));
  for (const { list, field } of described)
    if (UNIT_ENDING.test(field)) add(withoutUnit(found.get(`${list}.${field}`) as EntryReading));
  return found;
}

let table: Map<string, EntryReading> | undefined;

/** Every reading of entries, by its name. */
export function entryReadings(): ReadonlyMap<string, EntryReading> {
  table ??= all();
  return table;
}

/** Sums over several interfaces, of which a report has one each: all other interfaces, and RDMA ports. */
type Sum = 'net_rest' | 'fabric';

/** The readings of such an entry; its name is a text. */
export interface SumReading extends Omit<Reading, 'value'> {
  readonly text?: (cursor: Cursor) => string | undefined;
}

/** All that can be told of them. */
export function sumReadings(): SumReading[] {
  return (['net_rest', 'fabric'] as const).flatMap(sum =>
    Object.entries<Field>(structs.net_if.fields).flatMap(([field, of]) => ofSum(sum, field, of)),
  );
}

function ofSum(sum: Sum, field: string, { type, unit, kind }: Field): SumReading[] {
  const { offset: entry } = fields[sum];
  const isUsed = ({ view, report }: Cursor) => view.getUint8(report + entry) !== 0;
  const common = { name: `${sum}.${field}`, about: '', unit: contractUnit(unit), source: `net_if.${field}` };
  if (type === 'char') {
    const known: Measure = { ...setOf(sum), take: cursor => (isUsed(cursor) ? 1 : Number.NaN) };
    const text = (cursor: Cursor) =>
      taken(known, cursor) === 1 ? nameOf(cursor.view, cursor.report + entry) : undefined;
    return [{ ...common, isText: true, text }];
  }
  const read = leaf('net_if', field);
  const take = (cursor: Cursor) => (isUsed(cursor) ? read(cursor.view, cursor.report + entry) : Number.NaN);
  const own = { ...common, measure: { ...setOf(sum), take } };
  if (kind !== 'counter') return [own];
  const { unit: counted, source } = common;
  const measure = sumRate(sum, field as InterfaceCounter);
  const [title, about = `${field} of ${sum} per second`] = SUM_TITLES[`${sum}.${field}`] ?? [];
  const name = `rates.${sum}.${field}`;
  return [own, { name, about, unit: perSecond(counted), source, measure, ...(title && { title }) }];
}

/** Title and text of what is drawn. */
const SUM_TITLES: Readonly<Record<string, readonly [title: string, about: string]>> = {
  'fabric.rx_bytes': ['Fabric Bytes Received', 'Bytes received by all RDMA ports'],
  'fabric.tx_bytes': ['Fabric Bytes Sent', 'Bytes sent by all RDMA ports'],
  'fabric.errors': ['Fabric Errors', 'Errors of all RDMA ports'],
};
