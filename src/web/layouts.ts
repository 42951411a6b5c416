// The order and groups in which nodes are shown: by a common part of their names or by a field, all nodes or those for
// which a condition holds. What depends on names is computed once, what depends on reports at each look.

import type { Grouping } from '../options/options.js';
import { type Condition, parseCondition } from '../query/conditions.js';
import { type Rule, ruleOf } from '../query/groups.js';
import { Cursor } from '../readings/cursor.js';
import { type Reading, taken, type Value } from '../readings/measures.js';
import { SLICE_MS } from '../service/slices.js';
import type { Snapshot } from '../shm/snapshot.js';
import { compareNames, expand, fold } from '../text/hostlists.js';
import { getOrInsert } from '../text/maps.js';
import type { NodeConsumer, Watcher, WatcherTick } from './watcher.js';
import { AUTO, type GroupInfo } from './wire.js';

/** If there are more groups, the rest is shown as one group without a name. */
const MOST_GROUPS = 512;
/** The largest number of groups that ever existed, most of which may be gone. */
const MOST_KNOWN = 65_536;
/** How often names of groups are made coarser, until there are few enough. */
const COARSEST = 6;
/** How much CPU time a condition may take at a look, ms, for so many nodes. */
const CONDITION_MS = 10;
const CONDITION_NODES = 10_240;
/** The same for a grouping rule, which is computed once if it depends on names. */
const RULE_MS = 300;
/** It is refused if it has taken longer at so many looks in a row, or so many times as long at one look. */
const SLOW_LOOKS = 3;
const COLD = 10;
/** A field by which nodes are grouped is read at one look in so many, because groups that keep changing are useless. */
const FIELD_EVERY = 5;
/** The share of the time that may be used for new layouts when a condition becomes true for other nodes. */
const LAYOUT_SHARE = 0.02;
/** The share of the time in which the values of one field may be read. */
const VALUES_SHARE = 0.03;
/** Valid names for a receiver. A board of another origin may have others, which no host list can express. */
const AUTO_PATTERN = AUTO.rule.slice(1, -1);
const NAME = /^[a-z0-9_][a-z0-9._-]*$/;

/** The CPU time of this process, ms: what is limited must not depend on who else has the CPU. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Does it for each from number `from` on, as long as a slice lasts: where it came to, and the CPU time, ms. */
function sliced(from: number, end: number, act: (index: number) => void) {
  const [spent, began] = [cpuMs(), performance.now()];
  let index = from;
  for (let now = began; index < end && now - began < SLICE_MS; index++, now = performance.now()) act(index);
  return { index, ms: cpuMs() - spent };
}

/** The array, or a longer copy of it that has room for so many. */
export function withRoom<A extends Uint8Array | Uint32Array>(array: A, count: number): A {
  if (array.length >= count) return array;
  const longer = new (array.constructor as new (length: number) => A)(count + (count >> 4));
  longer.set(array);
  return longer;
}

/** The common part of names of too many groups: of r01c03 and r01c04 r01, of rack0017 and rack0018 rack001*. */
function coarser(name: string): string {
  if (name.endsWith('*')) return name.replace(/\d?\*$/, '*');
  return /\d\D+\d/.test(name) ? name.replace(/\D+\d+\D*$/, '') : name.replace(/\d\D*$/, '*');
}

/** The group of each node, by a rule. */
export class Grouped implements NodeConsumer {
  /** The names of groups, by their numbers; undefined: the group of nodes without one. */
  readonly names: (string | undefined)[] = [undefined];
  /** Another number means that a node's group has changed. */
  version = 0;
  isTooSlow = false;
  readonly #rule: Rule;
  #spentMs = 0;
  #mayMs = 0;
  readonly #numbers = new Map<string | undefined, number>([[undefined, 0]]);
  /** The number of each node's group, by the node's number; 0 for nodes that are not known yet. */
  numbers = new Uint32Array();
  #known = 0;
  #looks = 0;
  #isAsking = true;
  /** How often names of groups are made coarser: another number means other groups. */
  coarse = 0;
  /** Whether the groups are others than at the begin of the look, so that all nodes have to be asked once more. */
  isNew = false;

  /** Throws an InputError if it is neither a field nor a pattern. */
  constructor(readonly grouping: Grouping) {
    this.#rule = ruleOf(grouping);
  }

