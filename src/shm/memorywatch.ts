// Which memories of trouble have changed since the last look: for programs that follow a board and tell of each change.

import { structs } from '../layout/layout.gen.js';
import { Memory } from './memory.js';
import type { BoardReader } from './reader.js';

/** CLOCK_MONOTONIC, ms: the clock of a board. */
const monotonicMs = () => Number(process.hrtime.bigint() / 1_000_000n);

const { bytes: BYTES } = structs.memory;

/** A change of one node's memory; both as of `nowMs`. */
export interface MemoryChange {
  readonly index: number;
  /** As it was at the last look; where nothing is remembered, `sinceMs` is all of the time there is. */
  readonly before: Memory;
  readonly now: Memory;
}

/**
 * Watches the memories of all nodes of a board: 576 bytes each, twice. A look loads 64 bytes of each node, and copies
 * those of which one of these has changed.
 */
export class MemoryWatch {
  #known = new Uint8Array();
  #fresh = new Uint8Array();
  #changed: Uint32Array = new Uint32Array();

  constructor(readonly reader: BoardReader) {}

  get count(): number {
    return this.#known.length / BYTES;
  }

  /** Another board, on which node number i was number `before[i]`; -1: it was not there. */
  renumber(before: readonly number[]): void {
    this.#settle();
    const known = new Uint8Array(before.length * BYTES);
    for (const [i, from] of before.entries())
      if (from >= 0) known.set(this.#known.subarray(from * BYTES, (from + 1) * BYTES), i * BYTES);
    [this.#known, this.#fresh, this.#changed] = [known, new Uint8Array(known.length), new Uint32Array()];
  }

  /**
   * The changes among the first `count` nodes; undefined: the board has no memories. Valid until the next call, with
   * which they are known. Throws NoBoard.
   */
  *look(count: number): Generator<MemoryChange, boolean> {
    this.#settle();
    if (count > this.count) this.renumber(Array.from({ length: count }, (_, i) => (i < this.count ? i : -1)));
    const changed = this.reader.memories(this.#known, this.#fresh);
    if (changed === null) return false;
    this.#changed = changed;
    const nowMs = monotonicMs();
    const [before, now] = [this.#known, this.#fresh].map(bytes => new DataView(bytes.buffer)) as [DataView, DataView];
    for (const index of changed)
      yield { index, before: new Memory(before, index * BYTES, nowMs), now: new Memory(now, index * BYTES, nowMs) };
    return true;
  }

  memoryOf(index: number): Memory {
    this.#settle();
    return new Memory(new DataView(this.#known.buffer), index * BYTES, monotonicMs());
  }

  /** What has changed is known from now on. */
  #settle(): void {
    for (const index of this.#changed)
      this.#known.set(this.#fresh.subarray(index * BYTES, (index + 1) * BYTES), index * BYTES);
    this.#changed = new Uint32Array();
  }
}
