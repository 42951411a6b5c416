// `beoboard prometheus` over HTTP, as programs, browsers and attackers use it, and `beoboard metrics`, which prints the
// same. Traffic only on this machine; needs no Prometheus.
//
// @seconds 19
// @rest

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { Writer } from '../../src/native/index.js';
import { type Handler, type HttpResponse, HttpServer, sentence } from '../../src/net/http.js';
import { ScrapedBoard } from '../../src/prometheus/boards.js';
import { Exporter } from '../../src/prometheus/exporter.js';
import { COLLECTORS } from '../../src/prometheus/families.js';
import type { Format } from '../../src/prometheus/plan.js';
import { formatOf, parseScrape, parseShards } from '../../src/prometheus/request.js';
import { openWriter } from '../../src/shm/writer.js';
import { InputError } from '../../src/text/text.js';
import { anyText } from '../kit/anytext.js';
import { ended, follow } from '../kit/children.js';
import { now } from '../kit/clocks.js';
import { ALL, beating, node, type TestBoard, writeBoard } from '../kit/ganglia.js';
import { keepAlive } from '../kit/heart.js';
import { boardPath } from '../kit/places.js';
import { PROGRAM, type Running, run, start } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { deliver } from '../kit/testwriter.js';
import { until } from '../kit/until.js';
import { type Exposition, keyOf, parse, seriesOf } from './expositionparser.js';

const MIB = 1 << 20;
const S = 1_000_000_000n;
const OPENMETRICS = 'application/openmetrics-text;version=1.0.0';
/** What Prometheus 2 sends. */
const PROMETHEUS = `${OPENMETRICS},application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`;

// ---- clients ---------------------------------------------------------------------------------------------------------

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

interface Ask {
  method?: string;
  headers?: Record<string, string>;
}

