// A node's last 15 minutes on its sheet: a band of its states and a curve of each reading, on one axis of time. A mark,
// moved by the pointer or by keys, says what was at that time; without one, what is now.

import type { NodeHistory, Runs, StateRuns } from '../answers.js';
import { partOf, type ReadingInfo, RIVER } from '../wire.js';
import { draw, make, set, write } from './dom.js';
import { clock, onAxis, quantity } from './formats.js';
import { WHY } from './riverrows.js';

type ReadingRange = Pick<ReadingInfo, 'low' | 'high' | 'scale'>;

export const HEIGHT = 36;
const SPAN_MS = RIVER.columns * 1000;
const STEP_MS = RIVER.valueEvery * 1000;
/** How far keys move the mark, ms. */
const KEYS: Readonly<Record<string, number>> = {
  ...{ ArrowLeft: -STEP_MS, ArrowDown: -STEP_MS, ArrowRight: STEP_MS, ArrowUp: STEP_MS },
  ...{ PageDown: -60_000, PageUp: 60_000, Home: -SPAN_MS, End: SPAN_MS },
};

/**
 * A curve in the reading's fixed range, interrupted where nothing was measured. `x`: of the first point, and `step`: to
 * the next, for which its value stands, in seconds from the begin of the axis.
 */
export function pathOf(points: readonly (number | null)[], reading: ReadingRange, x: number, step: number): string {
  let path = '';
  for (const [i, value] of points.entries()) {
    if (value === null) continue;
    const isBroken = (points[i - 1] ?? null) === null;
    const y = HEIGHT - 2 - partOf(reading, value) * (HEIGHT - 4);
    path += `${isBroken ? 'M' : 'L'}${x + i * step} ${y.toFixed(1)}h${Math.min(step, RIVER.columns - x - i * step)}`;
  }
  return path;
}

/** States as bars from `x` on, each step so wide; the lower half shows problems. */
export function bandOf({ points, unhealthy }: StateRuns, x: number, step: number, height: number): Element[] {
  const bars = <T>(runs: Runs<T>, y: number, look: (value: T) => string) => {
    let at = x;
    return runs.flatMap(([value, steps]) => {
      const bar = { x: at, y, width: steps * step, height: height - y, class: look(value) };
      at += bar.width;
      return bar.class === '' ? [] : [draw('rect', bar)];
    });
  };
  return [
    ...bars(points, 0, state => state ?? 'gap'),
    ...bars(unhealthy, height / 2, isUnhealthy => (isUnhealthy ? 'unhealthy' : '')),
  ];
}

/** The begin of the axis, which ends with the newest look, ms. */
export const axisOf = (since_ms: number, step_ms: number, { points }: Pick<StateRuns, 'points'>) =>
  since_ms + points.reduce((sum, [, steps]) => sum + steps, 0) * step_ms - SPAN_MS;

/** What a run has at that place; undefined: it does not reach so far. */
function runAt<T>(runs: Runs<T>, place: number): T | undefined {
  let left = place;
  for (const [value, length] of runs) {
    if (left < length) return value;
    left -= length;
  }
  return undefined;
}

function rangeText({ low, high, scale, unit }: ReadingInfo): string {
  return `${quantity(low, unit)} to ${quantity(high, unit)}${scale === 'linear' ? '' : ', log'}`;
}

/** Where `make('div', {}, …)` has a label and, on the axis of time, what belongs to it. */
const row = (label: HTMLElement, content: Element) => make('div', { class: 'timerow' }, label, content);

