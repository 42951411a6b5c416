// Shared by the tests of a sender that is stopped again and again: ways to stop it, and the check of what it sent
// meanwhile, which uses only the report's fields (t_boot_ns, late_us, missed_ticks, seq) and the times of the stops.
// For both senders. No test of its own.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { phase } from '../../src/sender/schedule.js';
import { type Heard, Hearer, startIn } from '../kit/hanging.js';

const MS = 1_000_000n;

/** A time in which the sender could not run, by CLOCK_BOOTTIME. */
interface Stop {
  from: bigint;
  to: bigint;
}

/** CLOCK_BOOTTIME, to 10 ms. */
function bootNs(): bigint {
  return BigInt(readFileSync('/proc/uptime', 'utf8').split(' ')[0]?.replace('.', '') ?? 0) * 10n * MS;
}

/** A way to stop and continue a process. */
interface Way {
  stop(): void;
  go(): void;
}

const bySignal = (pid: number): Way => ({
  stop: () => process.kill(pid, 'SIGSTOP'),
  go: () => process.kill(pid, 'SIGCONT'),
});

/** The freezer of cgroups, of either version; if there is none, the reason. */
function byFreezer(t: Test, pid: number): Way | string {
  const why: string[] = [];
  for (const [root, file, on, off] of [
    ['/sys/fs/cgroup', 'cgroup.freeze', '1', '0'],
    ['/sys/fs/cgroup/unified', 'cgroup.freeze', '1', '0'],
    ['/sys/fs/cgroup/freezer', 'freezer.state', 'FROZEN', 'THAWED'],
  ] as const) {
    const group = join(root, `beoboard-test.${process.pid}.${pid}`);
    try {
      mkdirSync(group);
    } catch (error) {
      why.push(String(error));
      continue;
    }
    const set = (state: string) => writeFileSync(join(group, file), state);
    t.teardown(async () => {
      try {
        set(off);
      } catch {
        // This file system is not a freezer.
      }
      // The group can be removed only after the process has gone.
      for (let left = 100; left > 0; left--) {
        try {
          return rmdirSync(group);
        } catch {
          await sleep(20);
        }
      }
    });
    try {
      if (!readdirSync(group).includes(file)) throw new Error(`${group} has no ${file}`);
      writeFileSync(join(group, 'cgroup.procs'), String(pid));
      return { stop: () => set(on), go: () => set(off) };
    } catch (error) {
      why.push(String(error));
    }
  }
  return why.join('; ');
}

/** Stops it once; returns the time in which it certainly could not run. */
async function stopFor(way: Way, ms: number): Promise<Stop> {
  way.stop();
  const from = bootNs() + 10n * MS; // /proc/uptime cuts off the digits after 10 ms
  await sleep(ms);
  const to = bootNs();
  way.go();
  return { from, to };
}

/**
 * The grid point for which a report was made: the point that it waited for, plus the whole intervals by which it was
 * late.
 */
function pointOf({ t_boot_ns, late_us = 0 }: Heard, interval: bigint, shift: bigint): bigint {
  const late = BigInt(late_us) * 1000n;
  return (t_boot_ns - late - shift + interval / 2n) / interval + late / interval;
}

/**
 * Checks reports of a sender that was stopped now and then: each grid point has one report or is counted as missed; a
 * point is missed only if the next one came before the sender could run; and as soon as it can run, the report comes.
 * @param shiftNs by how much its boot clock is ahead of ours
 */
function judge(t: Test, reports: readonly Heard[], stops: readonly Stop[], intervalMs: number, shiftNs = 0n): void {
  const interval = BigInt(intervalMs) * MS;
  const shift = phase('node1', interval);
  const [first] = reports;
  t.same(
    reports.map(({ seq }) => seq),
    reports.map((_, i) => (first?.seq ?? 0) + i),
    'each number once',
  );
  // The first report comes at the start, and the last is the goodbye: neither is for a grid point.
  const ticks = reports.filter(({ marks }) => !marks.includes('first') && !marks.includes('goodbye'));
  const rows = ticks.map(report => ({ report, point: pointOf(report, interval, shift) }));
  let unexplained = 0;
  const waits: number[] = [];
  for (const [i, { report, point }] of rows.entries()) {
    const before = rows[i - 1];
    if (before !== undefined) {
      const missed = BigInt((report.missed_ticks ?? 0) - (before.report.missed_ticks ?? 0));
      if (point - before.point !== 1n + missed)
        t.fail(
          `report ${report.seq}: ${point - before.point} points after the one before, of which ${missed} are told as missed`,
        );
      if (missed > 0n && !report.marks.includes('skipped')) t.fail(`report ${report.seq} misses the flag "skipped"`);
      for (let lost = before.point + 1n; lost < point; lost++) {
        // A missed point is explained if the sender was stopped until the next point; half of this time is enough,
        // because the two processes may have to wait for a CPU.
        const due = lost * interval + shift - shiftNs;
        let stopped = 0n;
        for (const { from, to } of stops) {
          const overlap = (to < due + interval ? to : due + interval) - (from > due ? from : due);
          if (overlap > 0n) stopped += overlap;
        }
        if (stopped < interval / 2n) unexplained++;
      }
    }
    // The time at which the report was due.
    const due = point * interval + shift - shiftNs;
    const stop = stops.find(({ from, to }) => from <= due && due < to);
    if (stop !== undefined) waits.push(Number(report.t_boot_ns - shiftNs - stop.to) / 1e6);
  }
  const late = waits.sort((a, b) => a - b)[Math.floor(waits.length / 2)] ?? 0;
  t.comment(
    `${rows.length} reports, ${stops.length} stops, ${waits.length} of them where a report was due: half came within ${late} ms; ` +
      `missed ${rows.at(-1)?.report.missed_ticks}, of which ${unexplained} for no stop`,
  );
  t.ok(late < intervalMs / 4, `what waited for the end of a stop comes at once, and not at the next point: ${late} ms`);
  t.ok(unexplained <= rows.length / 10, `on a machine that lets it run none is missed, or few: ${unexplained}`);
}

