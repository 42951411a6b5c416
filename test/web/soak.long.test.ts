// Ten minutes with one page and 19 plain clients: neither the page's heap nor the server's memory grows.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession } from 'playwright-core';
import t from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { NO_BROWSER } from '../kit/browser.js';
import { folder, ROOT } from '../kit/places.js';
import { until } from '../kit/until.js';
import { holds, look, startLoad, startWall } from './browsing.js';

const skip = NO_BROWSER ?? false;
const SIZE = 9984;
const CLIENTS = 19;
const MINUTE_MS = 60_000;
/** The factor by which memory may grow from the fourth minute, before which caches fill, to the tenth. */
const GROWN = 1.05;
/** The same for all private memory, with what V8 and malloc keep free: that varies by some 15 MiB. */
const GROWN_PRIVATE = 1.25;
/** Looks at each minute, of which the least counts: the answers that are on their way take some MiB. */
const LOOKS = 5;

/**
 * Heap in use after a collection, bytes: of scripts, of the document, and the buffers of arrays. Scripts alone have 1.5
 * MB, of which 0.1 are machine code that V8 makes as late as in the tenth minute, so growth is measured for all three.
 */
async function heap(session: CDPSession): Promise<number> {
  for (let i = 0; i < 3; i++) await session.send('HeapProfiler.collectGarbage');
  const { usedSize, ...others } = await session.send('Runtime.getHeapUsage');
  const { embedderHeapUsedSize = 0, backingStorageSize = 0 } = others as Record<string, number>;
  return usedSize + embedderHeapUsedSize + backingStorageSize;
}

/**
 * Loaded into the server: at SIGUSR2 it collects garbage, and then notes on a line of a file how many bytes its heap
 * and its buffers use.
 */
const COLLECTING = `
require('node:v8').setFlagsFromString('--expose-gc');
const collect = require('node:vm').runInNewContext('gc');
process.on('SIGUSR2', () => {
  for (let i = 0; i < 3; i++) collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const { heapUsed, external } = process.memoryUsage();
  require('node:fs').appendFileSync(__filename + '.done', (heapUsed + external) + '\\n');
});
`;

const linesOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []);

/** The private memory of a process, bytes: without the board and the files that others map as well. */
const privateOf = (pid: number) =>
  1024 * Number(/^Pss_Anon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);

t.test('ten minutes', { skip }, async t => {
  const collecting = join(folder(t), 'collecting.cjs');
  writeFileSync(collecting, COLLECTING);
  process.env.NODE_OPTIONS = `--require=${collecting}`;
  const wall = await startWall(t, [], 16_384);
  delete process.env.NODE_OPTIONS;
  startLoad(t, wall, ['--nodes', 'r[001-208]n[01-48]']);
  const reader = new BoardReader(wall.board);
  await until('all report', () => reader.snapshot().overview.states.filter(state => state === 1).length === SIZE, 500);
  reader.close();
  const { page, context, complaints } = await look(t, wall.url);
  await holds(page, `document.querySelector('#line').textContent.includes('${SIZE} live')`);
  const session = await context.newCDPSession(page);
  const clients: ChildProcess = fork(join(ROOT, 'bench/pages.mjs'), [new URL(wall.url).port, String(CLIENTS)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  t.teardown(() => {
    clients.kill('SIGKILL');
  });
  const received = async () => {
    clients.send('bytes');
    for (;;) {
      const [{ bytes }] = (await once(clients, 'message')) as [{ bytes?: number }];
      if (bytes !== undefined) return bytes;
    }
  };
  const began = performance.now();
  const server = wall.web.child.pid as number;
  let collections = 0;
  const used = async () => {
    process.kill(server, 'SIGUSR2');
    collections++;
    await until('the server has collected', () => linesOf(`${collecting}.done`).length === collections);
    return Number(linesOf(`${collecting}.done`).at(-1));
  };
  const least = async (of: () => Promise<number>) => {
    let found = Number.POSITIVE_INFINITY;
    for (let i = 0; i < LOOKS; i++, await sleep(700)) found = Math.min(found, await of());
    return found;
  };
  const seen: { minute: number; heap: number; used: number; own: number }[] = [];
  for (let minute = 4; minute <= 10; minute += 2) {
    await sleep(began + minute * MINUTE_MS - performance.now());
    const [inPage, inServer] = [await least(() => heap(session)), await least(used)];
    seen.push({ minute, heap: inPage, used: inServer, own: privateOf(server) });
  }
  const told = (of: (at: (typeof seen)[number]) => string) => seen.map(at => of(at)).join(', ');
  t.comment(`minutes ${told(({ minute }) => String(minute))}`);
  t.comment(`the page's heap, MiB: ${told(at => (at.heap / 2 ** 20).toFixed(2))}`);
  t.comment(`the server's heap and buffers, MiB: ${told(at => (at.used / 2 ** 20).toFixed(1))}`);
  t.comment(`all its private memory, MiB: ${told(at => (at.own / 2 ** 20).toFixed(1))}`);
  const [first, last] = [seen[0], seen.at(-1)] as [(typeof seen)[number], (typeof seen)[number]];
  t.ok(last.heap <= GROWN * first.heap, 'the heap of the page');
  t.ok(last.used <= GROWN * first.used, 'what the server uses');
  t.ok(last.own <= GROWN_PRIVATE * first.own, 'what the server has');
  // All clients got data all the time: at least 20 KB per look.
  t.ok((await received()) > (CLIENTS * SIZE * 2 * 600) / 2, 'the clients have heard of it');
  t.same(complaints, []);
});
