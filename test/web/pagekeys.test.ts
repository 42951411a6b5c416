// The page with the keyboard only, the URL that holds the view, and the Back button; texts of nodes stay texts.
//
// @seconds 11
// @rest
// @days 3

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { bits } from '../../src/layout/layout.gen.js';
import { monotonicMs } from '../../src/schedulerfile/statefile.js';
import { colourOf } from '../../src/web/page/palette.js';
import { NO_BROWSER } from '../kit/browser.js';
import { folder } from '../kit/places.js';
import { start } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { colours, holds, look, marksLeftOf, middles, startLoad, startWall } from './browsing.js';

const skip = NO_BROWSER ?? false;
const here = (page: Page) => page.textContent('#here');
const url = (page: Page) => decodeURIComponent(new URL(page.url()).search);

t.test('everything by the keyboard', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'rack[1-3]n[01-12]']);
  const { page, complaints } = await look(t, wall.url);
  await holds(page, `document.querySelector('#line').textContent.includes('36 live')`);
  await holds(page, `document.querySelectorAll('#table tbody tr').length === 3`);

  t.equal(await page.locator('[aria-live]').count(), 1, 'one thing speaks, at most every ten seconds by itself');
  // To the map, and across it.
  await page.keyboard.press('/');
  t.equal(await page.evaluate('document.activeElement.id'), 'asked');
  await page.keyboard.press('Escape');
  t.equal(await page.evaluate('document.activeElement.id'), 'field');
  for (const [key, name] of [
    ['ArrowRight', 'rack1n01'],
    ['ArrowRight', 'rack1n02'],
    ['ArrowLeft', 'rack1n01'],
    ['End', 'rack3n12'],
    ['Home', 'rack1n01'],
  ] as const) {
    await page.keyboard.press(key);
    t.match(await here(page), new RegExp(`^${name} · live · CPU \\d`), key);
    t.match(await page.textContent('#announced'), name, 'and it is spoken');
  }
  await page.keyboard.press('ArrowDown');
  const down = (await here(page))?.split(' ')[0];
  t.not(down, 'rack1n01');
  await page.keyboard.press('ArrowUp');
  t.match(await here(page), /^rack1n01 /, 'back up');
  await holds(page, `location.search.includes('at=rack1n01')`);

  // A node opens, Escape closes it, Back and Forward do the same.
  await page.keyboard.press('Enter');
  await holds(page, `document.querySelector('#sections')?.textContent.includes('64')`);
  t.equal(await page.evaluate('document.activeElement.id'), 'sheetname', 'the sheet has the focus');
  t.match(url(page), /node=rack1n01/);
  await page.keyboard.press('Escape');
  await holds(page, `document.querySelector('#sheet').hidden && !location.search.includes('node=')`);
  t.equal(await page.evaluate('document.activeElement.id'), 'field', 'and the map has it again');
  await page.goForward();
  await holds(page, `!document.querySelector('#sheet').hidden`);
  await page.goBack();
  await holds(page, `document.querySelector('#sheet').hidden`);

  const ask = async (text: string) => {
    // An invalid condition stays in the field, to be corrected.
    if ((await page.evaluate('document.activeElement.id')) !== 'asked') await page.keyboard.press('/');
    if (text === '') await page.keyboard.press('Delete');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };
  const caption = (text: string) => holds(page, `document.querySelector('#table caption').textContent === '${text}'`);
  /** How many rows there are, once these have come. */
  const rows = async (count: number) => {
    await holds(page, `document.querySelectorAll('#table tbody tr').length === ${count}`);
    return await page.locator('#table tbody tr').count();
  };
  await ask('rack2n[03-05],rack3n01');
  await caption('Selected nodes');
  t.equal(await rows(4), 4);
  t.match(await here(page), /^rack2n03 /, 'the cursor is at the first of them');
  t.match(url(page), 'select=rack2n[03-05],rack3n01');
  await ask('rack2');
  await caption('Nodes of rack2');
  t.equal(await rows(12), 12);
  await page.keyboard.press('Escape');
  await caption('Groups');
  await ask('cpu >= 0% && name ~ "n0[12]$"');
  await holds(page, `document.querySelector('#chosen').textContent.startsWith('6 nodes where')`);
  await ask('cpu >');
  await holds(page, `document.querySelector('#chosen').textContent.includes('cpu')`);
  await ask('');
  await holds(page, `document.querySelector('#choice').hidden`);
  await page.hover('#rest');
  await ask('nobody');
  await holds(
    page,
    `document.querySelector('#chosen').textContent.startsWith('There is no node, group, job, user, problem or reading nobody')`,
  );
  const top = `(({ x, y }) => document.elementFromPoint(x + 9, y + 3).id)(document.querySelector('#chosen').getBoundingClientRect())`;
  t.equal(await page.evaluate(top), 'chosen', 'where the pointer rests nothing lies over it');
  await ask('a[');
  t.equal(await page.textContent('#chosen'), '“a[” is not a host list');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await holds(page, `document.querySelector('#choice').hidden`);
  await ask('live');
  await caption('Selected nodes');
  t.equal(await rows(36), 36, 'a state, by its word');
  await page.keyboard.press('Escape');
  await page.keyboard.press('+');
  await holds(page, `location.search.includes('zoom=')`);
  await page.keyboard.press('-');
  await holds(page, `!location.search.includes('zoom=')`);

  // Tab reaches everything that can be pressed.
  await page.evaluate('document.activeElement.blur()');
  const passed = new Set<string>();
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab');
    passed.add(await page.evaluate<string>(`document.activeElement.id || document.activeElement.textContent.trim()`));
  }
  for (const stop of [
    ...['asked', 'reading', 'by', 'larger', 'theme', 'trouble', 'live 36', 'field', 'tableframe', 'rack1', 'rack3'],
  ])
    t.ok(passed.has(stop), `Tab comes by ${stop}`);

  // The page shows the view of its URL at once.
  const { page: other } = await look(t, `${wall.url}?reading=mem&by=/^rack/&select=rack1n[01-02]&at=rack1n02`);
  t.equal(await other.inputValue('#reading'), 'mem');
  await holds(other, `document.querySelectorAll('#table tbody tr').length === 2`);
  t.match(await here(other), /^rack1n02 · live · Memory/);
  await other.selectOption('#reading', 'temp');
  await holds(other, `document.querySelector('#scale').textContent.startsWith('Temperature')`);
  await other.goBack();
  await holds(other, `document.querySelector('#scale').textContent.startsWith('Memory')`);
  t.same(
    complaints.filter(text => !/400 \(Bad Request\)/.test(text)),
    [],
    'no complaint but of the condition that is none',
  );
});

