// How far each of several nodes is from the others in one reading: median, median absolute deviation, and the distance
// in units of it. Robust, because the odd one itself must not move what it is compared with. Pure; makes no objects,
// so that a program can call it for many jobs every few seconds.

import type { Compared } from './readings.js';

/** What makes the median absolute deviation the standard deviation where values are normally distributed. */
const NORMAL = 1.4826;

/** The value of that rank among the first `count` of `values`, whose order it changes. Quickselect. */
function selected(values: Float64Array, count: number, rank: number): number {
  let [low, high] = [0, count - 1];
  while (low < high) {
    // The middle: values that are in order already, as of equal nodes, take no longer.
    const pivot = values[(low + high) >>> 1] as number;
    let [i, j] = [low, high];
    while (i <= j) {
      while ((values[i] as number) < pivot) i++;
      while ((values[j] as number) > pivot) j--;
      if (i > j) break;
      const swapped = values[i] as number;
      values[i++] = values[j] as number;
      values[j--] = swapped;
    }
    if (rank <= j) high = j;
    else if (rank >= i) low = i;
    else break;
  }
  return values[rank] as number;
}

/** The median of the first `count` of `values`, none of them NaN, whose order it changes; NaN of none. */
export function median(values: Float64Array, count = values.length): number {
  if (count === 0) return Number.NaN;
  const upper = selected(values, count, count >>> 1);
  if (count % 2 === 1) return upper;
  // Those before it are not greater.
  let lower = values[0] as number;
  for (let i = 1; i < count >>> 1; i++) lower = Math.max(lower, values[i] as number);
  return (lower + upper) / 2;
}

/** The middle of a set of nodes in one reading, and the unit in which their distances from it are told. */
export interface Middle {
  count: number;
  median: number;
  /** max(1.4826 × median absolute deviation, floor). */
  unit: number;
}

/** The smallest unit that the table allows at that median. */
export function floorAt({ floor, floorShare }: Compared, middle: number): number {
  return Math.max(floor, floorShare * Math.abs(middle));
}

/**
 * Writes into `middle` that of the first `count` values; NaN: the node has none. `scratch` has room for them. The unit
 * is 0 only if all values are equal and the reading has no floor there.
 */
export function findMiddle(
  compared: Compared,
  values: Float64Array,
  count: number,
  scratch: Float64Array,
  middle: Middle,
): void {
  let known = 0;
  for (let i = 0; i < count; i++) {
    const value = values[i] as number;
    if (!Number.isNaN(value)) scratch[known++] = value;
  }
  middle.count = known;
  middle.median = median(scratch, known);
  const floor = floorAt(compared, middle.median);
  let near = 0;
  for (let i = 0; i < known; i++) {
    scratch[i] = Math.abs((scratch[i] as number) - middle.median);
    if (NORMAL * (scratch[i] as number) <= floor) near++;
  }
  // The floor is more where most are near.
  middle.unit = 2 * near > known ? floor : Math.max(NORMAL * median(scratch, known), floor);
}

/**
 * The distance of a value from the middle, in its units: positive on the side that is bad, negative on the other, and
 * never negative where both are bad. NaN: the value is, or fewer than two nodes have one.
 */
export function deviation({ direction }: Compared, value: number, { count, median, unit }: Middle): number {
  if (count < 2) return Number.NaN;
  const distance = value === median ? 0 : (value - median) / unit;
  if (direction === 'both') return Math.abs(distance);
  return direction === 'low' ? 0 - distance : distance;
}

/** The deviations of nodes in one reading, for who shows a job once: as `deviation`, one a value, and the middle. */
export function deviations(compared: Compared, values: Float64Array): { each: Float64Array; middle: Middle } {
  const middle: Middle = { count: 0, median: Number.NaN, unit: Number.NaN };
  findMiddle(compared, values, values.length, new Float64Array(values.length), middle);
  return { each: values.map(value => deviation(compared, value, middle)), middle };
}
