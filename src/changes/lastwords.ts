// What a node said before it fell silent or was booted, by its last two reports: facts, and no causes. Worded here for
// all who say it.

import { meanings } from '../layout/terms.gen.js';
import { type LastWord, type LastWords, STILL_MOST_MS } from '../shm/memory.js';
import { plural, timeOf } from '../shm/sentences.js';
import type { Node, Snapshot } from '../shm/snapshot.js';
import { formatDuration } from '../text/durations.js';
import { shownNames } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import { counted, oneLine } from '../text/text.js';

/** The contract's rows, and one that takes other nodes, so that only a reader can say it. */
export type SaidWord = LastWord | 'hottest';

/** The last report, and what it said; no rows: nothing in it explains what happened then. */
export interface Saying extends Pick<LastWords, 'reportedMs'> {
  readonly rows: readonly SaidWord[];
}

const MEANING: Readonly<Record<SaidWord, string>> = {
  ...meanings.last_words,
  hottest: 'its hottest sensor was at least 5 °C above those of all live nodes of its hardware',
};

/** So much hotter than any live node of the same hardware, in tenths of a degree. */
const HOTTER_DC = 50;

/** The hottest sensor of all live nodes of each hardware, in tenths of a degree. */
function warmestOf(snapshot: Snapshot): ReadonlyMap<number, number> {
  const warmest = new Map<number, number>();
  for (let i = 0; i < snapshot.count; i++) {
    if (snapshot.stateOf(i) !== 'live') continue;
    const heat = snapshot.heatOf(i);
    if (heat !== undefined && heat.dc > (warmest.get(heat.hardware) ?? Number.NEGATIVE_INFINITY))
      warmest.set(heat.hardware, heat.dc);
  }
  return warmest;
}

/** The last words of the silent nodes of a board. */
export class LastReports {
  #warmest: ReadonlyMap<number, number> | undefined;

  /** `all`: a look at all its nodes; undefined: nothing is compared. */
  constructor(readonly all: Snapshot | undefined) {}

  /** Undefined: it is not silent. */
  of({ snapshot, index }: Pick<Node, 'snapshot' | 'index'>): Saying | undefined {
    const words = snapshot.silentWordsOf(index);
    if (words === undefined || this.all === undefined) return words;
    const heat = snapshot.heatOf(index);
    if (heat === undefined) return words;
    this.#warmest ??= warmestOf(this.all);
    const warmest = this.#warmest.get(heat.hardware);
    const isHottest = warmest !== undefined && heat.dc >= warmest + HOTTER_DC;
    return isHottest ? { ...words, rows: [...words.rows, 'hottest'] } : words;
  }
}

/** In words, which may share a line as far as there is room. */
export function saidFacts(rows: readonly SaidWord[]): string[] {
  return rows.length === 0 ? ['nothing that explains it'] : rows.map(row => MEANING[row]);
}

/**
 * What the reports said that ended the silences of so many nodes: `the node or its sender stood still for 13.6s`;
 * undefined: nothing. `known`: for how many these times are.
 */
export function stoodStill(ms: readonly number[], nodes: number, known = ms.length): string | undefined {
  if (ms.length === 0) return undefined;
  const sorted = ms.toSorted((a, b) => a - b);
  const [least, most] = [sorted[0], sorted.at(-1)].map((one = 0) =>
    one >= STILL_MOST_MS ? 'over 71 min' : formatDuration(one),
  );
  const all = nodes === 1 ? 'the node or its sender' : 'the nodes or their senders';
  const who = known === nodes ? all : `${known} of them`;
  return `${who} stood still for ${least === most ? least : `${least} to ${most}`}`;
}

/** In words that follow an event of so many nodes, of which each stood still for so long, or said these rows last. */
export function afterEvent(stillMs: number | undefined, rows: readonly SaidWord[] | undefined, nodes: number): string {
  if (stillMs !== undefined) return `; ${stoodStill([stillMs], nodes, nodes)}`;
  return rows === undefined ? '' : `; ${afterwards(rows, nodes)}`;
}

/** In words that follow an event of so many nodes: `its last report: hardly any memory was available`. */
export function afterwards(rows: readonly SaidWord[], nodes: number): string {
  return `${nodes === 1 ? 'its last report' : 'their last reports'}: ${saidFacts(rows).join(', ')}`;
}

/** For programs: see LAST_WORDS in shapes.ts. */
export function saidJson({ reportedMs, rows }: Saying) {
  return { reported_ms: reportedMs, said: rows };
}

interface SilencedNode {
  readonly name: string;
  readonly saying: Saying;
}

/** So many sets of last words get a sentence each. */
const EACH_MOST = 3;

function textOf(board: Snapshot, nodes: readonly SilencedNode[]): string {
  const ages = nodes.map(({ saying }) => saying.reportedMs);
  const [first, last] = [Math.max(...ages), Math.min(...ages)].map(age => timeOf(board, age));
  const one = nodes.length === 1;
  const who = one
    ? oneLine(nodes[0]?.name ?? '')
    : `${plural(nodes.length)} (${shownNames(nodes.map(({ name }) => name))})`;
  const when = first === last ? `at ${first}` : `from ${first} to ${last}`;
  const rows = nodes[0]?.saying.rows ?? [];
  const what =
    rows.length > 0
      ? saidFacts(rows).join(', ')
      : `nothing in ${one ? 'that report explains its' : 'those reports explains their'} silence`;
  return `${who} last reported ${when}: ${what}`;
}

/** One sentence for all nodes with the same last words, of most nodes first; none for who said nothing. */
export function lastWordsTexts<N extends SilencedNode>(
  board: Snapshot,
  silenced: readonly N[],
): { text: string; nodes: N[] }[] {
  const kinds = groupBy(silenced, ({ saying }) => saying.rows.join());
  const silent = kinds.get('') ?? [];
  kinds.delete('');
  const telling = [...kinds.values()].sort((a, b) => b.length - a.length);
  const found = telling.slice(0, EACH_MOST).map(nodes => ({ text: textOf(board, nodes), nodes }));
  const more = telling.slice(EACH_MOST).flat();
  if (more.length > 0)
    found.push({
      text: `${counted(more.length, 'more node')} (${shownNames(more.map(({ name }) => name))}) last reported other things: see beoboard show`,
      nodes: more,
    });
  if (silent.length > 0) found.push({ text: textOf(board, silent), nodes: silent });
  return found;
}
