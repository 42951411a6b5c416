// A node as a HOST of Ganglia: whether it is up there, and the numbers for its metrics. One object moves from node to
// node, because 10,000 of them are one document.

import { structs } from '../layout/layout.gen.js';
import { Cursor } from '../readings/cursor.js';
import type { State } from '../shm/liveness.js';
import type { Node, Snapshot } from '../shm/snapshot.js';

/** gmetad calls a host down when its TN has reached four times its TMAX. */
export const TMAX = 20;
export const DOWN = 4 * TMAX;
/** The highest TN of a host that is up: it stays below DOWN even if a poll and a page come late. */
const UP_MOST = 60;

const { fields } = structs.report;

/** The TN of a host in that state whose report has that age, s. */
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
 * forever, so it is the caller's part to say it aloud: `xml` by its exit code, a server in its log and, when the stall
 * lasts, by giving no document: a dead source is Ganglia's word for a monitor that has failed.
 */
function tnAtHeartbeat({ evidence }: Snapshot, { knownState, stampNs = 0n }: Node): number {
  // The time lies between two times of the receiver: its clock need not be ours.
  return tnOf(knownState, Math.max(0, Number((evidence.heartbeatNs - stampNs) / 1_000_000_000n)));
}

export class Host extends Cursor {
  bytes: Uint8Array = new Uint8Array();
  age = 0;
  /** Seconds, chosen by what gmetad makes of them: from DOWN on, the host is down. Only evidence may make it down. */
  tn = 0;

  get isUp(): boolean {
    return this.tn < DOWN;
  }

  layHost(snapshot: Snapshot, node: Node): void {
    this.moveTo(snapshot, node.index);
    const { view } = this;
    if (this.bytes.buffer !== view.buffer || this.bytes.byteOffset !== view.byteOffset)
      this.bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    const { ageMs } = node;
    if (this.report < 0 || ageMs === undefined) {
      this.tn = DOWN + Math.floor(snapshot.listenedMs / 1000);
      return;
    }
    // The age of the readings increases, whatever is known about the node.
    this.age = ageMs / 1000;
    this.tn =
      snapshot.stalled || snapshot.retired ? tnAtHeartbeat(snapshot, node) : tnOf(node.state, Math.floor(this.age));
  }

  /** A time of the report in ns, to some 100 ns. */
  #ns(offset: number): number {
    const at = this.report + offset;
    return this.view.getUint32(at + 4, true) * 2 ** 32 + this.view.getUint32(at, true);
  }

  /**
   * The boot of the node, or the start of its sender, in seconds since 1970 by the node's wall clock; NaN if it does
   * not fit into Ganglia's uint32, as on a node whose clock was never set.
   */
  wallSeconds(of: 'boot' | 'start'): number {
    const since = of === 'boot' ? 0 : this.#ns(fields.start_boot_ns.offset);
    const found = Math.floor((this.#ns(fields.t_real_ns.offset) - this.#ns(fields.t_boot_ns.offset) + since) / 1e9);
    return found >= 0 && found < 2 ** 32 ? found : Number.NaN;
  }
}
