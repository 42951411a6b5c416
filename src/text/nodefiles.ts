// Host lists in files that a user named.

import { BOARD_MOST, expand, expandLines, type Spelling } from './hostlists.js';
import { InputError, inNamedFile, oneLine, quote, readText } from './text.js';

/**
 * The node names of a LIST, or of `@FILE`: a list on each line, `#` comments, blank lines. Throws a NodesetError, for a
 * file with its name and line, or an InputError if the file is unreadable or empty.
 */
export function readNodes(value: string, spelling: Spelling = 'node'): string[] {
  if (!value.startsWith('@')) return expand(value, BOARD_MOST, spelling);
  const file = value.slice(1);
  if (file === '') throw new InputError(`'@' names no file; write @FILE or a list`);
  return inNamedFile('nodes', () => {
    const names = expandLines(readText(file), oneLine(file), { spelling });
    if (names.length === 0) throw new InputError(`${quote(file)} holds no names; write a list on each line`);
    return names;
  });
}
