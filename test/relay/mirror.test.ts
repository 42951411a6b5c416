// Mirrors: a master, its relay and a mirror with simulated clocks and network. Whatever happens to messages, processes
// and clocks: no node is called silent that a master heard within the limit, none live that no master heard; and
// afterwards the mirror agrees with the master.
//
// @seconds 30
// @rest

import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { JournalRecorder } from '../../src/journal/recorder.js';
import type { Line } from '../../src/journalfile/format.js';
import { decode } from '../../src/layout/codec.js';
import { bits, enums, structs } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import { Mirror, Writer } from '../../src/native/index.js';
import type { Key } from '../../src/options/keys.js';
import type { Message } from '../../src/relay/bus.js';
import { Relay } from '../../src/relay/publisher.js';
import {
  BOARD_BYTES,
  HEAD_BYTES,
  SIGNATURE_BYTES,
  signMessage,
  subjectOf,
  writeAsk,
  writePing,
} from '../../src/relay/relaywire.js';
import { Queues, Shares } from '../../src/relay/shares.js';
import { BoardReader } from '../../src/shm/reader.js';
import { type Trust, trustOptions } from '../../src/shm/trust.js';
import { writerOptions } from '../../src/shm/writer.js';
import { monotonicNs } from '../kit/clocks.js';
import { structs as ofC } from '../kit/layout.gen.js';
import { folder, type Teardown } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';
import { todayOf } from '../kit/whole.js';
import {
  type Carrier,
  CLUSTER,
  Clock,
  IDLE_TICK,
  keyPair,
  type Master,
  type Node,
  quiet,
  S,
  SITE,
  SLOW_TICK,
  World,
} from './relaying.js';

t.setTimeout(600_000);
const MS = 1_000_000n;

/** A cluster of twenty nodes with one master, once everything is running. */
function world(t: Teardown, clock?: Clock): World {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const master = w.addMaster('m1', clock);
  w.addNodes(20);
  master.startRelay();
  w.startMirror();
  w.run(8n * S);
  return w;
}

/** Lets these nodes die, and returns when each state was first seen, counted from their last reports. */
function die(w: World, names: readonly string[], ns: bigint): Record<string, number> {
  const since = new Map<string, number>();
  for (const node of w.nodes) if (names.includes(node.name)) node.dead = true;
  w.run(ns, () => {
    const states = w.states();
    for (const name of names) {
      const state = states.get(name) as string;
      const heard = w.nodes.find(node => node.name === name)?.heard.get('m1') as bigint;
      if (!since.has(state)) since.set(state, Number((w.now - heard) / MS) / 1000);
    }
  });
  return Object.fromEntries(since);
}

t.test('a mirror shows what its master shows', async t => {
  const w = world(t);
  t.same(w.counts(), { live: 20 });
  const { header, links } = { header: w.mirror().header, links: w.mirror().links };
  t.equal(header.mirror_names[header.mirror_followed ?? -1]?.name, 'm1');
  t.equal(header.mirror_heard, 1n);
  t.same(links, [], 'a snapshot of bytes has no tables');
  w.run(12n * S);
  t.same(w.counts(), { live: 20 });
  const told = die(w, ['node03', 'node11'], 13n * S);
  t.ok((told.uncertain ?? 0) > 4.44 && (told.uncertain ?? 0) < 4.7, `uncertain after ${told.uncertain} s`);
  t.ok((told.silent ?? 0) > 10.44 && (told.silent ?? 0) < 11, `silent after ${told.silent} s`);
  t.same(w.counts(), { live: 18, silent: 2 });
  const one = [...w.mirror().nodes()].find(({ name }) => name === 'node05');
  t.equal(one?.report?.seq, w.nodes[4]?.seq, 'the newest report');
  t.equal(one?.previous?.seq, (w.nodes[4]?.seq ?? 0) - 1, 'and the one before it');
  t.same(w.wrong, []);
});

t.test('two machines that report as one node', async t => {
  const w = world(t);
  const [master] = w.masters as [Master];
  // What it knows of the master's clock is worse at first: all times become later when it knows better.
  w.network.carrier = (message, _, to) => [{ message, delay: to === 'relay m1' ? 400n * MS : MS }];
  w.run(70n * S, undefined, SLOW_TICK);
  const [node] = w.addNodes(1) as [Node];
  // Its reports are sent here.
  node.dead = true;
  const twin = () => [...w.mirror().nodes()].find(({ name }) => name === node.name);
  const events = () => {
    const reader = new BoardReader(w.mirrorPath);
    const { events } = reader.events(1, 1000);
    reader.close();
    return events.filter(({ kind }) => enums.event_kind[kind] === 'clone').length;
  };
  const report = (seq: number, other: bigint) => {
    const times = { t_boot_ns: BigInt(seq) * S - other, t_real_ns: w.now - other };
    const made = makeReport({ hostname: node.name, seq, start_boot_ns: 0n, ...times }, CLUSTER);
    master.writer.deliver(made, master.now, w.now, 'eth0');
    node.heard.set('m1', w.now);
  };
  const turn = (seq: number) => {
    report(seq, 0n);
    report(seq, 5n);
  };
  for (let seq = 1; seq <= 3; seq++) turn(seq);
  w.run(6n * S);
  t.equal(twin()?.report?.seq, 3);
  t.equal(twin()?.clone, undefined, 'two turns');
  t.equal(events(), 0);
  for (let seq = 4; seq <= 5; seq++) turn(seq);
  w.run(6n * S);
  const since = twin()?.clone?.sinceMs ?? 0;
  t.ok(since > 1000 && since < 7000, `for ${since} ms, by the mirror's clock`);
  w.network.carrier = message => [{ message, delay: MS }];
  w.run(2n * S);
  turn(6);
  turn(7);
  w.run(6n * S);
  t.ok((twin()?.clone?.sinceMs ?? 0) > since + 7000, 'since the same time');
  t.equal(events(), 1, 'and once, although the mirror knows the time better');
  w.run(60n * S, undefined, SLOW_TICK);
  t.equal(twin()?.clone, undefined, 'for a minute');
  t.same(w.wrong, []);
});

t.test('what a mirror remembers is its own', async t => {
  const w = world(t);
  const [master] = w.masters as [Master];
  const memoryOf = (name: string) => [...w.mirror().nodes()].find(node => node.name === name)?.memory;
  w.run(12n * S);
  die(w, ['node03'], 13n * S);
  const [died] = w.nodes.filter(({ name }) => name === 'node03') as [Node];
  const begun = died.heard.get('m1') as bigint;
  const near = (ms: number | undefined, since: bigint, what: string) =>
    t.ok(Math.abs((ms ?? 0) - Number((w.now - since) / MS)) < 200, `${what}: ${ms} ms`);
  near(memoryOf('node03')?.silence?.beganMs, begun, 'from its last report');
  t.equal(memoryOf('node03')?.silence?.endedMs, undefined, 'it is open');
  near(memoryOf('node03')?.lastWords?.reportedMs, begun, 'its last words');
  // Nothing comes through: the mirror is deaf, and no node silent for it.
  w.network.carrier = () => [];
  w.run(30n * S);
  w.network.carrier = message => [{ message, delay: MS }];
  w.run(15n * S);
  t.same(
    w.nodes.map(({ name }) => memoryOf(name)?.silence?.count ?? 0),
    w.nodes.map(({ name }) => (name === 'node03' ? 1 : 0)),
  );
  died.dead = false;
  const back = w.now;
  w.run(3n * S);
  near(memoryOf('node03')?.silence?.beganMs, begun, 'the same');
  const ended = memoryOf('node03')?.silence?.endedMs ?? 0;
  t.ok(ended > 0 && ended < Number((w.now - back) / MS) + 200, `ended ${ended} ms ago`);
  // What rose is seen, and not twice where a report is stored again.
  const [node] = w.addNodes(1) as [Node];
  node.dead = true;
  for (const [seq, oom_kills] of [0, 0, 2, 2].entries()) {
    const times = { t_boot_ns: BigInt(seq + 1) * S, t_real_ns: w.now };
    const values = { start_boot_ns: 0n, valid: 1n << BigInt(bits.valid.vmstat), oom_kills, ...times };
    master.writer.deliver(
      makeReport({ hostname: node.name, seq: seq + 1, ...values }, CLUSTER),
      master.now,
      w.now,
      'eth0',
    );
    node.heard.set('m1', w.now);
    w.run(1n * S);
  }
  t.same(memoryOf(node.name)?.recent, ['oom']);
  t.equal(memoryOf(node.name)?.episode('oom')?.count, 1);
  t.same(w.wrong, []);
});

