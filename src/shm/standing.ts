// How the nodes of a board stand at a look: counted here, once, for all who tell it. Pure.

import { countStates, STATES, type State } from './liveness.js';
import type { Snapshot } from './snapshot.js';

/** How many nodes there are, how many are in each state, how many have a problem, and how many others had one recently. */
export interface Standing {
  readonly nodes: number;
  readonly states: Readonly<Record<State, number>>;
  /** With a problem now. */
  readonly unhealthy: number;
  /** Without one now, but with one that is not over by its quiet time. */
  readonly recently: number;
}

/** Of these nodes; undefined: of all. */
export function standingOf(snapshot: Snapshot, nodes?: readonly { readonly index: number }[]): Standing {
  const { overview } = snapshot;
  const states = new Uint8Array(nodes?.length ?? overview.states.length);
  let [unhealthy, recently] = [0, 0];
  for (let i = 0; i < states.length; i++) {
    const index = nodes?.[i]?.index ?? i;
    states[i] = overview.states[index] as number;
    if (overview.problems[index] !== 0) unhealthy++;
    else if (snapshot.recentOf(index) !== 0) recently++;
  }
  return { nodes: states.length, states: countStates(states), unhealthy, recently };
}

/** Of the nodes of two parts of a board. */
export function sumOf(one: Standing, other: Standing): Standing {
  const states = STATES.map(state => [state, one.states[state] + other.states[state]]);
  return {
    nodes: one.nodes + other.nodes,
    states: Object.fromEntries(states),
    unhealthy: one.unhealthy + other.unhealthy,
    recently: one.recently + other.recently,
  };
}

/** `10 unhealthy now`, `12 more recently`; `12 unhealthy recently` if there is none now. */
export function healthTexts({ unhealthy, recently }: Pick<Standing, 'unhealthy' | 'recently'>): string[] {
  return [
    ...(unhealthy > 0 ? [`${unhealthy} unhealthy now`] : []),
    ...(recently > 0 ? [`${recently} ${unhealthy > 0 ? 'more' : 'unhealthy'} recently`] : []),
  ];
}

/** The counts of the states that occur, the worst first, and of the unhealthy: `3 silent`, `97 live`, `1 unhealthy now`. */
export function standingTexts(standing: Pick<Standing, 'states' | 'unhealthy' | 'recently'>): string[] {
  const { states } = standing;
  const present = STATES.filter(state => states[state] > 0).map(state => `${states[state]} ${state}`);
  return [...present, ...healthTexts(standing)];
}
