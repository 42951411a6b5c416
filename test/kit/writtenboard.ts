// Boards with a past: written by a receiver's rules over the last minutes, one report a second of each node. No test of
// its own.

import { readFileSync, writeFileSync } from 'node:fs';
import type { Encodable } from '../../src/layout/codec.js';
import { structs } from '../../src/layout/layout.gen.js';
import { CLOCK, clocks, type Writer } from '../../src/native/index.js';
import { BoardReader } from '../../src/shm/reader.js';
import { openWriter } from '../../src/shm/writer.js';
import { boardPath, type Teardown } from './places.js';
import { makeReport } from './reports.js';
import { deliver } from './testwriter.js';

const SECOND = 1_000_000_000n;

/** `values` says what is in a node's report at so many seconds before now; undefined: no report. */
export function writtenBoard(t: Teardown, nodes: Past, span = 100): BoardReader {
  return keptBoard(t, nodes, span).reader;
}

type Past = Readonly<Record<string, (ago: number) => Encodable<'report'> | undefined>>;

/** The same, with its writer; a report every so many seconds. `listed`: nodes that never report. */
export function keptBoard(
  t: Teardown,
  past: Past,
  span: number,
  every = 1,
  listed: readonly string[] = [],
): { reader: BoardReader; writer: Writer } {
  const path = boardPath(t);
  const nodes = [...(listed.length === 0 ? [] : Object.keys(past)), ...listed];
  const capacity = Object.keys(past).length + listed.length + 4;
  const writer = openWriter({ path, cluster: '', capacity, uncertainAfter: 4500, silentAfter: 10_500, nodes });
  t.teardown(() => writer.close());
  const into = new BigUint64Array(3);
  clocks(into);
  const [mono, real] = [into[CLOCK.monotonic] ?? 0n, into[CLOCK.real] ?? 0n];
  writer.listeningSince(mono - BigInt(span + 60) * SECOND);
  for (let ago = span; ago >= 0; ago -= every) {
    const back = BigInt(ago) * SECOND;
    for (const [hostname, values] of Object.entries(past)) {
      const report = values(ago);
      if (report === undefined) continue;
      const common = {
        hostname,
        seq: span - ago + 1,
        t_boot_ns: 10_000n * SECOND - back,
        start_boot_ns: 1n,
        boot_id: 5n,
      };
      deliver(writer, makeReport({ ...common, ...report }), mono - back, real - back);
    }
    writer.heartbeat(mono - back);
  }
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  return { reader, writer };
}

/** Makes the board that an older version would have made: with so much memory behind the slots, and this hash. */
export function makeOlder(path: string, board_hash: bigint, memory_bytes: number): void {
  const bytes = readFileSync(path);
  const reader = new BoardReader(path);
  const { header } = reader.snapshot();
  reader.close();
  const record = Number(header.records_offset);
  const short = header.record_stride - header.memory_bytes + memory_bytes;
  const older = Buffer.concat([
    bytes.subarray(0, record),
    ...Array.from({ length: header.capacity }, (_, i) =>
      bytes.subarray(record + i * header.record_stride, record + i * header.record_stride + short),
    ),
  ]);
  const { fields } = structs.board_header;
  older.writeUInt32LE(memory_bytes === 0 ? 0x20000 : 0x20001, fields.version.offset);
  older.writeBigUInt64LE(board_hash, fields.board_hash.offset);
  older.writeBigUInt64LE(BigInt(older.length), fields.file_bytes.offset);
  older.writeUInt32LE(short, fields.record_stride.offset);
  older.writeUInt32LE(memory_bytes === 0 ? 0 : header.memory_offset, fields.memory_offset.offset);
  older.writeUInt32LE(memory_bytes, fields.memory_bytes.offset);
  writeFileSync(path, older);
}
