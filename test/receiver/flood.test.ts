// A flood of junk: the kernel is asked to drop it, reports come through, and nobody takes the filter for an overflow.
//
// @seconds 10
// @rest

import { writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { REPORT_BYTES } from '../../src/layout/codec.js';
import { BulkSender, Receiver } from '../../src/native/index.js';
import { openWriter } from '../../src/shm/writer.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { now } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { flood } from './flooder.js';

/**
 * The datagrams of junk per second from which on the kernel filters in this test: few enough for any machine to send
 * them.
 */
const FLOOD = 1000;
const PIECES = 1500;

const hasV6 = Object.values(networkInterfaces()).some(all => all?.some(({ family }) => family === 'IPv6'));

for (const host of ['127.0.0.1', '::1'])
  t.test(`at ${host}`, { skip: host === '::1' && !hasV6 && 'no IPv6 here' }, async t => {
    const path = boardPath(t);
    const receiver = new Receiver(5_000_000n, FLOOD);
    t.teardown(() => receiver.stop());
    const port = receiver.listen(host, 0);
    receiver.start(
      openWriter({ path, cluster: '', capacity: 4, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] }),
      () => {},
    );
    const reader = openReader(t, path);
    const bulk = new BulkSender(host, port);
    t.teardown(() => bulk.close());
    const look = () => {
      const snapshot = reader.snapshot();
      const { size = 0, magic = 0 } = snapshot.refused;
      const { accepted = 0, overflows = 0, kernel_drops = 0, unfit_drops = 0 } = snapshot.header;
      return { filtering: snapshot.filtering, junk: size + magic, accepted, overflows, kernel_drops, unfit_drops };
    };
    let seq = 0;
    const report = () => {
      seq++;
      bulk.send(makeReport({ seq, t_boot_ns: 100_000_000_000n + BigInt(seq) }), REPORT_BYTES, 0, 1);
    };
    // Junk of another size, and junk with the size of a report but another magic.
    const short = new Uint8Array(PIECES * 100);
    const alike = new Uint8Array(PIECES * REPORT_BYTES);
    const flood = () => {
      bulk.send(short, 100, 0, PIECES);
      bulk.send(alike, REPORT_BYTES, 0, PIECES);
    };

    bulk.send(short, 100, 0, 100);
    bulk.send(alike, REPORT_BYTES, 0, 100);
    report();
    const few = await until('it is refused, and the report behind it is accepted', () => {
      const now = look();
      return now.junk === 200 && now.accepted > 0 && now;
    });
    t.match(few, { filtering: false, accepted: 1, kernel_drops: 0, unfit_drops: 0 }, 'a little is refused and counted');

    await until('a flood is filtered', () => {
      flood();
      return look().filtering;
    });
    let before = look();
    await until('junk is dropped by the kernel, and a report beside it is accepted', () => {
      const now = look();
      const all = now.unfit_drops - before.unfit_drops >= 2 * PIECES && now.accepted > before.accepted;
      if (all && now.filtering && now.junk === before.junk) return true;
      before = now;
      flood();
      report();
      // The condition is checked at the next look, to give the receiver time to read the datagrams.
      return undefined;
    });
    const { overflows, kernel_drops } = look();
    t.same({ overflows, kernel_drops }, { overflows: 0, kernel_drops: 0 }, 'what is filtered is no overflow');
    await until('the receiver tells', () => receiver.status().filtering);

    await until('it ends with the flood', () => !look().filtering);
    const after = look();
    bulk.send(short, 100, 0, 10);
    await until('a little is refused and counted again', () => look().junk === after.junk + 10);
    report();
    await until('reports come', () => look().accepted > after.accepted);
  });

t.test('forged reports faster than it can reject them: the receiver is late, but hears everything', async t => {
  const [board, key] = [boardPath(t), join(folder(t), 'cluster.key')];
  writeFileSync(key, `7 cluster ${'5a'.repeat(32)}\n`, { mode: 0o600 });
  const { port } = await startReceiver(t, board, ['--key-file', key, '--require', 'node']);
  const reader = openReader(t, board);
  let [looks, last] = [0, 0];
  const look = () => {
    const { stalled, evidence } = reader.snapshot();
    const heartbeat = Number(evidence.heartbeatNs);
    if (stalled || heartbeat < last) t.fail(`stalled: ${stalled}; ${heartbeat} after ${last}`);
    [looks, last] = [looks + 1, heartbeat];
  };
  // A forged report costs the receiver twice as much as the sender.
  const { sent } = await flood(t, { kind: 'strangers', port, seconds: 5, rate: 0, seed: 1 }, look, 50);
  const end = now();
  await until('all is heard', () => Number(reader.snapshot().evidence.heartbeatNs) > end);
  const { header, refused, count } = reader.snapshot();
  t.comment(`${looks} looks, ${sent} sent, ${header.kernel_drops} dropped`);
  t.ok(looks > 10);
  t.same(refused, { tag: header.received }, 'each was refused for its tag, and counted');
  t.ok(Number(header.received) + Number(header.kernel_drops) <= sent);
  t.equal(count, 0);
});
