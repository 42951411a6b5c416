// What of the nodes is chosen by the view: the groups on the map, the selected cells, the rows of the table, in words.

import { fold, tryExpand } from '../../text/hostlists.js';
import { shortened } from '../../text/unseen.js';
import { type Cells, isUnhealthy, stateOf } from './cells.js';
import { count, plural } from './formats.js';
import type { Member } from './geometry.js';
import { isState } from './legend.js';
import type { TableRows, TableView } from './tableview.js';
import { type PageView, TOLD } from './viewstate.js';

const hasGroup = (group: string | undefined, { layout: { groups } }: Cells) =>
  groups.some(({ name }) => (name ?? 'others') === group);

/** The groups on the map. */
export function membersOf({ group: wanted }: PageView, { layout: { groups } }: Cells): Member[] {
  const all = groups.map(({ first, count }, group) => ({ group, first, count }));
  if (groups.length === 1 && groups[0]?.name === null) return all.map(each => ({ ...each, group: -1 }));
  const only = wanted === undefined ? [] : all.filter(({ group }) => (groups[group]?.name ?? 'others') === wanted);
  return only.length > 0 ? only : all;
}

/** The cells of a state, or those of a host list of the view; undefined: nothing is selected. */
export function selectionOf({ state }: PageView, nodes: string | undefined, cells: Cells): Uint32Array | undefined {
  if (state !== undefined && isState(state)) {
    const found: number[] = [];
    for (const [cell, bits] of cells.values.entries())
      if (state === 'unhealthy' ? isUnhealthy(bits) : stateOf(bits) === state) found.push(cell);
    return Uint32Array.from(found);
  }
  const names = nodes === undefined ? undefined : tryExpand(nodes, 'any');
  return names && Uint32Array.from(cells.cellsOf(names)).sort();
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
export function namesOf(view: PageView, shown: readonly Member[], cells: Cells, chosen: Uint32Array | undefined) {
  const { names } = cells;
  if (chosen !== undefined) return new Set(Array.from(chosen, cell => names[cell] ?? ''));
  const [only] = shown;
  if (view.group === undefined || shown.length !== 1 || only === undefined) return undefined;
  return new Set(names.slice(only.first, only.first + only.count));
}

/** What of a link's view is not here, in parts of a sentence. */
export function lacksOf(view: PageView, cells: Cells, table: Pick<TableView, 'pages' | 'sort'>, hasJobs: boolean) {
  const { group, select, at, colour, list, page = 1, sort } = view;
  const told = (text = '') => shortened(text, TOLD);
  const names = select === undefined ? [] : tryExpand(select, 'any');
  const away = [...(names ?? []), ...(at === undefined ? [] : [at])].filter(name => cells.indexOf(name) === undefined);
  return [
    group !== undefined && !hasGroup(group, cells) && `there is no group ${told(group)} here`,
    names === undefined && `select=${told(select)} is not a host list`,
    away.length > 0 && `not on this map: ${told(fold([...new Set(away)]))}`,
    page > table.pages && `page ${page} is none of ${count(table.pages)}`,
    sort !== undefined && table.sort === undefined && `this table cannot be sorted by ${told(sort)}`,
    !hasJobs && (colour ?? list ?? 'odd') !== 'odd' && 'jobs are not shown here',
  ].filter(said => said !== false);
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
  selected: number | undefined,
  cells: Cells,
): string[] {
  return [
    ...(where === undefined ? [] : [`${plural(cells.layout.count)} where ${where}`]),
    ...(hasGroup(group, cells) ? [`group ${group}`] : []),
    ...(state === undefined || !isState(state) || selected === undefined ? [] : [`${plural(selected)} ${state}`]),
    ...(nodes === undefined || selected === undefined ? [] : [`${plural(selected)} selected: ${nodes}`]),
  ];
}
