// All packages from a clean clone, twice and to the byte; installed into the systems that they are for; the prebuilt addon on old systems,
// other processors and other versions of Node.js. A systemd that runs is in packagesbooted.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import { ROOT } from '../lib.js';
import { debian, diskFolder, must, within } from '../virtual.js';

t.setTimeout(7_200_000);

const own = diskFolder(t);
const git = (...argv: string[]) => must('git', argv, { cwd: ROOT }).trim();
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const clone = (folder: string) => {
  must('git', ['clone', '--quiet', ROOT, folder]);
  return folder;
};
const first = clone(join(own, 'first'));
const made = join(first, 'build', 'packages');
/** Those whose name fits, with their paths. */
const those = (pattern: RegExp) => {
  const found = readdirSync(made).filter(name => pattern.test(name));
  if (found.length === 0) throw new Error(`no package fits ${pattern}`);
  return found.map(name => join(made, name));
};
const debs = (...names: string[]) => names.flatMap(name => those(new RegExp(`^${name}_.*_(all|amd64)\\.deb$`)));

/** Installs packages by apt as an administrator would; nothing is started, since no systemd runs. */
function install(root: string, files: string[]) {
  mkdirSync(join(root, 'debs'), { recursive: true });
  for (const file of files) cpSync(file, join(root, 'debs', basename(file)));
  return within(
    root,
    'apt-get',
    'install',
    '-y',
    '--no-install-recommends',
    ...files.map(file => `/debs/${basename(file)}`),
  );
}
const update = (root: string) => within(root, 'apt-get', 'update', '-qq');

