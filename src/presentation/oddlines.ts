// Which nodes of a family differ from its others, in a sentence and for programs. Judges nothing.

import { type Odd, valueText } from '../query/odd.js';
import type { Snapshot } from '../shm/snapshot.js';
import { fold } from '../text/hostlists.js';
import { shownNames } from './rejections.js';

/** So many groups are named. */
const GROUPS_MOST = 3;

/** The names of all nodes of a look, by the numbers of their records. */
export type Names = readonly string[];

/** `rack11n[01-09]: 6.1.0-18, 39 others 6.1.0-21`; without a minority, all groups alike. */
export function oddText(snapshot: Snapshot, names: Names, odd: Odd): string {
  const [most, ...rest] = odd.groups as [Odd['groups'][0], ...Odd['groups']];
  const told = odd.isMinority ? rest : odd.groups;
  const named = told
    .slice(0, GROUPS_MOST)
    .map(group => `${shownNames(group.members.map(at => names[at] as string))}: ${valueText(snapshot, odd, group)}`);
  const more = told.slice(GROUPS_MOST);
  if (more.length > 0) {
    const nodes = more.reduce((sum, { members }) => sum + members.length, 0);
    named.push(`${nodes} more with ${more.length} other ${more.length === 1 ? 'value' : 'values'}`);
  }
  if (!odd.isMinority) return named.join('; ');
  const count = most.members.length;
  return `${named.join('; ')}, ${count} ${count === 1 ? 'other' : 'others'} ${valueText(snapshot, odd, most)}`;
}

/** The same for programs: see docs/json.md. */
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
