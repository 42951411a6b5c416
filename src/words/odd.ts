// The odd ones of a board in words, and for programs: the same for all who show them.

import type { Alike } from '../outliers/families.js';
import type { Nodes, Odd } from '../outliers/odd.js';
import { fold, shownNames } from '../text/hostlists.js';
import { counted } from '../text/text.js';

const valueText = (nodes: Nodes, { trait }: Odd, { value, members }: Alike) =>
  trait.text(value, nodes, members[0] as number);

const GROUPS_MOST = 3;

/** What the others have: `39 others 6.1.0-21`. */
const othersText = (nodes: Nodes, odd: Odd, [most] = odd.groups as readonly [Alike]) =>
  `${counted(most.members.length, 'other')} ${valueText(nodes, odd, most)}`;

/**
 * `rack11n[01-09]: 6.1.0-18, 39 others 6.1.0-21`; without a minority, all alike. `names`: of all nodes of the look;
 * `label`: before each first value.
 */
export function oddText(nodes: Nodes, names: readonly string[], odd: Odd, label = ''): string {
  const told = odd.isMinority ? odd.groups.slice(1) : odd.groups;
  const named = told.slice(0, GROUPS_MOST).map(group => {
    const who = shownNames(group.members.map(at => names[at] as string));
    return `${who}: ${label}${valueText(nodes, odd, group)}`;
  });
  const more = told.slice(GROUPS_MOST);
  const count = more.flatMap(({ members }) => members).length;
  if (count > 0) named.push(`${count} more with ${counted(more.length, 'other value')}`);
  return odd.isMinority ? `${named.join('; ')}, ${othersText(nodes, odd)}` : named.join('; ');
}

/** What follows the names of these odd nodes: `6.1.0-18 or 5.10.0, 39 others 6.1.0-21`. */
export function differenceText(nodes: Nodes, odd: Odd, among: ReadonlySet<number>): string {
  const theirs = odd.groups.slice(1).filter(({ members }) => members.some(at => among.has(at)));
  const values = theirs.slice(0, GROUPS_MOST).map(group => valueText(nodes, odd, group));
  return `${values.join(' or ')}${theirs.length > GROUPS_MOST ? ' or another' : ''}, ${othersText(nodes, odd)}`;
}

/** The same for programs: see ODD in shapes.ts. */
export function oddJson(nodes: Nodes, names: readonly string[], odd: Odd) {
  return {
    family: odd.family,
    trait: odd.trait.name,
    minority: odd.isMinority,
    groups: odd.groups.map(group => ({
      value: valueText(nodes, odd, group),
      nodes: fold(group.members.map(at => names[at] as string)),
      count: group.members.length,
    })),
  };
}
