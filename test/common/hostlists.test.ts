// Host lists: what Slurm, pdsh and ClusterShell agree on is expanded; what they would expand to unintended names is
// refused.
//
// @whole

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { BOARD_MOST, compareNames, expand, fold, NodesetError, parseNodeName } from '../../src/text/hostlists.js';
import { readNodes } from '../../src/text/nodefiles.js';
import { anyText } from '../kit/anytext.js';
import { EXPANDED, FOLDED, IN_ORDER, REFUSED } from '../kit/hostlistcases.js';
import { runsOf, WHOLE } from '../kit/whole.js';

interface Vectors {
  accept: { expr: string; hosts: string[] }[];
  reject: { expr: string }[];
  fold: { hosts: string[]; slurm: string }[];
}
// Seen from dist/test/, where this file runs.
const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../test/vectors/hostlists.json', import.meta.url), 'utf8'),
);

/** The message of what `run` throws; fails the test for anything but `type`. */
function refusal(run: () => unknown, type: new (...args: never[]) => Error = NodesetError): string {
  try {
    return `taken: ${JSON.stringify(run())}`;
  } catch (error) {
    if (error instanceof type) return error.message;
    throw error;
  }
}

t.test('what other tools agree on is expanded', async t => {
  for (const { expr, hosts } of vectors.accept) t.same(expand(expr, BOARD_MOST).sort(), [...hosts].sort(), expr);
});

t.test('what other tools disagree on is refused', async t => {
  for (const { expr } of vectors.reject) t.throws(() => expand(expr, BOARD_MOST), NodesetError, JSON.stringify(expr));
});

t.test('names are folded as Slurm folds them', async t => {
  for (const { hosts, slurm } of vectors.fold) {
    t.equal(fold(hosts), slurm);
    t.equal(fold([...hosts].reverse()), slurm, 'whatever their order');
  }
  for (const [names, list] of FOLDED) t.equal(fold(names.split(' ').filter(Boolean)), list);
  const many = Array.from({ length: 40_000 }, (_, i) => `n${i}`);
  t.equal(fold(many), 'n[0-16383,16384-32767,32768-39999]', 'no range is longer than pdsh takes');
});

t.test('names in natural order', async t => {
  t.same([...IN_ORDER].reverse().sort(compareNames), IN_ORDER);
});

t.test('order of first appearance, each name once', async t => {
  for (const [list, names] of EXPANDED) t.same(expand(list, BOARD_MOST), names.split(' '), list);
});

t.test('refusals say where and what to write', async t => {
  for (const [list, column, says] of REFUSED) {
    t.equal(
      refusal(() => expand(list, BOARD_MOST)),
      `host list, column ${column}: ${says}`,
      JSON.stringify(list),
    );
  }
});

t.test('a refusal costs no more than the text', async t => {
  const before = process.memoryUsage.rss();
  t.throws(
    () => expand(`${'n[1-999999],'.repeat(2)}x`, BOARD_MOST),
    NodesetError,
    'the second entry is over, the first is not made',
  );
  t.throws(() => expand(`n${'[1-999999999999999]'.repeat(4)}`, BOARD_MOST), NodesetError);
  t.throws(() => expand(`n[${'1,'.repeat(1_100_000)}1]`, BOARD_MOST), NodesetError, 'many short ranges');
  t.throws(() => expand('['.repeat(1_000_000), BOARD_MOST), NodesetError);
  t.throws(() => expand('n'.repeat(10_000_000), BOARD_MOST), NodesetError);
  t.ok(process.memoryUsage.rss() - before < 1 << 30);
  if (WHOLE) t.equal(expand('n[1-1000000]', BOARD_MOST).length, 1_000_000, 'the limit itself is taken');
  t.equal(expand('n[1-3]', 3).length, 3);
  t.throws(() => expand('n[1-3],n1', 3), NodesetError, 'doubles count');
});

t.test('node names', async t => {
  for (const name of ['n', '0', 'node1', '10.0.0.1', 'a_b-c.d', 'n'.repeat(63)]) t.equal(parseNodeName(name), name);
  const rule = '1 to 63 of a-z 0-9 . _ - that begin with a letter or digit';
  const table: [name: string, instead: string][] = [
    ['Node1', 'node1'],
    ['', rule],
    ['-n', rule],
    ['n 1', rule],
    ['n\n', rule],
    ['N 1', rule],
    ['n'.repeat(64), rule],
  ];
  for (const [name, instead] of table) {
    t.ok(
      refusal(() => parseNodeName(name), Error).endsWith(`is not a node name; write ${instead}`),
      JSON.stringify(name),
    );
  }
});

