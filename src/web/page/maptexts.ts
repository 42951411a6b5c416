// Texts on the map's upper canvas: values on large tiles, and of each group its name and what is wrong in it.

import { cut, oneLine } from '../../text/unseen.js';
import { numberOf, type ReadingInfo, STATES, type State } from '../wire.js';
import { type Cells, isMeasured, stateOf, valueIn } from './cells.js';
import { quantity } from './formats.js';
import type { Box } from './forms.js';
import { barOf, cornerOf, type GroupBlock, type MapPlan } from './geometry.js';
import type { Inks } from './inks.js';
import { css, type Rgb } from './palette.js';

/** The side of a cell, in CSS pixels, from which on its name stands on it. */
export const NAMES_FROM = 72;
/** Smaller letters cannot be read, in CSS pixels. */
const LETTERS_LEAST = 7;
const FONT = 'system-ui, sans-serif';

/** What is drawn with; `unit`: canvas pixels of a CSS pixel. */
interface MapPen {
  readonly context: CanvasRenderingContext2D;
  readonly inks: Inks;
  readonly unit: number;
  readonly data: Cells;
}

interface Tiles {
  readonly reading: ReadingInfo | undefined;
  /** The colour of a cell. */
  readonly fillOf: (cell: number) => Rgb;
  readonly isAside: (cell: number) => boolean;
}

/** Values, and names if there is room, on tiles. */
export function drawTiles(
  { context, inks, unit, data }: MapPen,
  plan: MapPlan,
  block: GroupBlock,
  gap: number,
  { reading, fillOf, isAside }: Tiles,
): void {
  const [inner, wide] = [plan.side - gap, plan.wide - gap];
  const hasNames = inner >= NAMES_FROM * unit;
  const pad = Math.min(inner * 0.11, 14 * unit);
  const large = Math.min(inner * (hasNames ? 0.24 : 0.28), 44 * unit);
  const small = Math.max(10 * unit, Math.min(inner * 0.13, 19 * unit));
  context.textBaseline = 'alphabetic';
  context.textAlign = 'left';
  for (let cell = block.first; cell < block.first + block.count; cell++) {
    const bits = data.values[cell] as number;
    const { x, y } = cornerOf(plan, block, cell);
    const state = stateOf(bits);
    const isLive = state === 'live';
    const isOnFill = isLive && isMeasured(bits) && !isAside(cell);
    const ink = isOnFill ? inkOn(fillOf(cell)) : css(inks.text);
    const write = (text: string, size: number, weight: number, up: number, colour: string) => {
      context.font = `${weight} ${size}px ${FONT}`;
      // A number or a state is made smaller rather than cut, and left out where nobody could read it.
      const wanted = weight > 500 ? Math.max(1, context.measureText(text).width / (wide - 2 * pad)) : 1;
      if (wanted > 1 && size / wanted < LETTERS_LEAST * unit) return;
      if (wanted > 1) context.font = `${weight} ${size / wanted}px ${FONT}`;
      const fitting = weight > 500 ? text : fit(context, text, wide - 2 * pad);
      if (!isOnFill) {
        // On lines, or on half a fill, a text needs a background.
        context.fillStyle = css(inks.page);
        const ground = context.measureText(fitting).width + pad * 0.8;
        context.beginPath();
        context.roundRect(x + pad * 0.6, up - size * 0.98, ground, size * 1.3, 3 * unit);
        context.fill();
      }
      context.fillStyle = colour;
      context.fillText(fitting, x + pad, up);
    };
    const value =
      isMeasured(bits) && reading !== undefined ? quantity(numberOf(reading, valueIn(bits)), reading.unit) : '–';
    if (hasNames) write(data.names[cell] as string, small, 500, y + pad + small * 0.8, ink);
    const bottom = y + inner - pad;
    if (isLive) write(value, large, 650, bottom, ink);
    else {
      const size = Math.min(large, small * 1.3);
      write(state, size, 650, bottom, css(inks.states[state]));
      // The last known value, in brackets as in status.
      if (hasNames && value !== '–') write(`(${value})`, small, 400, bottom - size * 1.45, css(inks.muted));
    }
  }
}

