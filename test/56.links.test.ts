// Evidence by link: the master's own interfaces go down, come back, are made anew and lose their addresses while nodes report, in
// namespaces of our own with real datagrams. A program that asks libbeoboard all the time tells how each node was.

import t from 'tap';
import { until } from './lib.js';
import { linkWords, masterAt, masterAt6, noNamespaces, type Options, PORT, World } from './netns.js';
import { goOn, StandIn, stop } from './sampler.js';
import { lacks } from './twosenders.js';

t.setTimeout(300_000);
t.jobs = 3;
const skip = noNamespaces();

/** How an interface goes down and comes back. */
for (const [what, down, up, words] of [
  ['is set down', 'down', 'up', []],
  ['loses its carrier', 'unwire', 'wire', []],
] as const)
  t.test(
    `the master's own interface ${what}: no node behind it is called silent`,
    { skip, buffered: true },
    async t => {
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
      t.notOk(watcher.statesOf('dying').includes('silent'), 'nor is who died meanwhile');
      t.ok((watcher.link('v1')?.changed ?? 0) <= link.at, 'down since');
      const [wired] = world[up](1);
      const again = await world.isUp('v1');
      t.ok(again.since >= wired, 'it listens anew');
      await world.are('live', 'a1', 'a2');
      const silent = await world.is('dying', 'silent');
      t.ok(silent.heartbeat[1] - world.silentAfter >= again.since, 'only after the limit from when it was up again');
      await world.judge();
      t.same(linkWords(watcher.link('v2') ?? { state: 0 }), ['up']);
      t.equal(watcher.eventsOf('link_down').filter(({ subject }) => subject === again.number).length, 1);
      t.ok(watcher.eventsOf('link_up').some(({ subject, at }) => subject === again.number && at >= wired));
    },
  );

// ---- what the kernel dropped ----

const sockets: [what: string, addresses: string[], options: Options][] = [
  ['IPv4', [masterAt(1)], {}],
  ['IPv6', [masterAt6(1)], { listen: ['::'] }],
  ['both, on a socket that it was passed', [masterAt(1), masterAt6(1)], { listen: ['::'], passed: 'master' }],
];

for (const [what, addresses, options] of sockets)
  t.test(
    `wrong checksums, ${what}: they keep nobody from being called silent`,
    {
      skip: skip || (options.passed !== undefined && lacks('python3', 'python3')),
      buffered: true,
    },
    async t => {
      const world = await World.make(t, { pairs: 1, ...options });
      const { nodes, watcher } = world;
      const names = ['one', 'two', 'three'];
      for (const name of names)
        for (const address of addresses) await nodes.order(`road ${name} far ${address} ${PORT}`);
      await world.are('live', ...names);
      // A takeover listens anew, too; from here on nothing does.
      const { since } = watcher.count();
      await nodes.stop('one');
      await world.is('one', 'uncertain');
      await nodes.order(`bad 1 far ${addresses[0]} ${PORT}`);
      await until('one has left', async () => (await nodes.bad()) >= 2);
      await nodes.order(`bad 0 far ${addresses[0]} ${PORT}`);
      await until('it is counted', () => watcher.count().unfitDrops > 0);
      await world.is('one', 'silent');
      await nodes.stop('two');
      for (const address of addresses) {
        const before = watcher.count().unfitDrops;
        const [began] = await nodes.order(`bad 200 far ${address} ${PORT}`);
        await world.limits(3 / addresses.length, began);
        await until('they are counted', () => watcher.count().unfitDrops > before + 100);
      }
      await world.is('two', 'silent');
      const [, ended] = await nodes.order(`bad 0 far ${addresses[0]} ${PORT}`);
      await world.heard(ended);
      await world.judge();
      const { kernelDrops, unfitDrops, overflows, since: at } = watcher.count();
      t.same(
        { kernelDrops, overflows, since: at },
        { kernelDrops: 0, overflows: 0, since },
        'none was taken for an overflow',
      );
      t.comment(
        `${await nodes.bad()} sent, ${unfitDrops} counted, ${watcher.late} of ${watcher.looks} looks at an old heartbeat`,
      );
      t.ok(unfitDrops <= (await nodes.bad()));
      t.ok(
        watcher.late < watcher.looks / 2,
        `the heartbeat goes on: late in ${watcher.late} of ${watcher.looks} looks`,
      );
    },
  );

