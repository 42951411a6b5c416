// Sentences about anomalies: links that are down or dark, nodes that fell silent together, late reports, clocks,
// kernels and intervals that differ from all others, rejected and dropped datagrams, a receiver that is stalled.
// Compares nodes with each other; knows no thresholds of hardware.

import { journalTroubles } from '../journal/state.js';
import { enums } from '../layout/layout.gen.js';
import type { Survey, Surveyed } from '../query/survey.js';
import { mirrorOf, sinceMs } from '../shm/header.js';
import { doubtMs, isInPieces, type LinkEntry, linkName, linkState, listenedMs } from '../shm/links.js';
import { mayBeRefused } from '../shm/liveness.js';
import { stalledText } from '../shm/noboard.js';
import { LATELY_MS } from '../shm/node.js';
import { byProblem, PROBLEM_TEXT } from '../shm/problems.js';
import { SENDERS_EACH, type SenderEntry, type Snapshot } from '../shm/snapshot.js';
import { formatDuration, writeDuration } from '../text/durations.js';
import { fold, foldParts, lastDigits } from '../text/hostlists.js';
import { bySource, type Source } from '../text/rejectedsources.js';
import { oneLine } from '../text/text.js';
import { cloneTexts } from './clones.js';
import { deafText } from './deafness.js';
import { LastReports, lastWordsTexts } from './lastwords.js';
import {
  FULL,
  isUnproved,
  lateSenders,
  oftenText,
  type RefusedNode,
  receiverTexts,
  refusedTexts,
  shownNames,
  sourceText,
} from './rejections.js';
import { ahead, type LinkNews, linkNews, piecesText, unjoinedText } from './sentences.js';
import { fellTogether } from './silences.js';

export interface Anomaly {
  readonly kind:
    | 'receiver'
    | 'mirror'
    | 'drops'
    | 'link'
    | 'deaf'
    | 'together'
    | 'last_words'
    | 'unhealthy'
    | 'refused'
    | 'rival'
    | 'clone'
    | 'sender'
    | 'delay'
    | 'clock'
    | 'kernel'
    | 'interval'
    | 'slurm'
    | 'journal'
    | 'not_on_board';
  readonly text: string;
  /** The nodes it is about; empty: it is about the receiver or this master. */
  readonly nodes: readonly Surveyed[];
  /**
   * Names that a sender without proof claims. The sentence is not about these nodes, but whoever asks about one of them
   * has to see it.
   */
  readonly claims?: readonly string[];
}

/** On a mirror: nodes whose silence the mirror cannot confirm. */
function unvouched(snapshot: Snapshot, nodes: readonly Surveyed[]): Anomaly[] {
  const mirror = mirrorOf(snapshot);
  if (mirror === undefined) return [];
  const those = nodes.filter(({ state, index }) => state === 'uncertain' && snapshot.linkOf(index) === 0);
  if (those.length === 0) return [];
  const why =
    mirror.vetoed > 0
      ? `${oneLine(mirror.master ?? 'this master')} hears nothing, but another master does`
      : 'were last heard before this mirror could tell when';
  return [{ kind: 'mirror', nodes: those, text: `${shown(those)}: uncertain, not silent: ${why}` }];
}

/** A few parts of a host list, and the number of further nodes. */
function shown(nodes: readonly Surveyed[]): string {
  return shownNames(nodes.map(({ name }) => name));
}

/** The name of a rack if node names have two numbers: rack17 of rack17n03. */
function rackOf(name: string): string | undefined {
  return /^(.*?\d+)[^\d].*\d$/.exec(name)?.[1];
}

/** The racks of these nodes, if each node has one and there are clearly fewer racks than nodes. */
function racks(nodes: readonly Surveyed[]): string | undefined {
  const found = nodes.map(({ name }) => rackOf(name));
  const different = new Set(found);
  if (found.includes(undefined) || different.size * 2 > nodes.length || different.size > 64) return undefined;
  return fold([...different] as string[]);
}

/** One sentence for each problem. */
function unhealthy(nodes: readonly Surveyed[]): Anomaly[] {
  return byProblem(nodes).map(([problem, those]) => ({
    kind: 'unhealthy',
    nodes: those,
    text: `${shown(those)}: ${PROBLEM_TEXT[problem]}`,
  }));
}

const TOGETHER_SENTENCES = 3;
/** The interval of a report that does not give one. */
const USUAL_INTERVAL_MS = 1000;

