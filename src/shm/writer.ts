// Holds a board for writing: makes or takes over the file. What is written into it, and in which order, stands in c/.

import { clusterId } from '../layout/identity.js';
import { enums } from '../layout/layout.gen.js';
import { Writer, type WriterOptions } from '../native/index.js';
import { type Trust, trustOptions } from './trust.js';

export interface BoardOptions {
  path: string;
  /** Empty: a board without a cluster, which accepts reports without one. */
  cluster: string;
  capacity: number;
  /** ms */
  uncertainAfter: number;
  /** ms */
  silentAfter: number;
  /** Node names; empty: first come, first served. */
  nodes: readonly string[];
  /** Without it nothing is verified, and a tag is as good as none. */
  trust?: Trust | undefined;
}

/** What became of a datagram: `accepted`, `duplicate`, or the reason of its refusal. */
export type Outcome = 'accepted' | 'duplicate' | (typeof enums.reason)[number];

/** Makes the board, or takes over the one that is there. Throws an Error whose message is one line for people. */
export function openWriter(options: BoardOptions): Writer {
  return new Writer(writerOptions(options));
}

/** The board that is there, to forget nodes, when no receiver has it. Throws an Error whose message is one line for people. */
export function editBoard(path: string): Writer {
  return new Writer(path);
}

/** The same in the addon's units. */
export function writerOptions(options: BoardOptions): WriterOptions {
  return {
    path: options.path,
    clusterName: options.cluster,
    clusterId: clusterId(options.cluster),
    capacity: options.capacity,
    uncertainAfterNs: nanoseconds(options.uncertainAfter),
    silentAfterNs: nanoseconds(options.silentAfter),
    nodes: [...new Set(options.nodes)],
    ...trustOptions(options.trust),
  };
}

/** Lays a datagram on the board as if it had come at these times (ns). For tests and tools: the receiver does this in its thread. */
export function deliver(writer: Writer, datagram: Uint8Array, stampNs: bigint, stampRealNs: bigint): Outcome {
  const outcome = writer.deliver(datagram, stampNs, stampRealNs);
  if (outcome === -1) return 'duplicate';
  return outcome === 0 ? 'accepted' : (enums.reason[outcome] ?? 'none');
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1e6));
}
