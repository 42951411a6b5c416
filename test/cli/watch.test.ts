// status --watch: keys, the state machine, the screen (made boards, test/golden/watch.txt; to write it again, after
// looking at why: node dist/test/cli/watch.test.js --write), and all of it on a pseudo terminal.
//
// @seconds 17
// @rest

import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { TroubleInfo } from '../../src/acks/info.js';
import { totalsTexts } from '../../src/cli/totalstext.js';
import { type BoardSeen, bodyOf, frame } from '../../src/cli/watchframe.js';
import { jobsSeen } from '../../src/cli/watchjobs.js';
import {
  choiceOf,
  type ShownScreen as OnScreen,
  press,
  refined,
  settled,
  type WatchView,
} from '../../src/cli/watchstate.js';
import { bits } from '../../src/layout/layout.gen.js';
import type { Grouping } from '../../src/options/options.js';
import { Roster, worstFirst } from '../../src/query/sorting.js';
import { survey } from '../../src/query/survey.js';
import { readingNames, readingOf } from '../../src/readings/readings.js';
import { Pairing, SchedulerView } from '../../src/schedulerfile/schedulerview.js';
import { monotonicMs, type StateResult, stateText } from '../../src/schedulerfile/statefile.js';
import { replaceFile } from '../../src/service/replacefile.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { flushed, readKeys } from '../../src/terminal/keystrokes.js';
import { clip, difference } from '../../src/terminal/screen.js';
import { painter } from '../../src/terminal/style.js';
import { BOARD_MOST, expand, fold } from '../../src/text/hostlists.js';
import { widthOf } from '../../src/text/layout.js';
import { shellWord } from '../../src/text/text.js';
import { troubleOf } from '../../src/trouble/trouble.js';
import { busy, EVERYTHING, type MadeBoard, type MadeNode, madeBoard, tenThousand } from '../kit/madeboard.js';
import { atLook, madeJob, madeState } from '../kit/madejobs.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { PROGRAM, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { NO_SHELL, onShell } from '../kit/shell.js';
import { familyOf } from '../kit/starving.js';
import { NO_TERMINAL, onTerminal, Shown } from '../kit/terminal.js';
import { until } from '../kit/until.js';

const GOLDEN = join(ROOT, 'test', 'golden', 'watch.txt');
// Times of day are shown in this time zone.
process.env.TZ = 'UTC';
t.setTimeout(600_000);

const START: WatchView = {
  page: 'table',
  sort: undefined,
  exceptions: false,
  long: true,
  filter: {},
  selected: { row: 0 },
  top: 0,
  scrolled: 0,
};

const sixty: MadeNode[] = expand('node[01-60]', BOARD_MOST).map((name, i) => ({
  name,
  age: 0.4 + i / 100,
  ...busy(i),
}));
sixty[2] = { name: 'node03', age: 190, ...busy(63.5) };
sixty[4] = { name: 'node05', age: 6, ...busy(12) };
sixty[8] = { name: 'node09' };
sixty[9] = { name: 'node10', age: 0.5, ...busy(9), record: { offset_us: 2_100_000, lost: 1234 } };
const racks: MadeNode[] = expand('rack[11-20]n[01-48]', BOARD_MOST).map((name, i) => ({
  name,
  age: /rack1[78]/.test(name) ? 60 + i / 1000 : 0.2,
  ...busy(i % 64),
  ...(name === 'rack11n07' ? { record: { offset_us: -3_725_000_000 } } : {}),
  ...(/rack12n0[1-5]/.test(name) ? { record: { offset_us: 700_000 } } : {}),
}));
const big = tenThousand();
const RACKS: Grouping = { pattern: '^rack[0-9]+' };
/** Every second node is silent, and the names make a long list. */
const odd: MadeNode[] = expand('a[1-199]b,c[1-400]', BOARD_MOST).map((name, i) => ({
  name,
  age: i % 2 ? 0.3 : 99,
  ...busy(i % 64),
}));
/** They fell silent one after another, and have long names. */
const sick: MadeNode[] = Array.from({ length: 9 }, (_, i) => ({
  ...{ name: `a-node-with-a-long-name-${i + 10}.cluster`, age: 60 + 100 * i },
  ...busy(i),
}));
const full: MadeNode = {
  name: 'gpu01',
  age: 0.3,
  ...busy(31, {
    valid: EVERYTHING,
    gpu_count: 2,
    gpu_busy: 1,
    gpu: [{ util_pct: 90, temp_degc: 61 }, { util_pct: 20 }],
    groups: 2,
    group: [{ cpus: 32 }, { cpus: 32 }],
    health: 2,
    boot_id: 7n,
  }),
  record: { accepted: 4711, lost: 3 },
  refusal: { reason: 'clock', age: 75 },
};

const EVENTS = {
  kept: [
    'node05 heard again after 20s; 1 more in the minute before',
    'node05 heard again after 21.5s',
    'node05 silent',
    'node06 is back, and what happened to it is a text that does not fit into one line of this screen',
  ].map((text, i) => ({
    ...{ seq: i, time: `2026-11-22T14:0${i}:00Z`, event: 'state', text },
    nodes: text.slice(0, 6),
  })),
  from: { journal: false, from: '2026-11-22T14:00:00Z', why: 'no journal of this board runs' },
};

const plain = (paint = painter('never')) => ({ paint, columns: undefined, widths: new Map<string, number>() });
/** Jobs on the first of the sixty nodes, two of them on node05; for how long is told in hours. */
const SINCE = { since_s: 200_000 };
const JOBS = madeState(
  expand('node[01-60]', BOARD_MOST).map(name => ({ name, state: 'ALLOCATED', cpus: 64 })),
  [
    madeJob('4711', 'node[01-05]', { name: 'climate', cpus: 320, ...SINCE }),
    madeJob('4712', 'node05', { user: 'bert', ...SINCE }),
  ].map(atLook),
);
const NO_JOBS = { why: 'nothing is known about jobs: its file is not there' };

/** A source of screens; the board is made only once, and what is seen of it once for each view. */
const board = (nodes: readonly MadeNode[], made?: MadeBoard, by?: Grouping, known: StateResult = NO_JOBS) => {
  let snapshot: Snapshot | undefined;
  const see = (view: WatchView): BoardSeen => {
    snapshot ??= madeBoard(nodes, made);
    const found = survey(snapshot, choiceOf(view.filter));
    const body = bodyOf(found, view, by);
    const slurm = new SchedulerView(new Pairing(known, snapshot.names()));
    const jobs = jobsSeen(found, slurm, { board: '/nowhere', journalRun: '/nowhere' });
    const trouble = troubleOf(found, slurm.isKnown ? { scheduler: slurm } : {});
    return { found, body, trouble, events: EVENTS, totals: totalsTexts(found, 10), jobs, slurm };
  };
  const views = new Map<string, BoardSeen>();
  return (view: WatchView): BoardSeen => {
    // Conditions are in the view as texts, too.
    const key = JSON.stringify(view);
    const seen = views.get(key) ?? see(view);
    views.set(key, seen);
    return seen;
  };
};

