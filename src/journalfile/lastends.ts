// How each node ended the last time: it fell silent, or was booted, or both.

import { fold } from '../text/hostlists.js';
import { getOrInsert } from '../text/maps.js';
import type { Line } from './format.js';
import type { Journal, Place } from './journal.js';
import { askedNodes, clockSetMs, compareEnd, type EventQuery, type ToldEvent, toldOf } from './listing.js';

/** The last end of nodes that ended together. */
export interface LastEnd extends Pick<ToldEvent, 'jobs' | 'jobsLeftOut'> {
  readonly board: string;
  /** When it fell silent, or was booted without a silence, ms since 1970. */
  readonly fromMs: number;
  readonly nodes: string;
  readonly count: number;
  /** The line of the silence, and of the boot that followed it or came without one. */
  readonly silent?: Line | undefined;
  readonly boot?: Line | undefined;
  /** When the nodes were heard again after the silence, ms since 1970: the first and the last of them. */
  readonly heardMs?: readonly [first: number, last: number] | undefined;
  /** For so long they or their senders had stood still then, ms. */
  readonly stillMs?: number | undefined;
}

/** A line, and where its jobs are found. */
interface LocatedLine {
  readonly line: Line;
  readonly place: Place;
}

/** The last end of a node. */
interface NodeEnd {
  silent?: LocatedLine | undefined;
  boot?: LocatedLine | undefined;
  heardMs?: number;
  stillMs?: number | undefined;
}

/** A boot is the end of a silence if both stand so close together, ms: nodes that share a line are 2 s apart. */
const CLOSE_MS = 4000;

/** Whether a boot followed the silence of that end: then nothing was heard in between, and no goodbye. */
function isEndOf({ silent, boot, heardMs }: NodeEnd, line: Line): boolean {
  const { from, goodbye, words_from } = line;
  if (silent === undefined || boot !== undefined || goodbye) return false;
  const { from: fell, from_last: fellLast = fell } = silent.line;
  const setMs = clockSetMs(silent.line, line);
  if (words_from !== undefined && ms(words_from) + setMs - ms(fellLast) > CLOSE_MS) return false;
  return heardMs === undefined || Math.abs(ms(from) + setMs - heardMs) <= CLOSE_MS;
}

const ms = (time: string | undefined) => Date.parse(time ?? '');

const beganMs = ({ silent, boot }: NodeEnd) => ms((silent ?? boot)?.line.from);

/** The last end of each node of a journal within the span. */
export function lastEnds(journal: Journal, asked: EventQuery): LastEnd[] {
  const ends = new Map<string, NodeEnd>();

  function take(node: string, found: LocatedLine): void {
    const { line } = found;
    const end = ends.get(node);
    const isIn = ms(line.from) <= asked.untilMs;
    switch (line.event) {
      case 'silent':
        if (isIn && end?.silent?.line.id !== line.id) ends.set(node, { silent: found });
        break;
      case 'heard_again': {
        const order = end?.silent === undefined ? 1 : compareEnd(end.silent.line, line);
        const setMs = order === 0 && end?.silent ? clockSetMs(end.silent.line, line) : 0;
        const heard = { heardMs: ms(line.to) + setMs, stillMs: line.stood_still_ms };
        if (order === 0 && end !== undefined) ends.set(node, { ...heard, ...end });
        // Of a node that falls silent again within a minute, only the end may stand there.
        else if (order > 0 && isIn) ends.set(node, { silent: found, ...heard });
        break;
      }
      case 'boot':
        if (end !== undefined && isEndOf(end, line)) end.boot = found;
        else if (isIn) ends.set(node, { boot: found });
    }
  }

  journal.read(asked.sinceMs, (line, place, nodes) => {
    if (line.event === 'silent' || line.event === 'heard_again' || line.event === 'boot') {
      const found = { line, place };
      for (const node of askedNodes(nodes, asked)) take(node, found);
    }
  });

  const together = new Map<string, { end: NodeEnd; nodes: string[]; heardMs: [first: number, last: number] }>();
  for (const [node, end] of ends) {
    const { silent, boot, heardMs, stillMs } = end;
    const overMs = silent === undefined ? ms(boot?.line.from) : (heardMs ?? Number.POSITIVE_INFINITY);
    if (overMs < asked.sinceMs) continue;
    const key = [silent?.line.id, boot?.line.id, heardMs === undefined, stillMs].join();
    const group = getOrInsert(together, key, () => ({
      ...{ end, nodes: [], heardMs: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as [number, number] },
    }));
    group.nodes.push(node);
    if (heardMs === undefined) continue;
    group.heardMs = [Math.min(group.heardMs[0], heardMs), Math.max(group.heardMs[1], heardMs)];
  }
  return [...together.values()]
    .sort((a, b) => beganMs(a.end) - beganMs(b.end))
    .map(({ end, nodes, heardMs }) => {
      const told = end.silent && toldOf(journal, end.silent.line, end.silent.place, new Set(nodes));
      return {
        ...{ board: journal.board, fromMs: beganMs(end), nodes: fold(nodes), count: nodes.length },
        ...{ silent: end.silent?.line, boot: end.boot?.line, stillMs: end.stillMs },
        heardMs: end.heardMs === undefined ? undefined : heardMs,
        jobs: told?.jobs ?? [],
        jobsLeftOut: told?.jobsLeftOut,
      };
    });
}
