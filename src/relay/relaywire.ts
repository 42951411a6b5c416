// The messages between relay and mirror, as in proto/relay-v1.md: subjects, heads, signatures, and the small messages
// completely. Pure: bytes in, objects out, and back. C makes and reads the entries of batches and indexes.

import { createHash, type KeyObject, sign, verify } from 'node:crypto';
import { type Decoded, decode, encode } from '../layout/codec.js';
import { bits, constants, enums, structs } from '../layout/layout.gen.js';

type RelayKind = (typeof enums.relay_kind)[number];

export const HEAD_BYTES = structs.relay_head.bytes;
export const BOARD_BYTES = structs.relay_board.bytes;
const INDEX_BYTES = structs.relay_index.bytes;
const INDEXED_BYTES = structs.relay_indexed.bytes;
export const SIGNATURE_BYTES = 64;
/** The longest message: by default, max_payload of a server is 1 MB. */
export const MOST_BYTES = 400_000;
/** How many records one request may ask for. */
export const MOST_ASKED = 500;
/** How many records one part of an index has. */
export const INDEX_PART = 20_000;
const NONCE_BYTES = structs.relay_ping.fields.nonce.count;

/** Whether it can be the name of a site, a cluster or a master, which is a word of a subject. */
export function isRelayName(text: string): boolean {
  return /^[a-z0-9_-]{1,32}$/.test(text);
}

/** A name that cannot be a word of a subject becomes `_`: that of a board without a cluster. */
export function subjectOf(site: string, cluster: string, master: string): string {
  return `beoboard.v1.${site}.${cluster}.${master}`;
}

export type RelayHead = Decoded<'relay_head'>;
export type RelayBoard = Decoded<'relay_board'>;
type Pong = Decoded<'relay_pong'> & { readonly nonceText: string };

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The head of a signed message: what its kind does not say. */
export type Envelope = Pick<RelayHead, 'run' | 'board' | 'boot_id' | 'sequence' | 'taken_ns'>;

/** What every message begins with. */
const startOf = (kind: RelayKind) => ({ ...constants.relay, kind: enums.relay_kind.indexOf(kind) });

/** The signed bytes: never the message itself, so that its length does not matter. */
function digestOf(subject: string, signed: Uint8Array): Buffer {
  return createHash('sha256').update(subject).update('\0').update(signed).digest();
}

/** Signs a message in place: its last 64 bytes. */
export function signMessage(message: Uint8Array, subject: string, key: KeyObject): void {
  const at = message.length - SIGNATURE_BYTES;
  message.set(sign(null, digestOf(subject, message.subarray(0, at)), key), at);
}

/** A message of which all is written but its head and its signature. */
function sealed(message: Uint8Array, kind: RelayKind, subject: string, key: KeyObject, of: Envelope): Uint8Array {
  encode('relay_head', viewOf(message), 0, { ...startOf(kind), length: message.length, ...of });
  signMessage(message, subject, key);
  return message;
}

/** Whether a message of that subject was signed with the secret half of this key. */
export function isSigned(message: Uint8Array, subject: string, key: KeyObject): boolean {
  const at = message.length - SIGNATURE_BYTES;
  return at >= 0 && verify(null, digestOf(subject, message.subarray(0, at)), key, message.subarray(at));
}

/** The bytes before the signature. */
export function unsigned(message: Uint8Array): Uint8Array {
  return message.subarray(0, message.length - SIGNATURE_BYTES);
}

const LEAST: Readonly<Partial<Record<RelayKind, number>>> = {
  batch: BOARD_BYTES,
  index: INDEX_BYTES,
  pong: structs.relay_pong.bytes,
};

/** The head of a signed message of that kind; undefined: it is not one. The signature is not verified here. */
export function readHead(message: Uint8Array, kind: 'batch' | 'index' | 'pong'): RelayHead | undefined {
  if (message.length < HEAD_BYTES + (LEAST[kind] ?? 0) + SIGNATURE_BYTES) return undefined;
  const head = decode('relay_head', viewOf(message), 0);
  if (head.magic !== constants.relay.magic || head.version !== constants.relay.version) return undefined;
  return enums.relay_kind[head.kind] === kind && head.length === message.length ? head : undefined;
}

/** The board's part of a batch whose head was read. */
export function readBoard(message: Uint8Array): RelayBoard {
  return decode('relay_board', viewOf(message), HEAD_BYTES);
}

/** A buffer for messages that C makes: aligned to 8 bytes, with room for the longest one. */
export function scratch(): Uint8Array {
  return new Uint8Array(new ArrayBuffer(MOST_BYTES));
}

/** The place for the entries of a batch, after the board's part. */
export function entriesOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(HEAD_BYTES + BOARD_BYTES, bytes.length - SIGNATURE_BYTES);
}
export function boardOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(HEAD_BYTES, HEAD_BYTES + BOARD_BYTES);
}
export function indexedOf(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(HEAD_BYTES + INDEX_BYTES, bytes.length - SIGNATURE_BYTES);
}

