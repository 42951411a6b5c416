// Numbers that cannot be, in the files of the fast sets of machines that others have: what they mean is not known, and
// nothing else is lost. Both senders report and log the same.
//
// @seconds 15

import t from 'tap';
import { ForeignTrees } from './foreigntrees.js';

const stat = (ticks: string, processes: string) =>
  `cpu  ${ticks}\ncpu0 ${ticks}\nintr 5 1\nctxt 6\nbtime 1\nprocesses ${processes}\nprocs_running 1\nprocs_blocked 0\n`;

t.test('a negative number of processes', async t => {
  const trees = new ForeignTrees(t);
  const write = (processes: string) =>
    trees.write(
      { 'proc/stat': stat('100 0 0 900 0 0 0 0 0 0', '1') },
      { 'proc/stat': stat('150 0 0 950 0 0 0 0 0 0', processes) },
    );
  write('-2045677862');
  const { report, said } = await trees.ask();
  t.match(report, { cpu_user_ms: 1500, cpu_busy_pm: 500, ctxt: 6, runnable: 1, forks: 0 });
  t.equal(said, 'ROOT/now/proc/stat has a negative number of processes: forks are not known\n');
  for (const processes of ['--1', '-', '-1 2', '1-1', `-${'9'.repeat(21)}`]) {
    write(processes);
    const told = await trees.ask();
    t.equal(told.report.ctxt, undefined, JSON.stringify(processes));
    t.match(told.said, 'stat has unexpected content');
  }
});

t.test('CPU times of which all are 0', async t => {
  const trees = new ForeignTrees(t);
  const zero = { 'proc/stat': stat('0 0 0 0 0 0 0 0 0 0', '1') };
  trees.write(zero, zero);
  const { report, said } = await trees.ask();
  t.equal(report.cpu_idle_ms, undefined);
  t.equal(
    said,
    'ROOT/before/proc/stat has unexpected content: its readings are left out\nROOT/now/proc/stat has unexpected content: its readings are left out\n',
  );
  const idle = { 'proc/stat': stat('0 0 0 1 0 0 0 0 0 0', '1') };
  trees.write(idle, idle);
  t.match((await trees.ask()).report, { cpu_idle_ms: 10 });
});
