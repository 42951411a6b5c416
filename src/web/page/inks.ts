// The colours of the page's canvases: the palette, and those of states, which are custom properties in the style sheet.

import { NOT_MEASURED, STATES, type State, VALUE_MOST } from '../wire.js';
import { fromHex, mixed, palette, type Rgb, STEPS, stepOf, type Theme, word } from './palette.js';

export interface Inks {
  readonly theme: Theme;
  readonly scale: readonly Rgb[];
  readonly page: Rgb;
  readonly text: Rgb;
  readonly muted: Rgb;
  readonly accent: Rgb;
  readonly unmeasured: Rgb;
  readonly unhealthy: Rgb;
  readonly states: Readonly<Record<State, Rgb>>;
}

/** Reads the current values of the style sheet. */
export function readInks(theme: Theme): Inks {
  const style = getComputedStyle(document.documentElement);
  const ink = (name: string) => fromHex(style.getPropertyValue(`--${name}`));
  return {
    theme,
    scale: palette(theme),
    page: ink('page'),
    text: ink('text'),
    muted: ink('muted'),
    accent: ink('accent'),
    unmeasured: ink('unmeasured'),
    unhealthy: ink('unhealthy'),
    states: Object.fromEntries(STATES.map(state => [state, ink(state)])) as Record<State, Rgb>,
  };
}

/** How much of its last colour a node keeps if it is not heard, and if it is not selected. */
const FADED = 0.68;
const ASIDE = 0.84;

/** The colour of a cell as a word, by its bits: `words[cell]` while all are shown, `aside[cell]` if not selected. */
export interface CellInks {
  readonly words: Uint32Array;
  readonly aside: Uint32Array;
}

/**
 * The colours of all cells. `isSmall`: cells have no room for hatching, and those that are not live have the plain
 * colour of their state; otherwise they keep their last value, faded.
 */
export function cellInks({ scale, page, unmeasured, unhealthy, states }: Inks, isSmall: boolean): CellInks {
  const words = new Uint32Array(1 << 16);
  const aside = new Uint32Array(1 << 16);
  const measured = Array.from({ length: STEPS }, (_, i) => scale[i] as Rgb);
  const colourOf = (bits: number, fill: Rgb): Rgb => {
    const state = STATES[bits & 7] ?? 'unknown';
    if (state === 'live') return isSmall && (bits & 8) !== 0 ? unhealthy : fill;
    if (isSmall) return states[state];
    if (state === 'silent' || state === 'uncertain') return mixed(fill, page, FADED);
    return mixed(states[state], page, 0.85);
  };
  for (let bits = 0; bits < 16; bits++) {
    const steps = measured.map(fill => colourOf(bits, fill));
    const plain = steps.map(word);
    const dimmed = steps.map(rgb => word(mixed(rgb, page, ASIDE)));
    for (let value = 0; value <= VALUE_MOST; value++) {
      const step = stepOf(value, VALUE_MOST);
      words[(value << 4) | bits] = plain[step] as number;
      aside[(value << 4) | bits] = dimmed[step] as number;
    }
    const none = colourOf(bits, (bits & 7) === STATES.indexOf('live') ? unmeasured : page);
    for (let value = VALUE_MOST + 1; value <= NOT_MEASURED; value++) {
      words[(value << 4) | bits] = word(none);
      aside[(value << 4) | bits] = word(mixed(none, page, ASIDE));
    }
  }
  return { words, aside };
}
