// The order in which nodes are shown: the worst first, or by a field. Pure.

import { compareNames } from '../common/nodeset.js';
import { STATES } from '../shm/liveness.js';
import type { Sorting } from './columns.js';
import type { Value } from './fields.js';
import type { Survey, Surveyed } from './survey.js';

const RANK = new Map(STATES.map((state, i) => [state, i]));

export type Comparison = (a: Surveyed, b: Surveyed) => number;

const byNames: Comparison = (a, b) => compareNames(a.name, b.name);

/** Worst first, then by name. */
export function worstFirst(nodes: readonly Surveyed[], byName = byNames): Surveyed[] {
  const states = new Map(STATES.map(state => [state, [] as Surveyed[]]));
  for (const node of nodes) states.get(node.state)?.push(node);
  return [...states.values()].flatMap(some => some.sort(byName));
}

/** Orders two values; what is not known comes last. */
function compareValues(a: Value, b: Value, upward: boolean): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const by = a < b ? -1 : a > b ? 1 : 0;
  return upward ? by : -by;
}

/** By a field, then by name; reads that field alone of every node. */
export function inOrder({ snapshot, nodes }: Survey, { field, upward }: Sorting, byName = byNames): Surveyed[] {
  if (field.name === 'state') {
    const by = (a: Surveyed, b: Surveyed) => (RANK.get(a.state) ?? 0) - (RANK.get(b.state) ?? 0);
    return worstFirst(nodes, byName).sort((a, b) => (upward ? by(a, b) : by(b, a)));
  }
  if (field.name === 'name') {
    const sorted = [...nodes].sort(byName);
    return upward ? sorted : sorted.reverse();
  }
  return nodes
    .map(node => ({ node, value: field.value(snapshot.node(node.index)) }))
    .sort((a, b) => compareValues(a.value, b.value, upward) || byName(a.node, b.node))
    .map(({ node }) => node);
}

/** In the order that was asked for: `load`, `-load`. Throws an InputError for what is no field. */
export async function ordered(found: Survey, sort: string | undefined): Promise<Surveyed[]> {
  if (sort === undefined) return worstFirst(found.nodes);
  const { sortField } = await import('./columns.js');
  return inOrder(found, sortField(sort));
}

/** Names in order, remembered: they stay the same for as long as a board lives, and to compare them takes long. */
export class NameOrder {
  #names: readonly string[] = [];
  #ranks = new Int32Array();

  /** By name, for these nodes, which are all of a board's. */
  of(all: readonly Surveyed[]): Comparison {
    if (all.length !== this.#names.length || all.some(({ name }, i) => name !== this.#names[i])) {
      this.#names = all.map(({ name }) => name);
      this.#ranks = new Int32Array(all.length);
      for (const [rank, { index }] of [...all].sort(byNames).entries()) this.#ranks[index] = rank;
    }
    const ranks = this.#ranks;
    return (a, b) => (ranks[a.index] ?? 0) - (ranks[b.index] ?? 0);
  }
}
