// Long lists in files of our own, in files that somebody names, and in the programs in C and Python: they are read whole
// up to the names of a board. Counted are the numbers that become parts of names; memory and CPU have a bound.
//
// @seconds 7
// @rest
// @days 3

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Going } from '../../src/journal/going.js';
import { HourCounts } from '../../src/journal/hourcounts.js';
import { Store } from '../../src/journal/store.js';
import { type Line, SHARERS } from '../../src/journalfile/format.js';
import { Journal } from '../../src/journalfile/journal.js';
import { lastEnds } from '../../src/journalfile/lastends.js';
import { Listing, merged, type ToldEvent } from '../../src/journalfile/listing.js';
import { believedUsers, JournalFolder } from '../../src/journalfile/segments.js';
import { PowerSaving } from '../../src/schedulers/powersaving.js';
import { BOARD_MOST, expandLines, NameRanges, NodesetError } from '../../src/text/hostlists.js';
import { compiled } from '../kit/compiling.js';
import { keepAlive } from '../kit/heart.js';
import { MadeJournal } from '../kit/journals.js';
import { LISTS, numbersMade } from '../kit/longlists.js';
import { folder, ROOT } from '../kit/places.js';
import { makeBoard } from '../kit/stateboard.js';
import { SEED, todayOf } from '../kit/whole.js';

/** So many numbers are made at most: names come, go, and are folded again. */
const MOST = 10 * BOARD_MOST;
/** The process may have so many MiB. */
const MOST_MIB = 1500;
const ALL = { sinceMs: 0, untilMs: Number.POSITIVE_INFINITY };
const sizeOf = (list: string) => NameRanges.of(list)?.size ?? Number.POSITIVE_INFINITY;

/** The folder of a journal with nodes that fall silent and come back, by the lists; n[7-8] stay silent. */
function journalOf(lists: readonly string[]): string {
  const journal = new MadeJournal(folder(t));
  for (const [i, nodes] of [...lists, 'n[7-8]'].entries()) {
    const [from, to] = ['01:00:00', '01:00:09'];
    journal.line('01:00:05', { event: 'silent', from, nodes, last_words: [] });
    if (i === lists.length) break;
    journal.line('01:00:10', { event: 'heard_again', from, to, nodes });
    journal.line('01:00:11', { event: 'acknowledged', key: 'silent', until: '2036-01-01T00:00:00.000Z', nodes });
  }
  return journal.folder;
}

const opened = (path: string) => new Journal(new JournalFolder(path, believedUsers(undefined)));
const DOORS: Readonly<Record<string, (lists: readonly string[]) => unknown>> = {
  'a journal': lists => {
    const path = journalOf(lists);
    const tellOf = (nodes?: string): [ToldEvent[], Journal] => {
      const journal = opened(path);
      const asked = nodes === undefined ? ALL : { ...ALL, nodes: new Set([nodes, 'm1']) };
      return [[...merged([new Listing(journal, asked)])], journal];
    };
    const [told, { unreadable }] = tellOf();
    t.match(told.find(({ goesOn }) => goesOn)?.line, { nodes: 'n[7-8]', count: 2 });
    t.equal(new Set(told.map(({ line }) => line.id)).size, told.length);
    const whole = lists.filter(list => sizeOf(list) <= SHARERS).length;
    t.ok(told.filter(({ ending }) => ending).length >= whole, 'those that any board may have are whole');
    const longer = lists.filter(list => sizeOf(list) > SHARERS && sizeOf(list) <= BOARD_MOST).length;
    const isLonger = ({ event, count = 0 }: Line) => event === 'silent' && count > SHARERS;
    t.equal(told.filter(({ line }) => isLonger(line)).length, Math.min(1, longer), 'and one that the largest has');
    const acks = told.filter(({ line }) => line.event === 'acknowledged').length;
    t.equal(acks, lists.filter(list => sizeOf(list) <= BOARD_MOST).length, 'an acknowledgement makes no names');
    t.ok(told.length + unreadable >= 3 * lists.length - acks, 'what is left out is counted');
    t.match(
      tellOf('n7')[0].find(({ goesOn }) => goesOn),
      { of: 2, line: { nodes: 'n7' } },
    );
    t.match(lastEnds(opened(path), { ...ALL, nodes: new Set(['n8']) }), [{ nodes: 'n8', heardMs: undefined }]);
  },
  'the last ends in a journal': lists => {
    const ends = lastEnds(opened(journalOf(lists)), ALL);
    t.equal(ends.find(({ nodes }) => nodes === 'n[7-8]')?.count, 2);
  },
  'a journal that starts again': lists => {
    const bounds = { keepMs: Number.POSITIVE_INFINITY, mostBytes: 1 << 30 };
    const store = new Store(
      journalOf(lists),
      bounds,
      () => [],
      () => ({}) as Line,
    );
    const [going, counts] = [new Going(), new HourCounts()];
    for (const line of store.readPast()) {
      going.apply(line);
      counts.add(line);
    }
    t.same(
      [...going.repeated()].map(({ nodes }) => nodes),
      ['n[7-8]'],
    );
  },
  'a file of lists': lists => {
    try {
      expandLines(lists.join('\n'), 'f');
    } catch (error) {
      if (!(error instanceof NodesetError)) throw error;
    }
  },
  'what the gate skips': lists => {
    const text = ['x[7-8]', ...lists, ...lists.map(list => `# has been in it: ${list}`)].join('\n');
    t.same(new PowerSaving(text).names.slice(0, 1).length, 1);
  },
};