/** Unheard nodes whose silence has no other explanation yet. */
function together(snapshot: Snapshot, nodes: readonly Surveyed[]): Anomaly[] {
  const unheard = nodes.map(node => ({
    node,
    ageMs: snapshot.overview.ages[node.index] as number,
    intervalMs: snapshot.intervalOf(node.index) || USUAL_INTERVAL_MS,
    isSilent: node.state === 'silent',
  }));
  return fellTogether(unheard, TOGETHER_SENTENCES).map(group => {
    // The order of all other sentences.
    const silent = new Set(group.map(({ node }) => node));
    const fell = nodes.filter(node => silent.has(node));
    const rack = racks(fell);
    const who = `${fell.length} nodes${rack === undefined ? ` (${shown(fell)})` : ` of ${rack}`}`;
    return {
      kind: 'together',
      nodes: fell,
      text: `${who} fell silent together: probably a switch or rack, not ${fell.length} nodes`,
    };
  });
}

/** What silent nodes said last; that it explains nothing is said of nodes whose silence nothing else explains. */
function lastWords(snapshot: Snapshot, nodes: readonly Surveyed[], explained: ReadonlySet<Surveyed>): Anomaly[] {
  const reports = new LastReports(snapshot);
  const silenced = nodes.flatMap(node => {
    const saying = node.state === 'silent' ? reports.of({ snapshot, index: node.index }) : undefined;
    if (saying === undefined || (saying.rows.length === 0 && explained.has(node))) return [];
    return [{ name: node.name, saying, node }];
  });
  return lastWordsTexts(snapshot, silenced).map(({ text, nodes }) => ({
    kind: 'last_words',
    nodes: nodes.map(({ node }) => node),
    text,
  }));
}

/** So many nodes get a sentence each, the worst first; the rest share one. */
const EACH_MOST = 3;

/**
 * A report that is later than this, and than half of its interval, counts as late. The flag `late` uses half the
 * interval as well.
 */
const DELAY_LEAST_US = 1e6;

/** Nodes that are heard and make their reports late. */
function delays(snapshot: Snapshot, nodes: readonly Surveyed[]): Anomaly[] {
  const late: { node: Surveyed; us: number }[] = [];
  for (const node of nodes) {
    // A late node may be uncertain for this very reason.
    if (node.state !== 'live' && node.state !== 'uncertain') continue;
    const us = snapshot.lateOf(node.index);
    if (us > DELAY_LEAST_US && us > 500 * snapshot.intervalOf(node.index)) late.push({ node, us });
  }
  late.sort((a, b) => b.us - a.us);
  const found = late.slice(0, EACH_MOST).map(
    ({ node, us }): Anomaly => ({
      kind: 'delay',
      nodes: [node],
      text: `reports of ${oneLine(node.name)} are made ${formatDuration(us / 1000)} late: its sender gets too little CPU, or was stopped`,
    }),
  );
  const more = late.slice(EACH_MOST).map(({ node }) => node);
  if (more.length > 0)
    found.push({
      kind: 'delay',
      nodes: more,
      text: `reports of ${more.length} more ${more.length === 1 ? 'node' : 'nodes'} (${shown(more)}) are made late, by up to ${formatDuration((late[EACH_MOST]?.us ?? 0) / 1000)}`,
    });
  return found;
}

/** Transit and scheduling take milliseconds. */
const SKEW_LEAST_S = 0.5;

