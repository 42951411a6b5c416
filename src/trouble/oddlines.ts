// Which nodes of a family differ from its others, in a sentence and for programs. Judges nothing.

import { type Alike, type Odd, valueText } from '../query/odd.js';
import type { Snapshot } from '../shm/snapshot.js';
import { fold, shownNames } from '../text/hostlists.js';

/** So many groups are named. */
const GROUPS_MOST = 3;

/** The names of all nodes of a look, by the numbers of their records. */
type Names = readonly string[];

/** What the others have: `39 others 6.1.0-21`. */
function othersText(snapshot: Snapshot, odd: Odd): string {
  const [most] = odd.groups as readonly [Alike, ...Alike[]];
  const count = most.members.length;
  return `${count} ${count === 1 ? 'other' : 'others'} ${valueText(snapshot, odd, most)}`;
}

/**
 * `rack11n[01-09]: 6.1.0-18, 39 others 6.1.0-21`; without a minority, all groups alike. `label`: before the first value
 * of each.
 */
export function oddText(snapshot: Snapshot, names: Names, odd: Odd, label = ''): string {
  const told = odd.isMinority ? odd.groups.slice(1) : odd.groups;
  const named = told.slice(0, GROUPS_MOST).map(group => {
    const who = shownNames(group.members.map(at => names[at] as string));
    return `${who}: ${label}${valueText(snapshot, odd, group)}`;
  });
  const more = told.slice(GROUPS_MOST);
  if (more.length > 0) {
    const nodes = more.reduce((sum, { members }) => sum + members.length, 0);
    named.push(`${nodes} more with ${more.length} other ${more.length === 1 ? 'value' : 'values'}`);
  }
  return odd.isMinority ? `${named.join('; ')}, ${othersText(snapshot, odd)}` : named.join('; ');
}

/** What follows the names of these odd nodes: `6.1.0-18 or 5.10.0, 39 others 6.1.0-21`. */
export function differenceText(snapshot: Snapshot, odd: Odd, among: ReadonlySet<number>): string {
  const theirs = odd.groups.slice(1).filter(({ members }) => members.some(at => among.has(at)));
  const values = theirs.slice(0, GROUPS_MOST).map(group => valueText(snapshot, odd, group));
  return `${values.join(' or ')}${theirs.length > GROUPS_MOST ? ' or another' : ''}, ${othersText(snapshot, odd)}`;
}

/** The same for programs: see ODD in shapes.ts. */
export function oddJson(snapshot: Snapshot, names: Names, odd: Odd) {
  return {
    family: odd.family,
    trait: odd.trait.name,
    minority: odd.isMinority,
    groups: odd.groups.map(group => ({
      value: valueText(snapshot, odd, group),
      nodes: fold(group.members.map(at => names[at] as string)),
      count: group.members.length,
    })),
  };
}