t.test('what a mirror remembers outlives its restart, and another master', async t => {
  for (const signed of todayOf([false, true], 2)) {
    const w = new World(folder(t));
    t.teardown(() => w.end());
    const key: Key = { id: 3, node: undefined, secret: randomBytes(32) };
    const trust: Trust | undefined = signed ? { keys: [key], required: 'cluster', clockWindow: 60_000 } : undefined;
    if (signed) w.key = key;
    const startMirror = () => w.startMirror(w.masters, 64, trust);
    for (const name of ['m1', 'm2']) w.addMaster(name).startRelay();
    w.addNodes(20);
    w.network.carrier = message => [{ message, delay: 60n * MS }];
    startMirror();
    w.run(20n * S);
    const [node] = w.addNodes(1) as [Node];
    node.dead = true;
    // The last one ends a silence, and another begins with it.
    for (const [i, oom_kills] of [0, 2, 2].entries()) {
      w.run((i === 2 ? 13n : 1n) * S);
      const proof = signed ? { auth_alg: enums.auth_alg.indexOf('cluster'), key_id: key.id } : {};
      const report = {
        ...proof,
        hostname: node.name,
        seq: i + 1,
        start_boot_ns: 0n,
        t_boot_ns: w.now,
        t_real_ns: w.now,
      };
      const bytes = makeReport({ ...report, valid: 1n << BigInt(bits.valid.vmstat), oom_kills }, CLUSTER);
      if (signed) sign(bytes, key);
      for (const { writer, now, name } of w.masters)
        if (writer.deliver(bytes, now, w.now, 'eth0') === 0) node.heard.set(name, w.now);
    }
    const [died] = w.nodes as [Node];
    died.dead = true;
    w.run(15n * S);
    /** Times as of the mirror's clock: they stay, whatever is done to the mirror. */
    const remembered = () =>
      [...w.mirror().nodes()]
        .filter(({ name }) => name === died.name || name === node.name)
        .map(({ name, memory }) => {
          const { silence, sinceMs = 0 } = memory ?? {};
          const at = (ago: number | undefined) => ago !== undefined && Number(w.mirrorNow / MS) - ago;
          return [
            ...[name, at(sinceMs), at(silence?.beganMs), silence?.count, at(silence?.endedMs)],
            ...[memory?.recent, memory?.episode('oom')?.count],
          ];
        })
        .sort();
    const before = remembered();
    const silent = (name: string) => before.find(([of]) => of === name);
    t.match(silent(died.name), [died.name, Number, Number, 1, false, []]);
    t.match(silent(node.name), [node.name, Number, Number, 2, false, ['oom'], 1]);
    const restart = (awayNs: bigint) => {
      w.follower?.end();
      w.follower = undefined;
      const names = [...w.mirror().nodes()].length;
      w.run(awayNs);
      startMirror();
      w.run(1n * S);
      t.equal([...w.mirror().nodes()].length, names, 'no board with fewer nodes stands there meanwhile');
      w.run(9n * S);
    };
    // What is known of the master's clock is better or worse than before, and so is the place of each last report.
    for (const delay of [1n, 1n, 120n, 60n]) {
      w.network.carrier = message => [{ message, delay: delay * MS }];
      restart(2n * S);
      t.match(w.counts(), { live: 19, silent: 2 });
      t.same(remembered(), before, `after a restart with ${delay} ms`);
    }
    w.network.carrier = message => [{ message, delay: MS }];
    const followed = w.follower?.followed;
    w.masters.find(({ name }) => name === followed)?.killRelay();
    w.run(10n * S);
    t.not(w.follower?.followed, followed);
    t.match(w.counts(), { live: 19, silent: 2 });
    t.same(remembered(), before, 'with the other master');
    // What ends while no mirror runs ends with the next report.
    w.follower?.end();
    w.follower = undefined;
    died.dead = false;
    w.run(3n * S);
    const last = startMirror();
    w.run(10n * S);
    t.match(w.counts(), { live: 20, silent: 1 });
    const [, , began, count, ended] = remembered().find(([of]) => of === died.name) ?? [];
    t.same([began, count], silent(died.name)?.slice(2, 4));
    t.ok(Number(ended) > Number(began), 'its end');
    t.equal(last.mirror.unproved, 0);
    // But until the batch with a report has come.
    t.same(
      w.wrong.filter(({ ageNs }) => ageNs > 200n * MS),
      [],
    );
  }
});

/** Two masters and twenty nodes, of which m2 does not hear one, so that m1 is followed first; nothing else runs yet. */
function twoMasters(t: Teardown) {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const [m1, m2] = [w.addMaster('m1'), w.addMaster('m2')];
  w.addNodes(20);
  w.nodes[0]!.cut.add('m2');
  return { w, m1, m2 };
}

t.test('what another master heard before is no news, and no boot', async t => {
  const { w, m1, m2 } = twoMasters(t);
  m1.startRelay();
  w.startMirror();
  const [node] = w.addNodes(1) as [Node];
  node.dead = true;
  const report = (boot_id: bigint, seq: number, ...to: Master[]) => {
    const times = { t_boot_ns: BigInt(seq) * S, t_real_ns: w.now, start_boot_ns: 0n };
    const bytes = makeReport({ hostname: node.name, boot_id, seq, ...times }, CLUSTER);
    for (const { writer, now, name } of to)
      if (writer.deliver(bytes, now, w.now, 'eth0') === 0) node.heard.set(name, w.now);
    w.run(1n * S);
  };
  for (const seq of [1, 2, 3]) report(1n, seq, m1, m2);
  // m2 does not hear that it boots.
  w.run(12n * S);
  for (const seq of [1, 2, 3]) report(2n, seq, m1);
  const of = () => [...w.mirror().nodes()].find(({ name }) => name === node.name);
  const told = () => {
    const { memory, report } = of() ?? {};
    const at = (ago: number | undefined) => ago !== undefined && Number(w.mirrorNow / MS) - ago;
    return [
      report?.boot_id,
      memory?.silence?.count,
      at(memory?.silence?.beganMs),
      at(memory?.bootMs),
      at(memory?.silence?.endedMs),
    ];
  };
  const before = told();
  t.match(before, [2n, 1, Number, Number, Number]);
  m2.startRelay();
  w.run(2n * S);
  m1.killRelay();
  w.run(8n * S);
  t.equal(w.follower?.followed, 'm2');
  t.same(told(), before, 'with the other master');
  t.not(of()?.state, 'live');
  w.run(10n * S);
  t.equal(of()?.state, 'silent', 'as both say');
  t.same(told().slice(0, 2), [2n, 2]);
  m1.startRelay();
  m2.killRelay();
  w.run(10n * S);
  t.equal(w.follower?.followed, 'm1');
  report(2n, 30, m1);
  w.run(1n * S);
  t.match(told(), [2n, 2, Number, before[3], Number], 'and back');
  // But until the batch with its report has come.
  t.same(
    w.wrong.filter(({ ageNs }) => ageNs > 200n * MS),
    [],
  );
});

