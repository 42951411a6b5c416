// JSON that is written into a page, piece by piece, with the same bytes as `json`: a board of 10,000 nodes is some 40 MB
// of it. Knows nothing of the contents.

import { type Page, PreparedText } from './buffer.js';
import { json } from './output.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const BACKSLASH = 0x5c;

/** The text before the value of a key that is not the first. */
export const keyPart = (name: string): PreparedText => new PreparedText(`,${json(name)}:`);

/** A text as JSON. Nearly every text is printable ASCII, which JSON keeps as it is. */
export function putText(page: Page, text: string): void {
  const { bytes } = page;
  let at = page.length;
  bytes[at++] = QUOTE;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // JSON or a terminal needs it escaped, or it has more than one byte.
    if (code < 0x20 || code > 0x7e || code === QUOTE || code === BACKSLASH) {
      page.part(Buffer.from(json(text)));
      return;
    }
    bytes[at++] = code;
  }
  bytes[at++] = QUOTE;
  page.length = at;
}

/** A number that may have a fraction. */
export function putNumber(page: Page, value: number): void {
  if (Math.abs(value) < 1e12 || Number.isSafeInteger(value)) page.short(value, 3);
  else page.text(json(value));
}

/** Puts what was written since `begin` between brackets. Each part begins with a comma; the first becomes the bracket. */
function close(page: Page, begin: number, opening: number, closing: number): void {
  if (page.length === begin) page.length++;
  page.bytes[begin] = opening;
  page.bytes[page.length++] = closing;
}

/** Makes an object of the keys and values since `begin`. */
export function closeObject(page: Page, begin: number): void {
  close(page, begin, OPEN, CLOSE);
}

/** A key with its value, behind others; nothing if the value is undefined. */
export function putKeyed(page: Page, key: PreparedText, value: unknown): void {
  if (value === undefined) return;
  page.prepared(key);
  putJson(page, value);
}

const keys = new Map<string, PreparedText>();

/** The same, for names of fields, which are few. */
export function keyOf(name: string): PreparedText {
  let key = keys.get(name);
  if (key === undefined) {
    key = keyPart(name);
    keys.set(name, key);
  }
  return key;
}

/** A value whose objects have only names of fields as keys. */
export function putJson(page: Page, value: unknown): void {
  if (typeof value === 'number') putNumber(page, value);
  else if (typeof value === 'string') putText(page, value);
  else if (typeof value === 'bigint') putText(page, value.toString());
  else if (Array.isArray(value)) {
    const begin = page.length;
    for (const element of value) {
      page.bytes[page.length++] = COMMA;
      putJson(page, element);
    }
    close(page, begin, OPEN_LIST, CLOSE_LIST);
  } else if (typeof value === 'object' && value !== null) {
    const begin = page.length;
    for (const name in value) putKeyed(page, keyOf(name), (value as Record<string, unknown>)[name]);
    closeObject(page, begin);
  } else page.text(json(value ?? null));
}

/** A member of an object, and how it is read from the struct that begins at `base`; undefined: there is none. */
interface ObjectMember {
  readonly name: string;
  readonly get: (view: DataView, base: number) => unknown;
  /** Of an object at an offset of the struct: its members, which are written without making it. */
  readonly inner?: { readonly offset: number; readonly fields: readonly ObjectMember[] } | undefined;
}

/** What writes an object of these members from the bytes of a struct. */
export function objectPut(members: readonly ObjectMember[]): (page: Page, view: DataView, base: number) => void {
  const parts = members.map(({ name, get, inner }) => ({
    key: keyPart(name),
    // More than half of all numbers are 0.
    zero: new PreparedText(`,${json(name)}:0`),
    get,
    inner: inner && { offset: inner.offset, put: objectPut(inner.fields) },
  }));
  return (page, view, base) => {
    const begin = page.length;
    for (let i = 0; i < parts.length; i++) {
      const { key, zero, get, inner } = parts[i] as (typeof parts)[number];
      if (inner !== undefined) {
        page.prepared(key);
        inner.put(page, view, base + inner.offset);
        continue;
      }
      const value = get(view, base);
      if (value === 0) page.prepared(zero);
      else putKeyed(page, key, value);
    }
    closeObject(page, begin);
  };
}
