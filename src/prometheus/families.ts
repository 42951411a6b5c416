// Metrics of nodes and their names: the families of /metrics. Refuses label texts that a node could choose freely, and series that would come and go without a reason.

import { getter } from '../layout/codec.js';
import { enums, structs } from '../layout/layout.gen.js';
import { CPU_KINDS, type Cursor } from '../readings/cursor.js';
import { bit, counted, devicesOf, entriesIn, field, type Measure, ofRecord, sumCounted } from '../readings/measures.js';
import { NUMBERED, STATES } from '../shm/liveness.js';
import { PROBLEMS, problemBit } from '../shm/problems.js';
import type { InterfaceCounter } from '../shm/rates.js';
import type { Snapshot } from '../shm/snapshot.js';
import {
  column,
  columnOf,
  counter,
  devices,
  each,
  gauge,
  isRepeated,
  keptSum,
  keptTally,
  known,
  nanoseconds,
  ofInterface,
  one,
  several,
} from './building.js';
import type { Label, MetricColumn, MetricFamily, Whose } from './family.js';
import { escaped } from './plan.js';

const { fields } = structs.report;

const ofState = (take: (snapshot: Snapshot, index: number) => number): Measure => ({
  ofRecord: true,
  take: ({ snapshot, index }) => take(snapshot as Snapshot, index),
});

/** When that was, by the clock of the master, s since 1970. */
const timeOf = ({ realNs }: Snapshot, agoMs: number | undefined) =>
  agoMs === undefined ? Number.NaN : Math.round(Number(realNs / 1_000_000n - BigInt(Math.round(agoMs))) / 1000);

// The links of one snapshot, read once.
let asked: Snapshot | undefined;
let dark: ReadonlySet<number> = new Set();

function isDark(snapshot: Snapshot, index: number): number {
  if (snapshot !== asked) {
    asked = snapshot;
    dark = new Set(snapshot.links.filter(({ darkSinceNs }) => darkSinceNs !== 0n).map(({ number }) => number));
  }
  return dark.size > 0 && dark.has(snapshot.linkOf(index)) ? 1 : 0;
}

/** Where the reports of two machines come from that report as that node; undefined: there are none. */
function addressesOf(snapshot: Snapshot, index: number): readonly string[] | undefined {
  // Nearly always there has never been one.
  return snapshot.header.clone_ns === 0n ? undefined : snapshot.cloneOf(index)?.addresses;
}

/** A series for each problem; `take` has its bit, too. */
function perProblem(
  name: string,
  help: string,
  of: Whose,
  take: (snapshot: Snapshot, index: number, problem: (typeof PROBLEMS)[number], mask: number) => number,
): MetricFamily {
  return several(`node_problem${name}`, help, 'problem', PROBLEMS, problem => {
    const mask = problemBit(problem);
    const ofNode = ofState((snapshot, index) => take(snapshot, index, problem, mask));
    return column(ofNode, of);
  });
}

const STATE: readonly MetricFamily[] = [
  several(
    'node_state',
    'How the node is: 1 for the state in which it is, 0 for the others. Unknown: the receiver is stalled, and nothing is known about nodes.',
    'state',
    STATES,
    state => {
      const number = NUMBERED.indexOf(state);
      const take = ({ overview }: Snapshot, index: number) => (overview.states[index] === number ? 1 : 0);
      return column(ofState(take), 'all');
    },
  ),
  gauge('node_report_age_seconds', 'age', {
    of: 'known',
    help: 'Time since the last report of the node reached the master.',
  }),
  one(
    'node_dark',
    "1 while the master's interface by which the node reported is dark: all of its nodes fell silent together, so that the network or the master is likelier at fault than they.",
    column(ofState(isDark), 'known'),
  ),
  gauge('node_unhealthy', 'unhealthy', { of: 'heard', help: '1 while the node reports a problem.' }),
  one(
    'node_recently_unhealthy',
    '1 while the node has no problem, but one that is not over by its quiet time; absent otherwise.',
    column(
      ofState((snapshot, index) =>
        snapshot.overview.problems[index] === 0 && snapshot.recentOf(index) !== 0 ? 1 : Number.NaN,
      ),
      'heard',
    ),
  ),
  perProblem(
    '',
    '1 for each problem that the node has; no series for others.',
    'heard',
    ({ overview }, index, _, mask) => (((overview.problems[index] as number) & mask) === 0 ? Number.NaN : 1),
  ),
  perProblem(
    '_last_seen_timestamp_seconds',
    'When the node last had the problem, by the clock of the master; no series for others.',
    'known',
    (snapshot, index, problem) => timeOf(snapshot, snapshot.memoryOf(index)?.episode(problem)?.seenMs),
  ),
  perProblem(
    '_unmeasured_since_timestamp_seconds',
    'Since when a problem that the node last had is not measured any more, by the clock of the master; no series for others.',
    'heard',
    (snapshot, index, problem, mask) => {
      const { unmeasured, unsettled } = snapshot.overview;
      // Before the limit, too: what shows it is to see no gap.
      const isLost = (((unmeasured[index] as number) | (unsettled[index] as number)) & mask) !== 0;
      return isLost ? timeOf(snapshot, snapshot.memoryOf(index)?.episode(problem)?.measuredMs) : Number.NaN;
    },
  ),
];

