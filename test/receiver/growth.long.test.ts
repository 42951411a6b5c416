// Intervals that grow while a receiver is deaf: real senders of both kinds, half of them signing, go from 1 s to 60 s and
// to 600 s while the master's link is down, its receiver is killed, or stopped. Nobody who goes on reporting may be
// called silent, and who was killed meanwhile has to be. The figures under "Steps" in docs/liveness.md.
//   npm run test:long -- growth          half an hour, in which it waits; GROWTH=300 leaves out what takes longer

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { keyLine, nodeKey } from '../../src/options/keys.js';
import { BoardReader } from '../../src/shm/reader.js';
import { compileSender } from '../kit/compiling.js';
import { startIn } from '../kit/hanging.js';
import { masterAt, noNamespaces, PORT, Watcher, World } from '../kit/netns.js';
import { folder } from '../kit/places.js';
import { goOn, now, pass, S, stop } from '../kit/sampler.js';
import { until } from '../kit/until.js';

const skip = noNamespaces();
const LONGEST = Number(process.env.GROWTH ?? 1500);
const sender = compileSender(t);
const CLUSTER = { id: 7, node: undefined, secret: randomBytes(32) };
/** The last is `beoboard send`, the others are in C; those with an odd number sign. */
const NAMES = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'];
const DEAD = 'n2';

/** What makes the master deaf, and what ends that; each returns when that was certainly so. */
const manners: Record<string, (world: World) => Promise<() => Promise<number>>> = {
  'the link is down': async world => {
    world.down(1);
    return async () => world.up(1)[1];
  },
  'the receiver is killed': async world => {
    await world.kill();
    return async () => {
      await world.receive();
      return now();
    };
  },
  'the receiver is stopped': async world => {
    const stopped = await stop(world.receiver.child);
    return async () => goOn(stopped);
  },
};

async function grow(t: Test, deafen: (world: World) => Promise<() => Promise<number>>, seconds: number, goal: string) {
  const own = folder(t);
  const keys = join(own, 'cluster.key');
  writeFileSync(keys, keyLine(CLUSTER), { mode: 0o600 });
  const options = { pairs: 1, uncertainMs: 4500, silentMs: 10_500, intervalMs: 1000, capacity: 16 };
  const world = await World.make(t, { ...options, more: ['--key-file', keys, '--require', 'none'] }, false);
  await world.receive();
  world.watcher = await Watcher.start(t, world.board, 20);
  world.reader = new BoardReader(world.board);
  t.teardown(() => world.reader.close());
  const write = (name: string, interval: string) =>
    writeFileSync(join(own, `${name}.toml`), `interval = "${interval}"\n`);
  const senders = NAMES.map((name, i) => {
    write(name, '1s');
    writeFileSync(join(own, `${name}.key`), keyLine(nodeKey(CLUSTER, name)), { mode: 0o600 });
    const signs = i % 2 === 1 ? ['--key-file', join(own, `${name}.key`)] : [];
    const argv = [
      'send',
      '--to',
      `${masterAt(1)}:${PORT}`,
      '--name',
      name,
      '--config',
      join(own, `${name}.toml`),
      ...signs,
    ];
    return startIn(t, { prefix: world.far.prefix, sender: i < 5 ? sender : undefined }, argv);
  });
  await world.are('live', ...NAMES);
  await pass(now() + 14 * S);
  const undo = await deafen(world);
  await pass(now() + 0.3 * S);
  for (const [i, { child }] of senders.entries()) {
    write(NAMES[i] as string, goal);
    child.kill('SIGHUP');
  }
  await pass(now() + S);
  senders[NAMES.indexOf(DEAD)]?.child.kill('SIGKILL');
  await pass(now() + (seconds - 1.3) * S);
  const hears = await undo();
  const others = NAMES.filter(name => name !== DEAD);
  // Longer than the doubt after this, and the limit of who said 2 s at last.
  await pass(hears + 100 * S);
  await until('who was killed is silent', () => world.watcher.node(DEAD)?.to === 'silent', 100);
  await pass(hears + 140 * S);
  const blamed = world.watcher.changes.filter(({ name, to }) => name !== DEAD && to === 'silent');
  t.same(blamed, [], 'nobody who goes on is silent');
  const dead = ((world.watcher.node(DEAD)?.ended ?? 0) - hears) / S;
  const back = others.map(
    name =>
      world.watcher.changes.find(change => change.name === name && change.to === 'live' && change.ended > hears)
        ?.ended ?? now(),
  );
  const latest = Math.max(...back.map(at => (at - hears) / S));
  const { interval_ms } = world.reader.snapshot().node(0).report ?? {};
  t.comment(
    `live again after ${latest.toFixed(1)} s, the dead silent after ${dead.toFixed(1)} s; they say ${interval_ms} ms`,
  );
}

t.jobs = 15;
t.setTimeout(7_200_000);
for (const [what, deafen] of Object.entries(manners))
  for (const [seconds, goal] of [
    [14, '60s'],
    [300, '60s'],
    [1500, '60s'],
    [14, '600s'],
    [300, '600s'],
  ] as const)
    if (seconds <= LONGEST)
      t.test(`${what} for ${seconds} s, and intervals grow to ${goal}`, { buffered: true, skip }, t =>
        grow(t, deafen, seconds, goal),
      );
