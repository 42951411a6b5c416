// For how long listening proves nothing after a receiver was deaf: a sixth of that time, for it and for each link, because
// intervals may have grown meanwhile. With a real receiver in its own namespaces. What follows for nodes that grow is in
// sender/longrunning.test.ts, with simulated clocks, and in growth.long.test.ts.
//
// @seconds 21
// @waits
// @rest

import t from 'tap';
import { noNamespaces, World } from '../kit/netns.js';
import { goOn, MS, now, pass, S, stop } from '../kit/sampler.js';
import { until } from '../kit/until.js';

const skip = noNamespaces();
/** Longer than any deafness here, so that its sixth is seen, and the limit is not. */
const LIMITS = { uncertainMs: 500, silentMs: 1500 };

/** What the board says of the receiver, or of a link. */
function hearing({ reader }: World, link = 0) {
  const snapshot = reader.snapshot();
  const { heartbeatNs = 0n, listeningSinceNs = 0n } =
    link === 0 ? snapshot.evidence : (snapshot.links.find(({ number }) => number === link) ?? {});
  return { heartbeat: Number(heartbeatNs), since: Number(listeningSinceNs) };
}

/** When the receiver took the board. */
const started = ({ reader }: World) => Number(reader.snapshot().header.started_ns);

/** Waits until a stretch of listening could have called a node silent. */
async function listened(world: World): Promise<void> {
  await until('it has listened', () =>
    [0, 1, 2].every(link => {
      const { heartbeat, since } = hearing(world, link);
      return heartbeat - since > 1.2 * world.silentAfter;
    }),
  );
}

/**
 * When listening began again, by the rule: the deafness before it lasted from `deaf` on, and a sixth of it was added.
 */
const begun = (deaf: number, since: number) => (6 * since + deaf) / 7;

t.test('after deafness', { skip }, async t => {
  const world = await World.make(t, LIMITS);
  await world.begin(1, 'n1', 'n2');
  await world.begin(2, 'n3', 'n4');
  await world.are('live', 'n1', 'n2', 'n3', 'n4');
  /** Whether listening began again within these times, on each of these links (0: the receiver). */
  const began = async (what: string, links: readonly number[], deaf: readonly number[], from: number) => {
    for (const [i, link] of links.entries()) {
      const { since } = await until(`link ${link} listens again`, () => {
        const now = hearing(world, link);
        return now.since > from && now.heartbeat > from && now;
      });
      const at = begun(deaf[i] ?? 0, since);
      t.ok(at >= from - MS && at <= now(), `${what}, ${link}: ${(since - at) / MS} ms are added`);
    }
  };
  const heard = (...links: number[]) => links.map(link => hearing(world, link).heartbeat);

  await listened(world);
  world.down(1);
  await world.isDown('v1');
  const [deaf1 = 0, other] = [...heard(1), hearing(world, 2).since];
  await pass(now() + 3 * S);
  const [up] = world.up(1);
  await began('a link that was down', [1], [deaf1], up);
  t.equal(hearing(world, 2).since, other, 'and no other');

  await listened(world);
  const stopped = await stop(world.receiver.child);
  const all = heard(0, 1, 2);
  await pass(now() + 3 * S);
  await began('a stop', [0, 1, 2], all, goOn(stopped));

  await listened(world);
  await world.kill();
  const killed = heard(0, 1, 2);
  await pass(now() + 3 * S);
  await world.receive();
  await began('a kill', [0, 1, 2], killed, started(world));

  // A second receiver is killed before what was added is over: that is added again.
  const left = [0, 1, 2].map(link => hearing(world, link));
  await world.kill();
  const unserved = [0, 1, 2].map((link, i) => {
    const { heartbeat } = hearing(world, link);
    return heartbeat - 6 * Math.max(0, (left[i]?.since ?? 0) - heartbeat);
  });
  await world.receive();
  await began('a kill soon after it', [0, 1, 2], unserved, started(world));

  // Many short gaps are one long deafness: between them nobody could be called silent.
  await listened(world);
  world.down(1);
  await world.isDown('v1');
  const [first = 0] = heard(1);
  let last = 0;
  for (let i = 0; i < 5; i++) {
    [last] = world.up(1);
    await world.isUp('v1');
    await pass(now() + 0.1 * S);
    if (i < 4) world.down(1);
    if (i < 4) await world.isDown('v1');
  }
  await began('a link that flaps', [1], [first], last);
  t.ok(hearing(world, 1).since - last > (last - first) / 6, 'all of it counts');

  await until('no node is in doubt for ever', () => hearing(world, 1).heartbeat > hearing(world, 1).since);
  await world.nodes.stop('n1');
  await world.is('n1', 'silent');
  await world.judge();
});
