// What changed, in a real browser: events as they happen and of before the page was opened, filtered by what is chosen and
// by a minute of the river.
//
// @seconds 6
// @waits
// @rest

import t from 'tap';
import { NO_BROWSER } from '../kit/browser.js';
import { until } from '../kit/until.js';
import { holds, leave, look, startLoad, startWall } from './browsing.js';
import { MadeWall, SIZES } from './madewall.js';

const skip = NO_BROWSER ?? false;

t.test('events by time, nodes and kind', async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'a1']);
  const ask = async (query: string) =>
    (await (await fetch(`${wall.url}api/v1/events?${query}`)).json()) as {
      events: { nodes?: string; text: string }[];
      from: string;
      whole: boolean;
      more: number;
    };
  await until('they are new', async () => (await ask('kind=new')).events.some(({ nodes }) => nodes === 'a1'));
  startLoad(t, wall, ['--nodes', 'b1']);
  await until('so is another', async () => (await ask('kind=new&nodes=b1')).events.length === 1);
  t.same(
    (await ask('kind=new&nodes=a1,b7')).events.map(({ nodes }) => nodes),
    ['a1'],
  );
  t.same((await ask('kind=silent,oom')).events, []);
  const { from, whole, more } = await ask(`since=${new Date().toISOString()}`);
  t.match({ whole, more }, { whole: true, more: 0 });
  t.ok(Date.parse(from) <= Date.now());
  t.equal((await ask('since=1h')).whole, false, 'this server does not know of an hour ago');
  t.equal((await ask(`since=@${Math.floor(Date.now() / 1000) - 3600}`)).whole, false);
  for (const [query, why] of [
    ['since=tomorrow', /is no moment/],
    ['since=1795915200', /the present look \d+; write @1795915200 for/],
    ['since=1795915200000', /the present look \d+; write @1795915200 for/],
    ['since=99999999d', /is too far away/],
    ['kind=xyzzy', /'xyzzy' is not a kind of event/],
    ['nodes=a[', /host list/],
    ['node=a1', /node/],
  ] as const) {
    const response = await fetch(`${wall.url}api/v1/events?${query}`);
    t.equal(response.status, 400, query);
    t.match(await response.text(), why);
  }
});

t.test('a list below the river', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'rack1n1']);
  const { page, complaints } = await look(t, wall.url);
  await holds(page, `document.querySelector('#line').textContent.includes('1 live')`);
  await page.keyboard.press('e');
  t.equal(await page.evaluate('document.activeElement.id'), 'changedframe');
  const lines = () =>
    page.evaluate<string[]>(`[...document.querySelectorAll('#changed button')].map(one => one.textContent)`);
  const has = (text: string, times = 1) =>
    until(text, async () => (await lines()).filter(line => line.includes(text)).length === times);
  await has('rack1n');
  const height = await page.evaluate<number>(`document.querySelector('#changedframe').clientHeight`);
  startLoad(t, wall, ['--nodes', 'rack2n1']);
  await holds(page, `document.querySelector('#changednew').textContent === '1 new'`);
  await has('rack2n', 0);
  await leave(page);
  await has('rack2n');
  t.equal(await page.textContent('#changednew'), '');
  t.match((await lines())[0], /^\d\d:\d\d:\d\d {2}.*rack2n/, 'the newest first');
  t.equal(await page.evaluate(`document.querySelector('#changedframe').clientHeight`), height);
  t.match(
    await page.textContent('#changedsince'),
    /^Without a journal \(.*start beoboard journal.*\): since \d\d:\d\d:\d\d, when this server began$/,
  );

  // A line selects its nodes, and what is chosen filters the list.
  await page.evaluate(`document.querySelector('#flow').scrollIntoView({ block: 'center' })`);
  /** How many columns of pixels a mark on the river covers. */
  const marked = `(() => {
    const flow = document.querySelector('#flow');
    const colour = getComputedStyle(flow).color.match(/\\d+/g).join();
    const { data } = flow.getContext('2d').getImageData(0, 0, flow.width, 1);
    return Array.from({ length: flow.width }, (_, x) => data.slice(4 * x, 4 * x + 3).join()).filter(pixel => pixel === colour).length;
  })()`;
  t.equal(await page.evaluate(marked), 0);
  await page.click('#changed button');
  await holds(page, `location.search.includes('select=') && ${marked} > 1`);
  await has('rack1n', 0);
  t.equal((await lines()).filter(line => line.includes('rack2n')).length, 1);
  await page.keyboard.press('Escape');
  await has('rack1n');
  await holds(page, `${marked} === 0`);

  // A minute of the river, and back.
  const box = await page.locator('#flow').boundingBox();
  if (box === null) throw new Error('the river has no place');
  await page.mouse.click(box.x + box.width * 0.3, box.y + box.height / 2);
  await page.keyboard.press('e');
  await holds(page, `document.querySelector('#changedsince').textContent.includes('; only ')`);
  t.same(await lines(), [], 'nothing had happened then');
  const wide = box.width / 15;
  await holds(page, `Math.abs(${marked} - ${wide}) < 5`);
  await page.keyboard.press('Escape');
  await has('rack1n');
  await holds(page, `${marked} === 0`);
  t.same(complaints, []);
});

