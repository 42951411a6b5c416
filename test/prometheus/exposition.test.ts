// The documents for Prometheus from boards made by hand, family by family: names, types and numbers, what is left out,
// and that no name of a node or an interface breaks them. Opens no port.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Encodable, Report } from '../../src/layout/codec.js';
import { bits, enums, structs } from '../../src/layout/layout.gen.js';
import { ScrapedBoard } from '../../src/prometheus/boards.js';
import { Exporter } from '../../src/prometheus/exporter.js';
import { COLLECTORS, type CollectorName, DEFAULT_COLLECTORS, FAMILIES } from '../../src/prometheus/families.js';
import { NodeNames } from '../../src/prometheus/names.js';
import { NODE_FAMILIES } from '../../src/prometheus/nodefamilies.js';
import type { Format } from '../../src/prometheus/plan.js';
import type { SampleSelection } from '../../src/prometheus/sample.js';
import { SchedulerFamilies } from '../../src/prometheus/schedulerfamilies.js';
import {
  monotonicMs,
  type OddJobs,
  SCHEMA,
  type SchedulerState,
  stateText,
} from '../../src/schedulerfile/statefile.js';
import { STATES } from '../../src/shm/liveness.js';
import { NoBoard } from '../../src/shm/noboard.js';
import type { Rates } from '../../src/shm/rates.js';
import type { BoardReader } from '../../src/shm/reader.js';
import type { Node, Snapshot } from '../../src/shm/snapshot.js';
import {
  EVERYTHING,
  type MadeBoard,
  type MadeNode,
  madeBoard,
  REAL,
  S,
  tenThousand,
  validOf,
} from '../kit/madeboard.js';
import { folder } from '../kit/places.js';
import { type Exposition, keyOf, parse, seriesOf } from './expositionparser.js';

const FORMATS: readonly Format[] = ['text', 'openmetrics'];
const EVERYBODY: SampleSelection = { shard: 1, shards: 1 };

// ---- boards ----------------------------------------------------------------------------------------------------------

/** Stands in for the reader of a board file: gives the snapshot that a test has set; undefined: there is no board. */
class MadeReader {
  opened = 1;
  constructor(public snapshot: Snapshot | undefined) {}

  get #there(): Snapshot {
    if (this.snapshot === undefined) throw new NoBoard('absent', 'made', 'there is no board');
    return this.snapshot;
  }

  nodeStates() {
    const board = this.#there;
    const names = board.names();
    return {
      board,
      states: board.overview.states,
      count: names.length,
      names: (indexes: readonly number[]) => indexes.map(index => names[index] as string),
    };
  }

  *pieces(): Generator<Snapshot> {
    yield this.#there;
  }
}

function boardOf(snapshot: Snapshot | undefined, name?: string): { board: ScrapedBoard; reader: MadeReader } {
  const reader = new MadeReader(snapshot);
  return {
    board: Object.assign(new ScrapedBoard(name, 'made', undefined), { reader: reader as unknown as BoardReader }),
    reader,
  };
}

interface Asked {
  readonly collectors?: readonly CollectorName[];
  readonly selection?: SampleSelection;
  readonly format?: Format;
}

function bytesOf(pieces: Iterable<Uint8Array | undefined>): Buffer {
  // A piece is valid only until the next one is requested, so each is copied.
  return Buffer.concat([
    ...(function* () {
      for (const piece of pieces) if (piece !== undefined) yield Buffer.from(piece);
    })(),
  ]);
}

function metrics(
  exporter: Exporter,
  { collectors = COLLECTORS, selection = EVERYBODY, format = 'text' }: Asked = {},
): Exposition {
  return parse(bytesOf(exporter.metrics({ collectors, selection }, format)), format);
}

function nodeMetrics(exporter: Exporter, format: Format = 'text'): Exposition {
  return parse(bytesOf(exporter.nodeMetrics({ selection: EVERYBODY }, format)), format);
}

const exporterOf = (...nodes: MadeNode[]) => new Exporter([boardOf(madeBoard(nodes)).board]);

/** The series of a family for one node: one number, or numbers by the other labels. */
function toldOf(
  document: Exposition,
  family: string,
  node: string,
  label: 'node' | 'instance' = 'node',
): number | Record<string, number> | undefined {
  const own = (document.get(family)?.series ?? []).filter(({ labels }) => labels[label] === node);
  const rest = own.map(
    ({ labels: { cluster: _, [label]: __, ...others }, value }) => [Object.values(others).join(' '), value] as const,
  );
  if (rest.length === 0) return undefined;
  return rest.length === 1 && rest[0]?.[0] === '' ? rest[0][1] : Object.fromEntries(rest);
}

/** Whether both are equal up to rounding. */
function close(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number')
    return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1e3);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [x, y] = [Object.entries(a).sort(), Object.entries(b).sort()];
  return x.length === y.length && x.every(([key, value], i) => key === y[i]?.[0] && close(value, y[i]?.[1]));
}

// ---- a node of which everything is known -----------------------------------------------------------------------------

/** A report in which no two fields have the same value, so that a family that shows the wrong field is found. */
function distinct(): Encodable<'report'> {
  const most: Record<string, number> = { u8: 200, i16: 900, u16: 1000, u32: 1e6, i32: 1e6, u64: 1e9 };
  const fields = Object.entries<{ type: string; count: number; kind: string; offset: number }>(structs.report.fields);
  return Object.fromEntries(
    fields
      .filter(
        ([, { type, count, kind }]) =>
          type in most && count === 0 && kind !== 'reserved' && kind !== 'time' && kind !== 'state',
      )
      .map(([name, { type, offset }]) => [name, (most[type] as number) + (type === 'u8' ? offset % 50 : offset)]),
  );
}

const INTERFACES = ['eth0', 'eth1'].map((name, i) => ({
  name,
  rx_bytes: 1e12 + i,
  tx_bytes: 2e12 + i,
  rx_packets: 3e9 + i,
  tx_packets: 4e9 + i,
  errors: 50 + i,
  drops: 60 + i,
  mbps: 10_000 * i,
  state: i + 2,
}));
const RICH: Encodable<'report'> = {
  ...distinct(),
  valid: EVERYTHING,
  cpus_online: 60,
  cpus_present: 64,
  interval_ms: 2000,
  t_real_ns: REAL - 2n * S,
  boot_id: 0xfedc_ba98_7654_3210n,
  flags: (1 << bits.flags.held) | (1 << bits.flags.clock_unsync),
  arch: 1,
  agent_version: (1 << 16) | (2 << 8) | 3,
  os_release: '6.1.0-25-amd64',
  health: 2,
  temp_hottest_dc: -671,
  clock_offset_us: -1234,
  net: INTERFACES,
  net_rest: { ...INTERFACES[0], name: 'rest', state: 3 << 16 },
  fabric: { name: 'fabric', rx_bytes: 9e9, tx_bytes: 8e9, errors: 5, drops: 4, state: 2 << 16 },
  gpu_count: 3,
  gpu_busy: 1,
  gpu: [
    { util_pct: 50, temp_degc: 70, power_w: 300, mem_used_mib: 1024, mem_total_mib: 81_920 },
    { util_pct: 99, temp_degc: 60, power_w: 250, mem_used_mib: 7, mem_total_mib: 81_920 },
    { util_pct: 255, temp_degc: 255, power_w: 200, mem_used_mib: 3, mem_total_mib: 81_920 },
  ],
};
const EARLIER: Encodable<'report'> = { ...RICH, energy_cpu_mj: 1e8, energy_dram_mj: 2e8, agent_cpu_ms: 1e6 };
const COUNTS = {
  accepted: 900,
  lost: 17,
  late: 3,
  unheard: 5,
  duplicate: 7,
  refused: 11,
  restarts: 13,
  reboots: 19,
  resets: 23,
};
const rich = (name: string, more: Encodable<'report'> = {}): MadeNode => ({
  name,
  age: 1.5,
  // The second GPU is throttled.
  report: { ...RICH, gpu_flags: [1, 9, 1], ...more },
  before: EARLIER,
  cloned: [
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 7],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 8],
  ],
  remembered: { oom: 7200, root_full: 30 },
  record: {
    ...COUNTS,
    offset_us: -1_234_000,
    refusal_reason: enums.reason.indexOf('clock'),
    refusal_real_ns: REAL - 60n * S,
  },
});