function clocks(snapshot: Snapshot, nodes: readonly Surveyed[]): Anomaly[] {
  const { skews: all } = snapshot.overview;
  const isFar = ({ state, index }: Surveyed) => state === 'live' && Math.abs(all[index] as number) > SKEW_LEAST_S;
  // Nearly always no clock is far off, and then the median is not far off either.
  if (!nodes.some(isFar)) return [];
  const known = nodes.filter(({ state }) => state === 'live');
  const skews = Float64Array.from(known, ({ index }) => all[index] as number);
  const median = skews.slice().sort()[skews.length >> 1] ?? 0;
  const found: Anomaly[] = [];
  // Either one clock is behind or all the others are ahead. With three nodes this can be decided.
  const master = known.length >= 3 && Math.abs(median) > SKEW_LEAST_S ? median : 0;
  if (master !== 0)
    found.push({
      kind: 'clock',
      nodes: [],
      text: `most clocks are ${ahead(master, "this master's")}: probably the master's clock is wrong`,
    });
  const odd = known
    .map((node, i) => ({ node, skew: (skews[i] ?? 0) - master }))
    .filter(({ skew }) => Math.abs(skew) > SKEW_LEAST_S)
    .sort((a, b) => Math.abs(b.skew) - Math.abs(a.skew));
  // A rack with a wrong time server is one anomaly: clocks that are equally far off, to the shown figure, share a
  // sentence.
  const byDistance = new Map<string, Surveyed[]>();
  for (const { node, skew } of odd) {
    const far = ahead(skew, master === 0 ? '' : 'the others');
    const same = byDistance.get(far);
    if (same === undefined) byDistance.set(far, [node]);
    else same.push(node);
  }
  const kinds = [...byDistance];
  for (const [far, same] of kinds.slice(0, EACH_MOST)) {
    const [who, are] = same.length === 1 ? [`clock of ${shown(same)}`, 'is'] : [`clocks of ${shown(same)}`, 'are'];
    found.push({ kind: 'clock', nodes: same, text: `${who} ${are} ${far}` });
  }
  const more = kinds.slice(EACH_MOST).flatMap(([, same]) => same);
  if (more.length > 0)
    found.push({
      kind: 'clock',
      nodes: more,
      text: `${more.length === 1 ? 'the clock of one more node' : `the clocks of ${more.length} more nodes`} (${shown(more)}) ${
        more.length === 1 ? 'is' : 'are'
      } more than ${SKEW_LEAST_S} s off`,
    });
  return found;
}

/** Fewer siblings do not make a rule. There is no rule either if more than a tenth of them differ. */
const SIBLINGS_LEAST = 3;
const ODD_SHARE = 0.1;

