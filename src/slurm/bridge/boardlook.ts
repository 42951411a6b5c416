// What the bridge takes from the board: plain data, in which all evidence for a verdict stands. Judges no node: that is done in C, and here
// only whether the board as a whole can be trusted now.

import { getter } from '../../layout/codec.js';
import { bits, enums } from '../../layout/layout.gen.js';
import type { Ailment } from '../../shm/ailments.js';
import type { State } from '../../shm/liveness.js';
import {
  type BoardReader,
  type LinkEntry,
  linkName,
  NoBoard,
  type Node,
  type Snapshot,
  unknownText,
} from '../../shm/reader.js';
import { mirrorOf } from '../../shm/sentences.js';

/** A node as the board has it. Times in ms. */
export interface SeenNode {
  readonly name: string;
  readonly state: State;
  /** 16 hex digits; empty where it never reported. */
  readonly bootId: string;
  /** How many reports this master has accepted of it: with `bootId` it tells one silence from the next. */
  readonly reports: number;
  readonly lost: number;
  /** How long its link has been listened to since its last report. */
  readonly unheardMs: number;
  /** How long it has been silent; negative: for as long it will not be yet. */
  readonly silentForMs: number;
  /** Of its last report, since 1970, by the master's clock. */
  readonly lastRealMs: number;
  readonly link: number;
  /** Whether its last report proved a key. */
  readonly isProved: boolean;
  /** Why newer reports of it are refused. */
  readonly refused?: string | undefined;
  /** The worst first. */
  readonly ailments: readonly Ailment[];
}

export interface SeenLink {
  readonly name: string;
  /** `dark` or `down`, and for how long, ms; undefined: nothing is wrong with it. */
  readonly trouble?: { readonly what: 'dark' | 'down'; readonly forMs: number } | undefined;
}

export interface BoardLook {
  /** Why nothing can be concluded from it. */
  readonly trouble?: string | undefined;
  readonly heartbeatAgeMs: number;
  /** Another number is another file, in which a node's reports may be counted anew. */
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
 * Why a board as a whole is no evidence; undefined where it is. A mirror is none: `reports` is counted by each master for itself, and would tell
 * one silence as two.
 */
function troubleOf(snapshot: Snapshot): string | undefined {
  if (mirrorOf(snapshot) !== undefined)
    return "the board is a mirror of another master's: run the bridge on that master";
  if (snapshot.retired) return 'the board is retired: another one replaces it';
  if (snapshot.stalled) return unknownText(snapshot.closed, snapshot.heartbeatAgeMs);
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

/** All of a node that a decision may rest on. */
function seenNode(node: Node): SeenNode {
  const { snapshot, name, state, link } = node;
  const { nowNs, silentAfterNs } = snapshot.evidence;
  const { view, offset, stampNs = 0n } = node;
  const boot = node.field('boot_id');
  const interval = node.field('interval_ms');
  const entry = snapshot.links.find(({ number }) => number === link);
  const since = entry && entry.listeningSinceNs > stampNs ? entry.listeningSinceNs : stampNs;
  // Without an entry there is no evidence: nobody has listened.
  const unheardMs = entry === undefined || entry.heartbeatNs <= since ? 0 : ms(entry.heartbeatNs - since);
  const limitMs = ms(silentAfterNs) * (typeof interval === 'number' && interval > 1000 ? interval / 1000 : 1);
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
    refused: node.refusedSince?.reason,
    ailments: node.ailments,
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

function withoutBoard(look: () => BoardLook): BoardLook {
  try {
    return look();
  } catch (error) {
    if (!(error instanceof NoBoard)) throw error;
    return { ...EMPTY, trouble: error.message };
  }
}

/** One look at all nodes. */
export function lookAtAll(reader: BoardReader): BoardLook {
  return withoutBoard(() => lookAt(reader.pieces(), () => reader.opened));
}

/** One look at one node, and at all links. */
export function lookAtOne(reader: BoardReader, name: string): BoardLook {
  return withoutBoard(() => lookAt([reader.snapshotOf(name)], () => reader.opened));
}
