// Reading and printing many values of a board at once.

import { addon } from './addon.js';

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
