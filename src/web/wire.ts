// The protocol between the server of the wall and its page: kinds of frames, the cell, their JSON, the columns of the
// river. Only types and numbers; knows neither Node nor a browser. All numbers in frames are little-endian.

import type { TroubleInfo } from '../acks/info.js';
import type { State } from '../shm/liveness.js';
import { RACK_PATTERN } from '../text/hostlists.js';

export type { State };

/** The state of a node, by the number in its cell: as the board numbers states. */
export const STATES = ['never', 'live', 'uncertain', 'silent', 'left', 'unknown'] as const satisfies readonly State[];

/**
 * Frames of a stream: `[u32 length of the rest][u8 kind][payload]`.
 *
 * - hello: JSON, a `Hello`; first, and again when another board has taken the place of the one before.
 * - layout: JSON, a `LayoutInfo`; first, and whenever nodes come or go or change their group. A picture follows.
 * - picture: `[u32 layout][u32 seq][u16 cell]*count`; first, behind a layout, after a gap, and where it is shorter than the changes.
 * - changes: `[u32 layout][u32 seq][u32 seq before][u32 n][u32 index]*n [u16 cell]*n`; n may be 0: a pulse.
 * - head: JSON, a `WallHead`, behind picture or changes of the same seq; where something in it but its times is different, or these do not follow from the looks since.
 * - events: JSON, an array of `KeptEvent`: what has happened since the frame before of this kind.
 */
export const FRAME = { hello: 1, layout: 2, picture: 3, changes: 4, head: 5, events: 6 } as const;
/** Bytes before the payload. */
export const FRAME_HEAD = 5;

/** A cell: bits 0 to 2 the state, bit 3 whether the node has a problem, bits 4 to 15 the value. */
export const CELL = { stateBits: 3, unhealthy: 8, valueShift: 4 } as const;
/** The bits of a cell's state. */
export const STATE_MASK = 2 ** CELL.stateBits - 1;
/** The value of a cell is 0 for the low end of the reading's range, and this for the high end; it is limited. */
export const VALUE_MOST = 4000;
/** The value of a cell that was not measured. */
export const NOT_MEASURED = 4095;

/** How many nodes a page of the nodes in an order has. */
export const NODE_PAGE = 200;

/** A reading that can colour the cells. */
export interface ReadingInfo {
  readonly name: string;
  /** In a few words. */
  readonly title: string;
  /** How it is written after a number; empty for a plain number. */
  readonly unit: string;
  readonly low: number;
  readonly high: number;
  /** `log`: equal ratios are equal distances; anything at `low` or below, also 0, has the value 0. */
  readonly scale: 'linear' | 'log';
  /** Its meaning, in a sentence. */
  readonly about: string;
}

/** The number for a value of a cell. */
export function numberOf({ low, high, scale }: Pick<ReadingInfo, 'low' | 'high' | 'scale'>, value: number): number {
  const part = value / VALUE_MOST;
  return scale === 'linear' ? low + part * (high - low) : low * (high / low) ** part;
}

/** The place of a number in the range of a reading, from 0 to 1. */
export function partOf({ low, high, scale }: Pick<ReadingInfo, 'low' | 'high' | 'scale'>, number: number): number {
  if (number <= low) return 0;
  if (number >= high) return 1;
  return scale === 'linear' ? (number - low) / (high - low) : Math.log(number / low) / Math.log(high / low);
}

/** The longest interval at which a stream can be asked for, looks: a proxy ends one without data after a minute. */
export const EVERY_MOST = 30;

export interface Hello {
  readonly schema: 1;
  /** Another text means another build of the page, which has to be reloaded. */
  readonly build: string;
  /** The cluster's name; absent: it has none. */
  readonly cluster?: string;
  /** Another text means another board. */
  readonly boardId: string;
  /** What a command says that means this board, ` --board /run/b`; absent: nothing, it is the usual one. */
  readonly named?: string;
  /** The server's wall clock, ms since 1970. */
  readonly now_ms: number;
  /** The time from one tick to the next. */
  readonly interval_ms: number;
  /** The server's time zone: Europe/Berlin. */
  readonly zone: string;
  readonly readings: readonly ReadingInfo[];
  /** The view of this stream: the default if nothing was asked for. */
  readonly reading: string;
  readonly by: string | null;
  readonly where: string | null;
  /** Whether `jobs` exists. */
  readonly jobs: boolean;
}

