// What colours and forms mean: each state that there is with its number, and the scale of the reading. A state selects its nodes.

import { type Head, NOT_MEASURED, numberOf, type ReadingInfo, STATES, type State, VALUE_MOST } from '../wire.js';
import { byId, make, set, write } from './dom.js';
import { count, quantity } from './formats.js';
import { bitsOf, swatch } from './forms.js';
import type { Inks } from './inks.js';
import { css, mixed } from './palette.js';

/** From the best to the worst, as the eye goes. */
const ORDER: readonly (State | 'ailing')[] = ['live', 'ailing', 'uncertain', 'silent', 'unknown', 'never', 'left'];

export class Legend {
  readonly #states = byId('states');
  readonly #scale = byId('scale');
  readonly #select: (state: string) => void;
  #shape = '';

  constructor(select: (state: string) => void) {
    this.#select = select;
  }

  /** `pressed`: the state that is selected. */
  show({ counts, ailing }: Pick<Head, 'counts' | 'ailing'>, inks: Inks, pressed: string | undefined): void {
    const numbers = ORDER.map(state => [state, state === 'ailing' ? ailing : (counts[state] ?? 0)] as const);
    const there = numbers.filter(([, number]) => number > 0);
    const shape = `${inks.theme} ${pressed} ${window.devicePixelRatio} ${there.map(([state]) => state)}`;
    if (shape !== this.#shape) {
      this.#shape = shape;
      const hadFocus =
        (this.#states.contains(document.activeElement) && (document.activeElement as HTMLElement)) || undefined;
      this.#states.replaceChildren(
        ...there.map(([state]) => {
          const button = make('button', {
            type: 'button',
            'aria-pressed': String(pressed === state),
            'data-state': state,
          });
          button.append(stateSwatch(inks, state), make('b'), ` ${state}`);
          button.addEventListener('click', () => this.#select(state));
          return button;
        }),
      );
      if (hadFocus !== undefined)
        this.#states.querySelector<HTMLElement>(`[data-state="${hadFocus.dataset.state}"]`)?.focus();
    }
    for (const [i, [, number]] of there.entries())
      write(this.#states.children[i]?.querySelector('b') as Element, count(number));
  }

  scale(reading: ReadingInfo, inks: Inks): void {
    const bar = make('span', { class: 'bar', role: 'presentation' });
    const stops = Array.from({ length: 17 }, (_, i) => css(inks.scale[Math.round((i * 255) / 16)] ?? inks.page));
    bar.style.background = `linear-gradient(to right, ${stops.join(',')})`;
    const middle = quantity(numberOf(reading, VALUE_MOST / 2), reading.unit);
    const none = make(
      'span',
      { class: 'none' },
      swatch(inks, window.devicePixelRatio, (NOT_MEASURED << 4) | bitsOf('live'), css(inks.unmeasured)),
      'not measured',
    );
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

function stateSwatch(inks: Inks, state: State | 'ailing'): HTMLCanvasElement {
  const middle = inks.scale[150] ?? inks.page;
  if (state === 'ailing') return swatch(inks, window.devicePixelRatio, bitsOf('live') | 8, css(middle));
  const isFaded = state === 'silent' || state === 'uncertain';
  const fill = state === 'live' ? middle : isFaded ? mixed(middle, inks.page, 0.68) : inks.page;
  return swatch(inks, window.devicePixelRatio, bitsOf(state), css(fill));
}

export const isState = (text: string): text is State | 'ailing' =>
  text === 'ailing' || (STATES as readonly string[]).includes(text);
