// Writes structs of the contract as JSON directly from their bytes, with the same result as `json` of what `decode` and
// `decodeReport` return. The addon does it by a table of the fields that is made here, because a board of 10,000 nodes
// is some 40 MB of JSON; what is rare is left to `json`.

import {
  decode,
  decodeReport,
  type Field,
  type FieldName,
  isBig,
  type Leaf,
  type ShownField,
  type StructName,
  shownFields,
  sizeOf,
} from '../layout/codec.js';
import { bits, structs } from '../layout/layout.gen.js';
import { JSON_NONE, JSON_ROW, JSON_WHAT, JsonPrinter, JsonTable } from '../native/index.js';
import { rates } from '../shm/rates.js';
import { type Page, PreparedText } from '../text/buffer.js';
import { json } from '../text/output.js';

/** Writes the struct that begins at `base`. */
export type PutStruct = (page: Page, view: DataView, base: number) => void;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const BACKSLASH = 0x5c;

/** The text before the value of a key that is not the first. */
export function keyPart(name: string): PreparedText {
  return new PreparedText(`,${json(name)}:`);
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

/** Makes an object of the keys and values since `begin`. Each begins with a comma; the first becomes the bracket. */
export function closeObject(page: Page, begin: number): void {
  if (page.length === begin) page.length++;
  page.bytes[begin] = OPEN;
  page.bytes[page.length++] = CLOSE;
}

/** A row of a table by the names of its numbers; what is not given is 0, or none. */
type JsonRow = Partial<Record<(typeof JSON_ROW)[number], number>>;

/** A table under construction. */
class JsonRows {
  readonly #rows: JsonRow[] = [];
  #keys = '';

  /** Adds a field, and behind it those of its objects; `of` tells more than the type does. */
  add(name: string, { offset, type, count }: Field, of: JsonRow, fields?: () => void): void {
    const key = `,${json(name)}:`;
    const row: JsonRow = {
      at: offset,
      count,
      stride: sizeOf(type),
      key: this.#keys.length,
      keyBytes: key.length,
      ...of,
    };
    this.#keys += key;
    this.#rows.push(row);
    const before = this.#rows.length;
    fields?.();
    row.rows = this.#rows.length - before;
  }

  /** Adds every field of a struct, measured or not. */
  addStruct(struct: StructName): void {
    for (const [name, field] of Object.entries<Field>(structs[struct].fields)) {
      if (field.kind === 'reserved') continue;
      this.add(
        name,
        field,
        { what: whatOf(field) },
        fieldsOf(field, of => this.addStruct(of)),
      );
    }
  }

  table(validAt: number): JsonTable {
    const none: JsonRow = { used: JSON_NONE, usedSet: JSON_NONE, set: JSON_NONE };
    const numbers = this.#rows.flatMap(row => JSON_ROW.map(name => row[name] ?? none[name] ?? 0));
    return new JsonTable(Uint32Array.from(numbers), Buffer.from(this.#keys), validAt);
  }
}

function whatOf({ type, unit }: Field): number {
  switch (type) {
    case 'u8':
    case 'u16':
    case 'u32':
    case 'i16':
    case 'i32':
      return JSON_WHAT[type];
    case 'u64':
      return isBig({ unit }) ? JSON_WHAT.bigU64 : JSON_WHAT.u64;
    case 'i64':
      return isBig({ unit }) ? JSON_WHAT.bigI64 : JSON_WHAT.i64;
    case 'char':
      return JSON_WHAT.text;
    default:
      return JSON_WHAT.object;
  }
}

/** What adds the fields of an object; undefined: the field is none. */
function fieldsOf(field: Field, add: (struct: StructName) => void): (() => void) | undefined {
  return whatOf(field) === JSON_WHAT.object ? () => add(field.type as StructName) : undefined;
}

const setOf = ({ set }: Field): JsonRow => (set === undefined ? {} : { set: bits.valid[set] });

function addLeaf(rows: JsonRows, { name, field, unless }: Leaf): void {
  const bytes = unless === undefined ? 0 : sizeOf(unless.field.type);
  const left: JsonRow =
    (unless && {
      unlessAt: unless.field.offset,
      unlessBytes: bytes,
      unless: (unless.value >>> 0) % 2 ** (8 * bytes),
    }) ||
    {};
  rows.add(
    name,
    field,
    { what: whatOf(field), ...setOf(field), ...left },
    fieldsOf(field, of => rows.addStruct(of)),
  );
}

/** Adds what readers see of a field of a report. */
function addShown(rows: JsonRows, { name, field, counter, inUse, leaves }: ShownField): void {
  const row: JsonRow = { what: name === BOOT_ID ? JSON_WHAT.id : whatOf(field), ...setOf(field) };
  if (counter !== undefined) {
    row.used = counter.offset;
    row.usedSet = setOf(counter).set ?? JSON_NONE;
  }
  if (inUse !== undefined) {
    row.unlessAt = inUse.offset + (field.count === 0 ? field.offset : 0);
    row.unlessBytes = 1;
  }
  const addLeaves = () => {
    for (const leaf of leaves ?? []) addLeaf(rows, leaf);
  };
  rows.add(name, field, row, leaves && addLeaves);
}

let printer: { readonly of: JsonPrinter; readonly page: Page; readonly view: DataView } | undefined;

function printerOf(page: Page, view: DataView): JsonPrinter {
  if (printer?.page !== page || printer.view !== view) printer = { of: new JsonPrinter(page.bytes, view), page, view };
  return printer.of;
}

/** Writes by a table; what it leaves is written as `json` of `slow`. */
function tablePut(table: JsonTable, slow: (view: DataView, base: number) => unknown): PutStruct {
  return (page, view, base) => {
    const bytes = printerOf(page, view).struct(table, page.length, base);
    if (bytes < 0) page.part(Buffer.from(json(slow(view, base))));
    else page.length += bytes;
  };
}

/**
 * Writes fields of a record under these keys as members of an object that is being written, and its address as text.
 * Returns false, and writes nothing, if one of them has to be written otherwise.
 */
export function membersPut(
  members: readonly (readonly [key: string, field: FieldName<'record'>])[],
): (page: Page, view: DataView, base: number) => boolean {
  const rows = new JsonRows();
  for (const [key, name] of members) {
    const field: Field = structs.record.fields[name];
    if (name === 'address') rows.add(key, { ...field, count: 0 }, { what: JSON_WHAT.address });
    else rows.add(key, field, { what: whatOf(field) });
  }
  const table = rows.table(JSON_NONE);
  return (page, view, base) => {
    const begin = page.length;
    const bytes = printerOf(page, view).struct(table, begin, base);
    if (bytes < 0) return false;
    // `{…}` becomes `,…`.
    page.bytes[begin] = COMMA;
    page.length += bytes > 2 ? bytes - 1 : 0;
    return true;
  };
}

const ofStructs = new Map<StructName, PutStruct>();

/** Writes every field of a struct, whether it was measured or not. */
export function structPut(struct: StructName): PutStruct {
  let put = ofStructs.get(struct);
  if (put === undefined) {
    const rows = new JsonRows();
    rows.addStruct(struct);
    put = tablePut(rows.table(JSON_NONE), (view, base) => decode(struct, view, base));
    ofStructs.set(struct, put);
  }
  return put;
}

const BOOT_ID = 'boot_id' satisfies keyof typeof structs.report.fields;

const HEX_DIGITS = Buffer.from('0123456789abcdef');
const ID_AT = structs.report.fields[BOOT_ID].offset;
const ID_LAST = ID_AT + sizeOf(structs.report.fields[BOOT_ID].type) - 1;

/** An id as JSON has it: 16 hexadecimal digits. */
export const putBootId: PutStruct = (page, view, base) => {
  page.bytes[page.length++] = QUOTE;
  for (let at = base + ID_LAST; at >= base + ID_AT; at--) {
    const byte = view.getUint8(at);
    page.bytes[page.length++] = HEX_DIGITS[byte >> 4] as number;
    page.bytes[page.length++] = HEX_DIGITS[byte & 15] as number;
  }
  page.bytes[page.length++] = QUOTE;
};

/** A report as readers see it, with `boot_id` in the form of ids in JSON. */
function shownReport(view: DataView, base: number): object {
  const report = decodeReport(view, base);
  return { ...report, [BOOT_ID]: report[BOOT_ID].toString(16).padStart(16, '0') };
}

let reportPut: PutStruct | undefined;

function makeReportPut(): PutStruct {
  const rows = new JsonRows();
  for (const field of shownFields()) addShown(rows, field);
  return tablePut(rows.table(structs.report.fields.valid.offset), shownReport);
}

/** Writes a report as `decodeReport` returns it, with `boot_id` in the form of ids in JSON. */
export const putReport: PutStruct = (page, view, base) => {
  reportPut ??= makeReportPut();
  reportPut(page, view, base);
};

/** Writes what `rates` returns for two reports, after this key; nothing if there are no rates. */
export function putRates(
  page: Page,
  key: PreparedText,
  view: DataView,
  before: number | undefined,
  after: number | undefined,
): void {
  if (before === undefined || after === undefined) return;
  const begin = page.length;
  page.prepared(key);
  const bytes = printerOf(page, view).rates(page.length, before, after);
  if (bytes === 0) page.length = begin;
  else if (bytes < 0) page.part(Buffer.from(json(rates(view, before, after))));
  else page.length += bytes;
}
