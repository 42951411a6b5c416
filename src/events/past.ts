// How nodes stood before somebody began to look, as the journal of the board tells it.

import { type Line, whichOf } from '../journalfile/format.js';
import { Journal } from '../journalfile/journal.js';
import { believedUsers, JournalFolder } from '../journalfile/segments.js';
import { runningJournal } from '../journalfile/state.js';
import type { State } from '../shm/liveness.js';
import { NoBoard } from '../shm/noboard.js';
import type { BoardReader } from '../shm/reader.js';
import { Failure } from '../text/failure.js';

/** So nodes stood, or the board where there are none; times in ms since 1970; an infinite end: nothing tells it. */
interface PastSpell {
  readonly nodes: readonly string[];
  readonly what: State | 'unhealthy' | 'stalled' | 'closed' | 'absent' | 'gone';
  readonly fromMs: number;
  readonly toMs: number;
}

/** Of what no spell tells, nodes were as they are, if that is `left` or `never`, and otherwise live. */
export interface Past {
  readonly sinceMs: number;
  readonly spells: readonly PastSpell[];
}

/** Undefined: there is no journal that runs and can be read, or no board. */
export function pastOf(reader: BoardReader, journals: string, fromMs: number): Past | undefined {
  const running = runningJournal(journals, reader.path);
  if ('why' in running) return undefined;
  const journal = new Journal(new JournalFolder(running.path, believedUsers(reader.owner)));
  const spells: PastSpell[] = [];
  const going = new Map<string, Omit<PastSpell, 'toMs'>>();
  try {
    const { uncertain_after_ns = 0n, silent_after_ns = 0n } = reader.nodeStates().board.header;
    const [doubtMs, silentMs] = [uncertain_after_ns, silent_after_ns].map(ns => Number(ns) / 1e6) as [number, number];
    const add = (what: PastSpell['what'], begunMs: number, toMs: number, nodes: readonly string[]) => {
      if (toMs < fromMs) return;
      const since = what === 'silent' ? begunMs + silentMs : begunMs;
      if (what === 'silent')
        spells.push({ nodes, what: 'uncertain', fromMs: begunMs + doubtMs, toMs: Math.min(toMs, since) });
      spells.push({ nodes, what, fromMs: since, toMs });
    };
    const ended = (key: string, toMs: number) => {
      const begun = going.get(key);
      if (begun !== undefined) add(begun.what, begun.fromMs, toMs, begun.nodes);
      going.delete(key);
    };
    const take = (line: Line, names: readonly string[]) => {
      const { event, at, from = at, to = from } = line;
      const [atMs, toMs, which] = [Date.parse(from), Date.parse(to), whichOf(line)];
      const begin = (what: PastSpell['what'], kind: string) => {
        for (const node of names) going.set(`${kind} ${which} ${node}`, { nodes: [node], what, fromMs: atMs });
      };
      if (/^(boot|restart|new|heard_again)$/.test(event)) for (const node of names) ended(`left  ${node}`, toMs);
      if (event === 'silent') begin('silent', 'silent');
      else if (event === 'problem') begin('unhealthy', 'problem');
      else if (event === 'heard_again' || event === 'problem_resolved') {
        for (const node of names) going.delete(`${event === 'heard_again' ? 'silent' : 'problem'} ${which} ${node}`);
        add(event === 'heard_again' ? 'silent' : 'unhealthy', atMs, toMs, names);
      } else if (event === 'goodbye') {
        add('live', fromMs, atMs, names);
        begin('left', 'left');
      } else if (event === 'new') add('gone', 0, atMs, names);
      else if (event === 'begin')
        going.clear(); // What still goes on is repeated behind it.
      else if (event === 'stalled' || event === 'no_board') {
        const what = event === 'no_board' ? 'absent' : line.closed ? 'closed' : 'stalled';
        going.set('board', { nodes: [], what, fromMs: atMs });
      } else if (event === 'resumed' || event === 'board') ended('board', toMs);
    };
    journal.read(fromMs, (line, _, names) => take(line, [...names.made()]));
    for (const { nodes, what, fromMs } of going.values())
      if (nodes.length > 0) add(what, fromMs, Number.POSITIVE_INFINITY, nodes);
  } catch (error) {
    const isOutside = error instanceof Failure || error instanceof NoBoard || 'code' in (error as object);
    if (!isOutside) throw error;
    return undefined;
  } finally {
    journal.close();
  }
  return { sinceMs: Math.max(fromMs, journal.beginsMs ?? fromMs), spells };
}