type Expected = number | Readonly<Record<string, number>> | undefined;
type Tell = (report: Report, rates: Rates, node: Node) => Expected;

const MIB = 2 ** 20;
/** A field of the report, times a factor. */
const times =
  (name: keyof Report, factor = 1): Tell =>
  report =>
    (report[name] as number) * factor;
const perInterface =
  (tell: (entry: NonNullable<Report['net']>[number]) => number | undefined): Tell =>
  ({ net = [] }) =>
    Object.fromEntries(net.flatMap(entry => (tell(entry) === undefined ? [] : [[entry.name, tell(entry) as number]])));
const perGpu =
  (tell: (entry: NonNullable<Report['gpu']>[number]) => number | undefined): Tell =>
  ({ gpu = [] }) =>
    Object.fromEntries(gpu.flatMap((entry, i) => (tell(entry) === undefined ? [] : [[i, tell(entry) as number]])));
const sumOfNet =
  (name: 'rx_bytes' | 'tx_bytes' | 'rx_packets' | 'tx_packets' | 'errors' | 'drops'): Tell =>
  ({ net = [], net_rest }) => ({
    // Two interfaces have their own entry, and three are in the rest.
    5: [...net, net_rest].reduce((sum, entry) => sum + (entry?.[name] ?? 0), 0),
  });
const ofFabric =
  (name: 'rx_bytes' | 'tx_bytes' | 'errors'): Tell =>
  ({ fabric }) => ({ 2: fabric?.[name] as number });
const ofDisks =
  (name: keyof Report): Tell =>
  report => ({ [report.disks as number]: report[name] as number });
const ofGpus =
  (name: keyof Report): Tell =>
  report => ({ [report.gpu_count as number]: report[name] as number });
const KINDS = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'] as const;
const counted =
  (name: keyof typeof COUNTS): Tell =>
  () =>
    COUNTS[name];

/** The expected value of each family, calculated from the decoded report; as long as the list of families. */
const VALUES: Readonly<Record<string, Tell>> = {
  node_state: () => Object.fromEntries(STATES.map(state => [state, state === 'live' ? 1 : 0])),
  node_report_age_seconds: (_, __, { ageMs }) => (ageMs as number) / 1000,
  node_dark: () => 0,
  node_unhealthy: () => 1,
  // It is unhealthy now.
  node_recently_unhealthy: () => ({}),
  node_problem: (_, __, { problems }) => Object.fromEntries(problems.map(problem => [problem, 1])),
  node_problem_last_seen_timestamp_seconds: () => ({ oom: Number(REAL / S) - 7200, root_full: Number(REAL / S) - 30 }),
  // Nothing is unmeasured: it has no series.
  node_problem_unmeasured_since_timestamp_seconds: () => ({}),
  node_reports_total: counted('accepted'),
  node_reports_missed_total: () => COUNTS.lost + COUNTS.late,
  node_reports_gaps_total: () => COUNTS.lost + COUNTS.unheard + COUNTS.late,
  node_reports_late_total: counted('late'),
  node_reports_duplicate_total: counted('duplicate'),
  node_reports_refused_total: counted('refused'),
  node_sender_restarts_total: counted('restarts'),
  node_reboots_total: counted('reboots'),
  node_resets_total: counted('resets'),
  node_last_refusal_timestamp_seconds: () => ({ clock: Number(REAL / S) - 60 }),
  node_cloned: () => ({ '10.0.0.7 10.0.0.8': 1 }),
  node_clock_skew_seconds: ({ collect_us = 0 }) => (-1_234_000 + collect_us) / 1e6,
  node_report_interval_seconds: () => 2,
  node_report_delay_seconds: times('late_us', 1e-6),
  node_cpu_seconds_total: report =>
    Object.fromEntries(KINDS.map(kind => [kind, (report[`cpu_${kind}_ms`] as number) / 1000])),
  node_cpus_online: () => 60,
  node_cpus_present: () => 64,
  node_cpu_busy_ratio: times('cpu_busy_pm', 1e-3),
  node_load1: times('load1_c', 0.01),
  node_load5: times('load5_c', 0.01),
  node_load15: times('load15_c', 0.01),
  node_memory_total_bytes: times('mem_total_mib', MIB),
  node_memory_available_bytes: times('mem_avail_mib', MIB),
  node_memory_free_bytes: times('mem_free_mib', MIB),
  node_memory_cached_bytes: times('mem_cached_mib', MIB),
  node_memory_anonymous_bytes: times('mem_anon_mib', MIB),
  node_swap_total_bytes: times('swap_total_mib', MIB),
  node_swap_free_bytes: times('swap_free_mib', MIB),
  node_swap_in_pages_total: times('swapin_pages'),
  node_swap_out_pages_total: times('swapout_pages'),
  node_memory_buffers_bytes: times('mem_buffers_mib', MIB),
  node_memory_shared_bytes: times('mem_shmem_mib', MIB),
  node_memory_slab_reclaimable_bytes: times('mem_sreclaimable_mib', MIB),
  node_memory_slab_unreclaimable_bytes: times('mem_sunreclaim_mib', MIB),
  node_memory_dirty_bytes: times('mem_dirty_writeback_mib', MIB),
  node_memory_committed_bytes: times('mem_committed_mib', MIB),
  node_memory_commit_limit_bytes: times('mem_commit_limit_mib', MIB),
  node_memory_huge_total_bytes: times('mem_huge_total_mib', MIB),
  node_memory_huge_free_bytes: times('mem_huge_free_mib', MIB),
  node_memory_unevictable_bytes: times('mem_unevictable_mib', MIB),
  node_memory_pagetables_bytes: times('mem_pagetables_mib', MIB),
  node_memory_corrupted_bytes: times('mem_corrupted_kib', 1024),
  node_pressure_waiting_seconds_total: r => ({
    cpu: (r.psi_cpu_some_us as number) / 1e6,
    memory: (r.psi_mem_some_us as number) / 1e6,
    io: (r.psi_io_some_us as number) / 1e6,
  }),
  node_pressure_stalled_seconds_total: r => ({
    memory: (r.psi_mem_full_us as number) / 1e6,
    io: (r.psi_io_full_us as number) / 1e6,
    irq: (r.psi_irq_full_us as number) / 1e6,
  }),
  node_disk_read_bytes_total: ofDisks('disk_read_bytes'),
  node_disk_written_bytes_total: ofDisks('disk_write_bytes'),
  node_disk_reads_total: ofDisks('disk_reads'),
  node_disk_writes_total: ofDisks('disk_writes'),
  node_disk_busiest_ratio: times('disk_busiest_pm', 1e-3),
  node_network_receive_bytes_total: sumOfNet('rx_bytes'),
  node_network_transmit_bytes_total: sumOfNet('tx_bytes'),
  node_network_receive_packets_total: sumOfNet('rx_packets'),
  node_network_transmit_packets_total: sumOfNet('tx_packets'),
  node_network_errors_total: sumOfNet('errors'),
  node_network_drops_total: sumOfNet('drops'),
  node_fabric_receive_bytes_total: ofFabric('rx_bytes'),
  node_fabric_transmit_bytes_total: ofFabric('tx_bytes'),
  node_fabric_errors_total: ofFabric('errors'),
  node_gpus: () => 3,
  node_gpus_busy: () => 1,
  node_gpu_utilization_ratio: () => 0.745,
  node_gpu_memory_used_bytes: () => 1034 * MIB,
  node_gpu_memory_total_bytes: () => 3 * 81_920 * MIB,
  node_gpu_power_watts: () => 750,
  node_gpu_temperature_celsius: () => 70,
  node_gpu_errors_total: ofGpus('gpu_errors'),
  node_gpu_uncorrected_errors_total: ofGpus('gpu_ecc_ue'),
  node_power_watts: times('power_node_w'),
  node_cpu_power_watts: (_, rates) => (rates.energy_cpu_mj as number) / 1000,
  node_memory_power_watts: (_, rates) => (rates.energy_dram_mj as number) / 1000,
  node_inlet_temperature_celsius: times('temp_inlet_dc', 0.1),
  node_cpu_temperature_celsius: () => -67.1,
  node_root_total_bytes: times('root_total_mib', MIB),
  node_root_available_bytes: times('root_avail_mib', MIB),
  node_scratch_total_bytes: times('scratch_total_mib', MIB),
  node_scratch_available_bytes: times('scratch_avail_mib', MIB),
  node_filesystem_fullest_ratio: times('fs_fullest_pm', 1e-3),
  node_health: () => 2,
  node_held: () => 1,
  node_root_readonly: () => 0,
  node_oom_kills_total: times('oom_kills'),
  node_hung_tasks_total: times('hung_tasks'),
  node_memory_errors_corrected_total: times('edac_ce'),
  node_memory_errors_uncorrected_total: times('edac_ue'),
  node_throttle_events_total: times('throttle_events'),
  node_info: () => ({ '6.1.0-25-amd64 x86_64 1.2.3': 1 }),
  node_uptime_seconds: () => 1001,
  node_tasks_runnable: times('runnable'),
  node_tasks_blocked: times('blocked'),
  node_threads: times('threads'),
  node_files_open: times('files_open'),
  node_context_switches_total: times('ctxt'),
  node_interrupts_total: times('intr'),
  node_forks_total: times('forks'),
  node_major_faults_total: times('majfaults'),
  node_tcp_retransmitted_segments_total: times('tcp_retrans'),
  node_sender_cpu_ratio: (_, rates) => (rates.agent_cpu_ms as number) / 1000,
  interface_receive_bytes_total: perInterface(({ rx_bytes }) => rx_bytes),
  interface_transmit_bytes_total: perInterface(({ tx_bytes }) => tx_bytes),
  interface_receive_packets_total: perInterface(({ rx_packets }) => rx_packets),
  interface_transmit_packets_total: perInterface(({ tx_packets }) => tx_packets),
  interface_errors_total: perInterface(({ errors }) => errors),
  interface_drops_total: perInterface(({ drops }) => drops),
  interface_speed_bytes: perInterface(({ mbps }) => mbps && mbps * 125_000),
  interface_up: perInterface(({ state }) => (state as number) & 1),
  interface_carrier: perInterface(({ state }) => ((state as number) >> 1) & 1),
  gpu_utilization_ratio: perGpu(({ util_pct }) => util_pct && util_pct / 100),
  gpu_temperature_celsius: perGpu(({ temp_degc }) => temp_degc),
  gpu_power_watts: perGpu(({ power_w }) => power_w),
  gpu_memory_used_bytes: perGpu(({ mem_used_mib }) => mem_used_mib && mem_used_mib * MIB),
  gpu_memory_total_bytes: perGpu(({ mem_total_mib }) => mem_total_mib && mem_total_mib * MIB),
  gpu_throttled: ({ gpu = [], gpu_flags = [] }) =>
    Object.fromEntries(gpu.map((_, i) => [i, ((gpu_flags[i] as number) >> 3) & 1])),
};

