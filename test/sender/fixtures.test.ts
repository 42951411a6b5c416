// Whole machines, from the texts of their kernels to the bytes of their report; see test/fixtures/README.md. The golden
// files have every byte; the tables below have what is special, computed by hand from the trees.
//
// @shared 24
// @whole

import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { has, REPORT_BYTES, type SetName } from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import { crc32 } from '../../src/sender/slow/crc32.js';
import { openWriter } from '../../src/shm/writer.js';
import { boardPath, memoryFolder } from '../kit/places.js';
import { deliver } from '../kit/testwriter.js';
import {
  ask,
  expand,
  FIXTURES,
  machines,
  overlay,
  parseArchive,
  parseHexDump,
  prepare,
  readable,
  textOf,
} from '../kit/tree.js';
import { partOf, SEED } from '../kit/whole.js';

const reportOf = (machine: string) => parseHexDump(textOf(machine, 'report.hex'));
const viewOf = (report: Uint8Array) => new DataView(report.buffer, report.byteOffset, report.length);

/** The value at a path like `net.0.name`. */
function at(tree: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], tree);
}

t.test('archives', async t => {
  t.same(
    expand('cpu{0-2,8}/{a,b}').map(([path, last]) => `${path} ${last}`),
    ['0/a', '0/b', '1/a', '1/b', '2/a', '2/b', '8/a', '8/b'].map(name => `cpu${name} ${name.slice(-1)}`),
  );
  const rows: [string, string][] = [
    ['=== a\none\n\n== two\n', 'one\n\n== two\n'],
    ['comment\n=== a\n', ''],
    ['=== a cut\none\ntwo\n', 'one\ntwo'],
    ['=== a escaped cut\n\\x00\\xff\\\\n\\n|\n', '\x00\xff\\n\n|'],
    ['=== a times 3\nx\n', 'x\nx\nx\n'],
    ['=== a cut times 2 mode 600\nx\n', 'xx'],
  ];
  for (const [text, content] of rows) {
    const entry = parseArchive(text).get('a');
    t.equal(entry?.kind === 'file' && Buffer.from(entry.content).toString('latin1'), content, JSON.stringify(text));
  }
  t.same(parseArchive('=== l{0-1}/m link ../x{}\n').get('l1/m'), { kind: 'link', target: '../x1' });
  t.throws(() => parseArchive('=== a\n=== {a,b}\n'), /twice/);
  const over = overlay(parseArchive('=== a/b\n=== ab\n=== c\n'), parseArchive('=== a gone\n=== c fifo\n=== d dir\n'));
  t.same([...over.keys()], ['ab', 'c', 'd']);
  t.same(over.get('c'), { kind: 'fifo' });
});

for (const machine of partOf(machines(), 3, SEED)) {
  t.test(`${machine}: the report is the golden one, twice`, async t => {
    const root = join(memoryFolder(t), 'tree');
    mkdirSync(root);
    const argv = prepare(machine, root);
    for (const time of ['once', 'and again']) {
      const { code, report, stderr } = ask(argv, root);
      t.equal(code, 0, time);
      t.equal(stderr, textOf(machine, 'stderr.txt'), `${time}: what it says`);
      t.equal(report.length, REPORT_BYTES);
      // First as JSON, because a difference is readable there.
      t.strictSame(readable(report), JSON.parse(textOf(machine, 'report.json')), `${time}: report.json`);
      t.ok(Buffer.from(report).equals(reportOf(machine)), `${time}: every byte of report.hex`);
    }
    t.match(textOf(machine, 'stderr.txt'), /^(?:beoboard send: .+\n)*$/, 'no stack trace');
  });
}

t.test('the files of each machine', async t => {
  for (const machine of machines()) {
    for (const file of ['note.md', 'tree.txt', 'before.txt', 'pretend.toml', 'options', 'report.hex', 'report.json'])
      t.not(textOf(machine, file), '', `${machine}/${file}`);
    t.equal(textOf(machine, 'report.hex').split('\n').length, 77, `${machine}: 76 lines`);
    t.ok(statSync(join(FIXTURES, machine, 'tree.txt')).size < 400_000, `${machine}: small enough to be read`);
  }
});

