// Slow sources of machines that others have: names that the kernel numbers otherwise, items that cannot be read among
// those that can, and more of them than a sender takes. Both senders report and log the same.
//
// @seconds 9
// @shared 5
// @whole
// @days 3

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compileSender, SANITIZED } from '../kit/compiling.js';
import { Hearer, startIn } from '../kit/hanging.js';
import { NOT_WHOLE, partOf, SEED } from '../kit/whole.js';
import { type Files, ForeignTrees } from './foreigntrees.js';

const files = (...some: Files[]): Files => Object.assign({}, ...some);
/** One kind of files, for each number below `count`. */
const each = (count: number, make: (n: number) => Files): Files =>
  files(...Array.from({ length: count }, (_, n) => make(n)));

const zone = (name: string, kind: string, joules: number): Files => ({
  [`sys/class/powercap/${name}/name`]: `${kind}\n`,
  [`sys/class/powercap/${name}/energy_uj`]: `${joules}000000\n`,
  [`sys/class/powercap/${name}/max_energy_range_uj`]: '262143328850\n',
});

t.test('zones of powercap are numbered in hexadecimal', { skip: NOT_WHOLE }, async t => {
  const trees = new ForeignTrees(t);
  trees.write(
    {},
    each(17, n =>
      files(
        zone(`intel-rapl:${n.toString(16)}`, `package-${n}`, 1000 + n),
        zone(`intel-rapl:${n.toString(16)}:${n.toString(16)}`, 'dram', 10),
      ),
    ),
  );
  t.match((await trees.ask()).report, { energy_cpu_mj: 17_136_000, energy_dram_mj: 170_000 });
  trees.write(
    {},
    files(
      zone('intel-rapl:G', 'package-99', 1),
      zone('intel-rapl:0x1', 'package-98', 1),
      zone('intel-rapl:0:', 'dram', 1),
    ),
  );
  t.match((await trees.ask()).report, { energy_cpu_mj: 17_136_000, energy_dram_mj: 170_000 }, 'nothing else is a zone');
});

const port = (device: string, words: string): Files => {
  const dir = `sys/class/infiniband/${device}/ports/1`;
  const counters = ['rcv_data', 'xmit_data', 'rcv_packets', 'xmit_packets', 'rcv_errors', 'xmit_discards'];
  return files(
    { [`${dir}/state`]: '4: ACTIVE\n', [`${dir}/rate`]: '100 Gb/sec (4X EDR)\n' },
    ...counters.map(name => ({ [`${dir}/counters/port_${name}`]: `${words}\n` })),
  );
};
/** A file that is a folder: it is there, and nobody can read it. */
const unreadable = (path: string): Files => ({ [path]: null, [`${path}/x`]: '' });

t.test('an RDMA port that cannot be read is left out', async t => {
  const trees = new ForeignTrees(t);
  const counters = 'sys/class/infiniband/mlx5_1/ports/1/counters';
  const ports = each(9, n => port(`mlx5_${n}`, '1000'));
  for (const leaf of ['port_rcv_data', 'port_xmit_packets']) {
    trees.write({}, files(ports, unreadable(`${counters}/${leaf}`)));
    const { report, said } = await trees.ask();
    t.match(report.fabric, { rx_bytes: 32_000, tx_packets: 8000, errors: 8000, drops: 8000, mbps: 800_000 });
    t.equal(said, `cannot read ROOT/now/${counters}/${leaf}: not a regular file\n`);
    trees.write({}, { [`${counters}/${leaf}`]: null });
  }
  trees.write({}, files(ports, { [`${counters}/symbol_error`]: '-1\n' }));
  const { report, said } = await trees.ask();
  t.match(report.fabric, { rx_bytes: 32_000, errors: 8000 }, 'nothing of it counts');
  t.equal(said, `an error counter in ROOT/now/${counters} has unexpected content\n`);
});

