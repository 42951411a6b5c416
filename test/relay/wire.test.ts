// The messages between relay and mirror: each is read as it was written, anything else is refused, a signature covers
// every byte and the subject; bounds from pings contain the true time whatever the network does; and any bytes do a
// mirror no harm.

import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { decode, encode, type Field, sizeOf } from '../../src/layout/codec.js';
import { enums, structs } from '../../src/layout/layout.gen.js';
import { Mirror, mapBoard, OUTCOME, Sweep } from '../../src/native/index.js';
import { readRelayKey, readRelayPublicKey, relayKeyLines } from '../../src/options/keys.js';
import { lowerBound, PING_COUNTS_NS, PING_MOST_NS, Pings, upperBound } from '../../src/relay/pings.js';
import {
  BOARD_BYTES,
  finishBatch,
  HEAD_BYTES,
  isRelayName,
  isSigned,
  MOST_ASKED,
  readAsk,
  readHead,
  readPing,
  readPong,
  scratch,
  subjectOf,
  unsigned,
  writeAsk,
  writePing,
  writePong,
} from '../../src/relay/relaywire.js';
import { trustOptions } from '../../src/shm/trust.js';
import { structs as ofC } from '../kit/layout.gen.js';
import { poke } from '../kit/linkboard.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { run } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { makeBoard } from '../kit/stateboard.js';
import { keyPair } from './relaying.js';

const OF = { run: 5n, board: 6n, boot_id: 7n, sequence: 8, taken_ns: 9_000n };
const SUBJECT = 'beoboard.v1.home.alpha.m1.batch';

t.test('names and subjects', async t => {
  for (const name of ['a', 'm1', 'login-2_x', 'x'.repeat(32)]) t.ok(isRelayName(name), name);
  for (const name of ['', 'A', 'a.b', 'a b', '*', '>', 'é', 'x'.repeat(33)]) t.notOk(isRelayName(name), name);
  t.equal(subjectOf('home', 'alpha', 'm1'), 'beoboard.v1.home.alpha.m1');
});

t.test('pings, asks and pongs are read as they were written, and anything else is rejected', async t => {
  const nonce = randomBytes(16);
  t.same(readPing(writePing(nonce)), new Uint8Array(nonce));
  const numbers = Uint32Array.from({ length: MOST_ASKED }, (_, i) => i * 7);
  t.same(readAsk(writeAsk(1n, 2n, numbers)), { run: 1n, board: 2n, numbers });
  t.same(readAsk(writeAsk(1n, 2n, new Uint32Array()))?.numbers.length, 0);
  t.equal(
    readAsk(writeAsk(1n, 2n, new Uint32Array(MOST_ASKED + 5)))?.numbers.length,
    MOST_ASKED,
    'never more at a time',
  );
  const { secret, shown } = keyPair();
  const says = { heartbeat_ns: 1n, listening_since_ns: 2n, nodes: 3, records: 4, state: 1n };
  const pong = writePong(nonce, 'x.ping', secret, OF, says);
  t.match(readHead(pong, 'pong'), { run: 5n, board: 6n, boot_id: 7n, sequence: 8, taken_ns: 9_000n });
  t.match(readPong(pong), { heartbeat_ns: 1n, listening_since_ns: 2n, nodes: 3, records: 4 });
  t.equal(readPong(pong).nonceText, nonce.toString('hex'));
  t.ok(isSigned(pong, 'x.ping', shown));
  t.notOk(isSigned(pong, 'y.ping', shown), 'of another subject');
  t.notOk(isSigned(pong, 'x.ping', keyPair().shown), 'by another key');
  for (let i = 0; i < pong.length; i += 7) {
    const other = pong.slice();
    other[i] = (other[i] ?? 0) ^ 0x20;
    t.notOk(isSigned(other, 'x.ping', shown), `byte ${i}`);
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), bytes => {
      readPing(bytes);
      readAsk(bytes);
      for (const kind of ['batch', 'index', 'pong'] as const) readHead(bytes, kind);
      isSigned(bytes, 'x', shown);
    }),
    { numRuns: 2000 },
  );
  for (const message of [writePing(nonce), writeAsk(1n, 2n, numbers), pong])
    fc.assert(
      fc.property(fc.nat(message.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(40), (at, value, cut) => {
        const other = message.slice(0, message.length - cut);
        if (at < other.length) other[at] = value;
        const ask = readAsk(other);
        if (ask !== undefined && ask.numbers.length > MOST_ASKED) throw new Error('too many');
        readPing(other);
        readHead(other, 'pong');
      }),
      { numRuns: 2000 },
    );
});