type Fields = Record<string, { offset: number; type: string; count: number; kind: string; set?: SetName }>;
const BYTES: Record<string, number> = { char: 1, u8: 1, u16: 2, i16: 2, u32: 4, i32: 4, u64: 8, i64: 8 };
const bytesOf = (type: string) => BYTES[type] ?? structs[type as keyof typeof structs].bytes;

/** Fields that are not zero although their set is clear or they are reserved; rule 1 for senders forbids this. */
function impure(report: Uint8Array): string[] {
  const valid = viewOf(report).getBigUint64(structs.report.fields.valid.offset, true);
  const walk = (fields: Fields, base: number, set?: SetName): string[] =>
    Object.entries(fields).flatMap(([name, field]) => {
      const belongs = field.set ?? set;
      return Array.from(
        { length: Math.max(1, field.count) },
        (_, i) => base + field.offset + i * bytesOf(field.type),
      ).flatMap(start => {
        if (field.type in structs) return walk(structs[field.type as keyof typeof structs].fields, start, belongs);
        const clear = field.kind === 'reserved' || (belongs !== undefined && !has(valid, belongs));
        return clear && report.subarray(start, start + bytesOf(field.type)).some(byte => byte !== 0) ? [name] : [];
      });
    });
  return walk(structs.report.fields, 0);
}

t.test('unmeasured fields are zero, and a receiver accepts every report', async t => {
  const writers = new Map<string, ReturnType<typeof openWriter>>();
  for (const machine of machines()) {
    const report = reportOf(machine);
    t.strictSame(impure(report), [], machine);
    const cluster = /--cluster (\S+)/.exec(textOf(machine, 'options'))?.[1] ?? '';
    const writer =
      writers.get(cluster) ??
      openWriter({ path: boardPath(t), cluster, capacity: 64, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] });
    writers.set(cluster, writer);
    t.equal(deliver(writer, report, 10n ** 9n, viewOf(report).getBigUint64(32, true)), 'accepted', machine);
  }
  for (const writer of writers.values()) writer.close();
  const spoiled = Uint8Array.from(reportOf('spoiled'));
  spoiled[structs.report.fields.load1_c.offset] = 1;
  spoiled[structs.report.fields.gpu.offset + 9] = 1;
  spoiled[structs.report.fields.reserved7.offset] = 1;
  t.strictSame(impure(spoiled), ['reserved7', 'load1_c', 'mem_total_mib'], 'and this test would see it');
});

