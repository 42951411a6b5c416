// Judges a board by the contract: the first thing that does not agree with it, in what readers accept. An oracle, which
// shares nothing with the writer, and with readers only the codec.

import { BoardFile, blockState, Dump, type DumpedRecord } from '../../src/cli/boardfile.js';
import { type Decoded, decode, getter, unpackWord } from '../../src/layout/codec.js';
import { bits, constants as contract, enums, structs } from '../../src/layout/layout.gen.js';
import { SENDERS_EACH } from '../../src/shm/snapshot.js';
import { oneLine } from '../../src/text/text.js';
import { packWord } from './words.js';

type Header = Decoded<'board_header'>;

const HEADER = structs.board_header.bytes;
const TWO_TO_32 = 2 ** 32;

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

/** Whether the search for a record's name would reach this place. */
function isFound(dump: Dump, slot: number, record: number, hash: number, names: Hashes): boolean {
  const { index_slots, index_stride } = dump.header as Header;
  const { view } = dump.part('index');
  if (names.high[record] !== hash) return false;
  const isEmpty = (at: number) => view.getUint32(at, true) === 0 && view.getUint32(at + 4, true) === 0;
  // A power of two.
  let at = (names.low[record] as number) % index_slots;
  for (; at !== slot; at = (at + 1) % index_slots) if (isEmpty(at * index_stride)) return false;
  return true;
}

function indexFault(dump: Dump, names: Hashes): string | undefined {
  /** The slot that leads to each record, plus one. */
  const seen = new Uint32Array(dump.count);
  let found = 0;
  for (const { slot, record, hash } of dump.index()) {
    if (record < 0 || record >= dump.count)
      return `index slot ${slot} leads to record ${record}, and there are ${dump.count}`;
    const other = seen[record] as number;
    if (other > 0) return `index slots ${other - 1} and ${slot} lead to the same record ${record}`;
    if (!isFound(dump, slot, record, hash, names))
      return `index slot ${slot} leads to record ${record}, whose name is not found by it`;
    seen[record] = slot + 1;
    found++;
  }
  return found === dump.count ? undefined : `the index names ${found} records, and there are ${dump.count}`;
}

function linksFault(dump: Dump): string | undefined {
  const { links_used: used } = dump.header as Header;
  if (used === undefined || used > LINKS_MOST)
    return `links_used is ${used ?? 'beyond 2^53'}, and ${LINKS_MOST} links may have an entry`;
  const seen = new Map<string, number>();
  const found = new Map([...dump.links()].map(link => [link.number, link]));
  for (let number = 1; number <= used; number++) {
    const { offset = 0, entry: { name, state } = { name: '', state: 0n } } = found.get(number) ?? {};
    if (name === '') return `link ${number} has no name`;
    const { view, origin } = dump.part('links');
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

function sendersFault(dump: Dump): string | undefined {
  for (const { number, entry } of dump.senders()) {
    if (blockState(entry) !== 'whole') continue;
    const reason = enums.reason[Math.floor(number / SENDERS_EACH)] ?? 'none';
    if (reason === 'none') return `rejected sender ${number} has an unknown reason`;
    if (entry.name !== '' && !NAME.test(entry.name)) return `rejected sender ${number}: its name is invalid`;
    if (entry.count === 0) return `rejected sender ${number} has a count of 0`;
  }
  return undefined;
}

function eventsFault(dump: Dump): string | undefined {
  const { events, event_last: last, links_used: used = 0 } = dump.header as Header;
  if (last === undefined) return 'event_last is beyond 2^53';
  let newest = 0n;
  let isWritten = true;
  for (const { number, entry } of dump.events()) {
    if (blockState(entry) === 'half-written') isWritten = false;
    if (blockState(entry) !== 'whole') continue;
    const event = entry.head / 2n;
    newest = event;
    if (event % BigInt(events) !== BigInt(number)) return `event ${event} is not in its place in the ring`;
    const kind = enums.event_kind[Number(entry.kind)] ?? 'none';
    if (kind === 'none') return `event ${event} has an unknown kind`;
    const { subject } = entry;
    if (OF_RECORDS.includes(kind) && subject !== NO_SUBJECT && subject >= BigInt(dump.count))
      return `event ${event} is of record ${subject}, and there are ${dump.count}`;
    if (OF_LINKS.includes(kind) && (subject === 0n || subject > BigInt(used)) && subject !== BigInt(OTHER_LINKS))
      return `event ${event} is of link ${subject}, which has no entry`;
  }
  // An empty ring belongs to a board that has replaced another one and continues its numbers.
  if (isWritten && newest > 0n && newest < BigInt(last))
    return `event_last is ${last}, and the newest event in the ring is number ${newest}`;
  return undefined;
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

/** The first fault of the board, also one that makes readers reject it; undefined: there is none. */
export function boardFault(path: string, owner?: number | string): string | undefined {
  const file = new BoardFile(path, owner);
  try {
    const dump = new Dump(file, owner);
    if (dump.wrong !== undefined || dump.header === undefined) return dump.wrong;
    const names = new Hashes(dump.count, dump.header.index_seed);
    const linksUsed = dump.header.links_used ?? 0;
    // A report may have come by a link whose entry is newer than the header that was read.
    const linksUsedNow = () => decode('board_header', file.read(0, new Uint8Array(HEADER)).view, 0).links_used ?? 0;
    let fault: string | undefined;
    for (const record of dump.records()) {
      names.add(record.index, record.view, record.base);
      fault ??= recordFault(record, link => (link > linksUsed ? linksUsedNow() : linksUsed));
    }
    return (
      dump.wrong ?? indexFault(dump, names) ?? linksFault(dump) ?? sendersFault(dump) ?? eventsFault(dump) ?? fault
    );
  } finally {
    file.close();
  }
}