t.test('what is kept of a node that the next master does not know outlives another lock', async t => {
  const { w, m1, m2 } = twoMasters(t);
  m1.startRelay();
  w.startMirror();
  const [node] = w.addNodes(1) as [Node];
  node.cut.add('m2');
  w.run(5n * S);
  node.dead = true;
  w.run(15n * S);
  const followed = (): unknown => w.follower?.followed;
  const told = () => {
    const found = [...w.mirror().nodes()].find(({ name }) => name === node.name);
    const { beganMs, count } = found?.memory?.silence ?? {};
    return found && [found.state, beganMs && Number(w.mirrorNow / MS) - beganMs, count];
  };
  const before = told();
  t.match(before, ['silent', Number, 1]);
  m2.startRelay();
  w.run(2n * S);
  m1.killRelay();
  w.run(10n * S);
  t.same([followed(), told()], ['m2', undefined], 'no ghost of a node that m2 does not know');
  w.follower?.end();
  w.follower = undefined;
  rmSync(`${w.mirrorPath}.lock`);
  w.startMirror();
  w.run(5n * S);
  t.same([followed(), told()], ['m2', undefined]);
  m1.startRelay();
  m2.killRelay();
  w.run(15n * S);
  t.same([followed(), told()], ['m1', before]);
});

t.test('what is kept of a node goes when its own master has forgotten it, and with no other board', async t => {
  /** What happens to m1 while m2 is followed; starts of its receiver are many, so its count of them says nothing. */
  const fates: [what: string, fate: (m1: Master) => void, count: number][] = [
    ['it runs on', () => {}, 1],
    [
      'it is booted, and its receiver started again and again',
      m1 => {
        rmSync(m1.path);
        for (let i = 0; i < 3; i++) {
          m1.startReceiver();
          m1.endReceiver();
        }
        m1.startReceiver();
      },
      1,
    ],
    [
      'it forgets the node',
      m1 => {
        m1.startReceiver();
        m1.writer.forget(['node21']);
      },
      0,
    ],
  ];
  for (const [what, fate, count] of fates)
    for (const isAway of what === 'it runs on' ? [false] : [false, true]) {
      const { w, m1, m2 } = twoMasters(t);
      m1.startRelay();
      w.startMirror();
      const [node] = w.addNodes(1) as [Node];
      node.cut.add('m2');
      w.run(2n * S);
      node.dead = true;
      w.run(13n * S);
      const memory = () => [...w.mirror().nodes()].find(({ name }) => name === node.name)?.memory;
      t.equal(memory()?.silence?.count, 1);
      if (!isAway) {
        m2.startRelay();
        w.run(2n * S);
        m1.killRelay();
        w.run(5n * S);
        t.equal(w.follower?.followed, 'm2');
      } else {
        w.follower?.end();
        w.follower = undefined;
        m1.killRelay();
      }
      if (what !== 'it runs on') m1.endReceiver();
      fate(m1);
      m1.startRelay();
      if (isAway) w.startMirror();
      w.run(2n * S);
      m2.killRelay();
      w.run(5n * S);
      t.equal(w.follower?.followed, 'm1');
      node.dead = false;
      w.run(3n * S);
      t.equal(memory()?.silence?.count ?? 0, count, `${what}${isAway ? ', and no mirror runs' : ''}`);
    }
});

t.test('the last reports of a node have reached one of two masters only', async t => {
  for (const isAway of todayOf([false, true], 2)) {
    const { w, m1, m2 } = twoMasters(t);
    // A journal's reader looks by the clock of this machine: all of it lies in its past.
    w.mirrorClock = new Clock(monotonicNs() - w.now - 120n * S);
    m1.startRelay();
    w.startMirror();
    w.run(10n * S);
    m2.startRelay();
    w.run(10n * S);
    const dying = w.nodes[5] as Node;
    dying.cut.add('m1');
    const reader = new BoardReader(w.mirrorPath);
    t.teardown(() => reader.close());
    const lines: Line[] = [];
    let journal = new JournalRecorder(reader, 'default', '1.2.3', []);
    let looks = 0;
    const look = () => {
      if (looks++ % 50 !== 0) return;
      const clocks = { monoMs: Number(w.mirrorNow / MS), realMs: Number(w.mirrorNow / MS) + 1_700_000_000_000 };
      for (const { line } of journal.look(clocks)) lines.push(line);
    };
    const silence = () => {
      const { state, memory } = [...w.mirror().nodes()].find(({ name }) => name === dying.name) ?? {};
      const { count, beganMs, endedMs } = memory?.silence ?? {};
      return { state, count, began: beganMs && Number(w.mirrorNow / MS) - beganMs, endedMs };
    };
    w.run(3n * S, look);
    dying.dead = true;
    w.run(20n * S, look);
    const before = silence();
    t.match(before, { state: 'silent', count: 1, endedMs: undefined });
    m1.killRelay();
    if (isAway) journal = new JournalRecorder(reader, 'default', '1.2.3', [...lines]);
    w.run(20n * S, isAway ? undefined : look);
    w.run(5n * S, look);
    t.equal(w.follower?.followed, 'm2');
    const after = silence();
    t.match(after, { state: 'silent', count: 1, endedMs: undefined }, 'it was silent once');
    t.ok(Number(after.began) - Number(before.began) > 2000, 'since its last report');
    w.follower?.end();
    w.follower = undefined;
    m1.startRelay();
    m2.killRelay();
    const back = w.startMirror();
    w.run(20n * S, look);
    t.equal(back.followed, 'm1');
    t.match(silence(), { state: 'silent', count: 1, endedMs: undefined }, 'and with the first master again');
    dying.dead = false;
    dying.cut.clear();
    w.run(6n * S, look);
    t.match(silence(), { state: 'live', count: 1, endedMs: Number });
    const told = lines.filter(({ event, repeated }) => !repeated && (event === 'silent' || event === 'heard_again'));
    t.strictSame(
      told.map(({ event, nodes, from }) => [event, nodes, from]),
      [
        ['silent', dying.name, told[0]?.from],
        ['heard_again', dying.name, told[0]?.from],
      ],
      'and the journal tells it once',
    );
  }
});

t.test('a corrupt board of the run before is replaced, and nothing of it read', async t => {
  for (const entry of [0xffff_ffff_ffff_ffffn, (1n << 32n) | 1n, 0n]) {
    const w = world(t);
    w.follower?.end();
    w.follower = undefined;
    const bytes = readFileSync(w.mirrorPath);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const h = decode('board_header', view, 0);
    for (let i = 0; i < Number(h.index_slots); i++) {
      const at = Number(h.index_offset) + i * Number(h.index_stride);
      // Each name has a record that lies outside of the board.
      if (entry === 0n && view.getBigUint64(at, true) !== 0n) view.setUint32(at, 0x7fff_ffff, true);
      else if (entry !== 0n) view.setBigUint64(at, entry, true);
    }
    writeFileSync(w.mirrorPath, bytes);
    w.startMirror();
    w.run(8n * S);
    t.same(w.counts(), { live: 20 });
    t.same(w.wrong, []);
  }
});

