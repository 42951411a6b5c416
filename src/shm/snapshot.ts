// A private copy of a board, as it was at one moment, and the nodes in it. Pure.

import {
  type Decoded,
  decode,
  decodeReport,
  getter,
  type Report,
  type ReportField,
  reportField,
} from '../layout/codec.js';
import { bits, enums, structs } from '../layout/layout.gen.js';
import {
  type EventEntry,
  type LinkEntry,
  lastWords,
  OVERVIEW,
  type SenderEntry,
  type Totals,
  texts,
  totals,
  unmeasuredLimitMs,
} from '../native/index.js';
import { type Evidence, sinceMs } from './header.js';
import { linkName, listenedMs, OTHER_LINKS, type SeenNodes } from './links.js';
import { HEARD, NUMBERED, type State } from './liveness.js';
import { type LastWords, lastWordsOf, Memory } from './memory.js';
import { noticeOf } from './notice.js';
import { type Problem, problemsOf } from './problems.js';
import { type Rates, rates } from './rates.js';
import type { Rejection } from './refusal.js';

export type { PartInUse as Part, SenderEntry, Totals } from '../native/index.js';

/** That two machines report as one node: from where, and since when. */
export interface Clone {
  /** Both addresses, or the one that they share. */
  addresses: readonly string[];
  sinceMs: number;
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

const nameOf = getter('record', 'name');
const addressOf = getter('record', 'address');
const addressBeforeOf = getter('record', 'address_before');
const addressSinceOf = getter('record', 'address_ns');
const refusalReasonOf = getter('record', 'refusal_reason');
const refusalOf = getter('record', 'refusal_ns');
const refusalOffsetOf = getter('record', 'refusal_offset_us');
const stampOf = getter('slot', 'stamp_ns');
const stampRealOf = getter('slot', 'stamp_real_ns');

/** In words of 32 bits, from the beginning of a slot. */
const STAMP = structs.slot.fields.stamp_ns.offset / 4;

/** No board has a shorter longest interval. */
const LEAST_LONGEST_MS = 60_000;

/** For how many intervals two machines count as reporting as one after they were last seen to; a minute at least. */
const CLONE_INTERVALS = 60;

/** The result of one look at all nodes, by the numbers of their records. */
export interface Overview {
  /** The age of the newest report, ms; -1: there is none. */
  readonly ages: Float64Array;
  /** The node's clock minus the master's, s: of its newest report, minus what collecting took; 0: there is none. */
  readonly skews: Float64Array;
  /** The problems of a node that is live or uncertain: bits by the numbers of the problems; 0 for other nodes. */
  readonly problems: Uint32Array;
  /** Likewise, those that its newest report does not measure, for so long that they are not shown as present. */
  readonly unmeasured: Uint32Array;
  /** Likewise, those that it does not measure, and that the last report to measure them showed, however lately. */
  readonly unsettled: Uint32Array;
  /** Likewise, those that its newest report can show. */
  readonly measured: Uint32Array;
  /** A number for the kernel release of a live node: the same for the same, nearly always another else; 0: unknown. */
  readonly kernels: Uint32Array;
  /** The interval of its newest report, ms; 0: unknown. */
  readonly intervals: Uint32Array;
  /** How late that was made, us; 0: in time, or unknown. */
  readonly lates: Uint32Array;
  /** 0: no trouble of the node is remembered. */
  readonly told: Uint8Array;
  /** As `NUMBERED`. */
  readonly states: Uint8Array;
  /** The same at the receiver's last heartbeat: what was known before it stalled, or its board was retired. */
  readonly known: Uint8Array;
}

/** The tables of a board besides its nodes. Each is read when it is asked for. */
export interface Tables {
  links(): readonly LinkEntry[];
  senders(): readonly SenderEntry[];
  /** As `BoardReader.events`. */
  events(next: number, most: number): { next: number; events: readonly EventEntry[] };
}

/** The hottest sensor of a node, in tenths of a degree, and a number that is equal on equal hardware. */
export interface NodeHeat {
  readonly hardware: number;
  readonly dc: number;
}

const EVENTS_AT_ONCE = 256;

/** Entries of the table of rejected senders for each reason. */
export const SENDERS_EACH = 8;

/** When a copy was taken, and of how many nodes; whether its receiver was stalled then. */
interface Taken {
  nowNs: bigint;
  realNs: bigint;
  nodes: number;
  stalled: boolean;
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
const hardwareOf = reportField('hw_hash');
const hottestOf = reportField('temp_hottest_dc');
const orderProvedOf = getter('record', 'order_proved');
const authProvedOf = getter('record', 'auth_proved');
const cloneAddressOf = getter('memory', 'clone_address');
const cloneOtherOf = getter('memory', 'clone_other');
// Offsets of what every node is judged by, in words of 32 bits.
const HEAD = structs.slot.fields.head.offset / 4;
const LINK = structs.slot.fields.link.offset / 4;
// Places in a memory, likewise.
const CLONE_HEAD = structs.memory.fields.clone_head.offset / 4;
const CLONE_SINCE = structs.memory.fields.clone_since_ns.offset / 4;
const CLONE = structs.memory.fields.clone_ns.offset / 4;
const RECENT = structs.memory.fields.recent.offset / 4;
const SILENCE = structs.memory.fields.silence.offset / 4;
const HEARD_SINCE = structs.memory.fields.heard_since_ns.offset / 4;
const BOOT = structs.memory.fields.boot_ns.offset / 4;
const REMEMBERS_SINCE = structs.memory.fields.remembers_since_ns.offset / 4;
const GONE = structs.memory.fields.health_gone_ns.offset / 4;
const GONE_END = structs.memory.fields.gpu_gone_ns.offset / 4 + 2;
/** Behind the block about two machines, which earlier versions have, too. */
const MEMORY_KNOWN = structs.memory.fields.digests.offset;
const NAME_BYTES = structs.record.fields.name.count;

/** The names of so many nodes, the first of which begins at that byte: in one call, as single calls take longer. */
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

/** A private, consistent copy of the board, or of the part that was asked for. */
export class Snapshot implements SeenNodes {
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
  readonly reportOffset: number;
  /** Where in a record its memory begins; 0: it has none, or a shorter one. */
  readonly #memoryOffset: number;
  readonly #memoryBytes: number;
  /** Where the results for each node lie, and their first byte. */
  readonly #overviews: Uint8Array;
  readonly #overviewAt: number;
  #overview: Overview | undefined;
  readonly #nowHigh: number;
  readonly #nowLow: number;
  /** CLOCK_MONOTONIC of the look, in whole ms. */
  readonly nowMs: number;
  #links: readonly LinkEntry[] | undefined;