/** The view after these keys, each pressed on the screen that the last one made. */
function after(
  keys: readonly string[],
  look: (view: WatchView) => BoardSeen,
  size = { columns: 80, rows: 24 },
  view = START,
): WatchView {
  const drawn = (view: WatchView) => frame(view, look(view), size, plain());
  let now = drawn(view);
  for (const key of keys) now = drawn(press(now.view, key, now.shown).view);
  return now.view;
}

const typed = (text: string) => [...text];

t.test('a cut list names the command or the key that shows all of it', async t => {
  const nodes = expand('rack[1-2]n[001-399]', BOARD_MOST).filter(name => /[13579]$/.test(name));
  const look = board(
    nodes.map((name, i) => ({ name, age: 0.5, record: { offset_us: i < 9 ? 5_000_000 : 0 } })),
    { header: { kernel_drops: 12, unfit_drops: 3, softnet_drops: 4, received: 10_000 } },
  );
  const shownBy = (view: WatchView, rows: number) => {
    const asked = { nodes: '@list', where: 'load > 3', sort: 'cpu', board: '/srv/a board' };
    return frame(view, look(view), { columns: 90, rows }, { ...plain(), asked }).lines.join('\n');
  };
  const start = { ...START, long: false };
  const keys = ['f', ...typed('rack1n[001-399]'), 'enter', 'f', ...typed('state == live'), 'enter'];
  const view = after(keys, look, undefined, start);
  const unbroken = (text: string) => text.replaceAll(/ \\\n +/g, ' ');
  const conditions = `-w 'rack1n\\[001-399\\]' --where 'state == live' --board '/srv/a board'`;
  t.match(unbroken(shownBy(view, 40)), new RegExp(`… all: beoboard nodes --state live ${conditions}\n`));
  t.match(unbroken(shownBy(view, 14)), /TROUBLE 1-4 of 5 .*\n[\s\S]*\n.* o all /);
  t.match(shownBy(start, 40), /… all: beoboard nodes --state live --board '\/srv\/a board'\n/, 'of the view alone');
});

t.test('keys, whole and in pieces', async t => {
  const rows: [text: string, keys: string[], rest?: string][] = [
    ['q', ['q']],
    ['sS', ['s', 'S']],
    ['\x1b[A\x1b[B\x1bOA\x1b[5~\x1b[6~', ['up', 'down', 'up', 'pageup', 'pagedown']],
    ['\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~', ['home', 'end', 'home', 'end', 'home', 'end']],
    ['\x1b[1;5A', ['up']],
    ['\r\n\x7f\b\x03\x1a\x0c', ['enter', 'enter', 'backspace', 'backspace', 'ctrl-c', 'ctrl-z', 'ctrl-l']],
    ['a\x1b', ['a'], '\x1b'],
    ['\x1b[', [], '\x1b['],
    ['\x1b[1;', [], '\x1b[1;'],
    ['\x1bq', ['escape', 'q']],
    ['\x1b\x1b[A', ['escape', 'up']],
    ['\x1b[99~\x1b[200~x\x07\t', ['x', 'tab']],
    ['é€', ['é', '€']],
  ];
  for (const [text, keys, rest = ''] of rows) t.same(readKeys(text), { keys, rest }, JSON.stringify(text));
  t.same(flushed('\x1b'), ['escape']);
  t.same(flushed('\x1b['), []);
  // The keys are the same wherever the text is split.
  const all = '\x1b[A\x1b[5~q\x1bOB\r';
  for (let cut = 0; cut <= all.length; cut++) {
    const first = readKeys(all.slice(0, cut));
    const second = readKeys(first.rest + all.slice(cut));
    t.same([...first.keys, ...second.keys], readKeys(all).keys, `cut at ${cut}`);
  }
});

t.test('keys change the view', async t => {
  const look = board(sixty);
  t.equal(after(['s'], look).sort, 'name');
  t.equal(after(['s', 's'], look).sort, 'since');
  t.equal(after(['s', 'S'], look).sort, undefined);
  t.equal(after(['S', 's'], look).sort, undefined, 'round and round');
  t.equal(after(['r'], look).sort, '-state');
  t.equal(after(['s', 'r', 'r'], look).sort, 'name');
  t.equal(after(['s'], look, undefined, { ...START, sort: 'mem_avail_mib' }).sort, undefined, 'no column of the table');
  t.equal(after(['x'], look).exceptions, true);
  t.same(after(['down', 'down', 'up'], look).selected, { row: 1, name: 'node05' });
  t.same(after(['down', 'up'], look).selected, { row: 0, name: undefined }, 'at the top it follows the worst');
  t.equal(after(['end'], look).selected.name, 'node60');
  t.equal(after(['end', 'pageup', 'home'], look).top, 0);
  const moved = after(['pagedown'], look);
  t.ok(moved.selected.row >= moved.top && moved.selected.row > 10);
  for (const key of ['s', 'S', 'r', 'x']) {
    const { selected, top } = after(['end', key], look);
    t.same([selected, top], [{ row: 0 }, 0], `${key}: another order or choice begins at the top`);
  }
  const page = after(['down', 'enter'], look);
  t.same([page.page, page.selected.name], ['node', 'node05']);
  const low = { columns: 80, rows: 9 };
  t.ok(after(['end'], look, low, page).scrolled > 5);
  t.equal(after(['end', 'home'], look, low, page).scrolled, 0);
  for (const back of ['q', 'escape']) t.equal(after([back], look, undefined, page).page, 'table');
  for (const [key, page] of [
    ['o', 'trouble'],
    ['e', 'events'],
  ] as const)
    t.same([after([key], look).page, after([key, key], look).page], [page, 'table'], `${key}, and back`);
  t.equal(after(['?'], look).page, 'help');
  const withJobs = board(sixty, {}, undefined, { state: JOBS });
  const opened = after(['j'], withJobs);
  t.same([opened.page, opened.job], ['job', '4711'], 'that of the selected node');
  for (const back of ['j', 'q', 'escape']) t.equal(after([back], withJobs, undefined, opened).page, 'table', back);
  t.same(
    after(['down', 'j'], withJobs).prompt,
    { text: '', at: 0, jobs: ['4711', '4712'] },
    'one of two has to be named',
  );
  t.same(after(['end', 'j'], withJobs).prompt, { text: '', at: 0, jobs: [] }, 'no job is there');
  const named = after(['end', 'j', ...typed(' 47x'), 'backspace', ...typed('12'), 'enter'], withJobs);
  t.same([named.page, named.job, named.prompt, named.filter], ['job', '4712', undefined, {}], 'by its number');
  t.same(after(['j', 'enter'], look).page, 'table', 'by none');
  t.same(after(['j', '4', 'escape', 'q'], look).page, 'table');
  t.same(
    after(['j', '4'], board(racks), undefined, { ...START, long: false }).prompt?.text,
    '4',
    'no node is selected',
  );
  const short = { columns: 80, rows: 8 };
  t.ok(after(['end'], withJobs, short, opened).scrolled > 5);
  t.equal(after(['?', 'q'], look).page, 'table');
  t.equal(after(['enter'], board([])).page, 'table', 'there is none to open');
  const on: OnScreen = { rows: sixty, room: 10, columns: ['name', 'state'] };
  const deeds: [view: WatchView, key: string, deed: string | undefined][] = [
    [START, 'q', 'quit'],
    [START, 'ctrl-c', 'quit'],
    [START, 'ctrl-z', 'suspend'],
    [START, 'ctrl-l', 'redraw'],
    [START, 'z', undefined],
    [{ ...START, page: 'node' }, 'q', undefined],
    [{ ...START, page: 'node' }, 'ctrl-c', 'quit'],
    [{ ...START, prompt: { text: '', at: 0 } }, 'q', undefined],
    [{ ...START, prompt: { text: '', at: 0 } }, 'ctrl-z', 'suspend'],
  ];
  for (const [view, key, deed] of deeds) t.equal(press(view, key, on).deed, deed, `${view.page} ${key}`);
});

