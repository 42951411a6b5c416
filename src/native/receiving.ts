// Boards as receivers write them, the receive thread, and sending in bulk.

import { addon } from './addon.js';
import type { SenderEntry } from './board.js';

/** What makes a report trusted. */
export interface TrustOptions {
  /** Cluster keys: at most two, with different ids. Empty: signatures are not verified. */
  keys: readonly { readonly id: number; readonly secret: Uint8Array }[];
  /** With keys: the least `auth_alg` that a report must prove. */
  required: number;
  /** How far the wall clock of a proved report may be from the master's where it decides; `NO_WINDOW`: any distance. */
  clockWindowNs: bigint;
}

/** What a receiver's and a mirror's board have in common. Times in ns. */
export interface SharedBoardOptions extends TrustOptions {
  path: string;
  clusterName: string;
  clusterId: number;
  capacity: number;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  /** A longer interval of a node counts as this one; 0: none does. */
  longestIntervalMs: number;
}

/** How a board is made or taken over. Names are valid and without duplicates. */
export interface WriterOptions extends SharedBoardOptions {
  /** The node list; empty: any node gets a place until the board is full. */
  nodes: readonly string[];
}

/** A clock window that accepts any wall clock. */
export const NO_WINDOW = 2n ** 64n - 1n;

/** Changes of a whole board. If nodes move or the capacity changes, a new board replaces it, and readers follow. */
interface WriterChanges {
  /** Switches to another node list, capacity, keys, limits; path and cluster stay. Throws one line for people. */
  change(options: WriterOptions): void;
  /** Removes nodes; a listed one stays as never reported. Whether each name had a record. Throws a line for people. */
  forget(names: readonly string[]): boolean[];
  /**
   * Clears what is remembered of these nodes and not measured. Returns for each name: 0 it had no record, 1 nothing was
   * to clear, 2 cleared. Throws one line for people.
   */
  clear(names: readonly string[]): number[];
}

/** A board that is open for writing. Its constructor throws one line for people if the board cannot be opened. */
export interface Writer extends WriterChanges {
  /** Shuts down cleanly: the board stays and is marked as closed. */
  close(): void;
}

/** The state of the receive thread, at most a second old. */
export interface ReceiverStatus {
  received: number;
  accepted: number;
  duplicate: number;
  /** Datagrams for which there was no room in a socket buffer. */
  kernelDrops: number;
  /** Datagrams that the kernel dropped for another reason: a wrong checksum, or the filter. */
  unfitDrops: number;
  /** Packets of any kind that the machine dropped before it processed them. */
  softnetDrops: number;
  /** Packets that its interfaces dropped before that. */
  missed: number;
  nodes: number;
  /** Granted by the kernel, bytes; the smallest of the sockets. */
  receiveBuffer: number;
  /** Whether a flood of junk is being dropped by the kernel. */
  filtering: boolean;
  /** How often the board was missing from its path, and was published again. */
  publications: number;
  /** For how long the thread has stood still so far, by stops of more than a second: stopped, frozen, suspended. */
  stoodStillNs: number;
  /** CLOCK_MONOTONIC of the last heartbeat, read just now. If it does not move, the thread hangs. */
  heartbeatNs: number;
  /** One line about what goes wrong now; empty: nothing. */
  trouble: string;
  /** Whether another receiver has taken the board, which `trouble` names: nothing is received any more. */
  displaced: boolean;
  /** By the number of the reason. */
  refused: number[];
  senders: SenderEntry[];
}

/** Sockets, and the thread that drains them. Changes are made in that thread, between two drains. */
export interface Receiver extends WriterChanges {
  /** Says on the board that options could not be read again, until a change: what, the number of a reload_part. */
  reloadFailed(part: number): void;
  /** Listens at a numeric address; the port that was bound. Throws one line for people. */
  listen(host: string, port: number): number;
  /**
   * Listens on a socket that a service manager has bound, and returns its address. Waiting datagrams are accepted if
   * the time of their arrival is certain. Throws one line for people.
   */
  adopt(fd: number): { host: string; port: number };
  /** Joins a multicast group on the interface, or on that of the routing table; returns the port. Throws one line. */
  join(group: string, port: number, interfaceName?: string): number;
  /**
   * What comes from these networks is of the loopback's link, as what this machine sends itself. They take the place of
   * those before; also while the thread runs.
   */
  setLocal(networks: readonly { readonly host: string; readonly bits: number }[]): void;
  /**
   * Takes the writer, drains once, and starts the thread. `displaced` is called after the thread has ended because
   * another receiver has taken the board; `trouble` says which one.
   */
  start(writer: Writer, displaced: () => void): void;
  status(): ReceiverStatus;
  /** Ends the thread after a last drain and closes the board cleanly. */
  stop(): void;
}

/** Sends many datagrams with few system calls, to one numeric address. */
export interface BulkSender {
  /** Sends `count` datagrams of `bytes` each, beginning with number `first`; returns how many were sent. */
  send(datagrams: Uint8Array, bytes: number, first: number, count: number): number;
  close(): void;
}

/** Of the addon, for receivers and for simulated nodes. */
interface ReceivingAddon {
  /** With only a path: opens the existing board in order to remove nodes, while no receiver runs. */
  Writer: new (
    options: WriterOptions | string,
  ) => Writer;
  /** `flood`: for tests, another limit than 50,000 datagrams of junk in a second, above which the kernel drops it. */
  Receiver: new (
    drainNs: bigint,
    flood?: number,
  ) => Receiver;
  BulkSender: new (host: string, port: number) => BulkSender;
}

export const { Writer, Receiver, BulkSender } = addon as ReceivingAddon;