  /**
   * `bytes`: the header, then as many column words and records as `nodes` says, at the strides of the header, then
   * the arrays of `OVERVIEW` for them. `tables`: of the same board; without them the snapshot has no links.
   */
  constructor(
    readonly path: string,
    bytes: Uint8Array,
    taken: Taken,
    readonly tables?: Tables,
  ) {
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
    this.nowMs = Number(taken.nowNs / 1_000_000n);
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
    this.#memoryBytes = word('memory_bytes');
    this.#memoryOffset = this.#memoryBytes < MEMORY_KNOWN ? 0 : word('memory_offset');
    this.#overviewAt = this.#records + this.count * this.#recordStride;
    this.#overviews = bytes;
    this.stalled = taken.stalled;
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
    return Number(this.evidence.nowNs - this.evidence.heartbeatNs) / 1e6;
  }

  /** Whether a mirror writes the board. */
  get isMirror(): boolean {
    return (this.header.mirror_masters ?? 0) !== 0;
  }

  /** For how long the receiver has had no gap, ms, up to its heartbeat. */
  get listenedMs(): number {
    return listenedMs(this.evidence);
  }

  /** Datagrams that were not accepted, by reason; reasons with 0 are left out. */
  get refused(): Record<string, number> {
    const entries = enums.reason.map((reason, i) => [reason, this.header.refused[i] ?? 0] as const);
    return Object.fromEntries(entries.filter(([, count]) => count > 0));
  }

