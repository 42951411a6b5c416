// Says which of a node's readings is which of Ganglia's metrics: all that a default gmond 3.7.2 sends on Linux, under its
// names, in its units, and behind them ours, in groups of their own. It refuses to invent: a metric whose reading or rate
// is absent has no value.

import { bits, enums, structs } from '../layout/layout.gen.js';
import {
  type CounterName,
  counterOf,
  type InterfaceCounter,
  interfaceCounterOf,
  type SetBit,
  setBit,
} from '../shm/rates.js';
import { CPU_KINDS, type Host, TRAFFIC } from './host.js';
import type { Page } from './page.js';

/** How a metric's number is had. */
interface Value {
  /** The set that must have been measured; `take` does not ask again. Without one it is there in every report. */
  readonly set?: SetBit;
  /** It is made of two reports, and there are two that can have rates; `take` does not ask again. */
  readonly rate?: true;
  /** The number; NaN: not known. Of a text, whether it is known: any number but NaN. */
  readonly take: (host: Host) => number;
}

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
  /** Writes the value of a metric that is a text, where `value` says that it is known. */
  readonly put?: (host: Host, page: Page) => void;
}

type Common = Pick<Metric, 'type' | 'units' | 'slope' | 'tmax' | 'digits'>;
type Row = Pick<Metric, 'title' | 'description' | 'value'> & Partial<Common> & Pick<Metric, 'put'>;

/** The metrics of one group; a row states what differs from what they have in common. */
function group(name: string, common: Common, rows: Record<string, Row>): Metric[] {
  return Object.entries(rows).map(([metric, row]) => ({ ...common, ...row, name: metric, group: name }));
}

type Fields = typeof structs.report.fields;
type NumberField = {
  [K in keyof Fields]: Fields[K] extends { type: 'u8' | 'u16' | 'u32' | 'i16' | 'i32'; count: 0 } ? K : never;
}[keyof Fields];

const READERS: Record<string, (view: DataView, at: number) => number> = {
  u8: (view, at) => view.getUint8(at),
  u16: (view, at) => view.getUint16(at, true),
  u32: (view, at) => view.getUint32(at, true),
  i16: (view, at) => view.getInt16(at, true),
  i32: (view, at) => view.getInt32(at, true),
};

/** The set of a field, as `Value` has it. */
function setOf(name: keyof Fields): Pick<Value, 'set'> {
  const { set }: { readonly type: string; readonly set?: keyof typeof bits.valid } = structs.report.fields[name];
  return set === undefined ? {} : { set: setBit(set) };
}

/** A field of the report, times a factor. */
function field(name: NumberField, factor = 1): Value {
  const { offset, type } = structs.report.fields[name];
  const read = READERS[type] as (view: DataView, at: number) => number;
  return { ...setOf(name), take: ({ view, report }) => read(view, report + offset) * factor };
}

/** Another number made of it. */
function map(value: Value, other: (number: number) => number): Value {
  return { ...value, take: host => other(value.take(host)) };
}

const kilobytes = (name: NumberField) => field(name, 1024);
const gigabytes = (name: NumberField) => field(name, 2 ** 20 / 1e9);

/** A counter's rate per second, times a factor. */
function rate(name: CounterName, factor = 1): Value {
  const counter = counterOf(name);
  return { ...setOf(name), rate: true, take: ({ pair }) => pair.rate(counter) * factor };
}

/** Per cent of all CPU time between the two reports. */
function share(...kinds: (typeof CPU_KINDS)[number][]): Value {
  const [first = 0, ...rest] = kinds.map(kind => CPU_KINDS.indexOf(kind));
  const take = ({ shares }: Host) => {
    let sum = shares[first] as number;
    for (const place of rest) sum += shares[place] as number;
    return sum;
  };
  return { ...setOf('cpu_idle_ms'), rate: true, take };
}

const TIMES = CPU_KINDS.map(kind => structs.report.fields[`cpu_${kind}_ms`].offset);
const IDLE_TIME = structs.report.fields.cpu_idle_ms.offset;
/** The high word of 2^53. */
const TOO_HIGH = 0x200000;

