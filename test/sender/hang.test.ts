// Nothing that hangs silences a node: a real sender, a real socket, and file systems that hang in statfs, in lookups,
// opening and reading. Not one report is late or missing, the other sources continue, and what hung recovers.
//
// @seconds 21
// @waits
// @rest
// @days 3

import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, symlinkSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import {
  childrenOf,
  HangingCalls,
  HangingFolder,
  type Heard,
  Hearer,
  inNamespace,
  isAlive,
  type Moment,
  noFileSystem,
  startIn,
  statOf,
  writeTree,
} from '../kit/hanging.js';
import { folder, memoryFolder } from '../kit/places.js';
import { SENDER } from '../kit/program.js';
import { until } from '../kit/until.js';
import { Waits } from './waits.js';

// They mostly wait, so they run at the same time.
t.jobs = 4;
t.setTimeout(600_000);
const skip = process.env.CI !== 'true' && (noFileSystem() ?? false);

const SECOND = 1_000_000_000n;

/** A /sys with files for most slow sources. */
const SYS = {
  'class/hwmon/hwmon0/name': 'k10temp\n',
  'class/hwmon/hwmon0/temp1_input': '41000\n',
  'class/powercap/intel-rapl:0/name': 'package-0\n',
  'class/powercap/intel-rapl:0/energy_uj': '5000000\n',
  'class/powercap/intel-rapl:0/max_energy_range_uj': '262143328850\n',
};
const PORT = {
  'mlx5_0/ports/1/state': '4: ACTIVE\n',
  'mlx5_0/ports/1/rate': '100 Gb/sec (4X EDR)\n',
  'mlx5_0/ports/1/counters/port_rcv_data': '1000\n',
  'mlx5_0/ports/1/counters/port_xmit_data': '2000\n',
  'mlx5_0/ports/1/counters/port_rcv_packets': '10\n',
  'mlx5_0/ports/1/counters/port_xmit_packets': '20\n',
};
const RUN = { health: 'ok check\n', power: '345\n', gpu: 'gpu 1 nvidia 1\n50 60 70 100 200 1 0 0\n' };
/** Sets that nothing in these tests removes. */
const ALWAYS = ['taint', 'energy_cpu', 'temp_hottest', 'root', 'sw_hash'];

function makeSys(t: Parameters<typeof folder>[0], more: Record<string, string> = {}): string {
  const sys = memoryFolder(t);
  writeTree(sys, { ...SYS, ...more });
  return sys;
}

const has = (report: Heard, sets: readonly string[]) => sets.every(set => report.sets.includes(set));
/**
 * Whether a report has a round that was closed after the hang was noticed, and therefore without the hanging source.
 */
const isAfter = (report: Heard, stale: Heard) => report.slow_boot_ns > stale.t_boot_ns;
const isStale = ({ marks }: Heard) => marks.includes('slow_stale');

/** In how many rounds these reports were made. One begins each second, or later on a busy machine. */
const roundsOf = (reports: readonly Heard[]) => new Set(reports.map(({ slow_boot_ns }) => slow_boot_ns)).size;

/**
 * How many of these reports should have had a newer round than the report before, and the machine was not the cause: it
 * is longer overdue than the slow side waited for a CPU since the last one.
 */
function missingRounds(reports: readonly Heard[], waits: Waits): number {
  let missing = 0;
  const closings = [...new Set(reports.map(({ slow_boot_ns }) => slow_boot_ns))];
  for (const [i, closed] of closings.entries()) {
    const next = closings[i + 1] ?? reports.at(-1)?.t_boot_ns ?? closed;
    const starved = waits.starvedNs(closed, next);
    const overdue = (at: bigint) => (Number(at - closed - SECOND) - starved) / 1e9;
    const [, ...again] = reports.filter(({ slow_boot_ns }) => slow_boot_ns === closed);
    const without = again.filter(({ t_boot_ns }) => overdue(t_boot_ns) > 0).length;
    missing += Math.min(without, Math.max(0, Math.ceil(overdue(next))));
  }
  return missing;
}

