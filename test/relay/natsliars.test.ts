// Servers that do what no NATS server does. Who says nothing, or ends, is left, and the next is tried; what sends without
// end gets no more memory than the unit of the mirror allows.
//
// @seconds 8
// @waits
// @rest

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { NatsBus } from '../../src/relay/bus.js';
import { createLog } from '../../src/service/log.js';
import { oneLine } from '../../src/text/text.js';
import { endWith } from '../kit/children.js';
import { HOSTILE, UNSEEN, wellFormed, withoutEnds } from '../kit/hostiletexts.js';
import { folder, type Teardown } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { until } from '../kit/until.js';

t.setTimeout(600_000);
const INFO = 'INFO {"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576}\r\n';
const MIB = Buffer.alloc(1 << 20, 'A');

/** A server that says `greeting`, and then does `act`, as soon as the login has come. */
async function server(t: Teardown, greeting: string, act: (socket: Socket) => void) {
  const listener = createServer(socket => {
    socket.on('error', () => undefined);
    socket.once('data', () => act(socket));
    socket.write(greeting);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.teardown(() => void listener.close());
  const { port } = listener.address() as { port: number };
  return `nats://127.0.0.1:${port}`;
}

function joined(t: Teardown, nats: string) {
  const lines: string[] = [];
  const tell = (...words: string[]) => void lines.push(words.at(-1) as string);
  const log = createLog('mirror', { write: tell, env: {} });
  const bus = new NatsBus('test', { nats: [nats] }, log, why => tell(why));
  t.teardown(() => bus.close());
  bus.subscribe('a', () => undefined);
  return { bus, lines };
}

t.test('servers that say no more, or something else', async t => {
  for (const [greeting, why] of [
    ['INFO {', /: the server does not answer;/],
    [INFO.replace('"proto"', '"tls_required":true,"proto"'), /: the server does not answer;/],
    [INFO, /: the server does not answer;/],
    ['HTTP/1.1 400\r\n', /: unexpected response from server;/],
    [`${INFO}-ERR 'maximum connections exceeded'\r\n`, /: maximum connections exceeded;/i],
  ] as const) {
    const nats = await server(t, greeting, socket => void (greeting.includes('-ERR') && socket.end()));
    const { bus, lines } = joined(t, nats);
    await until(`it is given up: ${greeting}`, () => lines.some(line => why.test(line))).catch(error => {
      throw new Error(`${error.message}: ${lines.at(-1)}`);
    });
    t.notOk(bus.connected, greeting);
    bus.close();
  }
});

t.test('servers that name subjects of any characters', async t => {
  const short = HOSTILE.filter(text => text.length < 100 && !/[\r\n]/.test(text));
  await Promise.all(
    short.map(async text => {
      const said = `-ERR 'Permissions Violation for Subscription to "${wellFormed(text)}"'\r\n`;
      const nats = await server(t, INFO, socket => {
        socket.write('PONG\r\n');
        const again = setInterval(() => socket.write(said), 200);
        socket.on('close', () => clearInterval(again));
      });
      const { bus, lines } = joined(t, nats);
      const line = await until(`it is told: ${text}`, () => lines.find(line => /permissions violation/i.test(line)));
      t.notMatch(withoutEnds(line), UNSEEN);
      t.ok(line.includes(oneLine(wellFormed(text)).toLowerCase()) || line.includes(oneLine(wellFormed(text))), line);
      bus.close();
    }),
  );
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

t.test('a server that sends without end gets no more memory than the unit allows, and is left', async t => {
  let taken = 0;
  let turns = 0;
  const nats = await server(t, INFO, async socket => {
    turns++;
    const closed = once(socket, 'close').catch(() => undefined);
    socket.write('PONG\r\nMSG a 1 3000000000\r\n');
    for (; !socket.destroyed && turns === 1; taken += MIB.length)
      if (!socket.write(MIB)) await Promise.race([new Promise(resolve => socket.once('drain', resolve)), closed]);
    if (turns > 1) socket.destroy();
  });
  const at = folder(t);
  // As LimitDATA= in packaging/systemd/beoboard-mirror.service, which has more.
  const MOST = 700 << 20;
  const argv = [
    'mirror',
    '--board',
    join(at, 'board'),
    '--nats',
    nats,
    '--site',
    'home',
    '--cluster',
    'alpha',
    '--trust',
    `m1=${at}/k.pub`,
  ];
  const keygen = spawn(process.execPath, [PROGRAM, 'keygen', '--relay', join(at, 'k')]);
  t.same(await once(keygen, 'close'), [0, null]);
  const child = spawn('prlimit', [`--data=${MOST}`, process.execPath, PROGRAM, ...argv], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.on('data', data => {
    told += data;
  });
  endWith(t, child);
  // Either it has left the server, and tries again, or it has ended: then its unit starts it again.
  await until('it has had enough', () => turns > 1 || child.exitCode !== null || child.signalCode !== null);
  t.ok(taken > 0 && taken < MOST, `it took ${taken} bytes: ${told}`);
});