t.test('a line of trouble is chosen, and leads to what can be done', async t => {
  const look = board(racks, {}, RACKS);
  const folded = { ...START, long: false, grouped: true };
  const at = (keys: readonly string[]) => after(keys, look, undefined, folded);
  const seen = look(folded);
  const lines = 'trouble' in seen ? seen.trouble : [];
  const [first, second] = lines.map(({ key }) => key);
  t.same(at(['tab']).cursor, { row: 0, name: first, top: 0 });
  t.same(at(['tab', 'down']).cursor?.name, second);
  t.same(at(['tab', 'end', 'down', 'up', 'home', 'pagedown']).cursor?.name, lines.at(-1)?.key);
  for (const back of ['tab', 'escape']) t.equal(at(['tab', back]).cursor, undefined, back);
  t.equal(at(['tab', 's']).sort, 'load', 'other keys are those of the table');
  const its = at(['tab', 'enter']);
  t.same([its.filter.list?.text, its.grouped, its.cursor], ['rack17n[01-48],rack18n[01-48]', false, undefined]);
  t.same([at(['tab', 'enter', 'escape']).filter, at(['tab', 'enter', 'escape']).grouped], [{}, true]);
  t.same(at(['tab', 'enter', 'tab', 'enter', 'escape']).filter, {}, 'all, also after a second one');
  t.same([at(['tab', 'c']).page, at(['tab', 'c', 'c']).page, at(['tab', 'e']).page], ['line', 'table', 'events']);
  t.equal(at(['c']).page, 'table', 'without a cursor there is no line');
  // Another line comes, and its own goes: never is another one chosen in its place.
  const chosen = at(['tab', 'down']);
  const drawn = (trouble: readonly TroubleInfo[]) =>
    frame(chosen, { ...(seen as Extract<BoardSeen, { found: unknown }>), trouble }, { columns: 80, rows: 24 }, plain());
  const worse = drawn([{ ...(lines[0] as TroubleInfo), key: 'worse' }, ...lines]);
  t.same([worse.view.cursor?.row, worse.view.cursor?.name], [2, second]);
  const gone = drawn(lines.slice(0, 1));
  for (const key of ['enter', 'c', 'j']) {
    const { view } = press(gone.view, key, gone.shown);
    t.same([view.page, view.filter, view.prompt?.jobs ?? []], ['table', {}, []], `${key}, and the line has gone`);
  }
  t.notOk(gone.lines.some(line => line.includes('\x1b[7m!') || line.includes('\x1b[7m.')));
  // Its jobs.
  const withJobs = board(sixty, {}, undefined, { state: JOBS });
  t.same(after(['tab', 'j'], withJobs).job, '4711');
  // What changed until a minute after it began.
  const events = (look: (view: WatchView) => BoardSeen, keys: string[]) => {
    const view = after(keys, look);
    return frame(view, look(view), { columns: 200, rows: 24 }, plain()).lines.join('\n');
  };
  t.match(events(board(sixty), ['tab', 'e']), /until a minute after 14:00:23[\s\S]*\n14:01:00 (?![\s\S]*14:02)/);
});

t.test('the command that acknowledges a line is one word of a shell, whatever its key is', async t => {
  const seen = board(sixty)(START) as Extract<BoardSeen, { found: unknown }>;
  const [line] = seen.trouble as [TroubleInfo];
  const names = expand('a[1-199]b,c[1-400]', BOARD_MOST).filter((_, i) => i % 3 === 0);
  for (const key of ['silent:at-1', 'link:$(touch x)\'"; `id`', 'link:a b\\', 'link:\u202ebidi\n$(id)', 'link:é日']) {
    const one = { ...line, key, nodes: fold(names), count: names.length };
    const view: WatchView = { ...START, page: 'line', cursor: { row: 0, name: key, top: 0 } };
    const look = { ...plain(), asked: { board: '/srv/a $(board)' } };
    const { lines } = frame(view, { ...seen, trouble: [one] }, { columns: 90, rows: 400 }, look);
    const from = lines.findIndex(text => text.startsWith('beoboard ack'));
    const command = lines
      .slice(from, -1)
      .join('\n')
      .trim()
      .replace(/^beoboard ack/, "printf '%s\\n'");
    const { stdout } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
    t.equal(stdout, `${key}\n--until\n+8h\n--board\n/srv/a $(board)\n`, JSON.stringify(key));
    t.notOk(/[\p{Cc}\p{Cf}]/u.test(lines.join('')), 'nothing that controls a terminal');
    // Each name is whole, and its line can be copied.
    const [begin, end] = [lines.findIndex(text => text.startsWith('Nodes (')) + 1, from - 2];
    const copied = lines.slice(begin, end);
    t.ok(copied.length > 3 && copied.every(text => widthOf(text) <= 90));
    t.same(expand(copied.join(''), BOARD_MOST), names);
  }
});

t.test('many nodes are folded until rows are asked for', async t => {
  const look = board(racks);
  const folded = { ...START, long: false };
  const kind = (keys: readonly string[], look: (view: WatchView) => BoardSeen, view: WatchView = folded) => {
    const seen = look(after(keys, look, undefined, view));
    return 'body' in seen ? seen.body.kind : 'no board';
  };
  t.equal(kind([], board(sixty.slice(0, 40))), 'nodes');
  t.equal(kind([], board(sixty.slice(0, 41))), 'folded');
  t.equal(kind([], look), 'folded');
  t.equal(kind(['x'], look), 'folded', '96 are silent');
  for (const key of ['l', 'enter', 's', 'S', 'r']) t.equal(kind([key], look), 'nodes', key);
  t.equal(kind(['l', 'l'], look), 'folded');
  t.equal(kind(['s', 'S'], look), 'folded', 'the worst first again');
  t.equal(kind(['s', 'l'], look), 'folded', 'what is sorted stands in rows');
  t.equal(kind(['f', ...typed('rack17n[01-12]'), 'enter'], look), 'nodes');
  t.equal(after(['s'], look, undefined, folded).sort, 'name');
  t.equal(after(['enter'], look, undefined, folded).page, 'table');
  const long = board(odd);
  const small = { columns: 80, rows: 8 };
  t.same(
    [['down'], ['down', 'up'], ['up'], ['pagedown', 'home']].map(keys => after(keys, long, small, folded).top),
    [1, 0, 0, 0],
  );
  t.ok(after(['end'], long, small, folded).top > 5);
  t.equal(after(['end', 'end'], long, small, folded).top, after(['end'], long, small, folded).top);
});