/** A u64 counter as a number; NaN beyond 2^53, where it would no longer count. */
function wide(view: DataView, at: number): number {
  const high = view.getUint32(at + 4, true);
  return high < TOO_HIGH ? high * 2 ** 32 + view.getUint32(at, true) : Number.NaN;
}

/** Per cent of all CPU time since the node booted. */
function idleSinceBoot({ view, report }: Host): number {
  let total = 0;
  for (const offset of TIMES) total += wide(view, report + offset);
  return total > 0 ? (100 * wide(view, report + IDLE_TIME)) / total : Number.NaN;
}

function traffic(counter: (typeof TRAFFIC)[number]): Value {
  const place = TRAFFIC.indexOf(counter);
  return { ...setOf('net'), rate: true, take: host => host.traffic[place] as number };
}

/** Rates of the RDMA ports, all together. */
function fabric(name: InterfaceCounter): Value {
  const counter = interfaceCounterOf(name);
  const take = ({ pair }: Host) => (pair.hasSum('fabric') ? pair.sumRate('fabric', counter) : Number.NaN);
  return { ...setOf('fabric'), rate: true, take };
}

const ARCHITECTURES = enums.arch.map(arch => Buffer.from(arch));
const architecture = ({ view, report }: Host) =>
  ARCHITECTURES[view.getUint8(report + structs.report.fields.arch.offset)];
const LINUX = Buffer.from('Linux');
const OFF = Buffer.from('OFF');
const { os_release, gpu, gpu_count } = structs.report.fields;

const { util_pct, temp_degc, power_w, mem_used_mib, mem_total_mib } = structs.gpu_slot.fields;

type Fold = (all: number, next: number, count: number) => number;
const sum: Fold = (all, next) => all + next;
const mean: Fold = (all, next, count) => all + (next - all) / count;
const highest: Fold = Math.max;

/** One number made of all GPUs that know theirs; `read` gives NaN for one that does not. */
function gpus(read: (view: DataView, at: number) => number, fold: Fold): Value {
  const take = ({ view, report }: Host) => {
    const entries = Math.min(view.getUint8(report + gpu_count.offset), gpu.count);
    let all = Number.NaN;
    let count = 0;
    for (let i = 0; i < entries; i++) {
      const next = read(view, report + gpu.offset + i * structs.gpu_slot.bytes);
      if (Number.isNaN(next)) continue;
      count++;
      all = count === 1 ? next : fold(all, next, count);
    }
    return all;
  };
  return { ...setOf('gpu'), take };
}

const unless = (value: number, unknown: number) => (value === unknown ? Number.NaN : value);
/** A GPU without memory is one whose memory was not known. */
const gpuMemory = (offset: number) => (view: DataView, at: number) =>
  view.getUint32(at + mem_total_mib.offset, true) === 0 ? Number.NaN : view.getUint32(at + offset, true) * 1024;

/** A number of the board's record: what the master knows of the node. */
function counted(name: 'lost'): Value {
  const { offset } = structs.record.fields[name];
  return { take: ({ view, record }) => wide(view, record + offset) };
}

const { flags } = structs.report.fields;

/** Whether a flag of the report is set: 1, or 0. */
function flag(name: keyof typeof bits.flags): Value {
  const bit = bits.flags[name];
  return { take: ({ view, report }) => (view.getUint32(report + flags.offset, true) >>> bit) & 1 };
}

const CPU = 'Percentage of CPU utilization that occurred while executing at the';
const IDLE = 'Percentage of time that the CPU or CPUs were idle';

