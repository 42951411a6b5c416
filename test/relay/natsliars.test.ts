// Servers that do what no NATS server does: they announce gigabytes, never end a line, ask without reading, or speak
// before TLS begins. None gets more memory than the limits; and what a parser makes of bytes never depends on how they
// are cut.
//
// @seconds 4
// @waits

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import t from 'tap';
import type { Log } from '../../src/common/log.js';
import { connectBus } from '../../src/relay/bus.js';
import { MOST_LINE, MOST_MESSAGE, type Operation, Parser } from '../../src/relay/natswire.js';
import type { Teardown } from '../kit/places.js';
import { until } from '../kit/until.js';

t.setTimeout(120_000);
const INFO = 'INFO {"server_id":"x","max_payload":1048576}\r\n';
const MIB = Buffer.alloc(1 << 20, 'A');

/** A server that says `greeting`, and then does `act`, as soon as the login has come. Both may come together. */
async function server(t: Teardown, greeting: string, act: (socket: Socket, said: () => string) => void) {
  const listener = createServer(socket => {
    let said = '';
    socket.on('error', () => undefined);
    socket.on('data', data => {
      const before = said;
      said += data.toString('latin1');
      if (!before.includes('CONNECT') && said.includes('CONNECT')) act(socket, () => said);
    });
    socket.write(greeting);
    if (greeting !== INFO) act(socket, () => said);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.teardown(() => void listener.close());
  const { port } = listener.address() as { port: number };
  return `nats://127.0.0.1:${port}`;
}

/** Sends for as long as somebody takes it, at most so much; returns how much was taken. */
async function pour(socket: Socket, bytes: number, piece = MIB): Promise<number> {
  let sent = 0;
  while (!socket.destroyed && sent < bytes) {
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
    sent += piece.length;
  }
  return socket.destroyed ? sent : Number.POSITIVE_INFINITY;
}

function joined(t: Teardown, nats: string) {
  const lines: string[] = [];
  const tell = (...words: string[]) => void lines.push(words.at(-1) as string);
  const log: Log = { info: tell, warn: tell, error: tell, seldom: tell };
  const bus = connectBus('test', { nats: [nats] }, log, why => tell(why));
  t.teardown(() => bus.close());
  bus.subscribe('a', () => undefined);
  return { bus, lines };
}

const MOST = 64 << 20;
const cases: [what: string, greeting: string, after: string, why: RegExp][] = [
  ['a message of 3 GB', INFO, 'PONG\r\nMSG a 1 3000000000\r\n', /3000000000 bytes was announced/],
  ['the same before it has answered', INFO, 'MSG a 1 3000000000\r\n', /3000000000 bytes was announced/],
  ['a line without an end', INFO, 'PONG\r\n-ERR ', /a line of more than/],
  ['a greeting without an end', 'INFO {"x":"', '', /a line of more than/],
  ['no NATS', 'HTTP/1.1 400\r\n', '', /not a server of NATS/],
  ['more than a greeting', `${INFO}MSG a 1 1\r\nx\r\n`, '', /not a server of NATS/],
];
for (const [what, greeting, after, why] of cases)
  t.test(what, async t => {
    let taken: number | undefined;
    const nats = await server(t, greeting, async socket => {
      socket.write(after);
      taken ??= await pour(socket, 4 * MOST);
    });
    const { lines } = joined(t, nats);
    await until('it is refused, and told', () => taken !== undefined && lines.some(line => why.test(line)));
    t.ok((taken as number) <= MOST, `it took ${taken} bytes`);
  });

t.test('servers that say no more', async t => {
  for (const greeting of ['INFO {', 'INFO {"tls_required":true}\r\n', INFO]) {
    const nats = await server(t, greeting, () => undefined);
    const { bus, lines } = joined(t, nats);
    await until('it is given up', () => lines.some(line => /the server does not answer/.test(line)));
    bus.close();
  }
  t.pass('each is given up, and the next is tried');
});

t.test('more pings than anybody can answer', async t => {
  const pings = Buffer.alloc(6 << 16, 'PING\r\n');
  let told = () => '';
  const nats = await server(t, INFO, (socket, said) => {
    told = said;
    socket.write('PONG\r\n');
    for (let i = 0; i < 4; i++) socket.write(pings);
    socket.write('INFO {"max_payload":7}\r\n');
  });
  const { bus } = joined(t, nats);
  await until('it has read them all', () => bus.mostBytes === 7 && told().includes('PONG'));
  t.ok((told().match(/PONG/g)?.length ?? 0) < 1000, 'and answers many at once');
});

t.test('bytes, however they are cut', async t => {
  const parsed = (text: string, cut: (left: number) => number) => {
    const operations: Operation[] = [];
    const parser = new Parser(operation => operations.push(operation));
    const bytes = Buffer.from(text, 'latin1');
    try {
      for (let at = 0; at < bytes.length; ) {
        const end = at + Math.max(1, cut(bytes.length - at));
        parser.push(Buffer.from(bytes.subarray(at, end)));
        at = end;
      }
    } catch (error) {
      return { operations, why: (error as Error).message };
    }
    return { operations, why: '' };
  };
  const said = [
    [`${INFO}PING\r\nPONG\r\n+OK\r\n-ERR 'Slow Consumer'\r\nMSG a.b 7 3\r\nx\r\n\r\nmsg c 8 d.e 0\r\n\r\n`, 7, ''],
    [`MSG a 1 ${MOST_MESSAGE}\r\n${'y'.repeat(MOST_MESSAGE)}\r\nPING\r\n`, 2, ''],
    [
      `MSG a 1 ${MOST_MESSAGE + 1}\r\n`,
      0,
      `a message of ${MOST_MESSAGE + 1} bytes was announced; at most ${MOST_MESSAGE} are taken`,
    ],
    ['MSG a 1 3\r\nabcde\r\n', 0, 'a message without an end'],
    [`-ERR ${'z'.repeat(MOST_LINE - 6)}\r\n`, 1, ''],
    [`-ERR ${'z'.repeat(MOST_LINE)}`, 0, `a line of more than ${MOST_LINE} bytes`],
    ['MSG a b c d e\r\n', 0, 'this is not a server of NATS'],
    ['INFO [\r\n', 0, 'INFO is not an object in JSON'],
    ['INFO null\r\n', 0, 'INFO is not an object in JSON'],
  ] as const;
  for (const [text, operations, why] of said) {
    const whole = parsed(text, left => left);
    t.equal(whole.operations.length, operations, text.slice(0, 40));
    t.match(whole.why, why);
    for (const cut of text.length < 1000 ? [() => 1, () => 2, () => 5] : [() => 60_000, (left: number) => left >> 1])
      t.strictSame(parsed(text, cut), whole);
  }
  const [text] = said[0];
  t.match(parsed(text, left => left).operations, [
    { op: 'INFO', info: { maxPayload: 1048576, offersTls: false } },
    { op: 'PING' },
    { op: 'PONG' },
    { op: '+OK' },
    { op: '-ERR', why: 'Slow Consumer' },
    { op: 'MSG', sid: 7, subject: 'a.b', reply: '', data: Buffer.from('x\r\n') },
    { op: 'MSG', sid: 8, subject: 'c', reply: 'd.e', data: Buffer.alloc(0) },
  ]);
});
