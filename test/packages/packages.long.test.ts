// All packages from a clean clone, made twice with the same bytes; installed into the systems that they are for; the
// prebuilt addon on old systems, other processors and other versions of Node.js. packagesbooted has a running systemd.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import { must } from '../kit/children.js';
import { lacks } from '../kit/lacking.js';
import { ROOT } from '../kit/places.js';
import { debian, debOfNode, diskFolder, nodeFrom, within } from './virtual.js';

t.setTimeout(7_200_000);

const missing = lacks(
  'mmdebstrap lintian rpm python3-build python3-wheel faketime qemu-user g++-aarch64-linux-gnu musl-tools musl-dev:arm64',
  'mmdebstrap',
  'lintian',
  'rpmbuild',
  'faketime',
  'qemu-aarch64',
  'aarch64-linux-gnu-g++',
  'musl-gcc',
);

const own = diskFolder(t);
const git = (...argv: string[]) => must('git', argv, { cwd: ROOT }).trim();
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const clone = (folder: string) => {
  must('git', ['clone', '--quiet', ROOT, folder]);
  return folder;
};
const first = missing ? '' : clone(join(own, 'first'));
const made = join(first, 'build', 'packages');
/** The paths of packages whose names match. */
const those = (pattern: RegExp) => {
  const found = readdirSync(made).filter(name => pattern.test(name));
  if (found.length === 0) throw new Error(`no package fits ${pattern}`);
  return found.map(name => join(made, name));
};
const debs = (...names: string[]) => names.flatMap(name => those(new RegExp(`^${name}_.*_(all|amd64)\\.deb$`)));

/** Installs packages with apt as an administrator would; nothing is started, because no systemd runs. */
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

