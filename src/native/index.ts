// The addon's face: clocks, the board's mapping, the receive thread, and sending in bulk. Types and documentation only;
// what these do stands in c/.

import { createRequire } from 'node:module';

/** Offsets into the array that `clocks` fills. */
export const CLOCK = { real: 0, boot: 1, monotonic: 2 } as const;

/**
 * What a snapshot begins with: CLOCK_MONOTONIC and CLOCK_REALTIME, taken before anything was loaded, in ns; records; whether
 * the receiver was stalled then.
 */
export const LOOK = { nowNs: 0, realNs: 8, nodes: 16, stalled: 24, bytes: 32 } as const;

/**
 * What is told of each node behind its copies, in arrays one behind the other, in this order: its age in ms (f64), -1 where
 * there is no report; of a live node its wall clock less the master's in s (f64), 0 of others; of a live or uncertain one what
 * ails it (u32), bits by the numbers of the ailments, 0 of others; a number for a live node's kernel release (u32), equal for equal
 * ones, 0 of others; its state (u8), as beoboard.h numbers it; and the state that was known at the receiver's last heartbeat (u8).
 */
export const TOLD = { bytes: 26 } as const;

/** How much is in use of all that there is, and on how many nodes. */
export interface Part {
  nodes: number;
  used: number;
  total: number;
}

/** Bytes per second, and of how many nodes. */
interface Flow {
  nodes: number;
  in: number;
  out: number;
}

/** What nodes have, use and move together. What was measured of none is absent; of which only half was measured, a node is not in it. */
export interface Totals {
  cpus?: Part;
  /** Bytes. */
  memory?: Part;
  network?: Flow;
  /** May be in `network`, too. */
  fabric?: Flow;
  /** Bytes per second. */
  disks?: { nodes: number; read: number; written: number };
  gpus?: Part;
  power?: { nodes: number; watts: number };
}

/** One of the master's interfaces by which reports come; see "Links" in proto/board-v2.md. Times in ns of CLOCK_MONOTONIC. */
export interface LinkEntry {
  number: number;
  name: string;
  /** Bits of link_state. */
  state: number;
  changedNs: bigint;
  downs: number;
  nodes: number;
  /** 0n: it is not dark. */
  darkSinceNs: bigint;
  darkNodes: number;
  accepted: number;
  missed: number;
  /** To which its reports were last sent: of the master, else of a group or a broadcast; empty: not known. And the port; 0: not known. */
  address: string;
  port: number;
  heartbeatNs: bigint;
  listeningSinceNs: bigint;
}

/** From where something came that was refused. Times in ns, of CLOCK_MONOTONIC and, `lastRealNs`, of CLOCK_REALTIME. */
export interface SenderEntry {
  /** As the enum numbers it. */
  reason: number;
  address: string;
  /** The name that it claims; empty: none that is a name. */
  name: string;
  firstNs: bigint;
  lastNs: bigint;
  lastRealNs: bigint;
  count: number;
}

/** An event of the board's ring: what `kind` numbers in the enum event_kind says what subject and detail are. */
export interface EventEntry {
  number: number;
  stampNs: bigint;
  stampRealNs: bigint;
  kind: number;
  subject: number;
  detail: number;
}

/** States of opening a board; none of them is an error. See proto/board-v2.md. */
export type BoardState = 'absent' | 'starting' | 'foreign' | 'truncated' | 'retired' | 'ready';

/** A board mapped read-only. */
export interface BoardMapping {
  /** Bytes that a snapshot of all records in use needs now. */
  snapshotBytes(): number;
  /** Bytes that a snapshot of so many nodes needs. */
  nodeBytes(nodes: number): number;
  /** Where snapshots go from now on; aligned to 8 bytes. It may not be transferred. */
  into(buffer: Uint8Array): void;
  /**
   * Copies the board, from record number `first` on, as many records as there are and fit, and judges it. What is written:
   * `LOOK`, then the header, column words and records at the header's strides, then what is `TOLD`. A slot that could not be
   * copied whole has a `head` of 0. False when the file was cut short.
   */
  snapshot(first: number): boolean;
  /** Bytes that `roll` needs now. */
  rollBytes(): number;
  /** Copies the board without the records: `LOOK`, then the header, column words, the state of each node (u8). */
  roll(): boolean;
  /** The links that have an entry, and the one that stands for all others. Undefined when the file was cut short. */
  links(): LinkEntry[] | undefined;
  /** The table of rejected senders. Undefined when the file was cut short. */
  senders(): SenderEntry[] | undefined;
  /** Events from number `next` on, at most so many, and the number to go on with; likewise. */
  events(next: number, most: number): { next: number; events: EventEntry[] } | undefined;
  /** The names of the nodes of these numbers, joined by NULs; undefined when the file was cut short, or there is no such node. */
  names(numbers: Uint32Array): string | undefined;
  /** The number of the record of that name; -1 when there is none. */
  find(name: string): number;
  /** Whether the path still names the mapped file. */
  isAt(path: string): boolean;
  unmap(): void;
}

