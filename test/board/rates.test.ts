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

interface Row {
  rule: string;
  /** Measured in both reports. */
  sets: SetName[];
  before: Values;
  after: Values;
  /** Complete: a rate that is not named here has to be absent. */
  gives: Rates | undefined;
}

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
  {
    rule: 'a difference over two seconds',
    sets: ['tcp'],
    before: { tcp_retrans: 10 },
    after: { tcp_retrans: 17 },
    gives: { tcp_retrans: 3.5 },
  },
  {
    rule: 'no difference is a rate of 0',
    sets: ['tcp'],
    before: { tcp_retrans: 10 },
    after: { tcp_retrans: 10 },
    gives: { tcp_retrans: 0 },
  },
  {
    rule: "the node's own clock is the base, not the interval",
    sets: ['tcp'],
    before: { tcp_retrans: 0, interval_ms: 1000 },
    after: { tcp_retrans: 100, interval_ms: 1000, t_boot_ns: 108n * S },
    gives: { tcp_retrans: 12.5 },
  },
  {
    rule: 'one that went back has no rate',
    sets: ['tcp'],
    before: { tcp_retrans: 10 },
    after: { tcp_retrans: 9 },
    gives: {},
  },
  {
    rule: 'the largest number',
    sets: ['tcp'],
    before: { tcp_retrans: 1 },
    after: { tcp_retrans: BIG - 1 },
    gives: { tcp_retrans: BIG / 2 - 1 },
  },
  {
    rule: 'over 2^53, beyond which a number cannot count: the difference can',
    sets: ['tcp'],
    before: { tcp_retrans: BIG - 1 },
    after: { tcp_retrans: 2n ** 53n + 1n },
    gives: { tcp_retrans: 1 },
  },
  {
    rule: 'both beyond it: a fabric of 400 Gbit/s is after two days',
    sets: ['tcp'],
    before: { tcp_retrans: 2n ** 60n + 1n },
    after: { tcp_retrans: 2n ** 60n + 8n },
    gives: { tcp_retrans: 3.5 },
  },
  {
    rule: 'there is none when it wrapped at 2^64',
    sets: ['tcp'],
    before: { tcp_retrans: 2n ** 64n - 1n },
    after: { tcp_retrans: 1 },
    gives: {},
  },

  // 32-bit counters, modulo 2^32.
  {
    rule: 'a u32 in order',
    sets: ['vmstat'],
    before: { oom_kills: 1 },
    after: { oom_kills: 5 },
    gives: { ...vmstat, oom_kills: 2 },
  },
  {
    rule: 'a u32 that wrapped',
    sets: ['vmstat'],
    before: { oom_kills: 2 ** 32 - 6 },
    after: { oom_kills: 4 },
    gives: { ...vmstat, oom_kills: 5 },
  },
  {
    rule: 'a u32 that moved by 2^31 − 1',
    sets: ['vmstat'],
    before: { oom_kills: 1 },
    after: { oom_kills: 2 ** 31 },
    gives: { ...vmstat, oom_kills: (2 ** 31 - 1) / 2 },
  },
  {
    rule: 'a u32 that moved by 2^31 has none',
    sets: ['vmstat'],
    before: { oom_kills: 1 },
    after: { oom_kills: 2 ** 31 + 1 },
    gives: { majfaults: 0, swapin_pages: 0, swapout_pages: 0 },
  },
  {
    rule: 'a u32 that went back has none',
    sets: ['vmstat'],
    before: { oom_kills: 5 },
    after: { oom_kills: 4 },
    gives: { majfaults: 0, swapin_pages: 0, swapout_pages: 0 },
  },

  // Which two reports, and how far apart they are.
  {
    rule: 'another boot',
    sets: ['tcp', 'net'],
    before: { tcp_retrans: 1, boot_id: 1n },
    after: { tcp_retrans: 3, boot_id: 2n },
    gives: undefined,
  },
  {
    rule: 'no time has passed',
    sets: ['tcp', 'net'],
    before: { tcp_retrans: 1 },
    after: { tcp_retrans: 3, t_boot_ns: 100n * S },
    gives: {},
  },
  {
    rule: 'time went back',
    sets: ['tcp', 'net'],
    before: { tcp_retrans: 1 },
    after: { tcp_retrans: 3, t_boot_ns: 99n * S },
    gives: {},
  },
  {
    rule: 'no time has passed: no shares either',
    sets: ['stat'],
    before: times(0, 0, 0, 0, 0),
    after: { ...times(1, 0, 0, 0, 0), t_boot_ns: 100n * S },
    gives: {},
  },
  {
    rule: 'another run of the sender: counters of the node go on',
    sets: ['tcp', 'sender'],
    before: { tcp_retrans: 1, agent_cpu_ms: 500, missed_ticks: 2, start_boot_ns: 50n * S },
    after: { tcp_retrans: 3, agent_cpu_ms: 510, missed_ticks: 3, start_boot_ns: 101n * S },
    gives: { tcp_retrans: 1 },
  },
  {
    rule: 'the same run: counters of the sender too',
    sets: ['sender'],
    before: { agent_cpu_ms: 500, missed_ticks: 2 },
    after: { agent_cpu_ms: 510, missed_ticks: 3 },
    gives: { agent_cpu_ms: 5, missed_ticks: 0.5 },
  },
  {
    rule: 'counters of the sender wrap as others do',
    sets: ['sender'],
    before: { agent_cpu_ms: 2 ** 32 - 4 },
    after: { agent_cpu_ms: 6 },
    gives: { agent_cpu_ms: 5, missed_ticks: 0 },
  },

  // Values that were not measured, and values without a rate.
  { rule: 'no set', sets: [], before: { tcp_retrans: 1 }, after: { tcp_retrans: 3 }, gives: {} },
  {
    rule: 'measured in the later only',
    sets: [],
    before: { tcp_retrans: 1 },
    after: { tcp_retrans: 3, valid: 1n << BigInt(bits.valid.tcp) },
    gives: {},
  },
  {
    rule: 'measured in the earlier only',
    sets: [],
    before: { tcp_retrans: 1, valid: 1n << BigInt(bits.valid.tcp) },
    after: { tcp_retrans: 3 },
    gives: {},
  },
  {
    rule: 'gauges, states and tallies have none',
    sets: ['load', 'memory', 'edac', 'hung_tasks', 'throttle', 'gpu_errors', 'clock', 'health', 'root'],
    before: {
      load1_c: 1,
      mem_free_mib: 5,
      edac_ce: 1,
      hung_tasks: 0,
      throttle_events: 2,
      gpu_errors: 0,
      root_avail_mib: 3,
    },
    after: {
      load1_c: 9,
      mem_free_mib: 9,
      edac_ce: 7,
      hung_tasks: 4,
      throttle_events: 5,
      gpu_errors: 8,
      root_avail_mib: 9,
    },
    gives: {},
  },

  // Slow sets use the clock of the slow rounds.
  {
    rule: 'a slow counter over its own clock',
    sets: ['energy_cpu', 'tcp'],
    before: { energy_cpu_mj: 1000, tcp_retrans: 0, slow_boot_ns: 95n * S },
    after: { energy_cpu_mj: 2000, tcp_retrans: 2, slow_boot_ns: 100n * S },
    gives: { energy_cpu_mj: 200, tcp_retrans: 1 },
  },
  {
    rule: 'no round was closed between the reports: the fast go on',
    sets: ['energy_cpu', 'energy_dram', 'fabric', 'tcp'],
    before: { energy_cpu_mj: 1000, tcp_retrans: 0, fabric: entry('fabric', 1), slow_boot_ns: 95n * S },
    after: { energy_cpu_mj: 1000, tcp_retrans: 2, fabric: entry('fabric', 1), slow_boot_ns: 95n * S },
    gives: { tcp_retrans: 1 },
  },
  {
    rule: 'the fast clock stands, the slow one does not',
    sets: ['energy_dram', 'tcp'],
    before: { energy_dram_mj: 0, tcp_retrans: 0 },
    after: { energy_dram_mj: 6, tcp_retrans: 2, t_boot_ns: 100n * S },
    gives: { energy_dram_mj: 3 },
  },
  {
    rule: 'a slow source that did not answer in the later round',
    sets: [],
    before: { energy_cpu_mj: 1000, valid: 1n << BigInt(bits.valid.energy_cpu) },
    after: { energy_cpu_mj: 0 },
    gives: {},
  },
  {
    rule: 'a slow counter that went back',
    sets: ['energy_cpu'],
    before: { energy_cpu_mj: 7 },
    after: { energy_cpu_mj: 6 },
    gives: {},
  },

  // CPU time: a rate, and a share of the time of all CPUs.
  {
    rule: 'shares of four CPUs over two seconds',
    sets: ['stat'],
    before: times(1000, 0, 100, 5000, 10),
    after: times(5000, 0, 1100, 7800, 210),
    gives: { ...times(2000, 0, 500, 1400, 100), ...shares(50, 0, 12.5, 35, 2.5, 0, 0, 0), ...stat },
  },
  {
    rule: 'every kind of time',
    sets: ['stat'],
    before: times(0, 0, 0, 0, 0, 0, 0, 0),
    after: times(500, 200, 300, 600, 100, 40, 60, 200),
    gives: { ...times(250, 100, 150, 300, 50, 20, 30, 100), ...shares(25, 10, 15, 30, 5, 2, 3, 10), ...stat },
  },
  {
    rule: 'iowait that went back has neither rate nor share; the others are shares of the rest',
    sets: ['stat'],
    before: times(0, 0, 0, 0, 30),
    after: times(500, 0, 0, 1500, 20),
    gives: {
      ...times(250, 0, 0, 750, 0),
      ...shares(25, 0, 0, 75, 0, 0, 0, 0),
      ...stat,
      cpu_iowait_ms: undefined,
      cpu_iowait_pct: undefined,
    },
  },
  {
    rule: 'no CPU time has passed: rates of 0, and no shares of nothing',
    sets: ['stat'],
    before: times(7, 7, 7, 7, 7),
    after: times(7, 7, 7, 7, 7),
    gives: { ...times(0, 0, 0, 0, 0), ...stat },
  },
  {
    rule: 'time of groups and of the sender is no CPU time of the node',
    sets: ['stat', 'sender', 'disk', 'topology', 'groups', 'group_share'],
    before: { ...times(0, 0, 0, 0, 0), agent_cpu_ms: 0, disk_busy_ms: 0 },
    after: { ...times(100, 0, 0, 100, 0), agent_cpu_ms: 100, disk_busy_ms: 100 },
    gives: {
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
  },

  // Network entries are matched by name.
  {
    rule: 'every counter of an entry',
    sets: ['net'],
    before: {
      net: [{ name: 'eth0', rx_bytes: 10, tx_bytes: 20, rx_packets: 1, tx_packets: 2, errors: 2 ** 32 - 1, drops: 0 }],
    },
    after: {
      net: [
        { name: 'eth0', rx_bytes: 30, tx_bytes: 80, rx_packets: 3, tx_packets: 12, errors: 3, drops: 8, mbps: 1000 },
      ],
    },
    gives: { net: [{ name: 'eth0', rx_bytes: 10, tx_bytes: 30, rx_packets: 1, tx_packets: 5, errors: 2, drops: 4 }] },
  },
  {
    rule: 'the order has shifted',
    sets: ['net'],
    before: { net: [entry('eth0', 100), entry('eth1', 2000), entry('eth2', 30_000)] },
    after: { net: [entry('eth2', 30_006), entry('eth0', 102), entry('eth1', 2004)] },
    gives: {
      net: [
        { name: 'eth2', ...quiet, rx_bytes: 3 },
        { name: 'eth0', ...quiet, rx_bytes: 1 },
        { name: 'eth1', ...quiet, rx_bytes: 2 },
      ],
    },
  },
  {
    rule: 'one has come in the place of another',
    sets: ['net'],
    before: { net: [entry('eth0', 100), entry('eth1', 100)] },
    after: { net: [entry('eth0', 102), entry('eth7', 104)] },
    gives: { net: [{ name: 'eth0', ...quiet, rx_bytes: 1 }] },
  },
  {
    rule: 'none is left of those that were',
    sets: ['net'],
    before: { net: [entry('eth0', 100)] },
    after: { net: [entry('eth1', 102)] },
    gives: { net: [] },
  },
  {
    rule: 'an entry went down: its name counts, not its state',
    sets: ['net'],
    before: { net: [entry('eth0', 100, 0x1_0003)] },
    after: { net: [entry('eth0', 102, 0x1_0001)] },
    gives: { net: [{ name: 'eth0', ...quiet, rx_bytes: 1 }] },
  },
  {
    rule: 'a counter of an entry that went back: the others go on',
    sets: ['net'],
    before: { net: [{ name: 'eth0', rx_bytes: 100, tx_bytes: 100 }] },
    after: { net: [{ name: 'eth0', rx_bytes: 2, tx_bytes: 102 }] },
    gives: { net: [{ name: 'eth0', tx_bytes: 1, rx_packets: 0, tx_packets: 0, errors: 0, drops: 0 }] },
  },
  {
    rule: 'a counter of an entry beyond 2^53',
    sets: ['net'],
    before: { net: [{ name: 'eth0', rx_bytes: 2n ** 53n, tx_bytes: 100 }] },
    after: { net: [{ name: 'eth0', rx_bytes: 2n ** 53n + 8n, tx_bytes: 102 }] },
    gives: { net: [{ name: 'eth0', rx_bytes: 4, tx_bytes: 1, rx_packets: 0, tx_packets: 0, errors: 0, drops: 0 }] },
  },

  // Sums have a rate only if both reports add up the same number of interfaces.
  {
    rule: 'a rest of three and three',
    sets: ['net'],
    before: { net_rest: entry('rest', 100, 0x3_0003) },
    after: { net_rest: entry('rest', 108, 0x3_0001) },
    gives: { net: [], net_rest: { name: 'rest', ...quiet, rx_bytes: 4 } },
  },
  {
    rule: 'a rest of three and four',
    sets: ['net'],
    before: { net_rest: entry('rest', 100, 0x3_0003) },
    after: { net_rest: entry('rest', 108, 0x4_0003) },
    gives: { net: [] },
  },
  {
    rule: 'a rest that was not there before',
    sets: ['net'],
    before: {},
    after: { net_rest: entry('rest', 108) },
    gives: { net: [] },
  },
  {
    rule: 'a rest that is no longer there',
    sets: ['net'],
    before: { net_rest: entry('rest', 108) },
    after: {},
    gives: { net: [] },
  },
  {
    rule: 'a rest of 65,535: the number has no sign',
    sets: ['net'],
    before: { net_rest: entry('rest', 100, 0xffff_0000) },
    after: { net_rest: entry('rest', 108, 0xffff_0003) },
    gives: { net: [], net_rest: { name: 'rest', ...quiet, rx_bytes: 4 } },
  },
  {
    rule: 'a fabric of two ports, over the slow clock',
    sets: ['fabric'],
    before: { fabric: entry('fabric', 100, 0x2_0003), slow_boot_ns: 90n * S },
    after: { fabric: entry('fabric', 200, 0x2_0003), slow_boot_ns: 100n * S },
    gives: { fabric: { name: 'fabric', ...quiet, rx_bytes: 10 } },
  },
  {
    rule: 'a fabric of two ports and one',
    sets: ['fabric'],
    before: { fabric: entry('fabric', 100, 0x2_0003) },
    after: { fabric: entry('fabric', 200, 0x1_0003) },
    gives: {},
  },
  {
    rule: 'a fabric that was measured in the later only',
    sets: [],
    before: { fabric: entry('fabric', 100) },
    after: { fabric: entry('fabric', 200), valid: 1n << BigInt(bits.valid.fabric) },
    gives: {},
  },
];

t.test('two reports', t => {
  rows.forEach((row, i) => {
    t.test(`${i + 1}. ${row.rule}`, async t => {
      const valid = row.sets.reduce((all, set) => all | (1n << BigInt(bits.valid[set])), 0n);
      const got = ratesOf(
        makeReport({ valid, ...FIRST, ...row.before }),
        makeReport({ valid, ...SECOND, ...row.after }),
      );
      const wanted =
        row.gives && Object.fromEntries(Object.entries(row.gives).filter(([, rate]) => rate !== undefined));
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
  t.end();
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
