// The table below the map: groups, and the nodes of one as `beoboard status` shows them; by click and key in every order,
// a page at a time.
//
// @seconds 25
// @waits
// @rest
// @days 3

import type { Page } from 'playwright-core';
import t from 'tap';
import { compareNames } from '../../src/text/hostlists.js';
import { NO_BROWSER } from '../kit/browser.js';
import { verbRun } from '../kit/verbchild.js';
import { holds, look, shown, startLoad, startWall } from './browsing.js';

const run = verbRun(t);

const skip = NO_BROWSER ?? false;

/** The texts of the table, row by row, behind its titles. */
const table = (page: Page) =>
  page.evaluate<{ titles: string[]; sorts: (string | null)[]; rows: string[][] }>(`(() => {
    const texts = row => [...row.cells].map(cell => cell.textContent);
    const [head] = document.querySelector('#table').tHead.rows;
    return {
      titles: texts(head),
      sorts: [...head.cells].map(cell => cell.getAttribute('aria-sort')),
      rows: [...document.querySelector('#table').tBodies[0].rows].map(texts),
    };
  })()`);
const title = (n: number) => `#table thead th:nth-child(${n}) button`;
const sorted = (n: number, order: string) =>
  `document.querySelector('#table thead th:nth-child(${n})')?.getAttribute('aria-sort') === '${order}'`;
/** Whether these are the names of the first rows. */
const begins = (names: readonly string[]) =>
  `[...document.querySelectorAll('#table tbody th')].slice(0, ${names.length}).map(cell => cell.textContent).join() === '${names}'`;

t.test('groups sort by each of their numbers', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'rack1n[01-03],rack2n[01-09],rack3n[01-05]']);
  const { page } = await look(t, wall.url);
  await holds(page, `document.querySelector('#line').textContent.includes('17 live')`);
  await holds(page, begins(['rack1', 'rack2', 'rack3']));
  t.match(await table(page), {
    titles: ['Group', 'Nodes', 'Live', 'Silent', 'Uncertain', 'Others', 'Unhealthy', 'CPU, mean', 'highest'],
    sorts: ['ascending', null, null],
  });
  await page.click(title(2));
  await holds(page, `${begins(['rack2', 'rack3', 'rack1'])} && ${sorted(2, 'descending')}`);
  await page.click(title(2));
  await holds(page, `${begins(['rack1', 'rack3', 'rack2'])} && ${sorted(2, 'ascending')}`);
  await page.focus('#tableframe');
  await page.keyboard.press('1');
  await holds(
    page,
    `${begins(['rack1', 'rack2', 'rack3'])} && ${sorted(1, 'ascending')} && !location.search.includes('sort')`,
  );
  await page.keyboard.press('1');
  await holds(page, begins(['rack3', 'rack2', 'rack1']));
  // By what groups have, and jobs that are not shown, nodes are not sorted.
  await page.click(title(3));
  await page.click('#table tbody tr:nth-child(2) button');
  await holds(page, `${begins(['rack3n01', 'rack3n02'])} && ${sorted(2, 'descending')}`);
  await page.goto(`${wall.url}?group=rack1&sort=user`);
  await holds(page, `${begins(['rack1n01', 'rack1n02'])} && ${sorted(2, 'descending')}`);
});

