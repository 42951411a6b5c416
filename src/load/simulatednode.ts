// A simulated node: a report whose readings change as on a busy machine. Writes directly into the bytes that are sent,
// because one core has to make 100,000 of these a second. Pure: the caller gives the time.

import { type Encodable, encode, REPORT_BYTES, type ReportField } from '../layout/codec.js';
import { clusterId } from '../layout/identity.js';
import { bits, constants, enums, structs } from '../layout/layout.gen.js';
import { sign } from '../layout/tag.js';
import type { Key } from '../options/keys.js';
import { words } from '../text/tables.js';

const { fields } = structs.report;
const { fields: netFields } = structs.net_if;
const { fields: gpuFields } = structs.gpu_slot;
/** The offset of a field in a report. */
export const at = (field: ReportField) => fields[field].offset;

export const CPUS = 64;
const MEMORY_MIB = 256 * 1024;
const GPUS = 4;
/** One of so many nodes has GPUs. */
const GPU_NODES = 8;
const HIGH = 2 ** 32;

const SETS = words(
  'cpus topology load stat cpu_share memory psi_cpu psi_mem psi_io vmstat net disk disk_share system cpu_mhz',
  'sender clock energy_cpu power temp_hottest root filesystems',
);
/** The `valid` of a report in which these sets were measured. */
export const validOf = (sets: readonly (keyof typeof bits.valid)[]) =>
  sets.reduce((valid, set) => valid | (1n << BigInt(bits.valid[set])), 0n);
const VALID = validOf(SETS);
const VALID_WITH_GPUS = validOf([...SETS, 'gpu']);

/** What never changes, and is the same of all nodes. */
const COMMON = {
  magic: constants.stat.magic,
  version: constants.stat.version,
  length: REPORT_BYTES,
  ...{ cpus_online: CPUS, cpus_present: CPUS, packages: 2, threads_per_core: 2, numa_nodes: 2, threads: 900 },
  ...{ mem_total_mib: MEMORY_MIB, mem_cached_mib: MEMORY_MIB / 8, mem_buffers_mib: 300 },
  ...{ cpu_mhz_max: 3500, clock_maxerr_us: 300, disks: 1, power_src: 1 },
  ...{ root_total_mib: 100_000, root_avail_mib: 60_000, root_inodes_free_pm: 930 },
  ...{ fs_total_mib: 1_900_000, fs_avail_mib: 1_100_000, fs_fullest_pm: 420 },
  os_release: '6.1.0-beoboard-load',
  ...{ arch: 1, virt: 0, page_kib: 4 },
};

/** The same of those with GPUs. */
const WITH_GPUS = {
  gpu_count: GPUS,
  gpu_vendor: 1,
  gpu_flags: Array.from({ length: GPUS }, () => 1 << bits.gpu_flags.present),
  gpu: Array.from({ length: GPUS }, () => ({ mem_total_mib: 81_920 })),
};

/** A small generator with a state (mulberry32): the same seed gives the same cluster. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / HIGH;
  };
}

/** Adds to a u64 in place, without bigint. */
export function add(view: DataView, offset: number, more: number): void {
  const low = view.getUint32(offset, true) + more;
  view.setUint32(offset, low % HIGH, true);
  if (low >= HIGH) view.setUint32(offset + 4, view.getUint32(offset + 4, true) + Math.floor(low / HIGH), true);
}

/** Moves a u32 towards a value by a part of the distance, as a load average does. */
function follow(view: DataView, offset: number, value: number, part: number): void {
  const last = view.getUint32(offset, true);
  view.setUint32(offset, Math.round(last + (value - last) * Math.min(1, part)), true);
}

interface Simulated {
  name: string;
  cluster: string | undefined;
  intervalMs: number;
  agentVersion: number;
  /** CLOCK_BOOTTIME of this machine in ns, from which the node's is computed. */
  bootNs: bigint;
  isFull?: boolean;
  /** The node's own key, which signs its reports; undefined: they are not signed. */
  key?: Key | undefined;
}

