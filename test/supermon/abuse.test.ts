// What clients of `beoboard supermon` may do to it: too many of them, endless words, answers that nobody reads; and how
// its parser reports invalid answers (any bytes: fuzz/fuzz). Nothing crashes, hangs or grows.
//
// @rest

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { atomsOf, BadExpression, type Expression, Scanner } from '../../src/net/expressions.js';
import { SupermonServer } from '../../src/supermon/server.js';
import { Asker, elementsOf, LiveBoard, serve } from '../kit/supermon.js';
import { until } from '../kit/until.js';

t.test('a thousand connections', async t => {
  const board = new LiveBoard(t, ['n1']);
  const { port, child, exit, output } = await serve(t, ['--board', board.path]);
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  let closed = 0;
  for (let i = 0; i < 1000; i++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined).on('close', () => closed++);
    sockets.push(socket);
    await once(socket, 'connect');
  }
  await until('there are as many as there is room for', () => closed === 1000 - 256);
  const client = await Asker.open(t, port);
  t.ok(elementsOf(await client.ask('S\n')).length > 5, 'who comes last is served');
  // Every remaining connection is served, too.
  const left = sockets.filter(({ destroyed }) => !destroyed);
  let answered = 0;
  for (const socket of left) {
    socket.once('data', () => answered++);
    socket.write('0x40S\n');
  }
  await until('all have an answer', () => answered >= 255);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.match(output().stderr, /clean shutdown/);
});

