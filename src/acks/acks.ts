// Who has acknowledged which lines of the trouble list, for which nodes and until when, and for which episodes that
// holds. No I/O: ackfile.ts keeps them.

import { PROBLEMS } from '../shm/problems.js';
import { NameRanges } from '../text/hostlists.js';
import { isTellable } from '../text/moments.js';
import type { Described } from '../text/schema.js';
import { type Check, isCount, shapeOf } from '../text/shape.js';

const textOf =
  (most: number): Check<string> =>
  value =>
    typeof value === 'string' && value.length <= most;
const isTime: Check<string> = value => textOf(40)(value) && isTellable(Date.parse(value as string));
const isNodes: Check<string> = value => typeof value === 'string' && NameRanges.of(value) !== undefined;

/** Somebody knows of a line, as far as it is about these nodes. Times are ISO 8601, UTC. */
export const isAck = shapeOf({
  /** The key that was given: of a line, or of all lines of a kind. */
  key: textOf(200),
  /** The nodes that these lines had then, as a host list; empty: they were about no node. */
  nodes: isNodes,
  /** Those of them that flapped: it holds for their next episodes, too, as long as they do. */
  'flapping?': isNodes,
  by: textOf(128),
  at: isTime,
  /** The same by CLOCK_MONOTONIC, ms, and of which boot of the master: wall clocks are set. Absent: an older version's. */
  ...{ 'mono_ms?': isCount, 'boot?': textOf(40) },
  /** How many episodes each of the nodes had had, if all had the same number of them. */
  'times?': isCount,
  until: isTime,
  'reason?': textOf(400),
});
export type Ack = Described<typeof isAck>;

/** What a node of a line has now. */
export interface AckedEpisode {
  /** Empty: the line is about no node. */
  readonly name: string;
  /** When it began, ms before the look; undefined: nobody knows. */
  readonly beganMs: number | undefined;
  readonly isFlapping: boolean;
  /** How many it has had, this one included, and since when they are counted; undefined: nobody knows. */
  readonly count?: number | undefined;
  readonly countedMs?: number | undefined;
}

/** The clocks of a look: ms since 1970, CLOCK_MONOTONIC in ms, and the master's boot as `Ack` has it. */
export interface AckClocks {
  readonly realMs: number;
  readonly monoMs: number;
  readonly boot: string;
}

interface AckedLine {
  /** It holds for all of its nodes; if several do, the one that is over first. */
  readonly ack?: Ack | undefined;
  /** It was about an earlier episode of a node of the line; `isLast`: about the one before this, of each of its nodes. */
  readonly before?: { readonly ack: Ack; readonly isLast: boolean } | undefined;
}

type AckedNames = Pick<NameRanges, 'has'>;

const known = { nodes: new WeakMap<Ack, AckedNames>(), flapping: new WeakMap<Ack, AckedNames>() };

/** Its nodes, or those of them that flapped. A line about no node has one without a name. */
function namesOf(ack: Ack, which: 'nodes' | 'flapping'): AckedNames {
  let names = known[which].get(ack);
  if (names === undefined) {
    const list = ack[which];
    names = (list && NameRanges.of(list)) || new Set(which === 'nodes' && !list ? [''] : []);
    known[which].set(ack, names);
  }
  return names;
}

const OF_NODES: ReadonlySet<string> = new Set(['silent', ...PROBLEMS]);

/**
 * What a line is about, by its key: whichever line a node's trouble is on, it is the same. The nodes of a rack that fell
 * are, when others of it have long been well, silent nodes among others.
 */
function topicOf(key: string): string {
  const [kind = ''] = key.split(':', 1);
  if (kind === 'together') return 'silent';
  return OF_NODES.has(kind) ? kind : key.replace(/:at-[\d-]+$/, '');
}

/** Whether what began then had begun when it was acknowledged. */
function hadBegun({ at, mono_ms, boot }: Ack, beganMs: number, clocks: AckClocks): boolean {
  return mono_ms !== undefined && boot === clocks.boot && mono_ms <= clocks.monoMs
    ? clocks.monoMs - beganMs <= mono_ms
    : clocks.realMs - beganMs <= Date.parse(at);
}

/** Whether it holds for that episode: it had begun then, or its node flapped then and does still. */
function holds(ack: Ack, { name, beganMs, isFlapping }: AckedEpisode, clocks: AckClocks): boolean {
  if (!namesOf(ack, 'nodes').has(name)) return false;
  if (beganMs === undefined || (isFlapping && namesOf(ack, 'flapping').has(name))) return true;
  return hadBegun(ack, beganMs, clocks);
}

/** What holds for a line with that key and these episodes, node by node. */
export function acknowledged(
  key: string,
  episodes: readonly AckedEpisode[],
  acks: readonly Ack[],
  clocks: AckClocks,
): AckedLine {
  const topic = topicOf(key);
  // Its own first, then the latest.
  const of = acks
    .filter(ack => topicOf(ack.key) === topic && Date.parse(ack.until) > clocks.realMs)
    .sort((a, b) => Number(b.key === key) - Number(a.key === key) || Date.parse(b.at) - Date.parse(a.at));
  if (of.length === 0) return {};
  const whole = of.find(ack => episodes.every(episode => holds(ack, episode, clocks)));
  if (whole !== undefined) return { ack: whole };
  const each = episodes.map(episode => of.find(ack => holds(ack, episode, clocks)));
  if (each.every(ack => ack !== undefined))
    return { ack: each.reduce((a, b) => (Date.parse(b.until) < Date.parse(a.until) ? b : a)) };
  for (const ack of of) {
    const names = namesOf(ack, 'nodes');
    const again = episodes.find((episode, i) => each[i] === undefined && names.has(episode.name));
    if (again === undefined) continue;
    // On a new board they are counted anew.
    const isNext = ({ name, count, countedMs }: AckedEpisode) =>
      names.has(name) && count === (ack.times ?? 0) + 1 && countedMs !== undefined && hadBegun(ack, countedMs, clocks);
    return { before: { ack, isLast: ack.times !== undefined && episodes.every(isNext) } };
  }
  return {};
}
