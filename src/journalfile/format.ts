// The journal's format: the names of its files and what stands on their lines, for who writes and who reads them. Pure.

import { terms } from '../layout/terms.gen.js';
import type { EventName } from '../options/journalevents.js';
import { BOARD_MOST, NameRanges } from '../text/hostlists.js';
import { json } from '../text/output.js';
import { type Check, isCount, isFlag, isNumber, isText, jsonOf, listOf, shapeOf, valuesOf } from '../text/shape.js';

export { EVENTS } from '../options/journalevents.js';

/** The group that may read jobs. */
export const JOBS_GROUP = 'beoboard-jobs';

/** The writer's lock, in the journal's folder. */
export const LOCK = 'lock';

/** The most bytes of a segment, and of a line with its end; a longer line is none of ours. */
export const SEGMENT_BYTES = 16 << 20;
export const LINE_BYTES = 1 << 20;

/** So many nodes share a line at most: it stays far below a megabyte. */
export const SHARERS = 10_000;

/** Nodes to which the same happens share a line if it is within so many ms. */
export const TOGETHER_MS = 2000;

// ---- segments ----

/** What stands in a segment: what everybody may read, or jobs with their users. */
export type SegmentKind = 'events' | 'jobs';

/** A file of the journal. Numbers rise for ever; jobs stand in the segment with the number of their events. */
export interface Segment {
  readonly kind: SegmentKind;
  /** The UTC day of its first line: `2026-11-27`. */
  readonly day: string;
  readonly number: number;
  readonly name: string;
}

export function segmentName(kind: SegmentKind, day: string, number: number): string {
  return `${kind}-${day}-${String(number).padStart(7, '0')}.jsonl`;
}

/** The segments of a kind among the names of a folder, in the order of writing. */
export function segmentsOf(names: readonly string[], kind: SegmentKind): Segment[] {
  const found = names.flatMap(name => {
    const [, of, day = '', digits] = /^(events|jobs)-(\d{4}-\d\d-\d\d)-(\d{7,12})\.jsonl$/.exec(name) ?? [];
    return of === kind ? [{ kind, day, number: Number(digits), name }] : [];
  });
  return found.sort((a, b) => a.number - b.number || (a.name < b.name ? -1 : 1));
}

// ---- lines ----

/**
 * What lasts, and the event that ends it for the same nodes, problem, reading or link. All other events are moments. It is over,
 * too, and nobody knows when, if the same begins again, or something ends that began later; if its node is removed; and
 * at `begin`, unless it is repeated there.
 */
export const ENDS = {
  ...{ silent: 'heard_again', problem: 'problem_resolved', link_down: 'link_up', dark: 'lit', stalled: 'resumed' },
  odd: 'odd_ended',
} as const;

/** The begins by the events that end them. */
export const BEGINS: ReadonlyMap<string, string> = new Map(Object.entries(ENDS).map(([begin, end]) => [end, begin]));

/** What identifies a line, and when and from what it was written. */
interface LineFrame {
  /** Boot id of the master, creation of the board, number of the line; see `lineId`. */
  readonly id: string;
  /** When it was written down: ISO time, and CLOCK_MONOTONIC of that boot, ms. */
  readonly at: string;
  readonly mono_ms: number;
  readonly board: string;
  /** The last event of the board's ring that was read by then, and those up to it that no line tells of yet: `[4,6-9]`. */
  readonly ring: number;
  readonly ring_waits?: string;
}

