// Maps readings to Ganglia's metrics: all that a default gmond 3.7.2 sends on Linux, under its names, units and words,
// followed by ours in groups of their own. Invents nothing: if a reading is absent, its metric has no value.

import { enums, structs } from '../layout/layout.gen.js';
import { CPU_KINDS } from '../readings/cursor.js';
import { field, type Measure, map, setOf, share, times, wide } from '../readings/measures.js';
import { readingOf } from '../readings/readings.js';
import { factorTo, type Unit, unit } from '../readings/units.js';
import type { Page } from '../text/buffer.js';
import type { Host } from './host.js';
import { safeOn } from './safe.js';

type HostMeasure = Measure<Host>;

/** One METRIC of Ganglia; `slope` is zero for a value that changes only with a reboot. DMAX is 0 for all. */
export interface Metric {
  readonly name: string;
  readonly type: 'string' | 'uint16' | 'uint32' | 'float' | 'double';
  readonly units: string;
  readonly slope: 'zero' | 'both';
  readonly tmax: number;
  readonly group: string;
  readonly title: string;
  readonly description: string;
  readonly digits: number;
  readonly value: HostMeasure;
  /** Writes the value of a metric that is a text, if `value` says that it is known. */
  readonly put?: (host: Host, page: Page) => void;
}

type Common = Pick<Metric, 'type' | 'units' | 'slope' | 'tmax' | 'digits'>;
/** What differs between metrics. The value is that of the reading of this name, or one that only Ganglia has. */
type MetricRow = Partial<Common & Pick<Metric, 'title' | 'description' | 'put'>> &
  ({ reading: string } | { value: HostMeasure });

/** Ganglia's units where the reading has another one. */
const UNITS: Readonly<Record<string, Unit>> = {
  '%': unit('share', 0.01, '%'),
  KB: unit('size', 1024, 'KB'),
  GB: unit('size', 1e9, 'GB'),
  'bytes/sec': unit('data rate', 1, 'bytes/sec'),
  MHz: unit('frequency', 1e6, 'MHz'),
  C: unit('temperature', 1, 'C'),
  W: unit('power', 1, 'W'),
  s: unit('time', 1, 's'),
};

function ofReading(name: string, units: string): Pick<Metric, 'title' | 'description' | 'value'> {
  const reading = readingOf(name);
  if (reading?.measure === undefined) throw new TypeError(`there is no number ${name}`);
  const { title = '', about, measure } = reading;
  return { title, description: about, value: times(measure, factorTo(reading.unit, UNITS[units])) };
}

/** A row in Ganglia's own words. `value`: the name of its reading, or one that only Ganglia has. */
function told(
  title: string,
  description: string,
  value: string | HostMeasure,
  more: Partial<Common & Pick<Metric, 'put'>> = {},
): MetricRow {
  return { title, description, ...(typeof value === 'string' ? { reading: value } : { value }), ...more };
}

/** The metrics of one group; a row gives only what differs from the common values. */
const group = (name: string, common: Common) => (rows: Record<string, MetricRow>) =>
  Object.entries(rows).map(([metric, row]): Metric => {
    const all = { title: '', description: '', ...common, ...row, name: metric, group: name };
    // Ganglia's own words take precedence over ours.
    return 'value' in all ? all : { ...all, ...ofReading(all.reading, all.units), ...row };
  });

const TIMES = CPU_KINDS.map(kind => structs.report.fields[`cpu_${kind}_ms`].offset);
const IDLE_TIME = structs.report.fields.cpu_idle_ms.offset;

/** Per cent of all CPU time since the node's boot. */
function idleSinceBoot({ view, report }: Host): number {
  let total = 0;
  for (const offset of TIMES) total += wide(view, report + offset);
  return total > 0 ? (100 * wide(view, report + IDLE_TIME)) / total : Number.NaN;
}

const architecture = ({ view, report }: Host): string | undefined =>
  enums.arch[view.getUint8(report + structs.report.fields.arch.offset)];
const { os_release } = structs.report.fields;

const CPU = 'Percentage of CPU utilization that occurred while executing at the';
const IDLE = 'Percentage of time that the CPU or CPUs were idle';

