// Reads the board: opens it, follows it when another one replaces it, and makes snapshots. Never writes, never waits.

import {
  type Decoded,
  decode,
  decodeReport,
  getter,
  type Report,
  type ReportField,
  reportField,
} from '../layout/codec.js';
import { bits, enums, structs, words } from '../layout/layout.gen.js';
import {
  type BoardMapping,
  type BoardState,
  type EventEntry,
  type LinkEntry,
  LOOK,
  mapBoard,
  overview,
  type SenderEntry,
  TOLD,
  type Totals,
  texts,
  totals,
} from '../native/index.js';
import { formatDuration } from '../text/durations.js';
import { Failure } from '../text/failure.js';
import { NUMBERED, type State } from './liveness.js';
import { type Problem, problemsOf } from './problems.js';
import { type Rates, rates } from './rates.js';

export type { BoardState, EventEntry, LinkEntry, Part, SenderEntry, Totals } from '../native/index.js';

/** The board's header, and the reader's CLOCK_MONOTONIC taken before it was read. All times in ns of that clock. */
export interface Evidence {
  nowNs: bigint;
  heartbeatNs: bigint;
  listeningSinceNs: bigint;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  /** A longer interval of a node counts as this one. */
  longestIntervalMs: number;
  retired: boolean;
}

/** No board has a shorter longest interval. */
const LEAST_LONGEST_MS = 60_000;

/** For how many intervals two machines count as reporting as one after they were last seen to; a minute at least. */
const CLONE_INTERVALS = 60;

/** The exit code of a program that found no board, or a stalled one. */
export const NO_BOARD = 4;

/** A board that cannot be read now; `state` is one of the states of opening. */
export class NoBoard extends Failure {
  constructor(
    readonly state: Exclude<BoardState, 'ready'>,
    readonly path: string,
    why: string,
  ) {
    super(`${path}: ${why}${state === 'absent' ? '; start beoboard receive, or give its --board' : ''}`, NO_BOARD);
  }
}

/** Why a receiver gives no evidence, in words for people. */
export function stalledText(closed: boolean): string {
  return `the receiver ${closed ? 'was stopped' : 'is stalled'}`;
}

/** The age of a receiver's heartbeat, in words for people; undefined: there was none yet, negative: its clock is not ours. */
export function heartbeatText(ageMs: number | undefined): string {
  if (ageMs === undefined) return 'it has no heartbeat yet';
  return `its heartbeat is ${ageMs < 0 ? 'of another clock' : `${formatDuration(ageMs)} old`}`;
}

/** The same with the age of its heartbeat, and the consequence. */
export function unknownText(closed: boolean, heartbeatAgeMs: number | undefined): string {
  return `${stalledText(closed)}, ${heartbeatText(heartbeatAgeMs)}: nothing is known about nodes`;
}

/** The result of one look at all nodes, by the numbers of their records. */
export interface Overview {
  /** The age of the newest report, ms; -1: there is none. */
  readonly ages: Float64Array;
  /**
   * The node's wall clock minus the master's, s: from its newest report, minus the time that collecting took; 0: there
   * is none.
   */
  readonly skews: Float64Array;
  /** The problems of a node that is live or uncertain: bits by the numbers of the problems; 0 for other nodes. */
  readonly problems: Uint32Array;
  /**
   * A number for the kernel release of a live node: the same for the same release, and different for nearly all others;
   * 0: unknown.
   */
  readonly kernels: Uint32Array;
  /** As `NUMBERED`. */
  readonly states: Uint8Array;
  /** The same at the receiver's last heartbeat: what was known before it stalled, or its board was retired. */
  readonly known: Uint8Array;
}

/** The tables of a board besides its nodes. Each is read when it is asked for. */
export interface Tables {
  links(): readonly LinkEntry[];
  senders(): readonly SenderEntry[];
}

/** Entries of the table of rejected senders for each reason. */
export const SENDERS_EACH = 8;

/** The number of the link that stands for all links without an entry of their own. */
const OTHER_LINKS = 31;

/** The least age for each of as many nodes as a link has reports of. */
function youngest(
  count: number,
  link: number,
  nodes: { linkOf(index: number): number },
  ageMs: (index: number) => number,
): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < count; i++) if (nodes.linkOf(i) === link) least = Math.min(least, ageMs(i));
  return least;
}

/** The name of a link for people: its interface, as the kernel calls it. */
export function linkName({ number, name }: Pick<LinkEntry, 'number' | 'name'>): string {
  return number === OTHER_LINKS ? 'other interfaces' : name;
}