t.test('bounds by pings contain the true time, whatever the delays and the rates of clocks', async t => {
  const ms = (value: number) => BigInt(Math.round(value * 1e6));
  fc.assert(
    fc.property(
      fc.record({
        ppm: fc.integer({ min: -999, max: 999 }),
        there: fc.integer({ min: 0, max: 3_000 }),
        back: fc.integer({ min: 0, max: 3_000 }),
        age: fc.integer({ min: -5_000, max: 40_000_000 }),
        base: fc.integer({ min: 1, max: 10_000_000 }),
      }),
      ({ ppm, there, back, age, base }) => {
        // Our clock is correct; the other one runs at another rate.
        const other = (at: bigint) => ms(77_000) + at + (at * BigInt(ppm)) / 1_000_000n;
        const askedNs = ms(base) * 1000n;
        const relayNs = other(askedNs + ms(there));
        const ping = { askedNs, relayNs, answeredNs: askedNs + ms(there) + ms(back) };
        const at = askedNs - ms(age);
        const slack = 2n;
        return lowerBound(ping, other(at)) <= at + slack && upperBound(ping, other(at)) >= at - slack;
      },
    ),
    { numRuns: 5000 },
  );
  const pings = new Pings();
  t.equal(pings.best(0n), undefined);
  t.ok(pings.add({ askedNs: 1000n, relayNs: 5000n, answeredNs: 1000n + PING_MOST_NS + 1n }));
  t.equal(pings.best(2000n), undefined, 'it took too long');
  const good = { askedNs: 2000n, relayNs: 6000n, answeredNs: 3000n };
  const close = { askedNs: 3000n, relayNs: 7500n, answeredNs: 3500n };
  t.ok(
    pings.add(good) && pings.add(close) && pings.add({ ...good, askedNs: 4000n, relayNs: 8200n, answeredNs: 6000n }),
  );
  t.equal(pings.best(7000n), close, 'the closest');
  t.equal(pings.best(3000n + PING_COUNTS_NS + 1n)?.askedNs, 4000n, 'while it is young');
  t.equal(pings.best(4000n + PING_COUNTS_NS + 1n), undefined, 'then none');
  t.notOk(pings.add({ askedNs: 10n ** 12n, relayNs: 8200n, answeredNs: 10n ** 12n + 5n }), 'the other stood still');
  t.ok(
    pings.add({ askedNs: 10n ** 12n + 10n, relayNs: 8210n, answeredNs: 10n ** 12n + 15n }),
    'and goes on from there',
  );
});

t.test('keys: two files, and each can only be used for its own purpose', async t => {
  const path = folder(t);
  const file = join(path, 'relay.key');
  const made = await run(['keygen', '--relay', file]);
  t.match(made, { code: 0 });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(statSync(`${file}.pub`).mode & 0o777, 0o644);
  const nonce = randomBytes(16);
  const says = { heartbeat_ns: 1n, listening_since_ns: 2n, nodes: 3, records: 4, state: 1n };
  const pong = writePong(nonce, 'x', readRelayKey(file), OF, says);
  t.ok(isSigned(pong, 'x', readRelayPublicKey(`${file}.pub`)));
  t.throws(() => readRelayKey(`${file}.pub`), /can be read by others/);
  t.throws(() => readRelayPublicKey(file), /secret half/);
  writeFileSync(join(path, 'bad'), 'relay 12\n', { mode: 0o600 });
  t.throws(() => readRelayKey(join(path, 'bad')), /is not one line/);
  const again = await run(['keygen', '--relay', file]);
  t.equal(again.code, 1);
  t.match(again.stderr, /exists, and keys are never overwritten/);
  const { secret, shown } = relayKeyLines(randomBytes(32));
  t.match(secret, /^relay [0-9a-f]{64}\n$/);
  t.match(shown, /^relay-public [0-9a-f]{64}\n$/);
});

