// Links of this master by which nothing is heard, or not everything, with the nodes behind them.

import { gapsOf, HOUR_MS } from '../changes/deafness.js';
import { enums } from '../layout/layout.gen.js';
import type { Survey, Surveyed } from '../query/survey.js';
import { mirrorOf, sinceMs } from '../shm/header.js';
import { doubtMs, isInPieces, type LinkEntry, linkName, linkState, listenedMs } from '../shm/links.js';
import { linkNews, piecesText, unjoinedText } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { oneLine } from '../text/text.js';
import { type Anomaly, type Finding, FLAPPING_FROM, shown } from './finding.js';
import { listenedText } from './receiver.js';
import { mayBeOf } from './remembered.js';

const behind = (snapshot: Snapshot, nodes: readonly Surveyed[], { number }: Pick<LinkEntry, 'number'>) =>
  nodes.filter(({ index, state }) => state !== 'left' && snapshot.linkOf(index) === number);

const nameOf = (link: LinkEntry) => oneLine(linkName(link));

/** What is wrong with a link that is down or dark, and since when. */
function failure(snapshot: Snapshot, link: LinkEntry): Pick<Finding, 'what' | 'sinceMs'> {
  const name = nameOf(link);
  const { up, gone, no_address } = linkState(link);
  if (up) {
    const what = `fell silent at once behind ${name}: a switch or this master is more likely at fault than its nodes`;
    return { what, sinceMs: sinceMs(snapshot, link.darkSinceNs) };
  }
  const how = gone ? 'is gone' : no_address ? 'has lost the address to which they report' : 'is down';
  return { what: `not heard, because ${name} of this master ${how}`, sinceMs: sinceMs(snapshot, link.changedNs) };
}

/** When each link failed within the last hour, as far as the board still knows, ms before the look. */
function failures(snapshot: Snapshot): ReadonlyMap<number, number[]> {
  const found = new Map<number, number[]>();
  for (const { kind, stampNs, subject } of snapshot.lateEvents(HOUR_MS)) {
    const event = enums.event_kind[kind];
    if (event === 'link_down' || event === 'dark')
      found.set(subject, [...(found.get(subject) ?? []), sinceMs(snapshot, stampNs)]);
  }
  return found;
}

/** Links that are down or dark, or were within the last hour: a finding for each time, or one for a link that flaps. */
export function failedLinks(snapshot: Snapshot, nodes: readonly Surveyed[]): Finding[] {
  const times = failures(snapshot);
  const nowMs = Number(snapshot.evidence.nowNs / 1_000_000n);
  const found: Finding[] = [];
  const told = new Set<number>();
  const add = (link: LinkEntry, finding: Pick<Finding, 'what' | 'sinceMs' | 'endedMs' | 'nodes' | 'sentences'>) => {
    const ages = times.get(link.number) ?? [];
    const isFlapping = ages.length >= FLAPPING_FROM;
    const isFirst = !told.has(link.number);
    // The latest one comes first.
    if (isFlapping && !isFirst) return;
    told.add(link.number);
    const name = nameOf(link);
    const cause = isFirst ? name : `${name}:at-${Math.floor(nowMs - (finding.sinceMs ?? 0))}`;
    const often = { count: ages.length, sinceMs: ages.reduce((a, b) => Math.max(a, b), 0) };
    found.push({
      ...{ kind: 'link', cause, ...finding, flapping: isFlapping ? ages.length : undefined },
      times: isFirst && ages.length > 1 ? often : undefined,
    });
  };
  for (const { number, text } of linkNews(snapshot)) {
    const link = snapshot.links.find(other => other.number === number) as LinkEntry;
    const those = behind(snapshot, nodes, link);
    const failed = failure(snapshot, link);
    // Whoever had been silent for long before has a line of its own.
    const isOf = ({ index, state }: Surveyed) =>
      state !== 'silent' || mayBeOf(snapshot.ageMs(index), failed.sinceMs ?? 0, snapshot.intervalOf(index));
    add(link, { nodes: those.filter(isOf), ...failed, sentences: [{ kind: 'link', nodes: those, text }] });
  }
  for (const { link: number, from, to } of gapsOf(snapshot)) {
    const link = snapshot.links.find(other => other.number === number);
    if (link === undefined) continue;
    const what = `not heard: nothing came by ${nameOf(link)} of this master`;
    add(link, { nodes: behind(snapshot, nodes, link), what, sinceMs: from, endedMs: to, sentences: [] });
  }
  return found;
}

/** Links that have been listened to for so short a time that none of their nodes can be called silent. */
export function newLinks(snapshot: Snapshot, nodes: readonly Surveyed[]): Finding[] {
  const silentAfter = Number(snapshot.evidence.silentAfterNs) / 1e6;
  // Right after the receiver starts, one sentence about the receiver says this for all links.
  if (snapshot.listenedMs < silentAfter) return [];
  return snapshot.links
    .filter(link => link.nodes > 0 && linkState(link).up && listenedMs(link) < silentAfter)
    .map(link => {
      const name = nameOf(link);
      const those = behind(snapshot, nodes, link);
      const text = listenedText(` on ${name}`, listenedMs(link), doubtMs(link), silentAfter, ' behind it');
      const what = `behind ${name}, which has been listened to for a short time only: none of them counts as silent yet`;
      return { kind: 'starting', cause: name, nodes: those, what, sentences: [{ kind: 'link', nodes: those, text }] };
    });
}

/** Nodes whose reports come in pieces, and whether the kernel fails to join these. */
export function pieces(snapshot: Snapshot, nodes: readonly Surveyed[]): Finding[] {
  return snapshot.links.filter(isInPieces).flatMap((link): Finding[] => {
    const those = behind(snapshot, nodes, link);
    if (those.length === 0) return [];
    const unjoined = unjoinedText(snapshot, link);
    const texts = [piecesText(link, shown(those)), unjoined].filter(text => text !== undefined);
    const what =
      `reports arrive as IP fragments by ${nameOf(link)}${unjoined === undefined ? '' : ', and this master fails to join them'}: ` +
      'raise the MTU on the way';
    return [
      {
        ...{ kind: 'fragments', cause: nameOf(link), nodes: those, what },
        sinceMs: unjoined === undefined ? undefined : sinceMs(snapshot, link.unjoinedSinceNs),
        sentences: texts.map((text): Anomaly => ({ kind: 'link', nodes: those, text })),
      },
    ];
  });
}

/** On a mirror: nodes whose silence the mirror cannot confirm. */
export function unvouched({ snapshot, all }: Survey): Finding[] {
  const mirror = mirrorOf(snapshot);
  if (mirror === undefined) return [];
  const those = all.filter(({ state, index }) => state === 'uncertain' && snapshot.linkOf(index) === 0);
  if (those.length === 0) return [];
  const why =
    mirror.vetoed > 0
      ? `${oneLine(mirror.master ?? 'this master')} hears nothing, but another master does`
      : 'were last heard before this mirror could tell when';
  const what = `uncertain, not silent: ${why}`;
  return [
    {
      kind: 'mirror',
      nodes: those,
      what,
      sentences: [{ kind: 'mirror', nodes: those, text: `${shown(those)}: ${what}` }],
    },
  ];
}
