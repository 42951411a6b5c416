// Readings of what a report has several of: CPU groups, network entries, GPUs. Each is read where it lies, by the number of its entry.

import { getter, NOT_KNOWN } from '../layout/codec.js';
import { bits, structs } from '../layout/layout.gen.js';
import { type InterfaceCounter, interfaceCounterOf, isMeasured, setBit } from '../shm/rates.js';
import type { Node } from '../shm/reader.js';
import { known, pairOf } from './pair.js';
import type { Reading, Value } from './readings.js';
import { contractUnit, inBase, NUMBER, named, perSecond, UNIT_ENDING } from './units.js';

/** What a report has several of, by the name of the field that holds them. */
export const LISTS = { group: 'cpu_group', net: 'net_if', gpu: 'gpu_slot' } as const;
export type List = keyof typeof LISTS;

/** One thing that can be told of each entry: `gpu.util_pct`; a rate is `rates.net.rx_bytes`. */
export interface EntryReading extends Omit<Reading, 'value'> {
  readonly list: List;
  /** Of the entry of that number, from 0 on; undefined when there is none, or it was not measured. */
  readonly at: (node: Node, entry: number) => Value;
}

type Described = { offset: number; type: string; unit: string; kind: string; set?: keyof typeof bits.valid };

const { fields } = structs.report;
const SET_OF = { group: setBit('groups'), net: setBit('net'), gpu: setBit('gpu') };
const GROUP_SHARE = setBit('group_share');
const TOPOLOGY = setBit('topology');
const nameOf = getter('net_if', 'name');
const gpuMemoryOf = getter('gpu_slot', 'mem_total_mib');

/** How many entries there are to look at; of a network entry only its name tells whether it is used. */
export function entriesOf(node: Node, list: List): number {
  const { view, reportAt } = node;
  if (reportAt === undefined || !isMeasured(view, reportAt, SET_OF[list])) return 0;
  const { count } = fields[list];
  if (list === 'net') return count;
  if (list === 'group' && !isMeasured(view, reportAt, TOPOLOGY)) return 0;
  const used = list === 'group' ? fields.groups.offset : fields.gpu_count.offset;
  return Math.min(view.getUint8(reportAt + used), count);
}

/** Where that entry begins; -1 when there is none. */
function placeOf(node: Node, list: List, entry: number): number {
  if (!(entry >= 0 && entry < entriesOf(node, list))) return -1;
  const at = (node.reportAt as number) + fields[list].offset + entry * structs[LISTS[list]].bytes;
  return list === 'net' && node.view.getUint8(at) === 0 ? -1 : at;
}

/** The number of the entry that people call so: its number, or the name of an interface; -1 when there is none. */
export function entryOf(node: Node, list: List, key: string): number {
  if (/^\d+$/.test(key)) return Number(key);
  if (list !== 'net') return -1;
  for (let entry = 0; entry < entriesOf(node, list); entry++) {
    const at = placeOf(node, list, entry);
    if (at >= 0 && nameOf(node.view, at) === key) return entry;
  }
  return -1;
}

/** A field of each entry. */
function ofField(list: List, field: string, { unit, set, type }: Described): EntryReading {
  const struct = LISTS[list];
  const get = getter(struct, field as never) as (view: DataView, at: number) => Value;
  const ofMemory = list === 'gpu' && field.startsWith('mem_');
  const at = (node: Node, entry: number) => {
    const place = placeOf(node, list, entry);
    if (place < 0) return undefined;
    const { view } = node;
    if (set === 'group_share' && !isMeasured(view, node.reportAt as number, GROUP_SHARE)) return undefined;
    // A GPU without memory is one whose memory was not known.
    if (ofMemory && gpuMemoryOf(view, place) === 0) return undefined;
    const value = get(view, place);
    return value === NOT_KNOWN[field] ? undefined : value;
  };
  return {
    name: `${list}.${field}`,
    list,
    about: '',
    unit: contractUnit(unit),
    isText: type === 'char',
    source: `${struct}.${field}`,
    ...(field === 'mem_used_mib' ? { total: 'gpu.mem_total_mib' } : {}),
    at,
  };
}