/** What happened. Which keys an event has is in docs/journal.md; times are ISO times of the master's clock. */
export interface Happening {
  /** One of EVENTS, or one of a later version. */
  readonly event: EventName | (string & {});
  /** When it began or happened, and when it ended; the latest of nodes that share the line. */
  readonly from?: string;
  readonly from_last?: string;
  readonly to?: string;
  readonly to_last?: string;
  /** A host list, how many nodes it has, and which of several was first. */
  readonly nodes?: string;
  readonly count?: number;
  readonly first?: string;
  /** How many of this kind for these nodes were not written since their last line: within a minute only the last is. */
  readonly more?: number;
  /** Found in the board's memory afterwards. */
  readonly late?: boolean;
  /** For so long the node or its sender had stood still when it was heard again; 4294900: or longer. */
  readonly stood_still_ms?: number;
  /** How many before it are only counted, and since when. */
  readonly missed?: number;
  readonly missed_since?: string;
  /** How often it had happened to each node by the board's memory: host lists with a count. */
  readonly counts?: Readonly<Record<string, number>>;
  /** It still goes on and stands in an earlier segment under the same id. */
  readonly repeated?: boolean;
  /** What the last report said before a silence or a boot without goodbye; its stamp, which is `from` of a silence. */
  readonly last_words?: readonly string[];
  readonly words_from?: string;
  readonly goodbye?: boolean;
  readonly problem?: string;
  readonly reason?: string;
  readonly addresses?: readonly string[];
  readonly link?: string;
  readonly instance?: number;
  readonly master?: string;
  readonly closed?: boolean;
  readonly why?: string;
  readonly by_ms?: number;
  readonly act?: string;
  readonly outcome?: string;
  /** The number of an order, and the beginning of the bridge's journal in which it counts. */
  readonly order?: number;
  readonly order_since_ms?: number;
  /** Of the trouble list: the key of a line, who acknowledged it, and until when. */
  readonly key?: string;
  readonly by?: string;
  readonly until?: string;
  /** Of a node that differs from the others of its job: in which reading, its value, and the least and most of theirs. */
  readonly reading?: string;
  readonly value?: number;
  readonly lowest?: number;
  readonly highest?: number;
  readonly version?: string;
  readonly states?: Readonly<Record<string, number>>;
}

export type Line = LineFrame & Happening;

/** Whether all has been counted by that line: the counts of problems come before those of silences. */
export const isCountOfAll = ({ event, problem }: Happening) => event === 'counts' && problem === undefined;

/** Whether it is followed for each node of a line by itself. */
const isFollowed = (event: string) => event in ENDS || BEGINS.has(event) || event === 'boot' || event === 'removed';

/** Takes what a line could cost beyond its text. */
export class LongLines {
  #left = 2 * BOARD_MOST;

  /** The nodes of a line; undefined: its list is none, or with others like it longer than any of ours. */
  nodesOf({ event, nodes = '' }: Line): NameRanges | undefined {
    const names = NameRanges.of(nodes);
    const cost = names !== undefined && names.size > SHARERS && isFollowed(event) ? names.size : 0;
    if (cost > this.#left) return undefined;
    this.#left -= cost;
    return names;
  }
}

/** Of what a node can have several at once, which: a problem, or the reading in which it differs. */
export const whichOf = ({ problem, reading }: Happening) => problem ?? reading ?? '';

/** A job on nodes that fell silent, or of which one differs from the others. */
export interface JournalJob {
  readonly id: string;
  readonly user?: string;
  readonly partition?: string;
  readonly name?: string;
  /** Those of its nodes that the event is about, as a host list. */
  readonly nodes?: string;
}

/** A line of a segment of jobs: it is written before that of its event, so that who follows both has it in time. */
export interface JobsLine {
  /** The event's. */
  readonly id: string;
  readonly jobs: readonly JournalJob[];
  /** How many more there are, for which the line has no room. */
  readonly left_out?: number;
}

/** The id of the line with that number. `boot`: the master's boot id as the board has it. */
export function lineId(boot: bigint, createdRealNs: bigint, number: number): string {
  return `${boot.toString(16).padStart(16, '0')}-${createdRealNs}-${number}`;
}

/** A time of a line on the CLOCK_MONOTONIC of its boot, ms: the distance of the two clocks stands in each line. */
export function monotonicOf({ at, mono_ms }: Pick<Line, 'at' | 'mono_ms'>, time: string): number {
  return mono_ms - (Date.parse(at) - Date.parse(time));
}

/** How much later by another line something began that began later, ms. Clocks are slewed. */
export const LATER_MS = 500;

/** A line with its end. */
export function writeLine(line: Line | JobsLine): string {
  return `${json(line)}\n`;
}

const isTime: Check = value =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));
const isId: Check = value => typeof value === 'string' && /^[0-9a-f]{16}-\d{1,20}-\d{1,15}$/.test(value);
const isTexts = listOf(isText);

