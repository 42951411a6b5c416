// Shared by the benchmarks: starting programs and what they cost, waiting and ending, folders, and rows of results.

import { execFileSync, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// With it Node reads certificates at every start: Debian's take longer than everything else, and are not what we
// measure.
delete process.env.NODE_EXTRA_CA_CERTS;

/** A path from this folder. */
export const at = path => fileURLToPath(new URL(path, import.meta.url));

/** Our program, for `node`. */
export const MAIN = at('../dist/bin/beoboard.cjs');

/** The port of an address. */
export const portOf = address => Number(address.split(':').at(-1));

/** The program of another build, with which this one is compared; undefined: of none. */
export const OTHER = process.env.BEOBOARD_OTHER && join(process.env.BEOBOARD_OTHER, 'dist', 'bin', 'beoboard.cjs');

const startOf = (program, argv) => fork(program, argv, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });

/** Starts a verb of ours, which says when it is ready. */
export const start = (...argv) => startOf(MAIN, argv);

/** Starts one that listens: its process, and its port. */
export const serve = (...argv) => serveOf(MAIN, ...argv);

/** The same of another build. */
export async function serveOf(program, ...argv) {
  const child = startOf(program, argv);
  const [{ listening }] = await once(child, 'message');
  return { child, pid: child.pid, port: portOf(listening[0]) };
}

/** Whether there is a program; if not, says of which package of Debian it is. */
export function isInstalled(program, apt, say) {
  const is = spawnSync('sh', ['-c', 'command -v "$0"', program]).status === 0;
  if (!is) say(`no ${program} here: apt-get install ${apt}`);
  return is;
}

/** Compiles a C program of this folder into another one; returns its path. */
export function compileOne(into, name, { compiler = 'cc', flags = ['-O2'], more = [] } = {}) {
  const program = join(into, name);
  const always = ['-std=c11', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Wpedantic', '-Werror'];
  execFileSync(compiler, [...always, ...flags, '-o', program, at(`./${name}.c`), ...more]);
  return program;
}

/** Makes what a folder of c/ has, into another one. */
export const make = (room, into, ...more) =>
  execFileSync('make', ['-s', '-j2', '-C', at(`../c/${room}`), `OUT=${into}`, ...more], { stdio: 'pipe' });

/** What a program prints until it ends; that it does with 0. */
export async function outputOf(program, argv, options = {}) {
  const child = spawn(program, argv, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
  const closed = once(child, 'close');
  let told = '';
  for await (const data of child.stdout) told += data;
  const [code] = await closed;
  if (code !== 0) throw new Error(`${[program, ...argv].join(' ')} ended with ${code}`);
  return told;
}

/**
 * Starts a program, and returns its CPU time in us after it has ended successfully. A fork of Python alone would be 60
 * ms.
 */
const SPENT = `
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, 1, '/dev/null', os.O_WRONLY, 0)]
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, used = os.wait4(pid, 0)
if status: sys.exit(1)
print(round(1e6 * (used.ru_utime + used.ru_stime)))
`;

/** CPU time of a whole process, ms. */
export const spent = async (...argv) => Number(await outputOf('python3', ['-c', SPENT, ...argv])) / 1000;

/** Samples by name, and rows of them; there is no row of a name without samples. */
export function notes() {
  const samples = {};
  return {
    samples,
    note(name, sample) {
      samples[name] ??= [];
      samples[name].push(sample);
    },
    row: (figure, unit, name, bound, of = sample => sample) =>
      samples[name] === undefined ? [] : [{ figure, unit, samples: samples[name].map(of), bound }],
  };
}

const readOf = path => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the process has ended
  }
};

/** The folders of a process's threads. */
function tasksOf(pid) {
  const folder = `/proc/${pid}/task`;
  return existsSync(folder) ? readdirSync(folder).map(task => `${folder}/${task}`) : [];
}

/** CPU time of a process, all its threads, in us; 0 when it is gone. */
export function cpuOf(pid) {
  const ns = tasksOf(pid).map(task => Number(readOf(`${task}/schedstat`).split(' ')[0]));
  return ns.reduce((a, b) => a + b, 0) / 1000;
}

/** A process and all below it. */
export function treeOf(pid) {
  const children = readOf(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean);
  return [pid, ...children.flatMap(child => treeOf(Number(child)))];
}