  /** The links by which reports came, as they are when this is first asked for. */
  get links(): readonly LinkEntry[] {
    this.#links ??= (this.tables?.links() ?? []).filter(
      ({ number, accepted }) => number !== OTHER_LINKS || accepted > 0,
    );
    return this.#links;
  }

  /** The sources of rejected datagrams, likewise; the most recent first. */
  get senders(): SenderEntry[] {
    return [...(this.tables?.senders() ?? [])].sort((a, b) => Number(b.lastNs - a.lastNs));
  }

  /** Read when it is asked for; see `noticeOf`. */
  get notice(): string {
    return noticeOf(this.path, Number(this.header.pid));
  }

  /** The events of the last so many ms, as far as the board still has them, the oldest first. */
  lateEvents(ms: number): EventEntry[] {
    const found: EventEntry[] = [];
    const since = this.evidence.nowNs - BigInt(ms) * 1_000_000n;
    for (let end = (this.header.event_last ?? 0) + 1; end > 1; ) {
      const first = Math.max(1, end - EVENTS_AT_ONCE);
      const events = this.tables?.events(first, end - first).events.filter(({ number }) => number < end) ?? [];
      const late = events.filter(({ stampNs }) => stampNs >= since);
      found.unshift(...late);
      if (events.length === 0 || late.length < events.length) break;
      end = first;
    }
    return found;
  }

  /** Whether sentences made of it tell moments as data, `2026-11-27T02:03:04Z`, for a page that knows its reader's zone. */
  tellsUtc = false;

  /** The number of the link by which a node's newest report came; 0: unknown, or there is none. */
  linkOf(index: number): number {
    const slot = this.newestSlot(this.recordWord(index));
    return slot < 0 || this.words[slot + LINK + 1] !== 0 ? 0 : (this.words[slot + LINK] as number);
  }

  ageMs(index: number): number {
    return this.overview.ages[index] as number;
  }

  /** The interval of the node of that number, ms; 0: unknown. */
  intervalOf(index: number): number {
    return this.overview.intervals[index] as number;
  }

  /** After how long what the node of that number does not measure is no longer shown as present, ms. */
  unmeasuredLimitMs(index: number): number {
    return unmeasuredLimitMs(this.intervalOf(index), this.evidence.longestIntervalMs);
  }

  /** How late its newest report was made, us; 0: in time, or unknown. */
  lateOf(index: number): number {
    return this.overview.lates[index] as number;
  }

  /** What was rejected since its newest report, as in `Node.refusedSince`. */
  refusedSinceOf(index: number): Rejection | undefined {
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
      isProved: ((isMirror ? authProvedOf : orderProvedOf)(this.view, record) ?? 0) !== 0,
    };
  }

  /**
   * The bits of the problems that the node of that number does not show now and that are not over, by their quiet times. Of a node
   * that is not heard, and of what is not measured any more, nothing is known.
   */
  recentOf(index: number): number {
    const { problems, unmeasured, states } = this.overview;
    if (!HEARD.has(states[index] as number)) return 0;
    return this.openOf(index) & ~((problems[index] as number) | (unmeasured[index] as number));
  }

