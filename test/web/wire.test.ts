// The wall sends its pages exactly what is on the board: cells, layouts and groups, changes from one look to the next,
// the last 15 minutes.

import t from 'tap';
import { terms } from '../../src/layout/terms.gen.js';
import { SCALES } from '../../src/readings/scales.js';
import { SlicedLook } from '../../src/service/slices.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { changesFrame, pictureFrame } from '../../src/web/framing.js';
import { RiverHistory } from '../../src/web/history.js';
import { Grouped } from '../../src/web/layouts.js';
import { cellValue, type WatcherTick } from '../../src/web/watcher.js';
import { AUTO, CELL, NOT_MEASURED, numberOf, RIVER, STATES, VALUE_MOST } from '../../src/web/wire.js';
import { boardPath } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { ask, startWeb, WallClient } from './webclient.js';

const run = verbRun(t);

t.test('states have the numbers of the board', async t => {
  t.strictSame(STATES, terms.node_state);
  t.ok(STATES.length < 2 ** CELL.stateBits, 'with all bits set it is a gap of the river');
});

t.test('the value of a cell is its reading, limited to the range and rounded to a step', async t => {
  for (const scale of SCALES) {
    const { low, high, name } = scale;
    t.equal(cellValue(scale, low), 0, `${name}: low`);
    t.equal(cellValue(scale, low - 1e9), 0, `${name}: below`);
    t.equal(cellValue(scale, high), VALUE_MOST, `${name}: high`);
    t.equal(cellValue(scale, high * 10), VALUE_MOST, `${name}: beyond`);
    t.equal(cellValue(scale, Number.NaN), NOT_MEASURED, `${name}: not measured`);
    for (let value = 0; value <= VALUE_MOST; value += 13)
      if (cellValue(scale, numberOf(scale, value)) !== value)
        t.fail(`${name}: ${value} is another value on its way back`);
  }
});

t.test('changes are sent if they are shorter than a picture', async t => {
  const before = Uint16Array.from({ length: 12 }, (_, i) => i);
  const same = changesFrame(1, 7, 6, before, before) as Uint8Array;
  t.equal(same.length, 5 + 16, 'a pulse');
  const one = before.slice();
  one[5] = 99;
  t.equal(changesFrame(1, 7, 6, before, one)?.length, 5 + 16 + 6);
  t.equal(
    changesFrame(
      1,
      7,
      6,
      before,
      before.map(cell => cell + 1),
    ),
    undefined,
  );
  t.equal(pictureFrame(1, 7, before).length, 5 + 8 + 24);
});

/** A look; `cells` has a cell for each node, which is used for every reading. */
const tickOf = (seq: number, cells: readonly number[], more: Partial<WatcherTick> = {}): WatcherTick => ({
  seq,
  nowMs: 1_000_000 + seq * 1000,
  state: 'ok',
  roster: 1,
  count: cells.length,
  cells: SCALES.map(() => Uint16Array.from(cells)),
  ...more,
});

const LIVE = STATES.indexOf('live');
const SILENT = STATES.indexOf('silent');
const cellOf = (value: number, state: number) => (value << CELL.valueShift) | state;

/** The counts and values of a group's row, which are packed as RIVER says. */
function rowOf(packed: Uint8Array, columns: number) {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
  const counts = (which: number) =>
    Array.from({ length: columns }, (_, i) => view.getUint16((which * columns + i) * 2, true));
  const behind = columns * (STATES.length + 1) * 2;
  const values = (which: number) => [...packed.subarray(behind + which * columns, behind + (which + 1) * columns)];
  const unhealthy = counts(STATES.length);
  return { live: counts(LIVE), silent: counts(SILENT), unhealthy, least: values(0), mean: values(1), most: values(2) };
}

