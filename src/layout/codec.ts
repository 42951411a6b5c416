// Reads and writes the fields of a generated layout in a plain buffer. No I/O, no clock, no state.

import { bits, structs, words } from './layout.gen.js';

export type StructName = keyof typeof structs;
type Fields<S extends StructName> = (typeof structs)[S]['fields'];
type FieldName<S extends StructName> = keyof Fields<S> & string;
export type SetName = keyof typeof bits.valid;

export interface Field {
  readonly offset: number;
  readonly type: string;
  /** Elements of an array, 0 for a single one. */
  readonly count: number;
  readonly unit: string;
  readonly kind: string;
  readonly set?: SetName;
}

/**
 * The TypeScript type of a field. 64-bit times and ids are bigint, because they exceed 2^53; 64-bit counters are
 * numbers, and undefined beyond 2^53, where a number cannot count exactly.
 */
type Scalar<F extends Field> = F['type'] extends StructName
  ? Decoded<F['type']>
  : F['type'] extends 'u64' | 'i64'
    ? F['unit'] extends 'ns' | 'id' | `bits ${string}` | `word ${string}`
      ? bigint
      : number | undefined
    : number;
type FieldValue<F extends Field> = F['type'] extends 'char' ? string : F['count'] extends 0 ? Scalar<F> : Scalar<F>[];

/** A struct of the contract as an object: its fields under their names, reserved ones left out. */
export type Decoded<S extends StructName> = {
  [K in FieldName<S> as Fields<S>[K] extends { kind: 'reserved' } ? never : K]: Fields<S>[K] extends Field
    ? FieldValue<Fields<S>[K]>
    : never;
};

type RawReport = Decoded<'report'>;
export type ReportFields = Fields<'report'>;
type AlwaysThere = {
  [K in keyof ReportFields]: ReportFields[K] extends { set: string } ? never : K;
}[keyof ReportFields];

/** Entries of arrays as readers see them: a value that is marked as unknown is absent. */
type NetInterface = Omit<Decoded<'net_if'>, 'mbps'> & Partial<Pick<Decoded<'net_if'>, 'mbps'>>;
type CpuGroup = Partial<Decoded<'cpu_group'>>;
type Gpu = Partial<Decoded<'gpu_slot'>>;

/** A report as readers see it: what was not measured is absent, and so are unused entries of arrays. */
export type Report = Pick<RawReport, AlwaysThere & keyof RawReport> &
  Partial<Omit<RawReport, AlwaysThere | 'net' | 'net_rest' | 'fabric' | 'group' | 'gpu'>> & {
    net?: NetInterface[];
    net_rest?: NetInterface;
    fabric?: NetInterface;
    group?: CpuGroup[];
    gpu?: Gpu[];
  };

export const REPORT_BYTES = structs.report.bytes;
/** The contract's value for an unknown temperature, in a set that was measured otherwise. */
export const TEMPERATURE_UNKNOWN = -32768;

const SIZES: Record<string, number> = { u8: 1, u16: 2, u32: 4, u64: 8, i16: 2, i32: 4, i64: 8, char: 1 };
/** Keeps every byte: a byte order mark is part of a name. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

type Getter = (view: DataView, base: number) => unknown;

/** Whether a 64-bit field is a bigint: it is not a counter and can exceed 2^53. */
export function isBig(field: Pick<Field, 'unit'>): boolean {
  return field.unit === 'ns' || field.unit === 'id' || /^(bits|word) /.test(field.unit);
}

function counter(value: bigint): number | undefined {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : undefined;
}

function scalarGetter(field: Field): Getter {
  const { type } = field;
  switch (type) {
    case 'u8':
      return (view, at) => view.getUint8(at);
    case 'u16':
      return (view, at) => view.getUint16(at, true);
    case 'u32':
      return (view, at) => view.getUint32(at, true);
    case 'i16':
      return (view, at) => view.getInt16(at, true);
    case 'i32':
      return (view, at) => view.getInt32(at, true);
    case 'u64':
      return isBig(field)
        ? (view, at) => view.getBigUint64(at, true)
        : (view, at) => {
            const high = view.getUint32(at + 4, true);
            return high < 0x200000 ? high * 0x100000000 + view.getUint32(at, true) : undefined;
          };
    case 'i64':
      return isBig(field)
        ? (view, at) => view.getBigInt64(at, true)
        : (view, at) => counter(view.getBigInt64(at, true));
    default:
      return (view, at) => decode(type as StructName, view, at);
  }
}

/** Text up to its first NUL; bytes that are not UTF-8 become U+FFFD. */
function text(view: DataView, at: number, bytes: number): string {
  let end = at;
  let all = 0;
  for (let byte = 0; end < at + bytes; end++) {
    byte = view.getUint8(end);
    if (byte === 0) break;
    all |= byte;
  }
  const written = Buffer.from(view.buffer, view.byteOffset + at, end - at);
  // Nearly every text is ASCII, and checking that takes a tenth of the decoder's time.
  return all < 0x80 ? written.toString('latin1') : utf8.decode(written);
}

