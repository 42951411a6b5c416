// Shared by the benchmarks: the cost of a process, waiting and ending, and the folders of boards.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// With it Node reads certificates at every start: Debian's take longer than everything else, and are not what we
// measure.
delete process.env.NODE_EXTRA_CA_CERTS;

/** Our program, for `node`. */
export const MAIN = fileURLToPath(new URL('../dist/bin/beoboard.cjs', import.meta.url));

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

/** Runs a file again in a network namespace as `FILE inside quick|long`, and gives the rows that it prints. */
export async function inOwnNetwork(file, { quick, say }) {
  const script = 'ip link set lo up && exec "$0" "$1" inside "$2"';
  const argv = ['-n', 'sh', '-c', script, process.execPath, fileURLToPath(file), quick ? 'quick' : 'long'];
  const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  child.stdout.on('data', data => {
    told += data;
  });
  const [code] = await once(child, 'close');
  if (code === 0) return JSON.parse(told);
  say(`it ended with ${code}; a network namespace needs root`);
  return [];
}

/** The part that runs there: measures, and prints the rows. */
export async function printRows(name, measure) {
  const say = text => console.error(`bench: ${name}: ${text}`);
  console.log(JSON.stringify(await measure({ quick: process.argv[3] === 'quick', say })));
}
