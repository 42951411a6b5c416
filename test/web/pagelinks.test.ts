// Links with whatever in them: the page is there, and says in one sentence what of the link it cannot follow.
//
// @seconds 17
// @rest
// @days 3

import t from 'tap';
import { NO_BROWSER, newContext } from '../kit/browser.js';
import { holds, startLoad, startWall } from './browsing.js';

const skip = NO_BROWSER ?? false;
const HUGE = 'x'.repeat(3000);

/** Each with a link, and what the sentence has. */
const LINKS: readonly (readonly [link: string, says: RegExp])[] = [
  ['by=job', /job/i],
  ['by=%2F(%2F', /regular expression/i],
  ['by=nonsense', /nonsense/i],
  [`by=${HUGE}`, /by/i],
  ['reading=nonsense', /'nonsense' is none/i],
  [`reading=${HUGE}`, /reading/i],
  ['where=cpu%20%3E', /cpu >/i],
  ['where=nonsense', /nonsense/i],
  [`where=${HUGE}`, /longer than 256 bytes/i],
  ['where=cpu%20%3E&by=job&reading=x', /'x' is none.*; .*(job|column 6)/i],
  ['colour=beauty', /colour=beauty is none of job, user/i],
  ['colour=job', /jobs are not shown/i],
  ['group=nosuch', /no group nosuch/i],
  [`group=${HUGE}`, /no group xxx/i],
  ['select=rack17n%5B', /select=rack17n\[ is not a host list/i],
  ['select=rack99n01', /not on this map: rack99n01/i],
  ['select=rack1n01,rack99n%5B01-03%5D', /not on this map: rack99n\[01-03\]/i],
  ['select=n%5B1-9999999999%5D', /is not a host list/i],
  ['state=nonsense', /state=nonsense is none of/i],
  ['trouble=gone', /there is no such trouble/i],
  ['trouble=silent', /there is no such trouble/i],
  ['trouble=..%2F..', /trouble/i],
  ['trouble=%F0%9F', /trouble/i],
  ['node=nosuch', /'nosuch' is not on the board/i],
  ['node=..', /./i],
  ['node=.', /./i],
  ['node=%3Cimg%3E%25', /'<img>%' is not on the board/],
  ['node=a%2Fb%3Fc%23d%25', /'a.*' is not on the board/i],
  [`node=${HUGE}`, /'xxx.*is not on the board/i],
  ['job=99999', /job/i],
  ['job=..', /job/i],
  ['node=nosuch&job=99999', /'nosuch' is not on the board/i],
  ['at=nosuch', /not on this map: nosuch/i],
  ['list=nonsense', /list=nonsense is none of/i],
  ['list=users', /jobs are not shown/i],
  ['sort=nonsense', /cannot be sorted by nonsense/i],
  ['group=rack1&sort=-nonsense', /cannot be sorted by -nonsense/i],
  ['page=99', /page 99 is none of 1/i],
  ['page=-1', /page=-1 means nothing/i],
  ['page=1e300', /page=1e300 means nothing/i],
  ['group=rack1&page=99', /page 99 is none of 1/i],
  ['zoom=abc', /zoom=abc is none of 8/i],
  ['theme=blue', /theme=blue is none of dark, light/i],
  ['scale=blue', /scale=blue is none of hue/i],
  ['zone=mars', /zone=mars is none of browser, master, utc/i],
  ['zone=utc&zone=master', /zone=master means nothing/i],
  ['nonsense=1', /nonsense=1 means nothing/i],
  ['__proto__=1', /__proto__=1 means nothing/i],
  ['wall&group=nosuch', /no group nosuch/i],
  ...['reading', 'by', 'colour', 'where', 'group', 'select', 'state', 'trouble', 'node', 'at', 'job', 'list', 'sort']
    .concat(['page', 'zoom', 'theme', 'scale', 'zone'])
    .map(name => [`${name}=`, new RegExp(`${name}= (means nothing|is none of)`, 'i')] as const),
];

t.test('whatever is in a link, the page is there and says what it cannot follow', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'rack[1-2]n[01-12]']);
  const page = await (await newContext(t)).newPage();
  const complaints: string[] = [];
  page.on('pageerror', error => complaints.push(String(error.stack)));
  await page.goto(wall.url);
  await holds(page, `document.querySelector('#line').textContent.includes('24 live')`);
  for (const [link, says] of LINKS) {
    await page.goto(`${wall.url}?${link}`);
    const name = link.slice(0, 60);
    await holds(page, `document.querySelector('#cells').dataset.seq !== undefined`);
    await holds(page, `document.documentElement.dataset.life === 'ok'`);
    // Of a node or a job that is not there its sheet says so.
    const text = `[...document.querySelectorAll('#chosen, #sheetname, #sheetstate')].filter(
      each => each.getClientRects().length > 0).map(each => each.textContent).join(' ')`;
    await holds(page, `${says}.test(${text})`);
    const seen = await page.evaluate<string>(text);
    t.match(seen, says, name);
    t.ok(seen.length < 500, `${name}: ${seen.length} characters`);
  }
  await page.goto(`${wall.url}?group=nosuch&theme=blue`);
  await holds(page, `document.querySelector('#chosen').textContent.includes('no group nosuch')`);
  await page.click('#unchoose');
  t.ok(await page.isHidden('#choice'), 'all is shown again');
  await page.goBack();
  await holds(page, `document.querySelector('#chosen').textContent.includes('no group nosuch')`);
  t.strictSame(complaints, []);
});
