// What is new in journals, line by line.

import { BEGINS, type Line } from './format.js';
import type { Journal, Place } from './journal.js';
import { areAsked, type EventQuery, isKind, type ToldEvent, toldOf } from './listing.js';
import { NoJournal } from './segments.js';

/** The lines that were written since the last look, with the ends of what is asked for, in the order of their times. */
export function news(journals: readonly Journal[], asked: Pick<EventQuery, 'nodes' | 'kinds'>): ToldEvent[] {
  const found: { fromMs: number; told: ToldEvent }[] = [];
  for (const journal of journals) {
    const lines: [Line, Place][] = [];
    try {
      journal.readOn((line, place, nodes) => {
        const isAsked = isKind(line.event, line, asked) || isKind(BEGINS.get(line.event) ?? '', line, asked);
        // What goes on stands at the head of each segment, and was told when it began.
        if (isAsked && areAsked(nodes, asked) && !line.repeated) lines.push([line, place]);
      });
    } catch (error) {
      // A journal that is gone now may come back, so following goes on.
      if (!(error instanceof NoJournal)) throw error;
    }
    for (const [line, place] of lines)
      found.push({
        fromMs: Date.parse(line.to ?? line.from ?? line.at),
        told: toldOf(journal, line, place, asked.nodes),
      });
  }
  return found.sort((a, b) => a.fromMs - b.fromMs).map(({ told }) => told);
}
