// Another interval or another name while a sender runs, as a watcher of the node sees it: a real receiver behind a path
// that loses reports. For both senders.
//
// @seconds 25
// @waits
// @rest

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { bitNames, decodeReport, REPORT_BYTES } from '../../src/layout/codec.js';
import { clusterId } from '../../src/layout/identity.js';
import { sign } from '../../src/layout/tag.js';
import { type Key, keyLine, nodeKey } from '../../src/options/keys.js';
import { type Heard, Hearer, startIn } from '../kit/hanging.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);
// They mostly wait.
t.jobs = 4;

/** Random numbers from 0 to 1, from a seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    // xorshift with 32 bits.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

interface Passed {
  seq: number;
  intervalMs: number;
  bootNs: bigint;
  lost: boolean;
}

/** A proxy in front of a receiver that drops some reports. */
async function lossyRoad(t: Test, port: number, loses: (report: Passed) => boolean) {
  const [from, to] = [createSocket('udp4'), createSocket('udp4')];
  const passed: Passed[] = [];
  from.on('message', message => {
    const { seq, interval_ms, t_boot_ns } = decodeReport(
      new DataView(message.buffer, message.byteOffset, message.length),
      0,
    );
    const report = { seq, intervalMs: interval_ms, bootNs: t_boot_ns, lost: false };
    report.lost = loses(report);
    passed.push(report);
    if (!report.lost) to.send(message, port, '127.0.0.1');
  });
  from.bind(0, '127.0.0.1');
  await once(from, 'listening');
  t.teardown(() => {
    from.close();
    to.close();
  });
  return { passed, address: `127.0.0.1:${from.address().port}` };
}

