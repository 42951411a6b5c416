// Relays and mirrors at length, with real programs and servers: first each server is killed, frozen and cut off in
// turn, then there are ten minutes of random faults, with two masters and two mirrors, whose states are compared with
// the times at which each node has really sent. Not part of `npm test`.
//   npm run test:long -- relay          MINUTES=n (10), SEED=n

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { BoardReader } from '../../src/shm/reader.js';
import { isServing, noServers, serve } from '../kit/natsservers.js';
import { noNamespaces } from '../kit/netns.js';
import { freePorts, INSIDE, inOwnNetwork } from '../kit/network.js';
import { folder } from '../kit/places.js';
import { run, start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { type Part, Sites, type Watched } from './relaysites.js';

const MINUTES = Number(process.env.MINUTES ?? 10);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
t.setTimeout((MINUTES + 8) * 60_000);
const skip = noServers() || noNamespaces();
const LOOK_MS = 50;

const names = (count: number) => Array.from({ length: count }, (_, i) => `n${String(i + 1).padStart(2, '0')}`);
const seconds = (ms: number) => (ms / 1000).toFixed(1);

async function eachServer(t: Test): Promise<void> {
  const sites = await Sites.make(t);
  const { servers, watched } = sites;
  const [home, away] = watched as [Watched, Watched];
  sites.fleet.add(names(20), [0, 1]);
  const live = (mirror: Watched) =>
    [...(mirror.look()?.states.values() ?? [])].filter(state => state === 'live').length;
  await until('all are live', () => watched.every(mirror => live(mirror) === 20), LOOK_MS);
  /** Waits until both mirrors have newer data and all nodes are live; comments for how long they had no newer data. */
  const back = async (what: string) => {
    const since = watched.map(mirror => mirror.look()?.heartbeatNs ?? 0n);
    for (const mirror of watched) mirror.longestMs = 0;
    await Promise.all(
      watched.map((mirror, i) =>
        until(
          `${mirror.name}: ${what}`,
          () => live(mirror) === 20 && (mirror.look()?.heartbeatNs ?? 0n) > (since[i] ?? 0n) + 1_000_000_000n,
          10,
        ),
      ),
    );
    t.pass(what);
    const longest = watched.map(({ name, longestMs }) => `at ${name} ${seconds(longestMs)} s`);
    t.comment(`${what}: without a heartbeat ${longest.join(', ')}`);
  };
  for (const server of servers) {
    server.kill();
    if (server.name !== 'leaf') await back(`${server.name} is killed`);
    server.mend();
    await back(`${server.name} is started again`);
  }
  for (const server of servers) {
    server.freeze();
    if (server.name !== 'leaf') await back(`${server.name} is frozen`);
    else await until('nothing is known', () => away.look() === undefined, LOOK_MS);
    server.mend();
    await back(`${server.name} goes on`);
  }
  for (const place of ['hub1', 'hub2', 'hub3']) {
    sites.cut(place);
    await back(`${place} is cut off`);
    sites.join(place);
    await back(`${place} is back`);
  }
  t.same([home.wrong, away.wrong], [[], []]);
  t.same(
    watched.map(({ states }) => states.silent ?? 0),
    [0, 0],
    'nobody was called silent',
  );
}

/** A fault, and how it is removed. */
interface Fault {
  readonly what: string;
  readonly of: string;
  undo(): void;
  readonly untilMs: number;
}

async function atRandom(t: Test): Promise<void> {
  t.comment(`seed ${SEED}, ${MINUTES} minutes`);
  const rnd = random(SEED);
  const among = <T>(list: readonly T[]) => list[Math.floor(rnd() * list.length)] as T;
  const sites = await Sites.make(t);
  const { fleet, watched } = sites;
  fleet.add(names(40), [0, 1]);
  await until('all are live', () => watched.every(mirror => mirror.counts().live === 40), LOOK_MS);
  const parts: Part[] = [...sites.servers, ...sites.receivers, ...sites.relays, ...sites.mirrors];
  const faults: Fault[] = [];
  const done: Record<string, number> = {};
  const begin = performance.now();
  let nextMs = 0;
  const add = (of: string, kind: string, ms: number, undo: () => void) => {
    done[kind] = (done[kind] ?? 0) + 1;
    faults.push({ of, what: `${of} ${kind}`, undo, untilMs: performance.now() - begin + ms });
  };
  const fault = () => {
    // From a tenth of a second to half a minute, uniform on a logarithmic scale.
    const ms = 100 * 300 ** rnd();
    const kind = among(['killed', 'frozen', 'frozen', 'cut off', 'silent', 'silent']);
    if (kind === 'silent') {
      const sender = among(fleet.senders);
      if (sender.dead) return;
      sender.dead = true;
      add(sender.name, kind, 2 * ms, () => {
        sender.dead = false;
      });
    } else if (kind === 'cut off') {
      const place = among(sites.places);
      if (sites.cutOff.has(place)) return;
      sites.cut(place);
      add(place, kind, ms, () => sites.join(place));
    } else {
      const part = among(parts);
      if (part.state !== 'runs') return;
      if (kind === 'killed') part.kill();
      else part.freeze();
      add(part.name, kind, ms, () => part.mend());
    }
  };
  for (;;) {
    const now = performance.now() - begin;
    if (now > MINUTES * 60_000) break;
    if (now >= nextMs) {
      fault();
      // Sometimes several faults at once, and sometimes a minute without any.
      nextMs = now + 4000 * rnd() * (rnd() < 0.05 ? 15 : 1);
    }
    for (const over of faults.filter(({ untilMs }) => untilMs <= now)) {
      over.undo();
      faults.splice(faults.indexOf(over), 1);
    }
    for (const mirror of watched) mirror.look();
    await sleep(LOOK_MS);
  }
  for (const { undo } of faults) undo();
  await until('all is as it was', () => watched.every(mirror => mirror.counts().live === 40), LOOK_MS);
  t.pass('and at the end all is known again');
  const told = Object.entries(done).map(([kind, count]) => `${count} ${kind}`);
  t.comment(
    `seed ${SEED}: ${MINUTES} minutes, ${Object.values(done).reduce((a, b) => a + b, 0)} faults: ${told.join(', ')}`,
  );
  for (const { name, looks, states, wrong } of watched) {
    const all = looks.known + looks.unknown;
    const each = Object.entries(states).map(([state, count]) => `${count} ${state}`);
    t.comment(
      `mirror ${name}: ${all} looks, ${((100 * looks.known) / all).toFixed(1)} % of them known; of nodes ${each.join(', ')}`,
    );
    t.same(wrong.slice(0, 5), [], `${name}: nobody was called silent who sent, nobody live who did not`);
  }
}

/** A server that cuts off clients that do not read for half a second, and a mirror that is stopped under load. */
async function slowConsumer(t: Test): Promise<void> {
  const NODES = 2000;
  const at = folder(t);
  const [port = 0] = await freePorts(1);
  const log = join(at, 'server.log');
  const config = `listen: "127.0.0.1:${port}"\nping_interval: "1s"\nping_max: 2\nwrite_deadline: "500ms"\nlogfile: "${log}"\n`;
  await isServing(serve(t, at, 'hub', port, config));
  const key = join(at, 'relay.key');
  t.match(await run(['keygen', '--relay', key]), { code: 0 });
  const where = ['--nats', `nats://127.0.0.1:${port}`, '--site', 'home'];
  const source = join(at, 'board');
  const receiver = await startReceiver(t, source, ['--cluster', 'alpha', '--capacity', String(NODES)]);
  start(t, ['load', '--to', `127.0.0.1:${receiver.port}`, '--size', String(NODES), '--cluster', 'alpha']);
  start(t, ['relay', '--board', source, ...where, '--master', 'm1', '--key-file', key]);
  const board = join(at, 'mirror', 'board');
  const mirror = start(t, ['mirror', '--board', board, ...where, '--cluster', 'alpha', '--trust', `m1=${key}.pub`]);
  await mirror.ready;
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  const counts: Record<string, number> = {};
  const live = () => {
    const snapshot = reader.snapshot();
    if (snapshot.stalled) return 0;
    const states = Array.from(snapshot.nodes(), ({ state }) => state);
    for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
    return states.filter(state => state === 'live').length;
  };
  await until('all are live', () => live() === NODES, LOOK_MS);
  mirror.child.kill('SIGSTOP');
  const began = performance.now();
  await until('the server cuts it off', () => /slow consumer/i.test(readFileSync(log, 'utf8')), LOOK_MS);
  t.comment(`a mirror that stands still is cut off after ${seconds(performance.now() - began)} s`);
  await until('nothing is known by it', () => live() === 0, LOOK_MS);
  mirror.child.kill('SIGCONT');
  const on = performance.now();
  await until('it tells of the gap', () => /: a gap\n/.test(mirror.output().stderr), LOOK_MS);
  await until('all are live again', () => live() === NODES, LOOK_MS);
  t.comment(
    `all are live again ${seconds(performance.now() - on)} s after it goes on; looks ${JSON.stringify(counts)}`,
  );
  t.comment(
    mirror
      .output()
      .stderr.split('\n')
      .filter(line => /gap/.test(line))
      .join('; '),
  );
  t.equal(counts.silent, undefined, 'nobody was called silent');
}

if (!INSIDE) inOwnNetwork(t, 'ip link set lo up', import.meta.url);
else {
  t.test('each server is killed, frozen and cut off', { skip }, async t => eachServer(t));
  t.test('a mirror that does not keep up', { skip }, async t => slowConsumer(t));
  t.test('faults made at random', { skip }, async t => atRandom(t));
}
