// The nodes as sent by the server, a cell each, in the order of the map: groups, names, states, values. A frame that is
// out of order is noticed and never shown. Pure.

import { tryExpand } from '../../text/hostlists.js';
import { CELL, type LayoutInfo, MARKS, NOT_MEASURED, type NodeMarks, STATE_MASK, STATES, type State } from '../wire.js';

export const LIVE = STATES.indexOf('live');

export const stateOf = (cell: number): State => STATES[cell & STATE_MASK] ?? 'unknown';
export const valueIn = (cell: number): number => cell >> CELL.valueShift;
export const isMeasured = (cell: number): boolean => valueIn(cell) !== NOT_MEASURED;
export const isUnhealthy = (cell: number): boolean => (cell & CELL.unhealthy) !== 0;

/** The bits of a node's marks. */
export const MARK = Object.fromEntries(MARKS.map((mark, i) => [mark, 1 << i])) as Record<
  (typeof MARKS)[number],
  number
>;

/** The state of a group's nodes. */
export interface Tally {
  /** By the number of the state. */
  readonly states: Uint32Array;
  readonly unhealthy: number;
  /** Live nodes with a measured value, the sum of these values, and the greatest; 0 if there is none. */
  readonly measured: number;
  readonly sum: number;
  readonly most: number;
}

/** What a frame changed: these cells; `all`: anything may have changed. */
export type Changed = 'all' | Uint32Array;

export class Cells {
  layout: LayoutInfo = { layout: 0, count: 0, groups: [] };
  values = new Uint16Array(0);
  /** The number of the last tick; 0: none yet. */
  seq = 0;
  #lists: NodeMarks = {};
  #marks: Uint8Array | undefined;
  #names: string[] | undefined;
  #indices: Map<string, number> | undefined;

  /** Takes a new order of nodes; their values come with the next picture. */
  arrange(layout: LayoutInfo): void {
    this.layout = layout;
    this.values = new Uint16Array(layout.count).fill((NOT_MEASURED << CELL.valueShift) | STATES.indexOf('unknown'));
    this.#names = undefined;
    this.#indices = undefined;
    this.#marks = undefined;
    this.seq = 0;
  }

  /** [u32 layout][u32 seq][u16 cell]*count; returns 'none' if it has another layout than the last one. */
  picture(payload: Uint8Array): Changed | 'none' {
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    if (view.getUint32(0, true) !== this.layout.layout) return 'none';
    if (payload.length !== 8 + 2 * this.layout.count) throw new Error('a picture of another size than the layout');
    this.values = new Uint16Array(payload.slice(8).buffer);
    this.seq = view.getUint32(4, true);
    return 'all';
  }

  /** [u32 layout][u32 seq][u32 previous seq][u32 n][u32 index]*n [u16 cell]*n. Throws if a frame is missing. */
  changes(payload: Uint8Array): Changed | 'none' {
    const own = payload.byteOffset % 4 === 0 ? payload : payload.slice();
    const [layout = 0, seq = 0, previous = 0, n = 0] = new Uint32Array(own.buffer, own.byteOffset, 4);
    if (layout !== this.layout.layout || this.seq === 0) return 'none';
    if (previous !== this.seq)
      throw new Error(`tick ${seq} follows ${previous}, and ${this.seq} is the last that came`);
    if (own.length !== 16 + 6 * n) throw new Error('changes of another size than they say');
    const indices = new Uint32Array(own.buffer, own.byteOffset + 16, n);
    const cells = new Uint16Array(own.buffer, own.byteOffset + 16 + 4 * n, n);
    const { values } = this;
    for (let i = 0; i < n; i++) values[indices[i] as number] = cells[i] as number;
    this.seq = seq;
    return indices;
  }

  get names(): readonly string[] {
    this.#names ??= this.layout.groups.flatMap(({ nodes, count }) => {
      const names = tryExpand(nodes, 'any') ?? [];
      // A cell must never get another node's name.
      return names.length === count ? names : Array.from({ length: count }, () => '?');
    });
    return this.#names;
  }

  /** The cell of a node; undefined: there is no node of that name. */
  indexOf(name: string): number | undefined {
    this.#indices ??= new Map(this.names.map((each, index) => [each, index]));
    return this.#indices.get(name);
  }

  /** The cells of those of these nodes that there are. */
  cellsOf(names: Iterable<string>): number[] {
    return [...names].map(name => this.indexOf(name)).filter(cell => cell !== undefined);
  }

  /** Takes the lists of marked nodes; returns whether they are others than before. */
  mark(lists: NodeMarks): boolean {
    const isSame = MARKS.every(mark => lists[mark] === this.#lists[mark]);
    if (!isSame) this.#marks = undefined;
    this.#lists = lists;
    return !isSame;
  }

  /** The marks of each cell, as bits of MARK. */
  get marks(): Uint8Array {
    if (this.#marks !== undefined) return this.#marks;
    const marks = new Uint8Array(this.layout.count);
    for (const mark of MARKS)
      for (const cell of this.cellsOf(tryExpand(this.#lists[mark] ?? '', 'any') ?? []))
        marks[cell] = (marks[cell] as number) | MARK[mark];
    this.#marks = marks;
    return marks;
  }

  /** What of a cell is shown as a form: its state, whether it has a problem, whether it was measured, its marks. */
  formOf(cell: number): number {
    const bits = this.values[cell] as number;
    return (bits & 15) | (isMeasured(bits) ? 0 : 16) | ((this.marks[cell] as number) << 5);
  }

  /** 1 for each of these cells. */
  mask(some: Iterable<number>): Uint8Array {
    const mask = new Uint8Array(this.layout.count);
    for (const cell of some) mask[cell] = 1;
    return mask;
  }

  /** A summary of `count` cells from `first` on. */
  tally(first = 0, count = this.layout.count): Tally {
    const states = new Uint32Array(STATES.length);
    let [unhealthy, measured, sum, most] = [0, 0, 0, 0];
    const { values } = this;
    for (let i = first; i < first + count; i++) {
      const cell = values[i] as number;
      const state = cell & STATE_MASK;
      (states[state] as number)++;
      if (isUnhealthy(cell)) unhealthy++;
      const value = valueIn(cell);
      if (state !== LIVE || value === NOT_MEASURED) continue;
      measured++;
      sum += value;
      if (value > most) most = value;
    }
    return { states, unhealthy, measured, sum, most };
  }
}
