// All of a board's file, raw, and the first error in it. Reads the file itself, so that it can show a board that no
// reader would accept. Judges by the contract only.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Failure } from '../common/failure.js';
import { defineVerb, parseVerb } from '../common/options.js';
import { json, print } from '../common/output.js';
import { Page } from '../common/page.js';
import { oneLine } from '../common/text.js';
import { VERBS } from '../common/verbs.js';
import { type Decoded, decode, getter, packWord, type StructName, unpackWord } from '../layout/codec.js';
import { bits, constants as contract, enums, structs } from '../layout/layout.gen.js';
import { NO_BOARD, NoBoard, SENDERS_EACH, tryBoard } from '../shm/reader.js';
import { structPut } from '../telling/structjson.js';
import { putLines } from './dumptext.js';

export const verb = defineVerb({
  name: 'dump',
  summary: VERBS.dump,
  options: ['board', 'owner', 'json', 'config'],
  examples: [
    'beoboard dump | less',
    'beoboard dump --board /dev/shm/other/board | grep -m1 wrong',
    'beoboard dump --json | jq .header',
  ],
  notes: 'proto/board-v2.md describes the layout. Exit codes: 0 no error, 1 an error was found, 4 no file.',
});

type Header = Decoded<'board_header'>;

const HEADER = structs.board_header.bytes;

/** Of a larger file, only as much is read as its header says the board has. */
const MOST_BYTES = 2 ** 32 - 1;
/** The most that Node reads at once. */
const PIECE_BYTES = 2 ** 30;

/** The file, copied into our own memory: what is dumped must not change while it is printed. */
interface Copy {
  /** Of the file. */
  bytes: number;
  view: DataView;
}

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

function read(fd: number, bytes: number): DataView {
  const into = new Uint8Array(bytes);
  let length = 0;
  for (let got = -1; length < bytes && got !== 0; length += got)
    got = readSync(fd, into, length, Math.min(bytes - length, PIECE_BYTES), length);
  return new DataView(into.buffer, 0, length);
}

/** Bytes after the end of a board are not part of it. If the file is not a board, its beginning is enough. */
function boardBytes(header: DataView, fileBytes: number): number {
  if (header.byteLength < HEADER) return header.byteLength;
  const { magic, file_bytes } = decode('board_header', header, 0);
  return magic === contract.board.magic ? Math.max(HEADER, Math.min(Number(file_bytes), fileBytes)) : HEADER;
}

function readFile(path: string, owner: number | string | undefined): Copy {
  const fd = openFile(path, owner);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Failure(`${path}: is not a regular file; give the path of a board`, NO_BOARD);
    const bytes = boardBytes(read(fd, Math.min(HEADER, stat.size)), stat.size);
    if (bytes > MOST_BYTES) throw new Failure(`${path}: has 4 GiB or more, which is too much to dump`, NO_BOARD);
    return { bytes: stat.size, view: read(fd, bytes) };
  } finally {
    closeSync(fd);
  }
}

/** Whether all parts lie within the bytes that were read; the file may have been replaced since it was judged. */
function fits(header: Header, bytes: number): boolean {
  const { slots, slots_offset, slot_stride, record_stride } = header;
  const ends = [
    Number(header.links_offset) + header.links * header.links_stride,
    Number(header.senders_offset) + header.senders * header.senders_stride,
    Number(header.events_offset) + header.events * header.events_stride,
    Number(header.index_offset) + header.index_slots * header.index_stride,
    Number(header.column_offset) + header.capacity * header.column_stride,
    Number(header.records_offset) + header.capacity * record_stride,
  ];
  return ends.every(end => end <= bytes) && slots_offset + slots * slot_stride <= record_stride;
}

/** As defined in "Names" of the contract. */
function hashOf(name: Uint8Array, seed: bigint): bigint {
  let h = 0xcbf29ce484222325n ^ seed;
  for (const byte of name) h = BigInt.asUintN(64, (h ^ BigInt(byte)) * 0x100000001b3n);
  return h ^ (h >> 32n);
}

/** The state of a block, by its two sequences. */
function blockState({ head, tail }: { head: bigint; tail: bigint }): 'empty' | 'whole' | 'half-written' {
  if (head === 0n && tail === 0n) return 'empty';
  return head === tail && (head & 1n) === 0n ? 'whole' : 'half-written';
}