t.test('a digit sorts by the column of its place, once more the other way round', async t => {
  const look = board(sixty);
  const columns = frame(START, look(START), { columns: 80, rows: 24 }, plain()).shown.columns;
  t.equal(columns[1], 'state');
  const sorts = (...keys: string[]) => after(keys, look).sort;
  const [, , third = ''] = columns;
  t.same([sorts('3'), sorts('3', '3'), sorts('3', '3', '3')], [third, `-${third}`, third]);
  t.same([sorts('2'), sorts('3', '2'), sorts('2', '2')], ['-state', undefined, undefined]);
  t.equal(sorts('0'), undefined);
  const many = frame(START, look(START), { columns: 300, rows: 24 }, plain()).shown.columns;
  t.ok(many.length > 9, 'others are reached by s');
});

t.test('the worst first: by state, then by the worst problem, then by name', async t => {
  const ill = (name: string, ...flags: (keyof typeof bits.flags)[]): MadeNode => ({
    ...{ name, age: 0.5 },
    ...busy(1, { flags: flags.reduce((mask, flag) => mask | (1 << bits.flags[flag]), 0) }),
  });
  const nodes = [
    ...expand('n[1-3]', BOARD_MOST).map(name => ({ name, age: 0.5, ...busy(1) })),
    ...[ill('n4', 'held'), ill('n5', 'root_readonly'), ill('n6', 'held', 'root_readonly')],
    ...[
      { name: 'n7', age: 6 },
      { name: 'n8', age: 60 },
    ],
  ];
  const found = survey(madeBoard(nodes.reverse()));
  t.same(
    worstFirst(found.nodes).map(({ name }) => name),
    ['n8', 'n7', 'n5', 'n6', 'n4', 'n1', 'n2', 'n3'],
  );
});

t.test('groups, and the nodes of one', async t => {
  const look = board(racks, {}, RACKS);
  const groups = { ...START, long: false, grouped: true };
  const opened = after(['down', 'enter'], look, undefined, groups);
  t.same([opened.grouped, opened.filter.list?.text], [false, 'rack18n[01-48]']);
  for (const back of ['g', 'escape']) {
    const { grouped, filter } = after([back], look, undefined, opened);
    t.same([grouped, filter], [true, {}], back);
  }
  t.equal(after(['g'], look, undefined, groups).grouped, false);
  t.equal(after(['g', 'g'], look, undefined, groups).grouped, true);
  t.equal(after(['g'], look).grouped, undefined, 'without a rule there are none');
  t.equal(after(['escape'], look, undefined, groups).grouped, true);
  t.equal(after(['s'], look, undefined, groups).sort, 'load');
  const names = (keys: readonly string[]) => {
    const view = after(keys, look, undefined, groups);
    return frame(view, look(view), { columns: 80, rows: 24 }, plain()).shown.rows.map(({ name }) => name);
  };
  t.same(names([]).slice(0, 3), ['rack17', 'rack18', 'rack11']);
  t.same(names(['r']).slice(-2), ['rack18', 'rack17']);
  t.same(names(['x']), ['rack17', 'rack18']);
});

t.test('when the selected node goes, the selection stays on a row', async t => {
  const at = (row: number, name?: string) =>
    settled({ ...START, selected: { row, name }, top: 4 }, { rows: sixty.slice(0, 10), room: 5 });
  t.same([at(9, 'gone').selected.row, at(12, 'gone').selected.row, at(0, 'node09').selected.row], [9, 9, 8]);
  t.equal(at(0, 'node01').top, 0);
  t.equal(at(0, 'node10').top, 5);
  t.same(settled(START, { rows: [], room: 0 }).selected, { row: 0, name: undefined });
});

t.test('the prompt', async t => {
  const look = board(sixty);
  const applied = after(['f', ...typed('load > 50'), 'enter'], look);
  t.equal(applied.prompt, undefined);
  t.equal(applied.filter.where?.text, 'load > 50');
  const both = after(['f', ...typed('node[01-60]'), 'enter'], look, undefined, applied);
  t.same([both.filter.where?.text, both.filter.list?.names.length], ['load > 50', 60]);
  t.same(after(['f', 'enter'], look, undefined, both).filter, {}, 'nothing takes both off');
  t.equal(after(['f', ...typed('load'), 'escape'], look, undefined, applied).filter.where?.text, 'load > 50');
  t.equal(after(['f', ...typed('gpu'), 'enter'], look).filter.where?.text, 'gpu', 'a field alone is a condition');
  const withJobs = board(sixty, {}, undefined, { state: JOBS });
  for (const [text, names] of [
    ['4711', 'node[01-05]'],
    ['bert', 'node05'],
    ['node05', 'node05'],
    ['e1', 'node[10-19]'],
    ['node[03-04]', 'node[03-04]'],
    ['nowhere', 'nowhere'],
  ] as const)
    t.equal(fold(after(['f', ...typed(text), 'enter'], withJobs).filter.list?.names ?? []), names, text);
  const hosts = ['off', ...expand('node[01-60]', BOARD_MOST)].map((name, i) => ({
    ...{ name, state: 'IDLE', cpus: 64, switch: i <= 40 ? 'leaf17' : 'leaf18' },
    ...(i % 30 === 0 && { state: 'IDLE+DRAIN', aside: 'drained', reason: 'fan 2, ticket 811' }),
  }));
  const onHold = { name: 'node07', age: 0.4, ...busy(7, { flags: 1 << bits.flags.held }) };
  const some = sixty.map(node => (node.name === onHold.name ? onHold : node));
  const behind = board(some, {}, undefined, { state: madeState(hosts, []) });
  t.equal(
    fold(after(['f', ...typed('leaf17'), 'enter'], behind).filter.list?.names ?? []),
    'node[01-40]',
    'a switch, with what is on the board of it',
  );
  for (const word of ['held', 'drained', 'DRAIN'])
    t.equal(fold(after(['f', ...typed(word), 'enter'], behind).filter.list?.names ?? []), 'node[07,30,60]', word);
  const none = after(['f', ...typed('drained'), 'enter'], look);
  t.same(none.filter.list?.names, [], 'no node of that name is missed');
  const reason = after(['f', ...typed('drained'), 'enter', 'end', 'enter'], behind);
  const sheet = frame(reason, behind(reason), { columns: 100, rows: 60 }, plain()).lines.join('\n');
  t.match(sheet, /^node60: [\s\S]*\nSlurm +IDLE\+DRAIN[\s\S]*reason: fan 2, ticket 811/, 'also without --jobs');
  for (const [text, where] of [
    ['silent', 'state == silent'],
    ['root_full', 'root_full'],
  ] as const)
    t.equal(after(['f', ...typed(text), 'enter'], withJobs).filter.where?.text, where, text);
  const wrong = after(['f', ...typed('lod > 1'), 'enter'], look);
  t.match(wrong.prompt?.wrong, /^column 1: there is no field 'lod'; did you mean load\?$/);
  t.equal(after(['left', 'x'], look, undefined, wrong).prompt?.wrong, undefined, 'who goes on writing is not scolded');
  t.match(after(['f', ...typed('n[3-1]'), 'enter'], look).prompt?.wrong, /column 3/);
  const edited = after(
    ['f', ...typed('abcd'), 'left', 'backspace', 'home', 'delete', 'X', 'end', 'Y', '\u200b', 'up'],
    look,
  );
  t.same(edited.prompt, { text: 'XbdY', at: 4 });
  t.same(after(['left', 'ctrl-u'], look, undefined, edited).prompt, { text: 'Y', at: 0 });
  t.throws(() => refined({}, 'a b'), { message: /column 1/ });
});

