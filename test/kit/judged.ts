// Snapshots of bytes that no reader has copied. No test of its own.

import { addon } from '../../src/native/addon.js';
import { OVERVIEW } from '../../src/native/index.js';
import { Snapshot, type Tables } from '../../src/shm/snapshot.js';

/**
 * Judges a copy: header, column words and records of so many nodes. Writes the arrays of `OVERVIEW` for them, and returns
 * whether the receiver was stalled. Throws if there is too little room, or if it is not a copy of a board.
 */
const { overview } = addon as { overview(copy: Uint8Array, nowNs: bigint, nodes: number, into: Uint8Array): boolean };

type Taken = { readonly nowNs: bigint; readonly realNs: bigint; readonly nodes: number };

/** As a reader would have made it of these bytes, behind which there may be room for what is concluded. */
export function snapshotOf(path: string, bytes: Uint8Array, taken: Taken, tables?: Tables): Snapshot {
  const { nowNs, nodes } = taken;
  const { header_bytes, column_stride, record_stride } = new Snapshot('', bytes, { ...taken, stalled: false }).header;
  const size = header_bytes + nodes * (column_stride + record_stride);
  const room = size + nodes * OVERVIEW.bytes;
  const into = bytes.length >= room ? bytes : new Uint8Array(room);
  if (into !== bytes) into.set(bytes.subarray(0, size));
  const stalled = overview(into.subarray(0, size), nowNs, nodes, into.subarray(size));
  return new Snapshot(path, into, { ...taken, stalled }, tables);
}
