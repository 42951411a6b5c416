// Evidence by link: the master's own interfaces go down, come back, are made anew and lose their addresses while nodes report, in
// namespaces of our own with real datagrams. A program that asks libbeoboard all the time tells how each node was.

import t from 'tap';
import { linkWords, noNamespaces, World } from './netns.js';

t.setTimeout(300_000);
t.jobs = 3;
const skip = noNamespaces();

/** How an interface goes down and comes back. */
for (const [what, down, up, words] of [
  ['is set down', 'down', 'up', []],
  ['loses its carrier', 'unwire', 'wire', []],
] as const)
  t.test(`the master's own interface ${what}: no node behind it is called silent`, { skip, buffered: true }, async t => {
    // The kernel tells of a carrier up to a second late.
    const world = await World.make(t, { silentMs: what === 'is set down' ? 1500 : 2500 });
    const { nodes, watcher } = world;
    await world.begin(1, 'a1', 'a2', 'dying');
    await world.begin(2, 'b1', 'b2');
    await world.are('live', 'a1', 'a2', 'dying', 'b1', 'b2');
    const before = await world.isUp('v1');
    const [, since] = world[down](1);
    const link = await world.isDown('v1', ...words);
    t.equal(link.downs, before.downs + 1);
    await nodes.stop('dying', 'b2');
    await world.are('uncertain', 'a1', 'a2', 'dying');
    await world.is('b2', 'silent');
    await world.limits(2.2, since);
    t.same(watcher.statesOf('a1'), ['live', 'uncertain']);
    t.same(watcher.statesOf('dying'), ['live', 'uncertain']);
    t.ok((watcher.link('v1')?.changed ?? 0) <= link.at, 'down since');
    const [wired] = world[up](1);
    const again = await world.isUp('v1');
    t.ok(again.since >= wired, 'it listens anew');
    await world.are('live', 'a1', 'a2');
    const silent = await world.is('dying', 'silent');
    t.ok(silent.heartbeat[1] - world.silentAfter >= again.since, 'only after the limit from when it was up again');
    await world.judge();
    t.same(watcher.statesOf('a1'), ['live', 'uncertain', 'live']);
    t.same(watcher.statesOf('b1'), ['live'], 'another link is judged as ever');
    t.same(watcher.statesOf('b2'), ['live', 'uncertain', 'silent']);
    t.same(linkWords(watcher.link('v2') ?? { state: 0 }), ['up']);
    t.equal(watcher.eventsOf('link_down').filter(({ subject }) => subject === again.number).length, 1);
    t.ok(watcher.eventsOf('link_up').some(({ subject, at }) => subject === again.number && at >= wired));
  });
