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

/** The metrics of one group; a row gives only what differs from the common values. */
function group(name: string, common: Common, rows: Record<string, MetricRow>): Metric[] {
  return Object.entries(rows).map(([metric, row]) => {
    const all = { title: '', description: '', ...common, ...row, name: metric, group: name };
    // Ganglia's own words take precedence over ours.
    return 'value' in all ? all : { ...all, ...ofReading(all.reading, all.units), ...row };
  });
}

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
  ...group(
    'cpu',
    { type: 'float', units: '%', slope: 'both', tmax: 90, digits: 1 },
    {
      cpu_user: { title: 'CPU User', description: `${CPU} user level`, reading: 'rates.cpu_user_pct' },
      cpu_nice: {
        title: 'CPU Nice',
        description: `${CPU} user level with nice priority`,
        reading: 'rates.cpu_nice_pct',
      },
      // Ganglia counts interrupts as system time; the board keeps them apart.
      cpu_system: { title: 'CPU System', description: `${CPU} system level`, value: share('system', 'irq', 'softirq') },
      cpu_idle: {
        title: 'CPU Idle',
        description: `${IDLE} and the system did not have an outstanding disk I/O request`,
        reading: 'rates.cpu_idle_pct',
      },
      cpu_wio: {
        title: 'CPU wio',
        description: `${IDLE} during which the system had an outstanding disk I/O request`,
        reading: 'rates.cpu_iowait_pct',
      },
      cpu_aidle: {
        title: 'CPU aidle',
        description: 'Percent of time since boot idle CPU',
        tmax: 3800,
        value: { ...setOf('cpu_idle_ms'), take: idleSinceBoot },
      },
      cpu_steal: { title: 'CPU steal', description: 'cpu_steal', reading: 'rates.cpu_steal_pct' },
    },
  ),
  ...group(
    'cpu',
    { type: 'uint32', units: 'MHz', slope: 'zero', tmax: 1200, digits: 0 },
    {
      cpu_speed: { title: 'CPU Speed', description: 'CPU Speed in terms of MHz', reading: 'cpu_mhz_max' },
      cpu_num: {
        title: 'CPU Count',
        description: 'Total number of CPUs',
        type: 'uint16',
        units: 'CPUs',
        reading: 'cpus_online',
      },
    },
  ),
  ...group(
    'load',
    { type: 'float', units: ' ', slope: 'both', tmax: 70, digits: 2 },
    {
      load_one: {
        title: 'One Minute Load Average',
        description: 'One minute load average',
        reading: 'load',
      },
      load_five: {
        title: 'Five Minute Load Average',
        description: 'Five minute load average',
        tmax: 325,
        reading: 'load5',
      },
      load_fifteen: {
        title: 'Fifteen Minute Load Average',
        description: 'Fifteen minute load average',
        tmax: 950,
        reading: 'load15',
      },
    },
  ),
  ...group(
    'process',
    { type: 'uint32', units: ' ', slope: 'both', tmax: 950, digits: 0 },
    {
      // gmond takes this from /proc/loadavg, we from procs_running of /proc/stat: the same tasks at another moment.
      // Both count the program that reads the file, so both subtract one, unless that program was not running.
      proc_run: {
        title: 'Total Running Processes',
        description: 'Total number of running processes',
        value: map(field('runnable'), runnable => Math.max(0, runnable - 1)),
      },
      // These are threads: under this name gmond sends the number after the slash of /proc/loadavg.
      proc_total: { title: 'Total Processes', description: 'Total number of processes', reading: 'threads' },
    },
  ),
  ...group(
    'memory',
    { type: 'float', units: 'KB', slope: 'both', tmax: 180, digits: 0 },
    {
      mem_total: {
        title: 'Memory Total',
        description: 'Total amount of memory displayed in KBs',
        slope: 'zero',
        tmax: 1200,
        reading: 'mem_total_mib',
      },
      swap_total: {
        title: 'Swap Space Total',
        description: 'Total amount of swap space displayed in KBs',
        slope: 'zero',
        tmax: 1200,
        reading: 'swap_total_mib',
      },
      mem_free: {
        title: 'Free Memory',
        description: 'Amount of available memory',
        reading: 'mem_free_mib',
      },
      // Always 0, as gmond sends it since Linux 2.6: without it ganglia-web shows no memory graph at all, and our
      // shared memory is part of mem_cached. The only 0 that is not a reading; not sent if memory was not measured.
      mem_shared: {
        title: 'Shared Memory',
        description: 'Amount of shared memory',
        value: map(field('mem_total_mib'), () => 0),
      },
      mem_buffers: {
        title: 'Memory Buffers',
        description: 'Amount of buffered memory',
        reading: 'mem_buffers_mib',
      },
      mem_cached: {
        title: 'Cached Memory',
        description: 'Amount of cached memory',
        reading: 'mem_cached_mib',
      },
      swap_free: {
        title: 'Free Swap Space',
        description: 'Amount of available swap memory',
        reading: 'swap_free_mib',
      },
    },
  ),
  ...group(
    'network',
    { type: 'float', units: 'bytes/sec', slope: 'both', tmax: 300, digits: 2 },
    {
      bytes_in: { title: 'Bytes Received', description: 'Number of bytes in per second', reading: 'in' },
      bytes_out: { title: 'Bytes Sent', description: 'Number of bytes out per second', reading: 'out' },
    },
  ),
  ...group(
    'network',
    { type: 'float', units: 'packets/sec', slope: 'both', tmax: 300, digits: 2 },
    {
      pkts_in: { title: 'Packets Received', description: 'Packets in per second', reading: 'packets_in' },
      pkts_out: { title: 'Packets Sent', description: 'Packets out per second', reading: 'packets_out' },
    },
  ),
  ...group(
    'disk',
    { type: 'double', units: 'GB', slope: 'both', tmax: 180, digits: 3 },
    {
      disk_total: {
        title: 'Total Disk Space',
        description: 'Total available disk space',
        tmax: 1200,
        reading: 'fs_total_mib',
      },
      disk_free: {
        title: 'Disk Space Available',
        description: 'Total free disk space',
        reading: 'fs_avail_mib',
      },
      part_max_used: {
        title: 'Maximum Disk Space Used',
        description: 'Maximum percent used for all partitions',
        type: 'float',
        units: '%',
        digits: 1,
        reading: 'fs_fullest_pm',
      },
    },
  ),
  ...group(
    'system',
    { type: 'string', units: '', slope: 'zero', tmax: 1200, digits: 0 },
    {
      boottime: {
        title: 'Last Boot Time',
        description: 'The last time that the system was started',
        type: 'uint32',
        units: 's',
        value: { take: host => host.wallSeconds('boot') },
      },
      machine_type: {
        title: 'Machine Type',
        description: 'System architecture',
        value: { ...setOf('arch'), take: host => (architecture(host) === undefined ? Number.NaN : 1) },
        put: (host, page) => page.text(architecture(host) as string),
      },
      // No other system has a sender. Still, it is sent only if the node reported its system.
      os_name: {
        title: 'Operating System',
        description: 'Operating system name',
        value: { ...setOf('os_release'), take: () => 1 },
        put: (_, page) => page.text('Linux'),
      },
      os_release: {
        title: 'Operating System Release',
        description: 'Operating system release date',
        value: {
          ...setOf('os_release'),
          take: ({ view, report }) => (view.getUint8(report + os_release.offset) === 0 ? Number.NaN : 1),
        },
        put: ({ bytes, report }, page) => safeOn(page, bytes, report + os_release.offset, os_release.count, 'value'),
      },
    },
  ),
  ...group(
    'core',
    { type: 'string', units: '', slope: 'zero', tmax: 300, digits: 0 },
    {
      gexec: {
        title: 'Gexec Status',
        description: 'gexec available',
        value: { take: () => 1 },
        put: (_, page) => page.text('OFF'),
      },
    },
  ),
];

