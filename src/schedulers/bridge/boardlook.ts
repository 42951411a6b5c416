// What the bridge reads from the board: plain data with all evidence for a verdict. Judges no node, which C does;
// judges only whether the board as a whole can be trusted now.

import { getter } from '../../layout/codec.js';
import { bits, enums } from '../../layout/layout.gen.js';
import { type LinkEntry, linkName } from '../../shm/links.js';
import type { State } from '../../shm/liveness.js';
import { NoBoard, orNoBoard, stalledText, unknownText } from '../../shm/noboard.js';
import { type Problem, problemsOf } from '../../shm/problems.js';
import type { BoardReader } from '../../shm/reader.js';
import type { Node, Snapshot } from '../../shm/snapshot.js';

/** A node on the board. Times in ms. */
export interface SeenNode {
  readonly name: string;
  readonly state: State;
  /** 16 hex digits; empty if it never reported. */
  readonly bootId: string;
  /** How many reports of it this master has accepted: with `bootId` this tells one silence from the next. */
  readonly reports: number;
  readonly lost: number;
  /** For how long its link has been listened to since its last report. */
  readonly unheardMs: number;
  /** For how long it has been silent; negative: the time until it will be silent. */
  readonly silentForMs: number;
  /** The time of its last report, since 1970, by the master's clock. */
  readonly lastRealMs: number;
  readonly link: number;
  /** Whether its last report was signed with a valid key. */
  readonly isProved: boolean;
  /** The worst first. */
  readonly problems: readonly Problem[];
  /** Those that are not measured any more, and that the last report to measure them showed: neither there nor over. */
  readonly unsettled: readonly Problem[];
  /** Those that its newest report cannot show, and that nobody saw in its present boot: nothing says they are absent. */
  readonly unknown: readonly Problem[];
}

export interface SeenLink {
  readonly name: string;
  /** `dark` or `down`, and for how long, ms; undefined: the link is all right. */
  readonly trouble?: { readonly what: 'dark' | 'down'; readonly forMs: number } | undefined;
}

export interface BoardLook {
  /** Why the board proves nothing. */
  readonly trouble?: string | undefined;
  /** Undefined: there was no heartbeat yet. */
  readonly heartbeatAgeMs: number | undefined;
  /** Another number means another file, in which a node's reports may be counted from 0. */
  readonly opened: number;
  readonly nodes: ReadonlyMap<string, SeenNode>;
  readonly links: ReadonlyMap<number, SeenLink>;
}

const acceptedOf = getter('record', 'accepted');
const lostOf = getter('record', 'lost');
const provedOf = getter('record', 'order_proved');

const MS = 1_000_000n;
const ms = (ns: bigint) => Number(ns / MS);

/**
 * Why a board as a whole proves nothing; undefined if it is evidence. A mirror is not: each master counts `reports` for
 * itself, so one silence would look like two.
 */
function troubleOf(snapshot: Snapshot): string | undefined {
  if (snapshot.isMirror) return "the board is a mirror of another master's: run the bridge on that master";
  if (snapshot.retired) return 'the board is retired: another one replaces it';
  // Without the age of its heartbeat, or each look would find something else.
  if (snapshot.stalled) return (snapshot.heartbeatAgeMs ?? -1) < 0 ? unknownText(snapshot) : stalledText(snapshot);
  if (snapshot.listenedMs < ms(snapshot.evidence.silentAfterNs)) return 'the receiver has not listened for long enough';
  return undefined;
}

function linksOf(snapshot: Snapshot): Map<number, SeenLink> {
  const { nowNs } = snapshot.evidence;
  const troubleOf = ({ state, changedNs, darkSinceNs }: LinkEntry): SeenLink['trouble'] => {
    if ((state & (1 << bits.link_state.up)) === 0) return { what: 'down', forMs: ms(nowNs - changedNs) };
    return darkSinceNs === 0n ? undefined : { what: 'dark', forMs: ms(nowNs - darkSinceNs) };
  };
  return new Map(
    snapshot.links.map(link => [link.number, { name: linkName(link), trouble: troubleOf(link) }] as const),
  );
}

/** Everything about a node that a decision may depend on. */
function seenNode(node: Node): SeenNode {
  const { snapshot, name, state, link } = node;
  const { nowNs, silentAfterNs, longestIntervalMs } = snapshot.evidence;
  const { view, offset, stampNs = 0n } = node;
  const boot = node.field('boot_id');
  const interval = node.field('interval_ms');
  const entry = snapshot.links.find(({ number }) => number === link);
  const since = entry && entry.listeningSinceNs > stampNs ? entry.listeningSinceNs : stampNs;
  // Without an entry there is no evidence: nobody has listened.
  const unheardMs = entry === undefined || entry.heartbeatNs <= since ? 0 : ms(entry.heartbeatNs - since);
  const judged = Math.min(typeof interval === 'number' ? interval : 0, longestIntervalMs);
  const limitMs = (ms(silentAfterNs) * Math.max(judged, 1000)) / 1000;
  return {
    name,
    state,
    bootId: typeof boot === 'bigint' ? boot.toString(16).padStart(16, '0') : '',
    reports: acceptedOf(view, offset) ?? 0,
    lost: lostOf(view, offset) ?? 0,
    unheardMs,
    silentForMs: Math.min(unheardMs, ms(nowNs - stampNs)) - limitMs,
    lastRealMs: ms(node.lastRealNs ?? 0n),
    link,
    isProved: (enums.auth_alg[provedOf(view, offset) ?? 0] ?? 'none') !== 'none',
    problems: node.problems,
    unsettled: problemsOf(snapshot.overview.unsettled[node.index] ?? 0),
    unknown: problemsOf(~(snapshot.overview.measured[node.index] ?? 0)).filter(problem => {
      const seenMs = node.memory?.episode(problem)?.seenMs;
      // A sighting is kept in whole ms.
      return seenMs === undefined || seenMs >= (node.memory?.bootMs ?? Number.POSITIVE_INFINITY) + 1;
    }),
  };
}

const EMPTY = { heartbeatAgeMs: 0, opened: 0, nodes: new Map(), links: new Map() };

/** One look at the snapshots of one board. */
export function lookAt(snapshots: Iterable<Snapshot>, opened: () => number): BoardLook {
  const nodes = new Map<string, SeenNode>();
  let last: Snapshot | undefined;
  let trouble: string | undefined;
  for (const snapshot of snapshots) {
    last = snapshot;
    trouble ??= troubleOf(snapshot);
    for (const node of snapshot.nodes()) {
      const seen = seenNode(node);
      nodes.set(seen.name, seen);
    }
  }
  if (last === undefined) return { ...EMPTY, trouble: 'there is no board' };
  return { trouble, heartbeatAgeMs: last.heartbeatAgeMs, opened: opened(), nodes, links: linksOf(last) };
}

/** One look at all nodes, or at that one; and at all links. */
export function lookOn(reader: BoardReader, name?: string): BoardLook {
  const pieces = () => (name === undefined ? reader.pieces() : [reader.snapshotOf(name)]);
  const look = orNoBoard(() => lookAt(pieces(), () => reader.opened));
  return look instanceof NoBoard ? { ...EMPTY, trouble: look.message } : look;
}