function makeGetter(field: Field): Getter {
  const { offset, type, count } = field;
  if (type === 'char') return (view, base) => text(view, base + offset, count);
  const one = scalarGetter(field);
  if (count === 0) return (view, base) => one(view, base + offset);
  const stride = sizeOf(type);
  return (view, base) => {
    const elements: unknown[] = [];
    for (let i = 0, at = base + offset; i < count; i++, at += stride) elements.push(one(view, at));
    return elements;
  };
}

/** Bytes of an element of that type. */
export function sizeOf(type: string): number {
  return SIZES[type] ?? structs[type as StructName].bytes;
}

const getters = new Map<string, [string, Getter, Field][]>();

function gettersOf(struct: StructName): [string, Getter, Field][] {
  let list = getters.get(struct);
  if (list === undefined) {
    list = Object.entries<Field>(structs[struct].fields)
      .filter(([, field]) => field.kind !== 'reserved')
      .map(([name, field]) => [name, makeGetter(field), field]);
    getters.set(struct, list);
  }
  return list;
}

/** A function that reads one field of a struct that begins at `base`. */
export function getter<S extends StructName, F extends keyof Decoded<S> & string>(
  struct: S,
  field: F,
): (view: DataView, base: number) => Decoded<S>[F] {
  const found = gettersOf(struct).find(([name]) => name === field);
  if (found === undefined) throw new TypeError(`${struct} has no field ${field}`);
  return found[1] as (view: DataView, base: number) => Decoded<S>[F];
}

/** Reads every field of a struct, measured or not. */
export function decode<S extends StructName>(struct: S, view: DataView, base: number): Decoded<S> {
  const out: Record<string, unknown> = {};
  for (const [name, get] of gettersOf(struct)) out[name] = get(view, base);
  return out as Decoded<S>;
}

const VALID_AT = structs.report.fields.valid.offset;

type Test = (view: DataView, base: number) => boolean;

/** A test of one bit of a report's `valid`. */
function measured(set: SetName | undefined): Test {
  if (set === undefined) return () => true;
  const [word, mask] = [VALID_AT + 4 * (bits.valid[set] >> 5), 1 << (bits.valid[set] & 31)];
  return (view, base) => (view.getUint32(base + word, true) & mask) !== 0;
}

/** A field of a struct, or of a report as readers see it. */
interface ReadField {
  readonly name: string;
  /** Its value in the struct that begins at `base`; undefined: it is unknown, or was not measured. */
  readonly get: Getter;
}

/** The fields of a struct in the order of the contract, measured or not; those of a struct in it are in `inner`. */
export function fieldsOf(struct: StructName): readonly (ReadField & { readonly inner?: InnerFields | undefined })[] {
  return gettersOf(struct).map(([name, get, { type, count, offset }]) => {
    const isInner = count === 0 && Object.hasOwn(structs, type);
    return { name, get, inner: isInner ? { offset, fields: fieldsOf(type as StructName) } : undefined };
  });
}

/** The fields of a struct that lies at an offset of another one. */
interface InnerFields {
  readonly offset: number;
  readonly fields: readonly ReadField[];
}

/** The contract's values for unknown fields of entries, by field. */
export const NOT_KNOWN: Readonly<Record<string, number>> = {
  mbps: 0,
  mhz: 0,
  temp_dc: TEMPERATURE_UNKNOWN,
  util_pct: 255,
  temp_degc: 255,
  power_w: 65535,
};

/** A value of an array's entry: whether it is known, of the entry and the report that begin there. */
interface Leaf extends ReadField {
  readonly isKnown: (view: DataView, entry: number, report: number) => boolean;
}

function leafOf(struct: StructName, name: string, get: Getter, field: Field): Leaf {
  const isMeasured = measured(field.set);
  // A GPU without memory is one whose memory is unknown; then the used memory is unknown, too.
  const hasMemory = struct === 'gpu_slot' && name.startsWith('mem_');
  const unknown = hasMemory ? 0 : NOT_KNOWN[name];
  if (unknown === undefined) return { name, get, isKnown: (view, _, report) => isMeasured(view, report) };
  const other = gettersOf(struct).find(([of]) => of === (hasMemory ? 'mem_total_mib' : name)) as [
    string,
    Getter,
    Field,
  ];
  return {
    name,
    get,
    isKnown: (view, entry, report) => isMeasured(view, report) && other[1](view, entry) !== unknown,
  };
}