t.test('the river', async t => {
  const names = ['a1', 'a2', 'b1'];
  const river = new RiverHistory();
  const look = (seq: number, state = LIVE) =>
    river.take(tickOf(seq, [cellOf(0, LIVE), cellOf(2000, LIVE), cellOf(4000, state)]), names, seq);
  t.test('of all nodes, from the first look on', async t => {
    // Once groups have been requested, every second is kept, and not only every tenth.
    await river.groups('', undefined, 3, 0);
    for (let seq = 0; seq < 12; seq++) look(seq, seq === 11 ? SILENT : LIVE);
    const { head, columns } = await river.groups('', undefined, 3, 0);
    t.match(head, { columns: 12, since_ms: 1_000_000, count_bytes: 2, gaps: [], rows: [{ name: null }] });
    const row = rowOf(columns[0] as Uint8Array, 12);
    t.strictSame(row.live, [...Array(11).fill(3), 2]);
    t.strictSame(row.silent, [...Array(11).fill(0), 1]);
    t.strictSame([row.least.at(-2), row.mean.at(-2), row.most.at(-2)], [0, 125, 250]);
    t.strictSame([row.least.at(-1), row.most.at(-1)], [0, 125], 'what a silent node was at is not a value of now');
  });
  t.test('of groups that nobody had requested before, from the history of their nodes', async t => {
    const { head, columns } = await river.groups('x', byLetter(names), 3, 0);
    t.match(head, { columns: 12, rows: [{ name: 'a' }, { name: 'b' }] });
    const [a, b] = columns.map(column => rowOf(column, 12));
    t.strictSame(a?.live, Array(12).fill(2));
    t.strictSame(b?.silent, [...Array(11).fill(0), 1]);
    t.strictSame(a?.mean, Array(12).fill(63), 'every ten seconds');
  });
  t.test('of nodes, with gaps where nobody looked', async t => {
    look(15);
    river.take(tickOf(16, [], { state: 'absent' }), names, 16);
    look(20);
    const { head, columns } = await river.nodes(['b1'], 0);
    t.match(head, {
      columns: 21,
      value_every: 10,
      gaps: [
        [12, 3, 'missed'],
        [16, 1, 'absent'],
        [17, 3, 'missed'],
      ],
    });
    const [packed] = columns as [Uint8Array];
    const states = Array.from({ length: 21 }, (_, i) => ((packed[i >> 1] as number) >> ((i & 1) * 4)) & 15);
    t.strictSame(states.slice(9), [LIVE, LIVE, SILENT, 15, 15, 15, LIVE, 15, 15, 15, 15, LIVE]);
    t.strictSame([...packed.subarray(11)], [250, 250, 250]);
  });
  t.test('of 15 minutes, and no more', async t => {
    for (let seq = 21; seq < 2000; seq++) look(seq);
    const { head } = await river.nodes(['a1'], 0);
    t.match(head, { columns: RIVER.columns, since_ms: 1_000_000 + (2000 - RIVER.columns) * 1000, gaps: [] });
    t.ok(river.bytes < 2e6, `${river.bytes} bytes`);
  });
  t.test('a node keeps its history when its number changes, and one that has gone leaves none', async t => {
    river.take(tickOf(2000, [cellOf(4000, LIVE), cellOf(0, LIVE)], { roster: 2 }), ['b1', 'c1'], 2000);
    const states = async (name: string) => {
      const [packed] = (await river.nodes([name], 0)).columns as [Uint8Array];
      return [1998, 1999, 2000].map(seq => {
        const i = seq - 1101;
        return ((packed[i >> 1] as number) >> ((i & 1) * 4)) & 15;
      });
    };
    t.strictSame(await states('b1'), [LIVE, LIVE, LIVE]);
    t.strictSame(await states('c1'), [15, 15, LIVE]);
    t.strictSame(await states('a1'), [15, 15, 15]);
  });
});

/** Groups by the first letter of names. */
function byLetter(names: readonly string[]): Grouped {
  const grouped = new Grouped({ pattern: '^[a-z]' });
  lookAt(grouped, names);
  return grouped;
}

/** A look at nodes of these names. */
function lookAt(grouped: Grouped, names: readonly string[], isAnother = true): void {
  grouped.begin(names.length, isAnother);
  const piece = { count: names.length, names: () => names } as unknown as Parameters<Grouped['ask']>[0];
  // As many slices of time as it takes.
  for (let from = 0; from < names.length; ) from = grouped.ask(piece, 0, from);
}