t.test('endless words, random bytes, other protocols', async t => {
  const board = new LiveBoard(t, ['n1']);
  const { port, child } = await serve(t, ['--board', board.path]);
  const rows: [what: string, said: string][] = [
    ['a word without end', 'x'.repeat(100_000)],
    ['lists', '('.repeat(100_000)],
    ['NULs', '\0'.repeat(1000)],
    ['HTTP', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['bytes', Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join('')],
  ];
  for (const [what, said] of rows) {
    const client = await Asker.open(t, port);
    const [[, category] = []] = elementsOf(await client.ask(said));
    t.equal(category, 'error', what);
  }
  const browser = connect(port, '127.0.0.1');
  browser.write('POST / HTTP/1.1\r\nHost: x\r\n\r\nS\nS\n');
  const [[, category] = [], ...more] = elementsOf(await text(browser));
  t.equal(category, 'error', 'nothing that a browser sends is a command');
  t.same(more, []);
  const half = await Asker.open(t, port);
  half.socket.write('0x4');
  half.socket.end();
  await once(half.socket, 'close');
  t.equal(child.exitCode, null);
});

t.test('a client that does not read is cut off, and the others are served', async t => {
  let told = 0;
  // The answer is endless, but it should be made only as fast as it is read.
  async function* answer() {
    const bytes = Buffer.alloc(1 << 16, 0x20);
    for (;;) {
      told += bytes.length;
      yield bytes;
    }
  }
  const server = new SupermonServer(answer, 300);
  t.teardown(() => server.close());
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const client = connect(port, '127.0.0.1').pause();
  client.on('error', () => undefined);
  t.teardown(() => void client.destroy());
  client.write('S\n'.repeat(10_000));
  await until('it is dropped', () => server.counts.stuck === 1);
  const then = told;
  t.ok(then < 64 << 20, `${then} bytes were made for it`);
  await until('it has left', () => server.clients === 0);
  t.equal(told, then, 'and nothing more is');
});

t.test('a client that reads its answer too slowly is cut off', async t => {
  async function* answer() {
    const bytes = Buffer.alloc(1 << 20, 0x20);
    for (;;) yield bytes;
  }
  const server = new SupermonServer(answer, 100);
  t.teardown(() => server.close());
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const client = connect(port, '127.0.0.1').pause();
  client.on('error', () => undefined).on('data', () => client.pause());
  t.teardown(() => void client.destroy());
  client.write('S\n');
  // It reads something all the time, but the answer is endless.
  const taking = setInterval(() => client.resume(), 1);
  t.teardown(() => clearInterval(taking));
  await until('it is dropped', () => server.counts.stuck === 1);
});

t.test('a client that sends but never asks is cut off', async t => {
  const board = new LiveBoard(t, ['n1']);
  const { port, child } = await serve(t, ['--board', board.path]);
  for (const said of [' ', '"', '\n']) {
    const blank = connect(port, '127.0.0.1').resume();
    blank.on('error', () => undefined);
    t.teardown(() => void blank.destroy());
    const breath = setInterval(() => blank.write(said.repeat(1000)), 5);
    t.teardown(() => clearInterval(breath));
    await new Promise<void>(resolve => void blank.once('close', () => resolve()));
    clearInterval(breath);
  }
  // White space before a command is allowed, because published clients send it.
  const client = await Asker.open(t, port);
  for (let i = 0; i < 10; i++) t.equal(elementsOf(await client.ask(`${' '.repeat(1000)}0x8S`)).length, 1);
  t.equal(child.exitCode, null);
});

// ---- the parser ----

/** Parses all of it at once, or in pieces. */
function scan(bytes: Buffer, pieces: number): Expression | string {
  const scanner = new Scanner(1 << 20);
  let found: Expression | undefined;
  try {
    for (let at = 0; at < bytes.length && found === undefined; at += pieces)
      found = scanner.push(bytes.subarray(at, at + pieces));
  } catch (error) {
    if (!(error instanceof BadExpression)) throw error;
    return error.message;
  }
  return found ?? 'more';
}

t.test('elements are counted', async t => {
  const some = (count: number) => Buffer.from(`(${'(a b (c))'.repeat(count)})`);
  t.equal(new Scanner(1 << 20, 3).push(some(3))?.elements.length, 3);
  t.throws(() => new Scanner(1 << 20, 3).push(some(4)), { message: 'has more than 3 elements' });
  const most = `((a b c (${'d '.repeat(4096 - 4)})))`;
  t.equal(new Scanner(1 << 20).push(Buffer.from(most))?.elements.length, 1, 'as many as there may be in one');
});

t.test('expressions of all kinds', async t => {
  const whole = '((a b c (d)) ("e f" g h ((nr 1) 2)))';
  const found = scan(Buffer.from(whole), 1);
  if (typeof found === 'string') throw new Error(found);
  t.same(
    found.elements.map(({ start, end }) => whole.slice(start, end)),
    ['(a b c (d))', '("e f" g h ((nr 1) 2))'],
  );
  t.same(
    found.elements.map(element => atomsOf(found, element, 4)),
    [
      ['a', 'b', 'c'],
      ['e f', 'g', 'h'],
    ],
  );
  for (const [text, says] of [
    ['', 'more'],
    ['(', 'more'],
    ['(("', 'more'],
    ['(("\\")', 'more'],
    [')', 'is not a list'],
    ['x', 'is not a list'],
    ['(x', 'has an element that is not a list'],
    ['(())', 'has an element without a name, a category and a list of data'],
    ['((a b (c) d))', 'has an element without a name, a category and a list of data'],
    ['((a b c (d)))x', 'continues after its end'],
    ['((a b c d (#.', 'has the byte 35, which is not allowed in this protocol'],
    ['((a\\', 'has the byte 92, which is not allowed in this protocol'],
    ['((a;', 'has the byte 59, which is not allowed in this protocol'],
    ['((\x01', 'has the byte 1, which is not allowed in this protocol'],
    ['(("\n', 'has a control character in quotes'],
    ['('.repeat(17), 'has lists more than 16 deep'],
    [`((${'x'.repeat(4097)}`, 'has an atom of more than 4096 bytes'],
    [`((a b${'(c) '.repeat(2048)}`, 'has an element of more than 4096 atoms and lists'],
    [`(${'(a b (c)) '.repeat(300_000)}`, 'is longer than 1048576 bytes'],
  ] as const)
    for (const pieces of [1 << 20, 1 << 16])
      t.equal(
        scan(Buffer.from(text, 'latin1'), text.length > 1000 && pieces === 1 ? 1 << 16 : pieces),
        says,
        text.slice(0, 30),
      );
});
