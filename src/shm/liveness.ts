// The states of nodes in the contract's words. c/judge/liveness.h is the only place that says how a node is judged; everybody
// uses it.

import { ranked, terms } from '../layout/terms.gen.js';

/** The state of a node; see "Liveness" in proto/board-v2.md. */
export type State = (typeof terms.node_state)[number];

/** From the worst to the best: the order in which people want to see nodes. */
export const STATES: readonly State[] = ranked.node_state;

/** In the order of their numbers in beoboard.h. */
export const NUMBERED: readonly State[] = terms.node_state;

/** The number of that state. */
export const LIVE = NUMBERED.indexOf('live');

/** The numbers of the states in which a node's problems are judged. */
export const HEARD: ReadonlySet<number> = new Set(
  (['live', 'uncertain'] satisfies State[]).map(state => NUMBERED.indexOf(state)),
);

/** Whether a node in that state may report nevertheless, and be rejected. */
export function mayBeRefused(state: State): boolean {
  return state === 'silent' || state === 'uncertain' || state === 'never';
}

/** The number of nodes in each state, the worst first, from the numbers of their states. */
export function countStates(numbers: Uint8Array): Record<State, number> {
  // By number, not by name: a short process counts thousands of nodes before any code is compiled.
  const counts = new Uint32Array(NUMBERED.length);
  for (let i = 0; i < numbers.length; i++) counts[numbers[i]!]!++;
  return Object.fromEntries(STATES.map(state => [state, counts[NUMBERED.indexOf(state)]])) as Record<State, number>;
}