/** What a default gmond 3.7.2 sends. */
export const GMOND: readonly Metric[] = [
  ...group('cpu', { type: 'float', units: '%', slope: 'both', tmax: 90, digits: 1 })({
    cpu_user: told('CPU User', `${CPU} user level`, 'rates.cpu_user_pct'),
    cpu_nice: told('CPU Nice', `${CPU} user level with nice priority`, 'rates.cpu_nice_pct'),
    // Ganglia counts interrupts as system time; the board keeps them apart.
    cpu_system: told('CPU System', `${CPU} system level`, share('system', 'irq', 'softirq')),
    cpu_idle: told(
      'CPU Idle',
      `${IDLE} and the system did not have an outstanding disk I/O request`,
      'rates.cpu_idle_pct',
    ),
    cpu_wio: told(
      'CPU wio',
      `${IDLE} during which the system had an outstanding disk I/O request`,
      'rates.cpu_iowait_pct',
    ),
    cpu_aidle: told(
      'CPU aidle',
      'Percent of time since boot idle CPU',
      { ...setOf('cpu_idle_ms'), take: idleSinceBoot },
      { tmax: 3800 },
    ),
    cpu_steal: told('CPU steal', 'cpu_steal', 'rates.cpu_steal_pct'),
  }),
  ...group('cpu', { type: 'uint32', units: 'MHz', slope: 'zero', tmax: 1200, digits: 0 })({
    cpu_speed: told('CPU Speed', 'CPU Speed in terms of MHz', 'cpu_mhz_max'),
    cpu_num: told('CPU Count', 'Total number of CPUs', 'cpus_online', { type: 'uint16', units: 'CPUs' }),
  }),
  ...group('load', { type: 'float', units: ' ', slope: 'both', tmax: 70, digits: 2 })({
    load_one: told('One Minute Load Average', 'One minute load average', 'load'),
    load_five: told('Five Minute Load Average', 'Five minute load average', 'load5', { tmax: 325 }),
    load_fifteen: told('Fifteen Minute Load Average', 'Fifteen minute load average', 'load15', { tmax: 950 }),
  }),
  ...group('process', { type: 'uint32', units: ' ', slope: 'both', tmax: 950, digits: 0 })({
    // gmond takes this from /proc/loadavg, we from procs_running of /proc/stat: the same tasks at another moment.
    // Both count the program that reads the file, so both subtract one, unless that program was not running.
    proc_run: told(
      'Total Running Processes',
      'Total number of running processes',
      map(field('runnable'), runnable => Math.max(0, runnable - 1)),
    ),
    // These are threads: under this name gmond sends the number after the slash of /proc/loadavg.
    proc_total: told('Total Processes', 'Total number of processes', 'threads'),
  }),
  ...group('memory', { type: 'float', units: 'KB', slope: 'both', tmax: 180, digits: 0 })({
    mem_total: told('Memory Total', 'Total amount of memory displayed in KBs', 'mem_total_mib', {
      slope: 'zero',
      tmax: 1200,
    }),
    swap_total: told('Swap Space Total', 'Total amount of swap space displayed in KBs', 'swap_total_mib', {
      slope: 'zero',
      tmax: 1200,
    }),
    mem_free: told('Free Memory', 'Amount of available memory', 'mem_free_mib'),
    // Always 0, as gmond sends it since Linux 2.6: without it ganglia-web shows no memory graph at all, and our
    // shared memory is part of mem_cached. The only 0 that is not a reading; not sent if memory was not measured.
    mem_shared: told('Shared Memory', 'Amount of shared memory', times(field('mem_total_mib'), 0)),
    mem_buffers: told('Memory Buffers', 'Amount of buffered memory', 'mem_buffers_mib'),
    mem_cached: told('Cached Memory', 'Amount of cached memory', 'mem_cached_mib'),
    swap_free: told('Free Swap Space', 'Amount of available swap memory', 'swap_free_mib'),
  }),
  ...group('network', { type: 'float', units: 'bytes/sec', slope: 'both', tmax: 300, digits: 2 })({
    bytes_in: told('Bytes Received', 'Number of bytes in per second', 'in'),
    bytes_out: told('Bytes Sent', 'Number of bytes out per second', 'out'),
  }),
  ...group('network', { type: 'float', units: 'packets/sec', slope: 'both', tmax: 300, digits: 2 })({
    pkts_in: told('Packets Received', 'Packets in per second', 'packets_in'),
    pkts_out: told('Packets Sent', 'Packets out per second', 'packets_out'),
  }),
  ...group('disk', { type: 'double', units: 'GB', slope: 'both', tmax: 180, digits: 3 })({
    disk_total: told('Total Disk Space', 'Total available disk space', 'fs_total_mib', { tmax: 1200 }),
    disk_free: told('Disk Space Available', 'Total free disk space', 'fs_avail_mib'),
    part_max_used: told('Maximum Disk Space Used', 'Maximum percent used for all partitions', 'fs_fullest_pm', {
      type: 'float',
      units: '%',
      digits: 1,
    }),
  }),
  ...group('system', { type: 'string', units: '', slope: 'zero', tmax: 1200, digits: 0 })({
    boottime: told(
      'Last Boot Time',
      'The last time that the system was started',
      { take: host => host.wallSeconds('boot') },
      { type: 'uint32', units: 's' },
    ),
    machine_type: told(
      'Machine Type',
      'System architecture',
      { ...setOf('arch'), take: host => (architecture(host) === undefined ? Number.NaN : 1) },
      { put: (host, page) => page.text(architecture(host) as string) },
    ),
    // No other system has a sender. Still, it is sent only if the node reported its system.
    os_name: told(
      'Operating System',
      'Operating system name',
      { ...setOf('os_release'), take: () => 1 },
      { put: (_, page) => page.text('Linux') },
    ),
    os_release: told(
      'Operating System Release',
      'Operating system release date',
      {
        ...setOf('os_release'),
        take: ({ view, report }) => (view.getUint8(report + os_release.offset) === 0 ? Number.NaN : 1),
      },
      {
        put: ({ bytes, report }, page) => safeOn(page, bytes, report + os_release.offset, os_release.count, 'value'),
      },
    ),
  }),
  ...group('core', { type: 'string', units: '', slope: 'zero', tmax: 300, digits: 0 })({
    gexec: told('Gexec Status', 'gexec available', { take: () => 1 }, { put: (_, page) => page.text('OFF') }),
  }),
];

