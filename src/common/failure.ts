// Ends that are told to people in one line, with exit codes of their own, and need no stack.

import { InputError } from './text.js';

/** The message is one line: what is wrong, where, what to do. `exitCode` as the design has them: 1 not so, 4 no board. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

/** A command line that cannot be taken; the message is the whole line for stderr, `exitCode` that of the process. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = 2;

  constructor(verb: string, wrong: string) {
    super(`beoboard ${verb}: ${wrong}`);
  }
}

/** Reads what somebody wrote; what of it cannot be taken, a file too, is told like an option that cannot. */
export function usable<T>(verb: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof InputError ? new UsageError(verb, error.message) : error;
  }
}

/** `--help` was asked for: `text` belongs on stdout, and the exit code is 0. */
export class HelpShown extends Error {
  override readonly name = 'HelpShown';

  constructor(readonly text: string) {
    super('help was asked for');
  }
}
