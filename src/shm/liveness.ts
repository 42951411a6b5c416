// The states of nodes, as the contract has them. How a node is judged stands in c/liveness.h, once, and whoever asks gets it
// from there.

import { ranked, terms } from '../common/terms.gen.js';

/** How a node is; see "Liveness" in proto/board-v2.md. */
export type State = (typeof terms.node_state)[number];

/** From the worst to the best: the order in which people want to see nodes. */
export const STATES: readonly State[] = ranked.node_state;

/** In the order of their numbers in beoboard.h. */
export const NUMBERED: readonly State[] = terms.node_state;

/** Whether a node in that state may report all the same, and not be trusted. */
export function mayBeRefused(state: State): boolean {
  return state === 'silent' || state === 'uncertain' || state === 'never';
}

/** How many nodes there are of each state, the worst first, by the numbers of all their states. */
export function countStates(numbers: Uint8Array): Record<State, number> {
  // By number, not by name: thousands of nodes are counted in a short process, before anything is compiled.
  const counts = new Uint32Array(NUMBERED.length);
  for (let i = 0; i < numbers.length; i++) counts[numbers[i]!]!++;
  return Object.fromEntries(STATES.map(state => [state, counts[NUMBERED.indexOf(state)]])) as Record<State, number>;
}