const mean =
  (kind: (typeof KINDS)[number]): Tell =>
  report =>
    (report[`cpu_${kind}_ms`] as number) / 1000 / 64;

/** The same under node_exporter's names. */
const NODE_VALUES: Readonly<Record<string, Tell>> = {
  uname_info: () => ({ 'Linux n1 x86_64 6.1.0-25-amd64': 1 }),
  load1: times('load1_c', 0.01),
  load5: times('load5_c', 0.01),
  load15: times('load15_c', 0.01),
  cpu_seconds_total: (report, rates, node) =>
    Object.fromEntries(KINDS.map(kind => [`${kind} mean of 64`, mean(kind)(report, rates, node) as number])),
  memory_MemTotal_bytes: times('mem_total_mib', MIB),
  memory_MemAvailable_bytes: times('mem_avail_mib', MIB),
  memory_MemFree_bytes: times('mem_free_mib', MIB),
  memory_Buffers_bytes: times('mem_buffers_mib', MIB),
  memory_Cached_bytes: times('mem_cached_mib', MIB),
  memory_Shmem_bytes: times('mem_shmem_mib', MIB),
  memory_SReclaimable_bytes: times('mem_sreclaimable_mib', MIB),
  memory_SUnreclaim_bytes: times('mem_sunreclaim_mib', MIB),
  memory_Slab_bytes: r => ((r.mem_sreclaimable_mib as number) + (r.mem_sunreclaim_mib as number)) * MIB,
  memory_AnonPages_bytes: times('mem_anon_mib', MIB),
  memory_Committed_AS_bytes: times('mem_committed_mib', MIB),
  memory_CommitLimit_bytes: times('mem_commit_limit_mib', MIB),
  memory_Unevictable_bytes: times('mem_unevictable_mib', MIB),
  memory_PageTables_bytes: times('mem_pagetables_mib', MIB),
  memory_HardwareCorrupted_bytes: times('mem_corrupted_kib', 1024),
  memory_SwapTotal_bytes: times('swap_total_mib', MIB),
  memory_SwapFree_bytes: times('swap_free_mib', MIB),
  vmstat_pswpin: times('swapin_pages'),
  vmstat_pswpout: times('swapout_pages'),
  vmstat_pgmajfault: times('majfaults'),
  vmstat_oom_kill: times('oom_kills'),
  pressure_cpu_waiting_seconds_total: times('psi_cpu_some_us', 1e-6),
  pressure_memory_waiting_seconds_total: times('psi_mem_some_us', 1e-6),
  pressure_memory_stalled_seconds_total: times('psi_mem_full_us', 1e-6),
  pressure_io_waiting_seconds_total: times('psi_io_some_us', 1e-6),
  pressure_io_stalled_seconds_total: times('psi_io_full_us', 1e-6),
  pressure_irq_stalled_seconds_total: times('psi_irq_full_us', 1e-6),
  context_switches_total: times('ctxt'),
  intr_total: times('intr'),
  forks_total: times('forks'),
  procs_running: times('runnable'),
  procs_blocked: times('blocked'),
  processes_threads: times('threads'),
  filefd_allocated: times('files_open'),
  netstat_Tcp_RetransSegs: times('tcp_retrans'),
  time_seconds: () => Number((REAL - 2n * S) / 1_000_000n) / 1000 + 1.5,
  boot_time_seconds: () => Math.round(Number(REAL - 2n * S - 1001n * S) / 1e9),
  timex_offset_seconds: () => -0.001234,
  timex_maxerror_seconds: times('clock_maxerr_us', 1e-6),
  timex_sync_status: () => 0,
  network_receive_bytes_total: VALUES.interface_receive_bytes_total as Tell,
  network_transmit_bytes_total: VALUES.interface_transmit_bytes_total as Tell,
  network_receive_packets_total: VALUES.interface_receive_packets_total as Tell,
  network_transmit_packets_total: VALUES.interface_transmit_packets_total as Tell,
  network_speed_bytes: VALUES.interface_speed_bytes as Tell,
  network_carrier: VALUES.interface_carrier as Tell,
  disk_read_bytes_total: allDisks('disk_read_bytes'),
  disk_written_bytes_total: allDisks('disk_write_bytes'),
  disk_reads_completed_total: allDisks('disk_reads'),
  disk_writes_completed_total: allDisks('disk_writes'),
  disk_io_time_weighted_seconds_total: allDisks('disk_weighted_ms', 1e-3),
  disk_io_now: allDisks('disk_inflight'),
  filesystem_size_bytes: r => ({ 'root  /': (r.root_total_mib as number) * MIB }),
  filesystem_avail_bytes: r => ({ 'root  /': (r.root_avail_mib as number) * MIB }),
  filesystem_readonly: () => ({ 'root  /': 0 }),
};

