// A sum over members that come, go and are replaced, as one counter: it moves only by what each member grew between two
// reads of the same member. The first sum of a run is what the members show.

import { add, type KernelCount, less, times } from './kerneltext.js';

/** One member in a round. */
export interface SumMember<K extends string> {
  /** What it is, and not its place. */
  id: string;
  /** Undefined: it is there and cannot be read. */
  counts: Readonly<Record<K, KernelCount>> | undefined;
  /** For counts that wrap the value at which they do. */
  modulo?: Readonly<Partial<Record<K, KernelCount>>>;
}

interface Known<K extends string> {
  counts: Readonly<Record<K, KernelCount>>;
  /** Since when it cannot be read. */
  unreadMs: number | undefined;
}

interface SumOptions {
  room: number;
  /** It has no rate: what a member counted while it was away is told when it is back. */
  isTally?: boolean;
  /** Over no members it is 0, and not unknown. */
  isOfNone?: boolean;
  /** After so long without a round, ms, all members count as new. */
  unseenMs?: number;
}

/** For so long a member that cannot be read keeps the sum from being known; then it counts as one that has gone. */
export const UNREAD_MS = 60_000;

/** What a count grew by; undefined: it went back and does not wrap. */
function grown(from: KernelCount, to: KernelCount, modulo: KernelCount): KernelCount | undefined {
  if (to < from && modulo === 0) return undefined;
  return to >= from ? less(to, from) : from <= modulo ? add(less(modulo, from), to) : modulo;
}

export class MemberSum<K extends string> {
  /** What it knows, which another process can go on with. */
  readonly kept: { known: Map<string, Known<K>>; hasBegun: boolean; sum: Record<K, KernelCount>; addedMs: number };
  /** More members came than there is room for. */
  isFull = false;
  /** One that wraps grew by half of that or more in the last round. */
  isDoubtful = false;

  constructor(
    private readonly keys: readonly K[],
    private readonly options: SumOptions,
  ) {
    const sum = Object.fromEntries(keys.map(key => [key, 0])) as Record<K, KernelCount>;
    this.kept = { known: new Map(), hasBegun: false, sum, addedMs: 0 };
  }

  /** The sum after a round over all members that are there; undefined: it is not known. `nowMs`: of any clock. */
  add(members: readonly SumMember<K>[], nowMs: number): Readonly<Record<K, KernelCount>> | undefined {
    const { room, isTally = false, isOfNone = false, unseenMs } = this.options;
    const { kept } = this;
    const before = nowMs - kept.addedMs > (unseenMs ?? nowMs) ? new Map<string, Known<K>>() : kept.known;
    if (unseenMs !== undefined) kept.addedMs = nowMs;
    const now = new Map<string, Known<K>>();
    let isWhole = true;
    this.isFull = false;
    this.isDoubtful = false;
    for (const { id, counts, modulo } of members) {
      // Of several that are called alike each is told by its place among them.
      let name = id;
      for (let i = 1; now.has(name); i++) name = `${id}\0${i}`;
      const known = before.get(name);
      if (counts === undefined) {
        if (known === undefined) continue;
        known.unreadMs ??= nowMs;
        if (nowMs - known.unreadMs >= UNREAD_MS) continue;
        isWhole = false;
        now.set(name, known);
      } else if (now.size === room) this.isFull = true;
      else if (known?.counts === counts && known.unreadMs === undefined) {
        // Of thousands most have not moved, and what was made of an unchanged line is the same object.
        now.set(name, known);
      } else {
        this.#move(known?.counts, counts, modulo);
        now.set(name, { counts, unreadMs: undefined });
      }
    }
    kept.hasBegun ||= isOfNone || now.size > 0;
    // One that has gone is remembered as long as there is room.
    if (isTally) for (const [name, known] of before) if (!now.has(name) && now.size < room) now.set(name, known);
    kept.known = now;
    return isWhole && !this.isFull && kept.hasBegun ? { ...kept.sum } : undefined;
  }

  #move(
    from: Readonly<Record<K, KernelCount>> | undefined,
    to: Readonly<Record<K, KernelCount>>,
    modulo: SumMember<K>['modulo'],
  ): void {
    const { sum, hasBegun } = this.kept;
    if (!hasBegun) {
      for (const key of this.keys) sum[key] = add(sum[key], to[key]);
      return;
    }
    if (from === undefined) return;
    for (const key of this.keys) if (grown(from[key], to[key], modulo?.[key] ?? 0) === undefined) return;
    for (const key of this.keys) {
      const most = modulo?.[key] ?? 0;
      const by = grown(from[key], to[key], most) ?? 0;
      if (most !== 0 && times(by, 2) >= most) this.isDoubtful = true;
      else sum[key] = add(sum[key], by);
    }
  }
}
