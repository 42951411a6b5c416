// In which order nodes are shown, and in which groups: by what their names have in common or by a field, all or those for which a condition
// holds. What follows from names is worked out once, what follows from reports at each look.

import { compareNames, expand, fold } from '../common/hostlists.js';
import type { Grouping } from '../common/options.js';
import type { Snapshot } from '../shm/reader.js';
import { type Rule, ruleOf } from '../telling/nodegroups.js';
import { type Condition, parseCondition } from '../telling/where.js';
import type { Asker, Tick, Watcher } from './watcher.js';
import type { GroupTold } from './wire.js';

/** More groups than these are told as one without a name. */
export const MOST_GROUPS = 512;
/** Groups that there have been, of which most may be gone. */
const MOST_KNOWN = 65_536;
/** What a condition may take at a look, ms, of so many nodes. */
const CONDITION_MS = 10;
const CONDITION_NODES = 10_240;
/** The same of a rule for groups, which is worked out once for what names have in common. */
const RULE_MS = 1000;
/** It is refused when it has taken longer at so many looks in a row, or so many times as long at one. */
const SLOW_LOOKS = 3;
const COLD = 10;
/** A field by which nodes are grouped is read at one look of so many: groups that change all the time are no help. */
const FIELD_EVERY = 5;
/** Of the time, the share that may go into new layouts because a condition holds for others than before. */
const LAYOUT_SHARE = 0.02;
/** What the receiver takes as a name; the board of somebody else may have others, which no host list can tell. */
const NAME = /^[a-z0-9_][a-z0-9._-]*$/;

/** The group of each node, by a rule. */
export class Grouped implements Asker {
  /** The names of groups, by their numbers; undefined: of those that are in none. */
  readonly names: (string | undefined)[] = [undefined];
  /** Another number: a node has another group than before. */
  version = 0;
  /** It takes longer than it may. */
  isTooSlow = false;
  readonly #rule: Rule;
  #spentMs = 0;
  #mayMs = 0;
  readonly #numbers = new Map<string | undefined, number>([[undefined, 0]]);
  /** The number of the group of each node. */
  #of = new Uint32Array();
  #known = 0;
  #looks = 0;
  #isAsking = true;

  /** Throws an InputError for what is not a field or no pattern. */
  constructor(readonly grouping: Grouping) {
    this.#rule = ruleOf(grouping);
  }

  /** The number of the group of each node, by the node's; of those that are not known yet 0. */
  get numbers(): Uint32Array {
    return this.#of;
  }

