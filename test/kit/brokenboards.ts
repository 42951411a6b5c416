// Makes every broken board that we could think of: one good board, laid out by hand after proto/board-v2.md, and then
// corrupted. By hand: node dist/test/kit/brokenboards.js DIR makes one folder for each under DIR, and lists them. The
// expected messages are in test/golden/broken-boards.txt, and test/board/brokenboards.test.ts compares them. No test of
// its own.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fchownSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Encodable, encode } from '../../src/layout/codec.js';
import { enums, HASH_BOARD_V2, HASH_STAT_V1, structs } from '../../src/layout/layout.gen.js';
import { main as receive } from '../../src/receiver/main.js';
import { NoBoard } from '../../src/shm/noboard.js';
import { BoardReader } from '../../src/shm/reader.js';
import { editBoard, openWriter } from '../../src/shm/writer.js';
import { Failure } from '../../src/text/failure.js';
import { oneLine } from '../../src/text/text.js';
import { now } from './clocks.js';
import { NOBODY, ROOT_USER } from './ordinary.js';
import { makeReport } from './reports.js';
import { deliver } from './testwriter.js';
import { packWord } from './words.js';

const S = 1_000_000_000n;
const MOST = 2n ** 64n - 1n;
const MOST_U32 = 0xffffffff;
/** The user that owns the boards of others. */
const STRANGER = 1234;

/** This machine's boot id, in the form of the board. */
export const BOOT_ID = BigInt(
  `0x${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll('-', '').slice(0, 16)}`,
);

/** The hash of "Names" in the contract. */
function hashOf(name: string, seed: bigint): bigint {
  let h = 0xcbf29ce484222325n ^ seed;
  for (const byte of Buffer.from(name)) h = ((h ^ BigInt(byte)) * 0x100000001b3n) & MOST;
  return h ^ (h >> 32n);
}

export const CAPACITY = 8;
const SLOTS = 16;
const LINKS = 32;
const SENDERS = 256;
const EVENTS = 4096;
/** The number of the only interface that has received anything. */
const LINK = 1;
/** The number that stands for all other links. */
const OTHERS = 31;
/** The first entry of senders that were rejected for their clock. */
const CLOCK_SENDER = 8 * enums.reason.indexOf('clock');
/** In an event that belongs to no record and no link. */
const NO_SUBJECT = 0xffffffff;
const SEED = 0x5eedn;
const RECORD = structs.record.bytes;
const SLOT = structs.slot.bytes;
const MEMORY = structs.memory.bytes;
const STRIDE = RECORD + 2 * SLOT + MEMORY;
const PAGE = 4096;

/** The sequence number of node1's newest report. */
export const NEWEST = 3;
const INTERVAL_MS = 60_000;
const BOOTED = 86_400n * S;

export function reportOf(hostname: string, seq: number, more: Encodable<'report'> = {}): Uint8Array {
  return makeReport({
    hostname,
    seq,
    interval_ms: INTERVAL_MS,
    t_boot_ns: BOOTED + BigInt(seq) * 60n * S,
    valid: 0b100101n, // cpus, load, memory
    cpus_online: 4,
    cpus_present: 4,
    load1_c: 125,
    mem_total_mib: 1000,
    mem_avail_mib: 750,
    ...more,
  });
}

/** A board in memory that can be corrupted: offsets are bytes in the file. */
export class Sheet {
  bytes = new Uint8Array(0);
  /** The time at which it was made. */
  readonly #made = now();
  readonly links: number = structs.board_header.bytes;
  readonly senders = this.links + LINKS * structs.link.bytes;
  readonly events = this.senders + SENDERS * structs.sender.bytes;
  readonly index = this.events + EVENTS * structs.event.bytes;
  readonly column = this.index + SLOTS * 8;
  readonly records: number;

