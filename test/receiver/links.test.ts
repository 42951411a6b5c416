// Evidence by link: the master's own interfaces go down, come back, are made again and lose their addresses while nodes
// report, in our own namespaces with real datagrams. A program that asks libbeoboard all the time records the state of
// each node.
//
// @seconds 42
// @waits
// @rest
// @days 3

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { testProgram } from '../kit/compiling.js';
import { lacks } from '../kit/lacking.js';
import {
  lacksKind,
  linkWords,
  masterAt,
  masterAt6,
  Namespace,
  noNamespaces,
  type Options,
  PORT,
  World,
} from '../kit/netns.js';
import { ROOT } from '../kit/places.js';
import { run } from '../kit/program.js';
import { goOn, MS, now, pass, S, StandIn, type Stop, stop } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { SEED } from '../kit/whole.js';

t.setTimeout(600_000);
// They mostly wait: three of them need a fifth of a CPU.
t.jobs = 8;
const skip = noNamespaces();

/** How an interface goes down and comes back. */
for (const [what, down, up, wrap] of [
  ['is set down', 'down', 'up', []],
  ['loses its carrier', 'unwire', 'wire', []],
  [
    'is set down, and the receiver has no capability',
    'down',
    'up',
    ['setpriv', '--bounding-set=-all', '--inh-caps=-all'],
  ],
] as const)
  t.test(
    `the master's own interface ${what}: no node behind it is called silent`,
    { skip: skip || (wrap.length > 0 && lacks('util-linux', 'setpriv')), buffered: true },
    async t => {
      // The kernel reports a lost carrier up to a second late.
      const world = await World.make(t, { silentMs: down === 'down' ? 1500 : 2500, wrap: [...wrap] });
      const { nodes, watcher } = world;
      await world.begin(1, 'a1', 'a2', 'dying');
      await world.begin(2, 'b1', 'b2');
      await world.are('live', 'a1', 'a2', 'dying', 'b1', 'b2');
      const before = await world.isUp('v1');
      const [from, since] = world[down](1);
      const link = await world.isDown('v1');
      t.equal(link.downs, before.downs + 1);
      await nodes.stop('dying', 'b2');
      await world.are('uncertain', 'a1', 'a2', 'dying');
      await world.is('b2', 'silent');
      await world.limits(2.2, since);
      t.notOk(watcher.statesOf('dying').includes('silent'), 'nor is who died meanwhile');
      t.ok(link.changed >= from && watcher.link('v1')?.changed === link.changed, 'the table tells since when');
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
    { skip: skip || (options.passed !== undefined && lacks('python3', 'python3')), buffered: true },
    async t => {
      const world = await World.make(t, { pairs: 1, ...options });
      const { nodes, watcher } = world;
      const names = ['one', 'two', 'three'];
      for (const name of names)
        for (const address of addresses) await nodes.order(`road ${name} far ${address} ${PORT}`);
      await world.are('live', ...names);
      // A takeover restarts listening as well; after this point, only an overflow can.
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
        const [began] = await nodes.order(`bad 1000 far ${address} ${PORT}`);
        await world.limits(3 / addresses.length, began);
        await until('they are counted', () => watcher.count().unfitDrops > before + 500);
      }
      await world.is('two', 'silent');
      const [, ended] = await nodes.order(`bad 0 far ${addresses[0]} ${PORT}`);
      await world.heard(ended);
      await world.judge();
      const { kernelDrops, unfitDrops, overflows, since: at } = watcher.count();
      t.same({ kernelDrops, overflows }, { kernelDrops: 0, overflows: 0 }, 'none was taken for an overflow');
      if (world.steady) t.equal(at, since, 'it has listened all the time');
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
  'an overflow beside wrong checksums: it is counted, and all links restart listening',
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

t.test(
  'the first reports of an interface wait in a socket that overflows: nobody is silent',
  { skip, buffered: true },
  async t => {
    const standIn = new StandIn(t, { buffer: 128 * 1024 });
    const world = await World.make(t, { env: standIn.env });
    const { nodes, watcher } = world;
    await world.begin(1, 'a1');
    await world.is('a1', 'live');
    const stopped = await stop(world.receiver.child);
    await world.begin(2, 'b1', 'b2');
    // By then their first reports are in the socket; after the burst it has no room for more.
    await pass(now() + 300 * MS);
    await nodes.order(`burst 1000 far ${masterAt(1)} ${PORT}`);
    await pass(stopped.from + 2 * world.silentAfter);
    const from = goOn(stopped);
    await world.are('live', 'a1', 'b1', 'b2');
    await world.judge();
    for (const name of ['b1', 'b2']) t.notOk(watcher.statesOf(name).includes('silent'));
    t.ok(watcher.count().overflows > 0, 'it did overflow');
    t.ok((watcher.link('v2')?.since ?? 0) > from, 'its link listens since the overflow');
  },
);

// ---- addresses ----

/** How the master loses and regains an address to which nodes report, on an interface that otherwise stays the same. */
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

t.test('two interfaces with the same link-local address: each has its own', { skip, buffered: true }, async t => {
  const world = await World.make(t, { listen: ['::'] });
  const { nodes, watcher, master, far } = world;
  for (const n of [1, 2]) {
    master.ip(`addr add fe80::1/64 dev v${n} nodad`);
    far.ip(`neigh replace fe80::1 lladdr 02:86:00:00:01:0${n} dev v${n}`);
    await nodes.order(`road a${n} far fe80::1%v${n} ${PORT}`);
  }
  await world.are('live', 'a1', 'a2');
  await until('both are known', () => ['v1', 'v2'].every(v => world.addressOf(v) === 'fe80::1'));
  const before = await world.isUp('v2');
  const [, lost] = world.strip(1, 'fe80::1/64');
  await world.isDown('v1', 'no_address');
  await world.limits(1.5, lost);
  t.equal(watcher.node('a1')?.to, 'uncertain');
  world.dress(1, 'fe80::1/64');
  await world.isUp('v1');
  await world.is('a1', 'live');
  await world.judge();
  t.equal(watcher.link('v2')?.downs, before.downs, 'the other was never down');
  if (world.steady) t.same(watcher.statesOf('a2').slice(-1), ['live']);
});

// ---- where nodes report to ----

t.test(
  'a receiver that listens elsewhere, or is not a member any more, hears nothing by that link, and says so',
  { skip, buffered: true },
  async t => {
    const group = '239.255.86.77';
    const world = await World.make(t, {
      listen: [masterAt(1), masterAt(2)],
      more: ['--group', `${group}:${PORT + 1}`, '--interface', 'v2'],
    });
    const { nodes, far, options } = world;
    far.ip(`route replace ${group} dev v2`);
    await nodes.order(`road unicast far ${masterAt(1)} ${PORT}`);
    await nodes.order(`road group far ${group} ${PORT + 1}`);
    await world.are('live', 'unicast', 'group');
    await until(
      'both are known',
      () => world.addressOf('v1').endsWith(masterAt(1)) && world.addressOf('v2').endsWith(group),
    );

    // Now the receiver listens on another port than the one node uses, and has not joined the group of the other.
    await world.kill();
    options.listen = [masterAt(2)];
    options.more = ['--listen', `${masterAt(1)}:${PORT + 2}`];
    await world.receive();
    const started = now();
    for (const v of ['v1', 'v2']) await world.isDown(v, 'no_address');
    await world.limits(2.2, started);
    for (const name of ['unicast', 'group']) t.equal(world.watcher.node(name)?.to, 'uncertain', name);
    const { stdout } = await run(['check', '--board', world.board]);
    t.match(stdout, `reports to ${masterAt(1)} port ${PORT}`);
    t.match(stdout, `reports to ${group} port ${PORT + 1}`);

    await world.kill();
    options.listen = [masterAt(1), masterAt(2)];
    options.more = ['--group', `${group}:${PORT + 1}`, '--interface', 'v2'];
    await world.receive();
    for (const v of ['v1', 'v2']) await world.isUp(v);
    await world.are('live', 'unicast', 'group');
    await world.judge();
  },
);

/**
 * With rp_filter, the kernel drops datagrams from a source to which it has no route: without the interface's address,
 * or without the route.
 */
for (const [what, to, lose, back] of [
  ['a group, and the address goes', '239.255.86.77', 'addr del 10.86.1.1/24 dev v1', 'addr add 10.86.1.1/24 dev v1'],
  [
    'a broadcast, and the address goes',
    '10.86.1.255',
    'addr del 10.86.1.1/24 dev v1',
    'addr add 10.86.1.1/24 broadcast + dev v1',
  ],
  [
    'an address, and the way back goes',
    masterAt(1),
    'route del 10.86.1.0/24 dev v1',
    'route add 10.86.1.0/24 dev v1 src 10.86.1.1',
  ],
] as const)
  t.test(`nodes report to ${what}: with rp_filter the link is down`, { skip, buffered: true }, async t => {
    const world = await World.make(t, {
      listen: ['0.0.0.0'],
      more: ['--group', `239.255.86.77:${PORT}`, '--interface', 'v1'],
      silentMs: 2500,
    });
    const { nodes, master, far } = world;
    master.sh('echo 2 > /proc/sys/net/ipv4/conf/all/rp_filter');
    master.ip('addr replace 10.86.1.1/24 broadcast + dev v1');
    far.ip('addr replace 10.86.1.2/24 broadcast + dev v1', 'route replace 239.255.86.77 dev v1');
    for (const name of ['a1', 'dying']) await nodes.order(`road ${name} far ${to} ${PORT}`);
    await world.begin(2, 'b1');
    await world.are('live', 'a1', 'dying', 'b1');
    await until('it is known', () => world.addressOf('v1').endsWith(to));
    const [, lost] = world.deaf(1, master.ip(lose));
    await world.isDown('v1', 'no_address');
    await nodes.stop('dying');
    await world.limits(2.2, lost);
    t.equal(world.watcher.node('a1')?.to, 'uncertain');
    // After a restart, the address to which the nodes report is known from the board.
    await world.kill();
    await world.receive();
    await world.limits(1.2);
    t.same(linkWords(world.watcher.link('v1') ?? { state: 0 }), ['no_address']);
    world.hears(1, master.ip(back));
    const { since } = await world.isUp('v1');
    await world.is('a1', 'live');
    const silent = await world.is('dying', 'silent');
    t.ok(silent.heartbeat[1] - world.silentAfter >= since);
    await world.judge();
    t.same(linkWords(world.watcher.link('v2') ?? { state: 0 }), ['up']);
  });

// ---- nodes with several paths, and links that change ----

t.test('a node with two paths follows the remaining one', { skip, buffered: true }, async t => {
  const world = await World.make(t);
  const { nodes, watcher } = world;
  await world.begin(1, 'both', 'a1');
  await world.begin(2, 'both', 'b1');
  await world.are('live', 'both', 'a1', 'b1');
  await world.reportsBy('both', 'v1');
  for (const [gone, left] of [
    [1, 2],
    [2, 1],
  ] as const) {
    const [, down] = world.down(gone);
    await world.isDown(`v${gone}`);
    await world.reportsBy('both', `v${left}`);
    await world.limits(1.2, down);
    world.up(gone);
    await world.isUp(`v${gone}`);
  }
  await nodes.stop('both');
  await world.is('both', 'silent');
  await world.judge();
  if (world.steady) t.same(watcher.statesOf('both'), ['live', 'uncertain', 'silent'], 'live until it died');
});

t.test('a node that moves is judged by the link that it moved to', { skip, buffered: true }, async t => {
  const world = await World.make(t);
  const { nodes, watcher } = world;
  await world.begin(1, 'mover', 'a1');
  await world.are('live', 'mover', 'a1');
  t.same(world.table, ['v1'], 'no report has come by the other: it has no entry');
  await nodes.order(`move mover far ${masterAt(2)} ${PORT}`);
  await world.reportsBy('mover', 'v2');
  const [, down] = world.down(1);
  await world.is('a1', 'uncertain');
  await world.limits(2, down);
  await nodes.stop('mover');
  await world.is('mover', 'silent');
  world.up(1);
  await world.is('a1', 'live');
  await world.judge();
  if (world.steady) t.same(watcher.statesOf('mover'), ['live', 'uncertain', 'silent']);
});

t.test(
  'a link that flaps for longer than the limit calls nobody silent until it stays',
  { skip, buffered: true },
  async t => {
    const world = await World.make(t);
    const { nodes, watcher } = world;
    await world.begin(1, 'a1', 'dying');
    await world.begin(2, 'b1');
    await world.are('live', 'a1', 'dying', 'b1');
    await nodes.stop('dying');
    const next = random(SEED);
    const began = now();
    const kinds = [
      [() => world.down(1), () => world.up(1)],
      [() => world.unwire(1), () => world.wire(1)],
    ] as const;
    let [times, longest, up] = [0, 0, began];
    for (; now() < began + 3 * world.silentAfter; times++) {
      const [down, back] = kinds[next() < 0.5 ? 0 : 1];
      longest = Math.max(longest, down()[1] - up);
      await pass(now() + (50 + 250 * next()) * MS);
      [up] = back();
      await pass(now() + (50 + 350 * next()) * MS);
    }
    await world.is('a1', 'live');
    const { since } = await world.isUp('v1');
    await world.is('dying', 'silent');
    await world.judge();
    t.comment(`SEED=${SEED}: ${times} times down; ${watcher.link('v1')?.downs} were found`);
    // On a busy machine the link may have stayed up for longer than intended.
    const silent = watcher.changes.find(({ name, to }) => name === 'dying' && to === 'silent');
    if (longest < world.silentAfter)
      t.ok((silent?.heartbeat[1] ?? 0) - world.silentAfter >= since, 'not before it stayed up');
  },
);

for (const [what, down, up] of [
  ['of the interface itself', 'down', 'up'],
  ['of its carrier', 'unwire', 'wire'],
] as const)
  t.test(`a down ${what} within one drain restarts listening on the link`, { skip, buffered: true }, async t => {
    const standIn = new StandIn(t);
    const world = await World.make(t, { env: standIn.env });
    const { watcher } = world;
    await world.begin(1, 'a1');
    await world.begin(2, 'b1');
    await world.are('live', 'a1', 'b1');
    const [one, two] = [await world.isUp('v1'), await world.isUp('v2')];
    await standIn.hold('begun');
    world[down](1);
    const [, wired] = world[up](1);
    standIn.release();
    await world.linkIs('v1', 'known to have been down', link => link.downs > one.downs);
    const { since, number } = await world.isUp('v1');
    t.ok(since > wired, 'after the down was over');
    await world.is('a1', 'live');
    await world.judge();
    t.ok(watcher.eventsOf('link_down').some(({ subject }) => subject === number));
    t.ok(watcher.eventsOf('link_up').some(({ subject, at }) => subject === number && at >= wired));
    if (world.steady) t.equal(watcher.link('v2')?.since, two.since, 'the other is as before');
  });

t.test('lost messages of the kernel: each link restarts listening, once', { skip, buffered: true }, async t => {
  const standIn = new StandIn(t);
  const world = await World.make(t, { env: standIn.env });
  const { watcher, master } = world;
  await world.begin(1, 'a1');
  await world.begin(2, 'b1');
  await world.are('live', 'a1', 'b1');
  const before = [await world.isUp('v1'), await world.isUp('v2')];
  await standIn.hold('begun');
  // Some MiB of messages: the buffer holds one or two MiB, so the last messages are lost.
  for (let i = 0; i < 30; i++)
    master.ip(
      ...Array.from({ length: 15 }, (_, k) => [
        `link add c${k} type veth peer name d${k}`,
        `link set c${k} up`,
        `link set d${k} up`,
        `link delete c${k}`,
      ]).flat(),
    );
  const [, wired] = [world.down(1), world.up(1)];
  standIn.release();
  for (const { name } of before) {
    await world.linkIs(name, 'listening anew', link => link.since > wired[1]);
    await world.isUp(name);
  }
  await world.are('live', 'a1', 'b1');
  await world.judge();
  t.same(
    before.map(({ name, downs }) => (watcher.link(name)?.downs ?? 0) - downs),
    [1, 0],
    'who was down is told of, once, and nobody else',
  );
});

t.test(
  'interfaces that come and go do not hinder a link that stays; they do hinder who has none',
  { skip, buffered: true },
  async t => {
    const world = await World.make(t, { pairs: 31 });
    const { nodes, watcher } = world;
    const names = Array.from({ length: 31 }, (_, i) => `n${i + 1}`);
    for (const [i, name] of names.entries()) {
      await world.begin(i + 1, name);
      await world.is(name, 'live');
    }
    t.same(
      world.table,
      Array.from({ length: 30 }, (_, i) => `v${i + 1}`),
      'as many as there are entries',
    );
    t.equal(watcher.node('n31')?.link, 31);
    const before = await world.isUp('v1');
    await nodes.stop('n1', 'n31');
    const began = now();
    const churn = (i: number) => [
      `link add c${i} type veth peer name d${i}`,
      `link set c${i} up`,
      `link set d${i} up`,
      `link delete c${i}`,
    ];
    for (let i = 0; i < 200 || now() < began + 2 * world.silentAfter; i += 10) {
      world.master.ip(...Array.from({ length: 10 }, (_, k) => churn(i + k)).flat());
      await pass(now() + 50 * MS);
    }
    const ended = now();
    await world.is('n1', 'silent');
    t.ok(
      watcher.changes.some(({ name, to, ended: at }) => name === 'n1' && to === 'silent' && at < ended),
      'meanwhile',
    );
    // Link number 31 stands for all further interfaces, and restarts listening whenever one of them changes: within
    // each limit at least once, unless the machine is busy.
    const anew = watcher.links.filter(({ number, since }) => number === 31 && since > began).map(({ since }) => since);
    const longest = Math.max(...[...anew, ended].map((since, i) => since - (anew[i - 1] ?? began)));
    const was = watcher.changes.some(({ name, to, ended: at }) => name === 'n31' && to === 'silent' && at < ended);
    t.comment(`begun anew ${anew.length} times, at most ${Math.round(longest / MS)} ms apart`);
    if (longest < world.silentAfter) t.notOk(was, 'nobody of number 31 is called silent');
    await world.is('n31', 'silent');
    const others = () => watcher.links.findLast(({ number }) => number === 31)?.since ?? 0;
    for (const command of [`addr del ${masterAt(31)}/24 dev v31`, 'link set v31 down']) {
      const [at] = world.master.ip(command);
      await until('number 31 begins anew', () => others() > at);
    }
    await world.judge();
    if (world.steady)
      t.same([watcher.link('v1')?.since, watcher.link('v1')?.downs], [before.since, before.downs], 'listens as before');
  },
);

for (const [what, away, back, words] of [
  ['down', 'down', 'up', []],
  ['gone', 'unplug', 'plug', ['gone']],
] as const)
  t.test(`a receiver that starts while an interface is ${what}`, { skip, buffered: true }, async t => {
    const world = await World.make(t);
    const { nodes, watcher } = world;
    await world.begin(1, 'a1', 'dying');
    await world.begin(2, 'b1', 'b2');
    await world.are('live', 'a1', 'dying', 'b1', 'b2');
    const before = await world.isUp('v1');
    // In the first round the interface goes while a receiver runs, in the second while none does.
    for (const early of [true, false]) {
      if (early) {
        world[away](1);
        await world.isDown('v1', ...words);
      }
      await world.kill();
      if (!early) world[away](1);
      const started = now();
      await world.receive();
      await until('the takeover is told', () => watcher.eventsOf('takeover').some(({ at }) => at >= started));
      await world.isDown('v1', ...words);
      await nodes.stop('dying', 'b2');
      await world.limits(2.2);
      await world.is('b2', 'silent');
      t.notOk(watcher.statesOf('dying').slice(-1).includes('silent'));
      t.ok((watcher.link('v2')?.since ?? 0) >= started, 'every link listens anew');
      world[back](1);
      const { since, number } = await world.isUp('v1');
      t.equal(number, before.number, 'its entry is the one that it had');
      await world.is('a1', 'live');
      const silent = await world.is('dying', 'silent');
      t.ok(silent.heartbeat[1] - world.silentAfter >= since);
      if (early) await nodes.go('dying');
      if (early) await world.is('dying', 'live');
    }
    await world.judge();
    t.same(world.table, ['v1', 'v2']);
    t.notOk(watcher.statesOf('a1').includes('silent'));
  });

t.test('another board takes its place while a link is down', { skip, buffered: true }, async t => {
  const world = await World.make(t);
  await world.begin(1, 'a1', 'a2');
  await world.begin(2, 'b1', 'b2');
  await world.are('live', 'a1', 'a2', 'b1', 'b2');
  const [, down] = world.down(1);
  await world.isDown('v1');
  const { code, stderr } = await run(['forget', 'b2', '--board', world.board]);
  t.equal(code, 0, stderr);
  await world.judge();
  await world.watch();
  await world.isDown('v1');
  await world.limits(2.2, down);
  t.same(
    ['a1', 'a2'].map(name => world.watcher.node(name)?.to),
    ['uncertain', 'uncertain'],
  );
  world.up(1);
  await world.are('live', 'a1', 'a2');
  await world.judge();
});

// ---- what is an interface of ours ----

t.test('an interface that gets another name, or another that gets its number', { skip, buffered: true }, async t => {
  const world = await World.make(t, { pairs: 3 });
  const { nodes, watcher, master } = world;
  await world.begin(1, 'a1', 'dying');
  await world.begin(2, 'b1');
  await world.are('live', 'a1', 'dying', 'b1');
  const before = await world.isUp('v1');
  world.down(1);
  await nodes.stop('dying');
  master.ip('link set v1 name w1', 'link set w1 up');
  await world.isDown('v1', 'gone');
  await world.reportsBy('a1', 'w1');
  await world.limits(2);
  t.equal(watcher.node('dying')?.to, 'uncertain', 'its interface is gone');

  // Two interfaces swap their names.
  world.down(2);
  master.ip(
    'link set w1 down',
    'link set v2 name x',
    'link set w1 name v2',
    'link set x name w1',
    'link set w1 up',
    'link set v2 up',
  );
  world.deaf(2, [now(), now()]);
  world.hears(2, [now(), now()]);
  await world.reportsBy('a1', 'v2');
  await world.reportsBy('b1', 'w1');

  // Another interface gets the number that v1 had; no report has come by it.
  master.ip('link delete v3', `link add v3 index ${before.index + 100} type veth peer name y3`);
  master.ip('link set v2 down', 'link delete v2', `link add z type veth peer name y`, 'link set z up', 'link set y up');
  world.deaf(2, [now(), now()]);
  await world.isDown('v2', 'gone');
  await world.limits(2);
  t.same(watcher.node('a1')?.to, 'uncertain');
  await world.judge();
  t.same(world.table, ['v1', 'v2', 'w1']);
});

t.test(
  "the master's address is on a bridge: the link is the bridge",
  { skip: skip || lacksKind('bridge'), buffered: true },
  async t => {
    const world = await World.make(t);
    const { nodes, watcher, master, far } = world;
    const other = await Namespace.make(t);
    master.ip(
      'link add br0 address 02:86:00:00:09:01 type bridge forward_delay 0',
      'addr add 10.86.100.1/24 dev br0',
      ...[1, 2].flatMap(n => [
        `link add p${n} type veth peer name q netns ${n === 1 ? far.pid : other.pid}`,
        `link set p${n} master br0 up`,
      ]),
      'link set br0 up',
    );
    for (const [net, n] of [
      [far, 2],
      [other, 3],
    ] as const)
      net.ip(
        `addr add 10.86.100.${n}/24 dev q`,
        'link set q up',
        'neigh replace 10.86.100.1 lladdr 02:86:00:00:09:01 dev q',
      );
    await nodes.order(`net other ${other.pid}`);
    await nodes.order(`road x1 far 10.86.100.1 ${PORT}`);
    for (const name of ['x2', 'x3']) await nodes.order(`road ${name} other 10.86.100.1 ${PORT}`);
    await world.are('live', 'x1', 'x2', 'x3');
    // The very first report may have arrived before the receiver knew about the bridge.
    for (const name of ['x1', 'x2', 'x3']) await world.reportsBy(name, 'br0');
    t.same(world.table, ['br0']);
    const before = await world.isUp('br0');
    nodes.mute('x1', now());
    master.ip('link set p1 down');
    await world.is('x1', 'silent');
    t.equal(watcher.node('x2')?.to !== 'silent' && watcher.link('br0')?.downs, before.downs, 'the link is up');

    const [command = '', ...words] = [...master.prefix, 'ip', '-o', 'monitor', 'link'];
    const monitor = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(monitor, 'close');
    t.teardown(async () => {
      monitor.kill();
      await ended;
    });
    let told: { flags: string; at: number }[] = [];
    createInterface(monitor.stdout).on('line', line => {
      const [, flags] = /^\d+: br0: <(.*?)>/.exec(line) ?? [];
      if (flags !== undefined) told.push({ flags, at: now() });
    });
    const isTold = () => told.find(({ flags }) => flags.includes('NO-CARRIER'));
    await until('the monitor is told of changes', () => {
      master.ip('link set br0 alias bridge');
      return told.length > 0;
    });
    // The kernel may say up to a second later that it has no carrier, and later still where its own threads have to wait.
    // Until then those behind it may be called silent: this is done again, until the kernel says it before the limit.
    const behind = ['x2', 'x3'];
    for (let isEarly = true; isEarly; ) {
      told = [];
      const [before, down] = master.ip('link set p2 down');
      for (const name of behind) nodes.mute(name, before);
      const { at } = await until('the kernel says so', () => told.find(({ flags }) => !flags.includes('LOWER_UP')));
      t.comment(`the kernel said so after ${(at - down) / MS} ms`);
      world.downs.push({ name: 'br0', from: at, to: Number.POSITIVE_INFINITY });
      await world.isDown('br0');
      await world.limits(2.2, down);
      const silent = behind.filter(name => watcher.node(name)?.to === 'silent');
      isEarly = silent.some(name => (watcher.node(name)?.heartbeat[1] ?? 0) <= at);
      if (!isEarly) t.same(silent, [], 'without a port that is up it is down');
      const [up] = master.ip('link set p2 up');
      Object.assign(world.downs.at(-1) ?? {}, { to: up });
      for (const name of behind) Object.assign(nodes.stopped.get(name)?.at(-1) ?? {}, { to: up });
      await world.are('live', ...behind);
    }
    master.ip('link set p1 up');
    await world.are('live', 'x1', 'x2', 'x3');

    // Its only port leaves it. The kernel says within that command that it has no carrier (or does not: then nothing is
    // promised), and up to a second later that it does not run; of several in a row, that is late.
    nodes.mute('x1', now());
    master.ip('link set p1 nomaster');
    for (let i = 0; i < 3; i++) {
      told = [];
      const [, left] = master.ip('link set p2 nomaster');
      const { heartbeat } = await world.isDown('br0');
      await until('the kernel says that it does not run', isTold);
      // The first drain that began after it was told does not hear the link any more.
      if (/LOWER_UP|NO-CARRIER/.test(told[0]?.flags ?? '')) t.comment('the kernel did not say so at once');
      else t.ok(heartbeat <= left, `heard until ${(heartbeat - left) / MS} ms after the kernel told`);
      master.ip('link set p2 master br0');
      await world.isUp('br0');
    }
    await world.judge();
  },
);

for (const { what, kind, name, master: made, far: there } of [
  {
    what: 'a bond, never its slave',
    kind: ['bond'],
    name: 'b0',
    master: ['link add b0 type bond mode active-backup miimon 20', 'link set p1 master b0', 'link set b0 up'],
    far: [],
  },
  {
    what: 'a VLAN, never what lies below it',
    kind: ['vlan', 'id', '5'],
    name: 'p1.5',
    master: ['link set p1 up', 'link add link p1 name p1.5 type vlan id 5', 'link set p1.5 up'],
    far: ['link set q up', 'link add link q name q.5 type vlan id 5'],
  },
])
  t.test(`the link is ${what}`, { skip: skip || lacksKind(...kind), buffered: true }, async t => {
    const world = await World.make(t);
    const { nodes, watcher, master, far } = world;
    master.ip(`link add p1 type veth peer name q netns ${far.pid}`, ...made, `addr add 10.86.100.1/24 dev ${name}`);
    const its = kind[0] === 'vlan' ? 'q.5' : 'q';
    far.ip(...there, `addr add 10.86.100.2/24 dev ${its}`, `link set ${its} up`);
    for (const node of ['x1', 'x2']) await nodes.order(`road ${node} far 10.86.100.1 ${PORT}`);
    await world.are('live', 'x1', 'x2');
    for (const node of ['x1', 'x2']) await world.reportsBy(node, name);
    t.same(world.table, [name]);
    nodes.mute('x1', now());
    await world.is('x1', 'silent');
    const [, down] = master.ip(`link set ${name} down`);
    world.downs.push({ name, from: down, to: Number.POSITIVE_INFINITY });
    await world.isDown(name);
    await world.limits(2.2, down);
    t.notOk(watcher.statesOf('x2').includes('silent'), 'while it is down nobody becomes silent');
    await world.judge();
  });

for (const [kind, group] of [
  ['IPv4', '239.255.86.77'],
  ['IPv6, of link scope', 'ff12::8677'],
] as const)
  t.test(
    `a group (${kind}) on an interface that is made again: only this link restarts listening, and loss elsewhere counts`,
    { skip, buffered: true },
    async t => {
      const v6 = group.includes(':');
      const world = await World.make(t, {
        more: ['--group', v6 ? `[${group}]:${PORT + 1}` : `${group}:${PORT}`, '--interface', 'v1'],
        listen: [v6 ? '::' : '0.0.0.0'],
      });
      const { nodes, watcher, far } = world;
      const way = () => v6 || far.ip(`route replace ${group} dev v1`);
      way();
      const to = v6 ? `${group}%v1 ${PORT + 1}` : `${group} ${PORT}`;
      for (const name of ['a1', 'dying']) await nodes.order(`road ${name} far ${to}`);
      const other = v6 ? masterAt6(2) : masterAt(2);
      for (const name of ['b1', 'b2', 'lossy']) await nodes.order(`road ${name} far ${other} ${PORT}`);
      await world.are('live', 'a1', 'dying', 'b1', 'b2', 'lossy');
      const before = await world.isUp('v2');
      const counts = (name: string) => {
        const { lost = 0, unheard = 0 } = [...world.reader.snapshot().nodes()].find(node => node.name === name)!.record;
        return { lost, unheard };
      };
      const had = counts('lossy');
      const [, gone] = world.unplug(1);
      await world.isDown('v1', 'gone');
      await nodes.stop('dying', 'b2');
      await world.is('b2', 'silent');
      // Every second the receiver finds that there is still no such interface.
      nodes.mute('lossy', now());
      const [, away] = await nodes.order(`move lossy far ${other.replace(/1$/, '99')} ${PORT}`);
      await world.limits(2.2, Math.max(gone, away));
      await nodes.order(`move lossy far ${other} ${PORT}`);
      await nodes.go('lossy');
      await until('its reports come again', () => counts('lossy').lost + counts('lossy').unheard > had.lost + 10);
      t.equal(counts('lossy').unheard, had.unheard, 'what is missing of a node of the other link is lost');
      world.plug(1);
      way();
      // The nodes send by an interface number, which has changed, so each needs a new path.
      for (const name of ['a1', 'dying']) await nodes.order(`move ${name} far ${to}`);
      const { since } = await world.isUp('v1');
      await world.is('a1', 'live');
      t.ok(counts('a1').unheard > 10, 'of a node of this link it was not heard');
      const silent = await world.is('dying', 'silent');
      t.ok(silent.heartbeat[1] - world.silentAfter >= since);
      await world.judge();
      if (world.steady) t.equal(watcher.link('v2')?.since, before.since, 'the other listens as before');
    },
  );

/**
 * The interface leaves and returns with the same number: only a message of the kernel shows that it is a new one, or
 * that it has lost its groups.
 */
for (const [kind, group, how] of [
  ['IPv4', '239.255.86.77', 'that is moved to another namespace and back'],
  ['IPv6, of link scope', 'ff12::8677', 'that is moved to another namespace and back'],
  ['IPv4', '239.255.86.77', 'that is made anew with its number'],
] as const)
  t.test(`a group (${kind}) on an interface ${how}: it is heard again`, { skip, buffered: true }, async t => {
    const v6 = group.includes(':');
    const world = await World.make(t, {
      more: ['--group', v6 ? `[${group}]:${PORT + 1}` : `${group}:${PORT}`, '--interface', 'v1'],
      silentMs: 2500,
    });
    const { nodes, master, far } = world;
    const other = await Namespace.make(t);
    const way = () => v6 || far.ip(`route replace ${group} dev v1`);
    const to = v6 ? `${group}%v1 ${PORT + 1}` : `${group} ${PORT}`;
    way();
    await nodes.order(`road a1 far ${to}`);
    await world.begin(2, 'b1');
    await world.are('live', 'a1', 'b1');
    const { index, since } = await world.isUp('v1');
    // For less and for more than the interval at which the receiver checks its groups.
    for (const seconds of [0, 1.2]) {
      const dress = [`addr replace ${masterAt(1)}/24 dev v1`, 'link set v1 up'];
      if (how.includes('moved')) {
        const [, gone] = world.deaf(1, master.ip(`link set v1 netns ${other.pid}`));
        await pass(gone + seconds * S);
        other.ip(`link set v1 netns ${master.pid}`);
        world.hears(1, master.ip(...dress));
      } else {
        const [, gone] = world.unplug(1);
        await pass(gone + seconds * S);
        const made = `link add v1 index ${index} address 02:86:00:00:01:01 type veth peer name v1 netns ${far.pid}`;
        world.hears(1, master.ip(made, ...dress));
        far.ip(`addr replace 10.86.1.2/24 dev v1`, 'link set v1 up');
      }
      const back = now();
      way();
      if (how.includes('anew')) await nodes.order(`move a1 far ${to}`);
      await until('a1 is heard', () => {
        const a1 = [...world.reader.snapshot().nodes()].find(({ name }) => name === 'a1');
        return Number(a1?.stampNs ?? 0) > back;
      });
    }
    // The watcher may be behind.
    await world.linkIs('v1', 'the same, and listens anew', link => link.index === index && link.since > since);
    await world.judge();
  });

t.test(
  'a socket that cannot be bound again: its link is not judged, and it says so',
  { skip: skip || lacks('util-linux', 'setpriv'), buffered: true },
  async t => {
    const world = await World.make(t, {
      more: ['--group', `[ff12::8677]:${PORT + 1}`, '--interface', 'v1'],
      wrap: ['setpriv', '--bounding-set=-net_raw,-net_admin', '--inh-caps=-net_raw,-net_admin'],
    });
    const { nodes, watcher } = world;
    await nodes.order(`road a1 far ff12::8677%v1 ${PORT + 1}`);
    await world.begin(2, 'b1');
    await world.are('live', 'a1', 'b1');
    world.unplug(1);
    await world.isDown('v1', 'gone');
    const [, back] = world.plug(1);
    await nodes.order(`move a1 far ff12::8677%v1 ${PORT + 1}`);
    await world.isUp('v1');
    await world.limits(2.2, back);
    await until('it says so', () =>
      /hears nothing on v1, (which is another|there is no such)/.test(world.receiver.output().stderr),
    );
    t.equal(watcher.node('a1')?.to, 'uncertain');
    await nodes.stop('b1');
    await world.is('b1', 'silent');
    await world.judge();
  },
);

t.test('loopback beside a real interface', { skip, buffered: true }, async t => {
  const world = await World.make(t);
  const { nodes, watcher, master } = world;
  await world.begin(1, 'a1');
  for (const name of ['master', 'dying']) await nodes.order(`road ${name} master 127.0.0.1 ${PORT}`);
  await nodes.order(`road itself master ${masterAt(1)} ${PORT}`);
  await world.are('live', 'a1', 'master', 'dying', 'itself');
  await world.reportsBy('master', 'lo');
  // The kernel names the interface that has the address, but it was this machine that sent it.
  await world.reportsBy('itself', 'lo');
  const [, down] = world.down(1);
  await world.isDown('v1');
  await world.is('itself', 'live');
  await nodes.stop('itself');
  await nodes.stop('dying');
  await world.are('silent', 'dying', 'itself');
  await world.limits(2, down);
  world.up(1);
  await world.is('a1', 'live');
  const times = master.ip('link set lo down');
  world.downs.push({ name: 'lo', from: times[1], to: Number.POSITIVE_INFINITY });
  await world.isDown('lo');
  await world.limits(2, times[1]);
  t.same(watcher.node('master')?.to, 'uncertain');
  const up = master.ip('link set lo up');
  (world.downs.at(-1) ?? { to: 0 }).to = up[0];
  await world.is('master', 'live');
  await world.judge();
});

// ---- passed sockets ----

const python = skip || lacks('python3', 'python3');

t.test(
  'a socket that it was passed, of its own namespace: its links are known',
  { skip: python, buffered: true },
  async t => {
    const world = await World.make(t, { passed: 'master' });
    const { nodes, watcher } = world;
    await world.begin(1, 'a1');
    await world.begin(2, 'b1', 'b2');
    await world.are('live', 'a1', 'b1', 'b2');
    t.same(world.table.toSorted(), ['v1', 'v2']);
    const [, down] = world.down(1);
    await world.isDown('v1');
    await nodes.stop('b2');
    await world.is('b2', 'silent');
    await world.limits(2.2, down);
    t.same(watcher.node('a1')?.to, 'uncertain');
    world.up(1);
    await world.is('a1', 'live');
    await world.judge();
  },
);

t.test(
  'a socket of another namespace: one link, and the rule without links',
  { skip: python, buffered: true },
  async t => {
    const world = await World.make(t, { passed: 'far' });
    const { nodes, watcher } = world;
    for (const n of [1, 2]) await nodes.order(`road a${n} master 10.86.${n}.2 ${PORT}`);
    await world.are('live', 'a1', 'a2');
    t.same(world.table, ['other namespace']);
    await nodes.stop('a1');
    await world.is('a1', 'silent');
    // The receiver cannot read the counters of the other namespace, so it cannot tell bad checksums from an overflow,
    // and assumes an overflow.
    const { overflows } = watcher.count();
    await nodes.order(`bad 10 master 10.86.1.2 ${PORT}`);
    await until('they count as an overflow', () => watcher.count().overflows > overflows);
    await nodes.order(`bad 0 master 10.86.1.2 ${PORT}`);
    await world.is('a1', 'silent');
    await world.judge();
    t.equal(watcher.count().unfitDrops, 0);
  },
);

t.test(
  'a receiver without the passed socket knows nothing about the nodes that reported to it',
  { skip: python, buffered: true },
  async t => {
    const world = await World.make(t, { passed: 'far' });
    const { watcher, options } = world;
    await world.nodes.order(`road a1 master 10.86.1.2 ${PORT}`);
    await world.is('a1', 'live');
    await world.kill();
    delete options.passed;
    await world.receive();
    await world.isDown('other namespace', 'gone');
    await world.limits(2);
    t.same(watcher.node('a1')?.to, 'uncertain');
    await world.judge();
  },
);

t.test(
  'a receiver that may not watch interfaces says so, and goes by the rule without links',
  { skip, buffered: true },
  async t => {
    const world = await World.make(t, { env: { LD_PRELOAD: testProgram('test/nonetlink.so') } });
    const { nodes, watcher } = world;
    await world.begin(1, 'a1', 'a2');
    await world.are('live', 'a1', 'a2');
    t.same(world.table, ['other namespace']);
    await nodes.stop('a2');
    await world.is('a2', 'silent');
    await until('it says so', () =>
      /cannot watch the interfaces \(rtnetlink\): Address family not supported/.test(world.receiver.output().stderr),
    );
    await nodes.order(`bad 10 far ${masterAt(1)} ${PORT}`);
    await until('they are counted', () => watcher.count().unfitDrops > 0);
    // A receiver that can watch the interfaces judges each node by its own link.
    await world.kill();
    world.options.env = {};
    await world.receive();
    await world.is('a1', 'live');
    await world.reportsBy('a1', 'v1');
    await world.limits(2);
    await world.judge();
    t.equal(watcher.node('a2')?.to, 'uncertain', 'nobody listens by the link that it was of');
  },
);

// ---- dark ----

t.test('a link whose nodes all stop at once is dark until one is heard', { skip, buffered: true }, async t => {
  const world = await World.make(t, {
    more: ['--nodes', 'a[1-4],old,left,never[1-2],b[1-2]'],
    uncertainMs: 1000,
    silentMs: 2500,
  });
  const { nodes, watcher } = world;
  const fallen = ['a1', 'a2', 'a3'];
  await world.begin(1, ...fallen, 'a4', 'old', 'left');
  await world.begin(2, 'b1', 'b2');
  await world.are('live', ...fallen, 'a4', 'old', 'left', 'b1', 'b2');
  await nodes.stop('old');
  await nodes.bye('left');
  await world.is('left', 'left');
  await world.is('old', 'silent');
  t.equal(watcher.eventsOf('dark').length, 0, 'one that is dead makes no dark');
  await nodes.bye('a4');
  await nodes.stop(...fallen);
  const dark = await world.linkIs('v1', 'dark', link => link.darkSince > 0);
  // On a busy machine the last report of one may be older than the second limit by then.
  const isRecent = (name: string) => (watcher.node(name)?.stamp ?? 0) > dark.darkSince - world.silentAfter;
  const fell = fallen.filter(isRecent).length;
  t.ok(fell > 0 && dark.darkNodes === fell, 'of the old one and of those that left nobody speaks');
  const [event] = watcher.eventsOf('dark');
  t.same([event?.subject, event?.detail], [dark.number, fell]);
  await world.are('silent', ...fallen);
  const last = Math.max(...fallen.map(name => watcher.node(name)?.stamp ?? 0));
  const off = Math.abs(dark.darkSince - last - world.uncertainAfter);
  t.ok(off <= 2 * MS, `since the last of them passed the first limit (off by ${off} ns)`);

  // It stays dark across a restart. The new receiver did not see these nodes fall silent, so it records no dark link
  // itself.
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await world.kill(signal);
    const started = now();
    await world.receive();
    await until('it has taken over', () => watcher.eventsOf('takeover').some(({ at }) => at >= started));
    await world.limits(1.2);
    t.equal(watcher.link('v1')?.darkSince, dark.darkSince);
  }
  t.same([watcher.eventsOf('dark').length, watcher.eventsOf('lit').length], [1, 0]);

  await nodes.go('a1');
  const lit = await world.linkIs('v1', 'not dark', link => link.darkSince === 0);
  t.equal(lit.darkNodes, 0);
  t.equal(watcher.eventsOf('lit')[0]?.subject, dark.number);
  await nodes.stop('a1');
  await world.is('a1', 'silent');
  await world.limits(1);
  t.equal(watcher.eventsOf('dark').length, 1, 'one that falls alone makes no dark');
  await world.judge();
  if (world.steady) t.ok((event?.at ?? 0) - dark.darkSince < 1.5 * S, 'found out in the second in which it was');
  t.same(watcher.link('v2')?.darkSince, 0);
  t.same(
    [...new Set(watcher.statesOf('never1'))].filter(state => state !== 'never' && state !== 'unknown'),
    [],
  );
});

t.test(
  'neither a receiver that stands still nor a link that is down makes a link dark',
  { skip, buffered: true },
  async t => {
    const world = await World.make(t);
    const { watcher } = world;
    await world.begin(1, 'a1', 'a2');
    await world.begin(2, 'b1', 'b2');
    await world.are('live', 'a1', 'a2', 'b1', 'b2');
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      let stopped: Stop | undefined;
      if (signal === 'SIGSTOP') stopped = await stop(world.receiver.child);
      else await world.kill(signal);
      await pass(now() + 1.5 * world.silentAfter);
      if (stopped) goOn(stopped);
      else await world.receive();
      await world.limits(1.2);
      await world.are('live', 'a1', 'a2', 'b1', 'b2');
    }
    const [, down] = world.down(1);
    await world.limits(2.2, down);
    world.up(1);
    await world.are('live', 'a1', 'a2');
    await world.limits(1);
    await world.judge();
    if (world.nodes.gaps.length === 0) t.same(watcher.eventsOf('dark'), []);
  },
);

