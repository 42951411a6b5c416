// What clients of beoboard-mon may do to it: ask too often, by too many connections, in endless words, and never read.
// Its memory does not grow, and the others are served.
//
// @seconds 19
// @waits
// @rest
// @days 3

import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import t, { type Test } from 'tap';
import { CHECKED, compiled, compileMon, NO_MUSL } from '../kit/compiling.js';
import { pssOf, say, startMon } from '../kit/mon.js';
import { folder } from '../kit/places.js';
import { Asker, elementsOf } from '../kit/supermon.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);

/** Built with sanitizers, and with a time limit of one second. */
const EYED = compiled(t, 'mon', 'hasty/beoboard-mon', CHECKED);
const SMALL = compiled(t, 'mon', 'hasty/beoboard-mon');
/** KiB, as PSS. */
const MOST_PSS = 320;
const MOST_CLIENTS = 64;

const open = async (t: Test, port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
};

/** Waits until a socket is closed, in any way. */
const gone = (socket: Socket) => new Promise<void>(resolve => void socket.once('close', () => resolve()));

t.test('all clients together get at most so many answers per second', async t => {
  const { port } = await startMon(t, EYED, '--most', '50');
  const clients = [await Asker.open(t, port), await Asker.open(t, port)];
  const begin = performance.now();
  /** The clients in the order of their answers. */
  const order: number[] = [];
  await Promise.all(
    clients.map(async (client, i) => {
      // One client waits for each answer, the other sends all its requests at once.
      if (i === 1) client.socket.write('0x10S\n'.repeat(20));
      for (let count = 0; count < 20; count++) {
        elementsOf(i === 0 ? await client.ask('0x10S\n') : await client.next());
        order.push(i);
      }
    }),
  );
  const took = performance.now() - begin;
  // The limiter may catch up for 20 ms, so one or two answers may be early.
  t.ok(took >= ((40 - 2) / 50) * 1000, `40 answers in ${took} ms`);
  const beside = order.slice(0, order.lastIndexOf(1)).filter(i => i === 0).length;
  t.ok(beside >= 5, `in turn: ${order.join('')}`);
  const begun = performance.now();
  const { stdout } = say(EYED, '# 0x10S x '.repeat(10), '--most', '50');
  const taken = performance.now() - begun;
  t.ok(taken >= ((30 - 2) / 50) * 1000, `what is refused counts, too: ${taken} ms`);
  t.equal(stdout.match(/^\)$|\)\)\)$/gm)?.length, 30);
});

t.test('a thousand connections', async t => {
  const { port, pid, child, exit, stderr } = await startMon(t, SMALL, '--most', '100000');
  let closed = 0;
  const sockets: Socket[] = [];
  for (let i = 0; i < 1000; i++) {
    const socket = await open(t, port);
    socket.on('close', () => closed++);
    sockets.push(socket);
  }
  await until('there are as many as there is room for', () => closed === 1000 - MOST_CLIENTS);
  const client = await Asker.open(t, port);
  t.ok(elementsOf(await client.ask('S\n')).length > 5, 'who comes last is served');
  let answered = 0;
  for (const socket of sockets.filter(({ destroyed }) => !destroyed)) {
    socket.once('data', () => answered++);
    socket.write('S\n');
  }
  await until('all have an answer', () => answered >= MOST_CLIENTS - 1);
  if (!NO_MUSL) t.ok(pssOf(pid) <= MOST_PSS, `${pssOf(pid)} KiB`);
  t.match(stderr(), /clients cut off: 1; they stopped reading, sent nothing for too long, or there were too many\n/);
  t.ok(stderr().match(/cut off/g)?.length === 1, 'not a line for each');
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.match(stderr(), new RegExp(`clean shutdown: \\d+ answers, ${1001 - MOST_CLIENTS} clients cut off`));
});

t.test('more connections than the system has places for', async t => {
  const script = join(folder(t), 'few');
  writeFileSync(script, `#!/bin/sh\nulimit -n 16\nexec ${SMALL} "$@"\n`);
  chmodSync(script, 0o755);
  const { port } = await startMon(t, script);
  for (let i = 0; i < 40; i++) await open(t, port);
  const client = await Asker.open(t, port);
  t.equal(elementsOf(await client.ask('0x10S')).length, 1, 'who comes last is served');
});

