// What a receiver says of itself while no node has a report, and while it waits for its key file; and that nobody else
// can say it.
//
// @seconds 12
// @waits
// @rest

import { createSocket } from 'node:dgram';
import { chmodSync, chownSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { noticePath } from '../../src/shm/notice.js';
import { openWriter } from '../../src/shm/writer.js';
import { now } from '../kit/clocks.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(300_000);
const skip = process.geteuid?.() !== 0 && 'only root may give files away';

t.test('an empty board says why, until a node reports', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--cluster', 'alpha']);
  const ask = (...argv: string[]) => run([...argv, '--board', board]);
  const where = /the receiver listens on 127\.0\.0\.1:\d+ only, .* listen = \["0\.0\.0\.0"\] .*socket/;
  await until('it is said', () => existsSync(noticePath(board)));
  const { stdout, code } = await ask('check');
  t.match([code, stdout], [3, where]);
  t.match(JSON.parse((await ask('status', '--json')).stdout).trouble, [
    { key: 'receiver:empty', severity: 'critical', what: where },
  ]);
  const socket = createSocket('udp4');
  const send = (values: object) => socket.send(makeReport(values), port, '127.0.0.1');
  send({ cluster_id: 7 });
  const reader = openReader(t, board);
  await until('the rejection is told', () => /1 report rejected: of another cluster/.test(reader.snapshot().notice));
  t.match((await ask('check')).stdout, /1 report rejected: of another cluster \(ours has the id [0-9a-f]{8}\)/);
  const { cluster_id } = reader.snapshot().header;
  send({ hostname: 'n1', cluster_id });
  await until('a node is on the board', () => reader.snapshot().count === 1);
  t.notMatch((await ask('status', '--json')).stdout, /listens on/);
  await until('nothing is said any more', () => reader.snapshot().notice === '');
  socket.close();
});

t.test('of an address that others reach, that nothing has arrived', async t => {
  const board = boardPath(t);
  await startReceiver(t, board, ['--listen', '0.0.0.0:0']);
  await until('it is said', () => existsSync(noticePath(board)));
  t.match(
    (await run(['check', '--board', board])).stdout,
    /nothing has arrived at all at .*0\.0\.0\.0:\d+: .*firewall/,
  );
});

for (const before of [false, true])
  t.test(`a receiver waits for its key file, ${before ? 'with a board' : 'without one'}`, { skip }, async t => {
    const board = boardPath(t);
    const key = join(folder(t), 'key');
    let heartbeat = 0n;
    if (before) {
      const writer = openWriter({
        ...{ path: board, cluster: '', capacity: 16, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] },
      });
      writer.listeningSince(now().mono - 60n * 1_000_000_000n);
      writer.deliver(makeReport({ hostname: 'n1' }), now().mono, now().real);
      writer.heartbeat(now().mono);
      writer.close();
    }
    writeFileSync(key, `1 cluster ${'ab'.repeat(32)}\n`, { mode: 0o600 });
    chownSync(key, 4711, 4711);
    const { exit, child } = start(t, [
      ...['receive', '--board', board, '--listen', '127.0.0.1:0', '--key-file', key, '--capacity', '16'],
    ]);
    await until('it waits', () => existsSync(noticePath(board)));
    const ask = (...argv: string[]) => run([...argv, '--board', board]);
    const why = /the receiver waits for its key file: .*key: belongs to user 4711; .*chown/;
    await until('its board is judged', async () => why.test((await ask('check')).stdout));
    const { code, stdout } = await ask('status');
    t.match([code, stdout], [4, why]);
    const reader = openReader(t, board);
    heartbeat = reader.snapshot().evidence.heartbeatNs;
    t.equal(heartbeat === 0n, !before, 'no heartbeat but that of the one before');
    t.match(await ask('forget', 'n2'), { code: 1, stderr: /no record of n2/ }, 'its control socket answers');
    t.match(await run(['receive', '--board', board]), { code: 1, stderr: /another receiver/ }, 'and it holds the lock');
    chownSync(key, 0, 0);
    await until('it listens', () => reader.snapshot().evidence.heartbeatNs > heartbeat);
    t.same(
      [...reader.snapshot().nodes()].map(({ name }) => name),
      before ? ['n1'] : [],
    );
    child.kill();
    t.equal(await exit, 0);
    t.notMatch((await ask('check')).stdout, /waits/);
  });

t.test("a notice is its receiver's alone, and one line", async t => {
  const board = boardPath(t);
  const writer = openWriter({
    ...{ path: board, cluster: '', capacity: 16, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] },
  });
  t.teardown(() => writer.close());
  const reader = openReader(t, board);
  const path = noticePath(board);
  const leave = (pid: number, text: unknown) => writeFileSync(path, JSON.stringify({ schema: 1, pid, text }));
  t.equal(reader.snapshot().notice, '');
  leave(process.pid, 'a\x1b[2J\nb');
  t.match(reader.snapshot().notice, /^a[^\x1b\n]*b$/);
  leave(process.pid, 'x'.repeat(5000));
  t.ok(reader.snapshot().notice.length <= 1000);
  for (const [pid, text] of [
    [process.pid + 1, 'of another'],
    [process.pid, 7],
  ] as const) {
    leave(pid, text);
    t.equal(reader.snapshot().notice, '');
  }
  leave(process.pid, 'others may write it');
  chmodSync(path, 0o666);
  t.equal(reader.snapshot().notice, '');
  rmSync(path);
  const other = join(folder(t), 'other');
  writeFileSync(other, readFileSync('/etc/hostname'));
  symlinkSync(other, path);
  t.equal(reader.snapshot().notice, '');
});
