// The river: the last 15 minutes, a column per second, a row per group. For each it keeps the shares of the states, and
// the mean of the live nodes; of a second without them, why. Pure.

import {
  CELL,
  NOT_MEASURED,
  RIVER,
  type RiverOfGroups,
  type RiverOfNodes,
  STATE_MASK,
  STATES,
  VALUE_MOST,
} from '../wire.js';
import type { Tally } from './cells.js';
import { type Rgb, STEPS, stepOf, word } from './palette.js';

/** Columns: seconds. */
export const SECONDS = RIVER.columns;

/** The parts of a row, from below. */
const PARTS = ['silent', 'uncertain', 'unknown', 'never', 'left', 'unhealthy'] as const;
type RowPart = (typeof PARTS)[number];

type Filled = Pick<Tally, 'states' | 'unhealthy' | 'measured' | 'sum'>;

/** Why nothing is known of nodes in a second, by what is known of it: of `unasked` the server may know more. */
export const WHY = {
  unasked: 'not known to this page',
  unrecorded: 'not recorded: beoboard web began later',
  ok: 'not on the board',
  stalled: 'the receiver did not listen',
  closed: 'the receiver was stopped',
  retired: 'another board had replaced this one',
  absent: 'there was no board',
  missed: 'beoboard web did not look',
} as const;
type GapReason = keyof typeof WHY;
const KINDS = Object.keys(WHY) as GapReason[];
const OK = KINDS.indexOf('ok');
/** The unit of a share: so fine that the count of a group's nodes comes out of it again. */
const FULL = 65_535;
/** The mean of a row that had no nodes. */
const NOBODY = NOT_MEASURED - 1;

export class River {
  readonly rows: number;
  /** The number of the newest column: whole seconds since 1970; 0: none yet. */
  newest = 0;
  /** From which second on readings are known. */
  readingsSince = 0;
  readonly #names: ReadonlyMap<string | null, number>;
  /** By the index of KINDS. */
  readonly #kinds = new Uint8Array(SECONDS);
  readonly #parts: Uint16Array;
  readonly #means: Uint16Array;

  /** `names`: of the rows. */
  constructor(names: readonly (string | null)[]) {
    this.rows = names.length;
    this.#names = new Map(names.map((name, row) => [name, row]));
    this.#parts = new Uint16Array(SECONDS * this.rows * PARTS.length);
    this.#means = new Uint16Array(SECONDS * this.rows);
  }

  get isUnasked(): boolean {
    return this.#kinds.includes(0);
  }

