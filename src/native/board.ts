// Boards as readers map them, what is computed from copies of them, and what is printed and answered about them.

import { addon } from './addon.js';

/**
 * The beginning of a snapshot: CLOCK_MONOTONIC and CLOCK_REALTIME, taken before anything was loaded, in ns; the number
 * of records; whether the receiver was stalled then.
 */
export const SNAPSHOT_HEAD = { nowNs: 0, realNs: 8, nodes: 16, stalled: 24, bytes: 32 } as const;

/**
 * The results for each node after its copies, in arrays one after another, in this order: its age in ms (f64), -1 if
 * there is no report; for a live node its wall clock minus the master's in s (f64), otherwise 0; for a live or
 * uncertain node its problems (u32), bits by the numbers of the problems, otherwise 0; a number for a live node's
 * kernel release (u32), the same for the same release, otherwise 0; like its problems, those that are not measured and no
 * longer shown as present (u32), and those that the last report to measure them showed (u32), and those that its
 * newest report can show (u32); the interval of that report in ms, and how late it was made in us (u32); 0 if no trouble of
 * the node is remembered (u8); its state (u8), as numbered in beoboard.h;
 * and its state at the receiver's last heartbeat (u8).
 */
export const OVERVIEW = { bytes: 47 } as const;

/** How much of the whole is in use, and on how many nodes. */
export interface PartInUse {
  nodes: number;
  used: number;
  total: number;
}

/** Bytes per second, and on how many nodes. */
interface Flow {
  nodes: number;
  in: number;
  out: number;
}

/** What nodes have, use and move together. Absent if no node measures it; a node with half of the values is not in. */
export interface Totals {
  cpus?: PartInUse;
  /** Bytes. */
  memory?: PartInUse;
  network?: Flow;
  /** These interfaces may be part of `network`, too. */
  fabric?: Flow;
  /** Bytes per second. */
  disks?: { nodes: number; read: number; written: number };
  gpus?: PartInUse;
  power?: { nodes: number; watts: number };
}

/** An interface of the master, by which reports come; see "Links" in proto/board-v2.md. Times: CLOCK_MONOTONIC, ns. */
export interface LinkEntry {
  number: number;
  /** The interface's, and `, in pieces` for what comes by it in IP fragments. */
  name: string;
  /** Bits of link_state. */
  state: number;
  changedNs: bigint;
  downs: number;
  nodes: number;
  /** 0n: it is not dark. */
  darkSinceNs: bigint;
  darkNodes: number;
  /** Since when the kernel fails to join what comes in pieces; 0n: it does not. */
  unjoinedSinceNs: bigint;
  accepted: number;
  missed: number;
  /**
   * The address to which its reports were last sent: the master's own, or that of a group or a broadcast; empty:
   * unknown. And the port; 0: unknown.
   */
  address: string;
  port: number;
  heartbeatNs: bigint;
  listeningSinceNs: bigint;
}

/** A source of rejected datagrams. Times in ns, of CLOCK_MONOTONIC and, for `lastRealNs`, of CLOCK_REALTIME. */
export interface SenderEntry {
  /** The reason's number in the enum. */
  reason: number;
  address: string;
  /** The name that it claims; empty: no valid name. */
  name: string;
  firstNs: bigint;
  lastNs: bigint;
  lastRealNs: bigint;
  count: number;
}

/** An event of the board's ring: `kind`, a number of the enum event_kind, says what subject and detail mean. */
export interface EventEntry {
  number: number;
  stampNs: bigint;
  stampRealNs: bigint;
  kind: number;
  subject: number;
  detail: number;
}

/** States of opening a board; none of them is an error. See proto/board-v2.md. */
export type BoardState = 'absent' | 'starting' | 'foreign' | 'truncated' | 'retired' | 'ready';

/** A board mapped read-only. */
export interface BoardMapping {
  /** The bytes that a snapshot of all used records needs now. */
  snapshotBytes(): number;
  /** The bytes that a snapshot of so many nodes needs. */
  nodeBytes(nodes: number): number;
  /** The buffer for snapshots from now on, aligned to 8 bytes. It must not be transferred. */
  into(buffer: Uint8Array): void;
  /**
   * Copies the board from record number `first` on, as many records as exist and fit, and judges it. Writes
   * `SNAPSHOT_HEAD`, then the header, column words and records at the header's strides, then the arrays of `OVERVIEW`.
   * A slot that could not be copied whole has a `head` of 0. Returns false if the file was cut short.
   */
  snapshot(first: number): boolean;
  /** The bytes that `column` needs now. */
  columnBytes(): number;
  /** Copies the board without the records: `SNAPSHOT_HEAD`, then the header, column words, each node's state (u8). */
  column(): boolean;
  /** The links that have an entry, and the one that stands for all others. Undefined if the file was cut short. */
  links(): LinkEntry[] | undefined;
  /** The table of rejected senders. Undefined if the file was cut short. */
  senders(): SenderEntry[] | undefined;
  /** Events from number `next` on, at most so many, and the number to continue with; likewise. */
  events(next: number, most: number): { next: number; events: EventEntry[] } | undefined;
  /** The names of the nodes of these numbers, joined by NULs; undefined if the file was cut short or there is none. */
  names(numbers: Uint32Array): string | undefined;
  /**
   * The numbers of the nodes whose memory of trouble differs from the copy in `known`; copies of these go to `fresh`.
   * Both have room for as many `struct memory`, aligned to 8 bytes. Undefined if the file was cut short; null if the
   * board has no such memories.
   */
  memories(known: Uint8Array, fresh: Uint8Array): Uint32Array | null | undefined;
  /** The number of the record of that name; -1: there is none. */
  find(name: string): number;
  /** Whether the path still names the mapped file. */
  isAt(path: string): boolean;
  unmap(): void;
}