t.test('a clean clone makes all packages, and another one the same', async t => {
  const began = performance.now();
  must('npm', ['run', 'package'], { cwd: first });
  t.comment(`npm run package: ${((performance.now() - began) / 1000).toFixed(0)} s in a clean clone`);
  const names = readdirSync(made).sort();
  t.comment(names.join(' '));
  t.equal(names.filter(name => name.endsWith('.deb')).length, 13);
  t.equal(names.filter(name => name.endsWith('.rpm')).length, 13);
  for (const name of names) t.comment(`${name}: ${(statSync(join(made, name)).size / 1024).toFixed(0)} KiB`);

  // In another folder, by another user, in another time zone, five hours later.
  const STRANGER = 1234;
  const other = join(own, 'elsewhere');
  mkdirSync(other);
  const second = clone(join(other, 'second'));
  cpSync(join(first, 'node_modules'), join(second, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
  });
  must('touch', [join(second, 'node_modules', '.package-lock.json')]);
  must('chown', ['-R', String(STRANGER), other]);
  must('chmod', ['755', own]);
  must(
    'setpriv',
    [`--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups', 'faketime', '-f', '+5h', 'npm', 'run', 'package'],
    {
      cwd: second,
      env: { ...process.env, HOME: other, TZ: 'Asia/Tokyo' },
    },
  );
  const hashes = (folder: string) =>
    Object.fromEntries(
      readdirSync(folder).map(name => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
    );
  t.same(hashes(join(second, 'build', 'packages')), hashes(made));
  const record = JSON.parse(readFileSync(join(made, 'packages.json'), 'utf8')) as Record<string, unknown>;
  t.match(record, { version, commit: git('rev-parse', 'HEAD'), modified: false });
  const bill = JSON.parse(readFileSync(those(/\.cdx\.json$/)[0] as string, 'utf8')) as {
    bomFormat: string;
    components: unknown[];
  };
  t.equal(bill.bomFormat, 'CycloneDX');
  t.equal(bill.components.length, 19, 'all packages that npm installs with it');
});

t.test('lintian has no word against them but what is listed', async t => {
  const { stdout } = spawnSync('lintian', ['--tag-display-limit', '0', ...those(/\.deb$/)], { encoding: 'utf8' });
  t.same(
    stdout.split('\n').filter(line => /^[EW]:/.test(line)),
    [],
  );
});

t.test('Debian 12: all but beoboard from Debian alone', async t => {
  const root = debian(join(own, 'bookworm'), 'bookworm', []);
  update(root);
  const { status, stderr } = install(
    root,
    debs(
      'beoboard-common',
      'beoboard-send',
      'beoboard-gate',
      'beoboard-mon',
      'beoboard-gpu',
      'libbeoboard1',
      'libbeoboard-dev',
    ),
  );
  t.equal(status, 0, stderr);
  t.equal(within(root, 'beoboard-send', '--version').stdout, `${version}\n`);
  t.equal(within(root, 'beoboard-gate', '--version').status, 0);
  t.equal(within(root, 'beoboard-mon', '--version').status, 0);
  t.equal(within(root, 'beoboard-gpu', '--version').status, 0);
  const refused = install(root, debs('beoboard'));
  t.not(refused.status, 0, 'its Node.js is 18');
  t.match(refused.stdout + refused.stderr, /Depends: nodejs \(>= 20\)/);

  // For this test alone: Node.js of npm as if it were Debian's.
  const packed = nodeFrom(t, 'x64', 22);
  const fake = join(own, 'nodejs');
  mkdirSync(join(fake, 'DEBIAN'), { recursive: true });
  mkdirSync(join(fake, 'usr', 'bin'), { recursive: true });
  cpSync(packed, join(fake, 'usr', 'bin', 'node'));
  writeFileSync(
    join(fake, 'DEBIAN', 'control'),
    'Package: nodejs\nVersion: 22.0.0\nArchitecture: amd64\nMaintainer: nobody <nobody@localhost>\nDepends: libstdc++6\nDescription: for a test\n',
  );
  must('dpkg-deb', ['--root-owner-group', '-Znone', '--build', fake, join(own, 'nodejs_22.0.0_amd64.deb')]);
  const with22 = install(root, [join(own, 'nodejs_22.0.0_amd64.deb'), ...debs('beoboard')]);
  t.equal(with22.status, 0, with22.stderr);
  works(t, root, 'beoboard');
  t.equal(within(root, 'apt-get', 'purge', '-y', 'beoboard*', 'libbeoboard*').status, 0);
  t.notOk(existsSync(join(root, 'etc', 'beoboard')));
});

t.test('Debian 13: all of them from Debian alone, and a program is built with the library', async t => {
  const root = debian(join(own, 'trixie'), 'trixie', []);
  update(root);
  const { status, stderr } = install(root, those(/_(all|amd64)\.deb$/));
  t.equal(status, 0, stderr);
  works(t, root, 'beoboard');
  t.equal(within(root, 'apt-get', 'install', '-y', '--no-install-recommends', 'gcc', 'libc6-dev', 'pkgconf').status, 0);
  const examples = '/usr/share/doc/libbeoboard-dev/examples';
  const build = `cd /tmp && cc ${examples}/least-loaded.c $(pkg-config --cflags --libs beoboard) && ./a.out; test $? -le 4`;
  t.match(within(root, 'sh', '-c', build), { status: 0 });
  t.equal(within(root, 'apt-get', 'purge', '-y', 'beoboard*', 'libbeoboard*').status, 0);
  t.notOk(existsSync(join(root, 'etc', 'beoboard')));
});

/** That the program loads its addon: it makes a board, which a reader then reads. */
function works(t: Test, root: string, ...command: string[]): void {
  const line = (...argv: string[]) => [...command, ...argv].join(' ');
  const script = [
    'mkdir -p /tmp/trial && cd /tmp/trial',
    `${line('receive', '--board', '/tmp/trial/board', '--listen', '127.0.0.1:0')} 2>log & receiver=$!`,
    'until grep -q ready log; do sleep 0.2; kill -0 $receiver || { cat log >&2; exit 1; }; done',
    line('status', '--board', '/tmp/trial/board', '--plain'),
    'kill $receiver; wait $receiver; rm -r /tmp/trial',
  ].join('\n');
  const { stdout, stderr } = within(root, 'sh', '-c', script);
  t.match(stdout, /^0 nodes/m, `${command.join(' ')}: ${stdout}${stderr}`);
}

/** A Node.js as npm has it, for a test alone; the path of the program. */
function nodeFrom(t: Test, processor: 'x64' | 'arm64', major: number): string {
  const into = join(own, `node-${processor}-${major}`);
  if (!existsSync(into)) {
    mkdirSync(into);
    const [file = ''] = must('npm', ['pack', '--silent', `node-linux-${processor}@${major}`], { cwd: into })
      .trim()
      .split('\n')
      .slice(-1);
    must('tar', ['-C', into, '-xf', join(into, file)]);
  }
  const path = join(into, 'package', 'bin', 'node');
  t.ok(existsSync(path), `node-linux-${processor}@${major}`);
  return path;
}

t.test('Debian 11, where nothing may run at installation: the addon that comes with npm', async t => {
  const root = debian(join(own, 'bullseye'), 'bullseye', ['libstdc++6', 'libatomic1']);
  const folder = join(own, 'npm');
  const [tarball = ''] = those(/\.tgz$/);
  must('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--omit', 'dev', '--prefix', folder, tarball]);
  cpSync(join(folder, 'node_modules'), join(root, 'opt', 'node_modules'), { recursive: true });
  const program = '/opt/node_modules/beoboard/dist/bin/beoboard.cjs';
  for (const major of [20, 22, 24, 26]) {
    cpSync(nodeFrom(t, 'x64', major), join(root, 'opt', `node${major}`));
    const told = within(root, `/opt/node${major}`, '--version');
    if (told.status !== 0) {
      t.comment(`Node.js ${major} does not run on Debian 11: ${told.stderr.split('\n')[0]}`);
      t.not(major, 20, 'but the oldest does');
      continue;
    }
    t.comment(
      `Debian 11, glibc ${within(root, 'ldd', '--version').stdout.split('\n')[0]?.split(' ').at(-1)}, Node.js ${told.stdout.trim()}: runs`,
    );
    works(t, root, `/opt/node${major}`, program);
  }
  // Without one that fits, one sentence tells how to make it.
  must('rm', ['-r', join(root, 'opt', 'node_modules', 'beoboard', 'prebuilds')]);
  const { status, stderr } = within(root, '/opt/node20', program, 'status');
  t.same(
    [status, stderr],
    [72, `beoboard status: the addon is not built; run node /opt/node_modules/beoboard/scripts/build.mjs\n`],
  );
});

t.test('Node.js 20, 22, 24 and 26, here', async t => {
  const folder = join(own, 'npm', 'node_modules', 'beoboard', 'dist', 'bin', 'beoboard.cjs');
  for (const major of [20, 22, 24, 26]) {
    const node = nodeFrom(t, 'x64', major);
    works(t, '/', node, folder);
    t.comment(`Node.js ${must(node, ['--version']).trim()}: runs`);
  }
});

t.test('arm64, emulated: sender, gate, and the addon in Node.js', async t => {
  const root = debian(
    join(own, 'arm64'),
    'bookworm',
    ['libstdc++6', 'libatomic1'],
    ['--variant=extract', '--arch=arm64'],
  );
  for (const name of ['beoboard-send', 'beoboard-gate', 'beoboard-mon', 'beoboard-gpu', 'libbeoboard1'])
    must('dpkg-deb', ['-x', those(new RegExp(`^${name}_.*_arm64\\.deb$`))[0] as string, root]);
  const emulated = (...argv: string[]) =>
    spawnSync('qemu-aarch64', ['-L', root, ...argv], { encoding: 'utf8', timeout: 300_000 });
  for (const name of ['beoboard-send', 'beoboard-gate', 'beoboard-mon', 'beoboard-gpu'])
    t.match(emulated(join(root, 'usr', 'sbin', name), '--version').stdout, version, name);
  const report = spawnSync(
    'qemu-aarch64',
    [join(root, 'usr', 'sbin', 'beoboard-send'), '--once', '--to', '-', '--name', 'arm'],
    { timeout: 60_000 },
  );
  t.equal(report.stdout.length, 1216, 'a report');
  const node = nodeFrom(t, 'arm64', 22);
  const program = join(own, 'npm', 'node_modules', 'beoboard', 'dist', 'bin', 'beoboard.cjs');
  const { status, stderr } = emulated(node, program, 'status', '--board', join(own, 'none'));
  t.same([status, /^beoboard status: .*none: /.test(stderr)], [4, true], stderr);
});

t.test('rpm: what they want and have, and installed into an empty root', async t => {
  const rpms = those(/\.(x86_64|noarch)\.rpm$/);
  const ask = (...argv: string[]) => must('rpm', ['-qp', '--nosignature', ...argv]);
  const requires = (name: string) => ask('--requires', ...those(new RegExp(`^${name}-\\d.*(x86_64|noarch)\\.rpm$`)));
  t.match(requires('beoboard'), /^nodejs >= 1:20$/m);
  t.notMatch(requires('beoboard-send'), /libc\.so/, 'the sender is static');
  t.notMatch(requires('libbeoboard'), /GLIBC_2\.(29|[3-9]\d)/, 'the library is for EL 8, too');
  t.match(ask('--provides', ...those(/^libbeoboard-\d.*x86_64\.rpm$/)), /libbeoboard\.so\.1\(\)\(64bit\)/);
  for (const file of those(/aarch64\.rpm$/)) t.equal(ask('--qf', '%{ARCH}', file), 'aarch64', basename(file));
  const root = join(own, 'rpmroot');
  mkdirSync(root);
  must('rpm', ['--root', root, '--dbpath', '/var/lib/rpm', '-i', '--nodeps', '--noscripts', '--nosignature', ...rpms]);
  for (const path of [
    'usr/bin/beoboard',
    'usr/sbin/beoboard-send',
    'usr/lib64/libbeoboard.so.1',
    'usr/include/beoboard.h',
    'etc/beoboard/receive.toml',
  ])
    t.ok(existsSync(join(root, path)), path);
  t.match(ask('--configfiles', ...those(/^beoboard-\d.*x86_64\.rpm$/)), /^\/etc\/beoboard\/receive\.toml$/m);
  must('rpm', [
    '--root',
    root,
    '--dbpath',
    '/var/lib/rpm',
    '-e',
    '--nodeps',
    '--noscripts',
    'beoboard',
    'beoboard-send',
    'beoboard-common',
  ]);
  t.notOk(existsSync(join(root, 'usr', 'bin', 'beoboard')));
  t.notOk(existsSync(join(root, 'usr', 'lib', 'beoboard')), 'folders go, too');
});
