// Parses what a terminal sends into keys. Pure.

/** A character, or the name of a key. */
export type Keystroke = string;

const CONTROL: Readonly<Record<string, Keystroke>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\t': 'tab',
  '\x01': 'home',
  '\x03': 'ctrl-c',
  '\x05': 'end',
  '\x0c': 'ctrl-l',
  '\x15': 'ctrl-u',
  '\x1a': 'ctrl-z',
};

/** Keys by the last character of their sequence; those that end in ~ by their first number. */
const SEQUENCE: Readonly<Record<string, Keystroke>> = {
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

/** A whole sequence, the beginning of a sequence, or any other character. */
const PART = /\x1b(?:\[([\d;:<=>?]*)[ -/]*([@-~])|O([@-~]))|(\x1b(?:\[[\d;:<=>?]*[ -/]*|O)?$)|(.)/gsu;

/** How long to wait after what may be the Escape key, ms: over slow lines a sequence arrives in pieces. */
export const ESCAPE_MS = 50;

/**
 * The keys in the input, and the rest at its end that may be the beginning of a key: the caller puts it before the next
 * input. If nothing follows, `flushed` returns its key. Unknown keys are left out.
 */
export function readKeys(text: string): { keys: Keystroke[]; rest: string } {
  const keys: Keystroke[] = [];
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

/** The key that such a rest was, if nothing came after it. */
export function flushed(rest: string): Keystroke[] {
  return rest === '\x1b' ? ['escape'] : [];
}
