// The interface of the addon: clocks, the board's mapping, the receive thread, and sending in bulk. Types and
// documentation only; the code is in c/.

import { createRequire } from 'node:module';

/** Offsets into the array that `clocks` fills. */
export const CLOCK = { real: 0, boot: 1, monotonic: 2 } as const;

/**
 * The beginning of a snapshot: CLOCK_MONOTONIC and CLOCK_REALTIME, taken before anything was loaded, in ns; the number
 * of records; whether the receiver was stalled then.
 */
export const SNAPSHOT_HEAD = { nowNs: 0, realNs: 8, nodes: 16, stalled: 24, bytes: 32 } as const;

/**
 * The results for each node after its copies, in arrays one after another, in this order: its age in ms (f64), -1 if
 * there is no report; for a live node its wall clock minus the master's in s (f64), otherwise 0; for a live or
 * uncertain node its problems (u32), bits by the numbers of the problems, otherwise 0; a number for a live node's
 * kernel release (u32), the same for the same release, otherwise 0; its state (u8), as numbered in beoboard.h; and its
 * state at the receiver's last heartbeat (u8).
 */
export const OVERVIEW = { bytes: 26 } as const;

/** How much of the whole is in use, and on how many nodes. */
export interface Part {
  nodes: number;
  used: number;
  total: number;
}

/** Bytes per second, and on how many nodes. */
interface Flow {
  nodes: number;
  in: number;
  out: number;
}

/**
 * What nodes have, use and move together. Absent if it was measured on no node; a node with only half of the values is
 * left out.
 */
export interface Totals {
  cpus?: Part;
  /** Bytes. */
  memory?: Part;
  network?: Flow;
  /** These interfaces may be part of `network`, too. */
  fabric?: Flow;
  /** Bytes per second. */
  disks?: { nodes: number; read: number; written: number };
  gpus?: Part;
  power?: { nodes: number; watts: number };
}

/** One of the master's interfaces by which reports come; see "Links" in proto/board-v2.md. Times in ns of CLOCK_MONOTONIC. */
export interface LinkEntry {
  number: number;
  /** The interface's, and `, in pieces` for what comes by it in IP fragments. */
  name: string;
  /** Bits of link_state. */
  state: number;
  changedNs: bigint;
  downs: number;
  nodes: number;
  /** 0n: it is not dark. */
  darkSinceNs: bigint;
  darkNodes: number;
  /** Since when the kernel fails to join what comes in pieces; 0n: it does not. */
  unjoinedSinceNs: bigint;
  accepted: number;
  missed: number;
  /**
   * The address to which its reports were last sent: the master's own, or that of a group or a broadcast; empty:
   * unknown. And the port; 0: unknown.
   */
  address: string;
  port: number;
  heartbeatNs: bigint;
  listeningSinceNs: bigint;
}

/** A source of rejected datagrams. Times in ns, of CLOCK_MONOTONIC and, for `lastRealNs`, of CLOCK_REALTIME. */
export interface SenderEntry {
  /** The reason's number in the enum. */
  reason: number;
  address: string;
  /** The name that it claims; empty: no valid name. */
  name: string;
  firstNs: bigint;
  lastNs: bigint;
  lastRealNs: bigint;
  count: number;
}