/** Half of them, others each day. */
const TODAY = todayOf(Object.entries(LISTS), 2);
/** Journals take seconds for a million nodes that come and go: another list each day. */
const OF_JOURNALS = ['more than anybody counts', 'a thousand lists of a million', 'nested brackets'].slice(SEED % 3);

for (const [door, take] of Object.entries(DOORS))
  t.test(door, async t => {
    for (const [what, lists] of door.includes('journal') ? Object.entries(LISTS) : TODAY) {
      if (door.includes('journal') && what !== OF_JOURNALS[0]) continue;
      const made = await numbersMade(() => take(lists));
      const characters = lists.reduce((sum, list) => sum + list.length, 0);
      t.ok(made <= MOST + 4 * characters, `${what}: ${made} numbers for ${characters} characters`);
    }
  });

t.test('a list that is repeated counts each time', async t => {
  const made = await numbersMade(() => t.throws(() => expandLines('n[1-400000]\n'.repeat(1000), 'f'), NodesetError));
  t.ok(made <= BOARD_MOST, `${made} numbers`);
});

t.test('memory', async t => {
  // By the kernel's own count, in KiB.
  const mib = process.resourceUsage().maxRSS / 1024;
  t.ok(mib < MOST_MIB, `${mib} MiB`);
});

const PYTHON = `import runpy, sys
hosts = runpy.run_path(sys.argv[1])
try:
    print(sum(1 for _ in hosts["each"](",".join(open(sys.argv[2]).read().split()))))
except hosts["HostListError"] as error:
    print(str(error)[:200])`;

t.test('the programs in C and Python', t => {
  const { path: board } = makeBoard(t, { live: ['n1', 'n7'] });
  keepAlive(t, board);
  const file = join(folder(t), 'lists');
  const nodes = compiled(t, 'verbs', 'beoboard-nodes');
  // KiB of memory, and seconds of CPU.
  const within = (command: string) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', `ulimit -v 400000; ulimit -t 30; ${command}`]);
    return [status, `${stdout}`.slice(0, 200), `${stderr}`.slice(0, 200)];
  };
  for (const [what, lists] of TODAY) {
    writeFileSync(file, `${lists.join('\n')}\n`);
    const asked = within(`exec '${nodes}' --board '${board}' --nodes '@${file}'`);
    const among = within(`exec python3 -c '${PYTHON}' ${ROOT}/python/beoboard/_hosts.py '${file}'`);
    const isTaken = lists.reduce((sum, list) => sum + sizeOf(list), 0) <= BOARD_MOST;
    t.match(
      asked,
      isTaken ? [1, /^(n[17[]|$)/, /^beoboard-nodes: not on the board: [nr]/] : [2, '', 'beoboard-nodes: '],
      what,
    );
    t.match(among, [0, isTaken ? /^\d+\n$/ : 'host list, column ', ''], what);
  }
  t.end();
});
