// The server of Ganglia's documents, over real sockets: whole documents or none, a clean end, and clients that stop
// reading or send too much. Who goes when they are too many: common/crowd.
//
// @seconds 13
// @whole
// @days 3

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { clock } from '../../src/ganglia-xml/main.js';
import { GangliaServer, lineOf, type Serve } from '../../src/ganglia-xml/server.js';
import { beating, clustersOf, node, type TestBoard, writeBoard } from '../kit/ganglia.js';
import { lacks } from '../kit/lacking.js';
import { boardPath } from '../kit/places.js';
import { type Running, start } from '../kit/program.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { NOT_WHOLE, partOf, SEED } from '../kit/whole.js';

const run = verbRun(t);

const MIB = 1 << 20;

interface Talk {
  bytes: Buffer;
  /** How it ended: FIN, or an error such as ECONNRESET. */
  end: string;
}

/** Connects, sends `say` if there is any, and reads to the end. */
async function talk(port: number, say = '', localAddress = '127.0.0.1'): Promise<Talk> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  const chunks: Buffer[] = [];
  socket.on('data', chunk => chunks.push(chunk));
  if (say !== '') socket.write(say, 'latin1');
  const end = await Promise.race([
    once(socket, 'end').then(() => 'FIN'),
    once(socket, 'error').then(([error]) => (error as NodeJS.ErrnoException).code ?? 'error'),
  ]);
  socket.on('error', () => undefined);
  socket.destroy();
  return { bytes: Buffer.concat(chunks), end };
}

async function textFrom(port: number, say = ''): Promise<string> {
  return (await talk(port, say)).bytes.toString('latin1');
}

const NO_PYTHON = lacks('python3', 'python3');

/**
 * A client that starts to read only when it is told to; returns how its connection ends: FIN, or the error. In Python,
 * because libuv reports a reset after data as a normal end.
 */
function patient(t: Test, port: number): () => Promise<string> {
  const script = `
import socket, sys
s = socket.create_connection(('127.0.0.1', ${port}))
sys.stdin.readline()
try:
    while s.recv(1 << 20): pass
    print('FIN')
except OSError as e:
    print(type(e).__name__)
`;
  const child = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  return async () => {
    child.stdin.end('read\n');
    const [line] = await once(child.stdout, 'data');
    return String(line).trim();
  };
}

