// The page's box of trouble, in a browser, with lines that a made server tells: their order, what a row says, how rows
// follow their keys, that nothing on the page moves whatever is said, the two columns of a wall, and the selection.
//
// @seconds 32
// @rest

import { spawnSync } from 'node:child_process';
import type { BrowserContextOptions, Page } from 'playwright-core';
import t from 'tap';
import type { TroubleInfo } from '../../src/acks/info.js';
import { random } from '../../src/load/simulatednode.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { NO_BROWSER } from '../kit/browser.js';
import type { Teardown } from '../kit/places.js';
import { SEED } from '../kit/whole.js';
import { holds, lastSeq, leave, look, type Seen, startLoad, startWall, tickOf } from './browsing.js';
import { forgetShifts, line, MadeWall, SIZES, watchShifts } from './madewall.js';

const skip = NO_BROWSER ?? false;

/** A wall of racks with 12 nodes each, and its page. */
async function watch(
  t: Teardown,
  racks: number,
  query = '',
  { hasJobs = true, ...options }: BrowserContextOptions & { hasJobs?: boolean } = {},
): Promise<Seen & { wall: MadeWall }> {
  const groups = expand(`rack[10-${9 + racks}]`, BOARD_MOST).map(name => ({
    name,
    names: expand(`${name}n[01-12]`, BOARD_MOST),
  }));
  const wall = new MadeWall(groups, hasJobs);
  await wall.listen(t);
  const seen = await look(t, `${wall.url}${query}`, { timezoneId: 'UTC', locale: 'en-GB', ...options });
  return { ...seen, wall };
}

/** Tells it, and waits until the page shows that look. */
async function say(wall: MadeWall, page: Page, change: Parameters<MadeWall['say']>[0]): Promise<void> {
  wall.say(change);
  await holds(page, `document.querySelector('#cells').dataset.seq === '${wall.head.seq}'`);
}

const ROWS = `[...document.querySelectorAll('#trouble > div')]`;
/** The keys of the rows, as on the page: by place, not by order in the document. */
const KEYS = `${ROWS}.filter(row => row.style.visibility === '').map(row => [row.getBoundingClientRect(), row.dataset.key])
  .sort(([a], [b]) => a.left - b.left || a.top - b.top).map(([, key]) => key)`;
const keys = (page: Page) => page.evaluate<string[]>(KEYS);
/** The texts of a row's columns. */
const texts = (page: Page, key: string) =>
  page.evaluate<string[]>(
    `[...document.querySelector('#trouble > [data-key="${key}"]').children].map(({ innerText }) => innerText.replace('\\n', '').trim())`,
  );
const top = (page: Page, id: string) =>
  page.evaluate<number>(`document.querySelector('${id}').getBoundingClientRect().top`);

const WIDE = { viewport: { width: 1440, height: 900 } };
/** In which a row has all its columns. */
const LARGE = { viewport: { width: 1920, height: 900 } };

const MANY = Array.from({ length: 40 }, (_, i) => line(`k${i}`, `rack10n${String((i % 12) + 1).padStart(2, '0')}`, 1));

