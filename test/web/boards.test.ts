// The wall over the life of a board: one that is not there yet, a receiver that stalls, continues, ends and restarts, a
// board that is replaced; nodes that die; and the end of the wall itself.
//
// @seconds 20
// @waits
// @rest

import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { boardPath } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { ask, startWeb, WallClient } from './webclient.js';

const SHORT = ['--uncertain-after', '1s', '--silent-after', '2s'];

t.test('the life of a board', async t => {
  const board = boardPath(t);
  const web = await startWeb(t, board);
  await until('it is told', () => /nothing to serve yet: .*start beoboard receive/.test(web.output().stderr));
  const client = WallClient.open(t, web.url, '?by=/^r[0-9]/');
  await until('it says that there is none', () => client.head?.state === 'absent');
  t.match(client.head?.line, /start beoboard receive/);
  t.strictSame(client.names, []);
  t.equal((await ask(`${web.url}api/v1/nodes`)).status, 503);

  const receiver = await startReceiver(t, board, SHORT);
  const load = (prefix: string, size: number) =>
    start(t, [
      ...['load', '--to', `127.0.0.1:${receiver.port}`, '--interval', '100ms'],
      ...['--prefix', prefix, '--size', String(size)],
    ]);
  const [rack1, rack2] = [load('r1n', 9), load('r2n', 5)];
  await until('all are live', () => client.names.length === 14 && client.count('live') === 14);
  t.strictSame(
    client.layout?.groups.map(({ name, count }) => [name, count]),
    [
      ['r1', 9],
      ['r2', 5],
    ],
  );
  const values = client.value('r1n1');

  t.test('a rack that is killed', async t => {
    rack1.child.kill('SIGKILL');
    await until('its nodes are silent', () => client.count('silent') === 9);
    t.equal(client.state('r2n1'), 'live');
    t.ok(client.value('r1n1') <= 4000 && values <= 4000, 'the last reading stays');
    const line = await until('it is told', () =>
      client.head?.trouble.find(({ kind, nodes }) => kind === 'together' && nodes === 'r1n[1-9]'),
    );
    t.match(line, { severity: 'critical', count: 9, what: /together/ });
    t.match(client.head?.counts, { silent: 9, live: 5 });
    const event = await until('the event', () =>
      client.events.find(({ event, to, count }) => event === 'state' && to === 'silent' && (count ?? 0) > 1),
    );
    t.match(event.text, /silent, last heard/);
  });

  t.test('a receiver that stalls, and goes on', async t => {
    receiver.child.kill('SIGSTOP');
    await until('nothing is known', () => client.head?.state === 'stalled' && client.count('unknown') === 14);
    t.match(client.head?.line, /STALLED: the receiver is stalled/);
    t.match(client.head?.trouble, [{ kind: 'receiver' }]);
    receiver.child.kill('SIGCONT');
    await until('it goes on', () => client.head?.state === 'ok' && client.state('r2n1') === 'live');
    await until('both are events', () =>
      ['stalled', 'resumed'].every(wanted => client.events.some(({ event }) => event === wanted)),
    );
  });

  t.test('a receiver that is ended, and another on the same board', async t => {
    const hellos = client.frames.hello;
    receiver.child.kill('SIGTERM');
    await until('it was closed', () => client.head?.state === 'closed');
    rack2.child.kill('SIGKILL');
    const next = await startReceiver(t, board, SHORT);
    const again = start(t, [
      'load',
      '--to',
      `127.0.0.1:${next.port}`,
      '--prefix',
      'r2n',
      '--size',
      '5',
      '--interval',
      '100ms',
    ]);
    await until('its nodes are live again', () => client.head?.state === 'ok' && client.count('live') === 5);
    t.equal(client.frames.hello, hellos, 'it is the same board');
    again.child.kill('SIGKILL');
    next.child.kill('SIGTERM');
    await next.exit;
  });

  t.test('another board in its place', async t => {
    const id = client.hello?.boardId;
    rmSync(dirname(board), { recursive: true });
    await until('there is none', () => client.head?.state === 'absent' || client.head?.state === 'closed');
    const { port } = await startReceiver(t, board, SHORT);
    start(t, ['load', '--to', `127.0.0.1:${port}`, '--prefix', 'x', '--size', '3', '--interval', '100ms']);
    await until('its nodes are shown', () => client.names.length === 3 && client.count('live') === 3);
    t.not(client.hello?.boardId, id);
    t.strictSame(client.names, ['x1', 'x2', 'x3']);
  });

  t.strictSame(client.wrong, []);
  t.test('the end of the wall', async t => {
    web.child.kill('SIGTERM');
    t.equal(await web.exit, 0);
    await until('its streams have ended', () => client.hasEnded);
    t.match(web.output().stderr, /clean shutdown/);
  });
});
