// The receiver as a process, with real sockets: what it accepts, what it rejects and counts, and what remains when it
// is killed. Hostile datagrams are made from the field list only, byte by byte.
//
// @seconds 34
// @waits
// @rest

import { createSocket } from 'node:dgram';
import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { REPORT_BYTES } from '../../src/layout/codec.js';
import { type enums, structs } from '../../src/layout/layout.gen.js';
import type { BoardReader } from '../../src/shm/reader.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { openReader } from '../kit/openreader.js';
import { boardPath } from '../kit/places.js';
import { run, start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { now, settled } from '../kit/sampler.js';
import { until } from '../kit/until.js';

const { fields } = structs.report;

/** Sends datagrams from one socket, in order. */
async function send(port: number, datagrams: Uint8Array[], host = '127.0.0.1'): Promise<void> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  for (const datagram of datagrams)
    await new Promise<void>((resolve, reject) =>
      socket.send(datagram, port, host, error => (error ? reject(error) : resolve())),
    );
  await new Promise<void>(resolve => socket.close(resolve));
}

/** Waits until the receiver has counted so many datagrams and has handled them: it counts before it handles. */
async function received(reader: BoardReader, count: number): Promise<Snapshot> {
  await until(`${count} datagrams were received`, () => (reader.snapshot().header.received ?? 0) >= count);
  return settled(reader);
}

/** A good report with bytes changed by hand. */
function spoiled(change: (view: DataView, bytes: Uint8Array) => void, from = makeReport()): Uint8Array {
  change(new DataView(from.buffer), from);
  return from;
}

/** One for each reason, and those of which a socket gives another length; c/test/unit/validateunit.c has all. */
const HOSTILE: [(typeof enums.reason)[number], string, Uint8Array][] = [
  ['size', 'empty', new Uint8Array(0)],
  ['size', 'two reports', Buffer.concat([makeReport(), makeReport()])],
  ['size', 'the largest there is', Buffer.alloc(65_507)],
  ['magic', 'all zero', new Uint8Array(REPORT_BYTES)],
  ['version', '2', spoiled(view => view.setUint16(4, 2, true))],
  ['length', '1215', spoiled(view => view.setUint16(6, 1215, true))],
  ['cluster', 'another', spoiled(view => view.setUint32(8, 1, true))],
  ['reserved', 'bit 63 of valid', spoiled(view => view.setBigUint64(48, 1n << 63n, true))],
  ['name', 'none', spoiled((_, bytes) => bytes.fill(0, fields.hostname.offset, fields.hostname.offset + 64))],
  ['interval', '0', spoiled(view => view.setUint32(28, 0, true))],
  ['range', '5 groups', spoiled(view => view.setUint8(fields.groups.offset, 5))],
];

t.test('hostile datagrams: none accepted, each counted, the honest node stays live', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board);
  const reader = openReader(t, board);
  await send(port, [makeReport({ hostname: 'honest', seq: 0 })]);
  for (const [reason, what, datagram] of HOSTILE) {
    const before = reader.snapshot().refused[reason] ?? 0;
    const total = reader.snapshot().header.received ?? 0;
    await send(port, [datagram]);
    const after = await received(reader, Math.max(total, 1) + 1);
    t.equal(after.refused[reason], before + 1, `${reason}: ${what}`);
  }
  await send(port, [makeReport({ hostname: 'honest', seq: 1, t_boot_ns: 101_000_000_000n })]);
  const last = await received(reader, HOSTILE.length + 2);
  t.equal(last.header.accepted, 2);
  t.same(
    [...last.nodes()].map(node => [node.name, node.state, node.record.lost]),
    [['honest', 'live', 0]],
  );
  const counted = Object.values(last.refused).reduce((sum, count) => sum + count, 0);
  t.equal(counted, HOSTILE.length);
});

t.test('a report lies on the board as it came, with its stamp and sender', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--cluster', 'alpha']);
  const reader = openReader(t, board);
  const before = reader.snapshot().evidence.nowNs;
  await send(port, [makeReport({ hostname: 'node7', load1_c: 321, valid: 4n }, 'alpha')]);
  const snapshot = await received(reader, 1);
  const node = snapshot.node(0);
  t.equal(node.report?.load1_c, 321);
  t.equal(node.address, '127.0.0.1');
  const stamp = node.stampNs ?? 0n;
  t.ok(stamp >= before - 100_000_000n && stamp <= snapshot.evidence.nowNs, 'stamped between the two looks');
  t.equal(snapshot.header.cluster_name, 'alpha');
  await send(port, [makeReport({ hostname: 'node8' })]);
  t.same((await received(reader, 2)).refused, { cluster: 1 }, 'a receiver with a cluster takes no reports without');
});