t.test('a row says which, what, since when, how often, and whose', { skip }, async t => {
  const { wall, page, complaints } = await watch(t, 1, '', LARGE);
  await holds(page, `document.querySelector('#troublemore').textContent === 'No trouble. 12 live.'`);
  // Counts may be newer than lines.
  for (const change of [{ counts: { live: 11, silent: 1 } }, { counts: { live: 12 }, unhealthy: 1 }]) {
    await say(wall, page, change);
    t.equal(await page.textContent('#troublemore'), '');
  }
  const jobs = [
    { id: '4712', user: 'bert' },
    { id: '4713_2', user: 'somebody' },
    { id: '4714', user: 'carl' },
  ];
  const lines: TroubleInfo[] = [
    line('late', 'rack10n[01-05]', 5, {
      since_last: '2026-03-01T02:09:12Z',
      times: 5,
      times_since: '2026-03-01T01:00:00Z',
    }),
    line('old', 'rack10n06', 1, { since: '2026-02-27T09:10:00Z', times: 2, times_hour: 1, jobs, jobs_more: 4 }),
    line('gone', 'rack10n07', 1, { dim: 'ended', ended: '2026-03-01T02:01:00Z' }),
    line('known', 'rack10n08', 1, {
      dim: 'acknowledged',
      ack: { by: 'ann\u202e', until: '2026-03-02T12:00:00Z', reason: '<b>parts</b> are ordered' },
    }),
    line('aside', 'rack10n09', 1, { dim: 'aside', aside: { nodes: 'rack10n09', count: 1, why: 'drained: fan' } }),
  ];
  const { nodes: _, since: __, ...ofNone } = line('receiver', '', 0, { severity: 'critical' });
  await say(wall, page, { trouble: [ofNone, ...lines] });
  t.same(await keys(page), ['receiver', 'late', 'old', 'gone', 'known', 'aside'], 'in the order of the server');
  t.same(await texts(page, 'receiver'), ['critical', '–', 'has the trouble receiver', '', '', '']);
  t.same((await texts(page, 'late')).slice(1), [
    '5: rack10n[01-05]',
    'has the trouble late',
    '60 min 01:10:03, the last 02:09:12',
    '5 times since 01:00',
    '',
  ]);
  t.same((await texts(page, 'old')).slice(3), ['41 h 27 Feb 09:10', '1 in the last hour', '4712 (bert), +6']);
  // However long the user's name is, the number of other jobs is in sight.
  const others = [{ id: '4715', user: 'climate-production-and-more' }];
  await say(wall, page, { trouble: [line('long', 'rack10n06', 1, { jobs: others, jobs_more: 11 })] });
  const rights = `[...document.querySelectorAll('#trouble .jobs, #trouble .jobs :last-child')].map(each => each.getBoundingClientRect().right)`;
  const [cell, number] = await page.evaluate<number[]>(rights);
  t.ok((number as number) <= (cell as number) + 1, `${number} in ${cell}`);
  t.match((await texts(page, 'long')).at(-1), /, \+11$/);
  await say(wall, page, { trouble: [ofNone, ...lines] });
  const what = async (key: string) => (await texts(page, key))[2];
  t.equal(await what('gone'), 'has the trouble gone · ended 02:01:00');
  t.equal(
    await what('known'),
    'has the trouble known · acknowledged by ann\\u{202e} until 2 Mar 12:00: <b>parts</b> are ordered',
  );
  t.equal(await what('aside'), 'has the trouble aside · drained: fan');
  t.same(await page.evaluate(`${ROWS}.filter(row => row.classList.contains('dim')).length`), 3);
  // A host list ends at a comma, however long its names are; the whole one folds there, and has no other character.
  const many = Array.from({ length: 9 }, (_, i) => `compute-hall${i + 1}-rack[07,09]node[0001-0048]`).join();
  await say(wall, page, { trouble: [line('lists', many, 900), ...lines] });
  t.equal((await texts(page, 'lists'))[1], '900: compute-hall1-rack[07,09]node[0001-0048],\u00a0+8');
  await page.click('#trouble > [data-key="lists"]');
  t.equal((await texts(page, 'lists'))[1], `900: ${many}`);
  const folds = await page.evaluate<string[]>(`(() => {
    const lines = new Map();
    const add = node => {
      if (node.nodeType !== Node.TEXT_NODE) return node.childNodes.forEach(add);
      for (let i = 0; i < node.length; i++) {
        const range = new Range();
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        const { top } = range.getBoundingClientRect();
        lines.set(top, (lines.get(top) ?? '') + node.data[i]);
      }
    };
    add(document.querySelector('#trouble > [data-key="lists"] .nodes'));
    return [...lines.values()];
  })()`);
  t.ok(folds.length > 1 && folds.slice(0, -1).every(text => /\],$/.test(text)), folds.join(' | '));
  await page.keyboard.press('Escape');
  // No sentence is cut, and none lies over another.
  const long = 'memory errors that were not corrected, of which the last was in the third module '.repeat(5).trim();
  await leave(page);
  await say(wall, page, { trouble: [line('words', 'rack10n01', 1, { what: long }), ...lines] });
  t.equal((await texts(page, 'words'))[2], long);
  const cuts = `[...document.querySelectorAll('#trouble span:not(.severity)')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).length`;
  for (const width of [1920, 1440, 1280, 768, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await holds(
      page,
      `(tops => tops.every(([top], i) => i === 0 || top >= tops[i - 1][1] - 1))(${ROWS}.map(row => row.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]).sort(([a], [b]) => a - b))`,
    );
    t.equal(await page.evaluate(cuts), 0, `${width} px: nothing is cut`);
  }
  await page.setViewportSize(LARGE.viewport);
  await say(wall, page, { trouble: [ofNone, ...lines] });
  // The keyboard's row has its whole text.
  await page.focus('#trouble');
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  t.same((await texts(page, 'old')).slice(4), [
    '1 in the last hour, 2 times',
    '4712 (bert), 4713_2 (somebody), 4714 (carl), +4',
  ]);
  t.equal(
    await page.getAttribute('#trouble > [data-key="old"]', 'id'),
    await page.getAttribute('#trouble', 'aria-activedescendant'),
  );
  // It covers whole rows, also in a narrower window.
  const whole = () =>
    page.evaluate<number[]>(
      `[document.querySelector('#trouble > .whole').offsetHeight, document.querySelector('#troublemore').offsetHeight]`,
    );
  await page.setViewportSize({ width: 500, height: 900 });
  const [height = 0, row = 1] = await whole();
  t.equal(height % row, 0);
  t.ok(height > row, `${height} of ${row}`);
  t.same(complaints, []);
});

