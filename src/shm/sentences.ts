// Sentences that more than one program shows: links that are down or dark, and why a node that reports is not heard.
// Pure.

import { REPORT_BYTES } from '../layout/codec.js';
import { reasonWords, sentences } from '../layout/wording.gen.js';
import { formatDuration } from '../text/durations.js';
import { dayOf } from '../text/moments.js';
import { offsetText } from '../text/offsets.js';
import { counted, oneLine, thousands } from '../text/text.js';
import { keysOf, mirrorOf, reloadFailed, sinceMs } from './header.js';
import { isHeard, type LinkEntry, linkName, linkState, youngestMs } from './links.js';
import type { State } from './liveness.js';
import { LATELY_MS, type Rejection } from './refusal.js';
import type { Snapshot } from './snapshot.js';

interface LinkNews {
  readonly number: number;
  readonly text: string;
}

/** The difference of two clocks without its sign: 2.1 s. */
export function distanceText(seconds: number): string {
  const us = Math.round(Math.abs(seconds) * 1e6);
  return us < 60e6 ? `${(Math.round(us / 1e5) / 10).toFixed(1)} s` : formatDuration(us / 1000);
}

/** The same with a sign in words: 2.1 s ahead. */
export function ahead(seconds: number, ofWhom = ''): string {
  const size = distanceText(seconds);
  if (ofWhom === '') return `${size} ${seconds > 0 ? 'ahead' : 'behind'}`;
  return `${size} ${seconds > 0 ? 'ahead of' : 'behind'} ${ofWhom}`;
}

/** The origin of a mirror in words: mirror of alpha by m1 (m2 heard), 40 ms behind. Empty for a receiver's board. */
export function mirrorText(board: Snapshot): string {
  const of = mirrorOf(board);
  if (of === undefined) return '';
  const whose = `mirror of ${oneLine(board.header.cluster_name)}`;
  if (of.master === undefined) return `${whose}: no master is followed yet`;
  const others = of.others.length === 0 ? '' : ` (${of.others.map(oneLine).join(', ')} heard)`;
  const behind = of.behindMs === undefined ? ', not whole yet' : `, ${Math.round(of.behindMs)} ms behind`;
  return `${whose} by ${oneLine(of.master)}${others}${board.stalled && of.behindMs !== undefined ? '' : behind}`;
}

export const plural = (count: number): string => counted(count, 'node');

const DAY_MS = 86_400_000;

/**
 * A time of the wall clock, ms since 1970, in local time: `2026-11-22 14:03:21`; in the hour that happens twice with its
 * offset: `2026-10-25 02:30:00 +02:00`.
 */
export function wallTime(ms: number): string {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return `${dayOf(ms)} ${clock}${offsetText(ms)}`;
}

/** A look by both clocks; without `evidence` by the wall clock alone. */
type LookTimes = Pick<Snapshot, 'realNs'> & {
  readonly evidence?: Pick<Snapshot['evidence'], 'nowNs'>;
  readonly tellsUtc?: boolean;
};

/** A time, ms since 1970, as this look tells times: local, or as data that a page shows in its own zone. */
export const timeIn = ({ tellsUtc }: Pick<LookTimes, 'tellsUtc'>, ms: number): string =>
  tellsUtc ? new Date(ms).toISOString().replace(/\.\d+/, '') : wallTime(ms);

/** The two clocks are read one after the other: their distance is rounded, so that a time is the same at every look. */
const DISTANCE_MS = 100;
/** Of times of a whole ms, of which the fraction of the look's own leaves nearly as much. */
const EPSILON_MS = 1e-3;

/** The time so many ms before the look, in whole ms since 1970: the same at every look, and on every face. */
export function instantOf({ realNs, evidence }: LookTimes, agoMs: number): number {
  const realMs = Number(realNs) / 1e6;
  if (evidence === undefined) return Math.floor(realMs - agoMs + EPSILON_MS);
  const nowMs = Number(evidence.nowNs) / 1e6;
  const distance = Math.round((realMs - nowMs) / DISTANCE_MS) * DISTANCE_MS;
  return distance + Math.floor(nowMs - agoMs + EPSILON_MS);
}

