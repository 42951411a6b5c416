// A file in memory by which a child that can hang passes its values to its parent, which reads it when it makes a
// report. Neither waits for the other nor wakes it: at one report a second, that would cost more than their work.

import { closeSync, readSync, writeSync } from 'node:fs';
import { REPORT_BYTES } from '../../layout/codec.js';
import { memoryFile } from '../../native/index.js';

/** The state of a child. */
export interface Busy {
  /** The number of the source that it is reading; undefined: none. */
  source: number | undefined;
  /** CLOCK_MONOTONIC when it began to, ms modulo 2^32. */
  sinceMs: number;
}

/** A round that a child has ended; its arrays are valid until the next one. */
export interface ClosedRound {
  /** Counts from 1. */
  round: number;
  /** CLOCK_BOOTTIME, ns. */
  closedBootNs: bigint;
  /** For each source the round in which it was read last; 0: never. */
  readIn: Uint32Array;
  /** For each source the words that are or-ed into a report: `PAGE_WORDS` words. */
  pages: Uint32Array;
  /** Whether the pages differ from those of the last round. */
  changed: boolean;
}

export const PAGE_WORDS = REPORT_BYTES / 4;

/**
 * The words of the head: the source being read, since when, the round, the edition of the pages, the end of the round
 * (64 bits), how many bytes are kept, `readIn`, the round again.
 */
const BUSY = 0;
const SINCE = 1;
const ROUND = 2;
const EDITION = 3;
const CLOSED = 4;
const KEPT = 6;
const READ_IN = 7;
const PAGES_AT = 4096;
/** Behind the pages of each edition there is room for what the sources keep; more is forgotten. */
const MOST_KEPT = 4 * 2 ** 20;

/**
 * The pages exist twice. A child changes those that are not in force, and then switches by a word of the head: what a
 * parent reads is changed two rounds later at the earliest. If a head was read while it was being written, its round
 * numbers at beginning and end differ; a parent that stood still between head and pages finds another head.
 */
export class SlowValues {
  readonly #head: Uint32Array;
  readonly #again: Uint32Array;
  readonly #pages: Uint32Array;
  #edition = 0;
  #round = 0;

  /** @param sources how many there are, the same for parent and child */
  constructor(
    readonly fd: number,
    readonly sources: number,
  ) {
    this.#head = new Uint32Array(READ_IN + sources + 1);
    this.#again = new Uint32Array(this.#head.length);
    this.#pages = new Uint32Array(sources * PAGE_WORDS);
  }

  /** Makes the file, for a parent. Throws if the kernel has no memory for it. */
  static make(sources: number, kept: Buffer): SlowValues {
    const values = new SlowValues(memoryFile('beoboard-slow'), sources);
    values.#keep(kept);
    writeSync(values.fd, values.#head, 0, values.#head.byteLength, 0);
    return values;
  }

  /** What the sources kept with the pages in force, or were given. */
  kept(): Buffer {
    const head = this.#read(this.#head);
    const { [EDITION]: edition = 0, [KEPT]: length = 0 } = head;
    const kept = Buffer.alloc(length);
    readSync(this.fd, kept, 0, length, this.#pagesAt(edition) + this.#pages.byteLength);
    const again = this.#read(this.#again);
    return again[EDITION] === edition && again[KEPT] === length ? kept : this.kept();
  }

  close(): void {
    closeSync(this.fd);
  }

  /** The child begins to read a source, at this time. */
  begin(source: number, nowMs: number): void {
    this.#head[BUSY] = source + 1;
    this.#head[SINCE] = nowMs % 2 ** 32;
    writeSync(this.fd, this.#head, 0, 8, 0);
  }

  done(): void {
    this.#head[BUSY] = 0;
    writeSync(this.fd, this.#head, 0, 8, 0);
  }

  /** @param kept what the sources keep, in force together with changed pages */
  publish({ round, closedBootNs, readIn, pages, changed }: ClosedRound, kept: Buffer): void {
    if (changed) {
      this.#edition++;
      writeSync(this.fd, pages, 0, pages.byteLength, this.#pagesAt(this.#edition));
      this.#keep(kept);
    }
    const head = this.#head;
    head[BUSY] = 0;
    head[ROUND] = round;
    head[EDITION] = this.#edition;
    head[CLOSED] = Number(closedBootNs & 0xffffffffn);
    head[CLOSED + 1] = Number(closedBootNs >> 32n);
    head.set(readIn, READ_IN);
    head[head.length - 1] = round;
    writeSync(this.fd, head, 0, head.byteLength, 0);
  }

  /** The state of the child, and the last round that it ended, if that is another one than at the last call. */
  look(): { busy: Busy; closed: ClosedRound | undefined } {
    const head = this.#read(this.#head);
    const { [BUSY]: reading = 0, [SINCE]: sinceMs = 0, [ROUND]: round = 0, [EDITION]: edition = 0 } = head;
    const busy = { source: reading === 0 ? undefined : reading - 1, sinceMs };
    if (round === this.#round || round !== head.at(-1)) return { busy, closed: undefined };
    const changed = edition !== this.#edition;
    if (changed) {
      readSync(this.fd, this.#pages, 0, this.#pages.byteLength, this.#pagesAt(edition));
      // Too late: the values may be a mixture of two editions. The next call gets consistent ones.
      if (this.#read(this.#again)[EDITION] !== edition) return { busy, closed: undefined };
    }
    this.#edition = edition;
    this.#round = round;
    const closedBootNs = (BigInt(head[CLOSED + 1] ?? 0) << 32n) | BigInt(head[CLOSED] ?? 0);
    const readIn = head.subarray(READ_IN, READ_IN + this.sources);
    return { busy, closed: { round, closedBootNs, readIn, pages: this.#pages, changed } };
  }

  #keep(kept: Buffer): void {
    this.#head[KEPT] = kept.length <= MOST_KEPT ? kept.length : 0;
    writeSync(this.fd, kept, 0, this.#head[KEPT], this.#pagesAt(this.#edition) + this.#pages.byteLength);
  }

  #read(into: Uint32Array): Uint32Array {
    readSync(this.fd, into, 0, into.byteLength, 0);
    return into;
  }

  #pagesAt(edition: number): number {
    return PAGES_AT + (edition & 1) * (this.#pages.byteLength + MOST_KEPT);
  }
}