/** The lines that a sender logs about a slow source, only `answers …` or `does not …`. */
const told = (lines: string[], source: string) =>
  lines
    .filter(line => line.includes(`the slow source ${source} `))
    .map(line => line.replace(/^.* (?=answers|does not)|:.*$/g, ''));

/**
 * The sender waits only for its next tick: no report is late, skipped, lost or without these sets, except where the
 * machine itself was the cause. Rounds continue at one per report, but a round in which a source hangs waits a second
 * for it, and for a new child process.
 */
async function goesOn(t: Test, reports: readonly Heard[], waits: Waits, sets: readonly string[], hanging = 1) {
  await waits.stop();
  t.equal(waits.places().length, 1, 'it waits in one place');
  const [first] = reports;
  t.same(
    reports.map(({ seq }) => seq),
    reports.map((_, i) => (first?.seq ?? 0) + i),
    'each number once',
  );
  const late = reports.filter(({ marks }) => marks.includes('late') || marks.includes('skipped'));
  const heldUp = late.filter(report => waits.wasHeldUp(reports[reports.indexOf(report) - 1], report));
  if (heldUp.length > 0) t.comment(`the machine held up ${heldUp.length} of ${reports.length} reports`);
  t.same(
    late.filter(report => !heldUp.includes(report)),
    [],
    'none is late, and none was skipped',
  );
  t.ok(
    heldUp.some(({ marks }) => marks.includes('skipped')) ||
      reports.every(({ missed_ticks }) => missed_ticks === first?.missed_ticks),
    'no tick is missed',
  );
  const lost = reports.map(report => sets.filter(set => !report.sets.includes(set)));
  t.same([...new Set(lost.flat())], [], 'the other sources keep their bits');
  // Rounds and reports have the same period, but not the same phase.
  const [rounds, missing] = [roundsOf(reports), missingRounds(reports, waits)];
  t.comment(`${rounds} rounds in ${reports.length} reports, ${missing} missing`);
  t.ok(missing <= 3 * hanging + 1, 'rounds are closed');
}

t.test('statfs of the scratch', { buffered: true }, async t => {
  const hearer = await Hearer.open(t);
  const scratch = folder(t);
  const statfs = new HangingCalls(t, scratch);
  const argv = ['send', '--to', hearer.address, '--sys', makeSys(t), '--scratch', scratch];
  const sender = startIn(t, { env: statfs.env }, argv);
  await hearer.next('all is there', report => has(report, [...ALWAYS, 'scratch']));
  // From here on it is watched, and soon hangs: a watcher may take long to start.
  const waits = await Waits.open(t, sender.pid);
  const from = hearer.reports.length;
  statfs.hang();
  await hearer.next('it is seen to hang', isStale);
  const gone = await hearer.next('its bit is gone', report => !report.sets.includes('scratch'));
  // It is read every 10 s and stays valid for two such periods; then the round has to end, and a report has to follow.
  const until = hearer.reports.slice(from, hearer.reports.indexOf(gone) + 1);
  t.ok(roundsOf(until) <= 23, `within two of its periods: ${roundsOf(until)} rounds of a second`);
  t.ok(isStale(gone));
  t.same(told(sender.lines(), 'scratch'), ['does not answer']);
  statfs.release();
  const back = await hearer.next('it is back', report => report.sets.includes('scratch') && !isStale(report));
  t.ok((back.scratch_total_mib ?? 0) > 0);
  t.same(told(sender.lines(), 'scratch'), ['does not answer', 'answers again']);
  await goesOn(t, hearer.reports.slice(from), waits, ALWAYS);
  sender.child.kill('SIGTERM');
  t.equal(await sender.exit, 0);
});

