// Writing to stdout: as fast as that reads, and JSON of our kind. Knows nothing of what is written.

import { once } from 'node:events';
import { UNSEEN } from './text.js';

const PIECE = 1 << 16;

/** Writes pieces to stdout, gathered into larger ones, and waits where it does not keep up. */
export async function print(pieces: Iterable<string>): Promise<void> {
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < PIECE) continue;
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    text = '';
  }
  if (text !== '') process.stdout.write(text);
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
