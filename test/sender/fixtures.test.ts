// Whole machines, from the texts of their kernels to the bytes of their report; see test/fixtures/README.md. The golden
// files have every byte; the tables below what is worked out by hand from the trees.
//
// @shared 24
// @whole
// @days 3

import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REPORT_BYTES, type SetName } from '../../src/layout/codec.js';
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
        const clear =
          field.kind === 'reserved' || (belongs !== undefined && ((valid >> BigInt(bits.valid[belongs])) & 1n) === 0n);
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

/** What is worked out by hand from the trees, by its path in report.json, which has the rest. */
const BY_HAND: Record<string, [path: string, value: unknown][]> = {
  vm: [
    // The line `cpu` grew by 62 user, 4 system, 133 idle, 2 iowait; the lines of the CPUs by 62, 3, 133, 3.
    ['cpu_busy_pm', 328],
    ['cpu_iowait_pm', 9],
    ['group.0.busy_pm', 323],
    ['group.0.iowait_pm', 14],
    // CPU 1: 60 user, 1 system of 99.
    ['group.0.busiest_pm', 616],
    // 32 ms of 1001.4.
    ['disk_busiest_pm', 31],
  ],
  'two-sockets': [
    // Even CPUs: 0 busy, 31 at 80, 32 idle; odd ones: 63 at 30, CPU 65 at 49.
    ['group.0.busy_pm', 403],
    ['group.0.busiest_pm', 1000],
    ['group.1.busy_pm', 302],
    ['group.1.busiest_pm', 490],
    // CPUs 0, 16, 32 … 112: 22,511,072 kHz together. CPUs 1, 17 … 113: 23,554,312.
    ['group.0.mhz', 2813],
    ['group.1.mhz', 2944],
    // 2580 + 1939 of 12,800 ticks.
    ['cpu_busy_pm', 353],
    // 262,140 + 100,000 J; the first grew by 219 J over its wrap, the second by 187.654.
    ['energy_cpu_mj', 362_546_000],
    // 65,700 + 40,000 J; 24.000003 over the wrap, 19.999998.
    ['energy_dram_mj', 105_744_000],
    ['fabric.rx_bytes', (1_204_488_112_330 + 22_801_122_028_082) * 4],
    // nvme0n1, sda, sdb; not sr0, which is empty but has a size.
    ['disks', 3],
    // 871 ms of 1000.25.
    ['disk_busiest_pm', 870],
    // 2,108,567,950 blocks of 4 KiB and 102,158 of 2 KiB: /, /boot, /boot/efi, /var, /local; /var once.
    ['fs_total_mib', 8_236_793],
  ],
  'cpus-512': [
    // One of 256 CPUs.
    ['group.1.busy_pm', 3],
    // CPUs 0, 32, 64, 96 at 2,747,311 kHz and 256, 288, 320, 352 at 1,499,999.
    ['group.0.mhz', 2123],
    // 60,773.678524 J, and 549.999999 more.
    ['energy_cpu_mj', 61_323_000],
  ],
  'big-little': [
    // CPU 5 was removed: 190 of 500 ticks.
    ['group.0.busy_pm', 380],
    // 2 × 1000 and 3 × 2400.
    ['group.0.mhz', 1840],
    // mmcblk0; neither its two boot areas nor mtdblock0.
    ['disks', 1],
    // 1996 ms of 2000.
    ['disk_busiest_pm', 998],
  ],
  ppc64le: [
    // 8 CPUs with 90 of 100 ticks, 24 of them stolen; 8 idle.
    ['group.0.busy_pm', 450],
    ['group.0.busiest_pm', 900],
    // -5.949 °C, towards zero.
    ['temp_inlet_dc', -59],
  ],
  'old-kernel': [
    // CPU 3: 103 idle, iowait 3 less than before.
    ['group.0.busy_pm', 0],
    ['group.0.iowait_pm', 0],
    // 241,150.678522 J, and 53.000001 + 120 more.
    ['energy_cpu_mj', 241_323_000],
    // 4294 ms of 4000.
    ['disk_busiest_pm', 1000],
  ],
  // 8 CPUs at 81, 8 at 35, of which 5 are stolen.
  container: [['cpu_busy_pm', 580]],
  // 2 + 5 + 1 + 4,294,967,290 + 1 + 3, modulo 2^32.
  'gpus-amd': [['gpu_errors', 6]],
  'gpus-amd-10': [
    // The mean of 90 and 45; 299 + 201 + 39 W; 61 GiB + 30 GiB + 10 MiB.
    ['gpu.7', { util_pct: 67, temp_degc: 57, power_w: 539, mem_used_mib: 93_194, mem_total_mib: 196_560 }],
    ['gpu.8', undefined],
  ],
  spoiled: [['valid', ['sender']]],
  limits: [
    // 10 nice of 110 ticks; iowait went back.
    ['cpu_busy_pm', 90],
    // Package -1 comes first: CPU 1.
    ['group.0.busy_pm', 0],
    ['group.1.busy_pm', 1000],
    // Four at 999,999 Gbit/s, one at 2.5.
    ['fabric.mbps', 3_999_998_500],
    // sda: 500 ms over the wrap; cciss/c0d0 went up by more than half of it.
    ['disk_busiest_pm', 1000],
    // /pool has 1 MiB left, /a\b another; zfs and zram do not count.
    ['fs_avail_mib', 2],
  ],
};

t.test('what is worked out by hand', async t => {
  for (const [machine, fields] of Object.entries(BY_HAND)) {
    const report = readable(reportOf(machine));
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
        ...['cpu model name: Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz', 'cpu microcode: 0xd0003d1'],
        ...['packages: 2', 'cpus: 128', 'memory: 549755813888', 'nic eno1np0: 25000', 'nic eno2np1: 25000'],
        ...['nic ens3f0np0: 100000', 'nic ens3f1np1: 0', 'nic ibs2: 200000', 'gpus: 0'],
      ],
    ],
    [
      'big-little',
      'hw_hash',
      [
        ...['cpu CPU implementer: 0x41', 'cpu CPU variant: 0x0', 'cpu CPU part: 0xd03', 'cpu CPU revision: 4'],
        ...['packages: 1', 'cpus: 6', 'memory: -', 'nic eth0: 1000', 'nic wlan0: 0', 'gpus: -'],
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
        ...['cpu CPU implementer: 0x41', 'cpu CPU variant: 0x0', 'cpu CPU part: 0xd4f', 'cpu CPU revision: 0'],
        ...['packages: 4', 'cpus: 288', 'memory: 927712935936', 'nic eno1: 25000', 'gpus: 4'],
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
