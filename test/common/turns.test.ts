// CPU time by turns, and one account of memory: whose work goes on next, counted in turns and bytes, not in seconds.
// Every path of every server is behind them.

import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { GangliaServer } from '../../src/ganglia-xml/server.js';
import { AnswerMemory, ClientConnection } from '../../src/net/clients.js';
import { type Handler, HttpServer, sentence } from '../../src/net/http.js';
import { Turns } from '../../src/net/turns.js';
import { ScrapedBoard } from '../../src/prometheus/boards.js';
import { Exporter } from '../../src/prometheus/exporter.js';
import { responder as exporterResponder } from '../../src/prometheus/main.js';
import { SupermonServer } from '../../src/supermon/server.js';
import { openApi } from '../../src/web/openapi.js';
import { readPageFiles } from '../../src/web/pagefiles.js';
import { responder } from '../../src/web/routes.js';
import { Wall } from '../../src/web/wall.js';
import { beating, node, writeBoard } from '../kit/ganglia.js';
import { boardPath, ROOT } from '../kit/places.js';
import { until } from '../kit/until.js';

const MIB = 1 << 20;
const LOCAL = { host: '127.0.0.1', port: 0 };

function spend(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

t.test('whose turn it is', async t => {
  const turns = new Turns();
  const order: string[] = [];
  const works: Promise<void>[] = [];
  /** Takes so many turns; `then` is called in the first. */
  const work = (origin: string, name: string, count: number, then?: () => void) => {
    const taker = { origin };
    const all = async () => {
      for (let i = 0; i < count; i++) {
        await turns.wait(taker);
        order.push(name);
        spend(0.1);
        if (i === 0) then?.();
      }
    };
    works.push(all());
  };
  for (let i = 0; i < 250; i++)
    work('many', `many${i}`, 3, () => {
      // The last has its first turn: others come.
      if (i !== 249) return;
      work('other', 'other', 1);
      work('many', 'late', 1);
    });
  await until('all have had theirs', async () => {
    const count = works.length;
    await Promise.all(works);
    return works.length === count;
  });
  t.equal(order.indexOf('other'), 250, 'another origin is next');
  t.ok(order.indexOf('late') <= 251 + 250, 'another connection before others have a third');
  const seconds = order.slice(0, order.indexOf('late')).filter(name => name.startsWith('many')).length;
  t.ok(seconds < 500, `${seconds} turns of others`);
  t.equal(turns.given, 752);

  const waits = (name: string, isGone: boolean) =>
    turns.wait({ origin: 'many', isGone }).then(() => void order.push(name));
  order.length = 0;
  await Promise.all([waits('first', false), waits('second', false), waits('gone', true)]);
  t.equal(order[0], 'gone', 'who is gone keeps nothing until its turn');
});

async function serving(t: Test, respond: Handler): Promise<{ server: HttpServer; port: number }> {
  const server = new HttpServer(respond);
  t.teardown(() => server.close());
  return { server, port: (await server.listen(LOCAL)).port };
}

async function client(t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

t.test('a small request is answered before the second costly one of any other connection', async t => {
  let [begun, done, before] = [0, 0, -1];
  const { port } = await serving(t, async ({ path, slices }) => {
    if (path === '/small') before = done;
    else {
      if (++begun === 1) small.write(get('/small'));
      for (let i = 0; i < 5; i++) {
        spend(1);
        await slices.next();
      }
      done++;
    }
    return sentence(200, path);
  });
  const small = await client(t, port);
  const others = await Promise.all(Array.from({ length: 30 }, () => client(t, port)));
  for (const other of others) other.resume().write(get('/costly') + get('/costly'));
  await once(small, 'data');
  t.ok(before >= 0 && before < 30, `${before} costly ones before it`);
  await until('all are answered', () => done === 60);
});

t.test('what costs much begins in a turn of its own', async t => {
  const after: number[] = [];
  const { server, port } = await serving(t, async ({ path, take }) => {
    const { given } = server.turns;
    await take(path === '/large' ? 4 * MIB : 1);
    after.push(server.turns.given - given);
    return sentence(200, path);
  });
  for (const path of ['/large', '/small']) {
    const socket = await client(t, port);
    socket.write(get(path));
    await once(socket, 'data');
  }
  t.same(after, [1, 1]);
});

t.test('memory', async t => {
  const dropped: string[] = [];
  const memory: AnswerMemory<ClientConnection> = new AnswerMemory(64 * MIB, 3_600_000, ({ from }) => {
    dropped.push(from);
  });
  const of = (from: string) => {
    const socket = { bytesWritten: 0, destroyed: false, once: () => socket, off: () => socket };
    return new ClientConnection(socket as unknown as Socket, from, () => 0);
  };
  const all = Array.from({ length: 6 }, () => of('a'));
  const got: ClientConnection[] = [];
  const take = (one: ClientConnection, bytes: number) => memory.take(one, bytes).then(() => void got.push(one));
  const [late, small] = [of('b'), of('a')];
  for (const one of all) void take(one, 900 * MIB);
  await take(small, MIB);
  t.same([got.length, memory.taken], [5, 64 * MIB], 'four large ones, and what is small at once');
  void take(late, 900 * MIB);
  memory.give(all[0] as ClientConnection);
  await until('the next', () => got.length === 6);
  t.equal(got[5], late, 'whose address has none, though it came last');
  memory.keep(all[1] as ClientConnection, 3 * MIB);
  t.equal(memory.taken, 51 * MIB, 'what was made is smaller than was taken');
  memory.keep(small, 100 * MIB);
  t.equal(dropped.length, 1, 'one goes if too much is kept');
  for (const one of [...all, small, late]) memory.give(one);
  await until('the last', () => got.length === 8);
  for (const one of all) memory.give(one);
  t.equal(memory.taken, 0, 'all is given back');
});

/** Asks for each of these paths; each takes a turn at least, also one that is refused. */
async function allTakeTurns(t: Test, respond: Handler, paths: readonly string[]): Promise<void> {
  const { server, port } = await serving(t, respond);
  for (const path of paths) {
    const { given } = server.turns;
    const socket = await client(t, port);
    socket.write(get(path));
    await once(socket, 'data');
    t.ok(server.turns.given > given, path);
    socket.destroy();
  }
  await until('all is given back', () => server.clients === 0);
  t.equal(server.memory.taken, 0);
}

t.test('every path of the API is behind them', async t => {
  const board = boardPath(t);
  writeBoard(board, [node('n1'), node('n2')], beating());
  const wall = new Wall({ board, build: 'x', journalRun: '/nowhere', slurmDir: '/nowhere' });
  await wall.begin();
  t.teardown(() => wall.close());
  const { paths } = openApi() as { paths: Record<string, unknown> };
  const api = Object.keys(paths).map(path => `/api/v1${path.replace('{name}', 'n1').replace('{id}', '1')}`);
  const more = ['/', '/nothing', '/api/v1/nodes?page=1', '/api/v1/nodes?nodes=x'];
  await allTakeTurns(t, responder(wall, readPageFiles(), ''), [...api, ...more]);
});

const source = (file: string) => readFileSync(join(ROOT, 'src', file), 'utf8');

t.test('every path for Prometheus is behind them', async t => {
  const board = boardPath(t);
  writeBoard(board, [node('n1'), node('n2')], beating());
  const exporter = new Exporter([new ScrapedBoard(undefined, board, undefined)]);
  const paths = [...source('prometheus/main.ts').matchAll(/case '(\/.*)'/g)].map(([, path]) => path as string);
  for (const path of ['/metrics', '/node-metrics', '/sd']) t.ok(paths.includes(path), `${path} is one of them`);
  const more = ['nodes=n1', 'nodes=x', 'nodes=[', 'k=1&of=2', 'collect[]=receiver'].map(query => `/metrics?${query}`);
  await allTakeTurns(t, exporterResponder(exporter, { nodeMetrics: true }), [
    ...paths,
    ...more,
    '/node-metrics?nodes=n1',
    '/sd?of=8',
    '/nothing',
  ]);
});

t.test('and the other servers', async t => {
  const ganglia = new GangliaServer([]);
  const supermon = new SupermonServer(async function* () {
    yield Buffer.from('()\n');
  });
  t.teardown(() => {
    ganglia.close();
    supermon.close();
  });
  const plain = await ganglia.listen(LOCAL, async () => [Buffer.from('x')]);
  const asked = await ganglia.listen(LOCAL, async () => [Buffer.from('x')], 100);
  const { port } = await supermon.listen(LOCAL);
  for (const [server, at, say] of [
    [ganglia, plain.port, ''],
    [ganglia, asked.port, '/\n'],
    [supermon, port, '#'],
    [supermon, port, 'S'],
    [supermon, port, 'bad '],
  ] as const) {
    const { given } = server.turns;
    const socket = await client(t, at);
    socket.end(say);
    await text(socket);
    t.ok(server.turns.given > given, say);
  }
});

t.test('a server that is not tried here is a new one', async t => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(file =>
    /\.ts$/.test(file),
  );
  const having = (what: RegExp) => files.filter(file => what.test(source(file))).sort();
  t.same(having(/extends TcpServer\b/), ['ganglia-xml/server.ts', 'net/http.ts', 'supermon/server.ts']);
  t.same(having(/new HttpServer\(/), ['prometheus/main.ts', 'web/main.ts']);
  // The receiver's own socket is in no network.
  t.same(having(/\bcreateServer\(/), ['net/http.ts', 'net/tcpserver.ts', 'receiver/control.ts']);
});