/** What nodes do, if it is not a random walk of their own. */
export interface Work {
  /** What node number `index` has besides what all have. */
  begin(index: number): { valid: bigint; fields: Encodable<'report'> };
  /** Makes its readings those of now: of CLOCK_BOOTTIME, ms. */
  write(view: DataView, base: number, index: number, nowMs: number): void;
}

/** The nodes of a simulated cluster, with their reports one after another in `reports`. */
export class Cluster {
  readonly reports: Uint8Array;
  readonly #view: DataView;
  readonly #busy: Float64Array;
  readonly #random: () => number;
  readonly #seconds: number;
  readonly #keys: (Key | undefined)[] = [];

  constructor(
    readonly count: number,
    node: (index: number) => Simulated,
    seed: number,
    readonly work?: Work,
  ) {
    this.reports = new Uint8Array(count * REPORT_BYTES);
    this.#view = new DataView(this.reports.buffer);
    this.#random = random(seed);
    this.#busy = Float64Array.from({ length: count }, () => this.#random());
    for (let i = 0; i < count; i++) this.#begin(i, node(i));
    this.#seconds = count > 0 ? this.#view.getUint32(at('interval_ms'), true) / 1000 : 1;
  }

  #begin(index: number, node: Simulated): void {
    this.#keys.push(node.key);
    const work = this.work?.begin(index);
    const hasGpus = work === undefined && index % GPU_NODES === 0;
    const uptime = Math.floor(this.#random() * 100 * 86_400_000); // ms, up to 100 days before now
    encode('report', this.#view, index * REPORT_BYTES, {
      ...COMMON,
      cluster_id: clusterId(node.cluster),
      boot_id: (BigInt(Math.floor(this.#random() * HIGH)) << 32n) | BigInt(Math.floor(this.#random() * HIGH)),
      seq: HIGH - 1, // The first move makes it 0.
      interval_ms: node.intervalMs,
      t_boot_ns: node.bootNs,
      valid: hasGpus ? VALID_WITH_GPUS : VALID | (work?.valid ?? 0n),
      hostname: node.name,
      agent_version: node.agentVersion,
      ...(node.key && { key_id: node.key.id, auth_alg: enums.auth_alg.indexOf('node') }),
      start_boot_ns: node.bootNs,
      load5_c: (this.#busy[index] ?? 0) * CPUS * 100,
      load15_c: (this.#busy[index] ?? 0) * CPUS * 100,
      disk_read_bytes: uptime * 400,
      disk_write_bytes: uptime * 900,
      energy_cpu_mj: uptime * 250,
      ...(hasGpus && WITH_GPUS),
      ...(node.isFull && { root_avail_mib: 400 }),
      cpu_user_ms: uptime * CPUS * 0.4,
      cpu_system_ms: uptime * CPUS * 0.05,
      cpu_idle_ms: uptime * CPUS * 0.55,
      ctxt: uptime * 20,
      intr: uptime * 10,
      forks: uptime / 100,
      net: [
        {
          name: 'eth0',
          rx_bytes: uptime * 5_000,
          tx_bytes: uptime * 4_000,
          rx_packets: uptime * 5,
          tx_packets: uptime * 4,
          mbps: 25_000,
          state: 0x1_0003,
        },
      ],
      ...work?.fields,
    });
  }

  /** Its sender was killed, and starts again. */
  restart(index: number, bootNs: bigint): void {
    const base = index * REPORT_BYTES;
    this.#view.setUint32(base + fields.seq.offset, HIGH - 1, true);
    this.#view.setBigUint64(base + fields.start_boot_ns.offset, bootNs, true);
  }

  /** Makes the next report of a node, with an interval's worth of work since the last one. */
  move(index: number, realNs: bigint, bootNs: bigint): void {
    const view = this.#view;
    const base = index * REPORT_BYTES;
    const seq = (view.getUint32(base + fields.seq.offset, true) + 1) % HIGH;
    view.setUint32(base + fields.seq.offset, seq, true);
    view.setUint32(base + fields.flags.offset, seq === 0 ? 2 ** bits.flags.first : 0, true);
    view.setBigUint64(base + fields.t_real_ns.offset, realNs, true);
    view.setBigUint64(base + fields.t_boot_ns.offset, bootNs, true);
    view.setBigUint64(base + fields.slow_boot_ns.offset, bootNs, true);
    if (this.work === undefined) this.#wander(base, index);
    else this.work.write(view, base, index, Number(bootNs / 1_000_000n));
    const key = this.#keys[index];
    if (key !== undefined) sign(this.reports.subarray(base, base + REPORT_BYTES), key);
  }

  #wander(base: number, index: number): void {
    const view = this.#view;
    const random = this.#random;
    // A busy node stays busy for a while: a random walk that drifts, limited to 0 to 1.
    const busy = Math.min(1, Math.max(0, (this.#busy[index] ?? 0) + (random() - 0.5) * 0.05));
    this.#busy[index] = busy;
    const ms = this.#seconds * 1000;
    const load = busy * CPUS * 100;
    view.setUint32(base + fields.load1_c.offset, Math.round(load), true);
    follow(view, base + fields.load5_c.offset, load, this.#seconds / 300);
    follow(view, base + fields.load15_c.offset, load, this.#seconds / 900);
    view.setUint32(base + fields.runnable.offset, 1 + Math.round(busy * CPUS), true);
    view.setUint16(base + fields.cpu_busy_pm.offset, Math.round(busy * 1000), true);
    view.setUint32(base + fields.mem_avail_mib.offset, Math.round(MEMORY_MIB * (1 - 0.8 * busy)), true);
    view.setUint32(base + fields.mem_free_mib.offset, Math.round(MEMORY_MIB * (0.85 - 0.8 * busy)), true);
    view.setUint16(base + fields.psi_cpu_some10.offset, Math.round(3000 * busy ** 4), true);
    view.setUint16(base + fields.psi_io_some10.offset, Math.round(500 * busy), true);
    view.setUint32(base + fields.late_us.offset, 40 + Math.round(busy * 200), true);
    add(view, base + fields.cpu_user_ms.offset, Math.round(busy * 0.9 * ms * CPUS));
    add(view, base + fields.cpu_system_ms.offset, Math.round(busy * 0.1 * ms * CPUS));
    add(view, base + fields.cpu_idle_ms.offset, Math.round((1 - busy) * ms * CPUS));
    add(view, base + fields.ctxt.offset, Math.round(busy * 20 * ms));
    add(view, base + fields.disk_read_bytes.offset, Math.round(busy * 800) * ms);
    add(view, base + fields.disk_write_bytes.offset, Math.round(busy * 1800) * ms);
    view.setUint16(base + fields.disk_busiest_pm.offset, Math.round(busy * 90), true);
    add(view, base + fields.energy_cpu_mj.offset, Math.round((150 + 350 * busy) * this.#seconds) * 1000);
    view.setUint16(base + fields.power_node_w.offset, Math.round(220 + 480 * busy), true);
    view.setInt16(base + fields.temp_hottest_dc.offset, Math.round(380 + 400 * busy), true);
    const net = base + fields.net.offset;
    add(view, net + netFields.rx_bytes.offset, Math.round(busy * 125_000 * ms));
    add(view, net + netFields.tx_bytes.offset, Math.round(busy * 100_000 * ms));
    add(view, net + netFields.rx_packets.offset, Math.round(busy * 100 * ms));
    add(view, net + netFields.tx_packets.offset, Math.round(busy * 80 * ms));
    if (index % GPU_NODES === 0) this.#moveGpus(base, busy);
  }

  /** The busier the node, the more of its GPUs are in use. */
  #moveGpus(base: number, busy: number): void {
    const view = this.#view;
    const used = Math.round(busy * GPUS);
    view.setUint8(base + fields.gpu_busy.offset, used);
    for (let i = 0; i < GPUS; i++) {
      const share = i < used ? busy : 0;
      const gpu = base + fields.gpu.offset + i * structs.gpu_slot.bytes;
      view.setUint8(gpu + gpuFields.util_pct.offset, Math.round(100 * share));
      view.setUint8(gpu + gpuFields.temp_degc.offset, Math.round(35 + 40 * share));
      view.setUint16(gpu + gpuFields.power_w.offset, Math.round(60 + 600 * share), true);
      view.setUint32(gpu + gpuFields.mem_used_mib.offset, Math.round(70_000 * share), true);
    }
  }
}
