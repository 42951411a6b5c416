// The collecting part of the sender on trees of files that this test writes: two ticks field by field, corrupt trees,
// traps; and on this machine's own /proc.
//
// @seconds 13
// @whole

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { machine, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { bitNames, decodeReport, REPORT_BYTES, type Report, TEMPERATURE_UNKNOWN } from '../../src/layout/codec.js';
import { enums, structs } from '../../src/layout/layout.gen.js';
import { bootId } from '../../src/sender/collect/bootid.js';
import { readTopology } from '../../src/sender/collect/cpus.js';
import { WholeDisks } from '../../src/sender/collect/diskparts.js';
import { CountedLinks, readSpeed, withDevice } from '../../src/sender/collect/netlinks.js';
import { Collector } from '../../src/sender/collect.js';
import { KernelFile, MOST_BYTES, readOnce } from '../../src/sender/kernelfile.js';
import type { Details } from '../../src/sender/slow/source.js';
import { type HostMachine, here } from '../../src/sender/world.js';
import { runsOf } from '../kit/whole.js';

const temp = mkdtempSync(join(realpathSync(tmpdir()), 'beoboard-21-'));
t.teardown(() => rmSync(temp, { recursive: true, force: true }));

type Files = Record<string, string>;
let trees = 0;

/** Writes a tree of files; returns its paths. */
function tree(files: Files): {
  proc: string;
  sys: string;
  write: (files: Files) => void;
  path: (name: string) => string;
  world: HostMachine;
} {
  const root = join(temp, `tree${trees++}`);
  const write = (files: Files) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
  };
  mkdirSync(join(root, 'proc'), { recursive: true });
  mkdirSync(join(root, 'sys'), { recursive: true });
  write(files);
  // No tree has the kernel's clock; it has its own test below.
  const world = { ...here, adjtimex: () => undefined };
  return { proc: join(root, 'proc'), sys: join(root, 'sys'), write, path: name => join(root, name), world };
}

function report(collector: Collector, nowNs: bigint, details?: Details): Report {
  const view = new DataView(new ArrayBuffer(REPORT_BYTES));
  collector.collect(view, nowNs, details);
  return decodeReport(view, 0);
}

const sets = (report: Report) => bitNames('valid', report.valid);

/** The fields of a report that a collector fills. */
function readings(report: Report): Partial<Report> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(report))
    if ('set' in structs.report.fields[name as 'load1_c']) out[name] = value;
  return out as Partial<Report>;
}

const NETDEV_HEAD = 'Inter-|   Receive  |  Transmit\n face |bytes    packets |bytes    packets\n';
const net = (name: string, n: number) =>
  `${name.padStart(6)}:${n} ${n + 1} 1 2 0 0 0 0 ${n + 2} ${n + 3} 3 4 0 0 0 0\n`;
const netEntry = (name: string, n: number, mbps: number, state: number) => ({
  name,
  rx_bytes: n,
  tx_bytes: n + 2,
  rx_packets: n + 1,
  tx_packets: n + 3,
  errors: 4,
  drops: 6,
  ...(mbps === 0 ? {} : { mbps }), // 0 is sent if the speed is unknown
  state,
});

const link = (name: string, index: number, speed: string, carrier: string, flags = '0x1003'): Files => ({
  [`sys/class/net/${name}/ifindex`]: `${index}\n`,
  [`sys/class/net/${name}/flags`]: `${flags}\n`,
  [`sys/class/net/${name}/operstate`]: `${carrier === '1' ? 'up' : 'down'}\n`,
  [`sys/class/net/${name}/speed`]: `${speed}\n`,
});
const nic = (name: string, ...rest: Parameters<typeof link> extends [string, ...infer R] ? R : never): Files => ({
  ...link(name, ...rest),
  [`sys/class/net/${name}/device/vendor`]: '0x15b3\n',
});

const cpu = (n: number, packageId: number, siblings: string): Files => ({
  [`sys/devices/system/cpu/cpu${n}/topology/physical_package_id`]: `${packageId}\n`,
  [`sys/devices/system/cpu/cpu${n}/topology/thread_siblings_list`]: `${siblings}\n`,
});

