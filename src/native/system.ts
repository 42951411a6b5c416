// What the kernel can do and Node cannot.

import { addon } from './addon.js';

/** Offsets into the array that `clocks` fills. */
export const CLOCK = { real: 0, boot: 1, monotonic: 2 } as const;

/** The kernel's knowledge of its clock. */
export interface ClockState {
  /** The offset that the clock discipline still has to correct, us. */
  offsetUs: number;
  /** The largest possible error of the clock, us. */
  maxErrorUs: number;
  unsynchronised: boolean;
}

const taken = new BigUint64Array(3);

/** CLOCK_REALTIME and CLOCK_BOOTTIME, taken together, ns. */
export function readClocks(): { realNs: bigint; bootNs: bigint } {
  clocks(taken);
  return { realNs: taken[CLOCK.real] ?? 0n, bootNs: taken[CLOCK.boot] ?? 0n };
}

/** Of the addon, for every program. */
interface SystemAddon {
  /** Fills CLOCK_REALTIME, CLOCK_BOOTTIME and CLOCK_MONOTONIC in ns, read back to back. */
  clocks(into: BigUint64Array): void;
  /** The kernel's clock discipline, read only; undefined if the kernel does not report it. */
  adjtimex(): ClockState | undefined;
  /**
   * The text of an open file from its beginning, or of the regular file at a path, or a negative error number. Of a
   * file that has `most` bytes or more: the first ones if it may be `cut`, otherwise -EFBIG. Bytes that are not UTF-8
   * become U+FFFD.
   */
  readText(file: number | string, most: number, cut: boolean): string | number;
  /** How many bytes the kernel keeps of what was written to that TCP socket because its peer has not taken them. */
  unread(fd: number): number;
  /** The descriptor of a file in memory that no path leads to, which a child can be passed. Throws if there is none. */
  memoryFile(name: string): number;
  /**
   * Locks a file for this process alone until the process ends or closes it (flock(2)); makes the file if it does not
   * exist. Returns its descriptor or a negative error number: EWOULDBLOCK if another process holds the lock.
   */
  lock(path: string): number;
  /**
   * From now on this thread alone acts as that user and group, if the process is root's; with 0 for both it is root's
   * again. Returns 0 or a negative error number.
   */
  actAs(uid: number, gid: number): number;
  /**
   * Sends a message of sd_notify(3) to the Unix socket at a path, or with a leading @ at an abstract name. Never waits;
   * returns 0 or a negative error number.
   */
  notify(path: string, message: string): number;
  /** The descriptor of a UDP socket whose refusals the kernel keeps, or a negative error number. */
  refusableSocket(v6: boolean): number;
  /**
   * Takes what came back about datagrams of such a socket, once it is connected: how many were refused, why the last
   * one was, and whether those of so many bytes travel in pieces; empty texts where there is nothing. To be called after
   * each error of the socket: while the kernel keeps one, polling does not wait.
   */
  refusals(fd: number, bytes: number): { count: number; cause: string; pieces: string };
}

export const { clocks, adjtimex, readText, unread, memoryFile, lock, actAs, notify, refusableSocket, refusals } =
  addon as SystemAddon;
