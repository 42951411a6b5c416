// Servers that do what no NATS server does: they announce gigabytes, never end a line, ask without reading, or speak
// before TLS begins. None gets more memory than the limits; and what the library's parser hears behind our meter never
// depends on how bytes are cut.
//
// @seconds 5
// @waits
// @rest

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import t from 'tap';
import { NatsBus } from '../../src/relay/bus.js';
import { MOST_LINE, MOST_MESSAGE } from '../../src/relay/natsmeter.js';
import type { Log } from '../../src/service/log.js';
import { heardOf } from '../kit/natsservers.js';
import type { Teardown } from '../kit/places.js';
import { until } from '../kit/until.js';

t.setTimeout(120_000);
const INFO = 'INFO {"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576}\r\n';
const NO_NATS = 'this is not a server of NATS';
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
  const bus = new NatsBus('test', { nats: [nats] }, log, why => tell(why));
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
  ['a server that is full', `${INFO}-ERR 'maximum connections exceeded'\r\n`, '', /: maximum connections exceeded;/],
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

t.test('servers that say more than a greeting, and then what they should', async t => {
  for (const more of ['MSG a 1 1\r\nx\r\n', 'PING\r\n', 'MSG a']) {
    const nats = await server(t, `${INFO}${more}`, (socket, said) => {
      if (said().includes('CONNECT')) socket.write('PONG\r\n');
    });
    const { bus, lines } = joined(t, nats);
    await until('it is refused', () => bus.connected || lines.some(line => line.includes(NO_NATS)));
    t.notOk(bus.connected, more);
    bus.close();
  }
});

t.test('a server that takes nothing', async t => {
  const nats = await server(t, INFO, socket => socket.pause().write('PONG\r\n'));
  const { bus, lines } = joined(t, nats);
  await until('it is connected', () => bus.connected);
  const batch = new Uint8Array(400_000);
  for (let sent = 0; sent < 2 * MOST; sent += batch.length) bus.publish('a', batch);
  await until('it is left', () => lines.some(line => /the server takes nothing/.test(line)));
});

t.test('servers that say no more', async t => {
  for (const greeting of ['INFO {', INFO.replace('"proto"', '"tls_required":true,"proto"'), INFO]) {
    const nats = await server(t, greeting, () => undefined);
    const { bus, lines } = joined(t, nats);
    await until('it is given up', () => lines.some(line => /the server does not answer/.test(line)));
    bus.close();
  }
  t.pass('each is given up, and the next is tried');
});

t.test('a server that is silent, and one that ends', async t => {
  const ends: Promise<unknown>[] = [];
  const silent = createServer(socket => ends.push(once(socket.resume(), 'close').catch(() => undefined)));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => void silent.close());
  const { lines } = joined(t, `nats://127.0.0.1:${(silent.address() as { port: number }).port}`);
  await until('it is told', () => lines.some(line => /: the server does not answer;/.test(line)));
  await ends[0];
  t.pass('and the connection is given up');
  const ending = joined(t, await server(t, INFO, socket => void socket.end()));
  await until('that is told', () => ending.lines.some(line => /: the server closed the connection;/.test(line)));
  const none = joined(t, 'nats://localhost:1');
  await until('that, too', () => none.lines.some(line => /: connection refused;/.test(line)));
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
  const said = [
    [
      `${INFO}PING\r\nPONG\r\n+OK\r\n-ERR 'Slow Consumer'\r\nMSG a.b 7 3\r\nx\r\n\r\nmsg c 8 d.e 0\r\n\r\nHMSG c 8 à.x 2 3\r\nhix\r\n`,
      8,
      '',
    ],
    [`MSG a 1 ${MOST_MESSAGE}\r\n${'y'.repeat(MOST_MESSAGE)}\r\nPING\r\n`, 2, ''],
    [
      `MSG a 1 ${MOST_MESSAGE + 1}\r\n`,
      0,
      `a message of ${MOST_MESSAGE + 1} bytes was announced; at most ${MOST_MESSAGE} are taken`,
    ],
    ['MSG a 1 3\r\nabcde\r\n', 0, 'a message without an end'],
    [`-ERR ${'z'.repeat(MOST_LINE - 6)}\r\n`, 1, ''],
    [`-ERR ${'z'.repeat(MOST_LINE)}`, 0, `a line of more than ${MOST_LINE} bytes`],
    ['MSG a b c d e\r\n', 0, NO_NATS],
    ['INFO [\r\n', 0, 'INFO is not an object in JSON'],
    ['INFO null\r\n', 0, 'INFO is not an object in JSON'],
    // The library would hear another beginning or end, or none.
    ['-ERR \nMSG a 1 3000000000\r\n', 0, NO_NATS],
    ['MSG a\rb 1 3\r\n', 0, NO_NATS],
    ['MSG a 1 3\r4\r\n', 0, NO_NATS],
    ['MSG a 1 1\r\nx\nMSG a 1 3000000000\r\n', 0, 'a message without an end'],
    [`HMSG a 1 0 ${MOST_MESSAGE + 1}\r\n`, 0, 'was announced'],
    ['HMSG a 1 4 3\r\n', 0, NO_NATS],
    ['\r\n', 0, NO_NATS],
  ] as const;
  for (const [text, events, why] of said) {
    const whole = heardOf(Buffer.from(text), left => left);
    t.equal(whole.events.length, events, text.slice(0, 40));
    t.match(whole.why, why);
    for (const cut of text.length < 1000 ? [() => 1, () => 2, () => 5] : [() => 60_000, (left: number) => left >> 1])
      t.strictSame(heardOf(Buffer.from(text), cut), whole);
  }
  const [text] = said[0];
  t.strictSame(heardOf(Buffer.from(text), left => left).events, [
    `INFO ${INFO.slice(5, -2)}`,
    'PING ',
    'PONG ',
    'OK ',
    "ERR 'Slow Consumer'",
    'MSG a.b 7 -1  x\r\n',
    'MSG c 8 -1 d.e ',
    'MSG c 8 2 à.x hix',
  ]);
});
