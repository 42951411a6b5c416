// In a locale that has only ASCII the program writes nothing else, whatever the verb: characters of nodes as escapes; and
// JSON means the same.

import t from 'tap';
import { bits } from '../../src/layout/layout.gen.js';
import { VERBS } from '../../src/options/verbs.js';
import { asAscii, isAscii } from '../../src/text/ascii.js';
import { keepAlive } from '../kit/heart.js';
import { verbChild } from '../kit/verbchild.js';
import { writtenBoard } from '../kit/writtenboard.js';

const ask = verbChild(t);
const ASCII = { ...process.env, LC_ALL: 'C', COLUMNS: '60' };
const UTF8 = { ...ASCII, LC_ALL: 'C.UTF-8' };
/** Characters that are not ASCII. */
const OTHERS = /[^\0-\x7f]/;

t.test('every verb in a locale with nothing else', async t => {
  const valid = Object.values<number>(bits.valid).reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
  const report = { valid, temp_hottest_dc: 815, os_release: '6.1-zürich', flags: 1 << bits.flags.root_readonly };
  // Every second of them, so that a list of names is too long for a line.
  const names = Array.from({ length: 40 }, (_, i) => `very-long-name-of-a-node-${2 * i + 1}-in-its-rack`);
  const nodes = Object.fromEntries(
    names.map((name, i) => [
      name,
      // The others stay live, however long the test takes.
      (ago: number) => (i < 3 ? { ...report, interval_ms: 600_000 } : ago < 40 ? undefined : report),
    ]),
  );
  const { path } = writtenBoard(t, nodes, 60);
  keepAlive(t, path);
  const board = ['--board', path];
  const lines = [
    ...Object.keys(VERBS).map(verb => [verb, '--help']),
    ['send', '--nonesuch', 'x'.repeat(200)],
    ...['status', 'check', 'nodes', 'dump', 'describe', 'jobs'].map(verb => [
      verb,
      ...(verb === 'describe' ? [] : board),
    ]),
    ...[['-l'], ['-x'], ['--by', '/^very-long-name-of-a-node-[0-9]/'], ['--csv']].map(more => [
      'status',
      ...board,
      ...more,
    ]),
    ...['temp', 'temp_hottest_dc', 'mem_huge_total_mib', 'x'.repeat(200)].map(name => ['describe', name]),
    ['show', ...board, names[0] as string],
    ['status', ...board, '--where', 'gpu.util > 1'],
    ['nodeset', '--count', 'x'.repeat(2000)],
    ['x'.repeat(200)],
  ];
  let changed = 0;
  for (const line of lines) {
    const plain = await ask(line, ASCII);
    const said = plain.stdout + plain.stderr;
    t.equal(OTHERS.exec(said)?.[0], undefined, line.join(' ').slice(0, 80));
    if (line[1] === '--help') continue;
    const rich = await ask(line, UTF8);
    t.equal(plain.code, rich.code);
    if (OTHERS.test(rich.stdout.replaceAll('zürich', '') + rich.stderr)) changed++;
  }
  t.ok(changed >= 6, `${changed} of them have others elsewhere`);
  t.match((await ask(['show', ...board, names[0] as string], ASCII)).stdout, /z\\u\{fc\}rich[\s\S]*81\.5 C\b/);
  for (const line of [
    ['describe', '--json'],
    ['show', ...board, '--json', names[0] as string],
  ]) {
    const [plain, rich] = [await ask(line, ASCII), await ask(line, UTF8)];
    t.notMatch(plain.stdout, OTHERS);
    t.match(plain.stdout, /\\u00(b0|fc)/);
    const without = (text: string) =>
      JSON.stringify(JSON.parse(text), (key, value) => (/_ms$|^age/.test(key) ? 0 : value));
    t.equal(without(plain.stdout), without(rich.stdout), 'the same JSON');
  }
});

t.test('which locales have nothing else', async t => {
  for (const env of [{ LANG: 'C' }, { LC_ALL: 'POSIX', LANG: 'de_DE.UTF-8' }, { LC_CTYPE: 'en_US.US-ASCII' }])
    t.ok(isAscii(env), JSON.stringify(env));
  for (const env of [{}, { LANG: 'C.UTF-8' }, { LC_ALL: 'en_US.utf8', LANG: 'C' }, { LC_ALL: '', LANG: 'cs_CZ.UTF-8' }])
    t.notOk(isAscii(env), JSON.stringify(env));
});

t.test('columns stay below each other', async t => {
  t.equal(asAscii('1/10 °C  air\n°C       hot, at 3 °C'), '1/10 C   air\nC        hot, at 3 C');
  t.equal(asAscii('rack…7n ▁▄█ Zürich 7°'), 'rack+7n .=# Z\\u{fc}rich 7\\u{b0}');
});