function allDisks(name: keyof Report, factor = 1): Tell {
  return report => ({ [`all ${report.disks}`]: (report[name] as number) * factor });
}

/** Each family with its collector. */
const families = COLLECTORS.flatMap(collector => FAMILIES[collector].map(family => [collector, family] as const));

/** The families of readings, which exist for live nodes only. */
const READING = new Set(
  families.flatMap(([, { name, series }]) => (series.some(({ column }) => column.of === 'live') ? [name] : [])),
);

// ---- the tests -------------------------------------------------------------------------------------------------------

t.test('what all GPUs have together is not known where one of them does not tell', async t => {
  const gpu = [{ power_w: 300, mem_used_mib: 1024, mem_total_mib: 81_920, temp_degc: 2 }, { power_w: 65_535 }, {}];
  const document = metrics(new Exporter([boardOf(madeBoard([rich('n1', { gpu })])).board]));
  const of = (family: string) => toldOf(document, `beoboard_${family}`, 'n1');
  for (const sum of ['power_watts', 'memory_used_bytes', 'memory_total_bytes'])
    t.equal(of(`node_gpu_${sum}`), undefined);
  t.strictSame(of('gpu_power_watts'), { 0: 300, 2: 0 });
  t.strictSame(of('gpu_memory_used_bytes'), { 0: 1024 * MIB });
  t.equal(of('node_gpu_temperature_celsius'), 2, 'the hottest, and not their number');
});