const scenes: [title: string, keys: string[], look: (view: WatchView) => BoardSeen, start?: Partial<WatchView>][] = [
  ['sixty nodes', [], board(sixty)],
  ['the third is selected', ['down', 'down'], board(sixty)],
  ['the end of the list', ['end'], board(sixty)],
  ['by load', ['s', 's', 's'], board(sixty)],
  ['only exceptions', ['x'], board(sixty)],
  ['only exceptions, all well', ['x'], board(sixty.slice(10, 20))],
  ['what changed', ['e'], board(sixty)],
  ['what changed, of one node', ['f', ...typed('node06'), 'enter', 'e'], board(sixty)],
  ['a filter', ['f', ...typed('load > 40 && state == live'), 'enter'], board(sixty)],
  ['a filter is written', ['f', ...typed('load > 4'), 'left'], board(sixty)],
  ['a filter is wrong', ['f', ...typed('lod > 4'), 'enter'], board(sixty)],
  ['two racks fell silent, and clocks', [], board(racks)],
  ['folded', [], board(racks), { long: false }],
  ['folded, the end of what is long', ['end'], board(odd, { listened: 5 }), { long: false }],
  ['folded, only exceptions', ['x'], board(racks), { long: false }],
  ['folded, and a filter that leaves few', ['f', ...typed('rack17n[01-12]'), 'enter'], board(racks), { long: false }],
  ['10,000 nodes', [], board(big), { long: false }],
  ['10,000 nodes, groups', [], board(big, {}, RACKS), { grouped: true }],
  ['groups', [], board(racks, {}, RACKS), { grouped: true }],
  ['groups by CPU, the second is selected', ['s', 's', 'down'], board(racks, {}, RACKS), { grouped: true }],
  ['groups, only exceptions', ['x'], board(racks, {}, RACKS), { grouped: true }],
  ['a group is opened', ['down', 'enter'], board(racks, {}, RACKS), { grouped: true, long: false }],
  ['no groups', [], board(racks, {}, { pattern: 'xyz' }), { grouped: true }],
  ['a link is down', [], board(sixty, { links: { 1: { state: [], changed: 12, heartbeat: 12.1, downs: 1 } } })],
  [
    'a node that is refused',
    ['enter'],
    board([{ name: 'n017', age: 700, link: 7, refusal: { reason: 'clock', age: 0.4, skew: 3600 } }]),
  ],
  ['a node', ['enter'], board([full, ...sixty.slice(0, 3)])],
  ['the end of a node', ['enter', 'end'], board([full])],
  ['a node that never reported', ['enter'], board([{ name: 'never1' }])],
  ['a node that has gone', [], board(sixty), { page: 'node', selected: { row: 0, name: 'gone' } }],
  ['the job of a node', ['j'], board(sixty, {}, undefined, { state: JOBS })],
  ['one of two jobs is asked for', ['down', 'j'], board(sixty, {}, undefined, { state: JOBS })],
  ['a number that no job has', ['end', 'j', '9', 'enter'], board(sixty, {}, undefined, { state: JOBS })],
  ['nothing is known of jobs', ['j', '9', 'enter'], board(sixty)],
  ['the list of trouble has the cursor', ['tab', 'down'], board(racks), { long: false }],
  ['all of a line of trouble', ['tab', 'c'], board(racks), { long: false }],
  ['the nodes of a line of trouble', ['tab', 'enter'], board(racks), { long: false }],
  ['what changed when it began', ['tab', 'e'], board(sixty)],
  ['more trouble than has room', ['tab', 'end'], board(sick)],
  ['help', ['?'], board(sixty)],
  ['no node', [], board([])],
  ['stalled', [], board(sixty, { heartbeat: 12 })],
  ['no board', [], () => ({ absent: '/dev/shm/beoboard/board: there is no board; start beoboard receive' })],
];
/** All of them at one size, and some where there is more or less room. */
const SIZES = [
  { columns: 80, rows: 24, of: /./ },
  { columns: 120, rows: 40, of: /^(two racks|folded$|10,000 nodes$|a link|the list)/ },
  { columns: 40, rows: 24, of: /^(sixty nodes|folded$|the list)/ },
];

t.test('the screen is that of test/golden/watch.txt', async t => {
  const out: string[] = [];
  for (const size of SIZES)
    for (const [title, keys, look, start] of scenes.filter(([title]) => size.of.test(title))) {
      const view = after(keys, look, size, { ...START, ...start });
      const { lines } = frame(view, look(view), size, plain(title === 'sixty nodes' ? painter('always') : undefined));
      out.push(`=== ${title}, ${size.columns}x${size.rows}\n${lines.join('\n').replaceAll('\x1b', '␛')}\n`);
    }
  const text = out.join('');
  if (process.argv.includes('--write')) writeFileSync(GOLDEN, text);
  const sections = (all: string) => new Map(all.split(/^(?==== )/m).map(part => [part.split('\n', 1)[0] ?? '', part]));
  const expected = sections(readFileSync(GOLDEN, 'utf8'));
  for (const [title, part] of sections(text)) t.equal(part, expected.get(title), title);
  t.equal(sections(text).size, expected.size);
});

t.test('a screen of any size has all its lines, and none is too wide', async t => {
  for (const columns of [1, 7, 40, 81])
    for (const rows of [1, 2, 3, 5, 9, 24])
      for (const [title, keys, look, start] of scenes) {
        const size = { columns, rows };
        const view = after(keys, look, size, { ...START, ...start });
        const { lines } = frame(view, look(view), size, plain());
        if (lines.length !== rows) t.fail(`${title}: ${lines.length} lines of ${rows}`);
        const widest = Math.max(...lines.map(line => widthOf(clip(line, columns))));
        if (widest > columns) t.fail(`${title}: ${widest} of ${columns} columns`);
      }
  t.pass('all of them');
});

