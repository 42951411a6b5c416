// A real gmetad 3.7.2 polls `beoboard ganglia`: what it counts, sums and records, and that nothing on a board harms it.
// Runs in its own network, because gmetad listens on all addresses.
//
// @seconds 20
// @waits
// @rest
// @days 3

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { structs } from '../../src/layout/layout.gen.js';
import { type Attributes, EXPECTED, gmondFacts, HOSTILE, invalid, node, parse, S, writeBoard } from '../kit/ganglia.js';
import { ask, chain, GMETAD, Gmetad, LIMITS, missing, Nodes, RRDTOOL, serve } from '../kit/gmetad.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { boardPath, folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';

const GSTAT = '/usr/bin/gstat';
const skip = missing({
  [GMETAD]: 'gmetad',
  [RRDTOOL]: 'rrdtool',
  [GSTAT]: 'ganglia-monitor',
  '/usr/bin/xmllint': 'libxml2-utils',
});

const FACTS = gmondFacts();
/** Metrics that change even if a node's reports do not. */
const MOVING = ['cpu_aidle', 'report_age', 'clock_ahead'];
/** gmetad records only metrics that are numbers. */
const isNumber = ({ TYPE }: Attributes) => TYPE !== 'string';
function inside(): void {
  t.test('hosts, metrics, values: what the nodes sent is what gmetad records', { buffered: true }, async t => {
    const { nodes, server, gmetad } = await chain(t, 'alpha', ['n1', 'n2', 'n3']);
    nodes.reports('n2', { load1_c: 2234, mem_total_mib: 1000 });
    nodes.reports('n3', { load1_c: 3234, cpus_online: 2 });
    await until('the change is told', async () => /VAL="22.34".*VAL="32.34"/s.test(await ask(server.port)), 50);
    await gmetad.counts('alpha', '3 up, 0 down');
    const began = Math.floor(Date.now() / 1000);
    await gmetad.polls(3);

    const hosts = ['n1', 'n2', 'n3'];
    const said = parse(await ask(server.port)).hosts;
    t.same(Object.keys(said).sort(), hosts);
    const changed: Record<string, Record<string, string>> = {
      n2: { load_one: '22.34', mem_total: '1024000' },
      n3: { load_one: '32.34', cpu_num: '2' },
    };
    // cpu_aidle is the idle share since boot, so it changes.
    for (const { name } of FACTS)
      for (const host of hosts)
        if (name !== 'cpu_aidle')
          t.equal(said[host]?.metrics[name]?.VAL, changed[host]?.[name] ?? EXPECTED[name], `we say ${name} of ${host}`);

    const told = (await gmetad.clusters()).alpha?.hosts ?? {};
    t.same(Object.keys(told).sort(), hosts);
    const recorded = gmetad.newestOf(gmetad.written('alpha').map(path => `alpha/${path}`));
    for (const host of hosts)
      for (const [name, metric] of Object.entries(said[host]?.metrics ?? {})) {
        const { VAL, TN, ...facts } = metric;
        t.match(told[host]?.metrics[name], facts, `gmetad tells ${name} of ${host} as we say it`);
        if (MOVING.includes(name)) continue;
        t.equal(told[host]?.metrics[name]?.VAL, VAL, 'with this value');
        if (!isNumber(metric)) continue;
        const { time = 0, values } = recorded[`alpha/${host}/${name}`] ?? {};
        t.equal(values?.sum, Number(VAL), 'and records it');
        t.ok(time >= began, 'just now');
      }
    t.ok(
      FACTS.every(({ name }) => told.n1?.metrics[name] !== undefined),
      'all that a gmond sends',
    );

    const numbers = Object.entries(said.n1?.metrics ?? {}).filter(([, metric]) => isNumber(metric));
    t.same(
      gmetad.written('alpha'),
      [...hosts, '__SummaryInfo__'].flatMap(host => numbers.map(([name]) => `${host}/${name}`)).sort(),
      'an RRD for each number of each host, and for each sum',
    );
    for (const [name] of numbers.filter(([name]) => !MOVING.includes(name))) {
      const { values = {} } = recorded[`alpha/__SummaryInfo__/${name}`] ?? {};
      const sum = hosts.reduce((total, host) => total + Number(said[host]?.metrics[name]?.VAL), 0);
      t.ok(Math.abs(values.sum! - sum) <= 1e-9 * Math.abs(sum), `the sum of ${name}: ${values.sum} is ${sum}`);
      t.equal(values.num, 3, 'over three hosts');
    }
    t.equal(invalid(await ask(gmetad.treePort)), '', 'what gmetad tells is valid');
    t.equal(invalid(await gmetad.ask('/?filter=summary')), '', 'its summary too');
    t.equal(invalid(await ask(server.port)), '', 'and what it is told');
    const sums = (await gmetad.clusters(true)).alpha?.sums ?? {};
    t.same([Number(sums.cpu_num?.SUM), sums.cpu_num?.NUM], [128 + 128 + 2, '3'], 'the CPUs of the cluster');

    const gstat = (...more: string[]) =>
      spawnSync(GSTAT, ['-i', '127.0.0.1', '-p', String(server.port), '-a', ...more], { encoding: 'utf8' });
    const { stdout, stderr, status } = gstat();
    t.same([status, stderr], [0, ''], 'gstat reads us');
    t.match(stdout, /Name: alpha\s[\s\S]*Hosts: 3\n[\s\S]*Dead Hosts: 0\n/);
    t.match(stdout, /^n3\s+2 \(/m, 'and shows the CPUs of a host');
    nodes.silence('n3');
    await gmetad.counts('alpha', '2 up, 1 down');
    t.match(gstat('-d').stdout, /Dead Hosts: 1\n[\s\S]*^ *n3\b/m, 'and who is dead');
    t.same(gmetad.complaints(), []);
  });

  t.test('a node falls silent, comes back, another is new', { buffered: true }, async t => {
    const { nodes, reader, gmetad } = await chain(t, 'beta', ['n1', 'n2']);
    await gmetad.counts('beta', '2 up, 0 down');
    nodes.silence('n1');
    await until('the board says so', () => [...reader.snapshot().nodes()].some(({ state }) => state === 'silent'));
    await gmetad.polls(1);
    t.equal(await gmetad.heads('beta'), '1 up, 1 down', 'down with the next poll, not when its TN would have it so');
    const { hosts } = (await gmetad.clusters()).beta!;
    t.ok(Number(hosts.n1?.attributes.TN) >= 80, 'by its TN');
    const { time } = gmetad.newest('beta/n1/load_one');
    await gmetad.polls(2);
    t.equal(gmetad.newest('beta/n1/load_one').time, time, 'nothing is recorded of it');
    // On a busy machine the other one may be missing for a moment, too.
    const sums = () => JSON.stringify(gmetad.newest('beta/__SummaryInfo__/load_one').values);
    await until('nor in the sums', () => sums() === '{"sum":12.34,"num":1}', 50);
    nodes.reports('n1', { boot_id: 8n, start_boot_ns: 1n });
    await gmetad.counts('beta', '2 up, 0 down');
    await until('it is recorded again', () => gmetad.newest('beta/n1/load_one').time > time, 50);
    nodes.reports('n3');
    await gmetad.counts('beta', '3 up, 0 down');
    await until('the new one is recorded', () => gmetad.written('beta').includes('n3/load_one'), 50);
    t.same(gmetad.complaints(), []);
  });

  t.test('a receiver that stands still makes no host down', { buffered: true }, async t => {
    const { receiver, reader, nodes, gmetad } = await chain(t, 'gamma', ['n1', 'n2']);
    nodes.reports('n3');
    await gmetad.counts('gamma', '3 up, 0 down');
    nodes.silence('n3');
    await gmetad.counts('gamma', '2 up, 1 down');
    receiver.child.kill('SIGSTOP');
    await until('the board is stalled', () => reader.snapshot().stalled);
    for (let round = 0; round < 3; round++) {
      await gmetad.polls(1);
      t.equal(await gmetad.heads('gamma'), '2 up, 1 down', 'nobody goes, nobody comes');
    }
    t.same(gmetad.newest('gamma/__SummaryInfo__/cpu_num').values, { sum: 256, num: 2 });
    receiver.child.kill('SIGCONT');
    await until('it goes on', () => !reader.snapshot().stalled);
    // It has not listened during the pause, so n3 is silent for it only after it has listened for long enough again.
    await gmetad.counts('gamma', '2 up, 1 down');
    const sums = gmetad.points('gamma/__SummaryInfo__/cpu_num').filter(value => !Number.isNaN(value));
    t.ok(sums.length > 4 && Math.min(...sums) >= 256, `no zero in the history: ${sums.join(' ')}`);
    t.same(gmetad.complaints(), []);
  });

  t.test('several boards are several clusters in one document', { buffered: true }, async t => {
    const names = ['east', 'west', 'north'];
    const boards: string[] = [];
    for (const [i, name] of names.entries()) {
      const board = boardPath(t);
      // However late a busy machine lets them report, no host is down for a poll.
      const limits = ['--uncertain-after', '1h', '--silent-after', '2h'];
      const receiver = await startReceiver(t, board, ['--cluster', name, ...limits]);
      const nodes = new Nodes(t, receiver.port, name);
      for (let n = 0; n <= i; n++) nodes.reports(`n${n}`, { load1_c: 100 * (i + 1) });
      boards.push(i === 2 ? `renamed=${board}` : board);
    }
    const server = await serve(t, boards);
    const gmetad = await Gmetad.start(t, [server.port]);
    await gmetad.counts('east', '1 up, 0 down');
    await gmetad.counts('west', '2 up, 0 down');
    await gmetad.counts('renamed', '3 up, 0 down');
    t.equal(invalid(await ask(server.port)), '');
    await gmetad.polls(2);
    const clusters = await gmetad.clusters(true);
    t.same(Object.keys(clusters).sort(), ['east', 'renamed', 'west']);
    t.same(
      ['east', 'west', 'renamed'].map(name => [clusters[name]?.sums.load_one?.SUM, clusters[name]?.sums.load_one?.NUM]),
      [
        ['1.00', '1'],
        ['4.00', '2'],
        ['9.00', '3'],
      ],
    );
    t.same(gmetad.newest('renamed/__SummaryInfo__/load_one').values, { sum: 9, num: 3 });
    t.equal(gmetad.newest('west/n1/load_one').values.sum, 2, 'hosts of the same name are kept apart');
    t.same(gmetad.complaints(), []);
  });

  t.test('the names that clusters had in Ganglia', { buffered: true }, async t => {
    const dir = folder(t);
    const now = process.hrtime.bigint();
    const long = { uncertain_after_ns: 7200n * S, silent_after_ns: 7200n * S, listening_since_ns: now };
    // What gmetad makes of a name in UTF-8 that gmond sends as it is, in a document that says ISO-8859-1.
    const twice = (text: string) => Buffer.from(text).toString('latin1');
    const names = ['My Cluster', 'Physics (new) + old, 2: a=b', "Bob's #1 ~ 50% [x]", 'Universität', '-x', '_u', '.x'];
    const boards = names.map((_, i) => {
      const path = join(dir, `board${i}`);
      writeBoard(path, [node('n1')], { now, header: { ...long, cluster_name: `c${i}` } });
      beat(t, path);
      return path;
    });
    const server = await serve(
      t,
      boards,
      names.flatMap((name, i) => ['--cluster-name', `c${i}=${name}`]),
    );
    const gmetad = await Gmetad.start(t, [server.port]);
    await until('it has all', async () => Object.keys(await gmetad.clusters(true)).length === names.length);
    await gmetad.polls(2);
    for (const name of names) {
      t.equal(gmetad.newest(`${twice(name)}/n1/load_one`).values.sum, 12.34, `${name}: recorded in this folder`);
      // What it does not take in a query.
      if (/[#%']/.test(name)) continue;
      t.equal(await gmetad.heads(twice(name)), '1 up, 0 down', 'and can be asked for');
      for (const asked of [name, twice(name), `GET /${encodeURIComponent(name)} HTTP/1.0`]) {
        const line = asked.startsWith('GET') ? `${asked}\r\n\r\n` : `/${asked}`;
        t.match(await ask(server.queryPort, line), /<HOST NAME="n1"/, 'of us, too');
      }
    }
    t.equal(invalid(await ask(gmetad.treePort)), '');
    t.equal(invalid(await ask(server.port)), '');
    t.same(gmetad.complaints(), []);
  });

  t.test('hostile names and strings', { buffered: true }, async t => {
    const dir = folder(t);
    const now = process.hrtime.bigint();
    const long = { uncertain_after_ns: 7200n * S, silent_after_ns: 7200n * S, listening_since_ns: now };
    const boards = HOSTILE.map(([what, bytes], i) => {
      const path = join(dir, `board${i}`);
      const text = Buffer.from(bytes).toString('latin1');
      const nodes = [{ ...node('n1'), release: bytes }, node('n2'), node(text)];
      writeBoard(path, nodes, { now, cluster: bytes, header: long });
      beat(t, path);
      return { what, path };
    });
    // Under names that we give, and some also under the name on the board.
    const named = await serve(
      t,
      boards.map(({ path }, i) => `c${i}=${path}`),
    );
    const own = await Promise.all(
      boards.filter(({ what }) => /markup|slashes|Latin/.test(what)).map(({ path }) => serve(t, [path])),
    );
    const gmetad = await Gmetad.start(
      t,
      [named, ...own].map(({ port }) => port),
    );
    for (const [i, { what }] of boards.entries()) {
      await gmetad.counts(`c${i}`, '3 up, 0 down');
      t.pass(`${what}: all hosts are up`);
    }
    await gmetad.polls(3);
    const tree = await ask(gmetad.treePort);
    t.equal(invalid(tree), '', 'what gmetad tells is valid');
    t.notMatch(tree.slice(tree.indexOf(']>')), /[&']|[^\n -~]/, 'and free of what breaks it for others');
    const clusters = await until('it has all clusters', async () => {
      const all = await gmetad.clusters();
      return Object.keys(all).length === boards.length + own.length && all;
    });
    const recorded = gmetad.newestOf(gmetad.written().filter(path => path.endsWith('/load_one')));
    for (const [name, { hosts }] of Object.entries(clusters)) {
      t.match(name, /^[A-Za-z0-9][A-Za-z0-9._-]*$/);
      for (const [host, { metrics }] of Object.entries(hosts)) {
        t.match(host, /^[A-Za-z0-9][A-Za-z0-9._-]*$/);
        t.ok(
          FACTS.every(fact => metrics[fact.name] !== undefined),
          `${name} ${host}: all metrics are there`,
        );
        t.equal(recorded[`${name}/${host}/load_one`]?.values.sum, 12.34, `${name} ${host}: and recorded`);
        t.match(await gmetad.ask(`/${name}/${host}/load_one`), /<METRIC NAME="load_one"/, 'and can be asked for');
      }
    }
    t.same(gmetad.complaints(), []);
  });

  t.test('100 nodes: a part falls silent, comes back, and others are new', { buffered: true }, async t => {
    const board = boardPath(t);
    const receiver = await startReceiver(t, board, ['--cluster', 'big', ...LIMITS]);
    const load = (prefix: string, count: number) =>
      start(t, [
        'load',
        ...['--to', `127.0.0.1:${receiver.port}`, '--cluster', 'big', '--interval', '500ms'],
        ...['--prefix', prefix, '--size', String(count)],
      ]);
    load('stays', 60);
    let goes = load('goes', 30);
    const server = await serve(t, [board]);
    // Writing 4,000 RRDs would only test the disk.
    const gmetad = await Gmetad.start(t, [server.port], { records: false });
    await gmetad.counts('big', '90 up, 0 down');
    goes.child.kill('SIGKILL');
    await goes.exit;
    await gmetad.counts('big', '60 up, 30 down');
    goes = load('goes', 30);
    await gmetad.counts('big', '90 up, 0 down');
    load('new', 10);
    await gmetad.counts('big', '100 up, 0 down');
    await gmetad.polls(1);
    t.equal((await gmetad.clusters(true)).big?.sums.cpu_num?.SUM, String(100 * 64));
    const hosts = Object.values((await gmetad.clusters()).big?.hosts ?? {});
    t.equal(hosts.length, 100, 'none is there twice');
    t.ok(hosts.every(({ metrics }) => metrics.cpu_num?.VAL === '64'));
    t.same(gmetad.complaints(), []);
  });
}

/** Keeps writing a receiver's heartbeat to a board that was made by hand. */
function beat(t: Test, path: string): void {
  const file = openSync(path, 'r+');
  const word = Buffer.alloc(8);
  const write = () => {
    word.writeBigUInt64LE(process.hrtime.bigint());
    writeSync(file, word, 0, 8, structs.board_header.fields.heartbeat_ns.offset);
  };
  write();
  const timer = setInterval(write, 200);
  t.teardown(() => {
    clearInterval(timer);
    closeSync(file);
  });
}

// They mostly wait for polls.
t.jobs = 6;
t.setTimeout(600_000);

if (skip) t.pass('skipped', { skip });
else if (INSIDE) inside();
else inOwnNetwork(t, 'ip link set lo up', import.meta.url);