t.test('at every size nothing overlaps, nothing is cut, and a finger hits what it is meant to', { skip }, async t => {
  const { wall, page, complaints } = await watch(t, 10, '?theme=light', WIDE);
  const user = 'climate-production-and-more';
  // As long as a board can have it.
  wall.hello = { ...wall.hello, cluster: 'cluster-of-the-institute-for-numerical-weather-prediction-north' };
  wall.happen('rack10n01 has memory errors that were not corrected, of which the last was in the third module of one');
  await page.reload();
  wall.jobs = [
    {
      ...{ id: '4712', user, name: 'a name of many words '.repeat(4), state: 'RUNNING', node_count: 2 },
      nodes: 'rack10n[01-02]',
    },
  ];
  const what =
    'memory errors that were not corrected, of which the last was in the third module of the first processor';
  const long = Array.from({ length: 3 }, (_, i) => `compute-hall${i + 1}-rack[07,09]node[0001-0048]`).join();
  await say(wall, page, {
    counts: { live: 100, silent: 20, uncertain: 3 },
    unhealthy: 4,
    recently: 2,
    marks: { recent: 'rack11n01', held: 'rack11n[02-03]', odd: 'rack12n01' },
    dark: [{ name: 'eth1', text: 'eth1 is down', nodes: 'rack10n[01-12]' }],
    trouble: [
      line('words', 'rack10n01', 1, { what, jobs: [{ id: '4712', user }], jobs_more: 3 }),
      line('list', long, 300),
      ...MANY,
    ],
  });
  const faults = () =>
    page.evaluate<string[]>(`(() => {
      const shown = element => element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().width > 1;
      const all = selector => [...document.querySelectorAll(selector)].filter(shown);
      const name = ({ id, className, textContent }) => (id || className) + ' ' + textContent.slice(0, 30);
      const boxes = (...lists) => lists.flat().map(element => [element, element.getBoundingClientRect()]);
      const over = list => list.flatMap(([a, r], i) => list.slice(i + 1).filter(([b, s]) => !a.contains(b) && !b.contains(a) &&
        Math.min(r.right, s.right) - Math.max(r.left, s.left) > 1 && Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) > 1)
        .map(([b]) => name(a) + ' over ' + name(b)));
      const parts = all('#brand, #find, #choices, #says, section section, main > section, footer');
      const row = all('#trouble > div')[0];
      const cut = all('#trouble > div, #trouble span:not(.severity), #brand, #line, #scale, #foot, #lists button, #changed button, #jobs td, #states button, main, body')
        .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1);
      const small = innerWidth > 600 ? [] : boxes(all('button, input, select')).filter(([, { width, height }]) => width < 44 || height < 44);
      const hidden = innerWidth <= 600 ? [] : all('#states').filter(({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
        scrollHeight > clientHeight || scrollWidth > clientWidth);
      // Two lines where there is room for the name.
      const folded = innerWidth < 1280 || parseFloat(getComputedStyle(document.documentElement).fontSize) > 15 ? [] : all('#trouble [data-key="list"]').filter(each => each.offsetHeight > 1.5 * all('#troublemore')[0].offsetHeight);
      return [
        ...over(boxes(parts)), ...over(boxes(...[row].map(each => [...each.children].slice(1).filter(shown)))),
        ...over(boxes(all('#states button, #scale > *').filter(each => innerWidth > 600 || each.matches('#scale > *')))),
        ...cut.map(each => 'cut: ' + name(each)), ...small.map(([each]) => 'small: ' + name(each)),
        ...hidden.map(each => 'hidden: ' + name(each)), ...folded.map(each => 'folded: ' + name(each)),
      ];
    })()`);
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    await holds(page, `innerWidth === ${width} && document.querySelectorAll('#trouble > div').length > 9`);
    await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))');
    t.same(await faults(), [], `${width} x ${height}`);
    if (width === 390) t.ok((await top(page, '#trouble')) <= 150, 'the first trouble is on a phone at once');
    const map = await page.evaluate<number>(`document.querySelector('#map').getBoundingClientRect().bottom`);
    if (width >= 1280) t.ok(map <= height, `${width} x ${height}: list and map are whole`);
  }
  // Letters of twice the size.
  await page.evaluate(`document.documentElement.style.fontSize = '30px'`);
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    await holds(page, `innerWidth === ${width}`);
    await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))');
    t.same(await faults(), [], `${width} x ${height}, letters twice as large`);
  }
  t.same(complaints, []);
});

