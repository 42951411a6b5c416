// When so many nodes are at fault that it is rather not they: then no more drains. Pure: counts go in, which brakes are on comes out.

import type { BrakeState } from './ownership.js';

/** One thing that is counted. */
export interface Count {
  /** `silent`, `new`, `own`, `ill`, or `group NAME`. */
  readonly brake: string;
  readonly value: number;
  /** More than this, and it is on. */
  readonly limit: number;
}

/** What changes with these counts: by brake, its new state. */
export type BrakeChange = Count & { readonly on: boolean; readonly accepted: number };

export const limits = {
  silent: (nodes: number) => Math.max(3, nodes / 10),
  /** In the last 60 s. */
  new: (nodes: number) => Math.max(3, Math.min(50, nodes / 100)),
  own: (nodes: number) => Math.max(2, nodes / 20),
  ill: (nodes: number) => Math.max(3, nodes / 10),
  group: (nodes: number) => Math.max(2, nodes / 2),
} as const;

const OFF: BrakeState = { on: false, value: 0, limit: 0, accepted: 0, sinceMs: 0 };

/**
 * Which brakes change. One that is on stays on until what it counts is below half of its limit. What an administrator took for granted by
 * releasing it is left out of the count, until that is below half of the limit by itself.
 */
export function brakeChanges(counts: readonly Count[], before: ReadonlyMap<string, BrakeState>): BrakeChange[] {
  const known = new Set(counts.map(({ brake }) => brake));
  // A group that is not there any more has nobody at fault.
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

/** What an administrator's release makes of the brakes that are on: as many as there are now are taken for granted. */
export function released(counts: readonly Count[], before: ReadonlyMap<string, BrakeState>): BrakeChange[] {
  return counts
    .filter(({ brake }) => before.get(brake)?.on)
    .map(count => ({ ...count, on: false, accepted: count.value }));
}

const WHAT: Readonly<Record<string, string>> = {
  silent: 'nodes are silent',
  new: 'nodes fell silent in the last minute',
  own: 'nodes would be drained by the bridge',
  ill: 'nodes are ill',
};

/** A brake in words. */
export function brakeText(brake: string, { value, limit, accepted }: Pick<BrakeState, 'value' | 'limit' | 'accepted'>) {
  const group = /^group (.*)$/s.exec(brake)?.[1];
  const what = WHAT[brake] ?? `nodes of ${group ?? brake} are silent`;
  const most = Number(limit.toFixed(1));
  return `${value} ${what}, more than ${accepted > 0 ? `${most} beyond the ${accepted} that were taken for granted` : most}`;
}