/** A line where a key that we know is something else is refused. */
const isLine = shapeOf<Line>(
  {
    ...{ id: isId, at: isTime, mono_ms: isNumber, board: isText, ring: isCount, ring_waits: isText, event: isText },
    ...{ from: isTime, from_last: isTime, to: isTime, to_last: isTime },
    ...{ nodes: isText, count: isCount, first: isText, more: isCount, late: isFlag, missed: isCount, repeated: isFlag },
    ...{ missed_since: isTime, counts: valuesOf(isCount), stood_still_ms: isNumber },
    ...{ last_words: isTexts, words_from: isTime, goodbye: isFlag, problem: isText, reason: isText },
    ...{ addresses: isTexts, link: isText, instance: isCount, master: isText, closed: isFlag, why: isText },
    ...{ by_ms: isNumber, act: isText, outcome: isText, order: isCount, order_since_ms: isCount, version: isText },
    ...{ states: valuesOf(isCount), key: isText, by: isText, until: isTime },
    ...{ reading: isText, value: isNumber, lowest: isNumber, highest: isNumber },
  },
  ['id', 'at', 'mono_ms', 'board', 'ring', 'event'],
);
/** What an event cannot be told without. */
const OWN: { readonly [E in EventName]?: readonly (keyof Happening)[] } = {
  ...{ silent: ['nodes', 'from'], heard_again: ['nodes', 'from', 'to'] },
  ...{ problem: ['nodes', 'problem', 'from'], problem_resolved: ['nodes', 'problem', 'from', 'to'] },
  ...{ boot: ['nodes', 'from'], removed: ['nodes'], new: ['nodes'] },
  ...{ link_down: ['link'], link_up: ['link'], dark: ['link', 'count'], lit: ['link'], deaf: ['from', 'to'] },
  ...{ overflow: ['count'], forget: ['count'], lost: ['count'], takeover: ['instance'], followed: ['master'] },
  ...{ no_board: ['why'], clock_step: ['by_ms'], order: ['act'], refusal: ['reason'] },
  ...{ acknowledged: ['key', 'until'], withdrawn: ['key'] },
  ...{ odd: ['nodes', 'reading', 'value', 'lowest', 'highest', 'from'], odd_ended: ['nodes', 'reading', 'from', 'to'] },
};
const isJob = shapeOf<JournalJob>({ id: isText, user: isText, partition: isText, name: isText, nodes: isText }, ['id']);
const isJobsLine = shapeOf<JobsLine>({ id: isId, jobs: listOf(isJob), left_out: isCount }, ['id', 'jobs']);

/** A line of a segment of events, also with events and keys of a later version; undefined if it is none. */
export function parseLine(text: string): Line | undefined {
  const line = jsonOf(text);
  if (!isLine(line)) return undefined;
  const own = Object.hasOwn(OWN, line.event) ? OWN[line.event as EventName] : undefined;
  return own?.every(key => Object.hasOwn(line, key)) === false ? undefined : line;
}

/** A line of a segment of jobs; undefined if it is none. */
export function parseJobsLine(text: string): JobsLine | undefined {
  const line = jsonOf(text);
  return isJobsLine(line) ? line : undefined;
}

/** The names of "terms last_words" among these; a later version may have more. */
export function lastWordsOf({ last_words = [] }: Happening): (typeof terms.last_words)[number][] {
  return terms.last_words.filter(word => last_words.includes(word));
}
