// Host lists in C (c/base): as Slurm folds them, and compared with those in TypeScript for random names. Its tables are
// in c/test/unit/hostsunit.c; cli/shortverbs tests what it refuses.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { expand, fold } from '../../src/text/hostlists.js';
import { compileTargets, FOLDS, tellAll } from '../kit/fuzzing.js';
import { ROOT } from '../kit/places.js';

const SEED = Number(process.env.SEED ?? 8677);
t.comment(`SEED=${SEED}`);
const program = join(compileTargets(['gatefiles']), 'gatefiles');

const expanded = (lists: readonly string[]) =>
  tellAll(
    program,
    lists.map(list => Buffer.from(`\0${list}`)),
  );
const folded = (names: readonly (readonly string[])[]) =>
  tellAll(
    program,
    names.map(some => Buffer.from(String.fromCharCode(FOLDS) + some.join(' '))),
  );

t.test('what is folded', async t => {
  const vectors = JSON.parse(readFileSync(join(ROOT, 'test', 'vectors', 'hostlists.json'), 'utf8')) as {
    fold: { hosts: string[]; slurm: string }[];
  };
  const rows = [
    ...vectors.fold.map(({ hosts, slurm }) => [hosts, slurm] as const),
    [Array.from({ length: 40_000 }, (_, i) => `n${i}`), 'n[0-16383,16384-32767,32768-39999]'] as const,
  ];
  const told = folded(rows.map(([names]) => names.slice(0, 9000)));
  const backwards = folded(rows.map(([names]) => names.slice(0, 9000).reverse()));
  rows.forEach(([names, list], i) => {
    // The C program of this test accepts 64 KiB of input at most; 13 tests the short verbs with longer lists.
    const wanted = names.length > 9000 ? fold(names.slice(0, 9000)) : list;
    t.equal(told[i], wanted, names.slice(0, 5).join(' '));
    t.equal(backwards[i], wanted, 'whatever their order');
  });
});

t.test('random names', async t => {
  // Prefixes that are names themselves, numbers of several widths, numbers that no integer type holds, and suffixes.
  const number = fc
    .tuple(fc.nat(130), fc.integer({ min: 1, max: 4 }))
    .map(([n, width]) => String(n).padStart(width, '0'));
  const digits = fc.string({ unit: fc.constantFrom(...'0019'), minLength: 1, maxLength: 20 });
  const beginning = fc.constantFrom('n', 'r1n', 'r01-n', '7', 'x.', 'N', 'n1e', '');
  const name = fc
    .tuple(beginning, fc.oneof({ arbitrary: number, weight: 4 }, digits), fc.constantFrom('', '', '', '-ib', 'b3', '.'))
    .map(parts => parts.join(''))
    .filter(name => /^[A-Za-z0-9]/.test(name));
  const sets = fc.sample(fc.array(name, { maxLength: 60 }), { seed: SEED, numRuns: 3000 });
  const told = folded(sets);
  const differ = sets.flatMap((names, i) => (told[i] === fold(names) ? [] : [[names, told[i], fold(names)]]));
  t.strictSame(differ.slice(0, 2), [], 'they fold as in TypeScript');
  const lists = told.filter(list => list !== '');
  const back = expanded(lists);
  const wrong = lists.filter((list, i) => back[i] !== expand(list, 3000, 'any').join(' '));
  t.strictSame(wrong.slice(0, 2), [], 'and expand as there');
  t.ok(lists.some(list => list.includes('[')) && lists.length > 2000);
});