t.test('a running sender does not ask such a port in each round', { skip: NOT_WHOLE }, async t => {
  for (const sender of [compileSender(t, SANITIZED), undefined]) {
    const trees = new ForeignTrees(t);
    const now = join(trees.root, 'now');
    trees.write({}, files(port('mlx5_0', '1000'), port('mlx5_1', 'x')));
    const hearer = await Hearer.open(t);
    const argv = ['send', '--name', 'n1', '--to', hearer.address, '--proc', `${now}/proc`, '--sys', `${now}/sys`];
    const running = startIn(t, { sender }, argv);
    const { slow_boot_ns: first } = await hearer.next(
      'a port counts',
      ({ fabric }) => (fabric?.state ?? 0) >>> 16 === 1,
    );
    trees.write({}, port('mlx5_1', '1000'));
    // The round that had begun, and another one.
    const { slow_boot_ns: second } = await hearer.next('a round', ({ slow_boot_ns }) => slow_boot_ns > first);
    const { fabric } = await hearer.next('another round', ({ slow_boot_ns }) => slow_boot_ns > second);
    t.equal((fabric?.state ?? 0) >>> 16, 1, 'it is well, and nobody asked');
    running.child.kill('SIGTERM');
    await running.closed;
    t.equal(running.lines().filter(line => line.includes('mlx5_1')).length, 1, 'said once');
  }
});

const controller = (n: number, ce: string, ue: string): Files => ({
  [`sys/devices/system/edac/mc/mc${n}/ce_count`]: `${ce}\n`,
  [`sys/devices/system/edac/mc/mc${n}/ue_count`]: `${ue}\n`,
});
const chip = (n: number, name: string, leaves: Record<string, string | number>): Files =>
  files(
    ...Object.entries({ name, ...leaves }).map(([leaf, text]) => ({
      [`sys/class/hwmon/hwmon${n}/${leaf}`]: `${text}\n`,
    })),
  );
/** The files of so many CPUs, in packages of two. */
const cpus = (count: number): Files =>
  files(
    { 'sys/devices/system/cpu/online': `0-${count - 1}\n`, 'sys/devices/system/cpu/present': `0-${count - 1}\n` },
    each(count, n => ({
      [`sys/devices/system/cpu/cpu${n}/topology/physical_package_id`]: `${n >> 1}\n`,
      [`sys/devices/system/cpu/cpu${n}/topology/thread_siblings_list`]: `${n}\n`,
      [`sys/devices/system/cpu/cpu${n}/thermal_throttle/package_throttle_count`]: `${10 ** (n >> 1)}\n`,
      [`sys/devices/system/cpu/cpu${n}/cpufreq/scaling_cur_freq`]: `${n + 1}000000\n`,
    })),
  );