for (const moment of ['look-up', 'open', 'read'] as Moment[])
  t.test(`files of others, in ${moment}`, { buffered: true, skip }, async t => {
    const hearer = await Hearer.open(t);
    const others = new HangingFolder(t, '/run/beoboard');
    others.write(RUN);
    const argv = ['send', '--to', hearer.address, '--sys', makeSys(t), '--scratch', folder(t)];
    const sender = startIn(t, others, argv);
    const SETS = ['health', 'power', 'gpu', 'gpu_errors'];
    const whole = await hearer.next('all is there', report => has(report, [...ALWAYS, 'scratch', ...SETS]));
    t.match(whole, { health: 1, power_node_w: 345, gpu_count: 1, gpu: [{ util_pct: 50, temp_degc: 60 }] });
    const waits = await Waits.open(t, sender.pid);
    const from = hearer.reports.length;
    others.hang(moment);
    const stale = await hearer.next('it is seen to hang', isStale);
    const closed = await hearer.next('a round is closed', report => isAfter(report, stale));
    t.notOk(closed.sets.includes('health'), 'what is read in every round is gone with the round in which it hung');
    const gone = await hearer.next('all of them are gone', ({ sets }) => !SETS.some(set => sets.includes(set)));
    // These are read every 5 s, last before the hang; each one is noticed in its own round.
    const until = hearer.reports.slice(from, hearer.reports.indexOf(gone) + 1);
    t.ok(roundsOf(until) <= 13, `within two of their periods: ${roundsOf(until)} rounds of a second`);
    others.release();
    const back = await hearer.next('all is back', report => has(report, SETS) && !isStale(report));
    t.match(back, { health: 1, power_node_w: 345, gpu_count: 1 });
    for (const source of ['health', 'power', 'gpu'])
      t.same(told(sender.lines(), source), ['does not answer', 'answers again'], source);
    await goesOn(t, hearer.reports.slice(from), waits, [...ALWAYS, 'scratch'], 3);
  });

t.test('counters below /sys', { buffered: true, skip }, async t => {
  const hearer = await Hearer.open(t);
  const sys = makeSys(t);
  const ports = new HangingFolder(t, join(sys, 'class/infiniband'));
  ports.write(PORT);
  const argv = ['send', '--to', hearer.address, '--sys', sys, '--scratch', folder(t)];
  const sender = startIn(t, ports, argv);
  await hearer.next('all is there', report => has(report, [...ALWAYS, 'fabric']));
  const waits = await Waits.open(t, sender.pid);
  const from = hearer.reports.length;
  ports.hang('read');
  const stale = await hearer.next('it is seen to hang', isStale);
  await hearer.next('a round is closed', report => isAfter(report, stale));
  const counting = await hearer.more(2);
  t.ok(
    counting.every(({ sets }) => sets.includes('energy_cpu') && !sets.includes('fabric')),
    'it is gone with the round in which it hung; the counters behind it are read again from the next on',
  );
  ports.release();
  const back = await hearer.next('it is back', report => report.sets.includes('fabric') && !isStale(report));
  t.match(back.fabric, { rx_bytes: 4000, tx_bytes: 8000 });
  t.same(told(sender.lines(), 'fabric'), ['does not answer', 'answers again']);
  // The counter after it in the same round could not be read in that round.
  const others = ALWAYS.filter(set => set !== 'energy_cpu');
  await goesOn(t, hearer.reports.slice(from), waits, others);
});

t.test('a node that is held stays held when something else hangs', { buffered: true, skip }, async t => {
  const hearer = await Hearer.open(t);
  const sys = makeSys(t);
  const ports = new HangingFolder(
    t,
    join(sys, 'class/infiniband'),
    'mkdir /run/beoboard && cd /run/beoboard && : >hold && echo bad admin >health',
  );
  ports.write(PORT);
  // Reports are frequent enough that none of the rounds is missed.
  const argv = ['send', '--interval', '100ms', '--to', hearer.address, '--sys', sys, '--scratch', folder(t)];
  startIn(t, ports, argv);
  await hearer.next('all is there', report => has(report, [...ALWAYS, 'fabric', 'health']));
  const from = hearer.reports.length;
  ports.hang('open');
  const stale = await hearer.next('it is seen to hang', isStale);
  await hearer.next('three more rounds are closed', report => report.slow_boot_ns - stale.slow_boot_ns > 3n * SECOND);
  const reports = hearer.reports.slice(from);
  t.same(
    reports.filter(({ marks, health }) => !marks.includes('held') || health !== 3).map(({ seq }) => seq),
    [],
  );
  ports.release(); // otherwise none of its threads could end
});

