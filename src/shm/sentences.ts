// Sentences that more than one program shows: links that are down or dark, and why a node that reports is not heard.
// Pure.

import { formatDuration } from '../common/durations.js';
import { oneLine } from '../common/text.js';
import { REPORT_BYTES } from '../layout/codec.js';
import { bits, enums } from '../layout/layout.gen.js';
import { STATES, type State } from './liveness.js';
import { type LinkEntry, linkName, type Refusal, type Snapshot } from './reader.js';

/** A sentence about a link. */
export interface LinkNews {
  readonly number: number;
  readonly text: string;
}

const has = ({ state }: LinkEntry, bit: keyof typeof bits.link_state) => ((state >> bits.link_state[bit]) & 1) !== 0;

/** The state of a link as words for programs. */
export function linkState(link: LinkEntry): { up: boolean; gone: boolean; no_address: boolean } {
  return { up: has(link, 'up'), gone: has(link, 'gone'), no_address: has(link, 'no_address') };
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

/** The origin of a mirror; the names are those of its marks. */
export interface Mirrored {
  readonly site: string;
  /** The master that is followed; undefined: none yet. */
  readonly master: string | undefined;
  /** Other masters whose relays are heard, and whether the followed one is. */
  readonly others: readonly string[];
  readonly heard: boolean;
  /** How old the master's last known heartbeat is, ms; undefined: none has arrived yet. */
  readonly behindMs: number | undefined;
  /** Nodes that another master hears and this one does not. */
  readonly vetoed: number;
}

/** The meaning of a mirror's marks; undefined: the board belongs to a receiver. */
export function mirrorOf({ header, evidence }: Snapshot): Mirrored | undefined {
  const {
    mirror_masters = 0,
    mirror_followed = 0,
    mirror_heard,
    mirror_names,
    mirror_site,
    mirror_vetoed = 0,
  } = header;
  if (mirror_masters === 0) return undefined;
  const names = mirror_names.slice(0, mirror_masters).map(({ name }) => name);
  const isHeard = (index: number) => ((mirror_heard >> BigInt(index)) & 1n) === 1n;
  const behindMs = Math.max(0, Number(evidence.nowNs - evidence.heartbeatNs) / 1e6);
  return {
    site: mirror_site,
    master: names[mirror_followed],
    others: names.filter((_, index) => index !== mirror_followed && isHeard(index)),
    heard: mirror_followed < names.length && isHeard(mirror_followed),
    behindMs: evidence.heartbeatNs === 0n ? undefined : behindMs,
    vetoed: mirror_vetoed,
  };
}

/** The same in words: mirror of alpha by m1 (m2 heard), 40 ms behind. Empty for a receiver's board. */
export function mirrorText(board: Snapshot): string {
  const of = mirrorOf(board);
  if (of === undefined) return '';
  const whose = `mirror of ${oneLine(board.header.cluster_name)}`;
  if (of.master === undefined) return `${whose}: no master is followed yet`;
  const others = of.others.length === 0 ? '' : ` (${of.others.map(oneLine).join(', ')} heard)`;
  const behind = of.behindMs === undefined ? ', not whole yet' : `, ${Math.round(of.behindMs)} ms behind`;
  return `${whose} by ${oneLine(of.master)}${others}${board.stalled && of.behindMs !== undefined ? '' : behind}`;
}

export function plural(count: number): string {
  return `${count} ${count === 1 ? 'node' : 'nodes'}`;
}

/** Milliseconds from a time of CLOCK_MONOTONIC to the look; never negative, whatever the board says. */
export function sinceMs({ evidence }: Snapshot, ns: bigint): number {
  return Math.max(0, Number(evidence.nowNs - ns) / 1e6);
}

/** The counts of the states that occur, the worst first, and of ailing nodes: `3 silent`, `97 live`, `1 ailing`. */
export function countTexts(counts: Readonly<Record<State, number>>, ailing: number): string[] {
  const states = STATES.filter(state => counts[state] > 0).map(state => `${counts[state]} ${state}`);
  return ailing > 0 ? [...states, `${ailing} ailing`] : states;
}

const DAY_MS = 86_400_000;

/** A time of the wall clock, ms since 1970, in local time: `2026-11-22 14:03:21`. */
export function wallTime(ms: number): string {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** The time so many ms before the look, and its age: `14:03:21 (12.0s)`; with the date if it is more than a day ago. */
export function moment({ realNs }: Snapshot, ageMs: number): string {
  const at = wallTime(Number(realNs / 1_000_000n) - ageMs);
  return `${ageMs < DAY_MS ? at.slice(-8) : at} (${formatDuration(ageMs)})`;
}

/** What a receiver could not read again, by the number of its reload_part, and what holds in its place. */
const RELOADED: Readonly<Record<string, readonly [what: string, holds: string]>> = {
  keys: ['its key file', ''],
  nodes: ['its node list', 'the list before still holds'],
};

/** The numbers of the keys that the receiver accepts. */
export const keysOf = ({ header }: Pick<Snapshot, 'header'>): number[] =>
  (header.accepted_keys ?? []).flatMap(key => (key ? [key - 1] : []));

/** What the receiver could not read again: options, nodes or keys. */
export function reloadFailed({ header }: Pick<Snapshot, 'header'>): string | undefined {
  const part = enums.reload_part[header.reload_failed_at ?? 0];
  return part === 'none' ? undefined : part;
}

/** That the receiver goes on with old options, because it could not read them again; undefined: it could. */
export function reloadText(board: Snapshot): string | undefined {
  const part = reloadFailed(board);
  if (part === undefined) return undefined;
  const [what, list] = RELOADED[part] ?? ['its options', 'those before still hold'];
  const keys = keysOf(board);
  const holds =
    list !== ''
      ? list
      : keys.length === 0
        ? 'reports are still not verified'
        : `${keys.length > 1 ? 'keys' : 'key'} ${keys.join(' and ')} ${keys.length > 1 ? 'are' : 'is'} still accepted`;
  return `the receiver could not read ${what} again since ${moment(board, sinceMs(board, board.header.reload_failed_ns ?? 0n))}: ${holds}; its log says why`;
}

/** The name of the link for reports that arrived while the receiver knew of no interfaces. */
const ELSEWHERE = 'other namespace';

/** Why nothing is heard by a link that is down. */
function downText(board: Snapshot, link: LinkEntry): string {
  const name = oneLine(linkName(link));
  const changed = moment(board, sinceMs(board, link.changedNs));
  const since = `since ${changed}`;
  const whose = link.nodes === 1 ? 'its one node' : `its ${plural(link.nodes)}`;
  const ends = `no reports from ${whose} since then`;
  const { gone, no_address } = linkState(link);
  if (gone && link.name === ELSEWHERE) {
    const [who, last, them] =
      link.nodes === 1
        ? ['1 node', 'its last report', 'it reports']
        : [plural(link.nodes), 'their last reports', 'they report'];
    return (
      `the state of ${who} is unknown until ${them} again: ${last} came while the receiver could not tell the interfaces ` +
      `(its socket was of another network namespace, or it had no rtnetlink); this ended at ${changed}`
    );
  }
  if (gone) return `${name} is gone ${since}: ${ends}; see the interfaces of this master`;
  if (no_address) {
    const to = `${link.address || 'the address'}${link.port > 0 ? ` port ${link.port}` : ''}`;
    return (
      `reports to ${to}, from the nodes behind ${name}, have not reached the receiver ${since}: ${ends}; ` +
      'see the addresses and routes of this master, and where the receiver listens'
    );
  }
  return `${name} is down ${since}: ${ends}; see that interface of this master`;
}

/** All nodes of a link fell silent together. `forMs`: the time since the last of them reported. */
function darkText({ number, name, darkNodes, nodes }: LinkEntry, forMs: number): string {
  const none = `no node behind ${oneLine(linkName({ number, name }))} has reported for ${formatDuration(forMs)}`;
  const fault = 'a switch or this master is more likely at fault';
  // The other nodes were removed from the board, or report by other links.
  if (darkNodes === 1) return `${none}, and its last one fell at once with others: ${fault} than that node`;
  return `${none}, ${darkNodes >= nodes ? 'all ' : ''}${darkNodes} at once: ${fault} than ${plural(darkNodes)}`;
}

/** The least MTU with which a report is one packet of IPv4, bytes: the report, and the headers of UDP and IP. */
const WHOLE_MTU = (REPORT_BYTES + 8 + 20).toLocaleString('en');

/** Whether reports come in pieces by that link. */
export const isInPieces = (link: LinkEntry) => has(link, 'in_pieces');

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
  const [whose, they] = nodes === 1 ? ['1 node', 'it'] : [plural(nodes), 'they'];
  return (
    `the kernel of this master has failed to join IP fragments since ${moment(board, sinceMs(board, unjoinedSinceNs))}: reports of ` +
    `${whose} arrive as such (link ${oneLine(linkName(link))}), and ${they} cannot be called silent; raise the MTU on the way to ${WHOLE_MTU}, ` +
    'and find out who sends incomplete datagrams (nstat IpReasmFails)'
  );
}

/** Somebody who has looked at all nodes. */
interface Seen {
  isHeard(link: number): boolean;
  youngestMs(link: number): number;
}

/**
 * One sentence for each link that is dark, or down with nodes behind it; none if the board says nothing about nodes. A
 * receiver updates once a second which links are dark; a link with a live node is not dark any more. `seen`: somebody
 * who has looked at all nodes.
 */
export function linkNews(board: Snapshot, seen: Seen = board): LinkNews[] {
  if (board.stalled || board.retired) return [];
  const news: LinkNews[] = [];
  for (const link of board.links) {
    const { number, nodes, darkSinceNs } = link;
    if (!has(link, 'up')) {
      if (nodes > 0) news.push({ number, text: downText(board, link) });
    } else if (darkSinceNs !== 0n && !seen.isHeard(number)) {
      const youngestMs = seen.youngestMs(number);
      news.push({
        number,
        text: darkText(link, Number.isFinite(youngestMs) ? youngestMs : sinceMs(board, darkSinceNs)),
      });
    }
  }
  return news;
}

/** For how long listening will prove nothing, ms: the receiver was deaf, and intervals may have grown meanwhile. */
export function doubtMs({
  heartbeatNs,
  listeningSinceNs,
}: Pick<LinkEntry, 'heartbeatNs' | 'listeningSinceNs'>): number {
  return heartbeatNs === 0n ? 0 : Math.max(0, Number(listeningSinceNs - heartbeatNs) / 1e6);
}

/** For how long a link was listened to, up to its heartbeat, ms. */
export function listenedMs({ heartbeatNs, listeningSinceNs }: LinkEntry): number {
  return Math.max(0, Number(heartbeatNs - listeningSinceNs) / 1e6);
}

/** The meanings of reasons that their words alone do not explain. */
const MEANINGS: Readonly<Record<string, string>> = {
  cluster: 'of another cluster',
  reserved: 'reserved bytes are set',
  interval: 'an interval out of range',
  range: 'a value out of range',
  auth_missing: 'no signature, or a weaker one than required',
  key_id: 'signed with a key that the receiver does not have',
  tag: 'a wrong signature',
  stranger: "not in the receiver's --nodes",
  rival: 'another run or boot of that name is live',
  replay: 'older than what was accepted before',
  late: 'after a newer one of the same run',
  full: 'the board has no room for another node',
};

/** Why reports are rejected: the contract's word and an explanation. */
export function reasonText({ reason, offsetUs }: Pick<Refusal, 'reason' | 'offsetUs'>): string {
  if (reason === 'clock') return `clock ${ahead(offsetUs / 1e6)}`;
  const meaning = MEANINGS[reason];
  return meaning === undefined ? reason : `${reason} (${meaning})`;
}

/** The reason `clock` where it is not known how far the clock is off. */
export const CLOCK_UNMEASURED = 'a wall clock that is off, or a recording';

/** A rejection younger than this describes the present. */
export const LATELY_MS = 60_000;

/** Beside each rejection: a rejected report is no sign of life, because anybody may have sent it, also a recording. */
export const NO_SIGN_OF_LIFE = 'they may be recordings';

/** What came in the name of a node after its newest report, and was rejected. */
export function refusalText(refusal: Refusal): string {
  const { ageMs } = refusal;
  const verb = ageMs <= LATELY_MS ? 'are' : 'were';
  return `reports in its name ${verb} rejected, ${reasonText(refusal)}, the last ${formatDuration(ageMs)} ago; ${NO_SIGN_OF_LIFE}`;
}