/** A request over its own connection. */
async function ask(port: number, path: string, { method = 'GET', headers = {} }: Ask = {}): Promise<Reply> {
  const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

async function scrape(port: number, path = '/metrics', format: Format = 'text'): Promise<Exposition> {
  const { status, body } = await ask(port, path, { headers: format === 'openmetrics' ? { Accept: OPENMETRICS } : {} });
  if (status !== 200) throw new Error(`${status}: ${body}`);
  return parse(body, format);
}

/** Sends these bytes and returns everything received until the connection ends, and how it ended. */
async function talk(port: number, say: string): Promise<{ text: string; end: string }> {
  const socket = connect({ port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  socket.on('data', chunk => chunks.push(chunk));
  if (say !== '') socket.write(say);
  const end = await Promise.race([
    once(socket, 'end').then(() => 'FIN'),
    once(socket, 'error').then(([error]) => (error as NodeJS.ErrnoException).code ?? 'error'),
  ]);
  socket.on('error', () => undefined);
  socket.destroy();
  return { text: Buffer.concat(chunks).toString('latin1'), end };
}

/** A client that sends a request and never reads the answer. */
async function stuck(t: Test, port: number, say = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(say);
  return socket;
}

/**
 * A client that sends a request, waits for the first byte, and reads the answer only when the returned function is
 * called; that returns how the connection ended: FIN or the error. In Python, because libuv reports a reset after
 * data as an end.
 */
async function patient(t: Test, port: number, say: string): Promise<() => Promise<string>> {
  const script = `
import socket, sys
s = socket.create_connection(('127.0.0.1', ${port}))
s.sendall(sys.argv[1].encode())
try:
    s.recv(1, socket.MSG_PEEK)
    print('answered', flush=True)
    sys.stdin.readline()
    while s.recv(1 << 20): pass
    print('FIN')
except OSError as e:
    print(type(e).__name__)
`;
  const child = spawn('python3', ['-c', script, say], { stdio: ['pipe', 'pipe', 'inherit'] });
  const said = follow(child, t);
  // The child may have ended already, and then this write fails.
  child.stdin.on('error', () => undefined);
  await until('it is being answered', () => said.stdout !== '');
  return async () => {
    child.stdin.end('read\n');
    await said.exit;
    return said.stdout.trim().split('\n').at(-1) ?? '';
  };
}

// ---- servers ---------------------------------------------------------------------------------------------------------

/** A server in this process with the answers of the test. */
async function serving(t: Test, respond: Handler, patience?: number): Promise<{ server: HttpServer; port: number }> {
  const server = new HttpServer(respond, { most: 64, ...(patience !== undefined && { patience }) });
  t.teardown(() => server.close());
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  return { server, port };
}

/** More bytes than any socket's buffers hold, made as they are sent. */
function* much(bytes = 64 * MIB, made: { pieces: number } = { pieces: 0 }): Generator<Uint8Array> {
  for (let sent = 0; sent < bytes; sent += 1 << 16, made.pieces++) yield Buffer.alloc(1 << 16, `${made.pieces}`);
}
const answer = (body: HttpResponse['body']): HttpResponse => ({ status: 200, type: 'text/plain', body });

async function startExporter(t: Test, board: string, more: string[] = []): Promise<Running & { port: number }> {
  const running = start(t, ['prometheus', '--board', board, '--listen', '127.0.0.1:0', ...more]);
  const { listening = [] } = await running.ready;
  return { ...running, port: Number(listening[0]?.split(':').at(-1)) };
}

function boardWith(t: Test, options: TestBoard = beating(), nodes = [node('n1'), node('n2'), { name: 'n3' }]): string {
  const path = boardPath(t);
  writeBoard(path, nodes, options);
  return path;
}

/** A board like a receiver's, with these nodes and a heartbeat for as long as the test runs. */
function liveBoard(
  t: Test,
  nodes: readonly string[],
  capacity = nodes.length,
): { path: string; writer: Writer; lay: (hostname: string, load: number) => void; beat: () => void } {
  const path = boardPath(t);
  // The limits are so long that all nodes stay live during the test, even on a very busy machine.
  const [uncertainAfter, silentAfter] = [3_600_000, 7_200_000];
  const writer = openWriter({ path, cluster: 'test', capacity, uncertainAfter, silentAfter, nodes: [] });
  let seq = 0;
  const lay = (hostname: string, load: number) => {
    const { mono, real } = now();
    const t_boot_ns = 100n * S + BigInt(++seq) * 1_000_000n;
    const report = makeReport({ hostname, seq, t_boot_ns, valid: ALL, load1_c: load }, 'test');
    if (deliver(writer, report, mono, real) !== 'accepted') throw new Error('not accepted');
  };
  for (const [i, name] of nodes.entries()) lay(name, i);
  const beat = () => writer.heartbeat(now().mono);
  beat();
  keepAlive(t, path);
  t.teardown(() => writer.close());
  return { path, writer, lay, beat };
}

/** A board whose last heartbeat is 20 s old. */
function stalledBoard(t: Test): string {
  const now = process.hrtime.bigint();
  return boardWith(t, { now, header: { heartbeat_ns: now - 20n * S, listening_since_ns: now - 25n * S } });
}

/** The series that do not change between two readings of an unchanged board. */
const still = (document: Exposition) =>
  [...seriesOf(document)].filter(([key]) => !/_age_seconds|_listened_seconds|_exporter_/.test(key));

// ---- the documents ---------------------------------------------------------------------------------------------------

t.test('both formats, as they are accepted', async t => {
  // It must not stall between two answers that are compared.
  const { port } = await startExporter(t, liveBoard(t, ['node1', 'node2']).path);
  const cases: [accept: string | undefined, Format][] = [
    [undefined, 'text'],
    ['', 'text'],
    ['*/*', 'text'],
    ['text/html', 'text'],
    [PROMETHEUS, 'openmetrics'],
    // What Prometheus 3 sends.
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      'openmetrics',
    ],
    ['application/openmetrics-text', 'openmetrics'],
    ['Application/OpenMetrics-Text ; Version=1.0.0', 'openmetrics'],
    ['application/openmetrics-text;version=0.0.1', 'text'],
    ['application/openmetrics-text;version=2.0.0', 'text'],
    ['application/openmetrics-text;q=0', 'text'],
    ['application/openmetrics-text;q=0.0,text/plain', 'text'],
    ['application/openmetrics-text;q=0.3,text/plain;q=0.5', 'text'],
    ['text/plain;q=0.5,application/openmetrics-text;q=0.6', 'openmetrics'],
    ['application/openmetrics-text;q=many', 'text'],
    [`${OPENMETRICS};q=0.1,${OPENMETRICS};q=0.9,text/plain;q=0.5`, 'openmetrics'],
  ];
  for (const [accept, format] of cases) {
    const { status, headers, body } = await ask(port, '/metrics', {
      headers: accept === undefined ? {} : { Accept: accept },
    });
    t.equal(status, 200);
    t.equal(
      headers['content-type'],
      format === 'text'
        ? 'text/plain; version=0.0.4; charset=utf-8'
        : 'application/openmetrics-text; version=1.0.0; charset=utf-8',
      `${accept}`,
    );
    t.doesNotThrow(() => parse(body, format), `${accept}`);
  }
  t.strictSame(still(await scrape(port, '/metrics', 'openmetrics')), still(await scrape(port)), 'with the same series');
});

t.test('gzip, and HEAD', async t => {
  const { port } = await startExporter(t, boardWith(t));
  const cases: [encoding: string, packed: boolean][] = [
    ['gzip', true],
    ['deflate, GZIP;q=0.5', true],
    ['*', true],
    ['gzip;q=0', false],
    ['gzip;q=0.000, *', false],
    ['*, gzip; q=0', false],
    ['identity', false],
    ['', false],
    ['br, deflate', false],
  ];
  for (const [encoding, packed] of cases) {
    // At once, because on a very busy machine the board may count as stalled later.
    const [plain, { headers, body }] = await Promise.all([
      scrape(port).then(still),
      ask(port, '/metrics', { headers: { 'Accept-Encoding': encoding } }),
    ]);
    t.equal(headers['content-encoding'], packed ? 'gzip' : undefined, encoding);
    t.strictSame(still(parse(packed ? gunzipSync(body) : body, 'text')), plain, 'the same either way');
  }
  for (const path of ['/metrics', '/', '/sd', '/-/healthy', '/nowhere', '/metrics?k=0']) {
    const [got, head] = [await ask(port, path), await ask(port, path, { method: 'HEAD' })];
    t.equal(head.body.length, 0, `${path}: no body`);
    const kept = (headers: IncomingHttpHeaders) => ({ ...headers, date: '', 'transfer-encoding': '' });
    t.strictSame([head.status, kept(head.headers)], [got.status, kept(got.headers)], `${path}: else the same`);
  }
});

t.test('what is asked for', async t => {
  const { port } = await startExporter(t, boardWith(t), ['--node-metrics']);
  const names = (document: Exposition) => [
    ...new Set([...document.values()].flatMap(({ series }) => series.flatMap(({ labels }) => labels.node ?? []))),
  ];
  t.strictSame(names(await scrape(port)).sort(), ['n1', 'n2', 'n3']);
  t.strictSame(names(await scrape(port, '/metrics?nodes=n[1,3]')).sort(), ['n1', 'n3']);
  t.strictSame(names(await scrape(port, '/metrics?nodes=n1&nodes=n%5B2-3%5D,nowhere')).sort(), ['n1', 'n2', 'n3']);
  const cpu = await scrape(port, '/metrics?collect[]=cpu&collect%5B%5D=state&collect[]=cpu');
  t.ok(
    [...cpu.keys()].every(name => /cpu|load|state|age|dark|problem|unhealthy/.test(name)),
    'two collectors',
  );
  const [one, two] = [await scrape(port, '/metrics?k=1&of=2'), await scrape(port, '/metrics?of=2&k=2')];
  t.strictSame([...names(one), ...names(two)].sort(), ['n1', 'n2', 'n3']);
  t.strictSame(
    [one, two].map(shard => shard.has('beoboard_board_up')),
    [true, false],
  );
  const node = await scrape(port, '/node-metrics');
  t.ok(node.has('node_load1') && [...node.keys()].every(name => name.startsWith('node_')));
  t.strictSame(
    node.get('node_load1')?.series.map(({ labels }) => labels),
    [
      { cluster: 'test', instance: 'n1' },
      { cluster: 'test', instance: 'n2' },
    ],
  );
  for (const of of [1, 8]) {
    const { body, headers } = await ask(port, of === 1 ? '/sd' : '/sd?of=8', { headers: { Host: 'localhost:9678' } });
    t.equal(headers['content-type'], 'application/json');
    const groups = JSON.parse(String(body)) as { targets: string[]; labels: Record<string, string> }[];
    t.equal(groups.length, of);
    t.ok(groups.every(({ targets }) => targets.join() === 'localhost:9678'));
    t.equal(new Set(groups.map(({ labels }) => labels.instance)).size, of, 'a name for each');
    t.strictSame(
      groups.map(({ labels }) => labels.__param_k ?? '1'),
      Array.from({ length: of }, (_, i) => String(i + 1)),
    );
  }
  const page = await ask(port, '/');
  t.match(page.headers['content-type'], /^text\/html/);
  t.match(String(page.body), /<li>test: 3 nodes<\/li>/);
  for (const [, link = ''] of String(page.body).matchAll(/href="([^"]*)"/g))
    t.equal((await ask(port, `/${link.replaceAll('&amp;', '&')}`)).status, 200, link);
  t.match(await ask(port, '/-/healthy'), { status: 200, body: Buffer.from('beoboard prometheus is healthy.\n') });
});

// What HTTP itself forbids: common/httpconformance.
t.test('invalid requests get one sentence', async t => {
  const { port } = await startExporter(t, boardWith(t));
  const cases: [path: string, status: number, sentence: RegExp][] = [
    ['/metrics?collect[]=cpus', 400, /'cpus' is not a collector; did you mean cpu\?/],
    ['/metrics?collect[]=', 400, /'' is not a collector; there are state, /],
    ['/metrics?collect=cpu', 400, /'collect' is not a parameter of this; did you mean collect\[\]\?/],
    ['/metrics?node=n1', 400, /'node' is not a parameter of this; did you mean nodes\?/],
    ['/metrics?xyzzy', 400, /'xyzzy' is not a parameter of this; there are /],
    ['/metrics?__proto__=1', 400, /is not a parameter/],
    ['/metrics?nodes=', 400, /host list, column 1: it is empty/],
    ['/metrics?nodes=n[3-1]', 400, /runs backwards/],
    ['/metrics?nodes=@/etc/passwd', 400, /groups are not supported/],
    ['/metrics?nodes=n[1-100001]', 400, /too many names/],
    [`/metrics?${Array.from({ length: 300 }, () => 'nodes=n[1-99999]').join('&')}`, 400, /too many names/],
    ['/metrics?k=1', 400, /k is given without of; /],
    ['/metrics?k=3', 400, /k is given without of; /],
    ['/metrics?of=8', 400, /of is given without k; /],
    ['/metrics?k=0&of=8', 400, /k is '0'; write a whole number of 1 to 8/],
    ['/metrics?k=9&of=8', 400, /k is '9'; write a whole number of 1 to 8/],
    ['/metrics?k=1&of=0', 400, /of is '0'; write a whole number of 1 to 1024/],
    ['/metrics?k=1&of=1025', 400, /of is '1025'/],
    ['/metrics?k=1e0&of=8', 400, /k is '1e0'/],
    ['/metrics?k=%31.5&of=8', 400, /k is '1.5'/],
    ['/metrics?k=-1&of=8', 400, /k is '-1'/],
    ['/metrics?k=1&k=2&of=8', 400, /k is given twice; write it once/],
    ['/metrics?k=1&of=8&of=8', 400, /of is given twice/],
    ['/sd?of=x', 400, /of is 'x'/],
    ['/sd?k=1', 400, /is not a parameter/],
    ['/sd?zone=a%20b', 400, /zone is 'a b'/],
    ['/node-metrics', 404, /switched off; start beoboard prometheus with --node-metrics/],
    ['/Metrics', 404, /no such page; see \//],
    ['/metrics/', 404, /no such page/],
    ['//metrics', 404, /no such page/],
    ['/metrics%00', 404, /no such page/],
    ['/../metrics', 404, /no such page/],
    ['/%1b[31m', 404, /no such page/],
  ];
  for (const [path, status, text] of cases) {
    const { status: found, headers, body } = await ask(port, path);
    t.match({ found, body: String(body) }, { found: status, body: text }, path.slice(0, 60));
    t.match(String(body), /^[^\n\u001b]+\n$/, 'one line');
    t.match(headers, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  }
  t.match(
    await talk(port, 'GET /sd?of=2 HTTP/1.0\r\n\r\n'),
    { text: /^HTTP\/1\.1 400 [\s\S]*\r\n\r\nthe request has no Host header, / },
    'targets need a name',
  );
  t.equal((await ask(port, '/metrics')).status, 200, 'and it goes on');
});

t.test('host names in requests: which are allowed', async t => {
  const { port, output } = await startExporter(t, boardWith(t), [
    '--allow-host',
    'Metrics.example',
    '--allow-host',
    'other',
  ]);
  const own = hostname().toLowerCase();
  const cases: [host: string, served: boolean][] = [
    [`127.0.0.1:${port}`, true],
    ['127.0.0.1', true],
    ['10.1.2.3:80', true],
    ['[::1]:9678', true],
    ['[::1]', true],
    ['[2001:db8::2a]:9678', true],
    ['localhost', true],
    ['LOCALHOST:9678', true],
    ['localhost.:9678', true],
    [own, true],
    [`${own.split('.')[0]}:9678`, true],
    ['metrics.example:9678', true],
    ['METRICS.EXAMPLE', true],
    ['other', true],
    ['attacker.example', false],
    ['attacker.example:9678', false],
    ['x.metrics.example', false],
    ['metrics.example.attacker', false],
    ['localhost.attacker.example', false],
    ['127.0.0.1.attacker.example', false],
    ['[attacker.example]', false],
    ['2130706433', false],
    ['constructor', false],
  ];
  for (const [host, served] of cases)
    for (const path of ['/metrics', '/-/healthy', '/nowhere']) {
      const { status, body } = await ask(port, path, { headers: { Host: host } });
      t.equal(status, served ? (path === '/nowhere' ? 404 : 200) : 421, `${host} ${path}`);
      if (!served)
        t.match(
          String(body),
          /^this server does not accept that host name; use its address, or start it with --allow-host NAME\n$/,
        );
    }
  for (const host of ['127.0.0.1@attacker.example', '[::1]x'])
    t.equal((await ask(port, '/metrics', { headers: { Host: host } })).status, 400, host);
  await until('it is told', () =>
    /clients? refused: asked for another host; name it by --allow-host/.test(output().stderr),
  );
});

t.test('HTTP/1.0', async t => {
  const { port } = await startExporter(t, liveBoard(t, ['n1', 'n2']).path);
  const old = await talk(port, 'GET /metrics HTTP/1.0\r\n\r\n');
  const [head = '', body = ''] = old.text.split('\r\n\r\n');
  t.match(head, /^HTTP\/1\.1 200 OK/);
  t.notMatch(head, /chunked/i, 'which it does not know');
  t.equal(old.end, 'FIN');
  t.strictSame(still(parse(body, 'text')), still(await scrape(port)));
});

t.test('a board that comes and goes, and one that has failed', async t => {
  const path = boardPath(t);
  const { port, output } = await startExporter(t, `c=${path}`);
  await until('it has told', () => output().stderr.includes('nothing to serve yet: '));
  const value = (document: Exposition, name: string) =>
    seriesOf(document).get(keyOf({ name, labels: { cluster: 'c' } }));
  const none = await scrape(port);
  t.strictSame([value(none, 'beoboard_board_up'), none.has('beoboard_node_state')], [0, false]);
  t.match(String((await ask(port, '/')).body), /c: .*there is no board/);
  writeBoard(path, [node('n1')], beating());
  t.equal(value(await scrape(port), 'beoboard_board_up'), 1);
  const now = process.hrtime.bigint();
  writeBoard(path, [node('n1', 21)], {
    now,
    header: { heartbeat_ns: now - 20n * S, listening_since_ns: now - 25n * S },
  });
  const stalled = await scrape(port);
  t.equal(value(stalled, 'beoboard_board_stalled'), 1);
  t.notOk(stalled.has('beoboard_node_load1'));
  t.match(String((await ask(port, '/')).body), /stalled/);
  writeFileSync(path, 'no board');
  chmodSync(path, 0o600);
  t.equal(value(await scrape(port), 'beoboard_board_up'), 0, 'rubbish in its place');
});

// ---- a board that changes under it -----------------------------------------------------------------------------------

/** How many nodes have readings in a document. Throws if a reading belongs to another node than its label says. */
function believed(document: Exposition): number {
  const series = document.get('beoboard_node_load1')?.series ?? [];
  for (const { labels, value } of series)
    if (`n${Math.round(100 * value)}` !== labels.node)
      throw new Error(`${labels.node} has the load of n${Math.round(100 * value)}`);
  return series.length;
}

const NODES = Array.from({ length: 700 }, (_, i) => `n${i}`);

/** Forgets some nodes, so that the others get other numbers, and then lets them report again. */
function shuffle({ writer, lay, beat }: ReturnType<typeof liveBoard>, random: () => number): void {
  const some = new Set(Array.from({ length: 40 }, () => Math.floor(random() * NODES.length)));
  writer.forget([...some].map(number => `n${number}`));
  for (const number of some) lay(`n${number}`, number);
  beat();
}

t.test('nodes that are forgotten in the middle of a document', async t => {
  const board = liveBoard(t, NODES, 1024);
  const exporter = new Exporter([new ScrapedBoard(undefined, board.path, undefined)]);
  const random = fc
    .sample(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { numRuns: 40 * 20, seed: 1 })
    [Symbol.iterator]();
  let least = NODES.length;
  for (let round = 0; round < 20; round++) {
    const pieces: Buffer[] = [];
    let step = 0;
    for (const piece of exporter.metrics(
      { collectors: ['receiver', 'state', 'cpu'], selection: { shard: 1, shards: 1 } },
      'text',
    )) {
      if (piece !== undefined) pieces.push(Buffer.from(piece));
      if (step++ === round % 5) shuffle(board, () => random.next().value as number);
    }
    const document = parse(Buffer.concat(pieces), 'text');
    least = Math.min(least, believed(document));
  }
  t.equal(least, NODES.length, 'of nobody it is said that nothing is known');
});

t.test('nodes that are forgotten again and again while it is scraped', async t => {
  const board = liveBoard(t, NODES, 1024);
  const { port } = await startExporter(t, board.path);
  const random = fc
    .sample(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { numRuns: 40 * 1000, seed: 2 })
    [Symbol.iterator]();
  let [scrapes, told, done] = [0, 0, false];
  const scraping = Promise.all(
    [1, 2, 3].map(async k => {
      // The boards change so fast that a scrape may find none of its nodes: only the sum must not be 0.
      for (; !done; scrapes++)
        told += believed(await scrape(port, `/metrics?k=${k}&of=3&collect[]=state&collect[]=cpu`));
    }),
  );
  let shuffles = 0;
  for (; shuffles < 150 && scrapes < 30; shuffles++) {
    shuffle(board, () => random.next().value as number);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  done = true;
  await scraping;
  t.ok(told > 0, `${scrapes} scrapes of ${shuffles} boards told of ${told} nodes, each of the right one`);
});

// ---- clients that cannot be trusted ----------------------------------------------------------------------------------

t.test('a request that does not come to its end', async t => {
  const { server, port } = await serving(t, () => sentence(200, 'quick'), 150);
  for (const begun of ['', 'GET / HT', 'GET / HTTP/1.1\r\nHost: localhost\r\n']) {
    const { text } = await talk(port, begun);
    t.match(text, /^(HTTP\/1\.1 408 |$)/, JSON.stringify(begun));
  }
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  const timer = setInterval(() => socket.write('x'), 20);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX: ');
  await new Promise(resolve => socket.once('close', resolve));
  clearInterval(timer);
  t.pass('one that sends a byte now and then is cut off, too');
  await until('nobody is left', () => server.clients === 0);
  t.equal((await ask(port, '/')).status, 200);
});

t.test('a client that stops reading delays nobody, uses little memory, and is cut off', async t => {
  for (const packed of [false, true]) {
    const made = { pieces: 0 };
    let asked = 0;
    const noise = function* () {
      // Random bytes, which gzip cannot compress.
      const bytes = Buffer.alloc(1 << 16);
      for (; made.pieces < 4096; made.pieces++) {
        for (let i = 0; i < bytes.length; i += 4) bytes.writeUInt32LE((Math.random() * 2 ** 32) >>> 0, i);
        yield bytes;
      }
    };
    const { server, port } = await serving(
      t,
      () => (asked++ === 0 ? answer(packed ? noise() : much(256 * MIB, made)) : sentence(200, 'quick')),
      250,
    );
    const read = await patient(
      t,
      port,
      `GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${packed ? 'gzip' : 'identity'}\r\n\r\n`,
    );
    await until('it is being served', () => made.pieces > 0);
    t.equal(String((await ask(port, '/')).body), 'quick\n', 'another is served meanwhile');
    await until('it is cut off', () => server.counts.stuck === 1);
    t.equal(await read(), 'ConnectionResetError', 'with a reset: half of a document must not pass for a whole one');
    t.ok(made.pieces < 256, `${made.pieces} of 4096 pieces were made for it`);
    t.equal(server.clients, 0);
  }
});

t.test('a client that reads slowly gets its whole answer', async t => {
  const { server, port } = await serving(t, () => answer(much(32 * MIB)), 2000);
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write('GET / HTTP/1.0\r\n\r\n');
  let bytes = 0;
  let chunks = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (++chunks % 50 !== 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), 20);
  });
  await once(socket, 'end');
  t.ok(bytes > 32 * MIB);
  await until('it was told', () => server.counts.served === 1);
  t.equal(server.counts.stuck, 0);
});

t.test('a few clients that read as slowly as allowed do not keep others out', async t => {
  const { server, port } = await serving(t, ({ path }) => answer(path === '/slow' ? much(2 ** 40) : much(MIB)), 400);
  const slow: Socket[] = [];
  for (let i = 0; i < 8; i++) {
    const socket = await stuck(t, port, 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.on('data', () => socket.pause());
    slow.push(socket);
  }
  const timer = setInterval(() => {
    for (const socket of slow) socket.resume();
  }, 5);
  t.teardown(() => clearInterval(timer));
  for (let i = 0; i < 3; i++)
    t.ok((await talk(port, 'GET / HTTP/1.0\r\n\r\n')).text.length > MIB, 'one that reads is served');
  t.ok(server.clients <= 64);
});

t.test('when all places are taken, a client that is stuck is cut off', async t => {
  let asked = 0;
  const { server, port } = await serving(t, () => (++asked <= 64 ? answer(much()) : sentence(200, 'quick')), 3_600_000);
  for (let i = 0; i < 64; i++) await stuck(t, port);
  await until('all are being served', () => asked === 64);
  // It takes a moment until one is known to be stuck; whoever comes before that goes itself.
  const quick = await until('one is stuck', () => ask(port, '/').catch(() => false as const));
  t.equal(String(quick.body), 'quick\n');
  t.equal(server.counts.stuck, 1, 'one that was stuck went, and no other');
  t.ok(server.clients <= 64);
});

t.test('a client whose whole answer is with the kernel is never reset', async t => {
  // An answer of 1 MiB fits in the kernel's buffers, so it counts as served before the client reads it.
  for (const end of ['crowd', 'close'] as const) {
    const { server, port } = await serving(t, () => answer('x'.repeat(MIB)), 3_600_000);
    const read = await patient(t, port, 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until('it was served', () => server.counts.served === 1);
    if (end === 'close') server.close();
    // None of them asks, and it is the one that has been silent for longest.
    else for (let i = 0; i < 64; i++) await stuck(t, port, '');
    t.equal(await read(), 'FIN', `${end}: no reset`);
    t.equal(server.counts.stuck, 0, 'nor is it called stuck');
    server.close();
  }
});

t.test('an incomplete document ends with a reset', async t => {
  const old = 'GET / HTTP/1.0\r\n\r\n';
  const broken = function* () {
    yield Buffer.alloc(MIB, 'x');
    throw new Error('the board was cut');
  };
  const { server, port } = await serving(t, () => answer(broken()));
  t.equal(await (await patient(t, port, old))(), 'ConnectionResetError', 'a document that breaks off');
  const more = await serving(t, () => answer(much()));
  t.equal(
    await (await patient(t, more.port, `${old}GET / HTTP/1.1\r\nHost: localhost\r\n\r\n`))(),
    'FIN',
    'HTTP/1.0 has one request',
  );
  const one = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
  t.equal(
    await (await patient(t, more.port, one.repeat(18)))(),
    'ConnectionResetError',
    'one that asks again and again before it is answered',
  );
  await until('nobody is left', () => server.clients + more.server.clients === 0);
});

t.test('a client that leaves in the middle of its document', async t => {
  let closed = 0;
  const { server, port } = await serving(t, () =>
    answer(
      (function* () {
        try {
          yield* much();
        } finally {
          closed++;
        }
      })(),
    ),
  );
  for (const encoding of ['identity', 'gzip']) {
    const socket = await stuck(t, port, `GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${encoding}\r\n\r\n`);
    socket.once('data', () => socket.resetAndDestroy());
  }
  await until('what was kept for it is given back', () => closed === 2);
  t.strictSame([server.counts.served, server.clients], [0, 0]);
});

t.test('an answer that throws an error, and one that rejects the request', async t => {
  const { server, port } = await serving(t, ({ path }) => {
    if (path === '/bad') throw new InputError('this is not a request');
    throw new Error('a fault of ours');
  });
  t.match(await ask(port, '/bad'), { status: 400, body: Buffer.from('this is not a request\n') });
  await t.rejects(ask(port, '/'), 'no answer rather than half of one');
  t.equal(server.counts.served, 1);
});

t.test('many at once', async t => {
  const { port } = await startExporter(t, liveBoard(t, ['n1', 'n2', 'n3']).path);
  const documents = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      i % 2 === 0
        ? scrape(port)
        : scrape(port, `/metrics?k=1&of=1&collect[]=${COLLECTORS[i % COLLECTORS.length]}`, 'openmetrics'),
    ),
  );
  t.equal(documents.length, 60);
  t.equal(new Set(documents.filter((_, i) => i % 2 === 0).map(({ size }) => size)).size <= 2, true, 'each is whole');
});

t.test('whatever signal ends it', async t => {
  const { path } = liveBoard(
    t,
    Array.from({ length: 2000 }, (_, i) => `n${i}`),
  );
  // The document must be larger than the kernel's buffers for a client that does not read.
  const more = Array.from({ length: 8 }, (_, i) => ['--board', `c${i}=${path}`]).flat();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const { port, child, exit, output } = await startExporter(t, `first=${path}`, more);
    const read = await patient(t, port, 'GET /metrics HTTP/1.0\r\n\r\n');
    const idle = await stuck(t, port, '');
    child.kill(signal);
    t.equal(await exit, 0, signal);
    t.match(output().stderr, /prometheus: clean shutdown; \d+ served, \d+ cut off\n$/);
    t.equal(await read(), 'ConnectionResetError', `${signal}: a reset, not an end`);
    idle.destroy();
  }
});

// ---- the verbs -------------------------------------------------------------------------------------------------------

t.test('a port that is taken', async t => {
  const { port } = await serving(t, () => sentence(200, 'mine'));
  const board = ['--board', '/nowhere/board'];
  t.match(await run(['prometheus', ...board, '--listen', `127.0.0.1:${port}`]), {
    code: 1,
    stdout: '',
    stderr: /^beoboard prometheus: cannot listen on 127\.0\.0\.1:\d+: another program listens there already; [^\n]+\n$/,
  });
});

t.test('beoboard metrics', async t => {
  // Each call has its own, because a board without a receiver is stalled after some seconds.
  const path = () => boardWith(t);
  const printed = async (...argv: string[]) => run(['metrics', ...argv]);
  const text = await printed('--board', path());
  t.match(text, { code: 0, stderr: '' });
  t.ok(parse(text.stdout, 'text').has('beoboard_node_load1'));
  const open = await printed('--board', path(), '--openmetrics', '--collect', 'cpu,state', '--nodes', 'n[1-2]');
  t.strictSame(
    parse(open.stdout, 'openmetrics')
      .get('beoboard_node_load1')
      ?.series.map(({ labels }) => labels.node),
    ['n1', 'n2'],
  );
  t.ok(parse((await printed('--board', path(), '--node-metrics')).stdout, 'text').has('node_load1'));
  t.match(await printed('--board', '/nowhere/board'), {
    code: 4,
    stdout: '',
    stderr: /^beoboard metrics: \/nowhere\/board: there is no board; [^\n]+\n$/,
  });
  const two = await printed('--board', `a=${path()}`, '--board', 'b=/nowhere/board');
  t.match(two, { code: 4, stderr: /^beoboard metrics: \/nowhere\/board: [^\n]+\n$/ });
  t.equal(seriesOf(parse(two.stdout, 'text')).get('beoboard_board_up{cluster="b"}'), 0, 'the other one is told of');
  const stalled = await printed('--board', stalledBoard(t));
  t.match(stalled, { code: 4, stderr: /^beoboard metrics: \S+: the receiver is stalled: [^\n]+\n$/ });
  t.equal(
    seriesOf(parse(stalled.stdout, 'text')).get('beoboard_node_state{cluster="test",node="n1",state="unknown"}'),
    1,
  );
  t.match(await printed('--board', path(), '--collect', 'cpus'), {
    code: 2,
    stdout: '',
    stderr: /'cpus' is not a collector; did you mean cpu\?\n$/,
  });
});

t.test('beoboard metrics into a pipe that closes', async t => {
  const { path } = liveBoard(
    t,
    Array.from({ length: 500 }, (_, i) => `n${i}`),
  );
  const script = `"$0" "$1" metrics --board "$2" | head -1; echo "\${PIPESTATUS[0]}"`;
  const child = spawn('bash', ['-c', script, process.execPath, PROGRAM, path], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = await ended(child);
  t.match(said.stdout, /^# HELP [^\n]+\n0\n$/);
  t.equal(said.stderr, '', 'an end, and no error');
});

// ---- the parsers of what clients say ---------------------------------------------------------------------------------

t.test('whatever is asked for is taken, or refused with one line', async t => {
  const word = fc.oneof(
    fc.constantFrom(
      '',
      '1',
      '8',
      '1024',
      '1025',
      '0',
      'cpu',
      'state',
      'n1',
      'n[1-3]',
      'n[1-100000]',
      '@x',
      'cluster="x"',
      '\u0000',
      '\n',
      '\u001b[31m',
      '%',
      '=',
      '999999999999999999999',
    ),
    anyText({ maxLength: 20 }),
  );
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('collect[]', 'nodes', 'k', 'of') },
    { weight: 1, arbitrary: word },
  );
  const query = fc.array(fc.tuple(name, word), { maxLength: 5 });
  let taken = 0;
  const property = fc.property(query, pairs => {
    const parameters = new URLSearchParams(pairs);
    for (const read of [parseScrape, parseShards]) {
      try {
        read(parameters);
        taken++;
      } catch (error) {
        // Any other error is a mistake in the parser.
        if (!(error instanceof InputError)) throw error;
        if (/[\n\u001b\0]/.test(error.message) || error.message.length > 500)
          throw new Error(`no line for people: ${error.message}`);
      }
    }
  });
  const raw = fc.property(anyText({ maxLength: 200 }), text => {
    try {
      parseScrape(new URLSearchParams(text));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
    }
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: 2000 }));
  t.doesNotThrow(() => fc.assert(raw, { numRuns: 2000 }));
  t.ok(taken > 0);
});

t.test('whatever is accepted, one of the two formats is given', async t => {
  const piece = fc.oneof(
    fc.constantFrom(
      'application/openmetrics-text',
      'text/plain',
      '*/*',
      ';',
      ',',
      '=',
      'q',
      'version',
      '1.0.0',
      '0.0.4',
      '0.5',
      ' ',
      '"',
      'q=1',
      'q=-1',
      'q=1e400',
      'q=NaN',
    ),
    fc.string({ maxLength: 5 }),
  );
  const accept = fc.array(piece, { maxLength: 30 }).map(pieces => pieces.join(''));
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(accept, text => ['text', 'openmetrics'].includes(formatOf(text))),
      { numRuns: 2000 },
    ),
  );
});
