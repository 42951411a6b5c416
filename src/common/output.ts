// Writing to stdout as fast as its reader takes it, and our form of JSON. Knows nothing of the contents.

import { UNSEEN } from './text.js';

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

/** Writes pieces to stdout as fast as it takes them; short texts are gathered into larger ones. */
export async function print(pieces: Iterable<string | Uint8Array>): Promise<void> {
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

/** Whether stdout is a terminal whose lines can be drawn again. */
export const hasScreen = () => process.stdout.isTTY === true && process.env.TERM !== 'dumb';

/**
 * JSON: bigints as decimal strings, numbers with at most three decimals, and characters that control a terminal as
 * ASCII escapes.
 */
export function json(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'bigint') return inner.toString();
    return typeof inner === 'number' && !Number.isInteger(inner) ? Math.round(inner * 1000) / 1000 : inner;
  });
  // Only strings contain such characters; the rest of JSON has none.
  return text.replace(UNSEEN, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
