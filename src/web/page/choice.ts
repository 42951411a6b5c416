// What of the nodes is chosen by the view: the groups on the map, the selected cells, the rows of the table, in words.

import { tryExpand } from '../../text/hostlists.js';
import { type Cells, isUnhealthy, stateOf } from './cells.js';
import { plural } from './formats.js';
import type { Member } from './geometry.js';
import { isState } from './legend.js';
import type { TableRows } from './tableview.js';
import type { PageView } from './viewstate.js';

/** The groups on the map. */
export function membersOf({ group: wanted }: PageView, { layout: { groups } }: Cells): Member[] {
  const all = groups.map(({ first, count }, group) => ({ group, first, count }));
  if (groups.length === 1 && groups[0]?.name === null) return all.map(each => ({ ...each, group: -1 }));
  const only = wanted === undefined ? [] : all.filter(({ group }) => (groups[group]?.name ?? 'others') === wanted);
  return only.length > 0 ? only : all;
}

/** The cells of a state, or those of a host list of the view; undefined: nothing is selected. */
export function selectionOf({ state }: PageView, nodes: string | undefined, cells: Cells): Uint32Array | undefined {
  const found: number[] = [];
  if (state !== undefined && isState(state)) {
    for (const [cell, bits] of cells.values.entries())
      if (state === 'unhealthy' ? isUnhealthy(bits) : stateOf(bits) === state) found.push(cell);
    return Uint32Array.from(found);
  }
  if (nodes === undefined) return undefined;
  for (const name of tryExpand(nodes, 'any') ?? []) {
    const cell = cells.indexOf(name);
    if (cell !== undefined) found.push(cell);
  }
  return Uint32Array.from(found).sort();
}

/** The nodes that are not well, in the order of the map, of the chosen, or of all. Who has left is not among them. */
export function unwellOf({ names, values }: Cells, chosen: Uint32Array | undefined): string[] {
  const found: string[] = [];
  for (const cell of chosen ?? values.keys()) {
    const bits = values[cell] as number;
    const state = stateOf(bits);
    if (isUnhealthy(bits) || (state !== 'live' && state !== 'left')) found.push(names[cell] as string);
  }
  return found;
}

/** The names of the nodes that are chosen; undefined: all. */
export function namesOf(
  view: PageView,
  shown: readonly Member[],
  cells: Cells,
  chosen: Uint32Array | undefined,
): ReadonlySet<string> | undefined {
  const { names } = cells;
  if (chosen !== undefined) return new Set(Array.from(chosen, cell => names[cell] ?? ''));
  const [only] = shown;
  if (view.group === undefined || shown.length !== 1 || only === undefined) return undefined;
  return new Set(names.slice(only.first, only.first + only.count));
}

/** The rows of the table: the selected nodes, those of the only group, or all groups. */
export function rowsOf(view: PageView, cells: Cells, chosen: Uint32Array | undefined): TableRows {
  const { groups } = cells.layout;
  if (chosen !== undefined) return { title: 'Selected nodes', kind: 'nodes', indices: chosen };
  const shown = membersOf(view, cells);
  const isOne = shown.length === 1 && (view.group !== undefined || groups.length === 1);
  if (!isOne) return { title: 'Groups', kind: 'groups', indices: groups.map((_, i) => i) };
  const { first, count, group } = shown[0] as Member;
  const title = group === -1 ? 'Nodes' : `Nodes of ${groups[group]?.name ?? 'no group'}`;
  return { title, kind: 'nodes', indices: Uint32Array.from({ length: count }, (_, i) => first + i) };
}

/** Which part is shown, in words; empty: all. `nodes`: the host list that is selected, of so many cells. */
export function choiceText(
  { where, group, state }: PageView,
  nodes: string | undefined,
  selected: number,
  cells: Cells,
): string[] {
  return [
    ...(where === undefined ? [] : [`${plural(cells.layout.count)} where ${where}`]),
    ...(group === undefined ? [] : [`group ${group}`]),
    ...(state === undefined ? [] : [`${plural(selected)} ${state}`]),
    ...(nodes === undefined ? [] : [`${plural(selected)} selected: ${nodes}`]),
  ];
}
