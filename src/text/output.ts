// Writing to stdout as fast as its reader takes it, and our form of JSON. Knows nothing of the contents.

import { StringDecoder } from 'node:string_decoder';
import { speaksAscii } from './ascii.js';
import { isInForeground } from './foreground.js';
import { oneLine, UNSEEN } from './text.js';

const PIECE = 1 << 16;

/** Writes to stdout, and waits until the bytes are sent, so that they may be overwritten. */
function write(piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(piece, error => {
      // The stream reports its error by an event, which ends most programs (process.ts) and comes first.
      if (error) setImmediate(() => reject(error));
      else resolve();
    });
  });
}

/** Our own colours, line ends and tabs, and whatever else would control a terminal. */
const COLOUR = /(\x1b\[[\d;]*m|(?:\r?\n|\t)+)/;

/**
 * Pieces for a terminal. Formats such as Prometheus' hold texts of others as they are, which programs want; on a
 * terminal what would control it is written out. Bytes have no colours of ours.
 */
export function* visible(pieces: Iterable<string | Uint8Array>): Generator<string> {
  const decoder = new StringDecoder('utf8');
  for (const piece of pieces) {
    const ours = typeof piece === 'string' ? COLOUR : /((?:\r?\n|\t)+)/;
    const text = typeof piece === 'string' ? piece : decoder.write(Buffer.from(piece));
    yield text
      .split(ours)
      .map((part, i) => (i % 2 === 1 ? part : oneLine(part)))
      .join('');
  }
  yield oneLine(decoder.end());
}

/** Writes pieces to stdout as fast as it takes them; short texts are gathered into larger ones. */
export async function print(all: Iterable<string | Uint8Array>): Promise<void> {
  const pieces = process.stdout.isTTY ? visible(all) : all;
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    if (text !== '' && (typeof piece !== 'string' || text.length >= PIECE)) {
      await write(text);
      text = '';
    }
    if (typeof piece !== 'string') await write(piece);
  }
  if (text !== '') await write(text);
}

/** The columns of the terminal, as many as lines are made for, 40 to 1000; `otherwise`: it is not known. */
export function terminalWidth(otherwise = 80): number {
  const { columns = Number(process.env.COLUMNS) } = process.stdout;
  return Number.isInteger(columns) && columns > 0 ? Math.min(Math.max(columns, 40), 1000) : otherwise;
}

/** Whether stdout is a terminal whose lines can be drawn again, and by us. */
export const hasScreen = () => process.stdout.isTTY === true && process.env.TERM !== 'dumb' && isInForeground();

/** JSON: bigints as decimal strings, numbers with at most three decimals, control characters escaped. */
export function json(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'bigint') return inner.toString();
    return typeof inner === 'number' && !Number.isInteger(inner) ? Math.round(inner * 1000) / 1000 : inner;
  });
  return escaped(text);
}

const NOT_ASCII = /[\x7f-\u{10ffff}]/gu;

/** JSON, in which what controls a terminal, or the locale has not, is an ASCII escape: only strings have any. */
export function escaped(text: string): string {
  return text.replace(speaksAscii() ? NOT_ASCII : UNSEEN, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