for (const aligned of [false, true])
  t.test(`100 ms, 60 s, and back, at 20 % loss${aligned ? ', aligned' : ''}: never silent`, async t => {
    const seed = Number(process.env.SEED ?? 29);
    t.comment(`seed ${seed}, another one by SEED=n`);
    const random = randomOf(seed);
    const board = boardPath(t);
    // Long enough for forty missing reports in a row, so that a busy machine does not make the node silent.
    const receiver = start(t, [
      ...['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '16'],
      ...['--uncertain-after', '2s', '--silent-after', '4s'],
    ]);
    const port = Number((await receiver.ready).listening?.[0]?.split(':').at(-1));
    let [newest, since] = [100, 0];
    // The reports of the first second and a half after a change of interval are dropped, which is fifteen for the first
    // step. They are counted, for a busy machine sends fewer in that time.
    const BURST_MS = 1_500;
    const road = await lossyRoad(t, port, ({ intervalMs }) => {
      if (intervalMs !== newest) since = 0;
      newest = intervalMs;
      // While a longer interval is announced, the shorter one before it is kept.
      const gapMs = Math.max(100, intervalMs / 2);
      return since++ * gapMs < BURST_MS || random() < 0.2;
    });
    const config = join(folder(t), 'send.toml');
    const write = (interval: string) => writeFileSync(config, `interval = "${interval}"\naligned = ${aligned}\n`);
    write('100ms');
    const sender = startIn(t, {}, ['send', '--config', config, '--name', 'node1', '--to', road.address]);
    const reader = openReader(t, board);
    const states = new Set<string>();
    const look = () => {
      const snapshot = reader.snapshot();
      if (snapshot.count > 0) states.add(snapshot.stateOf(0));
    };
    const watch = setInterval(look, 50);
    t.teardown(() => clearInterval(watch));
    const heard = (isSo: (report: Passed) => boolean, least: number) =>
      until('reports came', () => road.passed.filter(isSo).length >= least);

    await heard(() => true, 20);
    write('60s');
    sender.child.kill('SIGHUP');
    await heard(({ intervalMs }) => intervalMs === 400, 20);
    const steps = [200, 400].map(ms => road.passed.filter(({ intervalMs }) => intervalMs === ms));
    t.same([...new Set(road.passed.map(({ intervalMs }) => intervalMs))], [100, 200, 400], 'in steps');
    const [first = [], second = []] = steps;
    const lasted = Number((second[0]?.bootNs ?? 0n) - (first[0]?.bootNs ?? 0n)) / 1e9;
    // By another clock, for one of both senders.
    t.ok(lasted > 11.9 && first.length >= 12, `the first is announced for ${lasted} s, by ${first.length} reports`);
    for (const step of steps)
      t.ok(
        step.slice(0, 6).every(({ lost }) => lost),
        'the first that say so are lost',
      );
    const before = road.passed.length;
    write('100ms');
    sender.child.kill('SIGHUP');
    await until(
      'it reports at the shorter one',
      () => road.passed.slice(before).filter(({ intervalMs }) => intervalMs === 100).length > 15,
    );
    // Reports that were sent before it knew come first; a busy machine lets it know late.
    const announced = road.passed.slice(before).map(({ intervalMs }) => intervalMs);
    t.same([...new Set(announced.slice(announced.indexOf(100)))], [100], 'without steps');
    await until('it is live', () => {
      look();
      return reader.snapshot().stateOf(0) === 'live';
    });
    t.notOk(states.has('silent'), [...states].join(', '));
    const numbers = road.passed.map(({ seq }) => seq);
    t.same(
      numbers,
      numbers.map((_, i) => i),
      'each number once',
    );
    sender.child.kill('SIGTERM');
    t.equal(await sender.exit, 0);
  });

t.test('another name: the old one says goodbye, signed with its own key', async t => {
  const own = folder(t);
  const cluster = { id: 7, node: undefined, secret: Buffer.alloc(32, 0xab) };
  const clusterKey = join(own, 'cluster.key');
  writeFileSync(clusterKey, keyLine(cluster), { mode: 0o600 });
  const keys = Object.fromEntries(['alpha', 'beta'].map(name => [name, nodeKey(cluster, name)]));
  for (const [name, key] of Object.entries(keys))
    writeFileSync(join(own, `${name}.key`), keyLine(key), { mode: 0o600 });
  const board = boardPath(t);
  const receiver = start(t, [
    ...['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '16'],
    ...['--key-file', clusterKey, '--require', 'node'],
  ]);
  const [address = ''] = (await receiver.ready).listening ?? [];
  const [one, two] = [await Hearer.open(t), await Hearer.open(t)];
  const config = join(own, 'send.toml');
  const write = (name: string, ...to: string[]) =>
    writeFileSync(
      config,
      `name = "${name}"\nkey-file = "${join(own, `${name}.key`)}"\ninterval = "60s"\nto = ${JSON.stringify(to)}\n`,
    );
  write('alpha', address, one.address);
  const raw: Buffer[] = [];
  one.socket.on('message', message => raw.push(message));
  const sender = startIn(t, {}, ['send', '--config', config]);
  await until('it reports', () => one.reports.length > 0);
  // The destinations change, too: the goodbye goes to those that know the old name.
  write('beta', address, two.address);
  sender.child.kill('SIGHUP');
  await until('the other name is heard', () => two.reports.some(({ hostname }) => hostname === 'beta'));
  const goodbye = await until('the goodbye is heard', () => one.reports.find(({ marks }) => marks.includes('goodbye')));
  t.match(goodbye, { hostname: 'alpha', key_id: 7 });
  t.equal(one.reports.indexOf(goodbye), one.reports.length - 1, 'it is the last of this name');
  const bytes = raw.at(-1) as Buffer;
  t.equal(bytes.length, REPORT_BYTES);
  const signed = (key: Key | undefined) => {
    const copy = Buffer.from(bytes);
    sign(copy, key as Key);
    return copy;
  };
  t.same(bytes, signed(keys.alpha), 'with the key of the old name');
  t.notSame(bytes, signed(keys.beta));
  t.match(two.reports[0], { hostname: 'beta', seq: goodbye.seq + 1 });
  t.ok(two.reports.every(({ flags }) => !bitNames('flags', flags).includes('goodbye')));
  const reader = openReader(t, board);
  const states = await until('both are on the board', () => {
    const snapshot = reader.snapshot();
    if (snapshot.count < 2) return undefined;
    return Object.fromEntries([0, 1].map(i => [snapshot.node(i).name, snapshot.stateOf(i)]));
  });
  t.same(states, { alpha: 'left', beta: 'live' });
  sender.child.kill('SIGTERM');
  t.equal(await sender.exit, 0);
});

t.test('a master that is removed gets no more reports; after a change of cluster all get a goodbye', async t => {
  const [one, two] = [await Hearer.open(t), await Hearer.open(t)];
  const config = join(folder(t), 'send.toml');
  const write = (to: string[], cluster = 'c1', more = '') =>
    writeFileSync(
      config,
      `name = "node1"\ninterval = "60s"\nto = ${JSON.stringify(to)}\ncluster = "${cluster}"\n${more}`,
    );
  const isGoodbye = ({ marks }: Heard) => marks.includes('goodbye');
  write([one.address, two.address]);
  const sender = startIn(t, {}, ['send', '--config', config]);
  const change = (...to: Parameters<typeof write>) => {
    write(...to);
    sender.child.kill('SIGHUP');
  };
  await until('both hear it', () => one.reports.length > 0 && two.reports.length > 0);
  change([two.address]);
  await until('it has read its options again', () =>
    sender.lines().some(line => line.includes('read its options again')),
  );
  change([two.address], 'c1', 'ttl = 3\n');
  change([two.address], 'c2', 'ttl = 3\n');
  const ids = ['c1', 'c2'].map(clusterId);
  const moved = await until('it is in the other cluster', () =>
    two.reports.find(report => report.cluster_id === ids[1]),
  );
  const before = two.reports.slice(0, two.reports.indexOf(moved));
  t.same(
    before.map(isGoodbye),
    before.map((_, i) => i === before.length - 1),
    'its last report to the old one says goodbye, and no other does',
  );
  t.ok(before.every(report => report.cluster_id === ids[0]));
  sender.child.kill('SIGTERM');
  t.equal(await sender.exit, 0);
  t.notOk(one.reports.some(isGoodbye), 'it may be the same master by another way');
});
