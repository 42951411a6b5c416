// Keeps a board for writing: makes the file or takes it over. The code in c/ determines what is written, and in which
// order.

import { clusterId } from '../layout/identity.js';
import { Writer, type WriterOptions } from '../native/index.js';
import { type Trust, trustOptions } from './trust.js';

export interface BoardOptions {
  path: string;
  /** Empty: a board without a cluster, which accepts reports without a cluster. */
  cluster: string;
  capacity: number;
  /** ms */
  uncertainAfter: number;
  /** ms */
  silentAfter: number;
  /** ms: a longer interval of a node counts as this one. Absent: none does. */
  longestInterval?: number;
  /** Node names; empty: any node gets a place until the board is full. */
  nodes: readonly string[];
  /** Without it nothing is verified, and a signature has no meaning. */
  trust?: Trust | undefined;
}

/** Makes the board, or takes over an existing one. Throws an Error whose message is one line for people. */
export function openWriter(options: BoardOptions): Writer {
  return new Writer(writerOptions(options));
}

/** Opens an existing board that no receiver uses, to remove nodes. Throws an Error of one line for people. */
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
    longestIntervalMs: options.longestInterval ?? 0,
    nodes: [...new Set(options.nodes)],
    ...trustOptions(options.trust),
  };
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms * 1e6));
}
