// The sheet of a node, in a browser: its trouble above all in a place of one height, and the way from one node that is
// not well to the next, by keys and buttons, around, and on a phone.
//
// @seconds 8
// @rest

import t from 'tap';
import { NO_BROWSER } from '../kit/browser.js';
import { holds, look } from './browsing.js';
import { line, MadeWall } from './madewall.js';

const skip = NO_BROWSER ?? false;
/** Ten minutes: a stalled receiver in the second, silent in the fifth, unhealthy since the seventh. */
const BEGAN = Date.parse('2026-03-01T02:00:03Z');
const HISTORY = {
  since_ms: BEGAN,
  states: {
    step_ms: 1000,
    points: [
      ['live', 60],
      [null, 60],
      ['live', 120],
      ['silent', 60],
      ['live', 300],
    ],
    unhealthy: [
      [false, 360],
      [true, 240],
    ],
    gaps: [[60, 60, 'stalled']],
  },
  readings: {
    since_ms: BEGAN,
    step_ms: 10_000,
    points: { cpu: Array.from({ length: 60 }, (_, i) => (i >= 24 && i < 30 ? null : i)) },
  },
};
const NAMES = ['rack10n01', 'rack10n02', 'rack10n03', 'rack10n04'];

for (const [what, viewport] of [
  ['a desk', { width: 1440, height: 900 }],
  ['a phone', { width: 390, height: 844 }],
] as const)
  t.test(`the sheet on ${what}`, { skip }, async t => {
    const wall = new MadeWall([{ name: 'rack10', names: NAMES }], false);
    wall.silent.add('rack10n02').add('rack10n04');
    await wall.listen(t);
    const { page } = await look(t, wall.url, { viewport, timezoneId: 'UTC', locale: 'en-GB' });
    const trouble = { now: [line('silent', 'rack10n02', 1, { severity: 'critical' })] };
    await page.route('**/api/v1/nodes/*', route => {
      const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? '';
      return route.fulfill({
        json: {
          ...{ line: `${name}: silent`, node: { name, state: 'silent' }, sections: [], history: HISTORY },
          trouble: name === 'rack10n02' ? trouble.now : [],
        },
      });
    });
    await page.goto(`${wall.url}?node=rack10n02`);
    const rows = `[...document.querySelectorAll('#sheettrouble p')].map(({ textContent }) => textContent)`;
    await holds(
      page,
      `${rows}.length === 1 && /^critical: has the trouble silent · \\d+ min, since /.test(${rows}[0])`,
    );
    const place = `document.querySelector('#sheetplace')?.textContent`;
    await holds(page, `${place} === '1 of 2 not well'`);

    // More trouble moves nothing below it.
    const top = () => page.evaluate<number>(`document.querySelector('#curves').getBoundingClientRect().top`);
    const before = await top();
    trouble.now = Array.from({ length: 9 }, (_, i) => line(`k${i}`, 'rack10n02', 1));
    await holds(page, `${rows}.length === 9`);
    t.equal(await top(), before, 'the curves have not moved');

    const isAt = (name: string, number: number) =>
      holds(
        page,
        `document.querySelector('#sheetname').textContent === '${name}' && ${place} === '${number} of 2 not well'`,
      );
    await page.focus('#sheetname');
    await page.keyboard.press('ArrowRight');
    await isAt('rack10n04', 2);
    await holds(page, `${rows}.join() === 'No trouble'`);
    await page.keyboard.press('ArrowRight');
    await isAt('rack10n02', 1);
    await page.keyboard.press('ArrowLeft');
    await isAt('rack10n04', 2);
    await page.click('#illafter');
    await isAt('rack10n02', 1);
    t.equal(await page.evaluate('document.activeElement.id'), 'illafter', 'the button keeps the focus');
    const { width, height } = (await page.locator('#illbefore').boundingBox()) ?? { width: 0, height: 0 };
    t.ok(width >= 44 && height >= 44, 'a thumb finds it');
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider than the window');
  });

t.test('without a node that is not well there is no way to one', { skip }, async t => {
  const wall = new MadeWall([{ name: 'rack10', names: NAMES }], false);
  await wall.listen(t);
  const { page } = await look(t, `${wall.url}?node=rack10n01`);
  await holds(page, `document.querySelector('#sheetplace')?.textContent === '0 not well'`);
  t.ok(await page.isDisabled('#illbefore'));
  t.ok(await page.isDisabled('#illafter'));
});

