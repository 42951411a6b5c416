// The names of a board's nodes as labels, made once and kept: a scrape writes each of them for every reading. When a
// board is replaced, nodes may have other numbers; what was kept of a node follows its name.

import type { NodeStates } from '../shm/nodestates.js';
import type { Monotonic } from './family.js';
import { escaped } from './plan.js';

/** The numbers that are kept of a node: eight CPU numbers, and the time of its boot. */
const KEPT = 9;
export const BOOT_TIME = 8;

/** FNV-1a of the name, 32 bits: a node stays in its shard, whatever nodes are added or removed. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export class NodeNames {
  readonly names: string[] = [];
  hashes = new Uint32Array(0);
  /**
   * The labels of all nodes one after another, each `cluster="c",node="n"} `, and the beginning of each; one more: the
   * end.
   */
  labels = new Uint8Array(0);
  starts = new Uint32Array(1);
  /** What is kept of each node: its boot, and the highest exported value of each number. */
  #boots = new Float64Array(0);
  #numbers = new Float64Array(0);

  /** `opened`: the opening of the board that they belong to. `label`: the label of the name. */
  constructor(
    readonly label: 'node' | 'instance',
    readonly opened = -1,
    readonly cluster?: string,
  ) {}

  /**
   * The names of the board as it is now: the same object with new names added, or another one if the board was
   * replaced.
   */
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
    const labels = new Uint8Array(starts[count] as number);
    labels.set(this.labels);
    labels.set(Buffer.concat(bytes), this.labels.length);
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

  /** The value to export for that number of the node: the new value, or the last one of the same boot. */
  keep(index: number, { which, how }: Monotonic, boot: number, value: number): number {
    const [boots, numbers] = [this.#boots, this.#numbers];
    const at = index * KEPT;
    if (boots[index] !== boot) {
      boots[index] = boot;
      numbers.fill(Number.NaN, at, at + KEPT);
    }
    const before = numbers[at + which] as number;
    // A comparison with NaN is false.
    if (how === 'first' ? !Number.isNaN(before) : before > value) return before;
    numbers[at + which] = value;
    return value;
  }
}