/** What a default gmond 3.7.2 sends. */
export const GMOND: readonly Metric[] = [
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
        value: { ...setOf('cpu_idle_ms'), take: idleSinceBoot },
      },
      cpu_steal: { title: 'CPU steal', description: 'cpu_steal', value: share('steal') },
    },
  ),
  ...group(
    'cpu',
    { type: 'uint32', units: 'MHz', slope: 'zero', tmax: 1200, digits: 0 },
    {
      cpu_speed: { title: 'CPU Speed', description: 'CPU Speed in terms of MHz', value: field('cpu_mhz_max') },
      cpu_num: {
        title: 'CPU Count',
        description: 'Total number of CPUs',
        type: 'uint16',
        units: 'CPUs',
        value: field('cpus_online'),
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
        value: field('load1_c', 0.01),
      },
      load_five: {
        title: 'Five Minute Load Average',
        description: 'Five minute load average',
        tmax: 325,
        value: field('load5_c', 0.01),
      },
      load_fifteen: {
        title: 'Fifteen Minute Load Average',
        description: 'Fifteen minute load average',
        tmax: 950,
        value: field('load15_c', 0.01),
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
        value: map(field('runnable'), runnable => Math.max(0, runnable - 1)),
      },
      // Threads, in truth: gmond sends the number behind the slash of /proc/loadavg under this name.
      proc_total: { title: 'Total Processes', description: 'Total number of processes', value: field('threads') },
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
        value: kilobytes('mem_total_mib'),
      },
      swap_total: {
        title: 'Swap Space Total',
        description: 'Total amount of swap space displayed in KBs',
        slope: 'zero',
        tmax: 1200,
        value: kilobytes('swap_total_mib'),
      },
      mem_free: {
        title: 'Free Memory',
        description: 'Amount of available memory',
        value: kilobytes('mem_free_mib'),
      },
      // Always 0, as gmond sends it since Linux 2.6: ganglia-web shows no memory graph at all without it, and what we
      // call shared is in mem_cached already. The one 0 that is no reading; not sent where memory was not measured.
      mem_shared: {
        title: 'Shared Memory',
        description: 'Amount of shared memory',
        value: map(field('mem_total_mib'), () => 0),
      },
      mem_buffers: {
        title: 'Memory Buffers',
        description: 'Amount of buffered memory',
        value: kilobytes('mem_buffers_mib'),
      },
      mem_cached: {
        title: 'Cached Memory',
        description: 'Amount of cached memory',
        value: kilobytes('mem_cached_mib'),
      },
      swap_free: {
        title: 'Free Swap Space',
        description: 'Amount of available swap memory',
        value: kilobytes('swap_free_mib'),
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
        value: gigabytes('fs_total_mib'),
      },
      disk_free: {
        title: 'Disk Space Available',
        description: 'Total free disk space',
        value: gigabytes('fs_avail_mib'),
      },
      part_max_used: {
        title: 'Maximum Disk Space Used',
        description: 'Maximum percent used for all partitions',
        type: 'float',
        units: '%',
        digits: 1,
        value: field('fs_fullest_pm', 0.1),
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
        put: (host, page) => page.part(architecture(host) as Buffer),
      },
      // No other system has a sender; still only where the node said something of its system.
      os_name: {
        title: 'Operating System',
        description: 'Operating system name',
        value: { ...setOf('os_release'), take: () => 1 },
        put: (_, page) => page.part(LINUX),
      },
      os_release: {
        title: 'Operating System Release',
        description: 'Operating system release date',
        value: {
          ...setOf('os_release'),
          take: ({ view, report }) => (view.getUint8(report + os_release.offset) === 0 ? Number.NaN : 1),
        },
        put: ({ bytes, report }, page) => page.safe(bytes, report + os_release.offset, os_release.count, 'value'),
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
        put: (_, page) => page.part(OFF),
      },
    },
  ),
];

/** How long after a reading of ours Ganglia may expect the next, s. */
const OURS_TMAX = 60;
const PRESSURE = 'Share of the last 10 s in which';

