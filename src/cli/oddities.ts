// Sentences about what is odd: nodes that fell silent together, clocks, kernels and intervals that differ from all others, a receiver
// that tells nothing. Compares; knows no thresholds of hardware.

import { formatDuration, writeDuration } from '../common/durations.js';
import { fold, foldParts, lastDigits } from '../common/nodeset.js';
import { oneLine } from '../common/text.js';
import { structs } from '../layout/layout.gen.js';
import { type Snapshot, stalledText } from '../shm/reader.js';
import type { Survey, Surveyed } from './survey.js';

export interface Oddity {
  readonly kind: 'receiver' | 'together' | 'refused' | 'clock' | 'kernel' | 'interval' | 'strangers';
  readonly text: string;
  /** Whom it is about; nobody: the receiver, or this master. */
  readonly nodes: readonly Surveyed[];
}

/** A few parts of a host list, and how many more nodes there are. */
function shown(nodes: readonly Surveyed[], most = 4): string {
  const parts = foldParts(nodes.map(({ name }) => oneLine(name)));
  const cut = parts.slice(0, most).map(part => (part.length > 60 ? `${part.slice(0, 59)}…` : part));
  return parts.length > most ? `${cut.join(',')},…` : cut.join(',');
}

/** What racks are called where nodes have two numbers: rack17 of rack17n03. */
function rackOf(name: string): string | undefined {
  return /^(.*?\d+)[^\d].*\d$/.exec(name)?.[1];
}

/** The racks of these nodes, when each has one and there are fewer of them. */
function racks(nodes: readonly Surveyed[]): string | undefined {
  const found = nodes.map(({ name }) => rackOf(name));
  const different = new Set(found);
  if (found.includes(undefined) || different.size * 2 > nodes.length || different.size > 64) return undefined;
  return fold([...different] as string[]);
}

/** Nodes whose last reports came within this time were cut off by one thing. */
const TOGETHER_MS = 2000;
const TOGETHER_LEAST = 3;
const TOGETHER_SENTENCES = 3;

function together(snapshot: Snapshot, nodes: readonly Surveyed[]): Oddity[] {
  let silent = nodes.filter(({ state }) => state === 'silent');
  const found: Oddity[] = [];
  while (found.length < TOGETHER_SENTENCES && silent.length >= TOGETHER_LEAST) {
    const ages = Float64Array.from(silent, ({ index }) => snapshot.overview.ages[index] as number);
    const sorted = ages.slice().sort();
    // The window of two seconds that holds most of them.
    let [from, most] = [0, 0];
    for (let first = 0, end = 0; first < sorted.length; first++) {
      while (end < sorted.length && (sorted[end] ?? 0) - (sorted[first] ?? 0) <= TOGETHER_MS) end++;
      if (end - first > most) [from, most] = [first, end - first];
    }
    if (most < TOGETHER_LEAST) break;
    const [young, old] = [sorted[from] ?? 0, sorted[from + most - 1] ?? 0];
    const inWindow = (i: number) => (ages[i] ?? 0) >= young && (ages[i] ?? 0) <= old;
    const fell = silent.filter((_, i) => inWindow(i));
    silent = silent.filter((_, i) => !inWindow(i));
    const all = fell.length === snapshot.count;
    const rack = all ? undefined : racks(fell);
    const who = all ? `all ${most} nodes` : `${most} nodes${rack === undefined ? ` (${shown(fell)})` : ` of ${rack}`}`;
    const what = all ? 'the network or this master' : 'a switch or a rack';
    found.push({
      kind: 'together',
      nodes: fell,
      text: `${who} fell silent within 2 s: ${what} rather than ${most} nodes`,
    });
  }
  return found;
}

/** Transit and scheduling take milliseconds. */
const SKEW_LEAST_S = 0.5;
const EACH_MOST = 3;

/** Seconds, with a sign in words: 2.1 s ahead. */
function ahead(seconds: number, ofWhom = ''): string {
  const far = Math.abs(seconds);
  const size = far < 60 ? `${far.toFixed(1)} s` : formatDuration(far * 1000);
  if (ofWhom === '') return `${size} ${seconds > 0 ? 'ahead' : 'behind'}`;
  return `${size} ${seconds > 0 ? 'ahead of' : 'behind'} ${ofWhom}`;
}

