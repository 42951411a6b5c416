// A writer for test/receiver/nodelist.test.ts that does nothing but replace a board, until it is killed: nodes are forgotten
// and come back, the capacity changes.

import { openWriter, writerOptions } from '../../src/shm/writer.js';
import { now } from '../kit/clocks.js';
import { makeReport } from '../kit/reports.js';
import { deliver } from '../kit/testwriter.js';

const [path = '', count = '0'] = process.argv.slice(2);
const names = Array.from({ length: Number(count) }, (_, i) => `n${i}`);
const options = { path, cluster: '', capacity: 3000, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] };
const writer = openWriter(options);
let seq = Number(process.argv[4]);

function lay(hostname: string): void {
  const { mono, real } = now();
  deliver(writer, makeReport({ hostname, seq, t_boot_ns: BigInt(seq) * 1_000_000_000n }), mono, real);
  writer.heartbeat(mono);
}

for (const name of names) lay(name);
process.send?.('ready');
for (;;) {
  seq++;
  // One node comes and goes; the others must never be missing.
  lay('guest');
  for (const name of names) lay(name);
  writer.forget(['guest']);
  writer.change(writerOptions({ ...options, capacity: 3000 + (seq % 2) }));
}
