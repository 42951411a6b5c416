// What people are told besides states: the link of the evidence, why a node that reports is silent, rejected senders,
// and drops. With every command about nodes, on boards that are written here; the sentences of status are in
// test/golden/status.txt.
//
// @seconds 8
// @shared 16
// @waits
// @whole

import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Documents } from '../../src/ganglia-xml/documents.js';
import type { Encodable } from '../../src/layout/codec.js';
import { bits, enums } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import type { ReceiverStatus, SenderEntry, Writer } from '../../src/native/index.js';
import { keyLine } from '../../src/options/keys.js';
import { survey } from '../../src/query/survey.js';
import { type NamedAt, tellChanges } from '../../src/receiver/housekeeping.js';
import { lookOn, type SeenNode } from '../../src/schedulers/bridge/boardlook.js';
import { createLog } from '../../src/service/log.js';
import { countStates, type State } from '../../src/shm/liveness.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { openWriter } from '../../src/shm/writer.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { anomalies } from '../kit/anomalies.js';
import { now } from '../kit/clocks.js';
import { clean, invalid, needsXmllint } from '../kit/ganglia.js';
import { type MadeBoard, type MadeNode, madeBoard, NOW } from '../kit/madeboard.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbChild, verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(600_000);
const runHere = verbChild(t);
const S = 1_000_000_000n;
const UP = 1 << bits.link_state.up;
const KEY = { id: 1, node: undefined, secret: randomBytes(32) };

/** A board that the test writes as a receiver would, and the program's output about it. */
function master(t: Test, trusting = false) {
  const board = boardPath(t);
  const trust = { keys: [KEY], required: 'none' as const, clockWindow: 60_000 };
  const options = { path: board, cluster: '', capacity: 16, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] };
  const writer: Writer = openWriter(trusting ? { ...options, trust } : options);
  const began = now();
  const ago = (seconds: number) => began.mono - BigInt(Math.round(seconds * 1e9));
  /** Delivers a report that arrived `age` s before the test began; returns 0, or the reason of its rejection. */
  const report = (age: number, by: string, values: Encodable<'report'>, signed = trusting) => {
    const made = makeReport({
      t_real_ns: began.real - BigInt(Math.round(age * 1e9)),
      auth_alg: signed ? 1 : 0,
      key_id: signed ? 1 : 0,
      ...values,
    });
    if (signed) sign(made, KEY);
    return writer.deliver(made, ago(age), began.real - BigInt(Math.round(age * 1e9)), by);
  };
  const beat = () => writer.heartbeat(now().mono);
  const heart = setInterval(beat, 100);
  t.teardown(() => {
    clearInterval(heart);
    writer.close();
  });
  const ask = (...argv: string[]) => runHere([...argv, '--board', board]);
  return { writer, ago, report, beat, ask, board };
}

const FOREVER = { interval_ms: 600_000 };
const DOWN =
  'eth0 is down since \\d\\d:\\d\\d:\\d\\d \\(\\d\\d\\.\\ds\\): no reports from its 4 nodes since then; see that interface of this master';