function clocks(snapshot: Snapshot, nodes: readonly Surveyed[]): Oddity[] {
  const { skews: all } = snapshot.overview;
  const sorted = all.slice().sort();
  // Nearly always none is far off, and then neither is the median.
  if (Math.max(-(sorted[0] ?? 0), sorted.at(-1) ?? 0) <= SKEW_LEAST_S) return [];
  const known = nodes.filter(({ state }) => state === 'live');
  const skews = Float64Array.from(known, ({ index }) => all[index] as number);
  const median = skews.slice().sort()[skews.length >> 1] ?? 0;
  const found: Oddity[] = [];
  // One clock is behind or all the others are ahead: with three nodes that can be told.
  const master = known.length >= 3 && Math.abs(median) > SKEW_LEAST_S ? median : 0;
  if (master !== 0)
    found.push({
      kind: 'clock',
      nodes: [],
      text: `most clocks are ${ahead(master, "this master's")}: the master's clock is wrong rather than theirs`,
    });
  const odd = known
    .map((node, i) => ({ node, skew: (skews[i] ?? 0) - master }))
    .filter(({ skew }) => Math.abs(skew) > SKEW_LEAST_S)
    .sort((a, b) => Math.abs(b.skew) - Math.abs(a.skew));
  for (const { node, skew } of odd.slice(0, EACH_MOST)) {
    const name = oneLine(node.name);
    found.push({
      kind: 'clock',
      nodes: [node],
      text: `clock of ${name} is ${ahead(skew, master === 0 ? '' : 'the others')}`,
    });
  }
  const more = odd.slice(EACH_MOST).map(({ node }) => node);
  if (more.length > 0)
    found.push({
      kind: 'clock',
      nodes: more,
      text: `clocks of ${more.length} more nodes (${shown(more)}) are more than ${SKEW_LEAST_S} s off`,
    });
  return found;
}

/** Fewer siblings do not make a rule, and neither do they when more than a tenth of them differ. */
const SIBLINGS_LEAST = 3;
const ODD_SHARE = 0.1;

function kernels(snapshot: Snapshot, nodes: readonly Surveyed[]): Oddity[] {
  const { kernels: running } = snapshot.overview;
  const sorted = running.slice().sort();
  // Nearly always all run the same: then there is nothing to compare.
  if (sorted[sorted.lastIndexOf(0) + 1] === sorted.at(-1)) return [];
  const families = new Map<string, Map<number, Surveyed[]>>();
  // Neighbours are siblings, nearly always, and run what the one before runs: they need no look-up.
  let [prefix, lastKernel] = ['', 0];
  let same: Surveyed[] = [];
  for (const node of nodes) {
    const kernel = running[node.index];
    if (!kernel) continue;
    const { name } = node;
    const sibling = lastDigits(name) === prefix.length && name.startsWith(prefix);
    if (!sibling || kernel !== lastKernel) {
      [prefix, lastKernel] = [name.slice(0, lastDigits(name)), kernel];
      const family = families.get(prefix) ?? new Map<number, Surveyed[]>();
      families.set(prefix, family);
      same = family.get(kernel) ?? [];
      family.set(kernel, same);
    }
    same.push(node);
  }
  const found: Oddity[] = [];
  for (const family of families.values()) {
    const [most, ...rest] = [...family.values()].sort((a, b) => b.length - a.length);
    const odd = rest.flat();
    if (most === undefined || odd.length === 0 || most.length < SIBLINGS_LEAST) continue;
    if (odd.length > ODD_SHARE * (most.length + odd.length) && odd.length > 1) continue;
    const one = odd.length === 1;
    const release = snapshot.node(odd[0]?.index ?? 0).field('os_release') as string | undefined;
    found.push({
      kind: 'kernel',
      nodes: odd,
      text: `${one ? oneLine(odd[0]?.name ?? '') : `${odd.length} nodes (${shown(odd)})`} ${one ? 'runs' : 'run'} another kernel${
        one && release ? ` (${oneLine(release)})` : ''
      } than ${one ? 'its' : 'their'} ${most.length} siblings`,
    });
  }
  return found;
}

/** Where a report says its interval, in words. */
const INTERVAL = structs.report.fields.interval_ms.offset / 4;

