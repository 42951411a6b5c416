// Links of this master by which nothing is heard, or not everything, with the nodes behind them.

import type { Survey, Surveyed } from '../query/survey.js';
import { mirrorOf, sinceMs } from '../shm/header.js';
import { doubtMs, isInPieces, type LinkEntry, linkName, linkState, listenedMs } from '../shm/links.js';
import { linkNews, piecesText, unjoinedText } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { getOrInsert } from '../text/maps.js';
import { oneLine } from '../text/text.js';
import { type Anomaly, type Finding, FLAPPING_FROM, type Spell, shown } from './finding.js';
import type { Outage } from './outages.js';
import { listenedText } from './receiver.js';
import { type NodeMemories, stillWords, type Telling, told } from './remembered.js';

const behind = (snapshot: Snapshot, nodes: readonly Surveyed[], { number }: Pick<LinkEntry, 'number'>) =>
  nodes.filter(({ index, state }) => state !== 'left' && snapshot.linkOf(index) === number);

const nameOf = (link: LinkEntry) => oneLine(linkName(link));

/** In words that follow the names of the nodes; `isOver`: for them. */
function outageText({ link, isDown, to }: Outage, isOver: boolean, of: readonly Spell[]): string {
  const name = nameOf(link);
  const { up, gone, no_address } = linkState(link);
  const how = gone ? 'is gone' : no_address ? 'has lost the address to which they report' : 'is down';
  const silent = `fell silent at once behind ${name}`;
  if (isOver && isDown) return `not heard: nothing came by ${name} of this master`;
  if (isOver && of.every(({ stoodStillMs }) => stoodStillMs !== undefined)) return `${silent}${stillWords(of)}`;
  if (isOver) return `${silent}: a switch or this master was more likely at fault than its nodes${stillWords(of)}`;
  if (to !== undefined) return `not heard yet since ${name} of this master failed: others behind it are`;
  if (!up) return isDown ? `not heard, because ${name} of this master ${how}` : `${silent}, which ${how} now`;
  if (isDown) return `not heard since ${name} of this master failed, although it is up again`;
  return `${silent}: a switch or this master is more likely at fault than its nodes`;
}

/** Links that are down or dark, or were within the last hour: a finding for each time, or one for a link that flaps. */
export function failedLinks(telling: Telling, memories: NodeMemories): Finding[] {
  const latest = new Map<string, Outage>();
  const episodes = telling.outages.flatMap(outage => {
    const { link, isDown, from, nodes, begins } = outage;
    // The latest one comes first.
    const isLatest = getOrInsert(latest, `${link.number} ${isDown}`, () => outage) === outage;
    const flapping = begins.length >= FLAPPING_FROM ? begins.length : undefined;
    if (flapping !== undefined && !isLatest) return [];
    const often = { count: isLatest ? begins.length : 1, sinceMs: Math.max(from, ...begins) };
    const spells = Array.from(nodes, ([node, [beganMs, endedMs]]): Spell => {
      const silence = memories.get(node)?.silence;
      const isOfIt = Math.abs((silence?.beganMs ?? 0) - beganMs) < 1000;
      const stoodStillMs = isOfIt ? silence?.stoodStillMs : undefined;
      return { node, beganMs: isDown ? from : beganMs, endedMs, ...often, stoodStillMs };
    });
    return [false, true].flatMap(isOver => {
      const those = spells.filter(({ endedMs }) => (endedMs !== undefined) === isOver);
      const what = (of: readonly Spell[]) => outageText(outage, isOver, of);
      return those.length === 0 ? [] : [{ spells: those, cause: nameOf(link), flapping, what }];
    });
  });
  return told('link', episodes, telling);
}

/** In sentences, of those that fail now. */
export const linkSentences = (snapshot: Snapshot, all: readonly Surveyed[]): Anomaly[] =>
  linkNews(snapshot).map(({ number, text }) => ({ kind: 'link', nodes: behind(snapshot, all, { number }), text }));

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
