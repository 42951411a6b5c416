// Writes the fields of a struct as text directly from their bytes, one line each: offset, name, value, unit. Knows the
// contract, and nothing of boards.

import { type Page, Prepared } from '../common/page.js';
import { oneLine } from '../common/text.js';
import { type Field, getter, isBig, type StructName, sizeOf } from '../layout/codec.js';
import { structs } from '../layout/layout.gen.js';
import { type Put, smallPut } from '../telling/structjson.js';

const BLANK = 0x20;
const ZERO = 0x30;
const A = 0x61;
/** The high word of 2^53. */
const TOO_HIGH = 0x200000;
const TWO_TO_32 = 2 ** 32;
/** The columns of a field's offset and of its name. */
const [AT_WIDTH, NAME_WIDTH] = [10, 28];
const BEYOND = 'beyond 2^53';

/** Text up to its first NUL. Nearly every text is printable ASCII, which is shown as it is. */
function textPut(offset: number, count: number, decoded: (view: DataView, base: number) => string): Put {
  return (page, view, base) => {
    const { bytes } = page;
    let at = page.length;
    for (let i = base + offset; i < base + offset + count; i++) {
      const byte = view.getUint8(i);
      if (byte === 0) break;
      if (byte < BLANK || byte > 0x7e) {
        page.part(Buffer.from(oneLine(decoded(view, base))));
        return;
      }
      bytes[at++] = byte;
    }
    page.length = at;
  };
}

/** 64 bits in hexadecimal digits. */
function putHex(page: Page, high: number, low: number): void {
  page.text('0x');
  let isBegun = false;
  for (let i = 15; i >= 0; i--) {
    const digit = (i < 8 ? low >>> (4 * i) : high >>> (4 * (i - 8))) & 15;
    isBegun ||= digit !== 0 || i === 0;
    if (isBegun) page.bytes[page.length++] = digit < 10 ? ZERO + digit : A + digit - 10;
  }
}

function scalarPut({ type, unit }: Field): Put {
  if (type === 'i64')
    return (page, view, at) => {
      const value = view.getBigInt64(at, true);
      const isTold = isBig({ unit }) || Number.isSafeInteger(Number(value));
      page.text(isTold ? value.toString() : BEYOND);
    };
  if (type !== 'u64') return smallPut(type) as Put;
  if (isBig({ unit }) && unit !== 'ns')
    return (page, view, at) => putHex(page, view.getUint32(at + 4, true), view.getUint32(at, true));
  return (page, view, at) => {
    const high = view.getUint32(at + 4, true);
    if (high < TOO_HIGH) page.whole(high * TWO_TO_32 + view.getUint32(at, true));
    else page.text(unit === 'ns' ? view.getBigUint64(at, true).toString() : BEYOND);
  };
}

function valuePut(struct: StructName, name: string, field: Field): Put {
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

/** One line; `at`: the offset of the field in the outermost struct. */
function linePut(
  at: number,
  label: string,
  unit: string,
  value: (page: Page, view: DataView, base: number) => void,
): Put {
  const before = new Prepared(`  ${label.padEnd(NAME_WIDTH)} `);
  const behind = new Prepared(unit === '' || unit === 'id' || unit.includes(' ') ? '\n' : ` ${unit}\n`);
  return (page, view, base) => {
    page.whole(base + at, AT_WIDTH);
    page.prepared(before);
    value(page, view, base);
    page.prepared(behind);
  };
}

/** The lines of a struct that lies at `at` within the outermost one. */
function linesOf(struct: StructName, at: number, prefix: string): Put[] {
  return Object.entries<Field>(structs[struct].fields)
    .filter(([, { kind }]) => kind !== 'reserved')
    .flatMap(([name, field]): Put[] => {
      const { offset, type, count, unit } = field;
      const label = `${prefix}${name}`;
      if (!Object.hasOwn(structs, type)) {
        const value = valuePut(struct, name, field);
        return [linePut(at + offset, label, unit, (page, view, base) => value(page, view, base + at))];
      }
      const inner = type as StructName;
      const { bytes } = structs[inner];
      return Array.from({ length: Math.max(1, count) }, (_, i): Put => {
        const place = at + offset + i * bytes;
        const puts = linesOf(inner, place, count > 0 ? `${label}[${i}].` : `${label}.`);
        return (page, view, base) => {
          // Nothing is known about links without an entry.
          if (inner === 'link_evidence' && isZero(view, base + place, bytes)) return;
          for (const put of puts) put(page, view, base);
        };
      });
    });
}

function isZero(view: DataView, from: number, bytes: number): boolean {
  for (let at = from; at < from + bytes; at += 4) if (view.getUint32(at, true) !== 0) return false;
  return true;
}

const ofStructs = new Map<StructName, Put>();

/** Writes all fields of the struct at `base` except the reserved ones. A struct takes at most 64 KiB. */
export function putLines(page: Page, struct: StructName, view: DataView, base: number): void {
  let put = ofStructs.get(struct);
  if (put === undefined) {
    const puts = linesOf(struct, 0, '');
    put = (into, of, at) => {
      for (const one of puts) one(into, of, at);
    };
    ofStructs.set(struct, put);
  }
  put(page, view, base);
}