/**
 * An event of the board's ring: `kind`, a number of the enum event_kind, determines the meaning of subject and detail.
 */
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
  /** The bytes that a snapshot of all used records needs now. */
  snapshotBytes(): number;
  /** The bytes that a snapshot of so many nodes needs. */
  nodeBytes(nodes: number): number;
  /** The buffer for snapshots from now on, aligned to 8 bytes. It must not be transferred. */
  into(buffer: Uint8Array): void;
  /**
   * Copies the board from record number `first` on, as many records as exist and fit, and judges it. Writes `SNAPSHOT_HEAD`,
   * then the header, column words and records at the header's strides, then the arrays of `OVERVIEW`. A slot that could not
   * be copied whole has a `head` of 0. Returns false if the file was cut short.
   */
  snapshot(first: number): boolean;
  /** The bytes that `column` needs now. */
  columnBytes(): number;
  /** Copies the board without the records: `SNAPSHOT_HEAD`, then the header, column words, the state of each node (u8). */
  column(): boolean;
  /** The links that have an entry, and the one that stands for all others. Undefined if the file was cut short. */
  links(): LinkEntry[] | undefined;
  /** The table of rejected senders. Undefined if the file was cut short. */
  senders(): SenderEntry[] | undefined;
  /** Events from number `next` on, at most so many, and the number to continue with; likewise. */
  events(next: number, most: number): { next: number; events: EventEntry[] } | undefined;
  /**
   * The names of the nodes of these numbers, joined by NULs; undefined if the file was cut short or such a node does
   * not exist.
   */
  names(numbers: Uint32Array): string | undefined;
  /** The number of the record of that name; -1: there is none. */
  find(name: string): number;
  /** Whether the path still names the mapped file. */
  isAt(path: string): boolean;
  unmap(): void;
}

/** What makes a report trusted. */
export interface TrustOptions {
  /** Cluster keys: at most two, with different ids. Empty: signatures are not verified. */
  keys: readonly { readonly id: number; readonly secret: Uint8Array }[];
  /** With keys: the least `auth_alg` that a report must prove. */
  required: number;
  /**
   * How far the wall clock of a proved report may be from the master's where the clock decides; `NO_WINDOW`: any
   * distance.
   */
  clockWindowNs: bigint;
}

/** How a board is made or taken over. Times in ns; names valid and without duplicates. */
export interface WriterOptions extends TrustOptions {
  path: string;
  clusterName: string;
  clusterId: number;
  capacity: number;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  /** A longer interval of a node counts as this one; 0: none does. */
  longestIntervalMs: number;
  /** The node list; empty: any node gets a place until the board is full. */
  nodes: readonly string[];
}

/** A clock window that accepts any wall clock. */
export const NO_WINDOW = 2n ** 64n - 1n;

/**
 * Changes of a whole board. If nodes move or the capacity changes, a new board replaces the old one, and readers
 * follow.
 */
interface Changes {
  /**
   * Switches to another node list, capacity, keys and other limits; path and cluster stay. Throws one line for people.
   */
  change(options: WriterOptions): void;
  /**
   * Removes nodes; a listed one stays as one that never reported. Returns for each name whether it had a record. Throws
   * one line for people.
   */
  forget(names: readonly string[]): boolean[];
}