t.test('jobs that are not shown are said not to be', { skip }, async t => {
  const { page } = await watch(t, 1, '', { hasJobs: false, viewport: { width: 1440, height: 900 } });
  t.match(await page.textContent('#jobsage'), /^jobs are not shown here; .* with --show-jobs$/);
});

t.test('rows follow their keys', { skip }, async t => {
  const { wall, page, complaints } = await watch(t, 1);
  await say(wall, page, { trouble: MANY, trouble_more: 7 });
  t.equal(await page.textContent('#troublemore'), '+7 more');
  await page.evaluate(`document.querySelector('#troubleframe').scrollTop = 300`);
  await page.focus('#trouble');
  const row = '#trouble > [data-key="k14"]';
  await page.click(row);
  const before = await top(page, row);
  await page.evaluate(`document.querySelector('${row}').dataset.marked = 'yes'`);
  // Four lines above go, and two come: while somebody is in the list no row moves, and what has come is counted.
  const said = await keys(page);
  const worse = line('y', 'rack10n02', 1, { severity: 'critical' });
  await say(wall, page, { trouble: [line('x', 'rack10n01', 1), worse, ...MANY.slice(4)] });
  t.same(await keys(page), said);
  t.equal(await page.textContent('#troublenew'), '2 new, 1 critical');
  t.ok(await page.evaluate(`document.querySelector('#trouble > [data-key="k1"]').classList.contains('dim')`), 'gone');
  t.equal(await top(page, row), before, 'it stays where it was');
  await leave(page);
  await holds(page, `document.querySelector('#troublenew').textContent === ''`);
  t.same((await keys(page)).slice(0, 3), ['x', 'y', 'k4']);
  t.equal(await top(page, row), before, 'it is read where it was');
  await page.focus('#trouble');
  t.equal(await page.getAttribute(row, 'data-marked'), 'yes', 'it is the same element');
  t.equal(await page.getAttribute(row, 'aria-selected'), 'true');
  t.equal(await page.getAttribute('#trouble', 'aria-activedescendant'), await page.getAttribute(row, 'id'));
  t.equal(await page.evaluate('document.activeElement.id'), 'trouble');
  // The line itself goes: the keyboard is at the next one, but not before it has been away.
  await say(wall, page, { trouble: MANY.filter(({ key }) => key !== 'k14') });
  t.equal(await page.getAttribute('#trouble', 'aria-activedescendant'), await page.getAttribute(row, 'id'));
  await leave(page);
  await holds(page, `document.querySelector('${row}') === null`);
  await page.focus('#trouble');
  t.equal(
    await page.getAttribute('#trouble', 'aria-activedescendant'),
    await page.getAttribute('#trouble > [data-key="k15"]', 'id'),
  );
  await leave(page);
  await page.evaluate(`document.querySelector('#troubleframe').scrollTop = 0`);
  await say(wall, page, { trouble: [line('worst', 'rack10n03', 1), ...MANY] });
  t.equal((await keys(page))[0], 'worst');
  t.equal(await page.evaluate(`document.querySelector('#troubleframe').scrollTop`), 0, 'at the top the worst is seen');
  t.same(complaints, []);
});