t.test('no line ends within an escape', async t => {
  const line = 'job 7 train\\u{1b}[2J';
  for (const [columns, shown] of [
    [11, 'job 7 train'],
    [16, 'job 7 train'],
    [17, 'job 7 train\\u{1b}'],
    [40, line],
  ] as const)
    t.equal(clip(line, columns), shown, `${columns} columns`);
});

t.test('the address for browsers is the first line of every screen', async t => {
  const page = 'http://127.0.0.1:45678/';
  const look = board(odd.slice(0, 60));
  const absent = () => ({ absent: 'there is no board' });
  for (const [columns, first] of [
    [80, `in a browser: ${page}`],
    [37, `in a browser: ${page}`],
    [36, page],
    [23, page],
    [10, 'http://127'],
  ] as const)
    for (const keys of [[], ['?'], ['enter'], ['f']])
      for (const seen of [look, absent]) {
        const size = { columns, rows: 24 };
        const view = after(keys, seen, size);
        const { lines } = frame(view, seen(view), size, { ...plain(), page });
        t.equal(clip(lines[0] ?? '', columns), first, `${view.page}, ${columns} columns`);
        const below = frame(view, seen(view), { ...size, rows: 23 }, plain()).lines;
        t.same(lines.slice(1), below, 'below is what fits');
      }
  const low = { columns: 80, rows: 3 };
  t.same(frame(START, look(START), low, { ...plain(), page }), frame(START, look(START), low, plain()), 'no room');
});

t.test('drawing the changes turns one screen into the next', async t => {
  const size = { columns: 80, rows: 24 };
  const screens = scenes.map(([, keys, look, start]) => {
    const view = after(keys, look, size, { ...START, ...start });
    return frame(view, look(view), size, plain(painter('always'))).lines.map(line => clip(line, size.columns));
  });
  const shown = new Shown(size.columns);
  let before: string[] = [];
  for (const lines of [...screens, ...screens.toReversed(), []]) {
    shown.write(difference(before, lines, size.columns));
    const bare = (all: readonly string[]) =>
      all
        .join('\n')
        .replace(/\x1b\[[\d;]*m/g, '')
        .replace(/ +$/gm, '')
        .trimEnd();
    t.equal(shown.text().trimEnd(), bare(lines));
    before = lines;
  }
  t.equal(difference(['a', 'b', 'c'], ['a', 'x', 'c'], 80), '\x1b[2;1Hx\x1b[K', 'and nothing else is written');
  t.equal(difference(['ab'], ['cd'], 2), '\x1b[1;1Hcd', 'the last column is not erased');
  t.equal(clip('a\x1b[31mbcd\x1b[39m', 2), 'a\x1b[31mb\x1b[39m');
  t.equal(clip('日本', 3), '日');
});

t.test('one field alone gives the same as among all fields', async t => {
  const snapshot = madeBoard([full, ...sixty.slice(0, 12), ...racks.slice(0, 10)]);
  for (const node of snapshot.nodes()) {
    const { rates, record, report } = node;
    const sum = (name: 'rx_bytes' | 'tx_bytes') => {
      const known = [...(rates?.net ?? []), ...(rates?.net_rest ? [rates.net_rest] : [])].flatMap(
        each => each[name] ?? [],
      );
      return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0);
    };
    const value = (name: string) => readingOf(name)?.value(node);
    for (const name of readingNames())
      if (name.startsWith('rates.')) t.equal(value(name), rates?.[name.slice(6)], `${node.name} ${name}`);
    t.same([value('in'), value('out')], [sum('rx_bytes'), sum('tx_bytes')]);
    t.same([value('lost'), value('reports')], [record.lost, record.accepted]);
    t.equal(value('offset_us'), report && record.offset_us);
    const shares = (report?.gpu ?? []).flatMap(({ util_pct }) => util_pct ?? []);
    if (shares.length > 0) t.equal(value('gpu'), shares.reduce((a, b) => a + b, 0) / shares.length);
  }
});

t.test('names in order are remembered, and forgotten with their board', async t => {
  const roster = new Roster();
  for (const nodes of [sixty, sixty, [...sixty].reverse(), racks, sixty.slice(10), []]) {
    const snapshot = madeBoard(nodes);
    const { all } = survey(snapshot, {}, roster.names(snapshot));
    t.same(all, survey(snapshot).all);
    t.same(worstFirst(all, roster.byName), worstFirst(all));
  }
});

