// What a board's header says besides liveness: a mirror's origin, the accepted keys, what could not be reloaded. Pure.

import type { Decoded } from '../layout/codec.js';
import { enums } from '../layout/layout.gen.js';
import type { LinkEntry } from './links.js';

/** The board's header, and the reader's CLOCK_MONOTONIC taken before it was read. All times in ns of that clock. */
export interface Evidence {
  nowNs: bigint;
  heartbeatNs: bigint;
  listeningSinceNs: bigint;
  uncertainAfterNs: bigint;
  silentAfterNs: bigint;
  /** A longer interval of a node counts as this one. */
  longestIntervalMs: number;
  retired: boolean;
}

/** What a snapshot has of its board's header. */
interface Headed {
  readonly header: Decoded<'board_header'>;
  readonly evidence: Evidence;
}

/** Milliseconds from a time of CLOCK_MONOTONIC to the look; never negative, whatever the board says. */
export function sinceMs({ evidence }: Pick<Headed, 'evidence'>, ns: bigint): number {
  return Math.max(0, Number(evidence.nowNs - ns) / 1e6);
}

/** The origin of a mirror; the names are those of its marks. */
interface Mirrored {
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
export function mirrorOf(snapshot: Headed): Mirrored | undefined {
  const {
    mirror_masters = 0,
    mirror_followed = 0,
    mirror_heard,
    mirror_names,
    mirror_site,
    mirror_vetoed = 0,
  } = snapshot.header;
  if (mirror_masters === 0) return undefined;
  const names = mirror_names.slice(0, mirror_masters).map(({ name }) => name);
  const isHeard = (index: number) => ((mirror_heard >> BigInt(index)) & 1n) === 1n;
  const { heartbeatNs } = snapshot.evidence;
  return {
    site: mirror_site,
    master: names[mirror_followed],
    others: names.filter((_, index) => index !== mirror_followed && isHeard(index)),
    heard: mirror_followed < names.length && isHeard(mirror_followed),
    behindMs: heartbeatNs === 0n ? undefined : sinceMs(snapshot, heartbeatNs),
    vetoed: mirror_vetoed,
  };
}

/** The numbers of the keys that the receiver accepts. */
export const keysOf = ({ header }: Pick<Headed, 'header'>): number[] =>
  (header.accepted_keys ?? []).flatMap(key => (key ? [key - 1] : []));

/** What the receiver could not read again: options, nodes or keys. */
export function reloadFailed({ header }: Pick<Headed, 'header'>): string | undefined {
  const part = enums.reload_part[header.reload_failed_at ?? 0];
  return part === 'none' ? undefined : part;
}

/** Packets of any kind that this machine or its interfaces dropped before they reached a socket. */
export function earlyDrops({
  header,
  links,
}: Pick<Headed, 'header'> & { readonly links: readonly LinkEntry[] }): number {
  return links.reduce((sum, { missed }) => sum + missed, header.softnet_drops ?? 0);
}
