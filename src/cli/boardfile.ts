// A board's file, laid out as its header says. Reads the file itself, so that a board can be shown that no reader would
// accept.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type Decoded, decode, getter, type StructName } from '../layout/codec.js';
import { constants as contract, structs } from '../layout/layout.gen.js';
import { OTHER_LINKS } from '../shm/links.js';
import { NO_BOARD, NoBoard } from '../shm/noboard.js';
import { tryBoard } from '../shm/reader.js';
import { Failure } from '../text/failure.js';
import { isZero } from './dumptext.js';

type Header = Decoded<'board_header'>;

const HEADER = structs.board_header.bytes;

/** So much is read of the records at a time, and at least one. */
const RUN_BYTES = 1 << 18;
/** A larger board would be hundreds of GB of text, or mostly a hole in its file. */
const MOST_BYTES = 2 ** 32 - 1;
/** A larger table is not read; that of a million nodes takes 16 MB. */
const TABLE_MOST = 2 ** 30;

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

/** The state of a block, by its two sequences. */
export function blockState({ head, tail }: { head: bigint; tail: bigint }): 'empty' | 'whole' | 'half-written' {
  if (head === 0n && tail === 0n) return 'empty';
  return head === tail && (head & 1n) === 0n ? 'whole' : 'half-written';
}

interface TableEntry<S extends StructName> {
  number: number;
  offset: number;
  entry: Decoded<S>;
}

export interface DumpedRecord extends FilePart {
  index: number;
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
 * A board's file, laid out as its header says; `wrong`: why no reader accepts it, or that it changed meanwhile, which
 * may be known only after the last record. The header, the tables and the index are read at once, the records a run at
 * a time while they are written: a board of a million nodes has 3 GB of them.
 */
export class Dump {
  readonly header: Header | undefined;
  readonly state: string;
  wrong: string | undefined;
  readonly head: FilePart;
  readonly #tables = new Map<BoardTable | 'index', FilePart>();

  constructor(
    readonly file: BoardFile,
    owner: number | string | undefined,
  ) {
    const { path, bytes } = file;
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
      if (size > TABLE_MOST) throw new Failure(`${this.file.path}: its ${table} take more than 1 GiB`, NO_BOARD);
      const part = this.file.read(Number(at), new Uint8Array(size));
      if (part.view.byteLength === size) this.#tables.set(table, part);
    }
  }

  get #isReadable(): boolean {
    return this.#tables.size > TABLES.length;
  }

  part(table: BoardTable | 'index'): FilePart {
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
      if (!isZero(view, base, bytes)) yield { number, offset: origin + base, entry: decode(struct, view, base) };
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

  events(): TableEntry<'event'>[] {
    return [...this.#entries('event')].sort((a, b) => (a.entry.head < b.entry.head ? -1 : 1));
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

  /** All records, each valid until the next one is asked for. If the file was cut, it ends early and tells that. */
  *records(): Generator<DumpedRecord> {
    const { header, count } = this;
    if (header === undefined || !this.#isReadable) return;
    const { records_offset, record_stride, column_offset, column_stride, slots_offset, slot_stride, slots } = header;
    const { memory_offset = 0, memory_bytes = 0 } = header;
    const remembers = memory_bytes >= structs.memory.bytes && memory_offset + memory_bytes <= record_stride;
    const run = Math.max(1, Math.floor(RUN_BYTES / record_stride));
    const [columns, records] = [new Uint8Array(run * column_stride), new Uint8Array(run * record_stride)];
    for (let first = 0; first < count; first += run) {
      const here = Math.min(run, count - first);
      const read = (offset: number | undefined, stride: number, into: Uint8Array) =>
        this.file.read(Number(offset) + first * stride, into.subarray(0, here * stride));
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
}

const SLOT = { head: getter('slot', 'head'), tail: getter('slot', 'tail') };