t.test('a link that is down', async t => {
  const { writer, ago, report, beat, ask } = master(t);
  for (const hostname of ['n1', 'n2', 'n3', 'n4']) t.equal(report(12, 'eth0', { hostname }), 0);
  for (const hostname of ['m1', 'm2']) t.equal(report(1, 'eth1', { hostname, ...FOREVER }), 0);
  writer.listeningSince(ago(60));
  writer.heartbeat(ago(11.5));
  writer.linkState(1, 0, false, ago(11));
  writer.survey();
  beat();
  const rows: [argv: string[], code: number, stdout: string, stderr: string][] = [
    [['--state', 'uncertain'], 0, 'n\\[1-4\\]\n', `beoboard nodes: ${DOWN}\n`],
    [['--state', 'live'], 0, 'm\\[1-2\\]\n', `beoboard nodes: ${DOWN}\n`],
    [['--state', 'silent'], 0, '', `beoboard nodes: ${DOWN}\n`],
    [['-w', 'm1'], 0, 'm1\n', ''],
    [['-w', 'm1,n4'], 0, 'm1,n4\n', `beoboard nodes: ${DOWN}\n`],
    [['--where', 'state == uncertain'], 0, 'n\\[1-4\\]\n', `beoboard nodes: ${DOWN}\n`],
    [['--where', 'state == live', '-w', 'm[1-2]'], 0, 'm\\[1-2\\]\n', ''],
    [['--where', 'link == "eth1"'], 0, 'm\\[1-2\\]\n', `beoboard nodes: ${DOWN}\n`],
  ];
  for (const [argv, code, stdout, stderr] of rows) {
    const answer = await ask('nodes', ...argv);
    t.equal(answer.code, code, argv.join(' '));
    t.match(answer.stdout, new RegExp(`^${stdout}$`));
    t.match(answer.stderr, new RegExp(`^${stderr}$`));
  }
  t.match(
    (await ask('check')).stdout,
    new RegExp(`^BEOBOARD WARNING: of 6 nodes 4 uncertain \\(n\\[1-4\\]\\); ${DOWN} \\| live=2;`),
  );
  t.match((await ask('check', '--nodes', 'm1')).stdout, /^BEOBOARD OK: 1 node, 1 live \| /);
  t.match((await ask('status', '--long')).stdout.replaceAll('\n  ', ' '), new RegExp(`\n${DOWN}\n`));
  t.match((await ask('status', '--plain', '--long')).stdout, new RegExp(`\nIn detail: ${DOWN}\\.\n`));
  t.match(
    (await ask('xml')).stdout,
    new RegExp(`\n<!-- ${DOWN}\\. -->\n<CLUSTER NAME="unspecified" `),
    'in front of the hosts',
  );
  const { board, nodes, anomalies } = JSON.parse((await ask('status', '--json')).stdout);
  t.match(board.links, [
    { number: 1, name: 'eth0', up: false, gone: false, no_address: false, nodes: 4, downs: 1, accepted: 4, missed: 0 },
    { number: 2, name: 'eth1', up: true, nodes: 2, downs: 0, accepted: 2 },
  ]);
  t.equal(board.links.length, 2, 'no other');
  t.ok(board.links[0].since_ms > 11_000 && board.links[0].heartbeat_age_ms > board.links[0].since_ms);
  t.ok(board.links[1].heartbeat_age_ms < 5000 && board.links[1].listened_ms > 55_000);
  t.notOk('dark' in board.links[0] || 'address' in board.links[0]);
  t.same(
    anomalies.map(({ kind, nodes }: { kind: string; nodes: string }) => `${kind} ${nodes}`),
    ['link n[1-4]'],
  );
  t.same(nodes.map(({ name, link }: { name: string; link: string }) => `${name} ${link}`).sort(), [
    'm1 eth1',
    'm2 eth1',
    'n1 eth0',
    'n2 eth0',
    'n3 eth0',
    'n4 eth0',
  ]);
  const grouped = JSON.parse((await ask('status', '--json', '--by', 'link')).stdout);
  t.same(
    grouped.groups.map(({ group, nodes }: { group: string; nodes: string }) => `${group} ${nodes}`),
    ['eth0 n[1-4]', 'eth1 m[1-2]'],
  );

  // The link is up again, but its evidence from before has gone.
  writer.linkState(1, UP, false, now().mono);
  beat();
  t.match(
    (await ask('status', '--long')).stdout,
    /\nthe receiver could not hear on eth0, and intervals may have grown in\s+that\s+time:\s+no\s+node\s+behind\s+it\s+counts\s+as\s+silent\s+for\s+another\s+\d/,
  );
  t.equal((await ask('nodes', '--state', 'uncertain')).stderr, '');
});

const DARK =
  'no node behind eth0 has reported for \\d\\d\\.\\ds, all 4 at once: a switch or this master is more likely at fault than 4 nodes';

