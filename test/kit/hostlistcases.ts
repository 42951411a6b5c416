// The meaning of host lists as tables, for the parser in TypeScript and the one in C, most of which are those of the unit
// test in C. No test of its own.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './places.js';

const UNIT = readFileSync(join(ROOT, 'c/test/unit/hostsunit.c'), 'utf8');

/** A table of c/test/unit/hostsunit.c, which the unit test holds the C code to: the texts of each row. */
function table(name: string): string[][] {
  const [, rows] = new RegExp(`\\b${name}\\[\\] = \\{(.*?)\\};$`, 'ms').exec(UNIT) ?? [];
  if (rows === undefined) throw new Error(`no table ${name}`);
  return rows.split(/\},.*\n/).map(row => [...row.matchAll(/"(.*?)"/g)].map(([, text = '']) => text));
}
const pairs = (name: string) =>
  table(name).flatMap(([a, b]) => (a === undefined || b === undefined ? [] : [[a, b] as const]));

/** Names, and the list that they are folded to. */
export const FOLDED = [['', ''] as const, ...pairs('folds')];

/** In natural order. */
export const IN_ORDER = table('in_order').flat();

/** A list, and its names in order. */
export const EXPANDED = pairs('lists');

/** A list that is refused, the column of the error, and its text. */
export const REFUSED: readonly (readonly [list: string, column: number, says: string])[] = [
  ['', 1, 'it is empty; write names, as in node[1-3],login1'],
  ['a,,b', 3, 'an empty name; leave out the extra comma'],
  ['a,', 3, 'an empty name; leave out the extra comma'],
  [',a', 1, 'an empty name; leave out the extra comma'],
  ['n[3-1]', 3, "'3-1' runs backwards; write 1-3"],
  ['n[1,010-002]', 5, "'010-002' runs backwards; write 002-010"],
  ['n[0-0001]', 3, "'0-0001' is padded unevenly; write 0000-0001 or 0-1"],
  ['n[08-100]', 3, "'08-100' is padded unevenly; write 008-100 or 8-100"],
  ['n[a-c]', 3, "'a-c' is not a range of numbers; write digits, as in node[1-3]"],
  ['n[1-3', 2, 'a [ without its ]; write node[1-3]'],
  ['n[1-3,m[4]', 2, 'a [ without its ]; write node[1-3]'],
  ['node1-3]', 8, "']' is not allowed here; there is no [ before it; write node[1-3]"],
  ['n[]', 3, 'an empty range; write numbers, as in node[1-3,7]'],
  ['n[1,]', 5, 'an empty range; write numbers, as in node[1-3,7]'],
  ['n[-3]', 3, "'-3' is not a range; write FIRST-LAST, as in node[1-3]"],
  ['n[1-2-3]', 3, "'1-2-3' is not a range; write FIRST-LAST, as in node[1-3]"],
  ['n[0-10/2]', 7, 'a step in a range; list the numbers, as in node[0,2,4]'],
  ['n[ 1-3 ]', 3, 'a blank; separate names by a comma only'],
  ['n1, n2', 4, 'a blank; separate names by a comma only'],
  ['n1 n2', 3, 'a blank; separate names by a comma only'],
  ['a[1-9]!a3', 7, "'!' is not allowed here; set operations are not supported; write the names"],
  [
    '@gpu',
    1,
    "'@' is not allowed here; groups are not supported; write their names, or only @FILE with a list on each line",
  ],
  ['n{1,2}', 2, "'{' is not allowed here; write brackets, as in node[1,2]"],
  ['node*', 5, "'*' is not allowed here; wildcards are not supported; write a range, as in node[1-3]"],
  ['n1\u001b[31m', 3, "'\\u{1b}' is not allowed here; names are made of a-z 0-9 . _ -"],
  ['nöd', 2, "'ö' is not allowed here; names are made of a-z 0-9 . _ -"],
  ['n1,Node2', 4, "upper-case 'N'; names are lower case; write 'n'"],
  ['n1,-n2', 4, "a name that begins with '-'; begin with a letter or digit"],
  ['n1,._', 4, "a name that begins with '.'; begin with a letter or digit"],
  ['n[1-9999999999999999]', 3, 'a number that is too long; at most 15 digits can be counted'],
  [`a,n${'0'.repeat(63)}`, 3, 'a name that is too long; names have at most 63 characters'],
  [`n${'[9-10]'.repeat(32)}`, 1, 'a name that is too long; names have at most 63 characters'],
  ['n[1-999999999]', 1, 'too many names; at most 1000000 are allowed; shorten the range'],
  ['n[1-1000000000000]', 1, 'too many names; at most 1000000 are allowed; shorten the range'],
  ['a,n[1-1000][1-1000]', 3, 'too many names; at most 1000000 are allowed; shorten the range'],
];
