// Writes structs of the contract as JSON directly from their bytes, with the same result as `json` of what `decode` and
// `decodeReport` return. It makes no object for any field, because a board of 10,000 nodes is some 60 MB of JSON.

import { json } from '../common/output.js';
import { type Page, Prepared } from '../common/page.js';
import {
  type Field,
  getter,
  isBig,
  type Leaf,
  type ShownField,
  type StructName,
  shownFields,
  sizeOf,
} from '../layout/codec.js';
import { bits, structs } from '../layout/layout.gen.js';
import { type Counter, CPU_SHARES, CPU_TIMES, INTERFACE_COUNTERS, Pair, REPORT_COUNTERS } from '../shm/rates.js';

/** Writes the struct that begins at `base`. */
export type Put = (page: Page, view: DataView, base: number) => void;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;
/** The high word of 2^53. */
const TOO_HIGH = 0x200000;
const TWO_TO_32 = 2 ** 32;

/** The text before the value of a key that is not the first. */
export function keyPart(name: string): Prepared {
  return new Prepared(`,${json(name)}:`);
}

/** A text as JSON. Nearly every text is printable ASCII, which JSON keeps as it is. */
export function putText(page: Page, text: string): void {
  const { bytes } = page;
  let at = page.length;
  bytes[at++] = QUOTE;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isSpecial(code)) {
      page.part(Buffer.from(json(text)));
      return;
    }
    bytes[at++] = code;
  }
  bytes[at++] = QUOTE;
  page.length = at;
}

/** Whether JSON or a terminal needs the character escaped, or it has more than one byte. */
function isSpecial(code: number): boolean {
  return code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH;
}

/** A number that may have a fraction, as `json` writes it. */
export function putNumber(page: Page, value: number): void {
  if (Math.abs(value) < 1e12) page.short(value, 3);
  else page.text(json(value));
}

/** Closes what was begun there. Each part begins with a comma; the first comma becomes the opening bracket. */
function close(page: Page, begin: number, opening: number, closing: number): void {
  if (page.length === begin) page.length++;
  page.bytes[begin] = opening;
  page.bytes[page.length++] = closing;
}

/** Makes an object of the keys and values since `begin`. */
export function closeObject(page: Page, begin: number): void {
  close(page, begin, OPEN, CLOSE);
}

/** Makes a list of the elements since `begin`. */
function closeList(page: Page, begin: number): void {
  close(page, begin, OPEN_LIST, CLOSE_LIST);
}

const comma = (page: Page) => {
  page.bytes[page.length++] = COMMA;
};