// A node with two packages of two cores, with two threads each, one thread offline; Linux 4.18 with pressure.
const FIRST: Files = {
  'proc/stat': `cpu  1000 0 500 80000 100 0 10 0 0 0
cpu0 1000 0 500 80000 100 0 10 0 0 0
intr 5000 1 2 3
ctxt 6000
btime 1795237125
processes 700
procs_running 2
procs_blocked 0
softirq 1 2
`,
  'proc/loadavg': '6.50 3.25 1.00 2/321 4165\n',
  'proc/meminfo': `MemTotal:       16384 kB
MemFree:         4096 kB
MemAvailable:    8192 kB
Buffers:         1024 kB
Cached:          2048 kB
Unevictable:     3072 kB
SwapTotal:       5120 kB
SwapFree:        5119 kB
Dirty:           1000 kB
Writeback:         25 kB
AnonPages:       6144 kB
Shmem:           7168 kB
SReclaimable:    9216 kB
SUnreclaim:     10240 kB
PageTables:     11264 kB
CommitLimit:    12288 kB
Committed_AS:   13312 kB
HardwareCorrupted: 12 kB
HugePages_Total:    5
HugePages_Free:     4
Hugepagesize:    2048 kB
`,
  'proc/vmstat': 'nr_free_pages 9\npswpin 1\npswpout 2\npgmajfault 3\noom_kill 4\n',
  'proc/pressure/cpu': 'some avg10=1.00 avg60=2.00 avg300=3.00 total=111\n',
  'proc/pressure/memory':
    'some avg10=4.00 avg60=5.00 avg300=6.00 total=222\nfull avg10=7.00 avg60=8.00 avg300=9.00 total=333\n',
  'proc/pressure/io':
    'some avg10=10.00 avg60=11.00 avg300=12.00 total=444\nfull avg10=13.00 avg60=14.00 avg300=15.00 total=555\n',
  'proc/pressure/irq': 'full avg10=16.00 avg60=17.00 avg300=18.00 total=666\n',
  'proc/net/snmp': 'Tcp: RtoMin MaxConn RetransSegs InErrs\nTcp: 200 -1 77 0\n',
  'proc/net/dev': `${NETDEV_HEAD}${net('lo', 1)}${net('docker0', 2)}${net('ens5', 300)}${net('ens2', 100)}${net('ens3', 200)}${net('ib0', 400)}${net('ib1', 500)}`,
  'proc/diskstats': `   8       0 sda 1 0 10 0 2 0 20 0 1 1000 2000
   8       1 sda1 1 0 10 0 2 0 20 0 1 1000 2000
 259       0 nvme0n1 3 0 30 0 4 0 40 0 2 3000 4000 0 0 0 0
   7       0 loop0 9 9 9 9 9 9 9 9 9 9 9
 253       0 dm-0 9 9 9 9 9 9 9 9 9 9 9
   8      16 sdb 9 9 9 9 9 9 9 9 9 9 9
`,
  'proc/sys/fs/file-nr': '1000\t100\t999999\n',
  'proc/sys/kernel/osrelease': '4.18.0-553.el8_10.x86_64\n',
  'proc/sys/kernel/random/boot_id': 'fedcba98-7654-3210-8000-000000000000\n',
  'proc/cpuinfo': 'processor\t: 0\ncpu MHz\t\t: 2100.5\nflags\t\t: fpu hypervisor sse\n\n',
  'sys/devices/system/cpu/online': '0-6\n',
  'sys/devices/system/cpu/present': '0-7\n',
  'sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq': '3700000\n',
  ...cpu(0, 0, '0,4'),
  ...cpu(1, 1, '1,5'),
  ...cpu(2, 0, '2,6'),
  ...cpu(3, 1, '3'),
  ...cpu(4, 0, '0,4'),
  ...cpu(5, 1, '1,5'),
  ...cpu(6, 0, '2,6'),
  'sys/devices/system/node/online': '0-3\n',
  ...link('lo', 1, '', '1'),
  ...link('docker0', 6, '10000', '1'),
  ...nic('ens2', 2, '25000', '1'),
  ...nic('ens3', 3, '-1', '0'),
  ...nic('ens5', 7, '1000', '1', '0x1002'),
  ...nic('ib0', 8, '100000', '1'),
  ...nic('ib1', 9, '200000', '0'),
  'sys/class/net/bonding_masters': 'bond0\n',
  'sys/block/sda/size': '1000\n',
  'sys/block/nvme0n1/size': '2000\n',
  'sys/block/sdb/size': '0\n',
  'sys/block/loop0/size': '5\n',
  'sys/block/dm-0/size': '5\n',
};

