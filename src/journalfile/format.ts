// The journal's format: the names of its files and what stands on their lines, for who writes and who reads them. Pure.

import { terms } from '../layout/terms.gen.js';
import type { EventName } from '../options/journalevents.js';
import { BOARD_MOST, NameRanges } from '../text/hostlists.js';
import { json } from '../text/output.js';
import type { Described, DescribedKeys } from '../text/schema.js';
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

const isTime: Check<string> = value =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));
const isId: Check<string> = value => typeof value === 'string' && /^[0-9a-f]{16}-\d{1,20}-\d{1,15}$/.test(value);
const isTexts = listOf(isText);

/** What happened. Which keys an event has is in docs/journal.md; times are ISO times of the master's clock. */
const HAPPENING = {
  /** One of EVENTS, or one of a later version. */
  event: isText as Check<EventName | (string & {})>,
  /** When it began or happened, and when it ended; the latest of nodes that share the line. */
  ...{ 'from?': isTime, 'from_last?': isTime, 'to?': isTime, 'to_last?': isTime },
  /** A host list, how many nodes it has, and which of several was first. */
  ...{ 'nodes?': isText, 'count?': isCount, 'first?': isText },
  /** How many of this kind for these nodes were not written since their last line: within a minute only the last is. */
  'more?': isCount,
  /** Found in the board's memory afterwards. */
  'late?': isFlag,
  /** For so long the node or its sender had stood still when it was heard again; 4294900: or longer. */
  'stood_still_ms?': isNumber,
  /** How many before it are only counted, and since when. */
  ...{ 'missed?': isCount, 'missed_since?': isTime },
  /** How often it had happened to each node by the board's memory: host lists with a count. */
  'counts?': valuesOf(isCount),
  /** It still goes on and stands in an earlier segment under the same id. */
  'repeated?': isFlag,
  /** What the last report said before a silence or a boot without goodbye; its stamp, which is `from` of a silence. */
  ...{ 'last_words?': isTexts, 'words_from?': isTime, 'goodbye?': isFlag },
  ...{ 'problem?': isText, 'reason?': isText, 'addresses?': isTexts, 'link?': isText, 'instance?': isCount },
  ...{ 'master?': isText, 'closed?': isFlag, 'why?': isText, 'by_ms?': isNumber, 'act?': isText, 'outcome?': isText },
  /** The number of an order, and the beginning of the bridge's journal in which it counts. */
  ...{ 'order?': isCount, 'order_since_ms?': isCount },
  /** Of the trouble list: the key of a line, who acknowledged it, and until when. */
  ...{ 'key?': isText, 'by?': isText, 'until?': isTime },
  /** Of a node that differs from the others of its job: in which reading, its value, and the least and most of theirs. */
  ...{ 'reading?': isText, 'value?': isNumber, 'lowest?': isNumber, 'highest?': isNumber },
  ...{ 'version?': isText, 'states?': valuesOf(isCount) },
};
export type Happening = DescribedKeys<typeof HAPPENING>;

/** A line where a key that we know is something else is refused. */
const isLine = shapeOf({
  ...HAPPENING,
  /** Boot id of the master, creation of the board, number of the line; see `lineId`. */
  id: isId,
  /** When it was written down: ISO time, and CLOCK_MONOTONIC of that boot, ms. */
  ...{ at: isTime, mono_ms: isNumber, board: isText },
  /** The last event of the board's ring that was read by then, and those up to it that no line tells of yet: `[4,6-9]`. */
  ...{ ring: isCount, 'ring_waits?': isText },
});
export type Line = Described<typeof isLine>;

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
const isJob = shapeOf({
  ...{ id: isText, 'user?': isText, 'partition?': isText, 'name?': isText },
  /** Those of its nodes that the event is about, as a host list. */
  'nodes?': isText,
});
export type JournalJob = Described<typeof isJob>;

/** A line of a segment of jobs: it is written before that of its event, so that who follows both has it in time. */
const isJobsLine = shapeOf({
  /** The event's. */
  id: isId,
  jobs: listOf<JournalJob>(isJob),
  /** How many more there are, for which the line has no room. */
  'left_out?': isCount,
});
export type JobsLine = Described<typeof isJobsLine>;

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
