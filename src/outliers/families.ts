// Nodes in families, and in each the few that differ from the others in something that all should have in common: their
// kernel, memory, report interval. One rule for all who tell of it. Pure: values come in as numbers.

/** What the nodes of a family should have in common. */
export interface Trait {
  readonly name: string;
  /** Values that are no further apart than this are one, and no further than this share of the value. Absent: 0. */
  readonly slack?: number;
  readonly slackShare?: number;
  /** Traits of which it is made: a node that differs in one of these is not told again for this one. */
  readonly parts?: readonly string[];
}

/** Members of a family with one value. */
export interface Alike {
  /** That of the first. */
  readonly value: number;
  readonly members: readonly number[];
}

export interface FamilyDifference<T extends Trait = Trait> {
  readonly family: string;
  readonly trait: T;
  /** At least two, the largest first. */
  readonly groups: readonly Alike[];
  /** Whether all groups but the first are the odd ones; else nobody can say who is. */
  readonly isMinority: boolean;
}

/**
 * Senders of different versions may make their hashes of different texts. So one of a version that few have says nothing
 * against these members unless it is of one of the version that most have: it is made NaN, not known.
 */
export function forgetOtherHashes(members: number[], hashes: Record<number, number>, versions: typeof hashes): void {
  const told = members.filter(member => !Number.isNaN(hashes[member] as number));
  const [most = [], ...others] = [...byValue(told, versions).values()].sort((a, b) => b.length - a.length);
  const usual = new Set(most.map(member => hashes[member]));
  for (const member of others.flat()) if (!usual.has(hashes[member])) hashes[member] = Number.NaN;
}

/** At most so large a share of a family is a minority. */
const MINORITY_MOST = 1 / 3;

/** Members by value, in the order in which the values occur. */
function byValue(members: readonly number[], values: Record<number, number>): Map<number, number[]> {
  const found = new Map<number, number[]>();
  let last = Number.NaN;
  let alike: number[] = [];
  for (const member of members) {
    const value = values[member] as number;
    if (value !== last) {
      if (Number.isNaN(value)) continue;
      last = value;
      alike = found.get(value) ?? [];
      found.set(value, alike);
    }
    alike.push(member);
  }
  return found;
}

/** Groups of those whose values are not further apart than the trait allows from one to the next. */
function joined(groups: readonly Alike[], { slack = 0, slackShare = 0 }: Trait): Alike[] {
  const rising = [...groups].sort((a, b) => a.value - b.value);
  const found: Alike[][] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const group of rising) {
    if (group.value - before <= Math.max(slack, slackShare * before)) found.at(-1)?.push(group);
    else found.push([group]);
    before = group.value;
  }
  return found.map(some => {
    const members = some.flatMap(({ members }) => members).sort((a, b) => a - b);
    const first = some.find(one => one.members[0] === members[0]) as Alike;
    return { value: first.value, members };
  });
}

/** The groups of a family in one trait, the largest first; of equal ones the one with the first member. */
function groupsOf(members: readonly number[], values: Record<number, number>, trait: Trait): Alike[] {
  const exact = Array.from(byValue(members, values), ([value, members]): Alike => ({ value, members }));
  if (exact.length < 2) return exact;
  const groups = trait.slack === undefined && trait.slackShare === undefined ? exact : joined(exact, trait);
  return groups.sort(
    (a, b) => b.members.length - a.members.length || (a.members[0] as number) - (b.members[0] as number),
  );
}

const countOf = (groups: readonly Alike[]) => groups.reduce((sum, { members }) => sum + members.length, 0);

/**
 * Where the members of a family differ, in the order of the families and in each of the traits, step by step. `values`: of
 * each trait, by the numbers of nodes; NaN: not known, and then not compared.
 */
export function* differences<T extends Trait>(
  families: ReadonlyMap<string, readonly number[]>,
  traits: readonly T[],
  values: readonly Record<number, number>[],
): Generator<undefined, FamilyDifference<T>[]> {
  const found: FamilyDifference<T>[] = [];
  for (const [family, members] of families) {
    if (members.length < 2) continue;
    /** Who differs in a trait from the largest group. */
    const differing = new Map<string, ReadonlySet<number>>();
    const all: { trait: T; groups: Alike[] }[] = [];
    for (const [i, trait] of traits.entries()) {
      const groups = groupsOf(members, values[i] as Record<number, number>, trait);
      if (groups.length > 1) differing.set(trait.name, new Set(groups.slice(1).flatMap(({ members }) => members)));
      all.push({ trait, groups });
      yield;
    }
    for (const { trait, groups } of all) {
      const [most, ...rest] = groups;
      if (most === undefined || rest.length === 0) continue;
      const parts = trait.parts?.flatMap(part => differing.get(part) ?? []) ?? [];
      const unexplained = rest
        .map(({ value, members }) => ({ value, members: members.filter(one => !parts.some(part => part.has(one))) }))
        .filter(({ members }) => members.length > 0);
      if (unexplained.length === 0) continue;
      const odd = countOf(unexplained);
      const isMinority = odd <= MINORITY_MOST * (most.members.length + odd);
      found.push({ family, trait, groups: [most, ...unexplained], isMinority });
    }
  }
  return found;
}
