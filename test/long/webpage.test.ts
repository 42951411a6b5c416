// The page with 10,000 and 100,000 nodes: when the first picture is there, what a second costs the browser's main thread in script, and that
// its memory does not grow. Script time is the browser's own (Performance.getMetrics, time on the CPU), the median of three spans of 30 s, nobody pointing.

import type { CDPSession } from 'playwright-core';
import t from 'tap';
import { browse, holds, look, NO_BROWSER, shown, startLoad, startWall } from '../browsing.js';
import { run, until } from '../lib.js';

const skip = NO_BROWSER ?? false;
const SPAN_MS = 30_000;

async function metrics(session: CDPSession): Promise<Record<string, number>> {
  const { metrics: found } = await session.send('Performance.getMetrics');
  return Object.fromEntries(found.map(({ name, value }) => [name, value]));
}

/** Heap in use, bytes, after everything that can go has gone. */
async function heap(session: CDPSession): Promise<number> {
  for (let i = 0; i < 3; i++) await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;

for (const [size, most, firstMs, nodes] of [
  [9984, 4, 300, 'r[001-208]n[01-48]'],
  [99_840, 20, 1000, 'r[0001-2080]n[01-48]'],
] as const)
  t.test(`${size} nodes`, { skip }, async t => {
    const wall = await startWall(t, [], 131_072);
    startLoad(t, wall, ['--nodes', nodes, '--interval', size > 50_000 ? '2s' : '1s']);
    await until(
      'all report',
      async () => (await run(['check', '--board', wall.board, '--critical', '0'])).code === 0,
      1000,
    );
    const { page, context, complaints } = await look(await browse(t), wall.url);
    await holds(page, `document.querySelector('#line').textContent.includes('${size} live')`);
    const session = await context.newCDPSession(page);
    // Time on the CPU, not by the clock: what else this machine does is not the page's.
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });

    // A page that is opened when all is there: from the navigation to the first picture.
    const first: number[] = [];
    for (let i = 0; i < 3; i++) {
      await page.reload();
      await page.evaluate(`new Promise(resolve => {
        const canvas = document.querySelector('#cells');
        new MutationObserver(() => resolve()).observe(canvas, { attributes: true, attributeFilter: ['data-seq'] });
        if (canvas.dataset.seq !== undefined) resolve();
      })`);
      first.push(await page.evaluate<number>('performance.now()'));
    }
    t.comment(
      `${size} nodes: first picture after ${Math.round(median(first))} ms (${firstMs} are wanted on a machine of its own)`,
    );

    await holds(page, `document.querySelector('#line').textContent.includes('${size} live')`);
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

    const early = await heap(session);
    await new Promise(resolve => setTimeout(resolve, 2 * 60_000));
    const late = await heap(session);
    t.comment(
      `${size} nodes: heap ${(early / 2 ** 20).toFixed(1)} MiB, two minutes later ${(late / 2 ** 20).toFixed(1)} MiB`,
    );
    t.ok(late < 1.05 * early + 100_000, 'the heap does not grow');
    t.same(complaints, []);
  });
