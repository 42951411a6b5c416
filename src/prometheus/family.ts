// The definition of a metric family as data: its name, and for each series the source of the number. Reads
// nothing.

import type { Cursor } from '../readings/cursor.js';
import type { Measure } from '../readings/measures.js';

/**
 * The nodes that have a value: all; those about which something is known (the receiver is not stalled); those that are
 * heard, live or uncertain; or only live ones, as for readings.
 */
export type Whose = 'all' | 'known' | 'heard' | 'live';

/** Additional labels of a node's series, as they are written: `devices="2",`. */
export type Label = (cursor: Cursor) => string;

/**
 * What a number may do while its node is up. `highest`: it never decreases (the kernel lets CPU times decrease a
 * little, and Prometheus would take that for a boot); `first`: it never changes; `sum`: it moves by what the sum grew, and
 * not when that fell, or jumped because another run of the sender or other devices began it anew.
 */
export interface Monotonic {
  /** Which of the numbers that are kept for each node. */
  readonly which: number;
  readonly how: 'highest' | 'first' | 'sum';
  /** Of a sum: as long as this is the same, it goes on. */
  readonly epoch?: Measure;
}

/** A number for each node, in a base unit. */
export interface MetricColumn {
  readonly measure: Measure;
  readonly of: Whose;
  readonly digits: number;
  readonly label?: Label;
  /** The last value of the same boot is kept. */
  readonly kept?: Monotonic;
  /** The divisor that is applied after that. */
  readonly per?: Measure;
}

export interface Series {
  /** Its own labels, as they are written: `mode="user",`. */
  readonly labels: string;
  readonly column: MetricColumn;
}

/** All series of one name. */
export interface MetricFamily {
  /** Without the common prefix; its type follows from it, see `typeOf`. */
  readonly name: string;
  readonly help: string;
  readonly series: readonly Series[];
}
