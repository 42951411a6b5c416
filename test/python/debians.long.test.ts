// The packages of the Python module where they are installed: the tests of python.test.ts by the oldest Python that it is
// for, that of Debian 11, and by the one of Debian 13, with its mypy.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { must } from '../kit/children.js';
import { lacks } from '../kit/lacking.js';
import { ROOT } from '../kit/places.js';
import { debian, diskFolder, within } from '../packages/virtual.js';

t.setTimeout(1_800_000);
const missing = lacks('mmdebstrap', 'mmdebstrap') || (process.getuid?.() !== 0 && 'needs root, to chroot');

const SYSTEMS: readonly [suite: string, python: string, ...packages: string[]][] = [
  ['bullseye', '3.9', 'python3', 'python3-pytest'],
  ['trixie', '3.13', 'python3', 'python3-pytest', 'mypy'],
];

const own = diskFolder(t);
const debs = join(own, 'debs');
if (!missing) {
  const words = ['deb', must('dpkg', ['--print-architecture']).trim(), 'python3-beoboard', 'libbeoboard1'];
  must(process.execPath, [join(ROOT, 'scripts', 'package.mjs'), ...words, '--out', debs]);
}

for (const [suite, python, ...packages] of SYSTEMS)
  t.test(`Debian ${suite}, Python ${python}`, { skip: missing }, async t => {
    const root = debian(join(own, suite), suite, packages);
    cpSync(debs, join(root, 'debs'), { recursive: true });
    const files = readdirSync(debs).filter(name => name.endsWith('.deb'));
    t.match(within(root, 'dpkg', '-i', ...files.map(name => `/debs/${name}`)), { status: 0 });
    t.match(within(root, 'python3', '--version').stdout, `Python ${python}.`);
    // Its Python, which sees the boards and the sources of the test.
    mkdirSync(join(root, ROOT), { recursive: true });
    mkdirSync(join(root, 'dev', 'shm'), { recursive: true });
    const bind = [ROOT, '/dev/shm', '/proc'].map(path => `mount --bind '${path}' '${root}${path}'`);
    const script = [...bind, `exec chroot '${root}' /usr/bin/python3 "$@"`].join(' && ');
    const other = join(own, `${suite}.sh`);
    writeFileSync(other, `#!/bin/sh\nexec unshare --mount sh -c '${script.replaceAll("'", `'\\''`)}' sh "$@"\n`, {
      mode: 0o755,
    });
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'dist/test/python/python.test.js')], {
      encoding: 'utf8',
      env: { ...process.env, BEOBOARD_TEST_PYTHON: other, TAP_TIMEOUT: '600' },
    });
    t.equal(status, 0, stdout);
    t.match(stdout, /\d\d passed/);
    if (packages.includes('mypy')) t.match(stdout, /no issues found/);
  });
