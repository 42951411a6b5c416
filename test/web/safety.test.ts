// What the wall refuses, and what it tells browsers: under which names and from which pages it may be asked, how much,
// and that texts of nodes stay texts.
//
// @whole

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { HttpServer, type Sink } from '../../src/net/http.js';
import { plainName } from '../../src/text/addresses.js';
import { HEADERS } from '../../src/web/routes.js';
import { Wall } from '../../src/web/wall.js';
import { beating, HOSTILE, node, writeBoard } from '../kit/ganglia.js';
import { NO_IPV6 } from '../kit/ipv6.js';
import { boardPath } from '../kit/places.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';
import { NOT_WHOLE } from '../kit/whole.js';
import { ask, Reader, startWeb } from './webclient.js';

const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:"],
  ...["connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ...["require-trusted-types-for 'script'"],
];

/** A board with a heartbeat of now, which is not updated: these tests do not need live nodes. */
function aBoard(t: Test, cluster?: Uint8Array): string {
  const board = boardPath(t);
  writeBoard(board, [node('a1'), node('a2')], { ...beating(), ...(cluster && { cluster }) });
  return board;
}

t.test('the headers of every answer', async t => {
  const { url } = await startWeb(t, aBoard(t));
  for (const [path, status] of [
    ['', 200],
    ['api/v1/nodes', 200],
    ['api/v1/stream?reading=nothing', 400],
    ['nothing', 404],
  ] as const) {
    const answer = await ask(`${url}${path}`);
    t.equal(answer.status, status, path);
    t.strictSame(String(answer.headers['content-security-policy']).split('; '), POLICY, path);
    t.match(
      answer.headers,
      {
        'cache-control': 'no-store, no-transform',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      },
      path,
    );
    for (const header of Object.keys(answer.headers))
      t.notOk(/^(access-control-|set-cookie)/.test(header), `${path}: no ${header}`);
  }
  t.equal((await ask(`${url}api/v1/nodes`, {}, 'POST')).status, 405);
  t.equal((await ask(`${url}api/v1/nodes`, {}, 'OPTIONS')).status, 405, 'no preflight is answered');
  const stream = await ask(`${url}api/v1/stream`, {}, 'HEAD');
  t.match(stream.headers, { 'x-accel-buffering': 'no', 'content-type': 'application/octet-stream' });
});

t.test('who may ask', async t => {
  const { url, port } = await startWeb(t, aBoard(t), ['--allow-host', 'wall.example.org']);
  for (const [host, status] of [
    [`127.0.0.1:${port}`, 200],
    ['127.0.0.1', 200],
    ['localhost', 200],
    ['wall.example.org', 200],
    ['Wall.Example.ORG.:443', 200],
    ['127.0.0.2', 421],
    ['10.1.2.3', 421],
    ['evil.example.org', 421],
    ['[::1]', 421],
  ] as const)
    t.equal((await ask(`${url}api/v1/readings`, { host })).status, status, host);
  // Which of two names a proxy has checked is not known.
  const twice = connect(port, '127.0.0.1');
  twice.end('GET /api/v1/readings HTTP/1.1\r\nHost: localhost\r\nhOST: localhost\r\nConnection: close\r\n\r\n');
  t.match(await text(twice), /^HTTP\/1\.1 400 [\s\S]*several Host headers/);
  const unnamed = connect(port, '127.0.0.1');
  unnamed.end('GET /api/v1/readings HTTP/1.0\r\n\r\n');
  t.match(await text(unnamed), /^HTTP\/1\.1 421 /, 'without a name');
  const forwarded = { host: 'evil.example.org', 'x-forwarded-host': 'localhost', 'x-forwarded-for': '127.0.0.1' };
  t.equal((await ask(`${url}api/v1/readings`, forwarded)).status, 421, 'what a proxy claims is no matter');
  for (const [site, path, status] of [
    ['cross-site', '', 200],
    ['cross-site', 'api/v1/nodes', 403],
    ['cross-site', 'api/v1/stream', 403],
    ['cross-site', 'page.js', 403],
    ['same-origin', 'api/v1/nodes', 200],
    ['same-site', 'api/v1/nodes', 200],
    ['none', 'api/v1/nodes', 200],
  ] as const)
    t.equal((await ask(`${url}${path}`, { 'sec-fetch-site': site })).status, status, `${site} /${path}`);
  // To a name without TLS a browser does not say whose page asks.
  const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' };
  for (const path of ['nodes', 'stream', 'river', 'events', 'nodes/a1', 'readings', 'openapi.json', 'jobs'])
    t.equal((await ask(`${url}api/v1/${path}`, agent)).status, 403, path);
  for (const path of ['', 'page.js', 'page.css']) t.equal((await ask(`${url}${path}`, agent)).status, 200, path);
  t.equal((await ask(`${url}api/v1/nodes`, { ...agent, 'x-beoboard-page': '1' })).status, 200, 'our page');
  // Another port of this machine, or another machine of its domain, is of the same site and not of the same origin.
  const beside = { ...agent, 'sec-fetch-site': 'same-site' };
  t.equal((await ask(`${url}api/v1/nodes`, beside)).status, 403, 'a page beside ours');
  t.equal((await ask(`${url}api/v1/nodes`, { ...beside, 'x-beoboard-page': '1' })).status, 200);
  t.equal((await ask(`${url}api/v1/nodes`, { ...agent, 'sec-fetch-site': 'same-origin' })).status, 200);
  t.equal((await ask(`${url}api/v1/nodes`, { 'user-agent': 'curl/7.88.1' })).status, 200, 'a program');
});