export class Timelines {
  readonly #band = draw('g');
  readonly #slider = make('div', {
    ...{ id: 'band', role: 'slider', tabindex: '0', 'aria-label': 'The last 15 minutes' },
    ...{ 'aria-valuemin': -RIVER.columns, 'aria-valuemax': 0 },
  });
  readonly #at = make('span', { id: 'timeat' });
  readonly #ticks = make('div', { class: 'ticks' }, make('span'), make('span'), make('span'));
  readonly #curves = make('div', { id: 'curves' });
  readonly #mark = make('div', { id: 'timemark' });
  readonly element = make(
    'div',
    { id: 'timelines' },
    row(this.#at, this.#slider),
    row(make('span'), this.#ticks),
    this.#curves,
    this.#mark,
  );
  #readings: readonly ReadingInfo[] = [];
  #history: NodeHistory | undefined;
  /** The time of the mark, ms since 1970; undefined: now. */
  #marked: number | undefined;

  constructor() {
    this.#slider.append(picture(10, this.#band));
    const follow = ({ clientX }: PointerEvent) => {
      if (this.#history === undefined) return;
      const { left, width } = this.#slider.getBoundingClientRect();
      const part = (clientX - left) / width;
      this.#markAt(part < 0 || part > 1 ? undefined : this.#beginMs + part * SPAN_MS);
    };
    this.element.addEventListener('pointermove', follow);
    // A finger that taps does not move.
    this.element.addEventListener('pointerdown', follow);
    this.element.addEventListener('pointerleave', () => this.#markAt(undefined));
    this.#slider.addEventListener('blur', () => this.#markAt(undefined));
    this.#slider.addEventListener('keydown', event => {
      const step = KEYS[event.key];
      if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      // The sheet would go to another node.
      event.stopPropagation();
      this.#markAt((this.#marked ?? this.#endMs) + step);
    });
  }

  get #endMs(): number {
    const { since_ms, states } = this.#history as NodeHistory;
    return axisOf(since_ms, states.step_ms, states) + SPAN_MS;
  }

  get #beginMs(): number {
    return this.#endMs - SPAN_MS;
  }

  #markAt(ms: number | undefined): void {
    if (this.#history === undefined) return;
    this.#marked = ms === undefined || ms >= this.#endMs ? undefined : Math.max(ms, this.#beginMs);
    this.#tell();
  }

  /** Shows what there is; a mark stays at its time. */
  show(history: NodeHistory, readings: readonly ReadingInfo[]): void {
    this.#history = history;
    const { points } = history.readings;
    const shown = readings.filter(({ name }) => points[name]?.some(value => value !== null));
    if (shown.map(({ name }) => name).join() !== this.#readings.map(({ name }) => name).join())
      this.#curves.replaceChildren(...shown.map(curveRow));
    this.#readings = shown;
    const { since_ms, states } = history;
    this.#band.replaceChildren(...bandOf(states, (since_ms - this.#beginMs) / 1000, states.step_ms / 1000, 10));
    const x = (history.readings.since_ms - this.#beginMs) / 1000;
    for (const [i, reading] of shown.entries()) {
      const path = this.#curves.children[i]?.querySelector('path') as Element;
      set(path, { d: pathOf(points[reading.name] ?? [], reading, x, history.readings.step_ms / 1000) });
    }
    for (const [i, tick] of [...this.#ticks.children].entries()) write(tick, onAxis(this.#beginMs + (i * SPAN_MS) / 2));
    this.#markAt(this.#marked);
  }

  #stateAt(ms: number): string {
    const { since_ms, states } = this.#history as NodeHistory;
    const place = Math.floor((Math.min(ms, this.#endMs - 1) - since_ms) / states.step_ms);
    if (place < 0) return WHY.unrecorded;
    const state = runAt(states.points, place) ?? null;
    const [, , kind = 'ok'] = states.gaps.find(([first, length]) => place >= first && place < first + length) ?? [];
    if (state === null) return WHY[kind];
    return runAt(states.unhealthy, place) ? `${state}, unhealthy` : state;
  }

  #tell(): void {
    const ms = this.#marked ?? this.#endMs;
    const { since_ms, step_ms, points } = (this.#history as NodeHistory).readings;
    const place = Math.floor((ms - since_ms) / step_ms);
    const values = this.#readings.map(({ name, unit }) => {
      const values = points[name] ?? [];
      const value = this.#marked === undefined ? values.at(-1) : values[place];
      return value == null ? '–' : quantity(value, unit);
    });
    for (const [i, value] of values.entries()) write(this.#curves.children[i]?.querySelector('b') as Element, value);
    const state = this.#stateAt(ms);
    const when = clock(ms);
    write(this.#at, `${when}: ${state}${place < 0 ? `; readings since ${clock(since_ms)}` : ''}`);
    const told = this.#readings.map(({ title }, i) => `${title} ${values[i] === '–' ? 'not measured' : values[i]}`);
    set(this.#slider, {
      'aria-valuenow': Math.round((ms - this.#endMs) / 1000),
      'aria-valuetext': [when, state, ...told].join(', '),
    });
    this.#mark.hidden = this.#marked === undefined;
    this.#mark.style.setProperty('--at', String((ms - this.#beginMs) / SPAN_MS));
  }
}

/** A drawing as wide as the axis, so many units high. */
export function picture(height: number, content?: Element): SVGElement {
  const box = { viewBox: `0 0 ${RIVER.columns} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' };
  return draw('svg', box, ...(content ? [content] : []));
}

function curveRow(reading: ReadingInfo): HTMLElement {
  const label = make(
    'span',
    { title: reading.about },
    make('span', {}, reading.title),
    make('b'),
    make('small', {}, rangeText(reading)),
  );
  return row(label, picture(HEIGHT, draw('path', { class: 'line' })));
}