t.test('lists from files', async t => {
  const folder = t.testdir({
    good: '\uFEFF# the rack\r\nnode[1-2]  # two of them\r\n\r\n  login1,node2\nnode3',
    bad: 'node1\n\n  node[1-x]\n',
    empty: '# nothing\n\n',
    many: 'n[1-600000]\nm[1-600000]\n',
  });
  const file = (name: string) => join(folder, name);
  t.same(readNodes(`@${file('good')}`), ['node1', 'node2', 'login1', 'node3']);
  t.same(readNodes('a[1-2]'), ['a1', 'a2'], 'a list stays a list');
  const table: [value: string, message: string][] = [
    [`@${file('bad')}`, `${file('bad')}:3, column 8: '1-x' is not a range of numbers; write digits, as in node[1-3]`],
    [`@${file('many')}`, `${file('many')}:2, column 1: too many names; at most 1000000 are allowed; shorten the range`],
    ['@', "'@' names no file; write @FILE or a list"],
    ['@/no/such', "cannot read '/no/such': no such file or directory; name a file that this user can read"],
  ];
  // A million names are made before the one that is too many.
  for (const [value, message] of WHOLE ? table : table.filter(([value]) => value !== `@${file('many')}`))
    t.equal(
      refusal(() => readNodes(value), Error),
      message,
    );
  t.match(
    refusal(() => readNodes(`@${file('empty')}`), Error),
    /holds no names; write a list on each line$/,
  );
  writeFileSync(file('bad'), Buffer.from([0x6e, 0xff, 0x0a]));
  t.match(
    refusal(() => readNodes(`@${file('bad')}`)),
    /:1, column 2: '\ufffd' is not allowed here/,
    'bytes that are no UTF-8',
  );
});

t.test('properties', async t => {
  const seed = Number(process.env.BEOBOARD_SEED ?? 8677);
  t.comment(`seed ${seed}; another by BEOBOARD_SEED`);
  const runs = { seed, numRuns: runsOf(2_000) };

  const soup = fc.string({ unit: fc.constantFrom(...'nN01239[[]],,--.!&^@{}/* \n\u0000é😀'), maxLength: 24 });
  fc.assert(
    fc.property(fc.oneof(soup, anyText()), list => {
      try {
        for (const name of expand(list, 10_000)) parseNodeName(name);
      } catch (error) {
        if (!(error instanceof NodesetError)) throw error;
        if (error.column < 1 || error.column > list.length + 1)
          throw new Error(`column ${error.column} of ${list.length}`);
        if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(error.message)) throw new Error('more than one line');
      }
    }),
    runs,
  );
  t.pass('any text is expanded to node names or refused by a NodesetError of one line');

  // A list is made together with its expansion, by code that shares nothing with the parser.
  interface Piece {
    text: string;
    means: string[];
  }
  const times = (a: string[], b: string[]) => a.flatMap(left => b.map(right => left + right));
  const literal: fc.Arbitrary<Piece> = fc
    .string({ unit: fc.constantFrom(...'az09._-'), minLength: 1, maxLength: 4 })
    .map(text => ({ text, means: [text] }));
  const range: fc.Arbitrary<Piece> = fc
    .record({ first: fc.nat(1200), more: fc.nat(4), padding: fc.nat(3), alone: fc.boolean() })
    .map(({ first, more, padding, alone }) => {
      const last = alone ? first : first + more;
      const width = padding === 0 ? 0 : String(last).length + padding - 1;
      const means: string[] = [];
      for (let number = first; number <= last; number++) means.push(String(number).padStart(width, '0'));
      return { text: alone ? means[0]! : `${means[0]}-${means.at(-1)}`, means };
    });
  const bracket: fc.Arbitrary<Piece> = fc.array(range, { minLength: 1, maxLength: 3 }).map(ranges => ({
    text: `[${ranges.map(({ text }) => text).join(',')}]`,
    means: ranges.flatMap(({ means }) => means),
  }));
  const pattern: fc.Arbitrary<Piece> = fc.array(fc.oneof(literal, bracket), { maxLength: 4 }).map(pieces =>
    pieces.reduce((all, { text, means }) => ({ text: all.text + text, means: times(all.means, means) }), {
      text: 'n',
      means: ['n'],
    }),
  );
  fc.assert(
    fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), patterns => {
      const list = patterns.map(({ text }) => text).join(',');
      const expected = [...new Set(patterns.flatMap(({ means }) => means))];
      if (JSON.stringify(expand(list, BOARD_MOST)) !== JSON.stringify(expected)) throw new Error(list);
    }),
    runs,
  );
  t.pass('a list that was built from its meaning expands to it');

  // Names with common prefixes and with numbers of several widths, as in a cluster with two generations of nodes.
  const number = fc
    .tuple(fc.nat(130), fc.integer({ min: 1, max: 4 }))
    .map(([n, width]) => String(n).padStart(width, '0'));
  const name = fc.tuple(fc.constantFrom('n', 'r1n', 'r01-n', '7', 'x.'), number, fc.constantFrom('', '', '-ib', 'b3'));
  const names = fc.array(
    name.map(parts => parts.join('')),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(names, some => {
      const list = fold(some);
      const wanted = [...new Set(some)].sort();
      if (JSON.stringify((list === '' ? [] : expand(list, BOARD_MOST)).sort()) !== JSON.stringify(wanted))
        throw new Error(list);
      if (/\][^,]/.test(list)) throw new Error(`${list}: something follows a bracket`);
      if (fold([...some].reverse()) !== list) throw new Error('the order of the names changes the list');
      if (fold(expand(list || 'n', BOARD_MOST)) !== (list || 'n')) throw new Error('folded again it is another');
    }),
    runs,
  );
  t.pass('what is folded expands to the same names, and brackets end the name');
});