/** Links 1 to this number may have an entry; the one after them stands for all others. */
const LINKS_MOST = 30;
const OTHER_LINKS = LINKS_MOST + 1;
/** The subject of an event that is about neither a record nor a link. */
const NO_SUBJECT = 0xffffffffn;
/** Kinds of events by their subjects. */
const OF_RECORDS: readonly string[] = ['restart', 'reboot', 'reset', 'goodbye', 'refusal'];
const OF_LINKS: readonly string[] = ['link_up', 'link_down', 'dark', 'lit'];

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** An entry of one of the tables. */
interface Entry<S extends StructName> {
  /** Its place in the table. */
  number: number;
  offset: number;
  entry: Decoded<S>;
}

interface DumpedRecord {
  index: number;
  offset: number;
  column: bigint;
  slots: { offset: number; state: ReturnType<typeof blockState> }[];
}

/** A board's file, laid out as its header says; `wrong` is the first thing that does not agree with the contract. */
class Dump {
  readonly header: Header | undefined;
  readonly state: string;
  wrong: string | undefined;
  readonly bytes: number;
  readonly view: DataView;
  readonly #readable: boolean;

  constructor(
    readonly path: string,
    copy: Copy,
    owner: number | string | undefined,
  ) {
    this.bytes = copy.bytes;
    this.view = copy.view;
    const { view } = copy;
    const opened = tryBoard(path, owner);
    this.state = opened.state;
    if (opened.state === 'ready') opened.board.unmap();
    else this.wrong = opened.why;
    this.header = view.byteLength >= HEADER ? decode('board_header', view, 0) : undefined;
    // A geometry that the checks of opening rejected is not followed.
    const checked = opened.state === 'ready' || opened.state === 'retired';
    this.#readable = checked && this.header !== undefined && fits(this.header, view.byteLength);
    if (checked && !this.#readable) this.wrong = 'it changed while it was read; look again';
    if (this.#readable)
      this.wrong ??= this.#checkIndex() ?? this.#checkLinks() ?? this.#checkSenders() ?? this.#checkEvents();
  }

  /** The entries of a table that were written at least once. */
  *#entries<S extends 'link' | 'sender' | 'event'>(struct: S): Generator<Entry<S>> {
    const { header, view } = this;
    if (header === undefined || !this.#readable) return;
    const table = `${struct}s` as const;
    const { bytes } = structs[struct];
    for (let number = 0; number < header[table]; number++) {
      const offset = Number(header[`${table}_offset`]) + number * header[`${table}_stride`];
      let empty = true;
      for (let at = offset; at < offset + bytes && empty; at += 4) empty = view.getUint32(at, true) === 0;
      if (!empty) yield { number, offset, entry: decode(struct, view, offset) };
    }
  }

  /** The entries in use; nothing is defined about the bytes after them. */
  *links(): Generator<Entry<'link'>> {
    const used = this.header?.links_used ?? 0;
    for (const link of this.#entries('link'))
      if ((link.number > 0 && link.number <= used) || link.number === OTHER_LINKS) yield link;
  }

  senders(): Generator<Entry<'sender'>> {
    return this.#entries('sender');
  }

  /** From the oldest to the newest. */
  events(): Entry<'event'>[] {
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
      const bytes = new Uint8Array(this.view.buffer, this.view.byteOffset + offset, structs.link.fields.name.count);
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
    return header === undefined || !this.#readable ? 0 : Math.min(header.count ?? 0, header.capacity);
  }

  *index(): Generator<{ slot: number; record: number; hash: number }> {
    const header = this.header;
    if (header === undefined || !this.#readable) return;
    for (let slot = 0; slot < header.index_slots; slot++) {
      const word = this.view.getBigUint64(Number(header.index_offset) + slot * header.index_stride, true);
      if (word !== 0n) yield { slot, record: Number(word & 0xffffffffn) - 1, hash: Number(word >> 32n) };
    }
  }

  /** The name of a record as its bytes, up to the first NUL. */
  #nameOf(record: number): Uint8Array {
    const { records_offset, record_stride } = this.header as Header;
    const at = this.view.byteOffset + Number(records_offset) + record * record_stride;
    const bytes = new Uint8Array(this.view.buffer, at, structs.record.fields.name.count);
    const end = bytes.indexOf(0);
    return end === -1 ? bytes : bytes.subarray(0, end);
  }

  /** Whether the search for a name would reach this place. */
  #isFound(slot: number, record: number, hash: number): boolean {
    const { index_offset, index_slots, index_stride, index_seed } = this.header as Header;
    const full = hashOf(this.#nameOf(record), index_seed);
    if (Number(full >> 32n) !== hash) return false;
    let at = Number(full & BigInt(index_slots - 1));
    for (; at !== slot; at = (at + 1) % index_slots)
      if (this.view.getBigUint64(Number(index_offset) + at * index_stride, true) === 0n) return false;
    return true;
  }

  #checkIndex(): string | undefined {
    const seen = new Map<number, number>();
    for (const { slot, record, hash } of this.index()) {
      if (record < 0 || record >= this.count)
        return `index slot ${slot} leads to record ${record}, and there are ${this.count}`;
      if (seen.has(record)) return `index slots ${seen.get(record)} and ${slot} lead to the same record ${record}`;
      if (!this.#isFound(slot, record, hash))
        return `index slot ${slot} leads to record ${record}, whose name is not found by it`;
      seen.set(record, slot);
    }
    if (seen.size !== this.count) return `the index names ${seen.size} records, and there are ${this.count}`;
    return undefined;
  }

  *records(): Generator<DumpedRecord> {
    const header = this.header;
    if (header === undefined) return;
    for (let index = 0; index < this.count; index++) {
      const offset = Number(header.records_offset) + index * header.record_stride;
      const slots = Array.from({ length: header.slots }, (_, i) => {
        const at = offset + header.slots_offset + i * header.slot_stride;
        return { offset: at, state: blockState({ head: SLOT.head(this.view, at), tail: SLOT.tail(this.view, at) }) };
      });
      const column = this.view.getBigUint64(Number(header.column_offset) + index * header.column_stride, true);
      const dumped = { index, offset, column, slots };
      this.wrong ??= recordFault(this.view, dumped, header.links_used ?? 0);
      yield dumped;
    }
  }
}

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
  hostname: getter('report', 'hostname'),
  flags: getter('report', 'flags'),
  interval: getter('report', 'interval_ms'),
};
const recordName = getter('record', 'name');

/** What does not agree within one record. A report that was written while the file was read is not an error. */
function recordFault(
  view: DataView,
  { index, offset, column, slots }: DumpedRecord,
  linksUsed: number,
): string | undefined {
  const name = recordName(view, offset);
  const at = `record ${index} (${oneLine(name)})`;
  if (!NAME.test(name)) return `${at}: its name is invalid`;
  const whole = slots.filter(slot => slot.state === 'whole').map(slot => slot.offset);
  const { magic, version, hostname, flags, interval } = ofReport;
  const isReport = (slot: number) =>
    magic(view, slot + REPORT) === contract.stat.magic && version(view, slot + REPORT) === contract.stat.version;
  if (!whole.every(isReport)) return `${at}: does not hold a report`;
  if (whole.some(slot => hostname(view, slot + REPORT) !== name)) return `${at}: holds a report of another node`;
  const strange = whole
    .map(slot => SLOT.link(view, slot))
    .find(link => link > BigInt(linksUsed) && link !== BigInt(OTHER_LINKS));
  if (strange !== undefined) return `${at}: its report came by link ${strange}, which has no entry`;
  if (whole.length === 0 && column !== 0n) return `${at}: its column word claims a report, but there is none`;
  const [first, second] = whole.map(slot => SLOT.head(view, slot));
  if (second !== undefined && first === second) return `${at}: both slots have the same sequence`;
  const words = whole.map(slot => SLOT.stamp(view, slot) / 1_000_000n);
  const { stamp } = unpackWord('column', column);
  if (whole.length > 0 && slots.every(slot => slot.state !== 'half-written') && !words.some(word => word >= stamp))
    return `${at}: its column word is younger than its reports`;
  const told = whole[words.indexOf(stamp)];
  if (told === undefined) return undefined;
  const goodbye = (flags(view, told + REPORT) >> bits.flags.goodbye) & 1;
  const word = { stamp, link: SLOT.link(view, told), interval: interval(view, told + REPORT), goodbye };
  return column === packWord('column', word)
    ? undefined
    : `${at}: its column word has another link, interval or goodbye than its report`;
}

/** The buffer size from which a write is worthwhile. */
const PAGE_BYTES = 1 << 18;
/**
 * More than is written between two checks of the space left: a record and its slots are 1,000 lines of at most 200
 * bytes.
 */
const MOST_BETWEEN = 1 << 17;

function* textPieces(dump: Dump): Generator<Uint8Array> {
  const page = new Page(PAGE_BYTES);
  const { view } = dump;
  const full = () => page.room < MOST_BETWEEN;
  const written = () => {
    const bytes = page.written;
    page.length = 0;
    return bytes;
  };
  // By then all of it has been checked.
  const verdict = () => Buffer.from(`\n${dump.wrong === undefined ? 'no error' : `wrong: ${dump.wrong}`}\n`);
  page.part(Buffer.from(`${dump.path}: ${dump.state}, ${dump.bytes} bytes\n`));
  if (dump.header === undefined) {
    page.part(verdict());
    yield written();
    return;
  }
  page.text('\nheader\n');
  putLines(page, 'board_header', view, 0);
  for (const { number, offset } of dump.links()) {
    page.text(`\nlink ${number}\n`);
    putLines(page, 'link', view, offset);
    if (full()) yield written();
  }
  for (const { number, offset, entry } of dump.senders()) {
    const reason = enums.reason[Math.floor(number / SENDERS_EACH)] ?? 'no reason';
    page.text(`\nrejected sender ${number}: ${reason}, ${blockState(entry)}\n`);
    putLines(page, 'sender', view, offset);
    if (full()) yield written();
  }
  for (const { number, offset, entry } of dump.events()) {
    const kind = enums.event_kind[Number(entry.kind)] ?? 'no kind';
    page.text(`\nevent ${entry.head / 2n} (entry ${number}): ${kind}, ${blockState(entry)}\n`);
    putLines(page, 'event', view, offset);
    if (full()) yield written();
  }
  page.text('\nname index (slots in use)\n');
  for (const { slot, record, hash } of dump.index()) {
    page.text(`  slot ${slot}: record ${record}, hash ${hash.toString(16).padStart(8, '0')}\n`);
    if (full()) yield written();
  }
  for (const { index, offset, column, slots } of dump.records()) {
    const { stamp, link, interval, goodbye } = unpackWord('column', column);
    page.text(`\nrecord ${index}\n            column word: stamp ${stamp} ms, link ${link}, interval ${interval} ms`);
    page.text(goodbye === 1n ? ', goodbye\n' : '\n');
    putLines(page, 'record', view, offset);
    for (const [i, { state, offset: at }] of slots.entries()) {
      page.text(`\nrecord ${index}, slot ${i}: ${state}\n`);
      if (state !== 'empty') putLines(page, 'slot', view, at);
      if (full()) yield written();
    }
  }
  page.part(verdict());
  yield written();
}

function* jsonPieces(dump: Dump): Generator<string | Uint8Array> {
  const { path, state, header, bytes, view } = dump;
  const tables = { links: [...dump.links()], senders: [...dump.senders()], events: dump.events() };
  yield `{"schema":1,${json({ path, state, bytes, header, ...tables, index: [...dump.index()] }).slice(1, -1)},"records":[`;
  const page = new Page(PAGE_BYTES);
  let separator = '\n';
  for (const { index, offset, column, slots } of dump.records()) {
    page.text(`${separator}{"index":${index},"offset":${offset},"column":"${column}","record":`);
    structPut('record')(page, view, offset);
    page.text(',"slots":[');
    for (const [i, { offset: at, state: of }] of slots.entries()) {
      page.text(`${i === 0 ? '' : ','}{"offset":${at},"state":"${of}","slot":`);
      structPut('slot')(page, view, at);
      page.text('}');
    }
    page.text(']}');
    separator = ',\n';
    if (page.room > MOST_BETWEEN) continue;
    yield page.written;
    page.length = 0;
  }
  yield page.written;
  yield `\n],"wrong":${json(dump.wrong ?? null)}}\n`;
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  const dump = new Dump(values.board, readFile(values.board, values.owner), values.owner);
  await print(values.json ? jsonPieces(dump) : textPieces(dump));
  return dump.wrong === undefined ? 0 : 1;
}
