// The odd ones of a board: nodes in families, and in which of kernel, hardware, interval and the like some live nodes of
// a family differ from its others; and in words, and for programs. One rule for all who tell of it. Judges no value as
// such.

import type { Surveyed } from '../query/survey.js';
import { Cursor } from '../readings/cursor.js';
import { bit, type Measure, type Reading, taken } from '../readings/measures.js';
import { readingOf } from '../readings/readings.js';
import { writeId, writeValue, writeVersion } from '../readings/units.js';
import { setBit } from '../shm/rates.js';
import type { Snapshot } from '../shm/snapshot.js';
import { writeDuration } from '../text/durations.js';
import { fold, lastDigits, shownNames } from '../text/hostlists.js';
import { NOTHING } from '../text/layout.js';
import { getOrInsert } from '../text/maps.js';
import { oneLine } from '../text/text.js';
import { type Alike, differences, type FamilyDifference, forgetOtherHashes, type Trait } from './families.js';

/** What live nodes are compared in. */
export interface BoardTrait extends Trait {
  readonly label: string;
  readonly measure: Measure;
  /** The value of a node of that number, in words, on one line. */
  readonly text: (value: number, snapshot: Snapshot, index: number) => string;
}

const known = (name: string) => readingOf(name) as Reading & { readonly measure: Measure };

/** 0 is a value that is not known. */
const unlessZero = (measure: Measure): Measure => ({ ...measure, take: cursor => measure.take(cursor) || Number.NaN });

function trait(name: string, reading: string, more: Partial<BoardTrait> = {}): BoardTrait {
  const { measure, unit } = known(reading);
  return { name, label: name, measure: unlessZero(measure), text: value => writeValue(value, unit), ...more };
}

/** A number that a look at all nodes has of each, also where it has none of their reports; 0: not known. */
const ofLook = (number: (snapshot: Snapshot, index: number) => number | undefined): Measure => ({
  ofRecord: true,
  take: ({ snapshot, index }) => number(snapshot as Snapshot, index) || Number.NaN,
});

/** The report has the release as a text. */
const kernel = ofLook(({ overview }, index) => overview.kernels[index]);
const interval = ofLook((snapshot, index) => snapshot.intervalOf(index));

const release: BoardTrait['text'] = (_, snapshot, index) =>
  oneLine(String(snapshot.node(index).field('os_release') || NOTHING));

/** A clock of which the report does not tell is neither. */
const unsynchronised: Measure = { ...bit('flags', 'clock_unsync'), set: setBit('clock') };

/**
 * In the order in which they are told. Of memory, the kernel and the firmware keep some, which differs between kernels
 * and boots; the smallest module of a server is more.
 */
export const TRAITS: readonly BoardTrait[] = [
  { name: 'kernel', label: 'kernel', measure: kernel, text: release },
  trait('software', 'sw_hash', { text: writeId, parts: ['kernel'] }),
  trait('sender', 'agent_version', { text: writeVersion }),
  { name: 'interval', label: 'interval', measure: interval, text: writeDuration },
  { name: 'clock', label: 'clock', measure: unsynchronised, text: value => `${value === 0 ? '' : 'not '}synchronised` },
  trait('cpus', 'cpus_online', { label: 'CPUs' }),
  trait('memory', 'mem_total_mib', { slack: 256, slackShare: 0.01 }),
  trait('gpus', 'gpu_count', { label: 'GPUs', measure: known('gpu_count').measure }),
  trait('link_speed', 'link_speed', { label: 'link speed' }),
  trait('hardware', 'hw_hash', { text: writeId, parts: ['cpus', 'memory', 'gpus', 'link_speed'] }),
];

/** To which family a node belongs; undefined: to none. */
export type FamilyOf = (node: Surveyed) => string | undefined;

/** The name without the number at its end. */
export function usualFamily(): FamilyOf {
  // Neighbours are nearly always of one family, so they need no look-up.
  let family = '';
  return ({ name }) => {
    const at = lastDigits(name);
    if (at !== family.length || !name.startsWith(family)) family = name.slice(0, at);
    return family;
  };
}

export type Odd = FamilyDifference<BoardTrait>;

/** Where live nodes differ from the others of their family. Members are numbers of records. 20 ms for 10,000 nodes. */
export function oddOnes(
  snapshot: Snapshot,
  nodes: readonly Surveyed[],
  familyOf: FamilyOf = usualFamily(),
  traits: readonly BoardTrait[] = TRAITS,
): Odd[] {
  const families = new Map<string, number[]>();
  const values = traits.map(() => new Float64Array(snapshot.count).fill(Number.NaN));
  const cursor = new Cursor();
  // The nodes of a digest have no reports: only readings of records can be taken from them.
  const areRead = traits.some(({ measure }) => measure.ofRecord !== true);
  for (const node of nodes) {
    // A node that is not heard may have changed since its last report, so only live nodes are compared.
    const family = node.state === 'live' ? familyOf(node) : undefined;
    if (family === undefined) continue;
    getOrInsert(families, family, () => []).push(node.index);
    if (areRead) cursor.moveTo(snapshot, node.index);
    else [cursor.snapshot, cursor.index] = [snapshot, node.index];
    for (let i = 0; i < traits.length; i++)
      (values[i] as Float64Array)[node.index] = taken((traits[i] as BoardTrait).measure, cursor);
  }
  const [hashes, versions] = ['hardware', 'sender'].map(name => values[traits.findIndex(one => one.name === name)]);
  if (hashes && versions) for (const members of families.values()) forgetOtherHashes(members, hashes, versions);
  return differences(families, traits, values);
}

function valueText(snapshot: Snapshot, { trait }: Odd, { value, members }: Alike): string {
  return trait.text(value, snapshot, members[0] as number);
}

const GROUPS_MOST = 3;

/** The names of all nodes of a look, by the numbers of their records. */
type Names = readonly string[];

/** What the others have: `39 others 6.1.0-21`. */
function othersText(snapshot: Snapshot, odd: Odd): string {
  const [most] = odd.groups as readonly [Alike, ...Alike[]];
  const count = most.members.length;
  return `${count} ${count === 1 ? 'other' : 'others'} ${valueText(snapshot, odd, most)}`;
}

/** `rack11n[01-09]: 6.1.0-18, 39 others 6.1.0-21`; without a minority, all alike. `label`: before each first value. */
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
