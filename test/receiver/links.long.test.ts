// What schedulers see of 500 nodes, at one report a second and with the default limits, while the master's own links
// fail: the figures under "Links" in docs/internals/liveness.md. In its own namespaces; libbeoboard is asked all the time.
//   npm run test:long -- links          about ten minutes; SEED=n repeats a run, ROUNDS=n takes so many faults

import t from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { masterAt, noNamespaces, PORT, type StateChange, World } from '../kit/netns.js';
import { goOn, MS, now, pass, S, stop } from '../kit/sampler.js';
import { until } from '../kit/until.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const ROUNDS = Number(process.env.ROUNDS ?? 20);
const COUNT = 500;
const skip = noNamespaces();
t.setTimeout(7_200_000);
t.comment(`SEED=${SEED}`);

const next = random(SEED);
const inMs = (ns: number) => `${Math.round(ns / MS)} ms`;
const names = Array.from({ length: COUNT }, (_, i) => `n${String(i).padStart(3, '0')}`);
/** Four of five nodes report by the interface that fails, the others by another. */
const wayOf = (i: number) => (i % 5 === 0 ? 2 : 1);

/** A master with the default limits, and all nodes live. */
async function begin(t: Parameters<typeof World.make>[0]): Promise<World> {
  const world = await World.make(t, { uncertainMs: 4500, silentMs: 10_500, intervalMs: 1000, capacity: 1024 });
  for (const [i, name] of names.entries()) await world.begin(wayOf(i), name);
  await settled(world, new Set());
  return world;
}

/** Waits until the dead are silent, and all others live. */
function settled({ watcher }: World, dead: ReadonlySet<string>): Promise<true> {
  return until(
    'the dead are silent, and all others live',
    () => names.every(name => watcher.node(name)?.to === (dead.has(name) ? 'silent' : 'live')),
    50,
  );
}

/** How late a node was first seen silent: after the limit, from its last report or its link's start of listening. */
const lateness = (world: World, { stamp, since, ended }: StateChange) =>
  ended - Math.max(stamp, since[1]) - world.silentAfter;

/** A row of the table. */
async function row(world: World, what: string, began: number, dead: StateChange[]): Promise<void> {
  const faults = [...world.faults()];
  await world.judge();
  const late = dead.map(change => lateness(world, change));
  const { looks } = world.watcher;
  t.comment(
    [
      what,
      `${Math.round((COUNT * (now() - began)) / S).toLocaleString('en')} node-seconds`,
      `${faults.length} falsely silent`,
      `${dead.length} dead, silent ${inMs(Math.max(...late))} after the limit at the latest`,
      `${looks.toLocaleString('en')} looks`,
    ].join(' | '),
  );
}

t.test('an interface of the master is down for 30 s', { skip }, async t => {
  const world = await begin(t);
  const { nodes, watcher } = world;
  const began = now();
  world.down(1);
  const dead = new Set([...names.filter((_, i) => i % 50 === 7), ...names.filter((_, i) => i % 50 === 5)]);
  await nodes.stop(...dead);
  await pass(now() + 30 * S);
  const blamed = watcher.changes.filter(({ name, to }) => to === 'silent' && wayOf(names.indexOf(name)) === 1);
  t.same(blamed, [], 'nobody behind it is called silent');
  world.up(1);
  const { since } = await world.isUp('v1');
  await settled(world, dead);
  const changes = [...dead].map(name => watcher.node(name) as StateChange);
  const after = changes.filter(({ name }) => wayOf(names.indexOf(name)) === 1);
  t.ok(after.every(({ heartbeat }) => heartbeat[1] - world.silentAfter >= since));
  await row(world, `down for 30 s, ${names.filter((_, i) => wayOf(i) === 1).length} nodes behind it`, began, changes);
});

/** From 0.2 to 25 s, uniform on a logarithmic scale. */
const some = () => 0.2 * 125 ** next() * S;

const faults: [what: string, befall: (world: World) => Promise<void>][] = [
  [
    'set down',
    async world => {
      world.down(1);
      await pass(now() + some());
      world.up(1);
    },
  ],
  [
    'carrier lost',
    async world => {
      world.unwire(1);
      await pass(now() + some());
      world.wire(1);
    },
  ],
  [
    'flaps',
    async world => {
      for (const end = now() + some(); now() < end; ) {
        world.down(1);
        await pass(now() + next() * S);
        world.up(1);
        await pass(now() + next() * S);
      }
    },
  ],
  [
    'deleted and made anew',
    async world => {
      world.unplug(1);
      await pass(now() + some());
      world.plug(1);
    },
  ],
  [
    'address deleted',
    async world => {
      world.strip(1, `${masterAt(1)}/24`);
      await pass(now() + some());
      world.dress(1, `${masterAt(1)}/24`);
    },
  ],
  [
    'receiver killed',
    async world => {
      await world.kill();
      await pass(now() + some());
      await world.receive();
    },
  ],
  [
    'receiver killed while the link is down',
    async world => {
      world.down(1);
      await pass(now() + next() * 3 * S);
      await world.kill();
      await pass(now() + next() * 3 * S);
      await world.receive();
      await pass(now() + some());
      world.up(1);
    },
  ],
  [
    'receiver stopped',
    async world => {
      const stopped = await stop(world.receiver.child);
      await pass(now() + some());
      goOn(stopped);
    },
  ],
  [
    '200 wrong checksums a second',
    async ({ nodes }) => {
      await nodes.order(`bad 200 far ${masterAt(1)} ${PORT}`);
      await pass(now() + some());
      await nodes.order(`bad 0 far ${masterAt(1)} ${PORT}`);
    },
  ],
  [
    'other interfaces come and go',
    async ({ master }) => {
      for (const end = now() + some(); now() < end; ) {
        master.ip('link add c0 type veth peer name c1', 'link set c0 up', 'link set c1 up', 'link delete c0');
        await pass(now() + next() * 0.2 * S);
      }
    },
  ],
];

t.test(`${ROUNDS} faults by chance`, { skip }, async t => {
  const world = await begin(t);
  const { nodes, watcher } = world;
  const began = now();
  const all: StateChange[] = [];
  // All faults are equally frequent.
  const order = Array.from({ length: ROUNDS }, (_, i) => ({ fault: faults[i % faults.length], by: next() }));
  order.sort((a, b) => a.by - b.by);
  for (const [round, { fault }] of order.entries()) {
    const [what, befall] = fault as (typeof faults)[number];
    const dead = new Set([0, 1, 2].map(() => names[Math.floor(next() * COUNT)] as string));
    const from = now();
    const delay = next() * 5 * S;
    await Promise.all([befall(world), pass(from + delay).then(() => nodes.stop(...dead))]);
    const lasted = now() - from;
    await settled(world, dead);
    const changes = [...dead].map(name => watcher.node(name) as StateChange);
    all.push(...changes);
    const late = Math.max(...changes.map(change => lateness(world, change)));
    t.comment(`${round + 1}: ${what}, ${(lasted / S).toFixed(1)} s; the dead silent ${inMs(late)} after the limit`);
    await nodes.go(...dead);
    await settled(world, new Set());
  }
  await row(world, `${ROUNDS} faults by chance, SEED=${SEED}`, began, all);
});