/** What makes a report trusted. */
export interface TrustOptions {
  /** Cluster keys, at most two, with different ids; empty: a tag is as good as none. */
  keys: readonly { readonly id: number; readonly secret: Uint8Array }[];
  /** With keys: the `auth_alg` that a report must prove at least. */
  required: number;
  /** How far the wall clock of a proved report may be from the master's where it decides; `NO_WINDOW`: any distance. */
  clockWindowNs: bigint;
}

/** How a board is to be made or taken over. Times in ns, names valid and without doubles. */
export interface WriterOptions extends TrustOptions {
  path: string;
  clusterName: string;
  clusterId: number;
  capacity: number;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  /** The node list; empty: first come, first served. */
  nodes: readonly string[];
}

/** A clock window that takes any wall clock. */
export const NO_WINDOW = 2n ** 64n - 1n;

/** Changes of a whole board. Where nodes go, or the capacity is another, a new board takes its place: readers follow. */
interface Changes {
  /** Goes over to another node list, capacity, keys and other limits; path and cluster stay. Throws one line for people. */
  change(options: WriterOptions): void;
  /**
   * Forgets nodes; a listed one stays as one that never reported. Of each name whether it had a record. Throws one line
   * for people.
   */
  forget(names: readonly string[]): boolean[];
}

/** A board held for writing. Its constructor throws one line for people when the board cannot be had. */
export interface Writer extends Changes {
  /**
   * Validates a datagram and lays it on the board: 0 accepted, -1 duplicate, else the reason's number. `link`: by which it
   * came, a number, or the name of an interface, which gets one; all others (31) if it is not said.
   */
  deliver(datagram: Uint8Array, stampNs: bigint, stampRealNs: bigint, link?: number | string): number;
  /** A link is by now as those bits of link_state say; `wasDown`: it was down meanwhile. */
  linkState(link: number, state: number, wasDown: boolean, nowNs: bigint): void;
  /** Counts the nodes of each link, and finds out which are dark. */
  survey(): void;
  listeningSince(sinceNs: bigint): void;
  resumed(resumedNs: bigint): void;
  heartbeat(beganNs: bigint): void;
  /** Shuts down cleanly: the board stays, flagged closed. */
  close(): void;
}

/** What the receive thread tells of itself, as of at most a second ago. */
export interface ReceiverStatus {
  received: number;
  accepted: number;
  duplicate: number;
  /** Datagrams for which there was no room in a socket buffer. */
  kernelDrops: number;
  /** Datagrams that the kernel dropped for another reason: a wrong checksum, or the filter. */
  unfitDrops: number;
  /** Packets of any kind that the machine dropped before it looked at them. */
  softnetDrops: number;
  /** And that its interfaces dropped before that. */
  missed: number;
  nodes: number;
  /** Granted by the kernel, bytes; the smallest of the sockets. */
  receiveBuffer: number;
  /** A flood of junk is dropped by the kernel. */
  filtering: boolean;
  /** Times that the board was not at its path as it was made, and was published again. */
  publications: number;
  /** How long the thread has stood still so far, of stops of more than a second alone: stopped, frozen, or suspended. */
  stoodStillNs: number;
  /** CLOCK_MONOTONIC of the last heartbeat, of this very moment; one that stands still tells that the thread hangs. */
  heartbeatNs: number;
  /** One line about what goes wrong now; empty: nothing. */
  trouble: string;
  /** Another receiver has taken the board, as `trouble` says: nothing is received any more. */
  displaced: boolean;
  /** By the number of the reason. */
  refused: number[];
  senders: SenderEntry[];
}

