// Errors that are shown to people in one line, with their own exit codes and without a stack.

import type { ErrorCode } from './errorcodes.js';
import { InputError } from './text.js';

/**
 * The message is one line: what is wrong, where, and what to do. `exitCode` as in the design: 1 failure, 4 no board.
 * `code`: for those who decide by it.
 */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
    readonly code?: ErrorCode,
  ) {
    super(message);
  }
}

/**
 * The exit code if the addon, a suitable Node.js, or a verb's file is missing: EX_OSFILE of sysexits.h. Monitoring
 * systems know only 0 to 3, and take any other code for "unknown".
 */
export const NOT_BUILT = 72;

/** An invalid command line; the message does not name the verb, `exitCode` is the exit code of the process. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = 2;

  /** `cause`: what was wrong in a file that the command line names. */
  constructor(
    wrong: string,
    override readonly cause?: InputError,
  ) {
    super(wrong);
  }
}

/** What a function returns; undefined if it throws. */
export function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Runs a function that reads what a user wrote, a file as well; an invalid text is reported like an invalid option, behind `before`. */
export function usable<T>(read: () => T, before = ''): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof InputError ? new UsageError(`${before}${error.message}`, error) : error;
  }
}

/**
 * Reads key files at the start of a daemon. A service manager gives up after wrong usage; so what is wrong with them is
 * another failure under one, which it tries again.
 */
export function keysAtStart<T>(isManaged: boolean, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isManaged || !(error instanceof UsageError) || error.cause?.about !== 'keys') throw error;
    throw new Failure(error.message, 1);
  }
}

/** `--help` was asked for: `text` belongs on stdout, and the exit code is 0. */
export class HelpShown extends Error {
  override readonly name = 'HelpShown';

  constructor(readonly text: string) {
    super('help was asked for');
  }
}