t.test("only the exporter's own token makes a browser's request its own", async t => {
  const { ready } = start(t, ['prometheus', '--board', aBoard(t), '--listen', '127.0.0.1:0', '--node-metrics']);
  const url = `http://${(await ready).listening?.[0]}/`;
  const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' };
  const { status, body } = await ask(url, agent);
  const [, token = ''] = /href="metrics\?token=([0-9a-f]+)"/.exec(String(body)) ?? [];
  t.same([status, token.length], [200, 24]);
  for (const [query, expected] of [
    ['', 403],
    ['?token=', 403],
    ['?token=0', 403],
    [`?token=${token.slice(1)}`, 403],
    [`?token=0&token=${token}`, 403],
    [`?token=${token}`, 200],
  ] as const)
    for (const path of ['metrics', 'node-metrics'])
      t.equal((await ask(`${url}${path}${query}`, agent)).status, expected, `${path}${query}`);
  for (const [site, expected] of [
    ['cross-site', 403],
    ['same-site', 403],
    ['same-origin', 200],
    ['none', 200],
  ] as const)
    t.equal((await ask(`${url}metrics`, { ...agent, 'sec-fetch-site': site })).status, expected, site);
  t.equal((await ask(`${url}metrics`, { 'user-agent': 'Prometheus/3.0' })).status, 200, 'a program');
});

t.test('addresses of IPv6, with and without a zone', { skip: NOT_WHOLE || NO_IPV6 }, async t => {
  t.equal(plainName('FE80::0:1%eth0'), 'fe80::1');
  t.equal(plainName('::ffff:10.0.0.1'), '10.0.0.1');
  t.equal(plainName('Master.Example'), 'master.example');
  const board = aBoard(t);
  const allowed = ['--allow-host', '[FD00:0::1]', '--allow-host', 'fe80::2%eth0'];
  const { ready } = start(t, ['web', '--board', board, '--listen', '[::1]:0', ...allowed]);
  const url = `http://${(await ready).listening?.[0]}/`;
  for (const [host, status] of [
    ['[::1]', 200],
    ['[0:0::1]:8678', 200],
    ['[::1%25lo]:8678', 200],
    ['[::1%lo]', 200],
    ['[fd00::1]', 200],
    ['[fe80::2%25eth1]', 200],
    ['[fd00::2]', 421],
    ['[fe80::1%lo]', 421],
    ['[::1', 400],
    ['::1]', 400],
    ['evil%::1', 400],
  ] as const)
    t.equal((await ask(url, { host })).status, status, host);
});

