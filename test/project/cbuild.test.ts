// What is in C builds without Node.js, and its unit tests run, with a compiler and what stands beside it, and nothing
// else. In a copy with a mistake, the unit tests find it.
// @seconds 33
// @rest

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { folder, ROOT } from '../kit/places.js';
import { todayOf } from '../kit/whole.js';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** All that a PATH has to hold: a shell, make, a compiler, what that calls of binutils, and some of coreutils, sed. */
const NEEDED = 'sh make cc as ld ar objcopy install ln mkdir mv rm sed'.split(' ');
const BARE = folder(t);
const placeOf = (program: string) =>
  spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();
for (const program of NEEDED) symlinkSync(placeOf(program), join(BARE, program));

/** In an environment of nothing but that PATH. */
const bare = (command: string, ...args: string[]) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: BARE },
  });
  return { status, stdout, stderr: stderr + (error ?? '') };
};
const make = (...args: string[]) => bare('make', '-C', 'c', ...args);

t.test('without Node.js', async t => {
  const out = folder(t);
  t.match(
    bare('sh', '-c', 'node --version || awk 1').stderr,
    /node: not found[\s\S]*awk: not found/,
    'that PATH has neither',
  );
  // Compiled to be there, not to be fast.
  const made = make('-s', `OUT=${out}`, 'CFLAGS=-O0');
  t.strictSame(made, { status: 0, stdout: '', stderr: '' });
  for (const [room, program] of [
    ['gate', 'beoboard-gate'],
    ['gpu', 'beoboard-gpu'],
    ['mon', 'beoboard-mon'],
    ['sender', 'beoboard-send'],
    ['sensor', 'beoboard-sensor'],
    ['verbs', 'beoboard-check'],
    ['verbs', 'beoboard-nodes'],
  ] as const)
    t.strictSame(
      bare(join(out, room, program), '--version'),
      { status: 0, stdout: `${version}\n`, stderr: '' },
      program,
    );
  // Whatever is on a board, a library does not end its caller's process.
  const symbols = spawnSync('nm', [join(out, 'libbeoboard.a')], { encoding: 'utf8' });
  t.match(symbols.stdout, / T beoboard_open$/m, 'the library');
  t.notMatch(symbols.stdout, / (abort|exit|_exit|bb_invariant_failed)$/m, 'it ends no process');
  t.equal(make('-q', `OUT=${out}`, 'CFLAGS=-O0').status, 0, 'all of it is made');
  // By its path alone, a program is made again when it is out of date.
  const one = join(out, 'verbs', 'beoboard-nodes');
  rmSync(join(out, 'verbs', 'census.o'));
  const asked = ['-n', '-C', 'c/verbs', `OUT=${join(out, 'verbs')}`, 'CFLAGS=-O0', one];
  t.match(bare('make', ...asked).stdout, / -c census\.c /);

  const to = join(out, 'to');
  t.equal(make('-s', 'install', `OUT=${out}`, 'CFLAGS=-O0', `DESTDIR=${to}`, 'PREFIX=/usr').status, 0);
  t.match(
    readFileSync(join(to, 'usr/lib/pkgconfig/beoboard.pc'), 'utf8'),
    new RegExp(`^Version: ${version}$`, 'm'),
    'install: the library',
  );
});

/** The unit tests, as they are compiled here; later runs of this test compile what has changed. */
const UNITS = join(ROOT, 'build', 'test', 'units');
mkdirSync(UNITS, { recursive: true });
const NAMES = readdirSync(join(ROOT, 'c', 'test', 'unit'))
  .filter(name => name.endsWith('unit.c'))
  .map(name => name.slice(0, -'.c'.length))
  .sort();