t.test('a link that comes back without its nodes is dark', { skip, buffered: true }, async t => {
  // The kernel reports a lost carrier up to a second late; the limits are longer, so that it comes before the silence.
  const world = await World.make(t, { uncertainMs: 1500, silentMs: 2500, more: ['--nodes', 'a[1-3],old,never[1-2]'] });
  const { nodes, watcher } = world;
  const fallen = ['a1', 'a2', 'a3'];
  await world.begin(1, ...fallen, 'old');
  await world.are('live', ...fallen, 'old');
  await nodes.stop('old');
  await world.is('old', 'silent');
  // As when a switch restarts: no carrier for longer than the difference between the limits; then a carrier, but no
  // traffic.
  const [, down] = world.unwire(1);
  await world.isDown('v1');
  await nodes.stop(...fallen);
  await world.limits(2, down);
  t.equal(watcher.link('v1')?.darkSince, 0, 'as long as it is down it is told as that');
  world.wire(1);
  const { darkNodes, number } = await world.linkIs('v1', 'dark', link => link.darkSince > 0);
  t.equal(darkNodes, 3, 'of the old one, and of those that never reported, nobody speaks');
  const [event] = watcher.eventsOf('dark');
  t.same([event?.subject, event?.detail], [number, 3]);
  await world.are('silent', ...fallen);
  await nodes.go('a1');
  await world.linkIs('v1', 'not dark', link => link.darkSince === 0);
  t.equal(watcher.eventsOf('lit').length, 1);
  await world.judge();
});

