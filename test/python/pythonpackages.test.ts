// The packages of the Python module: a deb in a Debian with nothing else of ours, what an rpm has, wheel and sdist.
//
// @seconds 7
// @rest
// @days 3

import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { freshRoot, noFreshRoot } from '../kit/freshroot.js';
import { lacks } from '../kit/lacking.js';
import { folder, ROOT } from '../kit/places.js';
import { makeBoard } from '../kit/stateboard.js';

t.setTimeout(600_000);
const own = folder(t); // shared memory may forbid programs
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const MODULE = ['__init__', '_abi', '_board', '_hosts', '_library', '_record'].map(name => `${name}.py`);
const FILES = [...MODULE, 'py.typed'];

function run(command: string, ...args: string[]) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', cwd: own });
  return { status, stdout, said: `${stdout}${stderr}${error ?? ''}` };
}

/** Makes packages in a new folder, with that umask; their names. */
function make(name: string, umask: string, ...words: string[]): { folder: string; names: string[] } {
  const folder = join(own, name);
  const argv = [process.execPath, join(ROOT, 'scripts', 'package.mjs'), ...words, '--out', folder];
  const { status, said } = run('sh', '-c', `umask ${umask}; exec "$@"`, 'sh', ...argv);
  t.equal(status, 0, said);
  return { folder, names: readdirSync(folder).filter(name => name !== 'packages.json') };
}

const noDeb = noFreshRoot('gcc python3', 'gcc', 'py3compile');

t.test('a deb, in a Debian with nothing else of ours', { skip: noDeb }, async t => {
  const { folder, names } = make(
    'debs',
    '077',
    'deb',
    run('dpkg', '--print-architecture').stdout.trim(),
    'python3-beoboard',
    'libbeoboard1',
  );
  t.equal(names.length, 2, names.join(' '));
  const system = join(own, 'system');
  mkdirSync(system);
  freshRoot(system, ['python3']);
  cpSync(folder, join(system, 'debs'), { recursive: true });
  const { path } = makeBoard(t, { live: ['n001', 'n002'] });
  copyFileSync(path, join(system, 'board'));
  const within = (...argv: string[]) => run('chroot', system, ...argv);
  const install = () => within('dpkg', '-i', ...names.map(name => `/debs/${name}`));
  for (const again of ['it is installed', 'once more over itself']) t.match(install(), { status: 0 }, again);
  const at = 'usr/lib/python3/dist-packages/beoboard';
  t.same(readdirSync(join(system, at)).sort(), [...FILES, '__pycache__'].sort());
  t.equal(readdirSync(join(system, at, '__pycache__')).length, MODULE.length, 'compiled, as Debian does');
  const asks = 'import beoboard; print(beoboard.__version__, beoboard.open("/board").names())';
  t.match(within('python3', '-W', 'error', '-c', asks), { status: 0, stdout: `${version} ['n001', 'n002']\n` });
  t.match(within('beoboard-inventory', '--list', '--board', '/nowhere'), {
    status: 4,
    said: 'beoboard-inventory: /nowhere: no such board or node: is the receiver running, and the name right?\n',
  });
  t.ok(existsSync(join(system, 'usr/share/man/man1/beoboard-inventory.1.gz')));
  t.match(within('dpkg', '-r', '--force-depends', 'libbeoboard1'), { status: 0 });
  t.match(
    within('python3', '-c', asks).said,
    /LibraryError: libbeoboard\.so\.1 cannot be loaded .*; install libbeoboard1/,
  );
  t.match(within('dpkg', '-P', 'python3-beoboard', 'libbeoboard1'), { status: 0 });
  t.equal(run('find', system, '-name', '*beoboard*', '-not', '-path', '*/debs/*').stdout, '', 'a purge takes all');
});

t.test('an rpm, for EL 9', { skip: lacks('rpm', 'rpmbuild') }, async t => {
  const { folder, names } = make('rpms', '022', 'rpm', 'amd64', 'python3-beoboard');
  t.same(names, [`python3-beoboard-${version}-1.noarch.rpm`]);
  const ask = (...argv: string[]) => run('rpm', '-qp', '--nosignature', ...argv, join(folder, names[0] ?? '')).stdout;
  for (const file of FILES) t.match(ask('-l'), `/usr/lib/python3.9/site-packages/beoboard/${file}\n`, file);
  for (const file of ['bin/beoboard-inventory', 'share/man/man1/beoboard-inventory.1.gz'])
    t.match(ask('-l'), `/usr/${file}\n`);
  t.match(ask('--requires'), new RegExp(`^libbeoboard >= ${version}$`, 'm'));
  t.match(ask('--requires'), /^python\(abi\) = 3\.9$/m);
});

const noBuild =
  !existsSync('/usr/lib/python3/dist-packages/build/__main__.py') &&
  !process.env.CI &&
  'python3-build missing: apt-get install python3-build python3-setuptools python3-wheel';
t.test('wheel and sdist: the same bytes whoever makes them', { skip: noBuild }, async t => {
  const { folder, names } = make('one', '022', 'python');
  const wheel = `beoboard-${version}-py3-none-any.whl`;
  const sdist = `beoboard-${version}.tar.gz`;
  t.same(names.sort(), [wheel, sdist]);
  const other = make('two', '077', 'python');
  for (const name of names)
    t.ok(readFileSync(join(folder, name)).equals(readFileSync(join(other.folder, name))), `${name}: the same bytes`);
  t.match(run('/usr/bin/python3', '-m', 'zipfile', '-e', join(folder, wheel), join(own, 'wheel')), { status: 0 });
  const info = join(own, 'wheel', `beoboard-${version}.dist-info`);
  t.match(readFileSync(join(info, 'METADATA'), 'utf8'), /^Requires-Python: >=3\.9$/m);
  t.match(readFileSync(join(info, 'METADATA'), 'utf8'), new RegExp(`^Version: ${version}$`, 'm'));
  for (const file of FILES)
    t.equal(
      readFileSync(join(own, 'wheel', 'beoboard', file), 'utf8'),
      readFileSync(join(ROOT, 'python', 'beoboard', file), 'utf8'),
      file,
    );
  t.match(run('tar', '-tf', join(folder, sdist)).stdout, /\/pyproject\.toml\n/);
});