/** A batch with one report, as a relay would make it. */
function batchOf(): Uint8Array {
  const { secret } = keyPair();
  const bytes = scratch();
  const view = new DataView(bytes.buffer);
  const evidence = Array.from({ length: 32 }, () => ({ heartbeat_ns: 10_000_000_000n, listening_since_ns: 1n }));
  encode('relay_board', view, HEAD_BYTES, {
    stat_hash: decodeHash(),
    uncertain_after_ns: 4_500_000_000n,
    silent_after_ns: 10_500_000_000n,
    capacity: 8,
    count: 1,
    heartbeat_ns: 10_000_000_000n,
    listening_since_ns: 1n,
    cluster_name: '',
    evidence,
  });
  const at = HEAD_BYTES + BOARD_BYTES;
  const entry = ofC.relay_report.bytes;
  put(ofC.relay_report, view, at, { kind: 1, bytes: entry, record: 0, head: 2n, stamp_ns: 9_999_000_000n, link: 1n });
  bytes.set(makeReport({ hostname: 'node1' }), at + ofC.relay_report.fields.report.offset);
  put(ofC.relay_record, view, at + entry, { kind: 2, bytes: ofC.relay_record.bytes, record: 1, name: 'node2' });
  const link = at + entry + ofC.relay_record.bytes;
  put(ofC.relay_link, view, link, { kind: 3, bytes: ofC.relay_link.bytes, number: 1 });
  const entryBytes = entry + ofC.relay_record.bytes + ofC.relay_link.bytes;
  const of = { ...OF, taken_ns: 10_000_000_000n };
  return finishBatch(bytes, SUBJECT, secret, of, { entries: 3, entryBytes, complete: true });
}

/** Writes fields of an entry, which the addon makes. */
function put<
  S extends { readonly fields: Readonly<Record<string, { readonly offset: number; readonly type: string }>> },
>(
  { fields }: S,
  view: DataView,
  at: number,
  values: { readonly [F in keyof S['fields']]?: number | bigint | string },
): void {
  for (const [name, value] of Object.entries(values)) {
    const { offset = 0, type } = fields[name] ?? {};
    if (typeof value === 'string') Buffer.from(view.buffer, at + offset).write(value);
    else if (type === 'u64') view.setBigUint64(at + offset, BigInt(value as bigint), true);
    else if (type === 'u32') view.setUint32(at + offset, Number(value), true);
    else view.setUint16(at + offset, Number(value), true);
  }
}

/** The hash of the datagram's layout, as in our boards. */
function decodeHash(): bigint {
  const header = readFileSync(new URL('../../../c/format/layout.gen.h', import.meta.url), 'utf8');
  return BigInt(/BB_HASH_STAT_V1 UINT64_C\((0x[0-9a-f]+)\)/.exec(header)?.[1] ?? 0);
}

t.test(
  'a mirror survives any bytes: an invalid batch is rejected as a whole, and an invalid entry in it is left out',
  async t => {
    const path = boardPath(t);
    const options = {
      path,
      site: 'home',
      masters: ['m1'],
      followed: 0,
      clusterName: '',
      clusterId: 0,
      capacity: 4,
      uncertainAfterNs: 4_500_000_000n,
      silentAfterNs: 10_500_000_000n,
      longestIntervalMs: 0,
      instance: 1n,
      origin: 1n,
      nowNs: 1_000_000_000_000n,
      ...trustOptions(undefined),
    };
    const mirror = new Mirror(options);
    t.teardown(() => mirror.close());
    const now = 1_000_000_000_000n;
    const lay = (message: Uint8Array) => mirror.batch(message, now, 10_000_000_000n, now + 1000n, now + 2000n);
    const batch = unsigned(batchOf());
    t.equal(lay(batch), OUTCOME.taken);
    t.match(mirror.counts(), { laid: 1, unfit: 0 });
    t.equal(lay(batch.subarray(0, batch.length - 8)), OUTCOME.malformed, 'cut short');
    t.equal(mirror.batch(batch, now, 9_000_000_000n, now + 1000n, now + 2000n), OUTCOME.ahead, 'from the future');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(batch.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 12 }),
        fc.nat(64),
        (edits, cut) => {
          const other = batch.slice(0, batch.length - cut);
          for (const [at, value] of edits) if (at < other.length) other[at] = value;
          lay(other);
          mirror.index(other, now);
          mirror.claims(0, other, now);
          mirror.review(1, now);
          mirror.missing(10);
        },
      ),
      { numRuns: 5000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), bytes => {
        const outcome = lay(bytes);
        return outcome === OUTCOME.malformed && mirror.index(bytes, now) !== OUTCOME.ahead;
      }),
      { numRuns: 2000 },
    );
    mirror.renew(options);
    mirror.gap(now);
    const view = new DataView(readFileSync(path).buffer);
    t.equal(decode('board_header', view, 0).mirror_masters, 1);
  },
);

