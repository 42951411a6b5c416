// What a terminal sends, as keys. Pure.

/** A character, or the name of a key, which has more than one. */
export type Key = string;

const CONTROL: Readonly<Record<string, Key>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x01': 'home',
  '\x03': 'ctrl-c',
  '\x05': 'end',
  '\x0c': 'ctrl-l',
  '\x15': 'ctrl-u',
  '\x1a': 'ctrl-z',
};

/** By the last character of a sequence; of those that end in ~ by their first number. */
const SEQUENCE: Readonly<Record<string, Key>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
  M: 'enter',
  '1~': 'home',
  '3~': 'delete',
  '4~': 'end',
  '5~': 'pageup',
  '6~': 'pagedown',
  '7~': 'home',
  '8~': 'end',
};

/** A whole sequence, the beginning of one, or any other character. */
const PART = /\x1b(?:\[([\d;:<=>?]*)[ -/]*([@-~])|O([@-~]))|(\x1b(?:\[[\d;:<=>?]*[ -/]*|O)?$)|(.)/gsu;

/** How long what may be the Escape key is waited for to become a sequence, ms: over slow lines these come in pieces. */
export const ESCAPE_MS = 50;

/**
 * The keys in what came, and what at its end may be the beginning of a key: it belongs before what comes next. Where
 * nothing comes, `flushed` has the key. What is not a key that we know is left out.
 */
export function readKeys(text: string): { keys: Key[]; rest: string } {
  const keys: Key[] = [];
  let rest = '';
  for (const [, numbers = '', last, single, begun, character] of text.matchAll(PART)) {
    if (begun !== undefined) rest = begun;
    else if (character === '\x1b') keys.push('escape');
    else if (character !== undefined) {
      const key = CONTROL[character] ?? character;
      if (key.length > 1 || key >= ' ') keys.push(key);
    } else {
      const key = SEQUENCE[last === '~' ? `${Number.parseInt(numbers, 10)}~` : (last ?? single ?? '')];
      if (key !== undefined) keys.push(key);
    }
  }
  return { keys, rest };
}

/** The key that such a beginning was, when nothing came behind it. */
export function flushed(rest: string): Key[] {
  return rest === '\x1b' ? ['escape'] : [];
}
