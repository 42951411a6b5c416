// Nothing is lost that the kernel has accepted, and what it dropped is counted: small buffers that overflow, several
// sockets in turn, a simulated cluster, and a receiver that is stopped and started under load.
//
// @seconds 11
// @shared 19
// @whole
// @days 3

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { BoardReader } from '../../src/shm/reader.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, ROOT } from '../kit/places.js';
import { type Running, run, start } from '../kit/program.js';
import {
  ANY_CALL,
  countsOf,
  goOn,
  hold,
  type Master,
  MS,
  now,
  pass,
  type Reporter,
  S,
  Sampler,
  StandIn,
  type Surroundings,
  startMaster,
  stop,
} from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { NOT_WHOLE, partOf, SEED } from '../kit/whole.js';

/** Bytes of the buffer for one report; the receiver's advice and the package's settings use this figure. */
const PER_REPORT = 2305;

const heartbeat = ({ reader }: { reader: BoardReader }) => Number(reader.snapshot().evidence.heartbeatNs);

/** A rate at which the buffer holds more than a second of reports, for the slowest machine. */
const safeRate = ({ reader }: { reader: BoardReader }) =>
  Math.min(2000, Math.floor((reader.snapshot().header.receive_buffer ?? 0) / PER_REPORT));

/** The sum of a counter over nodes. */
const sum = (nodes: readonly Reporter[], name: keyof ReturnType<typeof countsOf>) =>
  nodes.reduce((total, node) => total + (countsOf(node.find())[name] ?? 0), 0);

// ---- overflow ----

/** A buffer for some hundred reports. */
const SMALL = 128 * 1024;
const NODES = 10;

interface Overflow {
  what: string;
  sockets: number;
  /** Keeps the receiver from reading while `flood` runs. */
  during(master: Master, standIn: StandIn, flood: () => void): Promise<void>;
}

const overflows: Overflow[] = [
  {
    what: 'before a drain asks the kernel what it dropped',
    sockets: 1,
    async during(_, standIn, flood) {
      await standIn.hold('begun');
      flood();
      standIn.release();
    },
  },
  {
    what: 'after a drain has asked the kernel: the next one finds it, though nothing more comes',
    sockets: 1,
    async during(_, standIn, flood) {
      await standIn.hold('before receive');
      flood();
      standIn.release();
    },
  },
  {
    what: 'of two sockets at once',
    sockets: 2,
    async during(_, standIn, flood) {
      await standIn.hold('after drain');
      flood();
      standIn.release();
    },
  },
  {
    what: 'in a pause of the receiver',
    sockets: 2,
    async during({ child }, _, flood) {
      const stopped = await stop(child);
      flood();
      await pass(stopped.from + 1.1 * S);
      goOn(stopped);
    },
  },
];

function overflowing(): void {
  for (const { what, sockets, during } of partOf(overflows, 6, SEED))
    t.test(`an overflow ${what}`, { buffered: true }, async t => {
      const standIn = new StandIn(t, { buffer: SMALL });
      const limits = ['--uncertain-after', '450ms', '--silent-after', '1050ms'];
      const master = await startMaster(t, { env: standIn.env }, limits, sockets);
      const quiet = master.node('quiet', 100);
      const nodes = Array.from({ length: NODES }, (_, i) => master.node(`node${i}`, 100, i % sockets));
      const header = () => master.reader.snapshot().header;
      const granted = header().receive_buffer ?? 0;
      // Even if a report takes only 1,216 bytes, a socket has room for half of these at most.
      const each = Math.ceil((2 * granted * sockets) / 1216 / NODES);
      quiet.send();
      for (const node of nodes) node.send();
      await until('all are there', () => master.reader.snapshot().count === NODES + 1);
      const sampler = await Sampler.start(t, master.board);
      await until('the quiet one is silent', () => quiet.find()?.state === 'silent');

      const before = { at: now(), drops: header().kernel_drops };
      let flooded = 0;
      await during(master, standIn, () => {
        for (let i = 0; i < each; i++) for (const node of nodes) node.send();
        flooded = now();
      });
      await until('it listens again', () => heartbeat(master) > flooded);
      const shortly = now() - before.at < 0.9 * S;
      const { accepted, received, kernel_drops: drops = 0, overflows = 0, listening_since_ns: since } = header();
      const sent = 1 + NODES * (1 + each);
      t.equal(before.drops, 0);
      t.ok(drops > 0 && overflows > 0, `${drops} drops of ${sent - 1}, found in ${overflows} drains`);
      t.equal((accepted ?? 0) + drops, sent, 'what was not dropped was accepted');
      t.equal(accepted, received);
      t.ok(Number(since) >= before.at, 'listens anew');

      // The next report of each node shows how many are missing.
      for (const node of nodes) node.send();
      await until('they have been heard', () => (header().accepted ?? 0) + drops === sent + NODES);
      const [lost, unheard] = [sum(nodes, 'lost'), sum(nodes, 'unheard')];
      t.equal(lost + unheard, drops, 'and what was dropped is missing');
      if (what.includes('pause')) t.equal(lost, 0, 'not lost, since nobody listened');
      else if (shortly) t.equal(unheard, 0, 'lost, since it listened');
      t.same(master.reader.snapshot().refused, {});

      await until('the quiet one is silent again', () => quiet.find()?.state === 'silent');
      const samples = (await sampler.end()).map(sample => ({
        ...sample,
        nodes: sample.nodes.filter(({ name }) => name === 'quiet'),
      }));
      await hold(t, samples, [quiet], {
        uncertainAfter: 450 * MS,
        silentAfter: 1050 * MS,
        overflow: { from: before.at, to: flooded },
      });
      const blamed = samples.filter(({ now, heartbeat, nodes }) =>
        nodes.some(({ bySlot }) => bySlot === 'silent' && heartbeat > flooded && now < flooded + 1050 * MS),
      );
      t.equal(blamed.length, 0, 'nobody is silent for what may have been dropped');
    });
}

