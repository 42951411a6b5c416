// Makes strings and numbers that gmetad survives. It sanitises and never escapes; it refuses to know what they mean.
//
// Escaping would be right XML and still wrong: gmetad decodes entities and sends the values on raw, so one `&amp;` from
// one node breaks the page of the whole cluster. Names become directories and files of gmetad's: a slash in a
// cluster's name ends gmetad, so names are held to much less than XML allows.

import type { Page } from '../text/buffer.js';

/** Names of clusters, hosts and metrics may be as long as those of nodes. */
export const NAME_MAX = 63;

/**
 * gmetad keeps all strings of one METRIC (value, type, units, name, extras), of one HOST (IP, LOCATION, TAGS) or of one
 * CLUSTER (OWNER, LATLONG, URL) in 1,572 bytes together. Three values of this length and the texts of our longest
 * metric (about 200 bytes) stay below that.
 */
export const VALUE_MAX = 255;

/** What Ganglia writes where nothing is set. */
export const UNSPECIFIED = 'unspecified';

const UNDERSCORE = 0x5f;

/** The replacement of each byte: itself, an underscore, or nothing (0). */
function table(kept: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    if (kept.test(String.fromCharCode(byte))) return byte;
    // A UTF-8 character becomes one underscore, in the place of its first byte.
    return byte >= 0x80 && byte < 0xc0 ? 0 : UNDERSCORE;
  });
}

const KEPT = { name: table(/[A-Za-z0-9._-]/), value: table(/(?![&<>"'])[ -~]/) };
const MOST = { name: NAME_MAX, value: VALUE_MAX };
/** The characters that a name may begin with. */
const LETTER_OR_DIGIT = /[A-Za-z0-9]/;
const FIRST = Uint8Array.from({ length: 256 }, (_, byte) => Number(LETTER_OR_DIGIT.test(String.fromCharCode(byte))));

/**
 * Writes UTF-8 text of at most `bytes` bytes, up to its first NUL, so that gmetad stores and sends it on unharmed; where
 * it ends in `to`. A `value` keeps printable ASCII without & < > " '. A `name` keeps letters, digits, dot, dash and
 * underscore, and begins with a letter or digit, so that it is neither a hidden file, nor `..`, nor gmetad's own
 * `__SummaryInfo__`. What is not kept becomes an underscore, one for each character. Of a name nothing may be left.
 */
function putSafe(
  to: Uint8Array,
  at: number,
  from: Uint8Array,
  start: number,
  bytes: number,
  as: 'name' | 'value',
): number {
  // `KEPT[as]` would look a property up by its name for each text, which takes longer than the rest.
  const isName = as === 'name';
  const kept = isName ? KEPT.name : KEPT.value;
  const most = at + (isName ? NAME_MAX : VALUE_MAX);
  let end = at;
  for (let i = start; i < start + bytes && end < most; i++) {
    const byte = from[i] as number;
    if (byte === 0) break;
    const put = kept[byte] as number;
    if (put === 0 || (end === at && isName && FIRST[put] === 0)) continue;
    to[end++] = put;
  }
  return end;
}

/** Writes such text to a page; returns how many bytes were left of it. */
export function safeOn(page: Page, from: Uint8Array, start: number, bytes: number, as: 'name' | 'value'): number {
  const begin = page.length;
  page.length = putSafe(page.bytes, begin, from, start, bytes, as);
  return page.length - begin;
}

/** The same for a string; a name of which nothing is left becomes `unspecified`. */
export function safe(text: string, as: 'name' | 'value'): string {
  // The text is cut first, so that a long one costs no more than a short one. NUL does not end our strings.
  const bytes = Buffer.from(text.slice(0, 4 * MOST[as]).replaceAll('\0', '_'));
  const room = new Uint8Array(MOST[as]);
  const end = putSafe(room, 0, bytes, 0, bytes.length, as);
  const left = Buffer.from(room.buffer, 0, end).toString('latin1');
  return left === '' && as === 'name' ? UNSPECIFIED : left;
}