/** A client that never reads. */
async function stuck(t: Test, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Starts a server without a board; returns its ports. */
async function serving(t: Test, serve: Serve, patience?: number): Promise<{ ports: GangliaServer; port: number }> {
  const ports = new GangliaServer([], patience);
  t.teardown(() => ports.close());
  const { port } = await ports.listen({ host: '127.0.0.1', port: 0 }, serve);
  return { ports, port };
}

/** More than any socket's buffers can hold, made piece by piece. */
function* much(bytes = 64 * MIB): Generator<Uint8Array> {
  for (let sent = 0; sent < bytes; sent += MIB) yield Buffer.alloc(MIB, 'x');
}

/** `beoboard ganglia` with one port of each kind. */
async function startGanglia(t: Test, board: string, more: string[] = []): Promise<Running & { ports: number[] }> {
  const any = '127.0.0.1:0';
  const argv = ['ganglia', '--board', board, '--listen', any, '--gzip-listen', any, '--gmetad-listen', any];
  const running = start(t, [...argv, '--grid', 'campus', ...more]);
  const { listening = [] } = await running.ready;
  return { ...running, ports: listening.map(address => Number(address.split(':').at(-1))) };
}

function boardWith(t: Test, options: TestBoard = beating()): string {
  const path = boardPath(t);
  writeBoard(path, [node('n1'), node('n2'), { name: 'n3' }], options);
  return path;
}

t.test('a board that does not exist is logged, and waited for', async t => {
  const path = boardPath(t);
  const { ports, output } = await startGanglia(t, `x=${path}`);
  const told = `nothing to serve yet: ${path}: there is no board; start beoboard receive, or give its --board\n`;
  await until('it has told', () => output().stderr.includes(told));
  writeBoard(path, [node('n1')], beating());
  t.match((await talk(ports[0] ?? 0)).bytes.toString(), /<HOST NAME="n1"/);
});

t.test('every port gives its document, whole', async t => {
  const { ports, child, exit, output } = await startGanglia(t, boardWith(t));
  const [gmond = 0, gzip = 0, tree = 0, query = 0] = ports;
  t.equal(new Set(ports).size, 4);
  const plain = await talk(gmond);
  t.equal(plain.end, 'FIN');
  const text = plain.bytes.toString('latin1');
  t.same(Object.keys(clustersOf(text).test?.hosts ?? {}), ['n1', 'n2', 'n3']);
  t.match(text, /<GANGLIA_XML VERSION="3.7.2" SOURCE="gmond">[\s\S]*<\/GANGLIA_XML>\n$/);
  const packed = await talk(gzip);
  t.equal(packed.end, 'FIN');
  t.same(Object.keys(clustersOf(gunzipSync(packed.bytes).toString('latin1')).test?.hosts ?? {}), ['n1', 'n2', 'n3']);
  t.match(await textFrom(tree), /SOURCE="gmetad">\n<GRID NAME="campus"[\s\S]*<HOST NAME="n2"[\s\S]*<\/GANGLIA_XML>\n$/);
  t.same(Object.keys(clustersOf(await textFrom(query, '/test/n2\n')).test?.hosts ?? {}), [], 'nobody is in its index');
  t.match(await textFrom(query, '/?filter=summary\n'), /<HOSTS UP="2" DOWN="1" SOURCE="gmetad"\/>/);
  t.match(await textFrom(query, '/test?filter=summary\r\n'), /<CLUSTER NAME="test"/);
  const http = await textFrom(query, 'GET /test HTTP/1.0\r\nHost: x\r\n\r\n');
  t.match(http, /^HTTP\/1\.0 200 OK\r\n(\S+: .*\r\n)*\r\n<\?xml/);
  t.equal(
    (await talk(query, 'GET /test HTTP/1.1\r\nHost: x\r\n\r\n')).end,
    'FIN',
    'what was not read ends nothing in a reset',
  );
  const status = JSON.parse(await textFrom(query, '/status\n'));
  t.match(status, { schema: 1, served: 8, stuck: 0, bad: 0 });
  for (const bad of ['nonsense\n', '/a$b\n', `/${'x'.repeat(3000)}\n`, 'x'.repeat(100_000)])
    t.match(await talk(query, bad), { bytes: Buffer.alloc(0) }, `${bad.slice(0, 10)}: nothing`);
  t.match(JSON.parse(await textFrom(query, '/status\n')), { bad: 4 });
  t.equal(
    (await talk(gmond, 'GET / HTTP/1.0\r\n\r\n'.repeat(100))).end,
    'FIN',
    'nor does a client that talks to gmond',
  );
  await stuck(t, query);
  child.kill('SIGTERM');
  t.equal(await exit, 0, 'who has not asked yet keeps nobody');
  t.match(output().stderr, /ganglia: ready: serving on 127[^\n]+\n.*clean shutdown/s);
});

t.test('many ask at once', async t => {
  const { ports } = await startGanglia(t, boardWith(t));
  const [gmond = 0, gzip = 0, , query = 0] = ports;
  const talks = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      i % 3 === 0 ? talk(gmond) : i % 3 === 1 ? talk(gzip) : talk(query, '/test\n'),
    ),
  );
  t.ok(talks.every(({ end }) => end === 'FIN'));
  t.equal(new Set(talks.map(({ bytes }) => bytes.length > 3000)).size, 1, 'each had its answer');
});

t.test('a board that appears, disappears, and has stalled', async t => {
  const path = boardPath(t);
  const { ports, output } = await startGanglia(t, path);
  const [gmond = 0, gzip = 0, tree = 0, query = 0] = ports;
  const nothing = { bytes: Buffer.alloc(0), end: 'FIN' };
  const all = () =>
    Promise.all([talk(gmond), talk(gzip), talk(tree), talk(query, '/\n'), talk(query, '/?filter=summary\n')]);
  t.same(await all(), Array(5).fill(nothing), 'no board: no document, not half of one');
  t.match(output().stderr, /ganglia: nothing to serve: \/\S+: /, 'and a line in the log');
  writeBoard(path, [node('n1')], beating());
  for (const { bytes } of await all()) t.ok(bytes.length > 1000, 'it is there');
  // A heartbeat from the boot of this machine. Within a minute of that, a restart of the receiver may be the reason,
  // and the board is still served.
  const up = () => process.hrtime.bigint() < 60_000_000_000n;
  const young = up();
  writeBoard(path, [node('n1')], { ...beating(), header: { heartbeat_ns: 1n } });
  const { bytes } = await talk(gmond);
  if (young === up())
    t.equal(bytes.length > 0, young, 'stalled for more than a minute: nothing, rather than what is no longer true');
  writeBoard(path, [node('n1')], { ...beating(), header: { heartbeat_ns: 2n ** 62n } });
  t.same(await talk(gmond), nothing, 'of another clock: likewise');
  const now = process.hrtime.bigint();
  writeBoard(path, [node('n1', 21)], {
    now,
    header: { heartbeat_ns: now - 20n * 1_000_000_000n, listening_since_ns: now - 25n * 1_000_000_000n },
  });
  const stalled = await textFrom(gmond);
  t.match(stalled, /<!-- The monitor has failed[^>]*-->\n<CLUSTER/, 'for as long as a restart takes: as it last was');
  t.match(stalled, /<HOST NAME="n1" [^>]*TN="1"/);
});