t.test(
  'the end while something hangs: goodbye, and nothing left behind but what the kernel holds',
  { buffered: true, skip },
  async t => {
    const hearer = await Hearer.open(t);
    const others = new HangingFolder(t, '/run/beoboard');
    others.write(RUN);
    const sender = startIn(t, others, ['send', '--to', hearer.address, '--sys', makeSys(t), '--scratch', folder(t)]);
    await hearer.next('all is there', report => has(report, ['health', 'power', 'gpu']));
    const waits = await Waits.open(t, sender.pid);
    const from = hearer.reports.length;
    others.hang('read');
    // Each of the three hangs in a child process, and the others go on in one more. The sender in C has threads instead.
    const goOn = (report: Heard) => (SENDER === '' ? childrenOf(sender.pid).length === 4 : isStale(report));
    await hearer.next('the others go on without them', goOn);
    const children = childrenOf(sender.pid);
    await waits.stop();
    const { seq } = hearer.last;
    sender.child.kill('SIGTERM');
    if (SENDER === '') t.equal(await sender.exit, 0);
    await until('the goodbye is heard', () => hearer.last.marks.includes('goodbye'));
    t.ok(hearer.last.seq <= seq + 2, 'at once');
    await goesOn(t, hearer.reports.slice(from), waits, [], 3);
    if (SENDER !== '') {
      await until('all else of it has ended', () => statOf(sender.pid)?.state === 'Z');
      others.release();
      t.equal(await sender.exit, 0);
      return;
    }
    await until('nothing runs any more', () =>
      children.every(child => statOf(child)?.state !== 'S' && statOf(child)?.state !== 'R'),
    );
    const left = children.filter(isAlive);
    t.equal(left.length, 3, 'what hangs in the kernel is there as long as it hangs');
    t.ok(left.every(child => statOf(child)?.state === 'D'));
    others.release();
    await until('it is gone when it is let go', () => !left.some(isAlive));
  },
);

t.test('the only report of a run', { buffered: true, skip }, async t => {
  const hearer = await Hearer.open(t);
  const others = new HangingFolder(t, '/run/beoboard');
  others.write(RUN);
  others.hang('open');
  const argv = ['send', '--once', '--to', hearer.address, '--sys', makeSys(t), '--scratch', folder(t)];
  const sender = startIn(t, others, argv);
  const report = await until('it is heard', () => hearer.reports[0]);
  if (SENDER !== '') others.release(); // a thread cannot end before the kernel releases it
  t.equal(await sender.exit, 0);
  for (const mark of ['first', 'goodbye', 'slow_stale']) t.ok(report.marks.includes(mark), mark);
  t.ok(has(report, ['taint', 'energy_cpu', 'load']), 'with what was read before it hung');
  t.notOk(has(report, ['power']));
});

t.test(
  'with a long interval, the readings of the other sources are not a whole interval late',
  { buffered: true, skip },
  async t => {
    const hearer = await Hearer.open(t);
    const others = new HangingFolder(t, '/run/beoboard');
    others.write(RUN);
    others.hang('open');
    const argv = ['send', '--interval', '8s', '--to', hearer.address, '--sys', makeSys(t), '--scratch', folder(t)];
    const sender = startIn(t, others, argv);
    const closed = await hearer.next('the first round is closed', ({ slow_boot_ns }) => slow_boot_ns > 0n);
    t.ok(isStale(closed));
    t.same(told(sender.lines(), 'power'), ['does not answer']);
    const lost = ALWAYS.filter(set => !closed.sets.includes(set));
    t.same(lost, [], 'what comes after it was read all the same');
    others.release();
  },
);

