// The streams: what several clients share is made once, a client that does not read gets the newest state later and
// never what it missed, and nobody waits for anybody. With simulated clients and a real board.

import t, { type Test } from 'tap';
import { bits } from '../../src/layout/layout.gen.js';
import type { SchedulerNode } from '../../src/schedulerfile/scheduler.js';
import { stateText } from '../../src/schedulerfile/statefile.js';
import { replaceFile } from '../../src/service/replacefile.js';
import { Wall } from '../../src/web/wall.js';
import { Watcher } from '../../src/web/watcher.js';
import { beat } from '../kit/linkboard.js';
import { madeState } from '../kit/madejobs.js';
import { boardPath, folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { makeBoard } from '../kit/stateboard.js';
import { until } from '../kit/until.js';
import { Reader } from './webclient.js';

async function wallOf(t: Test, size: number): Promise<{ wall: Wall; load: ReturnType<typeof start>; board: string }> {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board);
  const load = start(t, ['load', '--to', `127.0.0.1:${port}`, '--size', String(size), '--interval', '100ms']);
  const watcher = new Watcher(board);
  await until('all nodes are there', async () => (await watcher.look()).count === size, 100);
  watcher.reader.close();
  const wall = new Wall({ board, build: 'x', journalRun: '/nowhere' });
  await wall.begin();
  t.teardown(() => wall.close());
  return { wall, load, board };
}

t.test('streams', async t => {
  const { wall } = await wallOf(t, 300);
  const show = async (query = '') => {
    const reader = new Reader();
    wall.streams.add(await wall.view(new URLSearchParams(query)), reader);
    t.teardown(() => reader.leave());
    return reader;
  };
  const [one, two, other] = [await show(), await show(), await show('reading=mem')];
  t.test('a stream begins with all there is', async t => {
    t.equal(one.got.length, 1, 'at once');
    t.strictSame(one.client.frames, { hello: 1, layout: 1, picture: 1, head: 1 });
    t.equal(one.client.names.length, 300);
  });
  t.test('frames that two clients share are made once', async t => {
    const { seq } = two.client;
    await until('another look', () => two.client.seq > seq && one.client.seq === two.client.seq);
    t.equal(one.got.at(-1), two.got.at(-1), 'the same bytes, and not equal ones');
    t.not(one.got.at(-1), other.got.at(-1));
  });
  t.test('a client that does not read gets the newest state when it reads again', async t => {
    two.isFree = false;
    const before = { ...two.client.frames };
    const { seq } = two.client;
    await until('two looks more', () => one.client.seq >= seq + 2);
    t.equal(two.client.seq, seq, 'nothing was sent to him');
    two.isFree = true;
    await until('he is told', () => two.client.seq > seq);
    t.ok(two.client.seq >= seq + 3);
    t.equal(two.client.frames.picture, (before.picture ?? 0) + 1, 'all, and once');
    t.equal(two.client.frames.changes, before.changes);
    await until('they are at the same look', () => one.client.seq === two.client.seq);
    t.strictSame(one.client.cells, two.client.cells);
    for (const { client } of [one, two, other]) t.strictSame(client.wrong, []);
  });
  t.test('a client that has gone is forgotten, and so is its view', async t => {
    const chosen = await show('where=load>1&by=/node./');
    t.equal(wall.streams.count, 4);
    t.match(chosen.client.hello, { where: 'load>1', by: '/node./' });
    chosen.leave();
    t.equal(wall.streams.count, 3);
  });
  t.test('a condition that begins to take too long ends its streams', async t => {
    const chosen = await show('where=load>2');
    const view = await wall.view(new URLSearchParams('where=load>2'));
    (view.chosen as { isTooSlow: boolean }).isTooSlow = true;
    await until('it is ended', () => chosen.hasEnded);
    await t.rejects(wall.view(new URLSearchParams('where=load>2')), /takes too long/);
  });
  t.test('the number of conditions is limited, and unused ones are dropped', async t => {
    const readers = [];
    for (let i = 0; i < 10; i++) readers.push(await show(`where=load>${10 + i}`));
    await t.rejects(
      (async () => {
        for (let i = 0; i < 16; i++) await show(`where=load>${100 + i}`);
      })(),
      /16 others are in use already/,
    );
    for (const reader of readers) reader.leave();
  });
});

t.test('a board without nodes is one', async t => {
  const board = makeBoard(t, {});
  beat(board.path);
  const wall = new Wall({ board: board.path, build: 'x', journalRun: '/nowhere' });
  t.teardown(() => wall.close());
  await wall.begin();
  const { line, state, counts } = wall.heads.at(await wall.watcher.look());
  t.match({ line, state, counts }, { line: /^0 nodes/, state: 'ok', counts: {} });
});

t.test('nodes that the map marks', async t => {
  const slurmDir = folder(t);
  const sick = { flags: 1 << bits.flags.root_readonly };
  const board = makeBoard(t, { live: ['n1', 'n2', 'n3'], silent: ['n4'], held: ['n5'] });
  board.lay('n3', 0, sick);
  const beats = setInterval(() => beat(board.path), 100);
  t.teardown(() => clearInterval(beats));
  const of = (name: string, more: Partial<SchedulerNode>): SchedulerNode => ({
    ...{ name, state: 'IDLE', base: 'idle', cpus: 4 },
    ...more,
  });
  const nodes = [of('N1', { aside: 'drained', reason: 'fan' }), of('n2', {}), of('n9', { aside: 'drained' })];
  const text = stateText(madeState(nodes, [], { names: { N1: 'n1' } }));
  replaceFile(slurmDir, 'state', text, 0o644);
  const marksWith = async (options: object) => {
    const wall = new Wall({ board: board.path, build: 'x', journalRun: '/nowhere', ...options });
    t.teardown(() => wall.close());
    await wall.begin();
    const tick = await wall.watcher.look();
    return wall.heads.at(tick).marks;
  };
  t.strictSame(
    await marksWith({ slurmDir }),
    { critical: 'n3', held: 'n5,n1' },
    'silent nodes are no problem of a node',
  );
  t.strictSame(await marksWith({}), { critical: 'n3', held: 'n5' }, 'what a scheduler says is not shown to all');
});