const FIRST_OUT: Partial<Report> = {
  cpus_online: 7,
  cpus_present: 8,
  packages: 2,
  groups: 2,
  group: [{ cpus: 4 }, { cpus: 3 }],
  threads_per_core: 2,
  numa_nodes: 4,
  load1_c: 650,
  load5_c: 325,
  load15_c: 100,
  runnable: 2,
  blocked: 0,
  mem_total_mib: 16,
  mem_avail_mib: 8,
  swap_total_mib: 5,
  swap_free_mib: 4,
  psi_cpu_some10: 100,
  psi_mem_some10: 400,
  psi_mem_full10: 700,
  psi_io_some10: 1000,
  psi_io_full10: 1300,
  oom_kills: 4,
  os_release: '4.18.0-553.el8_10.x86_64',
  arch: Math.max(0, (enums.arch as readonly string[]).indexOf(machine())),
  virt: 1,
  page_kib: Number(execFileSync('getconf', ['PAGESIZE'])) / 1024,
  cpu_mhz_max: 3700,
  cpu_user_ms: 10000,
  cpu_nice_ms: 0,
  cpu_system_ms: 5000,
  cpu_idle_ms: 800000,
  cpu_iowait_ms: 1000,
  cpu_irq_ms: 0,
  cpu_softirq_ms: 100,
  cpu_steal_ms: 0,
  ctxt: 6000,
  intr: 5000,
  forks: 700,
  majfaults: 3,
  swapin_pages: 1,
  swapout_pages: 2,
  tcp_retrans: 77,
  threads: 321,
  files_open: 900,
  mem_free_mib: 4,
  mem_buffers_mib: 1,
  mem_cached_mib: 2,
  mem_shmem_mib: 7,
  mem_sreclaimable_mib: 9,
  mem_sunreclaim_mib: 10,
  mem_anon_mib: 6,
  mem_dirty_writeback_mib: 1,
  mem_committed_mib: 13,
  mem_commit_limit_mib: 12,
  mem_huge_total_mib: 10,
  mem_huge_free_mib: 8,
  mem_unevictable_mib: 3,
  mem_pagetables_mib: 11,
  mem_corrupted_kib: 12,
  psi_cpu_some_us: 111,
  psi_mem_some_us: 222,
  psi_mem_full_us: 333,
  psi_io_some_us: 444,
  psi_io_full_us: 555,
  psi_irq_full_us: 666,
  psi_cpu_some60: 200,
  psi_mem_some60: 500,
  psi_mem_full60: 800,
  psi_io_some60: 1100,
  psi_io_full60: 1400,
  psi_irq_full10: 1600,
  net: [netEntry('ens2', 100, 0, 0x10003), netEntry('ens3', 200, 0, 0x10001), netEntry('ens5', 300, 0, 0x10000)],
  net_rest: {
    name: 'rest',
    rx_bytes: 900,
    tx_bytes: 904,
    rx_packets: 902,
    tx_packets: 906,
    errors: 8,
    drops: 12,
    state: 0x20003,
  },
  disk_read_bytes: 40 * 512,
  disk_write_bytes: 60 * 512,
  disk_reads: 4,
  disk_writes: 6,
  disk_busy_ms: 4000,
  disk_weighted_ms: 6000,
  disk_inflight: 3,
  disks: 2,
};

// One second later.
const SECOND: Files = {
  'proc/stat': FIRST['proc/stat']?.replace(
    'cpu  1000 0 500 80000 100 0 10 0 0 0',
    'cpu  1300 0 600 80450 250 0 10 0 0 0',
  ) as string,
  'proc/diskstats': FIRST['proc/diskstats']?.replaceAll('1000 2000', '1250 2500') as string,
};

const ALL =
  'cpus topology load stat memory vmstat psi_cpu psi_mem psi_io psi_irq tcp files net disk groups system cpu_mhz'.split(
    ' ',
  );
const S = 1_000_000_000n;

t.test('two ticks, field by field', async t => {
  const told: string[] = [];
  const node = tree(FIRST);
  const collector = new Collector({ ...node, tell: message => told.push(message) });
  t.teardown(() => collector.close());

  const first = report(collector, 10n * S);
  t.strictSame(sets(first), ALL, 'no shares in the first report');
  t.strictSame(readings(first), FIRST_OUT);

  node.write(SECOND);
  const second = report(collector, 11n * S);
  t.strictSame(sets(second), [...ALL.slice(0, 4), 'cpu_share', ...ALL.slice(4, 14), 'disk_share', ...ALL.slice(14)]);
  t.strictSame(readings(second), {
    ...FIRST_OUT,
    cpu_user_ms: 13000,
    cpu_system_ms: 6000,
    cpu_idle_ms: 804500,
    cpu_iowait_ms: 2500,
    cpu_busy_pm: 400,
    cpu_iowait_pm: 150,
    disk_busy_ms: 4250,
    disk_weighted_ms: 6500,
    disk_busiest_pm: 250,
  });

  const third = report(collector, 11n * S);
  t.notOk('cpu_busy_pm' in third, 'no share of no time');
  t.notOk('disk_busiest_pm' in third);
  t.strictSame(told, []);
});

