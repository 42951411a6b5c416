// The line that sums up a board: the states of its nodes, for how long the receiver has listened without gaps, and
// what was rejected or dropped. Pure.

import type { Survey } from '../query/survey.js';
import { earlyDrops } from '../shm/header.js';
import { linkState } from '../shm/links.js';
import { unknownText } from '../shm/noboard.js';
import { countTexts, mirrorText, plural } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
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

/** One line about the receiver and the nodes. */
export function headline({ snapshot, nodes, counts }: Survey): string {
  return headlineOf(snapshot, nodes.length, counts, nodes.filter(({ problems }) => problems !== 0).length);
}

/** The same from counts: of nodes, of nodes in each state, and of unhealthy nodes. */
export function headlineOf(snapshot: Snapshot, nodes: number, counts: Survey['counts'], unhealthy: number): string {
  const cluster = snapshot.header.cluster_name === '' ? '' : `${oneLine(snapshot.header.cluster_name)}: `;
  const some = nodes === snapshot.count ? '' : ` of ${snapshot.count}`;
  const all = `${cluster}${some === '' ? plural(nodes) : `${nodes}${some} nodes`}`;
  const mirror = mirrorText(snapshot);
  if (snapshot.stalled)
    return `${all}; STALLED: ${unknownText(snapshot.closed, snapshot.heartbeatAgeMs)}${mirror === '' ? '' : `; ${mirror}`}`;
  const states = countTexts(counts, unhealthy);
  const refusals = Object.entries(snapshot.refused).map(([reason, count]) => `${count} ${reason}`);
  return [
    `${all}${states.length > 0 ? `: ${states.join(', ')}` : ''}`,
    ...(mirror === '' ? [] : [mirror]),
    `listening without gaps for ${formatDuration(snapshot.listenedMs)}${isDeaf(snapshot) ? ', except on links that are down' : ''}`,
    ...(refusals.length > 0 ? [`rejected ${refusals.join(', ')}`] : []),
    ...droppedText(snapshot),
  ].join('; ');
}