  /**
   * Two nodes, node1 with two reports and node2 with one. `toPage`: it ends at the end of a page, so that a read beyond
   * it crashes.
   */
  constructor(toPage = false) {
    this.records = this.column + CAPACITY * 8;
    if (toPage) this.records += PAGE - ((this.records + CAPACITY * STRIDE) % PAGE);
    this.bytes = new Uint8Array(this.records + CAPACITY * STRIDE);
    const { mono, real } = this.#made;
    this.header({
      magic: Buffer.from('BEOBOARD').readBigUInt64LE(),
      version: 0x20001,
      header_bytes: structs.board_header.bytes,
      stat_hash: HASH_STAT_V1,
      board_hash: HASH_BOARD_V2,
      file_bytes: this.bytes.length,
      capacity: CAPACITY,
      links: LINKS,
      links_offset: this.links,
      links_stride: structs.link.bytes,
      senders: SENDERS,
      senders_offset: this.senders,
      senders_stride: structs.sender.bytes,
      events: EVENTS,
      events_offset: this.events,
      events_stride: structs.event.bytes,
      index_slots: SLOTS,
      index_offset: this.index,
      column_offset: this.column,
      records_offset: this.records,
      index_stride: 8,
      column_stride: 8,
      record_stride: STRIDE,
      slots_offset: RECORD,
      memory_offset: RECORD + 2 * SLOT,
      memory_bytes: MEMORY,
      slot_stride: SLOT,
      report_offset: structs.slot.fields.report.offset,
      report_bytes: structs.report.bytes,
      slots: 2,
      index_seed: SEED,
      master_boot_id: BOOT_ID,
      created_real_ns: real,
      instance: 1,
      pid: 4_000_000,
      started_ns: mono - 2n * S,
      started_real_ns: real - 2n * S,
      uncertain_after_ns: 4_500_000_000,
      silent_after_ns: 10_500_000_000,
      heartbeat_ns: mono,
      listening_since_ns: mono - 2n * S,
      drains: 100,
      received: 5,
      accepted: 4,
      refused: enums.reason.map(reason => Number(reason === 'clock')),
      links_used: 1,
      event_last: 2,
    });
    this.evidence(LINK, { heartbeat_ns: mono, listening_since_ns: mono - 2n * S });
    this.evidence(OTHERS, { heartbeat_ns: mono, listening_since_ns: mono - 2n * S });
    this.link(LINK, {
      name: 'eth0',
      index: 2n,
      state: 1n,
      changed_ns: mono - 2n * S,
      nodes: 2,
      accepted: 4,
      address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1],
    });
    this.link(OTHERS, { state: 1n });
    this.sender(CLOCK_SENDER, {
      head: 2n,
      tail: 2n,
      first_ns: mono - S,
      last_ns: mono - S,
      last_real_ns: real - S,
      count: 1,
      address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 99],
      name: 'node9',
    });
    this.event(1, { kind: BigInt(enums.event_kind.indexOf('takeover')), subject: BigInt(NO_SUBJECT), detail: 1n });
    this.event(2, { kind: BigInt(enums.event_kind.indexOf('restart')), subject: 0n });
    this.node('node1', NEWEST);
    this.node('node2', 1);
  }

  get view(): DataView {
    return new DataView(this.bytes.buffer, 0, this.bytes.length);
  }

  /** CLOCK_MONOTONIC so many seconds before it was made. */
  ago(seconds: number): bigint {
    return this.#made.mono - BigInt(Math.round(seconds * 1e9));
  }

  header(values: Encodable<'board_header'>): void {
    encode('board_header', this.view, 0, values);
  }

  /** Writes the header's evidence about a link. */
  evidence(number: number, values: Encodable<'link_evidence'>): void {
    const at = structs.board_header.fields.evidence.offset + number * structs.link_evidence.bytes;
    encode('link_evidence', this.view, at, values);
  }

  linkAt(number: number): number {
    return this.links + number * structs.link.bytes;
  }

  link(number: number, values: Encodable<'link'>): void {
    encode('link', this.view, this.linkAt(number), values);
  }

  senderAt(entry: number): number {
    return this.senders + entry * structs.sender.bytes;
  }

  sender(entry: number, values: Encodable<'sender'>): void {
    encode('sender', this.view, this.senderAt(entry), values);
  }

  /** Writes the event of this number, a second old, in its place in the ring. */
  event(number: number, values: Encodable<'event'>): void {
    const at = this.events + (number % EVENTS) * structs.event.bytes;
    const { mono, real } = this.#made;
    const sequence = { head: 2 * number, tail: 2 * number };
    encode('event', this.view, at, { ...sequence, stamp_ns: mono - S, stamp_real_ns: real - S, ...values });
  }

  recordAt(index: number): number {
    return this.records + index * STRIDE;
  }

  slotAt(index: number, slot: number): number {
    return this.recordAt(index) + RECORD + slot * SLOT;
  }

  record(index: number, values: Encodable<'record'>): void {
    encode('record', this.view, this.recordAt(index), values);
  }

  slot(index: number, slot: number, values: Encodable<'slot'>): void {
    encode('slot', this.view, this.slotAt(index, slot), values);
  }

  report(index: number, slot: number, values: Encodable<'report'>): void {
    encode('report', this.view, this.slotAt(index, slot) + structs.slot.fields.report.offset, values);
  }

  memory(index: number, values: Encodable<'memory'>): void {
    encode('memory', this.view, this.recordAt(index) + RECORD + 2 * SLOT, values);
  }

  word(index: number, stampNs: bigint, interval: number, goodbye = 0n, link = LINK): void {
    const value = packWord('column', { stamp: stampNs / 1_000_000n, link, interval, goodbye });
    this.view.setBigUint64(this.column + index * 8, value, true);
  }

  /** Writes an entry of the name index. */
  entry(slot: number, hash: bigint, record: number): void {
    this.view.setBigUint64(this.index + slot * 8, ((hash >> 32n) << 32n) | BigInt(record + 1), true);
  }

  /** The slot where the search for a missing name ends. */
  free(name: string): number {
    let slot = Number(hashOf(name, SEED) & BigInt(SLOTS - 1));
    while (this.view.getBigUint64(this.index + slot * 8, true) !== 0n) slot = (slot + 1) % SLOTS;
    return slot;
  }

  enter(name: string, record: number): void {
    this.entry(this.free(name), hashOf(name, SEED), record);
  }

  /** Adds a record, with the newest reports up to this sequence number. */
  node(name: string, newest: number): void {
    const index = Number(this.view.getBigUint64(structs.board_header.fields.count.offset, true));
    const { mono, real } = this.#made;
    const bootNs = BOOTED + BigInt(newest) * 60n * S;
    this.record(index, {
      name,
      accepted: newest,
      order_head: 2 * newest,
      order_tail: 2 * newest,
      start_boot_ns: 50n * S,
      history_seq: newest,
      history: (1n << BigInt(newest)) - 1n,
      known: [{ boot_id: 1n, highest_boot_ns: bootNs }],
      address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, index + 1],
      port: 40_000,
    });
    for (const [slot, seq] of [newest, newest - 1].entries()) {
      if (seq === 0) continue;
      const ago = BigInt(slot) * S + S / 5n;
      const sequence = { head: 2 * seq, tail: 2 * seq };
      this.slot(index, slot, { ...sequence, stamp_ns: mono - ago, stamp_real_ns: real - ago, link: LINK });
      this.bytes.set(reportOf(name, seq), this.slotAt(index, slot) + structs.slot.fields.report.offset);
    }
    this.word(index, mono - S / 5n, INTERVAL_MS);
    this.enter(name, index);
    this.header({ count: index + 1 });
  }

  /** Writes the bytes of a name as they are, without the NUL that `encode` would add. */
  rawName(at: number, name: string | number[]): void {
    const bytes = typeof name === 'string' ? Buffer.from(name) : name;
    this.bytes.fill(0, at, at + 64).set(bytes, at);
  }

  cut(bytes: number): void {
    this.bytes = this.bytes.slice(0, bytes);
  }
}

export interface BrokenBoard {
  /** Also the name of its folder. */
  name: string;
  about: string;
  /** Makes it at the path, in an empty folder. */
  make(path: string): void | Promise<void>;
  /**
   * Whether it may get heartbeats while it is read, as from a running receiver; 'receiver': without those of its links.
   */
  beats: boolean | 'receiver';
  /**
   * The path to read instead of the one that was made: `in` the folder, or anywhere (then no receiver is started on
   * it).
   */
  at?: { in: string } | string;
  /** Only root can make it. */
  root?: boolean;
  /** The readers run as an ordinary user; without root they do anyway. */
  ordinary?: boolean;
  /** More options of the readers. */
  options?: string[];
}

type Row = [name: string, about: string, spoil: (b: Sheet) => void, more?: Partial<BrokenBoard>];

function spoiled(rows: Row[]): BrokenBoard[] {
  return rows.map(([name, about, spoil, more]) => ({
    name,
    about,
    beats: true,
    make(path) {
      const b = new Sheet();
      spoil(b);
      writeFileSync(path, b.bytes, { mode: 0o644 });
    },
    ...more,
  }));
}

/** Rows that only change values in the header. */
function headers(rows: [name: string, about: string, values: Encodable<'board_header'>][]): BrokenBoard[] {
  return spoiled(rows.map(([name, about, values]) => [name, about, b => b.header(values)]));
}

type Place = [name: string, about: string, make: BrokenBoard['make'], more?: Partial<BrokenBoard>];

function places(rows: Place[]): BrokenBoard[] {
  return rows.map(([name, about, make, more]) => ({ name, about, make, beats: false, ...more }));
}

function good(path: string): void {
  writeFileSync(path, new Sheet().bytes, { mode: 0o644 });
}

/** Makes it a file of so many bytes, mostly a hole. */
function sparse(path: string, bytes: number, values: Encodable<'board_header'> = {}): void {
  const b = new Sheet();
  b.header(values);
  writeFileSync(path, b.bytes, { mode: 0o644 });
  truncateSync(path, bytes);
}

const whole = new Sheet();
const END = whole.bytes.length;
const { bytes: REPORT } = structs.report;
const TB = 2 ** 40;

const PARTS = ['links', 'senders', 'events', 'index', 'column', 'records'] as const;
const offsets = PARTS.flatMap(part => {
  const field = `${part}_offset` as const;
  const right = whole[part];
  return headers([
    [`${part}-in-header`, 'it begins within the header', { [field]: 512 }],
    [`${part}-unaligned`, 'it begins 4 bytes further', { [field]: right + 4 }],
    [`${part}-at-end`, 'it begins where the file ends', { [field]: END }],
    [`${part}-last-word`, 'only its first 8 bytes are in the file', { [field]: END - 8 }],
    [`${part}-beyond`, 'it begins 1 TB behind the file', { [field]: TB }],
    [`${part}-sign`, 'it begins at 2^63', { [field]: 1n << 63n }],
    [`${part}-overflow`, 'it begins at 2^64 − 8, so that its end is small again', { [field]: MOST - 7n }],
  ]);
});