/** The field of a report that counts the entries of an array. */
const COUNTED_BY: Readonly<Record<string, ReportField>> = { group: 'groups', gpu: 'gpu_count', gpu_flags: 'gpu_count' };

/** Reads an entry as an object without unknown values; undefined: it is not in use. */
function entryGetter(struct: StructName): (view: DataView, entry: number, report: number) => object | undefined {
  const leaves = gettersOf(struct).map(([name, get, field]) => leafOf(struct, name, get, field));
  return (view, entry, report) => {
    if (struct === 'net_if' && view.getUint8(entry + structs.net_if.fields.name.offset) === 0) return undefined;
    const out: Record<string, unknown> = {};
    for (const { name, get, isKnown } of leaves) if (isKnown(view, entry, report)) out[name] = get(view, entry);
    return out;
  };
}

/** Reads a field that was measured: without unused entries, and without what is unknown of the others. */
function shownGetter(name: string, get: Getter, { type, count, offset }: Field): Getter {
  const counter = COUNTED_BY[name];
  const counted = counter && reportField(counter);
  const used = (view: DataView, report: number) =>
    counted === undefined ? count : Math.min(count, (counted(view, report) as number | undefined) ?? 0);
  if (!Object.hasOwn(structs, type))
    return counted === undefined
      ? get
      : (view, report) => (get(view, report) as unknown[]).slice(0, used(view, report));
  const entry = entryGetter(type as StructName);
  if (count === 0) return (view, report) => entry(view, report + offset, report);
  const stride = sizeOf(type);
  return (view, report) => {
    const entries: object[] = [];
    const end = report + offset + used(view, report) * stride;
    for (let at = report + offset; at < end; at += stride) {
      const found = entry(view, at, report);
      if (found !== undefined) entries.push(found);
    }
    return entries;
  };
}

let shown: readonly ReadField[] | undefined;

/** The fields of a report in their order, as readers see them: without what was not measured, or is unused. */
export function shownFields(): readonly ReadField[] {
  shown ??= gettersOf('report').map(([name, get, field]) => {
    const isMeasured = measured(field.set);
    const read = shownGetter(name, get, field);
    return { name, get: (view, base) => (isMeasured(view, base) ? read(view, base) : undefined) };
  });
  return shown;
}

/** Reads a report as readers should see it: what was not measured is absent, and so are the unused entries of arrays. */
export function decodeReport(view: DataView, base: number): Report {
  const out: Record<string, unknown> = {};
  for (const { name, get } of shownFields()) {
    const value = get(view, base);
    if (value !== undefined) out[name] = value;
  }
  return out as unknown as Report;
}

export type ReportField = keyof RawReport & string;

const fieldReaders = new Map<string, (view: DataView, base: number) => unknown>();

/** One field of a report, as in `decodeReport` except for arrays; undefined if it was not measured. */
export function reportField(name: ReportField): (view: DataView, base: number) => unknown {
  let read = fieldReaders.get(name);
  if (read === undefined) {
    const field: Field = structs.report.fields[name];
    const get = getter('report', name);
    const isMeasured = measured(field.set);
    read = (view, base) => (isMeasured(view, base) ? get(view, base) : undefined);
    fieldReaders.set(name, read);
  }
  return read;
}

/** The values that a field accepts for writing: numbers may be fractional or out of range, see `put`. */
type Input<V> = V extends string
  ? string
  : V extends (infer E)[]
    ? Input<E>[]
    : V extends bigint
      ? bigint | number
      : V extends number | undefined
        ? number | bigint
        : { [K in keyof V]?: Input<V[K]> };
export type Encodable<S extends StructName> = { [K in keyof Decoded<S>]?: Input<Decoded<S>[K]> | undefined };

/** Every field of a set: a set that is marked as valid must be written completely. The compiler checks it. */
export type FieldsOf<S extends SetName> = {
  [K in keyof Encodable<'report'> as ReportFields[K] extends { set: S } ? K : never]-?: NonNullable<
    Encodable<'report'>[K]
  >;
};

/**
 * Writes the given fields of a struct; the others keep their bytes. By the contract's rules: counters and tallies count
 * modulo 2^32, everything else saturates at both ends; text is cut at a character and padded with NUL.
 */
export function encode<S extends StructName>(struct: S, view: DataView, base: number, values: Encodable<S>): void {
  const setters = settersOf(struct);
  for (const name in values) {
    const set = setters.get(name);
    if (set === undefined) throw new TypeError(`${struct} has no field ${name}`);
    const value = values[name as keyof Encodable<S>];
    if (value !== undefined) set(view, base, value);
  }
}

type Setter = (view: DataView, base: number, value: unknown) => void;

const setters = new Map<StructName, Map<string, Setter>>();

