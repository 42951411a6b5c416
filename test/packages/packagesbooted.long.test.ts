// The packages under a systemd that is process 1, in virtual machines: Debian 13, and Debian 12 with a newer Node.js.
// The trials are in test/packages/guest.

import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import { must } from '../kit/children.js';
import { lacks } from '../kit/lacking.js';
import { ROOT } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { BOOTS, boot, debian, debOfNode, diskFolder, nodeFrom, within } from './virtual.js';

t.setTimeout(14_400_000);

/** Version 0.2.0, before boards of 2.1. */
const BEFORE = '14b11df';

const missing = lacks(
  'mmdebstrap qemu-system-x86 e2fsprogs musl-tools',
  'mmdebstrap',
  'qemu-system-x86_64',
  'mke2fs',
  'musl-gcc',
);

const own = diskFolder(t);
const next = join(own, 'next');
const now = join(own, 'now');

/** The packages in the trials, and those that are added for this version. */
const TRIED = ['beoboard-common', 'beoboard-send', 'beoboard'];
const ALSO = ['beoboard-supermon', 'beoboard-gpu'];

function packages(of: string, into: string, names: string[]): void {
  must('nice', [process.execPath, join(of, 'scripts', 'package.mjs'), 'deb', 'amd64', ...names, '--out', into], {
    cwd: of,
  });
}

/** A Debian that boots and can run Node.js. Made once. */
function bare(suite: string, packages: string[]): string {
  const root = join(own, suite);
  if (!existsSync(root)) debian(root, suite, [...BOOTS, 'libatomic1', 'libstdc++6', ...packages]);
  return root;
}
/** These systems with the packages that the trials need. */
const trixie = () => bare('trixie', ['nodejs', 'nats-server', 'ansible-core', 'python3-apt']);
const bookworm = () => bare('bookworm', []);

/**
 * Makes such a system and installs `others` and then our packages of the folder `installed`; the packages of all
 * folders are in /root.
 */
function system(of: () => string, installed: string, others: string[] = []): string {
  // This is written last.
  if (!existsSync(join(installed, 'packages.json'))) throw new Error('its packages were not made');
  const root = `${of()}-${basename(installed)}`;
  must('cp', ['-a', of(), root]);
  for (const folder of [next, now]) {
    mkdirSync(join(root, 'root', basename(folder)));
    for (const name of readdirSync(folder).filter(name => name.endsWith('.deb')))
      cpSync(join(folder, name), join(root, 'root', basename(folder), name));
  }
  for (const file of others) cpSync(file, join(root, 'root', basename(file)));
  const files = [...others.map(file => `/root/${basename(file)}`), `/root/${basename(installed)}/*.deb`];
  const { status, stdout, stderr } = within(root, 'sh', '-c', `dpkg -i ${files.join(' ')}`);
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  cpSync(join(ROOT, 'test', 'fixtures', 'slurm'), join(root, 'root', 'slurm'), { recursive: true });
  return root;
}

/** A copy of the system in which a mirror is enabled, and has options. */
function loginNode(of: string): string {
  const root = `${of}-login`;
  must('cp', ['-a', of, root]);
  const options = [
    'nats = ["nats://127.0.0.1:4222"]',
    'site = "home"',
    'cluster = "alpha"',
    'trust = ["m1=/etc/beoboard/m1.key.pub"]',
  ];
  writeFileSync(join(root, 'etc', 'beoboard', 'mirror.toml'), `${options.join('\n')}\n`);
  writeFileSync(join(root, 'root', 'other.toml'), `${options.join('\n')}\nboard = "/dev/shm/beoboard/other"\n`);
  must(process.execPath, [PROGRAM, 'keygen', '--relay', '--owner', '0', join(root, 'etc', 'beoboard', 'm1.key')]);
  must('chroot', [root, '/usr/bin/systemctl', 'enable', 'beoboard-mirror.service']);
  return root;
}

async function trial(t: Test, root: string, name: string, env: Record<string, string> = {}): Promise<void> {
  const { held, failed, figures, ended, seconds } = await boot(t, root, name, env);
  for (const what of held) t.pass(what);
  for (const what of failed) t.fail(what);
  for (const figure of figures) t.comment(`${name}: ${figure}`);
  t.ok(ended, `the trial came to its end (${seconds.toFixed(0)} s in all)`);
  t.ok(held.length > 3);
}

t.test('packages of this version and of the last one', { skip: missing }, async () => {
  packages(ROOT, next, [...TRIED, ...ALSO]);
  const before = join(own, 'before');
  must('git', ['clone', '--quiet', ROOT, before]);
  must('git', ['checkout', '--quiet', BEFORE], { cwd: before });
  packages(before, now, [...TRIED, 'beoboard-mon']);
});

t.test('Debian 13', { skip: missing }, async t => {
  const root = system(trixie, next);
  await t.test('the units', t => trial(t, root, 'service'));
  await t.test('all daemons', t => trial(t, root, 'daemons'));
  await t.test('reports over restart and upgrade, removal', t => trial(t, root, 'traffic', { NODES: '200' }));
  cpSync(join(ROOT, 'examples', 'ansible'), join(root, 'root', 'ansible'), { recursive: true });
  await t.test('a cluster by Ansible', t => trial(t, root, 'ansible'));
  await t.test('a login node with a mirror', t => trial(t, loginNode(root), 'login'));
  writeFileSync(join(root, 'etc', 'beoboard', 'receive.toml'), 'listen = ["10.9.9.9"]\n');
  writeFileSync(join(root, 'etc', 'beoboard', 'send.toml'), 'to = ["10.9.9.9"]\n');
  await t.test('a network that comes late', t => trial(t, root, 'network'));
});

t.test('from the last version, and back', { skip: missing }, async t => trial(t, system(trixie, now), 'upgrade'));

t.test('Debian 12', { skip: missing }, async t => {
  // Debian 12 has Node.js 18, which is too old, so one from npm is installed.
  const nodejs = join(own, 'nodejs.deb');
  debOfNode(nodeFrom(own, 'x64', 22), nodejs);
  const root = system(bookworm, next, [nodejs]);
  await t.test('the units', t => trial(t, root, 'service'));
});