t.test('what is cleared at the master is over at its mirror', async t => {
  const w = world(t);
  const [master] = w.masters as [Master];
  const nodes = w.addNodes(2);
  for (const node of nodes) node.dead = true;
  const of = (name: string) => [...w.mirror().nodes()].find(node => node.name === name);
  const [ill, gone] = nodes.map(({ name }) => name) as [string, string];
  let seq = 0;
  const report = (has: boolean, ...names: string[]) => {
    seq++;
    for (const [i, hostname] of names.entries()) {
      const valid = has ? 1n << BigInt(bits.valid.health) : 0n;
      const health = has ? enums.health.indexOf(i === 0 ? 'bad' : 'ok') : 0;
      const times = { t_boot_ns: BigInt(seq) * S, t_real_ns: w.now, start_boot_ns: 0n };
      master.writer.deliver(makeReport({ hostname, seq, valid, health, ...times }, CLUSTER), master.now, w.now, 'eth0');
    }
    for (const node of nodes) node.heard.set('m1', w.now);
    w.run(1n * S);
  };
  for (const has of [true, true, false, false]) report(has, ill, gone);
  const doubts = () =>
    [ill, gone].map(name => `${of(name)?.doubts} ${of(name)?.memory?.goneMs('health') !== undefined}`);
  const goOn = () => {
    for (let i = 0; i < 4; i++) {
      report(false, ill, gone);
      w.run(2n * S);
    }
  };
  goOn();
  t.same(doubts(), ['bad_health true', ' true'], 'nobody has cleared it');
  // No message comes through meanwhile, and the node reports again.
  w.network.carrier = () => [];
  t.same(master.writer.clear([ill, gone]), [2, 2]);
  report(false, ill, gone);
  t.same(doubts(), ['bad_health true', ' true'], 'the mirror does not hear of it');
  w.network.carrier = message => [{ message, delay: MS }];
  goOn();
  t.same(doubts(), [' false', ' false']);
  const reader = new BoardReader(w.mirrorPath);
  const { events } = reader.events(1, 1000);
  reader.close();
  t.equal(events.filter(({ kind }) => enums.event_kind[kind] === 'clear').length, 2, 'and says so');
  report(true, ill, gone);
  goOn();
  t.same(doubts(), ['bad_health true', ' true'], 'it is another one');
  t.same(w.wrong, []);
});

t.test('a node that died before the mirror began is silent once the mirror is complete', async t => {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const master = w.addMaster('m1');
  w.addNodes(20);
  master.startRelay();
  w.run(12n * S);
  for (const name of ['node01', 'node02']) for (const node of w.nodes) if (node.name === name) node.dead = true;
  w.run(60n * S, undefined, SLOW_TICK);
  w.startMirror();
  const began = w.now;
  let whole = 0n;
  w.run(4n * S, () => {
    if (whole === 0n && (w.counts().silent ?? 0) === 2) whole = w.now - began;
  });
  t.same(w.counts(), { live: 18, silent: 2 });
  t.ok(whole > 0n && whole <= 2n * S, `after ${whole / MS} ms`);
  t.same(w.wrong, []);
});

t.test('messages that are lost, late, doubled or in another order', async t => {
  const w = world(t);
  let dead = 0;
  for (const [what, carrier] of Object.entries({
    'one in twenty is lost': (n: number) => (n % 20 === 7 ? [] : [1]),
    'each comes twice': () => [1, 3],
    'some overtake others': (n: number) => [n % 9 === 0 ? 130 : 1],
    'late, all': () => [400],
  } satisfies Record<string, (n: number) => number[]>)) {
    let n = 0;
    w.network.carrier = message => carrier(n++).map(ms => ({ message, delay: BigInt(ms) * MS }));
    (w.nodes[dead++] as Node).dead = true;
    w.run(6n * S);
    t.same(w.wrong, [], what);
    w.network.carrier = message => [{ message, delay: MS }];
    w.run(7n * S);
    t.same(w.counts(), { live: 20 - dead, silent: dead }, `${what}; and then all is told again`);
  }
});

t.test('a gap: the evidence starts again for all nodes, and an index restores it', async t => {
  const w = world(t);
  const indexes: Message[] = [];
  w.network.carrier = message => {
    if (message.subject.endsWith('.index')) indexes.push(message);
    return [{ message, delay: MS }];
  };
  w.run(10n * S);
  w.nodes[2]!.dead = true;
  w.run(6n * S);
  // 200 ms of batches are lost.
  w.network.carrier = (message, from) =>
    from === 'relay m1' && message.subject.endsWith('.batch') ? [] : [{ message, delay: MS }];
  w.run(200n * MS);
  w.network.carrier = message => [{ message, delay: MS }];
  w.run(100n * MS);
  const listened = () => Number(w.mirror().evidence.heartbeatNs - w.mirror().evidence.listeningSinceNs) / 1e9;
  t.ok(listened() < 1, `listens anew: for ${listened()} s`);
  w.network.inject(indexes.at(-1) as Message, 'mirror');
  w.run(100n * MS);
  t.ok(listened() < 1, `an index from before the gap restores nothing: ${listened()} s`);
  w.run(6n * S);
  t.ok(listened() > 15, `and again since it began: for ${listened()} s`);
  t.equal(w.states().get('node03'), 'silent', 'at the time at which the master says so');
  t.same(w.wrong, []);
});

t.test('a gap of a minute: until an index restores it, intervals may have grown', async t => {
  const w = world(t);
  w.run(16n * S);
  w.network.carrier = (message, from) =>
    from === 'relay m1' && message.subject.endsWith('.batch') ? [] : [{ message, delay: MS }];
  w.run(60n * S, undefined, SLOW_TICK);
  w.network.carrier = (message, from) =>
    from === 'relay m1' && message.subject.endsWith('.index') ? [] : [{ message, delay: MS }];
  w.run(5n * S);
  const listened = () => Number(w.mirror().evidence.heartbeatNs - w.mirror().evidence.listeningSinceNs) / 1e9;
  t.ok(listened() < -3 && listened() > -11, `ten seconds do not count: ${listened()} s`);
  w.network.carrier = message => [{ message, delay: MS }];
  w.run(6n * S);
  t.ok(listened() > 60, `and then all of it: ${listened()} s`);
  t.same(w.wrong, []);
});

t.test('3 s of delay one way, to the mirror and from it', async t => {
  for (const slow of ['mirror', 'relay m1']) {
    const w = world(t);
    w.network.carrier = (message, _, to) => [{ message, delay: to === slow ? 3n * S : MS }];
    w.nodes[9]!.dead = true;
    w.run(8n * S);
    t.same(w.counts(), { unknown: 20 }, `towards ${slow}: not heard`);
    t.same(w.wrong, []);
    w.network.carrier = message => [{ message, delay: MS }];
    w.run(9n * S);
    t.same(w.counts(), { live: 19, silent: 1 });
    t.same(w.wrong, []);
  }
});

t.test('clocks that are slewed against each other, and jitter of 300 ms', async t => {
  for (const [master, mirror] of [
    [500, -500],
    [-500, 500],
  ] as const) {
    const w = world(t, new Clock(2000n * S, master));
    w.mirrorClock.slew(w.now, mirror);
    let n = 0;
    w.network.inOrder = true;
    w.network.carrier = message => [{ message, delay: BigInt(1 + ((n++ * 37) % 150)) * MS }];
    w.nodes[4]!.dead = true;
    w.run(14n * S);
    t.match(w.counts(), { live: 19, silent: 1 });
    w.run(200n * S, undefined, SLOW_TICK);
    t.same(w.wrong, []);
  }
});

t.test("the mirror's process stands still for ten minutes", async t => {
  for (const relayDies of [false, true]) {
    const w = world(t);
    w.run(12n * S);
    w.mirrorPaused = true;
    w.run(5n * S);
    if (relayDies) w.masters[0]?.killRelay();
    w.nodes[7]!.dead = true;
    w.run(600n * S, undefined, IDLE_TICK);
    t.same(w.counts(), { unknown: 20 });
    w.mirrorPaused = false;
    if (relayDies) {
      w.run(20n * S);
      t.same(w.counts(), { unknown: 20 }, 'nothing is known while its relay is dead');
      w.masters[0]?.startRelay();
      w.run(8n * S);
    } else w.run(4n * S);
    t.same(w.counts(), { live: 19, silent: 1 });
    t.same(w.wrong, []);
  }
});

