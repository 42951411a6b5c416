// The sender's parsers on the texts of kernel files: complete, old, corrupt, endless. Independent of this machine.
//
// @whole
// @days 3

import fc from 'fast-check';
import t from 'tap';
import { parseBootId } from '../../src/sender/collect/bootid.js';
import { parseCpuList, parsePackageId } from '../../src/sender/collect/cpus.js';
import { looksWhole } from '../../src/sender/collect/diskparts.js';
import { busiestDisk, type Disk, diskstatsParser, sumDisks } from '../../src/sender/collect/diskstats.js';
import { parseFileNr } from '../../src/sender/collect/filenr.js';
import { add, less, modulo32, over, TextCursor, thousandths, times, u64 } from '../../src/sender/collect/kerneltext.js';
import { parseLoadavg } from '../../src/sender/collect/loadavg.js';
import { parseMeminfo } from '../../src/sender/collect/meminfo.js';
import { arrange, type InterfaceCounts, netdevParser } from '../../src/sender/collect/netdev.js';
import { type Link, parseIndex, parseSpeed, parseState } from '../../src/sender/collect/netlinks.js';
import {
  parseCpuPressure,
  parseIoPressure,
  parseIrqPressure,
  parseMemoryPressure,
} from '../../src/sender/collect/pressure.js';
import { parseSnmp } from '../../src/sender/collect/snmp.js';
import { cpuShare, type ProcStat, parseStat } from '../../src/sender/collect/stat.js';
import { archOf, parseCpuinfo, parseMaxFreq, parsePageKib, parseRelease } from '../../src/sender/collect/system.js';
import { parseVmstat } from '../../src/sender/collect/vmstat.js';
import { anyText } from '../kit/anytext.js';
import { leastCpuMs } from '../kit/cputime.js';
import { NOT_WHOLE } from '../kit/whole.js';

const U64 = '18446744073709551615';

/** Without lines of a text before. */
const parseNetdev = (text: string, leaveOut?: () => void) => netdevParser()(text, leaveOut);
const parseDiskstats = (text: string, leaveOut?: () => void) => diskstatsParser()(text, leaveOut);

const BEYOND = '18446744073709551616';

const STAT = `cpu  101 2 33 4444 5 6 7 8 9 10
cpu0 50 1 16 2222 2 3 3 4 4 5
cpu1 51 1 17 2222 3 3 4 4 5 5
intr 987654 0 9 0 0 0 4 0 77
ctxt 123456789
btime 1795237125
processes 4165
procs_running 3
procs_blocked 1
softirq 128313 0 19797 5 8672 37779 0 2 37976 0 24082
`;
const STAT_OUT = {
  cpu_user_ms: 1010,
  cpu_nice_ms: 20,
  cpu_system_ms: 330,
  cpu_idle_ms: 44440,
  cpu_iowait_ms: 50,
  cpu_irq_ms: 60,
  cpu_softirq_ms: 70,
  cpu_steal_ms: 80,
  ctxt: 123456789,
  intr: 987654,
  forks: 4165,
  runnable: 3,
  blocked: 1,
};

const LOADAVG = '1.05 0.30 12.99 2/813 4165\n';

const MEMINFO = `MemTotal:       24684084 kB
MemFree:         1048577 kB
MemAvailable:   24320992 kB
Buffers:            2047 kB
Cached:           136264 kB
SwapCached:            0 kB
Active:            49960 kB
Inactive:          84088 kB
Unevictable:       12660 kB
Mlocked:           11816 kB
SwapTotal:       8388604 kB
SwapFree:        8388604 kB
Dirty:              1023 kB
Writeback:             1 kB
AnonPages:          9448 kB
Mapped:            10760 kB
Shmem:              8872 kB
KReclaimable:      81700 kB
Slab:             104296 kB
SReclaimable:      81700 kB
SUnreclaim:        22596 kB
KernelStack:        1336 kB
PageTables:         1736 kB
CommitLimit:    12342040 kB
Committed_AS:      53084 kB
VmallocTotal:   34359738367 kB
HardwareCorrupted:     8 kB
HugePages_Total:      16
HugePages_Free:        3
HugePages_Rsvd:        0
HugePages_Surp:        0
Hugepagesize:       2048 kB
DirectMap4k:       26624 kB
`;
const MEMINFO_OUT = {
  mem_total_mib: 24105,
  mem_avail_mib: 23750,
  swap_total_mib: 8191,
  swap_free_mib: 8191,
  mem_free_mib: 1024,
  mem_buffers_mib: 1,
  mem_cached_mib: 133,
  mem_shmem_mib: 8,
  mem_sreclaimable_mib: 79,
  mem_sunreclaim_mib: 22,
  mem_anon_mib: 9,
  mem_committed_mib: 51,
  mem_commit_limit_mib: 12052,
  mem_unevictable_mib: 12,
  mem_pagetables_mib: 1,
  mem_dirty_writeback_mib: 1,
  mem_huge_total_mib: 32,
  mem_huge_free_mib: 6,
  mem_corrupted_kib: 8,
};