t.test('a dark link whose nodes are forgotten, or change to another link', { skip, buffered: true }, async t => {
  const world = await World.make(t);
  const names = ['a1', 'a2', 'a3', 'a4'];
  await world.begin(1, ...names);
  await world.begin(2, 'b1');
  await world.are('live', ...names, 'b1');
  await world.nodes.stop(...names);
  const { darkSince } = await world.linkIs('v1', 'dark', link => link.darkSince > 0);
  const forget = async (nodes: string) => {
    await world.judge();
    const { code, stderr } = await run(['forget', nodes, '--board', world.board]);
    t.equal(code, 0, stderr);
    await world.watch();
  };
  await forget('a[1-2]');
  await world.linkIs('v1', 'dark with two', link => link.darkSince === darkSince && link.darkNodes === 2);
  t.match((await run(['check', '--board', world.board])).stdout, 'all 2 at once');

  await world.nodes.order(`move a3 far ${masterAt(2)} ${PORT}`);
  await world.nodes.go('a3');
  await world.reportsBy('a3', 'v2');
  await world.linkIs('v1', 'dark with one', link => link.darkSince === darkSince && link.darkNodes === 1);
  t.match((await run(['check', '--board', world.board])).stdout, 'its last one fell at once with others');
  t.equal(world.watcher.eventsOf('lit').length, 0, 'nobody was heard by it');

  await forget('a4');
  await world.linkIs('v1', 'not dark', link => link.darkSince === 0);
  t.equal(world.watcher.eventsOf('lit').length, 0, 'nor is it lit because nobody is left');
  await world.judge();
});

