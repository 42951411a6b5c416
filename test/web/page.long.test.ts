// The page with 10,000 and 100,000 nodes: when the first picture is shown, how much script time per second the
// browser's main thread needs, and how much later than on the board a rack is silent on the map. Script time is the
// browser's own figure (Performance.getMetrics, CPU time), the median of three spans of 30 s, without a pointer on the
// map.

import type { CDPSession } from 'playwright-core';
import t from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { NO_BROWSER } from '../kit/browser.js';
import { until } from '../kit/until.js';
import { holds, look, middles, shown, startLoad, startWall } from './browsing.js';

const skip = NO_BROWSER ?? false;
const SPAN_MS = 30_000;
/** How much later than the board a page of 100,000 nodes may show a change. */
const LATEST_MS = 5000;

async function metrics(session: CDPSession): Promise<Record<string, number>> {
  const { metrics: found } = await session.send('Performance.getMetrics');
  return Object.fromEntries(found.map(({ name, value }) => [name, value]));
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

for (const [size, most, firstMs, nodes] of [
  [9984, 4, 300, 'r[001-208]n[01-48]'],
  [99_840, 20, 1000, 'r[0001-2080]n[01-48]'],
] as const)
  t.test(`${size} nodes`, { skip }, async t => {
    const wall = await startWall(t, [], 131_072);
    startLoad(t, wall, ['--nodes', nodes, '--interval', size > 50_000 ? '2s' : '1s']);
    const rack = startLoad(t, wall, ['--nodes', 'r9999n[01-48]']);
    const all = size + 48;
    const reader = new BoardReader(wall.board);
    t.teardown(() => reader.close());
    const stateOf = (name: string) => [...reader.snapshotOf(name).nodes()][0]?.state;
    await until(
      'all report',
      () => reader.snapshot().overview.states.filter(state => state === 1).length === all,
      1000,
    );
    const { page, context, complaints } = await look(t, `${wall.url}?theme=dark`);
    await holds(page, `document.querySelector('#line').textContent.includes('${all} live')`);
    const session = await context.newCDPSession(page);
    // CPU time and not wall time, so that other load on this machine does not count.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });

    // The page is opened when all nodes report: the time from the navigation to the first picture.
    const first: number[] = [];
    for (let i = 0; i < 5; i++) {
      await page.reload();
      await page.evaluate(`new Promise(resolve => {
        const canvas = document.querySelector('#cells');
        new MutationObserver(() => resolve()).observe(canvas, { attributes: true, attributeFilter: ['data-seq'] });
        if (canvas.dataset.seq !== undefined) resolve();
      })`);
      first.push(await page.evaluate<number>('performance.now()'));
    }
    t.comment(
      `${size} nodes: first picture after ${Math.round(median(first))} ms (${first.map(Math.round).join(', ')}); ${firstMs} are wanted on a machine of its own`,
    );

    await holds(page, `document.querySelector('#line').textContent.includes('${all} live')`);
    const script: number[] = [];
    const task: number[] = [];
    for (let i = 0; i < 3; i++) {
      const began = performance.now();
      const before = await metrics(session);
      await new Promise(resolve => setTimeout(resolve, SPAN_MS));
      const after = await metrics(session);
      const span = (performance.now() - began) / 1000;
      script.push((1000 * ((after.ScriptDuration as number) - (before.ScriptDuration as number))) / span);
      task.push((1000 * ((after.TaskDuration as number) - (before.TaskDuration as number))) / span);
    }
    t.comment(
      `${size} nodes: ${median(script).toFixed(1)} ms of script a second, ${median(task).toFixed(1)} ms of all tasks`,
    );
    t.ok(median(script) <= most, `at most ${most} ms a second: ${script.map(value => value.toFixed(1))}`);
    t.ok((await shown(page)).seq > 0);

    // A rack dies. On the map its cells get the plain colour of silent nodes.
    const [place] = (await middles(page, ['r9999n24'])) as [{ x: number; y: number }];
    const pixel = `String(document.querySelector('#cells').getContext('2d').getImageData(${place.x}, ${place.y}, 1, 1).data.slice(0, 3))`;
    t.not(await page.evaluate(pixel), '255,95,79');
    rack.child.kill('SIGKILL');
    await until('the board says so', () => stateOf('r9999n24') === 'silent', 20);
    const began = performance.now();
    await holds(page, `${pixel} === '255,95,79'`);
    const late = performance.now() - began;
    t.comment(`${size} nodes: a rack that fell silent is on the map ${Math.round(late)} ms after the board says so`);
    t.ok(late <= LATEST_MS, `within ${LATEST_MS} ms`);
    await holds(page, `document.querySelector('[data-state="silent"] b')?.textContent === '48'`);
    t.same(complaints, []);
  });