/** The worst state of some nodes, as a word, and how many have it. */
interface Worst {
  readonly word: State | 'unhealthy';
  readonly number: number;
  readonly ink: Rgb;
}

/** Undefined: all is well. */
function worstOf({ data, inks }: MapPen, { first, count }: Pick<GroupBlock, 'first' | 'count'>): Worst | undefined {
  const { states, unhealthy } = data.tally(first, count);
  for (const word of ['silent', 'unknown', 'uncertain', 'unhealthy', 'never', 'left'] as const) {
    const isIll = word === 'unhealthy';
    const number = isIll ? unhealthy : (states[STATES.indexOf(word)] as number);
    if (number > 0) return { word, number, ink: isIll ? inks.unhealthy : inks.states[word] };
  }
  return undefined;
}

/** The name of a group over its block, and what is wrong in it. `size`: the font's, in canvas pixels. */
export function drawLabel(pen: MapPen, block: GroupBlock, size: number, width: number): void {
  const { context, inks, unit, data } = pen;
  const { x, y } = block;
  const worst = worstOf(pen, block);
  const up = y - size * 0.45;
  context.textBaseline = 'alphabetic';
  context.textAlign = 'left';
  context.font = `500 ${size}px ${FONT}`;
  const title = fit(context, data.layout.groups[block.group]?.name ?? 'others', width);
  context.fillStyle = css(worst?.word === 'silent' ? inks.text : inks.muted);
  context.fillText(title, x, up);
  if (worst === undefined) return;
  const after = context.measureText(title).width + size * 0.6;
  context.font = `650 ${size}px ${FONT}`;
  context.fillStyle = css(worst.ink);
  for (const text of [`${worst.number} ${worst.word}`, String(worst.number)])
    if (after + context.measureText(text).width <= width) {
      context.fillText(text, x + after, up);
      return;
    }
  // Without room for words: a bar over the block.
  context.fillRect(x, y - 3 * unit, width, 2 * unit);
}

/** Of nodes that stand together: a bar with the share of those in the worst state, and their number. */
export function drawShare(pen: MapPen, nodes: Pick<GroupBlock, 'first' | 'count'>, box: Box): void {
  const { context, inks, unit, data } = pen;
  const [x, y, wide, high] = box;
  const worst = worstOf(pen, nodes);
  if (worst === undefined) {
    if (data.tally(nodes.first, nodes.count).measured > 0) return;
    context.strokeStyle = css(inks.muted);
    context.lineWidth = unit;
    context.strokeRect(x + unit / 2, y + unit / 2, wide - unit, high - unit);
    return;
  }
  const tall = barOf(wide, high, worst.number / nodes.count, unit);
  context.fillStyle = css(worst.ink);
  context.fillRect(x, y + high - tall, wide, tall);
  // How many they are, if it can be read.
  const text = String(worst.number);
  const size = Math.min(high * 0.55, (wide / text.length) * 1.1, 26 * unit);
  if (size < 8 * unit) return;
  context.font = `700 ${size}px ${FONT}`;
  context.textBaseline = 'middle';
  context.textAlign = 'center';
  const ground = context.measureText(text).width + size * 0.5;
  context.fillStyle = css(inks.page);
  context.beginPath();
  context.roundRect(x + (wide - ground) / 2, y + high / 2 - size * 0.62, ground, size * 1.2, size * 0.2);
  context.fill();
  context.fillStyle = css(worst.ink);
  context.fillText(text, x + wide / 2, y + high / 2 + size * 0.04);
}

/** Black or white, whichever has more contrast with a colour. */
function inkOn(fill: Rgb): string {
  const [red, green, blue] = fill.map(part => (part / 255) ** 2.2) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.22 ? '#06090c' : '#ffffff';
}

/** As much of both ends of a text as there is room for. */
function fit(context: CanvasRenderingContext2D, whole: string, width: number): string {
  const text = oneLine(whole);
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(cut(text, middle)).width <= width) low = middle;
    else high = middle - 1;
  }
  return low < 2 ? '' : cut(text, low);
}
