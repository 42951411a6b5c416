// Texts of any characters, for properties. No test of its own.

import fc, { type StringConstraints } from 'fast-check';

/** Half surrogates, which are no characters. */
const [FIRST, LAST, MOST] = [0xd800, 0xdfff, 0x10ffff];
const HALVES = LAST - FIRST + 1;

const character = fc.nat(MOST - HALVES).map(
  number => String.fromCodePoint(number < FIRST ? number : number + HALVES),
  text => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (point === undefined || text !== String.fromCodePoint(point)) throw new Error('not one character');
    return point < FIRST ? point : point - HALVES;
  },
);

/** As fc.string({ unit: 'binary' }), which first makes a table of all characters: a second of CPU in each process. */
export const anyText = (constraints: Omit<StringConstraints, 'unit'> = {}) =>
  fc.string({ ...constraints, unit: character });
