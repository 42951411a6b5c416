// What the server of the wall and its page tell each other: kinds of frames, the cell, the JSON in them, the columns of the river. Types and
// numbers alone; knows neither Node nor a browser. All numbers in frames are little-endian.

/** How a node is, by the number in its cell: as the board numbers states. */
export const STATES = ['never', 'live', 'uncertain', 'silent', 'left', 'unknown'] as const;
export type State = (typeof STATES)[number];

/**
 * Frames of a stream: `[u32 length of the rest][u8 kind][payload]`.
 *
 * - hello: JSON, a `Hello`; first, and again when another board has taken the place of the one before.
 * - layout: JSON, a `LayoutTold`; first, and whenever nodes come or go or change their group. A picture follows.
 * - picture: `[u32 layout][u32 seq][u16 cell]*count`; first, behind a layout, after a gap, and where it is shorter than the changes.
 * - changes: `[u32 layout][u32 seq][u32 seq before][u32 n][u32 index]*n [u16 cell]*n`; n may be 0: a pulse.
 * - head: JSON, a `Head`, behind picture or changes of the same seq; where something in it but its times is different.
 * - events: JSON, an array of `EventTold`: what has happened since the frame before of this kind.
 */
export const FRAME = { hello: 1, layout: 2, picture: 3, changes: 4, head: 5, events: 6 } as const;
/** Bytes in front of the payload. */
export const FRAME_HEAD = 5;

/** A cell: bits 0 to 2 the state, bit 3 whether anything ails the node, bits 4 to 15 the value. */
export const CELL = { stateBits: 3, ailing: 8, valueShift: 4 } as const;
/** Values of a cell go from 0, the reading's low, to this, its high; beyond them they stay there. */
export const VALUE_MOST = 4000;
/** The value of a cell that says that it was not measured. */
export const NOT_MEASURED = 4095;

/** A reading that can fill the cells. */
export interface ReadingInfo {
  readonly name: string;
  /** In a few words. */
  readonly title: string;
  /** As it is written behind a number; empty for a plain number. */
  readonly unit: string;
  readonly low: number;
  readonly high: number;
  /** `log`: equal ratios are equal distances; what is at `low` or below, 0 too, is value 0. */
  readonly scale: 'linear' | 'log';
  /** What it is, in a sentence. */
  readonly about: string;
}

/** The number of a value of a cell. */
export function numberOf({ low, high, scale }: Pick<ReadingInfo, 'low' | 'high' | 'scale'>, value: number): number {
  const part = value / VALUE_MOST;
  return scale === 'linear' ? low + part * (high - low) : low * (high / low) ** part;
}

export interface Hello {
  readonly schema: 1;
  /** Another text is another build of the page: reload. */
  readonly build: string;
  /** The cluster's name; absent: it has none. */
  readonly cluster?: string;
  /** Another text is another board. */
  readonly boardId: string;
  /** The server's wall clock, ms since 1970. */
  readonly now_ms: number;
  /** From one tick to the next. */
  readonly interval_ms: number;
  readonly readings: readonly ReadingInfo[];
  /** What this stream shows: the default where nothing was asked for. */
  readonly reading: string;
  readonly by: string | null;
  readonly where: string | null;
  /** Whether `jobs` is served. */
  readonly jobs: boolean;
}

/**
 * Nodes grouped by `auto`: where most names have two numbers, by what is before the second one, as rack11 of rack11n01; else not at all.
 */
export const AUTO = { by: 'auto', rule: '/^[^0-9]*[0-9]+/', ofNames: /^[^0-9]*[0-9]+[^0-9]+[0-9]/ } as const;

export interface GroupTold {
  /** Null: those that are in no group. */
  readonly name: string | null;
  /** As a host list, which is in the order of the cells. */
  readonly nodes: string;
  /** The index of its first cell. */
  readonly first: number;
  readonly count: number;
}

export interface LayoutTold {
  readonly layout: number;
  readonly count: number;
  readonly groups: readonly GroupTold[];
}

/** How the board is: `closed`: its receiver was shut down cleanly, `retired`: another board takes its place. */
export type BoardTold = 'ok' | 'stalled' | 'closed' | 'retired' | 'absent';

export interface SentenceTold {
  readonly kind: string;
  readonly text: string;
  /** Whom it is about, as a host list; absent: no node. */
  readonly nodes?: string;
}

export interface Head {
  readonly seq: number;
  readonly now_ms: number;
  readonly state: BoardTold;
  /** The line of `beoboard status`. */
  readonly line: string;
  /** Of a mirror alone: whose it is, and how far behind, as the line has it. */
  readonly mirror?: string;
  /** How many nodes there are of each state that there is. */
  readonly counts: { readonly [S in State]?: number };
  readonly ailing: number;
  readonly sentences: readonly SentenceTold[];
  /** Links that are down or dark, with their nodes. */
  readonly dark: readonly { readonly name: string; readonly text: string; readonly nodes: string }[];
}

/** What has happened, once or to several nodes within a second; `event` and its keys as `beoboard events --json` has them. */
export interface EventTold {
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly event: string;
  readonly text: string;
  /** As a host list. */
  readonly nodes?: string;
  readonly count?: number;
  readonly [key: string]: unknown;
}

/**
 * The river: `[u32 length of the JSON][JSON][columns of each row, one row behind the other]`, from the oldest column to the newest.
 *
 * Of groups the JSON is a `RiverOfGroups`. Of each row: for each of STATES, and for those that something ails, the counts of all columns
 * (u16, or u32 where `count_bytes` is 4); then the least value of the reading in each column, the mean, and the most (u8).
 *
 * Of nodes it is a `RiverOfNodes`. Of each row: the states of all columns, two a byte, the earlier one in the low half, 15 where it was not
 * there; then a value for each `value_every` columns (u8).
 *
 * A value is 0 to 250 for 0 to VALUE_MOST of a cell, and 255 where nothing was measured of a live node.
 */
export const RIVER = {
  columns: 900,
  valueEvery: 10,
  most: 250,
  none: 255,
  gap: 15,
  mostRows: 512,
  mostNodes: 2000,
} as const;

interface RiverTold {
  readonly schema: 1;
  readonly reading: string;
  /** The look of the newest column. */
  readonly seq: number;
  /** The time of the first column, ms since 1970 by the server's clock. */
  readonly since_ms: number;
  readonly step_ms: number;
  readonly columns: number;
  /** From which column on how many nobody has looked at. */
  readonly gaps: readonly (readonly [first: number, count: number])[];
}

export interface RiverOfGroups extends RiverTold {
  readonly by: string | null;
  readonly count_bytes: 2 | 4;
  readonly rows: readonly { readonly name: string | null }[];
}

export interface RiverOfNodes extends RiverTold {
  readonly value_every: number;
  readonly rows: readonly { readonly name: string }[];
}
