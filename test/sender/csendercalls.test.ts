// The system calls of the sender in C, report by report, as strace sees them. In a network of its own: the sender reads
// all interfaces of its machine, and other tests make some meanwhile.
//
// @seconds 15
// @waits
// @rest

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { compileSender } from '../kit/compiling.js';
import { Hearer, startIn } from '../kit/hanging.js';
import { lacks } from '../kit/lacking.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { folder, type Teardown } from '../kit/places.js';
import { trees } from '../kit/tree.js';

t.setTimeout(600_000);

const sender = compileSender(t);

/** Traces all threads. The program is the process that was started, not strace: with it both end, strace a little later. */
const STRACE = ['strace', '-D', '-f', '-e', 'signal=none'];

/** The sender's system calls are written to the file until the test ends. */
const begin = (t: Teardown, argv: string[], file: string, only: string[] = []) =>
  startIn(t, { prefix: [...STRACE, ...only, '-o', file], sender }, ['send', '--name', 'node1', ...argv]);

/** The system calls in a file of strace, of all threads, in the order in which the calls began. */
function callsIn(file: string): { thread: string; name: string; rest: string }[] {
  return [...readFileSync(file, 'utf8').matchAll(/^(\d+) +(\w+)\((.*)$/gm)].map(
    ([, thread = '', name = '', rest = '']) => ({ thread, name, rest }),
  );
}

const itsCalls = async (t: Test) => {
  const hearers = [await Hearer.open(t), await Hearer.open(t)];
  const [hearer] = hearers as [Hearer];
  const file = join(folder(t), 'calls');
  const to = hearers.flatMap(({ address }) => ['--to', address]);
  const traced = begin(t, to, file);
  // Slow sources are read every ten seconds: this covers two such rounds and everything between them.
  await hearer.next('thirteen reports are there', ({ seq }) => seq === 13);
  traced.child.kill('SIGTERM');
  await hearer.next('it has said goodbye', ({ marks }) => marks.includes('goodbye'));
  await traced.closed;

  const reports: ReturnType<typeof callsIn>[] = [[]];
  let datagrams = 0;
  for (const call of callsIn(file)) {
    reports.at(-1)?.push(call);
    if (call.name === 'sendto' && ++datagrams % hearers.length === 0) reports.push([]);
  }
  const later = reports.slice(3, 13);
  const names = (calls: ReturnType<typeof callsIn>, ...wanted: string[]) =>
    calls.filter(({ name }) => wanted.includes(name));
  t.comment(`calls for each report: ${later.map(calls => calls.length).join(', ')}`);
  const mean = later.reduce((sum, calls) => sum + calls.length, 0) / later.length;
  t.ok(mean <= 40, `${mean} system calls a report, what is read seldom included`);
  const usual = later.map(calls => calls.length).sort((a, b) => a - b)[5] ?? 99;
  t.ok(usual <= 30, `mostly ${usual}`);
  t.strictSame(
    later.map(calls => names(calls, 'sendto', 'sendmsg', 'sendmmsg', 'write', 'writev').map(({ name }) => name)),
    later.map(() => hearers.map(() => 'sendto')),
    'one datagram for each destination, and nothing else',
  );
  const all = reports.slice(1).flat();
  t.strictSame(names(all, 'brk', 'mmap', 'mremap', 'munmap', 'execve'), [], 'no memory after the first');
  // When a source gets no CPU for 180 ms, a new thread continues with the others: on a busy machine once or twice.
  t.ok(names(all, 'clone', 'clone3').length <= 2, 'and no threads');
  const fast = /\/proc\/(stat|loadavg|meminfo|vmstat|pressure\/cpu|net\/dev|net\/snmp|diskstats|sys\/fs\/file-nr)"/;
  t.strictSame(
    all.filter(({ name, rest }) => name.startsWith('open') && fast.test(rest)),
    [],
    'no file of the fast sets is opened again',
  );
  t.ok(
    later.every(calls => names(calls, 'pread64').length >= 8),
    'they are read where they are open',
  );
  const main = all.find(({ name }) => name === 'sendto')?.thread;
  const slow = /infiniband|hwmon|powercap|mountinfo|run\/beoboard|statfs/;
  t.strictSame(
    all.filter(({ thread, name, rest }) => thread === main && (slow.test(rest) || name === 'statfs')),
    [],
    'what can block is asked by another thread',
  );
};

const itsPackages = async (t: Test) => {
  const hearer = await Hearer.open(t);
  const own = folder(t);
  const file = join(own, 'calls');
  const argv = ['--to', hearer.address, ...trees('cpus-512', own)];
  const traced = begin(t, argv, file, ['-e', 'trace=open,openat']);
  await hearer.next('all sources were read', ({ sets }) => sets.includes('hw_hash') && sets.includes('temp_hottest'));
  traced.child.kill('SIGTERM');
  await traced.closed;
  const opened = callsIn(file).filter(({ rest }) => rest.includes('/topology/physical_package_id'));
  t.equal(opened.length, 2 * 512, 'the loop once, and the slow side once for all its sources');
};

// sysfs shows the interfaces of the network in which it was mounted.
const SETUP = 'mount -t sysfs sysfs /sys && ip link set lo up';
const skip = lacks('strace', 'strace');
if (INSIDE) {
  t.jobs = 2;
  t.test('its system calls, report by report', { buffered: true }, itsCalls);
  t.test('512 CPUs: how often it looks for their packages', { buffered: true }, itsPackages);
} else if (skip !== false) t.pass('skipped', { skip });
else inOwnNetwork(t, SETUP, import.meta.url);