t.test('several boards are several clusters', async t => {
  const [alpha, beta] = [boardWith(t), boardWith(t)];
  const { ports } = await startGanglia(t, `alpha=${alpha}`, ['--board', `beta=${beta}`, '--board', '/nowhere/board']);
  const clusters = clustersOf(await textFrom(ports[0] ?? 0));
  t.same(Object.keys(clusters), ['alpha', 'beta'], 'the one that is not there takes none with it');
  t.same(Object.keys(clusters.beta?.hosts ?? {}), ['n1', 'n2', 'n3']);
  const sums = await textFrom(ports[3] ?? 0, '/?filter=summary\n');
  t.match(sums, /<GRID [^>]*>\n<HOSTS UP="4" DOWN="2"/);
});

t.test('two boards of one name', async t => {
  const [a, b, c] = [0, 1, 2].map(i => boardWith(t, { ...beating(), header: { cluster_name: i === 2 ? '' : 'x' } }));
  const refused = (argv: string[], name: string) =>
    run(['ganglia', ...argv.flatMap(board => ['--board', board]), '--listen', '127.0.0.1:0']).then(result =>
      t.match(result, {
        code: 2,
        stdout: '',
        stderr: `beoboard ganglia: --board: two clusters are called ${name}, and gmetad would count one of them; give one another name, --board NAME=PATH\n`,
      }),
    );
  await refused([`${a}`, `${b}`], 'x');
  await refused([`y=${a}`, `${c}`, `y=${b}`], 'y');
  await refused([`${a}`, `x=${c}`], 'x');
  const none = boardWith(t, { ...beating(), header: { cluster_name: '' } });
  await refused([`${c}`, none], 'unspecified');

  // One that becomes another while it is served.
  const { ports, output } = await startGanglia(t, `${a}`, ['--board', `y=${b}`, '--board', `${c}`]);
  const names = async () => [...(await textFrom(ports[0] ?? 0)).matchAll(/<CLUSTER NAME="([^"]*)"/g)].map(([, n]) => n);
  t.same(await names(), ['x', 'y', 'unspecified']);
  writeBoard(`${c}`, [node('n9')], { ...beating(), header: { cluster_name: 'x' } });
  t.same(await names(), ['x', 'y'], 'the first is served');
  const sums = await textFrom(ports[3] ?? 0, '/?filter=summary\n');
  t.match(sums, /<GRID [^>]*>\n<HOSTS UP="4" DOWN="2"/, 'and counts');
  t.same(
    (await textFrom(ports[3] ?? 0, '/x\n')).match(/<HOST NAME="n\d"/g),
    ['1', '2', '3'].map(i => `<HOST NAME="n${i}"`),
  );
  t.notMatch(await textFrom(ports[3] ?? 0, '/x/n9\n'), /<HOST /);
  t.match(JSON.parse(await textFrom(ports[3] ?? 0, '/status\n')), { doubled: 4 });
  t.match(
    output().stderr,
    `beoboard ganglia: ${c}: not served: another board is called x, too; give one another name, --board NAME=PATH\n`,
  );
});

t.test('a name that Ganglia has for a cluster', { skip: NOT_WHOLE }, async t => {
  const [a, b] = ['x', ''].map(cluster_name => boardWith(t, { ...beating(), header: { cluster_name } }));
  const given = ['--cluster-name', 'x=My HPC (new)', '--cluster-name', 'unspecified=Größe'];
  const { ports } = await startGanglia(t, `${a}`, ['--board', `${b}`, ...given]);
  const text = Buffer.from(await textFrom(ports[0] ?? 0), 'latin1').toString();
  t.same(
    [...text.matchAll(/<CLUSTER NAME="([^"]*)"/g)].map(([, name]) => name),
    ['My HPC (new)', 'Größe'],
  );
  const any = ['--listen', '127.0.0.1:0'];
  const refused = async (argv: string[], why: string) =>
    t.match(await run(['ganglia', ...argv, ...any]), { code: 2, stderr: `beoboard ganglia: ${why}` });
  await refused(
    ['--board', `${a}`, '--board', `y=${b}`, '--cluster-name', 'x=Größe', '--cluster-name', 'y=Größe'],
    '--board: two clusters are called Größe, and',
  );
  await refused(
    ['--board', `${a}`, '--cluster-name', 'y=z'],
    '--cluster-name: no board is of cluster y, but of x; write that, or --board y=PATH\n',
  );
  for (const name of [
    'x',
    'x=',
    'x=.',
    'x=..',
    'x=a/b',
    'x=a&b',
    'x=a"',
    'x=<a',
    'x=a\n',
    `x=${'ö'.repeat(61)}`,
    'a b=c',
  ])
    await refused(['--board', `${a}`, '--cluster-name', name], '--cluster-name: ');
});

