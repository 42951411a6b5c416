// Times in which links of this master were down or dark, by the events of the board, and the nodes behind them then. All
// times are ms before the look.

import { type Gap, gapsOf, HOUR_MS } from '../changes/deafness.js';
import type { Surveyed } from '../query/survey.js';
import { sinceMs } from '../shm/header.js';
import { isHeard, type LinkEntry, linkState } from '../shm/links.js';
import type { Memory } from '../shm/memory.js';
import { linkNews } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { groupBy } from '../text/maps.js';
import type { Fall } from './together.js';

/** A node's last report may have come so long before its link failed, ms, and with longer intervals as many of these. */
const BEFORE_MS = 15_000;
/** So much later than its last node passes its first limit, a link is found to be dark, ms at most. */
const FOUND_MS = 2000;
/** So many of a link are told, the latest. */
const EACH_MOST = 8;

/** A time in which a link was down, or dark, or one after the other. */
interface OutageTime {
  /** Whether it began with the link down. */
  readonly isDown: boolean;
  readonly from: number;
  /** When something was heard again; undefined: it lasts. */
  readonly to: number | undefined;
}

/** When a node was last heard before an outage, and first heard again; undefined: it is not. */
type Part = readonly [beganMs: number, endedMs: number | undefined];

/** An outage, and what each of the nodes had of it that were behind the link then. */
export interface Outage extends OutageTime {
  readonly link: LinkEntry;
  readonly nodes: ReadonlyMap<Surveyed, Part>;
  /** Of all of this sort within the last hour. */
  readonly begins: readonly number[];
}

/** A limit for nodes of that interval, ms. */
const limitFor = (limitNs: bigint, intervalMs: number) => (Number(limitNs) / 1e6) * Math.max(1, intervalMs / 1000);

/** Whether a node's silence, with that begin, may be due to a link that failed at that time. */
const mayBeOf = (beganMs: number, failedMs: number, intervalMs: number) =>
  beganMs <= failedMs + limitFor(BigInt(BEFORE_MS * 1e6), intervalMs);

/** Those of one link, the latest first. `limitMs`: the longest first limit of its nodes. */
function spansOf(snapshot: Snapshot, link: LinkEntry, gaps: readonly Gap[], limitMs: number): OutageTime[] {
  const { number, darkSinceNs, changedNs } = link;
  const isUp = linkState(link).up;
  const spans = gaps.flatMap(({ link, isDark = false, from, to }): OutageTime[] =>
    link === number ? [{ isDown: !isDark, from, to }] : [],
  );
  if (!isUp && link.nodes > 0) spans.push({ isDown: true, from: sinceMs(snapshot, changedNs), to: undefined });
  // That a node of it was heard is noted within a second.
  const to = isUp && isHeard(snapshot, number) ? 0 : undefined;
  if (darkSinceNs > 0n) spans.push({ isDown: false, from: sinceMs(snapshot, darkSinceNs), to });
  const found: OutageTime[] = [];
  const fell = spans.map(span => (span.isDown ? span : { ...span, from: span.from + limitMs }));
  // The last reports came a moment before it was down.
  const order = ({ isDown, from }: OutageTime) => from + (isDown ? FOUND_MS : 0);
  for (const span of fell.sort((a, b) => order(b) - order(a))) {
    const [before] = found;
    // What goes dark before anything was heard is one with the outage before. After a long one listening begins later.
    const doubt = ({ from, to = 0 }: OutageTime) => (span.isDown ? 0 : FOUND_MS + Math.min(60_000, (from - to) / 6));
    if (before === undefined || (before.to !== undefined && span.from < before.to - doubt(before))) found.unshift(span);
    else found[0] = { ...before, to: before.to && span.to && Math.min(before.to, span.to) };
  }
  return found;
}