/** How long ago that was in whole seconds, as whoever reads the times of both computes it; below one to a ms. */
export function lastingMs(look: LookTimes, agoMs: number): number {
  const [now, then] = [0, agoMs].map(ago => Math.floor(instantOf(look, ago) / 1000) * 1000) as [number, number];
  return agoMs < 1000 ? agoMs : Math.max(1000, now - then);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Further away than this, the year is told in place of the time of day, as in listings of files. */
const YEAR_FROM_MS = 183 * DAY_MS;

/** The time so many ms before the look, or behind it: `14:03:21`; a day away or more `Nov 19 14:03`, or `2025-11-19`. */
export function timeOf(look: LookTimes, ageMs: number): string {
  const at = timeIn(look, instantOf(look, ageMs));
  if (look.tellsUtc) return at;
  if (Math.abs(ageMs) < DAY_MS) return at.slice(11);
  const [, date = '', month, day = '', minute = '', offset = ''] = /(.*-(..)-(..)) (.{5}):..(.*)/.exec(at) ?? [];
  return Math.abs(ageMs) < YEAR_FROM_MS ? `${MONTHS[Number(month) - 1]} ${day} ${minute}${offset}` : date;
}

/** The same and its age: `14:03:21 (12.0s)`. */
export const moment = (look: LookTimes, ageMs: number): string =>
  `${timeOf(look, ageMs)} (${formatDuration(lastingMs(look, ageMs))})`;

/** A silence from which the node has not come back: only of one that is judged silent it is known that it lasts. */
export const lastingText = (state: State, beganMs: number): string =>
  state === 'silent' ? `now for ${formatDuration(beganMs)}` : `from ${formatDuration(beganMs)} ago, not heard since`;

function keysHold([key, other]: readonly number[]): string {
  if (key === undefined) return sentences.reloadNoKeys();
  return other === undefined ? sentences.reloadKey({ key }) : sentences.reloadKeys({ key, other });
}

/** That the receiver goes on with old options, because it could not read them again; undefined: it could. */
export function reloadText(board: Snapshot): string | undefined {
  const part = reloadFailed(board);
  if (part === undefined) return undefined;
  const [what, holds] =
    part === 'keys'
      ? ['key file', keysHold(keysOf(board))]
      : part === 'nodes'
        ? ['node list', sentences.reloadNodes()]
        : ['options', sentences.reloadOptions()];
  const since = moment(board, sinceMs(board, board.header.reload_failed_ns ?? 0n));
  return sentences.reload({ what, moment: since, holds });
}

/** The name of the link for reports that arrived while the receiver knew of no interfaces. */
const ELSEWHERE = 'other namespace';

function downText(board: Snapshot, link: LinkEntry): string {
  const { gone, no_address } = linkState(link);
  const one = link.nodes === 1;
  const what = {
    link: oneLine(linkName(link)),
    moment: moment(board, sinceMs(board, link.changedNs)),
    nodes: one ? 'one node' : plural(link.nodes),
  };
  if (gone && link.name === ELSEWHERE) return sentences.linkElsewhere({ ...what, nodes: plural(link.nodes), one });
  if (gone) return sentences.linkGone(what);
  if (!no_address) return sentences.linkDown(what);
  const to = `${link.address || 'the address'}${link.port > 0 ? ` port ${link.port}` : ''}`;
  return sentences.linkNoAddress({ ...what, to });
}

/** All nodes of a link fell silent together. `forMs`: the time since the last of them reported. */
function darkText({ number, name, darkNodes, nodes }: LinkEntry, forMs: number): string {
  const what = { link: oneLine(linkName({ number, name })), age: formatDuration(forMs) };
  // The other nodes were removed from the board, or report by other links.
  if (darkNodes === 1) return sentences.linkDarkLast(what);
  return sentences.linkDark({ ...what, all: darkNodes >= nodes, count: darkNodes, nodes: plural(darkNodes) });
}

/** The least MTU with which a report is one packet of IPv4, bytes: the report, and the headers of UDP and IP. */
const WHOLE_MTU = thousands(REPORT_BYTES + 8 + 20);

/** That reports of these nodes come in pieces, by that link. */
export function piecesText(link: LinkEntry, names: string): string {
  return (
    `reports of ${names} arrive as IP fragments (link ${oneLine(linkName(link))}), because the way to this master has an MTU ` +
    `below ${WHOLE_MTU}: raise it, because a flood of fragments from anybody keeps such reports out`
  );
}

/** That the kernel fails to join such reports; undefined: it does not. */
export function unjoinedText(board: Snapshot, link: LinkEntry): string | undefined {
  const { nodes, unjoinedSinceNs } = link;
  if (unjoinedSinceNs === 0n) return undefined;
  return sentences.unjoined({
    moment: moment(board, sinceMs(board, unjoinedSinceNs)),
    nodes: plural(nodes),
    link: oneLine(linkName(link)),
    one: nodes === 1,
    mtu: WHOLE_MTU,
  });
}

/**
 * One sentence for each link that is dark, or down with nodes behind it; none if the board says nothing about nodes. A
 * receiver updates once a second which links are dark; a link with a live node is not dark any more.
 */
export function linkNews(board: Snapshot): LinkNews[] {
  if (board.stalled || board.retired) return [];
  const news: LinkNews[] = [];
  for (const link of board.links) {
    const { number, nodes, darkSinceNs } = link;
    if (!linkState(link).up) {
      if (nodes > 0) news.push({ number, text: downText(board, link) });
    } else if (darkSinceNs !== 0n && !isHeard(board, number)) {
      const ms = youngestMs(board, number);
      news.push({ number, text: darkText(link, Number.isFinite(ms) ? ms : sinceMs(board, darkSinceNs)) });
    }
  }
  return news;
}

/** Why reports are rejected: the contract's word and an explanation. */
export function reasonText({ reason, offsetUs }: Pick<Rejection, 'reason' | 'offsetUs'>): string {
  if (reason === 'clock') return sentences.clockOff({ distance: distanceText(offsetUs / 1e6), ahead: offsetUs > 0 });
  const meaning = reasonWords[reason]?.meaning;
  return meaning === undefined ? reason : sentences.reasonMeant({ reason, meaning });
}

/** The reason `clock` where it is not known how far the clock is off. */
export const CLOCK_UNMEASURED = 'a wall clock that is off, or a recording';

/**
 * What came in the name of a node after its newest report, and was rejected. That is no sign of life, because anybody
 * may have sent it, also a recording.
 */
export function refusalText(refusal: Rejection): string {
  const { ageMs } = refusal;
  return sentences.refusal({ now: ageMs <= LATELY_MS, why: reasonText(refusal), age: formatDuration(ageMs) });
}