function recorded(name: string, help: string, ...counters: Parameters<typeof ofRecord>[0][]): MetricFamily {
  const [first, ...rest] = counters.map(ofRecord) as [Measure, ...Measure[]];
  const take = (cursor: Cursor) => rest.reduce((sum, more) => sum + more.take(cursor), first.take(cursor));
  return one(`${name}_total`, help, column({ ofRecord: true, take }, 'all'));
}

const { refusal_reason, refusal_real_ns } = structs.record.fields;
const reasonOf = ({ view, record }: Cursor) => view.getUint32(record + refusal_reason.offset, true);

/** When its last rejected report came, s since 1970. */
const refusedAt = (cursor: Cursor) =>
  reasonOf(cursor) === 0 ? Number.NaN : nanoseconds(cursor, cursor.record + refusal_real_ns.offset) / 1e9;

const REPORTS: readonly MetricFamily[] = [
  recorded('node_reports', 'Reports of the node that were accepted.', 'accepted'),
  recorded(
    'node_reports_missed',
    'Reports that had not come when a newer one did. Some come later (node_reports_late_total); the others are lost.',
    'lost',
    'late',
  ),
  recorded(
    'node_reports_gaps',
    'The same, and those that could not be heard because the receiver or the link was down. These are the difference.',
    'lost',
    'unheard',
    'late',
  ),
  recorded('node_reports_late', 'Reports that came after a newer one.', 'late'),
  recorded('node_reports_duplicate', 'Reports that had come before by another way.', 'duplicate'),
  recorded('node_reports_refused', 'Reports with the name of the node that were rejected.', 'refused'),
  recorded('node_sender_restarts', 'Starts of the sender of the node without a boot.', 'restarts'),
  recorded('node_reboots', 'Boots of the node.', 'reboots'),
  recorded('node_resets', 'Reports that were accepted only because nothing else was heard for long.', 'resets'),
  one(
    'node_last_refusal_timestamp_seconds',
    "When a report of the node was last rejected, by the master's clock, and why.",
    column({ ofRecord: true, take: refusedAt }, 'all', {
      digits: 3,
      label: cursor => `reason="${enums.reason[reasonOf(cursor)] ?? 'other'}",`,
    }),
  ),
  one(
    'node_cloned',
    '1 while two machines report as this node, and where their reports come from; absent otherwise.',
    column(
      ofState((snapshot, index) => (addressesOf(snapshot, index) === undefined ? Number.NaN : 1)),
      'known',
      {
        label: ({ snapshot, index }) => {
          const [address = '', other = address] = addressesOf(snapshot as Snapshot, index) ?? [];
          return `address="${address}",other="${other}",`;
        },
      },
    ),
  ),
  gauge('node_clock_skew_seconds', 'skew', {
    digits: 6,
    help: 'The clock of the node less the clock of the master: time on the way included, the time that collecting took left out.',
  }),
  gauge('node_report_interval_seconds', 'interval_ms', {
    of: 'known',
    help: 'From one report of the node to its next.',
  }),
  gauge('node_report_delay_seconds', 'late_us', { help: 'How late the last report was made: a starved node is late.' }),
];

/** The time of all CPUs in a mode. */
export const cpuTime = (kind: (typeof CPU_KINDS)[number], which: number): MetricColumn => ({
  ...columnOf(known(`cpu_${kind}_ms`), 'live'),
  kept: { which, how: 'highest' },
});