/** A bit of each entry as a number: 1 or 0. */
function ofBit(list: List, name: string, bit: number, source: string, wordOf: EntryReading['at']): EntryReading {
  const at = (node: Node, entry: number) => {
    const word = wordOf(node, entry);
    return word === undefined ? undefined : (Number(word) >>> bit) & 1;
  };
  return { name: `${list}.${name}`, list, about: '', unit: NUMBER, source, at };
}

/** A rate of each network entry. */
function ofRate(name: InterfaceCounter, unit: string): EntryReading {
  const counter = interfaceCounterOf(name);
  const at = (node: Node, entry: number) => {
    const place = placeOf(node, 'net', entry);
    const pair = place < 0 ? undefined : pairOf(node);
    if (!pair?.hasNet) return undefined;
    const { found } = pair.matchNet();
    for (let i = 0; i < found; i++) if (pair.laterEntry(i) === place) return known(pair.entryRate(counter, i));
    return undefined;
  };
  return {
    name: `rates.net.${name}`,
    list: 'net',
    about: `${name} of each interface per second`,
    unit: perSecond(contractUnit(unit)),
    source: `net_if.${name}`,
    ...(/^[rt]x_bytes$/.test(name) ? { total: 'net.mbps' } : {}),
    at,
  };
}

/** The flags of a GPU, which do not lie in its entry. */
function gpuFlags(node: Node, entry: number): Value {
  const { view, reportAt = 0 } = node;
  return placeOf(node, 'gpu', entry) < 0 ? undefined : view.getUint8(reportAt + fields.gpu_flags.offset + entry);
}

/** The same without the unit in its name. */
function withoutUnit(whole: EntryReading): EntryReading {
  const toBase = inBase(whole.unit);
  const at = (node: Node, entry: number) => {
    const found = whole.at(node, entry);
    return typeof found === 'number' ? toBase(found) : found;
  };
  return { ...whole, ...named(whole), at };
}

function all(): Map<string, EntryReading> {
  const found = new Map<string, EntryReading>();
  const add = (one: EntryReading) => found.has(one.name) || found.set(one.name, one);
  const described = (['group', 'net', 'gpu'] as const).flatMap(list =>
    Object.entries<Described>(structs[LISTS[list]].fields).map(([field, of]) => ({ list, field, of })),
  );
  for (const { list, field, of } of described) {
    add(ofField(list, field, of));
    if (list === 'net' && of.kind === 'counter') add(ofRate(field as InterfaceCounter, of.unit));
  }
  const netState = ofField('net', 'state', structs.net_if.fields.state).at;
  for (const [name, bit] of Object.entries(bits.net_state)) add(ofBit('net', name, bit, 'net_if.state', netState));
  add({ name: 'gpu.flags', list: 'gpu', about: '', unit: NUMBER, source: 'gpu_flags', at: gpuFlags });
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

/** What several interfaces were added into, of which there is one: the others of the node, and its RDMA ports. */
export function sumReadings(): Reading[] {
  return (['net_rest', 'fabric'] as const).flatMap(sum =>
    Object.entries<Described>(structs.net_if.fields).flatMap(([field, of]) => ofSum(sum, field, of)),
  );
}

function ofSum(sum: 'net_rest' | 'fabric', field: string, { type, unit, kind }: Described): Reading[] {
  const { offset } = fields[sum];
  const set = sum === 'fabric' ? setBit('fabric') : SET_OF.net;
  const get = getter('net_if', field as never) as (view: DataView, at: number) => Value;
  const value = ({ view, reportAt }: Node) => {
    if (reportAt === undefined || !isMeasured(view, reportAt, set)) return undefined;
    if (view.getUint8(reportAt + offset) === 0) return undefined;
    const found = get(view, reportAt + offset);
    return found === NOT_KNOWN[field] ? undefined : found;
  };
  const source = `net_if.${field}`;
  const own = { name: `${sum}.${field}`, about: '', unit: contractUnit(unit), isText: type === 'char', source, value };
  if (kind !== 'counter') return [own];
  const counter = interfaceCounterOf(field as InterfaceCounter);
  const rate = (node: Node) => {
    const pair = pairOf(node);
    return pair?.hasSum(sum) ? known(pair.sumRate(sum, counter)) : undefined;
  };
  const about = `${field} of ${sum} per second`;
  return [own, { name: `rates.${sum}.${field}`, about, unit: perSecond(own.unit), source, value: rate }];
}
