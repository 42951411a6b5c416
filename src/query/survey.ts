// One look at all nodes of a snapshot: their names, states, ages, and what shows the odd one out. Judges nothing.

import { NUMBERED, type State } from '../shm/liveness.js';
import type { Node, Snapshot, Totals } from '../shm/snapshot.js';
import { type Standing, standingOf } from '../shm/standing.js';
import { usable } from '../text/failure.js';
import { readNodes } from '../text/nodefiles.js';

/** A node of the survey; all other data is in `snapshot.node(index)`. */
export interface Surveyed {
  readonly index: number;
  readonly name: string;
  readonly state: State;
  /** The bits of its problems. */
  readonly problems: number;
  /** The bits of those that it had recently; see `recentOf` of Snapshot. */
  readonly recent: number;
}

export interface Survey {
  readonly snapshot: Snapshot;
  /** All nodes: an anomaly is a difference from all of them. */
  readonly all: readonly Surveyed[];
  readonly nodes: readonly Surveyed[];
  /** Of the chosen ones. */
  readonly standing: Standing;
  readonly notOnBoard: readonly string[];
}

/** The names that the user asks a verb about, by -w or by lists without it; undefined: all. */
export function namesOf(nodes: string[] | undefined, lists: readonly string[]): string[] | undefined {
  if (lists.length === 0) return nodes;
  return [...(nodes ?? []), ...usable(() => lists.flatMap(list => readNodes(list)))];
}

export interface Choice {
  readonly among?: readonly string[] | undefined;
  readonly holds?: ((node: Node) => boolean) | undefined;
}

/** Looks at the chosen nodes, or at all of them if none are chosen. `names`: those of all nodes, if they are known. */
export function survey(
  snapshot: Snapshot,
  { among, holds }: Choice = {},
  names: readonly string[] = snapshot.names(),
): Survey {
  const { states, problems } = snapshot.overview;
  const all: Surveyed[] = [];
  for (let index = 0; index < snapshot.count; index++)
    all.push({
      index,
      name: names[index] as string,
      state: NUMBERED[states[index] as number] as State,
      problems: problems[index] as number,
      recent: snapshot.recentOf(index),
    });
  return chosenOf({ snapshot, all }, { among, holds });
}

/** The chosen nodes of a look. */
export function chosenOf({ snapshot, all }: Pick<Survey, 'snapshot' | 'all'>, { among, holds }: Choice): Survey {
  const missing = among && new Set(among);
  const chosen = ({ index, name }: Surveyed) =>
    (missing === undefined || missing.delete(name)) && (holds === undefined || holds(snapshot.node(index)));
  const nodes = missing === undefined && holds === undefined ? all : all.filter(chosen);
  return { snapshot, all, nodes, standing: standingOf(snapshot, nodes), notOnBoard: [...(missing ?? [])] };
}

/** Whether a node needs a sentence: it is not live, or it has a problem. */
export function isException({ state, problems }: Surveyed): boolean {
  return state !== 'live' || problems !== 0;
}

/** What the live nodes among the chosen ones have, use and move together; undefined if nothing is known of any. */
export function totalsOf({ snapshot, nodes }: Survey): Totals | undefined {
  if (snapshot.stalled || snapshot.retired) return undefined;
  const { states } = snapshot.overview;
  if (nodes.length === states.length) return snapshot.totals(states);
  const chosen = new Uint8Array(states.length); // 0: never
  for (const { index } of nodes) chosen[index] = states[index] as number;
  return snapshot.totals(chosen);
}
