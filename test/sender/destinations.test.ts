// Destinations: multicast groups of both kinds, several paths at once, and other destinations at SIGHUP while reports
// are sent. Runs itself again in its own network namespace, so that no multicast leaves this machine.
//
// @seconds 21
// @waits
// @rest

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { LinkEntry } from '../../src/native/index.js';
import { Namespace } from '../kit/netns.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { run, SENDER, start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';

/** Loopback for IPv4; for IPv6 a pair of interfaces, because its groups do not work over loopback. */
const SETUP = [
  'ip link set lo up multicast on',
  'ip route add 224.0.0.0/4 dev lo',
  'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad',
  'ip link add v0 type veth peer name v1',
  'ip link set v0 up',
  'ip link set v1 up',
].join(' && ');

function inside(): void {
  for (const [kind, group, more] of [
    ['IPv4', '239.255.86.77:8677', []],
    ['IPv4 on an interface', '239.255.86.77:8677', ['--interface', 'lo']],
    ['IPv6 on an interface', '[ff12::8677]:8677', ['--interface', 'v0']],
  ] as const)
    t.test(`a group, ${kind}`, async t => {
      const board = boardPath(t);
      const receiver = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0', '--group', group, ...more]);
      t.equal((await receiver.ready).listening?.[1], group);
      const sender = start(t, ['send', '--to', group, ...more, '--name', 'node1', '--interval', '100ms']);
      await sender.ready;
      const reader = openReader(t, board);
      await until(
        'three reports are there',
        () => reader.snapshot().count === 1 && (reader.snapshot().node(0).record.accepted ?? 0) >= 3,
      );
      t.equal(reader.snapshot().node(0).record.lost, 0);
    });

  t.test('unicast and group at once on one socket: the first wins, the other is a duplicate', async t => {
    const board = boardPath(t);
    const receiver = start(t, [
      'receive',
      '--board',
      board,
      '--listen',
      '0.0.0.0:9000',
      '--group',
      '239.255.86.77:9000',
    ]);
    await receiver.ready;
    const sender = start(t, [
      ...['send', '--to', '239.255.86.77:9000', '--to', '127.0.0.1:9000', '--name', 'node1', '--interval', '100ms'],
    ]);
    await sender.ready;
    const reader = openReader(t, board);
    const { record } = await until('three pairs are there', () => {
      const snapshot = reader.snapshot();
      const node = snapshot.count === 1 ? snapshot.node(0) : undefined;
      return (node?.record.duplicate ?? 0) >= 3 && node;
    });
    t.ok((record.accepted ?? 0) >= 3);
    t.same([record.lost, record.late, record.refused], [0, 0, 0]);
    t.same(reader.snapshot().refused, {});
  });

  if (SENDER === '') receiverAlone();

  t.test('a group that is not joined is not heard', async t => {
    const board = boardPath(t);
    const receiver = start(t, [
      'receive',
      '--board',
      board,
      '--listen',
      '0.0.0.0:9000',
      '--group',
      '239.255.86.77:9000',
    ]);
    await receiver.ready;
    await run(['send', '--once', '--to', '239.255.86.78:9000', '--name', 'other']);
    await run(['send', '--once', '--to', '239.255.86.77:9000', '--name', 'node1']);
    const reader = openReader(t, board);
    await until('one is there', () => reader.snapshot().count > 0);
    t.same(
      [...reader.snapshot().nodes()].map(node => node.name),
      ['node1'],
    );
    t.equal(reader.snapshot().header.received, 1);
  });

  t.test('impossible groups and interfaces get one line', async t => {
    const rows: [string[], number, RegExp][] = [
      [['receive', '--group', '10.0.0.1'], 2, /is not a multicast group; write one of 224/],
      [
        [
          'receive',
          '--listen',
          '127.0.0.1:0',
          '--board',
          boardPath(t),
          '--group',
          '239.1.1.1:9001',
          '--interface',
          'eth77',
        ],
        1,
        /there is no interface eth77/,
      ],
      [['send', '--to', '239.1.1.1', '--ttl', '256'], 2, /write 0 to 255/],
      [['send', '--once', '--to', '239.1.1.1', '--interface', 'eth77'], 1, /there is no interface eth77/],
    ];
    for (const [argv, code, message] of rows.filter(([[verb]]) => SENDER === '' || verb === 'send')) {
      const ended = await run(argv);
      t.equal(ended.code, code, argv.join(' '));
      t.match(ended.stderr, message);
      t.equal(ended.stderr.trimEnd().split('\n').length, 1);
    }
  });

  t.test('SIGHUP goes over to another master, name by name, without losing or doubling a report', async t => {
    const boards = [boardPath(t), boardPath(t)];
    const [one, two] = [await startReceiver(t, boards[0] ?? ''), await startReceiver(t, boards[1] ?? '')];
    const config = join(folder(t), 'send.toml');
    const write = (to: string[], interval = '100ms') =>
      writeFileSync(config, `to = ${JSON.stringify(to)}\ninterval = "${interval}"\n`);
    const [first, second] = [`127.0.0.1:${one.port}`, `127.0.0.1:${two.port}`];
    write([first]);
    const sender = start(t, ['send', '--config', config, '--name', 'node1']);
    await sender.ready;
    const readers = boards.map(board => openReader(t, board));
    const accepted = (i: number) => {
      const snapshot = readers[i]?.snapshot();
      return snapshot !== undefined && snapshot.count > 0 ? (snapshot.node(0).record.accepted ?? 0) : 0;
    };
    const told = (count: number) =>
      until(
        'it has read its options again',
        () => sender.output().stderr.split('read its options again').length > count,
      );
    await until('the first hears', () => accepted(0) >= 2);
    // To both masters for a while, then only to the second, so that no report is lost.
    write([first, second]);
    sender.child.kill('SIGHUP');
    await told(1);
    await until('both hear', () => accepted(1) >= 2);
    write([second]);
    sender.child.kill('SIGHUP');
    await told(2);
    const left = accepted(0);
    await until('the second goes on', () => accepted(1) >= left + 3);
    write([second], '5m');
    sender.child.kill('SIGHUP');
    await told(3);
    const before = accepted(1);
    await until(
      'a report comes with the first step on the way to the new interval',
      () => readers[1]?.snapshot().node(0).report?.interval_ms === 200,
    );
    writeFileSync(config, 'to = 7\n');
    sender.child.kill('SIGHUP');
    await until('it has refused', () => /nothing has changed/.test(sender.output().stderr));
    sender.child.kill('SIGTERM');
    t.equal(await sender.exit, 0);
    await until('the goodbye is there', () => readers[1]?.snapshot().node(0).state === 'left');
    for (const reader of readers) {
      const { record } = reader.snapshot().node(0);
      t.same([record.lost, record.duplicate, record.late, record.restarts, record.refused], [0, 0, 0, 0, 0]);
    }
    t.ok(accepted(1) > before);
    t.ok(accepted(0) <= left + 1, 'the first hears no more');
  });
}

