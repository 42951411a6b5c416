// Rates from two reports of a node, each rule a numbered row. The reports are made as bytes and read as any reader
// reads them, so that what was not measured is absent.

import t from 'tap';
import type { Encodable, SetName } from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import type { Rates } from '../../src/shm/rates.js';
import { makeReport, ratesOf } from '../kit/reports.js';

const S = 1_000_000_000n;
const BIG = 2 ** 53;

type Values = Encodable<'report'>;

/** The sets are measured in both reports. What they give is complete: a rate that is not named has to be absent. */
type Row = [rule: string, sets: string, before: Values, after: Values, gives: Rates | undefined];

/** The times of a row's reports: two seconds apart, and so are their slow rounds. */
const FIRST: Values = { t_boot_ns: 100n * S, slow_boot_ns: 99n * S };
const SECOND: Values = { t_boot_ns: 102n * S, slow_boot_ns: 101n * S };

/** A network entry of which only `rx_bytes` changes, and the rates of an entry in which nothing changes. */
const entry = (name: string, rx_bytes: number, state = 0x1_0003) => ({ name, rx_bytes, state });
const quiet = { rx_bytes: 0, tx_bytes: 0, rx_packets: 0, tx_packets: 0, errors: 0, drops: 0 };
const vmstat = { oom_kills: 0, majfaults: 0, swapin_pages: 0, swapout_pages: 0 };
const stat = { ctxt: 0, intr: 0, forks: 0 };
const times = (
  user: number,
  nice: number,
  system: number,
  idle: number,
  iowait: number,
  irq = 0,
  soft = 0,
  steal = 0,
) => ({
  cpu_user_ms: user,
  cpu_nice_ms: nice,
  cpu_system_ms: system,
  cpu_idle_ms: idle,
  cpu_iowait_ms: iowait,
  cpu_irq_ms: irq,
  cpu_softirq_ms: soft,
  cpu_steal_ms: steal,
});
/** Shares of CPU time, in the order of `times`. */
const shares = (...pct: number[]) =>
  Object.fromEntries(Object.keys(times(0, 0, 0, 0, 0)).map((name, i) => [name.replace('_ms', '_pct'), pct[i]]));

