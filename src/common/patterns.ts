// Regular expressions that people write, in RE2's language: to match takes time in proportion to the text, whatever the pattern. Those of
// JavaScript try for years on ^(a+)+$ and a name of 63 letters.

import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { InputError, quote } from './text.js';

/** A compiled pattern: what it finds first in a text; undefined where it does not match. */
export type Pattern = (text: string) => string | undefined;

const require = createRequire(import.meta.url);
/** No pattern of use is longer, and RE2 lets `x{1000}` in `x{1000}` grow only so far itself. */
const LONGEST = 1000;

/** `where`: what stands before what is wrong with it. Throws an InputError for what is not a regular expression. Few commands take one, and to load the library costs 5 ms: it is loaded here. */
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
