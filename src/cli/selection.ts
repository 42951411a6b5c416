// The nodes of a board for which a condition holds, by name: needs the whole board, and loads the language of conditions.

import { mayBeRefused } from '../shm/liveness.js';
import type { BoardReader } from '../shm/reader.js';
import { linkNews } from '../shm/sentences.js';
import type { Census, Question } from './census.js';
import { type RefusedNode, refusedTexts } from './refusals.js';

export interface Selection extends Pick<Census, 'strangers' | 'remarks' | 'stalled' | 'closed' | 'heartbeatAgeMs'> {
  /** Those for which it holds, in the order of the board. */
  readonly names: string[];
  /** How many nodes on the board were asked about. */
  readonly asked: number;
}

/** Asks of each node whether the condition holds. Throws NoBoard, and a UsageError of the verb for what is no condition. */
export async function select(
  verb: string,
  reader: BoardReader,
  condition: string,
  { keep, among }: Question,
): Promise<Selection> {
  const { filter } = await import('./where.js');
  const holds = filter(verb, condition);
  const snapshot = reader.snapshot();
  const missing = among && new Set(among);
  const names: string[] = [];
  const refused: RefusedNode[] = [];
  const news = linkNews(snapshot);
  const behind = new Set<number>();
  let asked = 0;
  for (const node of snapshot.nodes()) {
    const { name, state } = node;
    if (missing && !missing.delete(name)) continue;
    asked++;
    if (news.length > 0) behind.add(node.link);
    if (!keep(state) || !holds(node)) continue;
    names.push(name);
    const refusal = mayBeRefused(state) ? node.refusedSince : undefined;
    if (refusal !== undefined) refused.push({ name, state, refusal });
  }
  const { stalled, retired, closed, heartbeatAgeMs } = snapshot;
  const remarks = [...news.filter(({ number }) => behind.has(number)), ...refusedTexts(refused)].map(
    ({ text }) => text,
  );
  return {
    names,
    asked,
    strangers: [...(missing ?? [])],
    remarks,
    stalled: stalled || retired,
    closed,
    heartbeatAgeMs,
  };
}