/** When a copy was taken, and of how many nodes; whether its receiver was stalled then, if that has been judged. */
export interface Taken {
  nowNs: bigint;
  realNs: bigint;
  nodes: number;
  stalled?: boolean;
}

/** A private, consistent copy of the board, or of the part that was asked for. */
export class Snapshot {
  #header: Decoded<'board_header'> | undefined;
  readonly evidence: Evidence;
  /** The reader's CLOCK_REALTIME in ns when the snapshot was taken. */
  readonly realNs: bigint;
  readonly stalled: boolean;
  readonly retired: boolean;
  readonly closed: boolean;
  readonly filtering: boolean;
  /** How many nodes are in the snapshot, and how many on the board. */
  readonly count: number;
  readonly total: number;
  /** The header, for code that reads it field by field. */
  readonly view: DataView;
  /** The same bytes as words: a process that looks only once ends before a DataView is compiled. */
  readonly words: Uint32Array;
  readonly #records: number;
  readonly #recordStride: number;
  readonly #slots: number;
  readonly #slotsOffset: number;
  readonly #slotStride: number;
  /** Where in a slot its report begins. */
  readonly reportOffset: number;
  /** Where in a record its memory begins; 0: it has none, or a shorter one. */
  readonly #memoryOffset: number;
  /** Where the results for each node lie, and their first byte. */
  readonly #told: Uint8Array;
  readonly #toldAt: number;
  #overview: Overview | undefined;
  readonly #nowHigh: number;
  readonly #nowLow: number;
  readonly #tables: Tables | undefined;
  #links: readonly LinkEntry[] | undefined;

  /**
   * `bytes`: the header, then as many column words and records as `nodes` says, at the strides of the header, then the
   * arrays of `TOLD` for them; if `stalled` is not given, these are computed here. `tables`: of the same board; without
   * them the snapshot has no links.
   */
  constructor(
    readonly path: string,
    bytes: Uint8Array,
    taken: Taken,
    tables?: Tables,
  ) {
    this.#tables = tables;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
    const state = stateOf(this.view, 0);
    const flag = (bit: number) => ((state >> BigInt(bit)) & 1n) === 1n;
    this.retired = flag(bits.board_state.retired);
    this.closed = flag(bits.board_state.closed);
    this.filtering = flag(bits.board_state.filtering);
    this.evidence = {
      nowNs: taken.nowNs,
      heartbeatNs: heartbeatOf(this.view, 0),
      listeningSinceNs: listeningOf(this.view, 0),
      uncertainAfterNs: uncertainAfterOf(this.view, 0),
      silentAfterNs: silentAfterOf(this.view, 0),
      longestIntervalMs: longestOf(this.view),
      retired: this.retired,
    };
    this.realNs = taken.realNs;
    this.#nowHigh = Number(taken.nowNs >> 32n);
    this.#nowLow = Number(taken.nowNs & 0xffffffffn);
    this.count = taken.nodes;
    this.total = countOf(this.view, 0) ?? 0;
    const word = (field: keyof typeof structs.board_header.fields) =>
      this.words[structs.board_header.fields[field].offset / 4] ?? 0;
    this.#records = word('header_bytes') + this.count * word('column_stride');
    this.#recordStride = word('record_stride');
    this.#slots = word('slots');
    this.#slotsOffset = word('slots_offset');
    this.#slotStride = word('slot_stride');
    this.reportOffset = word('report_offset');
    this.#memoryOffset = word('memory_bytes') < MEMORY_KNOWN ? 0 : word('memory_offset');
    this.#toldAt = taken.stalled === undefined ? 0 : this.#records + this.count * this.#recordStride;
    this.#told = taken.stalled === undefined ? new Uint8Array(this.count * TOLD.bytes) : bytes;
    this.stalled = taken.stalled ?? overview(bytes, taken.nowNs, this.count, this.#told);
  }

  /** The fields of the header, decoded when they are asked for. */
  get header(): Decoded<'board_header'> {
    this.#header ??= decode('board_header', this.view, 0);
    return this.#header;
  }

  /**
   * The time since the receiver's last complete drain, ms; negative if its clock is not ours, undefined if there was
   * none: a mirror that follows nobody has no heartbeat.
   */
  get heartbeatAgeMs(): number | undefined {
    if (this.evidence.heartbeatNs === 0n) return undefined;
    return milliseconds(this.evidence.nowNs - this.evidence.heartbeatNs);
  }

  /** For how long the receiver has had no gap, ms, up to its heartbeat. */
  get listenedMs(): number {
    const listened = this.evidence.heartbeatNs - this.evidence.listeningSinceNs;
    return listened > 0n ? milliseconds(listened) : 0;
  }

  /** Datagrams that were not accepted, by reason; reasons with 0 are left out. */
  get refused(): Record<string, number> {
    const entries = enums.reason.map((reason, i) => [reason, this.header.refused[i] ?? 0] as const);
    return Object.fromEntries(entries.filter(([, count]) => count > 0));
  }

  /** The links by which reports came, as they are when this is first asked for. */
  get links(): readonly LinkEntry[] {
    this.#links ??= (this.#tables?.links() ?? []).filter(
      ({ number, accepted }) => number !== OTHER_LINKS || accepted > 0,
    );
    return this.#links;
  }