function strides(field: keyof Encodable<'board_header'> & string, rows: [string, string, number][]): BrokenBoard[] {
  const name = field.replaceAll('_', '-');
  return headers(rows.map(([what, about, value]) => [`${name}-${what}`, about, { [field]: value }]));
}

/** Makes node1's report a minute old, with an interval of one second, received by this link. */
function oldReport(b: Sheet, link: number): void {
  b.bytes.fill(0, b.slotAt(0, 1), b.slotAt(0, 2));
  b.slot(0, 0, { stamp_ns: b.ago(60), link });
  b.report(0, 0, { interval_ms: 1000 });
  b.word(0, b.ago(60), 1000, 0n, link);
}

/** A link that is down, so that its name is shown. */
const down = (b: Sheet) => ({ state: 0n, changed_ns: b.ago(1) });

const ESCAPES = '\x1b[2J\x1b]0;owned\x07';
const escaped = `evil${ESCAPES}`;

/** All broken boards, in reading order. */
export const groups: [title: string, boards: BrokenBoard[]][] = [
  [
    'A good board, for comparison',
    spoiled([
      ['good', 'two nodes, a receiver that lives', () => {}],
      [
        'good-ended',
        'its receiver was ended a minute ago, cleanly',
        b => b.header({ state: 1n, heartbeat_ns: b.ago(60), listening_since_ns: 1n }),
        { beats: false },
      ],
      [
        'good-no-nodes',
        'nobody has reported yet',
        b => b.bytes.fill(0, b.events) && b.header({ count: 0, event_last: 0 }),
      ],
      [
        'good-longer',
        'a page longer than it says',
        b => {
          b.bytes = Buffer.concat([b.bytes, Buffer.alloc(4096)]);
        },
      ],
    ]),
  ],
  [
    'Nothing is there',
    places([
      ['absent', 'no file', () => {}],
      ['absent-folder', 'nor its folder', () => {}, { at: { in: 'nowhere/board' } }],
      [
        'absent-no-folder',
        'its folder is a file',
        path => writeFileSync(join(dirname(path), 'file'), ''),
        { at: { in: 'file/board' } },
      ],
    ]),
  ],
  [
    'Too short',
    spoiled([
      ['empty', '0 bytes', b => b.cut(0)],
      ['one-byte', '1 byte', b => b.cut(1)],
      ['magic-only', 'the first 8 bytes', b => b.cut(8)],
      ['header-cut', '1535 bytes: shorter than a header', b => b.cut(1535)],
      ['header-only', '1536 bytes: the header, and nothing of what it tells of', b => b.cut(1536)],
      ['cut-in-links', 'ends in the table of links', b => b.cut(b.links + 200)],
      ['cut-in-senders', 'ends in the table of rejected senders', b => b.cut(b.senders + 200)],
      ['cut-in-events', 'ends in the ring of events', b => b.cut(b.events + 200)],
      ['cut-in-index', 'ends in the name index', b => b.cut(b.index + 20)],
      ['cut-in-column', 'ends in the liveness column', b => b.cut(b.column + 20)],
      ['cut-in-records', 'ends in the first record', b => b.cut(b.records + 100)],
      ['cut-in-last-record', 'ends in the last record, which is not in use', b => b.cut(END - 2000)],
      ['cut-last-byte', 'one byte is missing', b => b.cut(END - 1)],
    ]),
  ],
  [
    'Not a board, or not one of this version',
    [
      ...headers([
        ['magic-wrong', 'another magic', { magic: 0x1234_5678_9abc_def0n }],
        ['magic-zero', 'zeros where the magic was', { magic: 0n }],
        ['half-made', 'version 0: a receiver was killed while it made the board', { version: 0 }],
        ['half-made-magic', 'version 0, and another magic', { version: 0, magic: 1n }],
        ['version-0.1', 'major version 0', { version: 1 }],
        ['version-1.0', 'the major version before, whose words have other bits', { version: 0x10000 }],
        [
          'version-2.0',
          'the minor version before, with nothing that is known behind the slots',
          { version: 0x20000, memory_offset: 0, memory_bytes: 0 },
        ],
        ['version-2.2', 'a higher minor version: may be read', { version: 0x20002 }],
        ['version-3.0', 'another major version', { version: 0x30000 }],
        ['version-most', 'all bits of the version', { version: MOST_U32 }],
        ['report-layout', 'reports of another layout', { stat_hash: 7n }],
        ['board-layout', 'another build whose layout has another hash: may be read', { board_hash: 7n }],
      ]),
      ...places([
        ['text', 'a text somebody wrote', path => writeFileSync(path, 'My thesis.\n'.repeat(200))],
        ['zeros', '64 KiB of zeros', path => writeFileSync(path, Buffer.alloc(65_536))],
        ['ones', '64 KiB of ones', path => writeFileSync(path, Buffer.alloc(65_536, 0xff))],
      ]),
    ],
  ],
  [
    'Sizes and strides',
    [
      ...headers([
        ['header-bytes-0', 'a header of 0 bytes', { header_bytes: 0 }],
        ['header-bytes-less', 'a header that is too small', { header_bytes: 1528 }],
        ['header-bytes-unaligned', 'a header of 1540 bytes', { header_bytes: 1540 }],
        ['header-bytes-huge', 'a header of 4 GiB', { header_bytes: 0xfffffff8 }],
        ['file-bytes-0', 'a file of 0 bytes', { file_bytes: 0 }],
        ['file-bytes-more', 'a file that is 8 bytes longer than it is', { file_bytes: END + 8 }],
        ['file-bytes-most', 'a file of 2^64 − 1 bytes', { file_bytes: MOST }],
      ]),
      ...(['links', 'senders', 'events'] as const).flatMap(part => {
        const { bytes } = structs[({ links: 'link', senders: 'sender', events: 'event' } as const)[part]];
        return strides(`${part}_stride`, [
          ['0', 'all entries in one place', 0],
          ['less', 'a word less than an entry has', bytes - 8],
          ['unaligned', 'half a word more', bytes + 4],
          ['wide', 'twice as much: it runs into the parts behind it', 2 * bytes],
          ['huge', '4 GiB', 0xfffffff8],
        ]);
      }),
      ...strides('index_stride', [
        ['0', 'all entries in one place', 0],
        ['1', 'entries a byte apart', 1],
        ['unaligned', '12', 12],
        ['wide', '16: it runs through the column and into the records', 16],
        ['huge', '4 GiB', 0xfffffff8],
      ]),
      ...strides('column_stride', [
        ['0', 'all words in one place', 0],
        ['1', 'words a byte apart', 1],
        ['unaligned', '12', 12],
        ['wide', '16: it runs into the records', 16],
        ['huge', '4 GiB', 0xfffffff8],
      ]),
      ...strides('record_stride', [
        ['0', 'all records in one place', 0],
        ['1', 'records a byte apart', 1],
        ['unaligned', 'half a word more', STRIDE + 4],
        ['overlapping', 'the last slot lies in the next record', RECORD + 2 * SLOT - 64],
        ['huge', '4 GiB', 0xfffffff8],
      ]),
      ...strides('slots_offset', [
        ['0', 'the slots lie on the record', 0],
        ['unaligned', 'half a word further', RECORD + 4],
        ['overlapping', 'a word within the record', RECORD - 8],
        ['huge', '4 GiB', 0xfffffff8],
      ]),
      ...strides('memory_offset', [
        ['0', 'the memory lies on the record', 0],
        ['unaligned', 'half a word further', RECORD + 2 * SLOT + 4],
        ['overlapping', 'a word within the last slot', RECORD + 2 * SLOT - 8],
        ['huge', '4 GiB', 0xfffffff8],
      ]),
      ...strides('memory_bytes', [
        ['unaligned', 'half a word less', MEMORY - 4],
        ['short', 'no room for what readers know: not remembered', 8],
        ['outside', 'a word of the next record', MEMORY + 8],
        ['huge', '4 GiB', 0xfffffff8],
      ]),
      ...strides('slot_stride', [
        ['0', 'both slots in one place', 0],
        ['unaligned', 'half a word more', SLOT + 4],
        ['overlapping', 'a word less', SLOT - 8],
        ['huge', '4 GiB', 0xfffffff8],
      ]),
      ...headers([
        ['slots-0', 'no slots', { slots: 0 }],
        ['slots-1', 'one slot', { slots: 1 }],
        ['slots-3', 'three slots', { slots: 3 }],
        ['slots-most', '2^32 − 1 slots', { slots: MOST_U32 }],
        ['report-offset-0', 'the report lies on the head of its slot', { report_offset: 0 }],
        ['report-offset-more', 'the report begins a word later', { report_offset: 40 }],
        ['report-offset-huge', 'the report is 4 GiB away', { report_offset: 0xfffffff8 }],
        ['report-bytes-0', 'reports of 0 bytes', { report_bytes: 0 }],
        ['report-bytes-more', 'reports that are a word longer', { report_bytes: REPORT + 8 }],
      ]),
    ],
  ],
  [
    'Offsets',
    [
      ...offsets,
      ...headers([
        ['links-on-senders', 'the links lie on the rejected senders', { links_offset: whole.senders }],
        ['senders-on-events', 'the rejected senders lie on the events', { senders_offset: whole.events }],
        ['events-on-index', 'the events run through all that follows', { events_offset: whole.index }],
        ['links-on-column', 'the links lie on the column', { links_offset: whole.column }],
        ['events-on-links', 'the events begin at the links', { events_offset: whole.links }],
        ['column-on-index', 'the column lies on the name index', { column_offset: whole.index }],
        ['records-on-index', 'the records begin at the name index', { records_offset: whole.index }],
        ['index-on-records', 'the name index lies in the first record', { index_offset: whole.records }],
        ['column-on-records', 'the column lies in the first record', { column_offset: whole.records }],
        [
          'product-events',
          '2^20 events 2^20 apart: as much as there may be, and more than there is',
          { events: 2 ** 20, events_stride: 2 ** 20 },
        ],
        [
          'product-index',
          '2^31 entries 2^32 − 8 apart: almost 2^63 bytes',
          { index_slots: 2 ** 31, index_stride: 0xfffffff8 },
        ],
        [
          'product-records',
          '2^24 records 2^32 − 8 apart, from 2^63 on: more than 64 bits',
          { capacity: 2 ** 24, index_slots: 2 ** 25, record_stride: 0xfffffff8, records_offset: 1n << 63n },
        ],
      ]),
    ],
  ],
  [
    'Counts',
    headers([
      ['capacity-0', 'room for no record', { capacity: 0 }],
      ['capacity-more', 'room for one record more than there is', { capacity: CAPACITY + 1, index_slots: 32 }],
      ['capacity-2^24', 'room for 16 million', { capacity: 2 ** 24, index_slots: 2 ** 25 }],
      ['capacity-2^31', 'twice as many are 0 in 32 bits', { capacity: 2 ** 31, index_slots: 0 }],
      ['capacity-most', 'room for 2^32 − 1', { capacity: MOST_U32 }],
      ['index-slots-0', 'a name index without entries', { index_slots: 0 }],
      ['index-slots-odd', 'a name index of 17 entries: no power of two', { index_slots: 17 }],
      ['index-slots-few', 'a name index that is smaller than the capacity', { index_slots: 4 }],
      ['index-slots-tight', 'a name index that may become full', { index_slots: CAPACITY }],
      ['index-slots-huge', 'a name index of 2^31 entries', { index_slots: 2 ** 31 }],
      ['count-0', 'no records, and the name index has two', { count: 0 }],
      ['count-less', 'one record, and the name index has two', { count: 1 }],
      ['count-more', 'three records, and the third was never written', { count: 3 }],
      ['count-full', 'as many records as there is room for, and only two were written', { count: CAPACITY }],
      ['count-over', 'one record more than there is room for', { count: CAPACITY + 1 }],
      ['count-most', '2^64 − 1 records', { count: MOST }],
      ['links-0', 'no links', { links: 0 }],
      ['links-31', 'one link less', { links: LINKS - 1 }],
      ['links-33', 'one link more', { links: LINKS + 1 }],
      ['links-most', '2^32 − 1 links', { links: MOST_U32 }],
      ['senders-0', 'no rejected senders', { senders: 0 }],
      ['senders-255', 'one refused sender less', { senders: SENDERS - 1 }],
      ['senders-257', 'one refused sender more', { senders: SENDERS + 1 }],
      ['senders-most', '2^32 − 1 rejected senders', { senders: MOST_U32 }],
      ['events-0', 'a ring without events', { events: 0 }],
      ['events-64', 'a smaller ring, which another receiver may have made', { events: 64 }],
      ['events-more', 'a ring of one event more than there is room for', { events: EVENTS + 1 }],
      ['events-2^20', 'a ring of 2^20, which leads out of the file', { events: 2 ** 20 }],
      ['events-absurd', 'a ring of 2^20 + 1', { events: 2 ** 20 + 1 }],
      ['events-most', 'a ring of 2^32 − 1', { events: MOST_U32 }],
      ['links-used-0', 'no link has an entry, and nodes came by one', { links_used: 0 }],
      ['links-used-30', 'all links have an entry, and only one was written', { links_used: 30 }],
      ['links-used-31', 'the link of all others counts as one that has an entry', { links_used: 31 }],
      ['links-used-most', '2^64 − 1 links', { links_used: MOST }],
      ['event-last-0', 'no event, and the ring has two', { event_last: 0 }],
      ['event-last-more', 'number 3 is the newest event, and the ring has two', { event_last: 3 }],
      ['event-last-far', 'number 2^40 is the newest event', { event_last: 2n ** 40n }],
      ['event-last-most', 'number 2^64 − 1 is the newest event', { event_last: MOST }],
    ]),
  ],
  [
    'Links',
    spoiled([
      ['link-name-empty', 'a link without a name', b => b.link(LINK, { name: '' })],
      ['link-name-endless', '16 letters, no NUL', b => b.bytes.fill(0x61, b.linkAt(LINK), b.linkAt(LINK) + 16)],
      ['link-name-escape', 'a name that clears the screen', b => b.link(LINK, { name: '\x1b[2J', ...down(b) })],
      ['link-name-markup', 'a name that is XML', b => b.link(LINK, { name: '--><HOST/>&', ...down(b) })],
      [
        'link-name-twice',
        'two links of one name',
        b => {
          b.link(2, { name: 'eth0', state: 1n });
          b.header({ links_used: 2 });
        },
      ],
      ['link-name-others', 'the link of all others has a name', b => b.link(OTHERS, { name: 'eth9' })],
      ['link-state-ones', 'all bits of its state', b => b.link(LINK, { state: MOST })],
      ['link-state-gone', 'up, and gone', b => b.link(LINK, { state: 3n })],
      ['link-ones', 'all bits of it but its name', b => b.bytes.fill(0xff, b.linkAt(LINK) + 16, b.linkAt(LINK) + 128)],
      [
        'link-changed-future',
        'down since an hour from now',
        b => b.link(LINK, { state: 0n, changed_ns: b.ago(-3600) }),
      ],
      [
        'link-dark-future',
        'dark since an hour from now',
        b => b.link(LINK, { dark_since_ns: b.ago(-3600), dark_nodes: 2 }),
      ],
      ['link-dark-nobody', 'dark, and nobody fell', b => b.link(LINK, { dark_since_ns: b.ago(1), dark_nodes: 0 })],
    ]),
  ],
  [
    'Evidence of links: a node that was heard a minute ago, once a second, with no more and no less than that',
    spoiled(
      (
        [
          ['evidence-good', 'its link was listened to all the time', () => {}],
          ['evidence-0', 'its link has no heartbeat', b => b.evidence(LINK, { heartbeat_ns: 0n })],
          [
            'evidence-stale',
            'the heartbeat of its link stands still for as long',
            b => b.evidence(LINK, { heartbeat_ns: b.ago(60) }),
          ],
          ['evidence-sign', 'a heartbeat of its link of 2^63', b => b.evidence(LINK, { heartbeat_ns: 1n << 63n })],
          ['evidence-most', 'a heartbeat of its link of 2^64 − 1', b => b.evidence(LINK, { heartbeat_ns: MOST })],
          [
            'evidence-since',
            'its link listens since an hour from now',
            b => b.evidence(LINK, { listening_since_ns: b.ago(-3600) }),
          ],
          ['evidence-31', 'it came by the link of all others', b => oldReport(b, OTHERS)],
          ['evidence-no-link', 'it came by no link', b => oldReport(b, 0)],
          ['evidence-no-entry', 'it came by link 5, which has no entry', b => oldReport(b, 5)],
        ] satisfies Row[]
      ).map(([name, about, spoil]) => [
        name,
        about,
        b => {
          b.evidence(LINK, { listening_since_ns: 1n });
          b.evidence(OTHERS, { listening_since_ns: 1n });
          oldReport(b, LINK);
          spoil(b);
        },
        { beats: 'receiver' },
      ]),
    ),
  ],
  [
    'Rejected senders',
    spoiled([
      ['sender-half', 'an entry is half-written', b => b.sender(CLOCK_SENDER, { head: 3n })],
      ['sender-head-0', 'head 0, tail 2', b => b.sender(CLOCK_SENDER, { head: 0n })],
      [
        'sender-ones',
        'all bits of an entry',
        b => b.bytes.fill(0xff, b.senderAt(CLOCK_SENDER), b.senderAt(CLOCK_SENDER + 1)),
      ],
      [
        'sender-name-endless',
        'a name of 64 letters, no NUL',
        b => b.rawName(b.senderAt(CLOCK_SENDER) + 56, 'a'.repeat(64)),
      ],
      ['sender-name-escape', 'a name that clears the screen', b => b.sender(CLOCK_SENDER, { name: escaped })],
      ['sender-count-0', 'it came not once', b => b.sender(CLOCK_SENDER, { count: 0 })],
      ['sender-count-most', 'it came 2^64 − 1 times', b => b.sender(CLOCK_SENDER, { count: MOST })],
      ['sender-future', 'it came an hour from now', b => b.sender(CLOCK_SENDER, { last_ns: b.ago(-3600) })],
      [
        'sender-no-reason',
        'an entry of no reason that there is',
        b => b.sender(SENDERS - 1, { head: 2n, tail: 2n, count: 1 }),
      ],
    ]),
  ],
  [
    'Events',
    spoiled([
      ['event-half', 'the newest is half-written', b => b.event(2, { head: 5n })],
      ['event-elsewhere', 'an event that is not in its place', b => b.event(2, { head: 6n, tail: 6n })],
      ['event-kind', 'an event of no kind that there is', b => b.event(2, { kind: 99n })],
      ['event-subject', 'an event of a record that there is not', b => b.event(2, { subject: 7n })],
      [
        'event-sequence-most',
        'an event of the highest sequence that there is',
        b => b.event(2, { head: MOST - 1n, tail: MOST - 1n }),
      ],
      ['event-ones', 'all bits of an event', b => b.bytes.fill(0xff, b.events + 2 * 64, b.events + 3 * 64)],
    ]),
  ],
  [
    'The name index',
    spoiled([
      [
        'index-full',
        'no empty entry: a search would never end',
        b => {
          for (let slot = 0; slot < SLOTS; slot++) b.entry(slot, BigInt(slot) << 40n, slot % 2);
        },
      ],
      ['index-empty', 'no entry at all', b => b.bytes.fill(0, b.index, b.column)],
      ['index-unused-record', 'an entry for a record that is not in use', b => b.enter('node9', 5)],
      ['index-past-capacity', 'an entry for a record that there is no room for', b => b.enter('node9', CAPACITY)],
      ['index-past-file', 'an entry for record 2^32 − 2', b => b.enter('node9', 0xfffffffe)],
      ['index-record-none', 'an entry for record −1', b => b.enter('node9', -1)],
      ['index-twice', 'two entries for one record', b => b.enter('node1', 0)],
      [
        'index-other-hash',
        'the entry of node1 has the hash of another name',
        b => {
          b.bytes.fill(0, b.index, b.column);
          b.enter('node9', 0);
          b.enter('node2', 1);
        },
      ],
      [
        'index-swapped',
        'each of the two entries leads to the other record',
        b => {
          b.bytes.fill(0, b.index, b.column);
          b.enter('node1', 1);
          b.enter('node2', 0);
        },
      ],
      [
        'index-elsewhere',
        'the entry of node1 is where no search comes by',
        b => {
          b.bytes.fill(0, b.index, b.column);
          b.enter('node2', 1);
          b.entry((b.free('node1') + SLOTS - 1) % SLOTS, hashOf('node1', SEED), 0);
        },
      ],
    ]),
  ],
  [
    'Names',
    spoiled([
      ['name-empty', 'a record without a name', b => b.record(0, { name: '' })],
      ['name-endless', '64 letters, no NUL', b => b.rawName(b.recordAt(0), 'a'.repeat(64))],
      ['name-escape', 'a name that clears the screen and sets the title', b => b.record(0, { name: escaped })],
      ['name-newline', 'a name that looks like a line of its own', b => b.record(0, { name: 'a\nnode9  live' })],
      ['name-right-to-left', 'a name that turns the writing around', b => b.record(0, { name: 'a\u202ebc' })],
      ['name-no-utf8', 'bytes that are no UTF-8', b => b.rawName(b.recordAt(0), [0x61, 0xff, 0xfe, 0x9b])],
      ['name-upper', 'a name in upper case', b => b.record(0, { name: 'NODE1' })],
      ['name-path', 'a name that leads out of a folder', b => b.record(0, { name: '../../etc/passwd' })],
      ['name-markup', 'a name that is XML', b => b.record(0, { name: '"><HOST NAME="x"/>' })],
      ['name-after-nul', 'something behind the end of the name', b => b.rawName(b.recordAt(0), 'node1\0x')],
      ['name-twice', 'two records of one name', b => b.record(1, { name: 'node1' })],
      ['cluster-endless', 'a cluster name of 64 letters, no NUL', b => b.rawName(136, 'c'.repeat(64))],
      ['cluster-escape', 'a cluster name that clears the screen', b => b.header({ cluster_name: escaped })],
      ['cluster-other', 'the board of cluster beta', b => b.header({ cluster_name: 'beta', cluster_id: 77 })],
      ['cluster-other-id', 'no cluster name, but the number of one', b => b.header({ cluster_id: 77 })],
    ]),
  ],
  [
    'The liveness column',
    spoiled([
      ['column-none', 'the word is 0, and there are reports', b => b.word(0, 0n, 0)],
      ['column-without-report', 'a word, and no report', b => b.bytes.fill(0, b.slotAt(0, 0), b.recordAt(1))],
      ['column-future', 'the word is an hour ahead', b => b.word(0, b.ago(-3600), INTERVAL_MS)],
      ['column-interval-0', 'an interval of 0', b => b.word(0, b.ago(0.2), 0)],
      ['column-goodbye', 'a goodbye that no report says', b => b.word(0, b.ago(0.2), INTERVAL_MS, 1n)],
      ['column-link', 'another link than its report', b => b.word(0, b.ago(0.2), INTERVAL_MS, 0n, 2)],
      ['column-ones', 'all bits', b => b.view.setBigUint64(b.column, MOST, true)],
    ]),
  ],
  [
    'Slots',
    spoiled([
      ['slot-odd', 'the newer slot is half-written', b => b.slot(0, 0, { head: 7n, tail: 8n })],
      [
        'slot-both-odd',
        'both slots are half-written',
        b => {
          for (const slot of [0, 1]) b.slot(0, slot, { head: 7n, tail: 8n });
        },
      ],
      ['slot-tail-later', 'head 6, tail 8', b => b.slot(0, 0, { tail: 8n })],
      ['slot-tail-earlier', 'head 8, tail 6', b => b.slot(0, 0, { head: 8n })],
      ['slot-head-0', 'head 0, tail 6', b => b.slot(0, 0, { head: 0n })],
      ['slot-equal', 'both slots have the same sequence', b => b.slot(0, 1, { head: 6n, tail: 6n })],
      [
        'slot-sequence-most',
        'the highest sequence there is, 2^64 − 2',
        b => b.slot(0, 0, { head: MOST - 1n, tail: MOST - 1n }),
      ],
      ['slot-odd-most', 'head and tail 2^64 − 1', b => b.slot(0, 0, { head: MOST, tail: MOST })],
      ['slot-future', 'the newer report came in an hour from now', b => b.slot(0, 0, { stamp_ns: b.ago(-3600) })],
      [
        'slot-stamp-most',
        'the newer report came 2^64 − 1 ns after the boot',
        b => {
          b.slot(0, 0, { stamp_ns: MOST });
          b.report(0, 0, { interval_ms: 1000 }); // as below
        },
      ],
      ['slot-stamp-sign', 'the newer report came 2^63 ns after the boot', b => b.slot(0, 0, { stamp_ns: 1n << 63n })],
      [
        'slot-stamp-0',
        'the newer report came at the boot of the master',
        b => {
          b.slot(0, 0, { stamp_ns: 0n });
          b.report(0, 0, { interval_ms: 1000 }); // too old for its interval, however short the machine's uptime is
        },
      ],
      ['slot-link-none', 'the newer report came by link 5, which has no entry', b => b.slot(0, 0, { link: 5 })],
      ['slot-link-32', 'the newer report came by link 32', b => b.slot(0, 0, { link: LINKS })],
      ['slot-link-most', 'the newer report came by link 2^64 − 1', b => b.slot(0, 0, { link: MOST })],
      ['order-odd', 'the order block is half-written', b => b.record(0, { order_head: 7n, order_tail: 8n })],
      ['order-most', 'all bits of the order block', b => b.bytes.fill(0xff, b.recordAt(0) + 192, b.recordAt(0) + 384)],
    ]),
  ],
  [
    'Reports that no receiver would have accepted',
    spoiled([
      ['report-zero', 'all zero', b => b.bytes.fill(0, b.slotAt(0, 0) + 32, b.slotAt(0, 0) + 32 + REPORT)],
      ['report-ones', 'all ones', b => b.bytes.fill(0xff, b.slotAt(0, 0) + 32, b.slotAt(0, 0) + 32 + REPORT)],
      [
        'report-ones-named',
        'all ones but the name',
        b => {
          b.bytes.fill(0xff, b.slotAt(0, 0) + 32, b.slotAt(0, 0) + 32 + REPORT);
          b.report(0, 0, { hostname: 'node1' });
        },
      ],
      ['report-other-node', 'the report of node9 in the record of node1', b => b.report(0, 0, { hostname: 'node9' })],
      ['report-other-magic', 'not a report at all', b => b.report(0, 0, { magic: 1 })],
      ['report-interval-0', 'an interval of 0', b => b.report(0, 0, { interval_ms: 0 })],
      ['report-interval-most', 'an interval of 49 days', b => b.report(0, 0, { interval_ms: MOST_U32 })],
      [
        'report-groups-255',
        '255 CPU groups, of which there is room for 4',
        b => b.report(0, 0, { valid: 0x30027n, groups: 255 }),
      ],
      [
        'report-gpus-255',
        '255 GPUs, of which there is room for 8',
        b => b.report(0, 0, { valid: (3n << 36n) | 0x25n, gpu_count: 255, gpu_vendor: 255 }),
      ],
      [
        'report-escape',
        'an interface whose name clears the screen',
        b => b.report(0, 0, { valid: 0x2025n, net: [{ name: '\x1b[2J', rx_bytes: 1 }] }),
      ],
      [
        'report-times',
        'all its clocks at 2^64 − 1',
        b => b.report(0, 0, { t_boot_ns: MOST, t_real_ns: MOST, start_boot_ns: MOST, slow_boot_ns: MOST }),
      ],
    ]),
  ],
  [
    'What the receiver says of itself',
    [
      ...spoiled([
        ['heartbeat-0', 'no heartbeat yet', b => b.header({ heartbeat_ns: 0n }), { beats: false }],
        [
          'heartbeat-stale',
          'a heartbeat of a minute ago',
          b => b.header({ heartbeat_ns: b.ago(60) }),
          { beats: false },
        ],
        [
          'heartbeat-future',
          'a heartbeat an hour ahead',
          b => b.header({ heartbeat_ns: b.ago(-3600) }),
          { beats: false },
        ],
        ['heartbeat-sign', 'a heartbeat of 2^63', b => b.header({ heartbeat_ns: 1n << 63n }), { beats: false }],
        ['heartbeat-most', 'a heartbeat of 2^64 − 1', b => b.header({ heartbeat_ns: MOST }), { beats: false }],
        ['listening-future', 'listening since an hour from now', b => b.header({ listening_since_ns: b.ago(-3600) })],
        ['limits-0', 'uncertain and silent after 0 s', b => b.header({ uncertain_after_ns: 0n, silent_after_ns: 0n })],
        [
          'limits-most',
          'uncertain and silent after 584 years',
          b => b.header({ uncertain_after_ns: MOST, silent_after_ns: MOST }),
        ],
        ['counters-most', 'all counters at 2^64 − 1', b => b.bytes.fill(0xff, 384, 704)],
        [
          'reserved-ones',
          'all reserved bytes of the header',
          b => {
            for (const [from, to] of [
              [132, 136],
              [248, 256],
              [368, 384],
              [440, 448],
              [704, 1024],
            ])
              b.bytes.fill(0xff, from, to);
          },
        ],
        ['state-ones', 'all bits of the state', b => b.header({ state: MOST })],
        ['retired', 'retired, and nothing has taken its place', b => b.header({ state: 2n })],
        [
          'other-boot',
          'of another boot of the master; its heartbeat looks like one of now',
          b => b.header({ master_boot_id: 7n }),
        ],
      ]),
      ...places([
        [
          'retired-successor',
          'retired, and another board has taken its place',
          path => {
            const old = `${path}.old`;
            const b = new Sheet();
            b.header({ state: 2n });
            writeFileSync(old, b.bytes);
            good(path);
          },
          { beats: true },
        ],
      ]),
    ],
  ],
  [
    'Owners and rights',
    places([
      [
        'stranger',
        'a good board of another user',
        path => {
          good(path);
          chownSync(path, STRANGER, STRANGER);
        },
        { beats: true, root: true },
      ],
      [
        'stranger-named',
        'the same, and --owner names that user',
        path => {
          good(path);
          chownSync(path, STRANGER, STRANGER);
        },
        { beats: true, root: true, options: ['--owner', String(STRANGER)] },
      ],
      [
        'stranger-folder',
        'in a folder of another user',
        path => {
          good(path);
          chownSync(dirname(path), STRANGER, STRANGER);
        },
        { beats: true, root: true },
      ],
      [
        'writable',
        'a good board that everybody may write (mode 666)',
        path => {
          good(path);
          chmodSync(path, 0o666);
        },
        { beats: true },
      ],
      [
        'writable-folder',
        'in a folder that everybody may write (mode 777)',
        path => {
          good(path);
          chmodSync(dirname(path), 0o777);
        },
        { beats: true },
      ],
      [
        'sticky-folder',
        'in a folder like /tmp (mode 1777)',
        path => {
          good(path);
          chmodSync(dirname(path), 0o1777);
        },
        { beats: true },
      ],
      [
        'unreadable',
        'nobody may read it (mode 000), as an ordinary user',
        path => {
          good(path);
          chmodSync(path, 0o000);
          ordinaryFolder(path);
        },
        { ordinary: true },
      ],
      [
        'unreadable-folder',
        'nobody may enter its folder (mode 444), as an ordinary user',
        path => {
          mkdirSync(join(dirname(path), 'shut'));
          chmodSync(join(dirname(path), 'shut'), 0o444);
          ordinaryFolder(path);
        },
        { ordinary: true, at: { in: 'shut/board' } },
      ],
      [
        'read-only',
        'readable, but not writable (mode 444), as an ordinary user',
        path => {
          good(path);
          chmodSync(path, 0o444);
          ordinaryFolder(path);
        },
        { ordinary: true, beats: true },
      ],
    ]),
  ],
  [
    'Other things at its path',
    places([
      ['folder', 'a folder', path => mkdirSync(path)],
      ['folder-slash', 'a path that ends with a slash', () => {}, { at: { in: '' } }],
      [
        'fifo',
        'a FIFO that nobody writes',
        path => {
          execFileSync('mkfifo', [path]);
        },
      ],
      [
        'socket',
        'a socket',
        async path => {
          const server = createServer().listen(`${path}.bound`);
          await once(server, 'listening');
          // Closing the server removes the bound name, but not this one.
          linkSync(`${path}.bound`, path);
          await new Promise(resolve => server.close(resolve));
        },
      ],
      ['device-zero', '/dev/zero', () => {}, { at: '/dev/zero' }],
      ['device-null', '/dev/null', () => {}, { at: '/dev/null' }],
      [
        'link-good',
        'a link to a good board',
        path => {
          good(join(dirname(path), 'real'));
          symlinkSync('real', path);
        },
      ],
      ['link-passwd', 'a link to /etc/passwd', path => symlinkSync('/etc/passwd', path)],
      ['link-dangling', 'a link that leads nowhere', path => symlinkSync('nowhere', path)],
      ['link-loop', 'a link to itself', path => symlinkSync('board', path)],
      [
        'link-folder',
        'its folder is a link to where a good board is',
        path => {
          mkdirSync(join(dirname(path), 'real'));
          good(join(dirname(path), 'real', 'board'));
          symlinkSync('real', join(dirname(path), 'linked'));
        },
        { at: { in: 'linked/board' }, beats: true },
      ],
      [
        'link-hard',
        'a second name of a good board',
        path => {
          good(join(dirname(path), 'real'));
          linkSync(join(dirname(path), 'real'), path);
        },
        { beats: true },
      ],
      [
        'link-hard-text',
        'a second name of a text',
        path => {
          writeFileSync(join(dirname(path), 'real'), 'My thesis.\n');
          linkSync(join(dirname(path), 'real'), path);
        },
      ],
      [
        'lock-link',
        'its lock is a link to another file',
        path => {
          good(path);
          writeFileSync(join(dirname(path), 'real'), 'My thesis.\n');
          symlinkSync('real', `${path}.lock`);
        },
        { beats: true },
      ],
      [
        'lock-folder',
        'its lock is a folder',
        path => {
          good(path);
          mkdirSync(`${path}.lock`);
        },
        { beats: true },
      ],
      [
        'next-link',
        'what a receiver makes before it takes the place, board.new, is a link',
        path => {
          writeFileSync(join(dirname(path), 'real'), 'My thesis.\n');
          symlinkSync('real', `${path}.new`);
        },
      ],
      ['next-text', 'board.new is a text somebody wrote', path => writeFileSync(`${path}.new`, 'My thesis.\n')],
      ['next-folder', 'board.new is a folder', path => mkdirSync(`${path}.new`)],
    ]),
  ],
  [
    'Huge files, almost all of them a hole',
    places([
      ['sparse-1TB', 'a good board, and then nothing up to 1 TB', path => sparse(path, TB), { beats: true }],
      ['sparse-3GiB', 'a good board, and then nothing up to 3 GiB', path => sparse(path, 3 * 2 ** 30), { beats: true }],
      [
        'sparse-zeros',
        '1 TB of nothing',
        path => {
          writeFileSync(path, '');
          truncateSync(path, TB);
        },
      ],
      [
        'sparse-header',
        'a header of 4 GiB in a file of 1 TB',
        path => {
          const at = 2 ** 32;
          sparse(path, TB, {
            file_bytes: TB,
            header_bytes: at - 8,
            index_offset: at,
            column_offset: at + 4096,
            records_offset: at + 8192,
          });
        },
        { beats: true },
      ],
      [
        'sparse-records',
        'records 4 GiB apart in a file of 1 TB',
        path => sparse(path, TB, { file_bytes: TB, record_stride: 0xfffffff8, count: CAPACITY }),
        { beats: true },
      ],
      [
        'sparse-many',
        '16 million records, all in use, in a file of 1 TB',
        path => {
          const capacity = 2 ** 24;
          const column = whole.index + 8 * 2 * capacity;
          sparse(path, TB, {
            file_bytes: TB,
            capacity,
            count: capacity,
            index_slots: 2 * capacity,
            column_offset: column,
            records_offset: column + 8 * capacity,
          });
        },
        { beats: true },
      ],
    ]),
  ],
];