  /** The bits of the problems of which the episode is not over, as they are remembered. */
  protected openOf(index: number): number {
    if (this.overview.told[index] === 0) return 0;
    return this.words[this.recordWord(index) + this.#memoryOffset / 4 + RECENT] ?? 0;
  }

  /** Whether a silence or a recent problem of the node of that number is remembered; who asks of all asks this first. */
  remembersTrouble(index: number): boolean {
    if (this.#memoryBytes < structs.memory.bytes) return false;
    const at = this.recordWord(index) + this.#memoryOffset / 4;
    const { words } = this;
    const recent = (words[at + RECENT] ?? 0) | (words[at + RECENT + 1] ?? 0);
    return (recent | (words[at + SILENCE] ?? 0) | (words[at + SILENCE + 1] ?? 0)) !== 0;
  }

  /**
   * Whether a problem is recent, a source is gone, a silence lasts, or either was over within the last so many ms, as is remembered of the
   * node of that number.
   */
  troubleWithin(index: number, ms: number): boolean {
    if (this.overview.told[index] === 0) return false;
    const { words } = this;
    const at = this.recordWord(index) + this.#memoryOffset / 4;
    if (((words[at + RECENT] ?? 0) | (words[at + RECENT + 1] ?? 0)) !== 0) return true;
    for (let word = at + GONE; word < at + GONE_END; word++) if (words[word] !== 0) return true;
    const memory = this.memoryOf(index);
    const { endedMs = 0 } = memory?.silence ?? { endedMs: ms };
    return endedMs < ms || (memory?.episodes.some(({ seenMs }) => seenMs < ms) ?? false);
  }

  /** Whether it is remembered that the node of that number was booted within the last so many ms. */
  bootedWithin(index: number, ms: number): boolean {
    if (this.#memoryBytes < structs.memory.bytes) return false;
    const at = this.recordWord(index) + this.#memoryOffset / 4 + BOOT;
    const isKnown = ((this.words[at] ?? 0) | (this.words[at + 1] ?? 0)) !== 0;
    return isKnown && this.sinceStamp(at) <= ms * 1e6;
  }

  /** Since when it is heard without a gap beyond its first limit, or is known, which is remembered; ms ago, 0: not known. */
  agoOf(index: number, since: 'heard' | 'known'): number {
    if (this.#memoryBytes < structs.memory.bytes) return 0;
    const at = this.recordWord(index) + this.#memoryOffset / 4 + (since === 'heard' ? HEARD_SINCE : REMEMBERS_SINCE);
    const isKnown = ((this.words[at] ?? 0) | (this.words[at + 1] ?? 0)) !== 0;
    return isKnown ? Math.max(0, this.sinceStamp(at)) / 1e6 : 0;
  }

  /** What is remembered of the node of that number; undefined: nothing, as on a board of an earlier version. */
  memoryOf(index: number): Memory | undefined {
    if (this.#memoryBytes < structs.memory.bytes) return undefined;
    const at = this.recordWord(index) * 4 + this.#memoryOffset;
    const since = at / 4 + REMEMBERS_SINCE;
    if (((this.words[since] ?? 0) | (this.words[since + 1] ?? 0)) === 0) return undefined;
    return new Memory(this.view, at, this.nowMs);
  }

  /** What the last report of a silent node said, as the board remembers it within a second; undefined: not silent. */
  silentWordsOf(index: number): LastWords | undefined {
    if (this.stateOf(index) !== 'silent') return undefined;
    const { reportAt, previousAt = -1, ageMs } = this.node(index);
    if (reportAt === undefined || ageMs === undefined) return undefined;
    const { buffer, byteOffset, byteLength } = this.view;
    const rows = lastWords(new Uint8Array(buffer, byteOffset, byteLength), previousAt, reportAt);
    return { reportedMs: ageMs, rows: lastWordsOf(rows) };
  }

  /** The hottest sensor of a node, and what hardware it is; undefined: one of both was not measured. */
  heatOf(index: number): NodeHeat | undefined {
    const at = this.#reportWord(index) * 4;
    if (at < 0) return undefined;
    const [hardware, dc] = [hardwareOf(this.view, at), hottestOf(this.view, at)];
    return hardware === undefined || dc === undefined ? undefined : { hardware: Number(hardware), dc: Number(dc) };
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
    const states = this.#overviewAt + this.count * (OVERVIEW.bytes - (known ? 1 : 2));
    return NUMBERED[this.#overviews[states + index] as number] as State;
  }

  get states(): Uint8Array {
    return this.overview.states;
  }

  /** The results for all nodes, as arrays. */
  get overview(): Overview {
    if (this.#overview !== undefined) return this.#overview;
    const { count } = this;
    const { buffer } = this.#overviews;
    const at = this.#overviews.byteOffset + this.#overviewAt;
    this.#overview = {
      ages: new Float64Array(buffer, at, count),
      skews: new Float64Array(buffer, at + 8 * count, count),
      problems: new Uint32Array(buffer, at + 16 * count, count),
      kernels: new Uint32Array(buffer, at + 20 * count, count),
      unmeasured: new Uint32Array(buffer, at + 24 * count, count),
      unsettled: new Uint32Array(buffer, at + 28 * count, count),
      measured: new Uint32Array(buffer, at + 32 * count, count),
      intervals: new Uint32Array(buffer, at + 36 * count, count),
      lates: new Uint32Array(buffer, at + 40 * count, count),
      told: new Uint8Array(buffer, at + 44 * count, count),
      states: new Uint8Array(buffer, at + 45 * count, count),
      known: new Uint8Array(buffer, at + 46 * count, count),
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

  *nodes(): Generator<Node> {
    for (let i = 0; i < this.count; i++) yield this.node(i);
  }
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
  get lastRefusal(): Rejection | undefined {
    const reason = enums.reason[refusalReasonOf(this.view, this.offset) ?? 0] ?? 'none';
    if (reason === 'none') return undefined;
    const ageMs = sinceMs(this.snapshot, refusalOf(this.view, this.offset));
    return { reason, ageMs, offsetUs: refusalOffsetOf(this.view, this.offset) ?? 0 };
  }

  /** The same if that report came after the newest accepted one. No sign of life: it may be a recording. */
  get refusedSince(): Rejection | undefined {
    const refusal = this.lastRefusal;
    // A late report says nothing: a newer one of its run had been accepted before.
    if (refusal === undefined || refusal.reason === 'late') return undefined;
    return refusalOf(this.view, this.offset) <= (this.stampNs ?? -1n) ? undefined : refusal;
  }

  /** The address from which the last report came, IPv4 or IPv6; empty if there is none. */
  get address(): string {
    return formatBytes(addressOf(this.view, this.offset));
  }

  /** From where reports came before, and for how long they have come from `address`, ms; undefined: from no other. */
  get addressBefore(): { address: string; sinceMs: number } | undefined {
    const address = formatBytes(addressBeforeOf(this.view, this.offset));
    if (address === '') return undefined;
    return { address, sinceMs: sinceMs(this.snapshot, addressSinceOf(this.view, this.offset)) };
  }

  /** Whether two machines report as this node; undefined: no. */
  get clone(): Clone | undefined {
    return this.snapshot.cloneOf(this.index);
  }

  /** What is remembered of it; undefined: nothing. */
  get memory(): Memory | undefined {
    return this.snapshot.memoryOf(this.index);
  }

  /** Its problems, the worst first; empty if it is neither live nor uncertain. */
  get problems(): Problem[] {
    return problemsOf(this.snapshot.overview.problems[this.index] ?? 0);
  }

  /** Problems that it does not have now and that are not over, by their quiet times, likewise. */
  get recently(): Problem[] {
    return problemsOf(this.snapshot.recentOf(this.index));
  }

  /** Problems that are not measured any more, and not shown as present, likewise. */
  get unmeasured(): Problem[] {
    return problemsOf(this.snapshot.overview.unmeasured[this.index] ?? 0);
  }

  /** These, and those that it had when they were last measured, likewise. */
  get doubts(): Problem[] {
    const { unmeasured, unsettled } = this.snapshot.overview;
    return problemsOf((unmeasured[this.index] ?? 0) | (unsettled[this.index] ?? 0));
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

  get knownState(): State {
    return this.snapshot.stateOf(this.index, true);
  }

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