/** What is special about each machine: its measured sets, its sets that are not measured, and fields by path. */
const MEANING: Record<string, { set: string; clear: string; fields: [path: string, value: unknown][] }> = {
  vm: {
    set: 'cpus topology load stat cpu_share memory vmstat psi_cpu psi_io tcp net disk disk_share group_share hung_tasks clock taint root hw_hash',
    clear: 'psi_irq edac throttle fabric energy_cpu energy_dram power temp_inlet temp_hottest health gpu',
    fields: [
      ['virt', 'vm'],
      ['flags', 'goodbye clock_unsync'],
      ['load1_c', 0],
      // The line `cpu` grew by 62 user, 4 system, 133 idle, 2 iowait; the lines of the CPUs by 62, 3, 133, 3.
      ['cpu_busy_pm', 328],
      ['cpu_iowait_pm', 9],
      ['group.0.busy_pm', 323],
      ['group.0.iowait_pm', 14],
      // CPU 1: 60 user, 1 system of 99.
      ['group.0.busiest_pm', 616],
      ['group.0.mhz', undefined],
      ['net.0.name', 'eth0'],
      ['net.0.mbps', undefined],
      ['net.0.state', 'up carrier'],
      ['net.1', undefined],
      ['disks', 1],
      // 32 ms of 1001.4.
      ['disk_busiest_pm', 31],
      ['cpu_mhz_max', 2596],
    ],
  },
  'two-sockets': {
    set: 'psi_mem fabric energy_cpu energy_dram edac throttle power temp_inlet temp_hottest scratch filesystems health',
    clear: 'psi_irq hung_tasks gpu gpu_errors',
    fields: [
      ['cpus_online', 128],
      ['groups', 2],
      ['threads_per_core', 2],
      // Even CPUs: 0 busy, 31 at 80, 32 idle; odd ones: 63 at 30, CPU 65 at 49.
      ['group.0.busy_pm', 403],
      ['group.0.busiest_pm', 1000],
      ['group.0.iowait_pm', 25],
      ['group.1.busy_pm', 302],
      ['group.1.busiest_pm', 490],
      // CPUs 0, 16, 32 … 112: 22,511,072 kHz together. CPUs 1, 17 … 113: 23,554,312.
      ['group.0.mhz', 2813],
      ['group.1.mhz', 2944],
      ['group.0.temp_dc', 670],
      ['group.1.temp_dc', 590],
      ['temp_hottest_dc', 670],
      ['temp_inlet_dc', 235],
      // 2580 + 1939 of 12,800 ticks.
      ['cpu_busy_pm', 353],
      // 262,140 + 100,000 J; the first grew by 219 J over its wrap, the second by 187.654.
      ['energy_cpu_mj', 362_546_000],
      // 65,700 + 40,000 J; 24.000003 over the wrap, 19.999998.
      ['energy_dram_mj', 105_744_000],
      ['fabric.rx_bytes', (1_204_488_112_330 + 22_801_122_028_082) * 4],
      ['fabric.mbps', 300_000],
      ['fabric.errors', 13],
      ['fabric.drops', 12],
      ['fabric.interfaces', 3],
      ['net.0.name', 'eno1np0'],
      ['net.1.name', 'eno2np1'],
      ['net.2.name', 'ens3f0np0'],
      ['net_rest.interfaces', 2],
      ['net_rest.mbps', 200_000],
      ['edac_ce', 15],
      ['edac_ue', 1],
      ['throttle_events', 9],
      ['power_node_w', 412],
      ['power_src', 'bmc'],
      // nvme0n1, sda, sdb; not sr0, which is empty but has a size.
      ['disks', 3],
      // 871 ms of 1000.25.
      ['disk_busiest_pm', 870],
      ['health', 'ok'],
      ['health_age_s', 42],
      ['scratch_total_mib', 7_629_372],
      ['fs_fullest_pm', 750],
      // 2,108,567,950 blocks of 4 KiB and 102,158 of 2 KiB: /, /boot, /boot/efi, /var, /local; /var once.
      ['fs_total_mib', 8_236_793],
      ['virt', 'metal'],
    ],
  },
  'cpus-512': {
    set: 'psi_irq energy_cpu power root scratch edac fabric temp_hottest health',
    clear: 'energy_dram throttle temp_inlet gpu hung_tasks',
    fields: [
      ['cpus_online', 512],
      ['packages', 2],
      ['numa_nodes', 8],
      ['threads_per_core', 2],
      ['cpu_busy_pm', 251],
      ['group.0.cpus', 256],
      ['group.0.busy_pm', 500],
      ['group.0.user_pm', 485],
      ['group.0.system_pm', 15],
      // One of 256 CPUs.
      ['group.1.busy_pm', 3],
      ['group.1.busiest_pm', 1000],
      // CPUs 0, 32, 64, 96 at 2,747,311 kHz and 256, 288, 320, 352 at 1,499,999.
      ['group.0.mhz', 2123],
      ['group.1.mhz', 1500],
      ['group.0.temp_dc', 721],
      ['group.1.temp_dc', 488],
      ['power_node_w', 784],
      ['power_src', 'hwmon'],
      // 60,773.678524 J, and 549.999999 more.
      ['energy_cpu_mj', 61_323_000],
      ['fabric.rx_bytes', undefined],
      ['fabric.interfaces', 1],
      ['mem_huge_total_mib', 2048],
      ['mem_huge_free_mib', 1024],
      ['psi_irq_full10', 35],
      ['disks', 1],
      ['disk_busiest_pm', 8],
      ['health', 'warning'],
      ['health_src', 'admin'],
      ['health_age_s', 0],
      ['flags', 'goodbye'],
      ['fs_total_mib', 3_661_940],
    ],
  },
  'big-little': {
    set: 'topology cpu_mhz temp_hottest scratch filesystems hw_hash sw_hash',
    clear: 'cpu_share edac throttle energy_cpu power fabric psi_irq temp_inlet gpu',
    fields: [
      ['arch', 'aarch64'],
      ['cpus_online', 5],
      ['cpus_present', 6],
      ['numa_nodes', 1],
      ['threads_per_core', 1],
      ['cpu_mhz_max', 2400],
      ['group.0.cpus', 5],
      // CPU 5 was removed: 190 of 500 ticks.
      ['group.0.busy_pm', 380],
      ['group.0.iowait_pm', 200],
      // 2 × 1000 and 3 × 2400.
      ['group.0.mhz', 1840],
      ['group.0.temp_dc', 615],
      ['temp_hottest_dc', 615],
      ['flags', 'first goodbye clock_unsync'],
      ['mem_huge_total_mib', 0],
      // mmcblk0; neither its two boot areas nor mtdblock0.
      ['disks', 1],
      // 1996 ms of 2000.
      ['disk_busiest_pm', 998],
      ['scratch_total_mib', 1828],
      ['fs_total_mib', 29_908],
      ['fs_fullest_pm', 457],
      ['net.1.name', 'wlan0'],
      ['net.1.state', ''],
    ],
  },
  ppc64le: {
    set: 'cpus topology groups group_share stat memory hw_hash scratch temp_inlet',
    clear: 'cpu_mhz clock psi_cpu psi_mem psi_io temp_hottest throttle edac',
    fields: [
      ['arch', 'ppc64le'],
      ['page_kib', 64],
      ['cpus_online', 16],
      ['cpus_present', 32],
      ['packages', 1],
      ['threads_per_core', 8],
      ['numa_nodes', 1],
      // 8 CPUs with 90 of 100 ticks, 24 of them stolen; 8 idle.
      ['group.0.busy_pm', 450],
      ['group.0.user_pm', 300],
      ['group.0.system_pm', 30],
      ['group.0.busiest_pm', 900],
      ['group.0.mhz', undefined],
      ['group.0.temp_dc', undefined],
      ['mem_huge_total_mib', 128],
      ['disks', 2],
      ['disk_busiest_pm', 250],
      ['net.0.rx_bytes', undefined],
      ['net.0.rx_packets', 912_033_441],
      ['virt', 'metal'],
      ['seq', 4_294_967_295],
      // -5.949 °C, towards zero.
      ['temp_inlet_dc', -59],
    ],
  },
  'old-kernel': {
    set: 'vmstat memory disk_share energy_cpu edac throttle temp_hottest fabric health',
    clear: 'psi_cpu psi_mem psi_io psi_irq hung_tasks energy_dram power',
    fields: [
      ['flags', 'goodbye late root_readonly held'],
      // CPU 3: 103 idle, iowait 3 less than before.
      ['group.0.busy_pm', 0],
      ['group.0.iowait_pm', 0],
      ['group.1.busy_pm', 1000],
      ['group.1.user_pm', 990],
      ['cpu_busy_pm', 499],
      ['threads_per_core', 1],
      ['oom_kills', 3],
      ['throttle_events', 4_294_967_295],
      ['edac_ce', 1],
      // 241,150.678522 J, and 53.000001 + 120 more.
      ['energy_cpu_mj', 241_323_000],
      ['fabric.interfaces', 1],
      ['fabric.errors', 254],
      ['fabric.mbps', 56_000],
      // 4294 ms of 4000.
      ['disk_busiest_pm', 1000],
      ['health', 'bad'],
      ['health_age_s', 86_400],
      ['group.0.temp_dc', 410],
      ['group.1.temp_dc', 780],
      ['net.1.name', 'em2'],
      ['net.1.state', 'up'],
      ['net.2.name', 'ib0'],
      ['virt', 'metal'],
    ],
  },
  container: {
    set: 'cpus load root scratch filesystems net disk psi_mem',
    clear: 'fabric energy_cpu power temp_hottest health edac throttle psi_irq',
    fields: [
      ['virt', 'container'],
      ['flags', 'goodbye container'],
      ['load1_c', 1240],
      ['threads', 2310],
      // 8 CPUs at 81, 8 at 35, of which 5 are stolen.
      ['cpu_busy_pm', 580],
      ['group.0.system_pm', 100],
      ['net.0.name', 'eth0'],
      ['net.0.interfaces', 1],
      ['net.0.mbps', 10_000],
      ['net.1', undefined],
      ['cpu_mhz_max', 3599],
      ['fs_total_mib', 79_161],
      ['disk_busiest_pm', 64],
    ],
  },
  'gpus-amd': {
    set: 'gpu gpu_errors',
    clear: 'temp_hottest power',
    fields: [
      ['gpu_vendor', 'amd'],
      ['gpu_count', 8],
      ['gpu_busy', 6],
      ['gpu.1.temp_degc', 80],
      ['gpu.3.power_w', 140],
      ['gpu.6.mem_used_mib', 196_592],
      ['gpu.6.mem_total_mib', 196_592],
      ['gpu_flags.0', 'present in_use'],
      ['gpu_flags.2', 'present ecc_error'],
      ['gpu_flags.4', 'present in_use partitioned'],
      ['gpu_flags.7', 'present in_use partitioned'],
      // 2 + 5 + 1 + 4,294,967,290 + 1 + 3, modulo 2^32.
      ['gpu_errors', 6],
      ['gpu_ecc_ue', 2],
    ],
  },
  'gpus-amd-10': {
    set: 'gpu',
    clear: 'gpu_errors',
    fields: [
      ['gpu_count', 10],
      ['gpu_busy', 6],
      ['gpu.1.temp_degc', 56],
      ['gpu.4.util_pct', 12],
      ['gpu.5.temp_degc', 150],
      ['gpu.6.temp_degc', 149],
      // The mean of 90 and 45; 299 + 201 + 39 W; 61 GiB + 30 GiB + 10 MiB.
      ['gpu.7', { util_pct: 67, temp_degc: 57, power_w: 539, mem_used_mib: 93_194, mem_total_mib: 196_560 }],
      ['gpu.8', undefined],
      ['gpu_flags.7', 'present in_use'],
    ],
  },
  'gpus-nvidia': {
    set: 'gpu gpu_errors power psi_irq',
    clear: 'temp_hottest temp_inlet throttle',
    fields: [
      ['arch', 'aarch64'],
      ['page_kib', 64],
      ['packages', 4],
      ['numa_nodes', 8],
      ['group.0.busy_pm', 425],
      ['group.3.busy_pm', 440],
      ['group.3.busiest_pm', 880],
      ['group.0.mhz', 2200],
      ['group.3.mhz', 2125],
      ['cpu_busy_pm', 432],
      ['gpu_vendor', 'nvidia'],
      ['gpu_count', 4],
      ['gpu_busy', 2],
      ['gpu_flags', ['present in_use', 'present', 'present in_use ecc_error throttled', 'present off_the_bus']],
      ['gpu.3', {}],
      ['gpu_errors', 4],
      ['gpu_ecc_ue', 1],
      ['power_node_w', 3712],
      ['power_src', 'bmc'],
    ],
  },
  spoiled: {
    set: 'sender',
    clear: Object.keys(bits.valid)
      .filter(set => set !== 'sender')
      .join(' '),
    fields: [
      ['boot_id', '0000000000000000'],
      ['flags', 'goodbye'],
      ['hostname', 'spoiled'],
    ],
  },
  limits: {
    set: 'cpus stat cpu_share group_share memory psi_io net disk fabric energy_cpu gpu gpu_errors sw_hash',
    clear: 'hw_hash energy_dram',
    fields: [
      ['cpus_present', 65_535],
      ['threads_per_core', 255],
      ['numa_nodes', 255],
      ['packages', 2],
      ['load1_c', 419_430_400],
      ['runnable', 2_147_483_647],
      // 10 nice of 110 ticks; iowait went back.
      ['cpu_busy_pm', 90],
      // Package -1 comes first: CPU 1.
      ['group.0.busy_pm', 0],
      ['group.1.busy_pm', 1000],
      ['group.1.mhz', 65_534],
      ['files_open', 0],
      ['mem_avail_mib', 0],
      ['mem_total_mib', 4_294_967_295],
      ['oom_kills', 4_294_967_295],
      ['hung_tasks', 7],
      ['edac_ce', 1],
      ['throttle_events', 4_294_967_294],
      ['net.0.name', 'gr\u00fcn\u00df01234567'],
      ['net.0.errors', 0],
      ['net.0.drops', 0],
      ['net.1.name', 'a0'],
      ['net.1.state', ''],
      ['net.2.state', 'up'],
      ['net_rest.interfaces', 2],
      ['net_rest.mbps', 4_294_967_294],
      // Four at 999,999 Gbit/s, one at 2.5.
      ['fabric.mbps', 3_999_998_500],
      ['os_release', `6.1.0-${'a'.repeat(41)}`],
      ['virt', 'metal'],
      ['disks', 3],
      // sda: 500 ms over the wrap; cciss/c0d0 went up by more than half of it.
      ['disk_busiest_pm', 1000],
      ['temp_hottest_dc', -399],
      ['temp_inlet_dc', 0],
      ['power_node_w', 65_534],
      ['clock_offset_us', -2_147_483_648],
      ['root_avail_mib', 0],
      ['root_inodes_free_pm', 500],
      ['fs_fullest_pm', 1000],
      // /pool has 1 MiB left, /a\b another; zfs and zram do not count.
      ['fs_avail_mib', 2],
      ['gpu_errors', 4_294_967_291],
      ['gpu.7.util_pct', 49],
      ['gpu.7.temp_degc', 149],
      ['gpu.7.power_w', 65_534],
      ['flags', 'goodbye clock_unsync late root_readonly'],
    ],
  },
};

