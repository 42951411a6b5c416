// The wall behind Debian's nginx and Apache, configured as in docs/web.md: with the password one sees the page under
// the proxy's path, and its stream arrives look by look and unchanged; without it one is kept out.
//
// @seconds 8
// @rest
// @days 3

import { spawnSync } from 'node:child_process';
import t from 'tap';
import { NO_BROWSER, newContext } from '../kit/browser.js';
import { boardPath } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { LOGIN, PROXIES, startProxy } from '../kit/proxies.js';
import { until } from '../kit/until.js';
import { holds } from './browsing.js';
import { ask, startWeb, WallClient } from './webclient.js';

for (const proxy of PROXIES) {
  const isThere = process.env.CI === 'true' || !spawnSync(proxy.program, ['-v']).error;
  t.test(
    `behind ${proxy.name}`,
    { skip: !isThere && `there is no ${proxy.program} (apt-get install ${proxy.package})` },
    async t => {
      const board = boardPath(t);
      const receiver = await startReceiver(t, board);
      start(t, ['load', '--to', `127.0.0.1:${receiver.port}`, '--nodes', 'rack[1-2]n[01-12]', '--interval', '200ms']);
      const web = await startWeb(t, board, ['--base', '/cluster']);
      const direct = `http://127.0.0.1:${web.port}/cluster/`;
      await until('all report', async () => {
        const { status, text } = await ask(`${direct}api/v1/nodes?fields=state`);
        return status === 200 && text.match(/"state":"live"/g)?.length === 24;
      });
      const url = await startProxy(t, proxy, web.port);
      t.equal((await ask(url)).status, 401, 'not without the password');
      t.equal((await ask(`${url}api/v1/nodes`)).status, 401);
      const page = await ask(url, { ...LOGIN, 'Accept-Encoding': 'gzip' });
      t.equal(page.status, 200);
      t.match(page.headers['content-security-policy'], /default-src 'none'/);
      t.match(page.headers['cache-control'], 'no-store, no-transform');
      const short = await ask(url.slice(0, -1), LOGIN);
      t.ok(short.status > 300 && short.status < 309, 'without the slash it leads to the page');
      t.equal(new URL(String(short.headers.location), url).pathname, '/cluster/');
      const { nodes } = (await ask(`${url}api/v1/nodes?fields=load`, LOGIN)).json() as { nodes: unknown[] };
      t.equal(nodes.length, 24);

      // Looks arrive one by one: a delay of more than two would mean that the proxy buffers them.
      const client = WallClient.open(t, url, '', { ...LOGIN, 'Accept-Encoding': 'gzip, br' });
      for (let i = 0, seq = 0; i < 3; i++) {
        await until('another look', () => client.seq > seq);
        seq = client.seq;
        const last = (await ask(`${direct}api/v1/events`)).json() as { seq: number };
        t.ok(last.seq - seq <= 2, `look ${seq} of ${last.seq}`);
      }
      t.equal(client.headers['content-encoding'], undefined, 'nobody packs it');
      t.equal(client.headers['content-type'], 'application/octet-stream');
      t.strictSame(client.wrong, []);

      if (NO_BROWSER !== undefined) return;
      const context = await newContext(t, { httpCredentials: { username: 'ann', password: 'secret' } });
      const seen = await context.newPage();
      const strays: string[] = [];
      seen.on('request', request => {
        if (!request.url().startsWith(url)) strays.push(request.url());
      });
      await seen.goto(url);
      await holds(seen, `document.querySelector('#line').textContent.includes('24 live')`);
      await holds(seen, `Number(document.querySelector('#cells').dataset.seq) > ${client.seq}`);
      t.strictSame(strays, [], 'it asks for nothing outside of the path');
    },
  );
}
