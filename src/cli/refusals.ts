// Nodes whose reports are refused, in sentences: why they are told to be silent, though they report. Pure.

import { formatDuration } from '../common/durations.js';
import { foldParts } from '../common/hostlists.js';
import { oneLine } from '../common/text.js';
import type { State } from '../shm/liveness.js';
import type { Refusal } from '../shm/reader.js';
import { distanceText, LATELY_MS, reasonText, refusalText } from '../shm/sentences.js';

/** A node that has no newer report than one that was refused. */
export interface RefusedNode {
  readonly name: string;
  readonly state: State;
  readonly refusal: Refusal;
}

/** A few parts of a host list, cut where it goes on. */
export function shownNames(names: readonly string[], most = 4): string {
  const parts = foldParts(names.map(oneLine));
  const cut = parts.slice(0, most).map(part => (part.length > 60 ? `${part.slice(0, 59)}…` : part));
  return parts.length > most ? `${cut.join(',')},…` : cut.join(',');
}

function textOf(nodes: readonly RefusedNode[]): string {
  const [first] = nodes as [RefusedNode];
  const { state, refusal } = first;
  if (nodes.length === 1) {
    const is = state === 'never' ? 'has no report here' : `is ${state}`;
    return `${oneLine(first.name)} ${is}: ${refusalText(refusal)}`;
  }
  let [farUs, youngMs] = [0, LATELY_MS];
  for (const { refusal } of nodes)
    [farUs, youngMs] = [Math.max(farUs, Math.abs(refusal.offsetUs)), Math.min(youngMs, refusal.ageMs)];
  const are = state === 'never' ? 'have no report here' : `are ${state}`;
  const why = refusal.reason === 'clock' ? `clocks up to ${distanceText(farUs / 1e6)} off` : reasonText(refusal);
  const names = shownNames(nodes.map(({ name }) => name));
  return `${names} ${are}: their reports are refused, ${why}, the last ${formatDuration(youngMs)} ago`;
}

/** A sentence for each state and reason, of those that were refused within the last minute. */
export function refusedTexts<N extends RefusedNode>(nodes: readonly N[]): { text: string; nodes: N[] }[] {
  const kinds = new Map<string, N[]>();
  for (const node of nodes) {
    if (node.refusal.ageMs > LATELY_MS) continue;
    const kind = `${node.state} ${node.refusal.reason}`;
    const some = kinds.get(kind);
    if (some === undefined) kinds.set(kind, [node]);
    else some.push(node);
  }
  return [...kinds.values()].map(some => ({ text: textOf(some), nodes: some }));
}
