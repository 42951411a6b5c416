// The outline of some cells of the map: lines where a neighbour does not belong to them, or where the block ends. Pure.

import type { GroupBlock, MapPlan } from './geometry.js';

/** Receives lines from one point to another. */
interface LinePen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/** Draws around the places of a block for which `has` is true; between cells there are `gap` pixels, and the line is `line` wide. */
export function contour(
  pen: LinePen,
  { x, y, places, columns }: GroupBlock,
  { side, wide }: Pick<MapPlan, 'side' | 'wide'>,
  has: (place: number) => boolean,
  gap: number,
  line: number,
): void {
  const isIn = (k: number) => k >= 0 && k < places && has(k);
  // In the gap between two cells, or beside the cell, so that the lines of neighbours meet.
  const out = Math.max(gap, line) / 2;
  for (let k = 0; k < places; k++) {
    if (!isIn(k)) continue;
    const column = k % columns;
    const [left, top] = [x + column * wide - out, y + Math.floor(k / columns) * side - out];
    const [right, bottom] = [left + wide - gap + 2 * out, top + side - gap + 2 * out];
    const draw = (...[fromX, fromY, toX, toY]: [number, number, number, number]) => {
      pen.moveTo(fromX, fromY);
      pen.lineTo(toX, toY);
    };
    if (!isIn(k - columns)) draw(left, top, right, top);
    if (!isIn(k + columns)) draw(left, bottom, right, bottom);
    if (column === 0 || !isIn(k - 1)) draw(left, top, left, bottom);
    if (column === columns - 1 || !isIn(k + 1)) draw(right, top, right, bottom);
  }
}