  kindAt(second: number): GapReason {
    const isKept = second <= this.newest && second > this.newest - SECONDS;
    return isKept ? (KINDS[this.#kinds[second % SECONDS] as number] as GapReason) : 'unrecorded';
  }

  /** Says of a second that is kept why it has no nodes. */
  note(second: number, kind: GapReason): void {
    const column = second % SECONDS;
    this.#kinds[column] = KINDS.indexOf(kind);
    this.#parts.fill(0, column * this.rows * PARTS.length, (column + 1) * this.rows * PARTS.length);
    this.#means.fill(NOBODY, column * this.rows, (column + 1) * this.rows);
  }

  /** Makes a second the newest; the server is to be asked for those since the last. False if it is too old to keep. */
  advance(second: number): boolean {
    if (second <= this.newest - SECONDS) return false;
    if (second > this.newest) {
      for (let gap = Math.max(this.newest + 1, second - SECONDS + 1); gap <= second; gap++) this.note(gap, 'unasked');
      this.newest = second;
    }
    return true;
  }

  /** Stores a row for a second that is kept; `unhealthy` and the states are counts of `count` nodes. */
  fill(second: number, row: number, { states, unhealthy, measured, sum }: Filled, count: number): void {
    const column = second % SECONDS;
    this.#kinds[column] = OK;
    const at = column * this.rows + row;
    for (const [i, part] of PARTS.entries()) {
      const number = part === 'unhealthy' ? unhealthy : (states[STATES.indexOf(part)] as number);
      // One node of thousands is visible, too.
      this.#parts[at * PARTS.length + i] = number === 0 ? 0 : Math.max(1, Math.round((FULL * number) / count));
    }
    this.#means[at] = measured === 0 ? NOT_MEASURED : Math.round(sum / measured);
  }

  /**
   * Stores the server's history in place of what is there, so that its seconds fit together; later seconds stay.
   * `secondOf`: the second of a look.
   */
  remember(bytes: Uint8Array, secondOf: (seq: number) => number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = view.getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as RiverOfGroups | RiverOfNodes;
    const { columns, gaps } = header;
    const newest = secondOf(header.seq);
    if (!this.advance(newest)) return;
    const oldest = newest - columns + 1;
    this.readingsSince = oldest + Math.round((header.readings_since_ms - header.since_ms) / header.step_ms);
    for (let second = Math.max(0, this.newest - SECONDS + 1); second <= newest; second++)
      this.note(second, second < oldest ? 'unrecorded' : 'ok');
    for (const [first, count, kind] of gaps)
      for (let second = oldest + first; second < oldest + first + count; second++)
        if (second > this.newest - SECONDS) this.note(second, kind);
    const kinds = STATES.length + 1;
    const states = new Uint32Array(STATES.length);
    const mean = (value: number) =>
      value === RIVER.none ? { measured: 0, sum: 0 } : { measured: 1, sum: (value * VALUE_MOST) / RIVER.most };
    let at = 4 + length;
    for (const { name } of header.rows) {
      const row = this.#names.get(name);
      for (let i = 0; i < columns; i++) {
        const second = oldest + i;
        if (row === undefined || this.kindAt(second) !== 'ok') continue;
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
          const bits = (view.getUint8(at + (i >> 1)) >> ((i & 1) * 4)) & 15;
          if (bits === RIVER.gap) continue;
          states.fill(0);
          states[bits & STATE_MASK] = 1;
          const unhealthy = (bits & CELL.unhealthy) === 0 ? 0 : 1;
          const value = view.getUint8(at + Math.ceil(columns / 2) + Math.floor(i / header.value_every));
          this.fill(second, row, { states, unhealthy, ...mean(value) }, 1);
        }
      }
      at +=
        'count_bytes' in header
          ? columns * (kinds * header.count_bytes + 3)
          : Math.ceil(columns / 2) + Math.ceil(columns / header.value_every);
    }
  }

  /**
   * The state of a row: its parts as fractions of all its nodes, and the mean of the live ones, as in a cell (undefined:
   * none was measured). Undefined: it had no nodes, or nothing is known of that second.
   */
  at(second: number, row: number) {
    if (this.kindAt(second) !== 'ok') return undefined;
    const at = (second % SECONDS) * this.rows + row;
    const mean = this.#means[at] as number;
    if (mean === NOBODY) return undefined;
    const parts = PARTS.map((part, i) => [part, (this.#parts[at * PARTS.length + i] as number) / FULL]);
    return { parts: Object.fromEntries(parts), mean: mean === NOT_MEASURED ? undefined : mean };
  }

  /** The first second that is kept and not a gap; undefined: there is none. */
  since(): number | undefined {
    for (let second = Math.max(1, this.newest - SECONDS + 1); second <= this.newest; second++)
      if (this.kindAt(second) === 'ok') return second;
    return undefined;
  }

  /**
   * The colours of a second from top to bottom; each row is `high` pixels high, and its last `gap` pixels are empty.
   * Where there was no look the hatched ground is seen, but not where there is no record.
   */
  paint(second: number, into: Uint32Array, high: number, gap: number, inks: RiverInks): void {
    const kind = this.kindAt(second);
    into.fill(kind === 'unasked' || kind === 'unrecorded' ? inks.page : 0);
    if (kind !== 'ok') return;
    const inner = high - gap;
    for (let row = 0; row < this.rows; row++) {
      const at = (second % SECONDS) * this.rows + row;
      const mean = this.#means[at] as number;
      const top = row * high;
      if (mean === NOBODY) {
        into.fill(inks.page, top, top + high);
        continue;
      }
      into.fill(mean === NOT_MEASURED ? inks.page : (inks.scale[stepOf(mean, VALUE_MOST)] as number), top, top + inner);
      let bottom = top + inner;
      for (let i = 0; i < PARTS.length && bottom > top; i++) {
        const share = this.#parts[at * PARTS.length + i] as number;
        if (share === 0) continue;
        // The smallest part is one pixel; a row of two pixels shows parts of at least a third.
        const pixels =
          inner >= 4 ? Math.max(1, Math.round((share * inner) / FULL)) : Math.round((share * inner) / FULL + 0.17);
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
  readonly page: number;
}

export function riverInks(scale: readonly Rgb[], ink: (part: RowPart) => Rgb, page: Rgb): RiverInks {
  return {
    page: word(page),
    scale: Uint32Array.from({ length: STEPS }, (_, i) => word(scale[i] as Rgb)),
    parts: Uint32Array.from(PARTS, part => word(ink(part))),
  };
}