t.test('nodes are those of status, the worst first, and in any other order', { skip }, async t => {
  const wall = await startWall(t, ['--uncertain-after', '4500ms', '--silent-after', '10500ms']);
  const load = ['--nodes', 'rack1n[001-250]', '--interval', '500ms'];
  startLoad(t, wall, [...load, '--silent', 'rack1n[007,009]', '--silent-from', '1s']);
  const { page } = await look(t, `${wall.url}?group=rack1`);
  const states = `[...document.querySelectorAll('#table tbody td:nth-child(2)')].slice(0, 3).map(cell => cell.textContent).join()`;
  await holds(page, `${begins(['rack1n007', 'rack1n009', 'rack1n001'])} && ${states} === 'silent,silent,live'`);
  const first = await table(page);
  t.same(first.titles, [
    ...['Node', 'State', 'Since', 'Trouble', 'CPU', 'Load', 'Memory', 'GPU', 'Temperature', 'Power', 'Network'],
  ]);
  t.same(first.sorts.slice(0, 3), [null, 'descending', null]);
  t.equal(first.rows.length, 200);
  t.match(first.rows[0], ['rack1n007', 'silent', /^\d\d:\d\d:\d\d$/, '–', /^\([\d.]+ %\)$/], 'the last known values');
  t.match(first.rows[2], ['rack1n001', 'live', /:/, '–', /^[\d.]+ %$/, /^[\d.]+$/, /%$/, /%$/, /°C$/, /W$/, /B\/s$/]);
  t.equal(first.rows[3]?.[7], '–', 'a node without GPUs');
  // Whenever the row was read, it was silent since the same second, or the one beside it.
  await page.evaluate(`document.querySelector('#table').scrollIntoView()`);
  const since = new Set<number>();
  for (let [look, { seq }] = [0, await shown(page)]; look < 7; look++) {
    await holds(page, `Number(document.querySelector('#cells').dataset.seq) > ${seq + look}`);
    since.add(Date.parse(`2026-03-01T${(await table(page)).rows[0]?.[2]}Z`) / 1000);
  }
  t.ok(Math.max(...since) - Math.min(...since) <= 1, [...since].join());
  await holds(page, `document.querySelector('#pageof').textContent === 'Page 1 of 2'`);
});

t.test('in every order, page by page, and nothing is asked by a hidden page', { skip }, async t => {
  const wall = await startWall(t, ['--uncertain-after', '1h', '--silent-after', '2h']);
  const nodes = startLoad(t, wall, ['--nodes', 'rack1n[001-250]', '--interval', '500ms']);
  const asked: string[] = [];
  const { page, complaints } = await look(t, `${wall.url}?group=rack1`);
  page.on('request', request => {
    if (request.url().includes('/nodes?')) asked.push(request.url());
  });
  await holds(page, `document.querySelector('#line').textContent.includes('250 live')`);
  // What no longer changes can be compared.
  nodes.child.kill('SIGKILL');
  await nodes.exit;
  const byField = async (sort: string) => {
    const { stdout } = await run(['status', '--json', '--sort', sort, '-o', 'load', '--board', wall.board]);
    return (JSON.parse(stdout) as { nodes: { name: string }[] }).nodes.slice(0, 200).map(({ name }) => name);
  };
  const order = begins(await byField('load'));
  await page.click(title(6));
  await holds(page, `${order} && ${sorted(6, 'descending')} && location.search.includes('sort=load')`);
  await page.focus('#tableframe');
  await page.keyboard.press('6');
  await holds(page, `${begins(await byField('-load'))} && ${sorted(6, 'ascending')}`);
  await page.keyboard.press('1');
  await holds(page, begins(['rack1n001', 'rack1n002']));
  await page.click('#after');
  await holds(page, begins(['rack1n201', 'rack1n202']));
  t.same(
    (await table(page)).rows.map(([name]) => name),
    Array.from({ length: 50 }, (_, i) => `rack1n${201 + i}`).sort(compareNames),
  );
  await page.click('#table tbody tr:nth-child(2) button');
  await holds(page, `document.querySelector('#sheetname')?.textContent === 'rack1n202'`);

  t.ok(asked.length > 0);
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden' })`);
  const before = asked.length;
  // Longer than from one question to the next, by the server's clock.
  for (let second = 0; second < 5; second++) {
    const clock = await page.textContent('#foot');
    await holds(page, `document.querySelector('#foot').textContent !== '${clock}'`);
  }
  t.equal(asked.length, before, 'a hidden page asks nothing');
  t.same(complaints, []);
});
