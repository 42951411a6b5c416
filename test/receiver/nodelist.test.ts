// Another node list, another capacity, removed nodes: by the running receiver, and without one. Nothing else is lost,
// readers follow by themselves, and a kill at any moment leaves a whole board at the path.
//
// @seconds 9
// @shared 34
// @whole
// @days 3

import { execFileSync, fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { editBoard, openWriter } from '../../src/shm/writer.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { NOT_WHOLE, WHOLE } from '../kit/whole.js';

const run = verbRun(t);

const limits = { cluster: '', uncertainAfter: 4500, silentAfter: 10_500 };

/** States of all nodes, by name. */
function states(reader: BoardReader): Record<string, string> {
  const snapshot = reader.snapshot();
  return Object.fromEntries([...snapshot.nodes()].map(node => [node.name, node.state]));
}

/** Sends a report of each of these nodes, and waits until they are on the board. */
async function report(port: number, reader: BoardReader, names: string[], seq: number): Promise<void> {
  const socket = createSocket('udp4');
  for (const hostname of names)
    socket.send(makeReport({ hostname, seq, t_boot_ns: BigInt(100 + seq) * 1_000_000_000n }), port, '127.0.0.1');
  await until('they are on the board', () =>
    names.every(name => [...reader.snapshot().nodes()].find(node => node.name === name)?.report?.seq === seq),
  );
  socket.close();
}

t.test('forget, with a receiver', async t => {
  const board = boardPath(t);
  const { port, output } = await startReceiver(t, board);
  const reader = openReader(t, board);
  await report(port, reader, ['a', 'b', 'c', 'd'], 1);
  t.equal(statSync(`${board}.ctl`).mode & 0o777, 0o600, 'nobody else may ask');

  t.same(await run(['forget', '--board', board, 'b,d']), {
    code: 0,
    stdout: 'forgot b,d\n',
    stderr: `beoboard forget: b,d may still report, and come back by that: there, systemctl disable --now beoboard-send
beoboard forget: another master, or a mirror of one, keeps a record of its own: there, beoboard forget b,d\n`,
  });
  t.same(states(reader), { a: 'live', c: 'live' }, 'a reader that had the old board follows');
  const some = await run(['forget', '--board', board, '--json', 'c,nobody']);
  t.equal(some.code, 1);
  t.same(JSON.parse(some.stdout), { schema: 1, forgotten: ['c'], unknown: ['nobody'] });
  t.equal(some.stderr, 'beoboard forget: no record of nobody\n');
  const many = Array.from({ length: 15 }, (_, i) => `node${String(i + 1).padStart(2, '0')}`);
  await report(port, reader, many, 1);
  const words = Array.from({ length: 12 }, (_, i) => `${String.fromCharCode(97 + i)}x`);
  t.match(
    await run(['forget', '--board', board, [...many, ...words].join(',')]),
    {
      code: 1,
      stdout: 'forgot node[01-15]\n',
      stderr: /beoboard forget: no record of ax,bx,cx,dx,ex,fx,gx,hx,ix,jx and more, 12 in all\n$/,
    },
    'many are folded',
  );
  await report(port, reader, ['a', 'b'], 2);
  t.same(states(reader), { a: 'live', b: 'live' }, 'who reports again comes back');
  const [node] = [...reader.snapshot().nodes()].filter(({ name }) => name === 'a');
  t.match(node?.record, { accepted: 2, lost: 0, restarts: 0 }, 'and who stayed has lost nothing');
  t.match(output().stderr, /forgot 2 nodes, as asked: b,d\n/);
});

t.test('other requests to the socket', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board);
  const reader = openReader(t, board);
  await report(port, reader, ['a'], 1);
  const ask = async (text: string | Buffer) => {
    const socket = connect(`${board}.ctl`);
    socket.on('error', () => undefined);
    let said = '';
    socket.on('data', data => {
      said += data;
    });
    socket.end(text);
    await once(socket, 'close');
    return said;
  };
  for (const text of [
    ...['x\n', '{}\n', '[]\n', 'null\n', '{"forget":"a"}\n', '{"forget":["a"],"x":1}\n', '{"forget":[""]}\n'],
  ])
    t.match(await ask(text), /^\{"error":"[^"]+"\}\n$/, JSON.stringify(text));
  t.match(await ask('{"forget":["A b"]}\n'), /is not a node name/);
  t.equal(await ask(''), '', 'who says nothing is told nothing');
  t.equal(await ask('{"forget":["a"]'), '', 'nor who stops in the middle');
  t.same(states(reader), { a: 'live' });
  t.equal(await ask('{"forget":["a"]}\n'), '{"forgotten":["a"],"unknown":[]}\n');
});

