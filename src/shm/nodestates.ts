// The states of all nodes, without their reports.

import { words } from '../layout/layout.gen.js';
import type { BoardMapping } from '../native/index.js';
import type { NoBoard } from './noboard.js';
import type { Snapshot } from './snapshot.js';

/**
 * The states of a board's nodes from the column words alone, for programs that need nothing else: 8 bytes a node, where
 * a snapshot has 3,144. Names are read only for the nodes whose name is asked for.
 */
export class NodeStates {
  /** As `NUMBERED`, in the order of the records. */
  readonly states: Uint8Array;
  readonly #words: Uint32Array;
  readonly #column: number;
  readonly #columnStride: number;

  readonly #cut: () => NoBoard;

  /** `board`: a snapshot of no node. `bytes`: its header, then as many column words of this mapping as `count` says. */
  constructor(
    readonly board: Snapshot,
    bytes: Uint8Array,
    readonly count: number,
    readonly mapping: BoardMapping,
    cut: () => NoBoard,
  ) {
    this.#cut = cut;
    const { header_bytes, column_stride } = board.header;
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
    this.#column = header_bytes >> 2;
    this.#columnStride = column_stride >> 2;
    this.states = bytes.subarray(header_bytes + count * column_stride, header_bytes + count * (column_stride + 1));
  }

  /** Age of a node's last report in ms, to a ms. */
  ageMs(index: number): number {
    const at = this.#column + index * this.#columnStride;
    const { shift } = words.column.stamp;
    const stamp = (this.#words[at + 1] ?? 0) * 2 ** (32 - shift) + ((this.#words[at] ?? 0) >>> shift);
    return Math.max(0, this.board.nowMs - stamp);
  }

  /** The number of the link by which a node's last report came; 0: unknown, or there is none. */
  linkOf(index: number): number {
    const { shift, bits } = words.column.link;
    return ((this.#words[this.#column + index * this.#columnStride] ?? 0) >>> shift) & (2 ** bits - 1);
  }

  /** The number of the record of that name; -1: none. Like `names`, valid only before the reader is asked for more. */
  find(name: string): number {
    const index = this.mapping.find(name);
    return index < this.count ? index : -1;
  }

  /** The names of the nodes of these numbers. Throws NoBoard, also if the board's file was cut since. */
  names(indexes: readonly number[]): string[] {
    const names = this.mapping.names(Uint32Array.from(indexes));
    if (names === undefined) throw this.#cut();
    return indexes.length === 0 ? [] : names.split('\0');
  }
}