t.test(
  'an overflow beside wrong checksums: it is counted, and all listening begins anew',
  { skip, buffered: true },
  async t => {
    const standIn = new StandIn(t, { buffer: 128 * 1024 });
    const world = await World.make(t, { pairs: 1, env: standIn.env });
    const { nodes, watcher } = world;
    await world.begin(1, 'a1', 'dead');
    await world.are('live', 'a1', 'dead');
    await nodes.stop('dead');
    await world.is('dead', 'silent');
    const to = `far ${masterAt(1)} ${PORT}`;
    await nodes.order(`bad 200 ${to}`);
    await until('they are counted', () => watcher.count().unfitDrops > 0);
    const stopped = await stop(world.receiver.child);
    await nodes.order(`burst 1000 ${to}`);
    const from = goOn(stopped);
    const { kernelDrops } = await until('it is counted', () => watcher.count().overflows > 0 && watcher.count());
    t.ok(kernelDrops > 100, `${kernelDrops} dropped`);
    const { since } = await world.linkIs('v1', 'listening anew', link => link.since > from);
    t.ok(watcher.count().since > from);
    await world.is('dead', 'uncertain');
    const { heartbeat } = await world.is('dead', 'silent');
    t.ok(heartbeat[1] - world.silentAfter >= since, 'silent again when it has listened for the limit');
    await world.judge();
    const [event] = watcher.eventsOf('overflow');
    t.ok((event?.detail ?? 0) > 100, 'the event says how many');
  },
);

// ---- addresses ----

/** How the master loses an address to which nodes report, on an interface that stays as it is, and gets it back. */
const losses: [
  what: string,
  at: string,
  lose: (world: World) => [number, number],
  back: (world: World) => [number, number],
][] = [
  [
    'an IPv4 address is deleted, with a wildcard socket',
    masterAt(1),
    world => world.strip(1, `${masterAt(1)}/24`),
    world => world.dress(1, `${masterAt(1)}/24`),
  ],
  [
    'an IPv6 address is deleted, with a wildcard socket',
    masterAt6(1),
    world => world.strip(1, `${masterAt6(1)}/64`),
    world => world.dress(1, `${masterAt6(1)}/64`),
  ],
  [
    'an interface goes down and up, and the kernel takes its IPv6 address with it',
    masterAt6(1),
    world => {
      world.down(1);
      return world.deaf(1, world.master.ip('link set v1 up'));
    },
    world => world.dress(1, `${masterAt6(1)}/64`),
  ],
  [
    'the route that makes an address ours is deleted, of which the kernel tells nobody who listens for addresses',
    masterAt(1),
    world => world.deaf(1, world.master.ip(`route del local ${masterAt(1)} dev v1 table local`)),
    world => world.hears(1, world.master.ip(`route add local ${masterAt(1)} dev v1 table local`)),
  ],
];

for (const [what, at, lose, back] of losses)
  t.test(`${what}: the link is down until it is there again`, { skip, buffered: true }, async t => {
    const world = await World.make(t, { listen: at.includes(':') ? ['::'] : ['0.0.0.0'], silentMs: 2000 });
    const { nodes, watcher } = world;
    for (const name of ['a1', 'dying']) await nodes.order(`road ${name} far ${at} ${PORT}`);
    const other = at.includes(':') ? masterAt6(2) : masterAt(2);
    for (const name of ['b1', 'b2']) await nodes.order(`road ${name} far ${other} ${PORT}`);
    await world.are('live', 'a1', 'dying', 'b1', 'b2');
    await until('its address is known', () => world.addressOf('v1') !== '::');
    const [, lost] = lose(world);
    await world.isDown('v1', 'no_address');
    await nodes.stop('dying', 'b2');
    await world.is('b2', 'silent');
    await world.limits(2.2, lost);
    t.same(linkWords(watcher.link('v1') ?? { state: 0 }), ['no_address']);
    t.same(linkWords(watcher.link('v2') ?? { state: 0 }), ['up']);
    back(world);
    const { since } = await world.isUp('v1');
    await world.is('a1', 'live');
    const silent = await world.is('dying', 'silent');
    t.ok(silent.heartbeat[1] - world.silentAfter >= since, 'only after the limit from when it was there again');
    await world.judge();
  });
