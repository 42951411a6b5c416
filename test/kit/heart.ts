// The heartbeat of a board without a receiver. No test of its own.

import { Worker } from 'node:worker_threads';
import { structs } from '../../src/layout/layout.gen.js';

/** The link that stands for all others. */
const OTHERS = 31;

const BEAT = `
const { closeSync, existsSync, openSync, writeSync } = require('node:fs');
const { path, places, begun } = require('node:worker_threads').workerData;
const now = Buffer.alloc(8);
const beat = () => {
  now.writeBigUInt64LE(process.hrtime.bigint());
  // By its name each time, because a board that is made anew is another file; some are removed.
  if (!existsSync(path)) return;
  const file = openSync(path, 'r+');
  for (const place of places) writeSync(file, now, 0, 8, place);
  closeSync(file);
};
beat();
setInterval(beat, 100);
Atomics.store(begun, 0, 1);
Atomics.notify(begun, 0);
`;

/**
 * Writes the heartbeat of a board ten times a second, and those of these of its links, until the test ends or what is
 * returned is called. In a thread of its own: a test that computes for seconds on a busy machine does not stop it. It
 * has begun when this returns.
 */
export function keepAlive(
  t: { teardown(end: () => unknown): unknown },
  path: string,
  links: readonly number[] = [OTHERS],
): () => Promise<unknown> {
  const { heartbeat_ns, evidence } = structs.board_header.fields;
  const places = [...links.map(link => evidence.offset + link * structs.link_evidence.bytes), heartbeat_ns.offset];
  const begun = new Int32Array(new SharedArrayBuffer(4));
  const heart = new Worker(BEAT, { eval: true, workerData: { path, places, begun } });
  Atomics.wait(begun, 0, 0, 60_000);
  const stop = () => heart.terminate();
  t.teardown(stop);
  return stop;
}