t.test('forget, without a receiver', { skip: NOT_WHOLE }, async t => {
  const board = boardPath(t);
  t.match(await run(['forget', '--board', board, 'a']), { code: 4, stderr: /there is no board/ });
  t.notOk(existsSync(`${board}.lock`), 'which leaves nothing behind');
  const { port, child, exit } = await startReceiver(t, board);
  const reader = openReader(t, board);
  await report(port, reader, ['a', 'b'], 1);

  child.kill('SIGSTOP');
  t.match(
    await run(['forget', '--board', join(folder(t), 'x'), 'a']),
    { code: 4 },
    'of another board it knows nothing',
  );
  child.kill('SIGKILL');
  await exit;
  t.ok(existsSync(`${board}.ctl`), 'its socket lies there, and nobody listens');
  t.match(await run(['forget', '--board', board, 'a']), { code: 0, stdout: 'forgot a\n' });
  const again = await startReceiver(t, board);
  t.same(Object.keys(states(reader)), ['b'], 'the next receiver takes it over');
  again.child.kill('SIGSTOP');
  rmSync(`${board}.ctl`);
  t.match(await run(['forget', '--board', board, 'b']), { code: 1, stderr: /another receiver \(pid \d+\) writes/ });
  again.child.kill('SIGCONT');
  await until('its socket is back', () => existsSync(`${board}.ctl`));
  t.equal(statSync(`${board}.ctl`).mode & 0o777, 0o600);
  t.match(await run(['forget', '--board', board, 'b']), { code: 0, stdout: 'forgot b\n' });
  again.child.kill('SIGTERM');
  await again.exit;
  t.match(await run(['forget', '--board', board]), { code: 2, stderr: /LIST is missing/ });
  t.match(await run(['forget', '--board', board, 'a[']), { code: 2 });
  writeFileSync(`${board}2`, 'thesis');
  t.match(await run(['forget', '--board', `${board}2`, 'a']), { code: 4, stderr: /not a board; / });
});

t.test('a board that is edited stays as it was', async t => {
  const path = boardPath(t);
  const writer = openWriter({ path, capacity: 8, nodes: ['a', 'b'], ...limits });
  writer.close();
  const reader = new BoardReader(path);
  const look = () => {
    const { header, count } = reader.snapshot();
    return { count, instance: header.instance, pid: header.pid, state: header.state, capacity: header.capacity };
  };
  const before = look();
  const editor = editBoard(path);
  t.same(editor.forget(['a', 'x']), [true, false]);
  editor.close();
  t.same(look(), before, 'a listed node stays, as one that never reported');
  t.throws(() => editBoard(join(folder(t), 'none')), /there is no board of this boot and version/);
  reader.close();
});

t.test('SIGHUP: nodes, capacity and limits', async t => {
  const board = boardPath(t);
  const dir = folder(t);
  const list = join(dir, 'nodes');
  const config = join(dir, 'receive.toml');
  writeFileSync(list, 'a\nb\n');
  writeFileSync(config, `nodes = "@${list}"\ncapacity = 4\n`);
  const running = await startReceiver(t, board, ['--config', config]);
  const { port, child, output } = running;
  const reader = openReader(t, board);
  const hangup = async (what: RegExp) => {
    const from = output().stderr.length;
    child.kill('SIGHUP');
    await until('it says so', () => what.test(output().stderr.slice(from)));
  };
  t.same(states(reader), { a: 'never', b: 'never' });
  await report(port, reader, ['a', 'b'], 1);
  const listening = reader.snapshot().header.listening_since_ns;

  writeFileSync(list, 'b\nc\n');
  await hangup(/read its options again: 2 nodes/);
  t.same(states(reader), { b: 'live', c: 'never' });
  await report(port, reader, ['b', 'c'], 2);
  t.match([...reader.snapshot().nodes()][0]?.record, { name: 'b', accepted: 2, lost: 0, restarts: 0 });

  writeFileSync(config, 'uncertain-after = "1h"\nsilent-after = "2h"\n');
  await hangup(/read its options again: any node/);
  t.equal(reader.snapshot().header.uncertain_after_ns, 3_600_000_000_000n);
  await report(port, reader, ['b', 'd'], 3);
  t.same(Object.keys(states(reader)), ['b', 'c', 'd'], 'without a list all are taken');

  writeFileSync(config, 'nodes = "n[1-5000]"\n');
  await hangup(/5000 nodes do not fit; give --capacity 5000; nothing has changed/);
  writeFileSync(config, 'silent-after = "1s"\n');
  await hangup(/not below --silent-after .*; nothing has changed/);
  writeFileSync(config, 'drain = "50ms"\ncluster = "other"\n');
  await hangup(/--cluster has changed, which needs a restart/);
  await until('the other is told, too', () => /--drain has changed/.test(output().stderr));
  await report(port, reader, ['b', 'c', 'd'], 4);
  t.equal(reader.snapshot().header.listening_since_ns, listening, 'it has heard everything all the time');
  t.equal(reader.snapshot().header.instance, 1, 'as the same receiver');

  // Who waited for a FIFO would not hear the signal that ends it.
  const pipe = join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  writeFileSync(config, `nodes = "@${pipe}"\n`);
  await hangup(/cannot read '.*\/pipe': it is not a regular file; .*; nothing has changed/);
  rmSync(config);
  renameSync(pipe, config);
  await hangup(/cannot read '.*\/receive.toml': it is not a regular file; .*; nothing has changed/);
  child.kill('SIGTERM');
  t.equal(await running.exit, 0);
});

