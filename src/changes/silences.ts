// Which nodes fell silent together, so that one cause is likely: more of them within one interval than chance explains.
// Pure: no board, no clock. docs/internals/liveness.md has the argument and the rates.

import { groupBy } from '../text/maps.js';

interface Unheard {
  readonly ageMs: number;
  readonly intervalMs: number;
  /** Whether the node is known to be gone. Others are probably gone; they count among the deaths around it. */
  readonly isSilent: boolean;
  readonly isOver?: boolean;
}

/**
 * How many intervals apart the last reports of nodes that die at once can lie: one, plus what a report may come early
 * or late; two and a half for two racks that die a moment apart. A group that is more likely than `chance` is explained
 * by chance: a wide window holds more independent deaths.
 */
const WINDOWS = [
  { intervals: 1.1, chance: 1e-5 },
  { intervals: 2.6, chance: 1e-20 },
] as const;
/** So many intervals lie at most between the last reports of nodes of one interval that die at one moment. */
export const AT_ONCE_INTERVALS = WINDOWS[0].intervals;
/** The windows in which deaths are counted: those that begin with the window, end with it, or have it within. */
const STRETCHES = [2, 4, 16, 64];
/** The deaths per window that are assumed if there are no others: none in four windows does not prove fewer. */
const RATE_LEAST = 1 / 3;

/** Whether so many deaths are more than chance explains at that rate, by Chernoff's bound for a Poisson variable. */
function isBeyondChance(count: number, rate: number, chance: number): boolean {
  return count > rate && count - rate - count * Math.log(count / rate) < Math.log(chance);
}

/**
 * For each node the deaths per window around the window that begins with it and ends before the node `ends` says: the
 * largest rate of any stretch. All are found in one sweep: there may be as many windows as nodes.
 */
function ratesAround(ages: Float64Array, ends: Int32Array, window: number): Float64Array {
  const rates = new Float64Array(ages.length).fill(RATE_LEAST);
  for (const windows of STRETCHES) {
    const before = (windows - 1) * window;
    for (const shift of [0, before / 2, before]) {
      let [low, high] = [0, 0];
      for (let from = 0; from < ages.length; from++) {
        const begin = (ages[from] as number) - shift;
        while ((ages[low] as number) < begin) low++;
        while (high < ages.length && (ages[high] as number) < begin + windows * window) high++;
        const others = high - low - ((ends[from] as number) - from);
        rates[from] = Math.max(rates[from] as number, others / (windows - 1));
      }
    }
  }
  return rates;
}

const lasts = ({ isSilent, isOver = false }: Unheard) => isSilent && !isOver;

/** The groups that are sought: with a silence that lasts, or without. */
interface Sought {
  readonly isLasting: boolean;
  /** 1: the node is in a larger group of the other sort. */
  readonly isTaken: Uint8Array;
}

/**
 * The first and last of the largest group of that sort that chance does not explain, among nodes of one interval sorted
 * by age. A larger group of the other sort keeps its nodes: they are taken, and no part of it makes a group with a
 * neighbour.
 */
function largest(
  nodes: readonly Unheard[],
  window: number,
  chance: number,
  { isLasting, isTaken }: Sought,
): [from: number, end: number] | undefined {
  const ages = Float64Array.from(nodes, ({ ageMs }) => ageMs);
  const [ends, silents, lastings] = [1, 2, 3].map(() => new Int32Array(nodes.length)) as [
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  let [silent, lasting] = [0, 0];
  for (let from = 0, end = 0; from < nodes.length; from++) {
    for (; end < nodes.length && (ages[end] as number) < (ages[from] as number) + window; end++) {
      silent += Number(nodes[end]?.isSilent);
      lasting += Number(lasts(nodes[end] as Unheard));
    }
    [ends[from], silents[from], lastings[from]] = [end, silent, lasting];
    silent -= Number(nodes[from]?.isSilent);
    lasting -= Number(lasts(nodes[from] as Unheard));
  }
  // Nearly always there is none, and the rates are not needed.
  const few = Array.from(silents.keys()).filter(from => isBeyondChance(silents[from] as number, RATE_LEAST, chance));
  if (few.length === 0) return undefined;
  const rates = ratesAround(ages, ends, window);
  const found = few
    .filter(from => isBeyondChance(silents[from] as number, rates[from] as number, chance))
    .sort((a, b) => (silents[b] as number) - (silents[a] as number));
  for (const from of found) {
    const end = ends[from] as number;
    const taken = isTaken.indexOf(1, from);
    if (taken !== -1 && taken < end) continue;
    if ((lastings[from] as number) > 0 === isLasting) return [from, end];
    isTaken.fill(1, from, end);
  }
  return undefined;
}

/**
 * The silent nodes that fell together: for each interval at most so many groups of which some are still silent, and as
 * many of which none is, so that what is over hides nothing. Those that last come first, then the largest.
 */
export function fellTogether<T extends Unheard>(nodes: readonly T[], most: number): T[][] {
  const found: { group: T[]; isLasting: boolean }[] = [];
  for (const [intervalMs, same] of groupBy(nodes, node => node.intervalMs)) {
    const left = same.sort((a, b) => a.ageMs - b.ageMs);
    for (const isLasting of [true, false])
      for (let i = 0; i < most; i++) {
        const sought = { isLasting, isTaken: new Uint8Array(left.length) };
        const group = WINDOWS.reduce<ReturnType<typeof largest>>(
          (group, { intervals, chance }) => group ?? largest(left, intervals * intervalMs, chance, sought),
          undefined,
        );
        if (group === undefined) break;
        const [from, end] = group;
        found.push({ group: left.splice(from, end - from).filter(({ isSilent }) => isSilent), isLasting });
      }
  }
  found.sort((a, b) => b.group.length - a.group.length);
  return [true, false].flatMap(lasts =>
    found
      .filter(({ isLasting }) => isLasting === lasts)
      .slice(0, most)
      .map(({ group }) => group),
  );
}
