// The C core under the sanitizers, with another compiler, and as an aarch64 program: writer and readers at full speed,
// with corrupt datagrams in between; and the receiver's thread beside one that makes requests.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { folder, ROOT } from '../kit/places.js';

const SEED = process.env.SEED ?? '1';
t.comment(`seed ${SEED}`);

const has = (program: string) => spawnSync(program, ['--version']).error === undefined;

interface Build {
  what: string;
  compiler: string;
  cflags: string;
  ldflags?: string;
  /** The emulator for programs of another processor. */
  under?: string;
  rounds: number;
  packages: string;
}

const builds: Build[] = [
  {
    what: 'gcc, address and undefined behaviour',
    compiler: 'gcc',
    cflags: '-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all',
    rounds: 20_000,
    packages: 'gcc',
  },
  // -Wno-tsan: gcc warns that TSan does not model fences. Every shared word is atomic, so no verdict depends on them.
  {
    what: 'gcc, threads',
    compiler: 'gcc',
    cflags: '-O1 -g -fsanitize=thread -Wno-tsan',
    rounds: 5000,
    packages: 'gcc',
  },
  { what: 'clang', compiler: 'clang', cflags: '-O2', rounds: 20_000, packages: 'clang' },
  {
    what: 'gcc for aarch64, run by qemu',
    compiler: 'aarch64-linux-gnu-gcc',
    cflags: '-O2',
    ldflags: '-static',
    under: 'qemu-aarch64',
    rounds: 2000,
    packages: 'gcc-aarch64-linux-gnu qemu-user',
  },
];

for (const { what, compiler, cflags, ldflags = '', under, rounds, packages } of builds) {
  const missing = [compiler, under].filter(program => program !== undefined && !has(program));
  const skip = missing.length > 0 && !process.env.CI && `${missing.join(', ')} missing: apt-get install ${packages}`;
  t.test(what, { skip }, async t => {
    const out = folder(t);
    const make = [
      '-s',
      '-C',
      join(ROOT, 'c'),
      'stress',
      `OUT=${out}`,
      `CC=${compiler}`,
      `CFLAGS=${cflags}`,
      `LDFLAGS=${ldflags}`,
    ];
    const built = spawnSync('make', make, { encoding: 'utf8' });
    t.equal(built.status, 0, built.stderr);
    const command = [
      ...(under === undefined ? [] : [under]),
      join(out, 'stress'),
      join(out, 'board'),
      String(rounds),
      SEED,
    ];
    const { status, stdout, stderr } = spawnSync(command[0] ?? '', command.slice(1), { encoding: 'utf8' });
    t.equal(status, 0, `${stdout}${stderr}`);
    t.match(stdout, /^\d+ reports and \d+ spoiled ones, 0 faults\n$/);
    t.equal(stderr, '');
  });
}

for (const { what, compiler, cflags } of builds.filter(build => build.cflags.includes('-fsanitize')))
  t.test(`the receiver: ${what}`, async t => {
    const out = folder(t);
    const make = ['-s', '-j2', '-C', join(ROOT, 'c'), 'drain', `OUT=${out}`, `CC=${compiler}`, `CFLAGS=${cflags}`];
    const built = spawnSync('make', make, { encoding: 'utf8' });
    t.equal(built.status, 0, built.stderr);
    const { status, stdout, stderr } = spawnSync(join(out, 'drain'), [join(out, 'place', 'board'), '2000', SEED], {
      encoding: 'utf8',
    });
    t.equal(status, 0, `${stdout}${stderr}`);
    t.match(stdout, /^8000 sent, [1-9]\d* received, [1-9]\d* accepted, \d+ dropped\n$/);
    t.equal(stderr, '');
  });
