// What goes on, by the lines of a journal: which silences, problems, marks and links that are down have begun and not
// ended.
// For the writer, who repeats them at the head of each segment, and who must not tell anything twice after a restart.

import { BEGINS, ENDS, isCountOfAll, LATER_MS, type Line, monotonicOf, whichOf } from '../journalfile/format.js';
import { BOARD_MOST, expand, fold, NameRanges } from '../text/hostlists.js';
import { getOrInsert } from '../text/maps.js';
import type { EventGroup } from './grouping.js';

/** Something that lasts, and what it happens to. */
const keyOf = (event: string, which: string | undefined, subject: string) => [event, which ?? '', subject].join('\0');

/** Nodes of a line, or its link; the board itself has none. */
function subjectsOf({ nodes, link }: Line): string[] {
  return nodes === undefined ? [link ?? ''] : expand(nodes, BOARD_MOST);
}

/** How often something has happened to a node by a time; none of the others began before `allMs`. CLOCK_MONOTONIC, ms. */
interface Counted {
  readonly times: number;
  readonly atMs: number;
  readonly allMs: number;
}

/** What waits to be told while all is counted has begun within so many ms, unless it happens to senders that are seldom heard. */
const WAITED_MS = 3_600_000;

export class Going {
  /** Lines by id, with what they still hold for. */
  readonly #lines = new Map<string, { line: Line; subjects: Set<string> }>();
  readonly #ids = new Map<string, string>();
  /** What goes on by the lines, and of which the end waits. */
  readonly #over = new Set<string>();
  /** The begin of the last that was told of each kind and subject, CLOCK_MONOTONIC, ms. */
  readonly #told = new Map<string, number>();
  /** How often it had happened by then. */
  readonly #counts = new Map<string, Counted>();
  /** Whether all that had happened to nodes was counted once: who has no count since has none. */
  isCounted = false;