/** Sockets, and the thread that drains them. Changes are made in that thread, between two drains. */
export interface Receiver extends Changes {
  /** Listens at a numeric address; the port that was bound. Throws one line for people. */
  listen(host: string, port: number): number;
  /**
   * Listens on a socket that a service manager has bound; where that is. What waits in it is laid down where the time at
   * which it came is certain. Throws one line for people.
   */
  adopt(fd: number): { host: string; port: number };
  /** Joins a multicast group on the interface, or the one that the routing table says; the port. Throws one line. */
  join(group: string, port: number, interfaceName?: string): number;
  /**
   * Takes the writer, drains once, and starts the thread. `displaced` is called when that has ended because another receiver
   * has taken the board; `trouble` says which one.
   */
  start(writer: Writer, displaced: () => void): void;
  status(): ReceiverStatus;
  /** Ends the thread after a last drain and closes the board cleanly. */
  stop(): void;
}

/** Sends many datagrams with few system calls, to one numeric address. */
export interface BulkSender {
  /** Sends `count` datagrams of `bytes` each, beginning with number `first`; how many were sent. */
  send(datagrams: Uint8Array, bytes: number, first: number, count: number): number;
  close(): void;
}

/** How a sweep of a harvest goes on; by these numbers. */
export const HARVEST = { more: 0, complete: 1, partial: 2, backward: 3, cut: 4 } as const;

/** What has changed on a board since it was last swept over: see proto/relay-v1.md. Buffers are aligned to 8 bytes. */
export interface Harvest {
  /** Notes what is on the board as if it had been taken. */
  prime(): number;
  /**
   * Begins a sweep: writes a relay_board. The time of the sweep is one from before. False when the file was cut short.
   * `thorough`: counters and all links, too. So many bytes at most go for what was asked for.
   */
  begin(thorough: boolean, askedBytes: number, into: Uint8Array): boolean;
  /** Writes entries of the sweep, as many as fit; a number of `HARVEST` says how it goes on. */
  take(into: Uint8Array): { state: number; bytes: number; entries: number };
  /** Has the next sweeps take these records again. */
  ask(numbers: Uint32Array): void;
  /** Writes the index of that many records from number `first` on; how many there are. */
  index(first: number, count: number, into: Uint8Array): number;
  /** Records that the last sweep found. */
  records(): number;
  /** A bit for each link that has an entry, is up and not dark. */
  linksWell(): bigint;
}

/** How a mirror's board is to be made. Times in ns. */
export interface MirrorOptions extends TrustOptions {
  path: string;
  site: string;
  /** Names, at most six; and which of them is followed: their number for none yet. */
  masters: readonly string[];
  followed: number;
  clusterName: string;
  clusterId: number;
  capacity: number;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  instance: bigint;
  nowNs: bigint;
  /** After a clock stood still: no report of the same board is younger than it was. */
  keepAges?: boolean;
}

/** What became of a message to a mirror; by these numbers. */
export const OUTCOME = { taken: 0, malformed: 1, unplaced: 2, ahead: 3 } as const;

/** Counted since the board was begun; doubtful, vetoed, missing as it is now. */
export interface MirrorCounts {
  laid: number;
  unfit: number;
  /** Reports that no key of ours proves, or that are no news. */
  unproved: number;
  full: number;
  doubtful: number;
  vetoed: number;
  missing: number;
  whole: boolean;
}

/** A mirror's board, held for writing: c/board_mirror.h says what each does. Messages without their signature. */
export interface Mirror {
  /** Begins a new board, which takes the place of the one before when it is whole. Throws one line for people. */
  renew(options: MirrorOptions): void;
  batch(message: Uint8Array, askedNs: bigint, relayNs: bigint, answeredNs: bigint, nowNs: bigint): number;
  gap(nowNs: bigint): void;
  /** A clock stood still: nothing on the board is to be trusted, until another is begun. */
  distrust(): void;
  index(message: Uint8Array, nowNs: bigint): number;
  /** Numbers of records that the board lacks. */
  missing(most: number): Uint32Array;
  claims(master: number, message: Uint8Array, nowNs: bigint): number;
  /** `heard`: bit n for master n. */
  review(heard: number, nowNs: bigint): void;
  counts(): MirrorCounts;
  /** 0: the board is at its path; 1: it is not; -1: that cannot be known; -2: another process has it. */
  checkPath(): { state: number; why: string };
  close(): void;
}

