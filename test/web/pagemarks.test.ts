// The marks on the map besides readings: nodes behind links on which nothing is heard, in their own network with links
// that go down and become dark; a mirror, which shows its origin and delay; a constant load, whose colours are those of
// `beoboard status --json`; and a single node that dies.
//
// @seconds 31
// @waits
// @rest
// @days 3

import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { bits } from '../../src/layout/layout.gen.js';
import { BoardReader } from '../../src/shm/reader.js';
import { contour } from '../../src/web/page/contours.js';
import type { GroupBlock } from '../../src/web/page/geometry.js';
import { fromHex, shades, stepOf } from '../../src/web/page/palette.js';
import { VALUE_MOST } from '../../src/web/wire.js';
import { NO_BROWSER } from '../kit/browser.js';
import { Namespace, noNamespaces } from '../kit/netns.js';
import { boardPath, folder, type Teardown } from '../kit/places.js';
import { PROGRAM, start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import {
  colours,
  holds,
  lastSeq,
  leave,
  look,
  marksLeftOf,
  middles,
  shown,
  startLoad,
  startWall,
  tickOf,
} from './browsing.js';
import { startWeb } from './webclient.js';

const run = verbRun(t);

const skip = NO_BROWSER ?? false;
const noNats = !process.env.CI && spawnSync('nats-server', ['--version']).status !== 0 && 'there is no nats-server';
const SHORT = ['--uncertain-after', '2s', '--silent-after', '4s'];

t.test('a line is drawn where a marked cell has no marked neighbour', async t => {
  const block: GroupBlock = {
    group: 0,
    first: 2,
    count: 7,
    places: 7,
    columns: 3,
    rows: 3,
    x: 10,
    y: 20,
    column: 0,
    row: 0,
  };
  /** Each line as `x,y-x,y`, sorted. */
  const around = (...cells: number[]) => {
    const has = new Uint8Array(10);
    for (const cell of cells) has[cell] = 1;
    const found: string[] = [];
    let from = '';
    const pen = {
      moveTo: (x: number, y: number) => {
        from = `${x},${y}`;
      },
      lineTo: (x: number, y: number) => found.push(`${from}-${x},${y}`),
    };
    contour(pen, block, { side: 10, wide: 10 }, place => has[block.first + place] === 1, 2, 2);
    return found.sort();
  };
  t.strictSame(around(), []);
  t.strictSame(around(0, 1, 9), [], 'cells of other blocks');
  // The first cell alone: 8 pixels, and half a gap on each side.
  t.strictSame(around(2), ['19,19-19,29', '9,19-19,19', '9,19-9,29', '9,29-19,29']);
  t.equal(around(2, 3).length, 6, 'none between two neighbours in a row');
  t.equal(around(2, 5).length, 6, 'nor in a column');
  t.equal(around(4, 5).length, 8, 'the end of a row and the beginning of the next are no neighbours');
  t.equal(around(2, 3, 4, 5, 6, 7, 8).length, 12, 'all, the last row of which is short');
});

const TEXT = '238,242,245,255';

/** Starts our program in a namespace. */
function startIn(t: Teardown, { prefix }: Namespace, argv: string[]) {
  const [command = '', ...args] = [...prefix, process.execPath, PROGRAM, ...argv];
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore'] });
  t.teardown(() => {
    child.kill('SIGKILL');
  });
  return child;
}

t.test('links on which nothing is heard', { skip: skip || noNamespaces() }, async t => {
  const [master, ...fars] = await Promise.all([Namespace.make(t), Namespace.make(t), Namespace.make(t)]);
  for (const [i, far] of fars.entries()) {
    const v = `v${i + 1}`;
    master.ip(
      `link add ${v} type veth peer name ${v} netns ${far.pid}`,
      `addr add 10.87.${i}.1/24 dev ${v}`,
      `link set ${v} up`,
    );
    far.ip(`addr add 10.87.${i}.2/24 dev ${v}`, `link set ${v} up`);
  }
  const board = boardPath(t);
  startIn(t, master, ['receive', '--board', board, '--listen', '0.0.0.0:8677', '--capacity', '64', ...SHORT]);
  await until('there is a board', () => existsSync(board));
  const loads = fars.map((far, i) =>
    startIn(t, far, ['load', '--to', `10.87.${i}.1:8677`, '--nodes', `rack${i + 1}n[01-12]`, '--interval', '300ms']),
  );
  const web = await startWeb(t, board);
  const { page, complaints } = await look(t, `${web.url}?theme=dark`);
  await holds(page, `document.querySelector('#line').textContent.includes('24 live')`);
  const [up, down] = (await middles(page, ['rack2n01', 'rack1n01'])) as [
    { x: number; y: number },
    { x: number; y: number },
  ];
  const isMarked = async (place: { x: number; y: number }) =>
    (await page.evaluate<string[]>(marksLeftOf(place))).includes(TEXT);
  t.notOk(await isMarked(down), 'no line around a cell');
  const button = `document.querySelector('#states [data-state="dark"]')`;
  t.equal(await page.evaluate(`${button} === null`), true);

  await leave(page);
  master.ip('link set v1 down');
  await holds(page, `${button}?.textContent === '12 behind v1'`);
  await holds(
    page,
    `/^12: rack1n\\[01-12\\]not heard, because v1 of this master is down/.test([...document.querySelectorAll('#trouble [data-key="link:v1"] :is(.nodes, .what)')].map(({ textContent }) => textContent).join(''))`,
  );
  await until('there is a line around its nodes', () => isMarked(down));
  t.notOk(await isMarked(up), 'and none around the others');
  await holds(page, `document.querySelector('#here').textContent.endsWith('behind v1, on which nothing is heard')`);
  // The button selects these nodes.
  await page.click('#states [data-state="dark"]');
  await holds(page, `document.querySelectorAll('#table tbody tr').length === 12`);
  await page.keyboard.press('Escape');
  await holds(page, `document.querySelector('#choice').hidden`);

  // The other link is up, but all nodes behind it become silent at once: it is dark, as with a broken switch.
  loads[1]?.kill('SIGKILL');
  await holds(page, `${button}?.textContent === '24 behind 2 links'`);
  await until('they have a line, too', () => isMarked(up));
  master.ip('link set v1 up');
  await holds(
    page,
    `${button}?.textContent === '12 behind v2' && document.querySelector('#line').textContent.includes('12 live')`,
  );
  await until('the first is as before', async () => !(await isMarked(down)));
  t.same(complaints, []);
});

t.test('a mirror shows its origin and its delay', { skip: skip || noNats }, async t => {
  const at = folder(t);
  const key = join(at, 'relay.key');
  t.match(await run(['keygen', '--relay', key]), { code: 0 });
  const nats = spawn('nats-server', ['--addr', '127.0.0.1', '--port', '-1', '--ports_file_dir', at], {
    stdio: 'ignore',
  });
  t.teardown(() => {
    nats.kill('SIGKILL');
  });
  const url = await until('the server of NATS is ready', () => {
    const file = readdirSync(at).find(name => name.endsWith('.ports'));
    const text = file === undefined ? '' : readFileSync(join(at, file), 'utf8');
    return /nats:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
  });
  const [source, board] = [join(at, 'board'), join(at, 'mirror', 'board')];
  const receiver = await startReceiver(t, source, ['--cluster', 'alpha', ...SHORT]);
  startLoad(t, { receiver }, ['--nodes', 'rack1n[01-12]', '--cluster', 'alpha', '--interval', '300ms']);
  const rack = startLoad(t, { receiver }, ['--nodes', 'rack2n[01-12]', '--cluster', 'alpha', '--interval', '300ms']);
  const common = ['--nats', url, '--site', 'home'];
  const relay = start(t, ['relay', '--board', source, '--master', 'm1', '--key-file', key, ...common]);
  await relay.ready;
  start(t, [
    'mirror',
    '--board',
    board,
    '--cluster',
    'alpha',
    '--trust',
    `m1=${key}.pub`,
    '--name',
    'login1',
    ...common,
  ]);
  await until('the mirror has a board', () => existsSync(board));
  const web = await startWeb(t, board);
  const { page, complaints } = await look(t, `${web.url}?theme=dark`);
  await holds(page, `document.querySelector('#line').textContent === 'alpha: 24 nodes: 24 live'`);
  const mirror = `document.querySelector('#mirror')`;
  await holds(page, `/^Mirror of alpha by m1, \\d+ ms behind$/.test(${mirror}.textContent) && !${mirror}.hidden`);
  t.notMatch(await page.textContent('#rest'), /mirror/, 'and it is said once');
  // The mirror shows the same nodes as silent as the master's board.
  rack.child.kill('SIGKILL');
  await holds(page, `document.querySelector('#line').textContent.includes('12 silent')`);
  const { nodes } = await tickOf(web.url, await lastSeq(web.url));
  const silent = nodes.filter(({ state }) => state === 'silent').map(({ name }) => name);
  // A master that stands still for a moment listens anew: then its own verdict is gone for as long.
  await until('the same nodes are silent on the board of the master', async () => {
    const { stdout } = await run(['nodes', '--board', source, '--state', 'silent', '--expand']);
    return stdout.trim().split('\n').sort().join() === silent.sort().join();
  });
  // Without the relay nothing is known about any node, but the origin is still shown.
  relay.child.kill('SIGKILL');
  await holds(
    page,
    `document.documentElement.dataset.life === 'stalled' && ${mirror}.textContent === 'Mirror of alpha by m1'`,
  );
  t.same(complaints, []);
  const { page: plain } = await look(t, (await startWeb(t, source)).url);
  t.ok(await plain.locator('#mirror').isHidden(), 'the board of a receiver is none');
});

/** Ten nodes with constant reports, each with another share of memory in use. */
async function startConstant(t: Teardown, port: number): Promise<string[]> {
  const names = Array.from({ length: 10 }, (_, i) => `c${i}`);
  const socket = createSocket('udp4');
  let seq = 0;
  const report = () => {
    seq++;
    for (const [i, hostname] of names.entries())
      socket.send(
        makeReport({
          hostname,
          seq,
          valid: 1n << BigInt(bits.valid.memory),
          t_boot_ns: 100_000_000_000n + BigInt(seq) * 500_000_000n,
          mem_total_mib: 1000,
          mem_avail_mib: 1000 - 37 * (i + 1) - i * i,
        }),
        port,
        '127.0.0.1',
      );
  };
  report();
  await once(socket, 'listening');
  const timer = setInterval(report, 500);
  t.teardown(() => {
    clearInterval(timer);
    socket.close();
  });
  return names;
}

t.test('a constant load has the colours of status --json', { skip }, async t => {
  const wall = await startWall(t);
  const names = await startConstant(t, wall.receiver.port);
  const { page, complaints } = await look(t, `${wall.url}?theme=dark&reading=mem`);
  await holds(page, `document.querySelector('#line').textContent.includes('10 live')`);
  const places = await middles(page, names);
  const { rgb } = await colours(page, places);
  const scale = shades(fromHex('#212a32'), fromHex('#555f68'));
  const entryOf = (percent: number) => [
    ...(scale[stepOf(Math.round((percent * VALUE_MOST) / 100), VALUE_MOST)] as readonly number[]),
  ];
  const status = JSON.parse((await run(['status', '--board', wall.board, '--json'])).stdout) as {
    nodes: { name: string; report: { mem_total_mib: number; mem_avail_mib: number } }[];
  };
  const byStatus = names.map(name => {
    const { mem_total_mib: total, mem_avail_mib: free } = status.nodes.find(node => node.name === name)?.report ?? {
      mem_total_mib: 0,
      mem_avail_mib: 0,
    };
    return entryOf((100 * (total - free)) / total);
  });
  t.same(rgb, byStatus);
  t.equal(new Set(rgb.map(String)).size, 10, 'ten colours');
  const { nodes } = await tickOf(wall.url, await lastSeq(wall.url), 'mem');
  t.same(
    rgb,
    names.map(name => entryOf(nodes.find(node => node.name === name)?.mem as number)),
    'and of the API',
  );
  t.same(complaints, []);
});

/**
 * Waits until a node is silent on the board, and then until the map shows that. Returns after how many ticks the
 * server had it, and how many ticks the page was then behind the server. Delays are counted in ticks, because times on
 * a busy machine say little.
 */
async function silentOnMap(page: Page, { url, board }: { url: string; board: string }, name: string, seen: string) {
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  await until('it is silent on the board', () => [...reader.snapshotOf(name).nodes()][0]?.state === 'silent');
  const since = await lastSeq(url);
  await until('it is silent for the server', async () => (await silentAt(url, await lastSeq(url), name)) === true);
  let first = await lastSeq(url);
  while (first > since && (await silentAt(url, first - 1, name)) === true) first--;
  await holds(page, seen);
  const { seq } = await shown(page);
  return { server: first - since, page: (await lastSeq(url)) - seq };
}

/** Whether a node is silent at a tick; undefined: the tick is no longer kept. */
async function silentAt(url: string, seq: number, name: string): Promise<boolean | undefined> {
  const tick = await tickOf(url, seq).catch(() => undefined);
  return tick && tick.nodes.find(node => node.name === name)?.state === 'silent';
}

t.test('a single node that is killed is on the map within two ticks of the board', { skip }, async t => {
  const wall = await startWall(t, SHORT);
  startLoad(t, wall, ['--nodes', 'rack[1-4]n[01-12]', '--interval', '300ms']);
  const one = startLoad(t, wall, ['--nodes', 'rack2n13', '--interval', '300ms']);
  const { page, complaints } = await look(t, `${wall.url}?theme=dark&reading=age`);
  await holds(page, `document.querySelector('#line').textContent.includes('49 live')`);
  const [place] = (await middles(page, ['rack2n13'])) as [{ x: number; y: number }];
  one.child.kill('SIGKILL');
  // The map shows its colour, and the line below names its state.
  const late = await silentOnMap(
    page,
    wall,
    'rack2n13',
    `/^rack2n13 · silent/.test(document.querySelector('#here').textContent)
      && document.querySelector('[data-state="silent"] b')?.textContent === '1'
      && String(document.querySelector('#cells').getContext('2d').getImageData(${place.x}, ${place.y}, 1, 1).data)
        === '255,95,79,255'`,
  );
  t.ok(late.server <= 2 && late.page <= 2, `ticks: ${JSON.stringify(late)}`);
  t.same(complaints, []);
});
