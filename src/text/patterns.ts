// Regular expressions of users, in RE2's language: matching takes time in proportion to the text and to the size of the
// pattern's program, so both are limited. JavaScript's own would run for years on ^(a+)+$ and a name of 63 letters.

import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { InputError, quote } from './text.js';

/** A compiled pattern: returns the first match in a text; undefined if there is none. */
interface Pattern {
  (text: string): string | undefined;
  /** At most how many instructions its program has. */
  readonly size: number;
}

const require = createRequire(import.meta.url);
/** No useful pattern is longer. */
const LONGEST = 1000;
/** The largest program, instructions: a name of 63 letters takes at most some 0.5 ms. */
export const MOST_INSTRUCTIONS = 500;

/**
 * The parts of a pattern: quoted text, an escape (also one in braces, which is no repetition), a class, a repetition,
 * and any other character. Flags such as (?i) are none, nor is an empty quotation: a repetition behind them is of what
 * was before.
 */
const PART =
  /\(\?[A-Za-z-]*\)|\\Q\\E|\\Q.*?(?:\\E|$)|\\x\{\w*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gsu;

/**
 * At most how many instructions the program of a pattern has, from its text: compiling (.?){1000} takes as much time as
 * its program has room, so this is known before. What is repeated is there as often as it may occur, and each copy may
 * need one more to leave out the rest. Of invalid patterns it is any number.
 */
function sizeOf(pattern: string): number {
  // Of each open group: the size of what comes before its last item, and of that item.
  const open: [before: number, last: number][] = [];
  // Some to begin and to end.
  let [before, last] = [4, 0];
  for (const [part, least, most] of pattern.matchAll(PART)) {
    if (part === '(') {
      open.push([before + last, 0]);
      // Two say where the group begins and ends.
      [before, last] = [2, 0];
    } else if (part === ')') {
      const [outside] = open.pop() ?? [0];
      [before, last] = [outside, before + last + 1];
    } else if (least !== undefined) last = Math.max(1, Number(least), Number(most ?? 0)) * (last + 1) + 1;
    else if (/^[*+?]$/.test(part)) last += 2;
    else if (part !== '\\Q\\E' && !part.startsWith('(?'))
      [before, last] = [before + last, part.startsWith('\\Q') ? part.length : part === '|' ? 2 : 1];
  }
  return open.reduce((sum, [outside, item]) => sum + outside + item, before + last);
}

/**
 * `where`: the text before the message; `room`: the largest program. Throws an InputError for an invalid regular
 * expression. The library is loaded here, because few commands need it and loading takes 5 ms.
 */
export function compilePattern(text: string, where: string, room = MOST_INSTRUCTIONS): Pattern {
  const { RE2JS } = require('re2js') as typeof import('re2js');
  const refuse = (what: string, hint: string) => new InputError(`${where}: ${quote(text)} is ${what}; ${hint}`);
  if (text.length > LONGEST)
    throw refuse(`not a regular expression of at most ${LONGEST} characters`, 'write a shorter one');
  const size = sizeOf(text);
  if (size > room) throw refuse('too large a regular expression', 'repeat less by {…}, or write a shorter one');
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(text);
  } catch {
    throw refuse('not a regular expression', 'write one of RE2, as in ^rack[0-9]+');
  }
  const find = (subject: string) => {
    const matcher = compiled.matcher(subject);
    return matcher.find() ? (matcher.group() ?? undefined) : undefined;
  };
  return Object.assign(find, { size });
}
