// Numbers that cannot be, in the files of the fast sets of machines that others have: what they mean is not known, and
// nothing else is lost. Both senders report and log the same.
//
// @seconds 5
// @rest

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REPORT_BYTES } from '../../src/layout/codec.js';
import { compileSender, SANITIZED } from '../kit/compiling.js';
import { PROGRAM } from '../kit/program.js';
import { readable } from '../kit/tree.js';
import { type Files, ForeignTrees } from './foreigntrees.js';

const COUNTS = { intr: '5 1', ctxt: '6', btime: '1', processes: '7', procs_running: '1', procs_blocked: '0' };
const stat = (ticks: string, other: Partial<typeof COUNTS> = {}, cpus = `cpu0 ${ticks}\n`) =>
  `cpu  ${ticks}\n${cpus}${Object.entries({ ...COUNTS, ...other })
    .map(line => `${line.join(' ')}\n`)
    .join('')}`;
const inPart = (path: string) => `ROOT/${path} has a line that is not understood: it is left out\n`;
const refused = (path: string) => `ROOT/${path} has unexpected content: its readings are left out\n`;

t.test('counts below zero in /proc/stat', async t => {
  const trees = new ForeignTrees(t);
  const whole = { cpu_user_ms: 1500, cpu_busy_pm: 500, intr: 5, ctxt: 6, forks: 7, runnable: 1, blocked: 0 };
  const rows: [Partial<typeof COUNTS>, object | undefined][] = [
    [{ processes: '-2045677862' }, { forks: 0 }],
    [{ ctxt: '-8' }, { ctxt: 0 }],
    [{ intr: '-5 1' }, { intr: 0 }],
    [{ intr: '-5' }, { intr: 0 }],
    [{ procs_running: '-1' }, { runnable: 0 }],
    [{ procs_blocked: '-1' }, { blocked: 0 }],
    [{ procs_running: '2147483648' }, { runnable: 0 }],
    [{ procs_blocked: '18446744073709551615' }, { blocked: 0 }],
    [
      { ctxt: '-1', procs_blocked: '4294967295' },
      { ctxt: 0, blocked: 0 },
    ],
    ...['--1', '-', '-1 2', '1-1', `-${'9'.repeat(21)}`].map((processes): [object, undefined] => [
      { processes },
      undefined,
    ]),
  ];
  for (const [counts, fields] of rows) {
    const what = JSON.stringify(counts);
    trees.write(
      { 'proc/stat': stat('100 0 0 900 0 0 0 0 0 0') },
      { 'proc/stat': stat('150 0 0 950 0 0 0 0 0 0', counts) },
    );
    const { report, said } = await trees.ask();
    if (fields === undefined) t.equal(report.ctxt, undefined, what);
    else t.match(report, { ...whole, ...fields }, what);
    t.equal(said, fields === undefined ? refused('now/proc/stat') : inPart('now/proc/stat'), what);
  }
  const most = { procs_running: '2147483647', procs_blocked: '2147483647' };
  trees.write({}, { 'proc/stat': stat('150 0 0 950 0 0 0 0 0 0', most) });
  const { report, said } = await trees.ask();
  t.match(report, { runnable: 2 ** 31 - 1, blocked: 2 ** 31 - 1 });
  t.equal(said, '');
});