t.test('no line is cut, and none moves while somebody is in the list', { skip }, async t => {
  const wall = new MadeWall([{ name: 'rack10', names: ['rack10n01', 'rack10n02'] }], false);
  await wall.listen(t);
  const long = 'has memory errors that were not corrected, of which the last was in the third module of processor';
  for (const i of Array.from({ length: 12 }).keys()) {
    wall.say({});
    wall.happen(i % 3 === 0 ? `rack10n01 ${long} ${i}` : `rack10n01 was ${i}`);
  }
  const { page, complaints } = await look(t, wall.url, { timezoneId: 'UTC', locale: 'en-GB' });
  const rows = `[...document.querySelectorAll('#changed button')]`;
  await holds(page, `${rows}.length === 12`);
  const places = () =>
    page.evaluate(
      `${rows}.map(row => [row.textContent, ...Object.values(row.getBoundingClientRect().toJSON())].join(' '))`,
    );
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    await holds(page, `innerWidth === ${width}`);
    await page.evaluate(`document.querySelector('#changedpart').scrollIntoView()`);
    await holds(page, `document.querySelector('#changednew').textContent === ''`);
    const cut = `${rows}.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).length`;
    t.equal(await page.evaluate(cut), 0, `${width} px: nothing is cut`);
    // By the pointer, and by the keyboard.
    for (const come of [
      () => page.hover('#changed li:nth-child(2)'),
      () => page.focus('#changed li:nth-child(2) button'),
    ]) {
      await leave(page);
      await holds(page, `document.querySelector('#changednew').textContent === ''`);
      await come();
      const before = await places();
      wall.say({});
      wall.happen(`rack10n01 ${long}; now ${wall.head.seq}`);
      wall.say({});
      wall.happen(`rack10n01 is ${wall.head.seq}`);
      await holds(page, `document.querySelector('#changednew').textContent === '2 new'`);
      t.same(await places(), before, `${width} px: no row moves`);
      await leave(page);
      await holds(page, `${rows}[0].textContent.endsWith('rack10n01 is ${wall.head.seq}')`);
    }
  }
  t.same(complaints, []);
});

t.test('the same again is one line, however long it lasted and whatever the journal has folded', { skip }, async t => {
  const wall = new MadeWall([{ name: 'rack10', names: ['rack10n01', 'rack10n02'] }], false);
  await wall.listen(t);
  const happened = (second: number, text: string, more: number[] = []) => ({
    ...{ time: new Date(wall.now + 1000 * second).toISOString(), event: 'made', nodes: 'rack10n01', more: more[0] },
    text: `rack10n01 ${text}${more.map(times => `; ${times} more in the minute before`)}`,
  });
  const events = [
    happened(-300, 'silent', [4]),
    happened(-280, 'heard again after 21.3s'),
    happened(-200, 'silent', [2]),
    happened(-90, 'heard again after 1h02m', [1]),
    happened(-60, 'booted, last heard 2026-03-01T02:08:20Z', [3]),
    happened(-30, 'silent'),
  ].map((event, i) => ({ ...event, seq: i + 1 }));
  const { page } = await look(t, wall.url, { timezoneId: 'UTC', locale: 'en-GB' });
  await page.route('**/api/v1/events*', route =>
    route.fulfill({ json: { journal: true, from: '2026-03-01T01:00:00Z', whole: true, more: 0, events } }),
  );
  await page.reload();
  await page.keyboard.press('e');
  await holds(page, `document.querySelectorAll('#changed button').length === 3`);
  t.same(await page.evaluate(`[...document.querySelectorAll('#changed button')].map(one => one.textContent)`), [
    '02:09:33  rack10n01 silent; 5 times since 02:05:03',
    '02:09:03  rack10n01 booted, last heard 02:08:20; 3 more in the minute before',
    '02:08:33  rack10n01 heard again after 1h02m; 3 times since 02:05:23',
  ]);
});
