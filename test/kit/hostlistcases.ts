// The meaning of host lists as tables, for the parser in TypeScript and the one in C. No test of its own.

/** Names, and the list that they are folded to. */
export const FOLDED: readonly (readonly [names: string, list: string])[] = [
  ['', ''],
  ['n2 n1 n1', 'n[1-2]'],
  ['n3 n1 n7', 'n[1,3,7]'],
  ['n098 n099 n100 n101', 'n[098-101]'],
  ['n99 n100 n099', 'n[99,099-100]'],
  ['n08 n9 n10 n09 n8', 'n[8-9,08-10]'],
  ['n0 n00 n1', 'n[0-1,00]'],
  ['1 2 3', '1,2,3'],
  ['10.0.0.1 10.0.0.2', '10.0.0.[1-2]'],
  ['rack2n1 rack10n1 rack10n2 rack1n1', 'rack1n1,rack2n1,rack10n[1-2]'],
  ['n1-ib0 n1-ib1 n2-ib', 'n1-ib[0-1],n2-ib'],
  [`n${'0'.repeat(30)}1 n${'0'.repeat(30)}2`, `n${'0'.repeat(16)}[${'0'.repeat(14)}1-${'0'.repeat(14)}2]`],
];

/** In natural order. */
export const IN_ORDER = ['a', 'a1', 'a1b', 'a01', 'a2', 'a10', 'a10b2', 'a10b11', 'ab', 'b'];

/** A list, and its names in order. */
export const EXPANDED: readonly (readonly [list: string, names: string])[] = [
  ['node[8-11]', 'node8 node9 node10 node11'],
  ['b,a,b,c,a', 'b a c'],
  ['n[3,1-4]', 'n3 n1 n2 n4'],
  ['n1,n[1-2],n01', 'n1 n2 n01'],
  ['r[1-2]n[1-2]', 'r1n1 r1n2 r2n1 r2n2'],
  ['n[00-02]', 'n00 n01 n02'],
  ['n[0-2,010]', 'n0 n1 n2 n010'],
  ['[1-2]n', '1n 2n'],
  ['n[1][2]', 'n12'],
  ['gpu-[1-2].ib_0', 'gpu-1.ib_0 gpu-2.ib_0'],
  [`n${'0'.repeat(62)}`, `n${'0'.repeat(62)}`],
];

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
