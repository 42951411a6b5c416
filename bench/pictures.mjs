// Makes the pictures of the wall in docs/pictures/: the demo, and clusters that `beoboard load` simulates, in several
// sizes, themes and states, with Debian's Chromium. `node bench/pictures.mjs [WORD...]` makes only those whose names contain a word.
// Look at them.

import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { at, folder, MAIN, serve, start } from './processes.mjs';

const into = process.env.PICTURES ?? at('../docs/pictures');
const RACKS = 'rack[11-20]n[01-48]';
const LARGE = 'r[001-208]n[01-48]';
const desk = { width: 1440, height: 900 };
const screen = { width: 1920, height: 1080 };
const phone = { width: 390, height: 844, scale: 2 };

/** For each picture: the simulated cluster (none: the demo), after how many seconds it is taken, and how. */
const PICTURES = [
  { name: 'desk-dark', after: 90, size: desk },
  { name: 'desk-light', load: RACKS, silent: 'rack17n[01-48]', after: 20, size: desk, light: true },
  { name: 'twelve', load: 'node[01-12]', silent: 'node[04-05]', after: 20, size: desk },
  { name: 'wall', load: RACKS, silent: 'rack17n[01-48]', after: 90, size: screen, query: '?wall' },
  { name: 'wall-large', load: LARGE, silent: 'r[017-018]n[01-48]', after: 20, size: screen, query: '?wall' },
  { name: 'ten-thousand', load: LARGE, silent: 'r[017-018]n[01-48]', after: 20, size: desk, light: true },
  { name: 'phone', load: RACKS, silent: 'rack17n[01-48]', after: 20, size: phone },
  { name: 'stalled', load: RACKS, after: 10, size: desk, stalls: true },
  { name: 'node', load: RACKS, after: 40, size: desk, query: '?node=rack13n07&at=rack13n07' },
  { name: 'group', load: RACKS, silent: 'rack17n[01-16]', after: 30, size: desk, query: '?group=rack17' },
];

const words = process.argv.slice(2);
const wanted = PICTURES.filter(({ name }) => words.length === 0 || words.some(word => name.includes(word)));
mkdirSync(into, { recursive: true });

/** Starts the demo, which ends with its terminal; returns the address of its page. */
async function demo(children) {
  const terminal = spawn('script', ['-qfec', `${process.execPath} ${MAIN} demo`, '/dev/null'], { stdio: 'pipe' });
  children.push(terminal);
  let shown = '';
  for await (const text of terminal.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    shown += text;
    const [address] = /http:\S+\//.exec(shown) ?? [];
    if (address === undefined) continue;
    terminal.stdout.resume();
    return address;
  }
  throw new Error(`the demo ended: ${shown}`);
}

/** Starts a cluster; returns the address of its page. */
async function cluster(children, own, load, silent) {
  const at = ['--board', join(own, 'board'), '--listen', '127.0.0.1:0'];
  const { child, port } = await serve('receive', ...at, '--cluster', 'alpha', '--capacity', '16384');
  children.push(child);
  const silence = silent === undefined ? [] : ['--silent', silent, '--silent-from', '4s'];
  children.push(start('load', '--to', `127.0.0.1:${port}`, '--cluster', 'alpha', '--nodes', load, ...silence));
  const web = await serve('web', ...at);
  children.push(web.child);
  return `http://127.0.0.1:${web.port}/`;
}

for (const { name, load, silent, after, size, query = '', light = false, stalls = false } of wanted) {
  const own = folder();
  const children = [];
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
  });
  try {
    const address = load === undefined ? await demo(children) : await cluster(children, own, load, silent);
    const { width, height, scale = 1 } = size;
    const page = await browser.newPage({
      viewport: { width, height },
      deviceScaleFactor: scale,
      colorScheme: light ? 'light' : 'dark',
    });
    page.on('console', message => console.error(`${name}: ${message.text()}`));
    page.on('pageerror', error => console.error(`${name}: ${error.stack}`));
    await page.goto(`${address}${query}`);
    await page.waitForTimeout(after * 1000);
    if (stalls) {
      children[0].kill('SIGSTOP');
      await page.waitForSelector('[data-life="stalled"]');
      await page.waitForTimeout(1000);
    }
    await page.screenshot({ path: join(into, `${name}.png`), fullPage: process.env.FULL === 'yes' });
    console.log(name);
  } finally {
    await browser.close();
    for (const child of children) child.kill('SIGKILL');
    rmSync(own, { recursive: true });
  }
}