t.test('a board without a cluster gives way to one with a name, unless another machine has reported to it', async t => {
  const board = boardPath(t);
  const first = await startReceiver(t, board, ['--nodes', 'node[7-8]']);
  const reader = openReader(t, board);
  await send(first.port, [makeReport({ hostname: 'node7' })]);
  await received(reader, 1);
  first.child.kill('SIGTERM');
  t.equal(await first.exit, 0);

  // As if it had come from elsewhere.
  const patched = (address: readonly number[]) => {
    const { header } = reader.snapshot();
    const at = Number(header.records_offset) + structs.record.fields.address.offset;
    const file = openSync(board, 'r+');
    writeSync(file, Uint8Array.from(address), 0, 16, at);
    closeSync(file);
  };
  const v4 = (...parts: number[]) => [...Array(10).fill(0), 255, 255, ...parts];
  patched(v4(203, 0, 113, 9));
  const alpha = ['receive', '--board', board, '--listen', '127.0.0.1:0', '--cluster', 'alpha'];
  t.match(await run(alpha), {
    code: 1,
    stderr: `${board}: is the board of no cluster, to which node7 has reported; leave out --cluster, or remove that board: rm ${board}\n`,
  });
  t.equal(reader.snapshot().retired, false, 'it stays');

  patched(v4(127, 0, 0, 1));
  const second = await startReceiver(t, board, ['--cluster', 'alpha']);
  await send(second.port, [makeReport({ hostname: 'node7' }, 'alpha')]);
  const after = await received(reader, 1);
  t.equal(after.header.cluster_name, 'alpha');
  t.same(
    [...after.nodes()].map(({ name }) => name),
    ['node7'],
    'with nothing of the board before',
  );
  second.child.kill('SIGTERM');
  t.equal(await second.exit, 0);
  t.match(await run([...alpha.slice(0, -1), 'beta']), {
    code: 1,
    stderr: `${board}: is the board of cluster "alpha"; give --cluster "alpha" or another --board, or remove that one: rm ${board}\n`,
  });
  t.match(await run(alpha.slice(0, -2)), { code: 1, stderr: /is the board of cluster "alpha"/ });
});

t.test('several addresses, IPv4 and IPv6; the same report by both roads is a duplicate', async t => {
  const board = boardPath(t);
  const running = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0', '--listen', '[::1]:0']);
  const { listening = [] } = await running.ready;
  const [v4, v6] = listening.map(address => Number(address.split(':').at(-1)));
  const reader = openReader(t, board);
  await send(v4 ?? 0, [makeReport()]);
  await received(reader, 1);
  await send(v6 ?? 0, [makeReport()], '::1');
  await received(reader, 2);
  await send(v6 ?? 0, [makeReport({ seq: 1, t_boot_ns: 101_000_000_000n })], '::1');
  const { record, address } = (await received(reader, 3)).node(0);
  t.same([record.accepted, record.duplicate, record.refused], [2, 1, 0]);
  t.equal(address, '::1');
});

t.test('only listed nodes, and these from the beginning', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--nodes', 'node[1-3]']);
  const reader = openReader(t, board);
  t.same(
    [...reader.snapshot().nodes()].map(node => [node.name, node.state]),
    [
      ['node1', 'never'],
      ['node2', 'never'],
      ['node3', 'never'],
    ],
  );
  await send(port, [makeReport({ hostname: 'node2' }), makeReport({ hostname: 'node4' })]);
  const snapshot = await received(reader, 2);
  t.same(
    [...snapshot.nodes()].map(node => node.state),
    ['never', 'live', 'never'],
  );
  t.same(snapshot.refused, { stranger: 1 });
});

t.test('a second receiver on the same board is refused with one line', async t => {
  const board = boardPath(t);
  const first = await startReceiver(t, board);
  const second = await run(['receive', '--board', board, '--listen', '127.0.0.1:0']);
  t.equal(second.code, 1);
  t.match(
    second.stderr,
    new RegExp(`^beoboard receive: another receiver \\(pid ${first.child.pid}\\) writes ${board}; .*\n$`),
  );
  const third = await run(['receive', '--board', `${board}2`, '--listen', `127.0.0.1:${first.port}`]);
  t.equal(third.code, 1);
  t.match(third.stderr, /^beoboard receive: cannot listen on 127.0.0.1 port \d+: Address already in use; .*\n$/);
});