t.test('under another path', { skip: NOT_WHOLE }, async t => {
  const { url } = await startWeb(t, aBoard(t), ['--base', '/some/cluster/']);
  t.equal((await ask(`${url}some/cluster/`)).status, 200);
  t.equal((await ask(`${url}some/cluster/api/v1/readings`)).status, 200);
  t.match(await ask(`${url}some/cluster`), { status: 308, headers: { location: '/some/cluster/' } });
  t.equal((await ask(`${url}api/v1/readings`)).status, 404);
  t.equal((await ask(`${url}some/clusters/`)).status, 404);
  t.equal((await ask(`${url}some/cluster/`, { 'sec-fetch-site': 'cross-site' })).status, 200);
});

t.test('it logs that everybody can connect', async t => {
  const open = start(t, ['web', '--board', aBoard(t), '--listen', '0.0.0.0:0', '--show-jobs']);
  const { listening } = await open.ready;
  t.match(
    open.output().stderr,
    /0\.0\.0\.0:\d+: everybody who reaches it can see the names, addresses and readings of all nodes, and whose jobs run where/,
  );
  const port = Number(listening?.[0]?.split(':').at(-1));
  t.equal((await ask(`http://127.0.0.1:${port}/`)).status, 200, 'the address by which it is reached is its own');
  t.equal((await ask(`http://127.0.0.1:${port}/`, { host: '10.1.2.3' })).status, 421);
});

t.test('endless headers, and too many clients', { skip: NOT_WHOLE }, async t => {
  const { url, port } = await startWeb(t, aBoard(t));
  t.equal((await ask(url, { 'x-long': 'x'.repeat(9000) })).status, 431);
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  let cut = 0;
  const more = async (count: number) => {
    for (let i = 0; i < count; i++) {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.on('close', () => cut++);
      await once(socket, 'connect');
      sockets.push(socket);
    }
  };
  await more(300);
  await until('all but 256 are cut', () => cut === 44);
  t.equal((await ask(url)).status, 200, 'who asks next has room');
});

t.test('texts of nodes stay texts', async t => {
  for (const [what, cluster] of HOSTILE) {
    const wall = new Wall({
      board: aBoard(t, Buffer.from(cluster).subarray(0, 48)),
      build: 'x',
      journalRun: '/nowhere',
    });
    await wall.begin();
    const { client } = await (async () => {
      const reader = new Reader();
      wall.streams.add(await wall.view(new URLSearchParams()), reader);
      return reader;
    })();
    t.strictSame(client.wrong, [], what);
    t.strictSame(client.names, ['a1', 'a2'], what);
    t.type(client.hello?.cluster, 'string', what);
    t.notOk(/[\u0000-\u001f\u007f]/.test(client.head?.line ?? ''), `${what}: the line is one`);
    wall.close();
  }
  const [, markup] = HOSTILE[0] as (typeof HOSTILE)[number];
  const { url } = await startWeb(t, aBoard(t, Buffer.from(markup).subarray(0, 48)));
  const { headers } = await ask(`${url}api/v1/nodes`);
  t.equal(headers['content-type'], 'application/json', 'and never a page');
});

t.test('slow clients of a feed', async t => {
  t.test('are told that nothing more fits, and go on when it does', async t => {
    const sinks: Sink[] = [];
    const feed = { status: 200, type: 'application/octet-stream', body: (sink: Sink) => void sinks.push(sink) };
    const server = new HttpServer(() => feed, { headers: HEADERS });
    t.teardown(() => server.close());
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect(port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.write('GET /feed HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'readable');
    const [to] = sinks as [Sink];
    // The kernel buffers some megabytes for it.
    const piece = new Uint8Array(1 << 20);
    let written = 0;
    while (written < 64 && to.isFree) {
      to.write(piece);
      written++;
      await new Promise(setImmediate);
    }
    t.notOk(to.isFree, `it takes no more after ${written} MB`);
    socket.resume();
    await until('it has taken all', () => to.isFree);
    let gone = false;
    to.onGone(() => {
      gone = true;
    });
    socket.destroy();
    await until('it is gone', () => gone);
  });
  t.test('are cut off if they read nothing for long', async t => {
    const server = new HttpServer(
      () => ({ status: 200, type: 'application/octet-stream', body: sink => sink.write(new Uint8Array(1 << 26)) }),
      { streamPatience: 50 },
    );
    t.teardown(() => server.close());
    const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await until('it is cut off', () => server.counts.stuck === 1);
    t.equal(server.clients, 0);
    socket.destroy();
  });
});
