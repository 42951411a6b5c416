// What is found wrong on a board: what it is, on which nodes, and in sentences. The list of trouble and the anomalies of
// `status --json` are both made from these.

import type { Surveyed } from '../query/survey.js';
import { shownNames } from '../text/hostlists.js';
import type { TroubleKind } from './kinds.js';

/** A sentence by itself: with the names of its nodes, and with times that grow. */
export interface Anomaly {
  readonly kind:
    | 'receiver'
    | 'mirror'
    | 'drops'
    | 'link'
    | 'deaf'
    | 'together'
    | 'last_words'
    | 'unhealthy'
    | 'refused'
    | 'rival'
    | 'clone'
    | 'sender'
    | 'delay'
    | 'clock'
    | 'kernel'
    | 'interval'
    | 'slurm'
    | 'journal'
    | 'not_on_board';
  readonly text: string;
  /** The nodes it is about; empty: it is about the receiver or this master. */
  readonly nodes: readonly Surveyed[];
  /** Names that a sender without proof claims. The sentence is of others, but who asks of these has to see it. */
  readonly claims?: readonly string[];
}

/** One node's trouble: its last episode, and how many there were. Times are ms before the look. */
export interface Spell {
  readonly node: Surveyed;
  /** Undefined: it began before anything is remembered. */
  readonly beganMs: number | undefined;
  /** Undefined: it lasts. */
  readonly endedMs: number | undefined;
  /** Whether the first report that is remembered showed it, so that it may have begun before. */
  readonly isFirst?: boolean;
  readonly count: number;
  readonly sinceMs: number;
  /** What ended it, in words that follow those of the problem. */
  readonly endedBy?: string | undefined;
  /** See `Silence` of src/shm/memory.ts. */
  readonly stoodStillMs?: number | undefined;
}

/** Something that is wrong. Times are ms before the look. */
export interface Finding {
  readonly kind: TroubleKind;
  /** What distinguishes it from others of its kind; absent: nothing. */
  readonly cause?: string | undefined;
  readonly nodes: readonly Surveyed[];
  /** In words that follow the names of its nodes; without a time that grows. Absent: it has no line of its own. */
  readonly what?: string | undefined;
  /** Since when the first of its nodes has it, and since when the last one, if that is another time. */
  readonly sinceMs?: number | undefined;
  readonly lastMs?: number | undefined;
  /** When it was over for the last of its nodes, and for the first one, if that is another time. */
  readonly endedMs?: number | undefined;
  readonly endedFirstMs?: number | undefined;
  readonly times?: Times | undefined;
  /** How often it began within the last hour, from the third time on. */
  readonly flapping?: number | undefined;
  /** Of what the board remembers of each node: its part. */
  readonly spells?: readonly Spell[] | undefined;
  readonly sentences: readonly Anomaly[];
}

/** Begins or ends that are no further apart are told as one time, ms. */
const AT_ONCE_MS = 1000;

/** The first and the last of some times before the look; the last one only if it is another time. */
function ends(times: readonly number[]): [first: number | undefined, last: number | undefined] {
  if (times.length === 0) return [undefined, undefined];
  const first = times.reduce((a, b) => Math.max(a, b));
  const last = times.reduce((a, b) => Math.min(a, b));
  return [first, first - last <= AT_ONCE_MS ? undefined : last];
}

/** What is told of these, of which there is at least one. */
export function ofSpells(spells: readonly Spell[]) {
  const [sinceMs, lastMs] = ends(spells.flatMap(({ beganMs }) => beganMs ?? []));
  const [firstMs, endedMs] = ends(spells.flatMap(({ endedMs }) => endedMs ?? []));
  const most = spells.reduce((most, spell) => (spell.count > most.count ? spell : most));
  return {
    ...{ spells, nodes: spells.map(({ node }) => node), sinceMs, lastMs, endedMs: endedMs ?? firstMs },
    endedFirstMs: endedMs === undefined ? undefined : firstMs,
    times: most.count > 1 ? { count: most.count, sinceMs: most.sinceMs } : undefined,
  } satisfies Partial<Finding>;
}

/** How often, since so many ms before the look. */
interface Times {
  readonly count: number;
  readonly sinceMs: number;
}

/** From so many times within an hour on, what a node or a link has is called flapping, and is one line. */
export const FLAPPING_FROM = 3;

/** So many nodes, or groups of them, get a sentence each, the worst first; the rest share one. */
export const EACH_MOST = 3;

/** A sentence for each of the first of these, and one that the nodes of the rest share, of which one is the first. */
export function sentencesOf<One extends { readonly nodes: readonly Surveyed[] }>(
  kind: Anomaly['kind'],
  all: readonly One[],
  textOf: (one: One) => string,
  moreText: (nodes: readonly Surveyed[], first: One) => string,
): Anomaly[] {
  const each = all.slice(0, EACH_MOST).map(one => ({ kind, nodes: one.nodes, text: textOf(one) }));
  const rest = all.slice(EACH_MOST);
  const [first] = rest;
  if (first === undefined) return each;
  const nodes = rest.flatMap(one => one.nodes);
  return [...each, { kind, nodes, text: moreText(nodes, first) }];
}

/** A few parts of a host list, and the number of further nodes. */
export function shown(nodes: readonly Surveyed[]): string {
  return shownNames(nodes.map(({ name }) => name));
}
