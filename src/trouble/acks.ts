// Who has acknowledged which lines of the trouble list, for which nodes and until when: a file beside the board.

import { expand } from '../text/hostlists.js';

/** Somebody knows of a line, as far as it is about these nodes. Times are ISO 8601, UTC. */
export interface Ack {
  readonly key: string;
  /** The nodes that the line had then, as a host list; empty: it was about no node. */
  readonly nodes: string;
  readonly by: string;
  readonly at: string;
  readonly until: string;
  readonly reason?: string;
}

const namesOf = new WeakMap<Ack, ReadonlySet<string>>();

/** The one that holds for a line: all nodes that it has now are among those that it had then. */
export function acknowledged(
  key: string,
  nodes: readonly { readonly name: string }[],
  acks: readonly Ack[],
  nowMs: number,
): Ack | undefined {
  return acks.find(ack => {
    if (ack.key !== key || !(Date.parse(ack.until) > nowMs)) return false;
    let then = namesOf.get(ack);
    if (then === undefined) {
      then = new Set(ack.nodes === '' ? [] : expand(ack.nodes));
      namesOf.set(ack, then);
    }
    return nodes.every(({ name }) => then.has(name));
  });
}
