// Ten minutes of trouble that changes every second, 200 lines of it, on a page of 10,000 and of 100,000 nodes: nothing
// moves by Chromium's own measure, the memory of the page stays the same, and what it costs.

import t from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { TROUBLE_MOST } from '../../src/web/wire.js';
import { NO_BROWSER } from '../kit/browser.js';
import { SEED } from '../kit/whole.js';
import { holds, look } from './browsing.js';
import { line, MadeWall, watchShifts } from './madewall.js';

const skip = NO_BROWSER ?? false;
/** Looks of a second each, and after how many the memory is what it has to stay. */
const LOOKS = 600;
const SETTLED = 120;
/** How much more memory may be in use at the end, MB: the river fills its columns. */
const MORE_MB = 3;

for (const [racks, name] of [
  [208, 'r[001-208]'],
  [2080, 'r[0001-2080]'],
] as const)
  t.test(`${48 * racks} nodes`, { skip }, async t => {
    const groups = expand(name, BOARD_MOST).map(rack => ({ name: rack, names: expand(`${rack}n[01-48]`, BOARD_MOST) }));
    const wall = new MadeWall(groups, true);
    await wall.listen(t);
    const { page, context, complaints } = await look(t, `${wall.url}?theme=dark`, {
      viewport: { width: 1440, height: 900 },
    });
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const measure = async () => {
      await session.send('HeapProfiler.collectGarbage');
      const { metrics } = await session.send('Performance.getMetrics');
      const of = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? Number.NaN;
      return {
        heap: of('JSHeapUsedSize') / 1e6,
        nodes: of('Nodes'),
        task: of('TaskDuration'),
        script: of('ScriptDuration'),
      };
    };
    const draw = random(SEED);
    const lines = groups.slice(0, 300).map(({ name: rack }, i) =>
      line(`k${i}`, `${rack}n[01-48]`, 48, {
        jobs: Array.from({ length: 4 }, (_, j) => ({ id: `${i}${j}`, user: 'somebody' })),
      }),
    );
    await watchShifts(page);
    let settled = await measure();
    const began = performance.now();
    for (let i = 0; i < LOOKS; i++) {
      const shown = lines.filter(() => draw() < 0.8);
      const silent = Math.floor(draw() * 48 * racks);
      wall.say({
        line: `alpha: ${48 * racks} nodes: ${48 * racks - silent} live, ${silent} silent; listening without gaps for ${i} s`,
        counts: { live: 48 * racks - silent, silent },
        trouble: shown.slice(0, TROUBLE_MOST),
        trouble_more: Math.max(0, shown.length - TROUBLE_MOST),
      });
      await holds(page, `document.querySelector('#cells').dataset.seq === '${wall.head.seq}'`);
      await new Promise(resolve => setTimeout(resolve, Math.max(0, began + 1000 * (i + 1) - performance.now())));
      if (i === SETTLED) settled = await measure();
    }
    const end = await measure();
    const seconds = LOOKS - SETTLED - 1;
    const cost = (from: number, to: number) => ((1000 * (to - from)) / seconds).toFixed(1);
    t.comment(
      `${48 * racks} nodes: ${cost(settled.script, end.script)} ms of script and ${cost(settled.task, end.task)} ms of all tasks for a look; heap ${settled.heap.toFixed(1)} to ${end.heap.toFixed(1)} MB`,
    );
    t.same(await page.evaluate('window.shifts'), [], `layout shifts, seed ${SEED}`);
    t.ok(end.heap < settled.heap + MORE_MB, 'memory');
    t.ok(end.nodes < settled.nodes + 1000, `elements: ${settled.nodes} to ${end.nodes}`);
    t.same(complaints, []);
  });
