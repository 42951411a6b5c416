// beoboard show: a node on one page, each number with its unit and its share (made boards, test/golden/show.txt; to
// write it again, after reading the difference: node dist/test/cli/show.test.js --write), and the command on a real
// board.

import { createSocket } from 'node:dgram';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { nodePage } from '../../src/cli/nodepage.js';
import { decode, type Encodable } from '../../src/layout/codec.js';
import { bits, enums, structs } from '../../src/layout/layout.gen.js';
import { nodeSheet } from '../../src/presentation/nodesheet.js';
import { jsonPieces } from '../../src/presentation/statusjson.js';
import { survey } from '../../src/query/survey.js';
import { painter } from '../../src/terminal/style.js';
import { busy, type MadeNode, madeBoard } from '../kit/madeboard.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, ROOT } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { settled } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

// Times of day are shown in this time zone.
process.env.TZ = 'UTC';
const GOLDEN = join(ROOT, 'test', 'golden', 'show.txt');
const ALL = Object.values<number>(bits.valid).reduce((valid, bit) => valid | (1n << BigInt(bit)), 0n);
const { flags, gpu_flags, net_state } = bits;

/** A node with all fields: two packages, two interfaces, a fabric, two GPUs, and several problems. */
const rich: Encodable<'report'> = {
  valid: ALL,
  flags: (1 << flags.held) | (1 << flags.root_readonly) | (1 << flags.clock_unsync),
  arch: enums.arch.indexOf('aarch64'),
  os_release: '6.1.0-25-arm64',
  hw_hash: 0x1a2b3c4d,
  sw_hash: 0x5e6f7a8b,
  agent_version: (1 << 16) | (2 << 8) | 3,
  cpus_online: 126,
  cpus_present: 128,
  packages: 2,
  groups: 2,
  threads_per_core: 1,
  numa_nodes: 4,
  cpu_mhz_max: 3400,
  load1_c: 12_345,
  load5_c: 11_000,
  load15_c: 900,
  runnable: 130,
  blocked: 2,
  threads: 3000,
  cpu_busy_pm: 972,
  psi_cpu_some10: 1234,
  psi_mem_some10: 10,
  psi_io_some10: 0,
  group: [
    { cpus: 64, busy_pm: 990, busiest_pm: 1000, mhz: 3100, temp_dc: 715 },
    { cpus: 62, busy_pm: 954, busiest_pm: 1000, mhz: 0, temp_dc: -32768 },
  ],
  mem_total_mib: 515_000,
  mem_avail_mib: 20_000,
  mem_free_mib: 5000,
  mem_anon_mib: 470_000,
  mem_cached_mib: 15_000,
  mem_shmem_mib: 200,
  mem_dirty_writeback_mib: 120,
  mem_huge_total_mib: 4096,
  mem_huge_free_mib: 1024,
  mem_corrupted_kib: 4,
  swap_total_mib: 8192,
  swap_free_mib: 8000,
  disk_busiest_pm: 340,
  disk_inflight: 3,
  root_total_mib: 50_000,
  root_avail_mib: 1000,
  root_inodes_free_pm: 900,
  scratch_total_mib: 3_600_000,
  scratch_avail_mib: 1_800_000,
  scratch_inodes_free_pm: 999,
  fs_total_mib: 3_650_000,
  fs_avail_mib: 1_801_000,
  fs_fullest_pm: 980,
  fabric: { name: 'mlx5_0', rx_bytes: 12_500_000_000, tx_bytes: 1_000_000, mbps: 400_000 },
  net_rest: { name: 'eth3', rx_bytes: 1000, tx_bytes: 0, state: 2 << 16 },
  health: enums.health.indexOf('bad'),
  health_src: enums.health_src.indexOf('check'),
  health_age_s: 95,
  oom_kills: 3,
  edac_ce: 12,
  edac_ue: 1,
  throttle_events: 7,
  taint: 4097,
  gpu_count: 2,
  gpu_busy: 1,
  gpu_vendor: enums.gpu_vendor.indexOf('nvidia'),
  gpu_errors: 2,
  gpu_ecc_ue: 1,
  gpu: [
    { util_pct: 97, temp_degc: 81, power_w: 690, mem_used_mib: 70_000, mem_total_mib: 81_920 },
    { util_pct: 255, temp_degc: 255, power_w: 65535, mem_used_mib: 0, mem_total_mib: 0 },
  ],
  gpu_flags: [
    (1 << gpu_flags.present) | (1 << gpu_flags.in_use) | (1 << gpu_flags.throttled),
    1 << gpu_flags.off_the_bus,
  ],
  power_node_w: 1450,
  power_src: enums.power_src.indexOf('bmc'),
  energy_cpu_mj: 350_000,
  energy_dram_mj: 40_500,
  temp_inlet_dc: 245,
  temp_hottest_dc: 815,
  late_us: 120,
  collect_us: 950,
  agent_cpu_ms: 4,
};
const net = (by: number) => [
  {
    name: 'eth0',
    rx_bytes: by,
    tx_bytes: by / 2,
    errors: by > 0 ? 3 : 0,
    mbps: 25_000,
    state: (1 << net_state.up) | (1 << net_state.carrier),
  },
  { name: 'eth1', mbps: 0, state: 1 << net_state.up },
];
const before: Encodable<'report'> = {
  ...rich,
  fabric: { name: 'mlx5_0', mbps: 400_000 },
  net_rest: { name: 'eth3', state: 2 << 16 },
  energy_cpu_mj: 0,
  energy_dram_mj: 0,
  oom_kills: 2,
  agent_cpu_ms: 0,
};
const times = { cpu_user_ms: 110_000, cpu_system_ms: 12_000, cpu_iowait_ms: 4, cpu_idle_ms: 3000 };

