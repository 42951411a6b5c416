// The nodes in groups: by a common part of their names, or by a field. Each group has one line: its states, the means
// of its live nodes, and the nodes that are not live.

import type { Grouping } from '../options/options.js';
import type { Reading, Value } from '../readings/measures.js';
import { STATES } from '../shm/liveness.js';
import type { Snapshot } from '../shm/snapshot.js';
import { type Standing, standingOf } from '../shm/standing.js';
import { compareNames, fold } from '../text/hostlists.js';
import { cutTo, fitting, GAP, inColumn, NOTHING, tableWidth, widest } from '../text/layout.js';
import { groupBy } from '../text/maps.js';
import { compilePattern } from '../text/patterns.js';
import { oneLine } from '../text/text.js';
import { COLUMNS, type Column, chosenColumns, sortField } from './columns.js';
import { compareValues } from './sorting.js';
import type { Survey, Surveyed } from './survey.js';

export interface NodeGroup {
  /** What the nodes of the group have in common; undefined: the value that the rule asks for is not known for them. */
  readonly name: string | undefined;
  readonly nodes: readonly Surveyed[];
  readonly standing: Standing;
}

/** A rule: to which group a node belongs. */
export type Rule = (snapshot: Snapshot, node: Pick<Surveyed, 'index' | 'name'>) => string | undefined;

function wordOf(snapshot: Snapshot, index: number, field: Reading): Value {
  const value = field.value(snapshot.node(index));
  return typeof value === 'number' ? (field.words?.[value] ?? value) : value;
}

/** Throws an InputError for something that is neither a field nor a regular expression. */
export function ruleOf(grouping: Grouping): Rule {
  if ('pattern' in grouping) {
    const find = compilePattern(grouping.pattern, '--by');
    // An empty match would put all nodes into one group.
    return (_, { name }) => find(name) || undefined;
  }
  const { field } = sortField(grouping.field);
  return (snapshot, { index }) => {
    const value = wordOf(snapshot, index, field);
    return value === undefined ? undefined : String(value);
  };
}

/** First the groups with the most missing nodes, then by name. Nodes without a group come last. */
function worst(a: NodeGroup, b: NodeGroup): number {
  if (a.name === undefined || b.name === undefined) return Number(a.name === undefined) - Number(b.name === undefined);
  const gone = ({ nodes, standing }: NodeGroup) => nodes.length - standing.states.live;
  return gone(b) - gone(a) || compareNames(a.name, b.name);
}

/** The mean of a field over the live nodes of a group; of a text or an id, what they all share. Undefined: none. */
export function meanOf(snapshot: Snapshot, { nodes }: NodeGroup, field: Reading): Value {
  const values = nodes
    .filter(({ state }) => state === 'live')
    .map(({ index }) => wordOf(snapshot, index, field))
    .filter(value => value !== undefined);
  const [first] = values;
  if (typeof first !== 'number' || field.isId) return values.every(value => value === first) ? first : undefined;
  return values.reduce<number>((sum, value) => sum + Number(value), 0) / values.length;
}

/** The groups of the chosen nodes, the worst first or sorted by the mean of a field. Throws an InputError. */
export function groups({ snapshot, nodes }: Survey, grouping: Grouping, sort: string | undefined): NodeGroup[] {
  const of = ruleOf(grouping);
  const found = [...groupBy(nodes, node => of(snapshot, node))].map(
    ([name, members]): NodeGroup => ({ name, nodes: members, standing: standingOf(snapshot, members) }),
  );
  found.sort(worst);
  if (sort === undefined) return found;
  const { field, upward } = sortField(sort);
  return found
    .map(group => ({ group, mean: meanOf(snapshot, group, field) }))
    .sort((a, b) => compareValues(a.mean, b.mean, upward))
    .map(({ group }) => group);
}

/** The columns of a group unless the user chooses others. */
const MEANS = ['load', 'cpu', 'mem', 'in', 'out'].map(name => COLUMNS.find(column => column.name === name) as Column);

/** The name of a group on a screen. */
export function labelOf({ name }: NodeGroup): string {
  return name === undefined ? NOTHING : oneLine(name);
}

/** The columns whose means are shown. `columns`: the chosen ones; the first is the name. */
export function meansShown(columns: readonly Column[] | undefined): readonly Column[] {
  return columns?.slice(1) ?? MEANS;
}

const isIll = (what: string | undefined) => what === 'unhealthy' || what === 'recently';

/** With fewer columns of the terminal than this, a list of the nodes that are not live tells nothing. */
const WHO_LEAST = 12;

/**
 * The groups as a table with a title row, one line each, in this width. Means that nobody asked for give way to the
 * list of nodes that are not live.
 */
export function groupLines(
  snapshot: Snapshot,
  found: readonly NodeGroup[],
  { columns, width }: { columns?: readonly Column[] | undefined; width: number },
): string[] {
  const counts = [
    ...STATES.map(state => [state, ({ standing }: NodeGroup) => standing.states[state]] as const),
    ...(['unhealthy', 'recently'] as const).map(key => [key, ({ standing }: NodeGroup) => standing[key]] as const),
  ].filter(([, of]) => found.some(group => of(group) > 0));
  const means = meansShown(columns);
  const table = [
    ['GROUP', 'NODES', ...counts.map(([name]) => name.toUpperCase()), ...means.map(({ title }) => title)],
    ...found.map(group => [
      cutTo(labelOf(group), Math.floor(width / 3)),
      String(group.nodes.length),
      ...counts.map(([, of]) => String(of(group))),
      ...means.map(({ field, show }) => {
        const mean = meanOf(snapshot, group, field);
        if (mean === undefined) return NOTHING;
        return typeof mean === 'number' ? show(mean) : oneLine(mean);
      }),
    ]),
  ];
  const laid = (table[0] ?? []).map((_, at) => ({
    wide: widest(table.map(row => row[at] ?? '')),
    isLeft: at === 0,
    leaves:
      at >= counts.length + 2 ? (columns === undefined ? at : undefined) : isIll(counts[at - 2]?.[0]) ? at : undefined,
  }));
  const isAnyoneGone = found.some(({ nodes, standing }) => standing.states.live < nodes.length);
  const shown = fitting(laid, width - (isAnyoneGone ? WHO_LEAST + GAP : 0));
  const line = (row: readonly string[]) => shown.map((of, at) => inColumn(row[at] ?? '', of)).join(' '.repeat(GAP));
  const room = width - tableWidth(shown) - GAP;
  const who = ({ nodes }: NodeGroup) => {
    const gone = nodes.filter(({ state }) => state !== 'live').map(({ name }) => name);
    return room < WHO_LEAST || gone.length === 0 ? '' : `  ${cutTo(oneLine(fold(gone)), room)}`;
  };
  const shows = room >= WHO_LEAST && isAnyoneGone;
  return table.map((row, at) => {
    const group = found[at - 1];
    return `${line(row)}${group === undefined ? (shows ? '  NOT LIVE' : '') : who(group)}`.trimEnd();
  });
}

/** The groups for programs: see docs/json.schema.json. */
export function groupsJson(snapshot: Snapshot, found: readonly NodeGroup[], columns: readonly string[] | undefined) {
  const means = meansShown(columns && chosenColumns(columns));
  return found.map(group => ({
    group: group.name,
    nodes: fold(group.nodes.map(({ name }) => name)),
    states: Object.fromEntries(Object.entries(group.standing.states).filter(([, count]) => count > 0)),
    unhealthy: group.standing.unhealthy,
    recently: group.standing.recently,
    means: Object.fromEntries(means.map(({ name, field }) => [name, meanOf(snapshot, group, field)])),
  }));
}
