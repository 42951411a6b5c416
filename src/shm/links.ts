// What the entry of a link says. Pure.

import { bits } from '../layout/layout.gen.js';
import type { LinkEntry } from '../native/index.js';

const has = ({ state }: LinkEntry, bit: keyof typeof bits.link_state) => ((state >> bits.link_state[bit]) & 1) !== 0;

/** The state of a link as words for programs. */
export function linkState(link: LinkEntry): { up: boolean; gone: boolean; no_address: boolean } {
  return { up: has(link, 'up'), gone: has(link, 'gone'), no_address: has(link, 'no_address') };
}

/** Whether reports come in pieces by that link. */
export const isInPieces = (link: LinkEntry) => has(link, 'in_pieces');

/** For how long listening will prove nothing, ms: the receiver was deaf, and intervals may have grown meanwhile. */
export function doubtMs({
  heartbeatNs,
  listeningSinceNs,
}: Pick<LinkEntry, 'heartbeatNs' | 'listeningSinceNs'>): number {
  return heartbeatNs === 0n ? 0 : Math.max(0, Number(listeningSinceNs - heartbeatNs) / 1e6);
}

/** For how long a link was listened to, up to its heartbeat, ms. */
export function listenedMs({ heartbeatNs, listeningSinceNs }: LinkEntry): number {
  return Math.max(0, Number(heartbeatNs - listeningSinceNs) / 1e6);
}
