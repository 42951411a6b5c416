// Metrics under node_exporter's names, at /node-metrics: only values with the same meaning there, with its types and
// units. What the report has only in another form, as one sum for both directions, is left out.

import { getter } from '../layout/codec.js';
import { enums, structs } from '../layout/layout.gen.js';
import { CPU_KINDS, type Cursor } from '../readings/cursor.js';
import { bit, field, type Measure, setOf, taken } from '../readings/measures.js';
import {
  column,
  columnOf,
  devices,
  each,
  isRepeated,
  keptSum,
  known,
  nanoseconds,
  ofInterface,
  one,
  several,
} from './building.js';
import { cpuTime, releaseOf } from './families.js';
import type { Label, MetricFamily } from './family.js';
import { BOOT_TIME } from './names.js';
import { escaped } from './plan.js';

const { fields } = structs.report;

/** A reading under another name, in its base unit. */
function metric(name: string, help: string, reading: string, labels = ''): MetricFamily {
  return one(name, help, columnOf(known(reading), 'live'), labels);
}

const memory = (name: string, reading: string) =>
  metric(`memory_${name}_bytes`, `Memory information field ${name}_bytes.`, reading);
const pressure = (name: string, what: string, reading: string) =>
  metric(`pressure_${name}_seconds_total`, `Total time in seconds ${what}.`, reading);
const vmstat = (name: string, reading: string) =>
  metric(`vmstat_${name}`, `/proc/vmstat information field ${name}.`, reading);

/** The number of CPUs of the mean: another number makes another series, because the value jumps. */
const MEANS: string[] = [];
const cpusPresent = field('cpus_present');
const meanOf: Label = cursor => {
  const cpus = cpusPresent.take(cursor);
  MEANS[cpus] ??= `cpu="mean of ${cpus}",`;
  return MEANS[cpus];
};

/** The largest number of CPUs that a mean can have. */
const divisor: Measure = { take: cursor => taken(cpusPresent, cursor) };

const [reclaimable, unreclaimable] = [field('mem_sreclaimable_mib'), field('mem_sunreclaim_mib')];
const slab: Measure = {
  ...setOf('mem_sreclaimable_mib'),
  take: cursor => (reclaimable.take(cursor) + unreclaimable.take(cursor)) * 2 ** 20,
};

const timeAt = (cursor: Cursor, name: 't_real_ns' | 't_boot_ns') =>
  nanoseconds(cursor, cursor.report + fields[name].offset) / 1e9;

/** The clock of the node now, and not at its report. */
const timeNow: Measure = {
  take: cursor => {
    const { snapshot, index } = cursor;
    return timeAt(cursor, 't_real_ns') + (snapshot?.overview.ages[index] ?? Number.NaN) / 1000;
  },
};
const bootTime: Measure = { take: cursor => Math.round(timeAt(cursor, 't_real_ns') - timeAt(cursor, 't_boot_ns')) };

const isUnsynchronized = bit('flags', 'clock_unsync');
/** Known only if the kernel was asked about its clock. */
const isSynchronized: Measure = { ...setOf('clock_offset_us'), take: cursor => 1 - isUnsynchronized.take(cursor) };

const ALL_DISKS = 'device="all",';
const ofDisks = devices(field('disks'));

function disk(name: string, help: string, reading: string): MetricFamily {
  const kept = name.endsWith('_total') && keptSum(reading as Parameters<typeof keptSum>[0]);
  return one(`disk_${name}`, help, { ...columnOf(known(reading), 'live'), label: ofDisks, ...kept }, ALL_DISKS);
}

const isReadonly = bit('flags', 'root_readonly');
const ROOT = 'device="root",fstype="",mountpoint="/",';

function network(name: string, reading: string): MetricFamily {
  const help = `Network device statistic ${name.replace(/_total$/, '')}.`;
  return each(`network_${name}`, help, 'net', `net.${reading}`, ofInterface, isRepeated);
}

const nodeName = getter('report', 'hostname');

const uname: Label = ({ view, report }) => {
  const machine = enums.arch[view.getUint8(report + fields.arch.offset)] ?? 'other';
  const [name, release] = [nodeName(view, report), releaseOf(view, report)];
  return `sysname="Linux",nodename="${escaped(name)}",machine="${machine}",release="${escaped(release)}",`;
};

