// What a receiver remembers of silences, in its own namespaces with real datagrams, and what a journal beside it writes
// of them: when each began and ended, also where its own link flaps meanwhile; that its own deafness and a goodbye are
// none; and that it outlives the receiver. And of a program that the kernel kills, by a real sender. The rules by
// themselves, with a made clock, are in c/test/unit/memoryunit.c.
//
// @seconds 20
// @waits
// @rest

import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Line, parseLine } from '../../src/journalfile/format.js';
import { BoardReader } from '../../src/shm/reader.js';
import { endWith } from '../kit/children.js';
import { compileSender } from '../kit/compiling.js';
import { writeTree } from '../kit/hanging.js';
import { noNamespaces, World } from '../kit/netns.js';
import { boardPath, folder, type Teardown } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { MS, now, pass, S } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';

const skip = noNamespaces();

/** Nodes that are silent for twelve seconds. */
const LONG = ['n4', 'n5', 'n6'];

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

/** The lines of a journal, each as it was last written. */
function linesIn(dir: string): Line[] {
  const texts = readdirSync(dir)
    .filter(name => name.startsWith('events-'))
    .flatMap(name => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1));
  return texts.map(text => parseLine(text) as Line);
}

/** Begins a journal of a board; returns its folder. */
async function begin(t: Teardown, board: string): Promise<string> {
  const [journal = '', ...others] = ['journal', 'run', 'slurm', 'bridge'].map(name => join(folder(t), name));
  for (const other of others) mkdirSync(other);
  const [runs = '', slurm = '', bridge = ''] = others;
  const argv = ['journal', '--board', board, '--journal-dir', journal, '--journal-run', runs];
  await start(t, [...argv, '--slurm-dir', slurm, '--bridge-dir', bridge]).ready;
  return journal;
}

t.test('silences', { skip }, async t => {
  const world = await World.make(t, { silentMs: 1500 });
  const journal = await begin(t, world.board);
  const near = (a: number | undefined, b: number, what: string) =>
    t.ok(Math.abs((a ?? 0) - b) <= 2, `${what}: ${a}, ${b}`);
  await world.begin(1, 'n1', 'n2', ...LONG);
  await world.begin(2, 'n3');
  await world.are('live', 'n1', 'n2', 'n3', ...LONG);
  // Twelve seconds, in which our link flaps before that is noted, and afterwards; at both ends there are reports.
  await world.nodes.stop(...LONG);
  const stopped = now() / MS;
  world.down(1);
  await world.isDown('v1');
  world.up(1);
  await world.isUp('v1');
  await world.are('silent', ...LONG);
  await world.are('live', 'n2');
  const lasts = LONG.map(name => lookAt(world, name).stamp);
  // Later than what shares a line of the journal.
  await pass(stopped * MS + 2.5 * S);
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
  await world.nodes.go(...LONG);
  const ends: number[] = [];
  for (const [i, name] of LONG.entries()) {
    const last = lasts[i] ?? 0;
    const ended = await until('it is over', () => {
      const seen = lookAt(world, name);
      return seen.end !== undefined && seen;
    });
    t.equal(ended.count, 1, 'one silence');
    near(ended.begin, last, 'from its last report');
    near(ended.said, last, 'which is its last word');
    near(ended.heard, ended.end ?? 0, 'to the first report after it');
    t.ok(ended.begin < stopped + 1 && (ended.end ?? 0) > again - 1, 'over all of that time');
    ends.push(ended.end ?? 0);
  }
  const realMs = Date.now() - now() / MS;
  const written = (event: string) =>
    until(`${event} is written`, () => linesIn(journal).find(line => line.event === event && line.nodes === 'n[4-6]'));
  const is = (times: (string | undefined)[], all: number[], what: string) =>
    [Math.min(...all), Math.max(...all)].forEach((ms, i) => {
      const at = Date.parse(times[i] ?? '') - realMs;
      t.ok(Math.abs(at - ms) <= 200, `${what}: ${times[i]}, ${at - ms} ms from it`);
    });
  const silent = await written('silent');
  is([silent.from, silent.from_last ?? silent.from], lasts, 'they fell silent together');
  const heard = await written('heard_again');
  is([heard.from, heard.from_last ?? heard.from], lasts, 'since then');
  is([heard.to, heard.to_last ?? heard.to], ends, 'and were heard again together');

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