  /** The sources of rejected datagrams, likewise; the most recent first. */
  get senders(): SenderEntry[] {
    return [...(this.#tables?.senders() ?? [])].sort((a, b) => Number(b.lastNs - a.lastNs));
  }

  /** The number of the link by which a node's newest report came; 0: unknown, or there is none. */
  linkOf(index: number): number {
    const slot = this.newestSlot(this.recordWord(index));
    return slot < 0 || this.words[slot + LINK + 1] !== 0 ? 0 : (this.words[slot + LINK] as number);
  }

  /** Whether any node is live by that link. */
  isHeard(link: number): boolean {
    const { states } = this.overview;
    return states.some((state, index) => state === LIVE && this.linkOf(index) === link);
  }

  /** The age of the youngest report that came by that link, ms; Infinity: there is none. */
  youngestMs(link: number): number {
    return youngest(this.overview.ages.length, link, this, index => this.overview.ages[index] as number);
  }

  /** The interval of the node of that number, ms; 0: unknown. */
  intervalOf(index: number): number {
    const at = this.#reportWord(index);
    return at < 0 ? 0 : (this.words[at + INTERVAL] ?? 0);
  }

  /** How late its newest report was made, us; 0: in time, or unknown. */
  lateOf(index: number): number {
    const at = this.#reportWord(index);
    return at < 0 || ((this.words[at + VALID] ?? 0) & (1 << bits.valid.sender)) === 0
      ? 0
      : (this.words[at + LATE] ?? 0);
  }

  /** What was rejected since its newest report, as in `Node.refusedSince`. */
  refusedSinceOf(index: number): Refusal | undefined {
    return this.node(index).refusedSince;
  }

  /** Whether two machines report as the node of that number; undefined: no. */
  cloneOf(index: number): Clone | undefined {
    if (this.#memoryOffset === 0) return undefined;
    const record = this.recordWord(index) * 4;
    const memory = record + this.#memoryOffset;
    const at = memory / 4;
    if (((this.words[at + CLONE_HEAD] ?? 0) | (this.words[at + CLONE_HEAD + 1] ?? 0)) === 0) return undefined;
    const lastMs = Math.max(0, this.sinceStamp(at + CLONE)) / 1e6;
    const interval = Math.max(1000, Math.min(this.intervalOf(index), this.evidence.longestIntervalMs));
    if (this.words[at + CLONE] === 0 && this.words[at + CLONE + 1] === 0) return undefined;
    if (lastMs > CLONE_INTERVALS * interval) return undefined;
    const addresses = [cloneAddressOf(this.view, memory), cloneOtherOf(this.view, memory)].map(formatBytes);
    const isMirror = (this.header.mirror_masters ?? 0) !== 0;
    return {
      addresses: [...new Set(addresses)],
      sinceMs: Math.max(0, this.sinceStamp(at + CLONE_SINCE)) / 1e6,
      lastMs,
      isProved: ((isMirror ? authProvedOf : orderProvedOf)(this.view, record) ?? 0) !== 0,
    };
  }

  /** The place of its newest report, as a word; -1: there is none. */
  #reportWord(index: number): number {
    const slot = this.newestSlot(this.recordWord(index));
    return slot < 0 ? -1 : slot + this.reportOffset / 4;
  }

  /** The time from the stamp at that word to the snapshot, ns, negative if it is ahead; exact up to 104 days. */
  sinceStamp(word: number): number {
    const { words } = this;
    return (this.#nowHigh - (words[word + 1] ?? 0)) * 2 ** 32 + (this.#nowLow - (words[word] ?? 0));
  }

  /** The newest whole slot of the record at that word, as a word; -1: there is none. `not`: a slot to leave out. */
  newestSlot(record: number, not?: number): number {
    return newestSlot(this.words, record + (this.#slotsOffset >> 2), this.#slotStride >> 2, this.#slots, not);
  }

  /** The state of the node of that number; `known`: at the receiver's last heartbeat. */
  stateOf(index: number, known = false): State {
    const states = this.#toldAt + this.count * (TOLD.bytes - (known ? 1 : 2));
    return NUMBERED[this.#told[states + index] as number] as State;
  }

  /** The results for all nodes, as arrays. */
  get overview(): Overview {
    if (this.#overview !== undefined) return this.#overview;
    const { count } = this;
    const { buffer } = this.#told;
    const at = this.#told.byteOffset + this.#toldAt;
    this.#overview = {
      ages: new Float64Array(buffer, at, count),
      skews: new Float64Array(buffer, at + 8 * count, count),
      problems: new Uint32Array(buffer, at + 16 * count, count),
      kernels: new Uint32Array(buffer, at + 20 * count, count),
      states: new Uint8Array(buffer, at + 24 * count, count),
      known: new Uint8Array(buffer, at + 25 * count, count),
    };
    return this.#overview;
  }

  /** The word at which the record of that number begins. Divided, not shifted: it may lie beyond 2 GiB. */
  recordWord(index: number): number {
    return (this.#records + index * this.#recordStride) / 4;
  }

  /** The names of all nodes in the order of their records. */
  names(): string[] {
    return namesIn(this.words, this.#records, this.#recordStride, this.count);
  }

  /** What the nodes that are live according to `overview.states` have, use and move together. */
  totals(states: Uint8Array): Totals {
    const { buffer, byteOffset, byteLength } = this.view;
    return totals(new Uint8Array(buffer, byteOffset, byteLength), states);
  }

  node(index: number): Node {
    return new Node(this, this.view, index, this.recordWord(index) * 4);
  }

  /** All nodes in the order of their records. */
  *nodes(): Generator<Node> {
    for (let i = 0; i < this.count; i++) yield this.node(i);
  }
}

/**
 * The states of a board's nodes from the column words alone, for programs that need nothing else: 8 bytes a node, where
 * a snapshot has 3,144. Names are read only for the nodes whose name is asked for.
 */
export class NodeStates {
  /** As `NUMBERED`, in the order of the records. */
  readonly states: Uint8Array;
  readonly #words: Uint32Array;
  readonly #column: number;
  readonly #columnStride: number;

  readonly #mapping: BoardMapping;
  readonly #cut: () => NoBoard;

  /** `board`: a snapshot of no node. `bytes`: its header, then as many column words of this mapping as `count` says. */
  constructor(
    readonly board: Snapshot,
    bytes: Uint8Array,
    readonly count: number,
    mapping: BoardMapping,
    cut: () => NoBoard,
  ) {
    this.#mapping = mapping;
    this.#cut = cut;
    const { header_bytes, column_stride } = board.header;
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
    this.#column = header_bytes >> 2;
    this.#columnStride = column_stride >> 2;
    this.states = bytes.subarray(header_bytes + count * column_stride, header_bytes + count * (column_stride + 1));
  }

  /** Age of a node's last report in ms, to a ms. */
  ageMs(index: number): number {
    const at = this.#column + index * this.#columnStride;
    const { shift } = words.column.stamp;
    const stamp = (this.#words[at + 1] ?? 0) * 2 ** (32 - shift) + ((this.#words[at] ?? 0) >>> shift);
    return Math.max(0, Number(this.board.evidence.nowNs / NS_PER_MS) - stamp);
  }

  /** The number of the link by which a node's last report came; 0: unknown, or there is none. */
  linkOf(index: number): number {
    const { shift, bits } = words.column.link;
    return ((this.#words[this.#column + index * this.#columnStride] ?? 0) >>> shift) & (2 ** bits - 1);
  }

  /** Whether any node is live by that link. */
  isHeard(link: number): boolean {
    return this.states.some((state, index) => state === LIVE && this.linkOf(index) === link);
  }

  /** The age of the youngest report that came by that link, ms; Infinity: there is none. */
  youngestMs(link: number): number {
    return youngest(this.count, link, this, index => this.ageMs(index));
  }

  /**
   * The number of the record of that name; -1 if there is none. Like `names`, valid only before the reader is asked for
   * something else.
   */
  find(name: string): number {
    const index = this.#mapping.find(name);
    return index < this.count ? index : -1;
  }

  /** The names of the nodes of these numbers. Throws NoBoard, also if the board's file was cut since. */
  names(indexes: readonly number[]): string[] {
    const names = this.#mapping.names(Uint32Array.from(indexes));
    if (names === undefined) throw this.#cut();
    return indexes.length === 0 ? [] : names.split('\0');
  }
}

/** A rejected report: the reason, its age, and the node's wall clock minus the master's in it. */
export interface Refusal {
  reason: string;
  ageMs: number;
  offsetUs: number;
}

/** A rejection younger than this describes the present. */
export const LATELY_MS = 60_000;

/** That two machines report as one node: from where, since when, and when that was last seen. */
export interface Clone {
  /** Both addresses, or the one that they share. */
  addresses: readonly string[];
  sinceMs: number;
  lastMs: number;
  /** Whether their reports are signed: then nobody without a key makes them. */
  isProved: boolean;
}

/** 16 bytes as an address: IPv4 if they hold one, else IPv6; empty if all are zero. */
function formatBytes(bytes: readonly number[]): string {
  const first = bytes.findIndex(byte => byte !== 0);
  if (first === -1) return '';
  if (first === 10 && bytes[10] === 255 && bytes[11] === 255)
    return `${bytes[12]}.${bytes[13]}.${bytes[14]}.${bytes[15]}`;
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  // The URL parser knows the short form (RFC 5952); the brackets are removed again.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

const stateOf = getter('board_header', 'state');
const countOf = getter('board_header', 'count');
const heartbeatOf = getter('board_header', 'heartbeat_ns');
const listeningOf = getter('board_header', 'listening_since_ns');
const uncertainAfterOf = getter('board_header', 'uncertain_after_ns');
const silentAfterOf = getter('board_header', 'silent_after_ns');
const longestIntervalOf = getter('board_header', 'longest_interval_ms');
/** See "Liveness" in proto/board-v2.md. */
function longestOf(view: DataView): number {
  const said = Number(longestIntervalOf(view, 0));
  return said === 0 ? Number.POSITIVE_INFINITY : Math.max(said, LEAST_LONGEST_MS);
}
const nameOf = getter('record', 'name');
const addressOf = getter('record', 'address');
const addressBeforeOf = getter('record', 'address_before');
const addressSinceOf = getter('record', 'address_ns');
const refusalReasonOf = getter('record', 'refusal_reason');
const refusalOf = getter('record', 'refusal_ns');
const refusalOffsetOf = getter('record', 'refusal_offset_us');
const orderProvedOf = getter('record', 'order_proved');
const authProvedOf = getter('record', 'auth_proved');
const cloneAddressOf = getter('memory', 'clone_address');
const cloneOtherOf = getter('memory', 'clone_other');
const stampOf = getter('slot', 'stamp_ns');
const stampRealOf = getter('slot', 'stamp_real_ns');

// Offsets of what every node is judged by, in words of 32 bits.
const HEAD = structs.slot.fields.head.offset / 4;
const STAMP = structs.slot.fields.stamp_ns.offset / 4;
const LINK = structs.slot.fields.link.offset / 4;
// Places in a report, likewise.
const INTERVAL = structs.report.fields.interval_ms.offset / 4;
const VALID = structs.report.fields.valid.offset / 4;
const LATE = structs.report.fields.late_us.offset / 4;
// Places in a memory, likewise.
const CLONE_HEAD = structs.memory.fields.clone_head.offset / 4;
const CLONE_SINCE = structs.memory.fields.clone_since_ns.offset / 4;
const CLONE = structs.memory.fields.clone_ns.offset / 4;
/** Behind what readers know of it. */
const MEMORY_KNOWN = structs.memory.fields.digests.offset;
const LIVE = NUMBERED.indexOf('live');
const NAME_BYTES = structs.record.fields.name.count;
const NS_PER_MS = 1_000_000n;

/**
 * The names of so many nodes, the first of which begins at that byte: in one call, because a call for each takes
 * several times as long.
 */
function namesIn(words: Uint32Array, first: number, stride: number, count: number): string[] {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  return count === 0 ? [] : texts(bytes, first, stride, NAME_BYTES, count).split('\0');
}

/**
 * The newest whole slot of a record except `not`, as the word at which it begins; -1: there is none. Of two equal
 * sequences, which no writer makes, the later slot counts.
 */
function newestSlot(words: Uint32Array, first: number, stride: number, slots: number, not = -1): number {
  let found = -1;
  let high = 0;
  let low = 1;
  for (let i = 0, slot = first; i < slots; i++, slot += stride) {
    const h = words[slot + HEAD + 1] ?? 0;
    const l = words[slot + HEAD] ?? 0;
    if (slot === not || h < high || (h === high && l < low)) continue;
    found = slot;
    high = h;
    low = l;
  }
  return found;
}

/** One node of a snapshot. Whatever takes time is decoded when it is asked for. */
export class Node {
  /** The newest whole slot, and its offset; -1 and undefined if there is none. */
  readonly #slot: number;
  readonly #newest: number | undefined;

  constructor(
    readonly snapshot: Snapshot,
    readonly view: DataView,
    readonly index: number,
    readonly offset: number,
  ) {
    this.#slot = snapshot.newestSlot(offset / 4);
    this.#newest = this.#slot < 0 ? undefined : this.#slot * 4;
  }

  /** The offset of the newest report; undefined if there is none. */
  get reportAt(): number | undefined {
    return this.#newest === undefined ? undefined : this.#newest + this.snapshot.reportOffset;
  }

  /** The offset of the report before it. */
  get previousAt(): number | undefined {
    const slot = this.#slot < 0 ? -1 : this.snapshot.newestSlot(this.offset / 4, this.#slot);
    return slot < 0 ? undefined : slot * 4 + this.snapshot.reportOffset;
  }

  get name(): string {
    return nameOf(this.view, this.offset);
  }

  /** Counters, order state, last rejection: all of the record except its reports. */
  get record(): Decoded<'record'> {
    return decode('record', this.view, this.offset);
  }

  /** Why and when a report of this node was last rejected, and how far its clock was off. */
  get lastRefusal(): Refusal | undefined {
    const reason = enums.reason[refusalReasonOf(this.view, this.offset) ?? 0] ?? 'none';
    if (reason === 'none') return undefined;
    const age = milliseconds(this.snapshot.evidence.nowNs - refusalOf(this.view, this.offset));
    return { reason, ageMs: Math.max(0, age), offsetUs: refusalOffsetOf(this.view, this.offset) ?? 0 };
  }

  /**
   * The same if that report came after the newest accepted one. No sign of life: it may be a recording.
   */
  get refusedSince(): Refusal | undefined {
    const refusal = this.lastRefusal;
    // A late report says nothing: a newer one of its run had been accepted before.
    if (refusal === undefined || refusal.reason === 'late') return undefined;
    return refusalOf(this.view, this.offset) <= (this.stampNs ?? -1n) ? undefined : refusal;
  }

  /** The address from which the last report came, IPv4 or IPv6; empty if there is none. */
  get address(): string {
    return formatBytes(addressOf(this.view, this.offset));
  }

  /**
   * The address from which reports came before, and for how long they have come from `address`, ms; undefined: from no
   * other.
   */
  get addressBefore(): { address: string; sinceMs: number } | undefined {
    const address = formatBytes(addressBeforeOf(this.view, this.offset));
    if (address === '') return undefined;
    const since = milliseconds(this.snapshot.evidence.nowNs - addressSinceOf(this.view, this.offset));
    return { address, sinceMs: Math.max(0, since) };
  }

  /** Whether two machines report as this node; undefined: no. */
  get clone(): Clone | undefined {
    return this.snapshot.cloneOf(this.index);
  }

  /** Its problems, the worst first; empty if it is neither live nor uncertain. */
  get problems(): Problem[] {
    return problemsOf(this.snapshot.overview.problems[this.index] ?? 0);
  }

  /** The CLOCK_MONOTONIC stamp of the newest report, ns. */
  get stampNs(): bigint | undefined {
    return this.#newest === undefined ? undefined : stampOf(this.view, this.#newest);
  }

  /** The number of the link by which the newest report came; 0: unknown. */
  get link(): number {
    return this.snapshot.linkOf(this.index);
  }

  /** The name of that link for people; undefined: unknown, or it has no entry. */
  get linkName(): string | undefined {
    const number = this.link;
    const link = this.snapshot.links.find(other => other.number === number);
    return link && linkName(link);
  }

  /** The CLOCK_REALTIME stamp of the newest report, ns. */
  get lastRealNs(): bigint | undefined {
    return this.#newest === undefined ? undefined : stampRealOf(this.view, this.#newest);
  }

  get state(): State {
    return this.snapshot.stateOf(this.index);
  }

  /** The state at the receiver's last heartbeat. */
  get knownState(): State {
    return this.snapshot.stateOf(this.index, true);
  }

  /** Age of the newest report in ms. */
  get ageMs(): number | undefined {
    return this.#slot < 0 ? undefined : Math.max(0, this.snapshot.sinceStamp(this.#slot + STAMP)) / 1e6;
  }

  /** One field of the newest report; undefined when it was not measured. */
  field(name: ReportField): unknown {
    const slot = this.#newest;
    return slot === undefined ? undefined : reportField(name)(this.view, slot + this.snapshot.reportOffset);
  }

  get report(): Report | undefined {
    return this.#decode(this.reportAt);
  }

  get previous(): Report | undefined {
    return this.#decode(this.previousAt);
  }

  get rates(): Rates | undefined {
    return rates(this.view, this.previousAt, this.reportAt);
  }

  #decode(at: number | undefined): Report | undefined {
    return at === undefined ? undefined : decodeReport(this.view, at);
  }
}

function milliseconds(ns: bigint): number {
  return Number(ns) / 1e6;
}

/** The words before a copy, and the copy. */
function lookOf(bytes: Uint8Array) {
  const look = new DataView(bytes.buffer, bytes.byteOffset, LOOK.bytes);
  const taken = {
    nowNs: look.getBigInt64(LOOK.nowNs, true),
    realNs: look.getBigInt64(LOOK.realNs, true),
    nodes: Number(look.getBigUint64(LOOK.nodes, true)),
    stalled: look.getUint32(LOOK.stalled, true) !== 0,
  };
  return { taken, rest: bytes.subarray(LOOK.bytes) };
}

/** How often to try to open a board that is replaced meanwhile. */
const OPENINGS = 3;

/** Maps a board, whatever its state. Throws a Failure if no user has the owner's name. */
export function tryBoard(path: string, owner: number | string | undefined): ReturnType<typeof mapBoard> {
  try {
    return mapBoard(path, owner);
  } catch (error) {
    throw new Failure((error as Error).message, 2);
  }
}

/** A board to read from, by its path: it may be absent now, be replaced, and come back. */
export class BoardReader {
  #mapping: BoardMapping | undefined;
  #opened = 0;
  #buffer: Uint8Array | undefined;
  /** The buffer that the last mapping writes into, and that mapping. */
  #into: Uint8Array | undefined;
  #writing: BoardMapping | undefined;
  /** Room for one node. */
  #small: Uint8Array | undefined;
  #statesBuffer: Uint8Array | undefined;
  /** Mappings that `pieces` still reads. */
  readonly #held = new Map<BoardMapping, number>();

  /** `owner`: a user to trust besides root, ourselves and the user `beoboard`, by name or id. */
  constructor(
    readonly path: string,
    readonly owner?: number | string,
  ) {}

  /** How often a board was opened so far: another number means another file, in which nodes may have other numbers. */
  get opened(): number {
    return this.#opened;
  }

  /**
   * A snapshot of the whole board. Throws NoBoard if none can be read. It replaces the last snapshot: both share a
   * buffer, so that another look costs no memory.
   */
  snapshot(): Snapshot {
    return this.#follow(mapping => this.#lookAtAll(mapping));
  }

  /** The names on the board and their states. Throws NoBoard. */
  nodeStates(): NodeStates {
    let nodeStates: NodeStates | undefined;
    this.#follow(mapping => {
      const bytes = mapping.columnBytes();
      if (this.#statesBuffer === undefined || this.#statesBuffer.length < bytes)
        this.#statesBuffer = this.#allocate(bytes);
      const into = this.#statesBuffer;
      this.#aim(mapping, into);
      if (!mapping.column()) return undefined;
      const { taken, rest } = lookOf(into);
      const board = new Snapshot(this.path, rest, { ...taken, nodes: 0 }, this.#tablesOf(mapping));
      nodeStates = new NodeStates(board, rest, taken.nodes, mapping, () => this.#cut());
      return board;
    });
    return nodeStates as NodeStates;
  }

  /** The same for one node, at the cost of one node; without nodes if it has no record. */
  snapshotOf(name: string): Snapshot {
    return this.#follow(mapping => this.#lookAtOne(mapping, name));
  }

  /**
   * The whole board in snapshots of so many nodes each, which stay in the CPU's cache. Each piece is as fresh as the
   * moment when it is asked for, and is valid until the next piece of this walk; other walks may go on meanwhile, each
   * in its own buffer. All pieces are of one board: if another one replaces it meanwhile, the later pieces are retired.
   * Throws NoBoard.
   */
  *pieces(nodes = 256): Generator<Snapshot> {
    let into: Uint8Array | undefined;
    const look = (mapping: BoardMapping, from: number) => {
      const room = mapping.nodeBytes(nodes);
      if (into?.length !== room) into = new Uint8Array(room);
      return this.#look(mapping, into, from);
    };
    let first = 0;
    let piece = this.#follow(mapping => look(mapping, 0));
    const mapping = this.#mapping as BoardMapping;
    this.#held.set(mapping, (this.#held.get(mapping) ?? 0) + 1);
    try {
      yield piece;
      while (piece.count === nodes) {
        first += nodes;
        const next = look(mapping, first);
        if (next === undefined) throw this.#cut();
        piece = next;
        if (piece.count > 0) yield piece;
      }
    } finally {
      const holders = (this.#held.get(mapping) ?? 1) - 1;
      if (holders > 0) this.#held.set(mapping, holders);
      else this.#held.delete(mapping);
      if (mapping !== this.#mapping && holders === 0) mapping.unmap();
    }
  }

  /** The links of the board of the last look. Throws NoBoard. */
  links(): LinkEntry[] {
    return this.#ask(mapping => mapping.links());
  }

  /** The sources of rejected datagrams of that board. Throws NoBoard. */
  senders(): SenderEntry[] {
    return this.#ask(mapping => mapping.senders());
  }

  /** Events of that board from number `next` on, at most so many, and the number to continue with. Throws NoBoard. */
  events(next: number, most: number): { next: number; events: EventEntry[] } {
    return this.#ask(mapping => mapping.events(next, most));
  }

  #ask<T>(question: (mapping: BoardMapping) => T | undefined): T {
    this.#mapping ??= this.#open();
    return this.#whole(question(this.#mapping));
  }

  /** The answer of a mapping. Throws NoBoard if its file was cut short. */
  #whole<T>(answer: T | undefined): T {
    if (answer === undefined) throw this.#cut();
    return answer;
  }

  /** The tables of the board that a snapshot is of, which may have been replaced since. */
  #tablesOf(mapping: BoardMapping): Tables {
    return { links: () => this.#whole(mapping.links()), senders: () => this.#whole(mapping.senders()) };
  }

  #follow(look: (mapping: BoardMapping) => Snapshot | undefined): Snapshot {
    this.#mapping ??= this.#open();
    let snapshot = look(this.#mapping);
    // A retired or stalled board may have a successor under the same path.
    if (snapshot === undefined || snapshot.retired || (snapshot.stalled && !this.#mapping.isAt(this.path))) {
      this.close();
      this.#mapping = this.#open();
      snapshot = look(this.#mapping);
    }
    if (snapshot === undefined) throw this.#cut();
    return snapshot;
  }

  #cut(): NoBoard {
    return new NoBoard('truncated', this.path, 'was cut while it was read; restart beoboard receive: it makes another');
  }

  #lookAtAll(mapping: BoardMapping): Snapshot | undefined {
    const bytes = mapping.snapshotBytes();
    if (this.#buffer === undefined || this.#buffer.length < bytes || this.#buffer.length > 4 * bytes)
      this.#buffer = this.#allocate(bytes);
    return this.#look(mapping, this.#buffer, 0);
  }

  #allocate(bytes: number): Uint8Array {
    try {
      return new Uint8Array(bytes);
    } catch {
      const need = `a copy of it needs ${Math.ceil(bytes / 2 ** 30)} GiB of memory`;
      throw new NoBoard('foreign', this.path, `${need}; give beoboard receive a lower --capacity`);
    }
  }

  #lookAtOne(mapping: BoardMapping, name: string): Snapshot | undefined {
    const record = mapping.find(name);
    const room = mapping.nodeBytes(1);
    if (this.#small === undefined || this.#small.length !== room) this.#small = new Uint8Array(room);
    // After the last node there is none.
    return this.#look(mapping, this.#small, record === -1 ? 2 ** 32 - 1 : record);
  }

  #look(mapping: BoardMapping, into: Uint8Array, first: number): Snapshot | undefined {
    this.#aim(mapping, into);
    if (!mapping.snapshot(first)) return undefined;
    const { taken, rest } = lookOf(into);
    return new Snapshot(this.path, rest, taken, this.#tablesOf(mapping));
  }

  /** Makes the mapping write there. */
  #aim(mapping: BoardMapping, into: Uint8Array): void {
    if (into !== this.#into || mapping !== this.#writing) mapping.into(into);
    this.#into = into;
    this.#writing = mapping;
  }

  #open(): BoardMapping {
    for (let attempt = 1; ; attempt++) {
      const opened = tryBoard(this.path, this.owner);
      if (opened.state === 'ready') {
        this.#opened++;
        return opened.board;
      }
      // A board is marked as retired after its successor stands at the path, so the board that we opened was replaced
      // meanwhile.
      if (opened.state !== 'retired' || attempt === OPENINGS) throw new NoBoard(opened.state, this.path, opened.why);
    }
  }

  close(): void {
    if (this.#mapping !== undefined && !this.#held.has(this.#mapping)) this.#mapping.unmap();
    this.#mapping = undefined;
    this.#writing = undefined;
  }
}