t.test('only the fields of valid sets are written', async t => {
  const view = new DataView(new ArrayBuffer(REPORT_BYTES + 16));
  const collector = new Collector(tree(FIRST));
  const inner = new DataView(view.buffer, 8, REPORT_BYTES);
  inner.setBigUint64(structs.report.fields.valid.offset, 1n << 20n, true);
  collector.collect(inner, 0n);
  collector.close();
  t.equal(view.getBigUint64(0), 0n, 'nothing before the report');
  t.equal(view.getBigUint64(REPORT_BYTES + 8), 0n, 'nor behind it');
  const valid = inner.getBigUint64(structs.report.fields.valid.offset, true);
  t.ok(bitNames('valid', valid).includes('sender'), 'the bits of others stay');
  const touched = ['memory', 'net'];
  t.ok(touched.every(set => bitNames('valid', valid).includes(set)));
  for (const field of Object.values(structs.report.fields)) {
    if ('set' in field || field.offset === structs.report.fields.valid.offset) continue;
    t.equal(inner.getUint8(field.offset), 0, `offset ${field.offset}`);
  }
});

t.test('other roots between two ticks', async t => {
  const collector = new Collector(tree(FIRST));
  report(collector, 10n * S);
  collector.moveTo(tree({ ...FIRST, ...SECOND, 'proc/loadavg': '1.00 1.00 1.00 1/1 1\n' }));
  const second = report(collector, 11n * S);
  collector.close();
  t.equal(second.load1_c, 100);
  t.equal(second.cpu_busy_pm, 400);
  t.equal(second.disk_busiest_pm, 250);
});

t.test('a set that cannot be read is missing alone, is logged once, and comes back', async t => {
  const told: string[] = [];
  const node = tree(FIRST);
  const collector = new Collector({ ...node, tell: message => told.push(message) });
  t.teardown(() => collector.close());
  report(collector, 1n * S);

  node.write({ 'proc/stat': 'cpu  1 2 3\n' });
  for (const tick of [2n, 3n])
    t.strictSame(
      sets(report(collector, tick * S)).join(),
      ALL.join().replace('stat,', '').replace('disk', 'disk,disk_share'),
    );
  t.equal(told.length, 1);
  t.match(told[0], /^\S+\/proc\/stat has unexpected content[^\n]*$/);

  node.write({ 'proc/stat': FIRST['proc/stat'] as string });
  const back = report(collector, 4n * S);
  t.equal(back.ctxt, 6000);
  t.notOk('cpu_busy_pm' in back, 'no share over a gap');
  node.write(SECOND);
  t.equal(report(collector, 5n * S).cpu_busy_pm, 400);
  node.write({ 'proc/stat': '' });
  t.notOk('ctxt' in report(collector, 6n * S));
  t.equal(told.length, 2, 'told again, since it had worked');
});

t.test('every set can be missing alone', async t => {
  const files: Record<string, string> = {
    'proc/loadavg': 'load',
    'proc/stat': 'stat',
    'proc/meminfo': 'memory',
    'proc/vmstat': 'vmstat',
    'proc/pressure/cpu': 'psi_cpu',
    'proc/pressure/memory': 'psi_mem',
    'proc/pressure/io': 'psi_io',
    'proc/pressure/irq': 'psi_irq',
    'proc/net/snmp': 'tcp',
    'proc/sys/fs/file-nr': 'files',
    'proc/net/dev': 'net',
    'proc/diskstats': 'disk',
    'proc/sys/kernel/osrelease': 'system',
    'sys/devices/system/cpu/present': 'cpus',
    'sys/devices/system/cpu/online': 'cpus,topology,groups',
    'sys/devices/system/cpu/cpu3/topology/thread_siblings_list': 'topology,groups',
    'sys/devices/system/node/online': 'topology,groups',
  };
  for (const [file, lost] of Object.entries(files)) {
    for (const text of ['garbage\n', '-1\n', '\0', '9'.repeat(5000)]) {
      const collector = new Collector(tree({ ...FIRST, [file]: text }));
      const left = ALL.filter(set => !lost.split(',').includes(set));
      t.strictSame(sets(report(collector, 0n)), left, `${file}: ${JSON.stringify(text.slice(0, 10))}`);
      collector.close();
    }
  }
});

t.test('an empty tree', async t => {
  const told: string[] = [];
  const collector = new Collector({ ...tree({}), tell: message => told.push(message) });
  for (const tick of [1n, 2n]) t.strictSame(sets(report(collector, tick)), []);
  collector.close();
  t.ok(told.length > 0 && told.every(message => /^cannot read \S+: ENOENT$/.test(message)), told.join('\n'));
  t.equal(new Set(told).size, told.length, 'once each');
  t.notOk(
    told.some(message => message.includes('pressure')),
    'a kernel without pressure is no failure',
  );
});