/** Gives the folder of a board and everything in it to an ordinary user, if we are root. */
function ordinaryFolder(path: string): void {
  if (ROOT_USER) execFileSync('chown', ['-R', String(NOBODY), dirname(path)]);
}

/** Makes a board in its own folder; returns the path to read. */
export async function make(board: BrokenBoard, folder: string): Promise<string> {
  const path = join(folder, 'board');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  await board.make(path);
  if (board.at === undefined) return path;
  return typeof board.at === 'string' ? board.at : `${folder}/${board.at.in}`;
}

/** Writes one heartbeat of the receiver, if there is a header, and with `links` those of its links. */
export function beat(path: string, links: boolean): void {
  const { size } = lstatSync(path);
  if (size < structs.board_header.bytes) return;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(now().mono);
  const fd = openSync(path, 'r+');
  const { heartbeat_ns, evidence } = structs.board_header.fields;
  for (const link of links ? [LINK, OTHERS] : [])
    writeSync(fd, bytes, 0, 8, evidence.offset + link * structs.link_evidence.bytes);
  writeSync(fd, bytes, 0, 8, heartbeat_ns.offset);
  closeSync(fd);
}

// ---- random boards ----

/** Random numbers below a bound, the same for the same seed (mulberry32). */
export function random(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return below => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return Math.floor((((x ^ (x >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** The geometry in the header is before this offset. */
const GEOMETRY = 256;
/** Most of what readers use is before this offset: most of the ring of events that follows is empty. */
const TABLES = whole.events + 64 * structs.event.bytes;

/** A copy with some random bytes and one random field: single bytes rarely make a number that is almost right. */
export function spoil(good: Uint8Array, next: (below: number) => number): Uint8Array {
  const bad = good.slice();
  const view = new DataView(bad.buffer);
  const anywhere = () => {
    const [part, from] = [next(4), Math.min(bad.length, whole.index)];
    if (part < 2) return next(GEOMETRY);
    return part === 2 ? next(Math.min(bad.length, TABLES)) : from + next(bad.length - from);
  };
  for (let k = next(4); k > 0; k--) bad[anywhere()] = next(256);
  const values = [0n, 1n, 8n, 12n, 1024n, BigInt(bad.length) - 8n, BigInt(bad.length), 0xffffffffn, MOST - 7n, MOST];
  const value = values[next(values.length)] ?? 0n;
  if (next(2) === 0) view.setUint32(anywhere() & ~3, Number(value & 0xffffffffn), true);
  else view.setBigUint64(anywhere() & ~7, value, true);
  return bad;
}

// ---- by hand, and as the test's child process ----

async function makeAll(target: string): Promise<void> {
  for (const [title, boards] of groups) {
    process.stdout.write(`\n${title}\n`);
    for (const board of boards) {
      if (board.root && !ROOT_USER) continue;
      const path = await make(board, join(target, board.name));
      process.stdout.write(`  ${path.padEnd(target.length + 40)} ${board.about}\n`);
    }
  }
}

/** Takes snapshots until it is ended. */
async function readOn(path: string): Promise<void> {
  const reader = new BoardReader(path);
  const counts = { read: 0, refused: 0 };
  let ended = false;
  process.once('SIGTERM', () => {
    ended = true;
  });
  process.send?.('ready');
  while (!ended) {
    for (let i = 0; i < 100; i++)
      try {
        const snapshot = reader.snapshot();
        for (const node of snapshot.nodes()) node.report;
        counts.read++;
      } catch (error) {
        if (!(error instanceof NoBoard)) throw error;
        counts.refused++;
      }
    await new Promise(setImmediate);
  }
  reader.close();
  process.stdout.write(`${counts.read} snapshots, ${counts.refused} refused\n`);
  process.disconnect?.();
}

/** Like `beoboard forget` without a running receiver. */
function forget(path: string, name: string): void {
  const editor = editBoard(path);
  editor.forget([name]);
  editor.close();
}

/**
 * Makes a lock file beside a board, owned by this user, and names it in the board as the lock under which it was
 * written: the writer has then ended, whatever else is wrong with the board.
 */
export function lockUp(path: string, user?: number): void {
  if (!existsSync(path)) return;
  const stat = lstatSync(path);
  if (!stat.isFile() || stat.size < structs.board_header.bytes) return;
  if (existsSync(`${path}.lock`) && !lstatSync(`${path}.lock`).isFile()) return;
  const lock = openSync(`${path}.lock`, 'w', 0o600);
  if (user !== undefined) fchownSync(lock, user, user);
  const inode = Buffer.alloc(8);
  inode.writeBigUInt64LE(BigInt(fstatSync(lock).ino));
  closeSync(lock);
  const file = openSync(path, 'r+');
  writeSync(file, inode, 0, inode.length, structs.board_header.fields.lock_inode.offset);
  closeSync(file);
}

/** Takes over corrupt boards one after the other, as a receiver does, and writes reports to each. */
function takeOver(path: string, rounds: number, seed: number): void {
  const next = random(seed);
  const counts = { taken: 0, refused: 0 };
  const options = { cluster: '', capacity: CAPACITY, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] };
  for (let round = 0; round < rounds; round++) {
    writeFileSync(path, spoil(new Sheet(true).bytes, next));
    // Without the lock, it is taken over by a copy, after a check that its writer has ended.
    if (round % 50 > 0) lockUp(path);
    let writer: ReturnType<typeof openWriter>;
    try {
      if (next(2) === 0) forget(path, 'node2');
      writer = openWriter({ path, ...options });
    } catch (error) {
      if (!/^[^\n]+$/.test((error as Error).message)) throw error;
      counts.refused++;
      continue;
    }
    const { mono, real } = now();
    for (const [name, seq] of [
      ['node1', NEWEST + 1],
      ['node2', 2],
      ['fresh', 1],
      ['other', 1],
    ] as const)
      deliver(writer, reportOf(name, seq), mono, real);
    writer.heartbeat(mono);
    writer.close();
    const reader = new BoardReader(path);
    const names = [...reader.snapshot().nodes()].filter(node => node.report !== undefined).map(node => node.name);
    reader.close();
    if (!names.includes('fresh')) throw new Error(`round ${round} of seed ${seed}: a new node is not shown`);
    counts.taken++;
  }
  process.stdout.write(`${rounds} boards: ${counts.taken} taken over or replaced, ${counts.refused} refused\n`);
  process.disconnect?.();
}

/** Runs a receiver for each command line from the parent, until SIGTERM, and sends the result. */
function receiveAgain(): void {
  process.setMaxListeners(0);
  process.on('message', (argv: string[]) => {
    receive(argv).then(
      code => process.send?.({ code, stderr: '' }),
      error => {
        if (!(error instanceof Failure)) throw error;
        process.send?.({ code: error.exitCode, stderr: `beoboard receive: ${oneLine(error.message)}\n` });
      },
    );
  });
  process.once('disconnect', () => process.exit());
}

const [, program, ...args] = process.argv;
if (program === fileURLToPath(import.meta.url)) {
  const [first, path = '', rounds, seed] = args;
  if (first === '--read') await readOn(path);
  else if (first === '--receive') receiveAgain();
  else if (first === '--take') takeOver(path, Number(rounds), Number(seed));
  else if (first !== undefined && !first.startsWith('-')) await makeAll(first);
  else {
    process.stderr.write('brokenboards: no folder; write node dist/test/kit/brokenboards.js DIR\n');
    process.exitCode = 2;
  }
}
