// The rows of the history: packed states and readings of nodes, and counts and readings of groups, column by column.

import { SCALES } from '../readings/scales.js';
import type { Grouped } from './layouts.js';
import { CELL, NOT_MEASURED, RIVER, STATE_MASK, STATES, VALUE_MOST } from './wire.js';

const { columns: COLUMNS, valueEvery: EVERY, most: VALUE_MOST_8, none: NONE, gap: GAP } = RIVER;
const SLOW = COLUMNS / EVERY;
/** For how many nodes room is made at once. */
export const BLOCK = 256;
/** The counts of a group at a look: of each state, and of unhealthy nodes. */
export const COUNTS = STATES.length + 1;
/** For each reading the least value, the mean, and the greatest. */
export const VALUES = 3 * SCALES.length;
/** What is kept of a cell at each look: its state, and whether the node has a problem. */
export const KEPT_BITS = STATE_MASK | CELL.unhealthy;

export const BYTES = Uint8Array.from({ length: 4096 }, (_, value) =>
  value === NOT_MEASURED ? NONE : Math.round((value * VALUE_MOST_8) / VALUE_MOST),
);

/** The history of BLOCK nodes. */
export class HistoryBlock {
  /** KEPT_BITS of two nodes per byte, for each column; GAP: nobody looked, or the node did not exist. */
  readonly states = new Uint8Array((COLUMNS * BLOCK) / 2).fill(GAP | (GAP << 4));
  /** For each column of readings, for each reading. */
  readonly values = new Uint8Array(SLOW * SCALES.length * BLOCK).fill(NONE);

  /** The KEPT_BITS of a node, or GAP. */
  bitsAt(at: number, column: number): number {
    return ((this.states[(column * BLOCK + at) >> 1] as number) >> ((at & 1) * 4)) & 15;
  }

  putBits(at: number, column: number, bits: number): void {
    const byte = (column * BLOCK + at) >> 1;
    const shift = (at & 1) * 4;
    this.states[byte] = ((this.states[byte] as number) & ~(15 << shift)) | (bits << shift);
  }

  /** Counts its nodes in a column; `groups`: for each node from number `first` on. */
  countStates(groups: Int32Array, first: number, column: number, sums: GroupSums): void {
    for (let at = 0, byte = (column * BLOCK) / 2; at < BLOCK; at += 2, byte++) {
      const two = this.states[byte] as number;
      const [even, odd] = [groups[first + at] as number, groups[first + at + 1] as number];
      if (even >= 0 && (two & 15) !== GAP) sums.count(even, two & 15);
      if (odd >= 0 && two >> 4 !== GAP) sums.count(odd, two >> 4);
    }
  }

  /** Adds its readings for the seconds that begin with that column. */
  addValues(groups: Int32Array, first: number, column: number, sums: GroupSums): void {
    let from = (column / EVERY) * SCALES.length * BLOCK;
    for (let scale = 0; scale < SCALES.length; scale++)
      for (let at = 0; at < BLOCK; at++, from++) {
        const group = groups[first + at] as number;
        if (group >= 0) sums.add(group, scale, this.values[from] as number);
      }
  }
}

class GroupHistory {
  readonly values = new Uint8Array(COLUMNS * VALUES).fill(NONE);
  counts: Uint16Array | Uint32Array = new Uint16Array(COLUMNS * COUNTS);

  get bytes(): number {
    return this.values.length + this.counts.byteLength;
  }

  /** Its columns, packed as in RIVER. */
  columns(places: ArrayLike<number>, scale: number, isWide: boolean): Uint8Array {
    const { counts, values } = this;
    const size = isWide ? 4 : 2;
    const packed = new Uint8Array(places.length * (COUNTS * size + 3));
    const view = new DataView(packed.buffer);
    const behind = places.length * COUNTS * size;
    for (let i = 0; i < places.length; i++) {
      const place = places[i] as number;
      for (let count = 0; count < COUNTS; count++) {
        const number = place < 0 ? 0 : (counts[place * COUNTS + count] as number);
        const at = (count * places.length + i) * size;
        if (isWide) view.setUint32(at, number, true);
        else view.setUint16(at, number, true);
      }
      for (let j = 0; j < 3; j++)
        packed[behind + j * places.length + i] = place < 0 ? NONE : (values[place * VALUES + 3 * scale + j] as number);
    }
    return packed;
  }
}

/** The groups of a rule. */
export class HistoryRows {
  readonly byName = new Map<string | undefined, GroupHistory>();
  /** The row of each group, by the group's number. */
  readonly #ofGroup: GroupHistory[] = [];
  lastAsked = performance.now();
  /** Resolved when it has the past. */
  filled: Promise<void> = Promise.resolve();