/** What only we send. */
export const OURS: readonly Metric[] = [
  // These two are gmond's own, which its default configuration leaves out; ganglia-web's memory graph knows them.
  ...group(
    'memory',
    { type: 'float', units: 'KB', slope: 'both', tmax: 180, digits: 0 },
    {
      mem_sreclaimable: {
        title: 'Slab Memory Reclaimable',
        description: 'Amount of reclaimable slab memory',
        value: kilobytes('mem_sreclaimable_mib'),
      },
      mem_available: {
        title: 'Available Memory',
        description: 'Estimate of how much memory is available',
        value: kilobytes('mem_avail_mib'),
      },
    },
  ),
  ...group(
    'pressure',
    { type: 'float', units: '%', slope: 'both', tmax: OURS_TMAX, digits: 2 },
    {
      psi_cpu_some: {
        title: 'CPU Pressure',
        description: `${PRESSURE} some task waited for a CPU`,
        value: field('psi_cpu_some10', 0.01),
      },
      psi_mem_some: {
        title: 'Memory Pressure, Some',
        description: `${PRESSURE} some task waited for memory`,
        value: field('psi_mem_some10', 0.01),
      },
      psi_mem_full: {
        title: 'Memory Pressure, Full',
        description: `${PRESSURE} all tasks at once waited for memory`,
        value: field('psi_mem_full10', 0.01),
      },
      psi_io_some: {
        title: 'I/O Pressure, Some',
        description: `${PRESSURE} some task waited for I/O`,
        value: field('psi_io_some10', 0.01),
      },
      psi_io_full: {
        title: 'I/O Pressure, Full',
        description: `${PRESSURE} all tasks at once waited for I/O`,
        value: field('psi_io_full10', 0.01),
      },
    },
  ),
  ...group(
    'pressure',
    { type: 'float', units: 'pages/sec', slope: 'both', tmax: OURS_TMAX, digits: 1 },
    {
      swap_in: { title: 'Pages Swapped In', description: 'Pages read from swap', value: rate('swapin_pages') },
      swap_out: { title: 'Pages Swapped Out', description: 'Pages written to swap', value: rate('swapout_pages') },
    },
  ),
  ...group(
    'disk',
    { type: 'float', units: 'bytes/sec', slope: 'both', tmax: OURS_TMAX, digits: 0 },
    {
      disk_read: { title: 'Disk Bytes Read', description: 'Bytes read from disks', value: rate('disk_read_bytes') },
      disk_write: {
        title: 'Disk Bytes Written',
        description: 'Bytes written to disks',
        value: rate('disk_write_bytes'),
      },
      disk_busiest: {
        title: 'Busiest Disk',
        description: 'Share of time in which the busiest disk was at work',
        units: '%',
        digits: 1,
        value: field('disk_busiest_pm', 0.1),
      },
    },
  ),
  ...group(
    'gpu',
    { type: 'float', units: 'GPUs', slope: 'both', tmax: OURS_TMAX, digits: 0 },
    {
      gpu_num: {
        title: 'GPU Count',
        description: 'GPUs present',
        type: 'uint16',
        slope: 'zero',
        value: field('gpu_count'),
      },
      gpu_used: { title: 'GPUs in Use', description: 'GPUs that are in use', type: 'uint16', value: field('gpu_busy') },
      gpu_util: {
        title: 'GPU Utilization',
        description: 'Share of time in which a kernel ran, mean of all GPUs',
        units: '%',
        digits: 1,
        value: gpus((view, at) => unless(view.getUint8(at + util_pct.offset), 255), mean),
      },
      gpu_mem_used: {
        title: 'GPU Memory Used',
        description: 'Memory in use on all GPUs',
        units: 'KB',
        value: gpus(gpuMemory(mem_used_mib.offset), sum),
      },
      gpu_mem_total: {
        title: 'GPU Memory Total',
        description: 'Memory of all GPUs',
        units: 'KB',
        slope: 'zero',
        value: gpus(gpuMemory(mem_total_mib.offset), sum),
      },
      gpu_power: {
        title: 'GPU Power',
        description: 'Power of all GPUs',
        units: 'W',
        value: gpus((view, at) => unless(view.getUint16(at + power_w.offset, true), 65535), sum),
      },
      gpu_temp: {
        title: 'GPU Temperature',
        description: 'Temperature of the hottest GPU',
        units: 'C',
        value: gpus((view, at) => unless(view.getUint8(at + temp_degc.offset), 255), highest),
      },
      gpu_errors: {
        title: 'GPU Errors',
        description: 'Errors that the GPUs reported since boot',
        type: 'uint32',
        units: 'errors',
        value: field('gpu_errors'),
      },
    },
  ),
  ...group(
    'fabric',
    { type: 'float', units: 'bytes/sec', slope: 'both', tmax: OURS_TMAX, digits: 0 },
    {
      fabric_bytes_in: {
        title: 'Fabric Bytes Received',
        description: 'Bytes received by all RDMA ports',
        value: fabric('rx_bytes'),
      },
      fabric_bytes_out: {
        title: 'Fabric Bytes Sent',
        description: 'Bytes sent by all RDMA ports',
        value: fabric('tx_bytes'),
      },
      fabric_errors: {
        title: 'Fabric Errors',
        description: 'Errors of all RDMA ports',
        units: 'errors/sec',
        digits: 2,
        value: fabric('errors'),
      },
    },
  ),
  ...group(
    'power',
    { type: 'float', units: 'W', slope: 'both', tmax: OURS_TMAX, digits: 1 },
    {
      power_node: { title: 'Node Power', description: 'Power of the whole node', value: field('power_node_w') },
      power_cpu: {
        title: 'CPU Power',
        description: 'Power of all CPU packages',
        value: rate('energy_cpu_mj', 0.001),
      },
      power_dram: { title: 'Memory Power', description: 'Power of all memory', value: rate('energy_dram_mj', 0.001) },
      temp_inlet: {
        title: 'Inlet Temperature',
        description: 'Temperature of the air that comes in',
        units: 'C',
        value: field('temp_inlet_dc', 0.1),
      },
      temp_hottest: {
        title: 'Hottest CPU',
        description: 'Temperature of the hottest CPU sensor',
        units: 'C',
        value: field('temp_hottest_dc', 0.1),
      },
    },
  ),
  ...group(
    'health',
    { type: 'uint32', units: ' ', slope: 'both', tmax: OURS_TMAX, digits: 0 },
    {
      health: {
        title: 'Health',
        description: 'What the health check found: 0 unknown, 1 ok, 2 warning, 3 bad',
        type: 'uint16',
        value: field('health'),
      },
      held: {
        title: 'Held',
        description: '1 while the node is held back from work',
        type: 'uint16',
        value: flag('held'),
      },
      root_readonly: {
        title: 'Root Read-Only',
        description: '1 while the root file system is read-only',
        type: 'uint16',
        value: flag('root_readonly'),
      },
      oom_kills: {
        title: 'OOM Kills',
        description: 'Processes killed for want of memory since boot',
        units: 'kills',
        value: field('oom_kills'),
      },
      hung_tasks: {
        title: 'Hung Tasks',
        description: 'Tasks that the kernel found hung since boot',
        units: 'tasks',
        value: field('hung_tasks'),
      },
      edac_ce: {
        title: 'Memory Errors, Corrected',
        description: 'Memory errors that were corrected since boot',
        units: 'errors',
        value: field('edac_ce'),
      },
      edac_ue: {
        title: 'Memory Errors, Uncorrected',
        description: 'Memory errors that could not be corrected since boot',
        units: 'errors',
        value: field('edac_ue'),
      },
      throttle_events: {
        title: 'Throttling',
        description: 'Times that CPUs were slowed down for their heat since boot',
        units: 'events',
        value: field('throttle_events'),
      },
    },
  ),
  ...group(
    'liveness',
    { type: 'float', units: 's', slope: 'both', tmax: OURS_TMAX, digits: 3 },
    {
      report_age: {
        title: 'Report Age',
        description: 'Time since the last report of the node reached the master',
        value: { take: host => host.age },
      },
      send_late: {
        title: 'Sender Lateness',
        description: 'How late the last report was made: a starved node is late',
        value: field('late_us', 1e-6),
      },
      clock_ahead: {
        title: 'Clock Ahead',
        description: 'The clock of the node less the clock of the master',
        value: { take: host => host.skew },
      },
      reports_lost: {
        title: 'Reports Lost',
        description: 'Reports of the node that never reached the master',
        type: 'double',
        units: 'reports',
        digits: 0,
        value: counted('lost'),
      },
    },
  ),
];

/** All of them. */
export const METRICS: readonly Metric[] = [...GMOND, ...OURS];

/** By what `--metrics` calls them. */
export const METRIC_SETS = { gmond: GMOND, all: METRICS };