/** What a node had of an outage; undefined: it was not behind that link then, or had been silent for long before. */
function partOf(
  snapshot: Snapshot,
  { index, state }: Surveyed,
  silence: Memory['silence'],
  span: OutageTime,
): Part | undefined {
  const { from, to } = span;
  const { uncertainAfterNs, silentAfterNs, longestIntervalMs } = snapshot.evidence;
  const [ageMs, interval] = [snapshot.ageMs(index), Math.min(snapshot.intervalOf(index), longestIntervalMs)];
  if (to === undefined)
    return state === 'left' || (state !== 'live' && !mayBeOf(ageMs, from, interval)) ? undefined : [ageMs, undefined];
  const [heardMs, knownMs] = [snapshot.agoOf(index, 'heard'), snapshot.agoOf(index, 'known')];
  if ((state === 'left' && ageMs > from) || (knownMs > 0 && knownMs < from)) return undefined;
  // It was heard by another link.
  if (from - to > limitFor(uncertainAfterNs, interval) && heardMs > from && ageMs < to) return undefined;
  const isUnheard = state !== 'live' && state !== 'left';
  // When others have been heard for so long, whoever is not has a line of its own.
  const isAlone = to > limitFor(silentAfterNs, interval);
  if (silence !== undefined && silence.beganMs >= to) {
    const endedMs = silence.endedMs ?? (isUnheard ? undefined : ageMs);
    if (mayBeOf(silence.beganMs, from, interval))
      return endedMs === undefined && isAlone ? undefined : [silence.beganMs, endedMs];
    if (endedMs === undefined || endedMs < from) return undefined;
  }
  if (isUnheard && ageMs >= to) return isAlone ? undefined : [ageMs, undefined];
  const isThen = heardMs > 0 && heardMs < from && Math.abs(heardMs - to) < limitFor(silentAfterNs, interval);
  return [from, isThen ? heardMs : to];
}

/** The outages of the last hour: those that last first, then the latest. */
export function outagesOf(
  snapshot: Snapshot,
  all: readonly Surveyed[],
  memories: ReadonlyMap<Surveyed, Memory>,
): Outage[] {
  const gaps = gapsOf(snapshot).filter(({ link }) => link !== undefined);
  if (
    linkNews(snapshot).length === 0 &&
    gaps.length === 0 &&
    snapshot.links.every(({ darkSinceNs }) => darkSinceNs === 0n)
  )
    return [];
  const byLink = groupBy(all, ({ index }) => snapshot.linkOf(index));
  const found = snapshot.links.flatMap((link): Outage[] => {
    const behind = byLink.get(link.number) ?? [];
    const longest = behind.reduce((most, { index }) => Math.max(most, snapshot.intervalOf(index)), 0);
    const { uncertainAfterNs, longestIntervalMs } = snapshot.evidence;
    const spans = spansOf(snapshot, link, gaps, limitFor(uncertainAfterNs, Math.min(longest, longestIntervalMs)));
    return spans.slice(0, EACH_MOST).flatMap((span): Outage[] => {
      const parts = behind.map(node => [node, partOf(snapshot, node, memories.get(node)?.silence, span)] as const);
      const nodes = new Map(parts.flatMap(([node, part]) => (part === undefined ? [] : [[node, part]])));
      const begins = spans.flatMap(({ isDown, from }) => (isDown === span.isDown && from <= HOUR_MS ? [from] : []));
      return nodes.size === 0 && span.to !== undefined ? [] : [{ ...span, link, nodes, begins }];
    });
  });
  return found.sort((a, b) => (a.to ?? -1) - (b.to ?? -1));
}

/** Whether one explains that a node was not heard from a time on, until another if that is over. */
export function explains({ nodes, from, to }: Outage, { node, beganMs, endedMs }: Fall, intervalMs: number): boolean {
  const isThen = to === undefined ? endedMs === undefined : beganMs >= to;
  return isThen && nodes.has(node) && mayBeOf(beganMs, from, intervalMs);
}