const CPU: readonly MetricFamily[] = [
  several('node_cpu_seconds_total', 'Time of all CPUs together, by what they did.', 'mode', CPU_KINDS, cpuTime),
  gauge('node_cpus_online', 'cpus_online'),
  gauge('node_cpus_present', 'cpus_present'),
  gauge('node_cpu_busy_ratio', 'cpu_busy_pm', { help: 'Share of CPU time since the report before that was in use.' }),
  gauge('node_load1', 'load1_c'),
  gauge('node_load5', 'load5_c'),
  gauge('node_load15', 'load15_c'),
];

const memory = (name: string, reading: string) => gauge(`node_memory_${name}_bytes`, reading);

const MEMORY: readonly MetricFamily[] = [
  memory('total', 'mem_total_mib'),
  memory('available', 'mem_avail_mib'),
  memory('free', 'mem_free_mib'),
  memory('cached', 'mem_cached_mib'),
  memory('anonymous', 'mem_anon_mib'),
  gauge('node_swap_total_bytes', 'swap_total_mib'),
  gauge('node_swap_free_bytes', 'swap_free_mib'),
  counter('node_swap_in_pages', 'swapin_pages'),
  counter('node_swap_out_pages', 'swapout_pages'),
];

const MEMINFO: readonly MetricFamily[] = [
  memory('buffers', 'mem_buffers_mib'),
  memory('shared', 'mem_shmem_mib'),
  memory('slab_reclaimable', 'mem_sreclaimable_mib'),
  memory('slab_unreclaimable', 'mem_sunreclaim_mib'),
  memory('dirty', 'mem_dirty_writeback_mib'),
  memory('committed', 'mem_committed_mib'),
  memory('commit_limit', 'mem_commit_limit_mib'),
  memory('huge_total', 'mem_huge_total_mib'),
  memory('huge_free', 'mem_huge_free_mib'),
  memory('unevictable', 'mem_unevictable_mib'),
  memory('pagetables', 'mem_pagetables_mib'),
  memory('corrupted', 'mem_corrupted_kib'),
];

function pressure(
  name: 'waiting' | 'stalled',
  who: string,
  amount: 'some' | 'full',
  ...resources: ('cpu' | 'memory' | 'io' | 'irq')[]
): MetricFamily {
  const help = `Time in which ${who} waited for the resource.`;
  return several(`node_pressure_${name}_seconds_total`, help, 'resource', resources, resource =>
    columnOf(known(`psi_${resource === 'memory' ? 'mem' : resource}_${amount}_us`), 'live'),
  );
}

const PRESSURE: readonly MetricFamily[] = [
  pressure('waiting', 'some task', 'some', 'cpu', 'memory', 'io'),
  pressure('stalled', 'all tasks at once', 'full', 'memory', 'io', 'irq'),
];

const ofDisks = { label: devices(field('disks')) };

const DISK: readonly MetricFamily[] = [
  counter('node_disk_read_bytes', 'disk_read_bytes', { ...ofDisks, ...keptSum('disk_read_bytes') }),
  counter('node_disk_written_bytes', 'disk_write_bytes', { ...ofDisks, ...keptSum('disk_write_bytes') }),
  counter('node_disk_reads', 'disk_reads', { ...ofDisks, ...keptSum('disk_reads') }),
  counter('node_disk_writes', 'disk_writes', { ...ofDisks, ...keptSum('disk_writes') }),
  gauge('node_disk_busiest_ratio', 'disk_busiest_pm', { help: 'Share of time in which the busiest disk was at work.' }),
];

/** The sums over all network interfaces. */
function traffic(name: string, help: string, counter: InterfaceCounter): MetricFamily {
  const more = { label: devices(devicesOf('net')), ...keptSum(`net.${counter}`, entriesIn) };
  return one(`node_network_${name}_total`, help, column(counted(counter), 'live', more));
}

/** The sums over all RDMA ports. */
function fabric(name: string, help: string, counter: 'rx_bytes' | 'tx_bytes' | 'errors'): MetricFamily {
  const more = { label: devices(devicesOf('fabric')), ...keptSum(`fabric.${counter}`) };
  return one(`node_fabric_${name}_total`, help, column(sumCounted('fabric', counter), 'live', more));
}

