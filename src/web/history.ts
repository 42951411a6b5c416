// The last 15 minutes in memory: for each node its state every second and its readings every ten, and for each group
// counts and readings every second. Written once per look; a group that nobody has asked for before is added up from
// its nodes when somebody does.

import type { Past } from '../events/past.js';
import { SCALES, type Scale } from '../readings/scales.js';
import { SlicedLook } from '../service/slices.js';
import type { JobAnswer, NodeHistory, Runs, StateRuns } from './answers.js';
import { BLOCK, BYTES, COUNTS, GroupSums, HistoryBlock, HistoryRows, KEPT_BITS, VALUES } from './historyrows.js';
import { type Grouped, withRoom } from './layouts.js';
import { TICK_MS, type WatcherTick } from './watcher.js';
import {
  type BoardStatus,
  CELL,
  type GapKind,
  numberOf,
  RIVER,
  STATE_MASK,
  STATES,
  type State,
  VALUE_MOST,
} from './wire.js';

const { columns: COLUMNS, valueEvery: EVERY, most: VALUE_MOST_8, none: NONE, gap: GAP } = RIVER;
/** Nodes beyond this number have no history: 128 Ki nodes take 214 MiB. */
const MOST_NODES = 131_072;
/** The memory for all groups of all rules, bytes. */
const GROUPS_BYTES = 20 * 2 ** 20;
const LIVE = STATES.indexOf('live');
const HEARD = new Set([LIVE, STATES.indexOf('uncertain')]);
/** Figures of a value of which 1/250 of its domain is known. */
const FIGURES = 3;

/** The contents of rows; see `RIVER`. */
export interface HistoryTable {
  readonly head: object;
  readonly columns: Uint8Array[];
}

export class RiverHistory {
  readonly #blocks: HistoryBlock[] = [];
  /** The place of each node that was ever seen, by its name; and by its number on the present board. */
  readonly #places = new Map<string, number>();
  readonly #free: number[] = [];
  #ofNode = new Uint32Array();
  #roster = 0;
  #known = 0;
  readonly #rows = new Map<string, HistoryRows>();
  /** Rows that are being added up, which looks go on for. */
  readonly #filling = new Set<HistoryRows>();
  /** The number of the newest column, counted from the start; -1: there is none. */
  #newest = -1;
  /** That of the first look; -1: there was none. */
  #first = -1;
  /** The number of the look of the newest column, and the wall clock of that look, ms. */
  #newestSeq = 0;
  #newestMs = 0;
  /** The number of the column that is in each place: a different number means a gap. */
  readonly #numbers = new Float64Array(COLUMNS).fill(-1);
  /** How the board was then. */
  readonly #boards: BoardStatus[] = [];