t.test('a link that is dark', async t => {
  const { writer, ago, report, beat, ask } = master(t);
  for (const hostname of ['n1', 'n2', 'n3', 'n4']) t.equal(report(20, 'eth0', { hostname }), 0);
  for (const hostname of ['m1', 'm2']) t.equal(report(1, 'eth1', { hostname, ...FOREVER }), 0);
  writer.listeningSince(ago(60));
  beat();
  writer.survey();
  const nodes = await ask('nodes', '--state', 'silent');
  t.equal(nodes.stdout, 'n[1-4]\n');
  t.match(nodes.stderr, new RegExp(`^beoboard nodes: ${DARK}\n$`));
  t.match(
    (await ask('check')).stdout,
    new RegExp(`^BEOBOARD CRITICAL: of 6 nodes 4 silent \\(n\\[1-4\\]\\); ${DARK} \\| `),
  );
  t.match((await ask('xml')).stdout, new RegExp(`\n<!-- ${DARK}\\. -->\n<CLUSTER `));
  const { board, anomalies } = JSON.parse((await ask('status', '--json')).stdout);
  t.match(board.links[0], { name: 'eth0', up: true, dark: { nodes: 4 } });
  t.ok(board.links[0].dark.since_ms > 15_000 && board.links[0].dark.since_ms < 60_000);
  t.same(
    anomalies.map(({ kind, nodes }: { kind: string; nodes: string }) => `${kind} ${nodes}`),
    ['link n[1-4]'],
    'and nothing of nodes that fell silent together',
  );
  t.ok(board.event_last > 0);

  // The receiver checks only once a second whether a link is still dark, but the readers see this report at once.
  t.equal(
    writer.deliver(
      makeReport({ hostname: 'n3', seq: 1, t_boot_ns: 200n * S, ...FOREVER }),
      now().mono,
      now().real,
      'eth0',
    ),
    0,
  );
  beat();
  t.equal((await ask('nodes', '--state', 'live')).stderr, '');
  t.notMatch((await ask('status')).stdout, /behind eth0/);
  t.notMatch((await ask('xml')).stdout, /behind eth0/);
});

const CLOCK = 'reports in its name are rejected, clock 1h00m behind, the last \\S+ ago; they may be recordings';

t.test('a recording of an earlier boot is no sign of life', async t => {
  const { writer, ago, report, beat, ask, board: path } = master(t, true);
  const reader = openReader(t, path);
  /** What the bridge decides by, except how long it has lasted. */
  const seen = () => {
    beat();
    const { unheardMs, silentForMs, ...rest } = lookOn(reader, 'n1').nodes.get('n1') as SeenNode;
    return rest;
  };
  const wrong = { boot_id: 2n, t_real_ns: now().real - 3602n * S };
  t.equal(report(20, 'eth0', { hostname: 'n1' }), 0);
  t.equal(report(1, 'eth0', { hostname: 'n2', ...FOREVER }), 0);
  writer.listeningSince(ago(60));
  const before = seen();
  t.match(before, { state: 'silent' });
  t.equal(enums.reason[report(5, 'eth0', { hostname: 'n1', ...wrong })], 'clock');
  t.equal(enums.reason[report(0.5, 'eth0', { hostname: 'n1', ...wrong, seq: 1 })], 'clock');
  // Unsigned reports in its name do not hide the reason for the signed ones.
  t.equal(enums.reason[report(0.4, 'eth0', { hostname: 'n1', boot_id: 3n }, false)], 'auth_missing');
  t.equal(enums.reason[report(0.3, 'eth0', { hostname: 'n1', boot_id: 4n }, false)], 'auth_missing');
  t.strictSame(seen(), before, 'the bridge sees nothing of it');
  writer.survey();
  const nodes = await ask('nodes', '--state', 'silent');
  t.equal(nodes.stdout, 'n1\n');
  // What it may be is told, and does not hide who else claims the name.
  const STRANGER = 'beoboard nodes: :: sends reports without the required signature under the name n1, .*';
  t.match(nodes.stderr, new RegExp(`^beoboard nodes: n1 is silent; ${CLOCK}\n${STRANGER}\n$`));
  t.match((await ask('nodes', '--where', 'state == silent')).stderr, new RegExp(`: n1 is silent; ${CLOCK}\n`));
  t.equal((await ask('nodes', '--state', 'live')).stderr, '', 'of those that are told, and of no other');
  t.match(
    (await ask('check')).stdout,
    new RegExp(`^BEOBOARD CRITICAL: of 2 nodes 1 silent \\(n1\\); n1 is silent; ${CLOCK}; :: sends .* \\| `),
  );
  const text = (await ask('status', '--long')).stdout.replaceAll('\n  ', ' ');
  t.match(text, /^n1 +silent .* rejected, clock 1h00m behind\b/m);
  t.match(text, new RegExp(`\nn1 is silent; ${CLOCK}\n`));
  t.match(
    text,
    /\n:: sends reports without the required signature under the name n1, 2 times in \d+ms, the last \S+ ago: it has no .*\nreports of :: \(n1\) are rejected: a wall clock that is off, or a recording, 2 times in 4\.5s,\s/,
  );
  t.match((await ask('xml')).stdout, new RegExp(`\n<!-- n1 is silent; ${CLOCK}\\. -->\n<HOST NAME="n1"`));
  const { board, nodes: all, trouble } = JSON.parse((await ask('status', '--json')).stdout);
  t.match(
    trouble.find(({ kind }: { kind: string }) => kind === 'sender').what,
    /^reports from :: as n1 are rejected: auth_missing \(no signature, or a weaker one than required\), a wall clock that is off, or a recording$/,
    'who is rejected, as whom, and what the reason means',
  );
  t.match(all[0], { name: 'n1', state: 'silent', last_refusal: { reason: 'clock' } });
  t.match(all[0].why, new RegExp(`^${CLOCK}$`));
  t.equal(all[1].why, undefined);
  t.match(board.refused_senders, [
    { reason: 'auth_missing', address: '::', name: 'n1', count: 2 },
    { reason: 'clock', address: '::', name: 'n1', count: 2 },
  ]);
  t.ok(board.refused_senders[1].first_ms - board.refused_senders[1].last_ms > 4000);
  const dump = await ask('dump');
  t.match(dump.stdout, /\nlink 1\n +\d+ {2}name +eth0 ?\n/);
  t.match(dump.stdout, /\nrejected sender \d+: clock, whole\n/);
  t.match(dump.stdout, /\nevent \d+ \(entry \d+\): refusal, whole\n/);
  t.match(dump.stdout, /\nno reader rejects it\n$/);
  t.notMatch(dump.stdout, /link 2|evidence\[2\]/, 'nothing of what is not in use');
  t.match(dump.stdout, /evidence\[1\]\.heartbeat_ns/);
  const { links, senders, events, wrong: fault } = JSON.parse((await ask('dump', '--json')).stdout);
  t.match(links, [{ number: 1, entry: { name: 'eth0' } }, { number: 31 }]);
  t.equal(senders.length, 2);
  t.ok(events.length > 0 && events.every(({ number }: { number: number }) => number > 0));
  t.equal(fault, null);
});

