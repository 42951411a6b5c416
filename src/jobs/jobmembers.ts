// The nodes of one job beside each other: the readings of each, and how far each is from its peers, the live nodes of
// the job with the same hardware. Only sorts; whether a node is marked is the judge's to say.

import { deviation, findMiddle, type Middle, median } from '../outliers/deviation.js';
import { forgetOtherHashes } from '../outliers/families.js';
import { isAtEqual } from '../outliers/judge.js';
import { FEWEST } from '../outliers/peers.js';
import { COMPARED, type Compared } from '../outliers/readings.js';
import type { Reading } from '../readings/measures.js';
import { readingOf } from '../readings/readings.js';
import type { State } from '../shm/liveness.js';
import type { Problem } from '../shm/problems.js';
import type { Node } from '../shm/snapshot.js';
import { compareNames } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import type { ListedJob } from './joblist.js';

/** A reading of a node beside those of its peers. */
interface PeerDifference {
  readonly compared: Compared;
  readonly reading: Reading;
  readonly value: number;
  /** Of the peers, this node included. */
  readonly median: number;
  /** In units of the peers' spread; above 0 on the side that is bad. */
  readonly deviation: number;
}

export interface JobMember {
  /** Its name on the board; its NodeName where the board does not have it. */
  readonly name: string;
  readonly state: State | 'absent';
  readonly problems: readonly Problem[];
  /** Those that it had recently. */
  readonly recently: readonly Problem[];
  /** undefined: it is not on the board. */
  readonly node: Node | undefined;
  /** What is compared of it, the worst deviation first; empty: it is not live, or there are too few others. */
  readonly differences: readonly PeerDifference[];
  /**
   * Whether the nodes that it is compared with have its hardware; if too few have, those with the hardware that most of
   * the job's nodes have are taken, because a node that loses a GPU or a link tells of other hardware. undefined: it is
   * compared with none.
   */
  readonly hardware: 'same' | 'other' | 'unknown' | undefined;
}

/** From so many units on it is told that a node differs. */
const TOLD_FROM = 3;

/** Counters that only grow are not compared, because one look does not show how fast; each GPU only beside its past. */
const ROWS = COMPARED.flatMap(compared => {
  const reading = compared.isTally || compared.gpu !== undefined ? undefined : readingOf(compared.reading);
  return reading === undefined ? [] : [{ compared, reading }];
});
type ComparedReading = (typeof ROWS)[number];
/** How much nodes work. */
const BY = ROWS.flatMap(({ compared, reading }) => (compared.tells === 'hang' ? [reading] : []));

const HARDWARE = ['hw_hash', 'gpu_count', 'agent_version'].map(name => readingOf(name) as Reading);

const isKnown = (value: number) => !Number.isNaN(value);

const numberOf = (reading: Reading, node: Node) => {
  const value = reading.value(node);
  return typeof value === 'number' ? value : Number.NaN;
};

/** The values of nodes in one reading; NaN: not measured, or not comparable, because the node is not at work as its peers are. */
function comparable(
  nodes: readonly Node[],
  { compared, reading }: ComparedReading,
  usual: ReadonlyMap<string, number>,
): Float64Array {
  const by = readingOf(compared.atEqual ?? '');
  const isComparable = (node: Node) =>
    by === undefined || isAtEqual(numberOf(by, node), usual.get(by.name) ?? Number.NaN);
  return Float64Array.from(nodes, node => (isComparable(node) ? numberOf(reading, node) : Number.NaN));
}

/** What is compared of each of these nodes with `peers`, which may be the same nodes. */
function differencesOf(nodes: readonly Node[], peers: readonly Node[]): Map<Node, PeerDifference[]> {
  const found = new Map(nodes.map((node): [Node, PeerDifference[]] => [node, []]));
  const valuesOf = (reading: Reading) => Float64Array.from(peers, node => numberOf(reading, node)).filter(isKnown);
  const usual = new Map(BY.map(reading => [reading.name, median(valuesOf(reading))]));
  const middle: Middle = { count: 0, median: Number.NaN, unit: Number.NaN };
  for (const row of ROWS) {
    findMiddle(row.compared, comparable(peers, row, usual), peers.length, new Float64Array(peers.length), middle);
    if (middle.count < FEWEST) continue;
    comparable(nodes, row, usual).forEach((value, i) => {
      const far = deviation(row.compared, value, middle);
      if (isKnown(value) && isKnown(far))
        found.get(nodes[i] as Node)?.push({ ...row, value, median: middle.median, deviation: far });
    });
  }
  for (const list of found.values()) list.sort((a, b) => b.deviation - a.deviation);
  return found;
}

