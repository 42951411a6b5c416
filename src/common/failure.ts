// An end that is told to people in one line, with an exit code of its own, and needs no stack.

/** The message is one line: what is wrong, where, what to do. `exitCode` as the design has them: 1 not so, 4 no board. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}
