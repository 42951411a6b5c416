// Ten minutes of a real sender, ten reports a second, while a file system hangs and recovers at random: no report is
// missing, and the sender does not grow after it has warmed up. Not part of `npm test`.
//   npm run test:long          SEED=n repeats a run, LENGTH=n (in seconds) makes it shorter or longer

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { phase } from '../../src/sender/schedule.js';
import { childrenOf, HangingCalls, Hearer, isAlive, startIn } from '../kit/hanging.js';
import { folder } from '../kit/places.js';
import { until } from '../kit/until.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const LENGTH = Number(process.env.LENGTH ?? 600);
const WARM_UP = Math.min(60, LENGTH / 4);
const INTERVAL = 100_000_000n;

t.setTimeout((LENGTH + 120) * 1000);
t.comment(`SEED=${SEED}, ${LENGTH} s`);

/** At SIGUSR2 the sender collects its garbage, which it would otherwise keep for an hour. */
const COLLECTING = 'process.on("SIGUSR2", () => { gc(); gc(); gc(); });';

/** PSS of a process, KiB: all, and without the program file, which it shares with other Node processes. */
function pss(pid: number): { all: number; own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const line = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]);
  return { all: line('Pss'), own: line('Pss_Anon') };
}

t.test(`${LENGTH} seconds`, async t => {
  const next = random(SEED);
  const hearer = await Hearer.open(t);
  const scratch = folder(t);
  const statfs = new HangingCalls(t, scratch);
  const argv = ['send', '--interval', '100ms', '--name', 'node1', '--to', hearer.address, '--scratch', scratch];
  const collecting = join(folder(t), 'collecting.cjs');
  writeFileSync(collecting, COLLECTING);
  const sender = startIn(t, { env: statfs.env, node: ['--expose-gc', '--require', collecting] }, argv);
  const heardFor = (seconds: number) =>
    new Promise<void>(resolve => {
      const end = hearer.reports.length + seconds * 10;
      const look = () => {
        if (hearer.reports.length >= end) {
          hearer.socket.off('message', look);
          resolve();
        }
      };
      hearer.socket.on('message', look);
    });
  const measure = async () => {
    sender.child.kill('SIGUSR2');
    await heardFor(1);
    return { ...pss(sender.pid), cpu: hearer.last.agent_cpu_ms ?? 0, seq: hearer.last.seq };
  };
  await hearer.next('the scratch is there', ({ sets }) => sets.includes('scratch'));
  await heardFor(WARM_UP);
  const start = await measure();

  let hangs = 0;
  while (hearer.reports.length < LENGTH * 10) {
    statfs.hang();
    await heardFor(Math.ceil(next() * 25));
    hangs++;
    statfs.release();
    await heardFor(Math.ceil(next() * 15));
  }
  await until(
    'it has come back',
    () => !hearer.last.marks.includes('slow_stale') && hearer.last.sets.includes('scratch'),
  );
  const end = await measure();
  const children = childrenOf(sender.pid);
  sender.child.kill('SIGTERM');
  t.equal(await sender.exit, 0);
  await until('the goodbye is heard', () => hearer.last.marks.includes('goodbye'));
  await until('no child is left', () => !children.some(isAlive));

  const { reports } = hearer;
  const ticks = reports.slice(1, -1);
  const missed = hearer.last.missed_ticks ?? 0;
  const late = reports.filter(({ marks }) => marks.includes('late')).length;
  const told = (word: RegExp) => sender.lines().filter(line => word.test(line)).length;
  const perReport = (end.cpu - start.cpu) / (end.seq - start.seq);
  t.comment(`${reports.length} reports, ${missed} ticks missed, ${late} late`);
  t.comment(
    `PSS ${start.all} KiB after ${WARM_UP} s, ${end.all} KiB at the end; of that its own ${start.own} and ${end.own}`,
  );
  t.comment(`${perReport.toFixed(2)} ms CPU per report`);
  t.comment(`${hangs} times it may have hung, ${told(/scratch does not answer/)} times it was asked then`);
  t.same(
    reports.filter(({ seq }, i) => seq !== i).map(({ seq }) => seq),
    [],
    'each number once',
  );
  const slot = (ns: bigint) => Number((ns - phase('node1', INTERVAL)) / INTERVAL);
  const slots = slot(ticks.at(-1)?.t_boot_ns ?? 0n) - slot(ticks[0]?.t_boot_ns ?? 0n);
  t.equal(slots, ticks.length - 1 + missed, 'each point of the grid has its report, or is counted');
  t.ok(missed + late <= ticks.length / 100, 'one in a hundred at most is late or missed');
  t.equal(told(/scratch does not answer/), told(/scratch answers again/), 'each time it hung it came back');
  t.ok(told(/scratch does not answer/) > 0 || LENGTH < 120, 'and it did hang');
  t.equal(new Set(reports.filter(({ sets }) => sets.includes('load') && sets.includes('memory'))).size, reports.length);
  // A sender that kept all reports would grow by 8 MiB.
  t.ok(end.own - start.own < 3 * 1024, `${end.own - start.own} KiB more of its own`);
});
