// The page's stream: one at a time, none while the page is invisible, a new one when it is visible again or the server
// was away; and a screen on a wall reloads itself when there is a newer page.
//
// @seconds 29
// @waits
// @rest
// @days 3

import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Request } from 'playwright-core';
import t from 'tap';
import { HttpServer, sentence } from '../../src/net/http.js';
import { UNSEEN } from '../../src/text/text.js';
import { NO_BROWSER, newContext } from '../kit/browser.js';
import { start } from '../kit/program.js';
import { LiveBoard } from '../kit/supermon.js';
import { until } from '../kit/until.js';
import { holds, lastSeq, look, shown, startLoad, startWall } from './browsing.js';

const skip = NO_BROWSER ?? false;

/** Makes the page hidden or visible for its scripts, with the browser's own event. */
const hide = (isHidden: boolean) => `(() => {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${isHidden ? 'hidden' : 'visible'}' });
  document.dispatchEvent(new Event('visibilitychange'));
})()`;

t.test('texts of others neither turn the page around nor hide anything', { skip }, async t => {
  const evil = 'e\u202e\u2066\x1b[2J\u200f';
  const board = new LiveBoard(t, ['n2']);
  board.lay('n1', { os_release: evil });
  const web = start(t, ['web', '--board', board.path, '--listen', '127.0.0.1:0']);
  const url = `http://${(await web.ready).listening?.[0]}/`;
  const { page } = await look(t, `${url}?by=os_release&node=n1&group=${encodeURIComponent(evil)}`);
  await holds(page, `document.querySelector('#sections p') !== null`);
  const said = await page.evaluate<string>(`[document.title, document.documentElement.textContent, ...[...document.
    querySelectorAll('*')].flatMap(e => [...e.attributes].map(({ value }) => value))].join('\\n')`);
  t.match(said, 'e\\u{202e}\\u{2066}\\u{1b}[2J\\u{200f}');
  t.strictSame(said.replace(/\n/g, '').match(UNSEEN), null);
});

t.test('to a name without TLS a page of another site asks as one, whatever it tries', { skip }, async t => {
  const asked: [path: string, isForeign: boolean][] = [];
  const server = new HttpServer(
    ({ path, isForeign }) => {
      asked.push([path, isForeign]);
      return sentence(200, 'x');
    },
    { names: ['wall.example'], strict: true },
  );
  t.teardown(() => server.close());
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const at = (path: string) => `http://wall.example:${port}/${path}`;
  const evil = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<img src="${at('img')}" referrerpolicy=no-referrer><iframe src="${at('iframe')}"></iframe>
      <script src="${at('script')}" referrerpolicy=no-referrer></script><script>
      new EventSource('${at('events')}');
      fetch('${at('fetch')}', { mode: 'no-cors', referrerPolicy: 'no-referrer', headers: { 'X-Beoboard-Page': '1' } });
      fetch('${at('preflight')}', { headers: { 'X-Beoboard-Page': '1' } }).finally(() => fetch('${at('last')}'))</script>`);
  }).listen(0, '127.0.0.1');
  t.teardown(() => evil.close());
  await once(evil, 'listening');
  const page = await (await newContext(t)).newPage();
  await page.goto(`http://evil.example:${(evil.address() as AddressInfo).port}/`);
  const paths = ['/events', '/fetch', '/iframe', '/img', '/last', '/script'];
  await until('all was asked for', () => paths.every(path => asked.some(([known]) => known === path)));
  t.strictSame(
    [...new Set(asked.map(String))].sort(),
    paths.map(path => `${path},true`),
  );
});

t.test('by a name without TLS our own pages work', { skip }, async t => {
  const board = new LiveBoard(t, ['n1', 'n2']);
  const argv = ['--board', board.path, '--listen', '127.0.0.1:0', '--allow-host', 'wall.example'];
  const running = [start(t, ['web', ...argv]), start(t, ['prometheus', ...argv])];
  const [wall, exporter] = await Promise.all(
    running.map(async ({ ready }) => `http://wall.example:${(await ready).listening?.[0]?.split(':').at(-1)}`),
  );
  const { page, complaints } = await look(t, `${wall}/?node=n1`);
  await holds(page, `document.querySelector('#sections p') !== null && document.querySelector('#flow').height > 0`);
  t.strictSame(complaints, []);
  t.equal((await page.goto(`${exporter}/metrics`))?.status(), 403, 'who comes from elsewhere gets links');
  const [metrics] = await Promise.all([page.waitForResponse(/metrics.token/), page.click('a')]);
  t.equal(metrics.status(), 200);
});

/** Opens a page of that context, with its streams counted. */
async function tab(context: BrowserContext) {
  const page = await context.newPage();
  const streams = { open: 0, opened: 0, closedAt: 0 };
  const isStream = (request: Request) => request.url().includes('/stream');
  page.on('request', request => {
    if (!isStream(request)) return;
    streams.open++;
    streams.opened++;
  });
  const ended = (request: Request) => {
    if (!isStream(request)) return;
    streams.open--;
    streams.closedAt = performance.now();
  };
  page.on('requestfailed', ended).on('requestfinished', ended);
  return { page, streams };
}

