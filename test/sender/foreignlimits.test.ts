// As many of a kind as the contract takes, and one more: then nothing of them is measured, and the log says so once. Both
// senders report and log the same.
//
// @seconds 12
// @rest
// @days 3

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { constants } from '../../src/layout/layout.gen.js';
import { compileSender, SANITIZED } from '../kit/compiling.js';
import { memoryFolder } from '../kit/places.js';
import { readable } from '../kit/tree.js';
import { askC, askHere } from '../kit/twosenders.js';
import { type Files, ForeignTrees } from './foreigntrees.js';

const { most } = constants;
const files = (...some: Files[]): Files => Object.assign({}, ...some);
const each = (count: number, make: (n: number) => Files): Files =>
  files(...Array.from({ length: count }, (_, n) => make(n)));

const zone = (name: string, kind: string): Files => ({
  [`sys/class/powercap/${name}/name`]: `${kind}\n`,
  [`sys/class/powercap/${name}/energy_uj`]: '1000000\n',
  [`sys/class/powercap/${name}/max_energy_range_uj`]: '262143328850\n',
});
const chip = (n: number, name: string, leaves: Record<string, string | number>): Files =>
  files(
    ...Object.entries({ name, ...leaves }).map(([leaf, text]) => ({
      [`sys/class/hwmon/hwmon${n}/${leaf}`]: `${text}\n`,
    })),
  );
/** A processor with so many cores, whose package has a sensor or has none. */
const processor = (n: number, cores: number, whole = true): Files => {
  const core = (k: number) => ({ [`temp${k + 2}_label`]: `Core ${k}`, [`temp${k + 2}_input`]: 99_000 });
  return chip(n, 'k10temp', {
    ...Object.assign({}, ...Array.from({ length: cores }, (_, k) => core(k))),
    ...(whole && { [`temp${cores + 2}_label`]: `Package id ${n}`, [`temp${cores + 2}_input`]: 60_000 }),
  });
};
const inlet = (n: number): Files => chip(n, 'board', { temp1_label: 'Inlet', temp1_input: 20_000 });

type Row = [what: string, now: Files, report: object | undefined, said?: string];
const left = (count: number, what: string) => `there are more than ${count} ${what}: they are left out\n`;
const LIMITS: Row[] = [
  ['zones', each(most.zones, n => zone(`intel-rapl:${n.toString(16)}`, `package-${n}`)), { energy_cpu_mj: 64_000 }],
  [
    'zones of other kinds do not count',
    files(
      each(most.zones, n => zone(`intel-rapl:${n.toString(16)}`, `package-${n}`)),
      each(9, n => zone(`intel-rapl:a${n}`, 'psys')),
      each(9, n => zone(`intel-rapl:${n}:0`, 'dram')),
    ),
    { energy_cpu_mj: 64_000, energy_dram_mj: 9000 },
  ],
  [
    'one zone more',
    files(
      each(most.zones + 1, n => zone(`intel-rapl:${n.toString(16)}`, `package-${n}`)),
      zone('intel-rapl:0:0', 'dram'),
    ),
    { energy_dram_mj: 1000 },
    left(most.zones, 'zones of packages'),
  ],
  [
    'one zone of dram more',
    each(most.zones + 1, n => zone(`intel-rapl:0:${n.toString(16)}`, 'dram')),
    {},
    left(most.zones, 'zones of dram'),
  ],
  [
    'of a thousand cores two packages are asked',
    files(processor(0, 576), processor(1, 576), inlet(2)),
    { temp_hottest_dc: 600, temp_inlet_dc: 200 },
  ],
  ['sensors', files(processor(0, most.sensors - 1, false), inlet(1)), { temp_hottest_dc: 990, temp_inlet_dc: 200 }],
  [
    'one sensor more',
    files(processor(0, most.sensors, false), inlet(1)),
    {},
    left(most.sensors, 'sensors of temperature'),
  ],
  ['processors', files(each(most.processors, n => processor(n, 0))), { temp_hottest_dc: 600 }],
  [
    'one processor more',
    files(
      each(most.processors + 1, n => processor(n, 0)),
      inlet(99),
    ),
    {},
    left(most.processors, 'processors with sensors'),
  ],
];
/** Of these only what a row says may be there. */
const FIELDS = ['energy_cpu_mj', 'energy_dram_mj', 'temp_hottest_dc', 'temp_inlet_dc'];
for (const [what, now, report, said = ''] of LIMITS)
  t.test(what, async t => {
    const trees = new ForeignTrees(t);
    trees.write({}, now);
    const told = await trees.ask();
    t.strictSame(
      Object.fromEntries(FIELDS.flatMap(key => (key in told.report ? [[key, told.report[key]]] : []))),
      report,
    );
    t.equal(told.said, said);
  });

/** The files of so many interfaces. */
const nics = (count: number, device: boolean): Files =>
  each(count, n => ({
    [`sys/class/net/n${n}/speed`]: '10\n',
    ...(device && { [`sys/class/net/n${n}/device/vendor`]: '0x8086\n' }),
  }));