t.test('kill -9: the board stays readable, is stalled after 3 s, and goes on with a new receiver', async t => {
  const board = boardPath(t);
  const first = await startReceiver(t, board);
  const reader = openReader(t, board);
  await send(first.port, [makeReport({ seq: 1 })]);
  await received(reader, 1);
  first.child.kill('SIGKILL');
  await first.exit;
  const killed = reader.snapshot();
  t.equal(killed.node(0).report?.seq, 1, 'the last report stays');
  const contradictions: unknown[] = [];
  const stalled = await until('the heartbeat is older than 3 s', () => {
    const snapshot = reader.snapshot();
    const looks = [snapshot.stalled, (snapshot.heartbeatAgeMs ?? 0) > 3000, snapshot.node(0).state === 'unknown'];
    if (looks.some(look => look !== looks[0])) contradictions.push(looks);
    return snapshot.stalled && snapshot;
  });
  t.same(contradictions, [], 'stalled just when the heartbeat is older, and nodes unknown just then');
  t.equal(stalled.node(0).state, 'unknown');
  t.equal(stalled.node(0).report?.seq, 1);
  const status = await run(['status', '--board', board]);
  t.equal(status.code, 4);
  t.match(
    status.stdout,
    /^1 node; STALLED: the receiver is stalled, its heartbeat is \d+\.\ds old: nothing is known about nodes\n/,
  );

  const second = await startReceiver(t, board);
  await until('the heart beats again', () => !reader.snapshot().stalled);
  await send(second.port, [makeReport({ seq: 9, t_boot_ns: 108_000_000_000n })]);
  const snapshot = await received(reader, 2);
  const { record, state, previous } = snapshot.node(0);
  t.same([state, record.accepted, record.lost, record.unheard, previous?.seq], ['live', 2, 0, 7, 1]);
  t.equal(snapshot.header.instance, 2);
});

t.test('a pause of the receiver ends the time it has listened for, and makes no node silent', async t => {
  const board = boardPath(t);
  const { child, port } = await startReceiver(t, board);
  const reader = openReader(t, board);
  await send(port, [makeReport({ seq: 0 })]);
  const before = await received(reader, 1);
  child.kill('SIGSTOP');
  await until('it is stalled', () => reader.snapshot().stalled);
  child.kill('SIGCONT');
  const after = await until('it beats again', () => {
    const snapshot = reader.snapshot();
    return !snapshot.stalled && snapshot;
  });
  t.ok(after.evidence.listeningSinceNs > before.evidence.heartbeatNs, 'listens anew');
  t.not(after.node(0).state, 'silent');
  await send(port, [makeReport({ seq: 5, t_boot_ns: 105_000_000_000n })]);
  const { record } = (await received(reader, 2)).node(0);
  t.same([record.lost, record.unheard], [0, 4]);
});

t.test('few reports are read as they arrive, many with the tick', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--drain', '100ms']);
  const reader = openReader(t, board);
  const drained = () => {
    const { heartbeat_ns, drains, received } = reader.snapshot().header;
    return { at: Number(heartbeat_ns) / 1e6, drains: Number(drains), received: Number(received) };
  };
  const taken = (count: number) =>
    until(`${count} were taken`, () => {
      const now = drained();
      return now.received >= count && now;
    });
  const few = 20;
  let least = Number.POSITIVE_INFINITY;
  let before: { at: number } | undefined;
  for (let seq = 1; seq <= few; seq++) {
    await send(port, [makeReport({ seq })]);
    const now = await taken(seq);
    if (before !== undefined) least = Math.min(least, now.at - before.at);
    before = now;
  }
  t.ok(least < 100, `one was taken ${least.toFixed(1)} ms after the one before it`);

  const many = 1000;
  const [first, began] = [drained(), performance.now()];
  for (let seq = few + 1; seq <= few + many; seq++) await send(port, [makeReport({ seq })]);
  const last = await taken(few + many);
  const ms = performance.now() - began;
  const most = 8 + ms / 2.5 + ms / 100 + 2;
  t.ok(last.drains - first.drains <= most, `${last.drains - first.drains} drains in ${ms.toFixed(0)} ms`);
});

t.test('SIGTERM ends it cleanly', async t => {
  const board = boardPath(t);
  const { child, exit, output } = await startReceiver(t, board);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.match(output().stderr, /clean shutdown/);
  const snapshot = openReader(t, board).snapshot();
  t.equal(snapshot.closed, true);
  t.equal(statSync(board).isFile(), true);
});

t.test('a board that vanishes from its path is published again, with everything on it', async t => {
  const board = boardPath(t);
  const { port, output } = await startReceiver(t, board);
  const reader = openReader(t, board);
  await send(port, [makeReport({ seq: 3 })]);
  await received(reader, 1);
  rmSync(board);
  await until('it is there again', () => existsSync(board));
  t.equal(reader.snapshot().node(0).report?.seq, 3, 'a reader that had it mapped follows');
  t.equal(openReader(t, board).snapshot().node(0).report?.seq, 3);
  await until('it has told', () => /was published again/.test(output().stderr));
});