t.test('a row selects its nodes, also while they change', { skip }, async t => {
  const { wall, page, complaints } = await watch(t, 2);
  await say(wall, page, { trouble: [line('full', 'rack10n[01-03]', 3), line('hot', 'rack11n01', 1)] });
  await page.click('#trouble > [data-key="full"]');
  const chosen = (text: string) => holds(page, `document.querySelector('#chosen').textContent === '${text}'`);
  const listed = (count: number) => holds(page, `document.querySelectorAll('#table tbody tr').length === ${count}`);
  await chosen('3 nodes selected: rack10n[01-03]');
  await listed(3);
  t.match(page.url(), /trouble=full/);
  await leave(page);
  await say(wall, page, { trouble: [line('hot', 'rack11n01', 1), line('full', 'rack10n[01-03],rack11n[04-05]', 5)] });
  await chosen('5 nodes selected: rack10n[01-03],rack11n[04-05]');
  await listed(5);
  // What lies below the river stays where it is as they come back one after another.
  await watchShifts(page);
  const below = await top(page, '#times');
  for (const left of [2, 4, 1]) {
    await say(wall, page, { trouble: [line('hot', 'rack11n01', 1), line('full', `rack10n[01-0${left}]`, left)] });
    await holds(page, `document.querySelectorAll('#rows span').length === ${left}`);
    t.equal(await top(page, '#times'), below, `${left} left`);
  }
  await say(wall, page, { trouble: [line('hot', 'rack11n01', 1), line('full', 'rack10n[01-03],rack11n[04-05]', 5)] });
  await listed(5);
  t.same(await page.evaluate('window.shifts'), [], 'layout shifts');
  await say(wall, page, { trouble: [line('hot', 'rack11n01', 1)] });
  await chosen('5 nodes selected: rack10n[01-03],rack11n[04-05] · this trouble is over');
  await listed(5);
  await page.keyboard.press('Escape');
  await holds(page, `document.querySelector('#choice').hidden`);
  t.notMatch(page.url(), /trouble=/);
  // Another choice has the height that it needs.
  await page.click('#trouble > [data-key="hot"]');
  await holds(page, `document.querySelectorAll('#rows span').length === 1`);
  t.ok((await top(page, '#times')) < below, 'one row');
  await page.keyboard.press('Escape');
  await holds(page, `document.querySelector('#choice').hidden`);
  // By the keyboard, and off again.
  await page.focus('#trouble');
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await chosen('1 node selected: rack11n01');
  await page.keyboard.press(' ');
  await holds(page, `document.querySelector('#choice').hidden`);
  // From the URL.
  await page.goto(`${wall.url}?trouble=hot`);
  await chosen('1 node selected: rack11n01');
  t.same(complaints, []);
});

