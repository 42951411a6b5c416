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
  // Only texts hold such characters: between them JSON has none.
  return JSON.stringify(plain(value)).replace(UNSEEN, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** A value of which JSON.stringify makes what `json` says by itself: asked about every value it takes several times as long. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return Number.isInteger(value) ? value : Math.round(value * 1000) / 1000;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  const made: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value)) made[key] = plain((value as Record<string, unknown>)[key]);
  return made;
}