/** Starts a sender and its master, and waits until it reports. */
async function begin(t: Test, sender: string | undefined, intervalMs: number, prefix: string[] = []) {
  const hearer = await Hearer.open(t);
  const argv = ['send', '--name', 'node1', '--interval', `${intervalMs}ms`, '--to', hearer.address];
  const running = startIn(t, { sender, prefix }, argv);
  await hearer.more(3);
  return { hearer, running };
}

/**
 * Tests of a sender that is stopped; `sender` is run instead of `beoboard send`. `steadySeconds`: for how long it gets
 * a fifth of the time.
 */
export function stopTests(t: Test, sender?: string, steadySeconds = 20): void {
  const seed = Number(process.env.SEED ?? 28);

  t.test('stops of 1 to 900 ms at any moment: SIGSTOP', { buffered: true }, async t => {
    t.comment(`seed ${seed}, another one by SEED=n`);
    const next = random(seed);
    const { hearer, running } = await begin(t, sender, 500);
    const stops: Stop[] = [];
    for (let i = 0; i < 20; i++) {
      await sleep(next() * 500);
      stops.push(await stopFor(bySignal(running.pid), 1 + next() * 899));
    }
    await hearer.more(2);
    running.child.kill('SIGTERM');
    t.equal(await running.exit, 0);
    judge(t, hearer.reports, stops, 500);
  });

  t.test('the same in the freezer', { buffered: true }, async t => {
    const next = random(seed + 1);
    const { hearer, running } = await begin(t, sender, 500);
    const way = byFreezer(t, running.pid);
    if (typeof way === 'string') {
      t.pass('no freezer here', { skip: way });
      return;
    }
    const stops: Stop[] = [];
    for (let i = 0; i < 15; i++) {
      await sleep(next() * 500);
      stops.push(await stopFor(way, 1 + next() * 899));
    }
    await hearer.more(2);
    running.child.kill('SIGTERM');
    t.equal(await running.exit, 0);
    judge(t, hearer.reports, stops, 500);
  });

  t.test('a stop of 10 ms many times in each interval', { buffered: true }, async t => {
    const { hearer, running } = await begin(t, sender, 1000);
    const from = hearer.reports.length;
    const stops: Stop[] = [];
    // A sender whose wait starts again after each stop would never send.
    for (let since = 0, heard = from; hearer.reports.length < from + 5 && since < 40; since++) {
      stops.push(await stopFor(bySignal(running.pid), 10));
      await sleep(150);
      if (hearer.reports.length > heard) [heard, since] = [hearer.reports.length, 0];
    }
    t.ok(hearer.reports.length >= from + 5, 'reports come, though it is stopped all the time');
    running.child.kill('SIGTERM');
    t.equal(await running.exit, 0);
    judge(t, hearer.reports, stops, 1000);
  });

  t.test(`a fifth of the time for ${steadySeconds} s, as cpulimit does it`, { buffered: true }, async t => {
    const { hearer, running } = await begin(t, sender, 500);
    const stops: Stop[] = [];
    for (const end = performance.now() + steadySeconds * 1000; performance.now() < end; ) {
      stops.push(await stopFor(bySignal(running.pid), 80));
      await sleep(20);
    }
    await hearer.more(1);
    running.child.kill('SIGTERM');
    t.equal(await running.exit, 0);
    judge(t, hearer.reports, stops, 500);
  });

  // After a suspend, the boot clock is ahead of the monotonic clock. A time namespace gives the same result without a
  // suspend.
  t.test('on a machine that has slept for a day', { buffered: true }, async t => {
    const ahead = 86_400_000n * MS;
    const slept = ['unshare', '-T', '--boottime', '86400'];
    const tried = spawnSync(slept[0] ?? '', [...slept.slice(1), 'cat', '/proc/uptime'], { encoding: 'utf8' });
    // Before Linux 6.3, only child processes enter the namespace.
    if (Number.parseFloat(tried.stdout) < 86_400 || tried.status !== 0) {
      t.pass('no time namespace here', { skip: `needs root, time namespaces and Linux 6.3: ${tried.stderr}` });
      return;
    }
    const { hearer, running } = await begin(t, sender, 500, slept);
    const stops: Stop[] = [];
    for (let i = 0; i < 5; i++) {
      stops.push(await stopFor(bySignal(running.pid), 300));
      await hearer.more(1);
    }
    running.child.kill('SIGTERM');
    t.equal(await running.exit, 0);
    judge(t, hearer.reports, stops, 500, ahead);
  });
}
