// Regular expressions of users, in RE2's language: matching takes time in proportion to the text, whatever the pattern.
// JavaScript's own would run for years on ^(a+)+$ and a name of 63 letters.

import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { InputError, quote } from './text.js';

/** A compiled pattern: returns the first match in a text; undefined if there is none. */
export type Pattern = (text: string) => string | undefined;

const require = createRequire(import.meta.url);
/** No useful pattern is longer, and RE2 itself limits how far `x{1000}` in `x{1000}` can grow. */
const LONGEST = 1000;

/**
 * `where`: the text before the message. Throws an InputError for an invalid regular expression. The library is loaded
 * here, because few commands need it and loading takes 5 ms.
 */
export function compilePattern(text: string, where: string): Pattern {
  const { RE2JS } = require('re2js') as typeof import('re2js');
  if (text.length > LONGEST)
    throw new InputError(
      `${where}: ${quote(text)} is not a regular expression of at most ${LONGEST} characters; write a shorter one`,
    );
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(text);
  } catch {
    throw new InputError(`${where}: ${quote(text)} is not a regular expression; write one of RE2, as in ^rack[0-9]+`);
  }
  return subject => {
    const matcher = compiled.matcher(subject);
    return matcher.find() ? (matcher.group() ?? undefined) : undefined;
  };
}