t.test('texts of nodes and URLs stay texts', { skip }, async t => {
  const evil = '<img src=x onerror=document.title="evil">';
  const wall = await startWall(t);
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  let seq = 0;
  const report = () =>
    socket.send(
      makeReport({
        hostname: 'node1',
        valid: 1n << BigInt(bits.valid.system),
        os_release: evil,
        seq: seq++,
        t_boot_ns: 100_000_000_000n + BigInt(seq) * 1_000_000_000n,
      }),
      wall.receiver.port,
      '127.0.0.1',
    );
  report();
  await once(socket, 'listening');
  const timer = setInterval(report, 500);
  t.teardown(() => clearInterval(timer));
  const { page, complaints } = await look(t, `${wall.url}?node=node1&select=${encodeURIComponent(evil)}`);
  await holds(page, `document.querySelector('#sections')?.textContent.includes('<img src=x')`);
  await holds(page, `document.querySelector('#chosen').textContent.includes('<img src=x')`);
  t.equal(await page.locator('img').count(), 0, 'none of it is an element');
  t.not(await page.title(), 'evil');
  t.same(complaints, [], 'nor was any tried');
});

t.test('jobs are colours, and rows that select their nodes', { skip }, async t => {
  const wall = await startWall(t);
  startLoad(t, wall, ['--nodes', 'node[01-12]']);
  const slurm = folder(t);
  const now = monotonicMs();
  const answered = { time_ms: Date.now(), mono_ms: now, took_ms: 1 };
  const job = (id: string, user: string, nodes: string) => ({
    ...{
      id,
      user,
      nodes,
      name: `<b>${id}</b>`,
      state: 'RUNNING',
      partition: 'main',
      cpus: 128,
      start_s: 1_700_000_000,
    },
  });
  const list = Array.from({ length: 12 }, (_, i) => ({
    ...{ name: `node${String(i + 1).padStart(2, '0')}`, state: 'ALLOCATED', cpus: 64 },
  }));
  const jobs = [job('17', '<img src=x onerror=alert(1)>', 'node[01-02]'), job('18', 'bob', 'node[03-06]')];
  const state = {
    ...{ schema: 2, pid: 1, mono_ms: now, next_ms: now + 3_600_000, time_ms: Date.now(), cluster: 'c1' },
    ...{ version: '23.11', scheduler: 'Slurm', daemon: 'slurmd', user: 'root', names: {}, differences: [] },
    nodes: { ...answered, list },
    jobs: { ...answered, list: jobs },
  };
  writeFileSync(join(slurm, 'state'), JSON.stringify(state));
  const web = start(t, [
    ...['web', '--board', wall.board, '--listen', '127.0.0.1:0', '--show-jobs', '--slurm-dir', slurm],
  ]);
  const { listening } = await web.ready;
  const { page, complaints } = await look(t, `http://${listening?.[0]}/?theme=dark`);
  await holds(page, `document.querySelectorAll('#jobs tbody tr').length === 2`);
  // `middles` fails for nodes that are not on the map yet.
  await holds(page, `document.querySelector('#line').textContent.includes('12 live')`);
  const places = await middles(page, ['node01', 'node02', 'node03', 'node04', 'node07']);
  await page.selectOption('#reading', ':job');
  await holds(page, `location.search.includes('colour=job')`);
  const colour = (id: string) => colourOf(id, 'dark');
  const expected = [colour('17'), colour('17'), colour('18'), colour('18')];
  await until('nodes have the colours of their jobs', async () => {
    const { rgb } = await colours(page, places);
    return JSON.stringify(rgb.slice(0, 4)) === JSON.stringify(expected) && rgb;
  });
  t.notSame(colour('17'), colour('18'));
  await page.locator('#jobs button', { hasText: '18' }).click();
  await holds(page, `document.querySelector('#chosen').textContent === '4 nodes selected: node[03-06]'`);
  const marks = marksLeftOf(places[2] as { x: number; y: number });
  await holds(page, `${marks}.includes('124,196,255,255')`);
  t.equal(await page.locator('#jobs img, #jobs b').count(), 0, 'names are text');
  // A receiver that a busy machine leaves without a processor is stalled for a moment, and jobs are refused meanwhile.
  t.same(
    complaints.filter(text => !text.includes('status of 503')),
    [],
  );
  const { page: plain } = await look(t, wall.url);
  for (const id of ['#listjobs', '#listusers', '#jobsframe'])
    t.ok(await plain.locator(id).isHidden(), `without --show-jobs there are none: ${id}`);
});