const ACTS = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('#troubleacts button')].map(each => each.innerText)`);
const value = (page: Page) => page.inputValue('#troubleacts input');

t.test('a chosen line leads to its nodes, its job, what changed then, its list and its command', { skip }, async t => {
  const hostile = 'link:$(touch x)\'"; `id`\u202e';
  const jobs = [
    { id: '4712', user: '$(id)\u202e' },
    { id: '4713', user: 'anna' },
  ];
  const trouble = [
    line('hot', 'rack11n01', 1),
    line(hostile, 'rack10n[01-03],rack11n[04-05]', 5, { jobs }),
    line('gone', 'rack10n07', 1, { dim: 'ended', ended: '2026-03-01T02:01:00Z' }),
  ];
  for (const [name, options] of [
    ['a desk', WIDE],
    ['a phone', { viewport: { width: 390, height: 844 } }],
  ] as const) {
    const { wall, page, context, complaints } = await watch(t, 2, '', options);
    wall.jobs = [{ ...{ id: '4712', user: 'x', name: 'y', state: 'RUNNING', node_count: 2 }, nodes: 'rack10n[01-02]' }];
    await say(wall, page, { trouble });
    const rows = () =>
      page.evaluate<[top: number, bottom: number][]>(
        `[...${ROWS}, document.querySelector('#troubleacts')].map(row => {
          const { top, bottom } = row.getBoundingClientRect();
          return [top, bottom];
        }).sort(([a], [b]) => a - b)`,
      );
    const overlaps = async () => (await rows()).some(([top], i, all) => top < (all[i - 1]?.[1] ?? top) - 1);
    // By keys alone.
    await page.focus('#trouble');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await holds(page, `!document.querySelector('#troubleacts').hidden`);
    t.notOk(await overlaps(), `${name}: the open row and what can be done push the others`);
    t.same(await ACTS(page), [
      ...['5 nodes on the map', 'job 4712 $(id)\\u{202e}', 'job 4713 anna'],
      ...['what changed then', 'copy the list', 'acknowledge'],
    ]);
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    t.ok((wide as number) <= 0, `${name}: nothing is wider than the page`);
    // One word of a shell, whatever the key is.
    const { stdout } = spawnSync('bash', ['-c', (await value(page)).replace('beoboard ack', "printf '%s\\n'")], {
      encoding: 'utf8',
    });
    t.equal(stdout, `${hostile}\n--until\n+8h\n--board\n/run/two words\n`);
    t.notMatch(await value(page), /[\p{Cc}\p{Cf}]/u, 'nothing that a terminal obeys');
    // The list is copied whole, and the command.
    const pasted = async () => {
      await page.focus('#asked');
      await page.keyboard.press('Control+A');
      await page.keyboard.press('Control+V');
      const text = await page.inputValue('#asked');
      await page.fill('#asked', '');
      await page.focus('#trouble');
      return text;
    };
    await page.keyboard.press('c');
    t.equal(await page.textContent('#troubleacts span'), 'copied');
    t.equal(await page.evaluate('document.activeElement.id'), 'trouble', 'the keys go on');
    t.equal(await pasted(), 'rack10n[01-03],rack11n[04-05]');
    await page.keyboard.press('a');
    t.equal(await pasted(), await value(page));
    // What changed then, of whatever nodes; Escape closes one thing.
    await page.keyboard.press('e');
    await holds(page, `document.querySelector('#changedsince').textContent.includes('of all nodes, about 01:10:03')`);
    t.equal(await page.evaluate('document.activeElement.id'), 'changedframe');
    await page.keyboard.press('Escape');
    await holds(page, `!document.querySelector('#changedsince').textContent.includes('about')`);
    t.match(page.url(), /trouble=/);
    // The choice stays with its line.
    await leave(page);
    await say(wall, page, { trouble: [line('worse', 'rack10n09', 1), ...trouble] });
    t.equal(
      await page.evaluate(`encodeURI(document.querySelector("#trouble > [aria-selected=true]").dataset.key)`),
      encodeURI(hostile),
    );
    t.notOk(await overlaps());
    await page.focus('#trouble');
    await page.keyboard.press('m');
    t.equal(await page.evaluate('document.activeElement.id'), 'field', 'the map, on which they are selected');
    await page.keyboard.press('Escape');
    await holds(page, `document.querySelector('#troubleacts').hidden`);
    t.notMatch(page.url(), /trouble=/);
    // A key opens the row that the cursor is on; what is over is not acknowledged.
    await page.focus('#trouble');
    await page.keyboard.press('End');
    await page.keyboard.press('c');
    t.equal(await value(page), 'rack10n07');
    t.same(await ACTS(page), ['1 node on the map', 'what changed then', 'copy the list']);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await holds(page, `document.querySelector('#troubleacts').hidden`);
    t.equal(await page.evaluate('document.activeElement.id'), 'trouble', 'also from what can be done');
    // By the pointer.
    await page.click('#trouble > [data-key="hot"]');
    await page.click('#troubleacts button:text("copy the list")');
    t.equal(await pasted(), 'rack11n01');
    await page.click(`#trouble > div:nth-child(3)`);
    await page.click('#troubleacts button:text("job 4712")');
    await holds(page, `location.search.includes('job=4712')`);
    t.same(complaints, []);
    await context.close();
  }
});

