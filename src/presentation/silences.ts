// Which nodes fell silent together, so that one cause is likely: more of them within one interval than chance explains.
// Pure: no board, no clock. docs/internals/liveness.md has the argument and the rates.

/** A node that is not heard. */
export interface Unheard {
  /** The age of its last report, ms. */
  readonly ageMs: number;
  /** Its interval, ms. */
  readonly intervalMs: number;
  /** Whether the node is known to be gone. Others are probably gone; they count among the deaths around it. */
  readonly isSilent: boolean;
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
/**
 * The surroundings in which deaths are counted, in windows: stretches that begin with the window, end with it, or have
 * it in their middle.
 */
const STRETCHES = [2, 4, 16, 64];
/**
 * The deaths per window that are assumed if there are no others: none in four windows does not prove that there are
 * fewer.
 */
const RATE_LEAST = 1 / 3;

/** Whether so many deaths are more than chance explains at that rate, by Chernoff's bound for a Poisson variable. */
function isBeyondChance(count: number, rate: number, chance: number): boolean {
  return count > rate && count - rate - count * Math.log(count / rate) < Math.log(chance);
}

/** How many of the sorted numbers are below that one. */
function below(sorted: Float64Array, limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Deaths per window around the window that begins at that age and holds `within` deaths: the largest rate of any
 * stretch.
 */
function rateAround(ages: Float64Array, age: number, window: number, within: number): number {
  let rate = RATE_LEAST;
  for (const windows of STRETCHES) {
    const before = (windows - 1) * window;
    for (const from of [age, age - before / 2, age - before]) {
      const others = below(ages, from + windows * window) - below(ages, from) - within;
      rate = Math.max(rate, others / (windows - 1));
    }
  }
  return rate;
}

/** The first and last of the largest group that chance does not explain, among nodes of one interval sorted by age. */
function largest(nodes: readonly Unheard[], window: number, chance: number): [from: number, end: number] | undefined {
  const ages = Float64Array.from(nodes, ({ ageMs }) => ageMs);
  const found: { from: number; end: number; silent: number }[] = [];
  let silent = 0;
  for (let from = 0, end = 0; from < nodes.length; from++) {
    for (; end < nodes.length && (ages[end] as number) < (ages[from] as number) + window; end++)
      silent += Number(nodes[end]?.isSilent);
    if (isBeyondChance(silent, RATE_LEAST, chance)) found.push({ from, end, silent });
    silent -= Number(nodes[from]?.isSilent);
  }
  found.sort((a, b) => b.silent - a.silent);
  const group = found.find(({ from, end, silent }) =>
    isBeyondChance(silent, rateAround(ages, ages[from] as number, window, end - from), chance),
  );
  return group && [group.from, group.end];
}

/** The silent nodes that fell together: at most so many groups for each interval, the largest first. */
export function fellTogether<T extends Unheard>(nodes: readonly T[], most: number): T[][] {
  const found: T[][] = [];
  const byInterval = new Map<number, T[]>();
  for (const node of nodes) {
    const same = byInterval.get(node.intervalMs);
    if (same === undefined) byInterval.set(node.intervalMs, [node]);
    else same.push(node);
  }
  for (const [intervalMs, same] of byInterval) {
    const left = same.sort((a, b) => a.ageMs - b.ageMs);
    for (let i = 0; i < most; i++) {
      const group = WINDOWS.reduce<ReturnType<typeof largest>>(
        (group, { intervals, chance }) => group ?? largest(left, intervals * intervalMs, chance),
        undefined,
      );
      if (group === undefined) break;
      const [from, end] = group;
      found.push(left.splice(from, end - from).filter(({ isSilent }) => isSilent));
    }
  }
  return found.sort((a, b) => b.length - a.length).slice(0, most);
}