const nodes: MadeNode[] = [
  {
    name: 'ill',
    age: 0.5,
    report: { ...rich, ...times, net: net(2_500_000) },
    before: { ...before, net: net(0) },
    record: { lost: 3, restarts: 1, offset_us: -2100 },
  },
  { name: 'well', age: 0.2, ...busy(12), record: { accepted: 86_400 } },
  { name: 'refused', age: 700, ...busy(1), refusal: { reason: 'clock', age: 2, skew: 3600 } },
  { name: 'fallen', age: 3600, ...busy(1) },
  { name: 'stopped', age: 0.3, ...busy(2), silence: { began: 130, ended: 60, stoodStillUs: 13_612_345 } },
  { name: 'never' },
];

function golden(): string {
  const snapshot = madeBoard(nodes);
  const pages = [...snapshot.nodes()].map(node => nodeSheet(node, painter('never'), 80));
  const wide = nodeSheet(snapshot.node(0), painter('always'), 120);
  return [...pages, wide].map(({ head, lines }) => `${[...head, ...lines].join('\n')}\n`).join('\n');
}

t.test('for how long a node stood still, in JSON', async t => {
  const still = [undefined, 13_689_000, 2 ** 32 - 1];
  const made = still.map((stoodStillUs, i) => ({
    ...{ name: `n${i}`, age: 0.3, ...busy(2) },
    silence: { began: 130, ended: 60, ...(stoodStillUs !== undefined && { stoodStillUs }) },
  }));
  const found = survey(madeBoard(made));
  const pieces = jsonPieces(found.snapshot, () => ({ nodes: found.nodes, trouble: [], odd: [] }), {});
  const { nodes } = JSON.parse(Buffer.concat([...pieces].map(piece => Buffer.from(piece))).toString());
  t.same(
    nodes.map((node: { memory: { silence: { stood_still_ms?: number } } }) => node.memory.silence.stood_still_ms),
    [undefined, 13_600, 4_294_900],
  );
});

