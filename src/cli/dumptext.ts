// Writes the fields of a struct as text directly from their bytes, one line each: offset, name, value, unit. Knows the
// contract, and nothing of boards.

import { type Field, getter, isBig, type StructName, sizeOf } from '../layout/codec.js';
import { structs } from '../layout/layout.gen.js';
import { spoken } from '../text/ascii.js';
import { type Page, PreparedText } from '../text/buffer.js';
import { getOrInsert } from '../text/maps.js';
import { oneLine } from '../text/text.js';

type PutStruct = (page: Page, view: DataView, base: number) => void;

const BLANK = 0x20;
const ZERO = 0x30;
const A = 0x61;
const MINUS = 0x2d;
const TOO_HIGH = 0x200000;
const TWO_TO_32 = 2 ** 32;
/** The columns of a field's offset and of its name. */
const [AT_WIDTH, NAME_WIDTH] = [10, 28];
const BEYOND = 'beyond 2^53';

function putSigned(page: Page, value: number): void {
  if (value < 0) page.bytes[page.length++] = MINUS;
  page.whole(Math.abs(value));
}

/** Writes a number of at most 32 bits in decimal digits; undefined: the type is another one. */
function smallPut(type: string): PutStruct | undefined {
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

/** Whether the number at an offset is 0; undefined: the type is not that of a number. */
function zeroTest(type: string): ((view: DataView, at: number) => boolean) | undefined {
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

/** Text up to its first NUL. Nearly every text is printable ASCII, which is shown as it is. */
function textPut(offset: number, count: number, decoded: (view: DataView, base: number) => string): PutStruct {
  return (page, view, base) => {
    const { bytes } = page;
    let at = page.length;
    for (let i = base + offset; i < base + offset + count; i++) {
      const byte = view.getUint8(i);
      if (byte === 0) break;
      if (byte < BLANK || byte > 0x7e) {
        page.part(Buffer.from(spoken(oneLine(decoded(view, base)))));
        return;
      }
      bytes[at++] = byte;
    }
    page.length = at;
  };
}

function putHex(page: Page, high: number, low: number): void {
  page.text('0x');
  let isBegun = false;
  for (let i = 15; i >= 0; i--) {
    const digit = (i < 8 ? low >>> (4 * i) : high >>> (4 * (i - 8))) & 15;
    isBegun ||= digit !== 0 || i === 0;
    if (isBegun) page.bytes[page.length++] = digit < 10 ? ZERO + digit : A + digit - 10;
  }
}

/** Whether 64 bits without a sign are shown in hexadecimal digits. */
function isHex({ unit }: Pick<Field, 'unit'>): boolean {
  return isBig({ unit }) && unit !== 'ns';
}

function scalarPut({ type, unit }: Field): PutStruct {
  if (type === 'i64')
    return (page, view, at) => {
      const value = view.getBigInt64(at, true);
      const isTold = isBig({ unit }) || Number.isSafeInteger(Number(value));
      page.text(isTold ? value.toString() : BEYOND);
    };
  if (type !== 'u64') return smallPut(type) as PutStruct;
  if (isHex({ unit })) return (page, view, at) => putHex(page, view.getUint32(at + 4, true), view.getUint32(at, true));
  return (page, view, at) => {
    const high = view.getUint32(at + 4, true);
    if (high < TOO_HIGH) page.whole(high * TWO_TO_32 + view.getUint32(at, true));
    else page.text(unit === 'ns' ? view.getBigUint64(at, true).toString() : BEYOND);
  };
}

function valuePut(struct: StructName, name: string, field: Field): PutStruct {
  const { offset, type, count } = field;
  if (type === 'char') return textPut(offset, count, getter(struct, name as never));
  const one = scalarPut(field);
  const stride = sizeOf(type);
  return (page, view, base) => {
    for (let i = 0; i < Math.max(1, count); i++) {
      if (i > 0) page.bytes[page.length++] = BLANK;
      one(page, view, base + offset + i * stride);
    }
  };
}

/** Writes lines of the struct that begins at `base` of the view, and at `base + origin` of the file. */
type PutLines = (page: Page, view: DataView, base: number, origin: number) => void;

/** An offset changes in its last digits from line to line; the digits before them are kept as they are written. */
const LAST = 4;
const TEN_TO_LAST = 10 ** LAST;
let firstDigits = 0;
let firstText = new PreparedText('');

function putOffset(page: Page, offset: number): void {
  const first = Math.floor(offset / TEN_TO_LAST);
  // An offset with no digits before the last ones is padded with blanks, not with zeros.
  if (first === 0) {
    page.whole(offset, AT_WIDTH);
    return;
  }
  if (first !== firstDigits) {
    firstDigits = first;
    firstText = new PreparedText(String(first).padStart(AT_WIDTH - LAST));
  }
  page.prepared(firstText);
  page.digits(offset - first * TEN_TO_LAST, LAST);
}

/** One line; `at`: the offset of the struct with this field in the outermost struct. */
function linePut(struct: StructName, name: string, field: Field, at: number, label: string): PutLines {
  const { offset, type, count, unit } = field;
  const value = valuePut(struct, name, field);
  const before = `  ${label.padEnd(NAME_WIDTH)} `;
  const behind = unit === '' || unit === 'id' || unit.includes(' ') ? '\n' : ` ${spoken(unit)}\n`;
  const [left, right] = [new PreparedText(before), new PreparedText(behind)];
  const place = at + offset;
  const any: PutLines = (page, view, base, origin) => {
    putOffset(page, base + origin + place);
    page.prepared(left);
    value(page, view, base + at);
    page.prepared(right);
  };
  const isZero = count === 0 ? zeroTest(type) : undefined;
  if (isZero === undefined) return any;
  // More than half of all numbers are 0, which is prepared with its line.
  const zero = new PreparedText(`${before}${type === 'u64' && isHex(field) ? '0x0' : '0'}${behind}`);
  return (page, view, base, origin) => {
    if (!isZero(view, base + place)) {
      any(page, view, base, origin);
      return;
    }
    putOffset(page, base + origin + place);
    page.prepared(zero);
  };
}

/** The lines of a struct that lies at `at` within the outermost one. */
function linesOf(struct: StructName, at: number, prefix: string): PutLines[] {
  return Object.entries<Field>(structs[struct].fields)
    .filter(([, { kind }]) => kind !== 'reserved')
    .flatMap(([name, field]): PutLines[] => {
      const { offset, type, count } = field;
      const label = `${prefix}${name}`;
      if (!Object.hasOwn(structs, type)) return [linePut(struct, name, field, at, label)];
      const inner = type as StructName;
      const { bytes } = structs[inner];
      return Array.from({ length: Math.max(1, count) }, (_, i): PutLines => {
        const place = at + offset + i * bytes;
        const puts = linesOf(inner, place, count > 0 ? `${label}[${i}].` : `${label}.`);
        return (page, view, base, origin) => {
          // Nothing is known about links without an entry.
          if (inner === 'link_evidence' && isZero(view, base + place, bytes)) return;
          for (const put of puts) put(page, view, base, origin);
        };
      });
    });
}

function isZero(view: DataView, from: number, bytes: number): boolean {
  for (let at = from; at < from + bytes; at += 4) if (view.getUint32(at, true) !== 0) return false;
  return true;
}

const ofStructs = new Map<StructName, PutLines[]>();

/**
 * Writes all fields of the struct except the reserved ones. It begins at `base` of the view, whose first byte is at
 * `origin` of the file. A struct takes at most 64 KiB.
 */
export function putLines(page: Page, struct: StructName, view: DataView, base: number, origin: number): void {
  const puts = getOrInsert(ofStructs, struct, () => linesOf(struct, 0, ''));
  for (let i = 0; i < puts.length; i++) (puts[i] as PutLines)(page, view, base, origin);
}