t.test('a running sender says it once, and again when it had worked', async t => {
  const { root } = new ForeignTrees(t);
  const path = join(root, 'now', 'proc', 'stat');
  const text = stat('100 0 0 900 0 0 0 0 0 0', { ctxt: '-8' });
  const file = openSync(path, 'w+');
  t.teardown(() => closeSync(file));
  /** One byte, so that nobody reads half of a change. */
  const sign = (byte: string) => writeSync(file, byte, text.indexOf('-8'));
  writeSync(file, text);
  const options = ['--to', '-', '--name', 'n', '--interval', '100ms', '--proc', join(root, 'now', 'proc')];
  for (const command of [[compileSender(t, SANITIZED)], [process.execPath, PROGRAM, 'send']]) {
    const [program = '', ...verb] = command;
    const child = spawn(program, [...verb, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
    t.teardown(() => child.kill('SIGKILL'));
    const closed = once(child, 'close');
    let [said, out] = ['', Buffer.alloc(0)];
    child.stderr.on('data', more => {
      said += more;
    });
    child.stdout.on('data', more => {
      out = Buffer.concat([out, more]);
    });
    /** Waits for so many reports with this number. */
    const count = async (ctxt: number, times: number) => {
      for (let seen = 0; seen < times; out = out.subarray(REPORT_BYTES)) {
        while (out.length < REPORT_BYTES) await once(child.stdout, 'data');
        if (readable(out.subarray(0, REPORT_BYTES)).ctxt === ctxt) seen++;
      }
    };
    await count(0, 3);
    sign('1');
    await count(18, 2);
    sign('-');
    await count(0, 3);
    child.kill('SIGTERM');
    await closed;
    t.equal(said.split(`${path} has a line that is not understood: it is left out\n`).length, 3, program);
  }
});

t.test('lines that no kernel writes cost themselves', async t => {
  const head = 'Inter-|   Receive  |  Transmit\n face |bytes    packets |bytes    packets\n';
  const net = (name: string, word = '1') => `${name}: 9 1 0 0 0 0 0 0 9 ${word} 0 0 0 0 0 0\n`;
  const disk = (name: string, busy: string) => ` 8 0 ${name} 1 0 1 0 1 0 1 0 0 ${busy} 1\n`;
  const beyond = String(2n ** 64n);
  const rows: [path: string, text: string, fields: object][] = [
    ...['x'.repeat(16), 'a b', 'a/b', '..', ''].map((name): [string, string, object] => [
      'proc/net/dev',
      `${head}${net(name)}${net('eth0')}`,
      { net: [{ name: 'eth0', rx_bytes: 9 }] },
    ]),
    ...['-1', beyond, 'x', ''].map((word): [string, string, object] => [
      'proc/net/dev',
      `${head}${net('eth0')}${word === '' ? 'eth1: 9 1\n' : net('eth1', word)}${net('eth2')}`,
      { net: [{ name: 'eth0' }, { name: 'eth2' }] },
    ]),
    ['proc/net/dev', `${head}\n${net('eth0')}nothing\n`, { net: [{ name: 'eth0' }] }],
    ...[disk('loop0', '-5'), disk('loop0', beyond), disk('sdb', 'x'), '\n', ' 8 0 sdb 1 2 3\n'].map(
      (line): [string, string, object] => [
        'proc/diskstats',
        `${line}${disk('sda', '7')}`,
        { disks: 1, disk_busy_ms: 7 },
      ],
    ),
  ];
  const block = { 'sys/block': null, 'sys/block/sda/size': '9\n', 'sys/block/sdb/size': '9\n' };
  const trees = new ForeignTrees(t);
  trees.write({ 'sys/class/net': null, ...block }, { 'sys/class/net': null, ...block });
  for (const [path, text, fields] of rows) {
    trees.write({ 'proc/net/dev': head, 'proc/diskstats': '' }, { 'proc/net/dev': head, 'proc/diskstats': '' });
    trees.write({}, { [path]: text });
    const { report, said } = await trees.ask();
    t.match(report, fields, text);
    const { net } = fields as { net?: object[] };
    if (net !== undefined) t.equal((report.net as object[]).length, net.length, text);
    t.equal(said, inPart(`now/${path}`), text);
  }
  for (const [path, text] of [
    ['proc/net/dev', `${head}${net('eth0', '-1')}`],
    ['proc/net/dev', `${head}${net('eth0')}${net('eth1').trimEnd()}`],
    ['proc/net/dev', net('eth0')],
    ['proc/diskstats', disk('sda', '-7')],
    ['proc/diskstats', `${disk('sda', '7')}${disk('sdb', '7').trimEnd()}`],
  ] as const) {
    trees.write({}, { 'proc/net/dev': head, 'proc/diskstats': '', [path]: text });
    const { report, said } = await trees.ask();
    t.notOk((report.valid as string[]).includes(path === 'proc/net/dev' ? 'net' : 'disk'), text);
    t.equal(said, refused(`now/${path}`), `${text}: nothing of it is understood`);
  }
});

t.test('a line of one CPU costs itself', async t => {
  const trees = new ForeignTrees(t);
  const cpus: Files = { 'sys/devices/system/cpu/online': '0-2\n', 'sys/devices/system/cpu/present': '0-2\n' };
  const each = [0, 1, 2].flatMap(i => [
    [`sys/devices/system/cpu/cpu${i}/topology/physical_package_id`, `${i >> 1}\n`],
    [`sys/devices/system/cpu/cpu${i}/topology/thread_siblings_list`, `${i}\n`],
  ]);
  const topology: Files = { ...cpus, ...Object.fromEntries(each) };
  trees.write(topology, topology);
  const lines = (user: number, iowait: string) =>
    [`${user} 0 0 ${user}`, `${user} 0 0 0`, `0 0 0 ${user}`]
      .map((ticks, i) => `cpu${i} ${ticks} ${i === 1 ? iowait : '0'} 0 0 0 0 0\n`)
      .join('');
  const idle = { busy_pm: 0, busiest_pm: 0 };
  for (const [from, to, busy] of [
    ['0', '0', { busy_pm: 666, busiest_pm: 1000 }],
    ['0', '-1', { busy_pm: 500, busiest_pm: 500 }],
    ['-1', '0', { busy_pm: 500, busiest_pm: 500 }],
    ['-1', '-1', { busy_pm: 500, busiest_pm: 500 }],
    ['0', String(2n ** 64n), { busy_pm: 500, busiest_pm: 500 }],
  ] as const) {
    trees.write(
      { 'proc/stat': stat('100 0 0 900 0 0 0 0 0 0', {}, lines(100, from)) },
      { 'proc/stat': stat('150 0 0 950 0 0 0 0 0 0', {}, lines(200, to)) },
    );
    const { report, said } = await trees.ask();
    t.match(report, { cpu_user_ms: 1500, group: [busy, idle] }, `${from}, then ${to}`);
    t.equal(report.cpu_busy_pm, (from === '0') === (to === '0') ? 500 : undefined, 'of all, of the same CPUs');
    t.equal(
      said,
      [from, to].map((iowait, i) => (iowait === '0' ? '' : inPart(`${['before', 'now'][i]}/proc/stat`))).join(''),
    );
  }
});

t.test('CPU times of which all are 0', async t => {
  const trees = new ForeignTrees(t);
  const zero = { 'proc/stat': stat('0 0 0 0 0 0 0 0 0 0') };
  trees.write(zero, zero);
  const { report, said } = await trees.ask();
  t.equal(report.cpu_idle_ms, undefined);
  t.equal(said, refused('before/proc/stat') + refused('now/proc/stat'));
  const idle = { 'proc/stat': stat('0 0 0 1 0 0 0 0 0 0') };
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
const MEMORY_PARTS = {
  Buffers: 'mem_buffers_mib',
  Cached: 'mem_cached_mib',
  Shmem: 'mem_shmem_mib',
  SReclaimable: 'mem_sreclaimable_mib',
  SUnreclaim: 'mem_sunreclaim_mib',
  AnonPages: 'mem_anon_mib',
  Unevictable: 'mem_unevictable_mib',
  PageTables: 'mem_pagetables_mib',
  Dirty: 'mem_dirty_writeback_mib',
  Writeback: 'mem_dirty_writeback_mib',
};

t.test('parts of memory that are more than all of it', async t => {
  const rows: [Record<string, number | string>, object][] = [
    [
      { SwapTotal: 0, SwapFree: WRAPPED },
      { swap_total_mib: 0, swap_free_mib: 0, mem_free_mib: 1 },
    ],
    [
      { SwapTotal: 2048, SwapFree: 4096 },
      { swap_total_mib: 2, swap_free_mib: 2 },
    ],
    ...[WRAPPED, '9007199246672720', 2 ** 42].map((SwapTotal): [Record<string, number | string>, object] => [
      { SwapTotal, SwapFree: SwapTotal },
      { swap_total_mib: 0, swap_free_mib: 0, mem_free_mib: 1 },
    ]),
    [
      { SwapTotal: 2 ** 42 - 1, SwapFree: 2048 },
      { swap_total_mib: 2 ** 32 - 1, swap_free_mib: 2 },
    ],
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
    ...Object.entries(MEMORY_PARTS).map(([key, field]): [Record<string, number | string>, object] => [
      { MemTotal: 4096, [key]: WRAPPED },
      { mem_total_mib: 4, [field]: 4, mem_free_mib: 1 },
    ]),
    [
      { MemTotal: 4096, Dirty: 4000, Writeback: 2000 },
      { mem_total_mib: 4, mem_dirty_writeback_mib: 4 },
    ],
    [
      { MemTotal: 4096, Committed_AS: 8192, CommitLimit: 9216 },
      { mem_committed_mib: 8, mem_commit_limit_mib: 9 },
    ],
    [{ MemTotal: 4096, HardwareCorrupted: 4096 }, { mem_corrupted_kib: 4096 }],
    [{ MemTotal: 4096, HardwareCorrupted: WRAPPED }, { mem_corrupted_kib: 0 }],
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

t.test('files of which one number cannot be', async t => {
  const most = 4_194_304;
  const psi = (avg: string) =>
    `some avg10=${avg} avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=${avg} avg300=0.00 total=1\n`;
  const rows: [path: string, text: string, set: string, isKnown: boolean][] = [
    ['proc/loadavg', `${most}.00 ${most}.00 ${most}.00 1/${most} 1\n`, 'load', true],
    ['proc/loadavg', `${most}.01 0.00 0.00 1/1 1\n`, 'load', false],
    ['proc/loadavg', `0.00 0.00 42949672.96 1/1 1\n`, 'load', false],
    ['proc/loadavg', `0.00 0.00 0.00 1/${most + 1} 1\n`, 'load', false],
    ['proc/loadavg', '0.00 0.00 0.00 -1/7 -1\n', 'load', true],
    ['proc/loadavg', '0.00 0.00 0.00 0/0 0\n', 'load', false],
    ['proc/meminfo', meminfo({ MemTotal: 0 })['proc/meminfo'] ?? '', 'memory', false],
    ['proc/sys/fs/file-nr', `${2n ** 63n - 1n}\t0\t1\n`, 'files', true],
    ['proc/sys/fs/file-nr', `${2n ** 63n}\t0\t1\n`, 'files', false],
    ['proc/sys/fs/file-nr', `1\t${2n ** 64n - 1n}\t1\n`, 'files', false],
    ['proc/pressure/cpu', psi('100.00'), 'psi_cpu', true],
    ['proc/pressure/cpu', psi('100.01'), 'psi_cpu', false],
    ['proc/pressure/memory', psi('100.01'), 'psi_mem', false],
    ['proc/pressure/io', psi('184467440737095516.15'), 'psi_io', false],
    ['proc/pressure/irq', psi('100.01'), 'psi_irq', false],
  ];
  for (const [path, text, set, isKnown] of rows) {
    const trees = new ForeignTrees(t);
    trees.write({}, { [path]: text });
    const { report, said } = await trees.ask();
    t.equal((report.valid as string[]).includes(set), isKnown, text);
    t.equal(said, isKnown ? '' : refused(`now/${path}`), text);
  }
});

t.test('a disk that was busy for longer than 2^53 ms', async t => {
  const trees = new ForeignTrees(t);
  const disk = (busy: bigint) => ({
    'proc/diskstats': ` 8 0 sda 1 0 1 0 1 0 1 0 0 ${busy} 1\n`,
    'sys/block/sda/size': '9\n',
  });
  const passed = async (from: bigint, to: bigint) => {
    trees.write(disk(from), disk(to));
    return (await trees.ask()).report.disk_busiest_pm;
  };
  // The tick is of 1001.4 ms, and shares are rounded down.
  for (const from of [0n, 2n ** 53n - 5n, 2n ** 53n, 2n ** 63n + 1n])
    t.equal(await passed(from, from + 7n), 6, `${from}`);
  t.equal(await passed(2n ** 53n + 2n ** 32n, 2n ** 53n + 9n), 8, 'it wraps');
  t.equal(await passed(2n ** 53n + 2n ** 32n + 1n, 2n ** 53n), 0, 'another disk of this name');
  t.equal(await passed(2n ** 53n, 2n ** 53n + 2n ** 31n), 0);
});

t.test('clock rates that cannot be', async t => {
  const trees = new ForeignTrees(t);
  for (const [mhz, most] of [
    ['0.000', undefined],
    ['0', undefined],
    ['1.000', 1],
    ['65534.999', 65_534],
    ['65535.000', undefined],
  ] as const) {
    trees.write(cpuinfo('fpu', mhz), cpuinfo('fpu', mhz));
    const { report } = await trees.ask();
    t.equal(report.cpu_mhz_max, most, mhz);
  }
  for (const [khz, mhz] of [
    ['65534999', 65_534],
    ['65535000', undefined],
    ['18446744073709551615', undefined],
  ] as const) {
    const files = Object.fromEntries(
      ['cpuinfo_max_freq', 'scaling_cur_freq'].map(leaf => [`sys/devices/system/cpu/cpu0/cpufreq/${leaf}`, `${khz}\n`]),
    );
    trees.write(cpuinfo('fpu', '0'), { ...cpuinfo('fpu', '0'), ...files });
    const { report } = await trees.ask();
    t.equal(report.cpu_mhz_max, mhz, khz);
    t.equal((report.group as { mhz?: number }[])[0]?.mhz, mhz, `${khz}: of the group`);
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
