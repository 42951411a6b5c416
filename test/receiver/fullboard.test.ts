// A board on which no record is free: who says so, and that --forget-after makes room, without the clock that a day takes.
//
// @seconds 6
// @waits
// @rest

import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ChangeFollower } from '../../src/changes/changes.js';
import { enums, structs } from '../../src/layout/layout.gen.js';
import { Absence } from '../../src/receiver/absence.js';
import { askReceiver } from '../../src/receiver/control.js';
import { createLog } from '../../src/service/log.js';
import { openWriter } from '../../src/shm/writer.js';
import { startIn } from '../kit/hanging.js';
import { poke } from '../kit/linkboard.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { type Running, start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(600_000);

const portOf = async ({ ready }: Running) => Number((await ready).listening?.[0]?.split(':').at(-1));

t.test('more nodes report than there is room for', async t => {
  const at = folder(t);
  const [board, config] = [join(at, 'board'), join(at, 'toml')];
  writeFileSync(config, 'capacity = 10\n');
  const receiver = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0', '--config', config]);
  const port = await portOf(receiver);
  const reader = openReader(t, board);
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  let seq = 0;
  const report = (count: number) => {
    seq++;
    for (let i = 1; i <= count; i++)
      socket.send(
        makeReport({ hostname: `n${i}`, seq, t_boot_ns: BigInt(100 + seq) * 1_000_000_000n }),
        port,
        '127.0.0.1',
      );
  };
  const refused = () => reader.snapshot().header.refused[18] ?? 0;
  report(9);
  await until('they are on the board', () => [...reader.snapshot().nodes()].length === 9);
  t.match(await run(['check', '--board', board]), { code: 0 });
  report(13);
  await until('the others are rejected', () => refused() === 3);
  const full =
    'the board is full: it has room for 10 nodes, and 3 others report (n[11-13]); give the receiver a higher --capacity, or forget nodes that are gone';
  t.match(await run(['check', '--board', board]), {
    code: 1,
    stdout: `BEOBOARD WARNING: 10 nodes, 10 live; ${full} | `,
  });
  t.match(await run(['check', '--board', board, '--where', 'state == silent']), { code: 1, stdout: full });
  const { stdout } = await run(['status', '--long', '--board', board]);
  t.ok(stdout.replace(/\s+/g, ' ').includes(full));
  t.notMatch(stdout, /no room for another node/, 'once');
  await until('the receiver says so', () => receiver.output().stderr.includes('rejected 3 datagrams: full'));
  await until('and that the last tenth fills', () =>
    receiver.output().stderr.includes('the board has room for 10 nodes and has 10: give a higher --capacity'),
  );
  report(19);
  await until('more are rejected', () => refused() === 3 + 9);
  t.match(await run(['check', '--board', board]), { code: 1, stdout: /and 8 or more others report \(n\[/ });
  writeFileSync(config, 'capacity = 30\n');
  receiver.child.kill('SIGHUP');
  await until('there is room', () => reader.snapshot().header.capacity === 30);
  report(13);
  await until('all have a place', () => [...reader.snapshot().nodes()].length === 13);
  t.match(await run(['check', '--board', board]), { code: 0 }, 'what was rejected before does not matter any more');
});

t.test('forgotten, because they were away for long enough', async t => {
  const board = boardPath(t);
  const limits = ['--uncertain-after', '100ms', '--silent-after', '200ms'];
  const { port } = await startReceiver(t, board, limits);
  const reader = openReader(t, board);
  const follow = (last: number) => {
    const own = openReader(t, board);
    return new ChangeFollower(own, { last });
  };
  const events = follow(0);
  events.look(false);
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  const bootNs = process.hrtime.bigint();
  const report = (hostname: string, more: Parameters<typeof makeReport>[0] = {}) => {
    const t_boot_ns = process.hrtime.bigint() - bootNs + 1_000_000_000n;
    socket.send(makeReport({ hostname, t_boot_ns, interval_ms: 1000, ...more }), port, '127.0.0.1');
  };
  const states = () => Object.fromEntries([...reader.snapshot().nodes()].map(({ name, state }) => [name, state]));
  report('alive', { interval_ms: 600_000 });
  report('gone');
  report('left', { flags: 2 });
  report('returns');
  await until('two are silent', () => states().gone === 'silent' && states().returns === 'silent');
  t.same(states(), { alive: 'live', gone: 'silent', left: 'left', returns: 'silent' });
  // As if the receiver had seen two machines under one name, in the place of the goodbye's event.
  const { events_offset, events_stride } = reader.snapshot().header;
  const at = (events_offset ?? 0) + (events_stride ?? 0);
  const { kind, subject } = structs.event.fields;
  poke(board, [
    [at + kind.offset, BigInt(enums.event_kind.indexOf('clone'))],
    [at + subject.offset, 3n],
  ]);
  const lines: string[] = [];
  const forgetting: Promise<unknown>[] = [];
  const absence = new Absence(
    board,
    names => forgetting.push(askReceiver(board, 'forget', names)),
    createLog('receive', { write: line => void lines.push(line), env: {} }),
  );
  t.teardown(() => absence.close());
  const [MINUTE, DAY] = [60_000, 86_400_000];
  let now = 0;
  /** A look at each minute of so many days, by a clock of its own. */
  const pass = (days: number, forgetAfter: number | undefined) => {
    for (const end = now + days * DAY; now < end; now += MINUTE) absence.look(forgetAfter, now);
    return Promise.all(forgetting);
  };
  await pass(1.9, 2 * DAY);
  t.same(lines, []);
  // A pause of this process is no time in which it looked, and who reports was not away.
  now += 100 * DAY;
  report('returns');
  await until('it is silent again', () => reader.snapshot().header.accepted === 5 && states().returns === 'silent');
  await pass(0.09, 2 * DAY);
  t.same(lines, []);
  events.look(false);
  await pass(0.02, 2 * DAY);
  t.same(lines, ['beoboard receive: forgot 2, which were silent or had left for 2d0h: gone,left\n']);
  t.same(states(), { alive: 'live', returns: 'silent' });
  const told = [...events.look(false), ...events.look(false)];
  t.match(
    told.filter(({ event }) => event === 'forget'),
    [{ count: 2 }],
  );
  const removed = told.filter(happening => happening.event === 'state' && happening.to === undefined);
  t.same(
    removed.map(happening => 'node' in happening && happening.node),
    ['gone', 'left'],
    'events name them',
  );
  t.match(
    follow(100)
      .look(false)
      .filter(({ event }) => event === 'clone'),
    [{ node: 'returns' }],
    'and the ring was carried over, with the new numbers of records',
  );
  await pass(0.9, DAY);
  t.equal(lines.length, 1, 'once a day at most');
  await pass(0.2, DAY);
  t.match(lines[1], /forgot 1, .*: returns$/m);
  t.same(states(), { alive: 'live' });
  report('gone', { seq: 7 });
  await until('who reports comes back', () => states().gone === 'silent');
  await pass(3, undefined);
  await pass(0.9, DAY);
  t.equal(lines.length, 2, 'without the option nothing is counted');
});

t.test('who left is not away while its link cannot be heard', async t => {
  const path = boardPath(t);
  const limits = { uncertainAfter: 4500, silentAfter: 10_500 };
  const writer = openWriter({ path, cluster: '', capacity: 4, ...limits, nodes: [] });
  t.teardown(() => writer.close());
  const mono = () => process.hrtime.bigint();
  writer.deliver(makeReport({ hostname: 'left', flags: 2 }), mono(), 0n, 'eth0');
  const forgotten: string[] = [];
  const absence = new Absence(
    path,
    names => forgotten.push(...names),
    createLog('receive', { write: () => {}, env: {} }),
  );
  t.teardown(() => absence.close());
  let at = 0;
  const pass = () => {
    for (const end = at + 90_000_000; at < end; at += 60_000) {
      writer.heartbeat(mono());
      absence.look(86_400_000, at);
    }
  };
  writer.linkState(1, 0, false, mono());
  // A heartbeat of that link from before it went down is too old by now.
  poke(path, [[structs.board_header.fields.evidence.offset + structs.link_evidence.bytes, 1n]]);
  pass();
  t.same(forgotten, [], 'it may have come back');
  writer.linkState(1, 1, false, mono());
  pass();
  t.same(forgotten, ['left']);
});

const noMounts =
  spawnSync('unshare', ['-m', 'true']).status !== 0 && process.env.CI !== 'true' && 'mounting a tmpfs needs root';

t.test('deleted on a full tmpfs, it is published again when there is room', { skip: noMounts }, async t => {
  const at = folder(t);
  const board = join(at, 'board');
  const prefix = ['unshare', '-m', 'sh', '-c', `mount -t tmpfs -o size=4m,mode=755 none ${at} && exec "$@"`, 'sh'];
  const { pid, lines } = startIn(t, { prefix }, [
    ...['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '200'],
  ]);
  const said = (what: string) => until(`it says ${what}`, () => lines().some(line => line.includes(what)));
  await said('ready');
  // That file system, seen from here.
  const inside = (path: string) => `/proc/${pid}/root${path}`;
  const filler = inside(join(at, 'filler'));
  t.throws(() => writeFileSync(filler, Buffer.alloc(4 << 20)), { code: 'ENOSPC' });
  rmSync(inside(board));
  await said('no room for');
  t.notOk(existsSync(inside(board)));
  rmSync(filler);
  await said('published again');
  t.match(await run(['check', '--board', inside(board)]), { code: 3, stdout: /no node is on the board/ });
});

t.test('what a receiver takes', async t => {
  const board = boardPath(t);
  t.match(await run(['receive', '--board', board, '--forget-after', '23h']), { code: 2, stderr: /24h to 1000d/ });
  const key = join(folder(t), 'key');
  t.match(await run(['keygen', key]), { code: 0 });
  t.match(await run(['receive', '--board', board, '--forget-after', '24h', '--key-file', key, '--require', 'none']), {
    code: 2,
    stderr: /--forget-after and --require none do not go together/,
  });
  await startReceiver(t, board, ['--forget-after', '24h']);
});
