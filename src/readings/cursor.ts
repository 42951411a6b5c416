// A cursor for code that reads numbers of many nodes: it moves from node to node, because 10,000 of them are one
// document. It makes no objects and computes only what is asked for.

import { structs } from '../layout/layout.gen.js';
import { type Counter, CPU_TIMES, type InterfaceCounter, interfaceCounterOf, Pair } from '../shm/rates.js';
import type { Node, Snapshot } from '../shm/snapshot.js';

/** The kinds of CPU time, in the order of the contract's `cpu_*_ms`. */
export const CPU_KINDS = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'] as const;
/** What is added up over all interfaces. */
export const TRAFFIC = ['rx_bytes', 'tx_bytes', 'rx_packets', 'tx_packets'] as const satisfies InterfaceCounter[];

const TRAFFIC_COUNTERS = TRAFFIC.map(interfaceCounterOf);
const { fields } = structs.report;

const NOTHING = new DataView(new ArrayBuffer(0));

export class Cursor {
  snapshot: Snapshot | undefined;
  index = -1;
  view: DataView = NOTHING;
  record = 0;
  /** The offset of its newest report; -1: there is none. */
  report = -1;
  /** The slot that holds the report, as a word; -1: there is none. */
  #newest = -1;
  readonly #pair = new Pair();
  readonly #shares = new Float64Array(CPU_TIMES.length);
  readonly #traffic = new Float64Array(TRAFFIC.length);
  #isPaired = false;
  #isMoving = false;
  #hasShares = false;
  #hasTraffic = false;

  moveTo(snapshot: Snapshot, index: number): void {
    this.snapshot = snapshot;
    this.index = index;
    this.view = snapshot.view;
    const word = snapshot.recordWord(index);
    this.record = word * 4;
    this.#newest = snapshot.newestSlot(word);
    this.report = this.#newest < 0 ? -1 : this.#newest * 4 + snapshot.reportOffset;
    this.#isPaired = false;
    this.#hasShares = false;
    this.#hasTraffic = false;
  }

  /** Whether there are two reports that can have rates. */
  get moving(): boolean {
    if (!this.#isPaired) {
      this.#isPaired = true;
      this.#isMoving = this.#layPair();
    }
    return this.#isMoving;
  }

  /** Moves the pair to its two reports; returns false if these cannot have rates. */
  #layPair(): boolean {
    const { snapshot, report, record, view } = this;
    if (snapshot === undefined || report < 0) return false;
    const before = snapshot.newestSlot(record / 4, this.#newest);
    return before >= 0 && this.#pair.set(view, before * 4 + snapshot.reportOffset, report);
  }

  /** Its two reports; only valid if it is `moving`. */
  get pair(): Pair {
    return this.#pair;
  }

  /** The offset of the report before; -1: there are no two reports that can have rates. */
  get before(): number {
    return this.moving ? this.#pair.before : -1;
  }

  /** Per cent of all CPU time between the two reports, by CPU_KINDS; NaN: unknown. Only valid if it is `moving`. */
  get shares(): Float64Array {
    if (!this.#hasShares) {
      this.#hasShares = true;
      this.#pair.shares(this.#shares);
    }
    return this.#shares;
  }

  /** Per second, all interfaces together, by TRAFFIC; NaN: unknown. Only valid if it is `moving`. */
  get traffic(): Float64Array {
    if (!this.#hasTraffic) {
      this.#hasTraffic = true;
      this.#addTraffic();
    }
    return this.#traffic;
  }

  /** If one interface has no rate yet, the sum is unknown: otherwise a graph would keep a dip that never happened. */
  #addTraffic(): void {
    const pair = this.#pair;
    const traffic = this.#traffic;
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
}

const shared = new Cursor();
let last: Node | undefined;

/** A cursor at the node, valid until another is asked for: several readings of one node are asked for in a row. */
export function cursorOf(node: Node): Cursor {
  if (node !== last) shared.moveTo(node.snapshot, node.index);
  last = node;
  return shared;
}