t.test('a clean clone makes all packages, and another one the same', { skip: missing }, async t => {
  const began = performance.now();
  must('npm', ['run', 'package'], { cwd: first });
  t.comment(`npm run package: ${((performance.now() - began) / 1000).toFixed(0)} s in a clean clone`);
  const names = readdirSync(made).sort();
  t.comment(names.join(' '));
  const { PACKAGES } = (await import(join(ROOT, 'packaging', 'packages.mjs'))) as {
    PACKAGES: Record<string, { each?: boolean }>;
  };
  const wanted = Object.values(PACKAGES).reduce((sum, { each }) => sum + (each ? 2 : 1), 0);
  for (const format of ['deb', 'rpm'])
    t.equal(names.filter(name => name.endsWith(`.${format}`)).length, wanted, `${wanted} packages as ${format}`);
  for (const name of names) t.comment(`${name}: ${(statSync(join(made, name)).size / 1024).toFixed(0)} KiB`);

  // Made again in another folder, by another user, in another time zone and language, five hours later; with a umask
  // that lets nobody else read, and with that user's own settings for compilers and rpm.
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
  writeFileSync(join(other, '.rpmmacros'), '%packager somebody\n%dist .site\n%_binary_payload w1.gzdio\n');
  must('chown', ['-R', String(STRANGER), other]);
  must('chmod', ['755', own]);
  // npm's variables name caches that the other user cannot use.
  const strange = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  must(
    'setpriv',
    [
      ...[`--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups', 'faketime', '-f', '+5h'],
      ...['sh', '-c', 'umask 077; npm run package'],
    ],
    {
      cwd: second,
      env: { ...strange, HOME: other, TZ: 'Asia/Tokyo', LC_ALL: 'tr_TR.UTF-8', CFLAGS: '-O0 -g', LDFLAGS: '-rdynamic' },
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
  const { packages } = JSON.parse(readFileSync(join(first, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  t.equal(bill.components.length, installed.length, 'all packages that npm installs with it');
  t.comment(`${installed.length} packages of others in the bill`);
});

/** The files in a deb or an rpm. */
const contents = (file: string) =>
  file.endsWith('.deb')
    ? must('sh', ['-c', `dpkg-deb --fsys-tarfile ${file} | tar -t`])
        .split('\n')
        .filter(path => path !== '' && !path.endsWith('/'))
        .map(path => path.slice(1))
    : must('rpm', ['-qlp', '--nosignature', file]).split('\n');

t.test('beoboard-supermon, as deb and as rpm', { skip: missing }, async t => {
  const wanted = [
    /^\/usr\/sbin\/beoboard-mon$/,
    /^\/usr\/share\/man\/man8\/beoboard-mon\.8\.gz$/,
    /^\/usr\/lib\/systemd\/system\/beoboard-mon\.service$/,
    /^\/usr\/lib\/systemd\/system\/beoboard-supermon\.service$/,
    /^\/usr\/lib\/beoboard\/dist\/bin\/supermon-\w+\.cjs$/,
    /^\/usr\/lib\/beoboard\/dist\/bin\/zoom-\w+\.cjs$/,
    /^\/usr\/share\/man\/man1\/beoboard-(supermon|zoom)\.1\.gz$/,
    /^\/usr\/share\/doc\/beoboard\/docs\/supermon\.md$/,
  ];
  for (const file of those(/^beoboard[-_]\d.*\.(deb|rpm)$/))
    for (const path of contents(file))
      t.notOk(
        wanted.some(one => one.test(path)),
        `${basename(file)} has no ${path}`,
      );
  const files = those(/^beoboard-supermon[-_]\d.*\.(deb|rpm)$/);
  t.equal(files.length, 4, files.map(file => basename(file)).join(' '));
  for (const file of files) {
    const has = contents(file);
    for (const one of wanted)
      t.ok(
        has.some(path => one.test(path)),
        `${basename(file)}: ${one}`,
      );
    const requires = file.endsWith('.deb')
      ? must('dpkg-deb', ['-f', file, 'Depends'])
      : must('rpm', ['-qp', '--nosignature', '--requires', file]);
    t.notMatch(requires, /libc|glibc/, `${basename(file)}: it is static, and needs no C library`);
  }
});

t.test('lintian finds only what is listed', { skip: missing }, async t => {
  const { stdout } = spawnSync('lintian', ['--tag-display-limit', '0', ...those(/\.deb$/)], { encoding: 'utf8' });
  t.same(
    stdout.split('\n').filter(line => /^[EW]:/.test(line)),
    [],
  );
});

t.test('Debian 12: all packages except beoboard need only Debian', { skip: missing }, async t => {
  const root = debian(join(own, 'bookworm'), 'bookworm', []);
  update(root);
  const { status, stderr } = install(
    root,
    debs(
      'beoboard-common',
      'beoboard-send',
      'beoboard-gate',
      'beoboard-supermon',
      'beoboard-gpu',
      'beoboard-tools',
      'libbeoboard1',
      'libbeoboard-dev',
      'python3-beoboard',
    ),
  );
  t.equal(status, 0, stderr);
  for (const name of ['beoboard-nodes', 'beoboard-check']) t.equal(within(root, name, '--version').status, 0, name);
  speaksPython(t, root);
  t.equal(within(root, 'beoboard-send', '--version').stdout, `${version}\n`);
  t.equal(within(root, 'beoboard-gate', '--version').status, 0);
  t.equal(within(root, 'beoboard-sensor', '--version').status, 0);
  t.equal(within(root, 'beoboard-mon', '--version').status, 0);
  t.equal(within(root, 'beoboard-gpu', '--version').status, 0);
  const refused = install(root, debs('beoboard'));
  t.not(refused.status, 0, 'its Node.js is 18');
  t.match(refused.stdout + refused.stderr, /Depends: nodejs \(>= 20\)/);

  // Only for this test: Node.js from npm, packaged as if it were Debian's.
  const nodejs = join(own, 'nodejs_22.0.0_amd64.deb');
  debOfNode(nodeFrom(own, 'x64', 22), nodejs);
  const with22 = install(root, [nodejs, ...debs('beoboard')]);
  t.equal(with22.status, 0, with22.stderr);
  works(t, root, 'beoboard');
  t.equal(within(root, 'beoboard', 'zoom', '--help').status, 0, 'and what the package of Supermon has of it');
  t.ok(existsSync(join(root, 'usr', 'lib', 'beoboard', 'dist', 'page', 'index.html')), 'the wall has its page');
  purged(t, root);
});

t.test(
  'Debian 13: all packages need only Debian, and a program is built with the library',
  { skip: missing },
  async t => {
    const root = debian(join(own, 'trixie'), 'trixie', []);
    update(root);
    const { status, stderr } = install(root, those(/_(all|amd64)\.deb$/));
    t.equal(status, 0, stderr);
    works(t, root, 'beoboard');
    speaksPython(t, root);
    t.equal(
      within(root, 'apt-get', 'install', '-y', '--no-install-recommends', 'gcc', 'libc6-dev', 'pkgconf').status,
      0,
    );
    const examples = '/usr/share/doc/libbeoboard-dev/examples';
    const build = `cd /tmp && cc ${examples}/least-loaded.c $(pkg-config --cflags --libs beoboard) && ./a.out; test $? -le 4`;
    t.match(within(root, 'sh', '-c', build), { status: 0 });
    purged(t, root);
  },
);

/** Checks that a purge removes everything that the packages installed and made, except the user. */
function purged(t: Test, root: string): void {
  t.equal(within(root, 'apt-get', 'purge', '-y', 'beoboard*', 'libbeoboard*', 'python3-beoboard*').status, 0);
  const left = within(
    root,
    'find',
    '/',
    '-xdev',
    '-iname',
    '*beoboard*',
    '-not',
    '-path',
    '/debs/*',
    '-not',
    '-path',
    '/proc/*',
  );
  t.equal(left.stdout, '', 'a purge takes all');
}

/** Checks that Python's module finds the library, whose sentence it tells. */
function speaksPython(t: Test, root: string): void {
  const { status, stderr } = within(root, 'python3', '-c', 'import beoboard; beoboard.open("/nowhere")');
  t.match([status, stderr], [1, /Error: \/nowhere: no such board or node: /]);
}

/** Checks that the program loads its addon: it makes a board, which a reader then reads. */
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

t.test(
  'Debian 11, where npm runs no scripts at installation: the addon that comes with npm',
  { skip: missing },
  async t => {
    const root = debian(join(own, 'bullseye'), 'bullseye', ['libstdc++6', 'libatomic1']);
    const folder = join(own, 'npm');
    const [tarball = ''] = those(/\.tgz$/);
    must('npm', [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--omit',
      'dev',
      '--prefix',
      folder,
      tarball,
    ]);
    cpSync(join(folder, 'node_modules'), join(root, 'opt', 'node_modules'), { recursive: true });
    const program = '/opt/node_modules/beoboard/dist/bin/beoboard.cjs';
    t.ok(
      existsSync(join(root, 'opt', 'node_modules', 'beoboard', 'dist', 'page', 'index.html')),
      'the wall has its page',
    );
    for (const major of [20, 22, 24, 26]) {
      cpSync(nodeFrom(own, 'x64', major), join(root, 'opt', `node${major}`));
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
    // Without a prebuilt addon for this machine, one sentence says how to make it.
    must('rm', ['-r', join(root, 'opt', 'node_modules', 'beoboard', 'prebuilds')]);
    const { status, stderr } = within(root, '/opt/node20', program, 'status');
    t.same(
      [status, stderr],
      [72, `beoboard status: the addon is not built; run node /opt/node_modules/beoboard/scripts/build.mjs\n`],
    );
  },
);

t.test('Node.js 20, 22, 24 and 26, here', { skip: missing }, async t => {
  const folder = join(own, 'npm', 'node_modules', 'beoboard', 'dist', 'bin', 'beoboard.cjs');
  for (const major of [20, 22, 24, 26]) {
    const node = nodeFrom(own, 'x64', major);
    works(t, '/', node, folder);
    t.comment(`Node.js ${must(node, ['--version']).trim()}: runs`);
  }
});

t.test('arm64, emulated: sender, gate, and the addon in Node.js', { skip: missing }, async t => {
  const root = debian(
    join(own, 'arm64'),
    'bookworm',
    ['libstdc++6', 'libatomic1'],
    ['--variant=extract', '--arch=arm64'],
  );
  for (const name of [
    'beoboard-send',
    'beoboard-gate',
    'beoboard-supermon',
    'beoboard-gpu',
    'beoboard-tools',
    'libbeoboard1',
  ])
    must('dpkg-deb', ['-x', those(new RegExp(`^${name}_.*_arm64\\.deb$`))[0] as string, root]);
  const emulated = (...argv: string[]) =>
    spawnSync('qemu-aarch64', ['-L', root, ...argv], { encoding: 'utf8', timeout: 300_000 });
  for (const name of ['beoboard-send', 'beoboard-gate', 'beoboard-sensor', 'beoboard-mon', 'beoboard-gpu'])
    t.match(emulated(join(root, 'usr', 'sbin', name), '--version').stdout, version, name);
  for (const name of ['beoboard-nodes', 'beoboard-check'])
    t.match(emulated(join(root, 'usr', 'bin', name), '--version').stdout, version, name);
  const report = spawnSync(
    'qemu-aarch64',
    [join(root, 'usr', 'sbin', 'beoboard-send'), '--once', '--to', '-', '--name', 'arm'],
    { timeout: 60_000 },
  );
  t.equal(report.stdout.length, 1216, 'a report');
  const node = nodeFrom(own, 'arm64', 22);
  const program = join(own, 'npm', 'node_modules', 'beoboard', 'dist', 'bin', 'beoboard.cjs');
  const { status, stderr } = emulated(node, program, 'status', '--board', join(own, 'none'));
  t.same([status, /^beoboard status: .*none: /.test(stderr)], [4, true], stderr);
});

t.test('rpm: what they want and have, and installed into an empty root', { skip: missing }, async t => {
  const rpms = those(/\.(x86_64|noarch)\.rpm$/);
  const ask = (...argv: string[]) => must('rpm', ['-qp', '--nosignature', ...argv]);
  const requires = (name: string) => ask('--requires', ...those(new RegExp(`^${name}-\\d.*(x86_64|noarch)\\.rpm$`)));
  t.match(requires('beoboard'), /^nodejs >= 1:20$/m);
  t.match(
    ask('--qf', '[%{REQUIRENAME} %{REQUIREFLAGS:deptype}\n]', ...those(/^beoboard-common-.*rpm$/)),
    /^systemd post$/m,
    'its user is made after systemd is there',
  );
  t.match(ask('--qf', '%{LICENSE}', ...those(/^beoboard-\d.*x86_64\.rpm$/)), /^MIT AND Apache-2\.0 AND /);
  t.notMatch(requires('beoboard-send'), /libc\.so/, 'the sender is static');
  t.notMatch(requires('libbeoboard'), /GLIBC_2\.(29|[3-9]\d)/, 'the library is for EL 8, too');
  t.match(ask('--provides', ...those(/^libbeoboard-\d.*x86_64\.rpm$/)), /libbeoboard\.so\.1\(\)\(64bit\)/);
  for (const file of those(/aarch64\.rpm$/)) t.equal(ask('--qf', '%{ARCH}', file), 'aarch64', basename(file));
  const root = join(own, 'rpmroot');
  mkdirSync(root);
  must('rpm', ['--root', root, '--dbpath', '/var/lib/rpm', '-i', '--nodeps', '--noscripts', '--nosignature', ...rpms]);
  for (const path of [
    ...['usr/bin/beoboard', 'usr/sbin/beoboard-send', 'usr/lib64/libbeoboard.so.1', 'usr/include/beoboard.h'],
    ...['etc/beoboard/receive.toml', 'usr/sbin/beoboard-mon', 'usr/lib/systemd/system/beoboard-supermon.service'],
    ...['usr/lib/beoboard/dist/page/index.html'],
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
    'beoboard-supermon',
    'beoboard-send',
    'beoboard-common',
  ]);
  t.notOk(existsSync(join(root, 'usr', 'bin', 'beoboard')));
  const folders = ['usr/lib', 'usr/lib/systemd/system', 'usr/share', 'usr/share/doc'];
  const left = folders.flatMap(path => readdirSync(join(root, path)));
  t.same(
    left.filter(name => /^beoboard(-(supermon|send|common|send.*\.d))?$/.test(name)),
    [],
    'folders go, too',
  );
});
