// `npm start` and `npm test` of the last commit on the machines that newcomers have (what is not committed is not in it):
// each is made here, by mmdebstrap, of nothing but what README.md names. As root, with a mirror of Debian and a registry
// of npm; the network is that of this machine.
//   npm run test:long -- machines         MACHINES="bare container" chooses machines, TESTS="board order" tests

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { follow, must } from '../kit/children.js';
import { lacks } from '../kit/lacking.js';
import { ROOT } from '../kit/places.js';
import { debian, diskFolder, nodeFrom } from './virtual.js';

t.setTimeout(36_000_000);

/** What confines a process: a program in Python that forbids system calls, and then is the command behind it. */
const CONFINE = join(ROOT, 'test', 'packages', 'guest', 'confine.py');
const PYTHON = '/usr/bin/python3';
const missing =
  lacks('mmdebstrap python3-seccomp', 'mmdebstrap', PYTHON) || (process.getuid?.() !== 0 && 'needs root, to chroot');

interface Machine {
  readonly suite: string;
  readonly packages: readonly string[];
  /** Where the clone is. */
  readonly clone: string;
  readonly env?: Record<string, string>;
  /** The major version of a Node.js from npm, in place of that of this machine; `debian`: that of its packages. */
  readonly node?: number | 'debian';
  /** A container's defaults: 64 MB of /dev/shm, few capabilities, no new namespaces, /sys only to read. */
  readonly container?: true;
  /** An ordinary user without IPv6. */
  readonly user?: true;
  /** On one processor, beside four busy loops; only the tests. */
  readonly busy?: true;
  /** The least share of the checks that pass here which pass there. */
  readonly share: number;
}

const COMPILER = ['gcc', 'g++', 'make', 'git'];
const BARE = { suite: 'bookworm', packages: COMPILER, clone: '/root/a clone/beoboard', share: 0.99 };
const MACHINES: Record<string, Machine> = {
  bare: { ...BARE, env: { LANG: 'C', TZ: 'Asia/Kolkata' } },
  container: { ...BARE, clone: '/root/beoboard', container: true, share: 0.9 },
  user: {
    suite: 'trixie',
    packages: [...COMPILER, 'nodejs', 'npm'],
    clone: '/home/user/beoboard',
    node: 'debian',
    user: true,
    share: 0.9,
  },
  node22: { ...BARE, node: 22 },
  node24: { ...BARE, node: 24 },
  node26: { ...BARE, node: 26 },
  busy: { ...BARE, busy: true },
};

/**
 * Enters the system in the folder $1, with namespaces, devices and memory of its own; nothing leads out of it. What
 * stays as process 1 buries orphans.
 */
const ENTER = `
root=$1; clone=$2; kind=$3; shift 3
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount --make-rslave sys
mount -t tmpfs -o mode=755 none dev
mkdir dev/pts dev/shm
for name in null zero full random urandom tty; do : >dev/$name; mount --bind /dev/$name dev/$name; done
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777$([ "$kind" != container ] || echo ,size=64m) none dev/shm
mount -t tmpfs -o mode=755 none run
set -- sh -c 'umask 077; cd "$0" && "$@"' "$clone" "$@"
case $kind in
  container)
    mount -o remount,ro,bind sys
    set -- setpriv --inh-caps=-all --bounding-set=-all,+chown,+dac_override,+fsetid,+fowner,+mknod,+net_raw,+setgid,+setuid,+setfcap,+setpcap,+net_bind_service,+sys_chroot,+kill,+audit_write ${PYTHON} ${CONFINE} container chroot . "$@" ;;
  user)
    set -- ${PYTHON} ${CONFINE} ipv4 chroot . setpriv --reuid=1000 --regid=1000 --clear-groups "$@" ;;
  *) set -- chroot . "$@" ;;
esac
set +e
"$@"
exit $?`;

/** What npm has to know here to reach its registry: variables, and files. */
const settings = /^((https?|no)_proxy|NODE_EXTRA_CA_CERTS)$/i;
const envOf = ({ env = {}, user }: Machine) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => settings.test(name))),
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: user ? '/home/user' : '/root',
  LANG: 'C.UTF-8',
  TERM: 'xterm',
  ...env,
});

