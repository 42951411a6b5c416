// Nodes that fell silent together, so that one cause is likely.

import { fellTogether } from '../changes/silences.js';
import type { Surveyed } from '../query/survey.js';
import type { Snapshot } from '../shm/snapshot.js';
import { compareNames } from '../text/hostlists.js';

/** At most so many groups that are silent are told of, and as many that are heard again. */
const GROUPS_MOST = 3;
/** The interval of a report that does not give one. */
export const USUAL_INTERVAL_MS = 1000;

/** The name of a rack if node names have two numbers: rack17 of rack17n03. */
function rackOf(name: string): string | undefined {
  return /^(.*?\d+)[^\d].*\d$/.exec(name)?.[1];
}

/** The racks of these nodes by name, if each node has one and there are clearly fewer racks than nodes. */
export function racksOf(nodes: readonly Surveyed[]): string[] | undefined {
  const found = nodes.map(({ name }) => rackOf(name));
  const different = new Set(found);
  if (found.includes(undefined) || different.size * 2 > nodes.length || different.size > 64) return undefined;
  return ([...different] as string[]).sort(compareNames);
}

/** So few nodes of a rack, and such a share of those that fell at that moment, fell by themselves. */
const STRAY_MOST = 2;
const STRAY_SHARE = 1 / 4;

/** Without nodes of other racks that happened to fall at the moment at which a rack did. */
function withoutStrays<F extends Fall>(group: readonly F[]): readonly F[] {
  const counts = new Map<string | undefined, number>();
  const racks = group.map(({ node }) => rackOf(node.name));
  for (const rack of racks) counts.set(rack, (counts.get(rack) ?? 0) + 1);
  const rest = group.filter((_, i) => racks[i] !== undefined && (counts.get(racks[i]) ?? 0) > STRAY_MOST);
  return rest.length >= (1 - STRAY_SHARE) * group.length ? rest : group;
}

/** A silence, or what may become one. */
export interface Fall {
  readonly node: Surveyed;
  /** When its last report before came, ms before the look. */
  readonly beganMs: number;
  readonly isSilent: boolean;
  /** When it ended; undefined: it lasts. */
  readonly endedMs?: number | undefined;
}

/** Groups of those that fell together: those that are still silent first, then the largest. */
export function groupsOf<F extends Fall>(snapshot: Snapshot, falls: readonly F[]): F[][] {
  const { listenedMs, heartbeatAgeMs = 0, evidence } = snapshot;
  const limit = Number(evidence.uncertainAfterNs) / 1e9;
  const unheard = falls
    .map(fall => ({
      fall,
      ageMs: fall.beganMs,
      intervalMs: snapshot.intervalOf(fall.node.index) || USUAL_INTERVAL_MS,
      isSilent: fall.isSilent,
      isOver: fall.endedMs !== undefined,
    }))
    // While the receiver stands, or right after it has begun, all nodes are uncertain, and that says nothing of them.
    .filter(
      ({ ageMs, intervalMs, isSilent }) =>
        isSilent || Math.min(listenedMs, ageMs - heartbeatAgeMs) > limit * intervalMs,
    );
  return fellTogether(unheard, GROUPS_MOST).map(group => {
    // The order of the board, as everywhere.
    const fell = new Set(withoutStrays(group.map(({ fall }) => fall)));
    return falls.filter(fall => fell.has(fall));
  });
}