/** The time after one of our readings within which Ganglia can expect the next one, s. */
const OURS_TMAX = 60;

/** Metrics that only we send. */
export const OURS: readonly Metric[] = [
  // These two are gmond's own, but its default configuration leaves them out; ganglia-web's memory graph knows them.
  ...group(
    'memory',
    { type: 'float', units: 'KB', slope: 'both', tmax: 180, digits: 0 },
    {
      mem_sreclaimable: {
        title: 'Slab Memory Reclaimable',
        description: 'Amount of reclaimable slab memory',
        reading: 'mem_sreclaimable_mib',
      },
      mem_available: {
        title: 'Available Memory',
        description: 'Estimate of how much memory is available',
        reading: 'mem_avail_mib',
      },
    },
  ),
  ...group(
    'pressure',
    { type: 'float', units: '%', slope: 'both', tmax: OURS_TMAX, digits: 2 },
    {
      psi_cpu_some: { reading: 'psi_cpu_some10' },
      psi_mem_some: { reading: 'psi_mem_some10' },
      psi_mem_full: { reading: 'psi_mem_full10' },
      psi_io_some: { reading: 'psi_io_some10' },
      psi_io_full: { reading: 'psi_io_full10' },
    },
  ),
  ...group(
    'pressure',
    { type: 'float', units: 'pages/sec', slope: 'both', tmax: OURS_TMAX, digits: 1 },
    {
      swap_in: { reading: 'rates.swapin_pages' },
      swap_out: { reading: 'rates.swapout_pages' },
    },
  ),
  ...group(
    'disk',
    { type: 'float', units: 'bytes/sec', slope: 'both', tmax: OURS_TMAX, digits: 0 },
    {
      disk_read: { reading: 'rates.disk_read_bytes' },
      disk_write: { reading: 'rates.disk_write_bytes' },
      disk_busiest: { units: '%', digits: 1, reading: 'disk_busiest_pm' },
    },
  ),
  ...group(
    'gpu',
    { type: 'float', units: 'GPUs', slope: 'both', tmax: OURS_TMAX, digits: 0 },
    {
      gpu_num: { type: 'uint16', slope: 'zero', reading: 'gpu_count' },
      gpu_used: { type: 'uint16', reading: 'gpu_busy' },
      gpu_util: { units: '%', digits: 1, reading: 'gpu_util' },
      gpu_mem_used: { units: 'KB', reading: 'gpu_mem_used' },
      gpu_mem_total: { units: 'KB', slope: 'zero', reading: 'gpu_mem_total' },
      gpu_power: { units: 'W', reading: 'gpu_power' },
      gpu_temp: { units: 'C', reading: 'gpu_temp' },
      gpu_errors: { type: 'uint32', units: 'errors', reading: 'gpu_errors' },
    },
  ),
  ...group(
    'fabric',
    { type: 'float', units: 'bytes/sec', slope: 'both', tmax: OURS_TMAX, digits: 0 },
    {
      fabric_bytes_in: { reading: 'rates.fabric.rx_bytes' },
      fabric_bytes_out: { reading: 'rates.fabric.tx_bytes' },
      fabric_errors: { units: 'errors/sec', digits: 2, reading: 'rates.fabric.errors' },
    },
  ),
  ...group(
    'power',
    { type: 'float', units: 'W', slope: 'both', tmax: OURS_TMAX, digits: 1 },
    {
      power_node: { reading: 'power_node_w' },
      power_cpu: { reading: 'rates.energy_cpu_mj' },
      power_dram: { reading: 'rates.energy_dram_mj' },
      temp_inlet: { units: 'C', reading: 'temp_inlet_dc' },
      temp_hottest: { units: 'C', reading: 'temp_hottest_dc' },
    },
  ),
  ...group(
    'health',
    { type: 'uint32', units: ' ', slope: 'both', tmax: OURS_TMAX, digits: 0 },
    {
      health: { type: 'uint16', reading: 'health' },
      held: { type: 'uint16', reading: 'flags.held' },
      root_readonly: { type: 'uint16', reading: 'flags.root_readonly' },
      oom_kills: { units: 'kills', reading: 'oom_kills' },
      hung_tasks: { units: 'tasks', reading: 'hung_tasks' },
      edac_ce: { units: 'errors', reading: 'edac_ce' },
      edac_ue: { units: 'errors', reading: 'edac_ue' },
      throttle_events: { units: 'events', reading: 'throttle_events' },
    },
  ),
  ...group(
    'liveness',
    { type: 'float', units: 's', slope: 'both', tmax: OURS_TMAX, digits: 3 },
    {
      report_age: { reading: 'age' },
      send_late: { reading: 'late_us' },
      clock_ahead: { reading: 'skew' },
      reports_lost: { type: 'double', units: 'reports', digits: 0, reading: 'lost' },
    },
  ),
];

export const METRICS: readonly Metric[] = [...GMOND, ...OURS];

/** By their words for `--metrics`. */
export const METRIC_SETS = { gmond: GMOND, all: METRICS };
