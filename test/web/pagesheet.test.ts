// The sheet of a node, in a browser: its trouble above all in a place of one height, and the way from one node that is
// not well to the next, by keys and buttons, around, and on a phone.
//
// @seconds 8

import t from 'tap';
import { NO_BROWSER } from '../kit/browser.js';
import { holds, look } from './browsing.js';
import { line, MadeWall } from './madewall.js';

const skip = NO_BROWSER ?? false;
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
          ...{
            line: `${name}: silent`,
            node: { name, state: 'silent' },
            sections: [],
            history: { readings: { points: {} } },
          },
          trouble: name === 'rack10n02' ? trouble.now : [],
        },
      });
    });
    await page.goto(`${wall.url}?node=rack10n02`);
    const rows = `[...document.querySelectorAll('#sheettrouble p')].map(({ textContent }) => textContent)`;
    await holds(page, `${rows}.length === 1 && ${rows}[0].startsWith('critical: has the trouble silent · since ')`);
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