for (const [what, ...words] of [['as they are'], ['with sanitizers', 'SAN=1']] as [string, ...string[]][])
  t.test(`make -C c check: ${what}`, async t => {
    const flock = placeOf('flock');
    const { status, stdout, stderr } = bare(flock, UNITS, 'make', '-s', '-C', 'c', 'check', `OUT=${UNITS}`, ...words);
    t.equal(stderr, '');
    t.equal(status, 0);
    const counts = [...stdout.matchAll(/^(\w+): (\d+) passed, 0 failed$/gm)];
    t.strictSame(
      counts.map(([, name]) => name),
      NAMES,
    );
    for (const [line, , passed] of counts) t.ok(Number(passed) >= 5, line);
    t.comment(stdout);
  });

/** A unit, a folder of c/, a text that one file there has once, and what stands in its place by mistake. */
type Mistake = [unit: string, room: string, from: string, to: string, says?: RegExp];

const CHECK = /^test\/unit\/\w+\.c:\d+: .*: does not hold: /m;
const INVARIANT = /^beoboard has a bug: at rules\/order\.c:\d+ this does not hold: .*; please report it$/m;
const SANITIZER = /AddressSanitizer/;

const MISTAKES: Mistake[] = [
  ['hosts', 'base', 'write_number(to, part->number, part->range.width)', 'write_number(to, part->number, 0)'],
  ['keys', 'rules', 'if (alg < least) return', 'if (alg > least) return'],
  ['keys', 'base', 'hmac->outer, block', 'hmac->inner, block'],
  ['liveness', 'judge', 'from_to(stamp, by->heartbeat_ns) > patience', 'from_to(stamp, by->heartbeat_ns) >= patience'],
  ['options', 'base', 'portion->share <= PARTS_OF_NODE', 'portion->share < PARTS_OF_NODE'],
  ['order', 'rules', 'if (back >= HISTORY)', 'if (back > HISTORY)'],
  ['order', 'rules', 'o->stamp_ns = j->stamp.ns;', '', INVARIANT],
  ['rates', 'judge', 'return to < from ? NAN', 'return to <= from ? NAN'],
  ['text', 'base', 'value > UINT32_MAX ? UINT32_MAX : (uint32_t)value', '(uint32_t)value'],
  // What only a sanitizer sees: a byte behind the end.
  ['text', 'base', 'words->room - 1 - words->len', 'words->room - words->len', SANITIZER],
  ['validate', 'format', 'value <= range->most', 'value < range->most'],
  ['writer', 'board', 'bb_add(&r->lost, judgement.lost);', ''],
  // An expectation that is wrong.
  ['validate', 'test/unit', '"the shortest interval", AT(interval_ms), 100', '"…", AT(interval_ms), 98'],
];

t.test('a mistake is found', async t => {
  const to = folder(t);
  const room = (name: string) => join(to, 'c', name);
  cpSync(join(ROOT, 'c'), join(to, 'c'), { recursive: true, preserveTimestamps: true });
  cpSync(UNITS, join(to, 'out'), { recursive: true, preserveTimestamps: true });
  for (const [unit, folder, from, wrong, says = CHECK] of todayOf(MISTAKES, 3)) {
    const files = readdirSync(room(folder)).map(name => join(room(folder), name));
    const found = files.filter(file => readFileSync(file, 'utf8').includes(from));
    t.equal(found.length, 1, `one file in ${folder} has: ${from}`);
    const file = found[0] ?? '';
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.replace(from, wrong));
    // For a header; its users know it by another path.
    const user = join(room('test/unit'), `${unit}unit.c`);
    if (user !== file) writeFileSync(user, readFileSync(user));
    const words = [`UNITS=${unit}`, `OUT=${join(to, 'out')}`, says === SANITIZER ? 'SAN=1' : 'SAN='];
    const { status, stdout, stderr } = bare('make', '-s', '-C', join(to, 'c'), 'check', ...words);
    t.match(stderr, says, `${unit}: ${from} → ${wrong}`);
    t.notMatch(stdout, / 0 failed$/m);
    t.not(status, 0);
    writeFileSync(file, before);
  }
});

t.test('make -C c help names the goals', async t => {
  const { stdout } = make('-s', 'help');
  for (const goal of ['', ' check', ' install', ' addon']) t.match(stdout, new RegExp(`^  make -C c${goal} `, 'm'));
});
