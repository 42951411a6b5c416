// One node on a sheet: its trouble above all, the facts of `show`, section by section, and the last minutes of its readings as small curves.
// It is beside the map, and closes with Escape.

import type { TroubleInfo } from '../../trouble/info.js';
import type { ReadingInfo } from '../wire.js';
import { byId, draw, make, set, write } from './dom.js';
import { count, quantity } from './formats.js';
import { request } from './requests.js';
import { columnsOf } from './troublebox.js';

/** How often the sheet is updated, ms. */
const EVERY_MS = 2000;

/** The answer of `nodes/NAME`, as far as the sheet shows it. */
interface NodeInfo {
  /** Its state and evidence in one line. */
  readonly line: string;
  /** Absent: an older server. */
  readonly trouble?: readonly TroubleInfo[];
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

/** What the sheet asks of the page. */
export interface SheetPage {
  close(): void;
  /** Opens the sheet of another node. */
  open(name: string): void;
  readings(): readonly ReadingInfo[];
  /** The nodes that are not well, of the selection if there is one, in the order of the map. */
  unwell(): readonly string[];
  /** The server's clock, ms. */
  now(): number;
}

export class Sheet {
  readonly #element = byId('sheet');
  readonly #page: SheetPage;
  #name: string | undefined;
  #timer: number | undefined;
  #shape = '';

  constructor(page: SheetPage) {
    this.#page = page;
    this.#element.addEventListener('keydown', event => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
      event.preventDefault();
      event.stopPropagation();
      this.#step(event.key === 'ArrowLeft' ? -1 : 1);
    });
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
    close.addEventListener('click', () => this.#page.close());
    const button = (id: string, label: string, text: string, step: 1 | -1) => {
      const element = make('button', { type: 'button', id, 'aria-label': label }, text);
      element.addEventListener('click', () => this.#step(step));
      return element;
    };
    const title = make('h2', { id: 'sheetname', tabindex: '-1' }, name);
    const focused = document.activeElement?.id ?? '';
    this.#element.replaceChildren(
      make('div', { class: 'head' }, title, close),
      make(
        'div',
        { id: 'sheetsteps' },
        button('illbefore', 'The node before that is not well', '‹', -1),
        make('span', { id: 'sheetplace' }),
        button('illafter', 'The next node that is not well', '›', 1),
      ),
      make('div', { id: 'sheettrouble', role: 'group', 'aria-label': 'Trouble', tabindex: '0' }),
      make('p', { id: 'sheetstate' }, ' '),
      make('div', { id: 'curves' }),
      make('div', { id: 'sections' }),
    );
    this.#place();
    // Somebody who steps with a button goes on with it.
    (focused === 'illbefore' || focused === 'illafter' ? byId(focused) : title).focus();
  }

  /** To the next node that is not well, or the one before, and around. */
  #step(step: 1 | -1): void {
    const names = this.#page.unwell();
    const at = names.indexOf(this.#name ?? '');
    const next = names.at(at < 0 ? (step === 1 ? 0 : -1) : (at + step) % names.length);
    if (next !== undefined && next !== this.#name) this.#page.open(next);
  }

  /** Which of the nodes that are not well it is. */
  #place(): void {
    const names = this.#page.unwell();
    const at = names.indexOf(this.#name ?? '');
    const all = `${count(names.length)} not well`;
    write(byId('sheetplace'), names.length > 0 && at >= 0 ? `${count(at + 1)} of ${all}` : all);
    for (const id of ['illbefore', 'illafter'])
      byId<HTMLButtonElement>(id).disabled = names.length === 0 || (names.length === 1 && at === 0);
  }

  /** The lines in place of those before, of which nothing but what has changed is written. */
  #tell(trouble: readonly TroubleInfo[]): void {
    const box = byId('sheettrouble');
    while (box.children.length > trouble.length) box.lastElementChild?.remove();
    while (box.children.length < trouble.length) box.append(make('p'));
    for (const [i, line] of trouble.entries()) {
      const { what, why, since, until, times, jobs } = columnsOf(line, this.#page.now(), true);
      const row = box.children[i] as HTMLElement;
      row.className = line.dim === undefined ? line.severity : 'dim';
      const begun = since === 'now' ? since : `since ${since}${until}`;
      write(row, [`${line.severity}: ${what}${why}`, begun, times, jobs].filter(part => part !== '').join(' · '));
    }
    if (trouble.length === 0) box.append(make('p', {}, 'No trouble'));
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

  #show({ line, trouble = [], sections, node, history }: NodeInfo): void {
    if (this.#name !== node.name) return;
    const state = byId('sheetstate');
    // The name is above it.
    write(state, line.slice(node.name.length + 2));
    state.className = node.state;
    this.#tell(trouble);
    this.#place();
    const { points } = history.readings;
    const curves = this.#page.readings().filter(({ name }) => points[name]?.some(value => value !== null));
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
