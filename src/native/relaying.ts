// What relays take from a board, and what mirrors write to theirs.

import { addon } from './addon.js';
import type { BoardMapping } from './board.js';
import type { SharedBoardOptions } from './receiving.js';

/** How a sweep continues; by these numbers. */
export const SWEEP = { more: 0, complete: 1, partial: 2, backward: 3, cut: 4 } as const;

/** What has changed on a board since the last sweep: see proto/relay-v1.md. Buffers are aligned to 8 bytes. */
export interface Sweep {
  /** Marks everything on the board as already swept. */
  prime(): number;
  /**
   * Begins a sweep: writes a relay_board. The time of the sweep is from before it began. Returns false if the file was
   * cut short. `thorough`: includes the counters and all links. At most so many bytes are used for requested records.
   */
  begin(thorough: boolean, askedBytes: number, into: Uint8Array): boolean;
  /** Writes as many entries of the sweep as fit; returns a number of `SWEEP` that says how to continue. */
  next(into: Uint8Array): { state: number; bytes: number; entries: number };
  /** Makes the next sweeps include these records again. */
  ask(numbers: Uint32Array): void;
  /** Writes the index of that many records from number `first` on; returns how many there are. */
  index(first: number, count: number, into: Uint8Array): number;
  /** Records that the last sweep found. */
  records(): number;
  /** One bit for each link that has an entry, is up, and is not dark. */
  linksWell(): bigint;
}

/** How a mirror's board is made. Times in ns. */
export interface MirrorOptions extends SharedBoardOptions {
  site: string;
  /** At most six names; and the number of the followed one: the number of names if none is followed yet. */
  masters: readonly string[];
  followed: number;
  instance: bigint;
  /** Of the master's board. */
  origin: bigint;
  nowNs: bigint;
}

/** The fate of a message to a mirror; by these numbers. */
export const OUTCOME = { taken: 0, malformed: 1, unplaced: 2, ahead: 3 } as const;

/** Counted since the board was begun; doubtful, vetoed and missing are the present values. */
export interface MirrorCounts {
  laid: number;
  unfit: number;
  /** Reports that none of our keys proves, or that are not newer. */
  unproved: number;
  full: number;
  doubtful: number;
  vetoed: number;
  missing: number;
  whole: boolean;
}

/** A mirror's board that is open for writing: c/relay/mirror.h says what each function does. Messages come unsigned. */
export interface Mirror {
  /** Begins a new board, which replaces the last one when it is complete. Throws one line for people. */
  renew(options: MirrorOptions): void;
  batch(message: Uint8Array, askedNs: bigint, relayNs: bigint, answeredNs: bigint, nowNs: bigint): number;
  gap(nowNs: bigint): void;
  /** A clock stood still: nothing on the board can be trusted until another board is begun. */
  distrust(): void;
  index(message: Uint8Array, nowNs: bigint): number;
  /** The numbers of records that the board lacks. */
  missing(most: number): Uint32Array;
  claims(master: number, message: Uint8Array, nowNs: bigint): number;
  /** `heard`: bit n for master n. */
  review(heard: number, nowNs: bigint): void;
  counts(): MirrorCounts;
  /** 0: the board is at its path; 1: it is not; -1: unknown; -2: another process has it. */
  checkPath(): { state: number; why: string };
  close(): void;
}

interface RelayingAddon {
  Sweep: new (mapping: BoardMapping) => Sweep;
  Mirror: new (options: MirrorOptions) => Mirror;
}

export const { Sweep, Mirror } = addon as RelayingAddon;
