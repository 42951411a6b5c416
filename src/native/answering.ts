// What the short verbs in C answer, of a board that is open.

import { addon } from './addon.js';
import type { BoardMapping } from './board.js';

/** A line with its end, and the exit code; below 0: why there is no answer, in place of any. */
interface AnsweredLine {
  readonly code: number;
  readonly text: string;
}

/** Nodes in the order of the board, with their states as `NUMBERED`; names that it lacks; likelier causes. */
interface FoundNodes {
  readonly names: string[];
  readonly states: Uint8Array;
  readonly notOnBoard: string[];
  readonly remarks: string[];
}

/**
 * The texts begin with the board's path, and a cause more likely than the nodes, or an empty one. Problems and states
 * are bits, by their numbers. `names`: none twice; undefined: all. `fulfils`: of each record, whether its node fulfils a
 * condition; undefined: there is none.
 */
type Answer<A> = (
  mapping: BoardMapping,
  texts: readonly string[],
  numbers: Float64Array,
  names: readonly string[] | undefined,
  fulfils: Uint8Array | undefined,
) => A;

interface AnsweringAddon {
  /**
   * More texts: what else is warned of, each behind a semicolon; the folder of journals' states; the condition. The
   * numbers: --fail, 1 open, 2 closed; two limits, each so many nodes and a share of all in thousandths of a percent;
   * whether health does not count; problems that are ignored; those that warn also when they are recent.
   */
  answerCheck: Answer<AnsweredLine>;
  /** The same without a board: `why` nothing is known. */
  answerIgnorance(fail: number, why: string): AnsweredLine;
  /** The numbers: states; for so many ms; problems of which a node has one, or 0; whether it must be healthy. */
  answerNodes: Answer<FoundNodes>;
}

export const { answerCheck, answerIgnorance, answerNodes } = addon as AnsweringAddon;
