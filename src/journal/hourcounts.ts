// How often troubles began within the last hour, by the lines of a journal.

import type { Line } from '../journalfile/format.js';
import { BOARD_MOST, expand } from '../text/hostlists.js';
import { oneLine } from '../text/text.js';

const HOUR_MS = 3_600_000;
/** So many lines are counted; of more within an hour, the last ones. */
const LINES_MOST = 16_384;
/** So many keys, or nodes, have a number. */
const KEYS_MOST = 256;
/** From so many times on, a node is told by name. */
const OFTEN = 3;

/** The key that the trouble list has for what begins with a line; undefined: nothing that it counts. */
function keyOf({ event, problem, link }: Line): string | undefined {
  if (event === 'problem') return problem;
  if (event === 'link_down' || event === 'dark') return `link:${oneLine(link ?? '')}`;
  return event === 'silent' ? event : undefined;
}

interface OpenEvent {
  readonly ms: number;
  readonly key: string;
  /** Empty: of a link. */
  readonly nodes: string;
  readonly times: number;
}

export class HourCounts {
  /** Since when all lines were given, ms since 1970. */
  #sinceMs: number | undefined;
  #begun: OpenEvent[] = [];
  readonly #times = new Map<string, Map<string, number>>();

  add(line: Line): void {
    this.#sinceMs ??= Date.parse(line.at);
    const key = keyOf(line);
    if (key === undefined || line.repeated) return;
    const { nodes = '', count = 1, more = 0, missed = 0, from = line.at } = line;
    // A line that several nodes share does not say which of them had the repetitions (`more`), so each gets its share.
    const begun = { ms: Date.parse(from), key, nodes, times: 1 + Math.floor((more + missed) / Math.max(1, count)) };
    this.#begun.push(begun);
    this.#count(begun, 1);
    if (this.#begun.length > LINES_MOST) this.#count(this.#begun.shift() as OpenEvent, -1);
  }

  #count({ key, nodes, times }: OpenEvent, sign: 1 | -1): void {
    const subjects = this.#times.get(key) ?? new Map<string, number>();
    this.#times.set(key, subjects);
    for (const subject of nodes === '' ? [''] : expand(nodes, BOARD_MOST)) {
      const now = (subjects.get(subject) ?? 0) + sign * times;
      if (now > 0) subjects.set(subject, now);
      else subjects.delete(subject);
    }
    if (subjects.size === 0) this.#times.delete(key);
  }

  /**
   * By the keys of the trouble list (`silent`, a problem, `link:NAME`): how often it began within the hour before that
   * time, for the node that had it most. Undefined: the journal does not cover that hour.
   */
  most(nowMs: number): Readonly<Record<string, number>> | undefined {
    if (this.#sinceMs === undefined || this.#sinceMs > nowMs - HOUR_MS) return undefined;
    this.#forget(nowMs);
    const found = [...this.#times].map(([key, subjects]) => {
      let most = 0;
      for (const times of subjects.values()) most = Math.max(most, times);
      return [key, most] as const;
    });
    return Object.fromEntries(found.sort((a, b) => b[1] - a[1]).slice(0, KEYS_MOST));
  }

  /** By key and node: how often it began within that hour, or since the journal began, if three times or more. */
  often(nowMs: number): Readonly<Record<string, Readonly<Record<string, number>>>> {
    this.#forget(nowMs);
    const found: Record<string, Record<string, number>> = {};
    let left = KEYS_MOST;
    for (const [key, subjects] of this.#times)
      for (const [node, times] of subjects)
        if (node !== '' && times >= OFTEN && left-- > 0) {
          found[key] ??= {};
          found[key][node] = times;
        }
    return found;
  }

  #forget(nowMs: number): void {
    const fromMs = nowMs - HOUR_MS;
    for (const old of this.#begun) if (old.ms < fromMs) this.#count(old, -1);
    this.#begun = this.#begun.filter(({ ms }) => ms >= fromMs);
  }
}
