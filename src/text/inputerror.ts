// Errors about what a user wrote, quoted in one line. Pure: also for the page.

import type { ErrorCode } from './errorcodes.js';
import { oneLine, shortened } from './unseen.js';

/**
 * Something that a user wrote is invalid. The message is one line, "what is wrong; what to write instead", and needs no
 * stack. Any other error is a bug of ours and keeps its stack.
 */
export class InputError extends Error {
  override readonly name: string = 'InputError';
  readonly code: ErrorCode = 'invalid_input';

  /** The file that it is about, if that is a key or a node list. */
  about: NamedFile | undefined;
  /** Whether the file is there, and this user may not read or trust it: a chown mends that, and no other command line. */
  isDenied = false;
}

/** Files that may change while a daemon runs, and are no part of its options. */
export type NamedFile = 'keys' | 'nodes';

/** The first characters of a text, in one line. */
export const brief = (text: string, most: number): string => oneLine(shortened(text, most));

/** What a user wrote, for a message: quoted, in one line, at most 60 characters of it. */
export const quote = (text: string): string => `'${brief(text, 60)}'`;

/**
 * The text with a to z in place of A to Z, in which names are compared. toLowerCase also makes a k of the sign for
 * kelvins, and so one machine's name of another's.
 */
export function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase());
}