t.test('a node whose last reports overtook each other is not called rejected', async t => {
  const { writer, ago, report, beat, ask } = master(t);
  for (const [age, seq] of [
    [22, 1],
    [21, 3],
    [20.9, 2],
  ] as const)
    report(age, 'eth0', { hostname: 'n1', seq, t_boot_ns: BigInt(seq) * S });
  writer.listeningSince(ago(60));
  beat();
  const nodes = await ask('nodes', '--state', 'silent');
  t.same([nodes.stdout, nodes.stderr], ['n1\n', '']);
  t.notMatch((await ask('check')).stdout, 'rejected');
  const [{ why, late, last_refusal }] = JSON.parse((await ask('status', '--json')).stdout).nodes;
  t.same([why, late, last_refusal.reason], [undefined, 1, 'late']);
});

t.test('a dark link of nodes with a longer interval: for how long none has reported', async t => {
  const { writer, ago, report, beat, ask } = master(t);
  for (const [hostname, age] of [
    ['n1', 80],
    ['n2', 60],
  ] as const)
    report(age, 'eth0', { hostname, interval_ms: 10_000 });
  writer.listeningSince(ago(100));
  beat();
  writer.survey();
  const text = 'no node behind eth0 has reported for 1m0\\d?s, all 2 at once';
  t.match((await ask('check')).stdout, new RegExp(text));
  t.match((await ask('nodes', '--state', 'uncertain')).stderr, new RegExp(text));
  const { links } = JSON.parse((await ask('status', '--json')).stdout).board;
  t.ok(links[0].since_ms > 59_000);
});