function kernels(snapshot: Snapshot, nodes: readonly Surveyed[]): Anomaly[] {
  const { kernels: running } = snapshot.overview;
  const known = running.find(kernel => kernel !== 0);
  // Nearly always all nodes run the same kernel: then there is nothing to compare.
  if (running.every(kernel => kernel === 0 || kernel === known)) return [];
  const families = new Map<string, Map<number, Surveyed[]>>();
  // Neighbours are nearly always siblings with the same kernel, so they need no look-up.
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
  const found: Anomaly[] = [];
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

/** Nodes that report more rarely than the receiver allows for: they are uncertain between two reports. */
function rare(snapshot: Snapshot, nodes: readonly Surveyed[]): Anomaly[] {
  const { uncertainAfterNs, silentAfterNs, longestIntervalMs: longest } = snapshot.evidence;
  const those = nodes.filter(
    ({ state, index }) => state !== 'left' && state !== 'never' && snapshot.intervalOf(index) > longest,
  );
  if (those.length === 0) return [];
  const often = writeDuration(those.reduce((most, { index }) => Math.max(most, snapshot.intervalOf(index)), 0));
  const [uncertain, silent] = [uncertainAfterNs, silentAfterNs].map(ns => formatDuration((Number(ns) / 1e9) * longest));
  const [who, report, are] =
    those.length === 1 ? [shown(those), 'reports', 'is'] : [`${those.length} nodes (${shown(those)})`, 'report', 'are'];
  return [
    {
      kind: 'interval',
      nodes: those,
      text: `${who} ${report} every ${often}, and ${are} judged as if every ${writeDuration(longest)}: uncertain ${uncertain} after each report, silent after ${silent}; give the receiver --longest-interval ${often}, or let ${those.length === 1 ? 'it' : 'them'} report more often`,
    },
  ];
}

/** Nodes that report at another interval than most: somebody has set it, temporarily or permanently. */
function intervals(snapshot: Snapshot, nodes: readonly Surveyed[]): Anomaly[] {
  const groups = new Map<number, Surveyed[]>();
  let [last, same]: [number, Surveyed[]] = [0, []];
  for (const node of nodes) {
    // The interval of a node that is no longer heard is unknown.
    if (node.state !== 'live') continue;
    const ms = snapshot.intervalOf(node.index);
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
    ([ms, some]): Anomaly => ({
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

/**
 * Nodes that are not heard, and in whose name reports are rejected. `rivals`: nodes that already have a sentence about
 * a duplicate identity.
 */
function refused(snapshot: Snapshot, nodes: readonly Surveyed[], rivals: ReadonlySet<Surveyed>): Anomaly[] {
  if (Object.keys(snapshot.refused).length === 0) return [];
  const found: (RefusedNode & { node: Surveyed })[] = [];
  for (const node of nodes) {
    const { name, state, index } = node;
    const refusal = mayBeRefused(state) ? snapshot.refusedSinceOf(index) : undefined;
    if (refusal === undefined || (refusal.reason === 'rival' && rivals.has(node))) continue;
    found.push({ name, state, refusal, node });
  }
  return refusedTexts(found).map(({ text, nodes }) => ({
    kind: 'refused',
    nodes: nodes.map(({ node }) => node),
    text,
  }));
}

const RIVAL = enums.reason.indexOf('rival');

/** More than one machine uses a name: whose reports are accepted, and whose are rejected. */
function rivalText(snapshot: Snapshot, { name, index }: Surveyed, refused: readonly SenderEntry[]): string {
  // A half-written record has no address.
  const node = snapshot.node(index);
  const address = node.address || 'one';
  const others = refused.filter(entry => entry.address !== address).map(entry => entry.address);
  const before = node.addressBefore;
  const isBefore = before !== undefined && before.sinceMs <= LATELY_MS && !others.includes(before.address);
  const [all] = bySource(refused.map(entry => ({ ...entry, address: '' }))) as [Source];
  const often = `rival, ${oftenText(snapshot, all)}`;
  const advice = 'give each its own name';
  // The rejected sender owns the name by now: either both have the same address, or the other was last heard long ago.
  if (others.length === 0 && !isBefore)
    return (
      `${oneLine(name)}: two machines or senders have reported under this name, and ${address}, which holds it now, was itself ` +
      `rejected in between (${often}); ${advice}`
    );
  const isOver = isBefore || sinceMs(snapshot, all.lastNs) > Number(snapshot.evidence.silentAfterNs) / 1e6;
  const is = isOver ? (others.length === 1 ? 'was' : 'were') : others.length === 1 ? 'is' : 'are';
  const parts = [
    `${address} is trusted${others.length === 0 ? ` and was rejected before (${often})` : ''}`,
    ...(others.length === 0 ? [] : [`${others.join(' and ')} ${is} rejected (${often})`]),
    ...(isBefore ? [`${before.address} was trusted until ${formatDuration(before.sinceMs)} ago`] : []),
  ];
  const count = 1 + others.length + Number(isBefore);
  const report = isOver ? 'have reported' : 'report';
  return `${oneLine(name)}: ${count} machines ${report} under this name: ${parts.join(', ')}; ${advice}`;
}

/** Names that more than one machine uses, as recent rejections show. */
function rivals(snapshot: Snapshot, lately: readonly SenderEntry[], nodes: readonly Surveyed[]): Anomaly[] {
  const byName = new Map<string, SenderEntry[]>();
  for (const entry of lately)
    if (entry.reason === RIVAL) byName.set(entry.name, [...(byName.get(entry.name) ?? []), entry]);
  const named = byName.size === 0 ? [] : nodes.filter(({ name }) => byName.has(name));
  const found = named.slice(0, EACH_MOST).map((node): Anomaly => {
    const text = rivalText(snapshot, node, byName.get(node.name) ?? []);
    return { kind: 'rival', nodes: [node], text };
  });
  const more = named.slice(EACH_MOST);
  if (more.length > 0)
    found.push({
      kind: 'rival',
      nodes: more,
      text: `${more.length} more names (${shown(more)}) have two machines each: see refused_senders in status --json`,
    });
  return found;
}

/** Nodes as which two machines report. */
function clones(snapshot: Snapshot, nodes: readonly Surveyed[]): Anomaly[] {
  // Nearly always there has never been one.
  if (snapshot.header.clone_ns === 0n) return [];
  const cloned = nodes.flatMap(node => {
    const clone = snapshot.cloneOf(node.index);
    return clone === undefined ? [] : [{ name: node.name, clone, node }];
  });
  return cloneTexts(snapshot, cloned).map(({ text, nodes }) => ({
    kind: 'clone',
    nodes: nodes.map(({ node }) => node),
    text,
  }));
}

/** The sources of recent rejections, the most recent first. */
function senders(snapshot: Snapshot, lately: readonly SenderEntry[], nodes: readonly Surveyed[]): Anomaly[] {
  const sources = bySource(lately);
  const found = sources.slice(0, EACH_MOST).map((source): Anomaly => {
    const text = sourceText(snapshot, source);
    const names = new Set(source.names);
    if (isUnproved(source)) return { kind: 'sender', nodes: [], claims: source.names, text };
    return { kind: 'sender', nodes: names.size === 0 ? [] : nodes.filter(({ name }) => names.has(name)), text };
  });
  const more = sources.length - found.length;
  if (more === 0) return found;
  // Where there is no room for more entries of a reason, nobody knows how many senders there are.
  const full = enums.reason.filter((_, i) => lately.filter(({ reason }) => reason === i).length >= SENDERS_EACH);
  const text =
    full.length === 0
      ? `${more} more ${more === 1 ? 'sender was' : 'senders were'} rejected within the last minute: see refused_senders in status --json`
      : `${SENDERS_EACH} senders or more were rejected within the last minute as ${full.join(', and as many as ')}, and the board has room for no more of them: see refused_senders in status --json`;
  found.push({ kind: 'sender', nodes: [], text });
  return found;
}

/** That the receiver has not listened for long enough, on a link or at all. */
function listenedText(where: string, listened: number, doubt: number, silentAfter: number, which: string): string {
  if (doubt > 0)
    return (
      `the receiver could not hear${where}, and intervals may have grown in that time: ` +
      `no node${which} counts as silent for another ${formatDuration(doubt + silentAfter)}`
    );
  return (
    `the receiver has been listening${where} for only ${formatDuration(listened)}: ` +
    `no node${which} counts as silent before ${formatDuration(silentAfter)}`
  );
}

/** Links that are down or dark, and links that have been listened to only for a short time; each with its nodes. */
function links(snapshot: Snapshot, news: readonly LinkNews[], nodes: readonly Surveyed[]): Anomaly[] {
  const silentAfter = Number(snapshot.evidence.silentAfterNs) / 1e6;
  // Right after the receiver starts, one sentence about the receiver says this for all links.
  const isNew = (link: LinkEntry) =>
    snapshot.listenedMs >= silentAfter && link.nodes > 0 && linkState(link).up && listenedMs(link) < silentAfter;
  const parts = [
    ...news,
    ...snapshot.links.filter(isNew).map(link => ({
      number: link.number,
      text: listenedText(` on ${oneLine(linkName(link))}`, listenedMs(link), doubtMs(link), silentAfter, ' behind it'),
    })),
  ];
  return parts.map(({ number, text }) => ({
    kind: 'link',
    nodes: nodes.filter(({ index, state }) => state !== 'left' && snapshot.linkOf(index) === number),
    text,
  }));
}

/** Nodes whose reports come in pieces, and whether the kernel fails to join these. */
function pieces(snapshot: Snapshot, nodes: readonly Surveyed[]): Anomaly[] {
  return snapshot.links.filter(isInPieces).flatMap(link => {
    const those = nodes.filter(({ index, state }) => state !== 'left' && snapshot.linkOf(index) === link.number);
    if (those.length === 0) return [];
    const texts = [piecesText(link, shown(those)), unjoinedText(snapshot, link)].filter(text => text !== undefined);
    return texts.map((text): Anomaly => ({ kind: 'link', nodes: those, text }));
  });
}

/** A smaller share of drops appears in the headline only, because a drop is counted for as long as the board lives. */
const DROPS_SHARE = 10_000;

/** Packets of any kind that this machine or its interfaces dropped before they reached a socket. */
export function earlyDrops({ header, links }: Snapshot): number {
  return links.reduce((sum, { missed }) => sum + missed, header.softnet_drops ?? 0);
}

/** What the kernel dropped, grouped by the remedy. */
function drops(snapshot: Snapshot): Anomaly[] {
  const { kernel_drops = 0, unfit_drops = 0, received = 0 } = snapshot.header;
  const early = earlyDrops(snapshot);
  const found: Anomaly[] = [];
  const tell = (count: number, text: string) => {
    if (count > 0 && count * DROPS_SHARE > received) found.push({ kind: 'drops', nodes: [], text });
  };
  tell(
    kernel_drops,
    `the kernel dropped ${kernel_drops} datagrams because a socket buffer was full: see net.core.rmem_max`,
  );
  if (snapshot.filtering)
    found.push({
      kind: 'drops',
      nodes: [],
      text: 'a flood of junk is being filtered: it counts among the datagrams that the kernel dropped as unfit',
    });
  else
    tell(
      unfit_drops,
      `the kernel dropped ${unfit_drops} datagrams as unfit, which had a wrong UDP checksum or were filtered as junk: ` +
        'look for a node or a switch whose checksum offload is broken',
    );
  tell(
    early,
    `${early} packets were dropped before they reached any socket: see net.core.netdev_max_backlog, ` +
      'and the rings of the interfaces (ethtool -g)',
  );
  return found;
}

/** When this master could not hear lately. It comes last, because it is over. */
function deafness(snapshot: Snapshot): Anomaly[] {
  const text = deafText(snapshot);
  return text === undefined ? [] : [{ kind: 'deaf', nodes: [], text }];
}

function receiver(snapshot: Snapshot): Anomaly[] {
  const say = (text: string): Anomaly => ({ kind: 'receiver', nodes: [], text });
  if (snapshot.retired) return [say('another board has replaced this one: the state of nodes is unknown')];
  if (snapshot.stalled) return [say(`${stalledText(snapshot.closed)}: the state of nodes is unknown`)];
  // That IP fragments are not joined is said of their link.
  const anomalies = receiverTexts(snapshot).map(say);
  const listened = snapshot.listenedMs;
  const silentAfter = Number(snapshot.evidence.silentAfterNs) / 1e6;
  if (listened >= silentAfter) return anomalies;
  return [...anomalies, say(listenedText('', listened, doubtMs(snapshot.evidence), silentAfter, ''))];
}

/**
 * All anomalies, the receiver's first. If the receiver is stalled, there are no others. Restricted to the chosen nodes.
 */
export function anomalies({ snapshot, all, nodes, notOnBoard }: Survey): Anomaly[] {
  const found = receiver(snapshot);
  if (notOnBoard.length > 0) {
    const few = foldParts(notOnBoard).slice(0, 8).join(',');
    found.push({ kind: 'not_on_board', nodes: [], text: `not on the board: ${few}` });
  }
  if (snapshot.stalled || snapshot.retired) return found;
  found.push(...drops(snapshot));
  const news = linkNews(snapshot);
  // Nodes behind a failed link already have an explanation for their silence. A rejected report explains none.
  const fallen = new Set(news.map(({ number }) => number));
  const lately = lateSenders(snapshot);
  const twice = rivals(snapshot, lately, all);
  const withRival = new Set(twice.flatMap(({ nodes }) => nodes));
  const namedTwice = new Set(Array.from(withRival, ({ name }) => name));
  // One sentence says of all that the board is full.
  const others = lately.filter(({ reason, name }) => reason !== FULL && (reason !== RIVAL || !namedTwice.has(name)));
  const unexplained = all.filter(
    node =>
      (node.state === 'silent' || node.state === 'uncertain') &&
      (fallen.size === 0 || !fallen.has(snapshot.linkOf(node.index))),
  );
  const explaining = [
    ...links(snapshot, news, all),
    ...pieces(snapshot, all),
    ...unvouched(snapshot, all),
    ...together(snapshot, unexplained),
    ...refused(snapshot, all, withRival),
    ...twice,
    ...clones(snapshot, all),
  ];
  const odd = [
    ...explaining,
    ...lastWords(snapshot, all, new Set(explaining.flatMap(({ nodes }) => nodes))),
    // Problems of other nodes do not matter to a user who asks about these.
    ...unhealthy(nodes),
    ...senders(snapshot, others, all),
    ...[delays, clocks, kernels, rare, intervals].flatMap(look => look(snapshot, all)),
    ...deafness(snapshot),
  ];
  if (nodes === all) return [...found, ...odd];
  const chosen = new Set(nodes);
  const names = new Set([...nodes.map(({ name }) => name), ...notOnBoard]);
  const isOf = ({ kind, nodes, claims = [] }: Anomaly) => {
    if (claims.some(name => names.has(name))) return true;
    return nodes.length === 0 ? kind !== 'sender' : nodes.some(node => chosen.has(node));
  };
  return [...found, ...odd.filter(isOf)];
}

/**
 * All that is odd about a board and what belongs to it. `scheduler`: its view, if that was asked for; `journals`: the
 * folder where journals say how they are.
 */
export function oddities(
  found: Survey,
  scheduler: { anomalies(found: Survey): readonly Anomaly[] } | undefined,
  journals: string | undefined,
): Anomaly[] {
  const troubles = journals === undefined ? [] : journalTroubles(journals, found.snapshot);
  return [
    ...anomalies(found),
    ...(scheduler?.anomalies(found) ?? []),
    ...troubles.map((text): Anomaly => ({ kind: 'journal', nodes: [], text })),
  ];
}
