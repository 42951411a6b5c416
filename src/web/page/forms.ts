// The forms that distinguish states on cells that are large enough: hatching, outlines, marks. Colours show the same,
// so that people who do not see colours can read the forms.

import { STATES, type State } from '../wire.js';
import { isMeasured, isUnhealthy, stateOf } from './cells.js';
import type { Inks } from './inks.js';
import { css } from './palette.js';

/** Lines across a small square that repeats: 0 from bottom left to top right, 1 the other way, 2 vertical. */
function hatch(colour: string, unit: number, way: 0 | 1 | 2, side: number): CanvasPattern | null {
  const size = Math.max(4, Math.round(Math.min(14, 3.4 + side / unit / 12) * unit));
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = size;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.strokeStyle = colour;
  context.lineWidth = Math.max(1, size / 4.6);
  context.beginPath();
  // Three lines, beyond the edges, so that the squares join.
  for (const shift of way === 2 ? [size / 2] : [-size, 0, size]) {
    if (way === 2) {
      context.moveTo(shift, -size);
      context.lineTo(shift, 2 * size);
    } else {
      context.moveTo(shift - size, way === 1 ? -size : 2 * size);
      context.lineTo(shift + 2 * size, way === 1 ? 2 * size : -size);
    }
  }
  context.stroke();
  return context.createPattern(canvas, 'repeat');
}

/** Draws forms over cells that are already filled. */
export class CellForms {
  readonly #hatches: ReadonlyMap<State, CanvasPattern | null>;

  /** `unit`: device pixels per CSS pixel; `side`: of a cell. */
  constructor(
    private readonly inks: Inks,
    private readonly unit: number,
    side: number,
  ) {
    const of = (state: State, way: 0 | 1 | 2) => [state, hatch(css(inks.states[state]), unit, way, side)] as const;
    this.#hatches = new Map([of('silent', 0), of('uncertain', 1), of('unknown', 2)]);
  }

  /** The form of a cell, in a box without the gap to the next one; a live node without a problem has none. */
  draw(context: CanvasRenderingContext2D, cell: number, x: number, y: number, wide: number, side: number): void {
    const state = stateOf(cell);
    const unit = this.unit;
    const colour = css(this.inks.states[state] ?? this.inks.muted);
    if (state === 'live') {
      if (!isMeasured(cell)) {
        // A point in the middle: it is there, and says nothing of this.
        const dot = Math.max(unit, side * 0.14);
        context.fillStyle = css(this.inks.muted);
        context.fillRect(x + wide / 2 - dot / 2, y + side / 2 - dot / 2, dot, dot);
      }
      if (isUnhealthy(cell)) this.#corner(context, x + wide, y, side);
      return;
    }
    const pattern = this.#hatches.get(state);
    if (pattern != null) {
      context.fillStyle = pattern;
      context.fillRect(x, y, wide, side);
    }
    const line = Math.max(1, Math.round((state === 'silent' ? 1.5 : 1) * unit));
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.setLineDash(state === 'never' ? [2 * unit, 2 * unit] : []);
    context.strokeRect(x + line / 2, y + line / 2, wide - line, side - line);
    context.setLineDash([]);
    if (state === 'left') {
      context.fillStyle = colour;
      context.fillRect(x + wide / 2 - side * 0.2, y + side / 2 - line / 2, side * 0.4, line);
    }
    if (isUnhealthy(cell)) this.#corner(context, x + wide, y, side);
  }

  /** It has a problem: a corner that is cut off. */
  #corner(context: CanvasRenderingContext2D, right: number, y: number, side: number): void {
    const size = Math.max(4 * this.unit, Math.min(side * 0.42, 18 * this.unit));
    context.fillStyle = css(this.inks.unhealthy);
    context.beginPath();
    context.moveTo(right - size, y);
    context.lineTo(right, y);
    context.lineTo(right, y + size);
    context.closePath();
    context.fill();
  }
}

/** A small picture of a cell for the legend. `fill`: the colour of the reading, if it has one. */
export function swatch(inks: Inks, bits: number, fill: string): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const unit = window.devicePixelRatio;
  const side = Math.round(14 * unit);
  canvas.width = canvas.height = side;
  canvas.className = 'swatch';
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.fillStyle = fill;
  context.fillRect(0, 0, side, side);
  new CellForms(inks, unit, side).draw(context, bits, 0, 0, side, side);
  return canvas;
}

export const bitsOf = (state: State): number => STATES.indexOf(state);