// ---- several sockets ----

const BATCH = 64;

function fair(): void {
  t.test('sockets are drained in turn, a batch each', { buffered: true }, async t => {
    const standIn = new StandIn(t);
    const master = await startMaster(t, { env: standIn.env }, [], 3);
    const [flood, second, third] = [0, 1, 2].map(socket => master.node(`node${socket}`, 1000, socket));
    const few = [second, third] as Reporter[];
    await standIn.hold('begun');
    for (let i = 0; i < 2.5 * BATCH; i++) flood?.send();
    for (let i = 0; i < 3; i++) for (const node of few) node.send();
    // What there is before each of the first four calls. A drain whose time is over ends after a round, and the next one
    // begins with the first socket again, so the order is the same.
    const seen: unknown[] = [];
    while (seen.length < 4) {
      await standIn.hold('before receive', ANY_CALL);
      seen.push([flood, second, third].map(node => countsOf(node?.find()).accepted ?? 0));
      if (seen.length < 4) await standIn.hold('after receive');
    }
    t.same(
      seen,
      [
        [0, 0, 0],
        [BATCH, 0, 0],
        [BATCH, 3, 0],
        [BATCH, 3, 3],
      ],
      'a batch of the one, and all of the others',
    );
    t.equal(master.reader.snapshot().header.received, BATCH + 6);
    standIn.release();
    await until('the rest has come', () => countsOf(flood?.find()).accepted === 2.5 * BATCH);
  });

  t.test('a flood on one socket costs no report of the nodes on another', { buffered: true }, async t => {
    const master = await startMaster(t, {}, ['--capacity', '3000'], 2);
    const steady = master.node('steady', 1000, 1).begin(t, 50);
    await until('it is there', () => steady.find() !== undefined);
    const sampler = await Sampler.start(t, master.board);
    const flood = ['--size', '2000', '--rate', '20k', '--for', '2s', '--json'];
    const load = start(t, ['load', '--to', `127.0.0.1:${master.port}`, ...flood]);
    t.equal(await load.exit, 0, load.output().stderr);
    const { reports } = JSON.parse(load.output().stdout);
    steady.end();
    const drained = now();
    await until('all is drained', () => heartbeat(master) > drained);
    const samples = (await sampler.end()).map(sample => ({
      ...sample,
      nodes: sample.nodes.filter(({ name }) => name === 'steady'),
    }));
    const { header } = master.reader.snapshot();
    // The other socket's buffer may have overflowed; such drops end the time that the receiver has listened for.
    await hold(t, samples, [steady], {
      uncertainAfter: 4.5 * S,
      silentAfter: 10.5 * S,
      ...((header.kernel_drops ?? 0) > 0 && { overflow: { from: steady.sent[0]?.after ?? 0, to: drained } }),
    });
    t.same(countsOf(steady.find()), { accepted: steady.sent.length });
    t.equal((header.received ?? 0) + (header.kernel_drops ?? 0), reports + steady.sent.length);
  });
}

// ---- a cluster ----

function cluster(): void {
  t.test('a simulated cluster: all that is sent is accepted', { buffered: true, skip: NOT_WHOLE }, async t => {
    const { reader, port } = await startMaster(t, {}, ['--capacity', '1000']);
    const size = ['--size', '500', '--rate', String(safeRate({ reader })), '--for', '3s', '--json'];
    const load = await run(['load', '--to', `127.0.0.1:${port}`, ...size]);
    t.equal(load.code, 0, load.stderr);
    const { reports } = JSON.parse(load.stdout);
    const sent = now();
    await until('all is drained', () => heartbeat({ reader }) > sent);
    const { header, refused } = reader.snapshot();
    t.equal((header.accepted ?? 0) + (header.duplicate ?? 0), reports, `${reports} reports`);
    t.same([header.kernel_drops, header.overflows, refused], [0, 0, {}]);
    const others = [...reader.snapshot().nodes()].map(countsOf).filter(counts => Object.keys(counts).length > 1);
    t.same(others, [], 'none is lost, late or refused');
  });
}

