// When this master could not hear within the last hour, by the events of its board: for that time, nobody knows anything
// of nodes.

import { enums } from '../layout/layout.gen.js';
import { linkName } from '../shm/links.js';
import { timeOf } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { oneLine } from '../text/text.js';

export const HOUR_MS = 3_600_000;
/** Overflows no further apart are one, ms: the receiver notes one a second. */
const ONE_FLOOD_MS = 5000;
/** So many times have their own words. */
const EACH_MOST = 3;

/** Both ends in ms before the look. */
export interface Gap {
  readonly what: string;
  /** The link by which nothing was heard; undefined: by none. */
  readonly link?: number;
  /** Whether that link was up, and all of its nodes fell silent at once. */
  readonly isDark?: boolean;
  readonly isWhole: boolean;
  readonly from: number;
  to: number;
}

const NOT_ALL = 'may have missed reports (a socket buffer was full)';

/** The times of the last hour in which not everything was heard, the latest first. */
export function gapsOf(snapshot: Snapshot): Gap[] {
  const gaps: Gap[] = [];
  const begun = { link_up: new Map<number, number>(), lit: new Map<number, number>() };
  let [deaf, flood]: (Gap | undefined)[] = [];
  for (const { kind, stampNs, subject, detail } of snapshot.lateEvents(24 * HOUR_MS)) {
    const age = Math.max(0, Number(snapshot.evidence.nowNs - stampNs) / 1e6);
    const event = enums.event_kind[kind];
    if (event === 'deaf') {
      // While what arrived meanwhile is still being read, it is noted again, from then on.
      if (deaf !== undefined && age + detail >= deaf.to) deaf.to = age;
      else {
        deaf = { what: 'did not listen', isWhole: true, from: age + detail, to: age };
        gaps.push(deaf);
      }
    }
    // A link that fails still has a sentence of its own: only one that is heard again makes a gap here.
    else if (event === 'link_down') begun.link_up.set(subject, begun.link_up.get(subject) ?? age);
    else if (event === 'dark') begun.lit.set(subject, age);
    else if (event === 'link_up' || event === 'lit') {
      const [from, isDark] = [begun[event].get(subject), event === 'lit'];
      const link = snapshot.links.find(({ number }) => number === subject);
      const what = link && `heard nothing by ${oneLine(linkName(link))}`;
      if (from !== undefined && what) gaps.push({ what, link: subject, isDark, isWhole: true, from, to: age });
      begun[event].delete(subject);
    } else if (event === 'overflow') {
      if (flood !== undefined && flood.to - age <= ONE_FLOOD_MS) flood.to = age;
      else {
        flood = { what: NOT_ALL, isWhole: false, from: age, to: age };
        gaps.push(flood);
      }
    }
  }
  return gaps.filter(({ to }) => to < HOUR_MS).sort((a, b) => a.to - b.to);
}

/** One sentence about all of them; undefined: all was heard, as far as the board knows. */
export function deafText(snapshot: Snapshot): string | undefined {
  const gaps = gapsOf(snapshot).filter(({ isDark }) => !isDark);
  if (gaps.length === 0) return undefined;
  const times = new Map<string, string[]>();
  for (const { what, from, to } of gaps.slice(0, EACH_MOST)) {
    const [begin, end] = [timeOf(snapshot, from), timeOf(snapshot, to)];
    times.set(what, [...(times.get(what) ?? []), begin === end ? `at ${begin}` : `from ${begin} to ${end}`]);
  }
  const parts = Array.from(times, ([what, some]) => `${what} ${some.join(', ')}`);
  const more = gaps.length - EACH_MOST;
  if (more > 0) parts.push(`${more === 1 ? 'once more' : `${more} more times`} in the last hour`);
  const who = snapshot.isMirror ? 'its master' : 'this master';
  const list = parts.length > 1 ? `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}` : parts[0];
  const isKnown = !gaps.some(({ isWhole }) => isWhole);
  const unknown = `: nothing is known of nodes for ${gaps.length === 1 ? 'that time' : 'those times'}`;
  return `${who} ${list}${isKnown ? '' : unknown}`;
}