t.test('nodes that were heard while the interfaces were not known', async t => {
  const { writer, ago, report, beat, ask } = master(t);
  for (const hostname of ['n1', 'n2']) report(20, 'other namespace', { hostname });
  writer.listeningSince(ago(60));
  writer.survey();
  writer.linkState(1, 1 << bits.link_state.gone, false, ago(11));
  beat();
  const text =
    /the state of 2 nodes is unknown until they report again: their last reports came while the receiver could not tell the interfaces \(/;
  t.match((await ask('check')).stdout, text);
  t.match((await ask('status')).stdout, /; listening without gaps for .*, except on links that are down/);
});

// ---- Ganglia's document ----------------------------------------------------------------------------------------------

function documentOf(snapshot: Snapshot): string {
  const source = { pieces: () => [snapshot], one: () => snapshot };
  let text = '';
  // A piece is valid only until the next one is requested, so each is copied.
  for (const piece of new Documents([source]).gmond(1_800_000_000)) text += Buffer.from(piece).toString('latin1');
  return text;
}

t.test(
  'comments are XML, whatever an interface is called, and hosts stay as they are to the byte',
  needsXmllint,
  async t => {
    const nodes = Array.from({ length: 40 }, (_, i) => ({
      name: `n${i}`,
      age: 30,
      refusal: { reason: 'rival', age: 1 } as const,
    }));
    const bare = documentOf(madeBoard(nodes.map(({ name, age }) => ({ name, age }))));
    t.notMatch(bare, /<!--/);
    for (const name of ['eth0', 'a--b', '---', '-->', "it's", '<a>&b', '\u001b[2J', 'ü', '%s', '']) {
      const links = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [i + 1, { name, state: [], nodes: 1 }]));
      const document = documentOf(madeBoard(nodes, { links }));
      t.equal(invalid(document), '', JSON.stringify(name));
      t.equal(clean(document), undefined);
      t.equal(document.match(/<!-- /g)?.length, 70, 'one of each link, and of each host');
      t.equal(document.replace(/<!-- .* -->\n/g, ''), bare.replace(/<!-- .* -->\n/g, ''));
    }
  },
);

// ---- the receiver's log ----------------------------------------------------------------------------------------------

const QUIET: ReceiverStatus = {
  received: 0,
  accepted: 0,
  duplicate: 0,
  kernelDrops: 0,
  unfitDrops: 0,
  softnetDrops: 0,
  missed: 0,
  nodes: 0,
  receiveBuffer: 0,
  filtering: false,
  publications: 0,
  stoodStillNs: 0,
  heartbeatNs: 0,
  trouble: '',
  displaced: false,
  refused: enums.reason.map(() => 0),
  senders: [],
};

function sender(
  reason: (typeof enums.reason)[number],
  address: string,
  name: string,
  count: number,
  last = 100,
): SenderEntry {
  const ns = (seconds: number) => BigInt(Math.round(seconds * 1e9));
  return {
    reason: enums.reason.indexOf(reason),
    address,
    name,
    count,
    firstNs: 65n * S,
    lastNs: ns(last),
    lastRealNs: ns(last),
  };
}

/** The log lines for each of these statuses, which are two seconds apart. */
function looks(...statuses: Partial<ReceiverStatus>[]): string[][] {
  const told: string[][] = [];
  const named: NamedAt = new Map();
  let at = 0;
  const log = createLog('receive', { write: line => told.at(-1)?.push(line.trimEnd()), now: () => at, env: {} });
  let before = QUIET;
  for (const status of statuses) {
    const after = { ...QUIET, ...status };
    told.push([]);
    tellChanges(before, after, log, named, at);
    before = after;
    at += 2000;
  }
  return told;
}

t.test('the log names rejected senders, each once a minute', async t => {
  const clock = (count: number, last: number) => sender('clock', '10.1.2.3', 'n017', count, last);
  const told = looks(
    { senders: [clock(1, 65)] },
    { senders: [clock(1, 65)] },
    { senders: [clock(2, 66), sender('cluster', '10.1.2.4', '', 3), sender('late', '10.1.2.5', 'n018', 9)] },
    ...Array.from({ length: 26 }, (_, i) => ({ senders: [clock(3 + i, 67 + i)] })),
    { senders: [clock(30, 95)] },
    { senders: [clock(31, 96)] },
  );
  t.same(told[0], ['beoboard receive: rejected 10.1.2.3 (n017): clock, once']);
  t.same(told[1], [], 'no news');
  t.same(
    told[2],
    ['beoboard receive: rejected 10.1.2.4: cluster, 3 times in 35.0s'],
    'nor of who was told; late is no fault',
  );
  t.same(told.slice(3, 30).flat(), []);
  t.same(told[30], ['beoboard receive: rejected 10.1.2.3 (n017): clock, 31 times in 31.0s'], 'a minute later again');
});

t.test('a flood of invented addresses fills neither the log nor the memory', async t => {
  const flood = (round: number) => ({
    senders: Array.from({ length: 152 }, (_, i) => sender('magic', `10.${round}.0.${i}`, '', 1, 100 + round)),
  });
  const told = looks(...Array.from({ length: 29 }, (_, round) => flood(round)));
  t.equal(told.flat().length, 20);
});

