// Sentences about nodes as which two machines report. Pure.

import { sentences } from '../layout/wording.gen.js';
import { moment } from '../shm/sentences.js';
import type { Clone, Snapshot } from '../shm/snapshot.js';
import { shownNames } from '../text/hostlists.js';
import { oneLine } from '../text/text.js';

/** A node as which two machines report. */
interface Cloned {
  readonly name: string;
  readonly clone: Clone;
}

function textOf(board: Snapshot, { name, clone: { addresses, sinceMs, isProved } }: Cloned): string {
  const [address = '', other] = addresses;
  const from =
    other === undefined ? sentences.cloneOneAddress({ address }) : sentences.cloneAddresses({ address, other });
  return sentences.clone({ name: oneLine(name), moment: moment(board, sinceMs), from, forged: !isProved });
}

/** So many nodes get a sentence each; the rest share one. */
const EACH_MOST = 3;

/** One sentence for each node, and one for those that are left over. */
export function cloneTexts<C extends Cloned>(board: Snapshot, cloned: readonly C[]): { text: string; nodes: C[] }[] {
  const shown = cloned.slice(0, EACH_MOST).map(one => ({ text: textOf(board, one), nodes: [one] }));
  const more = cloned.slice(EACH_MOST);
  if (more.length === 0) return shown;
  const text = sentences.clonesMore({ count: more.length, names: shownNames(more.map(({ name }) => name)) });
  return [...shown, { text, nodes: more }];
}
