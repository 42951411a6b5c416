// What cannot be seen in a text, for terminals, JSON and the page in the browser, and how a text is cut. Imports
// nothing.

/**
 * Characters that would break the line, control the terminal, turn the line around or be invisible: controls, format
 * characters, line separators, lone surrogates.
 */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A character as `\u{hex}`. */
export const hexEscape = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** The text, in which everything that would not be shown as one character of one line is written as `\u{hex}`. */
export const oneLine = (text: string): string => text.replace(UNSEEN, hexEscape);

/** What is shown whole or not at all: an escape of `oneLine`, a character with the marks on it. */
const PART = /\\u\{[0-9a-f]{1,6}\}|.[\p{Mn}\p{Me}]*/gsu;
const LONGEST_PART = '\\u{10ffff}'.length;

/** The number of characters of a text: its code points, as C counts them too. */
export const characters = (text: string): number => Array.from(text).length;

/** How long a text is: in characters, or in columns of a terminal (layout.ts). */
type TextMeasure = (text: string) => number;

/** The longest beginning of a text that has at most `most` characters and ends between parts. */
export function beginning(text: string, most: number, measure: TextMeasure = characters): string {
  let end = 0;
  let count = 0;
  for (const { 0: part, index } of text.slice(0, 2 * (most + LONGEST_PART)).matchAll(PART)) {
    count += measure(part);
    if (count > most) break;
    end = index + part.length;
  }
  return text.slice(0, end);
}

/** The longest end of a text, likewise. */
export function ending(text: string, most: number, measure: TextMeasure = characters): string {
  const tail = text.slice(-2 * (most + LONGEST_PART));
  let begin = tail.length;
  let count = 0;
  for (const { 0: part, index } of [...tail.matchAll(PART)].reverse()) {
    count += measure(part);
    if (count > most) break;
    begin = index;
  }
  return tail.slice(begin);
}

/** The text in at most `most` characters; what is cut ends with …. */
export function shortened(text: string, most: number): string {
  return fits(text, most) ? text : `${beginning(text, most - 1)}…`;
}

/** The text in at most `most` characters; what is cut is in its middle, because names differ at their ends. */
export function cut(text: string, most: number, measure: TextMeasure = characters): string {
  if (fits(text, most, measure)) return text;
  const head = Math.floor((most - 1) / 3);
  return `${beginning(text, head, measure)}…${ending(text, most - 1 - head, measure)}`;
}

/** Whether a text has at most so many characters; one of a megabyte is not counted. */
export function fits(text: string, most: number, measure: TextMeasure = characters): boolean {
  const areUnits = text.length <= most && measure === characters;
  return areUnits || (text.length <= 2 * most && measure(text) <= most);
}

const octal = (text: string) =>
  new TextEncoder().encode(text).reduce((all, byte) => `${all}\\${byte.toString(8).padStart(3, '0')}`, '');

/** A word as a shell reads it; bash, zsh and ksh read what is not `shown` as it is. */
export function shellWordAs(text: string, shown = oneLine): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (shown(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${text.replace(/['\\]/g, '\\$&').replace(/[^ -~]/gu, octal)}'`;
}
