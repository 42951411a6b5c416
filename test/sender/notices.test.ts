// The sender in C wakes its second thread only where there is something to read: what others write is noticed when it
// changes, in whatever way, and its age goes on.
//
// @seconds 30
// @waits
// @rest

import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compileSender } from '../kit/compiling.js';
import { type Heard, Hearer, inNamespace, noFileSystem, startIn } from '../kit/hanging.js';
import { folder } from '../kit/places.js';

// They mostly wait, so they run at the same time.
t.jobs = 3;
t.setTimeout(600_000);
const skip = process.env.CI !== 'true' && (noFileSystem() ?? false);
const sender = compileSender(t);

/** How often the threads of a process, but for the first, have gone to sleep by themselves. */
function sleepsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).filter(thread => thread !== String(pid));
  const sleeps = (thread: string) =>
    Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))?.[1]);
  return threads.reduce((sum, thread) => sum + sleeps(thread), 0);
}

const rounds = (reports: readonly Heard[]) => new Set(reports.map(({ slow_boot_ns }) => slow_boot_ns)).size;

/** A sender with a /run of its own, in memory; with the path of its /run, once it has reported. */
async function open(t: Parameters<typeof folder>[0], prepare = ':') {
  const hearer = await Hearer.open(t);
  const prefix = inNamespace(prepare);
  const argv = ['send', '--to', hearer.address, '--sys', folder(t), '--scratch', folder(t)];
  const running = startIn(t, { prefix, sender }, argv);
  await hearer.next('it reports, with slow sources', ({ sets }) => sets.includes('taint'));
  return { hearer, running, run: `/proc/${running.pid}/root/run` };
}

const put = (path: string, text: string) => {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};

t.test('a second thread that has nothing to do sleeps', { buffered: true, skip }, async t => {
  const { hearer, running } = await open(t);
  const before = { sleeps: sleepsOf(running.pid), from: hearer.reports.length };
  while (rounds(hearer.reports.slice(before.from)) < 12) await hearer.more(1);
  const sleeps = sleepsOf(running.pid) - before.sleeps;
  const [first, last] = [hearer.reports[before.from] as Heard, hearer.last];
  // Some sources are read every five seconds; each reading may wait for a lock, too.
  const most = 2 + 2 * Math.ceil(Number(last.t_boot_ns - first.t_boot_ns) / 5e9);
  t.ok(sleeps <= most, `${sleeps} times in ${rounds(hearer.reports.slice(before.from))} rounds, ${most} at most`);
});

t.test('each change is told with the next round', { buffered: true, skip }, async t => {
  const { hearer, run } = await open(t);
  const place = join(run, 'beoboard');
  const [health, hold, elsewhere] = [join(place, 'health'), join(place, 'hold'), join(run, 'elsewhere')];
  const is = (word: number) => (report: Heard) => report.sets.includes('health') && report.health === word;
  const isUnknown = ({ sets }: Heard) => !sets.includes('health');
  const isHeld = ({ marks }: Heard) => marks.includes('held');
  const changes: [what: string, change: () => void, isSo: (report: Heard) => boolean][] = [
    ['the folder is made', () => mkdirSync(place), isUnknown],
    ['a file is made', () => writeFileSync(health, 'ok check\n'), is(1)],
    ['it is replaced', () => put(health, 'warning check\n'), is(2)],
    ['it is written again', () => writeFileSync(health, 'bad check\n'), is(3)],
    ['others may write it', () => chmodSync(health, 0o666), isUnknown],
    ['and may not any more', () => chmodSync(health, 0o644), is(3)],
    ['the node is held', () => writeFileSync(hold, ''), isHeld],
    ['more is in the hold file', () => appendFileSync(hold, 'why\n'), isHeld],
    ['it is not held any more', () => unlinkSync(hold), report => !isHeld(report)],
    ['the file is moved away', () => renameSync(health, elsewhere), isUnknown],
    ['a link leads to it', () => symlinkSync(elsewhere, health), is(3)],
    ['and it is written there', () => writeFileSync(elsewhere, 'ok admin\n'), is(1)],
    ['the link is removed', () => unlinkSync(health), isUnknown],
    ['the folder is removed', () => rmdirSync(place), isUnknown],
    [
      'all is made at once',
      () => {
        mkdirSync(place);
        put(health, 'warning admin\n');
      },
      is(2),
    ],
  ];
  for (const [what, change, isSo] of changes) {
    await hearer.more(1); // It rests, if it can.
    const from = hearer.reports.length;
    change();
    const told = () => hearer.reports.slice(from);
    while (!told().some(isSo) && rounds(told()) < 4) await hearer.more(1);
    const at = told().findIndex(isSo);
    t.ok(
      at >= 0 && rounds(told().slice(0, at + 1)) <= 3, // the next one may be under way
      `${what}: told in report ${at + 1}`,
    );
  }
});

t.test('the age of the health file goes on', { buffered: true, skip }, async t => {
  const { hearer, run } = await open(t, 'mkdir /run/beoboard; echo ok check >/run/beoboard/health');
  await hearer.next('there is health', ({ sets }) => sets.includes('health'));
  const writtenNs = BigInt(Math.round(statSync(join(run, 'beoboard', 'health')).mtimeMs * 1e6));
  for (const { t_real_ns, t_boot_ns, slow_boot_ns, health_age_s } of await hearer.more(6)) {
    const age = Number(t_real_ns - (t_boot_ns - slow_boot_ns) - writtenNs) / 1e9;
    t.ok(Math.abs(age - (health_age_s ?? 0) - 0.5) <= 0.6, `${health_age_s} s when the round was closed, truly ${age}`);
  }
});