const dev = (count: number) =>
  `Inter-|   Receive\n face |bytes\n${Array.from({ length: count }, (_, n) => `n${n}: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n`).join('')}`;

t.test('speeds of interfaces', async t => {
  for (const [count, mbps, said] of [
    [most.speeds, 10, ''],
    [most.speeds + 1, undefined, left(most.speeds, 'network interfaces with a speed')],
  ] as const) {
    const trees = new ForeignTrees(t);
    trees.write({ 'sys/class/net': null, 'proc/net/dev': dev(count) }, { 'sys/class/net': null });
    trees.write({}, files({ 'proc/net/dev': dev(count) }, nics(count, true)));
    const told = await trees.ask();
    t.equal((told.report.net as { mbps?: number }[])[0]?.mbps, mbps, `${count} interfaces`);
    t.equal(told.said, said);
  }
  const ask = (...now: Files[]) => {
    const trees = new ForeignTrees(t);
    trees.write({ 'sys/class/net': null }, { 'sys/class/net': null });
    trees.write({}, files(...now));
    return trees.ask();
  };
  const told = await ask({ 'proc/net/dev': dev(4000) }, nics(4000, false), nics(1, true));
  t.match(told.report.net, [{ name: 'n0', mbps: 10 }], 'thousands without a device do not count');
  t.equal(told.said, '');

  /** All but the first stand for parts of its adapter, or on it. */
  const parts = each(most.links - 1, n => ({
    [`sys/class/net/n${n + 1}/phys_switch_id`]: 'a\n',
    [`sys/class/net/n${n + 1}/phys_port_name`]: `pf0vf${n}\n`,
  }));
  const adapter = { 'sys/class/net/n0/phys_switch_id': 'a\n', 'sys/class/net/n0/phys_port_name': 'p0\n' };
  const stacked = each(most.links - 1, n => ({ [`sys/class/net/n${n + 1}/lower_n0/mtu`]: '1500\n' }));
  for (const [what, now] of [
    ['parts of an adapter', [nics(most.links, true), parts, adapter]],
    ['those that stand on others', [nics(most.links, false), stacked]],
  ] as const) {
    const told = await ask({ 'proc/net/dev': dev(most.links) }, ...now);
    const first = { name: 'n0', mbps: 10, interfaces: 1, rx_bytes: 1 };
    t.match(told.report.net, [first], `${what} are left out`);
    t.equal((told.report.net as unknown[]).length, 1, what);
    t.match(told.said, /left out: n1, n2, n3/);
    t.notMatch(told.said, /more than/);
  }
  const many = await ask({ 'proc/net/dev': dev(most.links + 1) }, nics(most.links + 1, true));
  t.notOk('net' in many.report);
  t.equal(many.said, left(most.links, 'network interfaces with a device'));
  const none = await ask({ 'proc/net/dev': dev(most.links + 1) }, nics(most.links + 1, false));
  t.match(none.report.net, [{ name: 'n0', mbps: undefined }, {}, {}]);
  t.equal(none.said, left(most.speeds, 'network interfaces with a speed'));
});

t.test('file systems', async t => {
  const root = memoryFolder(t);
  const sender = compileSender(t, SANITIZED);
  const trees = new ForeignTrees(t);
  const ask = async (count: number) => {
    const line = (n: number) => `${100 + n} 20 ${65 + (n >> 8)}:${n & 255} / ${root}/${n} rw - xfs /dev/x${n} rw\n`;
    for (let n = 0; n < count; n++) mkdirSync(join(root, String(n)), { recursive: true });
    const text = Array.from({ length: count }, (_, n) => line(n)).join('');
    trees.write({}, { 'proc/self/mountinfo': text });
    const now = join(trees.root, 'now');
    // Without --pretend, because a pretend file in C has fewer file systems.
    const argv = [
      '--once',
      '--to',
      '-',
      '--name',
      'n',
      '--scratch',
      root,
      '--proc',
      `${now}/proc`,
      '--sys',
      `${now}/sys`,
    ];
    const [c, ts] = [askC(sender, argv), await askHere(argv)];
    t.equal(c.said, ts.said, `${count}: both say the same`);
    const [inC, inTs] = [c, ts].map(({ report }) => readable(Buffer.from(report, 'hex')));
    t.equal(inC?.fs_total_mib, inTs?.fs_total_mib, `${count}: both measure the same`);
    return { total: inTs?.fs_total_mib, said: ts.said };
  };
  const { total: one } = await ask(1);
  for (const count of [441, most.file_systems]) {
    const { total, said } = await ask(count);
    // Each is rounded at its end only.
    t.ok(Math.abs(Number(total) - Number(one) * count) <= count, `${count} file systems`);
    t.equal(said, '');
  }
  const { total, said } = await ask(most.file_systems + 1);
  t.equal(total, undefined);
  t.match(said, left(most.file_systems, 'file systems with a disk'));
});
