// Numbers that cannot be, in the files of the fast sets of machines that others have: what they mean is not known, and
// nothing else is lost. Both senders report and log the same.
//
// @seconds 15

import t from 'tap';
import { type Files, ForeignTrees } from './foreigntrees.js';

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

/** /proc/meminfo with these numbers of kB. */
const meminfo = (other: Record<string, number | string>): Files => {
  const keys = 'MemTotal MemFree MemAvailable Buffers Cached SwapTotal SwapFree Dirty Writeback AnonPages Shmem';
  const more = 'SReclaimable SUnreclaim PageTables CommitLimit Committed_AS Unevictable Hugepagesize';
  const kib = Object.fromEntries(`${keys} ${more}`.split(' ').map(key => [key, 1024]));
  const lines = Object.entries<number | string>({ ...kib, HugePages_Total: 1, HugePages_Free: 0, ...other });
  return {
    'proc/meminfo': lines.map(([key, n]) => `${key}: ${n}${key.startsWith('HugePages') ? '' : ' kB'}\n`).join(''),
  };
};
const WRAPPED = '18446744073709551488';

t.test('more is free than there is', async t => {
  const rows: [Record<string, number | string>, object][] = [
    [
      { SwapTotal: 0, SwapFree: WRAPPED },
      { swap_total_mib: 0, swap_free_mib: 0, mem_free_mib: 1 },
    ],
    [
      { SwapTotal: 2048, SwapFree: 4096 },
      { swap_total_mib: 2, swap_free_mib: 2 },
    ],
    [{ SwapTotal: WRAPPED, SwapFree: 4096 }, { swap_free_mib: 4 }],
    [
      { MemTotal: 4096, MemFree: 5000 },
      { mem_total_mib: 4, mem_free_mib: 4, mem_avail_mib: 1 },
    ],
    [
      { MemTotal: 4096, MemAvailable: WRAPPED },
      { mem_total_mib: 4, mem_free_mib: 1, mem_avail_mib: 4 },
    ],
    [
      { HugePages_Total: 3, HugePages_Free: WRAPPED },
      { mem_huge_total_mib: 3, mem_huge_free_mib: 3 },
    ],
  ];
  for (const [kib, fields] of rows) {
    const trees = new ForeignTrees(t);
    trees.write({}, meminfo(kib));
    const { report, said } = await trees.ask();
    t.match(report, fields, JSON.stringify(kib));
    t.equal(said, '');
  }
});

const cpuinfo = (flags: string, mhz: string): Files => ({
  'proc/cpuinfo': `processor\t: 0\nmodel name\t: a CPU\ncpu MHz\t\t: ${mhz}\nflags\t\t: ${flags}\n\n`,
});

t.test('a clock rate of 0 MHz', async t => {
  const trees = new ForeignTrees(t);
  for (const [mhz, most] of [
    ['0.000', undefined],
    ['0', undefined],
    ['1.000', 1],
  ] as const) {
    trees.write(cpuinfo('fpu', mhz), cpuinfo('fpu', mhz));
    const { report } = await trees.ask();
    t.equal(report.cpu_mhz_max, most, mhz);
  }
});

t.test('the temperature that the driver of a virtual machine invents', async t => {
  const trees = new ForeignTrees(t);
  const chip = (name: string, milli: number, number: number): Files => ({
    [`sys/class/hwmon/hwmon${number}/name`]: `${name}\n`,
    [`sys/class/hwmon/hwmon${number}/temp1_input`]: `${milli}\n`,
    [`sys/class/hwmon/hwmon${number}/temp1_label`]: 'Package id 0\n',
  });
  trees.write({}, { ...cpuinfo('fpu hypervisor sse', '2000'), ...chip('coretemp', 100_000, 0) });
  t.equal((await trees.ask()).report.temp_hottest_dc, undefined);
  trees.write({}, chip('k10temp', 50_000, 1));
  t.match(
    (await trees.ask()).report,
    { temp_hottest_dc: 500, group: [{ temp_dc: 500 }] },
    'another driver reads a sensor',
  );
  trees.write({}, cpuinfo('fpu sse', '2000'));
  t.equal((await trees.ask()).report.temp_hottest_dc, 1000, 'on metal 100 °C is one');
});
