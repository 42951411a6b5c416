// A wall, and its page in a browser. No test of its own.

import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { newContext } from '../kit/browser.js';
import { boardPath, type Teardown } from '../kit/places.js';
import { type Running, start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';

export interface Seen {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page complained of: uncaught errors, and errors on the console. */
  readonly complaints: string[];
}

/** Opens a page, and waits until it has drawn a tick of a running board. It is closed with the test. */
export async function look(t: Teardown, url: string, options: BrowserContextOptions = {}): Promise<Seen> {
  const context = await newContext(t, { viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', error => complaints.push(String(error.stack)));
  page.on('console', message => {
    // The page itself shows when the server is unreachable.
    if (message.type() === 'error' && !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(message.text()))
      complaints.push(message.text());
  });
  page.setDefaultTimeout(60_000);
  await page.goto(url);
  await holds(page, `document.querySelector('#cells').dataset.seq !== undefined`);
  return { page, context, complaints };
}

interface Wall {
  readonly url: string;
  readonly board: string;
  readonly receiver: Running & { port: number };
  readonly web: Running;
}

/** A receiver and a wall for its board; `capacity`: for more nodes than the usual boards of tests have. */
export async function startWall(t: Teardown, more: string[] = [], capacity?: number): Promise<Wall> {
  const board = boardPath(t);
  const receiver =
    capacity === undefined ? await startReceiver(t, board, more) : await startLarge(t, board, String(capacity));
  const web = start(t, ['web', '--board', board, '--listen', '127.0.0.1:0']);
  const { listening } = await web.ready;
  return { url: `http://${listening?.[0]}/`, board, receiver, web };
}

async function startLarge(t: Teardown, board: string, capacity: string): Promise<Wall['receiver']> {
  const running = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', capacity]);
  const { listening } = await running.ready;
  return { ...running, port: Number(listening?.[0]?.split(':').at(-1)) };
}

/** Simulated nodes that report to that wall. */
export function startLoad(t: Teardown, { receiver }: Pick<Wall, 'receiver'>, more: string[]): Running {
  return start(t, ['load', '--to', `127.0.0.1:${receiver.port}`, ...more]);
}

// Code for the page is text, because the browser's types would otherwise be visible to the server's code as well.

/** What the page shows, all at one moment. */
interface Shown {
  readonly seq: number;
  readonly life: string;
  readonly line: string;
}

export const shown = (page: Page): Promise<Shown> =>
  page.evaluate<Shown>(`({
    seq: Number(document.querySelector('#cells').dataset.seq),
    life: document.documentElement.dataset.life,
    line: document.querySelector('#line').textContent,
  })`);

/**
 * Waits until an expression is true in the page, which looks by itself: each look from here would cost both processes
 * some milliseconds. Not with waitForFunction, because the page's policy forbids it to evaluate text.
 */
export async function holds(page: Page, expression: string): Promise<void> {
  const look = `(async () => {
    for (const end = performance.now() + 1000; performance.now() < end; await new Promise(next => setTimeout(next, 25)))
      if (${expression}) return true;
    return false;
  })()`;
  await until(`it holds: ${expression}`, () =>
    page.evaluate<boolean>(look).catch((error: Error) => {
      // During a reload of the page: ask again.
      if (/navigation/.test(error.message)) return false;
      throw error;
    }),
  );
}

/** The API's answer for one tick. */
interface Tick {
  readonly seq: number;
  readonly nodes: readonly ({ name: string; state: string; unhealthy: boolean } & Record<
    string,
    number | string | boolean
  >)[];
}

export async function tickOf(url: string, seq: number, fields = 'cpu'): Promise<Tick> {
  const response = await fetch(`${url}api/v1/nodes?seq=${seq}&fields=${fields}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Tick;
}

/** The number of the server's last tick. */
export async function lastSeq(url: string): Promise<number> {
  const response = await fetch(`${url}api/v1/events`);
  return ((await response.json()) as { seq: number }).seq;
}

/**
 * The centres of these nodes' cells on the map's canvas: the search puts the ring around one node after the other, and
 * the ring is measured.
 */
export async function middles(page: Page, names: readonly string[]): Promise<{ x: number; y: number }[]> {
  const found: { x: number; y: number }[] = [];
  for (const name of names) {
    const isHere = `document.querySelector('#here').textContent.startsWith(${JSON.stringify(`${name} `)})`;
    // A page that does not know the name yet is asked again.
    await until(
      `${name} is found`,
      async () => {
        await page.keyboard.press('/');
        await page.fill('#asked', name);
        await page.keyboard.press('Enter');
        return page.evaluate<boolean>(isHere);
      },
      200,
    );
    found.push(
      await page.evaluate<{ x: number; y: number }>(`(() => {
        const ring = document.querySelector('#ring').getBoundingClientRect();
        const map = document.querySelector('#cells').getBoundingClientRect();
        return {
          x: Math.floor((ring.left + ring.width / 2 - map.left) * devicePixelRatio),
          y: Math.floor((ring.top + ring.height / 2 - map.top) * devicePixelRatio),
        };
      })()`),
    );
  }
  return found;
}

/**
 * The colours at these places of cells and the number of their tick, read without a break so that they belong together.
 * A canvas that has another size is empty until the next frame: then it is read in one that follows.
 */
export function colours(
  page: Page,
  places: readonly { x: number; y: number }[],
): Promise<{ seq: number; rgb: [number, number, number][] }> {
  return page.evaluate(`(async () => {
    const canvas = document.querySelector('#cells');
    const context = canvas.getContext('2d');
    const read = () => ${JSON.stringify(places)}.map(({ x, y }) => [...context.getImageData(x, y, 1, 1).data]);
    let pixels = read();
    for (let frames = 0; frames < 100 && pixels.some(([, , , opacity]) => opacity !== 255); frames++) {
      await new Promise(requestAnimationFrame);
      pixels = read();
    }
    return { seq: Number(canvas.dataset.seq), rgb: pixels.map(([r, g, b]) => [r, g, b]) };
  })()`);
}

/**
 * The colours of the marks from the centre of a node's cell to beyond its left edge. All cells are as wide as the ring.
 */
export const marksLeftOf = ({ x, y }: { x: number; y: number }) => `(() => {
  const reach = Math.min(${x}, Math.ceil(document.querySelector('#ring').offsetWidth / 2 * devicePixelRatio) + 12);
  const { data } = document.querySelector('#marks').getContext('2d').getImageData(${x} - reach, ${y}, reach, 1);
  return Array.from({ length: data.length / 4 }, (_, i) => String(data.slice(4 * i, 4 * i + 4)));
})()`;

/** Neither pointer nor keyboard is in the list of trouble or the map any more: its rows may move. */
export async function leave(page: Page): Promise<void> {
  await page.evaluate('document.activeElement.blur()');
  await page.mouse.move(1, 1);
}