t.test('the log says why datagrams were dropped', async t => {
  const line = (status: Partial<ReceiverStatus>) => looks({}, status).flat();
  t.same(line({ kernelDrops: 7 }), [
    'beoboard receive: the kernel dropped 7 datagrams: the socket buffer was full; see net.core.rmem_max',
  ]);
  const [unfit = '', ...more] = line({ unfitDrops: 7 });
  t.match(
    unfit,
    /: the kernel dropped 7 datagrams as unfit: their UDP checksum was wrong, .*checksum offload is broken$/,
  );
  t.notMatch(unfit, /rmem_max/);
  t.same(more, []);
  t.match(line({ unfitDrops: 7, filtering: true }), [
    /: a flood: the kernel drops datagrams that are not reports, and counts them as unfit \(7 more\)$/,
  ]);
  t.match(line({ stoodStillNs: 7_345_000_000 }), [
    /^beoboard receive: stood still for 7\.3s: nothing was heard in that time; /,
  ]);
  t.same(looks({ stoodStillNs: 2e9 }, { stoodStillNs: 2e9 })[1], [], 'once');
  for (const status of [{ softnetDrops: 7 }, { missed: 7 }, { softnetDrops: 3, missed: 4 }])
    t.match(line(status), [
      /: 7 packets were dropped before they reached any socket; see net\.core\.netdev_max_backlog, .*\(ethtool -g\)$/,
    ]);
});

// ---- whose name it is --------------------------------------------------------------------------------------------------

/** A receiver, senders with several addresses, and the program's output about its board, each sentence in one line. */
async function receiving(t: Test, more: string[] = []) {
  const board = boardPath(t);
  const receiver = await startReceiver(t, board, more);
  const reader = openReader(t, board);
  const socketOf = async (address: string) => {
    const socket = createSocket('udp4');
    t.teardown(() => socket.close());
    socket.bind(0, address);
    await once(socket, 'listening');
    return (...reports: Uint8Array[]) => {
      for (const report of reports) socket.send(report, receiver.port, '127.0.0.1');
    };
  };
  const refusals = (reason: string, least: number) =>
    until(`${least} are refused: ${reason}`, () => (reader.snapshot().refused[reason] ?? 0) >= least);
  const ask = async (...argv: string[]) => {
    const { code, stdout, stderr } = await runHere([...argv, '--board', board]);
    return { code, text: stdout.replaceAll('\n  ', ' '), stderr };
  };
  return { ...receiver, board, reader, socketOf, refusals, ask };
}

/** The lines with this text. */
const linesWith = (text: string, what: string) => text.split('\n').filter(line => line.includes(what));

