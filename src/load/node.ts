// One simulated node: a report whose readings move as a busy machine's would. Writes straight into the bytes that are
// sent, because 100,000 of these a second have to come from one core. Pure: the caller brings the time.

import { encode, REPORT_BYTES } from '../layout/codec.js';
import { clusterId, MAGIC, STAT_VERSION } from '../layout/identity.js';
import { bits, structs } from '../layout/layout.gen.js';

type ReportField = keyof typeof structs.report.fields;

const at = (field: ReportField) => structs.report.fields[field].offset;
const NET = at('net');
const net = (field: keyof typeof structs.net_if.fields) => NET + structs.net_if.fields[field].offset;

/** Offsets of what moves. */
const SEQ = at('seq');
const REAL = at('t_real_ns');
const BOOT = at('t_boot_ns');
const FLAGS = at('flags');
const LOAD = at('load1_c');
const BUSY = at('cpu_busy_pm');
const AVAILABLE = at('mem_avail_mib');
const USER = at('cpu_user_ms');
const SYSTEM = at('cpu_system_ms');
const IDLE = at('cpu_idle_ms');
const CTXT = at('ctxt');
const RX = net('rx_bytes');
const TX = net('tx_bytes');
const RX_PACKETS = net('rx_packets');
const TX_PACKETS = net('tx_packets');

const CPUS = 64;
const MEMORY_MIB = 256 * 1024;
const HIGH = 2 ** 32;

const SETS = ['cpus', 'topology', 'load', 'stat', 'cpu_share', 'memory', 'net', 'system', 'sender'] as const;
const VALID = SETS.reduce((valid, set) => valid | (1n << BigInt(bits.valid[set])), 0n);

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
function add(view: DataView, offset: number, more: number): void {
  const low = view.getUint32(offset, true) + more;
  view.setUint32(offset, low % HIGH, true);
  if (low >= HIGH) view.setUint32(offset + 4, view.getUint32(offset + 4, true) + Math.floor(low / HIGH), true);
}

export interface Simulated {
  name: string;
  cluster: string | undefined;
  intervalMs: number;
  agentVersion: number;
  /** CLOCK_BOOTTIME of this machine in ns, from which the node's own is taken. */
  bootNs: bigint;
}

/** The nodes of a simulated cluster, their reports one behind the other in `reports`. */
export class Cluster {
  readonly reports: Uint8Array;
  readonly #view: DataView;
  readonly #busy: Float64Array;
  readonly #random: () => number;
  readonly #seconds: number;

  constructor(
    readonly count: number,
    node: (index: number) => Simulated,
    seed: number,
  ) {
    this.reports = new Uint8Array(count * REPORT_BYTES);
    this.#view = new DataView(this.reports.buffer);
    this.#random = random(seed);
    this.#busy = Float64Array.from({ length: count }, () => this.#random());
    for (let i = 0; i < count; i++) this.#begin(i, node(i));
    this.#seconds = count > 0 ? this.#view.getUint32(at('interval_ms'), true) / 1000 : 1;
  }

  #begin(index: number, node: Simulated): void {
    const uptime = Math.floor(this.#random() * 100 * 86_400_000); // ms, up to 100 days before now
    encode('report', this.#view, index * REPORT_BYTES, {
      magic: MAGIC,
      version: STAT_VERSION,
      length: REPORT_BYTES,
      cluster_id: clusterId(node.cluster),
      boot_id: (BigInt(Math.floor(this.#random() * HIGH)) << 32n) | BigInt(Math.floor(this.#random() * HIGH)),
      seq: HIGH - 1, // the first move makes it 0
      interval_ms: node.intervalMs,
      t_boot_ns: node.bootNs,
      valid: VALID,
      hostname: node.name,
      agent_version: node.agentVersion,
      start_boot_ns: node.bootNs,
      cpus_online: CPUS,
      cpus_present: CPUS,
      packages: 2,
      threads_per_core: 2,
      numa_nodes: 2,
      runnable: 1,
      threads: 900,
      mem_total_mib: MEMORY_MIB,
      mem_free_mib: MEMORY_MIB / 8,
      mem_cached_mib: MEMORY_MIB / 8,
      cpu_user_ms: uptime * CPUS * 0.4,
      cpu_system_ms: uptime * CPUS * 0.05,
      cpu_idle_ms: uptime * CPUS * 0.55,
      ctxt: uptime * 20,
      intr: uptime * 10,
      forks: uptime / 100,
      os_release: '6.1.0-beoboard-load',
      arch: 1,
      virt: 0,
      page_kib: 4,
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
    });
  }

  /** Makes the next report of a node: an interval's worth of work has been done since its last. */
  move(index: number, realNs: bigint, bootNs: bigint): void {
    const view = this.#view;
    const base = index * REPORT_BYTES;
    const random = this.#random;
    // A busy node stays busy for a while: a walk that drifts, held within 0 and 1.
    const busy = Math.min(1, Math.max(0, (this.#busy[index] ?? 0) + (random() - 0.5) * 0.05));
    this.#busy[index] = busy;
    const ms = this.#seconds * 1000;
    const seq = (view.getUint32(base + SEQ, true) + 1) % HIGH;
    view.setUint32(base + SEQ, seq, true);
    view.setUint32(base + FLAGS, seq === 0 ? 2 ** bits.flags.first : 0, true);
    view.setBigUint64(base + REAL, realNs, true);
    view.setBigUint64(base + BOOT, bootNs, true);
    view.setUint32(base + LOAD, Math.round(busy * CPUS * 100), true);
    view.setUint16(base + BUSY, Math.round(busy * 1000), true);
    view.setUint32(base + AVAILABLE, Math.round(MEMORY_MIB * (1 - 0.8 * busy)), true);
    add(view, base + USER, Math.round(busy * 0.9 * ms * CPUS));
    add(view, base + SYSTEM, Math.round(busy * 0.1 * ms * CPUS));
    add(view, base + IDLE, Math.round((1 - busy) * ms * CPUS));
    add(view, base + CTXT, Math.round(busy * 20 * ms));
    add(view, base + RX, Math.round(busy * 125_000 * ms));
    add(view, base + TX, Math.round(busy * 100_000 * ms));
    add(view, base + RX_PACKETS, Math.round(busy * 100 * ms));
    add(view, base + TX_PACKETS, Math.round(busy * 80 * ms));
  }
}