/** A test in which no sender takes part. */
function receiverAlone(): void {
  t.test('an interface that is removed and made again: its group is joined again, no node is silent', async t => {
    // Of another machine: what comes from this one's own addresses is of the link lo.
    const nodes = await Namespace.make(t);
    const ip = (words: string) => execFileSync('ip', words.split(' '));
    const make = () => {
      ip(`link add d0 type veth peer name d1 netns ${nodes.pid}`);
      ip('addr add 10.86.77.1/24 dev d0');
      ip('link set d0 up');
      nodes.ip('addr add 10.86.77.2/24 dev d1', 'link set d1 up', 'route add 239.255.86.79 dev d1');
    };
    const SENDING = `const socket = require('node:dgram').createSocket('udp4');
      socket.send(Buffer.from(process.argv[1], 'hex'), 9000, '239.255.86.79', () => socket.close());`;
    const send = (seq: number) => {
      const report = makeReport({ seq, t_boot_ns: BigInt(100 + seq) * 1_000_000_000n });
      const argv = [...nodes.prefix.slice(1), process.execPath, '-e', SENDING, Buffer.from(report).toString('hex')];
      execFileSync('nsenter', argv);
    };
    make();
    const board = boardPath(t);
    const receiver = start(t, [
      ...['receive', '--board', board, '--listen', '127.0.0.1:0', '--group', '239.255.86.79:9000', '--interface', 'd0'],
      ...['--uncertain-after', '500ms', '--silent-after', '3s'],
    ]);
    await receiver.ready;
    const reader = openReader(t, board);
    const node = () => reader.snapshot().node(0);
    const evidence = () => reader.snapshot().evidence;
    const link = () => reader.links().find(({ name }) => name === 'd0') as LinkEntry;
    send(0);
    await until('it is heard', () => reader.snapshot().count === 1);

    ip('link delete d0');
    const { heartbeatNs: removed } = evidence();
    await until('it knows that it hears nothing', () => link().listeningSinceNs > removed);
    await until('it tells', () =>
      receiver.output().stderr.includes('hears no group on d0: there is no such interface'),
    );
    const states = new Set<string>();
    await until('longer ago than silent nodes are', () => {
      states.add(node().state);
      return evidence().heartbeatNs > removed + 4_000_000_000n;
    });
    t.same([...states], ['uncertain'], 'nobody is silent who could not be heard');

    make();
    let seq = 4;
    await until(
      'it is heard again',
      () => {
        send(++seq);
        return (node().record.accepted ?? 0) >= 2;
      },
      100,
    );
    const { record } = node();
    t.equal(record.lost, 0);
    t.ok((record.unheard ?? 0) >= 4, 'what it missed is unheard');
    const { listeningSinceNs: since } = link();
    const { heartbeatNs: from } = evidence();
    await until('it has listened for two looks', () => evidence().heartbeatNs > from + 2_500_000_000n);
    t.equal(link().listeningSinceNs, since, 'and from then on it listens');
    ip('link delete d0');
  });
}

if (INSIDE) inside();
else inOwnNetwork(t, SETUP, import.meta.url);