t.test("either machine's clock stands still", async t => {
  for (const which of ['mirror', 'master'] as const) {
    const w = world(t);
    w.run(12n * S);
    const clock = which === 'mirror' ? w.mirrorClock : (w.masters[0]?.clock as Clock);
    w.nodes[7]!.dead = true;
    w.run(1n * S);
    clock.stop(w.now);
    w.run(600n * S, undefined, IDLE_TICK);
    clock.goOn(w.now);
    // A machine that was suspended cannot know that until the first ping is answered. Until then ages are too small, so
    // the dead node may be shown as live.
    const told = w.wrong.length;
    w.run(S + 400n * MS);
    const meanwhile = w.wrong.splice(told);
    t.ok(
      which === 'mirror' || meanwhile.length === 0,
      `${which}: ${meanwhile.length} looks before the first ping was answered`,
    );
    t.ok(meanwhile.every(({ state }) => state === 'live'));
    if (which === 'master') w.masters[0]?.listen();
    w.run(14n * S);
    t.match(w.counts(), { live: 19 }, which);
    t.same(w.wrong, [], which);
    t.ok((w.follower?.counts.boards ?? 0) >= 2, 'another board was begun');
  }
});

t.test(
  'the master: its receiver stalls, another board takes its place, a node is forgotten, a link goes down',
  async t => {
    const w = world(t);
    const master = w.masters[0]!;
    w.run(12n * S);
    w.nodes[0]!.dead = true;
    w.run(12n * S);
    t.same(w.counts(), { live: 19, silent: 1 });
    master.writer.forget(['node01']);
    w.run(6n * S);
    t.same(w.counts(), { live: 19 }, 'the name that was forgotten is gone');
    master.paused = true;
    w.run(4n * S);
    t.same(w.counts(), { unknown: 19 }, 'stalled');
    w.run(20n * S);
    master.paused = false;
    master.listen();
    w.run(7n * S);
    t.same(w.counts(), { live: 19 });
    for (const node of w.nodes) if (node.name !== 'node02') node.cut.add('m1');
    master.writer.linkState(1, 0, false, master.now);
    w.nodes[1]!.cut.add('m1');
    w.run(20n * S);
    t.same(w.counts(), { uncertain: 19 }, 'its own link is down: nobody is silent');
    t.same(w.wrong, []);
  },
);

t.test('a fresh mirror of a master whose link has been down for long', async t => {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const master = w.addMaster('m1');
  w.addNodes(10);
  master.startRelay();
  w.run(15n * S);
  for (const node of w.nodes) node.cut.add('m1');
  master.writer.linkState(1, 0, false, master.now);
  w.run(1200n * S, undefined, IDLE_TICK);
  w.startMirror();
  w.run(8n * S);
  t.same(w.counts(), { uncertain: 10 });
  t.same(w.wrong, []);
});

t.test('nodes with a long interval', async t => {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const master = w.addMaster('m1');
  w.addNodes(5, 10_000);
  w.addNodes(5);
  master.startRelay();
  w.startMirror();
  w.run(60n * S, undefined, SLOW_TICK);
  t.same(w.counts(), { live: 10 });
  w.nodes[0]!.dead = true;
  w.run(95n * S);
  t.equal(w.states().get('node01'), 'uncertain');
  w.run(25n * S);
  t.equal(w.states().get('node01'), 'silent');
  t.same(w.wrong, []);
});

t.test('a node with an interval that is longer than the longest', async t => {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const master = w.addMaster('m1', undefined, 60_000);
  w.addNodes(1, 600_000);
  w.addNodes(2);
  const [seldom] = w.nodes as [Node];
  seldom.nextNs = w.now + S;
  master.startRelay();
  w.startMirror();
  w.run(20n * S);
  t.same(w.counts(), { live: 3 });
  w.run(245n * S, undefined, SLOW_TICK);
  t.same(w.counts(), { live: 3 });
  // Not for 45 minutes, and without loss never silent.
  w.run(15n * S, undefined, SLOW_TICK);
  t.same(w.counts(), { live: 2, uncertain: 1 });
  w.run(325n * S, undefined, SLOW_TICK);
  t.same(w.counts(), { live: 3 }, 'its next report came');
  seldom.dead = true;
  const since = w.now;
  w.run(640n * S, undefined, SLOW_TICK);
  t.same(w.counts(), { live: 2, silent: 1 }, `${(w.now - since) / S} s later`);
  // The mirror takes another limit with the next batch.
  master.change(600_000);
  w.run(8n * S);
  t.equal(w.mirror().header.longest_interval_ms, 600_000);
  t.same(w.counts(), { live: 3 });
});

t.test('what a mirror that begins, and other masters, know of a node with such an interval', async t => {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const masters = ['m1', 'm2'].map(name => w.addMaster(name, undefined, 60_000));
  w.addNodes(2, 600_000);
  w.addNodes(2);
  const [dead, cut] = w.nodes as [Node, Node];
  for (const node of [dead, cut]) node.nextNs = w.now + S;
  for (const master of masters) master.startRelay();
  w.run(20n * S);
  dead.dead = true;
  cut.cut.add('m1');
  w.run(670n * S, undefined, SLOW_TICK);
  // It is silent at both, and by its own ten minutes it would be at none; this machine was started after its last report.
  w.mirrorClock = new Clock(650n * S - w.now);
  w.startMirror();
  w.run(8n * S);
  const { mirror_followed } = w.mirror().header;
  t.equal(mirror_followed, 0, 'it follows m1');
  t.equal(w.states().get(dead.name), 'silent');
  // The other is silent at m1, but m2 has heard it.
  t.equal(w.states().get(cut.name), 'uncertain');
  t.equal(w.mirror().header.mirror_vetoed, 1);
  // What m2 has heard a minute's limit ago is no veto any more.
  w.run(220n * S, undefined, SLOW_TICK);
  t.equal(w.states().get(cut.name), 'silent');
});

/** Two masters with their relays, of which m2 does not hear half of the twenty nodes, and a mirror. */
function unequalMasters(t: Teardown) {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const [m1, m2] = [w.addMaster('m1'), w.addMaster('m2')];
  w.addNodes(20);
  for (const node of w.nodes.slice(0, 10)) node.cut.add('m2');
  m1.startRelay();
  m2.startRelay();
  w.startMirror();
  return { w, m1 };
}

t.test('two masters: it follows the better one, and changes when that has gone', async t => {
  const { w, m1 } = unequalMasters(t);
  w.run(10n * S);
  t.equal(w.follower?.followed, 'm1', 'it has more nodes');
  t.same(w.follower?.heard, ['m1', 'm2']);
  t.same(w.counts(), { live: 20 });
  m1.killRelay();
  w.run(3n * S);
  t.equal(w.follower?.followed, 'm1', 'for 3 s it may come back');
  w.run(4n * S);
  t.equal(w.follower?.followed, 'm2');
  t.same(w.counts(), { live: 10 });
  m1.startRelay();
  w.run(10n * S);
  t.equal(w.follower?.followed, 'm2', 'it is not left at once for one that has more');
  w.run(10n * S);
  t.equal(w.follower?.followed, 'm1', 'after 10 s it is');
  t.same(w.counts(), { live: 20 });
  t.same(w.wrong, []);
});

t.test('a receiver or a relay that ends cleanly is left at once, and nothing is unknown meanwhile', async t => {
  for (const what of ['receiver', 'relay'] as const) {
    const w = new World(folder(t));
    t.teardown(() => w.end());
    const [m1, m2] = [w.addMaster('m1'), w.addMaster('m2')];
    w.addNodes(20);
    // It is worth as much to somebody who waits for m1: a tenth fewer nodes are.
    w.nodes[0]!.cut.add('m2');
    m1.startRelay();
    m2.startRelay();
    w.startMirror();
    w.run(20n * S);
    t.equal(w.follower?.followed, 'm1');
    w.nodes[5]!.dead = true;
    w.run(15n * S);
    t.same(w.counts(), { live: 19, silent: 1 });
    const unknown = w.looks.unknown ?? 0;
    if (what === 'receiver') m1.endReceiver();
    else m1.endRelay();
    const endNs = w.now;
    let followedNs = 0n;
    w.run(8n * S, () => {
      if (followedNs === 0n && w.follower?.followed === 'm2') followedNs = w.now - endNs;
    });
    t.ok(followedNs > 0n && followedNs <= 100n * MS, `its ${what}: after ${followedNs / MS} ms`);
    t.equal(w.looks.unknown ?? 0, unknown, 'all that time something was known');
    t.same(w.counts(), { live: 18, silent: 1 }, 'by the other master');
    t.same(
      w.wrong.filter(({ node }) => node !== 'node01'),
      [],
    );
    // And the other way round, from a master whose relay was started again meanwhile.
    if (what === 'receiver') m1.startReceiver();
    else m1.startRelay();
    w.run(30n * S);
    t.equal(w.follower?.followed, 'm2', 'it stays with the other one');
    t.same(w.follower?.heard, ['m1', 'm2']);
    if (what === 'receiver') m2.endReceiver();
    else m2.endRelay();
    w.run(200n * MS);
    t.equal(w.follower?.followed, 'm1');
    w.run(3n * S);
    t.equal(w.counts().live, 19);
    t.equal(w.looks.unknown ?? 0, unknown);
  }
});

