// What a board's writer can do for tests alone: a receiver has a thread for it, and packages an addon without it. No test
// of its own.

import { enums } from '../../src/layout/layout.gen.js';
import type { Writer } from '../../src/native/index.js';

declare module '../../src/native/receiving.js' {
  interface Writer {
    /**
     * Validates a datagram and writes it to the board: returns 0 for accepted, -1 for a duplicate, else the reason's
     * number. `link`: the link by which it came, as a number or as the name of an interface, which gets a number; by
     * default the link for all others (31).
     */
    deliver(datagram: Uint8Array, stampNs: bigint, stampRealNs: bigint, link?: number | string): number;
    /** Sets the state of a link to those bits of link_state; `wasDown`: it was down meanwhile. */
    linkState(link: number, state: number, wasDown: boolean, nowNs: bigint): void;
    /** Counts the nodes of each link, and determines which links are dark. */
    survey(): void;
    /** Notes in the memories which nodes are silent at that time of CLOCK_MONOTONIC. */
    surveySilences(nowNs: bigint): void;
    listeningSince(sinceNs: bigint): void;
    resumed(resumedNs: bigint): void;
    heartbeat(beganNs: bigint): void;
  }
}

/** The fate of a datagram: `accepted`, `duplicate`, or the reason of its rejection. */
export type DatagramOutcome = 'accepted' | 'duplicate' | (typeof enums.reason)[number];

/** Writes a datagram into the board as if it had arrived at these times (ns). */
export function deliver(writer: Writer, datagram: Uint8Array, stampNs: bigint, stampRealNs: bigint): DatagramOutcome {
  const outcome = writer.deliver(datagram, stampNs, stampRealNs);
  if (outcome === -1) return 'duplicate';
  return outcome === 0 ? 'accepted' : (enums.reason[outcome] ?? 'none');
}