/** How each field is written, determined once: a report has two hundred fields. */
function settersOf(struct: StructName): Map<string, Setter> {
  let table = setters.get(struct);
  if (table === undefined) {
    const fields = Object.entries<Field>(structs[struct].fields);
    table = new Map(fields.map(([name, field]) => [name, makeSetter(field)]));
    setters.set(struct, table);
  }
  return table;
}

function makeSetter(field: Field): Setter {
  const { offset, type, count } = field;
  if (type === 'char') return (view, base, value) => putText(view, base + offset, count, value as string);
  const one = scalarSetter(field);
  if (count === 0) return (view, base, value) => one(view, base + offset, value);
  const stride = sizeOf(type);
  return (view, base, value) => {
    const elements = value as unknown[];
    const most = Math.min(elements.length, count);
    for (let i = 0; i < most; i++) one(view, base + offset + i * stride, elements[i]);
  };
}

/** Writes one value. A value that fits, as nearly all do, needs no further check. */
function scalarSetter(field: Field): Setter {
  const fits = (value: unknown, least: number, most: number): value is number =>
    typeof value === 'number' && value >= least && value <= most;
  const stored = (value: unknown, bits: number) => Number(fit(field, bits, whole(value as number | bigint)));
  switch (field.type) {
    case 'u8':
      return (view, at, value) => view.setUint8(at, fits(value, 0, 0xff) ? value : stored(value, 8));
    case 'u16':
      return (view, at, value) => view.setUint16(at, fits(value, 0, 0xffff) ? value : stored(value, 16), true);
    case 'u32':
      return (view, at, value) => view.setUint32(at, fits(value, 0, 0xffffffff) ? value : stored(value, 32), true);
    case 'i16':
      return (view, at, value) => view.setInt16(at, fits(value, -0x8000, 0x7fff) ? value : stored(value, 16), true);
    case 'i32':
      return (view, at, value) =>
        view.setInt32(at, fits(value, -0x80000000, 0x7fffffff) ? value : stored(value, 32), true);
    case 'u64':
    case 'i64':
      return (view, at, value) => {
        if (fits(value, 0, Number.MAX_SAFE_INTEGER)) {
          view.setUint32(at, value % 2 ** 32, true);
          view.setUint32(at + 4, value / 2 ** 32, true);
        } else {
          const big = BigInt(fit(field, 64, whole(value as number | bigint)));
          view.setBigUint64(at, BigInt.asUintN(64, big), true);
        }
      };
    default:
      return (view, at, value) => encode(field.type as StructName, view, at, value as Encodable<StructName>);
  }
}

const encoder = new TextEncoder();

function putText(view: DataView, at: number, bytes: number, value: string): void {
  const target = new Uint8Array(view.buffer, view.byteOffset + at, bytes);
  target.fill(0);
  // encodeInto never writes part of a character; the last byte stays NUL.
  encoder.encodeInto(value, target.subarray(0, bytes - 1));
}

/** The value as a field of so many bits stores it. */
function fit(field: Field, width: number, value: number | bigint): number | bigint {
  const signed = field.type.startsWith('i');
  if (field.type === 'u32' && (field.kind === 'counter' || field.kind === 'tally'))
    return value < 0 ? 0 : typeof value === 'number' ? value % 2 ** 32 : Number(BigInt.asUintN(32, value));
  if (width === 64) {
    const big = BigInt(value);
    const [least, most] = signed ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n];
    return big < least ? least : big > most ? most : big;
  }
  const [least, most] = signed ? [-(2 ** (width - 1)), 2 ** (width - 1) - 1] : [0, 2 ** width - 1];
  return Math.max(least, Math.min(most, Number(value)));
}

/** Without its fraction; NaN becomes 0, and infinity the largest number. */
function whole(value: number | bigint): number | bigint {
  if (typeof value === 'bigint') return value;
  if (Number.isNaN(value)) return 0;
  return Math.trunc(Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value)));
}

/** The names of the set bits of a field, in the order of the bits. */
export function bitNames(table: keyof typeof bits, value: bigint | number): string[] {
  const word = BigInt(value);
  return Object.entries(bits[table])
    .filter(([, bit]) => ((word >> BigInt(bit)) & 1n) === 1n)
    .map(([name]) => name);
}

export type WordName = keyof typeof words;
export type WordFields<W extends WordName> = keyof (typeof words)[W] & string;

/** The numbers in a word of the contract, by the names of its fields. */
export function unpackWord<W extends WordName>(name: W, word: bigint): Record<WordFields<W>, bigint> {
  const fields: Readonly<Record<string, { shift: number; bits: number }>> = words[name];
  const numbers: Record<string, bigint> = {};
  for (const field in fields) {
    const { shift, bits } = fields[field] as (typeof fields)[string];
    numbers[field] = BigInt.asUintN(bits, word >> BigInt(shift));
  }
  return numbers as Record<WordFields<W>, bigint>;
}
