// A board's file, laid out as its header says, and the first error in it. Reads the file itself, so that a board can be
// shown that no reader would accept. Judges by the contract only.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type Decoded, decode, getter, packWord, type StructName, unpackWord } from '../layout/codec.js';
import { bits, constants as contract, enums, structs } from '../layout/layout.gen.js';
import { NO_BOARD, NoBoard } from '../shm/noboard.js';
import { tryBoard } from '../shm/reader.js';
import { SENDERS_EACH } from '../shm/snapshot.js';
import { Failure } from '../text/failure.js';
import { oneLine } from '../text/text.js';

type Header = Decoded<'board_header'>;

const HEADER = structs.board_header.bytes;

/** So much is read of the records at a time, and at least one. */
const RUN_BYTES = 1 << 18;
/** A larger board would be hundreds of GB of text, or mostly a hole in its file. */
const MOST_BYTES = 2 ** 32 - 1;
/** A larger table is not read; that of a million nodes takes 16 MB. */
const TABLE_MOST = 2 ** 30;
const TWO_TO_32 = 2 ** 32;

function openFile(path: string, owner: number | string | undefined): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY);
  } catch (error) {
    // What readers say about it, in their words.
    const opened = tryBoard(path, owner);
    if (opened.state !== 'ready') throw new NoBoard(opened.state, path, opened.why);
    opened.board.unmap();
    throw new Failure(`${path}: ${(error as Error).message}`, NO_BOARD);
  }
}

/**
 * A part of the file, copied into our own memory: what is dumped must not change while it is written. It is shorter than
 * it should be if the file ended before.
 */
interface FilePart {
  readonly view: DataView;
  /** Where in the file it begins. */
  readonly origin: number;
}

/** The file, which is read part by part. */
export class BoardFile {
  readonly #fd: number;
  readonly bytes: number;