/** Makes the system. */
function install(t: Test, root: string, { suite, packages, clone, node, user }: Machine): void {
  debian(root, suite, [...packages]);
  const copy = (from: string, to: string) =>
    existsSync(from) && cpSync(from, join(root, to), { recursive: true, verbatimSymlinks: true, dereference: false });
  if (node !== 'debian') {
    copy(node === undefined ? process.execPath : nodeFrom(diskFolder(t), 'x64', node), '/usr/local/bin/node');
    const script = must('sh', ['-c', 'realpath "$(command -v npm)"']).trim();
    copy(dirname(dirname(script)), '/usr/local/lib/node_modules/npm');
    for (const name of ['npm', 'npx'])
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr', 'local', 'bin', name));
  }
  const option = (name: string) => must('npm', ['config', 'get', name], { cwd: '/' }).trim();
  const home = user ? '/home/user' : '/root';
  mkdirSync(join(root, dirname(clone)), { recursive: true });
  copy(option('userconfig'), `${home}/.npmrc`);
  copy(option('globalconfig'), node === 'debian' ? '/etc/npmrc' : '/usr/local/etc/npmrc');
  for (const path of ['/etc/hosts', '/etc/resolv.conf', option('cafile'), process.env.NODE_EXTRA_CA_CERTS ?? ''])
    copy(path, path);
  must('git', ['clone', '--quiet', ROOT, join(root, clone)]);
  must('chmod', ['700', join(root, home)]);
  if (user) {
    must('chroot', [root, 'useradd', '--uid', '1000', '--shell', '/bin/bash', 'user']);
    must('chown', ['-R', '1000:1000', join(root, home)]);
  }
}

/** Runs a command there in the clone. */
function start(t: Test, root: string, machine: Machine, ...argv: string[]) {
  const kind = machine.container ? 'container' : machine.user ? 'user' : 'bare';
  const own = ['--mount', '--propagation', 'private', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
  const where = machine.busy ? ['taskset', '--cpu-list', '0'] : [];
  const [program = '', ...args] = [...where, 'unshare', ...own, 'sh', '-ec', ENTER, 'sh', root, machine.clone, kind];
  const child: ChildProcess = spawn(program, [...args, ...argv], { env: envOf(machine) });
  const said = follow(child, t);
  return { child, told: () => said.all, exit: said.exit };
}

/** The seconds since then. */
const since = (began: number) => `${((performance.now() - began) / 1000).toFixed(0)} s`;

/** How many checks `npm test` passed, by its last line; its cost; and the same output. */
const countOf = (said: string) => Number(/^(\d+) passed, 0 failed(?:, \d+ skipped)?$/m.exec(said)?.[1] ?? Number.NaN);

const words = process.env.TESTS?.split(' ').flatMap((word, i) => (i === 0 ? ['--', word] : [word])) ?? [];
const chosen = process.env.MACHINES?.split(' ') ?? Object.keys(MACHINES);
let here = Number.NaN;

t.test('npm test, with all packages of CI', { skip: missing }, async t => {
  // As anybody runs it, not as a part of the long tests.
  const env = { ...process.env, CI: 'true', BEOBOARD_TEST_WHOLE: undefined, SEED: undefined };
  const said = follow(spawn('npm', ['test', ...words], { cwd: ROOT, env }), t);
  t.equal(await said.exit, 0, said.all);
  here = countOf(said.all);
  t.comment(said.all.trimEnd().split('\n').slice(-3).join('; '));
});

for (const name of chosen) {
  const machine = MACHINES[name];
  if (machine === undefined) throw new Error(`MACHINES: ${name} is none of ${Object.keys(MACHINES).join(' ')}`);
  t.test(name, { skip: missing }, async t => {
    const root = join(diskFolder(t), 'root');
    mkdirSync(root);
    const making = performance.now();
    install(t, root, machine);
    t.comment(`the system: ${since(making)}`);

    if (!machine.busy) {
      const began = performance.now();
      const { child, told, exit } = start(t, root, machine, 'script', '-qefc', 'npm start', '/dev/null');
      const seen = new Promise<void>(resolve => child.stdout?.on('data', () => /\d live/.test(told()) && resolve()));
      await Promise.race([seen, exit]);
      t.match(told(), /\d live/, 'npm start shows nodes');
      t.comment(`npm start: ${since(began)} to its screen`);
      child.stdin?.write('\x03');
      t.equal(await exit, 0, 'Ctrl-C ends it');
      const piped = start(t, root, machine, 'timeout', '60', 'npm', 'start', '--', '--for', '10s');
      t.equal(await piped.exit, 0, piped.told());
      t.match(piped.told(), /4\d\d live/, 'and so it does without a terminal');
    }

    const loops = machine.busy
      ? Array.from({ length: 4 }, () => spawn('taskset', ['--cpu-list', '0', 'sh', '-c', 'while :; do :; done']))
      : [];
    t.teardown(() => loops.forEach(loop => void loop.kill('SIGKILL')));
    const { told, exit } = start(t, root, machine, 'npm', 'test', ...words);
    const code = await exit;
    t.equal(code, 0, told());
    const count = countOf(told());
    t.ok(count >= machine.share * here, `${count} of ${here} checks passed`);
    t.comment(told().trimEnd().split('\n').slice(-3).join('; '));
    const tap = readFileSync(join(root, machine.clone, 'build', 'test.tap'), 'utf8');
    for (const [, what = '', why = ''] of tap.matchAll(/^ *ok \d+ - (.*?) # (?:SKIP|TODO)\b ?(.*)$/gm))
      t.match(why, /\w+ \w+/, `${what}: why it was skipped`);
    for (const [line] of told().matchAll(/^skipped: .*$/gm)) t.comment(line);
    rmSync(root, { recursive: true, force: true });
  });
}
