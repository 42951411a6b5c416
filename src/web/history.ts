// The last 15 minutes in memory: for each node its state every second and its readings every ten, and for each group
// counts and readings every second. Written once per look; a group that nobody has asked for before is added up from
// its nodes when somebody does.

import { SCALES } from '../readings/scales.js';
import type { Grouped } from './layouts.js';
import { SlicedLook, TICK_MS, type Tick } from './watcher.js';
import { CELL, NOT_MEASURED, numberOf, RIVER, STATES, VALUE_MOST } from './wire.js';

const { columns: COLUMNS, valueEvery: EVERY, most: VALUE_MOST_8, none: NONE, gap: GAP } = RIVER;
/** Columns of readings of nodes. */
const SLOW = COLUMNS / EVERY;
/** For how many nodes room is made at once. */
const BLOCK = 256;
/** Nodes beyond this number have no history: 128 Ki nodes take 168 MiB. */
const MOST_NODES = 131_072;
/** The memory for all groups of all rules, bytes. */
const GROUPS_BYTES = 20 * 2 ** 20;
/** The counts of a group at a look: of each state, and of unhealthy nodes. */
const COUNTS = STATES.length + 1;
/** For each reading the least value, the mean, and the greatest. */
const VALUES = 3 * SCALES.length;
const STATE_MASK = 2 ** CELL.stateBits - 1;

/** The value of a cell as a byte. */
function byteOf(value: number): number {
  return value === NOT_MEASURED ? NONE : Math.round((value * VALUE_MOST_8) / VALUE_MOST);
}

const BYTES = Uint8Array.from({ length: 4096 }, (_, value) => byteOf(value));

/** The history of BLOCK nodes. */
class Block {
  /** Two nodes per byte, for each column; GAP: nobody looked, or the node did not exist. */
  readonly states = new Uint8Array((COLUMNS * BLOCK) / 2).fill(GAP | (GAP << 4));
  /** For each column of readings, for each reading. */
  readonly values = new Uint8Array(SLOW * SCALES.length * BLOCK).fill(NONE);
}

/** The history of a group. */
class GroupHistory {
  readonly values = new Uint8Array(COLUMNS * VALUES).fill(NONE);
  counts: Uint16Array | Uint32Array = new Uint16Array(COLUMNS * COUNTS);

  get bytes(): number {
    return this.values.length + this.counts.byteLength;
  }

  /** Makes wider arrays for numbers that do not fit. */
  widen(): void {
    this.counts = Uint32Array.from(this.counts);
  }
}

/** The groups of a rule. */
class Rows {
  readonly byName = new Map<string | undefined, GroupHistory>();
  /** The row of each group, by the group's number. */
  readonly #ofGroup: GroupHistory[] = [];
  lastAsked = performance.now();

  constructor(readonly grouped: Grouped | undefined) {}

  /** How many groups there are. */
  get groups(): number {
    return this.grouped?.names.length ?? 1;
  }

  /** The row of the group of that number. */
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
class Sums {
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

