// What colours and forms mean: each state that there is with its number, and the scale of the reading. A state selects its nodes.

import { words } from '../../text/tables.js';
import { oneLine } from '../../text/unseen.js';
import {
  CELL,
  type MARKS,
  NOT_MEASURED,
  type NodeMarks,
  numberOf,
  type ReadingInfo,
  STATES,
  type State,
  VALUE_MOST,
  type WallHead,
} from '../wire.js';
import { type Cells, MARK } from './cells.js';
import { button, byId, make, set, surface, write } from './dom.js';
import { count, plural, quantity } from './formats.js';
import { bitsOf, swatch } from './forms.js';
import type { Inks } from './inks.js';
import type { Owner } from './jobview.js';
import { css } from './palette.js';

/** Nodes that the server lists: those with a mark, or behind links on which nothing is heard. */
export interface Listed {
  readonly key: 'dark' | (typeof MARKS)[number];
  /** What follows their number. */
  readonly text: string;
  readonly nodes: string;
  readonly count: number;
}

/** As the eye goes; the first are there also if there is none, and have their places before all that comes and goes. */
const ORDER = words('live unhealthy silent uncertain unknown never left');
const ALWAYS = 3;
const MARK_TEXTS = { recent: 'recently unhealthy', held: 'held', odd: 'odd in a job' } as const;

/** The marked nodes that are shown, of a head's lists. */
export function listedOf(cells: Cells, lists: NodeMarks): Listed[] {
  return (['recent', 'held', 'odd'] as const).flatMap(key => {
    const nodes = lists[key];
    if (nodes === undefined) return [];
    const count = cells.marks.reduce((sum, marks) => sum + Number((marks & MARK[key]) !== 0), 0);
    return count === 0 ? [] : [{ key, text: MARK_TEXTS[key], nodes, count }];
  });
}

export class Legend {
  readonly #states = byId('states');
  readonly #scale = byId('scale');
  #shape = '';
  /** Whose colours are on the map in place of a reading's; undefined: the reading's are. */
  owners: readonly Owner[] | undefined;

  /** `selectNodes`: those of a host list. */
  constructor(
    private readonly select: (state: string) => void,
    private readonly selectNodes: (nodes: string) => void,
  ) {}

  /** `pressed`: the state that is selected. */
  show(
    { counts, unhealthy }: Pick<WallHead, 'counts' | 'unhealthy'>,
    listed: readonly Listed[],
    inks: Inks,
    pressed: string | undefined,
  ): void {
    const all: { readonly [state: string]: number | undefined } = { ...counts, unhealthy };
    const countOf = (state: string) => all[state] ?? 0;
    const most = count(ORDER.reduce((sum, state) => sum + countOf(state), -unhealthy)).length;
    const shown = ORDER.filter((state, i) => i < ALWAYS || countOf(state) > 0 || state === pressed);
    const shape = `${shown} ${inks.theme} ${inks.scale[0]} ${pressed} ${window.devicePixelRatio} ${most} ${listed.map(({ text, nodes, count }) => `${count} ${text} ${nodes}`)}`;
    if (shape !== this.#shape) {
      this.#shape = shape;
      const hadFocus =
        (this.#states.contains(document.activeElement) && (document.activeElement as HTMLElement)) || undefined;
      this.#states.replaceChildren(
        ...shown.map(state => {
          const props = { 'aria-pressed': String(pressed === state), 'data-state': state };
          const element = button('', () => this.select(state), props);
          element.append(stateSwatch(inks, state), state === 'unhealthy' ? 'unhealthy now ' : `${state} `, make('b'));
          return element;
        }),
        ...listed.map(each => this.#listButton(each, inks)),
      );
      if (hadFocus !== undefined)
        this.#states.querySelector<HTMLElement>(`[data-state="${hadFocus.dataset.state}"]`)?.focus();
    }
    // With room for the number of all.
    this.#states.style.setProperty('--most', `${most}ch`);
    for (const [i, state] of shown.entries()) {
      const element = this.#states.children[i] as Element;
      write(element.querySelector('b') as Element, count(countOf(state)));
      element.classList.toggle('none', countOf(state) === 0);
    }
  }

  #listButton({ key, text, nodes, count: nodeCount }: Listed, inks: Inks): HTMLButtonElement {
    const element = button('', () => this.selectNodes(nodes), { 'data-state': key });
    const picture = key === 'dark' ? outlined(inks) : swatch(inks, bitsOf('live'), { marks: MARK[key] });
    const number = make('b', {}, count(nodeCount));
    if (key === 'dark') element.append(picture, number, oneLine(` ${text}`));
    else element.append(picture, `${text} `, number);
    return element;
  }

  #tellOwners(owners: readonly Owner[], inks: Inks): void {
    this.#scale.replaceChildren(
      ...owners.map(({ name, nodes, colour }) => {
        const owner = make('span', { class: 'owner', title: plural(nodes) });
        if (colour !== undefined) owner.append(swatch(inks, bitsOf('live'), { ground: colour }));
        owner.append(oneLine(name));
        return owner;
      }),
    );
    set(this.#scale, { class: 'owners' });
  }

  scale(reading: ReadingInfo, inks: Inks): void {
    if (this.owners !== undefined) {
      this.#tellOwners(this.owners, inks);
      return;
    }
    const bar = make('span', { class: 'bar', role: 'presentation' });
    const stops = Array.from({ length: 17 }, (_, i) => css(inks.scale[Math.round((i * 255) / 16)] ?? inks.page));
    bar.style.background = `linear-gradient(to right, ${stops.join(',')})`;
    const middle = quantity(numberOf(reading, VALUE_MOST / 2), reading.unit);
    const none = make('span', { class: 'none' }, swatch(inks, (NOT_MEASURED << 4) | bitsOf('live')), 'not measured');
    this.#scale.replaceChildren(
      make('span', { class: 'title', title: reading.about }, reading.title),
      make('span', { class: 'end' }, quantity(reading.low, reading.unit)),
      make(
        'span',
        { class: 'gauge' },
        bar,
        ...(reading.scale === 'log' ? [make('span', { class: 'middle' }, middle)] : []),
      ),
      make('span', { class: 'end' }, quantity(reading.high, reading.unit)),
      none,
    );
    set(this.#scale, { class: reading.scale });
  }
}

const stateSwatch = (inks: Inks, state: State | 'unhealthy') =>
  swatch(inks, state === 'unhealthy' ? bitsOf('live') | CELL.unhealthy : bitsOf(state));

/** A small picture of a cell with the line around it that those behind a dark link have. */
function outlined(inks: Inks): HTMLCanvasElement {
  const canvas = swatch(inks, bitsOf('live'));
  const context = surface(canvas);
  const line = Math.max(1, Math.round(2 * window.devicePixelRatio));
  context.strokeStyle = css(inks.text);
  context.lineWidth = line;
  context.strokeRect(line / 2, line / 2, canvas.width - line, canvas.height - line);
  return canvas;
}

export const isState = (text: string): text is State | 'unhealthy' =>
  text === 'unhealthy' || (STATES as readonly string[]).includes(text);
