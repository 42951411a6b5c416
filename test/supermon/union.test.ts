// Servers of Supermon's protocol above each other: a chain of three has the content of its boards; a server that is
// silent, loops or sends invalid answers is reported, and harms no other.
//
// @seconds 12
// @rest
// @days 3

import { connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { listenAt } from '../../src/net/listening.js';
import { BoardSamples } from '../../src/supermon/boardsamples.js';
import { STATE } from '../../src/supermon/categories.js';
import { Child, MOST_LEVELS } from '../../src/supermon/children.js';
import { Concentrator } from '../../src/supermon/concentrator.js';
import { SupermonServer } from '../../src/supermon/server.js';
import { Asker, type Element, elementsOf, LiveBoard, serve } from '../kit/supermon.js';
import { until } from '../kit/until.js';

const LOCAL = { host: '127.0.0.1', port: 0 };

/** The part of the answer that does not change with time: without ages and without elements about servers. */
function steady(elements: readonly Element[]): string[] {
  return elements
    .filter(([, category]) => category !== 'server')
    .map(([name, category, state, , data]) =>
      JSON.stringify([name, category, state, category === STATE.name ? data.with(2, 'age') : data]),
    )
    .sort();
}

const serversOf = (text: string) => new Set(elementsOf(text).map(([server]) => server));

t.test('several requests at once, and each node has its own numbers', async t => {
  const count = 1500;
  const board = new LiveBoard(t, [], 2048);
  for (let i = 0; i < count; i++) board.lay(`n${i}`, { majfaults: BigInt(1000 + i) });
  const { port } = await serve(t, ['--board', board.path]);
  const clients = await Promise.all(Array.from({ length: 4 }, () => Asker.open(t, port)));
  for (let round = 0; round < 5; round++) {
    // While this test read the last answers, its board had no heartbeat.
    board.beat();
    const answers = await Promise.all(clients.map(client => client.ask('S\n')));
    for (const text of answers) {
      const faults = elementsOf(text).filter(([, category]) => category === 'paging');
      t.equal(faults.length, count);
      t.same(
        faults.filter(([name, , , , data]) => Number(data[1]) !== 1000 + Number(name.slice(1))),
        [],
        'of a board that is read in pieces',
      );
    }
  }
});

t.test('a chain of three equals the boards', async t => {
  const [near, far] = [new LiveBoard(t, ['a1', 'a2']), new LiveBoard(t, ['b1', '1e5'])];
  const third = await serve(t, ['--board', far.path]);
  const second = await serve(t, ['--board', near.path, '--from', `127.0.0.1:${third.port}`]);
  const first = await serve(t, ['--from', `127.0.0.1:${second.port}`]);
  const [top, bottom, middle] = [
    await Asker.open(t, first.port),
    await Asker.open(t, third.port),
    await Asker.open(t, second.port),
  ];
  await until('all know of each other', async () => serversOf(await top.ask('#\n')).size === 3);
  const own = elementsOf(await bottom.ask('S\n'));
  const both = elementsOf(await middle.ask('S\n'));
  t.same(
    steady(both).filter(line => !/^\["a/.test(line)),
    steady(own),
    'without loss',
  );
  t.same(steady(elementsOf(await top.ask('S\n'))), steady(both), 'over two, too');
  const part = elementsOf(await top.ask('0x40S\n'));
  t.same(part.map(([name]) => name).sort(), ['1e5', 'a1', 'a2', 'b1']);
  const levels = elementsOf(await top.ask('#\n')).map(([server, , , level]) => `${server} ${level}`);
  t.same(
    [...new Set(levels)].map(line => line.split(' ').at(-1)),
    ['2', '1', '0'],
  );

  third.child.kill('SIGSTOP');
  const stateOf = (elements: Element[], node: string) =>
    elements.find(([name, category]) => name === node && category === STATE.name)?.[2];
  const gone = await until('nothing is known of its nodes', async () => {
    const elements = elementsOf(await top.ask('S\n'));
    return stateOf(elements, 'b1') === 'unknown' && elements;
  });
  t.equal(stateOf(gone, '1e5'), 'unknown');
  t.equal(gone.filter(([name]) => name === 'b1').length, 1, 'and no numbers of old');
  t.ok(
    gone.some(
      ([name, category, state]) => name === `127.0.0.1:${third.port}` && category === 'server' && state === 'silent',
    ),
  );
  // The answer gives the reason for missing numbers, whatever categories were requested.
  const loads = elementsOf(await top.ask('0x40S\n'));
  t.same(
    loads.filter(([, category]) => category !== 'avenrun').map(([name, category, state]) => [name, category, state]),
    [
      [`127.0.0.1:${third.port}`, 'server', 'silent'],
      ['b1', STATE.name, 'unknown'],
      ['1e5', STATE.name, 'unknown'],
    ],
  );
  await until('the others are as ever', async () => stateOf(elementsOf(await top.ask('S\n')), 'a1') === 'live');
  third.child.kill('SIGCONT');
  await until('it is back', async () => stateOf(elementsOf(await top.ask('S\n')), 'b1') === 'live');
  third.child.kill('SIGKILL');
  await third.exit;
  await until('it is gone again', async () => stateOf(elementsOf(await top.ask('S\n')), 'b1') === 'unknown');
  t.match(second.output().stderr, new RegExp(`127.0.0.1:${third.port}: .*; its 2 nodes are unknown until it answers`));
  for (const { child, exit } of [first, second]) {
    child.kill('SIGTERM');
    t.equal(await exit, 0);
  }
});

/** A server in this process, to which others can be added. */
async function here(t: Test, name: string, boards: BoardSamples[] = [], memory?: number) {
  const children: Child[] = [];
  const concentrator = new Concentrator(name, boards, children);
  const server = new SupermonServer(concentrator.answer, undefined, undefined, memory);
  const { port } = await server.listen(LOCAL);
  t.teardown(() => {
    for (const child of children) child.close();
    server.close();
  });
  const add = (port: number) => {
    const child = new Child({ host: '127.0.0.1', port }, name, () => undefined);
    children.push(child);
    return child;
  };
  return { port, add, counts: server.counts, held: () => server.memory.taken };
}

t.test('servers that query each other', async t => {
  const board = new LiveBoard(t, ['n1']);
  const samples = new BoardSamples(undefined, board.path, undefined);
  t.teardown(() => samples.reader.close());
  const [a, b, c] = [await here(t, 'a', [samples]), await here(t, 'b'), await here(t, 'c')];
  const alone = a.add(a.port);
  await alone.meet();
  t.equal(alone.trouble, 'loop', 'one that asks itself');
  const all = [a.add(b.port), b.add(c.port), c.add(a.port)];
  await until('a ring of three is found', () => all.some(({ trouble }) => trouble === 'loop'));
  const client = await Asker.open(t, a.port);
  const nodes = elementsOf(await client.ask('0x100S\n')).filter(([name]) => name === 'n1');
  t.same(nodes[0]?.[2], 'live', 'and the board is served all the same');
});

/** Starts a server that calls `say` for every question, and returns its port. */
async function saying(t: Test, say: (socket: Socket, question: string) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('data', data => say(socket, data.toString()));
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (await listenAt(server, LOCAL)).port;
}

t.test('a child that was asked for only one category', async t => {
  const board = new LiveBoard(t, ['c1', 'c2']);
  const child = await serve(t, ['--board', board.path]);
  const { port } = await serve(t, ['--from', `127.0.0.1:${child.port}`]);
  const client = await Asker.open(t, port);
  await until('it is asked', async () => elementsOf(await client.ask('0x40S\n')).length === 2);
  child.child.kill('SIGKILL');
  const told = await until('it is missed', async () => {
    const elements = elementsOf(await client.ask('0x40S\n'));
    return elements.some(([, category]) => category === 'server') && elements;
  });
  t.same(
    told.map(([name, category, state]) => [name, category, state]),
    [
      [`127.0.0.1:${child.port}`, 'server', 'silent'],
      ['c1', STATE.name, 'unknown'],
      ['c2', STATE.name, 'unknown'],
    ],
  );
});

t.test("memory for other servers' answers", async t => {
  const schema = '((x server 0x8000 0 ((nr 1) nodes)))\n';
  // Much more than the kernel takes for a client that reads nothing.
  const large = `(${`(n1 long live 0 ("${'x'.repeat(4000)}"))\n`.repeat(2500)})\n`;
  const from = await saying(t, (socket, question) => socket.write(question.startsWith('#') ? schema : large));
  // There is memory for one answer of 10 MB, and not for two.
  const server = await here(t, 'us', [], 15 << 19);
  await server.add(from).meet();
  const idle = connect(server.port, '127.0.0.1').pause();
  t.teardown(() => void idle.destroy());
  idle.on('error', () => undefined);
  idle.write('S\n');
  await until('it has an answer under way', () => server.held() > 0);
  const client = await Asker.open(t, server.port);
  t.equal(elementsOf(await client.ask('0x1S\n')).length, 2500, 'who comes later is served');
  t.equal(server.counts.stuck, 1, 'and who did not read has gone for it');
  await until('nothing is kept', () => server.held() === 0);
  // A single client may use more than the limit.
  const small = await here(t, 'us', [], 1);
  await small.add(from).meet();
  t.equal(elementsOf(await (await Asker.open(t, small.port)).ask('0x1S\n')).length, 2500);
});

t.test("memory for names of other servers' nodes", async t => {
  const schema = '((x server 0x8000 0 ((nr 1) nodes)))\n';
  const many = `(${Array.from({ length: 200_000 }, (_, i) => `(n${i} b live 0 ())`).join('')}(${'x'.repeat(4000)} b live 0 ()))`;
  const from = await saying(t, (socket, question) => socket.write(question.startsWith('#') ? schema : many));
  const child = new Child({ host: '127.0.0.1', port: from }, 'us', () => undefined);
  t.teardown(() => child.close());
  await child.meet();
  t.equal((await child.sample(0x100))?.elements.length, 200_001, 'it is passed on');
  t.equal(child.nodes, 1 << 17, 'and not all of it is kept');
});

t.test('children with invalid answers', async t => {
  const row = (level: number) => `((x server 0x8000 ${level} ((nr 1) nodes)))\n`;
  /** A valid schema, and then this answer. */
  const then = (answer: string) => (socket: Socket, question: string) =>
    socket.write(question.startsWith('#') ? row(0) : answer);
  const rows: [what: string, say: (socket: Socket, question: string) => void, trouble: string][] = [
    ['nothing', () => undefined, 'silent'],
    ['an end', socket => socket.end(), 'silent'],
    ['half an expression', socket => socket.write('((x server'), 'silent'],
    ['half of one, and an end', socket => socket.end('((x server'), 'silent'],
    ['no list', socket => socket.write('hello\n'), 'bad'],
    ['HTTP', socket => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'), 'bad'],
    ['an element that is not a list', socket => socket.write('(a b)\n'), 'bad'],
    ['an element without data', socket => socket.write('((a b c))\n'), 'bad'],
    ['more than an answer', socket => socket.write(`${row(0)}${row(0)}`), 'bad'],
    ['lists without end', socket => socket.write('('.repeat(100_000)), 'bad'],
    ['an atom without end', socket => socket.write(`((${'x'.repeat(100_000)}`), 'bad'],
    ['a text without end', socket => socket.write(`(("${'x'.repeat(100_000)}`), 'bad'],
    ['elements without end', socket => socket.write(`(${'(a b())'.repeat(300_000)})`), 'bad'],
    ['lists in an element without end', socket => socket.write(`((a b c (${'()'.repeat(5000)})))`), 'bad'],
    ['bytes', socket => socket.write(Buffer.from([0x28, 0x28, 0, 1, 0xff])), 'bad'],
    ['quotes of Lisp', socket => socket.write("(('a b c (d)))\n"), 'bad'],
    ['too many levels', socket => socket.write(row(MOST_LEVELS)), 'deep'],
    ['a good schema, and a bad sample', then('(a)'), 'bad'],
    [
      'a good schema, and no sample',
      (socket, question) => void (question.startsWith('#') && socket.write(row(0))),
      'silent',
    ],
  ];
  // Long answers are read by this same process: those that must answer twice in time are children without them.
  const twice = rows.filter(([what]) => what.startsWith('a good schema'));
  for (const some of [rows.filter(row => !twice.includes(row)), twice])
    await t.test(`${some.length} of them`, async t => {
      const board = new LiveBoard(t, ['n1']);
      const samples = new BoardSamples(undefined, board.path, undefined);
      t.teardown(() => samples.reader.close());
      const server = await here(t, 'us', [samples]);
      const children: Child[] = [];
      for (const [, say] of some) children.push(server.add(await saying(t, say)));
      await Promise.all(children.map(child => child.meet()));
      const client = await Asker.open(t, server.port);
      const elements = elementsOf(await client.ask('S\n'));
      for (const [i, [what, , trouble]] of some.entries()) {
        const told = elements.find(([name, category]) => name === children[i]?.name && category === 'server');
        t.same(told?.[2], trouble, `${what}: ${children[i]?.why}`);
      }
      t.same(elements.find(([name, category]) => name === 'n1' && category === STATE.name)?.[2], 'live');
      t.equal(elements.filter(([name]) => name === 'x').length, 0);
    });
});