t.test(
  'a page that is hidden for five seconds ends its stream, and opens a new one when it is visible',
  { skip },
  async t => {
    const wall = await startWall(t);
    startLoad(t, wall, ['--nodes', 'n[1-12]']);
    const context = await newContext(t);
    const { page, streams } = await tab(context);
    await page.goto(wall.url);
    await holds(page, `document.querySelector('#cells').dataset.seq !== undefined`);
    t.equal(streams.open, 1, 'one stream');
    const hiddenAt = performance.now();
    await page.evaluate(hide(true));
    await until('its stream is closed', () => streams.open === 0);
    t.ok(streams.closedAt - hiddenAt >= 4990, 'not sooner');
    await page.evaluate(hide(false));
    await until('it has one again', () => streams.open === 1);
    await page.evaluate(hide(true));
    await page.evaluate(hide(false));
    t.equal(streams.opened, 2, 'and keeps it when it was hidden for a moment');

    // A browser has at most six connections to a server, so hidden pages must leave theirs to the visible one.
    await page.evaluate(hide(true));
    const tabs = [{ page, streams }];
    while (tabs.length < 8) {
      const another = await tab(context);
      await another.page.goto(wall.url);
      await holds(another.page, `document.querySelector('#cells').dataset.seq !== undefined`);
      await another.page.evaluate(hide(true));
      tabs.push(another);
    }
    for (const { page, streams } of tabs) {
      const last = await lastSeq(wall.url);
      await page.evaluate(hide(false));
      await until('it is current', async () => (await shown(page)).seq >= last);
      await until('within two ticks', async () => (await lastSeq(wall.url)) - (await shown(page)).seq <= 2);
      t.equal(streams.open, 1);
      await page.evaluate(hide(true));
    }
  },
);

t.test('a picture is shown even if it arrives in another piece of the stream than its layout', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'n[1-12]']);
  let release: () => void = () => {};
  const released = new Promise<void>(resolve => {
    release = resolve;
  });
  /** A proxy for the wall; of a stream it passes two frames, hello and layout, and holds the rest until released. */
  const between = createServer((question, answer) => {
    get(new URL(question.url ?? '/', wall.url), response => {
      answer.writeHead(response.statusCode ?? 0, response.headers);
      if (!question.url?.includes('/stream')) {
        response.pipe(answer);
        return;
      }
      let held = Buffer.alloc(0);
      let state: 'begun' | 'held' | 'open' = 'begun';
      const cut = () => {
        const first = held.length < 4 ? Number.POSITIVE_INFINITY : 4 + held.readUInt32LE(0);
        const second = held.length < first + 4 ? Number.POSITIVE_INFINITY : first + 4 + held.readUInt32LE(first);
        if (held.length < second) return;
        answer.write(held.subarray(0, second));
        held = held.subarray(second);
        state = 'held';
        void released.then(() => {
          state = 'open';
          answer.write(held);
        });
      };
      response.on('data', (data: Buffer) => {
        if (state === 'open') answer.write(data);
        else held = Buffer.concat([held, data]);
        if (state === 'begun') cut();
      });
      answer.on('close', () => response.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(between, 'listening');
  t.teardown(() => {
    between.closeAllConnections();
    between.close();
  });
  const page = await (await newContext(t)).newPage();
  await page.goto(`http://127.0.0.1:${(between.address() as AddressInfo).port}/`);
  await holds(page, `document.querySelector('#by').placeholder !== ''`);
  t.equal(await page.evaluate(`document.querySelector('#cells').dataset.seq === undefined`), true, 'no picture yet');
  release();
  await holds(page, `document.querySelector('#cells').dataset.seq !== undefined`);
  await holds(page, `document.querySelectorAll('#table tbody tr').length === 12`);
});

t.test('a server that was away is found again, and the page reloads if there is a newer one', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'n[1-12]']);
  const { page } = await look(t, `${wall.url}?wall`);
  await holds(page, `document.documentElement.dataset.life === 'ok'`);
  await page.evaluate(`window.isOld = true`);
  wall.web.child.kill('SIGTERM');
  await wall.web.exit;
  await holds(page, `document.documentElement.dataset.life === 'lost'`);
  t.match(await page.textContent('#banner'), /^No answer from the server/);
  const listen = new URL(wall.url).host;
  const again = start(t, ['web', '--board', wall.board, '--listen', listen]);
  await again.ready;
  await holds(page, `document.documentElement.dataset.life === 'ok'`);
  t.equal(await page.evaluate('window.isOld'), true, 'the same build: the page stays');

  // The server's first frame names another build.
  await page.route(
    '**/api/v1/stream*',
    async route => {
      const hello = JSON.stringify({
        schema: 1,
        build: 'another',
        boardId: 'x',
        now_ms: 1,
        interval_ms: 1000,
        readings: [],
        reading: 'cpu',
        by: null,
        where: null,
        jobs: false,
      });
      const body = Buffer.concat([Buffer.alloc(5), Buffer.from(hello)]);
      body.writeUInt32LE(1 + hello.length);
      body[4] = 1;
      await route.fulfill({ status: 200, contentType: 'application/octet-stream', body });
    },
    { times: 1 },
  );
  again.child.kill('SIGTERM');
  await again.exit;
  start(t, ['web', '--board', wall.board, '--listen', listen]);
  await holds(page, `window.isOld === undefined && document.documentElement.dataset.life === 'ok'`);
  t.pass('it has reloaded itself');
});

t.test('a server that cannot answer now is believed why', { skip }, async t => {
  const board = new LiveBoard(t, ['n1']);
  const web = start(t, ['web', '--board', board.path, '--listen', '127.0.0.1:0']);
  const { page } = await look(t, `http://${(await web.ready).listening?.[0]}/`);
  const said = 'by: 16 others are in use already; try again later';
  await page.route('**/api/v1/stream*', route =>
    route.fulfill({ status: 503, contentType: 'text/plain; charset=utf-8', body: `${said}\n` }),
  );
  await page.reload();
  await holds(page, `document.querySelector('#banner').textContent.includes('from the server: ${said}.')`);
});
