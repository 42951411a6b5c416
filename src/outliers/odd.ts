// The odd ones of a board: nodes in families, and in which of kernel, hardware, interval and the like some live nodes of
// a family differ from its others. One rule for all who tell of it. Judges no value as such.

import type { Survey, Surveyed } from '../query/survey.js';
import { Cursor } from '../readings/cursor.js';
import { bit, type Measure, type Reading, taken } from '../readings/measures.js';
import { readingOf } from '../readings/readings.js';
import { writeId, writeValue, writeVersion } from '../readings/units.js';
import { setBit } from '../shm/rates.js';
import type { Snapshot } from '../shm/snapshot.js';
import { writeDuration } from '../text/durations.js';
import { lastDigits } from '../text/hostlists.js';
import { NOTHING } from '../text/layout.js';
import { addTo } from '../text/maps.js';
import { oneLine } from '../text/text.js';
import { differences, type FamilyDifference, forgetOtherHashes, type Trait } from './families.js';

/** All nodes of a look, or one part of them after the other. */
export type Parts = Iterable<Pick<Survey, 'snapshot' | 'all'>>;

export type Nodes = Pick<Snapshot, 'node'>;

/** What live nodes are compared in. */
export interface BoardTrait extends Trait {
  readonly label: string;
  readonly measure: Measure;
  /** The value of a node of that number, in words, on one line. */
  readonly text: (value: number, nodes: Nodes, index: number) => string;
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

const release: BoardTrait['text'] = (_, nodes, index) =>
  oneLine(String(nodes.node(index).field('os_release') || NOTHING));

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

/** Where live nodes differ from the others of their family, step by step. Members are numbers among all nodes. */
export function* oddOnes(
  parts: Parts,
  familyOf: FamilyOf = usualFamily(),
  traits: readonly BoardTrait[] = TRAITS,
): Generator<undefined, Odd[]> {
  const families = new Map<string, number[]>();
  const values = traits.map((): number[] => []);
  let count = 0;
  const cursor = new Cursor();
  // The nodes of a digest have no reports: only readings of records can be taken from them.
  const areRead = traits.some(({ measure }) => measure.ofRecord !== true);
  for (const { snapshot, all } of parts) {
    for (const node of all) {
      // A node that is not heard may have changed since its last report, so only live nodes are compared.
      const family = node.state === 'live' ? familyOf(node) : undefined;
      if (family !== undefined) addTo(families, family, count);
      if (areRead) cursor.moveTo(snapshot, node.index);
      else [cursor.snapshot, cursor.index] = [snapshot, node.index];
      for (let i = 0; i < traits.length; i++)
        values[i]?.push(family === undefined ? Number.NaN : taken((traits[i] as BoardTrait).measure, cursor));
      count++;
    }
    yield;
  }
  const [hashes, versions] = ['hardware', 'sender'].map(name => values[traits.findIndex(one => one.name === name)]);
  if (hashes && versions) for (const members of families.values()) forgetOtherHashes(members, hashes, versions);
  return yield* differences(families, traits, values);
}
