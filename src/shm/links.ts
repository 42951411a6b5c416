// What the entry of a link says, and the nodes behind it. Pure.

import { bits } from '../layout/layout.gen.js';
import type { LinkEntry } from '../native/index.js';
import { LIVE } from './liveness.js';

export type { LinkEntry } from '../native/index.js';

/** The number of the link that stands for all links without an entry of their own. */
export const OTHER_LINKS = 31;

/** The name of a link for people: its interface, as the kernel calls it. */
export function linkName({ number, name }: Pick<LinkEntry, 'number' | 'name'>): string {
  return number === OTHER_LINKS ? 'other interfaces' : name;
}

const has = ({ state }: LinkEntry, bit: keyof typeof bits.link_state) => ((state >> bits.link_state[bit]) & 1) !== 0;

/** The state of a link as words for programs. */
export function linkState(link: LinkEntry): { up: boolean; gone: boolean; no_address: boolean } {
  return { up: has(link, 'up'), gone: has(link, 'gone'), no_address: has(link, 'no_address') };
}

/** Whether reports come in pieces by that link. */
export const isInPieces = (link: LinkEntry) => has(link, 'in_pieces');

/** Of a link, or of the whole board. */
type Listening = Pick<LinkEntry, 'heartbeatNs' | 'listeningSinceNs'>;

/** For how long listening will prove nothing, ms: the receiver was deaf, and intervals may have grown meanwhile. */
export function doubtMs({ heartbeatNs, listeningSinceNs }: Listening): number {
  return heartbeatNs === 0n ? 0 : Math.max(0, Number(listeningSinceNs - heartbeatNs) / 1e6);
}

/** For how long it was listened to without a gap, up to its heartbeat, ms. */
export function listenedMs({ heartbeatNs, listeningSinceNs }: Listening): number {
  return Math.max(0, Number(heartbeatNs - listeningSinceNs) / 1e6);
}

/** Nodes by the numbers of their records, for whoever has looked at all of them. */
export interface SeenNodes {
  readonly states: Uint8Array;
  linkOf(index: number): number;
  ageMs(index: number): number;
}

/** Whether any node is live by that link. */
export function isHeard(nodes: SeenNodes, link: number): boolean {
  return nodes.states.some((state, index) => state === LIVE && nodes.linkOf(index) === link);
}

/** The age of the youngest report that came by that link, ms; Infinity: there is none. */
export function youngestMs(nodes: SeenNodes, link: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < nodes.states.length; i++) if (nodes.linkOf(i) === link) least = Math.min(least, nodes.ageMs(i));
  return least;
}