/** The memory of a process in KiB; shared pages count in proportion. */
export const pssOf = pid => Number(/^Pss:\s+(\d+) kB$/m.exec(readOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);

/** The private memory of a process, MiB: without boards and other files that it maps. */
export const ownMiB = pid => Number(/^RssAnon:\s+(\d+) kB$/m.exec(readOf(`/proc/${pid}/status`))?.[1] ?? 0) / 1024;

/** How many threads a process has, and how often they have left the CPU, voluntarily or not. */
export function threadsOf(pid) {
  const tasks = tasksOf(pid);
  const switches = tasks
    .flatMap(task => [...readOf(`${task}/status`).matchAll(/ctxt_switches:\s+(\d+)/g)])
    .reduce((sum, [, count]) => sum + Number(count), 0);
  return { threads: tasks.length, switches };
}

/** System calls of running processes within so many seconds, all their threads; undefined without strace. */
export async function callsOf(pids, seconds) {
  const argv = ['-c', '-f', '-U', 'calls,name', ...pids.flatMap(pid => ['-p', String(pid)])];
  const child = spawn('strace', argv, { stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  child.stderr.on('data', data => {
    told += data;
  });
  const ended = once(child, 'close').catch(() => undefined);
  await Promise.race([ended, sleep(seconds)]);
  child.kill('SIGINT');
  await ended;
  const [, total] = /^ *(\d+) +total$/m.exec(told) ?? [];
  return total === undefined ? undefined : Number(total);
}

export const sleep = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000));

/** Waits until something is true, for at most half a minute. */
export async function until(holds, what) {
  for (let tries = 0; !holds(); tries++) {
    if (tries === 300) throw new Error(`it has not come: ${what}`);
    await sleep(0.1);
  }
}

/** Watches the clock in a program that does nothing else; `pauses` ends it, and gives the machine's pauses, ms. */
export function watchClock() {
  const child = fork(at('./pauses.mjs'));
  return {
    async pauses() {
      child.send('what?');
      const [pauses] = await once(child, 'message');
      await end(child);
      return pauses;
    },
  };
}

/** Ends a process of ours, and waits until it is gone. */
export async function end(child) {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

const folders = [];
process.on('exit', () => {
  for (const path of folders) rmSync(path, { recursive: true, force: true });
});
// Ctrl-C ends the children, too, and our files in memory are removed.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** A new folder, in shared memory if there is some, like boards; removed when the process ends, if not before. */
export function folder() {
  const path = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'beoboard-bench.'));
  folders.push(path);
  return path;
}

/**
 * Holds namespaces open until its stdin is closed. There is a dummy interface with the name of each real one, because
 * /sys still shows the real ones, and /proc/net/dev must have a line for each.
 */
const HOLDER = `ip link set lo up || exit 1
mount -t tmpfs -o mode=755 none /run || exit 1
for device in /sys/class/net/*/device; do
  name=\${device%/device}
  [ -e "$device" ] && ip link add "\${name##*/}" type veth
done
while [ $# -gt 0 ]; do
  mount --bind "$1" "$2" || exit 1
  shift 2
done
echo ready
exec cat`;

/**
 * A new network namespace and mount namespace, for programs that run there. Each of `mounts` is mounted over the file
 * or folder of that path, if this machine has it; this is visible only there.
 */
export async function openNamespace(mounts = {}) {
  const over = Object.entries(mounts).filter(([path]) => existsSync(path));
  const argv = ['--net', '--mount', '--propagation', 'private', 'sh', '-c', HOLDER, 'sh'];
  const holder = spawn('unshare', [...argv, ...over.flatMap(([path, what]) => [what, path])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [told] = await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')]);
  if (String(told) !== 'ready\n')
    throw new Error('no namespaces here: it needs root, and the packages iproute2 and util-linux');
  const children = [];
  const numbers = (file, line) =>
    new RegExp(`^ *${line}: *(\\d.*)$`, 'm')
      .exec(readOf(`/proc/${holder.pid}/net/${file}`))[1]
      .split(/ +/)
      .map(Number);
  return {
    /** Runs a program there, which ends when we end. */
    run(program, argv, options = {}) {
      const ending = ['setpriv', '--pdeathsig', 'KILL', program, ...argv];
      const enter = ['--net', '--mount', '--target', String(holder.pid), '--', ...ending];
      const child = spawn('nsenter', enter, { stdio: 'ignore', ...options });
      children.push(child);
      return child;
    },
    /** The traffic of its loopback. */
    traffic() {
      const [bytes, packets] = numbers('dev', 'lo');
      return { bytes, packets };
    },
    /** UDP datagrams there: read by programs, and lost because a socket was full. */
    datagrams() {
      const [taken, , , , lost] = numbers('snmp', 'Udp');
      return { taken, lost };
    },
    /** Ends everything that runs there, and the namespace. */
    async close() {
      for (const child of children) await end(child);
      holder.stdin.end();
      await once(holder, 'exit');
    },
  };
}

/** The rows of a benchmark that runs in its own network namespace, which a shell command prepares. */
export async function inOwnNetwork(network, file, name, quick) {
  const inside = [process.execPath, at('./inside.mjs'), file, name, quick ? 'quick' : 'long'];
  const argv = ['-n', 'sh', '-c', `${network} && exec "$0" "$@"`, ...inside];
  return JSON.parse(await outputOf('unshare', argv));
}
