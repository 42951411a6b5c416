// What a receiver remembers of silences, in its own namespaces with real datagrams: when each began and ended, also where
// its own link flaps meanwhile; that its own deafness and a goodbye are none; and that it outlives the receiver. And of a
// program that the kernel kills, by a real sender. The rules by themselves, with a made clock, are in
// c/test/unit/memoryunit.c.
//
// @seconds 20
// @waits

import { spawn } from 'node:child_process';
import t from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { endWith } from '../kit/children.js';
import { compileSender } from '../kit/compiling.js';
import { writeTree } from '../kit/hanging.js';
import { noNamespaces, World } from '../kit/netns.js';
import { boardPath, folder } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { MS, now, pass, S } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';

const skip = noNamespaces();

/** What is remembered of a node, with times of CLOCK_MONOTONIC, ms, and its last report's. */
function lookAt({ reader }: World, name: string) {
  const snapshot = reader.snapshot();
  const node = [...snapshot.nodes()].find(other => other.name === name);
  const { silence, lastWords, heardMs = 0, bootMs } = node?.memory ?? {};
  const at = Number(snapshot.evidence.nowNs) / MS;
  return {
    stamp: Number(node?.stampNs) / MS,
    count: silence?.count ?? 0,
    begin: at - (silence?.beganMs ?? 0),
    end: silence?.endedMs === undefined ? undefined : at - silence.endedMs,
    said: lastWords === undefined ? undefined : at - lastWords.reportedMs,
    heard: at - heardMs,
    boot: bootMs,
  };
}

t.test('silences', { skip }, async t => {
  const world = await World.make(t, { silentMs: 1500 });
  const near = (a: number | undefined, b: number, what: string) =>
    t.ok(Math.abs((a ?? 0) - b) <= 2, `${what}: ${a}, ${b}`);
  await world.begin(1, 'n1', 'n2', 'n4');
  await world.begin(2, 'n3');
  await world.are('live', 'n1', 'n2', 'n3', 'n4');
  // Twelve seconds, in which our link flaps before that is noted, and afterwards; at both ends there are reports.
  await world.nodes.stop('n4');
  const stopped = now() / MS;
  world.down(1);
  await world.isDown('v1');
  world.up(1);
  await world.isUp('v1');
  await world.are('silent', 'n4');
  await world.are('live', 'n2');
  const last = lookAt(world, 'n4').stamp;
  await world.nodes.stop('n1');
  const noted = await until('it is noted', () => {
    const seen = lookAt(world, 'n1');
    return seen.count === 1 && seen;
  });
  near(noted.begin, noted.stamp, 'from its last report');
  near(noted.said, noted.stamp, 'which is its last word');
  t.equal(noted.end, undefined, 'it is open');

  world.down(1);
  await world.isDown('v1');
  world.up(1);
  await world.isUp('v1');
  await world.are('live', 'n2');
  const still = lookAt(world, 'n1');
  t.equal(still.count, 1, 'the same, whatever our link does');
  near(still.begin, noted.begin, 'since then');

  const before = now() / MS;
  await world.nodes.go('n1');
  const over = await until('it is over', () => {
    const seen = lookAt(world, 'n1');
    return seen.end !== undefined && seen;
  });
  near(over.begin, noted.begin, 'from its last report');
  t.ok(over.end !== undefined && over.end >= before - 1 && over.end <= over.stamp + 1, 'to the next one');
  near(over.heard, over.end ?? 0, 'heard since then');

  await pass(stopped * MS + 12 * S);
  const again = now() / MS;
  await world.nodes.go('n4');
  const ended = await until('it is over', () => {
    const seen = lookAt(world, 'n4');
    return seen.end !== undefined && seen;
  });
  t.equal(ended.count, 1, 'one silence');
  near(ended.begin, last, 'from its last report');
  near(ended.said, last, 'which is its last word');
  near(ended.heard, ended.end ?? 0, 'to the first report after it');
  t.ok(ended.begin < stopped + 1 && (ended.end ?? 0) > again - 1, 'over all of that time');

  await world.nodes.bye('n3');
  await world.are('left', 'n3');
  await world.kill();
  await world.receive();
  await world.are('live', 'n1', 'n2');
  await world.limits(2);
  for (const [name, count] of [
    ['n1', 1],
    ['n2', 0],
    ['n3', 0],
  ] as const) {
    const seen = lookAt(world, name);
    t.equal(seen.count, count, `${name}: neither our deafness nor a goodbye is one`);
    t.equal(seen.boot, undefined, 'and it was not booted');
  }
  near(lookAt(world, 'n1').end, over.end ?? 0, 'as it was remembered before');
});

t.test('a program that the kernel kills, from the node to what is asked', async t => {
  const proc = folder(t);
  const killed = (oom_kill: number) =>
    writeTree(proc, { vmstat: `pgmajfault 0\npswpin 0\npswpout 0\noom_kill ${oom_kill}\n` });
  writeTree(proc, { 'sys/kernel/random/boot_id': 'a3e9d3a8-5f5b-4c58-9c5a-3a7d3f1f5d10\n' });
  killed(4);
  const board = boardPath(t);
  const { port } = await startReceiver(t, board);
  const argv = ['--proc', proc, '--name', 'n1', '--interval', '100ms', '--to', `127.0.0.1:${port}`];
  endWith(t, spawn(compileSender(t), argv, { stdio: 'ignore' }));
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  /** Waits until its last two reports say so many: what was concluded from the first one is remembered by then. */
  const counted = (kills: number) =>
    until(`${kills} kills are told twice`, () => {
      const [node] = reader.snapshot().nodes();
      return node?.report?.oom_kills === kills && node.previous?.oom_kills === kills;
    });
  const ask = verbChild(t);
  const is = async (condition: string) =>
    t.equal((await ask(['nodes', '--board', board, '--healthy', '--where', condition])).stdout, 'n1\n', condition);
  await counted(4);
  await is('!recent(oom) && oom_times == 0');
  killed(5);
  await counted(5);
  await is('recent(oom) && oom_times == 1 && oom_ago < 10m');
  killed(8);
  await counted(8);
  await is('recent(oom) && oom_times == 1');
});