/** The time after one of our readings within which Ganglia can expect the next one, s. */
const OURS_TMAX = 60;

/** Metrics that only we send. */
export const OURS: readonly Metric[] = [
  // These two are gmond's own, but its default configuration leaves them out; ganglia-web's memory graph knows them.
  ...group('memory', { type: 'float', units: 'KB', slope: 'both', tmax: 180, digits: 0 })({
    mem_sreclaimable: told('Slab Memory Reclaimable', 'Amount of reclaimable slab memory', 'mem_sreclaimable_mib'),
    mem_available: told('Available Memory', 'Estimate of how much memory is available', 'mem_avail_mib'),
  }),
  ...group('pressure', { type: 'float', units: '%', slope: 'both', tmax: OURS_TMAX, digits: 2 })({
    psi_cpu_some: { reading: 'psi_cpu_some10' },
    psi_mem_some: { reading: 'psi_mem_some10' },
    psi_mem_full: { reading: 'psi_mem_full10' },
    psi_io_some: { reading: 'psi_io_some10' },
    psi_io_full: { reading: 'psi_io_full10' },
  }),
  ...group('pressure', { type: 'float', units: 'pages/sec', slope: 'both', tmax: OURS_TMAX, digits: 1 })({
    swap_in: { reading: 'rates.swapin_pages' },
    swap_out: { reading: 'rates.swapout_pages' },
  }),
  ...group('disk', { type: 'float', units: 'bytes/sec', slope: 'both', tmax: OURS_TMAX, digits: 0 })({
    disk_read: { reading: 'rates.disk_read_bytes' },
    disk_write: { reading: 'rates.disk_write_bytes' },
    disk_busiest: { units: '%', digits: 1, reading: 'disk_busiest_pm' },
  }),
  ...group('gpu', { type: 'float', units: 'GPUs', slope: 'both', tmax: OURS_TMAX, digits: 0 })({
    gpu_num: { type: 'uint16', slope: 'zero', reading: 'gpu_count' },
    gpu_used: { type: 'uint16', reading: 'gpu_busy' },
    gpu_util: { units: '%', digits: 1, reading: 'gpu_util' },
    gpu_mem_used: { units: 'KB', reading: 'gpu_mem_used' },
    gpu_mem_total: { units: 'KB', slope: 'zero', reading: 'gpu_mem_total' },
    gpu_power: { units: 'W', reading: 'gpu_power' },
    gpu_temp: { units: 'C', reading: 'gpu_temp' },
    gpu_errors: { type: 'uint32', units: 'errors', reading: 'gpu_errors' },
  }),
  ...group('fabric', { type: 'float', units: 'bytes/sec', slope: 'both', tmax: OURS_TMAX, digits: 0 })({
    fabric_bytes_in: { reading: 'rates.fabric.rx_bytes' },
    fabric_bytes_out: { reading: 'rates.fabric.tx_bytes' },
    fabric_errors: { units: 'errors/sec', digits: 2, reading: 'rates.fabric.errors' },
  }),
  ...group('power', { type: 'float', units: 'W', slope: 'both', tmax: OURS_TMAX, digits: 1 })({
    power_node: { reading: 'power_node_w' },
    power_cpu: { reading: 'rates.energy_cpu_mj' },
    power_dram: { reading: 'rates.energy_dram_mj' },
    temp_inlet: { units: 'C', reading: 'temp_inlet_dc' },
    temp_hottest: { units: 'C', reading: 'temp_hottest_dc' },
  }),
  ...group('health', { type: 'uint32', units: ' ', slope: 'both', tmax: OURS_TMAX, digits: 0 })({
    health: { type: 'uint16', reading: 'health' },
    held: { type: 'uint16', reading: 'flags.held' },
    root_readonly: { type: 'uint16', reading: 'flags.root_readonly' },
    oom_kills: { units: 'kills', reading: 'oom_kills' },
    hung_tasks: { units: 'tasks', reading: 'hung_tasks' },
    edac_ce: { units: 'errors', reading: 'edac_ce' },
    edac_ue: { units: 'errors', reading: 'edac_ue' },
    throttle_events: { units: 'events', reading: 'throttle_events' },
  }),
  ...group('liveness', { type: 'float', units: 's', slope: 'both', tmax: OURS_TMAX, digits: 3 })({
    report_age: { reading: 'age' },
    send_late: { reading: 'late_us' },
    clock_ahead: { reading: 'skew' },
    reports_lost: { type: 'double', units: 'reports', digits: 0, reading: 'lost' },
  }),
];

export const METRICS: readonly Metric[] = [...GMOND, ...OURS];

/** By their words for `--metrics`. */
export const METRIC_SETS = { gmond: GMOND, all: METRICS };