t.test('the list is as high as it was needed in the last ten minutes', { skip }, async t => {
  const { wall, page, complaints } = await watch(t, 2, '', { viewport: { width: 1920, height: 1080 } });
  const lines = () =>
    page.evaluate<number>(
      `Math.round(document.querySelector('#troubleframe').clientHeight / document.querySelector('#troublemore').clientHeight)`,
    );
  const at = async (minutes: number, count: number) => {
    const trouble = MANY.slice(0, count);
    await say(wall, page, { trouble, now_ms: wall.now + minutes * 60_000 });
    return await lines();
  };
  await page.mouse.move(1, 1);
  t.same([await at(0, 0), await at(1, 1), await at(2, 2), await at(3, 7)], [1, 1, 6, 12], 'it grows at once');
  t.same([await at(4, 1), await at(13, 1), await at(14, 1)], [12, 12, 1], 'and shrinks after ten minutes');
  t.same([await at(15, 40), await at(16, 3), await at(20, 40), await at(29, 3)], [12, 12, 12, 12]);
  await page.hover('#field');
  t.same([await at(45, 3), await at(46, 0)], [12, 12], 'not while somebody is in the map');
  await page.mouse.move(1, 1);
  await holds(page, `document.querySelector('#troublemore').textContent.startsWith('No trouble.')`);
  t.equal(await lines(), 1);
  t.same(complaints, []);
});

t.test('a wall has two columns of whole rows', { skip }, async t => {
  for (const [width, height] of [
    [1920, 1080],
    [3840, 2160],
  ] as const) {
    const { wall, page, context, complaints } = await watch(t, 40, '?wall', { viewport: { width, height } });
    await say(wall, page, { trouble: MANY, trouble_more: 3 });
    const shown = await keys(page);
    t.same(
      shown,
      MANY.slice(0, shown.length).map(({ key }) => key),
      'the worst first, down the first column',
    );
    t.equal(await page.textContent('#troublemore'), `+${43 - shown.length} more`);
    const boxes = await page.evaluate<{ left: number; top: number; bottom: number; size: number }[]>(
      `[...${ROWS}.filter(row => row.style.visibility === ''), document.querySelector('#troublemore')].map(row => {
        const { left, top, bottom } = row.getBoundingClientRect();
        return { left, top, bottom, size: parseFloat(getComputedStyle(row).fontSize) };
      })`,
    );
    t.equal(new Set(boxes.map(({ left }) => Math.round(left))).size, 2);
    t.equal(boxes.length % 2, 0, 'both columns are full');
    t.ok(boxes.length >= 8, `${boxes.length} rows`);
    const frame = await page.evaluate<{ top: number; bottom: number }>(
      `document.querySelector('#troubleframe').getBoundingClientRect().toJSON()`,
    );
    t.ok(
      boxes.every(({ top, bottom }) => top >= frame.top && bottom <= frame.bottom + 1),
      'none is cut',
    );
    t.ok(
      boxes.every(({ size }) => size >= height / 40),
      'in large letters',
    );
    const few = MANY.slice(0, boxes.length);
    await say(wall, page, { trouble: few, trouble_more: 0 });
    t.same(
      await keys(page),
      few.map(({ key }) => key),
      'the last place is that of a row, if it is enough',
    );
    t.equal(await page.textContent('#troublemore'), '');
    t.same(complaints, []);
    await context.close();
  }
});

const looks: [name: string, racks: number, query: string, options: BrowserContextOptions][] = [
  ['12 nodes', 1, '', WIDE],
  ['480 nodes', 40, '', WIDE],
  ['480 nodes, one line selected', 40, '?trouble=k3', WIDE],
  ['a wall', 40, '?wall', { viewport: { width: 1920, height: 1080 } }],
  ['a phone', 1, '', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }],
];
t.test('nothing moves, whatever is said', { skip }, async t => {
  for (const [name, racks, query, options] of looks) {
    const { wall, page, context, complaints } = await watch(t, racks, query, options);
    await say(wall, page, { trouble: MANY });
    await watchShifts(page);
    const places = () =>
      Promise.all(['#notes', '#troublepart', '#legend', '#map', '#riverpart'].map(id => top(page, id)));
    const before = await places();
    const draw = random(SEED);
    const all = racks * 12;
    for (let i = 0; i < 30; i++) {
      const trouble = i % 7 === 6 ? [] : MANY.filter(() => draw() < 0.5).slice(0, Math.floor(draw() * 40));
      const silent = Math.floor(draw() * all);
      const [unhealthy, left] = [Math.floor(draw() * 12), i % 3];
      const isGone = i % 10 === 9;
      const rest = `listening without gaps for ${i} min${i % 4 === 0 ? '; rejected 12 clock, 3 name; dropped 4 as unfit' : ''}`;
      const mirror = i % 5 === 4 ? { mirror: `mirror of m1, ${i} s behind` } : { mirror: '' };
      await say(wall, page, {
        state: isGone ? 'stalled' : 'ok',
        line: isGone
          ? `alpha: ${all} nodes; STALLED: no heartbeat for ${i} s`
          : `alpha: ${all} nodes: ${all - silent} live, ${silent} silent${left > 0 ? `, ${left} left` : ''}, ${unhealthy} unhealthy; ${rest}`,
        counts: { live: all - silent, silent, ...(left > 0 && { left }) },
        unhealthy,
        trouble,
        trouble_more: i % 2,
        dark: i % 4 === 3 ? [{ name: 'eth1', text: 'eth1 is down', nodes: 'rack10n[01-12]' }] : [],
        ...mirror,
      });
      t.same(await places(), before, `${name}, look ${i}, seed ${SEED}`);
    }
    t.same(await page.evaluate('window.shifts'), [], `${name}: layout shifts, seed ${SEED}`);
    t.same(complaints, [], name);
    await context.close();
  }
});

