// A clone on the machine that README.md names, and on nothing else: a Debian 12 with gcc, g++, make, git and python3, the
// Node.js and npm of this machine, and the network as it is here. It clones this commit (what is not committed is not in
// it), and runs `npm start` and `npm test`. As root, with a mirror of Debian and a registry of npm.
//   npm run test:long -- freshroot         TESTS="board order" chooses tests

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { follow, must } from '../kit/children.js';
import { lacks } from '../kit/lacking.js';
import { ROOT } from '../kit/places.js';
import { debian, diskFolder } from './virtual.js';

t.setTimeout(7_200_000);

const missing = lacks('mmdebstrap', 'mmdebstrap');
/** Where any user can run it. */
const CLONE = '/srv/beoboard';

/** Enters the system in a folder, with namespaces, devices and memory of its own; nothing leads out of it. */
const ENTER = `
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
mount -t tmpfs -o mode=1777 none dev/shm
mount -t tmpfs -o mode=755 none run
mknod -m 600 dev/fuse c 10 229 2>/dev/null || :
echo fresh >/proc/sys/kernel/hostname
pivot_root . mnt
cd ${CLONE}
umount -l /mnt
# It is process 1 there, and stays to bury orphans.
set +e
"$@"
exit $?`;

/** What npm has to know here to reach its registry: variables, and files. */
const settings = /^((https?|no)_proxy|NODE_EXTRA_CA_CERTS)$/i;
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => settings.test(name))),
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  TERM: 'xterm',
};

/** Makes the system. */
function install(root: string): void {
  debian(root, 'bookworm', ['gcc', 'g++', 'make', 'git', 'python3']);
  const copy = (from: string, to: string) =>
    existsSync(from) && cpSync(from, join(root, to), { recursive: true, verbatimSymlinks: true });
  copy(process.execPath, '/usr/local/bin/node');
  const script = must('sh', ['-c', 'realpath "$(command -v npm)"']).trim();
  copy(dirname(dirname(script)), '/usr/local/lib/node_modules/npm');
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr', 'local', 'bin', name));
  const option = (name: string) => must('npm', ['config', 'get', name], { cwd: '/' }).trim();
  copy(option('userconfig'), '/root/.npmrc');
  copy(option('globalconfig'), '/usr/local/etc/npmrc');
  for (const path of ['/etc/hosts', '/etc/resolv.conf', option('cafile'), process.env.NODE_EXTRA_CA_CERTS ?? ''])
    copy(path, path);
  must('git', ['clone', '--quiet', ROOT, join(root, CLONE)]);
}

const root = join(diskFolder(t), 'root');

/** Runs a command there in the clone. */
function start(...argv: string[]): { child: ChildProcess; told: () => string; exit: Promise<unknown> } {
  const own = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
  const child = spawn('unshare', [...own, 'sh', '-ec', ENTER, root, ...argv], { env });
  const said = follow(child, t);
  return { child, told: () => said.all, exit: said.exit };
}

/** The seconds since then. */
const since = (began: number) => `${((performance.now() - began) / 1000).toFixed(0)} s`;

t.test('npm start, in a clone that has nothing yet', { skip: missing }, async t => {
  mkdirSync(root);
  const making = performance.now();
  install(root);
  t.comment(`the system: ${since(making)}`);
  const began = performance.now();
  const { child, told, exit } = start('script', '-qefc', 'npm start', '/dev/null');
  const seen = new Promise<void>(resolve => child.stdout?.on('data', () => /1 live/.test(told()) && resolve()));
  await Promise.race([seen, exit]);
  t.match(told(), /1 live/, 'it shows this machine');
  t.comment(`npm start: ${since(began)} to its screen`);
  child.stdin?.write('\x03');
  t.equal(await exit, 0, 'Ctrl-C ends it');
});

t.test('npm test', { skip: missing }, async t => {
  const words = process.env.TESTS?.split(' ');
  const { told, exit } = start('npm', 'test', ...(words === undefined ? [] : ['--', ...words]));
  const code = await exit;
  const [cost, counts = ''] = told().trimEnd().split('\n').slice(-2);
  t.match(counts, /^\d+ passed, 0 failed/, told());
  t.equal(code, 0);
  t.comment(`${counts}; ${cost}`);
  const tap = readFileSync(join(root, CLONE, 'build', 'test.tap'), 'utf8');
  const reasons = new Map<string, number>();
  for (const [, name = '', why = ''] of tap.matchAll(/^ *ok \d+ - (.*?) # (?:SKIP|TODO)\b ?(.*)$/gm)) {
    t.match(why, /\w+ \w+/, `${name}: why it was skipped`);
    reasons.set(why, (reasons.get(why) ?? 0) + 1);
  }
  for (const [why, count] of [...reasons].sort(([, a], [, b]) => b - a)) t.comment(`${count} skipped: ${why}`);
});
