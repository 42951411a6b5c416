// The line that sums up a board: the states of its nodes, for how long the receiver has listened without gaps, and
// what was rejected or dropped. Pure.

import { earlyDrops } from '../shm/header.js';
import { type LinkEntry, linkName, linkState, listenedMs } from '../shm/links.js';
import { unknownText } from '../shm/noboard.js';
import { instantOf, mirrorText, plural } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { type Standing, standingTexts } from '../shm/standing.js';
import { formatDuration } from '../text/durations.js';
import { oneLine } from '../text/text.js';

/** What was dropped, and where; empty if nothing was. */
function droppedText(snapshot: Snapshot): string[] {
  const { kernel_drops = 0, unfit_drops = 0 } = snapshot.header;
  const counts = [
    [kernel_drops, 'at a full socket buffer'],
    [unfit_drops, 'as unfit'],
    [earlyDrops(snapshot), 'before any socket'],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, where]) => `${count} ${where}`);
  return parts.length === 0 ? [] : [`dropped ${parts.join(', ')}`];
}

/** Whether reports may have been sent that the receiver cannot have heard: a link by which nodes reported is down. */
const isDeaf = ({ links }: Snapshot) => links.some(link => link.nodes > 0 && !linkState(link).up);

/** How much longer the receiver may have listened than a link that has no gap either, ms: they begin one after another. */
const BEGIN_MS = 2000;

/** Whether a link was heard before it began to be listened to; one that is new began with its first report. */
const isAnew = ({ downs, changedNs, listeningSinceNs }: LinkEntry) => downs > 0 || listeningSinceNs > changedNs;

/** For how long the receiver has listened without gaps: also on the link by which it has for the shortest time. */
function listenedText(snapshot: Snapshot): string {
  const isUp = snapshot.links.filter(link => link.nodes > 0 && linkState(link).up);
  const anew = isUp.filter(link => isAnew(link) && listenedMs(link) + BEGIN_MS < snapshot.listenedMs);
  const [first] = anew.sort((a, b) => listenedMs(a) - listenedMs(b));
  const whole = `listening without gaps for ${formatDuration(snapshot.listenedMs)}`;
  const others = anew.length === 1 ? '' : ` and ${anew.length - 1} more`;
  const since =
    first === undefined ? '' : `, on ${oneLine(linkName(first))}${others} for ${formatDuration(listenedMs(first))}`;
  return `${whole}${since}${isDeaf(snapshot) ? ', except on links that are down' : ''}`;
}

/** The time of the look, ms since 1970. */
export const lookMs = (snapshot: Snapshot) => instantOf(snapshot, 0);

/** One line about the receiver and the nodes. */
export function headline({ snapshot, standing }: { readonly snapshot: Snapshot; readonly standing: Standing }): string {
  const { nodes } = standing;
  const cluster = snapshot.header.cluster_name === '' ? '' : `${oneLine(snapshot.header.cluster_name)}: `;
  const some = nodes === snapshot.count ? '' : ` of ${snapshot.count}`;
  const all = `${cluster}${some === '' ? plural(nodes) : `${nodes}${some} nodes`}`;
  const mirror = mirrorText(snapshot);
  if (snapshot.stalled) return `${all}; STALLED: ${unknownText(snapshot)}${mirror === '' ? '' : `; ${mirror}`}`;
  const states = standingTexts(standing);
  const refusals = Object.entries(snapshot.refused).map(([reason, count]) => `${count} ${reason}`);
  return [
    `${all}${states.length > 0 ? `: ${states.join(', ')}` : ''}`,
    ...(mirror === '' ? [] : [mirror]),
    listenedText(snapshot),
    ...(refusals.length > 0 ? [`rejected ${refusals.join(', ')}`] : []),
    ...droppedText(snapshot),
  ].join('; ');
}