t.test('every family of a node of which everything is known', async t => {
  const snapshot = madeBoard([rich('n1')]);
  const node = snapshot.node(0);
  const exporter = new Exporter([boardOf(snapshot).board]);
  for (const [prefix, document, values, label] of [
    ['beoboard_', metrics(exporter), VALUES, 'node'],
    ['node_', nodeMetrics(exporter), NODE_VALUES, 'instance'],
  ] as const) {
    const told = label === 'node' ? families.map(([, family]) => family) : NODE_FAMILIES;
    t.strictSame(told.map(({ name }) => name).sort(), Object.keys(values).sort(), `${prefix}: a row for each family`);
    for (const { name } of told) {
      const exposed = document.get(prefix + name);
      const expected = values[name]?.(node.report as Report, node.rates as Rates, node);
      if (typeof expected === 'object' && Object.keys(expected).length === 0) {
        t.equal(exposed, undefined, `${name}: no series`);
        continue;
      }
      const type = name.endsWith('_total') ? 'counter' : /^(vmstat|netstat)_/.test(name) ? 'untyped' : 'gauge';
      t.equal(exposed?.type, type, `${name}: its type`);
      t.match(exposed?.help, /^[A-Z15/].*\.$/, `${name}: a sentence`);
      const found = toldOf(document, prefix + name, 'n1', label);
      t.ok(close(found, expected), `${name}: ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
    }
  }
});

t.test('both formats say the same, and each label that there may be', async t => {
  const exporter = exporterOf(rich('n1'), { ...rich('n2'), age: 60 });
  const [text, open] = FORMATS.map(format => metrics(exporter, { format })) as [Exposition, Exposition];
  const own = (document: Exposition) =>
    [...seriesOf(document)].filter(([key]) => !/_exporter_|heartbeat/.test(key)).sort();
  t.strictSame(own(open), own(text));
  for (const [name, { type, help }] of text) {
    const there = open.get(type === 'counter' ? name.replace(/_total$/, '') : name);
    t.strictSame(
      [there?.type, there?.help],
      [type === 'untyped' ? 'unknown' : type, help.replaceAll('"', '\\"')],
      name,
    );
  }
  const labels = new Set([...text.values()].flatMap(({ series }) => series.flatMap(one => Object.keys(one.labels))));
  const known =
    'address problem arch agent_version cluster device devices gpu kind link mode node os_release other reason resource state version';
  t.strictSame([...labels].sort(), known.split(' ').sort());
  t.notMatch(
    JSON.stringify([...text]),
    /fedcba98|0x|127\.0\.0\.1/,
    'no boot id, and no address but of two machines that report as one',
  );
});

t.test('what is collected', async t => {
  const exporter = exporterOf(rich('n1'));
  const all = [...metrics(exporter).keys()];
  for (const collector of COLLECTORS) {
    const names = [...metrics(exporter, { collectors: [collector] }).keys()].filter(
      name => collector !== 'receiver' || !name.startsWith('beoboard_node_'),
    );
    // Nothing is unmeasured, and the node is unhealthy now.
    const own = FAMILIES[collector]
      .map(({ name }) => `beoboard_${name}`)
      .filter(name => !/unmeasured|recently/.test(name));
    if (collector !== 'receiver') t.strictSame(names, own, collector);
    t.ok(
      names.every(name => all.includes(name) || name === 'beoboard_exporter_scrape_seconds'),
      `${collector}: its share of all`,
    );
    t.ok(names.length > 0);
  }
  t.equal(new Set(all).size, all.length);
  const usual = metrics(exporter, { collectors: DEFAULT_COLLECTORS });
  t.notOk(
    usual.has('beoboard_node_info') || usual.has('beoboard_interface_up') || usual.has('beoboard_gpu_power_watts'),
  );
});

t.test('what was not measured is left out, and nothing else', async t => {
  const sets = Object.keys(bits.valid) as (keyof typeof bits.valid)[];
  const whole = metrics(exporterOf(rich('n1')));
  const names = (document: Exposition) => [...seriesOf(document).keys()].filter(key => key.includes('node="n1"'));
  const all = names(whole);
  const lost = new Map<string, string>();
  for (const set of sets) {
    const report = { valid: EVERYTHING & ~validOf(set) };
    const without = metrics(exporterOf({ ...rich('n1', report), before: { ...EARLIER, ...report } }));
    const left = new Set(names(without));
    const gone = all.filter(key => !left.has(key));
    for (const key of gone) {
      t.notOk(lost.has(key), `${key}: is of one set`);
      lost.set(key, set);
    }
    const more = [...left].filter(key => !all.includes(key));
    // These have other labels now: the release of a kernel that was not read, and problems that have gone.
    t.strictSame(
      more.filter(key => !/node_info|devices=/.test(key)),
      [],
      `${set}: nothing new`,
    );
  }
  const none = metrics(exporterOf({ ...rich('n1', { valid: 0n }), before: { ...EARLIER, valid: 0n } }));
  const always = [...none.keys()].filter(name => READING.has(name.replace('beoboard_', '')));
  t.strictSame(
    always.sort(),
    [
      'beoboard_node_clock_skew_seconds',
      'beoboard_node_held',
      'beoboard_node_info',
      'beoboard_node_root_readonly',
      'beoboard_node_uptime_seconds',
    ].sort(),
    'what every report has',
  );
  t.doesNotThrow(() => nodeMetrics(exporterOf(rich('n1', { valid: 0n }))));
});

t.test('readings are of live nodes alone, state, age and counts of all', async t => {
  const nodes: [state: string, node: MadeNode][] = [
    ['live', rich('live')],
    ['uncertain', { ...rich('uncertain', { interval_ms: 1000 }), age: 7 }],
    ['silent', { ...rich('silent', { interval_ms: 1000 }), age: 60 }],
    ['left', { ...rich('left', { flags: 1 << bits.flags.goodbye }), age: 2, goodbye: true }],
    ['never', { name: 'never' }],
  ];
  const document = metrics(exporterOf(...nodes.map(([, node]) => node)));
  for (const [state] of nodes) {
    const states = toldOf(document, 'beoboard_node_state', state);
    t.strictSame(states, Object.fromEntries(STATES.map(one => [one, one === state ? 1 : 0])), state);
    const readings = [...document].filter(
      ([name, { series }]) =>
        READING.has(name.replace('beoboard_', '')) && series.some(({ labels }) => labels.node === state),
    );
    t.equal(readings.length > 0, state === 'live', `${state}: readings`);
    t.equal(
      toldOf(document, 'beoboard_node_report_age_seconds', state) === undefined,
      state === 'never',
      `${state}: age`,
    );
    t.equal(toldOf(document, 'beoboard_node_reports_total', state), state === 'never' ? 1000 : 900, `${state}: counts`);
    t.equal(
      toldOf(document, 'beoboard_node_unhealthy', state) === undefined,
      state !== 'live' && state !== 'uncertain',
      `${state}: its problems`,
    );
  }
  t.strictSame(
    Object.fromEntries(
      (document.get('beoboard_nodes')?.series ?? []).map(({ labels, value }) => [labels.state, value]),
    ),
    Object.fromEntries(STATES.map(state => [state, state === 'unknown' ? 0 : 1])),
  );
  const instances = new Set(
    [...nodeMetrics(exporterOf(...nodes.map(([, node]) => node))).values()].flatMap(({ series }) =>
      series.map(({ labels }) => labels.instance),
    ),
  );
  t.strictSame([...instances], ['live'], 'under the names of node_exporter there is no other');
});

t.test('a receiver that is stalled', async t => {
  const board = madeBoard([rich('n1'), { name: 'never' }], { heartbeat: 600, listened: 30_000 });
  const document = metrics(new Exporter([boardOf(board).board]));
  for (const name of ['n1', 'never']) {
    t.strictSame(
      toldOf(document, 'beoboard_node_state', name),
      Object.fromEntries(STATES.map(state => [state, state === 'unknown' ? 1 : 0])),
    );
    for (const [family, { series }] of document) {
      const is = series.some(({ labels }) => labels.node === name);
      t.equal(is && !/_total$|node_state|refusal/.test(family), false, `${family}: nothing of ${name}`);
    }
  }
  t.equal(toldOf(document, 'beoboard_node_reports_total', 'n1'), 900, 'what was counted stays');
  const own = seriesOf(document);
  t.equal(own.get('beoboard_board_stalled{cluster="alpha"}'), 1);
  t.equal(own.get('beoboard_board_up{cluster="alpha"}'), 1);
  t.equal(own.get('beoboard_nodes{cluster="alpha",state="unknown"}'), 2);
  t.equal(own.get('beoboard_receiver_heartbeat_age_seconds{cluster="alpha"}'), 600);
  t.equal(nodeMetrics(new Exporter([boardOf(board).board])).size, 0, 'no readings');
});

t.test('boards, receivers and links', async t => {
  const made: MadeBoard = {
    header: {
      capacity: 2048,
      instance: 3,
      started_real_ns: REAL - 100n * S,
      receive_buffer: 4096,
      received: 5000,
      accepted: 4000,
      duplicate: 10,
      kernel_drops: 1,
      unfit_drops: 2,
      softnet_drops: 3,
      overflows: 4,
      refused: enums.reason.map((_, i) => i * 10),
    },
    state: ['filtering'],
    heartbeat: 0.25,
    listened: 1000,
    links: {
      1: { missed: 9 },
      2: { name: 'ib"0\\', state: [], downs: 2, dark: { since: 30, nodes: 12 }, heartbeat: 60, nodes: 40 },
      31: {},
    },
  };
  const nodes = [rich('n1'), { ...rich('n2'), age: 60, link: 2 }];
  const series = seriesOf(metrics(new Exporter([boardOf(madeBoard(nodes, made)).board])));
  const value = (name: string, labels: Record<string, string> = {}) =>
    series.get(keyOf({ name: `beoboard_${name}`, labels: { cluster: 'alpha', ...labels } }));
  const expected: [name: string, number, labels?: Record<string, string>][] = [
    ['board_up', 1],
    ['board_stalled', 0],
    ['board_capacity', 2048],
    ['board_uncertain_after_seconds', 4.5],
    ['board_silent_after_seconds', 10.5],
    ['receiver_heartbeat_age_seconds', 0.25],
    ['receiver_listened_seconds', 1000],
    ['receiver_start_time_seconds', Number(REAL / S) - 100],
    ['receiver_starts_total', 3],
    ['receiver_buffer_bytes', 4096],
    ['receiver_filtering', 1],
    ['receiver_datagrams_total', 5000],
    ['receiver_reports_total', 4000],
    ['receiver_duplicates_total', 10],
    ['receiver_overflows_total', 4],
    ['receiver_dropped_total', 1, { kind: 'overflow' }],
    ['receiver_dropped_total', 2, { kind: 'unfit' }],
    ['receiver_dropped_total', 3, { kind: 'softnet' }],
    ...enums.reason.flatMap((reason, i): [string, number, Record<string, string>][] =>
      i === 0 ? [] : [['receiver_refused_total', 10 * i, { reason }]],
    ),
    ['link_up', 1, { link: 'eth0' }],
    ['link_missed_packets_total', 9, { link: 'eth0' }],
    ['link_reports_total', 1000, { link: 'eth0' }],
    ['link_dark', 0, { link: 'eth0' }],
    ['link_heartbeat_age_seconds', 0.25, { link: 'eth0' }],
    ['link_up', 0, { link: 'ib"0\\' }],
    ['link_dark', 1, { link: 'ib"0\\' }],
    ['link_nodes', 40, { link: 'ib"0\\' }],
    ['link_dark_nodes', 12, { link: 'ib"0\\' }],
    ['link_downs_total', 2, { link: 'ib"0\\' }],
    ['link_heartbeat_age_seconds', 60, { link: 'ib"0\\' }],
    ['node_dark', 0, { node: 'n1' }],
    ['node_dark', 1, { node: 'n2' }],
  ];
  for (const [name, number, labels] of expected)
    t.equal(value(name, labels), number, `${name} ${JSON.stringify(labels ?? '')}`);
  t.notOk(
    [...series.keys()].some(key => key.includes('other interfaces')),
    'by which nothing came',
  );
});

t.test('CPU times never go back in a boot, and begin anew with another', async t => {
  const made = (user: number, more: Encodable<'report'> = {}) =>
    madeBoard([rich('n1', { cpu_user_ms: user, cpu_idle_ms: 2e9 - user, ...more })]);
  const { board, reader } = boardOf(made(5_000_000));
  const exporter = new Exporter([board]);
  const told = () => {
    const [ours, theirs] = [
      toldOf(metrics(exporter), 'beoboard_node_cpu_seconds_total', 'n1'),
      toldOf(nodeMetrics(exporter), 'node_cpu_seconds_total', 'n1', 'instance'),
    ];
    return [(ours as Record<string, number>).user, theirs as Record<string, number>] as const;
  };
  t.equal(told()[0], 5000);
  reader.snapshot = made(4_999_000);
  t.strictSame([told()[0], told()[1]['user mean of 64']], [5000, 78.125], 'what it was');
  reader.snapshot = made(5_064_000);
  t.strictSame([told()[0], told()[1]['user mean of 64']], [5064, 79.125]);
  reader.snapshot = made(5_000_000);
  t.strictSame([told()[0], told()[1]['user mean of 64']], [5064, 79.125]);
  reader.snapshot = made(5_064_000, { cpus_present: 32 });
  t.strictSame(told()[1]['user mean of 32'], 158.25, 'of another number of CPUs it is another series');
  t.equal(told()[1]['user mean of 64'], undefined);
  // Nodes are recognized by name when another board replaces this one and gives them other numbers.
  reader.snapshot = madeBoard([rich('n0', { cpu_user_ms: 1000 }), rich('n1', { cpu_user_ms: 5_000_000 })]);
  reader.opened++;
  t.equal(told()[0], 5064, 'on another board');
  t.strictSame((toldOf(metrics(exporter), 'beoboard_node_cpu_seconds_total', 'n0') as Record<string, number>).user, 1);
  reader.snapshot = made(1000, { boot_id: 8n });
  reader.opened++;
  t.equal(told()[0], 1, 'another boot');
  reader.snapshot = made(2000, { boot_id: 0n });
  t.equal(told()[0], 2, 'one whose id the node could not read');
  reader.snapshot = made(1000, { boot_id: 0n });
  t.equal(told()[0], 1, 'which may be another one each time');
});

t.test('the boot time of a node does not change when its clock is adjusted', async t => {
  const made = (skew: bigint, more: Encodable<'report'> = {}) =>
    madeBoard([rich('n1', { t_real_ns: REAL - 2n * S + skew, ...more })]);
  for (const boot_id of [7n, 0n, 1n << 60n]) {
    const { board, reader } = boardOf(made(0n, { boot_id }));
    const exporter = new Exporter([board]);
    const told = () => toldOf(nodeMetrics(exporter), 'node_boot_time_seconds', 'n1', 'instance');
    const first = told();
    t.equal(first, Math.round(Number(REAL - 1003n * S) / 1e9));
    reader.snapshot = made(700_000_000n, { boot_id });
    if (boot_id === 7n) t.equal(told(), first);
    else t.equal(told(), (first as number) + 1, 'nothing can be kept of a boot without an id');
  }
});

t.test('a counter beyond 2^53 is told to 16 digits, as Prometheus keeps it', async t => {
  const exporter = exporterOf(rich('n1', { ctxt: 2n ** 60n + 1n, net: [{ name: 'eth0', rx_bytes: 2n ** 64n - 1n }] }));
  t.equal(toldOf(nodeMetrics(exporter), 'node_context_switches_total', 'n1', 'instance'), 2 ** 60);
  t.strictSame(toldOf(metrics(exporter), 'beoboard_interface_receive_bytes_total', 'n1'), { eth0: 2 ** 64 });
});

t.test('a number that is not known has no series', async t => {
  const cases: [what: string, Encodable<'report'>, gone: RegExp][] = [
    ['no CPU is known to be there', { valid: EVERYTHING & ~validOf('cpus') }, /^node_cpu_seconds/],
    ['no CPU is there', { cpus_present: 0 }, /^node_cpu_seconds/],
    ['no interface', { net: [], net_rest: {} }, /network/],
  ];
  for (const [what, more, gone] of cases) {
    const exporter = exporterOf(rich('n1', more));
    for (const document of [metrics(exporter), nodeMetrics(exporter)])
      for (const [name, { series }] of document) {
        t.ok(
          series.every(({ value }) => Number.isFinite(value)),
          `${what}: ${name} is a number`,
        );
        if (gone.test(name))
          t.notOk(
            series.some(({ labels }) => labels.instance !== undefined),
            `${what}: no ${name}`,
          );
      }
  }
});

t.test('devices that come and go are other series', async t => {
  const before = metrics(exporterOf(rich('n1', { disks: 3 })));
  t.strictSame(Object.keys(toldOf(before, 'beoboard_node_disk_reads_total', 'n1') ?? {}), ['3']);
  const { board, reader } = boardOf(madeBoard([rich('n1'), rich('n2', { disks: 2, net_rest: {}, gpu_count: 2 })]));
  const document = metrics(new Exporter([board]));
  t.strictSame(Object.keys(toldOf(document, 'beoboard_node_disk_reads_total', 'n2') ?? {}), ['2']);
  t.strictSame(Object.keys(toldOf(document, 'beoboard_node_network_drops_total', 'n2') ?? {}), ['2']);
  t.strictSame(
    Object.keys(toldOf(document, 'beoboard_node_gpu_errors_total', 'n2') ?? {}),
    ['2'],
    'a GPU that is lost takes its errors with it',
  );
  t.ok(reader);
});

t.test('traffic of other interfaces, and as many, adds nothing', async t => {
  const made = (names: readonly string[], bytes: number, rest = 3) => {
    const net = names.map(name => ({ name, rx_bytes: bytes, state: 3 }));
    return madeBoard([rich('n1', { net, net_rest: { name: 'rest', rx_bytes: 1000, state: rest << 16 } })]);
  };
  const { board, reader } = boardOf(made(['eth0', 'eth1'], 100));
  const exporter = new Exporter([board]);
  const rows: [what: string, names: string[], bytes: number, exported: number, rest?: number][] = [
    ['they grow', ['eth0', 'eth1'], 101, 1202],
    ['one is replaced by another', ['eth0', 'eth9'], 4e13, 1202],
    ['which grows', ['eth0', 'eth9'], 4e13 + 8, 1218],
    ['two have one more letter', ['eth00', 'eth9'], 5e13, 1218],
    ['one of the rest is another entry', ['eth00', 'eth9', 'eth1'], 5e13, 1218, 2],
  ];
  for (const [what, names, bytes, exported, rest] of rows) {
    reader.snapshot = made(names, bytes, rest);
    const told = toldOf(metrics(exporter), 'beoboard_node_network_receive_bytes_total', 'n1');
    t.strictSame(told, { 5: exported }, what);
  }
});

t.test('names of hostile bytes', async t => {
  const HOSTILE: [what: string, bytes: Uint8Array][] = [
    ['a quote, a backslash, a newline', Buffer.from('a"b\\c\nd\\')],
    ['another line', Buffer.from('x"} 1\nbeoboard_x{y="')],
    ['no UTF-8', Buffer.from([0xff, 0xc3, 0x28, 0xe2, 0x82, 65, 0xf0])],
    ['control bytes', Buffer.from([1, 13, 27, 127, 9, 65])],
    ['no NUL anywhere', Buffer.alloc(64, 0xff)],
    ['quotes alone', Buffer.alloc(64, 0x22)],
    ['nothing', Buffer.alloc(0)],
    ['a byte order mark', Buffer.from('\ufeffx')],
    ['two that are one as text', Buffer.from([0xfe])],
  ];
  const nodes = HOSTILE.map((_, i) => rich(`n${i}`));
  const board = madeBoard(nodes);
  const bytes = new Uint8Array(board.view.buffer);
  const put = (at: number, room: number, text: Uint8Array) => {
    bytes.fill(0, at, at + room);
    bytes.set(text.subarray(0, room), at);
  };
  const { os_release, net, hostname } = structs.report.fields;
  for (const [i, [, text]] of HOSTILE.entries()) {
    const at = board.node(i).reportAt as number;
    put(at + os_release.offset, os_release.count, text);
    put(at + hostname.offset, hostname.count, text);
    // Two interfaces with the same name, and a third whose name is different bytes but decodes to the same text.
    put(at + net.offset, 16, text);
    put(at + net.offset + structs.net_if.bytes, 16, text);
    put(at + net.offset + 2 * structs.net_if.bytes, 16, Buffer.from([0xff, 0]));
  }
  const { name } = structs.record.fields;
  // A receiver rejects such names, so this stands for a board from another program.
  for (const [i, [, text]] of HOSTILE.entries())
    put(board.node(i).offset, name.count, Buffer.concat([Buffer.from(`${i}`), text]));
  const exporter = new Exporter([boardOf(board, 'a"b\\c').board]);
  for (const format of FORMATS) {
    const document = metrics(exporter, { format });
    const releases = (document.get('beoboard_node_info')?.series ?? []).map(({ labels }) => labels);
    t.equal(releases.length, HOSTILE.length);
    t.equal(releases[0]?.os_release, 'a"b\\c\nd\\');
    t.equal(releases[0]?.node, '0a"b\\c\nd\\');
    t.equal(releases[0]?.cluster, 'a"b\\c');
    t.equal(releases[2]?.os_release?.includes('\ufffd'), true);
    for (const { labels, value } of document.get('beoboard_interface_speed_bytes')?.series ?? [])
      t.ok(value > 0, `${labels.device}`);
    t.doesNotThrow(() => nodeMetrics(exporter, format));
  }
});

t.test('interfaces with one name: the first is told', async t => {
  const net = [{ ...INTERFACES[0] }, { ...INTERFACES[1], name: 'eth0' }];
  const document = metrics(exporterOf(rich('n1', { net })));
  t.strictSame(toldOf(document, 'beoboard_interface_receive_bytes_total', 'n1'), { eth0: 1e12 });
  t.strictSame(
    toldOf(document, 'beoboard_node_network_receive_bytes_total', 'n1'),
    { 5: 3e12 + 1 },
    'the sum is of both',
  );
});

t.test('several boards, one of them absent', async t => {
  const [alpha, beta] = [
    boardOf(madeBoard([rich('n1'), { name: 'never' }]), 'a'),
    boardOf(madeBoard([rich('n1', { load1_c: 700 })]), 'b'),
  ];
  const exporter = new Exporter([alpha.board, boardOf(undefined, 'gone').board, beta.board]);
  const series = seriesOf(metrics(exporter));
  t.strictSame(
    ['a', 'b', 'gone'].map(cluster => series.get(`beoboard_board_up{cluster="${cluster}"}`)),
    [1, 1, 0],
  );
  t.equal(series.get('beoboard_node_load1{cluster="b",node="n1"}'), 7);
  t.not(series.get('beoboard_node_load1{cluster="a",node="n1"}'), 7);
  t.strictSame(
    [...series.keys()].filter(key => key.includes('"gone"')),
    ['beoboard_board_up{cluster="gone"}'],
    'nothing else of it',
  );
  alpha.reader.snapshot = undefined;
  beta.reader.snapshot = undefined;
  const none = metrics(exporter);
  t.equal(
    none.get('beoboard_board_up')?.series.every(({ value }) => value === 0),
    true,
  );
  t.notOk([...none.keys()].some(name => name.startsWith('beoboard_node')));
  t.equal(nodeMetrics(exporter, 'openmetrics').size, 0, 'an empty document, and its end');
});

t.test(
  'nodes that differ from the others of their job, without the job; and when nothing is known of them',
  async t => {
    const dir = folder(t);
    const mark = {
      job: '4711',
      node: 'n2',
      reading: 'mhz',
      value: 1200,
      peers: 7,
      median: 2900,
      lowest: 2900,
      highest: 2900,
    };
    const leave = (odd: Partial<OddJobs>, ageMs = 0) => {
      const mono_ms = monotonicMs() - ageMs;
      const who = { scheduler: 'Slurm', daemon: 'slurmd', cluster: 'c', version: '24', user: 'root', names: {} };
      const answer = { mono_ms, list: [] };
      const times = { pid: 1, mono_ms, next_ms: mono_ms + 60_000, time_ms: Date.now() };
      const whole: SchedulerState = { schema: SCHEMA, ...who, ...times, nodes: answer, jobs: answer, differences: [] };
      writeFileSync(join(dir, 'state'), stateText({ ...whole, odd: { marks: [], unjudged: {}, ...odd } }));
    };
    const [alpha, beta] = [boardOf(madeBoard([rich('n1'), rich('n2')])), boardOf(madeBoard([rich('n3')]), 'b')];
    const slurm = new SchedulerFamilies(dir);
    const of = async (boards: readonly ScrapedBoard[], selection = EVERYBODY) => {
      await slurm.look();
      const document = metrics(new Exporter(boards, slurm), { selection });
      t.notMatch(JSON.stringify([...document]), /"4711\\?"/);
      return [document.get('beoboard_odd_judged'), document.get('beoboard_node_odd')].map(family =>
        family?.series.map(({ labels, value }) => [labels, value]),
      );
    };
    const [yes, no] = [[[{}, 1]], [[{}, 0]]];
    const n2 = { node: 'n2', reading: 'mhz' };
    t.strictSame(await of([alpha.board]), [no, undefined], 'no file');
    leave({});
    t.strictSame(await of([alpha.board]), [yes, undefined], 'none is marked');
    const marks = [mark, { ...mark, node: 'x"9' }, { ...mark, reading: 'newer"' }, { ...mark, job: '5' }];
    leave({ marks: marks.map(one => ({ ...one, since_ms: 1 })) });
    const { cluster } = alpha.board;
    t.type(cluster, 'string');
    t.strictSame(
      await of([alpha.board]),
      [yes, [[{ cluster, ...n2 }, 1]]],
      'once, and none that this board does not have',
    );
    t.strictSame(await of([alpha.board, beta.board]), [yes, [[{ cluster, ...n2 }, 1]]], 'of the board that has it');
    t.strictSame(
      await of([alpha.board], { ...EVERYBODY, names: new Set(['n1']) }),
      [yes, undefined],
      'others are asked for',
    );
    const twin = boardOf(madeBoard([rich('n2')]), 'twin');
    t.strictSame(await of([alpha.board, twin.board]), [yes, [[n2, 1]]], 'nobody knows which of two is meant');
    t.strictSame(
      await of([boardOf(madeBoard([rich('n2')], { heartbeat: 600 })).board]),
      [no, undefined],
      'a stalled board',
    );
    leave({ marks: [{ ...mark, since_ms: 1 }], unjudged_all: 'jobs are hidden' });
    t.strictSame(await of([alpha.board]), [no, undefined], 'hidden jobs');
    leave({ marks: [{ ...mark, since_ms: 1 }] }, 600_000);
    t.strictSame(await of([alpha.board]), [no, undefined], 'an old file');
  },
);

t.test('a board without a name has no label of it', async t => {
  const document = metrics(new Exporter([boardOf(madeBoard([rich('n1')], { header: { cluster_name: '' } })).board]));
  for (const { series } of document.values())
    for (const { labels } of series) if ('cluster' in labels) t.fail(JSON.stringify(labels));
  t.strictSame(document.get('beoboard_node_load1')?.series[0]?.labels, { node: 'n1' });
});

t.test('a board that changes its name, and nodes that come', async t => {
  const { board, reader } = boardOf(madeBoard([rich('n1')]));
  const exporter = new Exporter([board]);
  metrics(exporter);
  reader.snapshot = madeBoard([rich('n1'), rich('n2')], { header: { cluster_name: 'beta' } });
  const series = metrics(exporter)
    .get('beoboard_node_load1')
    ?.series.map(({ labels }) => labels);
  t.strictSame(series, [
    { cluster: 'beta', node: 'n1' },
    { cluster: 'beta', node: 'n2' },
  ]);
});

t.test('the nodes that are asked for', async t => {
  const exporter = exporterOf(rich('n1'), rich('n2'), { name: 'n3' });
  const names = (wanted: string[]) => {
    const document = metrics(exporter, { selection: { ...EVERYBODY, names: new Set(wanted) } });
    t.ok(document.has('beoboard_receiver_reports_total'));
    return (document.get('beoboard_node_reports_total')?.series ?? []).map(({ labels }) => labels.node);
  };
  t.strictSame(names(['n2', 'n3', 'nowhere']), ['n2', 'n3']);
  t.strictSame(names([]), []);
});

t.test('shards are the whole, and each series is in one of them', async t => {
  const exporter = exporterOf(...tenThousand().slice(0, 200));
  const own = (document: Exposition) => [...seriesOf(document)].filter(([key]) => !key.includes('_exporter_'));
  const collectors = ['state', 'cpu', 'network', 'receiver'] as const;
  const whole = new Map(own(metrics(exporter, { collectors })));
  for (const shards of [1, 2, 3, 7, 16]) {
    const union = new Map<string, number>();
    let count = 0;
    for (let shard = 1; shard <= shards; shard++) {
      const part = metrics(exporter, { collectors, selection: { shard, shards } });
      t.equal(
        part.has('beoboard_board_up') && part.has('beoboard_build_info') && part.has('beoboard_link_up'),
        shard === 1,
        `${shard} of ${shards}: the receiver's`,
      );
      const nodes = part.get('beoboard_node_dark')?.series.length ?? 0;
      t.ok(nodes > 50 / shards && nodes < 400 / shards, `${shard} of ${shards}: ${nodes} nodes`);
      const told = own(part);
      for (const [key, value] of told) union.set(key, value);
      count += told.length;
    }
    t.equal(count, union.size, `${shards}: none twice`);
    t.ok(
      union.size === whole.size && [...whole].every(([key, value]) => union.get(key) === value),
      `${shards}: the whole`,
    );
  }
});