/** A test for each: what is in the tree, the fields, and the line of the log. */
const ITEMS: [what: string, now: Files, report: object, said: string][] = [
  [
    'a memory controller',
    files(
      each(3, n => controller(n, `${10 ** n}`, '1')),
      controller(1, '7', '-1'),
    ),
    { edac_ce: 101, edac_ue: 2 },
    'ROOT/now/sys/devices/system/edac/mc/mc1/ue_count has unexpected content: its readings are left out\n',
  ],
  [
    'throttling of a package',
    files(cpus(6), { 'sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count': 'x\n' }),
    { throttle_events: 101 },
    'ROOT/now/sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count has unexpected content: its readings are left out\n',
  ],
  [
    'throttling of a package that another one has',
    files(cpus(4), { 'sys/devices/system/cpu/cpu2/thermal_throttle': null }),
    { throttle_events: 1 },
    'cannot read ROOT/now/sys/devices/system/cpu/cpu2/thermal_throttle/package_throttle_count: ENOENT\n',
  ],
  [
    'a sensor of a processor',
    files(
      cpus(4),
      each(2, n =>
        chip(n, 'k10temp', { temp1_label: 'Tdie', temp1_input: 40_000 + n, temp3_label: 'Tccd1', temp3_input: 50_000 }),
      ),
      chip(1, 'k10temp', { temp1_input: '-1x' }),
    ),
    { temp_hottest_dc: 500, group: [{ temp_dc: 500 }, { temp_dc: 500 }] },
    'ROOT/now/sys/class/hwmon/hwmon1/temp1_input has unexpected content: its readings are left out\n',
  ],
  [
    'a sensor at the inlet',
    chip(0, 'board', { temp1_label: 'Inlet 1', temp1_input: 999_000, temp2_label: 'Inlet 2', temp2_input: 21_000 }),
    { temp_inlet_dc: 210 },
    'ROOT/now/sys/class/hwmon/hwmon0/temp1_input has unexpected content: its readings are left out\n',
  ],
  [
    'a sensor without a wire',
    files(
      cpus(4),
      chip(0, 'k10temp', { temp1_label: 'Package id 0', temp1_input: -3000 }),
      chip(1, 'k10temp', { temp1_label: 'Package id 1', temp1_input: 0 }),
      chip(2, 'board', { temp1_label: 'Inlet', temp1_input: 40, temp2_label: 'Inlet', temp2_input: 0 }),
    ),
    { temp_hottest_dc: -30, temp_inlet_dc: 0, group: [{ temp_dc: -30 }, { temp_dc: undefined }] },
    '',
  ],
  [
    'sensors that all show 0 °C',
    files(
      cpus(4),
      chip(0, 'k10temp', { temp1_label: 'Package id 0', temp1_input: 0 }),
      chip(2, 'board', { temp1_label: 'Inlet', temp1_input: 0 }),
    ),
    { temp_hottest_dc: 0, temp_inlet_dc: 0, group: [{ temp_dc: 0 }, { temp_dc: undefined }] },
    '',
  ],
  [
    'zones of powercap that are switched off and count nothing',
    files(
      zone('intel-rapl:0', 'package-0', 1000),
      zone('intel-rapl:0:0', 'dram', 0),
      { 'sys/class/powercap/intel-rapl:0/enabled': '0\n', 'sys/class/powercap/intel-rapl:0:0/enabled': '0\n' },
      { 'sys/class/powercap/intel-rapl:0:0/energy_uj': '0\n' },
    ),
    { energy_cpu_mj: 1_000_000, energy_dram_mj: undefined },
    '',
  ],
  [
    'an RDMA port whose counter is at its end',
    files(port('mlx4_0', '1000'), port('mlx4_1', '5'), {
      'sys/class/infiniband/mlx4_1/ports/1/counters/port_rcv_packets': `${2 ** 32 - 1}\n`,
    }),
    { fabric: { rx_bytes: '4000', interfaces: 1 } },
    'ROOT/now/sys/class/infiniband/mlx4_1/ports/1/counters/port_rcv_packets is at its end\n',
  ],
  ['a fifth package', cpus(10), { group: [1500, 3500, 5500, 8500].map(mhz => ({ mhz })) }, ''],
  [
    'a clock rate',
    files(cpus(4), { 'sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq': '<unknown>\n' }),
    { group: [{ mhz: 2000 }, { mhz: 3500 }] },
    'ROOT/now/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq has unexpected content: its readings are left out\n',
  ],
  ...(
    [
      ['the coldest', 'board', 'temp1_input', '-40000', 'temp_inlet_dc', -400],
      ['colder than that', 'board', 'temp1_input', '-40001', 'temp_inlet_dc', undefined],
      ['the hottest', 'board', 'temp1_input', '150000', 'temp_inlet_dc', 1500],
      ['hotter than that', 'board', 'temp1_input', '150001', 'temp_inlet_dc', undefined],
      ['the least power', 'power_meter', 'power1_average', '1000000', 'power_node_w', 1],
      ['less than that', 'power_meter', 'power1_average', '999999', 'power_node_w', undefined],
      ['the most power', 'power_meter', 'power1_average', '65534999999', 'power_node_w', 65_534],
      ['more than that', 'power_meter', 'power1_average', '65535000000', 'power_node_w', undefined],
    ] as const
  ).map(([what, name, leaf, text, field, value]): (typeof ITEMS)[number] => [
    what,
    chip(0, name, { temp1_label: 'Inlet', [leaf]: text }),
    { [field]: value },
    value === undefined
      ? `ROOT/now/sys/class/hwmon/hwmon0/${leaf} has unexpected content: its readings are left out\n`
      : '',
  ]),
  ...([1, 65_534, 0, 65_535] as const).map((watts, i): (typeof ITEMS)[number] => [
    `a file that says ${watts} W`,
    { 'run/power': `${watts}\n` },
    { power_node_w: i < 2 ? watts : undefined },
    i < 2 ? '' : 'ROOT/now/run/power is ignored: its format is wrong\n',
  ]),
  [
    'a clock rate of 0',
    files(cpus(4), { 'sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq': '0\n' }),
    { group: [{ mhz: 2000 }, { mhz: 3500 }] },
    '',
  ],
];
t.test('equal nodes have equal hashes, whatever their MACs and processors are', async t => {
  const hash = async (now: Files) => {
    const trees = new ForeignTrees(t);
    trees.write({}, now);
    const { report } = await trees.ask();
    return (report.valid as string[]).includes('hw_hash') ? report.hw_hash : undefined;
  };
  const nics = (mbps: Record<string, number>) =>
    files(
      ...Object.entries(mbps).map(([name, speed]) => ({
        [`sys/class/net/${name}/device/vendor`]: '0x15b3\n',
        [`sys/class/net/${name}/speed`]: `${speed}\n`,
      })),
    );
  const [enx, twin] = [
    await hash(nics({ enxa4c64f0c1122: 100, enx02aabbccddee: 1000, wlx001122334455: 0 })),
    await hash(nics({ enx0000000000ff: 1000, enxfeffffffffff: 100, wlxa4c64f0c1122: 0 })),
  ];
  t.ok(enx);
  t.equal(enx, twin);
  for (const other of [
    { enxa4c64f0c1122: 100, enx02aabbccddee: 100, wlx001122334455: 0 },
    { enxa4c64f0c112: 100, enx02aabbccddee: 1000, wlx001122334455: 0 },
    { enxa4c64f0c112G: 100, enx02aabbccddee: 1000, wlx001122334455: 0 },
    { enxa4c64f0c1122: 100, wlx001122334455: 0 },
  ] as Record<string, number>[])
    t.not(await hash(nics(other)), enx, JSON.stringify(other));
  t.equal(await hash(nics({ 'vif1.0': 0, eth0: 100 })), await hash(nics({ eth0: 100 })), 'whatever guests run');

  const s390 = (identification: string, machine = 8561) =>
    `vendor_id       : IBM/S390\n# processors    : 4\nbogomips per cpu: 3241.00\nprocessor 0: version = 00,  identification = ${identification},  machine = ${machine}\n\ncpu number      : 0\ncpu MHz static  : 5200\n\n`;
  const loongArch = (model: string) =>
    `system type\t\t: generic-loongson-machine\n\nprocessor\t\t: 0\nCPU Family\t\t: Loongson-64bit\nModel Name\t\t: ${model}\nCPU Revision\t\t: 0x10\n\n`;
  const riscV = (isa: string, more = '') => `processor\t: 0\nhart\t\t: 2\nisa\t\t: ${isa}\nmmu\t\t: sv39\n${more}\n`;
  const cpuinfos = [
    s390('0ABCD8'),
    s390('0ABCD8', 3931),
    loongArch('Loongson-3A5000'),
    loongArch('Loongson-3A6000'),
    riscV('rv64imafdc'),
    riscV('rv64imac'),
    riscV('rv64imafdc', 'mvendorid\t: 0x489\n'),
  ];
  const hashes = [];
  for (const cpuinfo of cpuinfos) hashes.push(await hash({ 'proc/cpuinfo': cpuinfo }));
  t.equal(new Set(hashes.filter(Boolean)).size, cpuinfos.length, 'each model has its own');
  t.equal(await hash({ 'proc/cpuinfo': s390('0F0F0F') }), hashes[0], 'but each machine of it has the same');
  t.equal(await hash({ 'proc/cpuinfo': 'processor\t: 0\n\nmodel name\t: of the second\n' }), undefined);
});

t.test('a file system that makes inodes on demand', { skip: NOT_WHOLE }, async t => {
  const trees = new ForeignTrees(t);
  const pretend = join(trees.root, 'pretend.toml');
  const text = readFileSync(pretend, 'utf8').replace(/^(files|ffree) = \d+$/gm, '$1 = 0');
  writeFileSync(pretend, text);
  t.match((await trees.ask()).report, { root_inodes_free_pm: 1000, scratch_inodes_free_pm: 1000 });
});

for (const [what, now, report, said] of partOf(ITEMS, 2, SEED))
  t.test(`one bad item costs itself: ${what}`, async t => {
    const trees = new ForeignTrees(t);
    trees.write({}, now);
    const told = await trees.ask();
    t.match(told.report, report);
    t.equal(told.said, said);
  });