/** What the kernel knows of its clock. */
export interface ClockState {
  /** What the clock discipline still has to steer, us. */
  offsetUs: number;
  /** The most that the clock may be wrong, us. */
  maxErrorUs: number;
  unsynchronised: boolean;
}

interface Native {
  clocks(into: BigUint64Array): void;
  adjtimex(): ClockState | undefined;
  readFile(fd: number, into: Uint8Array): number;
  texts(bytes: Uint8Array, first: number, stride: number, most: number, count: number): string;
  overview(copy: Uint8Array, nowNs: bigint, nodes: number, into: Uint8Array): boolean;
  totals(copy: Uint8Array, states: Uint8Array): Totals;
  memoryFile(name: string): number;
  lock(path: string): number;
  hmac(secret: Uint8Array, data: Uint8Array, own: boolean, rounds: number): { tag: Uint8Array; openssl: boolean };
  notify(path: string, message: string): number;
  mapBoard(
    path: string,
    owner: number | string | undefined,
  ): { state: Exclude<BoardState, 'ready'>; why: string } | { state: 'ready'; board: BoardMapping };
  /** With a path alone: the board that is there, to forget nodes and nothing else, for when no receiver runs. */
  Writer: new (
    options: WriterOptions | string,
  ) => Writer;
  /** `flood`: other than 50,000 datagrams of junk in a second, from which on the kernel is asked to drop it; for tests. */
  Receiver: new (
    drainNs: bigint,
    flood?: number,
  ) => Receiver;
  BulkSender: new (host: string, port: number) => BulkSender;
  Harvest: new (mapping: BoardMapping) => Harvest;
  Mirror: new (options: MirrorOptions) => Mirror;
}

const require = createRequire(import.meta.url);

/** The one that was built on this machine, else the one that came with the package for its processor. */
function load(): Native {
  try {
    return require('../../../build/beoboard.node');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    if (process.arch === 'x64') return require('../../../prebuilds/linux-x64/beoboard.node');
    if (process.arch === 'arm64') return require('../../../prebuilds/linux-arm64/beoboard.node');
    throw error;
  }
}

const native = load();

/** Fills CLOCK_REALTIME, CLOCK_BOOTTIME and CLOCK_MONOTONIC in ns, read back to back. */
export const clocks = native.clocks;

/** The kernel's clock discipline, read only; undefined where the kernel does not tell. */
export const adjtimex = native.adjtimex;

/**
 * Reads a file from its beginning, whatever was read of it before: as much as there is and fits. Gives the bytes, or
 * a negative error number.
 */
export const readFile = native.readFile;

/**
 * `count` texts of UTF-8, one every `stride` bytes from `first` on, each up to its first NUL and of at most `most` bytes;
 * joined by NULs. Throws when there are not so many.
 */
export const texts = native.texts;

/**
 * Judges a copy that no snapshot made: header, column words and records of so many nodes. Writes what is `TOLD` of them, and
 * gives whether the receiver was stalled. Throws when there is less room, or that is no copy of a board.
 */
export const overview = native.overview;

/**
 * Adds up those nodes of a copy that are live by `states`: header, column words and records of as many nodes as that has
 * bytes. Throws when that is no copy of a board.
 */
export const totals = native.totals;

/** The descriptor of a file in memory that no path leads to, which a child may be given. Throws when there can be none. */
export const memoryFile = native.memoryFile;

/**
 * Holds a file alone, which is made where it is not there, until this process ends or closes it (flock(2)): gives its descriptor, or a
 * negative error number: EWOULDBLOCK where another process holds it.
 */
export const lock = native.lock;

/**
 * HMAC-SHA-256 with a key of 32 bytes, as the receiver makes it: by the OpenSSL inside Node where there is one, or with
 * `own` by our own code; made `rounds` times with one kept key. For tests and benchmarks: node:crypto does the same.
 */
export const hmac = native.hmac;

/**
 * Sends a message of sd_notify(3) to the Unix socket at a path, or with a leading @ at an abstract name. Never waits: 0,
 * or a negative error number.
 */
export const notify = native.notify;

/**
 * Maps the board at `path` read-only if a trusted user owns it: root, ourselves, `beoboard`, or `owner` (a name
 * or id). Throws when there is no such user.
 */
export const mapBoard = native.mapBoard;

export const { Writer, Receiver, BulkSender, Harvest, Mirror } = native;
