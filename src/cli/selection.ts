// Nodes of a board that fulfil more than a state, by name: needs the whole board, and the language of conditions if
// there is one.

import { UsageError } from '../options/options.js';
import { mayBeRefused, type State } from '../shm/liveness.js';
import type { Problem } from '../shm/problems.js';
import type { BoardReader } from '../shm/reader.js';
import { linkNews } from '../shm/sentences.js';
import type { Node } from '../shm/snapshot.js';
import { type Cloned, cloneTexts } from '../trouble/clones.js';
import { monitorWarnings, type RefusedNode, unheardTexts } from '../trouble/rejections.js';
import type { Census, NodeFilter } from './census.js';

export interface Selection
  extends Pick<Census, 'notOnBoard' | 'remarks' | 'stalled' | 'closed' | 'isMirror' | 'heartbeatAgeMs' | 'warnings'> {
  /** The nodes for which it is true, in the order of the board, and the state of each. */
  readonly names: string[];
  readonly states: readonly State[];
  readonly asked: number;
}

interface SelectionFilter {
  readonly condition?: string | undefined;
  /** That it is live and has no problem. */
  readonly healthy?: boolean;
  readonly withProblem?: readonly Problem[] | undefined;
  /** That it is in its state for so long, ms. */
  readonly forAtLeast?: number | undefined;
}

const isHealthy = (node: Node) => node.state === 'live' && node.problems.length === 0;

/**
 * Since when a node is live is remembered; one in another state is in it since its last report. Throws a UsageError of
 * the verb if nothing is remembered.
 */
function isLongSo({ state, ageMs, memory }: Node, leastMs: number): boolean {
  if (state !== 'live') return (ageMs ?? 0) >= leastMs;
  if (memory === undefined)
    throw new UsageError(
      '--for-at-least: this board does not remember since when nodes are live; restart its receiver, which is of an earlier version',
    );
  return (memory.heardMs ?? 0) >= leastMs;
}

/** Checks the condition for each node. Throws NoBoard, and a UsageError of the verb for an invalid condition. */
export async function select(
  reader: BoardReader,
  { condition, healthy, withProblem, forAtLeast }: SelectionFilter,
  { keep, among, besides }: NodeFilter,
): Promise<Selection> {
  const meets = condition === undefined ? () => true : (await import('../query/conditions.js')).filter(condition);
  const fits = (node: Node) =>
    (!healthy || isHealthy(node)) &&
    (withProblem === undefined || node.problems.some(problem => withProblem.includes(problem)));
  const snapshot = reader.snapshot();
  const missing = among && new Set(among);
  const names: string[] = [];
  const states: State[] = [];
  const refused: RefusedNode[] = [];
  const cloned: Cloned[] = [];
  const unheard: string[] = [];
  const news = linkNews(snapshot);
  const behind = new Set<number>();
  let asked = 0;
  for (const node of snapshot.nodes()) {
    const { name, state } = node;
    if (missing && !missing.delete(name)) continue;
    asked++;
    if (news.length > 0) behind.add(node.link);
    const { clone } = node;
    if (clone !== undefined) cloned.push({ name, clone });
    if (!keep(state) || !fits(node) || !meets(node)) continue;
    if (forAtLeast !== undefined && !isLongSo(node, forAtLeast)) continue;
    names.push(name);
    states.push(state);
    if (!mayBeRefused(state)) continue;
    unheard.push(name);
    const refusal = node.refusedSince;
    if (refusal !== undefined) refused.push({ name, state, refusal });
  }
  const { stalled, retired, closed, isMirror, heartbeatAgeMs } = snapshot;
  const texts = news.filter(({ number }) => behind.has(number)).map(({ text }) => text);
  const why = stalled || retired ? [] : unheardTexts(snapshot, refused, [...unheard, ...(missing ?? [])]);
  const clones = stalled || retired ? [] : cloneTexts(snapshot, cloned).map(({ text }) => text);
  return {
    names,
    states,
    asked,
    notOnBoard: [...(missing ?? [])],
    remarks: [...texts, ...why],
    stalled: stalled || retired,
    closed,
    isMirror,
    heartbeatAgeMs,
    warnings: [...clones, ...monitorWarnings(snapshot), ...(besides?.(snapshot, () => snapshot.names()) ?? [])],
  };
}