t.test('a sweep takes every field of a record and a link that a mirror is sent, and sees what is news', async t => {
  const { path, lay } = makeBoard(t, { live: ['n1'] });
  lay('n1', 0, { seq: 77 });
  const reader = openReader(t, path);
  const { header } = reader.snapshot();
  const opened = mapBoard(path, undefined);
  if (opened.state !== 'ready') throw new Error(opened.why);
  t.teardown(() => opened.board.unmap());
  const sweep = new Sweep(opened.board);
  const record = Number(header.records_offset);
  const link = Number(header.links_offset) + header.links_stride;
  const memory = record + header.memory_offset;
  let number = 0x0101n;
  // Each word is another one, but the name and what guards a copy stay.
  const spoil = (struct: 'record' | 'link' | 'memory', at: number, from: number, to: number) => {
    for (const [name, { offset, kind }] of Object.entries<Field>(structs[struct].fields))
      if (offset >= from && offset < to && kind !== 'reserved' && !/name|_head|_tail/.test(name))
        for (let word = offset & ~7; word < nextOf(struct, offset); word += 8)
          poke(path, [[at + word, number++ << 4n]]);
  };
  const nextOf = (struct: 'record' | 'link' | 'memory', offset: number) =>
    Math.min(...Object.values<Field>(structs[struct].fields).flatMap(one => (one.offset > offset ? [one.offset] : [])));
  spoil('record', record, 64, structs.record.bytes);
  spoil('link', link, 16, structs.link.fields.reserved0.offset);
  spoil('memory', memory, 8, structs.memory.fields.clone_tail.offset);
  poke(path, [[record + structs.record.fields.order_head.offset, 2n]]);
  poke(path, [[record + structs.record.fields.order_tail.offset, 2n]]);
  poke(path, [[memory, 2n]]);
  poke(path, [[memory + structs.memory.fields.clone_tail.offset, 2n]]);
  const room = new Uint8Array(new ArrayBuffer(1 << 16));
  /** What is swept, by the number of its kind. */
  const swept = (isThorough: boolean) => {
    sweep.begin(isThorough, 0, new Uint8Array(BOARD_BYTES));
    const { bytes } = sweep.next(room);
    const found = new Map<number, Buffer>();
    for (let at = 0; at < bytes; ) {
      const entry = Buffer.from(room.slice(at, at + (room[at + 2] ?? 0) + ((room[at + 3] ?? 0) << 8)));
      // The entry of all links without a number of their own always stands there.
      if (entry.readUInt32LE(4) < 2) found.set(entry.readUInt16LE(), entry);
      at += entry.length;
    }
    return found;
  };
  const all = swept(true);
  const board = readFileSync(path);
  const [REPORT, RECORD, LINK] = ['report', 'record', 'link'].map(name => enums.relay_entry.indexOf(name as 'link'));
  const sent = all.get(RECORD as number) as Buffer;
  const bytesOf = (of: Buffer, at: number, fields: object, name: string) => {
    const { offset, type, count } = (fields as Record<string, Field>)[name] as Field;
    return of.subarray(at + offset, at + offset + sizeOf(type) * Math.max(1, count)).toString('hex');
  };
  for (const name of Object.keys(ofC.relay_record.fields).slice(3, -1)) {
    const [at, fields] = name.startsWith('clone') ? [memory, structs.memory.fields] : [record, structs.record.fields];
    t.equal(bytesOf(sent, 0, ofC.relay_record.fields, name), bytesOf(board, at, fields, name), name);
  }
  const { bytes } = structs.link;
  t.same(all.get(LINK as number)?.subarray(8, 8 + bytes), board.subarray(link, link + bytes));
  const slot = record + header.slots_offset;
  const newest = board.readBigUInt64LE(slot) > board.readBigUInt64LE(slot + header.slot_stride) ? 0 : 1;
  for (const name of ['head', 'stamp_ns', 'stamp_real_ns', 'link', 'report'])
    t.equal(
      bytesOf(all.get(REPORT as number) as Buffer, 0, ofC.relay_report.fields, name),
      bytesOf(board, slot + newest * header.slot_stride, structs.slot.fields, name),
      name,
    );
  t.same([...swept(false).keys()], [], 'nothing is news');
  for (const [name, { offset }] of Object.entries<Field>(structs.link.fields).slice(1, -1)) {
    poke(path, [[link + (offset & ~7), number++ << 4n]]);
    const isNews = !['nodes', 'accepted', 'missed', 'address', 'port', 'source'].includes(name);
    t.same([...swept(false).keys()], isNews ? [LINK] : [], name);
  }
});
