// Words of the contract that hold several numbers, for boards that tests make. No test of its own.

import type { WordFields, WordName } from '../../src/layout/codec.js';
import { words } from '../../src/layout/layout.gen.js';

/** A word with these numbers, each cut to its bits. */
export function packWord<W extends WordName>(name: W, numbers: Record<WordFields<W>, bigint | number>): bigint {
  const fields = Object.entries<{ shift: number; bits: number }>(words[name]);
  return fields.reduce(
    (word, [field, { shift, bits }]) =>
      word | (BigInt.asUintN(bits, BigInt(numbers[field as WordFields<W>])) << BigInt(shift)),
    0n,
  );
}