t.test('the socket comes back with the directory', { skip: NOT_WHOLE }, async t => {
  const dir = join(folder(t), 'dir');
  mkdirSync(dir);
  chmodSync(dir, 0o755);
  const board = join(dir, 'board');
  const { port } = await startReceiver(t, board);
  const reader = openReader(t, board);
  await report(port, reader, ['a'], 1);
  rmSync(dir, { recursive: true });
  await until('board and socket are back', () => existsSync(board) && existsSync(`${board}.ctl`));
  t.match(await run(['forget', '--board', board, 'a']), { code: 0 });
  await report(port, reader, ['b'], 1);
  rmSync(`${board}.ctl`);
  t.match(
    await run(['forget', '--board', board, 'b']),
    { code: 0 },
    'who asks before it is back is answered when it is',
  );
});

t.test('forget says of a listed node that it stays, and where it is taken off', async t => {
  const board = boardPath(t);
  await startReceiver(t, board, ['--nodes', 'a,b']);
  const { stderr } = await run(['forget', '--board', board, 'a']);
  t.match(
    stderr,
    /^beoboard forget: a stay as never reported: take them off the list of --nodes, then systemctl reload/,
  );
});

t.test('another program at the socket', async t => {
  const board = boardPath(t);
  const writer = openWriter({ path: board, capacity: 8, nodes: ['a'], ...limits });
  writer.close();
  const server = createServer(socket => socket.end('nonsense\n'));
  server.listen(`${board}.ctl`);
  t.teardown(() => server.close());
  const { code, stderr } = await run(['forget', '--board', board, 'a']);
  t.equal(code, 1);
  t.equal(stderr.trimEnd().split('\n').length, 1, stderr);
});

t.test('killed at any moment', async t => {
  let seed = Number(process.env.SEED ?? 36);
  t.comment(`seed ${seed}, another one by SEED=n`);
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const board = boardPath(t);
  const reader = openReader(t, board);
  const COUNT = 20;
  let seen = 1;
  let leftovers = 0;
  for (let round = 0; round < (WHOLE ? 30 : 10); round++) {
    const module = fileURLToPath(new URL('./changing.js', import.meta.url));
    const child = fork(module, [board, String(COUNT), String(seen + 1)]);
    await once(child, 'message');
    await new Promise(resolve => setTimeout(resolve, random(40)));
    child.kill('SIGKILL');
    await once(child, 'exit');
    leftovers += readdirSync(dirname(board)).includes('board.new') ? 1 : 0;
    const nodes = [...reader.snapshot().nodes()].filter(({ name }) => name !== 'guest');
    if (nodes.length !== COUNT) t.fail(`round ${round}: ${nodes.length} nodes`);
    const seqs = nodes.map(node => node.report?.seq ?? 0);
    const least = Math.min(...seqs);
    if (least < seen) t.fail(`round ${round}: went back from ${seen} to ${least}`);
    seen = Math.max(...seqs);
  }
  t.ok(leftovers > 0, `${leftovers} of them while a board was made: the next one removes what lies there`);
  const writer = openWriter({ path: board, capacity: 3000, nodes: [], ...limits });
  t.notOk(readdirSync(dirname(board)).includes('board.new'));
  writer.close();
});