  begin(count: number, isAnother: boolean): void {
    if (isAnother || this.isNew) this.#known = 0;
    this.isNew = false;
    this.#spentMs = 0;
    this.#mayMs = RULE_MS * Math.max(1, count / CONDITION_NODES);
    this.numbers = withRoom(this.numbers, count);
    this.numbers.fill(0, this.#known);
    // Names do not change.
    this.#isAsking = count > this.#known || ('field' in this.grouping && this.#looks % FIELD_EVERY === 0);
    this.#looks++;
  }

  ask(piece: Snapshot, first: number, from: number): number {
    const end = Math.min(piece.count, this.numbers.length - first);
    const isKnown = 'pattern' in this.grouping && first + end <= this.#known;
    if (!this.#isAsking || this.isTooSlow || isKnown) return piece.count;
    const names = piece.names();
    const { index, ms } = sliced(from, end, index => {
      const node = first + index;
      const number = this.#numberOf(this.#nameOf(piece, index, names[index] as string));
      if (node < this.#known && number === this.numbers[node]) return;
      this.numbers[node] = number;
      this.version++;
    });
    this.#known = Math.max(this.#known, first + index);
    this.#spentMs += ms;
    this.isTooSlow = this.#spentMs > this.#mayMs;
    return index < end ? index : piece.count;
  }

  #nameOf(piece: Snapshot, index: number, name: string): string | undefined {
    let group = this.#rule(piece, { index, name });
    if (group === undefined || !('pattern' in this.grouping)) return group;
    // A login1 and a login2 are in a group together.
    if (group === name && this.grouping.pattern === AUTO_PATTERN) group = group.replace(/\d+$/, '');
    for (let i = 0; i < this.coarse; i++) group = coarser(group);
    return group;
  }

  /** Begins anew with coarser names: there are more groups than are shown. */
  #coarsen(): void {
    this.coarse++;
    this.isNew = true;
    this.names.length = 1;
    this.#numbers.clear();
    this.#numbers.set(undefined, 0);
    this.numbers.fill(0);
    this.version++;
  }

  /** Above some number of groups all nodes get one, because the rule is useless. */
  #numberOf(name: string | undefined): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      if (this.names.length >= MOST_GROUPS && 'pattern' in this.grouping && this.coarse < COARSEST) {
        this.#coarsen();
        return 0;
      }
      if (this.names.length > MOST_KNOWN) return 0;
      number = this.names.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }
}

export class Chosen implements NodeConsumer {
  /** 1: it holds, by the number of the node. */
  holds = new Uint8Array();
  /** Another number means that it holds for other nodes than before. */
  version = 0;
  isTooSlow = false;
  readonly #condition: Condition;
  #spentMs = 0;
  #mayMs = 0;
  /** The number of looks in a row at which it has taken too long. */
  #slowLooks = 0;

  /** `perNodes`: how many ms it may take for CONDITION_NODES nodes. Throws an InputError for an invalid condition. */
  constructor(
    readonly text: string,
    readonly perNodes = CONDITION_MS,
  ) {
    this.#condition = parseCondition(text);
  }

  begin(count: number, isAnother: boolean): void {
    if (isAnother) this.holds.fill(0);
    this.holds = withRoom(this.holds, count);
    this.#slowLooks = this.#spentMs > this.#mayMs ? this.#slowLooks + 1 : 0;
    // The first runs are not compiled yet.
    if (this.#slowLooks >= SLOW_LOOKS) this.isTooSlow = true;
    this.#spentMs = 0;
    this.#mayMs = this.perNodes * Math.max(1, count / CONDITION_NODES);
  }

  ask(piece: Snapshot, first: number, from: number): number {
    if (this.isTooSlow) return piece.count;
    const { holds } = this;
    const end = Math.min(piece.count, holds.length - first);
    const { index, ms } = sliced(from, end, index => {
      const holding = this.#condition(piece.node(index)) ? 1 : 0;
      if (holds[first + index] === holding) return;
      holds[first + index] = holding;
      this.version++;
    });
    this.#spentMs += ms;
    this.isTooSlow = this.#spentMs > COLD * this.#mayMs;
    return index < end ? index : piece.count;
  }
}

/** The order of the cells, for all streams with the same view. */
export interface CellLayout {
  readonly number: number;
  readonly order: Uint32Array;
  readonly groups: readonly GroupInfo[];
}

let layouts = 0;

/** Keeps the layout of nodes with this grouping and condition. */
export class Arrangement {
  #layout: CellLayout = { number: 0, order: new Uint32Array(), groups: [] };
  #made = '';
  /** Not made again before this time if only the condition holds for other nodes; of performance.now(). */
  #notBefore = 0;