t.test('the page is that of test/golden/show.txt', async t => {
  const text = golden();
  if (process.argv.includes('--write')) writeFileSync(GOLDEN, text);
  t.equal(text, readFileSync(GOLDEN, 'utf8'));
  for (const line of golden().split('\x1b')[0]?.split('\n') ?? []) t.ok(line.length <= 160, line);
});

t.test('any report has a page, whatever its names and numbers are', async t => {
  // Every field at both ends of its range, measured.
  for (const byte of [0, 0xff]) {
    const report = makeReport({ hostname: 'node1' });
    report.fill(byte, structs.report.fields.cpus_online.offset, structs.report.fields.hostname.offset);
    report.fill(byte, structs.report.fields.os_release.offset, structs.report.fields.start_boot_ns.offset);
    new DataView(report.buffer).setBigUint64(structs.report.fields.valid.offset, ALL, true);
    const made = decode('report', new DataView(report.buffer), 0) as unknown as Encodable<'report'>;
    const snapshot = madeBoard([{ name: 'node1', age: 1, report: made, before: made }]);
    const { head, lines } = nodeSheet(snapshot.node(0), painter('never'), 80);
    for (const line of [...head, ...lines]) {
      t.notMatch(line, /undefined|NaN|\[object|Infinity|\p{Cc}/u);
    }
  }
});

t.test('the command: pages, raw, JSON, errors', async t => {
  const board = boardPath(t);
  const { port, child, exit } = await startReceiver(t, board);
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  for (const hostname of ['node1', 'node2', 'node3'])
    socket.send(makeReport({ hostname, interval_ms: 600_000, ...busy(3).report }), port, '127.0.0.1');
  const reader = openReader(t, board);
  await until('all have reported', () => reader.snapshot().count === 3);
  await settled(reader);
  const show = (...argv: string[]) => run(['show', '--board', board, ...argv]);
  const heads = (text: string) => text.split('\n').flatMap(line => /^(node\d): live, last heard/.exec(line)?.[1] ?? []);
  const two = await show('node3', 'node1');
  t.equal(two.code, 0);
  t.same(heads(two.stdout), ['node3', 'node1'], 'in the order in which they were asked for');
  t.match(two.stdout, /\nMemory +125 of 250 GiB used \(50 %\)\n/);
  t.same(heads((await show('-w', 'node[1-2]', 'node2')).stdout), ['node1', 'node2'], 'each once');
  const raw = await show('--raw', 'node2');
  t.match(raw.stdout, /^node2: live, .*\nFIELD +VALUE +UNIT +RATE\nreports +1\n/);
  t.match(raw.stdout, /\nmem_avail_mib +128000 +MiB\n/);
  t.notMatch(
    nodePage(madeBoard(nodes).node(0), painter('never'), 80)
      .filter(line => !/^cpu_\w+_ms /.test(line))
      .join('\n'),
    /\d%$/m,
  );
  const { nodes: shown } = JSON.parse((await show('--json', 'node2')).stdout);
  t.match(shown, [{ name: 'node2', state: 'live', names: { arch: 'other' }, report: { mem_avail_mib: 128_000 } }]);
  t.equal(shown.length, 1);
  const some = await show('node2', 'nobody');
  t.same([some.code, heads(some.stdout), some.stderr], [1, ['node2'], 'beoboard show: not on the board: nobody\n']);
  const none = await show();
  t.same([none.code, none.stdout], [2, '']);
  t.match(none.stderr, /^beoboard show: no node given; write beoboard show NODE\n/);
  t.equal((await show('--raw', '--json', 'node2')).code, 2);
  t.equal((await show('node[1-')).code, 2);
  child.kill('SIGTERM');
  await exit;
  await until('the receiver is missed', () => reader.snapshot().stalled);
  const ended = await show('node2');
  t.equal(ended.code, 4);
  t.match(ended.stdout, /^node2: unknown, last heard .*; below is the last known\n/);
  t.match(
    ended.stderr,
    /^beoboard show: the receiver was stopped, its heartbeat is .* old: nothing is known about nodes\n$/,
  );
});