/** Under these names, after `node_`. */
export const NODE_FAMILIES: readonly MetricFamily[] = [
  one('uname_info', 'Labeled system information as provided by the uname system call.', {
    // Without the set `system` the release is empty.
    ...column({ take: () => 1 }, 'live'),
    label: uname,
  }),
  metric('load1', '1m load average.', 'load1_c'),
  metric('load5', '5m load average.', 'load5_c'),
  metric('load15', '15m load average.', 'load15_c'),
  several(
    'cpu_seconds_total',
    'Seconds the CPUs spent in each mode: the mean over all CPUs of the node.',
    'mode',
    CPU_KINDS,
    // By the CPUs that the machine has, because the online ones come and go.
    (kind, which) => ({ ...cpuTime(kind, which), per: divisor, digits: 6, label: meanOf }),
  ),
  memory('MemTotal', 'mem_total_mib'),
  memory('MemAvailable', 'mem_avail_mib'),
  memory('MemFree', 'mem_free_mib'),
  memory('Buffers', 'mem_buffers_mib'),
  memory('Cached', 'mem_cached_mib'),
  memory('Shmem', 'mem_shmem_mib'),
  memory('SReclaimable', 'mem_sreclaimable_mib'),
  memory('SUnreclaim', 'mem_sunreclaim_mib'),
  one('memory_Slab_bytes', 'Memory information field Slab_bytes.', column(slab, 'live')),
  memory('AnonPages', 'mem_anon_mib'),
  memory('Committed_AS', 'mem_committed_mib'),
  memory('CommitLimit', 'mem_commit_limit_mib'),
  memory('Unevictable', 'mem_unevictable_mib'),
  memory('PageTables', 'mem_pagetables_mib'),
  memory('HardwareCorrupted', 'mem_corrupted_kib'),
  memory('SwapTotal', 'swap_total_mib'),
  memory('SwapFree', 'swap_free_mib'),
  vmstat('pswpin', 'swapin_pages'),
  vmstat('pswpout', 'swapout_pages'),
  vmstat('pgmajfault', 'majfaults'),
  vmstat('oom_kill', 'oom_kills'),
  pressure('cpu_waiting', 'that processes have waited for CPU time', 'psi_cpu_some_us'),
  pressure('memory_waiting', 'that processes have waited for memory', 'psi_mem_some_us'),
  pressure('memory_stalled', 'no process could make progress due to memory congestion', 'psi_mem_full_us'),
  pressure('io_waiting', 'that processes have waited due to IO congestion', 'psi_io_some_us'),
  pressure('io_stalled', 'no process could make progress due to IO congestion', 'psi_io_full_us'),
  pressure('irq_stalled', 'no process could make progress due to IRQ congestion', 'psi_irq_full_us'),
  metric('context_switches_total', 'Total number of context switches.', 'ctxt'),
  metric('intr_total', 'Total number of interrupts serviced.', 'intr'),
  metric('forks_total', 'Total number of forks.', 'forks'),
  metric('procs_running', 'Number of processes in runnable state.', 'runnable'),
  metric('procs_blocked', 'Number of processes blocked waiting for I/O to complete.', 'blocked'),
  metric('processes_threads', 'Allocated threads in system.', 'threads'),
  metric('filefd_allocated', 'File descriptor statistics: allocated.', 'files_open'),
  metric('netstat_Tcp_RetransSegs', 'Statistic TcpRetransSegs.', 'tcp_retrans'),
  one('time_seconds', 'System time in seconds since epoch (1970).', column(timeNow, 'live', { digits: 3 })),
  one(
    'boot_time_seconds',
    'Node boot time, in unixtime.',
    column(bootTime, 'live', { kept: { which: BOOT_TIME, how: 'first' } }),
  ),
  metric('timex_offset_seconds', 'Time offset in between local system and reference clock.', 'clock_offset_us'),
  metric('timex_maxerror_seconds', 'Maximum error in seconds.', 'clock_maxerr_us'),
  one(
    'timex_sync_status',
    'Is clock synchronized to a reliable server (1 = yes, 0 = no).',
    column(isSynchronized, 'live'),
  ),
  network('receive_bytes_total', 'rx_bytes'),
  network('transmit_bytes_total', 'tx_bytes'),
  network('receive_packets_total', 'rx_packets'),
  network('transmit_packets_total', 'tx_packets'),
  network('speed_bytes', 'mbps'),
  network('carrier', 'carrier'),
  disk('read_bytes_total', 'The total number of bytes read successfully, of all disks.', 'disk_read_bytes'),
  disk('written_bytes_total', 'The total number of bytes written successfully, of all disks.', 'disk_write_bytes'),
  disk('reads_completed_total', 'The total number of reads completed successfully, of all disks.', 'disk_reads'),
  disk('writes_completed_total', 'The total number of writes completed successfully, of all disks.', 'disk_writes'),
  disk(
    'io_time_weighted_seconds_total',
    'The weighted # of seconds spent doing I/Os, of all disks.',
    'disk_weighted_ms',
  ),
  disk('io_now', 'The number of I/Os currently in progress, of all disks.', 'disk_inflight'),
  metric('filesystem_size_bytes', 'Filesystem size in bytes.', 'root_total_mib', ROOT),
  metric('filesystem_avail_bytes', 'Filesystem space available to non-root users in bytes.', 'root_avail_mib', ROOT),
  one(
    'filesystem_readonly',
    'Filesystem read-only status.',
    column({ ...setOf('root_total_mib'), take: isReadonly.take }, 'live'),
    ROOT,
  ),
];