  constructor(
    readonly watcher: Watcher,
    readonly grouped: Grouped | undefined,
    readonly chosen: Chosen | undefined,
  ) {}

  /** The layout at that look; the same object as before if nothing has changed. */
  at({ roster, count }: WatcherTick): CellLayout {
    const stays = `${roster} ${count} ${this.grouped?.version}`;
    const made = `${stays} ${this.chosen?.version}`;
    const now = performance.now();
    if (made === this.#made || (this.#made.startsWith(`${stays} `) && now < this.#notBefore)) return this.#layout;
    this.#layout = this.#make(count);
    this.#made = made;
    const end = performance.now();
    this.#notBefore = end + (end - now) / LAYOUT_SHARE;
    return this.#layout;
  }

  #make(count: number): CellLayout {
    const { names } = this.watcher;
    const members = new Map<string | undefined, Map<string, number>>();
    const { grouped, chosen } = this;
    for (let i = 0; i < count; i++) {
      const name = names[i] as string;
      if ((chosen !== undefined && chosen.holds[i] !== 1) || !NAME.test(name)) continue;
      const group = grouped?.names[grouped.numbers[i] ?? 0];
      getOrInsert(members, group, () => new Map()).set(name, i);
    }
    const order = new Uint32Array(count);
    let first = 0;
    const groups = sortedGroups(members).map(([name, some]): GroupInfo => {
      const nodes = fold(some.keys());
      const begin = first;
      // The order of the host list is that of the cells, whoever expands it.
      for (const node of expand(nodes, count)) order[first++] = some.get(node) as number;
      return { name, nodes, first: begin, count: first - begin };
    });
    return { number: ++layouts, order: order.slice(0, first), groups };
  }
}

/** The groups in the order of their names, at most MOST_GROUPS: the rest joins the nodes without one, at the end. */
function sortedGroups(members: Map<string | undefined, Map<string, number>>): [string | null, Map<string, number>][] {
  const rest = new Map(members.get(undefined));
  members.delete(undefined);
  const named = ([...members] as [string, Map<string, number>][]).sort(([a], [b]) => compareNames(a, b));
  for (const [, some] of named.splice(MOST_GROUPS - 1)) for (const [name, index] of some) rest.set(name, index);
  return rest.size > 0 ? [...named, [null, rest]] : named;
}

/** The values of a field of all nodes, by their numbers: of the last look, or of an earlier one if reading takes long. */
export class FieldValues implements NodeConsumer {
  readonly of: Value[] = [];
  readonly isTooSlow = false;
  readonly #cursor = new Cursor();
  #spentMs = 0;
  /** Not read again before this time, of performance.now(). */
  #notBefore = 0;
  #isReading = true;

  constructor(readonly field: Reading) {}

  begin(count: number, isAnother: boolean): void {
    const now = performance.now();
    if (this.#isReading) this.#notBefore = now + this.#spentMs / VALUES_SHARE;
    this.#isReading = isAnother || count !== this.of.length || now >= this.#notBefore;
    this.#spentMs = 0;
    if (isAnother) this.of.length = 0;
    this.of.length = count;
  }

  ask(piece: Snapshot, first: number): number {
    if (!this.#isReading) return piece.count;
    const began = performance.now();
    const { measure, value } = this.field;
    const end = Math.min(piece.count, this.of.length - first);
    for (let i = 0; i < end; i++) {
      if (measure === undefined) this.of[first + i] = value(piece.node(i));
      else {
        this.#cursor.moveTo(piece, i);
        const number = taken(measure, this.#cursor);
        this.of[first + i] = Number.isNaN(number) ? undefined : number;
      }
    }
    this.#spentMs += performance.now() - began;
    return piece.count;
  }
}