// ---- the buffer ----

const ADVICE =
  /the kernel granted a socket buffer for ([\d,]+) reports at once(?:; for more set net\.core\.rmem_max=(\d+))?\n/;

function buffer(): void {
  const conf = readFileSync(join(ROOT, 'packaging', 'sysctl.d', '10-beoboard-master.conf'), 'utf8');
  const wanted = Number(/^net\.core\.rmem_max *= *(\d+)$/m.exec(conf)?.[1]);
  const most = Number(readFileSync('/proc/sys/net/core/rmem_max', 'utf8'));
  /** Without the capability that lets root exceed the limit. */
  const unprivileged = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-net_admin', '--'] : [];

  const rows: [what: string, surroundings: (t: Test) => Surroundings, granted: number][] = [
    // The kernel doubles the size that it grants, for its own overhead.
    ['as anybody', () => ({ prefix: unprivileged }), 2 * Math.min(most, wanted)],
    ['where the limit is as low as it usually is', t => new StandIn(t, { buffer: 212_992 }), 2 * 212_992],
    ['where the limit is small', t => new StandIn(t, { buffer: SMALL }), 2 * SMALL],
  ];
  for (const [what, surroundings, granted] of rows)
    t.test(`what was granted, and what to set, ${what}`, { buffered: true }, async t => {
      const { reader, output } = await startMaster(t, surroundings(t));
      await until('it has told', () => output().stderr.includes('ready'));
      t.equal(reader.snapshot().header.receive_buffer, granted);
      const [, reports, set] = ADVICE.exec(output().stderr) ?? [];
      t.equal(reports, Math.floor(granted / PER_REPORT).toLocaleString('en'));
      if (granted >= 2 * wanted) return void t.equal(set, undefined, 'nothing to set');
      t.equal(Number(set), wanted, 'what it says is what the package sets');
    });

  t.test('the package sets what is asked for, and states correctly how many reports that holds', async t => {
    t.equal(wanted, 64 << 20);
    const said = Number(/64 MiB hold about ([\d,]+) reports/.exec(conf)?.[1]?.replaceAll(',', ''));
    t.ok(Math.abs(said / ((2 * wanted) / PER_REPORT) - 1) < 0.01, `${said}`);
  });
}

// ---- a new start at the same port ----

function inside(): void {
  t.test('stopped, killed and started again at the same port, under load: unheard, not lost', async t => {
    const board = boardPath(t);
    const receive = async (): Promise<Running> => {
      const receiver = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:9000', '--capacity', '200']);
      await receiver.ready;
      return receiver;
    };
    let receiver = await receive();
    const reader = openReader(t, board);
    const rate = String(Math.min(1000, safeRate({ reader })));
    const load = start(t, ['load', '--to', '127.0.0.1:9000', '--size', '100', '--rate', rate, '--json']);
    const counts = () => [...reader.snapshot().nodes()].map(countsOf);
    const total = (name: keyof ReturnType<typeof countsOf>) =>
      counts().reduce((total, count) => total + (count[name] ?? 0), 0);
    await until('all are there', () => total('accepted') > 300);
    const stops = ['SIGTERM', 'SIGTERM', 'SIGKILL'] as const;
    for (const signal of stops) {
      receiver.child.kill(signal);
      await receiver.exit;
      receiver = await receive();
      const before = total('accepted');
      // Three rounds of the whole cluster: everything that was missing before is counted by then.
      await until('all have been heard again', () => total('accepted') > before + 300);
    }
    load.child.kill('SIGTERM');
    t.equal(await load.exit, 0);
    const { reports } = JSON.parse(load.output().stdout);
    const sent = now();
    await until('all is drained', () => heartbeat({ reader }) > sent);
    const [accepted, unheard] = [total('accepted'), total('unheard')];
    t.ok(unheard > 0, `${unheard} of ${reports} came while there was nobody`);
    // A receiver that is killed between writing a report and counting it does not count it.
    const uncounted = reports - accepted - unheard;
    t.ok(uncounted === 0 || uncounted === 1, `${uncounted} neither accepted nor unheard`);
    const { refused, header } = reader.snapshot();
    t.same([refused, header.kernel_drops, header.instance], [{}, 0, 1 + stops.length]);
    const wrong = counts().filter(({ accepted, unheard, ...more }) => Object.keys(more).length > 0);
    t.same(wrong, [], 'nothing is lost, and no state has changed');
  });
}

t.jobs = 3;

if (INSIDE) inside();
else {
  overflowing();
  fair();
  cluster();
  buffer();
  inOwnNetwork(t, 'ip link set lo up', import.meta.url, 'starts');
}