const NETWORK: readonly MetricFamily[] = [
  traffic('receive_bytes', 'Bytes received by all network interfaces.', 'rx_bytes'),
  traffic('transmit_bytes', 'Bytes sent by all network interfaces.', 'tx_bytes'),
  traffic('receive_packets', 'Packets received by all network interfaces.', 'rx_packets'),
  traffic('transmit_packets', 'Packets sent by all network interfaces.', 'tx_packets'),
  traffic('errors', 'Errors of all network interfaces, both directions.', 'errors'),
  traffic('drops', 'Packets dropped by all network interfaces, both directions.', 'drops'),
  fabric('receive_bytes', 'Bytes received by all RDMA ports.', 'rx_bytes'),
  fabric('transmit_bytes', 'Bytes sent by all RDMA ports.', 'tx_bytes'),
  fabric('errors', 'Errors of all RDMA ports.', 'errors'),
];

// If a GPU is lost, its errors are missing from the sum.
const ofGpus = { label: devices(field('gpu_count')) };

const GPU: readonly MetricFamily[] = [
  gauge('node_gpus', 'gpu_count'),
  gauge('node_gpus_busy', 'gpu_busy', { help: 'GPUs that are in use.' }),
  gauge('node_gpu_utilization_ratio', 'gpu_util', { digits: 4 }),
  gauge('node_gpu_memory_used_bytes', 'gpu_mem_used', { digits: 0 }),
  gauge('node_gpu_memory_total_bytes', 'gpu_mem_total', { digits: 0 }),
  gauge('node_gpu_power_watts', 'gpu_power'),
  gauge('node_gpu_temperature_celsius', 'gpu_temp'),
  counter('node_gpu_errors', 'gpu_errors', ofGpus),
  counter('node_gpu_uncorrected_errors', 'gpu_ecc_ue', ofGpus),
];

const POWER: readonly MetricFamily[] = [
  gauge('node_power_watts', 'power_node_w', { help: 'Power of the whole node.' }),
  // Energy is exported as power: a restarted sender begins its sums again, and a rate across that would be wrong.
  gauge('node_cpu_power_watts', 'rates.energy_cpu_mj', { help: 'Power of all CPU packages.' }),
  gauge('node_memory_power_watts', 'rates.energy_dram_mj', { help: 'Power of all memory.' }),
  gauge('node_inlet_temperature_celsius', 'temp_inlet_dc', { help: 'Temperature of the inlet air.' }),
  gauge('node_cpu_temperature_celsius', 'temp_hottest_dc', { help: 'Temperature of the hottest CPU sensor.' }),
];

const FILESYSTEM: readonly MetricFamily[] = [
  gauge('node_root_total_bytes', 'root_total_mib'),
  gauge('node_root_available_bytes', 'root_avail_mib', {
    help: 'Space left on the root file system for ordinary users.',
  }),
  gauge('node_scratch_total_bytes', 'scratch_total_mib', { help: 'Size of the local scratch.' }),
  gauge('node_scratch_available_bytes', 'scratch_avail_mib', {
    help: 'Space left on the local scratch for ordinary users.',
  }),
  gauge('node_filesystem_fullest_ratio', 'fs_fullest_pm'),
];

const flagged = (flag: 'held' | 'root_readonly', help: string) =>
  one(`node_${flag}`, help, column(bit('flags', flag), 'live'));

const HEALTH: readonly MetricFamily[] = [
  gauge('node_health', 'health', { help: 'What its own health check says: 0 unknown, 1 ok, 2 warning, 3 bad.' }),
  flagged('held', '1 while the node is put on hold by its administrator.'),
  flagged('root_readonly', '1 while the root file system of the node is read-only.'),
  counter('node_oom_kills', 'oom_kills'),
  counter('node_hung_tasks', 'hung_tasks'),
  counter('node_memory_errors_corrected', 'edac_ce', keptTally('edac_ce')),
  counter('node_memory_errors_uncorrected', 'edac_ue', {
    help: 'Memory errors that could not be corrected, since boot.',
    ...keptTally('edac_ue'),
  }),
  counter('node_throttle_events', 'throttle_events', keptTally('throttle_events')),
];

/** The kernel release of a report. */
export const releaseOf = getter('report', 'os_release');

