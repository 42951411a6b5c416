// The colours of the page's canvases: the scale of readings, and those of states, which are custom properties in the
// style sheet.

import { NOT_MEASURED, STATES, type State, VALUE_MOST } from '../wire.js';
import { fromHex, palette, type Rgb, shades, stepOf, type Theme, word } from './palette.js';

export interface Inks {
  readonly theme: Theme;
  readonly scale: readonly Rgb[];
  readonly page: Rgb;
  readonly text: Rgb;
  readonly muted: Rgb;
  readonly accent: Rgb;
  readonly unhealthy: Rgb;
  readonly states: Readonly<Record<State, Rgb>>;
}

/** Reads the current values of the style sheet. `inHues`: readings have hues in place of greys. */
export function readInks(theme: Theme, inHues: boolean): Inks {
  const style = getComputedStyle(document.documentElement);
  const ink = (name: string) => fromHex(style.getPropertyValue(`--${name}`));
  return {
    theme,
    scale: inHues ? palette(theme) : shades(ink('load-low'), ink('load-high')),
    page: ink('page'),
    text: ink('text'),
    muted: ink('muted'),
    accent: ink('accent'),
    unhealthy: ink('unhealthy'),
    states: Object.fromEntries(STATES.map(state => [state, ink(state)])) as Record<State, Rgb>,
  };
}

/** The colour of a cell as a word, by its bits. */
export type CellInks = Uint32Array;

/** The ground of a cell on which forms are drawn. `load`: the colour of its reading; undefined: it was not measured. */
export function groundOf({ page, unhealthy, states }: Inks, bits: number, load: Rgb | undefined): Rgb {
  const state = STATES[bits & 7] ?? 'unknown';
  if (state === 'live') return (bits & 8) !== 0 ? unhealthy : (load ?? page);
  return state === 'silent' || state === 'uncertain' ? states[state] : page;
}

/** The colours of all cells. */
export function cellInks(inks: Inks): CellInks {
  const words = new Uint32Array(1 << 16);
  for (let bits = 0; bits < 16; bits++) {
    const steps = [...inks.scale, undefined].map(load => word(groundOf(inks, bits, load)));
    for (let value = 0; value <= NOT_MEASURED; value++) {
      const step = value > VALUE_MOST ? inks.scale.length : stepOf(value, VALUE_MOST);
      words[(value << 4) | bits] = steps[step] as number;
    }
  }
  return words;
}