t.test('a FIFO, a device, a folder or a link to itself in the place of a file hangs nothing', async t => {
  for (const [file, lost] of [
    ['proc/stat', 'stat'],
    ['proc/net/dev', 'net'],
    ['proc/sys/kernel/osrelease', 'system'],
    ['sys/devices/system/cpu/cpu0/topology/physical_package_id', 'topology,groups'],
  ] as const) {
    const traps: Record<string, (path: string) => void> = {
      fifo: path => execFileSync('mkfifo', [path]),
      device: path => symlinkSync('/dev/zero', path),
      folder: path => mkdirSync(path),
      loop: path => symlinkSync(path, path),
    };
    for (const [trap, plant] of Object.entries(traps)) {
      const node = tree(FIRST);
      rmSync(node.path(file));
      plant(node.path(file));
      const collector = new Collector(node);
      t.strictSame(
        sets(report(collector, 0n)),
        ALL.filter(set => !lost.split(',').includes(set)),
        `${file}: ${trap}`,
      );
      collector.close();
    }
  }
  const node = tree(FIRST);
  rmSync(node.path('sys/class/net/ens2/speed'));
  execFileSync('mkfifo', [node.path('sys/class/net/ens2/speed')]);
  t.equal(readSpeed(node.sys, 'ens2'), 0, 'a leaf that cannot be read is not known');
});

t.test("the kernel's clock", async t => {
  const rows: [ReturnType<HostMachine['adjtimex']>, number | undefined, number | undefined, string[]][] = [
    [{ offsetUs: -12.9, maxErrorUs: 345, unsynchronised: false }, -12, 345, []],
    [{ offsetUs: 0, maxErrorUs: 16_000_000, unsynchronised: true }, 0, 16_000_000, ['clock_unsync']],
    [{ offsetUs: -1e12, maxErrorUs: 1e12, unsynchronised: false }, -(2 ** 31), 2 ** 32 - 1, []],
    [undefined, undefined, undefined, []],
  ];
  for (const [clock, offset, most, flags] of rows) {
    const { proc, sys, world } = tree({});
    const collector = new Collector({ proc, sys, world: { ...world, adjtimex: () => clock } });
    const seen = report(collector, 1n);
    t.strictSame([seen.clock_offset_us, seen.clock_maxerr_us, bitNames('flags', seen.flags)], [offset, most, flags]);
    collector.close();
  }
});

t.test('what the slow side knows', async t => {
  const collector = new Collector(tree(FIRST));
  t.teardown(() => collector.close());
  const mbps = new Map([
    ['ens2', 25_000],
    ['ens3', 0],
    ['ib0', 100_000],
    ['ib1', 200_000],
    ['gone', 1],
  ]);
  const all = report(collector, 0n, { mbps, mhz: [2400, 0], tempDc: [415, TEMPERATURE_UNKNOWN], container: true });
  t.strictSame(
    all.net?.map(({ mbps }) => mbps),
    [25_000, undefined, undefined],
  );
  t.equal(all.net_rest?.mbps, 300_000, 'a sum, as of all that is added up');
  t.strictSame(all.group, [{ cpus: 4, mhz: 2400, temp_dc: 415 }, { cpus: 3 }]);
  t.equal(all.virt, 2);
  const other = report(collector, 0n, { mhz: [1, 2, 3], tempDc: [1], container: false });
  t.match(other.group, [{ mhz: 1, temp_dc: 1 }, { mhz: 2 }], 'of more groups than there are, or fewer');
  t.equal(other.virt, 1);
});

t.test('interfaces come and go', async t => {
  const node = tree(FIRST);
  const collector = new Collector(node);
  t.teardown(() => collector.close());
  let tick = 0n;
  const names = () => {
    const { net, net_rest } = report(collector, tick++);
    return [...(net ?? []), ...(net_rest ? [net_rest] : [])]
      .map(({ name, state }) => `${name}/${state >>> 16}`)
      .join(' ');
  };
  t.equal(names(), 'ens2/1 ens3/1 ens5/1 rest/2');

  node.write({ 'proc/net/dev': NETDEV_HEAD + net('lo', 1) + net('ib0', 4) + net('ens5', 3) });
  t.equal(names(), 'ens5/1 ib0/1');

  node.write({ ...nic('usb0', 4, '100', '1'), 'proc/net/dev': NETDEV_HEAD + net('usb0', 4) + net('ens5', 3) });
  t.equal(names(), 'usb0/1 ens5/1', 'a new one is found at once');

  node.write({ 'proc/net/dev': NETDEV_HEAD + net('lo', 1) + net('docker0', 4) + net('veth9', 3) });
  t.equal(names(), 'docker0/1 veth9/1', 'none has a device: all but lo');

  node.write({ 'proc/net/dev': NETDEV_HEAD + net('lo', 1) });
  t.equal(names(), '', 'none at all');
  t.ok(sets(report(collector, tick++)).includes('net'), 'which is a reading');

  // The state is read every tenth tick while the names stay the same.
  node.write({ 'proc/net/dev': FIRST['proc/net/dev'] as string });
  const state = () => report(collector, tick++).net?.[0]?.state;
  t.equal(state(), 0x10003);
  node.write({ 'sys/class/net/ens2/operstate': 'down\n' });
  t.strictSame(
    Array.from({ length: 10 }, state).map(state => state === 0x10001),
    [false, false, false, false, false, false, false, false, false, true],
  );
});

