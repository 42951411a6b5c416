// The problems of a node that is heard, under the contract's names. c/judge/problems.h is the only place that says how they
// are judged.

import { meanings, ranked, terms } from '../layout/terms.gen.js';

/** The possible problems; see "terms problem" in proto/board-v2.md. */
export type Problem = (typeof terms.problem)[number];

/** The worst first. */
export const PROBLEMS: readonly Problem[] = ranked.problem;

/** Whether a word is a problem's; a later version knows more of them. */
export const isProblem = (word: string): word is Problem => (PROBLEMS as readonly string[]).includes(word);

/** The meaning, in words that follow "it" or "they". */
export const PROBLEM_TEXT: Readonly<Record<Problem, string>> = meanings.problem;

/** The bit of a problem in a set of them. */
export function problemBit(problem: Problem): number {
  return 1 << terms.problem.indexOf(problem);
}

/** The bits of these. */
export const problemBits = (problems: readonly Problem[]) =>
  problems.reduce((bits, problem) => bits | problemBit(problem), 0);

/** The problems of a set, the worst first. */
export function problemsOf(bits: number): Problem[] {
  return bits === 0 ? [] : PROBLEMS.filter(problem => (bits & problemBit(problem)) !== 0);
}

/** The nodes with each problem, the worst first; problems of no node are left out. */
export function byProblem<T extends { readonly problems: number }>(nodes: readonly T[]): [Problem, T[]][] {
  const unhealthy = nodes.filter(({ problems }) => problems !== 0);
  return PROBLEMS.flatMap(problem => {
    const bit = problemBit(problem);
    const those = unhealthy.filter(({ problems }) => (problems & bit) !== 0);
    return those.length === 0 ? [] : [[problem, those] satisfies [Problem, T[]]];
  });
}
