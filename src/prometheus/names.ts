// The names of a board's nodes as labels, made once and kept: a scrape writes each of them for every reading. Follows a board that is
// replaced, in which nodes may have other numbers, and keeps what was told of a node by its name.

import type { Roll } from '../shm/reader.js';
import type { Kept } from './family.js';
import { escaped } from './plan.js';

/** Numbers that are kept of a node: eight CPU numbers, and when it booted. */
const KEPT = 9;
export const BOOT_TIME = 8;

/** FNV-1a of the name, 32 bits: to which shard a node belongs stays the same whoever else comes and goes. */
export function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

export class NodeNames {
  readonly names: string[] = [];
  hashes = new Uint32Array(0);
  /** The labels of all nodes one behind the other, each `cluster="c",node="n"} `, and where each begins; one more: the end. */
  labels = new Uint8Array(0);
  starts = new Uint32Array(1);
  /** What is kept of each node: its boot, and the highest of each of its numbers that was told. */
  #boots = new Float64Array(0);
  #numbers = new Float64Array(0);

  /** `opened`: which opening of the board they are of. `label`: under which the name stands. */
  constructor(
    readonly label: 'node' | 'instance',
    readonly opened = -1,
    readonly cluster?: string,
  ) {}

  /** The names of the board as it is now: these and those that are new, or others where another board has taken its place. */
  follow(opened: number, roll: Roll, cluster: string | undefined): NodeNames {
    const { length } = this.names;
    if (opened === this.opened && cluster === this.cluster && roll.count >= length) {
      if (roll.count > length) this.#add(roll.names(Array.from({ length: roll.count - length }, (_, i) => length + i)));
      return this;
    }
    const others = new NodeNames(this.label, opened, cluster);
    others.#add(roll.names([...roll.states.keys()]));
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
    // Of no boot yet, and not of boot 0.
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

  /** What is to be told of that number of the node: the value, or what was told before in the same boot. */
  keep(index: number, { which, how }: Kept, boot: number, value: number): number {
    const [boots, numbers] = [this.#boots, this.#numbers];
    const at = index * KEPT;
    if (boots[index] !== boot) {
      boots[index] = boot;
      numbers.fill(Number.NaN, at, at + KEPT);
    }
    const before = numbers[at + which] as number;
    // NaN is not greater than anything.
    if (how === 'first' ? !Number.isNaN(before) : before > value) return before;
    numbers[at + which] = value;
    return value;
  }
}