/** Completes a batch whose board part and entries are written; returns a signed copy. `last`: of this run. */
export function finishBatch(
  bytes: Uint8Array,
  subject: string,
  key: KeyObject,
  of: Envelope,
  form: { entries: number; entryBytes: number; complete: boolean; last?: boolean },
): Uint8Array {
  const { entries, entryBytes, complete, last = false } = form;
  const length = HEAD_BYTES + BOARD_BYTES + entryBytes + SIGNATURE_BYTES;
  const flags = (Number(complete) << bits.relay_flags.complete) | (Number(last) << bits.relay_flags.last);
  encode('relay_board', viewOf(bytes), HEAD_BYTES, { flags, entries });
  return sealed(bytes.slice(0, length), 'batch', subject, key, of);
}

/** The board's part of an index, except its evidence: that is in the board as `begin` of the sweep wrote it. */
type IndexPart = Omit<Decoded<'relay_index'>, 'evidence'>;

/** Completes a part of an index whose entries are written, likewise. `board`: from the same sweep. */
export function finishIndex(
  bytes: Uint8Array,
  subject: string,
  key: KeyObject,
  of: Envelope,
  part: IndexPart,
  board: Uint8Array,
): Uint8Array {
  const length = HEAD_BYTES + INDEX_BYTES + (part.count ?? 0) * INDEXED_BYTES + SIGNATURE_BYTES;
  const message = bytes.slice(0, length);
  message.fill(0, HEAD_BYTES, HEAD_BYTES + INDEX_BYTES);
  encode('relay_index', viewOf(message), HEAD_BYTES, part);
  const from = structs.relay_board.fields.evidence.offset;
  const evidence = board.subarray(from, from + structs.link_evidence.bytes * structs.relay_board.fields.evidence.count);
  message.set(evidence, HEAD_BYTES + structs.relay_index.fields.evidence.offset);
  return sealed(message, 'index', subject, key, of);
}

/** A ping: 16 random bytes that nobody else knows yet. */
export function writePing(nonce: Uint8Array): Uint8Array {
  const message = new Uint8Array(structs.relay_ping.bytes);
  encode('relay_ping', viewOf(message), 0, startOf('ping'));
  message.set(nonce.subarray(0, NONCE_BYTES), structs.relay_ping.fields.nonce.offset);
  return message;
}

function isOf(struct: 'relay_ping' | 'relay_ask', kind: RelayKind, message: Uint8Array): boolean {
  if (message.length < structs[struct].bytes) return false;
  const { magic, version, kind: which } = decode(struct, viewOf(message), 0);
  return magic === constants.relay.magic && version === constants.relay.version && enums.relay_kind[which] === kind;
}

/** The nonce of a ping; undefined: it is not a ping. */
export function readPing(message: Uint8Array): Uint8Array | undefined {
  if (message.length !== structs.relay_ping.bytes || !isOf('relay_ping', 'ping', message)) return undefined;
  const { offset, count } = structs.relay_ping.fields.nonce;
  return message.slice(offset, offset + count);
}

/** A relay's answer to a ping. `subject`: of the ping. */
export function writePong(
  nonce: Uint8Array,
  subject: string,
  key: KeyObject,
  of: Envelope,
  says: Omit<Decoded<'relay_pong'>, 'nonce'>,
): Uint8Array {
  const message = new Uint8Array(HEAD_BYTES + structs.relay_pong.bytes + SIGNATURE_BYTES);
  encode('relay_pong', viewOf(message), HEAD_BYTES, says);
  message.set(nonce, HEAD_BYTES + structs.relay_pong.fields.nonce.offset);
  return sealed(message, 'pong', subject, key, of);
}

export function readPong(message: Uint8Array): Pong {
  const pong = decode('relay_pong', viewOf(message), HEAD_BYTES);
  return { ...pong, nonceText: Buffer.from(pong.nonce).toString('hex') };
}

/** A request for records by their numbers, at most 500; without numbers, for the index. */
export function writeAsk(run: bigint, board: bigint, numbers: Uint32Array): Uint8Array {
  const count = Math.min(numbers.length, MOST_ASKED);
  const message = new Uint8Array(structs.relay_ask.bytes + 4 * count);
  const view = viewOf(message);
  encode('relay_ask', view, 0, { ...startOf('ask'), run, board, count });
  for (let i = 0; i < count; i++) view.setUint32(structs.relay_ask.bytes + 4 * i, numbers[i] as number, true);
  return message;
}

/** Undefined: it is not a request, or asks for too much. */
export function readAsk(message: Uint8Array): { run: bigint; board: bigint; numbers: Uint32Array } | undefined {
  if (!isOf('relay_ask', 'ask', message)) return undefined;
  const view = viewOf(message);
  const { run, board, count = 0 } = decode('relay_ask', view, 0);
  if (count > MOST_ASKED || message.length !== structs.relay_ask.bytes + 4 * count) return undefined;
  return {
    run,
    board,
    numbers: Uint32Array.from({ length: count }, (_, i) => view.getUint32(structs.relay_ask.bytes + 4 * i, true)),
  };
}
