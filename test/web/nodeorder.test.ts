// The nodes in an order, under attack: every page of 2,000 nodes by fields that all share, that few have, or that are
// texts; pages far behind the end; lists, fields and questions that are too many; and that looks go on meanwhile.
// @seconds 6
// @shared 8
// @rest

import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Reading } from '../../src/readings/measures.js';
import { SlicedLook } from '../../src/service/slices.js';
import { Api } from '../../src/web/api.js';
import { FieldValues } from '../../src/web/layouts.js';
import { type AskedPage, NodePages } from '../../src/web/nodeorder.js';
import { Wall } from '../../src/web/wall.js';
import { Watcher } from '../../src/web/watcher.js';
import { board as boardOf } from '../kit/ganglia.js';
import { boardPath } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

const SIZE = 2000;
const PAGES = SIZE / 200;

/** A wall for a board that stands still. */
async function still(t: Test): Promise<{ wall: Wall; board: string }> {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, [
    ...['--uncertain-after', '1h', '--silent-after', '2h', '--capacity', String(SIZE)],
  ]);
  const load = start(t, ['load', '--to', `127.0.0.1:${port}`, '--size', String(SIZE), '--interval', '1s']);
  const watcher = new Watcher(board);
  const areLive = ({ cells: [cells], count }: Awaited<ReturnType<Watcher['look']>>) =>
    count === SIZE && cells?.subarray(0, count).every(cell => (cell & 7) === 1);
  await until('all nodes report', async () => areLive(await watcher.look()), 100);
  watcher.reader.close();
  load.child.kill('SIGKILL');
  await load.exit;
  const wall = new Wall({ board, build: 'x', journalRun: '/nowhere' });
  await wall.begin();
  t.teardown(() => wall.close());
  return { wall, board };
}

interface Told {
  readonly nodes: readonly { readonly name: string }[];
  readonly total: number;
}

t.test('a large board', async t => {
  const { wall, board } = await still(t);
  const pages = new NodePages(wall);
  let asked = 0;
  const ask = async (change: Partial<AskedPage> = {}, key = String(asked++)): Promise<Told> => {
    const all = {
      sort: 'state',
      page: 1,
      fields: ['load'],
      columns: [],
      isChosen: () => true,
      slices: new SlicedLook(),
    };
    return JSON.parse(await pages.page(key, { ...all, ...change })) as Told;
  };
  const api = new Api(wall);
  const get = async (query: string) => {
    const request = { path: '', query: new URLSearchParams(query), host: '', zone: '', accept: '', site: '' };
    return await api.answer('nodes', {
      ...request,
      isForeign: false,
      token: '',
      slices: new SlicedLook(),
      take: async () => undefined,
    });
  };

  t.test('each node is on one page, in the order of status', async t => {
    for (const sort of 'state name -name load cpus -gpu fabric boot_id -address problems'.split(' ')) {
      const told: string[] = [];
      for (let page = 1; page <= PAGES; page++) {
        const { nodes, total } = await ask({ sort, page });
        t.same([nodes.length, total], [200, SIZE]);
        told.push(...nodes.map(({ name }) => name));
      }
      const status = await run(['status', '--json', '--sort', sort, '-o', 'load', '--board', board]);
      const wanted = (JSON.parse(status.stdout) as Told).nodes.map(({ name }) => name);
      t.ok(told.join() === wanted.join(), `${sort}: all pages in one order`);
    }
  });

  t.test('a page behind the end is empty', async t => {
    for (const page of [PAGES + 1, 9_999_999_999]) t.match(await ask({ page }), { nodes: [], total: SIZE });
  });

  t.test('others get their turn while a page is made', async t => {
    let [turns, isMade] = [0, false];
    // Each slice of the work takes 10 ms.
    const isChosen = (index: number) => {
      if (index % 200 === 0) for (const end = performance.now() + 10; performance.now() < end; );
      return true;
    };
    const page = ask({ isChosen, sort: 'name' }).then(() => {
      isMade = true;
    });
    while (!isMade) {
      await turn();
      turns++;
    }
    await page;
    t.ok(turns >= 3, `${turns} turns`);
  });

  t.test('the same question of many clients is answered once at a look', async t => {
    const look = async () => {
      const { seq = 0 } = wall.watcher.last ?? {};
      await until('there is another look', () => (wall.watcher.last?.seq ?? 0) > seq);
    };
    let made = 0;
    const isChosen = (index: number) => {
      if (index === 0) made++;
      return true;
    };
    await until('two clients ask between two looks', async () => {
      await look();
      const { seq } = wall.watcher.last ?? {};
      made = 0;
      await Promise.all(Array.from({ length: 50 }, () => ask({ isChosen }, 'same')));
      return wall.watcher.last?.seq === seq;
    });
    t.equal(made, 1);
    await look();
    await ask({ isChosen }, 'same');
    t.equal(made, 2, 'and again at the next one');
  });

  t.test('an error of one question is none of the next', async t => {
    const broken = ask({
      isChosen: () => {
        throw new Error('broken');
      },
    });
    const next = ask();
    await t.rejects(broken, /broken/);
    t.equal((await next).nodes.length, 200);
  });

  t.test('more fields than are kept at a time are refused, and looks go on', async t => {
    const fields =
      'cpu mem swap load cpus gpu in out net disk pressure temp power up skew delay lost late refused reports';
    const answers = await Promise.all(
      fields.split(' ').map(async sort => {
        try {
          return (await get(`page=1&sort=${sort}`))?.status;
        } catch (error) {
          return (error as Error).message;
        }
      }),
    );
    t.equal(answers.filter(answer => answer === 200).length, 16);
    const refused = answers.filter(answer => answer !== 200);
    for (const answer of refused) t.equal(answer, 'sort: 16 others are in use already; try again later');
    t.equal(refused.length, 4);
    const { seq = 0 } = wall.watcher.last ?? {};
    await until('two looks more', () => (wall.watcher.last?.seq ?? 0) >= seq + 2);
    t.equal((await get('page=1&sort=late'))?.status, 200, 'later there is room');
  });

  t.test('long lists', async t => {
    await t.rejects(get('page=1&nodes=x[1-1000000]'), { message: /too many names; at most 2000 are allowed/ });
    await t.rejects(get('page=1&nodes=x[1-2000]'), { message: /^nodes: not on the board: 'x\[1-16\]' and 1984 more$/ });
    const { body } = (await get('page=10&sort=name&fields=load&nodes=node[0001-2000]')) ?? {};
    t.match(JSON.parse(String(body)), { total: SIZE, nodes: { length: 200, 199: { name: 'node2000' } } });
    const twice = await get('page=1&fields=load&nodes=node[0001-0002],node0001');
    t.match(JSON.parse(String(twice?.body)), { total: 2 });
  });
});

t.test('a field that takes long to read is read at some looks only', async t => {
  let read = 0;
  const slow = {
    name: 'slow',
    value: () => {
      read++;
      for (const end = performance.now() + 20; performance.now() < end; );
      return 'x';
    },
  } as unknown as Reading;
  const values = new FieldValues(slow);
  const piece = boardOf([{ name: 'a1' }, { name: 'a2' }]);
  const look = (count: number, isAnother = false) => {
    values.begin(count, isAnother);
    t.equal(values.ask(piece, 0), 2);
  };
  look(2, true);
  t.same([read, values.of], [2, ['x', 'x']]);
  look(2);
  t.equal(read, 2, 'not at the next look');
  look(3);
  t.equal(read, 4, 'but where there are more nodes');
  look(3, true);
  t.equal(read, 6, 'or another board');
});