t.test('two machines with one name: one sentence with the name and both addresses', async t => {
  // The shorter interval of two decides for how long one keeps the other out: here each has ten minutes.
  const { port, reader, socketOf, refusals, ask } = await receiving(t, ['--longest-interval', '10m']);
  const [one, other] = [await socketOf('127.0.0.2'), await socketOf('127.0.0.3')];
  const x = (values: Encodable<'report'>) => makeReport({ hostname: 'x', ...FOREVER, ...values });
  one(x({ boot_id: 1n }), makeReport({ hostname: 'y', ...FOREVER }));
  await until('both nodes have reported', () => reader.snapshot().count === 2);
  other(x({ boot_id: 2n }), x({ boot_id: 2n, seq: 1, t_boot_ns: 101n * S }));
  await refusals('rival', 2);
  const often = String.raw`\(rival, 2 times in \S+, the last \S+ ago\); give each its own name`;
  const both = `x: 2 machines report under this name: 127\\.0\\.0\\.2 is trusted, 127\\.0\\.0\\.3 is rejected ${often}`;
  const { text } = await ask('status', '--long');
  t.match(text, new RegExp(`\n${both}\n`));
  t.same(linesWith(text, '127.0.0.3').length, 1, 'and nothing else says so');
  t.match((await ask('status', '-l', '-w', 'x')).text, new RegExp(`\n${both}\n`));
  t.notMatch((await ask('status', '-w', 'y')).text, '127.0.0.3', 'of whom it is about');
  const { anomalies } = JSON.parse((await ask('status', '--json')).text);
  t.same(
    anomalies.filter(({ kind }: { kind: string }) => kind === 'rival').map(({ nodes }: { nodes: string }) => nodes),
    ['x'],
  );

  // The third one is the real program.
  const third = ['send', '--name', 'x', '--to', `127.0.0.1:${port}`, '--interval', '10m', '--once'];
  t.equal((await run(third)).code, 0);
  await refusals('rival', 3);
  t.match(
    (await ask('status', '--long')).text,
    /\nx: 3 machines report under this name: 127\.0\.0\.2 is trusted, 127\S+ and 127\S+ are rejected \(rival, /,
  );

  // The trusted sender has ended, so the other one is trusted now.
  one(x({ boot_id: 1n, seq: 1, t_boot_ns: 101n * S, flags: 1 << bits.flags.goodbye }));
  await until('it has left', () => reader.snapshot().node(0).state === 'left');
  other(x({ boot_id: 2n, seq: 2, t_boot_ns: 102n * S }));
  await until('the other has its place', () => reader.snapshot().node(0).address === '127.0.0.3');
  const after = (await ask('status', '--long')).text;
  t.match(
    after,
    /\nx: 3 machines have reported under this name: 127\.0\.0\.3 is trusted, 127\.0\.0\.1 was rejected \(.*\), 127\.0\.0\.2 was trusted until \S+ ago; /,
  );
  t.equal(linesWith(after, '127.0.0.3 is').length, 1);
});

t.test('of two machines with one name, the one that was rejected has outlived the other', async t => {
  const ipv4 = (...bytes: number[]) => [...Array(10).fill(0), 255, 255, ...bytes];
  const scene = (senders: MadeBoard['senders'], sinceS?: number) => {
    const moved = sinceS !== undefined && {
      address_before: ipv4(10, 0, 0, 9),
      address_ns: NOW - BigInt(Math.round(sinceS * 1e9)),
    };
    const node: MadeNode = { name: 'x', age: 0.5, record: { address: ipv4(10, 0, 0, 3), ...moved } };
    return anomalies(survey(madeBoard([node], { senders: senders ?? [] }))).map(({ kind, text }) => `${kind}: ${text}`);
  };
  const rival = (address: string, last: number, count = 4) =>
    ({ reason: 'rival', address, name: 'x', first: last + 3, last, count }) as const;
  t.same(scene([rival('10.0.0.3', 5)]), [
    'rival: x: two machines or senders have reported under this name, and 10.0.0.3, which holds it now, was itself rejected in between ' +
      '(rival, 4 times in 3.0s, the last 5.0s ago); give each its own name',
  ]);
  t.same(scene([rival('10.0.0.7', 30)]), [
    'rival: x: 2 machines have reported under this name: 10.0.0.3 is trusted, 10.0.0.7 was rejected ' +
      '(rival, 4 times in 3.0s, the last 30.0s ago); give each its own name',
  ]);
  // The board still has the address of the machine that has died.
  t.same(scene([rival('10.0.0.3', 5)], 4), [
    'rival: x: 2 machines have reported under this name: 10.0.0.3 is trusted and was rejected before ' +
      '(rival, 4 times in 3.0s, the last 5.0s ago), 10.0.0.9 was trusted until 4.0s ago; give each its own name',
  ]);
  t.same(scene([rival('10.0.0.3', 5)], 61), scene([rival('10.0.0.3', 5)]), 'for a minute');
  t.same(scene([], 4), [], 'another address alone is no second machine');
  t.same(scene([rival('10.0.0.7', 61)]), [], 'for a minute');
});

t.test('the names in reports with false signatures prove nothing, so their source is shown', async t => {
  const file = join(folder(t), 'key');
  writeFileSync(file, keyLine(KEY), { mode: 0o600 });
  const wrong = join(folder(t), 'key');
  writeFileSync(wrong, keyLine({ ...KEY, secret: randomBytes(32) }), { mode: 0o600 });
  const trust = ['--key-file', file, '--require', 'cluster'];
  const limits = ['--uncertain-after', '100ms', '--silent-after', '200ms'];
  const names = expand('node[001-012]', BOARD_MOST);
  const signed = (hostname: string, by: typeof KEY, values: Encodable<'report'>) => {
    const report = makeReport({ hostname, auth_alg: 1, key_id: 1, t_real_ns: now().real, ...values });
    sign(report, by);
    return report;
  };
  const forger = { ...KEY, secret: randomBytes(32) };
  const source = String.raw`127\.0\.0\.9 sends reports with false signatures under at least 8 names \(node\[\d+-\d+\]\), \d+ times in \S+, the last \S+ ago: its key is of another cluster, or somebody forges reports`;
  for (const state of ['live', 'silent', 'never']) {
    const more = state === 'silent' ? limits : state === 'never' ? ['--nodes', 'node[001-012]'] : [];
    const { reader, socketOf, refusals, ask, output } = await receiving(t, [...trust, ...more]);
    const [good, bad] = [await socketOf('127.0.0.1'), await socketOf('127.0.0.9')];
    const interval = state === 'live' ? FOREVER : { interval_ms: 100 };
    if (state !== 'never') good(...names.map(name => signed(name, KEY, interval)));
    const all = () => countStates(reader.snapshot().overview.states)[state as State] === names.length;
    await until(`all are ${state}`, all);
    for (const seq of [1, 2]) bad(...names.map(name => signed(name, forger, { seq, boot_id: 9n })));
    await refusals('tag', 24);
    const { text } = await ask('status', '--long');
    t.match(text, new RegExp(`\n${source}\n`), state);
    t.same(text.match(/^127\.0\.0\.9/gm)?.length, 1, 'once, however many names it claims');
    t.notMatch(text, /its reports|their reports/, 'nobody knows whether they report');
    const check = (await ask('check')).text;
    const listed = await ask('nodes', '--state', state);
    const where = await ask('nodes', '--where', `state == ${state}`);
    t.equal(listed.text, 'node[001-012]\n');
    if (state === 'live') {
      t.match(check, /^BEOBOARD OK: 12 nodes, 12 live \|/);
      t.same([listed.stderr, where.stderr], ['', '']);
    } else {
      t.match(check, new RegExp(`; ${source} \\| `), 'check');
      for (const { stderr } of [listed, where])
        t.match(stderr, new RegExp(`^beoboard nodes: ${source}$`, 'm'), 'nodes');
    }
    const { nodes, anomalies } = JSON.parse((await ask('status', '--json')).text);
    t.same([...new Set(nodes.map(({ why }: { why?: string }) => why))], [undefined]);
    t.same(
      anomalies.filter(({ kind }: { kind: string }) => kind === 'sender').map(({ nodes }: { nodes?: string }) => nodes),
      [undefined],
      'it is about no node',
    );
    await until('the log tells', () => /127\.0\.0\.9/.test(output().stderr));
    t.match(linesWith(output().stderr, '127.0.0.9'), [
      /^beoboard receive: rejected 127\.0\.0\.9, which claims (the name|\d names,) node\S+: tag, /,
    ]);
  }

  // A node with a wrong key is not on the board, but a command that names it says so.
  const { port, ask, refusals } = await receiving(t, trust);
  for (const nth of [1, 2]) {
    await run(['send', '--name', 'node005', '--to', `127.0.0.1:${port}`, '--key-file', wrong, '--once']);
    await refusals('tag', nth);
  }
  const honest = String.raw`127\.0\.0\.1 sends reports with false signatures under the name node005, 2 times in \S+, the last \S+ ago: its key is of another cluster, or somebody forges reports`;
  const { code, text } = await ask('status', '-l', '-w', 'node005');
  t.equal(code, 1);
  t.match(text, new RegExp(`\nnot on the board: node005\n${honest}\n`));
  t.match((await ask('check', '--nodes', 'node005')).text, new RegExp(`1 not on the board \\(node005\\); ${honest} `));
  t.match((await ask('nodes', '-w', 'node005')).stderr, new RegExp(honest));
  t.notMatch((await ask('status', '-w', 'node006')).text, 'signatures');
});

t.test('the log names a source of false signatures once a minute, whatever names it invents', async t => {
  const forged = (name: string, last: number) => sender('tag', '10.1.2.9', name, 1, last);
  const told = looks(
    { senders: [forged('n1', 66), forged('n2', 65)] },
    { senders: [forged('n3', 67), forged('n4', 68)] },
    { senders: [sender('clock', '10.1.2.9', 'n5', 1, 69), sender('clock', '10.1.2.9', 'n6', 2, 65)] },
    { senders: [sender('key_id', '10.1.2.9', 'n7', 1, 65)] },
  );
  t.same(told, [
    ['beoboard receive: rejected 10.1.2.9, which claims 2 names, n[1-2]: tag, 2 times in 1.0s'],
    [],
    ['beoboard receive: rejected 10.1.2.9 (n[5-6]): clock, 3 times in 4.0s'],
    ['beoboard receive: rejected 10.1.2.9, which claims the name n7: key_id, once'],
  ]);
});
