// One look over all nodes of a snapshot: their names, states, ages, and what tells the odd one out. Judges nothing.

import { usable } from '../common/failure.js';
import { readNodes } from '../common/hostlists.js';
import { countStates, NUMBERED, type State } from '../shm/liveness.js';
import type { Node, Snapshot, Totals } from '../shm/reader.js';

/** A node as the survey has it; all else is in `snapshot.node(index)`. */
export interface Surveyed {
  readonly index: number;
  readonly name: string;
  readonly state: State;
  /** Bits of its ailments. */
  readonly ails: number;
}

export interface Survey {
  readonly snapshot: Snapshot;
  /** All of them: what is odd is odd among all. */
  readonly all: readonly Surveyed[];
  /** Those that were chosen, in the order of the board. */
  readonly nodes: readonly Surveyed[];
  readonly counts: Readonly<Record<State, number>>;
  /** Names that were chosen and are not on the board. */
  readonly strangers: readonly string[];
}

/** The names that a verb is asked about, by -w and by lists without it; undefined: all. */
export function namesOf(verb: string, nodes: string[] | undefined, lists: readonly string[]): string[] | undefined {
  if (lists.length === 0) return nodes;
  return [...(nodes ?? []), ...usable(verb, () => lists.flatMap(list => readNodes(list)))];
}

export interface Choice {
  readonly among?: readonly string[] | undefined;
  readonly holds?: ((node: Node) => boolean) | undefined;
}

/** How many of these nodes there are of each state. */
export function countsOf(snapshot: Snapshot, nodes: readonly Surveyed[]): Record<State, number> {
  const { states } = snapshot.overview;
  return countStates(
    nodes.length === states.length ? states : Uint8Array.from(nodes, ({ index }) => states[index] as number),
  );
}

/** Looks over the nodes that are chosen, all of them when nothing is said. `names`: of all nodes, where they are known. */
export function survey(
  snapshot: Snapshot,
  { among, holds }: Choice = {},
  names: readonly string[] = snapshot.names(),
): Survey {
  const { states, ails } = snapshot.overview;
  const all: Surveyed[] = [];
  for (let index = 0; index < snapshot.count; index++)
    all.push({
      index,
      name: names[index] as string,
      state: NUMBERED[states[index] as number] as State,
      ails: ails[index] as number,
    });
  const missing = among && new Set(among);
  const chosen = ({ index, name }: Surveyed) =>
    (missing === undefined || missing.delete(name)) && (holds === undefined || holds(snapshot.node(index)));
  const nodes = missing === undefined && holds === undefined ? all : all.filter(chosen);
  return { snapshot, all, nodes, counts: countsOf(snapshot, nodes), strangers: [...(missing ?? [])] };
}

/** Whether there is something to say of a node: it is not live, or something ails it. */
export function isException({ state, ails }: Surveyed): boolean {
  return state !== 'live' || ails !== 0;
}

/** What the live ones of the nodes that were chosen have, use and move together; undefined where nothing is known of any node. */
export function totalsOf({ snapshot, nodes }: Survey): Totals | undefined {
  if (snapshot.stalled || snapshot.retired) return undefined;
  const { states } = snapshot.overview;
  if (nodes.length === states.length) return snapshot.totals(states);
  const chosen = new Uint8Array(states.length); // 0: never
  for (const { index } of nodes) chosen[index] = states[index] as number;
  return snapshot.totals(chosen);
}
