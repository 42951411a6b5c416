// Sentences about what is odd: nodes that fell silent together, clocks and kernels that differ from all others, a receiver
// that tells nothing. Compares; knows no thresholds of hardware.

import { formatDuration } from '../common/durations.js';
import { fold, foldParts, lastDigits } from '../common/nodeset.js';
import { oneLine } from '../common/text.js';
import { bits, structs } from '../layout/layout.gen.js';
import { type Snapshot, stalledText } from '../shm/reader.js';
import type { Survey, Surveyed } from './survey.js';

export interface Oddity {
  readonly kind: 'receiver' | 'together' | 'refused' | 'clock' | 'kernel' | 'strangers';
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
    const ages = Float64Array.from(silent, ({ index }) => snapshot.ageMsAt(index));
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

const OFFSET = structs.record.fields.offset_us.offset / 4;
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

/** The node's wall clock less the master's, s, as it stands in the record at that word. */
function skewAt(words: Uint32Array, record: number): number {
  return ((words[record + OFFSET] ?? 0) + ((words[record + OFFSET + 1] ?? 0) | 0) * 2 ** 32) / 1e6;
}

function clocks(snapshot: Snapshot, nodes: readonly Surveyed[]): Oddity[] {
  const known = nodes.filter(({ state }) => state === 'live');
  const skews = new Float64Array(known.length);
  let farthest = 0;
  for (let i = 0; i < known.length; i++) {
    const skew = skewAt(snapshot.words, snapshot.recordWord(known[i]!.index));
    skews[i] = skew;
    if (Math.abs(skew) > farthest) farthest = Math.abs(skew);
  }
  // Nearly always none is far off, and then neither is the median.
  if (farthest <= SKEW_LEAST_S) return [];
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

const RELEASE = structs.report.fields.os_release;
const VALID = structs.report.fields.valid.offset / 4 + (bits.valid.system >> 5);
const SYSTEM = 1 << (bits.valid.system & 31);
/** Fewer siblings do not make a rule, and neither do they when more than a tenth of them differ. */
const SIBLINGS_LEAST = 3;
const ODD_SHARE = 0.1;

/** A number for the kernel release that stands at that word: equal for equal ones, unequal for nearly all others. */
function kernelAt(words: Uint32Array, report: number): number {
  if (((words[report + VALID] ?? 0) & SYSTEM) === 0) return 0;
  let hash = 1;
  for (let i = 0; i < RELEASE.count / 4; i++) {
    const word = words[report + RELEASE.offset / 4 + i] ?? 0;
    hash = (Math.imul(hash, 0x01000193) ^ word) >>> 0;
    if (word >>> 24 === 0) break; // its end
  }
  return hash || 1;
}

function kernels(snapshot: Snapshot, nodes: readonly Surveyed[]): Oddity[] {
  // Nearly always all run the same: then there is nothing to compare.
  const running = new Uint32Array(nodes.length);
  let [first, alike] = [0, true];
  for (let i = 0; i < nodes.length; i++) {
    const { state, index } = nodes[i]!;
    if (state !== 'live') continue;
    const kernel = kernelAt(snapshot.words, snapshot.reportWord(index));
    running[i] = kernel;
    if (first === 0) first = kernel;
    else if (kernel !== 0 && kernel !== first) alike = false;
  }
  if (alike) return [];
  const families = new Map<string, Map<number, Surveyed[]>>();
  // Neighbours are siblings, nearly always, and run what the one before runs: they need no look-up.
  let [prefix, lastKernel] = ['', 0];
  let same: Surveyed[] = [];
  for (let i = 0; i < nodes.length; i++) {
    const [node, kernel] = [nodes[i]!, running[i]!];
    if (kernel === 0) continue;
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
  const silentAfter = snapshot.distances.silentAfter / 1e6;
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
  const parts = [together, refused, clocks, kernels];
  const odd = parts.flatMap(look => look(snapshot, all));
  if (nodes === all) return [...found, ...odd];
  const chosen = new Set(nodes);
  return [...found, ...odd.filter(about => about.nodes.length === 0 || about.nodes.some(node => chosen.has(node)))];
}