/** Nodes that report at another interval than most: somebody has set it, for a time or for good. */
function intervals(snapshot: Snapshot, nodes: readonly Surveyed[]): Oddity[] {
  const { words } = snapshot;
  const groups = new Map<number, Surveyed[]>();
  let [last, same]: [number, Surveyed[]] = [0, []];
  for (const node of nodes) {
    // Of those that say nothing any more nobody knows.
    if (node.state !== 'live') continue;
    const slot = snapshot.newestSlot(snapshot.recordWord(node.index));
    const ms = slot < 0 ? 0 : (words[slot + snapshot.reportOffset / 4 + INTERVAL] ?? 0);
    if (ms === 0) continue;
    if (ms !== last) {
      last = ms;
      same = groups.get(ms) ?? [];
      groups.set(ms, same);
    }
    same.push(node);
  }
  const [most, ...rest] = [...groups].sort(([, a], [, b]) => b.length - a.length);
  const odd = rest.flatMap(([, some]) => some);
  if (most === undefined || odd.length === 0 || odd.length >= most[1].length) return [];
  const usual = writeDuration(most[0]);
  const found = rest.slice(0, EACH_MOST).map(
    ([ms, some]): Oddity => ({
      kind: 'interval',
      nodes: some,
      text:
        some.length === 1
          ? `${shown(some)} reports every ${writeDuration(ms)}, most every ${usual}`
          : `${some.length} nodes report every ${writeDuration(ms)}, most every ${usual}: ${shown(some)}`,
    }),
  );
  const more = rest.slice(EACH_MOST).flatMap(([, some]) => some);
  if (more.length > 0)
    found.push({
      kind: 'interval',
      nodes: more,
      text: `${more.length} more nodes (${shown(more)}) report at other intervals`,
    });
  return found;
}

/** A refusal this young may be why a node is not live. */
const REFUSED_LATELY_MS = 60_000;

/** Nodes that report, and are not believed: by the reason. */
function refused(snapshot: Snapshot, nodes: readonly Surveyed[]): Oddity[] {
  if (Object.keys(snapshot.refused).length === 0) return [];
  const reasons = new Map<string, Surveyed[]>();
  for (const node of nodes) {
    if (node.state === 'live' || node.state === 'left') continue;
    const last = snapshot.node(node.index).lastRefusal;
    if (last === undefined || last.ageMs > REFUSED_LATELY_MS) continue;
    reasons.set(last.reason, [...(reasons.get(last.reason) ?? []), node]);
  }
  return [...reasons].map(([reason, some]) => ({
    kind: 'refused',
    nodes: some,
    text: `${shown(some)} ${some.length === 1 ? 'reports and is' : 'report and are'} refused, for the reason: ${reason}`,
  }));
}

function receiver(snapshot: Snapshot): Oddity[] {
  const say = (text: string): Oddity => ({ kind: 'receiver', nodes: [], text });
  if (snapshot.retired) return [say('another board has taken this one’s place: nothing is said about nodes')];
  if (snapshot.stalled) return [say(`${stalledText(snapshot.closed)}: nothing is said about nodes`)];
  const listened = snapshot.listenedMs;
  const silentAfter = Number(snapshot.evidence.silentAfterNs) / 1e6;
  const found: Oddity[] = [];
  if (listened < silentAfter)
    found.push(
      say(
        `the receiver has listened for ${formatDuration(listened)} only: no node is called silent before ${formatDuration(silentAfter)}`,
      ),
    );
  if (snapshot.filtering) found.push(say('a flood of junk is being filtered: kernel drops include it'));
  return found;
}

/** What is odd, the receiver first: when it tells nothing, nothing else is said. Of the nodes that were chosen alone. */
export function oddities({ snapshot, all, nodes, strangers }: Survey): Oddity[] {
  const found = receiver(snapshot);
  if (strangers.length > 0) {
    const few = foldParts(strangers).slice(0, 8).join(',');
    found.push({ kind: 'strangers', nodes: [], text: `not on the board: ${few}` });
  }
  if (snapshot.stalled || snapshot.retired) return found;
  const parts = [together, refused, clocks, kernels, intervals];
  const odd = parts.flatMap(look => look(snapshot, all));
  if (nodes === all) return [...found, ...odd];
  const chosen = new Set(nodes);
  return [...found, ...odd.filter(about => about.nodes.length === 0 || about.nodes.some(node => chosen.has(node)))];
}
