// The order in which nodes are shown: the worst first, or by a field. Pure.

import { compareNames } from '../common/nodeset.js';
import { STATES } from '../shm/liveness.js';
import type { Survey, Surveyed } from './survey.js';

const RANK = new Map(STATES.map((state, i) => [state, i]));

/** Worst first, then by name. */
export function worstFirst(nodes: readonly Surveyed[]): Surveyed[] {
  const states = new Map(STATES.map(state => [state, [] as Surveyed[]]));
  for (const node of nodes) states.get(node.state)?.push(node);
  return [...states.values()].flatMap(some => some.sort((a, b) => compareNames(a.name, b.name)));
}

/** In the order that was asked for: `load`, `-load`. Throws an InputError for what is no field. */
export async function ordered({ snapshot, nodes }: Survey, sort: string | undefined): Promise<Surveyed[]> {
  if (sort === undefined) return worstFirst(nodes);
  const { compareValues, sortField } = await import('./columns.js');
  const { field, upward } = sortField(sort);
  if (field.name === 'state') {
    const by = (a: Surveyed, b: Surveyed) => (RANK.get(a.state) ?? 0) - (RANK.get(b.state) ?? 0);
    return worstFirst(nodes).sort((a, b) => (upward ? by(a, b) : by(b, a)));
  }
  if (field.name === 'name') {
    const sorted = [...nodes].sort((a, b) => compareNames(a.name, b.name));
    return upward ? sorted : sorted.reverse();
  }
  return nodes
    .map(node => ({ node, value: field.value(snapshot.node(node.index)) }))
    .sort((a, b) => compareValues(a.value, b.value, upward) || compareNames(a.node.name, b.node.name))
    .map(({ node }) => node);
}