interface BoardAddon {
  /**
   * `count` texts of UTF-8, one every `stride` bytes from `first` on, each up to its first NUL and at most `most` bytes
   * long; joined by NULs. Throws if there are not so many.
   */
  texts(bytes: Uint8Array, first: number, stride: number, most: number, count: number): string;
  /** After how long what a node with that interval does not measure is no longer shown as present, ms. */
  unmeasuredLimitMs(intervalMs: number, longestMs: number): number;
  /**
   * Adds up the nodes of a copy that are live by `states`: header, column words and records of as many nodes as
   * `states` has bytes. Throws if it is not a copy of a board.
   */
  totals(copy: Uint8Array, states: Uint8Array): Totals;
  /**
   * Maps the board at `path` read-only if a trusted user owns it: root, ourselves, `beoboard`, or `owner` (a name or
   * id). Throws if that user does not exist.
   */
  mapBoard(
    path: string,
    owner: number | string | undefined,
  ): { state: Exclude<BoardState, 'ready'>; why: string } | { state: 'ready'; board: BoardMapping };
}

export const { texts, unmeasuredLimitMs, totals, mapBoard } = addon as BoardAddon;

// ---- reading and printing many values of a board at once ----

/**
 * Reads numbers of a node's two reports into an array: of those that begin at these bytes, which are aligned to 8
 * bytes; `before` -1: there is no earlier one. An unknown value is NaN, and so is a rate without an earlier report.
 * Throws if no whole report is there.
 */
export type Extract = (bytes: Uint8Array, before: number, after: number) => void;

/** The kinds of numbers that an extractor reads, by their numbers: fields by type, a bit, rates of counters, sums. */
export const GATHERED = [
  ...(['u8', 'u16', 'u32', 'i16', 'i32', 'u64', 'bit', 'rate_u32', 'rate_u64'] as const),
  ...(['share', 'traffic'] as const),
] as const;

/** In place of the number of a set: every report has the value. */
export const ALWAYS = 0xffff_ffff;

/** In place of a number of digits: the gap is for a text. */
export const TEXT_GAP = 7;

/**
 * Prints a text with gaps from byte `at` of `into` on; returns how many bytes that were. Of the texts in the gaps
 * only so many bytes are valid. Throws if there may not be room, or if they do not lie one after another.
 */
export type PrintTemplate = (into: Uint8Array, at: number, textBytes: number) => number;

interface PrintingAddon {
  /**
   * Makes a function that reads numbers into `values`, which must be neither transferred nor resized. `wanted` has
   * six numbers for each value: its kind in `GATHERED`; its byte in the report (of a bit, its number there; of a share,
   * a bit for each kind of CPU time that is added; of the traffic, the number of the counter); the number of its set or
   * `ALWAYS`; of a rate, 1 if it is by the slow rounds, and 1 if it is counted from the sender's start; and the place
   * of the value. And there are two scales for each: the value is multiplied by the first one or, if the second one is
   * not 0, divided by that. Throws if these are no numbers of a report.
   */
  extractor(wanted: Uint32Array, scales: Float64Array, values: Float64Array): Extract;
  /** The rows of "terms last_words" that these reports fulfil, as bits; likewise. */
  lastWords(bytes: Uint8Array, before: number, after: number): number;
  /**
   * Makes a function that prints a text with what is in `values` and `texts` then; they must be neither transferred nor
   * resized. `gaps` has four numbers for each: the bytes of the text before it, since the end of the last gap's part;
   * the bytes after it that still belong to its part; the place of its value; and the digits after the decimal point (0
   * to 6) or `TEXT_GAP`. A part is left out if its value is not a number within the exact range. The value of a text is
   * where it ends in `texts`; it begins where the last one ends. Numbers are printed as `Page.decimal` does. Throws if
   * gaps and text do not go together.
   */
  template(text: Uint8Array, gaps: Uint32Array, values: Float64Array, texts: Uint8Array): PrintTemplate;
}

export const { extractor, lastWords, template } = addon as PrintingAddon;

// ---- what the short verbs in C answer, of a board that is open ----

/** A line with its end, and the exit code; below 0: why there is no answer, in place of any. */
interface AnsweredLine {
  readonly code: number;
  readonly text: string;
}

/** Nodes in the order of the board, with their states as `NUMBERED`; names that it lacks; likelier causes. */
interface FoundNodes {
  readonly names: string[];
  readonly states: Uint8Array;
  readonly notOnBoard: string[];
  readonly remarks: string[];
}

/**
 * The texts begin with the board's path, and a cause more likely than the nodes, or an empty one. Problems and states
 * are bits, by their numbers. `names`: none twice; undefined: all. `fulfils`: of each record, whether its node fulfils a
 * condition; undefined: there is none.
 */
type Answer<A> = (
  mapping: BoardMapping,
  texts: readonly string[],
  numbers: Float64Array,
  names: readonly string[] | undefined,
  fulfils: Uint8Array | undefined,
) => A;

interface AnsweringAddon {
  /**
   * More texts: what else is warned of, each behind a semicolon; the folder of journals' states; the condition. The
   * numbers: --fail, 1 open, 2 closed; two limits, each so many nodes and a share of all in thousandths of a percent;
   * whether health does not count; problems that are ignored; those that warn also when they are recent.
   */
  answerCheck: Answer<AnsweredLine>;
  /** The same without a board: `why` nothing is known. */
  answerIgnorance(fail: number, why: string): AnsweredLine;
  /** The numbers: states; for so many ms; problems of which a node has one, or 0; whether it must be healthy. */
  answerNodes: Answer<FoundNodes>;
}

export const { answerCheck, answerIgnorance, answerNodes } = addon as AnsweringAddon;
