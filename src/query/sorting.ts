// The order in which nodes are shown: the worst first, or by a field. Pure.

import { structs } from '../layout/layout.gen.js';
import type { Value } from '../readings/measures.js';
import { STATES } from '../shm/liveness.js';
import { PROBLEMS, problemBit } from '../shm/problems.js';
import type { Snapshot } from '../shm/snapshot.js';
import { compareNames } from '../text/hostlists.js';
import { type Sorting, sortField } from './columns.js';
import type { Survey, Surveyed } from './survey.js';

const RANK = new Map(STATES.map((state, i) => [state, i]));

export type Comparison = (a: Surveyed, b: Surveyed) => number;

const byNames: Comparison = (a, b) => compareNames(a.name, b.name);

/** The worst first; that an administrator has put a node on hold is the least. */
const ILL = [...PROBLEMS.filter(problem => problem !== 'held'), 'held' as const].map(problemBit);

const rankOf = ({ problems }: Pick<Surveyed, 'problems'>) => ILL.findIndex(bit => (problems & bit) !== 0);

/** Worst first: by state, then those with the worst problem, then by name. */
export function worstFirst(nodes: readonly Surveyed[], byName = byNames): Surveyed[] {
  const states = new Map(STATES.map(state => [state, { ill: [] as Surveyed[], well: [] as Surveyed[] }]));
  for (const node of nodes) states.get(node.state)?.[node.problems === 0 ? 'well' : 'ill'].push(node);
  return [...states.values()].flatMap(({ ill, well }) => [
    ...ill.sort((a, b) => rankOf(a) - rankOf(b) || byName(a, b)),
    ...well.sort(byName),
  ]);
}

/** Compares two values; an unknown value comes last. */
export function compareValues(a: Value, b: Value, upward: boolean): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const by = a < b ? -1 : a > b ? 1 : 0;
  return upward ? by : -by;
}

/** By which field, of which only the name is needed, and whether from the least. */
type SortOrder = Pick<Sorting, 'upward'> & { readonly field: { readonly name: string } };

/**
 * What a node is sorted by: the value of the field, which is asked for only if it is needed. States are those of
 * `worstFirst`, problems count by the worst one. Undefined: it comes last.
 */
export function sortKey({ field, upward }: SortOrder): (node: Omit<Surveyed, 'recent'>, value: () => Value) => Value {
  const illness = (node: Pick<Surveyed, 'problems'>) => (node.problems === 0 ? ILL.length : rankOf(node));
  if (field.name === 'name') return () => undefined;
  if (field.name === 'problems') return node => (node.problems === 0 ? undefined : illness(node));
  if (field.name !== 'state') return (_, value) => value();
  // In both directions the ill ones are the first of their state.
  return node => (upward ? 1 : -1) * (RANK.get(node.state) ?? 0) * (ILL.length + 1) + illness(node);
}

/** Compares by these keys, then by name. */
export function comparisonBy<T>(
  { field, upward }: SortOrder,
  key: (node: T) => Value,
  byName: (a: T, b: T) => number,
): (a: T, b: T) => number {
  if (field.name === 'name') return upward ? byName : (a, b) => byName(b, a);
  const isUpward = upward || field.name === 'state';
  return (a, b) => compareValues(key(a), key(b), isUpward) || byName(a, b);
}

/** By a field, then by name. Reads only that field of every node. */
export function inOrder({ snapshot, nodes }: Survey, sorting: Sorting, byName = byNames): Surveyed[] {
  const keyOf = sortKey(sorting);
  const keys: Value[] = [];
  for (const node of nodes) keys[node.index] = keyOf(node, () => sorting.field.value(snapshot.node(node.index)));
  return [...nodes].sort(comparisonBy(sorting, ({ index }) => keys[index], byName));
}

/** Sorts as the user asked: `load`, `-load`. Throws an InputError for something that is not a field. */
export function ordered(found: Survey, sort: string | undefined): Surveyed[] {
  return sort === undefined ? worstFirst(found.nodes) : inOrder(found, sortField(sort));
}

const NAME = structs.record.fields.name;
const NAME_WORDS = NAME.count / 4;

/** The names of a board and their order, kept because they do not change while it lives, and sorting takes long. */
export class Roster {
  #names: string[] = [];
  #ranks = new Int32Array();
  /** The bytes of the names, which show whether they are still the same. */
  #words = new Uint32Array();

  names(snapshot: Snapshot): readonly string[] {
    if (!this.#isOf(snapshot)) this.#read(snapshot);
    return this.#names;
  }

  /** The order by name of the nodes whose names were asked for last. */
  readonly byName: Comparison = (a, b) => (this.#ranks[a.index] ?? 0) - (this.#ranks[b.index] ?? 0);

  #isOf(snapshot: Snapshot): boolean {
    if (snapshot.count !== this.#names.length) return false;
    const { words } = snapshot;
    for (let i = 0, known = 0; i < snapshot.count; i++) {
      const at = snapshot.recordWord(i) + NAME.offset / 4;
      for (let word = 0; word < NAME_WORDS; word++, known++) if (words[at + word] !== this.#words[known]) return false;
    }
    return true;
  }

  #read(snapshot: Snapshot): void {
    const { count, words } = snapshot;
    this.#names = snapshot.names();
    this.#words = new Uint32Array(count * NAME_WORDS);
    for (let i = 0; i < count; i++) {
      const at = snapshot.recordWord(i) + NAME.offset / 4;
      this.#words.set(words.subarray(at, at + NAME_WORDS), i * NAME_WORDS);
    }
    const order = this.#names.map((name, index) => ({ name, index })).sort((a, b) => compareNames(a.name, b.name));
    this.#ranks = new Int32Array(count);
    for (const [rank, { index }] of order.entries()) this.#ranks[index] = rank;
  }
}