const [TERM, STOP] = [15, 20];
const now = () => BigInt(Date.now()) * 1_000_000n;
const ENTERED = '\x1b[?1049h';
/** The end of the output that restores the terminal. */
const LEFT = /\x1b\[\?25h\x1b\[\?1049l[^\x1b]*(\x1b\[0n)?$/;
const watching = (board: string, ...more: string[]) => [
  process.execPath,
  PROGRAM,
  'status',
  '--watch',
  '--board',
  board,
  ...more,
];

/** A receiver, and nodes that reported once and stay live, because their interval is ten minutes. */
async function reported(
  t: Test,
  board: string,
  list = 'node[01-60]',
): Promise<{ port: number; child: { kill(signal: NodeJS.Signals): boolean }; exit: Promise<unknown> }> {
  const receiver = await startReceiver(t, board);
  const socket = createSocket('udp4');
  for (const [i, hostname] of expand(list, BOARD_MOST).entries())
    socket.send(
      makeReport({ hostname, interval_ms: 600_000, t_real_ns: now(), ...busy(i).report }),
      receiver.port,
      '127.0.0.1',
    );
  t.teardown(() => socket.close());
  return receiver;
}

t.test('as a job of a shell', { skip: NO_SHELL }, async t => {
  const board = boardPath(t);
  await reported(t, board);
  const shell = await onShell(t);
  const line = watching(board, '--long').map(shellWord).join(' ');
  const DRAWN = /\x1b\[\?1049h[\s\S]*60 nodes: 60 live/;

  shell.type(`${line} &\r`);
  await shell.shows(/60 nodes: 60 live[\s\S]*60 nodes: 60 live/);
  t.notOk(shell.shown().includes(ENTERED), 'in the background it prints as without a terminal');
  const first = /\[1\] (\d+)/.exec(shell.shown())?.[1];
  await shell.run('kill %1; wait');

  // SIGSTOP leaves it no time to give the terminal back.
  shell.type(`${line}\r`);
  await shell.shows(DRAWN);
  const pid = familyOf(process.pid).find(pid =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0--watch\0--board\0${board}\0`),
  );
  t.not(String(pid), first);
  process.kill(pid as number, 'SIGSTOP');
  await shell.shows(/Stopped[\s\S]*<ready>/);
  await shell.run('bg');
  await shell.shows(/\x1b\[\?1049l/);
  t.equal(await shell.run('echo typed'), 'echo typed\r\ntyped\r\n<ready>', 'neither takes keys nor draws');
  shell.type('fg\r');
  await shell.shows(DRAWN);
  shell.type('\x1a');
  await shell.shows(/\x1b\[\?1049l[\s\S]*Stopped[\s\S]*<ready>/);
  await shell.run('bg');
  t.match(await shell.run('kill %1; wait; echo $?'), /Terminated[\s\S]*<ready>$/, 'its end does not stop it');
  t.equal(await shell.run('jobs'), 'jobs\r\n<ready>');
});

t.test('on a terminal', { skip: NO_TERMINAL ?? false }, async t => {
  // These tests mostly wait, so several run at the same time.
  t.jobs = 3;
  t.test('keys, and the end by q', { buffered: true }, async t => {
    const board = boardPath(t);
    await reported(t, board);
    const terminal = await onTerminal(t, watching(board, '--sort', 'load'));
    await terminal.shows(/^60 nodes: 60 live[\s\S]*\nnode60 .*\nnode59 [\s\S]*\nq quit .* 1-\d+\/60$/);
    t.ok(terminal.output().startsWith(ENTERED));
    t.same([terminal.screen.alternate, terminal.screen.cursor], [true, false]);
    terminal.send({ keys: 'r' });
    await terminal.shows(/\nnode01 .*\nnode02 /);
    terminal.send({ keys: '\x1b[B\x1b[B\r' });
    await terminal.shows(/^node03: live, last heard .*\nIdentity +other, metal, Linux 6/);
    terminal.send({ keys: '\x1b[F' });
    await terminal.shows(/\nNetwork {3}eth0\b(.*\n)*q, Esc back/);
    // A lone Escape, which could also be the beginning of a longer sequence.
    terminal.send({ keys: '\x1b' });
    await terminal.shows(/^60 nodes/);
    terminal.send({ keys: 'flod > 1\r' });
    await terminal.shows(/\nfilter: lod > 1 +column 1: there is no field 'lod'/);
    terminal.send({ keys: '\x15load > 55\r' });
    await terminal.shows(/^4 of 60 nodes[\s\S]*\nonly where load > 55\n/);
    terminal.send({ keys: 'f\r?' });
    await terminal.shows(/^Keys +\d\d:\d\d:\d\d\n/);
    terminal.send({ keys: ' x' });
    await terminal.shows(/\nall is well: every node is live, without problems\n/);
    terminal.send({ keys: 'q' });
    t.same(await terminal.exit, { exit: 0, same: true });
    t.match(terminal.output(), LEFT);
    t.same([terminal.screen.alternate, terminal.screen.cursor], [false, true]);
  });

  t.test(
    'another size, a stop by Ctrl-Z and fg, a stop by a signal, the end by SIGTERM',
    { buffered: true },
    async t => {
      const board = boardPath(t);
      await reported(t, board);
      const terminal = await onTerminal(t, watching(board, '--long'));
      await terminal.shows(/\nq quit .* 1-\d+\/60$/);
      terminal.send({ size: [10, 100] });
      await terminal.shows(/\nq quit .* 1-7\/60$/);
      t.equal(terminal.screen.lines().length, 10);
      terminal.send({ size: [70, 120] });
      await terminal.shows(/\nnode60 [\s\S]*\nq quit .* 1-60\/60$/);
      const stop = async (how: { keys: string } | { signal: number }) => {
        const before = terminal.stops();
        terminal.send(how);
        await until('it has stopped', () => terminal.stops() > before);
        t.equal(terminal.same(), true, 'the modes are those of before');
        await until('its screen is gone', () => !terminal.screen.alternate && terminal.screen.cursor);
        terminal.send({ foreground: true });
        await terminal.shows(/^60 nodes: [\s\S]*\nq quit .* 1-60\/60$/);
        t.same([terminal.screen.alternate, terminal.screen.cursor], [true, false]);
      };
      await stop({ keys: '\x1a' });
      await stop({ signal: STOP });
      terminal.send({ keys: '?' });
      await terminal.shows(/^Keys +\d\d:\d\d:\d\d\n/);
      terminal.send({ signal: TERM });
      t.same(await terminal.exit, { exit: 0, same: true });
      t.match(terminal.output(), LEFT);
    },
  );

  t.test('other ends', { buffered: true }, async t => {
    const board = boardPath(t);
    await reported(t, board);
    for (const [what, end, code] of [
      ['Ctrl-C', { keys: '\x03' }, 0],
      ['SIGINT', { signal: 2 }, 0],
      ['SIGHUP', { signal: 1 }, -1],
      ['SIGQUIT', { signal: 3 }, 0],
    ] as const) {
      const terminal = await onTerminal(t, watching(board, '--long'));
      await terminal.shows(/1-\d+\/60$/);
      terminal.send(end);
      t.same(await terminal.exit, { exit: code, same: true }, what);
      t.match(terminal.output(), LEFT, what);
    }
  });

  t.test('an error of ours is told on the screen that was there before', { buffered: true }, async t => {
    const board = boardPath(t);
    await reported(t, board, 'node1');
    const fails = `process.argv.splice(1, 1); setInterval(() => { if (globalThis.over) throw new Error('a bug'); }, 10);
      process.on('SIGUSR2', () => { globalThis.over = true; }); await import(process.argv[1]);`;
    const [node = '', program = '', ...argv] = watching(board);
    const terminal = await onTerminal(t, [node, '--input-type=module', '-e', fails, '-', program, ...argv], {
      columns: 1000,
    });
    await terminal.shows(/1-1\/1$/);
    terminal.send({ signal: 12 });
    t.same(await terminal.exit, { exit: 1, same: true });
    t.match(terminal.output(), /\x1b\[\?25h\x1b\[\?1049l[\s\S]*Error: a bug/);
  });

  t.test('wrong from the start: a line, and no screen', { buffered: true }, async t => {
    const terminal = await onTerminal(t, watching(boardPath(t), '--sort', 'lod'));
    t.same(await terminal.exit, { exit: 2, same: true });
    t.match(terminal.output(), /^beoboard status: there is no field 'lod'; did you mean load\?\r\n/);
  });

  t.test('a board that is absent, comes, is stalled, is replaced; no keys', { buffered: true }, async t => {
    const board = boardPath(t);
    const terminal = await onTerminal(t, watching(board), { keys: false });
    await terminal.shows(/^no board: .*there is no board/);
    const first = await reported(t, board, 'node[1-3]');
    await terminal.shows(/^3 nodes: 3 live/);
    first.child.kill('SIGKILL');
    await first.exit;
    await terminal.shows(/STALLED: the receiver is stalled/);
    const second = await startReceiver(t, board);
    await terminal.shows(/^3 nodes: 3 live/);
    second.child.kill('SIGTERM');
    await second.exit;
    await terminal.shows(/STALLED: the receiver was stopped/);
    rmSync(board);
    await reported(t, board, 'node[1-7]');
    await terminal.shows(/^7 nodes: 7 live/);
    terminal.send({ signal: TERM });
    t.same(await terminal.exit, { exit: 0, same: true });
    t.match(terminal.output(), LEFT);
  });

  t.test('sentences for screen readers are printed, not drawn', { buffered: true }, async t => {
    const board = boardPath(t);
    await reported(t, board, 'node1');
    const terminal = await onTerminal(t, watching(board, '--plain'), { columns: 400 });
    await until('it was told twice', () => (terminal.output().match(/node1 is live/g)?.length ?? 0) > 1);
    terminal.send({ signal: TERM });
    t.same(await terminal.exit, { exit: 0, same: true });
    t.notMatch(terminal.output().replace('\x1b[0n', ''), /\x1b/);
  });

  t.test('objects for programs likewise', { buffered: true }, async t => {
    const board = boardPath(t);
    await reported(t, board, 'node1');
    const terminal = await onTerminal(t, watching(board, '--json', '-o', 'load'), { columns: 400 });
    await until('it was told twice', () => (terminal.output().match(/^\{"schema":1,.*\}\r$/gm)?.length ?? 0) > 1);
    terminal.send({ signal: TERM });
    t.same(await terminal.exit, { exit: 0, same: true });
    t.notMatch(terminal.output().replace('\x1b[0n', ''), /\x1b/);
  });

  t.test('what Slurm says, as it changes; its file is not waited for', { buffered: true }, async t => {
    const board = boardPath(t);
    await reported(t, board, 'node[1-3]');
    const path = folder(t);
    const leave = (state: string, time = monotonicMs()) => {
      const answer = { time_ms: Date.now(), mono_ms: time };
      const node = { name: 'node2', state, cpus: 4, cpus_used: 2, reason: 'bad DIMM' };
      const job = { id: '47', state: 'RUNNING', user: 'anna', partition: 'batch', cpus: 2, nodes: 'node2', name: 'j' };
      const text = stateText({
        ...{ schema: 2, pid: 1, mono_ms: time, next_ms: time + 5000, time_ms: Date.now() },
        ...{
          cluster: 'c',
          version: '22.05.8',
          scheduler: 'Slurm',
          daemon: 'slurmd',
          user: 'root',
          names: {},
          differences: [],
        },
        nodes: { ...answer, list: [node] },
        jobs: { ...answer, list: [job] },
      });
      replaceFile(path, 'state', text, 0o644);
    };
    const terminal = await onTerminal(t, watching(board, '--jobs', '--slurm-dir', path));
    await terminal.shows(/^3 nodes: 3 live/);
    terminal.send({ keys: 'o' });
    await terminal.shows(/ nothing is known about jobs:\s(.|\n)*;\s+start\s+beoboard\s+scheduler/);
    leave('MIXED');
    await terminal.shows(/\nnotice +node\[1,3\] \(2 nodes\): on the board, and not known to Slurm\n/);
    terminal.send({ keys: 'q' });
    await terminal.shows(/\nNODE +STATE +SLURM +USER +JOBS +SINCE/);
    await terminal.shows(/\nnode1 +live +- +- +- +.*\nnode2 +live +MIXED +anna +47 /);
    terminal.send({ keys: 'j47\r' });
    await terminal.shows(/^job 47 [\s\S]*\nNODE +STATE [\s\S]*\nnode2 +live [\s\S]*\nq, Esc back/);
    terminal.send({ keys: 'j' });
    terminal.send({ keys: 's' });
    await terminal.shows(/\nnode2 +live +MIXED /);
    leave('MIXED+DRAIN');
    await terminal.shows(/\nnode2 +live +MIXED\+DRAIN +anna +47 /);
    terminal.send({ keys: '\x1b[B\r' });
    await terminal.shows(
      /\nSlurm +MIXED\+DRAIN, 2 of 4 CPUs given to jobs\n[\s\S]*reason: bad DIMM\n[\s\S]*job 47 of anna, /,
    );
    terminal.send({ keys: 'q' });
    leave('MIXED', monotonicMs() - 60_000);
    await terminal.shows(/\nnode2 +live +\[MIXED\] +\[anna\] +\[47\] /);
    // Opening a FIFO for reading would block until somebody writes.
    rmSync(join(path, 'state'));
    t.equal(spawnSync('mkfifo', [join(path, 'state')]).status, 0);
    terminal.send({ keys: 'o' });
    await terminal.shows(/ nothing is known about jobs:\s/);
    terminal.send({ keys: 'q' });
    terminal.send({ keys: 'q' });
    t.same(await terminal.exit, { exit: 0, same: true });
  });

  t.test('what changed, of the nodes of the filter', { buffered: true }, async t => {
    const board = boardPath(t);
    const { port } = await reported(t, board, 'node[1-2]');
    const terminal = await onTerminal(t, watching(board, '--journal-run', folder(t)));
    await terminal.shows(/^2 nodes: 2 live/);
    terminal.send({ keys: 'e' });
    await terminal.shows(
      /^Without a journal \(no journal of this board runs: start beoboard journal[^)]*\),\s+since\s+\d\d:\d\d:\d\d\n/,
    );
    const socket = createSocket('udp4');
    t.teardown(() => socket.close());
    socket.send(makeReport({ hostname: 'node3', interval_ms: 600_000, t_real_ns: now() }), port, '127.0.0.1');
    await terminal.shows(/\n\d\d:\d\d:\d\d {2}.*node3/);
    terminal.send({ keys: 'efnode1\re' });
    await terminal.shows(/^Without a journal [^\n]*\n(?!.*node3)/s);
    terminal.send({ keys: 'eq' });
    t.same(await terminal.exit, { exit: 0, same: true });
  });

  t.test('groups; one is opened', { buffered: true }, async t => {
    const board = boardPath(t);
    await reported(t, board, 'rack[1-3]n[01-20]');
    const terminal = await onTerminal(t, watching(board, '--by', '/^rack[0-9]+/'));
    await terminal.shows(/\nGROUP +NODES +LIVE .*\nrack1 +20 +20 .*\nrack2 .*\nrack3 /);
    terminal.send({ keys: '\x1b[B\r' });
    await terminal.shows(/\nonly rack2n\[01-20\]\nNODE .*\nrack2n01 /);
    terminal.send({ keys: '\x1b' });
    await terminal.shows(/\nrack3 +20 /);
    terminal.send({ keys: 'g' });
    await terminal.shows(/\nlive +60 +rack1n\[01-20\],/);
    terminal.send({ keys: 'q' });
    t.same(await terminal.exit, { exit: 0, same: true });
    const beside = await onTerminal(t, watching(board, '--jobs', '--slurm-dir', folder(t)));
    await beside.shows(/\nNODE +STATE .*\nrack1n01 +live /);
    beside.send({ keys: 'l' });
    await beside.shows(/\nlive +60 +rack1n\[01-20\],/);
    beside.send({ keys: 'q' });
    t.same(await beside.exit, { exit: 0, same: true }, 'with Slurm beside, many nodes have rows, until l folds them');
  });
});
