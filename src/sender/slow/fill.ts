// Writes the last values of slow sources into a report. Does not read the sources.

import { encode, getter } from '../../layout/codec.js';
import { bits } from '../../layout/layout.gen.js';
import type { Details, SlowReading } from './source.js';

/** Access to the last values of the slow sources. */
export interface SlowPart {
  /** Takes the values since the last call; returns what the fast sets need of them. */
  look(): Details;
  /** Writes fields, bits and flags into a report, and the time when the last round ended. */
  fill(view: DataView): void;
}

const validOf = getter('report', 'valid');
const flagsOf = getter('report', 'flags');

/** All details of some sources; no two have the same ones. */
export function detailsOf(said: readonly (Details | undefined)[]): Details {
  return Object.assign({}, ...said);
}

/** The words are or-ed into a report that is zero in these places; the report is aligned to 4 bytes. */
export function overlay(view: DataView, words: Uint32Array): void {
  const into = new Uint32Array(view.buffer, view.byteOffset, words.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    if (word !== 0) into[i] = (into[i] ?? 0) | word;
  }
}

/** @param closedBootNs CLOCK_BOOTTIME when the last round ended, 0 before the first one */
export function fillSlow(view: DataView, readings: Iterable<SlowReading>, closedBootNs: bigint): void {
  let valid = validOf(view, 0);
  let flags = flagsOf(view, 0);
  for (const reading of readings) {
    encode('report', view, 0, reading.fields);
    for (const set of reading.sets) valid |= 1n << BigInt(bits.valid[set]);
    for (const flag of reading.flags ?? []) flags |= 1 << bits.flags[flag];
  }
  encode('report', view, 0, { valid, flags, slow_boot_ns: closedBootNs });
}
