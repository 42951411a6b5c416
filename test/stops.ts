// What tests of a sender that is stopped again and again share: ways to stop it, and how what it sent meanwhile is judged, by its
// own fields (t_boot_ns, late_us, missed_ticks, seq) and the times of the stops alone. Over either sender. No test of its own.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { random } from '../src/load/simulatednode.js';
import { phase } from '../src/sender/schedule.js';
import { type Heard, Hearer, startIn } from './hanging.js';

const MS = 1_000_000n;

/** A time in which the sender could not run, on CLOCK_BOOTTIME. */
export interface Stop {
  from: bigint;
  to: bigint;
}

/** CLOCK_BOOTTIME, to 10 ms. */
export function bootNs(): bigint {
  return BigInt(readFileSync('/proc/uptime', 'utf8').split(' ')[0]?.replace('.', '') ?? 0) * 10n * MS;
}

/** A way to keep a process from running. */
export interface Way {
  stop(): void;
  go(): void;
}

export const bySignal = (pid: number): Way => ({
  stop: () => process.kill(pid, 'SIGSTOP'),
  go: () => process.kill(pid, 'SIGCONT'),
});

/** The freezer of cgroups, of whichever version there is; a word on why not where there is none. */
export function byFreezer(t: Test, pid: number): Way | string {
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
        // It is no freezer.
      }
      // It can be removed when the process is gone.
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

/** Stops it once; what it could not run in at the least. */
export async function stopFor(way: Way, ms: number): Promise<Stop> {
  way.stop();
  const from = bootNs() + 10n * MS; // its last digit is cut
  await sleep(ms);
  const to = bootNs();
  way.go();
  return { from, to };
}

/** The point of the grid for which a report was made: what it waited for, and the whole intervals that it came later. */
function pointOf({ t_boot_ns, late_us = 0 }: Heard, interval: bigint, shift: bigint): bigint {
  const late = BigInt(late_us) * 1000n;
  return (t_boot_ns - late - shift + interval / 2n) / interval + late / interval;
}

/**
 * Judges reports that were sent while the sender was stopped now and then: each point of the grid has one report or is counted as
 * missed; a point is missed only when the next one came before the sender could run; and once it can, the report comes at once.
 * @param shiftNs what its clock is ahead of ours
 */
export function judge(
  t: Test,
  reports: readonly Heard[],
  stops: readonly Stop[],
  intervalMs: number,
  shiftNs = 0n,
): void {
  const interval = BigInt(intervalMs) * MS;
  const shift = phase('node1', interval);
  const [first] = reports;
  t.same(
    reports.map(({ seq }) => seq),
    reports.map((_, i) => (first?.seq ?? 0) + i),
    'each number once',
  );
  // The first comes as soon as it starts, and the last is the goodbye.
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
        // All of the time up to the next point, but for as much as two processes' turns may take.
        const due = lost * interval + shift - shiftNs;
        let stopped = 0n;
        for (const { from, to } of stops) {
          const overlap = (to < due + interval ? to : due + interval) - (from > due ? from : due);
          if (overlap > 0n) stopped += overlap;
        }
        if (stopped < interval / 2n) unexplained++;
      }
    }
    // From when on it could be sent.
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

/** A sender with its master, the way to stop it, and what it says at the end. */
async function begin(t: Test, sender: string | undefined, intervalMs: number, prefix: string[] = []) {
  const hearer = await Hearer.open(t);
  const argv = ['send', '--name', 'node1', '--interval', `${intervalMs}ms`, '--to', hearer.address];
  const running = startIn(t, { sender, prefix }, argv);
  await hearer.more(3);
  return { hearer, running };
}

/** Tests of a sender that is stopped; `sender` stands for `beoboard send`. `steadySeconds`: how long it gets a fifth of the time. */
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
    // Whoever begins to wait anew after each of them is never done.
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

  // What a suspend leaves behind, a boot clock that is ahead of the other, can be had without one.
  t.test('on a machine that has slept for a day', { buffered: true }, async t => {
    const ahead = 86_400_000n * MS;
    const slept = ['unshare', '-T', '--boottime', '86400'];
    const tried = spawnSync(slept[0] ?? '', [...slept.slice(1), 'cat', '/proc/uptime'], { encoding: 'utf8' });
    // Before Linux 6.3 only a child is in it.
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