t.test('FIFOs in place of files do not hang it', { buffered: true, skip }, async t => {
  const hearer = await Hearer.open(t);
  const proc = memoryFolder(t);
  for (const path of ['stat', 'meminfo', 'self/mountinfo', 'sys/kernel/tainted', 'sys/kernel/osrelease']) {
    mkdirSync(dirname(join(proc, path)), { recursive: true });
    symlinkSync(join('/proc', path), join(proc, path));
  }
  const sys = makeSys(
    t,
    Object.fromEntries(Object.entries(PORT).map(([path, text]) => [`class/infiniband/${path}`, text])),
  );
  const planted = [
    join(proc, 'loadavg'),
    join(proc, 'cpuinfo'),
    ...[
      'devices/system/cpu/online',
      'class/net/lo/speed',
      'class/net/lo/flags',
      'class/hwmon/hwmon0/temp2_input',
      'class/infiniband/mlx5_1/ports/1/counters/port_xmit_data',
      'devices/system/edac/mc/mc0/ce_count',
    ].map(path => join(sys, path)),
  ];
  for (const path of planted) mkdirSync(dirname(path), { recursive: true });
  execFileSync('mkfifo', planted);
  const prefix = inNamespace('mkdir -m 755 /run/beoboard && cd /run/beoboard && mkfifo health hold power gpu');
  const argv = ['send', '--to', hearer.address, '--proc', proc, '--sys', sys, '--scratch', folder(t)];
  const sender = startIn(t, { prefix }, argv);
  await hearer.next('the first round is closed', ({ slow_boot_ns }) => slow_boot_ns > 0n);
  const waits = await Waits.open(t, sender.pid);
  const reports = await hearer.more(4);
  // One sensor or port costs itself, and not the others.
  const others = ['temp_hottest', 'fabric'];
  const sets = ['stat', 'memory', 'taint', 'energy_cpu', 'root', 'scratch', 'sw_hash', ...others];
  await goesOn(t, reports, waits, sets, 0);
  t.notOk(reports.some(isStale), 'nothing hangs');
  for (const set of ['load', 'cpus', 'edac', 'health', 'power', 'gpu'])
    t.notOk(
      reports.some(({ sets }) => sets.includes(set)),
      set,
    );
  t.notOk(reports.some(({ marks }) => marks.includes('held')));
  const why = (path: string) => sender.lines().filter(line => line.includes(path) && /regular file/.test(line)).length;
  for (const path of [...planted.slice(0, 1), '/run/beoboard/health', '/run/beoboard/power', '/run/beoboard/gpu'])
    t.equal(why(path), 1, `${path} is told of once`);
});

t.test('nobody reads its log', { buffered: true }, async t => {
  const hearer = await Hearer.open(t);
  const fifos = ['1', '2'].map(name => join(folder(t), name));
  execFileSync('mkfifo', fifos);
  const ends = fifos.map(path => {
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      for (;;) writeSync(fd, Buffer.alloc(4096));
    } catch {
      // The pipe is full.
    }
    return [fd, openSync(path, constants.O_WRONLY)] as const;
  });
  t.teardown(() => {
    for (const end of ends.flat()) closeSync(end);
  });
  const [, stdout = 0] = ends[0] ?? [];
  const [, stderr = 0] = ends[1] ?? [];
  const gone = '127.0.0.1:9';
  const sender = startIn(t, { stdio: ['ignore', stdout, stderr] }, [
    'send',
    '--to',
    hearer.address,
    '--to',
    '-',
    '--to',
    gone,
  ]);
  await hearer.next('the first round is closed', ({ slow_boot_ns }) => slow_boot_ns > 0n);
  const waits = await Waits.open(t, sender.pid);
  await goesOn(t, await hearer.more(4), waits, [], 0);
  sender.child.kill('SIGTERM');
  t.equal(await sender.exit, 0);
  await until('the goodbye is heard', () => hearer.last.marks.includes('goodbye'));
});