/** The software of a node: labels of one series only, so that no other series carries them. */
const info: Label = ({ view, report }) => {
  const arch = enums.arch[view.getUint8(report + fields.arch.offset)] ?? 'other';
  const version = view.getUint32(report + fields.agent_version.offset, true);
  const parts = [version >>> 16, (version >>> 8) & 255, version & 255].join('.');
  return `os_release="${escaped(releaseOf(view, report))}",arch="${arch}",agent_version="${parts}",`;
};

const SYSTEM: readonly MetricFamily[] = [
  one(
    'node_info',
    'What runs on the node: the release of its kernel, its architecture, the version of its sender; always 1.',
    column({ take: () => 1 }, 'live', { label: info }),
  ),
  gauge('node_uptime_seconds', 'up', { help: 'Time since the node booted.' }),
  gauge('node_tasks_runnable', 'runnable'),
  gauge('node_tasks_blocked', 'blocked'),
  gauge('node_threads', 'threads'),
  gauge('node_files_open', 'files_open'),
  counter('node_context_switches', 'ctxt'),
  counter('node_interrupts', 'intr'),
  counter('node_forks', 'forks'),
  counter('node_major_faults', 'majfaults'),
  counter('node_tcp_retransmitted_segments', 'tcp_retrans'),
  gauge('node_sender_cpu_ratio', 'rates.agent_cpu_ms', {
    digits: 6,
    help: 'CPU time that the sender itself takes, of one CPU.',
  }),
];

const perInterface = (name: string, help: string, reading: string) =>
  each(`interface_${name}`, help, 'net', `net.${reading}`, ofInterface, isRepeated);

const INTERFACES: readonly MetricFamily[] = [
  perInterface('receive_bytes_total', 'Bytes received by the interface.', 'rx_bytes'),
  perInterface('transmit_bytes_total', 'Bytes sent by the interface.', 'tx_bytes'),
  perInterface('receive_packets_total', 'Packets received by the interface.', 'rx_packets'),
  perInterface('transmit_packets_total', 'Packets sent by the interface.', 'tx_packets'),
  perInterface('errors_total', 'Errors of the interface, both directions.', 'errors'),
  perInterface('drops_total', 'Packets dropped by the interface, both directions.', 'drops'),
  perInterface('speed_bytes', 'Speed of the link, bytes per second.', 'mbps'),
  perInterface('up', '1 while the interface is up.', 'up'),
  perInterface('carrier', '1 while the interface has a link.', 'carrier'),
];

const ofGpu = (entry: number) => ({ labels: `gpu="${entry}",` });
const perGpu = (name: string, help: string, reading: string) =>
  each(`gpu_${name}`, help, 'gpu', `gpu.${reading}`, ofGpu);

const GPUS: readonly MetricFamily[] = [
  perGpu('utilization_ratio', 'Share of time in which a kernel ran on the GPU.', 'util_pct'),
  perGpu('temperature_celsius', 'Temperature of the GPU.', 'temp_degc'),
  perGpu('power_watts', 'Power of the GPU.', 'power_w'),
  perGpu('memory_used_bytes', 'Memory of the GPU that is in use.', 'mem_used_mib'),
  perGpu('memory_total_bytes', 'Memory of the GPU.', 'mem_total_mib'),
  perGpu(
    'throttled',
    '1 while the GPU is slowed down by its temperature or its power supply; of AMD always 0: its driver does not report it.',
    'throttled',
  ),
];

/** The metrics of nodes, by the collectors that are used by default; `receiver` has none of them. */
const USUAL = {
  state: STATE,
  reports: REPORTS,
  cpu: CPU,
  memory: MEMORY,
  pressure: PRESSURE,
  disk: DISK,
  network: NETWORK,
  gpu: GPU,
  power: POWER,
  filesystem: FILESYSTEM,
  health: HEALTH,
  receiver: [],
};
/** By those that must be asked for: useful to some users, and with many series. */
const MORE = { system: SYSTEM, meminfo: MEMINFO, interfaces: INTERFACES, gpus: GPUS };
export type CollectorName = keyof typeof USUAL | keyof typeof MORE;
export const FAMILIES: Readonly<Record<CollectorName, readonly MetricFamily[]>> = { ...USUAL, ...MORE };
export const DEFAULT_COLLECTORS = Object.keys(USUAL) as CollectorName[];
export const COLLECTORS = Object.keys(FAMILIES) as CollectorName[];
