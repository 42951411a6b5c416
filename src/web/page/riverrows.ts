// The river: the last 15 minutes, a column per second, a row per group. For each it keeps the shares of the states, and
// the mean of the live nodes. Times without a look are gaps. Pure.

import { NOT_MEASURED, RIVER, type RiverOfGroups, type RiverOfNodes, STATES, VALUE_MOST } from '../wire.js';
import type { Tally } from './cells.js';
import { type Rgb, STEPS, stepOf, word } from './palette.js';

/** Columns: seconds. */
export const SECONDS = RIVER.columns;

/** The parts of a row, from below: shares of its nodes in units of 1/255. */
const PARTS = ['silent', 'uncertain', 'unknown', 'never', 'left', 'unhealthy'] as const;
export type Part = (typeof PARTS)[number];

export interface Column {
  /** Each as a fraction of all nodes of the row. */
  readonly parts: Readonly<Record<Part, number>>;
  /** The mean of the live nodes, as in a cell; undefined: none was measured. */
  readonly mean: number | undefined;
}

type Filled = Pick<Tally, 'states' | 'unhealthy' | 'measured' | 'sum'>;

/** Whether there was a look. */
const EMPTY = 0;
const FILLED = 1;

export class River {
  readonly rows: number;
  /** The number of the newest column: whole seconds since 1970; 0: none yet. */
  newest = 0;
  readonly #filled: Uint8Array;
  readonly #parts: Uint8Array;
  readonly #means: Uint16Array;

  constructor(rows: number) {
    this.rows = rows;
    this.#filled = new Uint8Array(SECONDS);
    this.#parts = new Uint8Array(SECONDS * rows * PARTS.length);
    this.#means = new Uint16Array(SECONDS * rows).fill(NOT_MEASURED);
  }

  /**
   * Makes a second the newest one; seconds between it and the last one become gaps. Returns false if it is too old to
   * be kept.
   */
  advance(second: number): boolean {
    if (second <= this.newest - SECONDS) return false;
    if (second > this.newest) {
      for (let gap = Math.max(this.newest + 1, second - SECONDS + 1); gap <= second; gap++)
        this.#filled[gap % SECONDS] = EMPTY;
      this.newest = second;
    }
    return true;
  }

  /** Stores a row for a second that is kept; `unhealthy` and the states are counts of `count` nodes. */
  fill(second: number, row: number, { states, unhealthy, measured, sum }: Filled, count: number): void {
    const column = second % SECONDS;
    this.#filled[column] = FILLED;
    const at = column * this.rows + row;
    for (const [i, part] of PARTS.entries()) {
      const number = part === 'unhealthy' ? unhealthy : (states[STATES.indexOf(part)] as number);
      // One node of thousands is visible, too.
      this.#parts[at * PARTS.length + i] = number === 0 ? 0 : Math.max(1, Math.round((255 * number) / count));
    }
    this.#means[at] = measured === 0 ? NOT_MEASURED : Math.round(sum / measured);
  }