/** The live nodes by their hardware, most nodes first; '' are those that do not tell theirs. */
function byHardware(live: readonly Node[]): [string, Node[]][] {
  const [hashes, gpus, versions] = HARDWARE.map(reading =>
    Float64Array.from(live, node => numberOf(reading, node)),
  ) as [Float64Array, Float64Array, Float64Array];
  forgetOtherHashes([...live.keys()], hashes, versions);
  const groups = groupBy(live.keys(), at => (isKnown(hashes[at] as number) ? `${hashes[at]} ${gpus[at] || 0}` : ''));
  return [...groups]
    .map(([key, members]): [string, Node[]] => [key, members.map(at => live[at] as Node)])
    .sort(([, a], [, b]) => b.length - a.length);
}

/** The largest difference of a node, if it is one that is told. */
export function toldOf({ differences: [most] }: JobMember): PeerDifference | undefined {
  return most !== undefined && most.deviation >= TOLD_FROM ? most : undefined;
}

/**
 * The nodes of a job: who is farthest from its peers first, then the other live ones, then those that are not live.
 * `nodeOf`: a node of the board that stays readable; undefined: it is not on the board.
 */
export function membersOf(
  { names }: Pick<ListedJob, 'names'>,
  nodeOf: (name: string) => Node | undefined,
): JobMember[] {
  const nodes = names.map(nodeOf);
  const groups = byHardware(nodes.flatMap(node => (node?.state === 'live' ? [node] : [])));
  const isGroup = ([key, { length }]: [string, Node[]]) => key !== '' && length >= FEWEST;
  const most = groups.find(isGroup)?.[1];
  const compared = new Map<Node, Pick<JobMember, 'differences' | 'hardware'>>();
  for (const group of most === undefined ? [] : groups) {
    const [key, peers] = group;
    const hardware = isGroup(group) ? 'same' : key === '' ? 'unknown' : 'other';
    const found = differencesOf(peers, hardware === 'same' ? peers : (most as Node[]));
    for (const [node, differences] of found) compared.set(node, { differences, hardware });
  }
  const members = nodes.map((node, i): JobMember => {
    const { state = 'absent', problems = [], recently = [] } = node ?? {};
    const { differences = [], hardware } = (node && compared.get(node)) ?? {};
    return { name: names[i] as string, state, problems, recently, node, differences, hardware };
  });
  // Differences that are told, and then names: who hardly differs keeps its place at the next look.
  const rank = (member: JobMember) => (member.state === 'live' ? (toldOf(member)?.deviation ?? 0) : -1);
  return members.sort((a, b) => (rank(a) === rank(b) ? 0 : rank(b) - rank(a)) || compareNames(a.name, b.name));
}

/** What is told of a node besides what is compared. */
const TOLD = ['mem', 'throttle_events', 'edac_ce', 'edac_ue'].map(name => readingOf(name) as Reading);

const rounded = (value: number) => Number(value.toPrecision(6));

/** One node of a job, for programs. */
export function memberJson({ name, state, problems, recently, node, differences, hardware }: JobMember) {
  const told = [...ROWS.map(({ reading }) => reading), ...TOLD].flatMap(reading => {
    const value = node === undefined ? Number.NaN : numberOf(reading, node);
    return Number.isNaN(value) ? [] : [[reading.name, rounded(value)]];
  });
  return {
    name,
    state,
    problems,
    recently,
    hardware,
    readings: Object.fromEntries(told) as Record<string, number>,
    compared: Object.fromEntries(
      differences.map(({ reading, median, deviation }) => [
        reading.name,
        { median: rounded(median), deviation: Number.isFinite(deviation) ? rounded(deviation) : undefined },
      ]),
    ),
  };
}
