// What is in C builds without Node.js, with a compiler and what stands beside it, and nothing else.
// @seconds 6

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { folder, ROOT } from '../kit/places.js';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** All that a PATH has to hold: a shell, make, a compiler, of binutils what that calls, of coreutils what Makefiles do, sed. */
const NEEDED = 'sh make cc as ld ar objcopy install ln mkdir mv rm sed'.split(' ');
const BARE = folder(t);
for (const program of NEEDED) {
  const { stdout } = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' });
  symlinkSync(stdout.trim(), join(BARE, program));
}

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
    /node: not found[^]*awk: not found/,
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
    ['verbs', 'beoboard-check'],
    ['verbs', 'beoboard-nodes'],
  ] as const)
    t.strictSame(
      bare(join(out, room, program), '--version'),
      { status: 0, stdout: `${version}\n`, stderr: '' },
      program,
    );
  t.ok(existsSync(join(out, 'libbeoboard.a')), 'the library');
  t.equal(make('-q', `OUT=${out}`, 'CFLAGS=-O0').status, 0, 'all of it is made');

  const to = join(out, 'to');
  t.equal(make('-s', 'install', `OUT=${out}`, 'CFLAGS=-O0', `DESTDIR=${to}`, 'PREFIX=/usr').status, 0);
  t.match(
    readFileSync(join(to, 'usr/lib/pkgconfig/beoboard.pc'), 'utf8'),
    /^Version: 1\.0\.0$/m,
    'install: the library',
  );
});

t.test('make -C c help names the goals', async t => {
  const { stdout } = make('-s', 'help');
  for (const goal of ['', ' check', ' install', ' addon']) t.match(stdout, new RegExp(`^  make -C c${goal} `, 'm'));
});