const VMSTAT = `nr_free_pages 6084880
nr_zone_inactive_anon 1037
pgpgin 1448861
pgpgout 924248
pswpin 11
pswpout 22
pgfault 1000000
pgmajfault 333
oom_kill 4
numa_hit 9
`;

const PRESSURE = `some avg10=3.67 avg60=1.09 avg300=0.49 total=9662264
full avg10=0.50 avg60=100.00 avg300=0.00 total=12
`;

const SNMP = `Ip: Forwarding DefaultTTL InReceives
Ip: 2 64 7547
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens RetransSegs InErrs
Tcp: 1 200 120000 -1 66 4711 0
Udp: InDatagrams NoPorts
Udp: 75 0
`;

const NETDEV_HEAD = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`;
const NETDEV = `${NETDEV_HEAD}    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
eth0:254053551    7521    1    2    3     4          5         6   609299    4666    70    80    9     10       11          12
`;
const NETDEV_OUT = [
  { name: 'lo', rx_bytes: 3193, tx_bytes: 3193, rx_packets: 29, tx_packets: 29, errors: 0, drops: 0 },
  { name: 'eth0', rx_bytes: 254053551, tx_bytes: 609299, rx_packets: 7521, tx_packets: 4666, errors: 71, drops: 82 },
];

// 14, 18 and 20 words: before Linux 4.18, since 4.18, and since 5.5.
const DISKSTATS = `   8       0 sda 100 9 200 9 300 9 400 9 1 500 600
   8      16 sdb 10 9 20 9 30 9 40 9 0 50 60 1 2 3 4
 254       0 vda 1 9 2 9 3 9 4 9 0 5 6 3589 27 87456 217 830 26
`;
const disk = (name: string, numbers: number[]): Disk => {
  const [reads = 0, sectorsRead = 0, writes = 0, sectorsWritten = 0, inflight = 0, busyMs = 0, weightedMs = 0] =
    numbers;
  const number = { sda: '8:0', sdb: '8:16', vda: '254:0' }[name] ?? '8:32';
  return { name, number, reads, sectorsRead, writes, sectorsWritten, inflight, busyMs, weightedMs };
};
const DISKS_OUT = [
  disk('sda', [100, 200, 300, 400, 1, 500, 600]),
  disk('sdb', [10, 20, 30, 40, 0, 50, 60]),
  disk('vda', [1, 2, 3, 4, 0, 5, 6]),
];

const BOOT_ID = '0123abcd-4567-89ef-8765-0123456789ab\n';

const CPUINFO = `processor\t: 0
model name\t: AMD EPYC
cpu MHz\t\t: 2596.934
flags\t\t: fpu vme rdrand hypervisor lahf_lm

