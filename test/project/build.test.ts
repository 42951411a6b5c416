// A build without changes prints nothing and runs no compiler; after any change, in a source or in a result, it does.
// One that is interrupted ends its compilers, and leaves nothing half made.
// In a copy of this clone, in which every compiler is a trap.
//
// @rest

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { folder, ROOT } from '../kit/places.js';
import { until } from '../kit/until.js';

t.test('a second build', async t => {
  const dir = folder(t);
  // Copied with exact times, to the nanosecond: the build compares them.
  const parts = ['src', 'proto', 'test', 'bench', 'scripts', 'c', 'dist', 'build'].filter(name =>
    existsSync(join(ROOT, name)),
  );
  const files = ['package.json', 'package-lock.json', 'tsconfig.json'];
  const copied = spawnSync('cp', ['-a', ...[...parts, ...files].map(name => join(ROOT, name)), dir]);
  t.equal(copied.status, 0, `${copied.stderr}`);

  const trap = (name: string) => `${name} was run`;
  const modules = join(dir, 'node_modules');
  mkdirSync(modules);
  for (const name of ['.package-lock.json', ...readdirSync(join(ROOT, 'node_modules'))])
    if (!['esbuild', '.package-lock.json'].includes(name))
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  spawnSync('cp', ['-a', join(ROOT, 'node_modules', '.package-lock.json'), modules]);
  mkdirSync(join(modules, 'esbuild'));
  writeFileSync(
    join(modules, 'esbuild', 'index.js'),
    `exports.stop = () => {}; exports.build = () => { throw Error('${trap('esbuild')}'); };`,
  );
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  for (const name of ['cc', 'gcc', 'c++', 'g++']) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho '${trap('cc')}' >&2\nexit 1\n`);
    chmodSync(join(bin, name), 0o755);
  }

  const build = () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(dir, 'scripts', 'build.mjs'), '--modules'], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    });
    return { status, said: stdout + stderr };
  };
  t.same(build(), { status: 0, said: '' }, 'with nothing changed');

  const runs = (what: string, by: string) => {
    const { status, said } = build();
    t.equal(status, 1, what);
    t.match(said, by, what);
  };
  const now = new Date();
  utimesSync(join(dir, 'c', 'board', 'reader.c'), now, now);
  runs('a source in C is newer', trap('cc'));
  utimesSync(join(dir, 'c', 'board', 'reader.c'), 0, 0);
  t.same(build(), { status: 0, said: '' }, 'as before');
  writeFileSync(join(dir, 'src', 'cli', 'more.ts'), '');
  runs('a source in TypeScript is new', trap('esbuild'));
  rmSync(join(dir, 'src', 'cli', 'more.ts'));
  t.same(build(), { status: 0, said: '' }, 'as before');
  for (const path of [join('src', 'cli', 'status.js'), join('bin', 'beoboard.cjs')]) {
    renameSync(join(dir, 'dist', path), join(dir, 'away'));
    runs(`what was made is gone: ${path}`, trap('esbuild'));
    renameSync(join(dir, 'away'), join(dir, 'dist', path));
    t.same(build(), { status: 0, said: '' }, 'as before');
  }

  // A compiler that has written half of its result, and goes on for as long as one likes.
  const [half, compiling] = [join(dir, 'build', 'board', 'reader.o'), join(dir, 'compiling')];
  const slow = `#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho half >"$2"\necho $$ >'${compiling}'\nexec sleep 1000\n`;
  for (const name of ['cc', 'gcc']) writeFileSync(join(bin, name), slow);
  for (const [what, whom, signal] of [
    ['Ctrl-C', -1, 'SIGINT'],
    ['SIGTERM', 1, 'SIGTERM'],
    ['a terminal that is closed', -1, 'SIGHUP'],
  ] as const) {
    const now = new Date();
    utimesSync(join(dir, 'c', 'board', 'reader.c'), now, now);
    const run = spawn(process.execPath, [join(dir, 'scripts', 'build.mjs')], {
      detached: true,
      stdio: 'ignore',
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    });
    const ended = once(run, 'close');
    const told = () => (existsSync(compiling) ? readFileSync(compiling, 'utf8') : '');
    const compiler = Number(await until('it compiles', () => told().endsWith('\n') && told()));
    process.kill(whom * (run.pid as number), signal);
    t.same(await ended, [null, signal], what);
    t.throws(() => process.kill(compiler, 0), { code: 'ESRCH' }, `${what}: the compiler has ended`);
    t.notOk(existsSync(half), `${what}: nothing half made is left`);
    rmSync(compiling);
  }
});