t.test('disks come and go', async t => {
  const node = tree(FIRST);
  const collector = new Collector(node);
  t.teardown(() => collector.close());
  t.equal(report(collector, 1n * S).disks, 2);
  const line = (name: string, busy: number) => ` 8 0 ${name} 1 0 1 0 1 0 1 0 0 ${busy} 1\n`;

  node.write({ 'proc/diskstats': line('nvme0n1', 3100) + line('sdz', 500), 'sys/block/sdz/size': '9\n' });
  const second = report(collector, 2n * S);
  t.equal(second.disks, 2);
  t.equal(second.disk_busiest_pm, 100, 'the new disk was not there before');

  node.write({ 'proc/diskstats': line('sdz', 900) });
  t.equal(report(collector, 3n * S).disk_busiest_pm, 400);

  node.write({ 'proc/diskstats': '' });
  const diskless = report(collector, 4n * S);
  t.equal(diskless.disks, 0, 'a node without disks');
  t.notOk('disk_busiest_pm' in diskless);
});

t.test('which disks are whole', async t => {
  const sizes = (...names: string[]) => Object.fromEntries(names.map(name => [`sys/block/${name}/size`, '8\n']));
  const whole = (files: Files) => {
    const names = Object.keys(files).map(path => ({ name: (path.split('/')[2] ?? '').replaceAll('!', '/') }));
    return [...(new WholeDisks(tree(files).sys).among(names) ?? [])].sort().join(' ');
  };
  t.equal(whole(sizes('sda', 'loop0', 'ram1', 'zram0', 'dm-3', 'md127', 'vdb')), 'sda vdb');
  t.equal(whole({ ...sizes('sda'), 'sys/block/sr0/size': '0\n', 'sys/block/fd0/size': 'x' }), 'sda');
  t.equal(whole(sizes('cciss!c0d0')), 'cciss/c0d0', 'a slash in a name');
  t.equal(whole(sizes('nvme0n1', 'nvme0c0n1', 'nvme0c1n1', 'nvme1n1')), 'nvme0c0n1 nvme0c1n1 nvme1n1', 'paths');
  const paths = new WholeDisks(tree(sizes('nvme0n1', 'nvme0c0n1', 'sda')).sys);
  const wholeOf = (...names: string[]) => [...(paths.among(names.map(name => ({ name }))) ?? [])].sort().join(' ');
  t.equal(wholeOf('nvme0n1', 'nvme0c0n1'), 'nvme0c0n1');
  t.equal(wholeOf('nvme0n1', 'nvme0c0n1'), 'nvme0c0n1', 'and the same again');
  t.equal(wholeOf('nvme0n1'), 'nvme0n1', 'the last path has gone');
  t.equal(wholeOf('nvme0n1', 'sda', 'nvme0c0n1'), 'nvme0c0n1 sda', 'and is back');
  const none = new WholeDisks(tree({}).sys);
  t.strictSame([...(none.among([{ name: 'sda' }, { name: 'sda1' }]) ?? [])], ['sda'], 'no /sys/block');
  t.notOk(none.hasBlock);

  const told: string[] = [];
  const { 'proc/diskstats': text = '' } = FIRST;
  const collector = new Collector({ ...tree({ 'proc/diskstats': text }), tell: message => told.push(message) });
  t.equal(report(collector, 0n).disks, 3, 'then by their names; sdb has no medium, but who knows');
  collector.close();
  t.equal(told.filter(message => message.includes('/block')).length, 1);
});

t.test('topology', async t => {
  const { sys } = tree({ ...cpu(0, -1, '0'), ...cpu(1, -1, '1') });
  t.strictSame(
    readTopology(sys, [0, 1])?.fields,
    { packages: 1, groups: 1, threads_per_core: 1, numa_nodes: 1 },
    'no NUMA',
  );
  t.equal(readTopology(sys, [0, 1, 2]), undefined, 'a CPU without');

  const node = tree(FIRST);
  const collector = new Collector(node);
  t.teardown(() => collector.close());
  t.equal(report(collector, 0n).packages, 2);
  node.write(cpu(0, 5, '0'));
  t.equal(report(collector, 1n).packages, 2, 'not read again');
  node.write({ 'sys/devices/system/cpu/online': '0-5\n' });
  t.equal(report(collector, 2n).packages, 3, 'until the CPUs change');
  node.write({ 'sys/devices/system/cpu/online': '0-7\n' });
  t.notOk('packages' in report(collector, 3n), 'one that has no files yet');
  node.write(cpu(7, 5, '7'));
  t.strictSame(
    Array.from({ length: 10 }, (_, i) => 'packages' in report(collector, 4n + BigInt(i))).indexOf(true),
    9,
    'is tried again, but not each tick',
  );
});

