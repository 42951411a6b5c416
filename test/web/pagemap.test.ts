// The map in a real browser: its colours are those of the API's answers for the same tick, and events on the board
// (nodes that die, a rack, a stall, a restart, another board) are visible within two ticks. Times are compared by the
// numbers of ticks, never by a clock.
//
// @seconds 21
// @waits
// @rest
// @days 3

import { rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t from 'tap';
import { fromHex, shades, stepOf } from '../../src/web/page/palette.js';
import { VALUE_MOST } from '../../src/web/wire.js';
import { NO_BROWSER } from '../kit/browser.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';
import { colours, holds, lastSeq, look, middles, shown, startLoad, startWall, tickOf } from './browsing.js';

const skip = NO_BROWSER ?? false;

t.test('ten cells have the colours of the API at the same tick', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'rack[01-20]n[01-50]']);
  const { page, complaints } = await look(t, `${wall.url}?theme=dark`);
  await holds(page, `document.querySelector('#line').textContent.includes('1000 live')`);
  const names = Array.from(
    { length: 10 },
    (_, i) => `rack${String(2 * i + 1).padStart(2, '0')}n${String(5 * i + 3).padStart(2, '0')}`,
  );
  const places = await middles(page, names);
  t.equal(new Set(places.map(({ x, y }) => `${x} ${y}`)).size, 10, 'ten places');
  const scale = shades(fromHex('#212a32'), fromHex('#555f68'));
  for (let round = 0; round < 2; round++) {
    const { seq, rgb, nodes } = await until('the server still keeps what the page shows', async () => {
      const seen = await colours(page, places);
      const tick = await tickOf(wall.url, seen.seq).catch(() => undefined);
      return tick && { ...tick, ...seen };
    });
    const expected = names.map(name => {
      const { cpu } = nodes.find(node => node.name === name) as unknown as { cpu: number };
      return [...(scale[stepOf(Math.round((cpu * VALUE_MOST) / 100), VALUE_MOST)] as readonly number[])];
    });
    t.same(rgb, expected, `tick ${seq}`);
    await holds(page, `document.querySelector('#cells').dataset.seq > ${seq + 1}`);
  }
  t.same(complaints, []);
});

/** Waits until `expression` holds in the page, and notes whether the page was then more than two ticks behind. */
async function appears(
  page: Page,
  url: string,
  what: string,
  expression: string,
): Promise<{ what: string; late: boolean; seq: number }> {
  await holds(page, expression);
  const [{ seq }, last] = [await shown(page), await lastSeq(url)];
  return { what, late: last - seq > 2, seq };
}

const isSilent = (page: Page, url: string) => async () => {
  const { seq } = await shown(page);
  const { nodes } = await tickOf(url, seq).catch(() => ({ nodes: [] }));
  const silent = nodes.filter(({ state }) => state === 'silent').length;
  const onPage = await page.evaluate<string>(`document.querySelector('[data-state="silent"] b')?.textContent ?? '0'`);
  return { silent, onPage: Number(onPage) };
};

t.test('what happens on the board is on the map within two ticks', { skip }, async t => {
  // Shorter limits than the defaults, so that the test is shorter.
  const wall = await startWall(t, ['--uncertain-after', '2s', '--silent-after', '4s']);
  const fast = ['--interval', '300ms'];
  startLoad(t, wall, ['--nodes', 'rack1n[01-12]', ...fast]);
  const rack = startLoad(t, wall, ['--nodes', 'rack2n[01-12]', ...fast]);
  const { page, complaints } = await look(t, `${wall.url}?theme=dark`);
  const happened: { what: string; late: boolean }[] = [];
  const see = async (what: string, expression: string) =>
    happened.push(await appears(page, wall.url, what, expression));
  const line = (words: string) => `document.querySelector('#line').textContent.includes('${words}')`;
  const life = (word: string) => `document.documentElement.dataset.life === '${word}'`;

  // How long the first picture takes is another question.
  await holds(page, line('24 live'));
  const [place] = await middles(page, ['rack2n07']);
  const before = await colours(page, [place as { x: number; y: number }]);

  // A rack dies at once: its senders are killed.
  rack.child.kill('SIGKILL');
  await see('a rack is silent', line('12 silent'));
  const counted = await isSilent(page, wall.url)();
  t.same(counted, { silent: 12, onPage: 12 }, 'the same nodes as the API has at that tick');
  const after = await colours(page, [place as { x: number; y: number }]);
  t.notSame(after.rgb, before.rgb, 'their cells look otherwise');
  t.match(await page.textContent('#here'), /^rack2n07 · silent/);

  // The river shows it, too: the newest column of its row, which is below the other rack's, has the colour of silence.
  const newest = (row: number) => `(() => {
    const flow = document.querySelector('#flow');
    const [x, y] = [flow.width - 1, Math.round((${row} + 0.5) * flow.height / 2)];
    return String(flow.getContext('2d').getImageData(x, y, 1, 1).data.slice(0, 3));
  })()`;
  await holds(page, `${newest(1)} === '255,95,79' && ${newest(0)} !== '255,95,79' && ${newest(0)} !== '0,0,0'`);

  // The receiver hangs, and then continues.
  wall.receiver.child.kill('SIGSTOP');
  await see('stalled', life('stalled'));
  t.match(await page.textContent('#banner'), /nothing is known about any node/);
  // After fading, nothing looks live.
  await holds(page, `getComputedStyle(document.querySelector('#stage canvas')).filter === 'grayscale(1)'`);
  wall.receiver.child.kill('SIGCONT');
  await see('going on', `${life('ok')} && ${line('12 live')}`);

  // It is ended, and another one starts on the same board.
  wall.receiver.child.kill('SIGTERM');
  await wall.receiver.exit;
  await see('ended', `!(${life('ok')})`);
  const receive = [
    'receive',
    '--board',
    wall.board,
    '--listen',
    `127.0.0.1:${wall.receiver.port}`,
    '--capacity',
    '2048',
  ];
  const second = start(t, receive);
  await second.ready;
  await see('a restart', `${life('ok')} && ${line('12 live')}`);

  // The board is replaced by another one, of another cluster.
  second.child.kill('SIGTERM');
  await second.exit;
  rmSync(wall.board);
  const third = start(t, [...receive, '--cluster', 'beta']);
  await third.ready;
  startLoad(t, { receiver: wall.receiver }, ['--nodes', 'other[1-3]', '--cluster', 'beta', ...fast]);
  await see('another board', `${life('ok')} && ${line('beta: 3 nodes: 3 live')}`);
  await holds(page, `document.querySelector('#brand').textContent === 'beta'`);
  t.same(
    happened.filter(({ late }) => late),
    [],
    'none was seen later',
  );
  t.equal(happened.length, 6);
  t.same(complaints, []);
});