t.test('a document that needs several buffers loses no node', async t => {
  const nodes = Array.from({ length: 1000 }, (_, i) =>
    rich(`a-name-that-is-as-long-as-a-name-of-a-node-can-be-${String(i).padStart(12, '0')}`, { load1_c: i }),
  );
  const document = metrics(exporterOf(...nodes), { collectors: ['cpu', 'system'] });
  t.strictSame(
    document.get('beoboard_node_load1')?.series.map(({ value }) => Math.round(100 * value)),
    nodes.map((_, i) => i),
  );
  t.equal(document.get('beoboard_node_info')?.series.length, 1000);
});

t.test('two documents that are made at the same time', async t => {
  const exporter = new Exporter([boardOf(madeBoard(tenThousand().slice(0, 200))).board]);
  const ask = (format: Format) => exporter.metrics({ collectors: COLLECTORS, selection: EVERYBODY }, format);
  const alone = bytesOf(ask('text')).length;
  const [a, b] = [ask('text'), ask('openmetrics')];
  const [first, second]: [Buffer[], Buffer[]] = [[], []];
  for (let left = 2; left > 0; ) {
    left = 0;
    for (const [document, pieces] of [
      [a, first],
      [b, second],
    ] as const) {
      const { done, value } = document.next();
      if (done) continue;
      left++;
      // Copied late, as a client reads it: just before the next piece is requested.
      if (value !== undefined) pieces.push(Buffer.from(value));
    }
  }
  t.equal(parse(Buffer.concat(first), 'text').size, parse(Buffer.concat(second), 'openmetrics').size);
  t.ok(Math.abs(Buffer.concat(first).length - alone) < 200);
});

