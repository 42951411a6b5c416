// A page behind lines of several rates, directly and through the proxies of docs/web.md. No test of its own.

import { spawnSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { newContext } from '../kit/browser.js';
import { boardPath } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { PROXIES, startProxy } from '../kit/proxies.js';
import { SlowLine } from '../kit/slowline.js';
import { until } from '../kit/until.js';
import { holds, lastSeq, startLoad } from './browsing.js';
import { startWeb } from './webclient.js';

/**
 * What the page says for so many seconds behind lines of these rates, B/s, and behind each proxy, if there is a rate for
 * them; the page itself is loaded at `loadsAt`. It never says that it is live while what it shows is old, and when the line is better it has all again.
 */
export async function behindLines(
  t: Test,
  terms: { nodes: string; rates: number[]; behindProxies?: number; loadsAt?: number; seconds: number },
): Promise<void> {
  const { nodes, rates, behindProxies, loadsAt, seconds } = terms;
  const board = boardPath(t);
  const receiver = await startReceiver(t, board, ['--capacity', '11000']);
  startLoad(t, { receiver }, ['--nodes', nodes]);
  const web = await startWeb(t, board, ['--base', '/cluster']);
  const direct = `http://127.0.0.1:${web.port}/cluster/`;
  const lines: { name: string; line: SlowLine; rate: number; page: Page; said: string[] }[] = [];
  const open = async (name: string, port: number, rate: number) => {
    const line = await SlowLine.before(t, port, loadsAt ?? rate);
    const context = await newContext(t, {
      viewport: { width: 800, height: 600 },
      httpCredentials: { username: 'ann', password: 'secret' },
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    await page.goto(`http://127.0.0.1:${line.port}/cluster/`);
    lines.push({ name, line, rate, page, said: [] });
  };
  for (const rate of rates) await open(`${rate / 1000} kB/s`, web.port, rate);
  for (const proxy of behindProxies === undefined ? [] : PROXIES) {
    if (process.env.CI !== 'true' && spawnSync(proxy.program, ['-v']).error) continue;
    const url = await startProxy(t, proxy, web.port);
    await open(
      `${(behindProxies ?? 0) / 1000} kB/s behind ${proxy.name}`,
      Number(new URL(url).port),
      behindProxies ?? 0,
    );
  }
  for (const { name, page } of lines)
    await holds(page, `document.querySelector('#cells').dataset.seq !== undefined`).catch(async (error: Error) => {
      throw new Error(`${name}: ${await page.textContent('body')}`, { cause: error });
    });
  for (const { line, rate } of lines) line.rate = rate;
  const shows = `({ seq: Number(document.querySelector('#cells').dataset.seq),
    life: document.documentElement.dataset.life, pace: document.querySelector('#pace').textContent })`;
  for (let i = 0; i < seconds; i++) {
    await new Promise(next => setTimeout(next, 1000));
    for (const { name, page, said } of lines) {
      const last = await lastSeq(direct);
      const { seq, life, pace } = await page.evaluate<{ seq: number; life: string; pace: string }>(shows);
      const every = Number(/every (\d+) s/.exec(pace)?.[1] ?? 1);
      const late = last - seq - every;
      said.push(`${last} ${seq} ${pace}`);
      // A second for the rounding of looks, and one for the page's timer.
      if (late > 5 && (life === 'ok' || pace.includes('live'))) t.fail(`${name}: ${late} s late, and says ${pace}`);
    }
  }
  for (const { name, line, rate, said } of lines) {
    t.comment(`${name}: ${said.at(-1)}`);
    if (rate === Math.min(...rates))
      t.ok(
        said.some(pace => pace.includes('every') || !pace.includes('live')),
        `${name}: it says that it is behind, or has looks less often`,
      );
    line.rate = 10_000_000;
  }
  // A shorter interval is tried after looks of 2.5 times the longer one, 30 s, have come soon enough.
  for (const { name, page } of lines)
    await until(`${name}: live again`, async () => (await page.textContent('#pace')) === '· live', 100, {
      withinMs: 120_000,
    });
  t.pass('all are live again');
}
