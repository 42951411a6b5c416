// C files by other compilers than those that some test of `npm test` runs, without a warning.
//
// @seconds 11
// @rest

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lacks } from '../kit/lacking.js';
import { folder, ROOT } from '../kit/places.js';
import { todayOf } from '../kit/whole.js';

const C = join(ROOT, 'c');
const FLAGS = ['-std=c11', '-D_GNU_SOURCE', '-DBEOBOARD_VERSION="0"', '-Wall', '-Wextra', '-Wpedantic', '-Werror'];

for (const [command, packages, folders] of [
  // What of clang, or of aarch64, neither gcc nor x86-64 has.
  [
    'clang --target=aarch64-linux-gnu',
    'clang libc6-dev-arm64-cross',
    [
      ...['addon', 'base', 'board', 'collect', 'format', 'gate', 'gpu', 'judge', 'lib', 'mon', 'receive', 'relay'],
      ...['rules', 'sensor', 'verbs'],
    ],
  ],
  ['musl-gcc', 'musl-tools', ['gate', 'sensor']],
] as const) {
  const [compiler, ...target] = command.split(' ') as [string, ...string[]];
  t.test(command, { skip: lacks(packages, compiler) }, async t => {
    const sources = todayOf(folders, folders.length > 2 ? 3 : 1).flatMap(folder =>
      readdirSync(join(C, folder)).flatMap(name => (name.endsWith('.c') ? [join(folder, name)] : [])),
    );
    t.ok(sources.length > 2, `${sources.length} files`);
    const { status, stderr } = spawnSync(compiler, [...target, '-fsyntax-only', ...FLAGS, ...sources], {
      cwd: C,
      encoding: 'utf8',
    });
    t.strictSame([status, stderr], [0, '']);
  });
}

// Only an optimiser that looks for faults follows sizes so far: `make -C c/test/fuzz` compiles like this.
t.test('gcc -O2 with sanitizers', { skip: lacks('gcc', 'gcc') }, async t => {
  const rules = join(C, 'rules');
  const sources = readdirSync(rules).flatMap(name => (name.endsWith('.c') ? [join(rules, name)] : []));
  t.ok(sources.length > 2, `${sources.length} files`);
  const flags = [...FLAGS, '-DBB_INVARIANTS', '-O2', '-g', '-fsanitize=address,undefined', '-c'];
  const { status, stderr } = spawnSync('gcc', [...flags, ...sources], { cwd: folder(t), encoding: 'utf8' });
  t.strictSame([status, stderr], [0, '']);
});
