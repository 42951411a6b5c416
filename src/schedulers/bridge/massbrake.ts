// The mass brakes: if too many nodes are at fault at once, the cause is probably elsewhere, and nothing more is
// drained. Pure: takes counts, returns the brakes that are on.

import { own } from '../../text/tables.js';

export interface BrakeState {
  readonly on: boolean;
  readonly value: number;
  readonly limit: number;
  readonly accepted: number;
  readonly sinceMs: number;
}

/** One counted quantity. */
export interface BrakeCount {
  /** `silent`, `new`, `own`, `unhealthy`, or `group NAME`. */
  readonly brake: string;
  readonly value: number;
  /** The brake goes on above this number. */
  readonly limit: number;
}

/** A brake's new state. `accepted`: so many nodes are, since an administrator released it. */
export type BrakeChange = BrakeCount & { readonly on: boolean; readonly accepted: number };

export const limits = {
  silent: (nodes: number) => Math.max(3, nodes / 10),
  /** In the last 60 s. */
  new: (nodes: number) => Math.max(3, Math.min(50, nodes / 100)),
  own: (nodes: number) => Math.max(2, nodes / 20),
  unhealthy: (nodes: number) => Math.max(3, nodes / 10),
  group: (nodes: number) => Math.max(2, nodes / 2),
} as const;

const OFF: BrakeState = { on: false, value: 0, limit: 0, accepted: 0, sinceMs: 0 };

/**
 * Which brakes change. A brake stays on until its count is below half of its limit. Nodes that an administrator
 * accepted by releasing the brake are left out of the count, until their own number is below half of the limit.
 */
export function brakeChanges(counts: readonly BrakeCount[], before: ReadonlyMap<string, BrakeState>): BrakeChange[] {
  const known = new Set(counts.map(({ brake }) => brake));
  // A group that no longer exists has no nodes at fault.
  const gone = [...before].filter(([brake, { on, accepted }]) => !known.has(brake) && (on || accepted > 0));
  const all = [...counts, ...gone.map(([brake, { limit }]) => ({ brake, value: 0, limit }))];
  return all.flatMap((count): BrakeChange[] => {
    const { brake, value, limit } = count;
    const was = before.get(brake) ?? OFF;
    const accepted = value < limit / 2 ? 0 : Math.min(was.accepted, value);
    const over = value - accepted;
    const on = over > limit || (was.on && over >= limit / 2);
    return on === was.on && accepted === was.accepted ? [] : [{ ...count, on, accepted }];
  });
}

/** The effect of an administrator's release on the brakes that are on: as many nodes as there are now are accepted. */
export function released(counts: readonly BrakeCount[], before: ReadonlyMap<string, BrakeState>): BrakeChange[] {
  return counts
    .filter(({ brake }) => before.get(brake)?.on)
    .map(count => ({ ...count, on: false, accepted: count.value }));
}

const WHAT: Readonly<Record<string, string>> = {
  silent: 'nodes are silent',
  new: 'nodes fell silent in the last minute',
  own: 'nodes would be drained by the bridge',
  unhealthy: 'nodes are unhealthy',
};

/** A brake in words. */
export function brakeText(brake: string, { value, limit, accepted }: Pick<BrakeState, 'value' | 'limit' | 'accepted'>) {
  const group = /^group (.*)$/s.exec(brake)?.[1];
  const what = own(WHAT, brake) ?? `nodes of ${group ?? brake} are silent`;
  const most = Number(limit.toFixed(1));
  return `${value} ${what}, more than ${accepted > 0 ? `${most} beyond the ${accepted} that were taken for granted` : most}`;
}
