// Who has acknowledged which lines of the trouble list, for which nodes and until when. No I/O: ackfile.ts keeps them.

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

/** The nodes of a rack that died are, when others of it have long been well, silent nodes among others. */
const topicOf = (key: string) => (key.startsWith('together:') ? 'silent' : key);

/** The one that holds for a line: all nodes that it has now are among those that it had then. */
export function acknowledged(
  key: string,
  nodes: readonly { readonly name: string }[],
  acks: readonly Ack[],
  nowMs: number,
): Ack | undefined {
  const holds = (ack: Ack) => {
    if (topicOf(ack.key) !== topicOf(key) || !(Date.parse(ack.until) > nowMs)) return false;
    let then = namesOf.get(ack);
    if (then === undefined) {
      then = new Set(ack.nodes === '' ? [] : expand(ack.nodes));
      namesOf.set(ack, then);
    }
    return nodes.every(({ name }) => then.has(name));
  };
  return acks.find(ack => ack.key === key && holds(ack)) ?? acks.find(holds);
}
