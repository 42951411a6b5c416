// The two reports of a node side by side, for whoever asks for one rate of it after the other. Keeps one node in mind.

import { Pair } from '../shm/rates.js';
import type { Node } from '../shm/reader.js';

const pair = new Pair();
let lastNode: Node | undefined;
let paired = false;

/** Both reports of the node; undefined when there are no two that can have rates. */
export function pairOf(node: Node): Pair | undefined {
  if (node !== lastNode) [lastNode, paired] = [node, pair.lay(node.view, node.previousAt, node.reportAt)];
  return paired ? pair : undefined;
}

/** A rate, or undefined where there is none. */
export const known = (rate: number) => (Number.isNaN(rate) ? undefined : rate);