const rows: Row[] = [
  // 64-bit counters, on the fast clock.
  ['a difference over two seconds', 'tcp', { tcp_retrans: 10 }, { tcp_retrans: 17 }, { tcp_retrans: 3.5 }],
  ['no difference is a rate of 0', 'tcp', { tcp_retrans: 10 }, { tcp_retrans: 10 }, { tcp_retrans: 0 }],
  [
    "the node's own clock is the base, not the interval",
    'tcp',
    { tcp_retrans: 0, interval_ms: 1000 },
    { tcp_retrans: 100, interval_ms: 1000, t_boot_ns: 108n * S },
    { tcp_retrans: 12.5 },
  ],
  ['one that went back has no rate', 'tcp', { tcp_retrans: 10 }, { tcp_retrans: 9 }, {}],
  ['the largest number', 'tcp', { tcp_retrans: 1 }, { tcp_retrans: BIG - 1 }, { tcp_retrans: BIG / 2 - 1 }],
  [
    'over 2^53, beyond which a number cannot count: the difference can',
    'tcp',
    { tcp_retrans: BIG - 1 },
    { tcp_retrans: 2n ** 53n + 1n },
    { tcp_retrans: 1 },
  ],
  [
    'both beyond it: a fabric of 400 Gbit/s is after two days',
    'tcp',
    { tcp_retrans: 2n ** 60n + 1n },
    { tcp_retrans: 2n ** 60n + 8n },
    { tcp_retrans: 3.5 },
  ],
  ['there is none when it wrapped at 2^64', 'tcp', { tcp_retrans: 2n ** 64n - 1n }, { tcp_retrans: 1 }, {}],

  // 32-bit counters, modulo 2^32.
  ['a u32 in order', 'vmstat', { oom_kills: 1 }, { oom_kills: 5 }, { ...vmstat, oom_kills: 2 }],
  ['a u32 that wrapped', 'vmstat', { oom_kills: 2 ** 32 - 6 }, { oom_kills: 4 }, { ...vmstat, oom_kills: 5 }],
  [
    'a u32 that moved by 2^31 − 1',
    'vmstat',
    { oom_kills: 1 },
    { oom_kills: 2 ** 31 },
    { ...vmstat, oom_kills: (2 ** 31 - 1) / 2 },
  ],
  [
    'a u32 that moved by 2^31 has none',
    'vmstat',
    { oom_kills: 1 },
    { oom_kills: 2 ** 31 + 1 },
    { majfaults: 0, swapin_pages: 0, swapout_pages: 0 },
  ],
  [
    'a u32 that went back has none',
    'vmstat',
    { oom_kills: 5 },
    { oom_kills: 4 },
    { majfaults: 0, swapin_pages: 0, swapout_pages: 0 },
  ],

  // Which two reports, and how far apart they are.
  ['another boot', 'tcp net', { tcp_retrans: 1, boot_id: 1n }, { tcp_retrans: 3, boot_id: 2n }, undefined],
  ['no time has passed', 'tcp net', { tcp_retrans: 1 }, { tcp_retrans: 3, t_boot_ns: 100n * S }, {}],
  ['time went back', 'tcp net', { tcp_retrans: 1 }, { tcp_retrans: 3, t_boot_ns: 99n * S }, {}],
  [
    'no time has passed: no shares either',
    'stat',
    times(0, 0, 0, 0, 0),
    { ...times(1, 0, 0, 0, 0), t_boot_ns: 100n * S },
    {},
  ],
  [
    'another run of the sender: counters of the node go on',
    'tcp sender',
    { tcp_retrans: 1, agent_cpu_ms: 500, missed_ticks: 2, start_boot_ns: 50n * S },
    { tcp_retrans: 3, agent_cpu_ms: 510, missed_ticks: 3, start_boot_ns: 101n * S },
    { tcp_retrans: 1 },
  ],
  [
    'another run of the sender: its sums begin anew',
    'disk energy_cpu edac vmstat fabric net',
    {
      ...{ disk_read_bytes: 1n, energy_cpu_mj: 1n, edac_ce: 1, oom_kills: 1, start_boot_ns: 50n * S },
      fabric: { name: 'fabric', rx_bytes: 1n, state: 0x10003 },
      net_rest: { name: 'rest', rx_bytes: 1n, state: 0x10003 },
    },
    {
      ...{ disk_read_bytes: 5n, energy_cpu_mj: 5n, edac_ce: 3, oom_kills: 3, start_boot_ns: 101n * S },
      fabric: { name: 'fabric', rx_bytes: 5n, state: 0x10003 },
      net_rest: { name: 'rest', rx_bytes: 5n, state: 0x10003 },
    },
    { oom_kills: 1, majfaults: 0, swapin_pages: 0, swapout_pages: 0, net: [] },
  ],
  [
    'the same run: counters of the sender too',
    'sender',
    { agent_cpu_ms: 500, missed_ticks: 2 },
    { agent_cpu_ms: 510, missed_ticks: 3 },
    { agent_cpu_ms: 5, missed_ticks: 0.5 },
  ],
  [
    'counters of the sender wrap as others do',
    'sender',
    { agent_cpu_ms: 2 ** 32 - 4 },
    { agent_cpu_ms: 6 },
    { agent_cpu_ms: 5, missed_ticks: 0 },
  ],

  // Values that were not measured, and values without a rate.
  ['no set', '', { tcp_retrans: 1 }, { tcp_retrans: 3 }, {}],
  ['measured in the later only', '', { tcp_retrans: 1 }, { tcp_retrans: 3, valid: 1n << BigInt(bits.valid.tcp) }, {}],
  ['measured in the earlier only', '', { tcp_retrans: 1, valid: 1n << BigInt(bits.valid.tcp) }, { tcp_retrans: 3 }, {}],
  [
    'gauges, states and tallies have none',
    'load memory edac hung_tasks throttle gpu_errors clock health root',
    { load1_c: 1, mem_free_mib: 5, edac_ce: 1, hung_tasks: 0, throttle_events: 2, gpu_errors: 0, root_avail_mib: 3 },
    { load1_c: 9, mem_free_mib: 9, edac_ce: 7, hung_tasks: 4, throttle_events: 5, gpu_errors: 8, root_avail_mib: 9 },
    {},
  ],

  // Slow sets use the clock of the slow rounds.
  [
    'a slow counter over its own clock',
    'energy_cpu tcp',
    { energy_cpu_mj: 1000, tcp_retrans: 0, slow_boot_ns: 95n * S },
    { energy_cpu_mj: 2000, tcp_retrans: 2, slow_boot_ns: 100n * S },
    { energy_cpu_mj: 200, tcp_retrans: 1 },
  ],
  [
    'no round was closed between the reports: the fast go on',
    'energy_cpu energy_dram fabric tcp',
    { energy_cpu_mj: 1000, tcp_retrans: 0, fabric: entry('fabric', 1), slow_boot_ns: 95n * S },
    { energy_cpu_mj: 1000, tcp_retrans: 2, fabric: entry('fabric', 1), slow_boot_ns: 95n * S },
    { tcp_retrans: 1 },
  ],
  [
    'the fast clock stands, the slow one does not',
    'energy_dram tcp',
    { energy_dram_mj: 0, tcp_retrans: 0 },
    { energy_dram_mj: 6, tcp_retrans: 2, t_boot_ns: 100n * S },
    { energy_dram_mj: 3 },
  ],
  [
    'a slow source that did not answer in the later round',
    '',
    { energy_cpu_mj: 1000, valid: 1n << BigInt(bits.valid.energy_cpu) },
    { energy_cpu_mj: 0 },
    {},
  ],
  ['a slow counter that went back', 'energy_cpu', { energy_cpu_mj: 7 }, { energy_cpu_mj: 6 }, {}],

  // CPU time: a rate, and a share of the time of all CPUs.
  [
    'shares of four CPUs over two seconds',
    'stat',
    times(1000, 0, 100, 5000, 10),
    times(5000, 0, 1100, 7800, 210),
    { ...times(2000, 0, 500, 1400, 100), ...shares(50, 0, 12.5, 35, 2.5, 0, 0, 0), ...stat },
  ],
  [
    'every kind of time',
    'stat',
    times(0, 0, 0, 0, 0, 0, 0, 0),
    times(500, 200, 300, 600, 100, 40, 60, 200),
    { ...times(250, 100, 150, 300, 50, 20, 30, 100), ...shares(25, 10, 15, 30, 5, 2, 3, 10), ...stat },
  ],
  [
    'iowait that went back has neither rate nor share; the others are shares of the rest',
    'stat',
    times(0, 0, 0, 0, 30),
    times(500, 0, 0, 1500, 20),
    {
      ...times(250, 0, 0, 750, 0),
      ...shares(25, 0, 0, 75, 0, 0, 0, 0),
      ...stat,
      cpu_iowait_ms: undefined,
      cpu_iowait_pct: undefined,
    },
  ],
  [
    'no CPU time has passed: rates of 0, and no shares of nothing',
    'stat',
    times(7, 7, 7, 7, 7),
    times(7, 7, 7, 7, 7),
    { ...times(0, 0, 0, 0, 0), ...stat },
  ],
  [
    'time of groups and of the sender is no CPU time of the node',
    'stat sender disk topology groups group_share',
    { ...times(0, 0, 0, 0, 0), agent_cpu_ms: 0, disk_busy_ms: 0 },
    { ...times(100, 0, 0, 100, 0), agent_cpu_ms: 100, disk_busy_ms: 100 },
    {
      ...times(50, 0, 0, 50, 0),
      ...shares(50, 0, 0, 50, 0, 0, 0, 0),
      ...stat,
      agent_cpu_ms: 50,
      missed_ticks: 0,
      disk_read_bytes: 0,
      disk_write_bytes: 0,
      disk_reads: 0,
      disk_writes: 0,
      disk_busy_ms: 50,
      disk_weighted_ms: 0,
    },
  ],

  // Network entries are matched by name.
  [
    'every counter of an entry',
    'net',
    {
      net: [{ name: 'eth0', rx_bytes: 10, tx_bytes: 20, rx_packets: 1, tx_packets: 2, errors: 2 ** 32 - 1, drops: 0 }],
    },
    {
      net: [
        { name: 'eth0', rx_bytes: 30, tx_bytes: 80, rx_packets: 3, tx_packets: 12, errors: 3, drops: 8, mbps: 1000 },
      ],
    },
    { net: [{ name: 'eth0', rx_bytes: 10, tx_bytes: 30, rx_packets: 1, tx_packets: 5, errors: 2, drops: 4 }] },
  ],
  [
    'the order has shifted',
    'net',
    { net: [entry('eth0', 100), entry('eth1', 2000), entry('eth2', 30_000)] },
    { net: [entry('eth2', 30_006), entry('eth0', 102), entry('eth1', 2004)] },
    {
      net: [
        { name: 'eth2', ...quiet, rx_bytes: 3 },
        { name: 'eth0', ...quiet, rx_bytes: 1 },
        { name: 'eth1', ...quiet, rx_bytes: 2 },
      ],
    },
  ],
  [
    'one has come in the place of another',
    'net',
    { net: [entry('eth0', 100), entry('eth1', 100)] },
    { net: [entry('eth0', 102), entry('eth7', 104)] },
    { net: [{ name: 'eth0', ...quiet, rx_bytes: 1 }] },
  ],
  ['none is left of those that were', 'net', { net: [entry('eth0', 100)] }, { net: [entry('eth1', 102)] }, { net: [] }],
  [
    'an entry went down: its name counts, not its state',
    'net',
    { net: [entry('eth0', 100, 0x1_0003)] },
    { net: [entry('eth0', 102, 0x1_0001)] },
    { net: [{ name: 'eth0', ...quiet, rx_bytes: 1 }] },
  ],
  [
    'a counter of an entry that went back: the others go on',
    'net',
    { net: [{ name: 'eth0', rx_bytes: 100, tx_bytes: 100 }] },
    { net: [{ name: 'eth0', rx_bytes: 2, tx_bytes: 102 }] },
    { net: [{ name: 'eth0', tx_bytes: 1, rx_packets: 0, tx_packets: 0, errors: 0, drops: 0 }] },
  ],
  [
    'a counter of an entry beyond 2^53',
    'net',
    { net: [{ name: 'eth0', rx_bytes: 2n ** 53n, tx_bytes: 100 }] },
    { net: [{ name: 'eth0', rx_bytes: 2n ** 53n + 8n, tx_bytes: 102 }] },
    { net: [{ name: 'eth0', rx_bytes: 4, tx_bytes: 1, rx_packets: 0, tx_packets: 0, errors: 0, drops: 0 }] },
  ],

  // Sums have a rate only if both reports add up the same number of interfaces.
  [
    'a rest of three and three',
    'net',
    { net_rest: entry('rest', 100, 0x3_0003) },
    { net_rest: entry('rest', 108, 0x3_0001) },
    { net: [], net_rest: { name: 'rest', ...quiet, rx_bytes: 4 } },
  ],
  [
    'a rest of three and four',
    'net',
    { net_rest: entry('rest', 100, 0x3_0003) },
    { net_rest: entry('rest', 108, 0x4_0003) },
    { net: [] },
  ],
  ['a rest that was not there before', 'net', {}, { net_rest: entry('rest', 108) }, { net: [] }],
  ['a rest that is no longer there', 'net', { net_rest: entry('rest', 108) }, {}, { net: [] }],
  [
    'a rest of 65,535: the number has no sign',
    'net',
    { net_rest: entry('rest', 100, 0xffff_0000) },
    { net_rest: entry('rest', 108, 0xffff_0003) },
    { net: [], net_rest: { name: 'rest', ...quiet, rx_bytes: 4 } },
  ],
  [
    'a fabric of two ports, over the slow clock',
    'fabric',
    { fabric: entry('fabric', 100, 0x2_0003), slow_boot_ns: 90n * S },
    { fabric: entry('fabric', 200, 0x2_0003), slow_boot_ns: 100n * S },
    { fabric: { name: 'fabric', ...quiet, rx_bytes: 10 } },
  ],
  [
    'a fabric of two ports and one',
    'fabric',
    { fabric: entry('fabric', 100, 0x2_0003) },
    { fabric: entry('fabric', 200, 0x1_0003) },
    {},
  ],
  [
    'a fabric that was measured in the later only',
    '',
    { fabric: entry('fabric', 100) },
    { fabric: entry('fabric', 200), valid: 1n << BigInt(bits.valid.fabric) },
    {},
  ],
];