t.test('what is special about each machine', async t => {
  t.strictSame(Object.keys(MEANING).sort(), machines(), 'none is forgotten');
  for (const [machine, { set, clear, fields }] of Object.entries(MEANING)) {
    const report = readable(reportOf(machine));
    const valid = report.valid as string[];
    t.strictSame(
      set.split(' ').filter(name => !valid.includes(name)),
      [],
      `${machine}: these are measured`,
    );
    t.strictSame(
      clear.split(' ').filter(name => valid.includes(name) || !(name in bits.valid)),
      [],
      `${machine}: these are not`,
    );
    for (const [path, value] of fields) t.strictSame(at(report, path), value, `${machine}: ${path}`);
  }
});

t.test('counters beyond 2^53, by their bytes', async t => {
  const { net, fabric, net_rest, cpu_user_ms, cpu_nice_ms, disk_read_bytes, energy_cpu_mj } = structs.report.fields;
  const { rx_bytes, tx_bytes } = structs.net_if.fields;
  const most = 2n ** 64n - 1n;
  const rows: [string, number, bigint][] = [
    ['cpus-512', fabric.offset + rx_bytes.offset, 9_120_334_411_223_344n * 4n],
    ['ppc64le', net.offset + rx_bytes.offset, most],
    ['limits', net_rest.offset + rx_bytes.offset, 2n ** 53n + 5n],
    ['limits', net_rest.offset + tx_bytes.offset, 2n ** 63n + 2n ** 53n - 1n],
    ['limits', fabric.offset + tx_bytes.offset, most],
    ['limits', cpu_user_ms.offset, most],
    ['limits', cpu_nice_ms.offset, 18_446_744_073_709_551_610n],
    ['limits', disk_read_bytes.offset, most],
    // 2^64 - 1, 2^64 - 2 and 90 µJ, and then 20 and 500 more.
    ['limits', energy_cpu_mj.offset, ((2n ** 65n - 3n + 610n) / 1_000_000n) * 1000n],
  ];
  for (const [machine, offset, value] of rows)
    t.equal(viewOf(reportOf(machine)).getBigUint64(offset, true), value, `${machine} at ${offset}`);
});