t.test('more groups than are shown are laid out by their common part, and login nodes are together', async t => {
  const auto = AUTO.rule.slice(1, -1);
  const racks = expand('rack[0001-2084]', BOARD_MOST);
  const many = [...racks.map(rack => `${rack}n1`), 'login1', 'login2', 'master'];
  for (const [pattern, names, groups] of [
    [auto, expand('rack[1-512]n1', BOARD_MOST).slice(0, 511), expand('rack[1-512]', BOARD_MOST).slice(0, 511)],
    [auto, many, [...new Set(racks.map(rack => rack.replace(/.$/, '*'))), 'login']],
    ['^r[0-9]+c[0-9]+', expand('r[01-40]c[01-52]n[1-2]', BOARD_MOST), expand('r[01-40]', BOARD_MOST)],
    ['.*', expand('n[1-9999]', BOARD_MOST), ['n*', ...expand('n[1-99]', BOARD_MOST).map(name => `${name}*`)]],
    [
      '.*',
      expand('a[1-9]', BOARD_MOST).concat(expand('login[1-2]', BOARD_MOST)),
      expand('a[1-9],login[1-2]', BOARD_MOST),
    ],
  ] as const) {
    const grouped = new Grouped({ pattern });
    let looks = 0;
    do lookAt(grouped, names, looks === 0);
    while (grouped.isNew && ++looks < 9);
    t.notOk(grouped.isNew);
    t.same(grouped.names.filter(name => name !== undefined).sort(), [...groups].sort(), pattern);
    const first = grouped.numbers[0] ?? 0;
    t.equal(grouped.names[first], groups[0], 'and each node is in its own');
  }

  // What was kept of the groups before is forgotten, and added up anew.
  const grouped = new Grouped({ pattern: '^[a-z]+[0-9]+' });
  const few = expand('rack[0001-0010]', BOARD_MOST);
  lookAt(grouped, few);
  const river = new RiverHistory();
  river.take(
    tickOf(
      1,
      few.map(() => cellOf(0, LIVE)),
    ),
    few,
    1,
  );
  await river.groups('x', grouped, few.length, 0);
  lookAt(grouped, racks, false);
  river.take(
    tickOf(
      2,
      racks.map(() => cellOf(0, LIVE)),
    ),
    racks,
    2,
  );
  while (grouped.isNew) lookAt(grouped, racks, false);
  river.take(
    tickOf(
      3,
      racks.map(() => cellOf(0, LIVE)),
    ),
    racks,
    3,
  );
  const { head } = await river.groups('x', grouped, racks.length, 0);
  t.same(
    (head as { rows: { name: string | null }[] }).rows.map(({ name }) => name).sort(),
    [...new Set(racks.map(rack => rack.replace(/.$/, '*')))].sort(),
  );
});

t.test('the river keeps for every node whether it was unhealthy, and for every second how the board was', async t => {
  const names = ['a1', 'b1'];
  const river = new RiverHistory();
  river.take(tickOf(0, [], { state: 'absent' }), [], 0);
  for (let seq = 1; seq < 6; seq++) {
    const bits = cellOf(4000, seq === 5 ? SILENT : LIVE) | (seq >= 3 ? CELL.unhealthy : 0);
    river.take(tickOf(seq, [cellOf(0, LIVE), bits], { state: seq === 2 ? 'stalled' : 'ok' }), names, seq);
  }
  const { head, columns } = await river.groups('x', byLetter(names), 2, 0);
  t.match(head, { columns: 6, since_ms: 1_000_000, rows: [{ name: 'a' }, { name: 'b' }] });
  t.match(
    head,
    {
      gaps: [
        [0, 1, 'absent'],
        [2, 1, 'stalled'],
      ],
    },
    'it began before there was a board',
  );
  const [a, b] = columns.map(column => rowOf(column, 6));
  t.strictSame(a?.unhealthy, [0, 0, 0, 0, 0, 0]);
  t.strictSame(b?.unhealthy, [0, 0, 0, 1, 1, 1], 'of groups that are asked for later, too');
  t.strictSame(b?.silent, [0, 0, 0, 0, 0, 1]);
  const [packed] = (await river.nodes(['b1'], 0)).columns as [Uint8Array];
  const ill = LIVE | CELL.unhealthy;
  t.strictSame(
    [...packed.subarray(0, 3)],
    [15 | (LIVE << 4), LIVE | (ill << 4), ill | ((SILENT | CELL.unhealthy) << 4)],
  );
  const states = {
    points: [
      [null, 1],
      ['live', 4],
      ['silent', 1],
    ],
    unhealthy: [
      [false, 3],
      [true, 3],
    ],
  };
  t.match(river.node('b1'), { states });
  t.match(await river.nodesWith(['nobody', 'b1'], SCALES[0] as (typeof SCALES)[number]), {
    states: { step_ms: 1000, gaps: [] },
    readings: { step_ms: 10_000, name: 'cpu' },
    nodes: [{ points: [[null, 6]], unhealthy: [[false, 6]] }, states],
  });
});

