// The events of the board, one line or object each, as they happen. Looks a few times a second.

import { once } from 'node:events';
import { type BoardChange, ChangeFollower } from '../changes/changes.js';
import { BEGINS } from '../journalfile/format.js';
import { defineVerb, parseVerb } from '../options/options.js';
import { kindsOf, objectLines, textLines } from '../presentation/eventlines.js';
import { pause } from '../service/pause.js';
import { withReader } from '../shm/reader.js';
import { painter } from '../terminal/style.js';
import { fold } from '../text/hostlists.js';
import { words } from '../text/tables.js';

export const verb = defineVerb({
  name: 'events',
  options: words('nodes last since until kind follow last-end journal-dir for json color board owner config'),
  letters: { w: 'nodes', n: 'last', f: 'follow' },
  examples: [
    'beoboard events',
    'beoboard events -n 20 -w rack17n[01-48]',
    "beoboard events --since 03:00 --until 03:10 -w 'rack[1-3]n[01-48]' --kind silent,oom",
    'beoboard events --last 1h -f',
    'beoboard events --last-end -w rack11n03',
    'beoboard events --json | jq -r \'select(.event == "state" and .to == "silent") | .node\'',
    'beoboard events --for 1h >events.txt',
  ],
  notes: `Prints a line for each change of a node's state, each problem that comes or goes, and each event of the receiver: restarts, boots,
goodbyes, rejected reports of nodes on the board and why, links that go down, up or dark, full buffers. The first line sums up the nodes.
The board is read four times a second. Nodes with the same event at the same reading share a line, as a host list. --json prints one
object per line and node (docs/json.md).
Changes of state are not on the board: --last N shows only events of the receiver, of which the board keeps 4,096. It follows then,
too: --last 20 --for 0 shows 20 and ends.
While the receiver is stalled, no node changes its state. If the board is replaced, the new one is followed; if it is missing, events
waits for it, except at the start. With --nodes, changes of other nodes are left out.
--since, --until, --kind, --follow, --last-end, --journal-dir and --last TIME read what beoboard journal has written, also where no board
is (docs/journal.md); --follow goes on with the board itself if there is no journal. An event counts if it went on at some time of the span, and is shown once, with its end. A time of day is the last
such time, today or yesterday; --until may be the next one after --since. --follow without a begin starts with what goes on.
It ends with the next line after its output is closed. Exit codes: 0 ended by a signal, --for, or that; 1 a name was
never on the board, or one of several journals is missing; 2 usage; 4 no board, or no journal, at the start.`,
});

/** The time between two looks: the most that an event can be reported late. */
const LOOK_MS = 250;
/** One of so many looks also reads the reports, by which problems are known: one of a second is seen twice. */
const REPORTS_EVERY = 2;

const PAST = ['since', 'until', 'last-end', 'journal-dir'];
const OF_JOURNALS = [...PAST, 'kind', 'follow'];

export async function main(argv: string[]): Promise<number> {
  const { values, given } = parseVerb(verb, argv);
  const stop = new AbortController();
  const { signal } = stop;
  // Registered once: if the reader of our output hangs, the second signal ends the program.
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  if (values.for !== undefined) setTimeout(() => stop.abort(), values.for).unref();
  const isSet = (name: string) => (given.get(name)?.length ?? 0) > 0;
  if (OF_JOURNALS.some(isSet) || 'ms' in values.last) {
    const { journalEvents, NoJournal } = await import('./journalevents.js');
    try {
      return await journalEvents(values, isSet('last'), signal);
    } catch (error) {
      if (!(error instanceof NoJournal) || !values.follow || PAST.some(isSet) || 'ms' in values.last) throw error;
      process.stderr.write('beoboard events: there is no journal: follows the board itself\n');
    }
  }
  const paint = painter(values.color);
  const kinds: ReadonlySet<unknown> | undefined = values.kind && new Set(values.kind);
  // With what has begun its end, as of a journal.
  const isAsked = (change: BoardChange) =>
    kinds === undefined || kindsOf(change).some(kind => kinds.has(kind) || kinds.has(BEGINS.get(String(kind))));
  return await withReader(values.board, values.owner, async reader => {
    const follower = new ChangeFollower(reader, {
      among: values.nodes && new Set(values.nodes),
      last: 'count' in values.last ? values.last.count : 0,
    });
    for (let look = 0; look === 0 || !signal.aborted; look++) {
      const began = performance.now();
      const found = follower.look(look % REPORTS_EVERY === 0);
      const happened = found.filter(isAsked);
      const lines = values.json ? [...objectLines(happened)] : textLines(happened, paint);
      // A slow reader of our output is waited for; events that the board does not keep until then are reported as lost.
      if (lines.length > 0 && !process.stdout.write(lines.join('')))
        await once(process.stdout, 'drain', { signal }).catch(() => undefined);
      const notOnBoard = look === 0 ? follower.notOnBoard() : [];
      if (notOnBoard.length > 0) process.stderr.write(`beoboard events: not on the board: ${fold(notOnBoard)}\n`);
      if (look === 0 && isSet('last') && values.for === undefined)
        process[process.stdout.isTTY && !values.json ? 'stdout' : 'stderr'].write('following; Ctrl-C ends\n');
      if (values.for === 0) break;
      const rest = Math.max(0, began + LOOK_MS - performance.now());
      await pause(rest, signal);
    }
    return follower.notOnBoard().length === 0 ? 0 : 1;
  });
}
