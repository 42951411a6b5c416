// Accessibility of the page: axe finds no violation, in both themes, on a wall and a phone; and with reduced motion or
// forced colours nothing moves or is lost.
//
// @seconds 15
// @rest
// @days 3

import type { BrowserContextOptions } from 'playwright-core';
import t from 'tap';
import { NO_BROWSER } from '../kit/browser.js';
import { objections } from './axe.js';
import { holds, look, startLoad, startWall } from './browsing.js';
import { line, MadeWall } from './madewall.js';

const skip = NO_BROWSER ?? false;
t.test('axe has no objection', { skip }, async t => {
  const wall = await startWall(t, ['--nodes', 'rack1n[01-12],rack2n[01-12],spare[1-2]']);
  startLoad(t, wall, ['--nodes', 'rack1n[01-12],rack2n[01-12]']);
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const looks: [name: string, query: string, options: BrowserContextOptions][] = [
    ['a desk, dark', '', { colorScheme: 'dark' }],
    ['a desk, light', '', { colorScheme: 'light' }],
    ['a wall, dark', '?wall', { colorScheme: 'dark', viewport: { width: 1920, height: 1080 } }],
    ['a group, on a phone', '?group=spare', { ...phone, colorScheme: 'dark' }],
    ['a node', '?node=rack1n01', { colorScheme: 'dark' }],
    ['a node, light, on a phone', '?node=rack1n01', { ...phone, colorScheme: 'light' }],
  ];
  for (const [name, query, options] of looks) {
    const { page, context, complaints } = await look(t, wall.url + query, options);
    await holds(page, `document.querySelector('#line').textContent.includes('24 live')`);
    if (query.includes('node=')) await holds(page, `document.querySelector('#sections p') !== null`);
    t.same(await objections(page), [], name);
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name}: nothing sticks out`);
    t.same(complaints, [], name);
    await context.close();
  }
});

t.test('nor to trouble', { skip }, async t => {
  const names = Array.from({ length: 12 }, (_, i) => `n${i + 1}`);
  const wall = new MadeWall([{ name: 'all', names }], true);
  await wall.listen(t);
  const jobs = [{ id: '4712', user: 'bert' }];
  wall.head = {
    ...wall.head,
    line: 'alpha: 12 nodes: 8 live, 4 silent, 1 unhealthy; listening without gaps for 3 h',
    counts: { live: 8, silent: 4 },
    unhealthy: 1,
    mirror: 'mirror of m1, 1.2 s behind',
    trouble: [
      line('silent', 'n[1-4]', 4, { severity: 'critical', jobs, times: 3, times_since: '2026-03-01T01:00:00Z' }),
      line('full', 'n5', 1),
      line('kernel', 'n6', 1, { severity: 'notice' }),
      line('late', 'n7', 1, { dim: 'ended', ended: '2026-03-01T02:00:00Z' }),
    ],
  };
  const looks: [query: string, options: BrowserContextOptions][] = [
    ['?theme=dark&trouble=silent', { viewport: { width: 1440, height: 900 } }],
    ['?theme=light&trouble=full', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
    ['?wall&theme=light', { viewport: { width: 1920, height: 1080 } }],
  ];
  for (const [query, options] of looks) {
    const { page, context } = await look(t, wall.url + query, options);
    await holds(page, `document.querySelectorAll('#trouble > div').length === 4`);
    if (!query.includes('wall')) await page.focus('#trouble');
    t.same(await objections(page), [], query);
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${query}: nothing sticks out`);
    await context.close();
  }
});

t.test('with reduced motion nothing moves, and forced colours are respected', { skip }, async t => {
  const wall = await startWall(t);
  // The page is open before the nodes report.
  const { page } = await look(t, wall.url, { reducedMotion: 'reduce', forcedColors: 'active' });
  startLoad(t, wall, ['--nodes', 'n[1-3]']);
  await holds(page, `document.querySelector('#line').textContent.includes('3 live')`);
  await holds(
    page,
    `document.querySelector('#flow').clientHeight > 10 && document.querySelectorAll('#table tbody tr').length === 3`,
  );
  t.equal(await page.evaluate(`getComputedStyle(document.querySelector('#cells')).transitionDuration`), '0s');
  t.equal(await page.evaluate(`getComputedStyle(document.querySelector('#cells')).forcedColorAdjust`), 'none');
  t.same(await objections(page), []);
});