  /** The next line. */
  apply(line: Line): void {
    const { event, from, from_last = from } = line;
    if (event === 'begin') for (const held of [this.#lines, this.#ids]) held.clear();
    if (event === 'removed') this.#forget(new Set(subjectsOf(line)));
    this.isCounted ||= isCountOfAll(line);
    const atMs = from_last === undefined ? line.mono_ms : monotonicOf(line, from_last);
    for (const [nodes, times] of Object.entries(line.counts ?? {}))
      for (const node of NameRanges.of(nodes)?.made() ?? []) {
        const before = this.#counts.get(keyOf('', line.problem, node));
        const allMs = event !== 'counts' ? atMs : before?.times === times ? before.allMs : atMs - WAITED_MS;
        this.count(node, line.problem, { times, atMs, allMs });
      }
    const begin = event in ENDS ? event : BEGINS.get(event);
    if ((begin === undefined && event !== 'boot') || from_last === undefined) return;
    const last = monotonicOf(line, from_last);
    // A line of version 1.0.0 has no counts: it tells of one more.
    const isUncounted = (event === 'silent' || event === 'problem') && line.counts === undefined && !line.repeated;
    for (const subject of subjectsOf(line)) {
      const key = keyOf(begin ?? event, whichOf(line), subject);
      const counted = isUncounted ? this.#counts.get(keyOf('', line.problem, subject)) : undefined;
      if (counted !== undefined)
        this.count(subject, line.problem, { times: counted.times + 1, atMs: last, allMs: last });
      // Told of it alone, its begin is known better than that of nodes which share the line.
      const told = this.#told.get(key) ?? 0;
      this.#told.set(key, told >= monotonicOf(line, from ?? line.at) ? told : last);
      // What is repeated may be over, if the line of its end waits.
      const isOver = line.repeated && this.#over.has(key);
      // The end that is told after a minute may be of one before.
      if (begin !== undefined && (begin === event || !this.#isLater(key, last))) this.#end(key, subject);
      if (begin === event) this.#begin(key, subject, line);
      if (isOver) this.#over.add(key);
    }
  }

  #begin(key: string, subject: string, line: Line): void {
    this.#over.delete(key);
    getOrInsert(this.#lines, line.id, () => ({ line, subjects: new Set() })).subjects.add(subject);
    this.#ids.set(key, line.id);
  }

  /** Whether what goes on began after that, CLOCK_MONOTONIC, ms. */
  #isLater(key: string, ms: number): boolean {
    const line = this.#lines.get(this.#ids.get(key) ?? '')?.line;
    return line?.from !== undefined && monotonicOf(line, line.from) > ms + LATER_MS;
  }

  #end(key: string, subject: string): void {
    const id = this.#ids.get(key);
    const open = id === undefined ? undefined : this.#lines.get(id);
    this.#ids.delete(key);
    this.#over.delete(key);
    open?.subjects.delete(subject);
    if (id !== undefined && open?.subjects.size === 0) this.#lines.delete(id);
  }

  #forget(nodes: ReadonlySet<string>): void {
    for (const key of [...this.#ids.keys()]) {
      const subject = key.slice(key.lastIndexOf('\0') + 1);
      if (nodes.has(subject)) this.#end(key, subject);
    }
  }

  /** Whether that was told of this subject, or anything later of the kind. */
  isTold(event: string, which: string | undefined, subject: string, fromMs: number): boolean {
    const told = this.#told.get(keyOf(event, which, subject));
    return told !== undefined && fromMs <= told + LATER_MS;
  }

  /** It is told, though its line may still wait. */
  tell(event: string, which: string | undefined, subject: string, fromMs: number): void {
    const key = keyOf(event, which, subject);
    this.#told.set(key, Math.max(fromMs, this.#told.get(key) ?? 0));
  }

  /** Its end is told, though that line may still wait. */
  end(event: string, which: string | undefined, subject: string): void {
    this.#over.add(keyOf(event, which, subject));
  }

  /** When the last of the kind began that was told of this subject, CLOCK_MONOTONIC, ms. */
  toldMs(event: string, which: string | undefined, subject: string): number | undefined {
    return this.#told.get(keyOf(event, which, subject));
  }

  /** How many silences of a node, or episodes of that problem, are told of those since then, and up to when. */
  counted(node: string, problem: string | undefined, sinceMs: number): Counted | undefined {
    const found = this.#counts.get(keyOf('', problem, node));
    return found !== undefined && found.atMs >= sinceMs ? found : undefined;
  }

  count(node: string, problem: string | undefined, counted: Counted): void {
    this.#counts.set(keyOf('', problem, node), counted);
  }

  /** How many of a group's nodes are only counted: nothing tells of them, and since when. */
  missed({ what, more, counted }: EventGroup): { missed: number; sinceMs: number } {
    let [missed, sinceMs] = [-more, Number.POSITIVE_INFINITY];
    for (const [node, now] of counted) {
      const before = this.counted(node, what.problem, now.sinceMs) ?? { times: 0, allMs: now.sinceMs };
      if (now.times <= before.times + 1) continue;
      missed += now.times - before.times - 1;
      sinceMs = Math.min(sinceMs, Math.max(before.allMs, now.sinceMs));
    }
    return { missed, sinceMs };
  }

  goesOn(event: string, which: string | undefined, subject: string): boolean {
    const key = keyOf(event, which, subject);
    return this.#ids.has(key) && !this.#over.has(key);
  }

  /** It does not go on, or nobody knows whether it does. */
  drop(event: string, which: string | undefined, subject: string): void {
    this.#end(keyOf(event, which, subject), subject);
  }

  /** What goes on, with the lines' own ids. */
  *repeated(): Generator<Line> {
    for (const { line, subjects } of this.#lines.values()) {
      const { first, counts: _, ring_waits: __, ...rest } = line;
      const nodes = [...subjects];
      yield {
        ...rest,
        ...(line.nodes !== undefined && { nodes: fold(nodes), count: nodes.length }),
        ...(first !== undefined && nodes.length > 1 && subjects.has(first) && { first }),
        repeated: true,
      };
    }
  }
}