t.test('endless words, random bytes, other protocols', async t => {
  const { port, child } = await startMon(t, EYED, '--most', '100000');
  const rows: [what: string, said: string][] = [
    ['a word without end', 'x'.repeat(100_000)],
    ['lists', '('.repeat(100_000)],
    ['NULs', '\0'.repeat(1000)],
    ['HTTP', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['bytes', Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join('')],
    ['a mask that is too long', '0x123456789S\n'],
  ];
  for (const [what, said] of rows) {
    const client = await Asker.open(t, port);
    const [[, category] = []] = elementsOf(await client.ask(said));
    t.equal(category, 'error', what);
  }
  const half = await open(t, port);
  half.end('0x4');
  half.resume();
  await gone(half);
  const both = await Asker.open(t, port);
  both.socket.end('S #');
  t.ok(
    elementsOf(await both.next()).length > 5 && elementsOf(await both.next()).length > 5,
    'who has no more to say still reads',
  );
  await gone(both.socket);
  const endless = await open(t, port);
  endless.resume();
  // It gets an answer, and the server waits for it to close; it continues to send.
  const talk = setInterval(() => endless.write('x'.repeat(1000)), 5);
  t.teardown(() => clearInterval(talk));
  await gone(endless);
  const blank = await open(t, port);
  blank.resume();
  // White space gets no answer, but the time limit applies.
  const breath = setInterval(() => blank.write(' '.repeat(1000)), 5);
  t.teardown(() => clearInterval(breath));
  await gone(blank);
  t.same([child.exitCode, child.signalCode], [null, null]);
});

t.test('a client that continues to send after its last answer', async t => {
  // With the normal time limit, so that the limit on bytes ends it.
  const { port } = await startMon(t, compileMon(t), '--most', '100000');
  const socket = await open(t, port);
  socket.resume();
  let taken = 0;
  const chunk = Buffer.alloc(1 << 16, 'x');
  const more = () =>
    void socket.write(chunk, error => {
      if (error) return;
      taken += chunk.length;
      setImmediate(more);
    });
  more();
  await gone(socket);
  t.ok(taken < 64 << 20, `${taken} bytes were taken, those that the kernel holds too`);
});

t.test('stdout that nobody reads: an incomplete answer makes the exit code 1', async t => {
  const fifo = join(folder(t), 'stdout');
  execFileSync('mkfifo', [fifo]);
  const stdout = openSync(fifo, 'r+');
  t.teardown(() => closeSync(stdout));
  const child = spawn(compileMon(t), ['--stdio', '--most', '100000'], { stdio: ['pipe', stdout, 'pipe'] });
  const { stdin, stderr: told } = child as ChildProcessByStdio<Writable, null, Readable>;
  t.teardown(() => void child.kill('SIGKILL'));
  let stderr = '';
  told.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  stdin.on('error', () => undefined);
  stdin.write('# '.repeat(100_000));
  const file = (name: string) => readFileSync(`/proc/${child.pid}/${name}`, 'latin1');
  // It sleeps at two looks and has written nothing in between, so it waits for its reader.
  let last = '';
  await until('stdout is full', () => {
    const [, state = ''] = /\) (\w) /.exec(file('stat')) ?? [];
    const [, wrote = ''] = /^wchar: (\d+)$/m.exec(file('io')) ?? [];
    const now = `${state} ${wrote}`;
    const isSame = now === last && state === 'S' && Number(wrote) > 30_000;
    last = now;
    return isSame;
  });
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  t.equal(code, 1);
  t.match(stderr, /^beoboard-mon: clients cut off: 1; they stopped reading/);
});

t.test('a client that does not read is cut off, and the others are served', async t => {
  const { port, pid, child, exit } = await startMon(t, SMALL, '--most', '100000');
  const idle = await Promise.all(Array.from({ length: 4 }, () => open(t, port)));
  const client = await Asker.open(t, port);
  await client.ask('S\n');
  let lost = 0;
  for (const socket of idle) {
    socket.pause();
    socket.on('close', () => lost++);
    const more = () => {
      if (!socket.destroyed && socket.write('# '.repeat(4096))) setImmediate(more);
      else socket.once('drain', more);
    };
    more();
  }
  let served = 0;
  while (lost < idle.length) {
    elementsOf(await client.ask('0x40S\n'));
    served++;
  }
  t.ok(served > 0, `${served} answers meanwhile`);
  t.same([child.exitCode, child.signalCode], [null, null]);
  if (!NO_MUSL) t.ok(pssOf(pid) <= MOST_PSS, `${pssOf(pid)} KiB afterwards`);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('the same with sanitizers', async t => {
  const { port, child, exit, stderr } = await startMon(t, EYED, '--most', '100000');
  const socket = await open(t, port);
  socket.pause();
  const said = '# '.repeat(2048);
  const more = () => {
    if (!socket.destroyed) socket.write(said, () => setImmediate(more));
  };
  more();
  await gone(socket);
  // A client that reads slowly loses nothing, and gets everything in order.
  const slow = await Asker.open(t, port);
  slow.socket.pause();
  slow.socket.write('S # '.repeat(3000));
  const reading = setInterval(() => slow.socket.resume(), 20);
  t.teardown(() => clearInterval(reading));
  for (let i = 0; i < 6000; i++) {
    const length = elementsOf(await slow.next()).length;
    if (length < 9) t.fail(`${length} elements`);
  }
  child.kill('SIGTERM');
  t.equal(await exit, 0, stderr());
});