  readonly #coarse: number | undefined;

  constructor(readonly grouped: Grouped | undefined) {
    this.#coarse = grouped?.coarse;
  }

  get isOld(): boolean {
    return this.grouped?.coarse !== this.#coarse;
  }

  get groups(): number {
    return this.grouped?.names.length ?? 1;
  }

  ofGroup(group: number): GroupHistory {
    const known = this.#ofGroup[group];
    if (known !== undefined) return known;
    const row = this.row(this.grouped?.names[group]);
    this.#ofGroup[group] = row;
    return row;
  }

  /** The row number of each group: groups that share a row have the same number. */
  get numbers(): Uint32Array {
    const rows = new Map<GroupHistory, number>();
    return Uint32Array.from({ length: this.groups }, (_, group) => {
      const row = this.ofGroup(group);
      const number = rows.get(row) ?? group;
      rows.set(row, number);
      return number;
    });
  }

  get bytes(): number {
    let bytes = 0;
    for (const row of this.byName.values()) bytes += row.bytes;
    return bytes;
  }

  /** Copies the readings of another column. */
  copyValues(from: number, to: number): void {
    for (const { values } of this.byName.values()) values.copyWithin(to * VALUES, from * VALUES, (from + 1) * VALUES);
  }

  row(name: string | undefined): GroupHistory {
    const known = this.byName.get(name);
    if (known !== undefined) return known;
    // As on the map, the remaining groups share one row.
    if (this.byName.size >= RIVER.mostRows - 1 && name !== undefined) return this.row(undefined);
    const row = new GroupHistory();
    this.byName.set(name, row);
    return row;
  }
}

/** The sums of all groups of a rule, by their numbers. */
export class GroupSums {
  readonly counts: Uint32Array;
  readonly #least: Uint8Array;
  readonly #most: Uint8Array;
  readonly #total: Float64Array;
  readonly #measured: Uint32Array;

  constructor(readonly groups: number) {
    this.counts = new Uint32Array(groups * COUNTS);
    this.#least = new Uint8Array(groups * SCALES.length).fill(NONE);
    this.#most = new Uint8Array(groups * SCALES.length);
    this.#total = new Float64Array(groups * SCALES.length);
    this.#measured = new Uint32Array(groups * SCALES.length);
  }

  count(group: number, bits: number): void {
    const { counts } = this;
    const at = group * COUNTS;
    const state = at + (bits & STATE_MASK);
    counts[state] = (counts[state] as number) + 1;
    if ((bits & CELL.unhealthy) !== 0) counts[at + COUNTS - 1] = (counts[at + COUNTS - 1] as number) + 1;
  }

  /** Adds a value of a live node, 0 to NONE. */
  add(group: number, scale: number, value: number): void {
    if (value === NONE) return;
    const at = group * SCALES.length + scale;
    if (value < (this.#least[at] as number)) this.#least[at] = value;
    if (value > (this.#most[at] as number)) this.#most[at] = value;
    this.#total[at] = (this.#total[at] as number) + value;
    this.#measured[at] = (this.#measured[at] as number) + 1;
  }

  /** Writes the groups that have nodes into a column of their rows; `values`: not only their counts. */
  write(rows: HistoryRows, column: number, values: boolean): void {
    for (let group = 0; group < this.groups; group++) {
      if (!this.#has(group)) continue;
      const row = rows.ofGroup(group);
      this.#writeCounts(group, row, column);
      if (values) this.#writeValues(group, row, column);
    }
  }

  #has(group: number): boolean {
    for (let i = group * COUNTS; i < (group + 1) * COUNTS; i++) if (this.counts[i] !== 0) return true;
    return false;
  }

  #writeCounts(group: number, row: GroupHistory, column: number): void {
    const counts = this.counts.subarray(group * COUNTS, (group + 1) * COUNTS);
    if (row.counts instanceof Uint16Array && counts.some(count => count > 0xffff))
      row.counts = Uint32Array.from(row.counts);
    row.counts.set(counts, column * COUNTS);
  }

  #writeValues(group: number, row: GroupHistory, column: number): void {
    for (let scale = 0; scale < SCALES.length; scale++) {
      const from = group * SCALES.length + scale;
      const measured = this.#measured[from] as number;
      const at = column * VALUES + 3 * scale;
      const isKnown = measured > 0;
      row.values[at] = isKnown ? (this.#least[from] as number) : NONE;
      row.values[at + 1] = isKnown ? Math.round((this.#total[from] as number) / measured) : NONE;
      row.values[at + 2] = isKnown ? (this.#most[from] as number) : NONE;
    }
  }
}