t.test('two reports', async t => {
  rows.forEach(([rule, sets, before, after, gives], i) => {
    t.test(`${i + 1}. ${rule}`, async t => {
      const names = sets === '' ? [] : (sets.split(' ') as SetName[]);
      const valid = names.reduce((all, set) => all | (1n << BigInt(bits.valid[set])), 0n);
      const got = ratesOf(makeReport({ valid, ...FIRST, ...before }), makeReport({ valid, ...SECOND, ...after }));
      const wanted = gives && Object.fromEntries(Object.entries(gives).filter(([, rate]) => rate !== undefined));
      t.strictSame(got, wanted);
      const pct = Object.entries(got ?? {}).filter(([name]) => name.endsWith('_pct'));
      if (pct.length > 0)
        t.equal(
          pct.reduce((sum, [, share]) => sum + Number(share), 0),
          100,
          'shares make 100 %',
        );
    });
  });
});

t.test('without a report there are none', async t => {
  const one = makeReport({ ...FIRST });
  t.equal(ratesOf(undefined, undefined), undefined);
  t.equal(ratesOf(undefined, one), undefined);
  t.equal(ratesOf(one, undefined), undefined);
  t.strictSame(ratesOf(one, one), {});
});

t.test('the counters that have a rate are the counters of the contract', async t => {
  const valid = Object.values(bits.valid).reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
  const entries = { net: [entry('eth0', 0)], net_rest: entry('rest', 0), fabric: entry('fabric', 0) };
  const before = makeReport({ valid, ...FIRST, ...times(0, 0, 0, 0, 0), ...entries });
  const after = makeReport({ valid, ...SECOND, ...times(1, 1, 1, 1, 1, 1, 1, 1), ...entries });
  const counters = (fields: object) =>
    Object.entries(fields as Record<string, { kind: string }>)
      .filter(([, { kind }]) => kind === 'counter')
      .map(([name]) => name);
  const got = ratesOf(before, after) ?? {};
  const named = Object.keys(got).filter(name => !name.endsWith('_pct'));
  t.strictSame(named.sort(), counters(structs.report.fields).sort());
  const inEntry = ['name', ...counters(structs.net_if.fields)].sort();
  for (const one of [got.net?.[0], got.net_rest, got.fabric]) t.strictSame(Object.keys(one ?? {}).sort(), inEntry);
  t.strictSame(
    Object.keys(got).filter(name => name.endsWith('_pct')),
    Object.keys(times(0, 0, 0, 0, 0)).map(name => name.replace('_ms', '_pct')),
  );
});
