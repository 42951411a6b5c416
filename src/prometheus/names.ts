// The names of a board's nodes as labels, made once and kept: a scrape writes each of them for every reading. When a
// board is replaced, nodes may have other numbers; what was kept of a node follows its name.

import type { NodeStates } from '../shm/nodestates.js';
import { WORD } from '../text/buffer.js';
import type { Monotonic } from './family.js';
import { escaped } from './plan.js';

/** The sums that are kept of a node. */
export const SUMS = [
  ...['disk_read_bytes', 'disk_write_bytes', 'disk_reads', 'disk_writes', 'disk_weighted_ms'],
  ...['net.rx_bytes', 'net.tx_bytes', 'net.rx_packets', 'net.tx_packets', 'net.errors', 'net.drops'],
  ...['fabric.rx_bytes', 'fabric.tx_bytes', 'fabric.errors'],
  ...['edac_ce', 'edac_ue', 'throttle_events'],
] as const;

/**
 * The numbers that are kept of a node: eight CPU numbers, the time of its boot, and of each sum what was exported, what
 * the report had, and its epoch.
 */
export const BOOT_TIME = 8;
const FIRST_SUM = 9;
const KEPT = FIRST_SUM + 3 * SUMS.length;

/** FNV-1a of the name, 32 bits: a node stays in its shard, whatever nodes are added or removed. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Moves a sum on by what it grew; returns what is to be exported. */
function moveSum(numbers: Float64Array, at: number, value: number, epoch: number): number {
  const before = numbers[at] as number;
  const grown = value - (numbers[at + 1] as number);
  const isSame = numbers[at + 2] === epoch;
  const next = Number.isNaN(before) ? value : before + (isSame && grown > 0 ? grown : 0);
  numbers[at] = next;
  numbers[at + 1] = value;
  numbers[at + 2] = epoch;
  return next;
}

export class NodeNames {
  readonly names: string[] = [];
  hashes = new Uint32Array(0);
  /** The labels of all nodes, each `cluster="c",node="n"} `, with room for a word; where each begins, last the end. */
  labels = new Uint8Array(WORD - 1);
  starts = new Uint32Array(1);
  /** What is kept of each node: its boot, and the numbers. */
  #boots = new Float64Array(0);
  #numbers = new Float64Array(0);

  /** `opened`: the opening of the board that they belong to. `label`: the label of the name. */
  constructor(
    readonly label: 'node' | 'instance',
    readonly opened = -1,
    readonly cluster?: string,
  ) {}

  /** The names of the board as it is now: the same object with new names added, or another if it was replaced. */
  follow(opened: number, nodeStates: NodeStates, cluster: string | undefined): NodeNames {
    const { length } = this.names;
    if (opened === this.opened && cluster === this.cluster && nodeStates.count >= length) {
      if (nodeStates.count > length)
        this.#add(nodeStates.names(Array.from({ length: nodeStates.count - length }, (_, i) => length + i)));
      return this;
    }
    const others = new NodeNames(this.label, opened, cluster);
    others.#add(nodeStates.names([...nodeStates.states.keys()]));
    others.#take(this);
    return others;
  }

  #add(more: readonly string[]): void {
    const first = this.names.length;
    const count = first + more.length;
    const before = this.cluster === undefined ? '' : `cluster="${escaped(this.cluster)}",`;
    const bytes = more.map(name => Buffer.from(`${before}${this.label}="${escaped(name)}"} `));
    const [hashes, starts] = [new Uint32Array(count), new Uint32Array(count + 1)];
    hashes.set(this.hashes);
    starts.set(this.starts);
    bytes.forEach(({ length }, i) => {
      hashes[first + i] = hashOf(more[i] as string);
      starts[first + i + 1] = (starts[first + i] as number) + length;
    });
    const labels = new Uint8Array((starts[count] as number) + WORD - 1);
    labels.set(this.labels);
    labels.set(Buffer.concat(bytes), starts[first]);
    const [boots, numbers] = [new Float64Array(count), new Float64Array(count * KEPT)];
    // The marker for no boot yet, which differs from boot 0.
    boots.fill(Number.NaN);
    boots.set(this.#boots);
    numbers.set(this.#numbers);
    this.names.push(...more);
    [this.hashes, this.starts, this.labels, this.#boots, this.#numbers] = [hashes, starts, labels, boots, numbers];
  }

  /** Takes over what was kept of the nodes under other numbers. */
  #take(from: NodeNames): void {
    const before = new Map(from.names.map((name, index) => [name, index]));
    this.names.forEach((name, index) => {
      const old = before.get(name);
      if (old === undefined) return;
      this.#boots[index] = from.#boots[old] as number;
      this.#numbers.set(from.#numbers.subarray(old * KEPT, (old + 1) * KEPT), index * KEPT);
    });
  }

  /** The value to export for that number of the node: the new one, the last of the same boot, or what a sum grew to. */
  keep(index: number, { which, how }: Monotonic, boot: number, value: number, epoch = 0): number {
    const [boots, numbers] = [this.#boots, this.#numbers];
    const at = index * KEPT;
    if (boots[index] !== boot) {
      boots[index] = boot;
      numbers.fill(Number.NaN, at, at + KEPT);
    }
    if (how === 'sum') return moveSum(numbers, at + FIRST_SUM + 3 * which, value, epoch);
    const before = numbers[at + which] as number;
    // A comparison with NaN is false.
    if (how === 'first' ? !Number.isNaN(before) : before > value) return before;
    numbers[at + which] = value;
    return value;
  }
}