  /** Counts a node. */
  count(group: number, which: number): void {
    const at = group * COUNTS + which;
    this.counts[at] = (this.counts[at] as number) + 1;
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

  /** Whether that group has any node. */
  has(group: number): boolean {
    for (let i = group * COUNTS; i < (group + 1) * COUNTS; i++) if (this.counts[i] !== 0) return true;
    return false;
  }

  writeCounts(group: number, row: GroupHistory, column: number): void {
    const counts = this.counts.subarray(group * COUNTS, (group + 1) * COUNTS);
    if (row.counts instanceof Uint16Array && counts.some(count => count > 0xffff)) row.widen();
    row.counts.set(counts, column * COUNTS);
  }

  writeValues(group: number, row: GroupHistory, column: number): void {
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

const LIVE = STATES.indexOf('live');

/** The contents of rows; see `RIVER`. */
export interface HistoryTable {
  readonly head: object;
  readonly columns: Uint8Array[];
}

export class RiverHistory {
  readonly #blocks: Block[] = [];
  /** The place of each node that was ever seen, by its name; and by its number on the present board. */
  readonly #places = new Map<string, number>();
  readonly #free: number[] = [];
  #ofNode = new Uint32Array();
  #roster = 0;
  #known = 0;
  readonly #rows = new Map<string, Rows>();
  /** The number of the newest column, counted from the start; -1: there is none. */
  #newest = -1;
  /** The wall clock of the newest column, ms. */
  #newestMs = 0;
  /** The number of the column that is in each place: a different number means a gap. */
  readonly #numbers = new Float64Array(COLUMNS).fill(-1);

  /** The memory that it takes, bytes. */
  get bytes(): number {
    const [block] = this.#blocks;
    const ofNodes = block === undefined ? 0 : this.#blocks.length * (block.states.length + block.values.length);
    return ofNodes + this.#groupBytes();
  }

  #groupBytes(): number {
    let bytes = 0;
    for (const rows of this.#rows.values()) bytes += rows.bytes;
    return bytes;
  }

  /** Adds a look as column number `number`: its second, counted from the start. */
  take(tick: Tick, names: readonly string[], number: number): void {
    if (number <= this.#newest) return;
    this.#newest = number;
    this.#newestMs = tick.nowMs;
    // Without a board there are no groups to add up.
    if (tick.state === 'absent') return;
    this.#place(tick, names);
    const place = number % COLUMNS;
    for (const block of this.#blocks)
      block.states.fill(GAP | (GAP << 4), (place * BLOCK) / 2, ((place + 1) * BLOCK) / 2);
    this.#numbers[place] = number;
    this.#takeNodes(tick, place);
    // The values of a row must begin together, otherwise they would be from different times.
    if (place % EVERY === 0) this.#takeValues(tick, place / EVERY);
    for (const rows of this.#rows.values()) this.#takeGroups(tick, rows, place);
  }

  /** Gives each node its place. */
  #place({ roster, count }: Tick, names: readonly string[]): void {
    if (roster !== this.#roster) {
      this.#roster = roster;
      this.#known = 0;
      const present = new Set(names);
      for (const [name, place] of this.#places) {
        if (present.has(name)) continue;
        this.#places.delete(name);
        this.#clear(place);
        this.#free.push(place);
      }
    }
    if (this.#ofNode.length < count) {
      const more = new Uint32Array(count + (count >> 4) + BLOCK);
      more.set(this.#ofNode);
      this.#ofNode = more;
    }
    for (; this.#known < count; this.#known++) {
      const name = names[this.#known] as string;
      let place = this.#places.get(name);
      if (place === undefined) {
        place = this.#free.pop() ?? this.#places.size + this.#free.length;
        this.#places.set(name, place);
        if (place < MOST_NODES && place >= this.#blocks.length * BLOCK) this.#blocks.push(new Block());
      }
      this.#ofNode[this.#known] = place;
    }
  }

  #clear(place: number): void {
    const block = this.#blocks[Math.floor(place / BLOCK)];
    if (block === undefined) return;
    const at = place % BLOCK;
    for (let column = 0; column < COLUMNS; column++) putState(block, at, column, GAP);
    for (let i = at; i < block.values.length; i += BLOCK) block.values[i] = NONE;
  }

  #takeNodes({ count, cells }: Tick, place: number): void {
    const [first] = cells as [Uint16Array];
    for (let i = 0; i < count; i++) {
      const node = this.#ofNode[i] as number;
      if (node < MOST_NODES)
        putState(this.#blocks[node >>> 8] as Block, node & (BLOCK - 1), place, (first[i] as number) & STATE_MASK);
    }
  }

  #takeValues({ count, cells }: Tick, column: number): void {
    for (const block of this.#blocks) {
      const size = SCALES.length * BLOCK;
      block.values.fill(NONE, column * size, (column + 1) * size);
    }
    for (const [scale, cellsOf] of cells.entries()) {
      const at = (column * SCALES.length + scale) * BLOCK;
      for (let i = 0; i < count; i++) {
        const cell = cellsOf[i] as number;
        const node = this.#ofNode[i] as number;
        // The last value of a node that is not live has no known time.
        if (node < MOST_NODES && (cell & STATE_MASK) === LIVE)
          (this.#blocks[node >>> 8] as Block).values[at + (node & (BLOCK - 1))] = BYTES[
            cell >>> CELL.valueShift
          ] as number;
      }
    }
  }

  #takeGroups({ count, cells }: Tick, rows: Rows, place: number): void {
    const sums = new Sums(rows.groups);
    const of = this.#groupsOf(rows, count);
    const [first] = cells as [Uint16Array];
    for (let i = 0; i < count; i++) {
      const cell = first[i] as number;
      sums.count(of[i] as number, cell & STATE_MASK);
      if ((cell & CELL.unhealthy) !== 0) sums.count(of[i] as number, COUNTS - 1);
    }
    for (const [scale, column] of cells.entries())
      for (let i = 0; i < count; i++) {
        const cell = column[i] as number;
        if ((cell & STATE_MASK) === LIVE) sums.add(of[i] as number, scale, BYTES[cell >>> CELL.valueShift] as number);
      }
    // Groups that no longer exist have no nodes now.
    for (const row of rows.byName.values()) {
      row.counts.fill(0, place * COUNTS, (place + 1) * COUNTS);
      row.values.fill(NONE, place * VALUES, (place + 1) * VALUES);
    }
    for (let group = 0; group < sums.groups; group++) {
      if (!sums.has(group)) continue;
      const row = rows.ofGroup(group);
      sums.writeCounts(group, row, place);
      sums.writeValues(group, row, place);
    }
  }

  /** The row number of each of so many nodes. */
  #groupsOf(rows: Rows, count: number): Uint32Array {
    const of = new Uint32Array(count);
    const { grouped } = rows;
    if (grouped === undefined) return of;
    const { numbers } = rows;
    for (let i = 0; i < count; i++) of[i] = numbers[grouped.numbers[i] ?? 0] as number;
    return of;
  }

  /** The available columns, from the oldest to the newest, each with its place; -1: a gap. */
  #span(): { places: number[]; sinceMs: number } {
    const places: number[] = [];
    const first = Math.max(0, this.#newest - COLUMNS + 1);
    let begun = false;
    for (let number = first; number <= this.#newest; number++) {
      const place = this.#numbers[number % COLUMNS] === number ? number % COLUMNS : -1;
      // The time before the first look is not a gap.
      begun ||= place >= 0;
      if (begun) places.push(place);
    }
    return { places, sinceMs: this.#newestMs - Math.max(0, places.length - 1) * TICK_MS };
  }

  /**
   * The groups of that rule, with one reading. Groups that nobody has asked for before are added up from their nodes.
   */
  async groups(key: string, grouped: Grouped | undefined, count: number, scale: number): Promise<HistoryTable> {
    let rows = this.#rows.get(key);
    if (rows === undefined || rows.grouped !== grouped) {
      rows = new Rows(grouped);
      await this.#addUp(rows, count);
      this.#rows.set(key, rows);
    }
    rows.lastAsked = performance.now();
    this.#bound(rows);
    const { places, sinceMs } = this.#span();
    const isWide = [...rows.byName.values()].some(({ counts }) => counts instanceof Uint32Array);
    const named = [...rows.byName].filter(([, row]) => row.counts.some(value => value > 0));
    const columns = named.map(([, row]) => groupColumns(row, places, scale, isWide));
    return {
      head: {
        since_ms: sinceMs,
        step_ms: TICK_MS,
        columns: places.length,
        count_bytes: isWide ? 4 : 2,
        gaps: gapsOf(places),
        rows: named.map(([name]) => ({ name: name ?? null })),
      },
      columns,
    };
  }

  /** Nodes, with one reading; unknown nodes have only gaps. */
  nodes(names: readonly string[], scale: number): HistoryTable {
    const { places, sinceMs } = this.#span();
    // The first column of readings is at the beginning of its ten seconds: columns before it take the value that
    // follows.
    const first = this.#newest - places.length + 1;
    const slow = Array.from({ length: Math.ceil(places.length / EVERY) }, (_, i) => {
      const number = Math.floor((first + i * EVERY + EVERY - 1) / EVERY) * EVERY;
      return this.#numbers[number % COLUMNS] === number ? (number % COLUMNS) / EVERY : -1;
    });
    const columns = names.map(name => {
      const node = this.#places.get(name);
      const block = node === undefined ? undefined : this.#blocks[node >>> 8];
      const packed = new Uint8Array(Math.ceil(places.length / 2) + slow.length).fill(NONE);
      if (block === undefined || node === undefined) return packed;
      const at = node & (BLOCK - 1);
      for (const [i, place] of places.entries()) {
        const state = place < 0 ? GAP : stateAt(block, at, place);
        const shift = (i & 1) * 4;
        packed[i >> 1] = ((packed[i >> 1] as number) & ~(15 << shift)) | (state << shift);
      }
      const half = Math.ceil(places.length / 2);
      for (const [i, column] of slow.entries())
        packed[half + i] = column < 0 ? NONE : (block.values[(column * SCALES.length + scale) * BLOCK + at] as number);
      return packed;
    });
    return {
      head: {
        since_ms: sinceMs,
        step_ms: TICK_MS,
        columns: places.length,
        value_every: EVERY,
        gaps: gapsOf(places),
        rows: names.map(name => ({ name })),
      },
      columns,
    };
  }

  /** The readings of one node as numbers, and its states; an unknown value is null. */
  node(name: string): object {
    const { places, sinceMs } = this.#span();
    const place = this.#places.get(name);
    const block = place === undefined ? undefined : this.#blocks[place >>> 8];
    const at = (place ?? 0) & (BLOCK - 1);
    const first = this.#newest - places.length + 1;
    const numbers: number[] = [];
    for (let number = Math.ceil(first / EVERY) * EVERY; number <= this.#newest; number += EVERY) numbers.push(number);
    const readings = SCALES.map((scale, i) => {
      const points = numbers.map(number => {
        if (block === undefined || this.#numbers[number % COLUMNS] !== number) return null;
        const value = block.values[(((number % COLUMNS) / EVERY) * SCALES.length + i) * BLOCK + at] as number;
        return value === NONE ? null : numberOf(scale, (value * VALUE_MOST) / VALUE_MOST_8);
      });
      return [scale.name, points] as const;
    });
    const states = places.map(column => {
      const state = column < 0 || block === undefined ? GAP : stateAt(block, at, column);
      return STATES[state] ?? null;
    });
    return {
      since_ms: sinceMs,
      states: { step_ms: TICK_MS, points: runs(states) },
      readings: {
        since_ms: sinceMs + ((numbers[0] ?? first) - first) * TICK_MS,
        step_ms: TICK_MS * EVERY,
        points: Object.fromEntries(readings),
      },
    };
  }

  /** Keeps only the groups of these rules, and the group of all nodes. */
  keep(isKept: (grouped: Grouped) => boolean): void {
    for (const [key, { grouped }] of this.#rows) if (grouped !== undefined && !isKept(grouped)) this.#rows.delete(key);
  }

  /** Fills rows from the history of nodes: counts every second, readings as often as nodes have them. */
  async #addUp(rows: Rows, count: number): Promise<void> {
    const nodes = Math.min(count, this.#known);
    const of = this.#groupsOf(rows, nodes);
    // By the places of nodes; -1: the place is empty.
    const groups = new Int32Array(this.#blocks.length * BLOCK).fill(-1);
    for (let i = 0; i < nodes; i++) {
      const place = this.#ofNode[i] as number;
      if (place < groups.length) groups[place] = of[i] as number;
    }
    const numbers = this.#numbers.slice();
    const slices = new SlicedLook();
    for (const place of this.#span().places) {
      if (place < 0) continue;
      const sums = new Sums(rows.groups);
      for (const [number, block] of this.#blocks.entries()) countStates(block, groups, number * BLOCK, place, sums);
      const slow = place - (place % EVERY);
      // The readings of its ten seconds, which were taken in the first of them.
      const hasValues = numbers[slow] === (numbers[place] as number) - (place % EVERY);
      if (hasValues)
        if (place !== slow) copyValues(rows, slow, place);
        else
          for (const [number, block] of this.#blocks.entries()) addValues(block, groups, number * BLOCK, place, sums);
      for (let group = 0; group < sums.groups; group++) {
        if (!sums.has(group)) continue;
        const row = rows.ofGroup(group);
        sums.writeCounts(group, row, place);
        if (place === slow) sums.writeValues(group, row, place);
      }
      await slices.next();
      // Places that are overwritten meanwhile are not read.
      if (this.#numbers[place] !== numbers[place]) break;
    }
  }

  /** Keeps the memory of all groups within its limit: those whose last request is longest ago are removed. */
  #bound(latest: Rows): void {
    const byAge = [...this.#rows].sort(([, a], [, b]) => a.lastAsked - b.lastAsked);
    for (const [key, rows] of byAge) {
      if (this.#groupBytes() <= GROUPS_BYTES || rows === latest) return;
      this.#rows.delete(key);
    }
  }
}

function stateAt({ states }: Block, at: number, column: number): number {
  return ((states[(column * BLOCK + at) >> 1] as number) >> ((at & 1) * 4)) & 15;
}

function putState({ states }: Block, at: number, column: number, state: number): void {
  const byte = (column * BLOCK + at) >> 1;
  const shift = (at & 1) * 4;
  states[byte] = ((states[byte] as number) & ~(15 << shift)) | (state << shift);
}

/** Counts the states of a block's nodes in a column; `groups`: for each node from number `first` on. */
function countStates({ states }: Block, groups: Int32Array, first: number, column: number, sums: Sums): void {
  for (let at = 0, byte = (column * BLOCK) / 2; at < BLOCK; at += 2, byte++) {
    const two = states[byte] as number;
    const [even, odd] = [groups[first + at] as number, groups[first + at + 1] as number];
    if (even >= 0 && (two & 15) !== GAP) sums.count(even, two & 15);
    if (odd >= 0 && two >> 4 !== GAP) sums.count(odd, two >> 4);
  }
}

/** Adds the readings of a block for the seconds that begin with that column. */
function addValues({ values }: Block, groups: Int32Array, first: number, column: number, sums: Sums): void {
  let from = (column / EVERY) * SCALES.length * BLOCK;
  for (let scale = 0; scale < SCALES.length; scale++)
    for (let at = 0; at < BLOCK; at++, from++) {
      const group = groups[first + at] as number;
      if (group >= 0) sums.add(group, scale, values[from] as number);
    }
}

/** Copies the readings of another column. */
function copyValues(rows: Rows, from: number, to: number): void {
  for (const { values } of rows.byName.values()) values.copyWithin(to * VALUES, from * VALUES, (from + 1) * VALUES);
}

/** A value that is repeated in a row, once: `[value, how often]`. */
function runs<T>(values: readonly T[]): [T, number][] {
  const found: [T, number][] = [];
  for (const value of values) {
    const last = found.at(-1);
    if (last !== undefined && last[0] === value) last[1]++;
    else found.push([value, 1]);
  }
  return found;
}

/** The gaps: the first column and the length of each. */
function gapsOf(places: readonly number[]): [first: number, count: number][] {
  const gaps: [number, number][] = [];
  for (const [i, place] of places.entries()) {
    if (place >= 0) continue;
    const last = gaps.at(-1);
    if (last !== undefined && last[0] + last[1] === i) last[1]++;
    else gaps.push([i, 1]);
  }
  return gaps;
}

/** The columns of a row, packed as in RIVER. */
function groupColumns(
  { counts, values }: GroupHistory,
  places: readonly number[],
  scale: number,
  isWide: boolean,
): Uint8Array {
  const size = isWide ? 4 : 2;
  const packed = new Uint8Array(places.length * (COUNTS * size + 3));
  const view = new DataView(packed.buffer);
  const behind = places.length * COUNTS * size;
  for (const [i, place] of places.entries()) {
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