t.test('a client that stops reading delays nobody, and is disconnected', { skip: NO_PYTHON }, async t => {
  let made = 0;
  const { ports, port } = await serving(
    t,
    async () => {
      made++;
      return made === 1 ? much() : [Buffer.from('quick')];
    },
    300,
  );
  const read = patient(t, port);
  await until('it is being served', () => made === 1);
  t.equal(await textFrom(port), 'quick', 'another is served meanwhile');
  await until('it is cut off', () => ports.counts.stuck === 1);
  t.equal(await read(), 'ConnectionResetError', 'with a reset: half of a document must not pass for a whole one');
  t.equal(ports.clients, 0);
  t.match(ports.counts, { served: 1, stuck: 1, left: 0 });
});

t.test('a page that is filled again and again', async t => {
  const page = Buffer.alloc(MIB);
  const pages = function* () {
    for (let i = 0; i < 16; i++) yield page.fill(i);
  };
  const { ports, port } = await serving(t, async () => pages());
  const whole = Buffer.concat(Array.from({ length: 16 }, (_, i) => Buffer.alloc(MIB, i)));
  t.ok((await talk(port)).bytes.equals(whole), 'one that reads all at once');
  const socket = await stuck(t, port);
  await until('the kernel takes no more', () => ports.clients === 1 && page[0] !== 0);
  const chunks: Buffer[] = [];
  socket.on('data', chunk => chunks.push(chunk));
  await once(socket, 'end');
  t.ok(Buffer.concat(chunks).equals(whole), 'one that begins to read later');
});

t.test('one that takes everything at once leaves others their turn', async t => {
  let asked = 0;
  let others = 0;
  const endless = function* () {
    while (others === 0) yield Buffer.alloc(100, 'x');
  };
  const { ports, port } = await serving(t, async () => {
    if (++asked === 1) return endless();
    others++;
    return [Buffer.from('quick')];
  });
  const first = talk(port);
  await until('it is being served', () => asked === 1);
  t.equal(await textFrom(port), 'quick');
  t.equal((await first).end, 'FIN');
  t.match(ports.counts, { served: 2, left: 0 });
});

t.test('a client that is cut off between two pages gets no more of them', async t => {
  let pages = 0;
  const cutting = function* () {
    yield Buffer.alloc(100, 'x');
    ports.close();
    for (; pages < 1000; pages++) yield Buffer.alloc(100, 'x');
  };
  const { ports, port } = await serving(t, async () => cutting());
  await talk(port).catch(() => undefined);
  t.equal(pages, 0, 'the first page that cannot be sent is the last');
  t.match(ports.counts, { served: 0 });
});

t.test('a client whose whole answer was sent gets all of it', { skip: NO_PYTHON }, async t => {
  // So much fits into the kernel's buffers for a client that does not read yet.
  const whole = Buffer.alloc(MIB, 'x');
  for (const end of ['crowd', 'close'] as const) {
    let asked = 0;
    const { ports, port } = await serving(t, async () => (++asked === 1 ? [whole] : much()), 3_600_000);
    const read = patient(t, port);
    await until('it was served', () => ports.counts.served === 1);
    if (end === 'close') ports.close();
    else for (let i = 0; i < 64; i++) await stuck(t, port);
    await until('others are there', () => end === 'close' || asked === 65);
    t.equal(await read(), 'FIN', `${end}: no reset`);
    t.match(ports.counts, { served: 1, stuck: 0 }, 'nor is it called stuck');
    ports.close();
  }
});

