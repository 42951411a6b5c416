// What was found out about the names in a kernel file, from tick to tick. Looking at a name costs system calls: in a
// tick, only names that are new are looked at, and a share of the others in turn. So thousands of names, and names that
// come and go, do not delay a report.

import { sameNames } from './kerneltext.js';

/** Names that are looked at in one tick; all of them in the first one, before which there is no report. */
export const MOST_LOOKS = 256;
/** So many of them are others than new ones. */
const MOST_AGAIN = 64;
/** A pass over all names begins when they have changed, and after so many ticks. */
const SELDOM = 10;

/** Of a name in two ticks, whether its counts moved by so much at once that they may be another member's. */
export function leaps(before: object | undefined, now: object): boolean {
  const all = (counts: object) =>
    Object.values(counts).reduce((all, count) => (typeof count === 'string' ? all : all + Number(count)), 0);
  if (before === now || before === undefined) return before !== now;
  const [was, is] = [all(before), all(now)];
  return is < was || is - was > Math.min(Math.floor(was / 64), 2 ** 21);
}

export class KnownNames<T> {
  /** By name. */
  readonly rows = new Map<string, T>();
  changes = 0;
  #names: readonly string[] = [];
  /** Ticks to the next pass. */
  #left = 0;
  /** The place of this pass; infinite at its end. */
  #at = Number.POSITIVE_INFINITY;
  #isFresh = true;
  isWhole = false;

  /** Begins a tick. Returns the names to look at, for which the caller sets rows. */
  meet(things: readonly { name: string }[]): Set<string> {
    const isChanged = !sameNames(things, this.#names);
    if (isChanged) this.#take(things);
    if ((isChanged || this.#left === 0) && this.#at === Number.POSITIVE_INFINITY) {
      this.#at = 0;
      this.#left = SELDOM;
    }
    if (this.#left > 0) this.#left--;
    const most = this.#isFresh ? Number.POSITIVE_INFINITY : MOST_LOOKS;
    this.#isFresh = false;
    const due = new Set<string>();
    for (let i = 0; !this.isWhole; i++) {
      const name = this.#names[i];
      if (name === undefined) this.isWhole = true;
      else if (this.rows.has(name) || due.has(name)) continue;
      else if (due.size < most) due.add(name);
      else return due;
    }
    const end = Math.min(most, due.size + MOST_AGAIN);
    for (; this.#at < this.#names.length && due.size < end; this.#at++) due.add(this.#names[this.#at] ?? '');
    if (this.#at >= this.#names.length) this.#at = Number.POSITIVE_INFINITY;
    return due;
  }

  #take(things: readonly { name: string }[]): void {
    this.#names = things.map(({ name }) => name);
    this.changes++;
    this.isWhole = false;
    const names = new Set(this.#names);
    for (const name of this.rows.keys()) if (!names.has(name)) this.rows.delete(name);
  }
}
