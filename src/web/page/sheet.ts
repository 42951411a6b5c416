// One node on a sheet: the facts of `show`, section by section, and the last minutes of its readings as small curves.
// It is beside the map, and closes with Escape.

import type { ReadingInfo } from '../wire.js';
import { byId, draw, make, set, write } from './dom.js';
import { quantity } from './formats.js';
import { request } from './requests.js';

/** How often the sheet is updated, ms. */
const EVERY_MS = 2000;

/** The answer of `nodes/NAME`, as far as the sheet shows it. */
interface NodeInfo {
  /** Its state and evidence in one line. */
  readonly line: string;
  /** Facts that belong together are in one list. */
  readonly sections: readonly { readonly title: string; readonly facts: readonly (readonly string[])[] }[];
  readonly node: { readonly name: string; readonly state: string };
  readonly history: {
    readonly readings: { readonly points: Readonly<Record<string, readonly (number | null)[]>> };
  };
}

const [WIDTH, HEIGHT] = [160, 36];

/** The place of a number in a reading's range, from 0 to 1. */
function partOf({ low, high, scale }: Pick<ReadingInfo, 'low' | 'high' | 'scale'>, value: number): number {
  const part = scale === 'linear' ? (value - low) / (high - low) : Math.log(value / low) / Math.log(high / low);
  return Math.min(1, Math.max(0, part));
}

/** A curve in the reading's fixed range, interrupted where nothing was measured. */
export function pathOf(
  points: readonly (number | null)[],
  reading: Pick<ReadingInfo, 'low' | 'high' | 'scale'>,
): string {
  const step = WIDTH / Math.max(1, points.length - 1);
  let [path, isBroken] = ['', true];
  for (const [i, value] of points.entries()) {
    if (value === null) {
      isBroken = true;
      continue;
    }
    const part = partOf(reading, value);
    path += `${isBroken ? 'M' : 'L'}${(i * step).toFixed(1)} ${(HEIGHT - 2 - part * (HEIGHT - 4)).toFixed(1)}`;
    isBroken = false;
  }
  return path;
}

export class Sheet {
  readonly #element = byId('sheet');
  readonly #close: () => void;
  readonly #readings: () => readonly ReadingInfo[];
  #name: string | undefined;
  #timer: number | undefined;
  #shape = '';

  constructor(close: () => void, readings: () => readonly ReadingInfo[]) {
    this.#close = close;
    this.#readings = readings;
  }

  get isOpen(): boolean {
    return this.#name !== undefined;
  }

  /** Opens the sheet of a node; undefined: closes it. */
  open(name: string | undefined): void {
    if (name === this.#name) return;
    clearTimeout(this.#timer);
    this.#name = name;
    this.#shape = '';
    this.#element.hidden = name === undefined;
    if (name === undefined) this.#element.replaceChildren();
    else {
      this.#frame(name);
      void this.#ask(name);
    }
  }

  #frame(name: string): void {
    const close = make('button', { type: 'button', id: 'close', 'aria-label': 'Close' }, '×');
    close.addEventListener('click', () => this.#close());
    const title = make('h2', { id: 'sheetname', tabindex: '-1' }, name);
    this.#element.replaceChildren(
      make('div', { class: 'head' }, title, close),
      make('p', { id: 'sheetstate' }, ' '),
      make('div', { id: 'curves' }),
      make('div', { id: 'sections' }),
    );
    title.focus();
  }

  async #ask(name: string): Promise<void> {
    try {
      const response = await request(`api/v1/nodes/${encodeURIComponent(name)}`);
      if (this.#name !== name) return;
      if (response.ok) this.#show((await response.json()) as NodeInfo);
      else
        write(
          byId('sheetstate'),
          response.status === 404 ? 'This node is not on the board.' : (await response.text()).trim(),
        );
    } catch {
      if (this.#name === name) write(byId('sheetstate'), 'The server does not answer.');
    }
    if (this.#name === name) this.#timer = setTimeout(() => void this.#ask(name), EVERY_MS);
  }

  #show({ line, sections, node, history }: NodeInfo): void {
    if (this.#name !== node.name) return;
    const state = byId('sheetstate');
    // The name is above it.
    write(state, line.slice(node.name.length + 2));
    state.className = node.state;
    const { points } = history.readings;
    const curves = this.#readings().filter(({ name }) => points[name]?.some(value => value !== null));
    const shape = JSON.stringify([
      sections.map(({ title, facts }) => [title, facts.length]),
      curves.map(({ name }) => name),
    ]);
    if (shape !== this.#shape) {
      this.#shape = shape;
      byId('curves').replaceChildren(
        ...curves.map(({ title, about }) => {
          const picture = draw('svg', {
            viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
            preserveAspectRatio: 'none',
            'aria-hidden': 'true',
          });
          picture.append(draw('path', { class: 'line' }));
          return make('figure', {}, make('figcaption', { title: about }, make('span', {}, title), make('b')), picture);
        }),
      );
      byId('sections').replaceChildren(
        ...sections.map(({ title, facts }) =>
          make('section', {}, make('h3', {}, title), ...facts.map(() => make('p'))),
        ),
      );
    }
    for (const [i, reading] of curves.entries()) {
      const figure = byId('curves').children[i] as HTMLElement;
      const values = points[reading.name] as readonly (number | null)[];
      const last = values.at(-1);
      write(figure.querySelector('b') as Element, last == null ? '–' : quantity(last, reading.unit));
      set(figure.querySelector('path') as Element, { d: pathOf(values, reading) });
    }
    for (const [i, { facts }] of sections.entries()) {
      const lines = (byId('sections').children[i] as HTMLElement).querySelectorAll('p');
      for (const [j, some] of facts.entries()) write(lines[j] as Element, some.join(' · '));
    }
  }
}