t.test('looks that come while groups are added up are in the answer, and no column is older than it says', async t => {
  const names = ['a1', 'b1'];
  // Adding up stops after each column until it is let go on.
  let resume = () => {};
  let stops = 0;
  const river = new RiverHistory(() => ({
    next: () => {
      stops++;
      return new Promise<void>(resolve => {
        resume = resolve;
      });
    },
  }));
  const look = (number: number, state: number, roster = 1) =>
    river.take(tickOf(number, [cellOf(0, state), cellOf(0, state)], { roster }), names, number);
  // The first 30 seconds were silent: their columns are overwritten next.
  for (let number = 0; number < 900; number++) look(number, number < 30 ? SILENT : LIVE);
  const grouped = byLetter(names);
  const answer = river.groups('x', grouped, 2, 0);
  const twin = river.groups('x', grouped, 2, 0);
  let isDone = false;
  void answer.then(() => {
    isDone = true;
  });
  let [next, seen] = [900, 0];
  while (!isDone) {
    if (stops > seen && next < 920) look(next++, LIVE, next > 910 ? 2 : 1);
    seen = stops;
    resume();
    await new Promise(setImmediate);
  }
  t.equal(next, 920, 'twenty looks came in between');
  for (const { head, columns } of [await answer, await twin]) {
    t.match(head, { columns: 900, since_ms: 1_020_000, gaps: [] });
    for (const column of columns) {
      const { live, silent } = rowOf(column, 900);
      t.strictSame(
        silent,
        Array.from({ length: 900 }, (_, i) => (i < 10 ? 1 : 0)),
      );
      t.strictSame(
        live,
        Array.from({ length: 900 }, (_, i) => (i < 10 ? 0 : 1)),
      );
    }
  }
  t.ok(stops < 1000, 'two that ask at once are answered by one sum');
});

t.test('looks that come while rows are packed leave gaps where they have overwritten the past', async t => {
  const river = new RiverHistory();
  const look = (number: number, state: number) =>
    river.take(tickOf(number, [cellOf(0, state), cellOf(0, state)]), ['a1', 'b1'], number);
  for (let number = 0; number < 900; number++) look(number, SILENT);
  const grouped = byLetter(['a1', 'b1']);
  await river.groups('x', grouped, 2, 0);
  let next = 900;
  // Twenty looks after each row.
  const slices = new SlicedLook(async () => {
    for (const end = next + 20; next < end; next++) look(next, LIVE);
  }, 0);
  const older = (silent: number) => Array.from({ length: 900 }, (_, i) => (i < silent ? 15 : SILENT));
  const bits = (packed: Uint8Array) => older(0).map((_, i) => ((packed[i >> 1] as number) >> ((i & 1) * 4)) & 15);
  const [a, b] = (await river.nodes(['a1', 'b1'], 0, slices)).columns as [Uint8Array, Uint8Array];
  t.strictSame([bits(a), bits(b)], [older(0), older(20)]);
  const of = (await river.groups('x', grouped, 2, 0, slices)).columns.map(column => rowOf(column, 900).live);
  const live = (gone: number) => Array.from({ length: 900 }, (_, i) => Number(i >= gone && i >= 860));
  t.strictSame(of, [live(0), live(20)]);
  const { nodes } = await river.nodesWith(['a1', 'b1'], SCALES[0] as (typeof SCALES)[number], slices);
  t.strictSame(
    nodes.map(({ points }) => points[0]),
    [
      ['silent', 820],
      [null, 20],
    ],
  );
});