t.test('one that ends cleanly, and is back in a moment, is not left for one with fewer nodes', async t => {
  for (const isBack of [true, false]) {
    const { w, m1 } = unequalMasters(t);
    w.run(12n * S);
    t.equal(w.follower?.followed, 'm1');
    const { boards } = w.follower?.counts ?? {};
    m1.endReceiver();
    w.run(1n * S);
    t.equal(w.follower?.followed, 'm1');
    if (isBack) m1.startReceiver();
    w.run(8n * S);
    t.equal(w.follower?.followed, isBack ? 'm1' : 'm2');
    t.same(w.counts(), { live: isBack ? 20 : 10 });
    if (isBack) t.equal(w.follower?.counts.boards, boards, 'on the same board');
    t.same(
      w.wrong.filter(() => isBack),
      [],
    );
  }
});

t.test('what of an ended run is still under way does not bring it back', async t => {
  const w = world(t);
  const [m1] = w.masters as [Master];
  // All that the relay says now comes late, its last batch first.
  w.network.carrier = (message, from) => [
    { message, delay: from === 'relay m1' && !message.subject.endsWith('.batch') ? 400n * MS : MS },
  ];
  w.run(3n * S);
  m1.endRelay();
  w.run(100n * MS);
  t.same(w.follower?.heard, []);
  w.run(2n * S);
  t.same(w.follower?.heard, [], 'a pong came after that');
  m1.startRelay();
  w.network.carrier = message => [{ message, delay: MS }];
  w.run(8n * S);
  t.same(w.follower?.heard, ['m1']);
  t.same(w.counts(), { live: 20 });
  t.same(w.wrong, []);
});

t.test('the veto: after a cut between one master and a rack no sending node is silent', async t => {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const [m1, m2] = [w.addMaster('m1'), w.addMaster('m2')];
  w.addNodes(20);
  m1.startRelay();
  m2.startRelay();
  w.startMirror();
  w.run(20n * S);
  t.equal(w.follower?.followed, 'm1');
  // Half of the nodes do not reach m1 any more, and one is dead. Both boards still have as many nodes as before,
  // because they count all that have ever reported, so the mirror still follows m1.
  for (const node of w.nodes.slice(0, 10)) node.cut.add('m1');
  w.nodes[0]!.dead = true;
  w.run(25n * S);
  t.same(w.counts(), { live: 10, uncertain: 9, silent: 1 });
  t.equal(w.states().get('node01'), 'silent');
  t.equal(w.mirror().header.mirror_vetoed, 9);
  t.equal([...w.mirror().nodes()].find(({ name }) => name === 'node02')?.link, 0, 'carried as link 0');
  for (const node of w.nodes) node.cut.delete('m1');
  w.run(3n * S);
  t.same(w.counts(), { live: 19, silent: 1 });
  // Now m2 cannot be heard, so it vouches for no node.
  for (const node of w.nodes.slice(10)) node.cut.add('m1');
  m2.killRelay();
  w.run(16n * S);
  t.same(w.counts(), { live: 9, silent: 11 });
  const heardElsewhere = w.wrong.filter(({ state, node }) => state === 'silent' && Number(node.slice(4)) > 10);
  t.same(w.wrong.length, heardElsewhere.length, 'and nothing else is wrong');
});

t.test(
  'the veto works from the start: a mirror that begins, or one that changes masters, while a rack is cut off',
  async t => {
    const w = new World(folder(t));
    t.teardown(() => w.end());
    const [m1, m2] = [w.addMaster('m1'), w.addMaster('m2')];
    w.addNodes(20);
    m1.startRelay();
    m2.startRelay();
    w.run(15n * S);
    // m1 hears only one half of the nodes, m2 all but one.
    for (const node of w.nodes.slice(0, 10)) node.cut.add('m1');
    for (const node of w.nodes.slice(19)) node.cut.add('m2');
    w.nodes[0]!.dead = true;
    w.run(30n * S);
    const before = w.masters.map(({ relay }) => relay?.counts.indexes ?? 0);
    w.startMirror([m1]);
    w.run(4n * S);
    t.same(w.counts(), { live: 10, silent: 10 }, 'one that trusts m1 alone says what m1 says');
    w.wrong.length = 0;
    w.follower?.end();
    w.network.remove('mirror');
    // The indexes of m2 are late: until the first has arrived the mirror must call no node silent.
    w.network.carrier = (message, from) => [
      { message, delay: from === 'relay m2' && message.subject.endsWith('.index') ? 1700n * MS : MS },
    ];
    w.startMirror();
    let most = 0;
    w.run(4n * S, () => {
      most = Math.max(most, w.counts().silent ?? 0);
    });
    t.equal(most, 1, 'never was anybody silent but who is');
    t.equal(w.follower?.followed, 'm1');
    t.same(w.counts(), { live: 10, uncertain: 9, silent: 1 });
    // m1 is gone. On the board of m2 two nodes are silent: the dead one, and node20, which only m1 heard.
    m1.killRelay();
    w.run(8n * S);
    t.equal(w.follower?.followed, 'm2');
    t.same(w.counts(), { live: 18, uncertain: 1, silent: 1 }, 'of which the mirror knows what m1 has heard');
    const [m1Indexes = 0, m2Indexes = 0] = w.masters.map(
      ({ relay }, i) => (relay?.counts.indexes ?? 0) - (before[i] ?? 0),
    );
    t.ok(m2Indexes <= 12, `and m2 was asked for few indexes: ${m1Indexes}, ${m2Indexes} in 16 s`);
    w.run(5n * S);
    t.same(w.counts(), { live: 18, silent: 2 });
    t.same(
      w.wrong.filter(({ node }) => node !== 'node20'),
      [],
    );
  },
);