t.test(
  'whatever signal ends the server, who reads gets the whole document, and nobody a half',
  { skip: NO_PYTHON },
  async t => {
    const path = boardPath(t);
    writeBoard(
      path,
      Array.from({ length: 30 }, (_, i) => node(`n${i}`)),
      beating(),
    );
    // More than fits into the kernel's buffers for a client that does not read: some 20 MB.
    const clusters = Array.from({ length: 40 }, (_, i) => ['--board', `c${i}=${path}`]).flat();
    for (const signal of partOf(['SIGTERM', 'SIGINT', 'SIGHUP'] as const, 3, SEED)) {
      const { ports, child, exit, output } = await startGanglia(t, `first=${path}`, clusters);
      const [read, late] = [patient(t, ports[0] ?? 0), patient(t, ports[0] ?? 0)];
      const clients = async () => JSON.parse(await textFrom(ports[3] ?? 0, '/status\n')).clients;
      while ((await clients()) < 3);
      child.kill(signal);
      t.equal(await late(), 'FIN', `${signal}: who reads gets all of it`);
      t.equal(await exit, 0, signal);
      t.match(output().stderr, /clean shutdown/);
      t.equal(await read(), 'ConnectionResetError', `${signal}: a reset, not an end`);
    }
  },
);

t.test('a client that asks nothing is cut off', async t => {
  const ports = new GangliaServer([], 300);
  t.teardown(() => ports.close());
  const queries: (string | undefined)[] = [];
  const serve: Serve = async query => void queries.push(query);
  const { port } = await ports.listen({ host: '127.0.0.1', port: 0 }, serve, 100);
  const socket = await stuck(t, port);
  socket.write('/half of one');
  await new Promise(resolve => socket.resume().once('close', resolve));
  await until('it is gone', () => ports.clients === 0);
  t.strictSame(queries, [], 'nothing is made for it');
  t.match(ports.counts, { served: 0, stuck: 0, left: 0 });
});

t.test('a query that comes byte by byte', async t => {
  const socket = new PassThrough();
  const line = lineOf({ socket: socket as unknown as Socket }, 100);
  const before = socket.listenerCount('end');
  for (const byte of '/test/n1/load_one') {
    socket.write(byte);
    await turn();
  }
  t.equal(socket.listenerCount('end'), before, 'it is waited for once, not once for each byte');
  socket.write('\r\nHost: x\r\n');
  t.equal(await line, '/test/n1/load_one');
});

t.test('a client that leaves, and one whose document fails half-way', { skip: NO_PYTHON }, async t => {
  let broken = false;
  const { ports, port } = await serving(t, async () =>
    broken
      ? (function* () {
          yield Buffer.from('half');
          throw new Error('the board was cut');
        })()
      : much(),
  );
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'data');
  socket.resetAndDestroy();
  await until('that is seen', () => ports.counts.left === 1);
  broken = true;
  const read = patient(t, port);
  await until('it was begun', () => ports.counts.left === 2);
  t.equal(await read(), 'ConnectionResetError', 'a reset, not an end');
  t.match(ports.counts, { served: 0, left: 2 });
});

t.test('the clock in whole seconds never goes back, and is never ahead', async t => {
  let ms = 1_700_000_000_900;
  const now = clock(() => ms);
  t.equal(now(), 1_700_000_000);
  for (let i = 0; i < 100; i++) t.equal(now(), 1_700_000_000);
  ms += 100;
  t.equal(now(), 1_700_000_001);
  ms -= 3_600_000;
  t.equal(now(), 1_700_000_001, 'a clock that was set back');
  ms += 3_600_000 + 999;
  t.equal(now(), 1_700_000_001);
  ms += 1;
  t.equal(now(), 1_700_000_002);
});

t.test('addresses and options that are impossible', async t => {
  const { ports } = await startGanglia(t, '/nowhere/board');
  const taken = `127.0.0.1:${ports[0]}`;
  const board = ['--board', '/nowhere/board'];
  t.match(await run(['ganglia', ...board, '--listen', taken]), {
    code: 1,
    stdout: '',
    stderr: /^beoboard ganglia: cannot listen on 127\.0\.0\.1:\d+: another program listens there already; [^\n]+\n$/,
  });
  for (const argv of [
    ['--gzip-listen', '127.0.0.1'],
    ['--trusted-hosts', '10.0.0.0/33'],
    ['--trusted-hosts', 'gmetad.example'],
    ['--metrics', 'some'],
    ['--board', 'a b=/x'],
    ['--board', 'a=/x', '--board', 'a=/y'],
    ['--grid', 'a/b'],
    ['--listen', '127.0.0.1:x'],
    ['--nodes', 'a'],
  ])
    t.match(
      await run(['ganglia', ...argv]),
      { code: 2, stdout: '', stderr: /^beoboard ganglia: [^\n]+\n$/ },
      argv.join(' '),
    );
});