t.test('a board of load, and what a page has of it', async t => {
  const board = boardPath(t);
  // The limits are so long that all nodes stay live, so the last reports stay as they are and can be compared.
  const { port } = await startReceiver(t, board, ['--uncertain-after', '1h', '--silent-after', '2h']);
  const nodes = Array.from({ length: 30 }, (_, i) => `node${String(i + 1).padStart(2, '0')}`);
  const load = start(t, ['load', '--to', `127.0.0.1:${port}`, '--size', '30', '--interval', '100ms']);
  const web = await startWeb(t, board);
  const clients = ['cpu', 'mem', 'load_per_cpu', 'net'].map(
    reading => [reading, WallClient.open(t, web.url, `?reading=${reading}&by=/node[0-9]/`)] as const,
  );
  const chosen = WallClient.open(t, web.url, `?where=${encodeURIComponent('name ~ "^node1"')}`);
  for (const [, client] of clients)
    await until('all nodes are there, live', () => client.names.length === 30 && client.count('live') === 30);
  load.child.kill('SIGKILL');
  await load.exit;
  // Reports that were on their way when the sender was killed are on the board by the third look.
  const [, first] = clients[0] as (typeof clients)[number];
  const { seq } = first;
  for (const [, client] of clients) await until('three looks more', () => client.seq >= seq + 3);
  t.test('cells have the values of status', async t => {
    const { stdout } = await run(['status', '--json', '--board', board, '-o', 'cpu,mem,load,cpus,in,out']);
    const told = JSON.parse(stdout).nodes as ({ name: string } & Record<string, number>)[];
    const truth: Record<string, (node: Record<string, number>) => number> = {
      cpu: ({ cpu = Number.NaN }) => cpu,
      mem: ({ mem = Number.NaN }) => mem,
      load_per_cpu: ({ load = Number.NaN, cpus = Number.NaN }) => load / cpus,
      net: node => (node.in ?? Number.NaN) + (node.out ?? Number.NaN),
    };
    t.strictSame(told.map(({ name }) => name).sort(), nodes);
    for (const [reading, client] of clients) {
      const scale = SCALES.find(({ name }) => name === reading) as (typeof SCALES)[number];
      for (const node of told) {
        // One step of a cell is allowed, and status rounds to three decimals.
        const off = client.value(node.name) - cellValue(scale, (truth[reading] as (typeof truth)[string])(node));
        if (Math.abs(off) > 1) t.fail(`${reading} of ${node.name} is ${off} off`);
      }
      t.not(new Set(client.cells).size, 1, `${reading} is not the same everywhere`);
    }
  });
  t.test('groups are those of the rule, in the order of their names', async t => {
    t.strictSame(first.layout?.groups, [
      { name: 'node0', nodes: 'node[01-09]', first: 0, count: 9 },
      { name: 'node1', nodes: 'node[10-19]', first: 9, count: 10 },
      { name: 'node2', nodes: 'node[20-29]', first: 19, count: 10 },
      { name: 'node3', nodes: 'node30', first: 29, count: 1 },
    ]);
    t.strictSame(chosen.names, nodes.slice(9, 19), 'those for which a condition holds alone');
    t.match(chosen.hello, { where: 'name ~ "^node1"', by: null, reading: 'cpu' });
  });
  t.test('from one look to the next only changes are sent', async t => {
    // Nothing changes any more.
    const { changes = 0, picture = 0 } = first.frames;
    await until('two pulses', () => (first.frames.changes ?? 0) >= changes + 2);
    t.equal(first.frames.picture, picture);
    t.match(first.head, { state: 'ok', counts: { live: 30 }, line: /^30 nodes: 30 live; listening without gaps for / });
    for (const [, { wrong }] of [...clients, ['', chosen] as const]) t.strictSame(wrong, []);
  });
  t.test('a look by its number has the readings of its cells', async t => {
    const at = first.seq;
    const { nodes } = (await ask(`${web.url}api/v1/nodes?seq=${at}&fields=cpu`)).json() as {
      nodes: { name: string; state: string; cpu: number }[];
    };
    const [cpu] = SCALES as [(typeof SCALES)[number]];
    t.equal(nodes.length, 30);
    for (const { name, state, cpu: value } of nodes)
      if (cellValue(cpu, value) !== first.value(name) || state !== first.state(name)) t.fail(`${name} is another`);
  });
  t.test('a change of the board is sent with the next look', async t => {
    await run(['forget', '--board', board, 'node[01-05]']);
    await until('the map has no forgotten nodes', () => first.names.length === 25);
    t.strictSame(first.names, nodes.slice(5));
    t.equal(first.frames.hello, 2, 'another board');
    t.strictSame(first.wrong, []);
    await until('the event of it', () => first.events.some(({ event }) => event === 'forget' || event === 'removed'));
  });
});