t.test('a hostile server', async t => {
  const all: { message: Message; to: string }[] = [];
  const w = world(t);
  const record: Carrier = (message, _, to) => {
    all.push({ message, to });
    return [{ message, delay: MS }];
  };
  w.network.carrier = record;
  w.run(2n * S);
  const batches = () => all.filter(({ message, to }) => to === 'mirror' && message.subject.endsWith('.batch'));

  // Replays of this run are rejected: unchanged ones by their sequence, changed ones by their signature.
  (w.nodes[3] as Node).dead = true;
  const before = w.follower?.counts.refused ?? 0;
  for (const { message } of batches().slice(0, 40)) w.network.inject(message, 'mirror');
  const [one] = batches();
  for (const at of [80, 300, 900]) {
    const data = (one as { message: Message }).message.data.slice();
    data[at] = (data[at] ?? 0) ^ 1;
    // The changed message also gets a new sequence.
    new DataView(data.buffer).setBigUint64(48, 1_000_000n, true);
    w.network.inject({ ...(one?.message as Message), data }, 'mirror');
  }
  t.ok((w.follower?.counts.refused ?? 0) >= before + 3, 'what was changed is not believed');
  w.run(2n * S);
  t.same(w.counts(), { live: 20 });

  // The server holds back all batches after the death, and repeats old ones: no node's age may become smaller.
  const old = batches().map(({ message }) => message);
  let n = 0;
  w.network.carrier = (message, from, to) => {
    if (from !== 'relay m1' || !message.subject.endsWith('.batch')) return [{ message, delay: MS }];
    return to === 'mirror' ? [{ message: old[n++ % old.length] as Message, delay: MS }] : [];
  };
  w.run(8n * S);
  t.same(w.counts(), { unknown: 20 }, 'pings are answered, and nothing is heard: nothing is known');
  // The server delays everything by 4 s: the ages of reports must include that.
  w.network.inOrder = true;
  w.network.carrier = (message, from) => [
    { message, delay: from === 'relay m1' && !message.subject.startsWith('_INBOX') ? 4n * S : MS },
  ];
  w.run(12n * S);
  t.notOk((w.counts().live ?? 0) > 0 && w.wrong.length > 0, 'held for 4 s');
  t.same(w.wrong, []);

  // The messages of one run are replayed in another.
  w.network.inOrder = false;
  w.masters[0]?.killRelay();
  const recorded = all.map(({ message }) => message);
  w.network.carrier = message => [{ message, delay: MS }];
  for (let i = 0; i < 60; i++) {
    for (const message of recorded.slice(i * 10, i * 10 + 10)) w.network.inject(message, 'mirror');
    w.run(200n * MS);
  }
  t.same(w.counts(), { unknown: 20 }, 'a run that does not answer is none');
  w.masters[0]?.startRelay();
  w.run(8n * S);
  t.same(w.counts(), { live: 19, silent: 1 });
  for (const message of recorded.slice(0, 2000)) w.network.inject(message, 'mirror');
  w.run(S);
  t.same(w.counts(), { live: 19, silent: 1 });
  t.same(w.wrong, []);
});

t.test('a mirror that only asks, as fast as it can', async t => {
  // The subjects that its login allows, the inbox that it claims, and how often it is answered in a second at most.
  const enemies: [what: string, word: string, inbox: (n: number) => string, answers: number][] = [
    ['by its own subject', '.evil', () => '_INBOX_evil.x', 10],
    ['by the subject of all', '', n => `_INBOX_evil.${n}`, 10],
    ['by the subject of all, with many names', '', n => `_INBOX_${n}.x`, 200],
    ['by the subject of all, with the name of another', '', () => '_INBOX_m.x', 10],
  ];
  for (const [what, word, inbox, answers] of enemies) {
    const w = world(t);
    const { counts, run } = (w.masters[0] as Master).relay as Relay;
    const subject = subjectOf(SITE, CLUSTER, 'm1');
    const evil = w.network.endpoint('evil');
    const before = counts.pongs;
    const missed = new Set<bigint>();
    let n = 0;
    w.run(5n * S, () => {
      for (let i = 0; i < 50; i++) evil.publish(`${subject}.ping${word}`, writePing(randomBytes(16)), inbox(n++));
      for (let i = 0; i < 10; i++) evil.publish(`${subject}.ask${word}`, writeAsk(run, 0n, new Uint32Array()));
      if (w.follower?.heard.length !== 1) missed.add(w.now);
    });
    t.equal(missed.size, 0, `${what}: the relay is heard all the time`);
    const most = 6 * (answers + 1);
    t.ok(counts.pongs - before <= most, `and answers ${counts.pongs - before} times, at most ${most}`);
    t.same(w.counts(), { live: 20 });
    t.same(w.wrong, []);
  }
});

// A server may allow one answer to each subject (`allow_responses`), and a newer one counts the second ping against it.
t.test('no two pings are answered at one subject', async t => {
  const w = world(t);
  const pings: Message[] = [];
  w.network.carrier = (message, from, to) => {
    const isPing = from === 'mirror' && message.reply !== '';
    if (isPing && to === 'relay m1') pings.push(message);
    // While its own subject is not answered, a mirror asks by that of all, too.
    return isPing && !message.subject.endsWith('.ping') ? [] : [{ message, delay: MS }];
  };
  w.run(8n * S);
  t.equal(new Set(pings.map(({ subject }) => subject)).size, 2);
  t.equal(new Set(pings.map(({ reply }) => reply)).size, pings.length);
  t.ok(pings.every(({ reply }) => reply.startsWith('_INBOX_m.')));
});

t.test('a server whose permissions know no names of mirrors', async t => {
  const w = world(t);
  w.network.carrier = message => (/\.(ping|ask)\./.test(message.subject) ? [] : [{ message, delay: MS }]);
  w.run(8n * S);
  t.same(w.counts(), { live: 20 });
  const evil = w.network.endpoint('evil');
  const subject = `${subjectOf(SITE, CLUSTER, 'm1')}.ping`;
  let isHeard = true;
  w.run(5n * S, () => {
    for (let i = 0; i < 50; i++) evil.publish(subject, writePing(randomBytes(16)), '_INBOX_evil.x');
    isHeard &&= w.follower?.heard.length === 1;
  });
  t.ok(isHeard, 'also there the inboxes are told apart');
});

t.test('how often each may ask in a second', async t => {
  const shares = new Shares();
  const taken = (times: number, now: bigint, who: string, claim?: (n: number) => string) =>
    Array.from({ length: times }, (_, n) => shares.take(now, who, claim?.(n))).filter(Boolean).length;
  t.equal(taken(50, S, 'evil'), 10);
  t.equal(taken(1, S, 'm'), 1, 'whatever others ask');
  t.equal(
    taken(50, S, '', () => 'evil'),
    10,
    'a name that is only claimed has a share of its own',
  );
  t.equal(taken(9, S, 'm'), 9);
  t.equal(
    taken(500, S, '', n => `${n}`),
    190,
    'and all of those have one together',
  );
  t.equal(taken(1, S, ''), 0);
  t.equal(taken(1, S, 'other'), 1, 'which takes nothing from the names that a server has checked');
  t.equal(taken(1, 2n * S, 'evil'), 1, 'a second later');
  t.equal(taken(500, 2n * S, ''), 200, 'who claims none');
  for (let i = 0; i < 2000; i++) shares.take(2n * S, `${i}`);
  t.same([taken(1, 2n * S, 'new'), taken(1, 2n * S, '7')], [0, 1], 'a thousand names are told apart');
});

t.test('records that are asked for go to all who ask, in turn', async t => {
  const queues = new Queues(1000);
  queues.add(
    'evil',
    Array.from({ length: 5000 }, (_, i) => i),
  );
  queues.add('m', [70_000, 3, 80_000]);
  t.same([...queues.take(4)], [0, 70_000, 1, 3]);
  queues.add(
    'evil',
    Array.from({ length: 5000 }, (_, i) => i),
  );
  t.same([...queues.take(2)].includes(80_000), true, 'whatever others ask for again');
  let rest = 0;
  for (let taken = queues.take(100); taken.length > 0; taken = queues.take(100)) rest += taken.length;
  t.ok(rest < 1005, `one name waits for a thousand at most, and not for ${rest}`);
});

t.test('other keys of masters and nodes, without a restart', async t => {
  const w = world(t);
  const [master] = w.masters as [Master];
  const pair = keyPair();
  master.relay?.change(pair.secret);
  w.run(5n * S);
  t.same(w.counts(), { unknown: 20 }, 'the mirror does not know the new key yet');
  t.notOk(w.follower?.change([{ name: 'm2', key: pair.shown }], undefined), 'another master needs a restart');
  t.ok(w.follower?.change([{ name: 'm1', key: pair.shown }], undefined));
  w.run(8n * S);
  t.same(w.counts(), { live: 20 });
  // From now on only signed reports count.
  const keys = [{ id: 1, node: undefined, secret: randomBytes(32) }];
  t.ok(w.follower?.change([{ name: 'm1', key: pair.shown }], { keys, required: 'cluster', clockWindow: 'off' }));
  w.run(8n * S);
  t.notOk(w.counts().live, 'and nobody signs');
  [w.key] = keys;
  w.run(8n * S);
  t.same(w.counts(), { live: 20 });
  t.same(w.wrong, []);
});

