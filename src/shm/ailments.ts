// The ailments of a node that is heard, under the contract's names. c/judge/ailments.h is the only place that says how they
// are judged.

import { meanings, ranked, terms } from '../layout/terms.gen.js';

/** The possible ailments; see "terms ailment" in proto/board-v2.md. */
export type Ailment = (typeof terms.ailment)[number];

/** The worst first. */
export const AILMENTS: readonly Ailment[] = ranked.ailment;

/** The meaning, in words that follow "it" or "they". */
export const AILMENT_TEXT: Readonly<Record<Ailment, string>> = meanings.ailment;

/** The bit of an ailment in a set of them. */
export function ailmentBit(ailment: Ailment): number {
  return 1 << terms.ailment.indexOf(ailment);
}

/** The ailments of a set, the worst first. */
export function ailmentsOf(bits: number): Ailment[] {
  return bits === 0 ? [] : AILMENTS.filter(ailment => (bits & ailmentBit(ailment)) !== 0);
}

/** The nodes with each ailment, the worst first; ailments of no node are left out. */
export function byAilment<T extends { readonly ails: number }>(nodes: readonly T[]): [Ailment, T[]][] {
  const ill = nodes.filter(({ ails }) => ails !== 0);
  return AILMENTS.flatMap(ailment => {
    const bit = ailmentBit(ailment);
    const those = ill.filter(({ ails }) => (ails & bit) !== 0);
    return those.length === 0 ? [] : [[ailment, those] satisfies [Ailment, T[]]];
  });
}
