// Says which of a node's readings is which of Ganglia's metrics: all that a default gmond 3.7.2 sends on Linux, under
// its names, in its units. It refuses to invent: a metric whose reading or rate is absent has no value.

import type { Report } from '../layout/codec.js';
import { enums } from '../layout/layout.gen.js';
import type { InterfaceRates, Rates } from '../shm/rates.js';

type Value = (report: Report, rates: Rates | undefined) => number | string | undefined;

/** One METRIC of Ganglia's; `slope` is zero for what changes only with a reboot. DMAX is 0 for all. */
export interface Metric {
  readonly name: string;
  readonly type: 'string' | 'uint16' | 'uint32' | 'float' | 'double';
  readonly units: string;
  readonly slope: 'zero' | 'both';
  readonly tmax: number;
  readonly group: string;
  readonly title: string;
  readonly description: string;
  /** Digits after the point. */
  readonly digits: number;
  readonly value: Value;
}

type Common = Pick<Metric, 'type' | 'units' | 'slope' | 'tmax' | 'digits'>;
type Row = Pick<Metric, 'title' | 'description' | 'value'> & Partial<Common>;

/** The metrics of one group; a row states what differs from what they have in common. */
function group(name: string, common: Common, rows: Record<string, Row>): Metric[] {
  return Object.entries(rows).map(([metric, row]) => ({ ...common, ...row, name: metric, group: name }));
}