const rollOf = (...names: string[]) =>
  ({
    count: names.length,
    states: new Uint8Array(names.length),
    names: (indexes: readonly number[]) => indexes.map(i => names[i] as string),
  }) as never;

t.test('sums go on within a boot, and neither fall nor jump', async t => {
  const kept = { which: 2, how: 'sum' } as const;
  // biome-ignore format: a table
  const rows: [what: string, steps: [value: number, epoch: number, boot?: number][], exported: number[]][] = [
    ['it grows', [[100, 1], [103, 1], [103, 1]], [100, 103, 103]],
    ['another run, from less', [[100, 1], [40, 2], [45, 2]], [100, 100, 105]],
    ['another run, from more', [[100, 1], [400, 2], [405, 2]], [100, 100, 105]],
    ['it falls', [[100, 1], [40, 1], [45, 1]], [100, 100, 105]],
    ['another boot', [[100, 1], [7, 2, 9], [9, 2, 9]], [100, 7, 9]],
  ];
  for (const [what, steps, exported] of rows) {
    const names = new NodeNames('node').follow(1, rollOf('a'), 'x');
    const found = steps.map(([value, epoch, boot = 1]) => names.keep(0, kept, boot, value, epoch));
    t.strictSame(found, exported, what);
  }
});

t.test('names keep to their nodes when a board takes the place of another', async t => {
  let names = new NodeNames('node').follow(1, rollOf('a', 'b', 'c'), 'x');
  const kept = { which: 0, how: 'highest' } as const;
  for (const [i, value] of [10, 20, 30].entries()) t.equal(names.keep(i, kept, 1, value), value);
  t.equal(names.follow(1, rollOf('a', 'b', 'c', 'd'), 'x'), names, 'the same, and more');
  t.equal(names.keep(2, kept, 1, 1), 30);
  names = names.follow(2, rollOf('c', 'd'), 'x');
  t.strictSame(names.names, ['c', 'd']);
  t.strictSame([names.keep(0, kept, 1, 1), names.keep(1, kept, 1, 1)], [30, 1]);
  t.equal(
    Buffer.from(names.labels).toString('latin1', 0, names.starts[2]),
    'cluster="x",node="c"} cluster="x",node="d"} ',
  );
  t.end();
});