t.test('its last minutes on one axis of time, with what was at each', { skip }, async t => {
  const wall = new MadeWall([{ name: 'rack10', names: NAMES }], true);
  wall.jobs = [{ id: '4711', state: 'RUNNING', user: 'anna', name: '<i>', nodes: 'rack10n[01-03]', node_count: 3 }];
  await wall.listen(t);
  const { page } = await look(t, wall.url, { timezoneId: 'UTC', locale: 'en-GB' });
  await page.route('**/api/v1/nodes/*', route =>
    route.fulfill({
      json: {
        ...{ line: 'rack10n02: live', trouble: [], sections: [{ title: 'Slurm', facts: [['ALLOCATED']] }] },
        ...{ node: { name: 'rack10n02', state: 'live' }, history: HISTORY },
      },
    }),
  );
  await page.goto(`${wall.url}?node=rack10n02`);
  const at = `document.querySelector('#timeat')?.textContent`;
  const value = `document.querySelector('#curves b')?.textContent`;
  await holds(page, `/^[0-9:]{8}: live, unhealthy$/.test(${at}) && ${value} === '59 %'`);
  t.same(await page.evaluate(`[...document.querySelectorAll('.ticks span')].map(({ textContent }) => textContent)`), [
    '01:55',
    '02:02',
    '02:10',
  ]);
  t.equal(await page.evaluate(`document.querySelector('#curves small').textContent`), '0 % to 100 %');
  // The band and the curve are in the right part of their axis: five of fifteen minutes were not recorded.
  const bars = `[...document.querySelectorAll('#band rect')].map(bar => [bar.getAttribute('class'), Number(bar.getAttribute('x'))])`;
  t.same(await page.evaluate(bars), [
    ['live', 300],
    ['gap', 360],
    ['live', 420],
    ['silent', 540],
    ['live', 600],
    ['unhealthy', 660],
  ]);
  const path = await page.evaluate<string>(`document.querySelector('#curves path').getAttribute('d')`);
  t.match(path, /^M300 34\.0h10L310 33\.7h10L.*h10M600 /, 'it is interrupted where nothing was measured');

  const band = await page.locator('#band').boundingBox();
  if (band === null) throw new Error('there is no band');
  const pointAt = (second: number) => page.mouse.move(band.x + (band.width * (second + 0.5)) / 900, band.y + 60);
  for (const [second, says, cpu] of [
    [100, '01:56:43: not recorded: beoboard web began later; readings since 02:00:03', '–'],
    [330, '02:00:33: live', '3 %'],
    [390, '02:01:33: the receiver did not listen', '9 %'],
    [570, '02:04:33: silent', '–'],
    [700, '02:06:43: live, unhealthy', '40 %'],
  ] as const) {
    await pointAt(second);
    await holds(page, `${at} === '${says}' && ${value} === '${cpu}'`);
  }
  await page.mouse.move(5, 5);
  await holds(page, `/^[0-9:]{8}: live, unhealthy$/.test(${at})`);

  await page.focus('#band');
  const valueText = () => page.getAttribute('#band', 'aria-valuetext');
  for (const [key, text] of [
    ['ArrowLeft', '02:09:53, live, unhealthy, CPU 59 %'],
    ['ArrowLeft', '02:09:43, live, unhealthy, CPU 58 %'],
    ['PageDown', '02:08:43, live, unhealthy, CPU 52 %'],
    ['Home', '01:55:03, not recorded: beoboard web began later, CPU not measured'],
    ['End', '02:10:03, live, unhealthy, CPU 59 %'],
  ] as const) {
    await page.keyboard.press(key);
    t.equal(await valueText(), text, key);
  }
  t.equal(await page.evaluate(`document.querySelector('#sheetname').textContent`), 'rack10n02', 'the same node');
  t.match(new URL(page.url()).search, /node=rack10n02/);

  const job = `document.querySelector('#sheetjobs button')`;
  await holds(page, `${job}?.textContent === 'Job 4711 of anna · RUNNING · <i> · 3 nodes'`);
  await page.click('#sheetjobs button');
  await holds(page, `new URL(location).searchParams.get('select') === 'rack10n[01-03]'`);
  await holds(page, `document.querySelector('#sheetname')?.textContent === 'Job 4711'`);
});