/** A board that is open for writing. Its constructor throws one line for people if the board cannot be opened. */
export interface Writer extends Changes {
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
  listeningSince(sinceNs: bigint): void;
  resumed(resumedNs: bigint): void;
  heartbeat(beganNs: bigint): void;
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
  /**
   * For how long the thread has stood still so far, counting only stops of more than a second: stopped, frozen, or
   * suspended.
   */
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
export interface Receiver extends Changes {
  /** Says on the board that options could not be read again, until a change: what, the number of a reload_part. */
  reloadFailed(part: number): void;
  /** Listens at a numeric address; the port that was bound. Throws one line for people. */
  listen(host: string, port: number): number;
  /**
   * Listens on a socket that a service manager has bound, and returns its address. Waiting datagrams are accepted if
   * the time of their arrival is certain. Throws one line for people.
   */
  adopt(fd: number): { host: string; port: number };
  /**
   * Joins a multicast group on the interface, or on the one that the routing table chooses; returns the port. Throws
   * one line.
   */
  join(group: string, port: number, interfaceName?: string): number;
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

/** How a sweep continues; by these numbers. */
export const SWEEP = { more: 0, complete: 1, partial: 2, backward: 3, cut: 4 } as const;

/** What has changed on a board since the last sweep: see proto/relay-v1.md. Buffers are aligned to 8 bytes. */
export interface Sweep {
  /** Marks everything on the board as already taken. */
  prime(): number;
  /**
   * Begins a sweep: writes a relay_board. The time of the sweep is from before it began. Returns false if the file was
   * cut short. `thorough`: includes the counters and all links. At most so many bytes are used for requested records.
   */
  begin(thorough: boolean, askedBytes: number, into: Uint8Array): boolean;
  /** Writes as many entries of the sweep as fit; returns a number of `SWEEP` that says how to continue. */
  take(into: Uint8Array): { state: number; bytes: number; entries: number };
  /** Makes the next sweeps take these records again. */
  ask(numbers: Uint32Array): void;
  /** Writes the index of that many records from number `first` on; returns how many there are. */
  index(first: number, count: number, into: Uint8Array): number;
  /** Records that the last sweep found. */
  records(): number;
  /** One bit for each link that has an entry, is up, and is not dark. */
  linksWell(): bigint;
}

/** How a mirror's board is made. Times in ns. */
export interface MirrorOptions extends TrustOptions {
  path: string;
  site: string;
  /** At most six names; and the number of the followed one: the number of names if none is followed yet. */
  masters: readonly string[];
  followed: number;
  clusterName: string;
  clusterId: number;
  capacity: number;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  /** A longer interval of a node counts as this one; 0: none does. */
  longestIntervalMs: number;
  instance: bigint;
  nowNs: bigint;
  /** After a clock stood still: the age of no report of the same board may be smaller than before. */
  keepAges?: boolean;
}

/** The fate of a message to a mirror; by these numbers. */
export const OUTCOME = { taken: 0, malformed: 1, unplaced: 2, ahead: 3 } as const;

/** Counted since the board was begun; doubtful, vetoed and missing are the present values. */
export interface MirrorCounts {
  laid: number;
  unfit: number;
  /** Reports that none of our keys proves, or that are not newer. */
  unproved: number;
  full: number;
  doubtful: number;
  vetoed: number;
  missing: number;
  whole: boolean;
}

/**
 * A mirror's board that is open for writing: c/relay/mirror.h says what each function does. Messages come without their
 * signature.
 */
export interface Mirror {
  /** Begins a new board, which replaces the last one when it is complete. Throws one line for people. */
  renew(options: MirrorOptions): void;
  batch(message: Uint8Array, askedNs: bigint, relayNs: bigint, answeredNs: bigint, nowNs: bigint): number;
  gap(nowNs: bigint): void;
  /** A clock stood still: nothing on the board can be trusted until another board is begun. */
  distrust(): void;
  index(message: Uint8Array, nowNs: bigint): number;
  /** The numbers of records that the board lacks. */
  missing(most: number): Uint32Array;
  claims(master: number, message: Uint8Array, nowNs: bigint): number;
  /** `heard`: bit n for master n. */
  review(heard: number, nowNs: bigint): void;
  counts(): MirrorCounts;
  /** 0: the board is at its path; 1: it is not; -1: unknown; -2: another process has it. */
  checkPath(): { state: number; why: string };
  close(): void;
}

/** The kernel's knowledge of its clock. */
export interface ClockState {
  /** The offset that the clock discipline still has to correct, us. */
  offsetUs: number;
  /** The largest possible error of the clock, us. */
  maxErrorUs: number;
  unsynchronised: boolean;
}

interface Native {
  clocks(into: BigUint64Array): void;
  adjtimex(): ClockState | undefined;
  readText(file: number | string, most: number, cut: boolean): string | number;
  unread(fd: number): number;
  texts(bytes: Uint8Array, first: number, stride: number, most: number, count: number): string;
  overview(copy: Uint8Array, nowNs: bigint, nodes: number, into: Uint8Array): boolean;
  totals(copy: Uint8Array, states: Uint8Array): Totals;
  extractor(wanted: Uint32Array, scales: Float64Array, values: Float64Array): Extract;
  template(text: Uint8Array, gaps: Uint32Array, values: Float64Array, texts: Uint8Array): PrintTemplate;
  JsonTable: new (rows: Uint32Array, text: Uint8Array, validAt: number) => JsonTable;
  JsonPrinter: new (into: Uint8Array, from: DataView) => JsonPrinter;
  memoryFile(name: string): number;
  lock(path: string): number;
  hmac(secret: Uint8Array, data: Uint8Array, own: boolean, rounds: number): { tag: Uint8Array; openssl: boolean };
  notify(path: string, message: string): number;
  mapBoard(
    path: string,
    owner: number | string | undefined,
  ): { state: Exclude<BoardState, 'ready'>; why: string } | { state: 'ready'; board: BoardMapping };
  /** With only a path: opens the existing board in order to remove nodes, while no receiver runs. */
  Writer: new (
    options: WriterOptions | string,
  ) => Writer;
  /**
   * `flood`: for tests, another limit than 50,000 datagrams of junk in a second, above which the kernel is asked to
   * drop junk.
   */
  Receiver: new (
    drainNs: bigint,
    flood?: number,
  ) => Receiver;
  BulkSender: new (host: string, port: number) => BulkSender;
  Sweep: new (mapping: BoardMapping) => Sweep;
  Mirror: new (options: MirrorOptions) => Mirror;
}

const require = createRequire(import.meta.url);

/** The addon that was built on this machine; otherwise the one for its processor in the package. */
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

/** The kernel's clock discipline, read only; undefined if the kernel does not report it. */
export const adjtimex = native.adjtimex;

/**
 * The text of an open file from its beginning, or of the regular file at a path, or a negative error number. Of a file that has `most` bytes or more: the first
 * ones if it may be `cut`, otherwise -EFBIG. Bytes that are not UTF-8 become U+FFFD.
 */
export const readText = native.readText;

/** How many bytes the kernel keeps of what was written to that TCP socket because its peer has not taken them. */
export const unread = native.unread;

/**
 * `count` texts of UTF-8, one every `stride` bytes from `first` on, each up to its first NUL and at most `most` bytes
 * long; joined by NULs. Throws if there are not so many.
 */
export const texts = native.texts;

/**
 * Judges a copy that was not made by a snapshot: header, column words and records of so many nodes. Writes the arrays
 * of `OVERVIEW` for them, and returns whether the receiver was stalled. Throws if there is too little room, or if it is not
 * a copy of a board.
 */
export const overview = native.overview;

/**
 * Adds up the nodes of a copy that are live by `states`: header, column words and records of as many nodes as `states`
 * has bytes. Throws if it is not a copy of a board.
 */
export const totals = native.totals;

/**
 * Reads numbers of a node's two reports into an array: of those that begin at these bytes, which are aligned to 8 bytes;
 * `before` -1: there is no earlier one. An unknown value is NaN, and so is a rate without an earlier report. Throws if no
 * whole report is there.
 */
export type Extract = (bytes: Uint8Array, before: number, after: number) => void;

/** The kinds of numbers that a extractor reads, by their numbers: fields by type, a bit, rates of counters, and sums. */
export const GATHERED = [
  ...(['u8', 'u16', 'u32', 'i16', 'i32', 'u64', 'bit', 'rate_u32', 'rate_u64'] as const),
  ...(['share', 'traffic'] as const),
] as const;

/** In place of the number of a set: every report has the value. */
export const ALWAYS = 0xffff_ffff;

/**
 * Makes a function that reads numbers into `values`, which must be neither transferred nor resized. `wanted` has six
 * numbers for each value: its kind in `GATHERED`; its byte in the report (of a bit, its number there; of a share, a bit
 * for each kind of CPU time that is added; of the traffic, the number of the counter); the number of its set or
 * `ALWAYS`; of a rate, 1 if it is by the slow rounds, and 1 if it is counted from the sender's start; and the place of
 * the value. And there are two scales for each: the value is multiplied by the first one or, if the second one is not 0,
 * divided by that. Throws if these are no numbers of a report.
 */
export const extractor = native.extractor;

/** In place of a number of digits: the gap is for a text. */
export const TEXT_GAP = 7;

/**
 * Prints a text with gaps from byte `at` of `into` on; returns how many bytes that were. Of the texts in the gaps only so
 * many bytes are valid. Throws if there may not be room, or if they do not lie one after another.
 */
export type PrintTemplate = (into: Uint8Array, at: number, textBytes: number) => number;

/**
 * Makes a function that prints a text with what is in `values` and `texts` then; they must be neither transferred nor
 * resized. `gaps` has four numbers for each: the bytes of
 * the text before it, since the end of the last gap's part; the bytes after it that still belong to its part; the place
 * of its value; and the digits after the decimal point (0 to 6) or `TEXT_GAP`. A part is left out if its value is not a
 * number within the exact range. The value of a text is where it ends in `texts`; it begins where the last one ends.
 * Numbers are printed as `Page.decimal` does. Throws if gaps and text do not go together.
 */
export const template = native.template;

/** The fields of a struct, and how each is written as JSON; see `JSON_ROW`. */
export interface JsonTable {
  readonly isTable?: never;
}

/** Writes JSON of what lies in one buffer into another; a printer is made for each pair, because finding them takes long. */
export interface JsonPrinter {
  /**
   * Writes the struct that begins at byte `base` as an object from byte `at` on; returns how many bytes that were, or -1
   * if a text in it is more than printable ASCII without quotes and backslashes, or an address is unusual. Throws if
   * there may not be room, or if no whole struct is there.
   */
  struct(table: JsonTable, at: number, base: number): number;
  /**
   * Writes the rates between the reports at two bytes as an object; returns how many bytes that were, 0 if there are none
   * because the reports are of two boots, or -1 if they have to be written otherwise: an unusual text, or a rate of 10^12
   * or more. Throws likewise.
   */
  rates(at: number, before: number, after: number): number;
}

/** How a value is written, as in c/addon/fieldjson.h. */
export const JSON_WHAT = {
  u8: 0,
  u16: 1,
  u32: 2,
  i16: 3,
  i32: 4,
  /** Left out, or null in a list, beyond ±(2^53 - 1). */
  u64: 5,
  i64: 6,
  /** In quotes. */
  bigU64: 7,
  bigI64: 8,
  text: 9,
  /** 16 hexadecimal digits in quotes. */
  id: 10,
  object: 11,
  /** An IP address of 16 bytes; left out if all are zero. */
  address: 12,
} as const;

/** In place of a bit or an offset in a row: there is none. */
export const JSON_NONE = 0xffffffff;

/**
 * The numbers of a field's row in a table, in this order; offsets are from the beginning of the struct that the field
 * belongs to. `rows`: of an object, so many rows behind this one are its fields, and theirs. `used`: where in the whole
 * struct a byte counts the elements in use, none without the bit `usedSet` of its `valid`. `set`: the bit of the whole
 * struct's `valid` without which it is left out.
 * `unless*`: it is left out if the number of so many bytes there is `unless`; of a list of objects each element is, with
 * the offset from its own beginning.
 */
export const JSON_ROW = [
  ...(['what', 'at', 'count', 'stride', 'key', 'keyBytes', 'rows', 'used', 'usedSet', 'set'] as const),
  ...(['unlessAt', 'unlessBytes', 'unless'] as const),
] as const;

/** Throws if it is no table. `text`: the keys, each as `,"name":`. `validAt`: the offset of `valid`, or `JSON_NONE`. */
export const JsonTable = native.JsonTable;

export const JsonPrinter = native.JsonPrinter;

/**
 * The descriptor of a file in memory that no path leads to, which can be passed to a child. Throws if it cannot be
 * made.
 */
export const memoryFile = native.memoryFile;

/**
 * Locks a file for this process alone until the process ends or closes it (flock(2)); makes the file if it does not
 * exist. Returns its descriptor or a negative error number: EWOULDBLOCK if another process holds the lock.
 */
export const lock = native.lock;

/**
 * HMAC-SHA-256 with a key of 32 bytes, as the receiver computes it: by the OpenSSL inside Node if there is one, or with
 * `own` by our own code; `rounds` times with one key. For tests and benchmarks: node:crypto does the same.
 */
export const hmac = native.hmac;

/**
 * Sends a message of sd_notify(3) to the Unix socket at a path, or with a leading @ at an abstract name. Never waits;
 * returns 0 or a negative error number.
 */
export const notify = native.notify;

/**
 * Maps the board at `path` read-only if a trusted user owns it: root, ourselves, `beoboard`, or `owner` (a name or id).
 * Throws if that user does not exist.
 */
export const mapBoard = native.mapBoard;

export const { Writer, Receiver, BulkSender, Sweep, Mirror } = native;
