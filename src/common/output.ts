// Writing to stdout: as fast as that reads, and JSON of our kind. Knows nothing of what is written.

import { UNSEEN } from './text.js';

const PIECE = 1 << 16;

/** Writes what stdout takes, and waits until it is on its way: bytes may be overwritten then. */
function write(piece: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(piece, error => {
      // The stream tells of its error itself, and that ends most programs (process.ts): it goes first.
      if (error) setImmediate(() => reject(error));
      else resolve();
    });
  });
}

/** Writes pieces to stdout, texts gathered into larger ones, as fast as it takes them. */
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

/** JSON: bigint as decimal strings, numbers with at most three decimals, and in ASCII whatever steers a terminal. */
export function json(value: unknown): string {
  const text = JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'bigint') return inner.toString();
    return typeof inner === 'number' && !Number.isInteger(inner) ? Math.round(inner * 1000) / 1000 : inner;
  });
  // Only texts hold such characters: between them JSON has none.
  return text.replace(UNSEEN, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