processor\t: 1
`;

type Parser = (text: string) => unknown;

/** Text → the parser's result; undefined: it refuses the text. */
const tables: [name: string, parse: Parser, rows: [what: string, text: string, expected: unknown][]][] = [
  [
    'stat',
    parseStat,
    [
      ['whole', STAT, STAT_OUT],
      ['no softirq line, as in a small kernel', STAT.replace(/softirq.*\n/, ''), STAT_OUT],
      ['no guest times', STAT.replace(' 9 10\n', '\n'), STAT_OUT],
      ['cut behind steal', STAT.replace(' 8 9 10\n', '\n'), undefined],
      ['a negative time', STAT.replace('cpu  101', 'cpu  -101'), undefined],
      [
        'the largest tick count times ten is beyond 64 bits',
        STAT.replace('cpu  101', `cpu  ${U64}`),
        { ...STAT_OUT, cpu_user_ms: 184467440737095516150n },
      ],
      ['beyond 64 bits itself', STAT.replace('cpu  101', `cpu  ${BEYOND}`), undefined],
      [
        'ticks that are safe, ms that are not',
        STAT.replace('cpu  101', 'cpu  900719925474100'),
        { ...STAT_OUT, cpu_user_ms: 9007199254741000n },
      ],
      ['no intr', STAT.replace('intr', 'intx'), undefined],
      ['no ctxt', STAT.replace('ctxt', 'ctxx'), undefined],
      ['no processes', STAT.replace('processes', 'procs'), undefined],
      ['no procs_running', STAT.replace('procs_running', 'running'), undefined],
      ['cut in procs_blocked', STAT.slice(0, STAT.indexOf('procs_blocked') + 15), undefined],
      ['only an intr total', STAT.replace(/intr.*\n/, 'intr 5\n'), { ...STAT_OUT, intr: 5 }],
      ['garbage', 'cpu cpu cpu\n\n\0\xff', undefined],
      ['a count below zero is not known', STAT.replace('ctxt 1', 'ctxt -1'), { ...STAT_OUT, ctxt: 0 }],
      [
        'of tasks, without its sign',
        STAT.replace('procs_running 3', 'procs_running 4294967295'),
        { ...STAT_OUT, runnable: 0 },
      ],
    ],
  ],
  [
    'loadavg',
    parseLoadavg,
    [
      ['whole', LOADAVG, { load1_c: 105, load5_c: 30, load15_c: 1299, threads: 813 }],
      ['no line end', LOADAVG.trimEnd(), undefined],
      ['negative', `-${LOADAVG}`, undefined],
      ['one decimal', '1.0 0.30 12.99 2/813 4165\n', undefined],
      ['no threads', '1.05 0.30 12.99 2 4165\n', undefined],
      ['nan', 'nan nan nan 2/813 4165\n', undefined],
      [
        'as many tasks as there can be',
        '4194304.00 0.00 0.00 1/4194304 1\n',
        { load1_c: 419430400, load5_c: 0, load15_c: 0, threads: 4194304 },
      ],
      ['absurd', `${U64}.99 0.00 0.00 1/1 1\n`, undefined],
      ['absurdly many threads', `0.00 0.00 0.00 1/${U64} 1\n`, undefined],
      ['beyond 64 bits', `${BEYOND}.00 0.00 0.00 1/2 1\n`, undefined],
    ],
  ],
  [
    'meminfo',
    parseMeminfo,
    [
      ['whole', MEMINFO, MEMINFO_OUT],
      [
        'a kernel without memory failures has taken none out of use',
        MEMINFO.replace(/HardwareCorrupted.*\n/, ''),
        { ...MEMINFO_OUT, mem_corrupted_kib: 0 },
      ],
      [
        'a kernel without huge pages has none',
        MEMINFO.replace(/Huge.*\n/g, ''),
        { ...MEMINFO_OUT, mem_huge_total_mib: 0, mem_huge_free_mib: 0 },
      ],
      ['huge pages of no size', MEMINFO.replace(/Hugepagesize.*\n/, ''), undefined],
      ['huge pages, but how many', MEMINFO.replace(/HugePages_Total.*\n/, ''), undefined],
      [
        'huge pages of 1 GiB',
        MEMINFO.replace('2048 kB', '1048576 kB'),
        { ...MEMINFO_OUT, mem_huge_total_mib: 16384, mem_huge_free_mib: 3072 },
      ],
      ['before 3.14: no MemAvailable', MEMINFO.replace(/MemAvailable.*\n/, ''), undefined],
      ['negative', MEMINFO.replace('24684084', '-4684084'), undefined],
      ['another unit', MEMINFO.replace('24684084 kB', '24684084 MB'), undefined],
      ['cut in a line that need not be there', MEMINFO.slice(0, MEMINFO.indexOf('HugePages') - 4), undefined],
      ['cut in a required line', MEMINFO.slice(0, MEMINFO.indexOf('Committed_AS') + 20), undefined],
      [
        'a negative long, printed as unsigned',
        MEMINFO.replace('24684084', U64),
        { ...MEMINFO_OUT, mem_total_mib: 18014398509481983n },
      ],
      ['a field that ends like another', `X${MEMINFO.replace('MemFree', 'XMemFree')}`, undefined],
    ],
  ],
  [
    'vmstat',
    parseVmstat,
    [
      ['whole', VMSTAT, { majfaults: 333, swapin_pages: 11, swapout_pages: 22, oom_kills: 4 }],
      ['before 4.13: no oom_kill', VMSTAT.replace('oom_kill', 'oom'), undefined],
      ['no pgmajfault', VMSTAT.replace('pgmajfault', 'pgmajor'), undefined],
      [
        'kills count modulo 2^32',
        VMSTAT.replace('oom_kill 4', 'oom_kill 4294967297'),
        { majfaults: 333, swapin_pages: 11, swapout_pages: 22, oom_kills: 1 },
      ],
      ['negative', VMSTAT.replace('pswpin 11', 'pswpin -11'), undefined],
      ['cut', VMSTAT.slice(0, VMSTAT.indexOf('oom_kill') + 10), undefined],
    ],
  ],
  [
    'pressure/cpu',
    parseCpuPressure,
    [
      ['whole', PRESSURE, { psi_cpu_some10: 367, psi_cpu_some60: 109, psi_cpu_some_us: 9662264 }],
      [
        'before 5.13: some alone',
        PRESSURE.replace(/full.*\n/, ''),
        { psi_cpu_some10: 367, psi_cpu_some60: 109, psi_cpu_some_us: 9662264 },
      ],
      ['cut', PRESSURE.slice(0, 40), undefined],
      ['negative', PRESSURE.replace('3.67', '-3.67'), undefined],
      ['three decimals', PRESSURE.replace('3.67', '3.670'), undefined],
      ['more than all of the time', PRESSURE.replace('3.67', '100.01'), undefined],
    ],
  ],
  [
    'pressure/memory',
    parseMemoryPressure,
    [
      [
        'whole',
        PRESSURE,
        {
          psi_mem_some10: 367,
          psi_mem_some60: 109,
          psi_mem_some_us: 9662264,
          psi_mem_full10: 50,
          psi_mem_full60: 10000,
          psi_mem_full_us: 12,
        },
      ],
      ['no full', PRESSURE.replace(/full.*\n/, ''), undefined],
    ],
  ],
  [
    'pressure/io',
    parseIoPressure,
    [
      [
        'whole',
        PRESSURE,
        {
          psi_io_some10: 367,
          psi_io_some60: 109,
          psi_io_some_us: 9662264,
          psi_io_full10: 50,
          psi_io_full60: 10000,
          psi_io_full_us: 12,
        },
      ],
      ['no some', PRESSURE.replace(/some.*\n/, ''), undefined],
      ['cut in full', PRESSURE.trimEnd(), undefined],
    ],
  ],
  [
    'pressure/irq',
    parseIrqPressure,
    [
      ['full alone', PRESSURE.replace(/some.*\n/, ''), { psi_irq_full10: 50, psi_irq_full_us: 12 }],
      ['no full', PRESSURE.replace(/full.*\n/, ''), undefined],
    ],
  ],
  [
    'snmp',
    parseSnmp,
    [
      ['whole; another number is negative', SNMP, { tcp_retrans: 4711 }],
      ['another order of columns', 'Tcp: RetransSegs A\nTcp: 7 8\n', { tcp_retrans: 7 }],
      ['beyond 2^53', SNMP.replace('4711', U64), { tcp_retrans: 18446744073709551615n }],
      ['not named', SNMP.replace('RetransSegs', 'Retrans'), undefined],
      ['no numbers', SNMP.replace(/Tcp: 1.*\n/, ''), undefined],
      ['too few numbers', SNMP.replace(' 4711 0', ''), undefined],
      ['negative', SNMP.replace('4711', '-4711'), undefined],
      ['cut', SNMP.slice(0, SNMP.indexOf('4711') + 3), undefined],
      ['no TCP', 'Ip: A\nIp: 1\n', undefined],
    ],
  ],
  [
    'net/dev',
    parseNetdev,
    [
      ['whole, and no blank behind a colon', NETDEV, NETDEV_OUT],
      ['no interfaces', NETDEV_HEAD, []],
      ['one line of headings', NETDEV_HEAD.slice(0, NETDEV_HEAD.indexOf('\n') + 1), undefined],
      ['no headings', NETDEV.slice(NETDEV_HEAD.length), undefined],
      ['cut in a line', NETDEV.slice(0, -20), undefined],
      ['cut in a line, with a line end', `${NETDEV.slice(0, -60)}\n`, NETDEV_OUT.slice(0, 1)],
      ['negative', NETDEV.replace('609299', '-09299'), NETDEV_OUT.slice(0, 1)],
      ['a name that is a path', NETDEV.replace('eth0', '../x'), NETDEV_OUT.slice(0, 1)],
      ['a name that is too long', NETDEV.replace('eth0', 'e'.repeat(16)), NETDEV_OUT.slice(0, 1)],
      ['no name', NETDEV.replace('eth0', '    '), NETDEV_OUT.slice(0, 1)],
      ['no colon', NETDEV.replace('eth0:', 'eth0 '), NETDEV_OUT.slice(0, 1)],
      ['no line is understood', NETDEV.replaceAll(':', ' '), undefined],
      [
        'bytes beyond 2^53, exactly',
        `${NETDEV_HEAD}a: 9007199254740993 1 18446744073709551615 1 0 0 0 0 ${U64} 1 18446744073709551615 1 0 0 0 0\n`,
        [
          {
            name: 'a',
            rx_bytes: 9007199254740993n,
            tx_bytes: 18446744073709551615n,
            rx_packets: 1,
            tx_packets: 1,
            errors: 36893488147419103230n,
            drops: 2,
          },
        ],
      ],
      ['beyond 64 bits', NETDEV.replace('609299', BEYOND), NETDEV_OUT.slice(0, 1)],
    ],
  ],
  [
    'diskstats',
    parseDiskstats,
    [
      ['14, 18 and 20 words', DISKSTATS, DISKS_OUT],
      ['a node without block devices', '', []],
      ['cut in a line', DISKSTATS.trimEnd(), undefined],
      ['a line of the 2.6 partitions', '   8       1 sda1 35486 38030 0 0\n', undefined],
      ['negative', DISKSTATS.replace(' 500 ', ' -500 '), DISKS_OUT.slice(1)],
      ['an empty line', `${DISKSTATS}\n`, DISKS_OUT],
      ['garbage', 'sda sda sda\n', undefined],
    ],
  ],
  [
    'file-nr',
    parseFileNr,
    [
      ['whole', '377\t7\t9223372036854775807\n', { files_open: 370 }],
      ['less than none', '7\t377\t100\n', { files_open: 0 }],
      ['beyond 2^53, exactly', '9223372036854775807\t9223372036854775806\t1\n', { files_open: 1 }],
      ['below zero, without its sign', '9223372036854775808\t0\t1\n', undefined],
      ['two numbers', '377\t7\n', undefined],
      ['no line end', '377\t7\t99', undefined],
      ['negative', '-1\t0\t5\n', undefined],
    ],
  ],
  [
    'cpu list',
    parseCpuList,
    [
      ['a range', '0-3\n', [0, 1, 2, 3]],
      ['ranges and single ones', '0-2,5,7-8\n', [0, 1, 2, 5, 7, 8]],
      ['one', '0\n', [0]],
      ['no line end', '0-1', [0, 1]],
      ['backwards', '3-0\n', undefined],
      ['not growing', '0-3,2\n', undefined],
      ['twice', '1,1\n', undefined],
      ['no numbers', '\n', undefined],
      ['a hole', '0,,2\n', undefined],
      ['negative', '-1\n', undefined],
      ['the most', '65535\n', [65535]],
      ['absurd', '0-65536\n', undefined],
      ['more absurd', '0-4294967295\n', undefined],
      ['a mask', 'ff\n', undefined],
    ],
  ],
  [
    'package id',
    parsePackageId,
    [
      ['one', '1\n', 1],
      ['not known', '-1\n', -1],
      ['garbage', 'x\n', undefined],
    ],
  ],
  [
    'boot id',
    parseBootId,
    [
      ['whole', BOOT_ID, 0x0123abcd456789efn],
      ['upper case, no line end', BOOT_ID.trimEnd().toUpperCase(), 0x0123abcd456789efn],
      ['cut', BOOT_ID.slice(0, 30), undefined],
      ['too long', BOOT_ID.replace('ab\n', 'abc\n'), undefined],
      ['garbage', 'zzzzzzzz-4567-89ef-8765-0123456789ab\n', undefined],
    ],
  ],
  [
    'osrelease',
    parseRelease,
    [
      ['one word', '4.18.0-553.el8.x86_64\n', '4.18.0-553.el8.x86_64'],
      ['two words', '4.18 5.0\n', undefined],
      ['absurd', `${'4'.repeat(65)}\n`, undefined],
    ],
  ],
  [
    'cpuinfo_max_freq',
    parseMaxFreq,
    [
      ['kHz', '3699999\n', 3699],
      ['none', '0\n', undefined],
      ['not known', '<unknown>\n', undefined],
      ['negative', '-1\n', undefined],
    ],
  ],
];

for (const [name, parse, rows] of tables) {
  t.test(name, async t => {
    for (const [what, text, expected] of rows) t.strictSame(parse(text), expected, what);
    if (name !== 'diskstats') t.equal(parse(''), undefined, 'empty');
    t.equal(parse('\0'.repeat(100)), undefined, 'zeros');
    t.equal(parse('\xff\xfe'.repeat(100)), undefined, 'bytes of no text');
  });
}

t.test('cpuinfo, of which nothing is required', async t => {
  t.strictSame(parseCpuinfo(CPUINFO), { hypervisor: true, mhz: 2596 });
  t.strictSame(parseCpuinfo(CPUINFO.replace(' hypervisor', '')), { hypervisor: false, mhz: 2596 });
  t.strictSame(parseCpuinfo(CPUINFO.replace('hypervisor lahf_lm', 'hypervisor')), { hypervisor: true, mhz: 2596 });
  t.strictSame(parseCpuinfo(CPUINFO.replace('hypervisor', 'hypervisors')), { hypervisor: false, mhz: 2596 });
  t.strictSame(parseCpuinfo(CPUINFO.slice(0, CPUINFO.indexOf('lahf'))), { hypervisor: false, mhz: 2596 }, 'cut');
  t.strictSame(parseCpuinfo('cpu MHz dynamic : 5504\nFeatures : fp\n'), { hypervisor: false, mhz: undefined });
  t.strictSame(parseCpuinfo(''), { hypervisor: false, mhz: undefined });
});

t.test('the vector with the page size', async t => {
  const auxv = (...pairs: [number, number][]) => new Uint8Array(new BigUint64Array(pairs.flat().map(BigInt)).buffer);
  t.equal(parsePageKib(auxv([33, 1], [6, 4096], [0, 0])), 4);
  t.equal(parsePageKib(auxv([6, 65536])), 64);
  t.equal(parsePageKib(auxv([33, 6], [6, 4096]).subarray(0, 31)), undefined, 'cut');
  t.equal(parsePageKib(auxv([33, 6])), undefined, 'a value is not a key');
  t.equal(parsePageKib(new Uint8Array()), undefined);
});

t.test('leaves of /sys/class/net', async t => {
  t.strictSame(['10000\n', '-1\n', '4294967295\n', '', 'x', undefined].map(parseSpeed), [10000, 0, 0, 0, 0, 0]);
  t.strictSame(
    [
      parseState('0x1003\n', 'up\n'),
      parseState('0x1003\n', 'unknown\n'),
      parseState('0x1003\n', 'down\n'),
      parseState('0x1003\n', 'lowerlayerdown\n'),
      parseState('0x1002\n', undefined),
      parseState('0x1002\n', 'unknown\n'),
      parseState(undefined, 'up\n'),
      parseState('0x', ''),
    ],
    [3, 3, 1, 1, 0, 0, 0, 0],
  );
  t.strictSame(['4\n', '', undefined].map(parseIndex), [4, Infinity, Infinity]);
});

t.test('names', async t => {
  for (const name of ['sda', 'sdaa', 'vdb', 'xvda', 'hda', 'nvme0n1', 'nvme0c1n1', 'mmcblk0', 'dasda', 'pmem0'])
    t.ok(looksWhole(name), name);
  for (const name of ['sda1', 'nvme0n1p2', 'mmcblk0p1', 'loop0', 'ram0', 'zram0', 'dm-0', 'md127', 'sr0', ''])
    t.notOk(looksWhole(name), name);
  t.strictSame(['x86_64', 'aarch64', 'ppc64le', 'riscv64', 's390x', 'i686', ''].map(archOf), [1, 2, 3, 4, 5, 0, 0]);
});

t.test('numbers beyond 2^53 stay exact', async t => {
  const safe = Number.MAX_SAFE_INTEGER;
  t.equal(u64(String(safe)), safe);
  t.equal(u64(String(safe + 1)), 9007199254740992n);
  t.equal(u64('00000000000000000001'), 1);
  for (const token of [undefined, '', ' 1', '+1', '-1', '1e3', '0x1', '1.5', '٣', BEYOND, '9'.repeat(99)])
    t.equal(u64(token), undefined, String(token));
  t.equal(add(safe, 1), 9007199254740992n);
  t.equal(add(9007199254740992n, 0), 9007199254740992n);
  t.equal(times(safe, 10), 90071992547409910n);
  t.equal(times(18446744073709551615n, 0), 0);
  t.equal(less(18446744073709551615n, 18446744073709551614n), 1);
  t.equal(less(1, 2n ** 60n), 0);
  t.equal(over(18446744073709551615n, 1024), 18014398509481983n);
  t.equal(over(2047, 1024), 1);
  t.equal(modulo32(2 ** 32 + 5), 5);
  t.equal(modulo32(2n ** 64n - 1n), 2 ** 32 - 1);
  t.equal(thousandths(1, 3), 333);
  t.equal(thousandths(5, 3), 1000);
  t.equal(new TextCursor('0.07').hundredths(), 7);
});

const stat = (times: Partial<ProcStat>): ProcStat => ({ ...STAT_OUT, ...times });

t.test('shares of CPU time', async t => {
  const share = (to: Partial<ProcStat>) => cpuShare(STAT_OUT, stat(to));
  t.equal(share({}), undefined, 'no time passed');
  t.strictSame(share({ cpu_idle_ms: 44440 + 1000 }), { cpu_busy_pm: 0, cpu_iowait_pm: 0 });
  t.strictSame(
    share({
      cpu_user_ms: 1010 + 10,
      cpu_nice_ms: 20 + 20,
      cpu_system_ms: 330 + 30,
      cpu_irq_ms: 60 + 40,
      cpu_softirq_ms: 70 + 50,
      cpu_steal_ms: 80 + 60,
      cpu_iowait_ms: 50 + 190,
      cpu_idle_ms: 44440 + 600,
    }),
    { cpu_busy_pm: 210, cpu_iowait_pm: 190 },
    'all but idle and iowait is busy',
  );
  t.strictSame(
    share({ cpu_user_ms: 1020, cpu_idle_ms: 44460 }),
    { cpu_busy_pm: 333, cpu_iowait_pm: 0 },
    'rounded down',
  );
  t.strictSame(
    share({ cpu_user_ms: 1110, cpu_iowait_ms: 0, cpu_idle_ms: 44540 }),
    { cpu_busy_pm: 500, cpu_iowait_pm: 0 },
    'iowait went back',
  );
  t.equal(share({ cpu_user_ms: 0, cpu_idle_ms: 0 }), undefined, 'all went back');
  t.strictSame(
    cpuShare(stat({ cpu_steal_ms: 0 }), stat({ cpu_steal_ms: 184467440737095516150n })),
    { cpu_busy_pm: 1000, cpu_iowait_pm: 0 },
    'absurd',
  );
});

t.test('disks added together', async t => {
  t.strictSame(sumDisks(DISKS_OUT), {
    disk_read_bytes: 222 * 512,
    disk_write_bytes: 444 * 512,
    disk_reads: 111,
    disk_writes: 333,
    disk_busy_ms: 555,
    disk_weighted_ms: 666,
    disk_inflight: 1,
    disks: 3,
  });
  t.equal(sumDisks([])?.disks, 0);
  t.equal(sumDisks([disk('a', [0, 2 ** 53 - 1])])?.disk_read_bytes, (2n ** 53n - 1n) * 512n);
});

t.test('the busiest disk', async t => {
  const busy = (name: string, ms: number) => disk(name, [0, 0, 0, 0, 0, ms]);
  const second = 1_000_000_000n;
  const share = (before: Disk[], now: Disk[], ns = second) => busiestDisk(before, now, ns);
  t.equal(share([], []), undefined, 'no disks');
  t.equal(share([busy('a', 0)], [busy('a', 5)], 0n), undefined, 'no time');
  t.equal(share([busy('a', 0)], [busy('a', 5)], -1n), undefined, 'time went back');
  t.equal(share([busy('a', 0)], [busy('b', 5)]), undefined, 'no disk at both ticks');
  t.strictSame(share([busy('a', 100), busy('b', 7)], [busy('b', 50), busy('a', 350)]), { disk_busiest_pm: 250 });
  t.strictSame(share([busy('a', 0)], [busy('a', 1)], 3n * second), { disk_busiest_pm: 0 }, 'rounded down');
  t.strictSame(share([busy('a', 0)], [busy('a', 1001)]), { disk_busiest_pm: 1000 }, 'a little more than all');
  t.strictSame(share([busy('a', 2 ** 32 - 100)], [busy('a', 400)]), { disk_busiest_pm: 500 }, 'modulo 2^32');
  t.strictSame(share([busy('a', 5000)], [busy('a', 10)]), { disk_busiest_pm: 0 }, 'another disk of this name');
});

t.test('interfaces in their places', async t => {
  const one = (name: string, n: number): InterfaceCounts => ({
    name,
    rx_bytes: n,
    tx_bytes: n * 2,
    rx_packets: n * 3,
    tx_packets: n * 4,
    errors: n * 5,
    drops: n * 6,
  });
  const link = (index: number, state = 1): Link => ({ index, state });
  const names = (net: { name: string }[]) => net.map(({ name }) => name).join(' ');

  t.strictSame(arrange([], new Map()), { net: [] });
  const two = arrange(
    [one('lo', 1), one('br0', 2), one('eth1', 3), one('eth0', 4)],
    new Map([
      ['eth0', link(2, 3)],
      ['eth1', link(3)],
    ]),
    new Map([
      ['eth0', 1000],
      ['lo', 7],
    ]),
  );
  t.strictSame(two, {
    net: [
      { ...one('eth0', 4), mbps: 1000, state: 0x10003 },
      { ...one('eth1', 3), mbps: 0, state: 0x10001 },
    ],
  });

  const five = arrange(
    [one('e', 16), one('d', 8), one('c', 4), one('b', 2), one('a', 1)],
    new Map(['a', 'b', 'c', 'd', 'e'].map((name, i) => [name, link(i, name === 'e' ? 2 : 1)])),
    new Map(['a', 'd', 'e'].map(name => [name, 100])),
  );
  t.equal(names(five?.net ?? []), 'a b c');
  t.strictSame(five?.net_rest, { ...one('rest', 24), mbps: 200, state: 0x20003 });

  const unknown = link(Number.POSITIVE_INFINITY);
  t.equal(
    names(
      arrange(
        [one('c', 1), one('b', 1), one('a', 1)],
        new Map([
          ['a', link(7)],
          ['b', unknown],
          ['c', unknown],
        ]),
      )?.net ?? [],
    ),
    'a c b',
    'what has no index comes last, as the kernel had it',
  );
  const wrapped = arrange([{ ...one('a', 1), errors: 2n ** 64n + 3n }], new Map([['a', link(1)]]))?.net[0];
  t.equal(wrapped?.errors, 3, 'errors count modulo 2^32');
  const everyName = Array.from({ length: 70_003 }, (_, i) => `v${i}`);
  const many = arrange(
    everyName.map(name => one(name, 1)),
    new Map(everyName.map(name => [name, link(1, 0)])),
  );
  t.equal(many?.net_rest?.state, 0xffff0000, 'no more than 16 bits of interfaces');
});

const SAMPLES: [Parser, string][] = [
  [parseStat, STAT],
  [parseLoadavg, LOADAVG],
  [parseMeminfo, MEMINFO],
  [parseVmstat, VMSTAT],
  [parseCpuPressure, PRESSURE],
  [parseMemoryPressure, PRESSURE],
  [parseIoPressure, PRESSURE],
  [parseIrqPressure, PRESSURE],
  [parseSnmp, SNMP],
  [parseNetdev, NETDEV],
  [parseDiskstats, DISKSTATS],
  [parseFileNr, '377\t0\t2466170\n'],
  [parseCpuList, '0-3,5\n'],
  [parsePackageId, '0\n'],
  [parseBootId, BOOT_ID],
  [parseRelease, '4.18.0\n'],
  [parseCpuinfo, CPUINFO],
  [parseMaxFreq, '3700000\n'],
  [parseSpeed, '10000\n'],
  [parseIndex, '4\n'],
  [text => parseState(text, text), '0x1003\n'],
];

t.test('large but valid', async t => {
  const cpus = Array.from({ length: 4096 }, (_, i) => `cpu${i} 1 2 3 4 5 6 7 8 9 10\n`).join('');
  const text = STAT.replace('cpu0 ', `${cpus}cpu0 `).replace(' 0 77\n', `${' 0'.repeat(200_000)}\n`);
  t.strictSame(parseStat(text), STAT_OUT);
  const disks = DISKSTATS.repeat(10_000);
  t.equal((parseDiskstats(disks) ?? []).length, 30_000);
});

t.test('lines that have not changed are taken from the text before, and only these', async t => {
  const heading = NETDEV.split('\n').slice(0, 2).join('\n');
  const interfaceLine = fc
    .tuple(fc.constantFrom('lo', 'eth0', 'veth0123456789a', 'bad name'), fc.nat(3))
    .map(([name, count]) => `${name}: ${count} 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n`);
  const diskLine = fc
    .tuple(fc.constantFrom('sda', 'nvme0n1', 'a-disk-with-a-long-name'), fc.constantFrom('1', '2', '-3', 'x'))
    .map(([name, count]) => `   8 0 ${name} 1 2 3 4 5 6 7 8 ${count} 10 11\n`);
  const texts = (line: fc.Arbitrary<string>) => fc.array(fc.array(line, { maxLength: 5 }), { maxLength: 5 });
  fc.assert(
    fc.property(texts(interfaceLine), texts(diskLine), (nets, disks) => {
      const [net, disk] = [netdevParser(), diskstatsParser()];
      for (const lines of nets) {
        const text = `${heading}\n${lines.join('')}`;
        t.strictSame(net(text), parseNetdev(text));
      }
      for (const lines of disks) t.strictSame(disk(lines.join('')), parseDiskstats(lines.join('')));
    }),
    { numRuns: 30 },
  );
  const parse = netdevParser();
  const [first] = parse(NETDEV) ?? [];
  const [again] = parse(`${NETDEV}new: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n`) ?? [];
  t.ok(first !== undefined && first === again, 'not parsed again');
});

t.test('time grows linearly with the text, also for a million characters', { skip: NOT_WHOLE }, async t => {
  // Texts that a quadratic parser would scan again and again.
  const endless: ((sample: string, n: number) => string)[] = [
    (_, n) => '\n'.repeat(n),
    (_, n) => ' '.repeat(n),
    (_, n) => '1'.repeat(n),
    (_, n) => '0,'.repeat(n),
    (_, n) => '0 '.repeat(n),
    (sample, n) => sample + '\n'.repeat(n),
    (sample, n) => sample + ' '.repeat(n),
    (sample, n) => sample.trimEnd() + '9'.repeat(n),
    (sample, n) => sample.slice(0, 4).repeat(n),
    (sample, n) => `${sample.slice(0, sample.indexOf('\n') - 1)}\n`.repeat(n >> 4),
    (sample, n) => sample.slice(sample.lastIndexOf('\n', sample.length - 2) + 1).repeat(n >> 4),
    (sample, n) => sample.split(/[: ]/)[0]?.concat('\n').repeat(n) ?? '',
  ];
  /** CPU time, ns. */
  const best = (parse: Parser, text: string, tries = 3) => 1e6 * leastCpuMs(() => parse(text), tries);
  for (const [i, [parse, sample]] of SAMPLES.entries()) {
    for (const [j, make] of endless.entries()) {
      const short = make(sample, 100_000);
      const long = make(sample, 1_000_000);
      // For ten times the text the limit is sixty times the time, because memory is slower for long texts. A quadratic
      // parser takes a hundred times as long; short texts count as half a millisecond, so that this still shows.
      const once = Math.max(best(parse, short), 500_000);
      let ten = best(parse, long);
      // The garbage of earlier texts may have been collected in this measurement: measure again, with more tries.
      if (ten > once * 60) ten = best(parse, long, 20);
      if (ten > once * 60) t.fail(`${parse.name || 'parser'} ${i} on ${j}: ${once} ns, then ${ten} ns`);
    }
  }
  t.pass('all linear');
});

/** Whether every value in a parser's result can be sent. */
function sound(value: unknown): boolean {
  if (typeof value === 'number') return value >= -(2 ** 31) && !Number.isNaN(value);
  if (typeof value === 'bigint') return value >= 0n;
  if (typeof value === 'object' && value !== null) return Object.values(value).every(sound);
  return value === undefined || typeof value === 'string' || typeof value === 'boolean';
}

t.test('no corrupt text makes a parser throw', async t => {
  const seed = Number(process.env.SEED ?? 20);
  t.comment(`seed ${seed}, another one by SEED=n`);
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  const piece = fc.oneof(
    fc.string({ maxLength: 20 }),
    anyText({ maxLength: 5 }),
    fc.constantFrom('\n', ' ', '-', ':', ',', '|', '.', '/', '\0', '-1', U64, BEYOND, '9'.repeat(400), ' '.repeat(400)),
  );
  const change = fc.record({ from: place, length: fc.nat({ max: 60 }), insert: piece, times: fc.nat({ max: 3 }) });
  const spoil = (text: string, changes: { from: number; length: number; insert: string; times: number }[]) =>
    changes.reduce((now, { from, length, insert, times }) => {
      const at = Math.floor(from * now.length);
      return now.slice(0, at) + insert.repeat(times) + now.slice(at + length);
    }, text);
  for (const [parse, sample] of SAMPLES) {
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), fc.boolean(), place, (changes, cut, where) => {
        const spoiled = spoil(sample, changes);
        return sound(parse(cut ? spoiled.slice(0, Math.floor(where * spoiled.length)) : spoiled));
      }),
      { seed, numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), text => sound(parse(text))),
      { seed, numRuns: 200 },
    );
  }
  t.pass('none did');
});

t.test('a text that is cut off never gives a part of a number', async t => {
  // A text that is cut off anywhere is refused, or gives the result of the whole text: files such as /proc/stat end
  // with lines that are not needed.
  for (const [parse, sample] of SAMPLES.slice(0, 12)) {
    const whole = JSON.stringify(parse(sample), (_, value) => (typeof value === 'bigint' ? String(value) : value));
    for (let end = 0; end < sample.length; end++) {
      const cut = parse(sample.slice(0, end));
      // If the lines are optional, a cut between two of them cannot be noticed.
      const optional = Array.isArray(cut) || parse === parseMeminfo;
      if (cut === undefined || (optional && (end === 0 || sample[end - 1] === '\n'))) continue;
      if (JSON.stringify(cut) !== whole) t.fail(`${parse.name} made ${JSON.stringify(cut)} of the first ${end} bytes`);
    }
  }
  t.pass('none is');
});
