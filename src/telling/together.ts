// Which nodes fell silent together, so that one thing is to blame: as many within one interval as chance does not bring. Pure: no board, no
// clock. docs/liveness.md argues for it, and has its rates.

/** A node that is not heard. */
export interface Unheard {
  /** Of its last report, ms. */
  readonly ageMs: number;
  /** At which it reported. */
  readonly intervalMs: number;
  /** That it is gone is known; of others it is likely, and they count among the deaths around. */
  readonly isSilent: boolean;
}

/**
 * Within how many intervals the last reports of nodes that die at once lie: one, and what a report may come early or late; of two racks that
 * die a moment apart two and a half. What is likelier than `chance` is chance: of deaths one by one more lie in a wide window.
 */
const WINDOWS = [
  { intervals: 1.1, chance: 1e-5 },
  { intervals: 2.6, chance: 1e-20 },
] as const;
/** The times around in which deaths are counted, in windows: those that begin with the window, end with it, or have it in their middle. */
const STRETCHES = [2, 4, 16, 64];
/** Deaths per window that are expected where there are no others: none in four windows is no proof that there are fewer. */
const RATE_LEAST = 1 / 3;

/** Whether so many are more than chance brings at that rate: by Chernoff's bound for a Poisson number. */
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

/** Deaths per window around the one that begins at that age, `within` which there are so many: the most that any stretch gives. */
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

/** The largest group of nodes of one interval, sorted by their ages, that chance does not explain: from which to which. */
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

/** The silent nodes among these that fell together: at most so many groups for each interval, the largest first. */
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