// ---- which reports count for a link ----

t.test('a rejected report moves no node to another link, and takes no entry', { skip, buffered: true }, async t => {
  const world = await World.make(t, { more: ['--nodes', 'a[1-2]'] });
  const { nodes, reader, watcher } = world;
  await world.begin(1, 'a1', 'a2');
  await world.are('live', 'a1', 'a2');
  const number = watcher.node('a1')?.link;
  const forged = [`a1 77 far ${masterAt(2)} ${PORT}`, `stranger 0 far ${masterAt(2)} ${PORT}`];
  for (const words of forged) await nodes.order(`once ${words}`);
  await nodes.order(`burst 10 far ${masterAt(2)} ${PORT}`);
  await until('all are refused', () => {
    const { cluster = 0, stranger = 0 } = reader.snapshot().refused;
    return cluster === 11 && stranger === 1;
  });
  await world.limits(0.2);
  t.same(world.table, ['v1']);
  t.same([...new Set(watcher.changes.filter(({ to }) => to !== 'never').map(({ link }) => link))], [number]);
  const [, down] = world.down(1);
  for (const words of forged) await nodes.order(`once ${words}`);
  await world.limits(2, down);
  t.same(watcher.node('a1')?.to, 'uncertain');
  world.up(1);
  await world.is('a1', 'live');
  await world.judge();
  t.same(world.table, ['v1']);
});

t.test('a service may watch interfaces', async t => {
  const unit = readFileSync(join(ROOT, 'packaging', 'systemd', 'beoboard-receive.service'), 'utf8');
  t.match(unit, /^RestrictAddressFamilies=.*\bAF_NETLINK\b/m);
});
