// The same event again and again as one line, on the page and in a terminal. Imports nothing.

/** An event, as a line for people. */
interface ToldLine {
  /** ISO 8601. */
  readonly time: string;
  readonly text: string;
  /** How often the journal has seen it in the minute before, if it has folded that into this one; a number. */
  readonly more?: unknown;
}

/** The same event, as often as it came. */
export interface Repeats<E extends ToldLine> {
  readonly last: E;
  first: E;
  times: number;
}

/** In these the same event may differ: what the journal has folded, and how long it lasted. */
const MORE = /; \d+ more in the minute before$/;
const LASTED = / after [\d.]+[a-z]\S*$/;

/** The events, of which the newest is the last, each kind once, the newest first. */
export function repeatsOf<E extends ToldLine>(events: readonly E[]): Repeats<E>[] {
  const found = new Map<string, Repeats<E>>();
  for (const event of [...events].reverse()) {
    const what = event.text.replace(MORE, '').replace(LASTED, '');
    const same = found.get(what);
    if (same === undefined) found.set(what, { last: event, first: event, times: 1 });
    else {
      same.times += 1 + Number(same.first.more ?? 0);
      same.first = event;
    }
  }
  return [...found.values()];
}

/** The text of the last, and how often it came; `at`: a time in words. */
export const repeatsText = ({ last, first, times }: Repeats<ToldLine>, at: (time: string) => string): string =>
  times === 1 ? last.text : `${last.text.replace(MORE, '')}; ${times} times since ${at(first.time)}`;
