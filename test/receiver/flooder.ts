// Sends datagrams that a receiver must not accept, as fast as it can or at a rate, for so many seconds, and reports how
// many it sent. No test of its own: `flood` starts it as node flooder.js KIND PORT SECONDS RATE SEED.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { encode, REPORT_BYTES } from '../../src/layout/codec.js';
import { enums } from '../../src/layout/layout.gen.js';
import { Cluster, random } from '../../src/load/simulatednode.js';
import { BulkSender, CLOCK, clocks } from '../../src/native/index.js';

export const KINDS = {
  junk: 'junk of all sizes',
  alike: 'junk of the size of a report',
  unsigned: "reports of the nodes' names without a tag",
  forged: "reports of the nodes' names with a false tag",
  strangers: 'reports of other names with a false tag',
} as const;

export type Kind = keyof typeof KINDS;

/** Starts a flood in its own process, with a `rate` of 0 without a limit; calls `look` every so many ms meanwhile. */
export async function flood(
  t: { teardown(end: () => void): void },
  { kind, port, seconds, rate, seed }: Record<'port' | 'seconds' | 'rate' | 'seed', number> & { kind: Kind },
  look: () => void,
  everyMs: number,
): Promise<{ sent: number; seconds: number }> {
  const flooder = fork(fileURLToPath(import.meta.url), [kind, ...[port, seconds, rate, seed].map(String)]);
  const watch = setInterval(look, everyMs);
  t.teardown(() => {
    clearInterval(watch);
    flooder.kill('SIGKILL');
  });
  const [told] = await once(flooder, 'message');
  clearInterval(watch);
  return told as { sent: number; seconds: number };
}

const MANY = 64;
/** The largest payload in an Ethernet frame. */
const MOST_BYTES = 1472;

/** Batches of datagrams: their bytes, the size of each, and their number. */
function* batches(kind: Kind, seed: number, nameOf: (i: number) => string): Generator<[Uint8Array, number, number]> {
  const chance = random(seed);
  if (kind === 'junk' || kind === 'alike') {
    const bytes = Uint8Array.from({ length: MANY * MOST_BYTES }, () => 256 * chance());
    for (;;) yield [bytes, kind === 'alike' ? REPORT_BYTES : 1 + Math.floor(chance() * MOST_BYTES), MANY];
  }
  const time = new BigUint64Array(3);
  clocks(time);
  const bootNs = time[CLOCK.boot] ?? 0n;
  const count = 1024;
  const node = (i: number) => ({ name: nameOf(i), cluster: undefined, intervalMs: 1000, agentVersion: 1, bootNs });
  const cluster = new Cluster(count, node, seed);
  const view = new DataView(cluster.reports.buffer);
  for (let i = 0; kind !== 'unsigned' && i < count; i++) {
    const tag = Uint8Array.from({ length: 16 }, () => 256 * chance());
    encode('report', view, i * REPORT_BYTES, { key_id: 7, auth_alg: enums.auth_alg.indexOf('node') });
    cluster.reports.set(tag, (i + 1) * REPORT_BYTES - tag.length);
  }
  for (;;) {
    clocks(time);
    for (let i = 0; i < count; i += MANY) {
      for (let k = i; k < i + MANY; k++) cluster.move(k, time[CLOCK.real] ?? 0n, time[CLOCK.boot] ?? 0n);
      yield [cluster.reports.subarray(i * REPORT_BYTES), REPORT_BYTES, MANY];
    }
  }
}

if (process.send !== undefined && process.argv[2] !== undefined && process.argv[2] in KINDS) {
  const [kind, ...numbers] = process.argv.slice(2);
  const [port = 0, seconds = 0, rate = 0, seed = 0] = numbers.map(Number);
  const sender = new BulkSender('127.0.0.1', port);
  const nameOf =
    kind === 'strangers'
      ? (i: number) => `stranger${i}`
      : (i: number) => `node${String(1 + (i % 1000)).padStart(4, '0')}`;
  const began = performance.now();
  let sent = 0;
  for (const [bytes, size, count] of batches(kind as Kind, seed, nameOf)) {
    const passed = (performance.now() - began) / 1000;
    if (passed >= seconds) break;
    const ahead = rate === 0 ? 0 : sent / rate - passed;
    if (ahead > 0.001) await new Promise(resolve => setTimeout(resolve, 1000 * ahead));
    sent += sender.send(bytes, size, 0, count);
  }
  sender.close();
  process.send({ sent, seconds: (performance.now() - began) / 1000 });
}