t.test('the log: the buffer, that reports are not verified, and how long it stood still', async t => {
  const board = boardPath(t);
  const { child, output } = await startReceiver(t, board);
  t.match(output().stderr, /granted a socket buffer for [\d,]+ reports at once/);
  t.equal(
    output().stderr.match(/without --key-file: reports are not verified, and any sender is trusted\n/g)?.length,
    1,
  );
  t.notMatch(output().stderr, /stood still/);
  const reader = openReader(t, board);
  child.kill('SIGSTOP');
  await until('it is stalled', () => reader.snapshot().stalled);
  child.kill('SIGCONT');
  await until('it has told', () => /stood still for \d+\.\ds: nothing was heard in that time/.test(output().stderr));
});

t.test('a board that was corrupted at its path is published again, with everything on it', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board);
  const old = openReader(t, board);
  await send(port, [makeReport({ seq: 3 })]);
  await received(old, 1);
  const { size } = statSync(board);
  const spoils: [what: string, spoil: () => void][] = [
    ['nobody may read it', () => chmodSync(board, 0o000)],
    ['its owner alone may read it', () => chmodSync(board, 0o600)],
    ['others may write it', () => chmodSync(board, 0o666)],
    ['it was cut behind its records', () => truncateSync(board, size - 1)],
  ];
  for (const [what, spoil] of spoils) {
    const { ino } = statSync(board);
    spoil();
    await until(`${what}: there is another`, () => statSync(board, { throwIfNoEntry: false })?.ino !== ino);
    const { mode, size: now } = await until('it is there', () => statSync(board, { throwIfNoEntry: false }));
    t.same([mode & 0o7777, now], [0o644, size], what);
    t.equal(openReader(t, board).snapshot().node(0).report?.seq, 3);
  }
  t.equal(old.snapshot().node(0).report?.seq, 3, 'a reader from before follows');
});

t.test('a lock that is deleted is taken again, so that no second receiver can have the board', async t => {
  const board = boardPath(t);
  await startReceiver(t, board);
  const lock = `${board}.lock`;
  const { ino } = statSync(board);
  rmSync(lock);
  await until('there is one again', () => (statSync(lock, { throwIfNoEntry: false })?.size ?? 0) > 0);
  const second = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0']);
  t.equal(await second.exit, 1);
  t.match(second.output().stderr, /another receiver \(pid \d+\) writes/);
  t.equal(statSync(board).ino, ino, 'the board is the same');
});

t.test('so is a whole directory that vanishes', async t => {
  const board = join(dirname(boardPath(t)), 'deeper', 'board');
  const { port, child, exit } = await startReceiver(t, board);
  const reader = openReader(t, board);
  await send(port, [makeReport({ seq: 3 })]);
  await received(reader, 1);
  rmSync(dirname(board), { recursive: true });
  await until('it is there again', () => existsSync(board));
  t.equal(openReader(t, board).snapshot().node(0).report?.seq, 3);
  const second = await run(['receive', '--board', board, '--listen', '127.0.0.1:0']);
  t.match(second.stderr, /another receiver/, 'and its lock is there, too');
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('a receiver that cannot listen has changed nothing', async t => {
  const board = boardPath(t);
  const taken = await startReceiver(t, boardPath(t));
  const first = await startReceiver(t, board);
  await send(first.port, [makeReport({ hostname: 'node1' })]);
  const reader = openReader(t, board);
  await received(reader, 1);
  first.child.kill('SIGTERM');
  await first.exit;
  const failed = await run(['receive', '--board', board, '--listen', `127.0.0.1:${taken.port}`, '--nodes', 'other']);
  t.equal(failed.code, 1);
  const snapshot = reader.snapshot();
  t.same([snapshot.header.instance, snapshot.count, snapshot.node(0).name], [1, 1, 'node1']);
});

t.test('what the kernel drops is counted, and ends the time it has listened for', async t => {
  const board = boardPath(t);
  const { child, port } = await startReceiver(t, board);
  const reader = openReader(t, board);
  const before = reader.snapshot();
  // Stopped, so that nothing is read while more is sent than the buffer can hold.
  child.kill('SIGSTOP');
  const room = Number(before.header.receive_buffer) / 2305;
  const sent = Math.ceil(room * 1.5);
  const load = await run([
    'load',
    '--to',
    `127.0.0.1:${port}`,
    '--size',
    String(sent),
    '--rate',
    String(sent * 5),
    '--for',
    '200ms',
  ]);
  t.equal(load.code, 0, load.stderr);
  const resumed = now();
  child.kill('SIGCONT');
  const after = await until('all is heard', () => {
    const snapshot = reader.snapshot();
    return Number(snapshot.evidence.heartbeatNs) > resumed && snapshot;
  });
  t.ok((after.header.kernel_drops ?? 0) > 0);
  t.ok((after.header.overflows ?? 0) > 0);
  t.ok(after.evidence.listeningSinceNs > before.evidence.listeningSinceNs);
  t.equal((after.header.received ?? 0) + (after.header.kernel_drops ?? 0), sent, 'every datagram is accounted for');
});
