// How often troubles began within the last hour, by the lines of a journal.

import type { Line } from '../journalfile/format.js';
import { BOARD_MOST, expand } from '../text/hostlists.js';
import { getOrInsert } from '../text/maps.js';

const HOUR_MS = 3_600_000;
/** So many lines are counted; of more within an hour, the last ones. */
const LINES_MOST = 16_384;
/** So many keys, or nodes, have a number. */
const KEYS_MOST = 256;
/** From so many times on, a node is told by name. */
const OFTEN = 3;

/** The key that the trouble list has for what begins with a line; undefined: nothing that it counts. */
const keyOf = ({ event, problem }: Line) => (event === 'problem' ? problem : event === 'silent' ? event : undefined);

interface OpenEvent {
  readonly ms: number;
  readonly key: string;
  /** How often each of its nodes had had it by then; NaN: it does not say. */
  readonly counts: Readonly<Record<string, number>>;
  readonly times: number;
}

export class HourCounts {
  /** Since when all lines were given, ms since 1970. */
  #sinceMs: number | undefined;
  #begun: OpenEvent[] = [];

  add(line: Line): void {
    this.#sinceMs ??= Date.parse(line.at);
    const key = keyOf(line);
    if (key === undefined || line.repeated) return;
    const { nodes = '', counts = { [nodes]: Number.NaN }, count = 1, more = 0, missed = 0, from = line.at } = line;
    // Where no line before it has its counts, nobody knows which of its nodes had the repetitions: each gets its share.
    const times = 1 + Math.floor((more + missed) / Math.max(1, count));
    this.#begun.push({ ms: Date.parse(from), key, counts, times });
    if (this.#begun.length > LINES_MOST) this.#begun.shift();
  }

  /** How often, by key and node, within the hour before that time. */
  #times(nowMs: number): ReadonlyMap<string, ReadonlyMap<string, number>> {
    this.#begun = this.#begun.filter(({ ms }) => ms >= nowMs - HOUR_MS);
    const found = new Map<string, Map<string, number>>();
    const last = new Map<string, number>();
    for (const { key, counts, times } of this.#begun) {
      const subjects = getOrInsert(found, key, () => new Map());
      for (const [nodes, count] of Object.entries(counts))
        for (const subject of expand(nodes, BOARD_MOST)) {
          const grown = count - (last.get(`${key} ${subject}`) ?? Number.NaN);
          subjects.set(subject, (subjects.get(subject) ?? 0) + (grown > 0 ? grown : times));
          last.set(`${key} ${subject}`, count);
        }
    }
    return found;
  }

  /**
   * By the keys of the trouble list (`silent`, or a problem): how often it began within the hour before that
   * time, for the node that had it most. Undefined: the journal does not cover that hour.
   */
  most(nowMs: number): Readonly<Record<string, number>> | undefined {
    if (this.#sinceMs === undefined || this.#sinceMs > nowMs - HOUR_MS) return undefined;
    const mostOf = (times: Iterable<number>) => [...times].reduce((a, b) => Math.max(a, b), 0);
    const found = [...this.#times(nowMs)].map(([key, subjects]) => [key, mostOf(subjects.values())] as const);
    return Object.fromEntries(found.sort((a, b) => b[1] - a[1]).slice(0, KEYS_MOST));
  }

  /** By key and node: how often it began within that hour, or since the journal began, if three times or more. */
  often(nowMs: number): Readonly<Record<string, Readonly<Record<string, number>>>> {
    const found: Record<string, Record<string, number>> = {};
    let left = KEYS_MOST;
    for (const [key, subjects] of this.#times(nowMs))
      for (const [node, times] of subjects)
        if (times >= OFTEN && left-- > 0) found[key] = { ...found[key], [node]: times };
    return found;
  }
}