/**
 * With `auto` nodes are grouped by the part of their names before the second number, as rack11 of rack11n01, if most
 * names have two numbers; otherwise not at all.
 */
export const AUTO = { by: 'auto', rule: `/${RACK_PATTERN}/` } as const;

export interface GroupInfo {
  /** Null: nodes without a group. */
  readonly name: string | null;
  /** A host list in the order of the cells. */
  readonly nodes: string;
  /** The index of its first cell. */
  readonly first: number;
  readonly count: number;
}

export interface LayoutInfo {
  readonly layout: number;
  readonly count: number;
  readonly groups: readonly GroupInfo[];
}

/** The state of the board: `closed`: its receiver was shut down cleanly, `retired`: another board has replaced it. */
export type BoardStatus = 'ok' | 'stalled' | 'closed' | 'retired' | 'absent';

/** So many lines of trouble reach the page. */
export const TROUBLE_MOST = 200;

/** What is known of some nodes that the bits of a cell have no room for; in the order of their bits on the page. */
export const MARKS = ['critical', 'recent', 'held', 'odd'] as const;
/** Those with a critical problem, with none now but one recently, out of service, or odd in their job; as host lists. */
export type NodeMarks = { readonly [M in (typeof MARKS)[number]]?: string };

export interface WallHead {
  readonly seq: number;
  readonly now_ms: number;
  readonly state: BoardStatus;
  /** The line of `beoboard status`. */
  readonly line: string;
  /** Only for a mirror: its origin and its delay, as in the line. */
  readonly mirror?: string;
  readonly counts: { readonly [S in State]?: number };
  readonly unhealthy: number;
  /** How many others had a problem recently. */
  readonly recently: number;
  /** The list of trouble, at most `TROUBLE_MOST` lines, and how many more there are. */
  readonly trouble: readonly TroubleInfo[];
  readonly trouble_more: number;
  readonly marks: NodeMarks;
  /** Links that are down or dark, with their nodes. */
  readonly dark: readonly { readonly name: string; readonly text: string; readonly nodes: string }[];
  /** Once they come from elsewhere, `api/v1/events` has other ones. */
  readonly events: EventsFrom;
}

/** Said wherever somebody looks for one. */
export const NO_JOBS = 'jobs are not shown here; the administrator can start beoboard web with --show-jobs';

/** Where events come from. */
export interface EventsFrom {
  /** Whether it is the journal; otherwise this server has seen them itself. */
  readonly journal: boolean;
  /** Since when they are known, ISO 8601, UTC. */
  readonly from: string;
  /** Why it is not the journal. */
  readonly why?: string;
}

/**
 * The river: `[u32 length of the JSON][JSON][columns of each row, one row behind the other]`, from the oldest column to the newest.
 *
 * Of groups the JSON is a `RiverOfGroups`. Of each row: for each of STATES, and for unhealthy nodes, the counts of all columns
 * (u16, or u32 where `count_bytes` is 4); then the least value of the reading in each column, the mean, and the most (u8).
 *
 * Of nodes it is a `RiverOfNodes`. Of each row: the states of all columns, two a byte, the earlier one in the low half, each as in the low
 * four bits of a cell, 15 where the node was not there; then a value for each `value_every` columns (u8).
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

/** Why a column says nothing of the nodes: the board was not `ok`, or `missed`: this server did not look. */
export type GapKind = Exclude<BoardStatus, 'ok'> | 'missed';

interface RiverInfo {
  readonly schema: 1;
  readonly reading: string;
  /** The number of the newest column's look. */
  readonly seq: number;
  /** The time of the first column, ms since 1970 by the server's clock; before it nothing was recorded. */
  readonly since_ms: number;
  /** The same of readings: states before that are from the journal. */
  readonly readings_since_ms: number;
  readonly step_ms: number;
  readonly columns: number;
  readonly gaps: readonly (readonly [first: number, count: number, kind: GapKind])[];
}

export interface RiverOfGroups extends RiverInfo {
  readonly by: string | null;
  readonly count_bytes: 2 | 4;
  readonly rows: readonly { readonly name: string | null }[];
}

export interface RiverOfNodes extends RiverInfo {
  readonly value_every: number;
  readonly rows: readonly { readonly name: string }[];
}
