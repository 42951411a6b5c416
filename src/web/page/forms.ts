// The forms that distinguish states on cells that are large enough: lines, frames, marks. Colours show the same, so that
// people who do not see colours can read the forms.

import { STATES, type State } from '../wire.js';
import { isMeasured, isUnhealthy, MARK, stateOf } from './cells.js';
import { groundOf, type Inks } from './inks.js';
import { css, type Rgb } from './palette.js';

/** The side of a cell, in CSS pixels, from which on it has more than a frame. */
const LARGE_FROM = 12;

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

/** A cell's box without the gap to the next one. */
export type Box = readonly [x: number, y: number, wide: number, high: number];

/** Draws forms over cells that have their ground. */
export class CellForms {
  readonly #hatches: ReadonlyMap<State, CanvasPattern | null>;
  readonly #isLarge: boolean;

  /** `unit`: device pixels per CSS pixel; `side`: of a cell. */
  constructor(
    private readonly inks: Inks,
    private readonly unit: number,
    side: number,
  ) {
    const of = (state: State, ink: Rgb, way: 0 | 1 | 2) => [state, hatch(css(ink), unit, way, side)] as const;
    this.#hatches = new Map([
      of('silent', inks.page, 0),
      of('uncertain', inks.page, 1),
      of('unknown', inks.states.unknown, 2),
    ]);
    this.#isLarge = side >= LARGE_FROM * unit;
  }

  /** The form of a cell; a live node without problem and mark has none. */
  draw(context: CanvasRenderingContext2D, cell: number, marks: number, box: Box): void {
    const { inks, unit } = this;
    const [x, y, wide, high] = box;
    const state = stateOf(cell);
    const isIll = isUnhealthy(cell);
    const bar = (ink: Rgb, left: number, top: number, width: number, height: number) => {
      context.fillStyle = css(ink);
      context.fillRect(left, top, width, height);
    };
    const pattern = this.#isLarge ? this.#hatches.get(state) : undefined;
    if (pattern != null) {
      context.fillStyle = pattern;
      context.fillRect(...box);
    }
    const isBlank = state === 'live' ? !isIll && !isMeasured(cell) : state !== 'silent' && state !== 'uncertain';
    if (isBlank) this.#frame(context, state === 'live' ? inks.muted : inks.states[state], box, unit, state === 'never');
    const middle = (part: number, thick: number, ink: Rgb) =>
      bar(ink, x + (wide - part) / 2, y + (high - thick) / 2, part, thick);
    if (this.#isLarge && isBlank && state === 'live') {
      const dot = Math.max(unit, high * 0.14);
      middle(dot, dot, inks.muted);
    }
    if (this.#isLarge && state === 'left') middle(high * 0.4, unit, inks.states.left);
    if (this.#isLarge && state === 'live' && isIll && marks & MARK.critical) middle(high * 0.4, high * 0.4, inks.page);
    if (state === 'live' && !isIll && marks & MARK.recent) {
      const thick = Math.max(3 * unit, high * 0.18);
      bar(inks.unhealthy, x, y + high - thick, wide, thick);
    }
    if (marks & MARK.odd) this.#frame(context, inks.text, box, 2 * unit);
    if ((marks & MARK.held) === 0) return;
    if (!this.#isLarge) {
      this.#frame(context, inks.text, box, unit);
      return;
    }
    // A sign of pause, between name and number, with an edge so that it is visible on any ground.
    const part = Math.max(2 * unit, Math.min(high * 0.1, 8 * unit));
    const tall = Math.min(high * 0.36, 40 * unit);
    for (const left of [-1.5 * part, 0.5 * part]) {
      const at = [x + wide / 2 + left, y + high * 0.25] as const;
      bar(inks.page, at[0] - unit, at[1] - unit, part + 2 * unit, tall + 2 * unit);
      bar(inks.text, ...at, part, tall);
    }
  }

  /** Leaves a smaller part of the ground of a cell that is not selected. */
  shrink(context: CanvasRenderingContext2D, [x, y, wide, high]: Box): void {
    const edge = (this.#isLarge ? 0.2 : 0.25) * Math.min(wide, high);
    this.#frame(context, this.inks.page, [x, y, wide, high], edge);
  }

  #frame(context: CanvasRenderingContext2D, ink: Rgb, [x, y, wide, high]: Box, line: number, isDashed = false): void {
    context.strokeStyle = css(ink);
    context.lineWidth = line;
    context.setLineDash(isDashed ? [2 * this.unit, 2 * this.unit] : []);
    context.strokeRect(x + line / 2, y + line / 2, wide - line, high - line);
    context.setLineDash([]);
  }
}

/** A small picture of a cell for the legend, at half load. */
export function swatch(inks: Inks, bits: number, { marks = 0, ground }: { marks?: number; ground?: Rgb } = {}) {
  const canvas = document.createElement('canvas');
  const unit = window.devicePixelRatio;
  const side = Math.round(14 * unit);
  canvas.width = canvas.height = side;
  canvas.className = 'swatch';
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const load = isMeasured(bits) ? inks.scale[inks.scale.length >> 1] : undefined;
  context.fillStyle = css(ground ?? groundOf(inks, bits, load));
  context.fillRect(0, 0, side, side);
  new CellForms(inks, unit, side).draw(context, bits, marks, [0, 0, side, side]);
  return canvas;
}

export const bitsOf = (state: State): number => STATES.indexOf(state);
