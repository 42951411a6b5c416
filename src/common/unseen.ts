// What cannot be seen in a text, for terminals, JSON and the page in the browser. Imports nothing.

/**
 * Characters that would break the line, control the terminal, turn the line around or be invisible: controls, format
 * characters, line separators, lone surrogates.
 */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * The text, in which everything that would not be shown as one character of one line is written as `\u{hex}`.
 */
export function oneLine(text: string): string {
  return text.replace(UNSEEN, character => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