t.test('nodes that leave what is chosen move nothing below the river', { skip }, async t => {
  const { wall, page, context, complaints } = await watch(t, 40, '?trouble=k0', WIDE);
  const of = (count: number) => [line('k0', `rack10n[01-${String(count).padStart(2, '0')}]`, count)];
  const rowsAre = (count: number) => holds(page, `document.querySelectorAll('#rows span').length === ${count}`);
  await say(wall, page, { trouble: of(12) });
  await rowsAre(12);
  await forgetShifts(page);
  await watchShifts(page);
  const before = await top(page, '#times');
  // Ten rows could be higher, in sum, than twelve.
  for (let count = 11; count > 1; count--) {
    await say(wall, page, { trouble: of(count) });
    await rowsAre(count);
    t.equal(await top(page, '#times'), before, `${count} of 12`);
  }
  t.same(await page.evaluate('window.shifts'), [], 'layout shifts');
  t.same(complaints, []);
  await context.close();
});

t.test('the page shows the lines of a real board', { skip }, async t => {
  const wall = await startWall(t, ['--uncertain-after', '2s', '--silent-after', '4s']);
  const load = (nodes: string) => startLoad(t, wall, ['--nodes', nodes, '--interval', '300ms']);
  load('rack[10-48]n[01-12]');
  const rack = load('rack49n[01-12]');
  const { page, complaints } = await look(t, `${wall.url}?theme=dark`, WIDE);
  // The map has all its groups.
  await holds(
    page,
    `document.querySelector('#line').textContent.includes('480 live')
      && document.querySelectorAll('#table tbody tr').length === 40
      && document.querySelector('#field').offsetHeight > 100`,
  );
  await watchShifts(page);
  rack.child.kill('SIGKILL');
  // They are uncertain at first, and the list is as old as five seconds.
  await holds(
    page,
    `${ROWS}[0]?.querySelector('.nodes').textContent === '12: rack49n[01-12]'
    && ${ROWS}[0].className === 'critical'`,
  );
  const since = await page.evaluate<string>(`${ROWS}[0].querySelector('.since').textContent`);
  t.match(since, /^\d+ (?:s|min) \d\d:\d\d:\d\d/, 'for how long, and since when');
  const [key] = await keys(page);
  t.same(await page.evaluate('window.shifts'), [], 'layout shifts');
  // The river has other rows then, and another height. Chromium takes that for the user's only within half a second.
  await page.click(`#trouble > [data-key="${key}"]`);
  await holds(
    page,
    `document.querySelectorAll('#table tbody tr').length === 12 && document.querySelectorAll('#rows span').length === 12`,
  );
  await forgetShifts(page);
  const { nodes } = await tickOf(wall.url, await lastSeq(wall.url));
  t.equal(nodes.filter(({ state }) => state !== 'live').length, 12);
  load('rack49n[01-12]');
  await holds(page, `${ROWS}.some(row => row.dataset.key === '${key}' && row.classList.contains('dim'))`);
  t.match(await page.textContent(`#trouble > [data-key="${key}"]`), /ended \d\d:\d\d:\d\d/);
  t.same(await page.evaluate('window.shifts'), [], 'layout shifts');
  t.same(complaints, []);
});
