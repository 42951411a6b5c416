// What a family of metrics is, as data: its name and type, and of each of its series where the number comes from. Reads nothing.

import type { Cursor } from '../readings/cursor.js';
import type { Measure } from '../readings/measures.js';

/**
 * Of which nodes something is told: of all; of those of which anything is known (the receiver is not stalled); of those that are heard,
 * live or uncertain; of live ones alone, as readings are.
 */
export type Whose = 'all' | 'known' | 'heard' | 'live';

/** More labels of a node's series, as they are written: `devices="2",`. */
export type Label = (cursor: Cursor) => string;

/**
 * What a number may do while its node is up: `highest`: it never goes back (the kernel lets CPU times go back a little, and Prometheus
 * would see a boot); `first`: it never changes.
 */
export interface Kept {
  /** Which of the numbers that are kept of each node. */
  readonly which: number;
  readonly how: 'highest' | 'first';
}

/** A number of each node, in a base unit. */
export interface Column {
  readonly measure: Measure;
  readonly of: Whose;
  /** Digits behind the point, at most. */
  readonly digits: number;
  readonly label?: Label;
  /** What was told before, in the same boot, is kept. */
  readonly kept?: Kept;
  /** By what the number is divided, after that. */
  readonly per?: Measure;
}

export interface Series {
  /** Its labels beside those of all, as they are written: `mode="user",`. */
  readonly labels: string;
  readonly column: Column;
}

/** Series of one name. */
export interface Family {
  /** Without the prefix of all; that of a counter ends in _total. */
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'untyped';
  /** One sentence or two. */
  readonly help: string;
  readonly series: readonly Series[];
}
