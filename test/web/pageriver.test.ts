// The river in a real browser: what it says of a time that the page missed, or the server, or that was before both.
//
// @seconds 32
// @waits
// @rest
// @days 3

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Page } from 'playwright-core';
import t from 'tap';
import { RIVER } from '../../src/web/wire.js';
import { NO_BROWSER } from '../kit/browser.js';
import type { Teardown } from '../kit/places.js';
import { until } from '../kit/until.js';
import { holds, lastSeq, look, shown, startLoad, startWall } from './browsing.js';
import { MadeWall } from './madewall.js';

const skip = NO_BROWSER ?? false;

/** A way to `url` that can be cut. */
async function cuttable(t: Teardown, url: string) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer(socket => {
    const ends = [socket, connect(Number(new URL(url).port), '127.0.0.1')];
    for (const [i, end] of ends.entries()) {
      sockets.add(end);
      const other = ends[1 - i] as Socket;
      end.on('error', () => other.destroy());
      end.on('close', () => {
        other.destroy();
        sockets.delete(end);
      });
      end.pipe(other);
      if (isCut) end.destroy();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const cut = (isNow: boolean) => {
    isCut = isNow;
    if (isCut) for (const socket of sockets) socket.destroy();
  };
  t.teardown(() => {
    cut(true);
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`, cut };
}

/** What the first row of the river says, under the pointer, of so many seconds ago. */
async function told(page: Page, ago: number): Promise<string> {
  await page.evaluate(`document.querySelector('#flow').scrollIntoView({ block: 'center' })`);
  const [left, top, width] = await page.evaluate<[number, number, number]>(
    `(({ left, top, width }) => [left, top, width])(document.querySelector('#flow').getBoundingClientRect())`,
  );
  const x = left + ((RIVER.columns - 0.5 - ago) * width) / RIVER.columns;
  // The text follows a pointer that moves.
  await page.mouse.move(x, top + 3);
  await page.mouse.move(x, top + 4);
  await page.evaluate(`new Promise(next => requestAnimationFrame(() => requestAnimationFrame(next)))`);
  return (await page.textContent('#tip')) ?? '';
}

t.test('a time that the page missed is what the server saw', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'rack[1-2]n[1-6]']);
  const way = await cuttable(t, wall.url);
  const { page, complaints } = await look(t, way.url);
  await holds(page, `document.querySelector('#line').textContent.includes('12 live')`);
  /** The same of a look of the server, which may be one ahead of the page. */
  const toldOf = async (seq: number) => told(page, (await lastSeq(wall.url)) - seq);
  await until('it is drawn', async () => / · CPU/.test(await told(page, 1)));
  t.match(await told(page, RIVER.columns - 2), /^rack1 · .* · not recorded: beoboard web began later$/);

  /** The look in the middle of a time in which the page gets nothing. */
  const miss = async (begin: () => unknown, end: () => unknown) => {
    await begin();
    // An invisible page leaves its stream after five seconds.
    const from = await until('it hears nothing', async () => {
      const [{ seq }, last] = [await shown(page), await lastSeq(wall.url)];
      return last > seq + 2 && seq;
    });
    await until('ten looks', async () => (await lastSeq(wall.url)) > from + 10);
    await end();
    await holds(page, `document.querySelector('#cells').dataset.seq > ${from + 10}`);
    return from + 5;
  };
  const hide = (isHidden: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { get: () => '${isHidden ? 'hidden' : 'visible'}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    `);
  for (const [how, set] of Object.entries({ hidden: hide, cut: way.cut })) {
    const middle = await miss(
      () => set(true),
      () => set(false),
    );
    const texts = new Set<string>();
    await until(`${how}: it is filled`, async () => {
      const text = await toldOf(middle);
      texts.add(text.replace(/ · [\d:.]+( [AP]M)?/, ''));
      return / · CPU/.test(text);
    });
    for (const text of texts) if (!/ · CPU/.test(text)) t.equal(text, 'rack1 · not known to this page', how);
  }

  // What the receiver missed is told as such.
  wall.receiver.child.kill('SIGSTOP');
  await holds(page, `document.documentElement.dataset.life === 'stalled'`);
  const seq = (await lastSeq(wall.url)) + 2;
  await until('looks at a stalled board', async () => (await lastSeq(wall.url)) > seq + 2);
  t.match(await toldOf(seq), / · the receiver did not listen$/);
  wall.receiver.child.kill('SIGCONT');
  await holds(page, `document.documentElement.dataset.life === 'ok'`);
  await page.reload();
  await until('the server knows it, too', async () => / · the receiver did not listen$/.test(await toldOf(seq)));
  // The browser complains of requests that were cut off, in several words.
  t.same(
    complaints.filter(complaint => !/net::ERR_/.test(complaint)),
    [],
  );
});

t.test(
  'on a phone the silent are in the legend, and no time of the axis is cut or covers another',
  { skip },
  async t => {
    const wall = new MadeWall([{ name: 'rack10', names: ['rack10n01', 'rack10n02'] }], false);
    await wall.listen(t);
    const viewport = { width: 390, height: 844 };
    const { page } = await look(t, wall.url, { viewport, timezoneId: 'UTC', locale: 'en-GB' });
    t.ok(
      await page.evaluate(
        `document.querySelector('#states [data-state="silent"]').getBoundingClientRect().right <= innerWidth`,
      ),
    );
    await page.evaluate(`document.querySelector('#times').scrollIntoView({ block: 'end' })`);
    const begin = await page.textContent('#times span');
    t.match(begin, /^since 02:10:0/);
    for (let second = 0; second < RIVER.columns - 30; second += 50) {
      wall.head = { ...wall.head, now_ms: wall.head.now_ms + 49_000 };
      const newest = wall.head.now_ms / 1000 + 1;
      wall.say({});
      await holds(page, `document.querySelector('#cells').dataset.seq === '${wall.head.seq}'`);
      await page.evaluate(`new Promise(next => requestAnimationFrame(() => requestAnimationFrame(next)))`);
      const [texts, sides] = await page.evaluate<[string[], [left: number, right: number][]]>(`(() => {
      const marks = [...document.querySelectorAll('#times span')].map(mark => [mark.textContent, mark.getBoundingClientRect()])
        .sort(([, a], [, b]) => a.left - b.left);
      return [marks.map(([text]) => text), marks.map(([, { left, right }]) => [left, right])];
    })()`);
      t.ok(texts.includes(begin ?? ''), `${newest}: ${texts}`);
      t.ok(
        sides.every(([left, right], i) => right <= 390 && left >= (sides[i - 1]?.[1] ?? 0)),
        `${newest}: ${sides}`,
      );
    }
  },
);
