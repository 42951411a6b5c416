// Sentences about nodes as which two machines report. Pure.

import { oneLine } from '../common/text.js';
import type { Clone, Snapshot } from '../shm/reader.js';
import { moment } from '../shm/sentences.js';
import { shownNames } from './refusals.js';

/** A node as which two machines report. */
export interface Cloned {
  readonly name: string;
  readonly clone: Clone;
}

function textOf(board: Snapshot, { name, clone: { addresses, sinceMs, isProved } }: Cloned): string {
  const from = addresses.length === 1 ? `both from ${addresses[0]}` : addresses.join(' and ');
  const forged = isProved ? '' : ', or somebody forges reports';
  return (
    `${oneLine(name)}: two machines report as one since ${moment(board, sinceMs)}, ${from}: one is a copy of the other with its ` +
    `memory${forged}; either can fail unseen: stop one, or give it a name of its own`
  );
}

/** So many nodes get a sentence each; the rest share one. */
const EACH_MOST = 3;

/** One sentence for each node, and one for those that are left over. */
export function cloneTexts<C extends Cloned>(board: Snapshot, cloned: readonly C[]): { text: string; nodes: C[] }[] {
  const told = cloned.slice(0, EACH_MOST).map(one => ({ text: textOf(board, one), nodes: [one] }));
  const more = cloned.slice(EACH_MOST);
  if (more.length === 0) return told;
  const text = `two machines report as each of ${more.length} more (${shownNames(more.map(({ name }) => name))})`;
  return [...told, { text, nodes: more }];
}
