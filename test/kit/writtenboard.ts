// Boards with a past: written by a receiver's rules over the last minutes, one report a second of each node. No test of
// its own.

import type { Encodable } from '../../src/layout/codec.js';
import { CLOCK, clocks, type Writer } from '../../src/native/index.js';
import { BoardReader } from '../../src/shm/reader.js';
import { deliver, openWriter } from '../../src/shm/writer.js';
import { boardPath, type Teardown } from './places.js';
import { makeReport } from './reports.js';

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
