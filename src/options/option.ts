// The definition of an option and its possible shapes: a flag, one value, several values. Reads no command line, and
// knows no option by name.

import { InputError } from '../text/text.js';
import type { Setting } from './config.js';
import { type OptionValue, shownOf } from './values.js';

export interface Option<T> {
  /** What stands for the value in help and errors; empty for a flag. */
  readonly shown: string;
  readonly about: string;
  /** The kind of value; undefined for a flag. */
  readonly value?: OptionValue<unknown>;
  readonly most: number;
  readonly env?: string;
  readonly fallback: Fallback;
  /** Names that people may use for it, because other programs or verbs have them; the error names the right one. */
  readonly mistaken?: readonly string[];
  /** Makes the value from the given texts; InputErrors are reported with `where`. */
  readonly read: (given: Setting) => T;
}

/** The default in the form that a user would write, so that the same parser reads it, and as help shows it. */
interface Fallback {
  readonly texts: () => readonly string[];
  readonly shown: string;
}

const NOTHING: Fallback = { texts: () => [], shown: '' };

/** A default that is shown as it is written. */
export const standard = (...texts: string[]): Fallback => ({ texts: () => texts, shown: texts.join(', ') });

/** The table has no default: the code that uses the value chooses one, and help says so. */
export const later = (shown: string): Fallback => ({ texts: () => [], shown });

function at<T>({ where }: Setting, { parse }: OptionValue<T>, text: string): T {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { about, isDenied } = error;
    throw Object.assign(new InputError(`${where}: ${error.message}`), { about, isDenied });
  }
}

export function flag(about: string): Option<boolean> {
  return { shown: '', about, most: Number.POSITIVE_INFINITY, fallback: NOTHING, read: ({ texts }) => texts.length > 0 };
}

/** An option with a default always has a value. */
export function one<T>(about: string, value: OptionValue<T>, fallback: Fallback): Option<T> {
  const shown = shownOf(value);
  return { shown, about, value, most: 1, fallback, read: given => at(given, value, given.texts[0] ?? '') };
}

export function optional<T>(about: string, value: OptionValue<T>, fallback = NOTHING): Option<T | undefined> {
  const read = (given: Setting) => (given.texts[0] === undefined ? undefined : at(given, value, given.texts[0]));
  return { shown: shownOf(value), about, value, most: 1, fallback, read };
}

export function many<T>(
  about: string,
  value: OptionValue<T>,
  fallback = NOTHING,
  most = Number.POSITIVE_INFINITY,
): Option<T[]> {
  const shown = shownOf(value);
  return { shown, about, value, most, fallback, read: given => given.texts.map(text => at(given, value, text)) };
}