t.test('relays whose subjects are swapped, and a relay that pretends to be another', async t => {
  const w = new World(folder(t));
  t.teardown(() => w.end());
  const [m1, m2] = [w.addMaster('m1'), w.addMaster('m2')];
  w.addNodes(6);
  m1.startRelay();
  m2.startRelay();
  // The server swaps the subjects of the two relays.
  const swapped = (subject: string) =>
    subject.replace(/\.(m1|m2)\.(batch|index)$/, (_, name, kind) => `.${name === 'm1' ? 'm2' : 'm1'}.${kind}`);
  w.network.carrier = message => [{ message: { ...message, subject: swapped(message.subject) }, delay: MS }];
  w.startMirror();
  w.run(10n * S);
  t.same([...w.states().values()], [], 'no batch of it is believed');
  w.network.carrier = message => [{ message, delay: MS }];
  w.run(8n * S);
  t.same(w.counts(), { live: 6 });
  // A relay named m1 signs with the key of m2.
  m1.killRelay();
  (m1.keys as { secret: unknown }).secret = m2.keys.secret;
  m1.startRelay();
  w.run(10n * S);
  t.equal(w.follower?.followed, 'm2', 'it is not heard as m1');
  t.same(w.follower?.heard, ['m2']);
  t.same(w.wrong, []);
});

t.test('a second relay of one name waits until the first is unheard for 3 s', async t => {
  const w = world(t);
  const first = w.masters[0] as Master;
  const second = new Relay(
    {
      path: first.path,
      owner: undefined,
      subject: subjectOf(SITE, CLUSTER, 'm1'),
      cluster: CLUSTER,
      key: first.keys.secret,
      log: quiet,
    },
    w.network.endpoint('second'),
    () => first.now,
  );
  t.teardown(() => second.end());
  const step = () => second.step();
  w.run(8n * S, step);
  t.notOk(second.runs);
  t.equal(second.counts.batches, 0);
  first.killRelay();
  w.run(2n * S, step);
  t.notOk(second.runs, 'for 3 s');
  w.run(8n * S, step);
  t.ok(second.runs);
  t.same(w.counts(), { live: 20 });
  t.same(w.wrong, []);
});

t.test("neither side touches the other one's board", async t => {
  const w = world(t);
  const first = w.masters[0] as Master;
  w.follower?.end();
  w.follower = undefined;
  const options = writerOptions({
    path: w.mirrorPath,
    cluster: CLUSTER,
    capacity: 4,
    uncertainAfter: 4500,
    silentAfter: 10_500,
    nodes: [],
  });
  t.throws(() => new Writer(options), /is a mirror of cluster "alpha"/);
  t.throws(() => new Writer(w.mirrorPath), /is a mirror of cluster "alpha"/, 'nor to forget nodes');
  first.writer.close();
  const mirror = () =>
    new Mirror({
      path: first.path,
      site: SITE,
      masters: ['m1'],
      followed: 0,
      clusterName: CLUSTER,
      clusterId: 0,
      capacity: 4,
      uncertainAfterNs: 1n,
      silentAfterNs: 2n,
      longestIntervalMs: 0,
      instance: 0n,
      origin: 0n,
      nowNs: 0n,
      ...trustOptions(undefined),
    });
  t.throws(mirror, /is the board of a receiver of cluster "alpha"/);
  first.writer = first.open();
});

/** A relay under an attacker's control: `lie` replaces the entries of its batches, which are then signed again. */
function breakInto(w: World, lie: (entry: Uint8Array, takenNs: bigint) => readonly Uint8Array[]): void {
  const master = w.masters[0] as Master;
  const { head, board, entries } = { head: 0, board: structs.relay_head.bytes, entries: HEAD_BYTES + BOARD_BYTES };
  w.network.carrier = (message, from) => {
    if (from !== 'relay m1' || !message.subject.endsWith('.batch')) return [{ message, delay: MS }];
    const view = new DataView(message.data.buffer, message.data.byteOffset, message.data.byteLength);
    const takenNs = decode('relay_head', view, head).taken_ns;
    const told: Uint8Array[] = [];
    for (let at = entries; at < message.data.length - SIGNATURE_BYTES; at += view.getUint16(at + 2, true)) {
      const entry = message.data.slice(at, at + view.getUint16(at + 2, true));
      told.push(...(view.getUint16(at, true) === enums.relay_entry.indexOf('report') ? lie(entry, takenNs) : [entry]));
    }
    told.push(...lie(new Uint8Array(), takenNs));
    const data = Buffer.concat([message.data.subarray(0, entries), ...told, new Uint8Array(SIGNATURE_BYTES)]);
    const out = new DataView(data.buffer, data.byteOffset, data.byteLength);
    out.setUint32(head + structs.relay_head.fields.length.offset, data.length, true);
    out.setUint32(board + structs.relay_board.fields.entries.offset, told.length, true);
    signMessage(data, message.subject, master.keys.secret);
    return [{ message: { ...message, data }, delay: MS }];
  };
}

t.test(
  'a relay that lies: a mirror with the key of the cluster accepts only reports of nodes, and each only once',
  async t => {
    const { fields } = ofC.relay_report;
    const REPORT_AT = fields.report.offset;
    const nameOf = (entry: Uint8Array) => decode('report', new DataView(entry.buffer), REPORT_AT).hostname;
    for (const verifies of [false, true]) {
      const w = new World(folder(t));
      t.teardown(() => w.end());
      w.key = { id: 3, node: undefined, secret: randomBytes(32) };
      w.addMaster('m1').startRelay();
      w.addNodes(20);
      const trust: Trust = { keys: [w.key], required: 'cluster', clockWindow: 60_000 };
      const follower = w.startMirror(w.masters, 64, verifies ? trust : undefined);
      w.run(20n * S);
      const node = (name: string) => [...w.mirror().nodes()].find(node => node.name === name);
      t.same(w.counts(), { live: 20 });
      t.equal(follower.mirror.unproved, 0);
      t.equal(Number(node('node01')?.record.auth_proved), verifies ? enums.auth_alg.indexOf('cluster') : 0);

      // The lies: node03 has another start time; node05 dies, but a report of it is sent again and again as a new one.
      let last: Uint8Array = new Uint8Array();
      let lies = true;
      breakInto(w, (entry, takenNs) => {
        if (!lies) return entry.length > 0 ? [entry] : [];
        if (entry.length > 0) {
          if (nameOf(entry) === 'node05' && last.length === 0) last = entry.slice();
          if (nameOf(entry) === 'node03')
            new DataView(entry.buffer).setBigUint64(REPORT_AT + structs.report.fields.start_boot_ns.offset, 99n, true);
          return [entry];
        }
        if (last.length === 0) return [];
        const view = new DataView(last.buffer);
        view.setBigUint64(fields.head.offset, view.getBigUint64(fields.head.offset, true) + 2n, true);
        view.setBigUint64(fields.stamp_ns.offset, takenNs, true);
        return [last.slice()];
      });
      w.run(2n * S);
      w.nodes[4]!.dead = true;
      w.run(30n * S);
      t.equal(node('node03')?.report?.start_boot_ns === 99n, !verifies, 'what a node did not say');
      t.equal(node('node05')?.state, verifies ? 'uncertain' : 'live', 'who is dead');
      t.equal(node('node03')?.state, verifies ? 'uncertain' : 'live', 'who lives, and whose reports are kept back');
      t.equal(w.wrong.length > 0, !verifies);
      t.equal(follower.mirror.unproved > 50, verifies);
      t.equal(w.counts().live, verifies ? 18 : 20, 'and nobody else');
      if (!verifies) continue;
      // When the relay is honest again, the states are correct.
      lies = false;
      last = new Uint8Array();
      w.run(14n * S);
      t.same([node('node03')?.state, node('node05')?.state], ['live', 'silent']);
      t.same(w.wrong, []);
    }
  },
);