/** A sum is known only when all its parts are. */
function sum(parts: readonly unknown[]): number | undefined {
  const known = parts.filter(part => typeof part === 'number');
  return parts.length > 0 && known.length === parts.length ? known.reduce((a, b) => a + b, 0) : undefined;
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

const kilobytes = (mib: number | undefined) => scaled(mib, 1024);
const gigabytes = (mib: number | undefined) => scaled(mib, 2 ** 20 / 1e9);

const CPU_KINDS = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'] as const;

/** Per cent of all CPU time between the two reports. */
function share(...kinds: (typeof CPU_KINDS)[number][]): Value {
  return (_, rates) => sum(kinds.map(kind => rates?.[`cpu_${kind}_pct`]));
}

/** Per cent of all CPU time since the node booted. */
function idleSinceBoot(report: Report): number | undefined {
  const total = sum(CPU_KINDS.map(kind => report[`cpu_${kind}_ms`]));
  return total ? scaled(report.cpu_idle_ms, 100 / total) : undefined;
}

/** All interfaces together. One that has no rate yet leaves the sum unknown: a dip that was none would stay for good. */
function traffic(counter: Exclude<keyof InterfaceRates, 'name'>): Value {
  return (report, rates) => {
    const interfaces = (report.net?.length ?? 0) + (report.net_rest === undefined ? 0 : 1);
    const moving = [...(rates?.net ?? []), ...(rates?.net_rest === undefined ? [] : [rates.net_rest])];
    return moving.length === interfaces ? sum(moving.map(entry => entry[counter])) : undefined;
  };
}

/**
 * Seconds since 1970, by the node's wall clock, of a moment of its CLOCK_BOOTTIME; undefined when that is none of
 * Ganglia's uint32, as on a node whose clock was never set.
 */
export function wallSeconds(report: Report, bootNs: bigint): number | undefined {
  const seconds = Number((report.t_real_ns - report.t_boot_ns + bootNs) / 1_000_000_000n);
  return seconds >= 0 && seconds < 2 ** 32 ? seconds : undefined;
}

const CPU = 'Percentage of CPU utilization that occurred while executing at the';
const IDLE = 'Percentage of time that the CPU or CPUs were idle';

export const METRICS: readonly Metric[] = [
  ...group(
    'cpu',
    { type: 'float', units: '%', slope: 'both', tmax: 90, digits: 1 },
    {
      cpu_user: { title: 'CPU User', description: `${CPU} user level`, value: share('user') },
      cpu_nice: { title: 'CPU Nice', description: `${CPU} user level with nice priority`, value: share('nice') },
      // Ganglia counts interrupts as system time; the board keeps them apart.
      cpu_system: { title: 'CPU System', description: `${CPU} system level`, value: share('system', 'irq', 'softirq') },
      cpu_idle: {
        title: 'CPU Idle',
        description: `${IDLE} and the system did not have an outstanding disk I/O request`,
        value: share('idle'),
      },
      cpu_wio: {
        title: 'CPU wio',
        description: `${IDLE} during which the system had an outstanding disk I/O request`,
        value: share('iowait'),
      },
      cpu_aidle: {
        title: 'CPU aidle',
        description: 'Percent of time since boot idle CPU',
        tmax: 3800,
        value: idleSinceBoot,
      },
      cpu_steal: { title: 'CPU steal', description: 'cpu_steal', value: share('steal') },
    },
  ),
  ...group(
    'cpu',
    { type: 'uint32', units: 'MHz', slope: 'zero', tmax: 1200, digits: 0 },
    {
      cpu_speed: { title: 'CPU Speed', description: 'CPU Speed in terms of MHz', value: report => report.cpu_mhz_max },
      cpu_num: {
        title: 'CPU Count',
        description: 'Total number of CPUs',
        type: 'uint16',
        units: 'CPUs',
        value: report => report.cpus_online,
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
        value: report => scaled(report.load1_c, 0.01),
      },
      load_five: {
        title: 'Five Minute Load Average',
        description: 'Five minute load average',
        tmax: 325,
        value: report => scaled(report.load5_c, 0.01),
      },
      load_fifteen: {
        title: 'Fifteen Minute Load Average',
        description: 'Fifteen minute load average',
        tmax: 950,
        value: report => scaled(report.load15_c, 0.01),
      },
    },
  ),
  ...group(
    'process',
    { type: 'uint32', units: ' ', slope: 'both', tmax: 950, digits: 0 },
    {
      // gmond takes this from /proc/loadavg, we from procs_running of /proc/stat: the same tasks, looked at another
      // moment. Both count the one who looks, so both take one off; there is none to take off when it was not running.
      proc_run: {
        title: 'Total Running Processes',
        description: 'Total number of running processes',
        value: ({ runnable }) => (runnable === undefined ? undefined : Math.max(0, runnable - 1)),
      },
      // Threads, in truth: gmond sends the number behind the slash of /proc/loadavg under this name.
      proc_total: {
        title: 'Total Processes',
        description: 'Total number of processes',
        value: report => report.threads,
      },
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
        value: report => kilobytes(report.mem_total_mib),
      },
      swap_total: {
        title: 'Swap Space Total',
        description: 'Total amount of swap space displayed in KBs',
        slope: 'zero',
        tmax: 1200,
        value: report => kilobytes(report.swap_total_mib),
      },
      mem_free: {
        title: 'Free Memory',
        description: 'Amount of available memory',
        value: report => kilobytes(report.mem_free_mib),
      },
      // Always 0, as gmond sends it since Linux 2.6: ganglia-web shows no memory graph at all without it, and what we
      // call shared is in mem_cached already. The one 0 that is no reading; not sent where memory was not measured.
      mem_shared: {
        title: 'Shared Memory',
        description: 'Amount of shared memory',
        value: report => scaled(report.mem_total_mib, 0),
      },
      mem_buffers: {
        title: 'Memory Buffers',
        description: 'Amount of buffered memory',
        value: report => kilobytes(report.mem_buffers_mib),
      },
      mem_cached: {
        title: 'Cached Memory',
        description: 'Amount of cached memory',
        value: report => kilobytes(report.mem_cached_mib),
      },
      swap_free: {
        title: 'Free Swap Space',
        description: 'Amount of available swap memory',
        value: report => kilobytes(report.swap_free_mib),
      },
    },
  ),
  ...group(
    'network',
    { type: 'float', units: 'bytes/sec', slope: 'both', tmax: 300, digits: 2 },
    {
      bytes_in: { title: 'Bytes Received', description: 'Number of bytes in per second', value: traffic('rx_bytes') },
      bytes_out: { title: 'Bytes Sent', description: 'Number of bytes out per second', value: traffic('tx_bytes') },
    },
  ),
  ...group(
    'network',
    { type: 'float', units: 'packets/sec', slope: 'both', tmax: 300, digits: 2 },
    {
      pkts_in: { title: 'Packets Received', description: 'Packets in per second', value: traffic('rx_packets') },
      pkts_out: { title: 'Packets Sent', description: 'Packets out per second', value: traffic('tx_packets') },
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
        value: report => gigabytes(report.fs_total_mib),
      },
      disk_free: {
        title: 'Disk Space Available',
        description: 'Total free disk space',
        value: report => gigabytes(report.fs_avail_mib),
      },
      part_max_used: {
        title: 'Maximum Disk Space Used',
        description: 'Maximum percent used for all partitions',
        type: 'float',
        units: '%',
        digits: 1,
        value: report => scaled(report.fs_fullest_pm, 0.1),
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
        value: report => wallSeconds(report, 0n),
      },
      machine_type: {
        title: 'Machine Type',
        description: 'System architecture',
        value: ({ arch }) => (arch === undefined ? undefined : enums.arch[arch]),
      },
      // No other system has a sender; still only where the node said something of its system.
      os_name: {
        title: 'Operating System',
        description: 'Operating system name',
        value: report => (report.os_release === undefined ? undefined : 'Linux'),
      },
      os_release: {
        title: 'Operating System Release',
        description: 'Operating system release date',
        value: report => report.os_release,
      },
    },
  ),
  ...group(
    'core',
    { type: 'string', units: '', slope: 'zero', tmax: 300, digits: 0 },
    {
      gexec: { title: 'Gexec Status', description: 'gexec available', value: () => 'OFF' },
    },
  ),
];