  /** Stores the server's history. `rows`: by name; `newest`: the second of its last column. */
  remember(bytes: Uint8Array, rows: ReadonlyMap<string | null, number>, newest: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as RiverOfGroups | RiverOfNodes;
    const { columns, gaps } = header;
    const isGap = new Uint8Array(columns);
    for (const [first, count] of gaps) isGap.fill(1, first, first + count);
    this.advance(newest);
    const kinds = STATES.length + 1;
    const states = new Uint32Array(STATES.length);
    const mean = (value: number) =>
      value === RIVER.none ? { measured: 0, sum: 0 } : { measured: 1, sum: (value * VALUE_MOST) / RIVER.most };
    let at = 4 + length;
    for (const { name } of header.rows) {
      const row = rows.get(name);
      for (let i = 0; i < columns; i++) {
        const second = newest - (columns - 1 - i);
        if (row === undefined || isGap[i] === 1 || second <= this.newest - SECONDS) continue;
        if ('count_bytes' in header) {
          const size = header.count_bytes;
          const of = (kind: number) => {
            const place = at + (kind * columns + i) * size;
            return size === 2 ? view.getUint16(place, true) : view.getUint32(place, true);
          };
          let count = 0;
          for (let state = 0; state < STATES.length; state++) count += states[state] = of(state);
          if (count === 0) continue;
          const value = view.getUint8(at + kinds * columns * size + columns + i);
          this.fill(second, row, { states, unhealthy: of(STATES.length), ...mean(value) }, count);
        } else {
          const state = (view.getUint8(at + (i >> 1)) >> ((i & 1) * 4)) & 15;
          if (state === RIVER.gap) continue;
          states.fill(0);
          states[state] = 1;
          const value = view.getUint8(at + Math.ceil(columns / 2) + Math.floor(i / header.value_every));
          this.fill(second, row, { states, unhealthy: 0, ...mean(value) }, 1);
        }
      }
      at +=
        'count_bytes' in header
          ? columns * (kinds * header.count_bytes + 3)
          : Math.ceil(columns / 2) + Math.ceil(columns / header.value_every);
    }
  }

  /** The state of a row; undefined in a gap. */
  at(second: number, row: number): Column | undefined {
    if (second > this.newest || second <= this.newest - SECONDS || this.#filled[second % SECONDS] === EMPTY)
      return undefined;
    const at = (second % SECONDS) * this.rows + row;
    const mean = this.#means[at] as number;
    const parts = PARTS.map((part, i) => [part, (this.#parts[at * PARTS.length + i] as number) / 255]);
    return { parts: Object.fromEntries(parts), mean: mean === NOT_MEASURED ? undefined : mean };
  }

  /** The first second that is kept and not a gap; undefined: there is none. */
  since(): number | undefined {
    for (let second = Math.max(1, this.newest - SECONDS + 1); second <= this.newest; second++)
      if (this.#filled[second % SECONDS] === FILLED) return second;
    return undefined;
  }

  /**
   * The colours of a second from top to bottom; each row is `high` pixels high, and its last `gap` pixels are empty.
   */
  paint(second: number, into: Uint32Array, high: number, gap: number, inks: RiverInks): void {
    into.fill(0);
    if (second > this.newest || second <= this.newest - SECONDS || this.#filled[second % SECONDS] === EMPTY) return;
    const inner = high - gap;
    for (let row = 0; row < this.rows; row++) {
      const at = (second % SECONDS) * this.rows + row;
      const mean = this.#means[at] as number;
      const top = row * high;
      into.fill(
        mean === NOT_MEASURED ? inks.unmeasured : (inks.scale[stepOf(mean, VALUE_MOST)] as number),
        top,
        top + inner,
      );
      let bottom = top + inner;
      for (let i = 0; i < PARTS.length && bottom > top; i++) {
        const share = this.#parts[at * PARTS.length + i] as number;
        if (share === 0) continue;
        // The smallest part is one pixel; a row of two pixels shows parts of at least a third.
        const pixels =
          inner >= 4 ? Math.max(1, Math.round((share * inner) / 255)) : Math.round((share * inner) / 255 + 0.17);
        into.fill(inks.parts[i] as number, Math.max(top, bottom - pixels), bottom);
        bottom -= pixels;
      }
    }
  }
}

/** Colours as words of an ImageData. */
export interface RiverInks {
  readonly scale: Uint32Array;
  readonly parts: Uint32Array;
  readonly unmeasured: number;
}

export function riverInks(scale: readonly Rgb[], ink: (part: Part) => Rgb, unmeasured: Rgb): RiverInks {
  return {
    scale: Uint32Array.from({ length: STEPS }, (_, i) => word(scale[i] as Rgb)),
    parts: Uint32Array.from(PARTS, part => word(ink(part))),
    unmeasured: word(unmeasured),
  };
}
