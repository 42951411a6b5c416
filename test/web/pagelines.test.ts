// A page behind lines of several rates, directly and through the proxies of docs/web.md: it never says that it is live
// while what it shows is old, it takes as much as the line carries, and all again when the line is better.
//
// @seconds 120
// @waits
// @rest

import { spawnSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import t from 'tap';
import { Pace } from '../../src/web/page/pace.js';
import { NO_BROWSER, newContext } from '../kit/browser.js';
import { boardPath } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { PROXIES, startProxy } from '../kit/proxies.js';
import { SlowLine } from '../kit/slowline.js';
import { until } from '../kit/until.js';
import { holds, lastSeq, startLoad } from './browsing.js';
import { startWeb } from './webclient.js';

t.test('how old a look is follows from the clocks, and the interval from that', async t => {
  const pace = new Pace();
  t.equal(pace.age(0), undefined);
  // The server's clock is an hour ahead, and a second of the way was its answer's.
  pace.measured(1000, 3000, 3_601_000);
  t.equal(pace.serverMs(3000), 3_602_500);
  pace.measured(4000, 4020, 3_604_010);
  pace.measured(5000, 9000, 3_607_000);
  t.equal(pace.serverMs(5000), 3_605_000, 'the shortest way tells best');
  pace.measured(10_000, 10_100, 10_050);
  t.equal(pace.serverMs(10_000), 10_000, 'and a clock that was set counts at once');
  pace.opened();
  pace.looked(10_000, 10_100);
  let now = 10_100;
  /** A look each second for so long, each so late. */
  const lasts = (seconds: number, late: number) => {
    for (let i = 0; i < seconds; i++) {
      now += 1000;
      if ((now - 10_100) % (1000 * pace.every) === 0) pace.looked(now - late, now);
      const wanted = pace.wanted(now);
      if (wanted !== undefined) {
        pace.opened(wanted);
        pace.looked(now - Math.min(late, 700), now);
      }
    }
    return pace.every;
  };
  t.equal(lasts(60, 100), 1);
  t.equal(pace.behind(now), undefined);
  t.equal(pace.behind(now + 4000), 4);
  t.ok(lasts(2, 9500) > 1, '9 s late: opened anew');
  t.equal(lasts(60, 100), 1, 'and at once again when the line can do more');
});

const RATES = [20_000, 50_000, 200_000, 1_000_000];

t.test('a page behind a slow line', { skip: NO_BROWSER ?? false, timeout: 600_000 }, async t => {
  const board = boardPath(t);
  const receiver = await startReceiver(t, board, ['--capacity', '11000']);
  startLoad(t, { receiver }, ['--nodes', 'rack[1-200]n[01-50]']);
  const web = await startWeb(t, board, ['--base', '/cluster']);
  const direct = `http://127.0.0.1:${web.port}/cluster/`;
  const lines: { name: string; line: SlowLine; page: Page; said: string[] }[] = [];
  const open = async (name: string, port: number, rate: number) => {
    const line = await SlowLine.before(t, port, rate);
    const context = await newContext(t, {
      viewport: { width: 800, height: 600 },
      httpCredentials: { username: 'ann', password: 'secret' },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`http://127.0.0.1:${line.port}/cluster/`);
    lines.push({ name, line, page, said: [] });
  };
  for (const rate of RATES) await open(`${rate / 1000} kB/s`, web.port, rate);
  for (const proxy of PROXIES) {
    if (process.env.CI !== 'true' && spawnSync(proxy.program, ['-v']).error) continue;
    const url = await startProxy(t, proxy, web.port);
    await open(`30 kB/s behind ${proxy.name}`, Number(new URL(url).port), 30_000);
  }
  for (const { name, page } of lines)
    await holds(page, `document.querySelector('#cells').dataset.seq !== undefined`).catch(async (error: Error) => {
      throw new Error(`${name}: ${await page.textContent('body')}`, { cause: error });
    });
  const shows = `({ seq: Number(document.querySelector('#cells').dataset.seq),
    life: document.documentElement.dataset.life, pace: document.querySelector('#pace').textContent })`;
  for (let i = 0; i < 45; i++) {
    await new Promise(next => setTimeout(next, 1000));
    for (const { name, page, said } of lines) {
      const last = await lastSeq(direct);
      const { seq, life, pace } = await page.evaluate<{ seq: number; life: string; pace: string }>(shows);
      const every = Number(/every (\d+) s/.exec(pace)?.[1] ?? 1);
      const late = last - seq - every;
      said.push(`${last} ${seq} ${pace}`);
      // A second for the rounding of looks, and one for the page's timer.
      if (late > 5 && (life === 'ok' || pace.includes('live'))) t.fail(`${name}: ${late} s late, and says ${pace}`);
      if (i > 30 && late > 14) t.fail(`${name}: after ${i} s ${late} s late: ${pace}`);
    }
  }
  for (const { name, line, said } of lines) {
    t.comment(`${name}: ${said.at(-1)}`);
    line.rate = 10_000_000;
  }
  for (const { name, page } of lines)
    await until(`${name}: live again`, async () => (await page.textContent('#pace')) === '· live');
  t.pass('all are live again');
});