t.test('clock rate and virtualisation', async t => {
  const { 'sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq': _, ...rest } = FIRST;
  const look = (files: Files) => {
    const collector = new Collector(tree(files));
    const { cpu_mhz_max, virt } = report(collector, 0n);
    collector.close();
    return [cpu_mhz_max, virt];
  };
  t.strictSame(look(rest), [2100, 1], 'without cpufreq');
  t.strictSame(look({ ...rest, 'proc/cpuinfo': 'processor : 0\n' }), [undefined, 0], 'neither');
  const first = rest['proc/cpuinfo'] as string;
  t.strictSame(look({ ...rest, 'proc/cpuinfo': first.repeat(200_000) }), [2100, 1], 'of 200,000 CPUs the first');
});

t.test('links, file by file', async t => {
  const { sys } = tree({ ...nic('a', 3, '10', '1'), ...link('b', 2, '10', '1') });
  const links = (names: string[]) => [...(new CountedLinks(sys).among(names.map(name => ({ name }))) ?? [])];
  t.strictSame(links(['b', 'a', 'c']), [['a', { index: 3, id: 'a 3 ', state: 3, stacked: false }]]);
  t.strictSame(links(['lo', 'b', 'c']), [
    ['b', { index: 2, id: 'b 2 ', state: 3, stacked: false }],
    ['c', { index: Infinity, id: 'c Infinity ', state: 0, stacked: false }],
  ]);
  t.strictSame(withDevice(sys, ['b', 'a', 'c']), ['a']);
  t.strictSame(
    ['b', 'a', 'c'].map(name => readSpeed(sys, name)),
    [10, 10, 0],
  );
});

t.test('the boot id', async t => {
  t.equal(bootId(tree(FIRST).proc), 0xfedcba9876543210n);
  t.equal(bootId(tree({}).proc), undefined);
  t.equal(bootId(tree({ 'proc/sys/kernel/random/boot_id': 'x\n' }).proc), undefined);
});

t.test('a kernel file', async t => {
  const { path, write } = tree({ 'proc/a': 'one\n' });
  const told: string[] = [];
  const asIs = (text: string) => text;
  const file = new KernelFile(path('proc/a'), message => told.push(message));
  t.equal(file.parse(asIs), 'one\n');
  write({ 'proc/a': 'é'.repeat(200_000) });
  t.equal(file.parse(asIs), 'é'.repeat(200_000), 'longer than the buffer, and open already');
  write({ 'proc/a': '' });
  t.equal(file.parse(asIs), '');
  write({ 'proc/a': 'x'.repeat(MOST_BYTES - 1) });
  t.equal(file.parse(asIs)?.length, MOST_BYTES - 1);
  write({ 'proc/a': 'x'.repeat(MOST_BYTES) });
  t.equal(file.parse(asIs), undefined, 'absurd');
  t.equal(file.parse(asIs), undefined);
  t.strictSame(told, [`cannot read ${path('proc/a')}: larger than ${MOST_BYTES} bytes`], 'told once');
  t.equal(typeof readOnce('/proc/sys/fs/file-nr'), 'string', 'a sysctl refuses to be asked for 4 MiB at once');
  write({ 'proc/a': 'two\n' });
  t.equal(file.parse(asIs), 'two\n', 'works again');
  t.equal(readOnce(path('proc/a'), 2), 'tw');
  file.close();
  file.close();
  t.equal(file.parse(asIs), 'two\n', 'opens again');
  file.close();

  rmSync(path('proc/a'));
  t.equal(file.parse(asIs), undefined);
  t.equal(told.length, 2, 'told again');
  const quiet = new KernelFile(path('proc/a'), message => told.push(message), true);
  t.equal(quiet.parse(asIs), undefined);
  t.equal(told.length, 2, 'an optional one is not missed');
  for (let i = 1; i < 10; i++) t.equal(quiet.parse(asIs), undefined, 'nor looked for each time');
  execFileSync('mkfifo', [path('proc/a')]);
  t.equal(quiet.parse(asIs), undefined);
  t.equal(told[2], `cannot read ${path('proc/a')}: not a regular file`, 'but what lies in its place is');
  t.equal(readOnce(path('proc/a')), undefined);
});