  /** `slices`: how long work yields to other work. */
  constructor(readonly slices: () => Pick<SlicedLook, 'next'> = () => new SlicedLook()) {}

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
  take(tick: WatcherTick, names: readonly string[], number: number): void {
    if (number <= this.#newest) return;
    this.#newest = number;
    if (this.#first < 0) this.#first = number;
    this.#newestSeq = tick.seq;
    this.#newestMs = tick.nowMs;
    const place = number % COLUMNS;
    this.#boards[place] = tick.state;
    // Without a board there are no nodes.
    if (tick.state === 'absent') this.#takeColumn({ ...tick, count: 0 }, number);
    else {
      this.#place(tick, names);
      this.#takeColumn(tick, number);
    }
  }

  #takeColumn(tick: WatcherTick, number: number): void {
    const place = number % COLUMNS;
    for (const block of this.#blocks)
      block.states.fill(GAP | (GAP << 4), (place * BLOCK) / 2, ((place + 1) * BLOCK) / 2);
    this.#numbers[place] = number;
    this.#takeNodes(tick, place);
    // The values of a row must begin together, otherwise they would be from different times.
    if (place % EVERY === 0) this.#takeValues(tick, place / EVERY);
    for (const rows of [...this.#rows.values(), ...this.#filling]) if (!rows.isOld) this.#takeGroups(tick, rows, place);
  }

  /** Fills the columns before the first and only look; that of readings nothing is known, their gaps say. */
  recall({ sinceMs, spells }: Past): void {
    const [newest, nowMs] = [this.#newest, this.#newestMs];
    // The first look no earlier than that.
    const numberOf = (ms: number) => newest - Math.min(newest, Math.max(0, Math.floor((nowMs - ms) / TICK_MS)));
    const oldest = Math.max(newest - COLUMNS + 1, numberOf(sinceMs));
    const each = (fromMs: number, toMs: number, act: (place: number) => void) => {
      for (let at = Math.max(oldest, numberOf(fromMs)); at < Math.min(newest, numberOf(toMs)); at++) act(at % COLUMNS);
    };
    const fill = (place: number, bits: number) => {
      for (const { states } of this.#blocks) states.fill(bits, (place * BLOCK) / 2, ((place + 1) * BLOCK) / 2);
    };
    each(sinceMs, nowMs, place => {
      this.#boards[place] = 'ok';
      fill(place, LIVE | (LIVE << 4));
    });
    for (let at = oldest; at < newest; at++) this.#numbers[at % COLUMNS] = at;
    for (let place = this.#known; place < this.#blocks.length * BLOCK; place++) this.#clear(place);
    const put = (name: string, fromMs: number, toMs: number, bitsOf: (before: number) => number) => {
      const [block, at] = this.#kept(name) ?? [];
      if (block !== undefined && at !== undefined)
        each(fromMs, toMs, place => block.putBits(at, place, bitsOf(block.bitsAt(at, place))));
    };
    const now = new Map([...this.#places.keys()].map(name => [name, this.#bitsOf(name, [newest])[0] ?? GAP]));
    const stateNow = (name: string) => STATES[(now.get(name) ?? GAP) & STATE_MASK];
    for (const [name, bits] of now)
      if (stateNow(name) === 'left' || stateNow(name) === 'never') put(name, sinceMs, nowMs, () => bits & STATE_MASK);
    // Problems are those of nodes that were heard.
    const inOrder = [...spells].sort((a, b) => Number(a.what === 'unhealthy') - Number(b.what === 'unhealthy'));
    for (const { nodes, what, fromMs, toMs } of inOrder) {
      if (what === 'stalled' || what === 'closed' || what === 'absent')
        each(fromMs, toMs, place => {
          this.#boards[place] = what;
          if (what === 'absent') fill(place, GAP | (GAP << 4));
        });
      for (const name of nodes) {
        const isIll = ((now.get(name) ?? 0) & CELL.unhealthy) !== 0;
        // What goes on by the journal alone has ended since its last line.
        if (toMs === Number.POSITIVE_INFINITY && !(what === 'unhealthy' ? isIll : stateNow(name) === what)) continue;
        const state = what === 'gone' ? GAP : STATES.indexOf(what as State);
        const ill = (bits: number) => (HEARD.has(bits & STATE_MASK) && bits !== GAP ? bits | CELL.unhealthy : bits);
        put(name, fromMs, toMs, what === 'unhealthy' ? ill : () => state);
      }
    }
  }

  #place({ roster, count }: WatcherTick, names: readonly string[]): void {
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
    this.#ofNode = withRoom(this.#ofNode, count);
    for (; this.#known < count; this.#known++) {
      const name = names[this.#known] as string;
      let place = this.#places.get(name);
      if (place === undefined) {
        place = this.#free.pop() ?? this.#places.size + this.#free.length;
        this.#places.set(name, place);
        if (place < MOST_NODES && place >= this.#blocks.length * BLOCK) this.#blocks.push(new HistoryBlock());
      }
      this.#ofNode[this.#known] = place;
    }
  }

  #clear(place: number): void {
    const block = this.#blocks[Math.floor(place / BLOCK)];
    if (block === undefined) return;
    const at = place % BLOCK;
    for (let column = 0; column < COLUMNS; column++) block.putBits(at, column, GAP);
    for (let i = at; i < block.values.length; i += BLOCK) block.values[i] = NONE;
  }

  #takeNodes({ count, cells }: WatcherTick, place: number): void {
    const [first] = cells as [Uint16Array];
    for (let i = 0; i < count; i++) {
      const node = this.#ofNode[i] as number;
      if (node < MOST_NODES)
        this.#blocks[node >>> 8]?.putBits(node & (BLOCK - 1), place, (first[i] as number) & KEPT_BITS);
    }
  }

  #takeValues({ count, cells }: WatcherTick, column: number): void {
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
          (this.#blocks[node >>> 8] as HistoryBlock).values[at + (node & (BLOCK - 1))] = BYTES[
            cell >>> CELL.valueShift
          ] as number;
      }
    }
  }

  #takeGroups({ count, cells }: WatcherTick, rows: HistoryRows, place: number): void {
    const sums = new GroupSums(rows.groups);
    const of = this.#groupsOf(rows, count);
    const [first] = cells as [Uint16Array];
    for (let i = 0; i < count; i++) sums.count(of[i] as number, first[i] as number);
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
    sums.write(rows, place, true);
  }

  #groupsOf(rows: HistoryRows, count: number): Uint32Array {
    const of = new Uint32Array(count);
    const { grouped } = rows;
    if (grouped === undefined) return of;
    const { numbers } = rows;
    for (let i = 0; i < count; i++) of[i] = numbers[grouped.numbers[i] ?? 0] as number;
    return of;
  }

  /** The place of a column; -1: a gap, or a look has taken it meanwhile. */
  #placeOf(number: number): number {
    const place = number % COLUMNS;
    return this.#numbers[place] === number ? place : -1;
  }

  /** The numbers of the available columns, from the oldest to the newest. */
  #span(): { numbers: number[]; sinceMs: number } {
    const numbers: number[] = [];
    const first = Math.max(0, this.#newest - COLUMNS + 1);
    for (let number = first; number <= this.#newest; number++)
      // The time before the first look is not a gap.
      if (numbers.length > 0 || this.#placeOf(number) >= 0) numbers.push(number);
    return { numbers, sinceMs: this.#newestMs - Math.max(0, numbers.length - 1) * TICK_MS };
  }

  /** The groups of that rule, with one reading. Groups that nobody asked for before are added up from their nodes. */
  async groups(
    key: string,
    grouped: Grouped | undefined,
    count: number,
    scale: number,
    slices = new SlicedLook(),
  ): Promise<HistoryTable> {
    let rows = this.#rows.get(key);
    if (rows === undefined || rows.grouped !== grouped || rows.isOld) {
      rows =
        [...this.#filling].find(each => each.grouped === grouped && !each.isOld) ??
        this.#begin(new HistoryRows(grouped), count);
      await rows.filled;
      this.#rows.set(key, rows);
    }
    rows.lastAsked = performance.now();
    this.#bound(rows);
    const { numbers } = this.#span();
    const head = this.#head();
    const isWide = [...rows.byName.values()].some(({ counts }) => counts instanceof Uint32Array);
    const named = [...rows.byName].filter(([, row]) => row.counts.some(value => value > 0));
    const rowsTold = named.map(([name]) => ({ name: name ?? null }));
    const columns: Uint8Array[] = [];
    for (const [, row] of named) {
      columns.push(
        row.columns(
          Int32Array.from(numbers, number => this.#placeOf(number)),
          scale,
          isWide,
        ),
      );
      await slices.next();
    }
    return { head: { ...head, count_bytes: isWide ? 4 : 2, rows: rowsTold }, columns };
  }

  /** Nodes, with one reading; unknown nodes have only gaps. */
  async nodes(names: readonly string[], scale: number, slices = new SlicedLook()): Promise<HistoryTable> {
    const { numbers, slow } = this.#axis();
    const head = this.#head();
    const half = Math.ceil(numbers.length / 2);
    const columns: Uint8Array[] = [];
    for (const name of names) {
      // Columns before the first readings take these, so that all that are left begin at the same place.
      const packed = new Uint8Array(half + Math.ceil(numbers.length / EVERY)).fill(NONE);
      for (const [i, bits] of this.#bitsOf(name, numbers).entries()) {
        const shift = (i & 1) * 4;
        packed[i >> 1] = ((packed[i >> 1] as number) & ~(15 << shift)) | (bits << shift);
      }
      packed.set(this.#valuesOf(name, scale, slow), half);
      columns.push(packed);
      await slices.next();
    }
    return { head: { ...head, value_every: EVERY, rows: names.map(name => ({ name })) }, columns };
  }

  #head() {
    const { numbers, sinceMs } = this.#span();
    const looked = Math.max(0, this.#first - (numbers[0] ?? 0));
    const columns = { since_ms: sinceMs, step_ms: TICK_MS, columns: numbers.length, gaps: this.#gaps(numbers) };
    return { seq: this.#newestSeq, ...columns, readings_since_ms: sinceMs + looked * TICK_MS };
  }

  /** The columns that there are, and the numbers of those with readings. */
  #axis() {
    const { numbers, sinceMs } = this.#span();
    const first = this.#newest - numbers.length + 1;
    const slow = numbers.filter(number => number % EVERY === 0);
    const looked = slow.filter(number => number >= this.#first);
    return {
      ...{ numbers, slow, looked, sinceMs },
      states: { step_ms: TICK_MS, gaps: this.#gaps(numbers) },
      readings: { since_ms: sinceMs + ((looked[0] ?? first) - first) * TICK_MS, step_ms: TICK_MS * EVERY },
    };
  }

  /** What is kept of a node: its block, and its place there; undefined: it is not known. */
  #kept(name: string): [block: HistoryBlock, at: number] | undefined {
    const place = this.#places.get(name) ?? MOST_NODES;
    const block = this.#blocks[place >>> 8];
    return block && [block, place & (BLOCK - 1)];
  }

  /** The states of a node in these columns, each as in the low bits of a cell, or a gap. */
  #bitsOf(name: string, numbers: readonly number[]): Uint8Array {
    const kept = this.#kept(name);
    if (kept === undefined) return new Uint8Array(numbers.length).fill(GAP);
    const [block, at] = kept;
    return Uint8Array.from(numbers, number => {
      const place = this.#placeOf(number);
      return place < 0 ? GAP : block.bitsAt(at, place);
    });
  }

  /** A reading of a node in the columns of these numbers, each as in the river. */
  #valuesOf(name: string, scale: number, numbers: readonly number[]): Uint8Array {
    const kept = this.#kept(name);
    return Uint8Array.from(numbers, number => {
      const place = this.#placeOf(number);
      if (kept === undefined || place < 0) return NONE;
      const [block, at] = kept;
      return block.values[((place / EVERY) * SCALES.length + scale) * BLOCK + at] as number;
    });
  }

  #statesOf(name: string, numbers: readonly number[]): StateRuns {
    const bits = [...this.#bitsOf(name, numbers)];
    return {
      points: runs(bits.map(each => STATES[each & STATE_MASK] ?? null)),
      unhealthy: runs(bits.map(each => each !== GAP && (each & CELL.unhealthy) !== 0)),
    };
  }

  /** A reading of a node in the columns of these numbers; an unknown value is null. */
  #pointsOf(name: string, scale: Scale, numbers: readonly number[]): (number | null)[] {
    const values = [...this.#valuesOf(name, SCALES.indexOf(scale), numbers)];
    return values.map(value => (value === NONE ? null : numberOf(scale, (value * VALUE_MOST) / VALUE_MOST_8)));
  }

  /** The readings of one node as numbers, and its states. */
  node(name: string): NodeHistory {
    const { numbers, looked, sinceMs, states, readings } = this.#axis();
    const points = SCALES.map(scale => [scale.name, this.#pointsOf(name, scale, looked)] as const);
    return {
      since_ms: sinceMs,
      states: { ...states, ...this.#statesOf(name, numbers) },
      readings: { ...readings, points: Object.fromEntries(points) },
    };
  }

  /** The same of several nodes, with one reading. */
  async nodesWith(names: readonly string[], scale: Scale, slices = new SlicedLook()): Promise<JobAnswer['history']> {
    const { numbers, looked, sinceMs, states, readings } = this.#axis();
    const nodes: JobAnswer['history']['nodes'][number][] = [];
    for (const name of names) {
      const values = this.#pointsOf(name, scale, looked).map(value => value && Number(value.toPrecision(FIGURES)));
      nodes.push({ ...this.#statesOf(name, numbers), values });
      await slices.next();
    }
    return { since_ms: sinceMs, states, readings: { ...readings, name: scale.name }, nodes };
  }

  /** Keeps only the groups of these rules, and the group of all nodes. */
  keep(isKept: (grouped: Grouped) => boolean): void {
    for (const [key, { grouped }] of this.#rows) if (grouped !== undefined && !isKept(grouped)) this.#rows.delete(key);
  }

  /** Begins to add rows up; they are complete when they are filled. */
  #begin(rows: HistoryRows, count: number): HistoryRows {
    this.#filling.add(rows);
    rows.filled = this.#addUp(rows, count).finally(() => this.#filling.delete(rows));
    return rows;
  }

  /** The row number of each node, by the places of nodes; -1: the place is empty. */
  #groupsByPlace(rows: HistoryRows, count: number): Int32Array {
    const nodes = Math.min(count, this.#known);
    const of = this.#groupsOf(rows, nodes);
    const groups = new Int32Array(this.#blocks.length * BLOCK).fill(-1);
    for (let i = 0; i < nodes; i++) {
      const place = this.#ofNode[i] as number;
      if (place < groups.length) groups[place] = of[i] as number;
    }
    return groups;
  }

  /**
   * Fills rows from the history of nodes: counts every second, readings as often as nodes have them. Looks go on
   * meanwhile, and write their own columns.
   */
  async #addUp(rows: HistoryRows, count: number): Promise<void> {
    const slices = this.slices();
    let [groups, roster] = [this.#groupsByPlace(rows, count), this.#roster];
    for (let number = Math.max(0, this.#newest - COLUMNS + 1), last = this.#newest; number <= last; number++) {
      const place = number % COLUMNS;
      // A gap, or overwritten by a look meanwhile.
      if (this.#placeOf(number) < 0) continue;
      if (roster !== this.#roster) [groups, roster] = [this.#groupsByPlace(rows, this.#known), this.#roster];
      const sums = new GroupSums(rows.groups);
      for (const [number, block] of this.#blocks.entries()) block.countStates(groups, number * BLOCK, place, sums);
      const slow = place - (place % EVERY);
      // The readings of its ten seconds, which were taken in the first of them.
      const hasValues = this.#placeOf(number - (place % EVERY)) >= 0;
      if (hasValues)
        if (place !== slow) rows.copyValues(slow, place);
        else for (const [number, block] of this.#blocks.entries()) block.addValues(groups, number * BLOCK, place, sums);
      sums.write(rows, place, place === slow);
      await slices.next();
    }
  }

  /** The gaps of these columns: the first one, the length, and the kind. */
  #gaps(numbers: readonly number[]): [first: number, count: number, kind: GapKind][] {
    const gaps: [number, number, GapKind][] = [];
    for (const [i, number] of numbers.entries()) {
      const place = this.#placeOf(number);
      const kind = place < 0 ? 'missed' : (this.#boards[place] as BoardStatus);
      const last = gaps.at(-1);
      if (kind === 'ok') continue;
      if (last !== undefined && last[0] + last[1] === i && last[2] === kind) last[1]++;
      else gaps.push([i, 1, kind]);
    }
    return gaps;
  }

  /** Keeps the memory of all groups within its limit: those whose last request is longest ago are removed. */
  #bound(latest: HistoryRows): void {
    const byAge = [...this.#rows].sort(([, a], [, b]) => a.lastAsked - b.lastAsked);
    for (const [key, rows] of byAge) {
      if (this.#groupBytes() <= GROUPS_BYTES || rows === latest) return;
      this.#rows.delete(key);
    }
  }
}

/** A value that is repeated in a row, once: `[value, how often]`. */
function runs<T>(values: readonly T[]): Runs<T> {
  const found: [T, number][] = [];
  for (const value of values) {
    const last = found.at(-1);
    if (last !== undefined && last[0] === value) last[1]++;
    else found.push([value, 1]);
  }
  return found;
}