  begin(count: number, isAnother: boolean): void {
    if (isAnother) this.#known = 0;
    this.#spentMs = 0;
    this.#mayMs = RULE_MS * Math.max(1, count / CONDITION_NODES);
    if (this.#of.length < count) {
      const more = new Uint32Array(count + (count >> 4));
      more.set(this.#of);
      this.#of = more;
    }
    this.#of.fill(0, this.#known);
    // Names stay.
    this.#isAsking = count > this.#known || ('field' in this.grouping && this.#looks % FIELD_EVERY === 0);
    this.#looks++;
  }

  ask(piece: Snapshot, first: number): void {
    const end = Math.min(first + piece.count, this.#of.length);
    if (!this.#isAsking || this.isTooSlow || ('pattern' in this.grouping && end <= this.#known)) return;
    const began = performance.now();
    const names = piece.names();
    for (let node = first; node < end; node++) {
      const index = node - first;
      const number = this.#numberOf(this.#rule(piece, { index, name: names[index] as string }));
      if (node < this.#known && number === this.#of[node]) continue;
      this.#of[node] = number;
      this.version++;
    }
    this.#known = Math.max(this.#known, end);
    this.#spentMs += performance.now() - began;
    if (this.#spentMs > this.#mayMs) this.isTooSlow = true;
  }

  /** Beyond some groups all have one: the rule is no help. */
  #numberOf(name: string | undefined): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      if (this.names.length > MOST_KNOWN) return 0;
      number = this.names.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }
}

/** For which nodes a condition holds. */
export class Chosen implements Asker {
  /** 1: it holds, by the number of the node. */
  holds = new Uint8Array();
  /** Another number: it holds for others than before. */
  version = 0;
  /** It takes longer than it may. */
  isTooSlow = false;
  readonly #condition: Condition;
  #spentMs = 0;
  #mayMs = 0;
  /** Looks in a row at which it has. */
  #slowLooks = 0;

  /** `perNodes`: ms that it may take of so many nodes as CONDITION_NODES. Throws an InputError for what is no condition. */
  constructor(
    readonly text: string,
    readonly perNodes = CONDITION_MS,
  ) {
    this.#condition = parseCondition(text);
  }

  begin(count: number, isAnother: boolean): void {
    if (isAnother) this.holds.fill(0);
    if (this.holds.length < count) {
      const more = new Uint8Array(count + (count >> 4));
      more.set(this.holds);
      this.holds = more;
    }
    this.#slowLooks = this.#spentMs > this.#mayMs ? this.#slowLooks + 1 : 0;
    // What is run for the first times was not compiled yet, and others may have had the CPU.
    if (this.#slowLooks >= SLOW_LOOKS) this.isTooSlow = true;
    this.#spentMs = 0;
    this.#mayMs = this.perNodes * Math.max(1, count / CONDITION_NODES);
  }

  ask(piece: Snapshot, first: number): void {
    if (this.isTooSlow) return;
    const began = performance.now();
    const { holds } = this;
    for (let i = 0; i < piece.count && first + i < holds.length; i++) {
      const now = this.#condition(piece.node(i)) ? 1 : 0;
      if (holds[first + i] === now) continue;
      holds[first + i] = now;
      this.version++;
    }
    this.#spentMs += performance.now() - began;
    if (this.#spentMs > COLD * this.#mayMs) this.isTooSlow = true;
  }
}

/** The order of the cells of all streams that ask for the same. */
export interface Layout {
  readonly number: number;
  /** The number of the node of each cell. */
  readonly order: Uint32Array;
  readonly groups: readonly GroupTold[];
}

let layouts = 0;

/** Keeps the layout of nodes that are grouped and chosen so. */
export class Arrangement {
  #layout: Layout = { number: 0, order: new Uint32Array(), groups: [] };
  #made = '';
  /** Not made anew before that, only because the condition holds for others; of performance.now(). */
  #notBefore = 0;

  constructor(
    readonly watcher: Watcher,
    readonly grouped: Grouped | undefined,
    readonly chosen: Chosen | undefined,
  ) {}

  /** The layout at that look; the same object as before where nothing is different. */
  at({ roster, count }: Tick): Layout {
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

  #make(count: number): Layout {
    const { names } = this.watcher;
    const members = new Map<string | undefined, Map<string, number>>();
    const { grouped, chosen } = this;
    for (let i = 0; i < count; i++) {
      const name = names[i] as string;
      if ((chosen !== undefined && chosen.holds[i] !== 1) || !NAME.test(name)) continue;
      const group = grouped?.names[grouped.numbers[i] ?? 0];
      let some = members.get(group);
      if (some === undefined) {
        some = new Map();
        members.set(group, some);
      }
      some.set(name, i);
    }
    const order = new Uint32Array(count);
    let first = 0;
    const groups = told(members).map(([name, some]): GroupTold => {
      const nodes = fold(some.keys());
      const begin = first;
      // The order of the list is that of the cells, whoever expands it.
      for (const node of expand(nodes)) order[first++] = some.get(node) as number;
      return { name, nodes, first: begin, count: first - begin };
    });
    return { number: ++layouts, order: order.slice(0, first), groups };
  }
}

/** The groups in the order of their names, at most MOST_GROUPS: the rest goes with those that are in none, who come last. */
function told(members: Map<string | undefined, Map<string, number>>): [string | null, Map<string, number>][] {
  const rest = new Map(members.get(undefined));
  members.delete(undefined);
  const named = ([...members] as [string, Map<string, number>][]).sort(([a], [b]) => compareNames(a, b));
  for (const [, some] of named.splice(MOST_GROUPS - 1)) for (const [name, index] of some) rest.set(name, index);
  return rest.size > 0 ? [...named, [null, rest]] : named;
}