t.test('files stay open between ticks, and not behind a close', async t => {
  const node = tree(FIRST);
  const target = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  };
  const open = () =>
    readdirSync('/proc/self/fd').filter(fd => target(fd).startsWith(node.proc) || target(fd).startsWith(node.sys))
      .length;
  const collector = new Collector(node);
  for (let tick = 0n; tick < 25n; tick++) {
    report(collector, tick);
    t.equal(open(), 14);
  }
  collector.close();
  t.equal(open(), 0);
});

t.test('no corrupt tree makes it throw, or write a field that it did not measure', async t => {
  const seed = Number(process.env.SEED ?? 21);
  t.comment(`seed ${seed}, another one by SEED=n`);
  const texts = Object.entries(FIRST).filter(([, text]) => text !== '');
  const node = tree(FIRST);
  const spoiled = fc.record({
    which: fc.nat({ max: texts.length - 1 }),
    from: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat({ max: 30 }),
    insert: fc.oneof(fc.string(), fc.constantFrom('-', '\n', ' ', '9'.repeat(19), '9'.repeat(20), '9'.repeat(99))),
  });
  fc.assert(
    fc.property(fc.array(spoiled, { minLength: 1, maxLength: 6 }), changes => {
      const files: Files = {};
      for (const { which, from, length, insert } of changes) {
        const [name, text] = texts[which] as [string, string];
        const at = Math.floor(from * text.length);
        files[name] = text.slice(0, at) + insert + text.slice(at + length);
      }
      node.write(files);
      const view = new DataView(new ArrayBuffer(REPORT_BYTES));
      const collector = new Collector(node);
      collector.collect(view, 0n);
      collector.collect(view, S);
      collector.close();
      node.write(Object.fromEntries(Object.keys(files).map(name => [name, FIRST[name] as string])));
      const valid = new Set<string>(sets(decodeReport(view, 0)));
      for (const field of Object.values(structs.report.fields)) {
        if (!('set' in field) || valid.has(field.set)) continue;
        if (view.getUint8(field.offset) !== 0) return false;
      }
      return true;
    }),
    { seed, numRuns: runsOf(200) },
  );
  t.pass('none did');
});

t.test("this machine's own trees give all that its kernel has", async t => {
  const told: string[] = [];
  const collector = new Collector({ proc: '/proc', sys: '/sys', tell: message => told.push(message) });
  t.teardown(() => collector.close());
  const readable = (path: string) => {
    try {
      return readFileSync(path, 'utf8') !== '';
    } catch {
      return false;
    }
  };
  const needs: [string, boolean][] = [
    ['cpus', true],
    ['topology', readable('/sys/devices/system/cpu/cpu0/topology/physical_package_id')],
    ['load', true],
    ['stat', true],
    ['memory', true],
    ['vmstat', /^oom_kill /m.test(readFileSync('/proc/vmstat', 'utf8'))],
    ['psi_cpu', readable('/proc/pressure/cpu')],
    ['psi_mem', readable('/proc/pressure/memory')],
    ['psi_io', readable('/proc/pressure/io')],
    ['psi_irq', readable('/proc/pressure/irq')],
    ['tcp', readable('/proc/net/snmp')],
    ['files', true],
    ['net', true],
    ['disk', readable('/proc/diskstats')],
    ['groups', readable('/sys/devices/system/cpu/cpu0/topology/physical_package_id')],
    ['system', true],
    [
      'cpu_mhz',
      existsSync('/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq') ||
        /^cpu MHz\s+:/m.test(readFileSync('/proc/cpuinfo', 'utf8')),
    ],
    ['clock', here.adjtimex() !== undefined],
  ];
  const first = report(collector, 0n);
  t.strictSame(
    sets(first),
    needs.filter(([, has]) => has).map(([set]) => set),
  );
  t.strictSame(told, []);
  t.equal(first.os_release, readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim().slice(0, 47));
  t.ok((first.mem_total_mib ?? 0) >= (first.mem_free_mib ?? 0));
  t.ok((first.threads ?? 0) > 0 && (first.forks ?? 0) > 0 && (first.runnable ?? 0) > 0);
  t.ok((first.cpus_present ?? 0) >= (first.cpus_online ?? 0));

  // A share needs at least one tick of the kernel's clock between two reports, and collecting takes time.
  let now = 0n;
  let shared: Report | undefined;
  while (shared?.cpu_busy_pm === undefined && now < 100_000n * S) {
    now += S;
    shared = report(collector, now);
  }
  t.ok((shared?.cpu_busy_pm ?? 1001) <= 1000 && (shared?.cpu_iowait_pm ?? 1001) <= 1000);
  t.equal(shared?.disk_busiest_pm === undefined, shared?.disks === 0);
  t.not(bootId('/proc'), undefined);
});