  constructor(
    readonly path: string,
    owner: number | string | undefined,
  ) {
    this.#fd = openFile(path, owner);
    const stat = fstatSync(this.#fd);
    this.bytes = stat.size;
    if (stat.isFile()) return;
    this.close();
    throw new Failure(`${path}: is not a regular file; give the path of a board`, NO_BOARD);
  }

  /** Reads a part into the buffer, as much of it as there is. */
  read(origin: number, into: Uint8Array): FilePart {
    let length = 0;
    for (let got = -1; length < into.length && got !== 0; length += got)
      got = readSync(this.#fd, into, length, into.length - length, origin + length);
    return { view: new DataView(into.buffer, into.byteOffset, length), origin };
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** The bytes of an entry of the index, and of the column. */
const WORD = 8;

/**
 * Whether all parts lie within the bytes that were read, and each entry within its stride. The file was judged when it
 * was opened, but may have been replaced or written since.
 */
export function fits(header: Header, bytes: number): boolean {
  const { slots, slots_offset, slot_stride, record_stride } = header;
  const parts: [offset: number, count: number, stride: number, entry: number][] = [
    [Number(header.links_offset), header.links, header.links_stride, structs.link.bytes],
    [Number(header.senders_offset), header.senders, header.senders_stride, structs.sender.bytes],
    [Number(header.events_offset), header.events, header.events_stride, structs.event.bytes],
    [Number(header.index_offset), header.index_slots, header.index_stride, WORD],
    [Number(header.column_offset), header.capacity, header.column_stride, WORD],
    [Number(header.records_offset), header.capacity, record_stride, structs.record.bytes],
    [slots_offset, slots, slot_stride, structs.slot.bytes],
  ];
  return (
    parts.every(([offset, count, stride, entry]) => stride >= entry && offset + count * stride <= bytes) &&
    slots_offset + slots * slot_stride <= record_stride
  );
}

/** The hashes of names, as defined in "Names" of the contract. */
class Hashes {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly #seedHigh: number;
  readonly #seedLow: number;

  constructor(count: number, seed: bigint) {
    this.high = new Uint32Array(count);
    this.low = new Uint32Array(count);
    this.#seedHigh = Number(seed >> 32n) ^ 0xcbf29ce4;
    this.#seedLow = Number(seed & 0xffffffffn) ^ 0x84222325;
  }

  /** Adds that of the record at `base`; its name ends at the first NUL. In halves of 32 bits: BigInts take ten times as long. */
  add(index: number, view: DataView, base: number): void {
    let high = this.#seedHigh >>> 0;
    let low = this.#seedLow >>> 0;
    for (let at = base + NAME_FIELD.offset; at < base + NAME_FIELD.offset + NAME_FIELD.count; at++) {
      const byte = view.getUint8(at);
      if (byte === 0) break;
      // Times 2^40 + 0x1b3; no product reaches 2^53.
      const mixed = (low ^ byte) >>> 0;
      const product = mixed * 0x1b3;
      high = (high * 0x1b3 + Math.floor(product / TWO_TO_32) + ((mixed << 8) >>> 0)) >>> 0;
      low = product >>> 0;
    }
    this.high[index] = high;
    this.low[index] = (low ^ high) >>> 0;
  }
}

/** The state of a block, by its two sequences. */
export function blockState({ head, tail }: { head: bigint; tail: bigint }): 'empty' | 'whole' | 'half-written' {
  if (head === 0n && tail === 0n) return 'empty';
  return head === tail && (head & 1n) === 0n ? 'whole' : 'half-written';
}

/** Links 1 to this number may have an entry; the one after them stands for all others. */
const LINKS_MOST = 30;
const OTHER_LINKS = LINKS_MOST + 1;
/** The subject of an event that is about neither a record nor a link. */
const NO_SUBJECT = 0xffffffffn;
/** Kinds of events by their subjects. */
const OF_RECORDS: readonly string[] = ['restart', 'reboot', 'reset', 'goodbye', 'refusal', 'clone'];
const OF_LINKS: readonly string[] = ['link_up', 'link_down', 'dark', 'lit'];

const NAME_FIELD = structs.record.fields.name;
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** An entry of one of the tables. */
interface TableEntry<S extends StructName> {
  /** Its place in the table. */
  number: number;
  /** Its place in the file. */
  offset: number;
  entry: Decoded<S>;
}

interface DumpedRecord extends FilePart {
  index: number;
  /** Where it begins in `view`. */
  base: number;
  column: bigint;
  slots: { base: number; state: ReturnType<typeof blockState> }[];
  /** Where its memory begins in `view`; undefined: it has none, or a shorter one. */
  memory: number | undefined;
}

const CHANGED = 'it changed while it was read; look again';

/** The tables that are read when the board is opened. */
const TABLES = ['links', 'senders', 'events'] as const;
type BoardTable = (typeof TABLES)[number];

/**
 * A board's file, laid out as its header says; `wrong` is the first thing that does not agree with the contract. The
 * header, the tables and the index are read at once, the records a run at a time while they are written: a board of a
 * million nodes has 3 GB of them. What is wrong in them is known after the last one.
 */
export class Dump {
  readonly path: string;
  readonly bytes: number;
  readonly header: Header | undefined;
  readonly state: string;
  wrong: string | undefined;
  /** The header. */
  readonly head: FilePart;
  readonly #file: BoardFile;
  readonly #tables = new Map<BoardTable | 'index', FilePart>();

  constructor(file: BoardFile, owner: number | string | undefined) {
    const { path, bytes } = file;
    this.#file = file;
    this.path = path;
    this.bytes = bytes;
    const opened = tryBoard(path, owner);
    this.state = opened.state;
    if (opened.state === 'ready') opened.board.unmap();
    else this.wrong = opened.why;
    this.head = file.read(0, new Uint8Array(HEADER));
    const { view } = this.head;
    this.header = view.byteLength >= HEADER ? decode('board_header', view, 0) : undefined;
    const { magic, file_bytes } = this.header ?? {};
    if (magic === contract.board.magic && Math.min(Number(file_bytes), bytes) > MOST_BYTES)
      throw new Failure(`${path}: has 4 GiB or more, which is too much to dump`, NO_BOARD);
    // A geometry that the checks of opening rejected is not followed.
    if (opened.state !== 'ready' && opened.state !== 'retired') return;
    if (this.header !== undefined && fits(this.header, bytes)) this.#readTables(this.header);
    if (!this.#isReadable) this.wrong = CHANGED;
  }

  #readTables(header: Header): void {
    for (const table of [...TABLES, 'index'] as const) {
      const [at, stride] = [header[`${table}_offset`], header[`${table}_stride`]];
      const size = stride * header[table === 'index' ? 'index_slots' : table];
      if (size > TABLE_MOST) throw new Failure(`${this.path}: its ${table} take more than 1 GiB`, NO_BOARD);
      const part = this.#file.read(Number(at), new Uint8Array(size));
      if (part.view.byteLength === size) this.#tables.set(table, part);
    }
  }

  /** Whether all parts could be read. */
  get #isReadable(): boolean {
    return this.#tables.size > TABLES.length;
  }

  /** A table, for `putLines`. */
  part(table: BoardTable): FilePart {
    return this.#tables.get(table) as FilePart;
  }

  /** The entries of a table that were written at least once. */
  *#entries<S extends 'link' | 'sender' | 'event'>(struct: S): Generator<TableEntry<S>> {
    const { header } = this;
    if (header === undefined || !this.#isReadable) return;
    const table = `${struct}s` as const;
    const { view, origin } = this.part(table);
    const { bytes } = structs[struct];
    for (let number = 0; number < header[table]; number++) {
      const base = number * header[`${table}_stride`];
      let empty = true;
      for (let at = base; at < base + bytes && empty; at += 4) empty = view.getUint32(at, true) === 0;
      if (!empty) yield { number, offset: origin + base, entry: decode(struct, view, base) };
    }
  }

  /** The entries in use; nothing is defined about the bytes after them. */
  *links(): Generator<TableEntry<'link'>> {
    const used = this.header?.links_used ?? 0;
    for (const link of this.#entries('link'))
      if ((link.number > 0 && link.number <= used) || link.number === OTHER_LINKS) yield link;
  }

  senders(): Generator<TableEntry<'sender'>> {
    return this.#entries('sender');
  }

  /** From the oldest to the newest. */
  events(): TableEntry<'event'>[] {
    return [...this.#entries('event')].sort((a, b) => (a.entry.head < b.entry.head ? -1 : 1));
  }

  #checkLinks(): string | undefined {
    const { links_used: used } = this.header as Header;
    if (used === undefined || used > LINKS_MOST)
      return `links_used is ${used ?? 'beyond 2^53'}, and ${LINKS_MOST} links may have an entry`;
    const seen = new Map<string, number>();
    const found = new Map([...this.links()].map(link => [link.number, link]));
    for (let number = 1; number <= used; number++) {
      const { offset = 0, entry: { name, state } = { name: '', state: 0n } } = found.get(number) ?? {};
      if (name === '') return `link ${number} has no name`;
      const { view, origin } = this.part('links');
      const bytes = new Uint8Array(view.buffer, offset - origin, structs.link.fields.name.count);
      if (!bytes.includes(0)) return `link ${number}: its name has no end`;
      if (seen.has(name)) return `links ${seen.get(name)} and ${number} have the same name`;
      seen.set(name, number);
      const has = (bit: keyof typeof bits.link_state) => ((state >> BigInt(bits.link_state[bit])) & 1n) === 1n;
      if (has('up') && (has('gone') || has('no_address')))
        return `link ${number} (${oneLine(name)}) is up, and ${has('gone') ? 'gone' : 'without its address'}`;
    }
    return undefined;
  }

  #checkSenders(): string | undefined {
    for (const { number, entry } of this.senders()) {
      if (blockState(entry) !== 'whole') continue;
      const reason = enums.reason[Math.floor(number / SENDERS_EACH)] ?? 'none';
      if (reason === 'none') return `rejected sender ${number} has an unknown reason`;
      if (entry.name !== '' && !NAME.test(entry.name)) return `rejected sender ${number}: its name is invalid`;
      if (entry.count === 0) return `rejected sender ${number} has a count of 0`;
    }
    return undefined;
  }

  #checkEvents(): string | undefined {
    const { events, event_last: last, links_used: used = 0 } = this.header as Header;
    if (last === undefined) return 'event_last is beyond 2^53';
    let newest = 0n;
    let isWritten = true;
    for (const { number, entry } of this.events()) {
      if (blockState(entry) === 'half-written') isWritten = false;
      if (blockState(entry) !== 'whole') continue;
      const event = entry.head / 2n;
      newest = event;
      if (event % BigInt(events) !== BigInt(number)) return `event ${event} is not in its place in the ring`;
      const kind = enums.event_kind[Number(entry.kind)] ?? 'none';
      if (kind === 'none') return `event ${event} has an unknown kind`;
      const { subject } = entry;
      if (OF_RECORDS.includes(kind) && subject !== NO_SUBJECT && subject >= BigInt(this.count))
        return `event ${event} is of record ${subject}, and there are ${this.count}`;
      if (OF_LINKS.includes(kind) && (subject === 0n || subject > BigInt(used)) && subject !== BigInt(OTHER_LINKS))
        return `event ${event} is of link ${subject}, which has no entry`;
    }
    // An empty ring belongs to a board that has replaced another one and continues its numbers.
    if (isWritten && newest > 0n && newest < BigInt(last))
      return `event_last is ${last}, and the newest event in the ring is number ${newest}`;
    return undefined;
  }

  get count(): number {
    const header = this.header;
    return header === undefined || !this.#isReadable ? 0 : Math.min(header.count ?? 0, header.capacity);
  }

  *index(): Generator<{ slot: number; record: number; hash: number }> {
    const { header } = this;
    const part = this.#tables.get('index');
    if (header === undefined || part === undefined || !this.#isReadable) return;
    const { view } = part;
    for (let slot = 0, at = 0; slot < header.index_slots; slot++, at += header.index_stride) {
      const [low, high] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      if (low !== 0 || high !== 0) yield { slot, record: low - 1, hash: high };
    }
  }

  /** Whether the search for a record's name would reach this place. */
  #isFound(slot: number, record: number, hash: number, names: Hashes): boolean {
    const { index_slots, index_stride } = this.header as Header;
    const { view } = this.#tables.get('index') as FilePart;
    if (names.high[record] !== hash) return false;
    const isEmpty = (at: number) => view.getUint32(at, true) === 0 && view.getUint32(at + 4, true) === 0;
    // A power of two.
    let at = (names.low[record] as number) % index_slots;
    for (; at !== slot; at = (at + 1) % index_slots) if (isEmpty(at * index_stride)) return false;
    return true;
  }

  #checkIndex(names: Hashes): string | undefined {
    /** The slot that leads to each record, plus one. */
    const seen = new Uint32Array(this.count);
    let found = 0;
    for (const { slot, record, hash } of this.index()) {
      if (record < 0 || record >= this.count)
        return `index slot ${slot} leads to record ${record}, and there are ${this.count}`;
      const other = seen[record] as number;
      if (other > 0) return `index slots ${other - 1} and ${slot} lead to the same record ${record}`;
      if (!this.#isFound(slot, record, hash, names))
        return `index slot ${slot} leads to record ${record}, whose name is not found by it`;
      seen[record] = slot + 1;
      found++;
    }
    return found === this.count ? undefined : `the index names ${found} records, and there are ${this.count}`;
  }

  /** All records, each valid until the next one is asked for; then all has been checked. */
  *records(): Generator<DumpedRecord> {
    const { header, count } = this;
    if (header === undefined || !this.#isReadable) return;
    const names = new Hashes(count, header.index_seed);
    const linksUsed = header.links_used ?? 0;
    let fault: string | undefined;
    for (const record of this.#runs(header)) {
      names.add(record.index, record.view, record.base);
      fault ??= recordFault(record, link => (link > linksUsed ? this.#linksUsedNow() : linksUsed));
      yield record;
    }
    this.wrong ??=
      this.#checkIndex(names) ?? this.#checkLinks() ?? this.#checkSenders() ?? this.#checkEvents() ?? fault;
  }

  /** All records, before they are checked. If the file was cut, it ends early and tells that. */
  *#runs(header: Header) {
    const { count } = this;
    const { records_offset, record_stride, column_offset, column_stride, slots_offset, slot_stride, slots } = header;
    const { memory_offset = 0, memory_bytes = 0 } = header;
    const remembers = memory_bytes >= structs.memory.bytes && memory_offset + memory_bytes <= record_stride;
    const run = Math.max(1, Math.floor(RUN_BYTES / record_stride));
    const [columns, records] = [new Uint8Array(run * column_stride), new Uint8Array(run * record_stride)];
    for (let first = 0; first < count; first += run) {
      const here = Math.min(run, count - first);
      const read = (offset: number | undefined, stride: number, into: Uint8Array) =>
        this.#file.read(Number(offset) + first * stride, into.subarray(0, here * stride));
      // The words first: they may be older than the reports, not younger.
      const column = read(column_offset, column_stride, columns);
      const { view, origin } = read(records_offset, record_stride, records);
      if (view.byteLength < here * record_stride || column.view.byteLength < here * column_stride) {
        this.wrong ??= CHANGED;
        return;
      }
      for (let i = 0; i < here; i++) {
        const base = i * record_stride;
        const found: DumpedRecord['slots'] = [];
        for (let slot = 0, at = base + slots_offset; slot < slots; slot++, at += slot_stride)
          found.push({ base: at, state: blockState({ head: SLOT.head(view, at), tail: SLOT.tail(view, at) }) });
        const word = column.view.getBigUint64(i * column_stride, true);
        const memory = remembers ? base + memory_offset : undefined;
        yield { index: first + i, view, origin, base, column: word, slots: found, memory };
      }
    }
  }

  /** A report may have come by a link whose entry is newer than the header that was read. */
  #linksUsedNow(): number {
    const { view } = this.#file.read(0, new Uint8Array(HEADER));
    return view.byteLength < HEADER ? 0 : (linksUsedOf(view, 0) ?? 0);
  }
}

const linksUsedOf = getter('board_header', 'links_used');
const SLOT = {
  head: getter('slot', 'head'),
  tail: getter('slot', 'tail'),
  link: getter('slot', 'link'),
  stamp: getter('slot', 'stamp_ns'),
};
const REPORT = structs.slot.fields.report.offset;
const ofReport = {
  magic: getter('report', 'magic'),
  version: getter('report', 'version'),
  flags: getter('report', 'flags'),
  interval: getter('report', 'interval_ms'),
};
const recordName = getter('record', 'name');
const HOSTNAME = structs.report.fields.hostname;

/** How many links have an entry, for a link that may be beyond them. */
type LinksUsed = (link: bigint) => number;

/** Whether two texts of as many bytes are the same up to their ends. */
function isSameText(view: DataView, one: number, other: number, bytes: number): boolean {
  for (let i = 0; i < bytes; i++) {
    const byte = view.getUint8(one + i);
    if (byte !== view.getUint8(other + i)) return false;
    if (byte === 0) return true;
  }
  return true;
}

/** What does not agree within one record. A report that was written while the file was read is not an error. */
function recordFault(record: DumpedRecord, linksUsed: LinksUsed): string | undefined {
  const { view, base, index } = record;
  const name = recordName(view, base);
  const fault = NAME.test(name) ? slotsFault(record, linksUsed) : 'its name is invalid';
  return fault && `record ${index} (${oneLine(name)}): ${fault}`;
}

function slotsFault({ view, base, column, slots }: DumpedRecord, linksUsed: LinksUsed): string | undefined {
  const whole = slots.filter(slot => slot.state === 'whole').map(slot => slot.base);
  const { magic, version, flags, interval } = ofReport;
  const isReport = (slot: number) =>
    magic(view, slot + REPORT) === contract.stat.magic && version(view, slot + REPORT) === contract.stat.version;
  if (!whole.every(isReport)) return 'does not hold a report';
  const isOwn = (slot: number) =>
    isSameText(view, base + NAME_FIELD.offset, slot + REPORT + HOSTNAME.offset, HOSTNAME.count);
  if (!whole.every(isOwn)) return 'holds a report of another node';
  const strange = whole
    .map(slot => SLOT.link(view, slot))
    .find(link => link !== BigInt(OTHER_LINKS) && link > linksUsed(link));
  if (strange !== undefined) return `its report came by link ${strange}, which has no entry`;
  if (whole.length === 0 && column !== 0n) return 'its column word claims a report, but there is none';
  const [first, second] = whole.map(slot => SLOT.head(view, slot));
  if (second !== undefined && first === second) return 'both slots have the same sequence';
  const words = whole.map(slot => SLOT.stamp(view, slot) / 1_000_000n);
  const { stamp } = unpackWord('column', column);
  if (whole.length > 0 && slots.every(slot => slot.state !== 'half-written') && !words.some(word => word >= stamp))
    return 'its column word is younger than its reports';
  const slot = whole[words.indexOf(stamp)];
  if (slot === undefined) return undefined;
  const goodbye = (flags(view, slot + REPORT) >> bits.flags.goodbye) & 1;
  const word = { stamp, link: SLOT.link(view, slot), interval: interval(view, slot + REPORT), goodbye };
  return column === packWord('column', word)
    ? undefined
    : 'its column word has another link, interval or goodbye than its report';
}
