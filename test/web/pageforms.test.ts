// What cells look like: colours have enough contrast, also for people who see fewer of them, and each state and mark has a
// form of its own at each size of a cell, in both themes.
//
// @seconds 60
// @rest

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { colourOf, fromHex, type Rgb } from '../../src/web/page/palette.js';
import { CELL, MARKS, NOT_MEASURED, STATES, type State, VALUE_MOST } from '../../src/web/wire.js';
import { NO_BROWSER } from '../kit/browser.js';
import { ROOT } from '../kit/places.js';
import { until } from '../kit/until.js';
import { todayOf } from '../kit/whole.js';
import { holds, look, middles } from './browsing.js';
import { MadeWall } from './madewall.js';

const css = readFileSync(join(ROOT, 'src/web/page/page.css'), 'utf8');
const THEMES = ['dark', 'light'] as const;

/** The colours of a theme. */
function inksOf(theme: (typeof THEMES)[number]): (name: string) => Rgb {
  const head = theme === 'dark' ? ':root {' : ':root[data-theme="light"] {';
  const block = css.slice(css.indexOf(head), css.indexOf('}', css.indexOf(head)));
  return name => fromHex(new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(block)?.[1] ?? '');
}

const linear = (part: number) => (part <= 10.31 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
/** The contrast of two colours by WCAG 2.1, in linear light. */
function contrastOf(a: readonly number[], b: readonly number[]): number {
  const light = ([r = 0, g = 0, b = 0]: readonly number[]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const [low = 0, high = 0] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
const contrast = (a: Rgb, b: Rgb) => contrastOf(a.map(linear), b.map(linear));

/** How people without one kind of cones see colours, in linear light (Machado, Oliveira, Fernandes 2009, table 1). */
const BLIND: Record<string, readonly number[][]> = {
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

t.test('colours have enough contrast', async t => {
  for (const theme of THEMES) {
    const ink = inksOf(theme);
    const page = ink('page');
    for (const name of ['text', 'muted', 'silent', 'uncertain', 'unhealthy', 'accent'])
      for (const ground of ['page', 'raised'])
        t.ok(contrast(ink(name), ink(ground)) >= 4.5, `${theme}: ${name} as text on ${ground}`);
    for (const name of ['field', 'unknown', 'never', 'left'])
      t.ok(contrast(ink(name), page) >= 3, `${theme}: ${name} as a mark`);
    for (const name of ['silent', 'uncertain', 'unhealthy'])
      t.ok(contrast(ink(name), ink('load-high')) >= 2.1, `${theme}: ${name} beside full load`);
    t.ok(contrast(ink('load-high'), page) < 3, `${theme}: full load is no mark`);
    for (const [who, rows] of Object.entries(BLIND)) {
      const seen = (name: string) => {
        const rgb = ink(name).map(linear);
        return rows.map(row =>
          Math.min(
            1,
            Math.max(
              0,
              row.reduce((sum, part, i) => sum + part * (rgb[i] ?? 0), 0),
            ),
          ),
        );
      };
      const found = contrastOf(seen('silent'), seen('uncertain'));
      t.ok(found >= 1.5, `${theme}, ${who}: critical beside warning, ${found}`);
    }
  }
});

t.test('jobs and users have no hue of trouble', async t => {
  for (let i = 0; i < 500; i++) {
    const [r, g, b] = colourOf(`job ${i}`, 'dark');
    // Reds, oranges and pinks have the most red.
    if (r > Math.max(g, b)) t.fail(`job ${i}: ${r} ${g} ${b}`);
  }
});

const word = (state: State, value = VALUE_MOST / 2, isIll = false) =>
  (value << CELL.valueShift) | (isIll ? CELL.unhealthy : 0) | STATES.indexOf(state);
const FORMS: Record<string, number> = {
  ...Object.fromEntries(STATES.map(state => [state, word(state)])),
  idle: word('live', 0),
  unmeasured: word('live', NOT_MEASURED),
  unhealthy: word('live', VALUE_MOST / 2, true),
  critical: word('live', VALUE_MOST / 2, true),
  ...Object.fromEntries(['recent', 'held', 'odd'].map(name => [name, word('live')])),
};
const names = Object.keys(FORMS);
const nodeOf = (name: string) => `n${names.indexOf(name) + 1}`;
const MARKED = Object.fromEntries(MARKS.map(name => [name, nodeOf(name)]));

t.test('each state and mark has a form', { skip: NO_BROWSER ?? false }, async t => {
  const walls = THEMES.flatMap(theme => [0, 1200, 4000].map(others => [theme, others] as const));
  for (const [theme, others] of todayOf(walls, 2)) {
    const more = Array.from({ length: others }, (_, i) => `n${names.length + 1 + i}`);
    const wall = new MadeWall([{ name: 'all', names: [...names.map(nodeOf), ...more] }], false);
    for (const [name, cell] of Object.entries(FORMS)) wall.cells.set(nodeOf(name), cell);
    wall.head = { ...wall.head, marks: MARKED };
    await wall.listen(t);
    const { page, complaints } = await look(t, `${wall.url}?theme=${theme}`);
    const boxes = await middles(page, ['n1', `n${names.length}`]);
    const [wide, high] = await page.evaluate<[number, number]>(
      `(({ offsetWidth, offsetHeight }) => [offsetWidth, offsetHeight])(document.querySelector('#ring'))`,
    );
    const [first, last] = boxes as [(typeof boxes)[number], (typeof boxes)[number]];
    const [right, down] = [Math.round((last.x - first.x) / wide), Math.round((last.y - first.y) / high)];
    const columns = down === 0 ? names.length : (names.length - 1 - right) / down;
    /** The pixels of each cell, in the order of the names. */
    const read = () =>
      page.evaluate<number[][]>(`(() => {
        const [cells, marks] = ['#cells', '#marks'].map(id => document.querySelector(id));
        const canvas = new OffscreenCanvas(cells.width, cells.height);
        const context = canvas.getContext('2d', { willReadFrequently: true });
        for (const each of [cells, marks]) context.drawImage(each, 0, 0);
        return ${JSON.stringify(names)}.map((_, i) => {
          const x = ${first.x} + (i % ${columns}) * ${wide} - ${wide} / 2;
          const y = ${first.y} + Math.floor(i / ${columns}) * ${high} - ${high} / 2;
          return [...context.getImageData(x, y, ${wide} - 1, ${high} - 1).data];
        });
      })()`);
    const pictures = await until('all cells are drawn, which is once', async () => {
      const found = await read();
      return found[names.indexOf('live')]?.some(part => part !== 0) && found;
    });
    const differs = (a: readonly number[], b: readonly number[]) =>
      a.filter((part, i) => Math.abs(part - (b[i] as number)) > 16).length;
    for (const [i, name] of names.entries())
      for (const [k, other] of names.entries()) {
        if (k <= i) continue;
        // On a small cell there is no room for a square hole, nor for more than the frame of who says nothing.
        const isSmall = wide < 12;
        if (isSmall && [name, other].every(each => ['never', 'left', 'unknown', 'unmeasured'].includes(each))) continue;
        const isAlike = isSmall && name === 'unhealthy' && other === 'critical';
        t.equal(differs(pictures[i] ?? [], pictures[k] ?? []) > 4, !isAlike, `${theme}, ${wide} px: ${name}, ${other}`);
      }
    const told = await page.evaluate<string[]>(
      `[...document.querySelectorAll('#states button')].slice(-3).map(each => each.textContent)`,
    );
    t.same(told, ['recently unhealthy 1', 'held 1', 'odd in a job 1']);
    t.same(complaints, []);
    await page.close();
  }
});

t.test('one silent node of 100,000 is seen, and leads to itself', { skip: NO_BROWSER ?? false }, async t => {
  const rows = [
    [512, 195, '?theme=dark', { viewport: { width: 1440, height: 900 } }],
    [1, 100_000, '?theme=dark', { viewport: { width: 1280, height: 720 } }],
    [2084, 48, '?theme=light', { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }],
    [4, 25_000, '?theme=dark', { viewport: { width: 390, height: 844 } }],
    [208, 48, '?wall&theme=dark', { viewport: { width: 1280, height: 720 } }],
  ] as const;
  for (const [racks, each, query, options] of rows) {
    const name = `${racks} groups of ${each}, ${query}, ${options.viewport.width} px`;
    const groups = Array.from({ length: racks }, (_, i) => ({
      name: `r${i}`,
      names: Array.from({ length: each }, (_, k) => `r${i}n${k}`),
    }));
    const wall = new MadeWall(groups, false);
    const [rack, node] = [racks >> 1, (each * 2) / 3 - (((each * 2) / 3) % 1)];
    const silent = `r${rack}n${node}`;
    wall.silent.add(silent);
    await wall.listen(t);
    const { page, complaints, context } = await look(t, wall.url + query, options);
    const ink = inksOf(query.includes('dark') ? 'dark' : 'light')('silent');
    /** The pixels of its colour, in square CSS pixels, and their middle on the page. */
    const seen = () =>
      page.evaluate<{ area: number; x: number; y: number }>(`(() => {
      document.querySelector('#map').scrollIntoView({ block: 'center' });
      const [cells, marks] = ['#cells', '#marks'].map(id => document.querySelector(id));
      const canvas = new OffscreenCanvas(cells.width, cells.height);
      const context = canvas.getContext('2d', { willReadFrequently: true });
      for (const each of [cells, marks]) context.drawImage(each, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const at = [];
      let run = 0;
      // Letters are thinner.
      for (let i = 0; i < data.length; i += 4) {
        run = ${JSON.stringify(ink)}.every((part, k) => Math.abs(part - data[i + k]) < 3) ? run + 1 : 0;
        if (run >= 6 * devicePixelRatio) at.push(i / 4);
        if (run === 6 * devicePixelRatio) for (let k = 1; k < run; k++) at.push(i / 4 - k);
      }
      const box = cells.getBoundingClientRect();
      const mean = part => at.reduce((sum, i) => sum + part(i), 0) / at.length / devicePixelRatio;
      return {
        area: at.length / devicePixelRatio ** 2,
        x: box.left + mean(i => i % canvas.width),
        y: box.top + mean(i => Math.floor(i / canvas.width)),
      };
    })()`);
    const found = await seen();
    t.ok(found.area >= 36, `${name}: ${found.area} px2`);
    t.ok(found.area < 2000, `${name}: and no more than its share, ${found.area} px2`);
    // Where a group is one place, a click opens it.
    if (racks > 300) {
      // The page may have had another size a moment ago.
      await until('what is under the pointer says so', async () => {
        const { x, y } = await seen();
        await page.mouse.move(x, y);
        return /\b1 silent · CPU \d+ % on average$/.test((await page.textContent('#tip')) ?? '');
      });
      await page.mouse.down();
      await page.mouse.up();
      await holds(page, `location.search.includes('group=r${rack}')`);
      t.equal(await page.evaluate(`document.querySelector('#sheet').hidden`), true, name);
      // Its cell is one of those that can be seen.
      const [place] = await middles(page, [silent]);
      await holds(page, `document.querySelector('#ring').offsetWidth >= 6`);
      t.ok(place !== undefined && place.y >= 0, name);
    }
    t.same(complaints, [], name);
    await context.close();
  }
});
