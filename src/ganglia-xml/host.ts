// A node as one of Ganglia's HOSTs: whether it is up there, and the numbers that its metrics are made of. Laid over one
// node after the other, because 10,000 of them are one document: it makes no objects.

import { structs } from '../layout/layout.gen.js';
import type { State } from '../shm/liveness.js';
import { type Counter, type InterfaceCounter, interfaceCounterOf, Pair } from '../shm/rates.js';
import type { Node, Snapshot } from '../shm/reader.js';

/** gmetad calls a host down when its TN has reached four times its TMAX. */
export const TMAX = 20;
export const DOWN = 4 * TMAX;
/** The highest TN of a host that is up: what is short of DOWN also when a poll and a page come late. */
const UP_MOST = 60;

/** The kinds of CPU time, in the order of the contract's `cpu_*_ms`. */
export const CPU_KINDS = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'] as const;
/** What is added up over all interfaces. */
export const TRAFFIC = ['rx_bytes', 'tx_bytes', 'rx_packets', 'tx_packets'] as const satisfies InterfaceCounter[];

const TRAFFIC_COUNTERS = TRAFFIC.map(interfaceCounterOf);
const { fields } = structs.report;

/** TN of a host in that state whose report is of that age, s. */
function tnOf(state: State, age: number): number {
  return state === 'silent' || state === 'left' ? DOWN + age : Math.min(age, UP_MOST);
}

/**
 * What is known, and when. While the board is stalled or retired there is no evidence about any node, and every way of
 * saying so in Ganglia's language is wrong somewhere (tried with gmetad 3.7.2):
 *
 *   TN goes on          all hosts go down: the monitor's failure is blamed on the nodes
 *   hosts are left out  they count neither as up nor as down, and the sums of the cluster are recorded as 0
 *   METRICs left out    hosts stay up, but the sums of the cluster are recorded as 0, for good
 *   LOCALTIME stands    gmetad refuses every point, with one line in syslog for each metric of each host and poll
 *   no document         the source is dead: gaps, as it should be, but after 80 s all hosts are shown as down
 *
 * So a host stays as it was at the last heartbeat, with its last readings, and its METRICs' TN say how old these
 * really are; a comment in the document says it too. That harms least for the minutes of a restart. It would be a lie
 * for ever, so it is the caller's part to say it aloud: `xml` by its exit code, a server in its log and, when the stall
 * lasts, by giving no document: a dead source is Ganglia's word for a monitor that has failed.
 */
function tnAtHeartbeat({ evidence }: Snapshot, { knownState, stampNs = 0n }: Node): number {
  // Between two times of the receiver's: its clock need not be ours.
  return tnOf(knownState, Math.max(0, Number((evidence.heartbeatNs - stampNs) / 1_000_000_000n)));
}

export class Host {
  view: DataView = new DataView(new ArrayBuffer(0));
  /** The same memory, as bytes. */
  bytes: Uint8Array = new Uint8Array();
  /** Offset of its record. */
  record = 0;
  /** Offset of its newest report; -1 when there is none. */
  report = -1;
  /** Age of that report in seconds. */
  age = 0;
  /** Its wall clock less the master's, s. */
  skew = 0;
  /** Seconds, by what gmetad makes of them: from DOWN on the host is down. Only evidence brings one down. */
  tn = 0;
  /** Its two reports; rates only where `moving`. */
  readonly pair = new Pair();
  moving = false;
  /** Per cent of all CPU time between the two reports, by CPU_KINDS; NaN: not known. Only where `moving`. */
  readonly shares = new Float64Array(CPU_KINDS.length);
  /** Per second, all interfaces together, by TRAFFIC; NaN: not known. Only where `moving`. */
  readonly traffic = new Float64Array(TRAFFIC.length);

  get isUp(): boolean {
    return this.tn < DOWN;
  }

  lay(snapshot: Snapshot, node: Node): void {
    this.view = node.view;
    if (this.bytes.buffer !== node.view.buffer || this.bytes.byteOffset !== node.view.byteOffset)
      this.bytes = new Uint8Array(node.view.buffer, node.view.byteOffset, node.view.byteLength);
    this.record = node.offset;
    const { reportAt, ageMs } = node;
    if (reportAt === undefined || ageMs === undefined) {
      this.report = -1;
      this.tn = DOWN + Math.floor(snapshot.listenedMs / 1000);
      return;
    }
    this.report = reportAt;
    // How old the readings are goes on, whatever is known of the node.
    this.age = ageMs / 1000;
    this.skew = snapshot.overview.skews[node.index] as number;
    this.tn =
      snapshot.stalled || snapshot.retired ? tnAtHeartbeat(snapshot, node) : tnOf(node.state, Math.floor(this.age));
    this.moving = this.pair.lay(node.view, node.previousAt, reportAt);
    if (!this.moving) return;
    this.pair.shares(this.shares);
    this.#addTraffic();
  }

  /** All interfaces together. One that has no rate yet leaves the sum unknown: a dip that was none would stay for good. */
  #addTraffic(): void {
    const { pair, traffic } = this;
    for (let i = 0; i < TRAFFIC.length; i++) traffic[i] = Number.NaN;
    if (!pair.hasNet) return;
    const rest = this.view.getUint8(this.report + fields.net_rest.offset) !== 0;
    if (rest && !pair.hasSum('net_rest')) return;
    const { found, unknown } = pair.matchNet();
    if (unknown > 0 || (found === 0 && !rest)) return;
    for (let i = 0; i < TRAFFIC.length; i++) {
      const counter = TRAFFIC_COUNTERS[i] as Counter;
      let sum = rest ? pair.sumRate('net_rest', counter) : 0;
      for (let j = 0; j < found; j++) sum += pair.entryRate(counter, j);
      traffic[i] = sum;
    }
  }

  /** A time of the report in ns, to some 100 ns. */
  #ns(offset: number): number {
    const at = this.report + offset;
    return this.view.getUint32(at + 4, true) * 2 ** 32 + this.view.getUint32(at, true);
  }

  /**
   * Seconds since 1970, by the node's wall clock, of the boot of the node, or of the start of its sender; NaN when that
   * is none of Ganglia's uint32, as on a node whose clock was never set.
   */
  wallSeconds(of: 'boot' | 'start'): number {
    const since = of === 'boot' ? 0 : this.#ns(fields.start_boot_ns.offset);
    const found = Math.floor((this.#ns(fields.t_real_ns.offset) - this.#ns(fields.t_boot_ns.offset) + since) / 1e9);
    return found >= 0 && found < 2 ** 32 ? found : Number.NaN;
  }
}