t.test('the texts behind the hashes', async t => {
  const rows: [machine: string, field: 'hw_hash' | 'sw_hash', text: string[]][] = [
    [
      'two-sockets',
      'hw_hash',
      [
        'cpu model name: Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz',
        'cpu microcode: 0xd0003d1',
        'packages: 2',
        'cpus: 128',
        'memory: 549755813888',
        'nic eno1np0: 25000',
        'nic eno2np1: 25000',
        'nic ens3f0np0: 100000',
        'nic ens3f1np1: 0',
        'nic ibs2: 200000',
        'gpus: 0',
      ],
    ],
    [
      'big-little',
      'hw_hash',
      [
        'cpu CPU implementer: 0x41',
        'cpu CPU variant: 0x0',
        'cpu CPU part: 0xd03',
        'cpu CPU revision: 4',
        'packages: 1',
        'cpus: 6',
        'memory: -',
        'nic eth0: 1000',
        'nic wlan0: 0',
        'gpus: -',
      ],
    ],
    [
      'ppc64le',
      'hw_hash',
      [
        'cpu cpu: POWER9 (architected), altivec supported',
        'packages: 1',
        'cpus: 32',
        'memory: 68451041280',
        'nic env2: 1000',
        'gpus: -',
      ],
    ],
    [
      'container',
      'hw_hash',
      [
        'cpu model name: Intel(R) Xeon(R) Platinum 8275CL CPU @ 3.00GHz',
        'cpu microcode: 0x5003801',
        'packages: 1',
        'cpus: 16',
        'memory: 68719476736',
        'gpus: 0',
      ],
    ],
    [
      'gpus-nvidia',
      'hw_hash',
      [
        'cpu CPU implementer: 0x41',
        'cpu CPU variant: 0x0',
        'cpu CPU part: 0xd4f',
        'cpu CPU revision: 0',
        'packages: 4',
        'cpus: 288',
        'memory: 927712935936',
        'nic eno1: 25000',
        'gpus: 4',
      ],
    ],
    [
      'two-sockets',
      'sw_hash',
      ['kernel: 5.14.0-427.13.1.el9_4.x86_64', 'id: rocky', 'version_id: 9.4', 'image_id: compute-2024.10'],
    ],
    ['big-little', 'sw_hash', ['kernel: 6.6.58-meson64', 'id: armbian', 'version_id: 12', 'image_id: ']],
    [
      'gpus-nvidia',
      'sw_hash',
      ['kernel: 6.8.0-1013-nvidia-64k', 'id: ubuntu', 'version_id: 22.04', 'image_id: a "quoted" $name'],
    ],
    ['limits', 'sw_hash', [`kernel: 6.1.0-${'a'.repeat(41)}-abcdefghij`, 'id: a b', 'version_id: ', 'image_id: x']],
  ];
  for (const [machine, field, text] of rows)
    t.equal(readable(reportOf(machine))[field], crc32(text.map(line => `${line}\n`).join('')), `${machine}: ${field}`);
});