/** Text up to its first NUL. Nearly every text is printable ASCII, which JSON keeps as it is. */
function textPut({ offset, count }: Field, decoded: (view: DataView, base: number) => unknown): Put {
  return (page, view, base) => {
    const { bytes } = page;
    const begin = page.length;
    let at = begin;
    bytes[at++] = QUOTE;
    for (let i = base + offset; i < base + offset + count; i++) {
      const byte = view.getUint8(i);
      if (byte === 0) break;
      if (isSpecial(byte)) {
        putText(page, decoded(view, base) as string);
        return;
      }
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    page.length = at;
  };
}

function putSigned(page: Page, value: number): void {
  if (value < 0) page.bytes[page.length++] = MINUS;
  page.whole(Math.abs(value));
}

/** A 64-bit number in quotes. */
function putBig(page: Page, high: number, low: number, big: () => bigint): void {
  page.bytes[page.length++] = QUOTE;
  if (high < TOO_HIGH) page.whole(high * TWO_TO_32 + low);
  else page.text(big().toString());
  page.bytes[page.length++] = QUOTE;
}

/** Writes a number of at most 32 bits in decimal digits; undefined: the type is another one. */
export function smallPut(type: string): Put | undefined {
  switch (type) {
    case 'u8':
      return (page, view, at) => page.whole(view.getUint8(at));
    case 'u16':
      return (page, view, at) => page.whole(view.getUint16(at, true));
    case 'u32':
      return (page, view, at) => page.whole(view.getUint32(at, true));
    case 'i16':
      return (page, view, at) => putSigned(page, view.getInt16(at, true));
    case 'i32':
      return (page, view, at) => putSigned(page, view.getInt32(at, true));
    default:
      return undefined;
  }
}

/** Writes one value; of an array the element `at`. Writes nothing for a count beyond 2^53. */
function scalarPut({ type, unit }: Field): Put {
  if (type !== 'u64' && type !== 'i64') return smallPut(type) ?? structPut(type as StructName);
  const big = (view: DataView, at: number) =>
    type === 'u64' ? view.getBigUint64(at, true) : view.getBigInt64(at, true);
  if (isBig({ unit }))
    return (page, view, at) =>
      putBig(page, view.getUint32(at + 4, true), view.getUint32(at, true), () => big(view, at));
  return (page, view, at) => {
    const high = view.getUint32(at + 4, true);
    if (high < TOO_HIGH) page.whole(high * TWO_TO_32 + view.getUint32(at, true));
    else if (type === 'i64') {
      const number = Number(big(view, at));
      if (Number.isSafeInteger(number)) putSigned(page, number);
    }
  };
}

/** An element is null where an object would leave out the key. */
const NULL = new Prepared('null');

function listPut(field: Field, count: (view: DataView, base: number) => number): Put {
  const { offset, type } = field;
  const one = scalarPut(field);
  const stride = sizeOf(type);
  return (page, view, base) => {
    const begin = page.length;
    const elements = count(view, base);
    for (let i = 0; i < elements; i++) {
      comma(page);
      const before = page.length;
      one(page, view, base + offset + i * stride);
      if (page.length === before) page.prepared(NULL);
    }
    closeList(page, begin);
  };
}

function fieldPut(struct: StructName, name: string, field: Field): Put {
  const { offset, type, count } = field;
  if (type === 'char') return textPut(field, getter(struct, name as never));
  if (count > 0) return listPut(field, () => count);
  const one = scalarPut(field);
  return (page, view, base) => one(page, view, base + offset);
}

/** Whether the number at an offset is 0; undefined: the type is not that of a number. */
export function zeroTest(type: string): ((view: DataView, at: number) => boolean) | undefined {
  switch (sizeOf(type)) {
    case 1:
      return type === 'char' ? undefined : (view, at) => view.getUint8(at) === 0;
    case 2:
      return (view, at) => view.getUint16(at, true) === 0;
    case 4:
      return (view, at) => view.getUint32(at, true) === 0;
    default:
      return type === 'u64' || type === 'i64'
        ? (view, at) => view.getUint32(at, true) === 0 && view.getUint32(at + 4, true) === 0
        : undefined;
  }
}

/** A field with its key. More than half of all numbers are 0, which is prepared with its key. */
function keyedField(struct: StructName, name: string, field: Field): Put {
  const put = keyed(name, fieldPut(struct, name, field));
  const isZero = field.count === 0 ? zeroTest(field.type) : undefined;
  if (isZero === undefined) return put;
  const { offset, type } = field;
  const zero = new Prepared(`,${json(name)}:${sizeOf(type) === 8 && isBig(field) ? '"0"' : '0'}`);
  return (page, view, base) => {
    if (isZero(view, base + offset)) page.prepared(zero);
    else put(page, view, base);
  };
}

/** The same with its key; without a value there is no key either. */
function keyed(name: string, put: Put): Put {
  const key = keyPart(name);
  return (page, view, base) => {
    const begin = page.length;
    page.prepared(key);
    const behind = page.length;
    put(page, view, base);
    if (page.length === behind) page.length = begin;
  };
}

const ofStructs = new Map<StructName, Put>();

/** Writes every field of a struct, whether it was measured or not. */
export function structPut(struct: StructName): Put {
  let put = ofStructs.get(struct);
  if (put === undefined) {
    const fields: Record<string, Field> = structs[struct].fields;
    const puts = Object.entries(fields)
      .filter(([, { kind }]) => kind !== 'reserved')
      .map(([name, field]) => keyedField(struct, name, field));
    put = (page, view, base) => {
      const begin = page.length;
      for (const one of puts) one(page, view, base);
      closeObject(page, begin);
    };
    ofStructs.set(struct, put);
  }
  return put;
}

/** Writes what readers see of a field of a report, with its key. */
function shownField(shown: ShownField): Put {
  const { name, field, used, leaves } = shown;
  if (name === BOOT_ID) return keyed(name, putBootId);
  if (leaves !== undefined) return keyed(name, entriesPut(shown, leaves));
  return field.count > 0 && field.type !== 'char'
    ? keyed(name, listPut(field, used))
    : keyedField('report', name, field);
}

/** Writes an entry, or all entries in use of a list. */
function entriesPut({ field, used, isInUse }: ShownField, leaves: readonly Leaf[]): Put {
  const { type, count, offset } = field;
  const parts = leaves.map(leaf => ({
    isKnown: leaf.isKnown,
    put: keyedField(type as StructName, leaf.name, leaf.field),
  }));
  const entry = (page: Page, view: DataView, at: number, report: number) => {
    const begin = page.length;
    for (const { isKnown, put } of parts) if (isKnown === undefined || isKnown(view, at, report)) put(page, view, at);
    closeObject(page, begin);
  };
  if (count === 0)
    return (page, view, report) => {
      if (isInUse(view, report + offset)) entry(page, view, report + offset, report);
    };
  const stride = sizeOf(type);
  return (page, view, report) => {
    const begin = page.length;
    const entries = used(view, report);
    for (let i = 0, at = report + offset; i < entries; i++, at += stride) {
      if (!isInUse(view, at)) continue;
      comma(page);
      entry(page, view, at, report);
    }
    closeList(page, begin);
  };
}

const BOOT_ID = 'boot_id' satisfies keyof typeof structs.report.fields;

const HEX_DIGITS = Buffer.from('0123456789abcdef');
const ID_AT = structs.report.fields[BOOT_ID].offset;
const ID_LAST = ID_AT + sizeOf(structs.report.fields[BOOT_ID].type) - 1;

/** An id as JSON has it: 16 hexadecimal digits. */
export const putBootId: Put = (page, view, base) => {
  page.bytes[page.length++] = QUOTE;
  for (let at = base + ID_LAST; at >= base + ID_AT; at--) {
    const byte = view.getUint8(at);
    page.bytes[page.length++] = HEX_DIGITS[byte >> 4] as number;
    page.bytes[page.length++] = HEX_DIGITS[byte & 15] as number;
  }
  page.bytes[page.length++] = QUOTE;
};

/** The fields that were measured, by the two words of `valid`. Nodes of the same type have the same fields. */
const measuredPuts = new Map<number, readonly Put[]>();
/** A limit, because a forger could make more combinations than there is room for. */
const MOST_KINDS = 128;
const VALID_AT = structs.report.fields.valid.offset;
/**
 * The sets in the second word. Bits that the contract does not know are kept too, so that the two words together can
 * exceed 2^53.
 */
const HIGH_SETS = Object.values<number>(bits.valid).reduce(
  (mask, bit) => (bit < 32 ? mask : mask | (1 << (bit - 32))),
  0,
);
let reportPuts: readonly { isMeasured: ShownField['isMeasured']; put: Put }[] | undefined;

function putsOf(view: DataView, base: number): readonly Put[] {
  const high = view.getUint32(base + VALID_AT + 4, true) & HIGH_SETS;
  const kind = high * TWO_TO_32 + view.getUint32(base + VALID_AT, true);
  let puts = measuredPuts.get(kind);
  if (puts === undefined) {
    reportPuts ??= shownFields().map(field => ({
      isMeasured: field.isMeasured,
      put: shownField(field),
    }));
    puts = reportPuts.filter(({ isMeasured }) => isMeasured(view, base)).map(({ put }) => put);
    if (measuredPuts.size === MOST_KINDS) measuredPuts.clear();
    measuredPuts.set(kind, puts);
  }
  return puts;
}

/** Writes a report as `decodeReport` returns it, with `boot_id` in the form of ids in JSON. */
export const putReport: Put = (page, view, base) => {
  const puts = putsOf(view, base);
  const begin = page.length;
  for (let i = 0; i < puts.length; i++) (puts[i] as Put)(page, view, base);
  closeObject(page, begin);
};

const pair = new Pair();
const shares = new Float64Array(CPU_TIMES.length);
const SHARE_KEYS = CPU_SHARES.map(keyPart);
const RATE_KEYS = REPORT_COUNTERS.map(({ name }) => keyPart(name));
const ENTRY_KEYS = INTERFACE_COUNTERS.map(({ name }) => keyPart(name));
const SUMS = (['net_rest', 'fabric'] as const).map(sum => ({ sum, key: keyPart(sum) }));
const NET_KEY = keyPart('net');
const putEntryName = keyed('name', fieldPut('net_if', 'name', structs.net_if.fields.name));

function putRate(page: Page, key: Prepared, rate: number): void {
  if (Number.isNaN(rate)) return;
  page.prepared(key);
  putNumber(page, rate);
}

/** Rates of a network entry, which is number `i` or the sum of all. */
function putEntryRates(page: Page, view: DataView, entry: number, i: number, sum?: 'net_rest' | 'fabric'): void {
  const begin = page.length;
  putEntryName(page, view, entry);
  for (let k = 0; k < INTERFACE_COUNTERS.length; k++) {
    const counter = INTERFACE_COUNTERS[k] as Counter;
    putRate(
      page,
      ENTRY_KEYS[k] as Prepared,
      sum === undefined ? pair.entryRate(counter, i) : pair.sumRate(sum, counter),
    );
  }
  closeObject(page, begin);
}

/** Writes what `rates` returns for two reports, after this key; nothing if there are no rates. */
export function putRates(
  page: Page,
  key: Prepared,
  view: DataView,
  before: number | undefined,
  after: number | undefined,
): void {
  if (!pair.lay(view, before, after)) return;
  page.prepared(key);
  const begin = page.length;
  for (let i = 0; i < REPORT_COUNTERS.length; i++)
    putRate(page, RATE_KEYS[i] as Prepared, pair.rate(REPORT_COUNTERS[i] as Counter));
  pair.shares(shares);
  for (let i = 0; i < shares.length; i++) putRate(page, SHARE_KEYS[i] as Prepared, shares[i] as number);
  if (pair.hasNet) {
    const { found } = pair.matchNet();
    page.prepared(NET_KEY);
    const list = page.length;
    for (let i = 0; i < found; i++) {
      comma(page);
      putEntryRates(page, view, pair.laterEntry(i), i);
    }
    closeList(page, list);
  }
  for (const { sum, key: sumKey } of SUMS)
    if (pair.hasSum(sum)) {
      page.prepared(sumKey);
      putEntryRates(page, view, pair.after + structs.report.fields[sum].offset, -1, sum);
    }
  closeObject(page, begin);
}
