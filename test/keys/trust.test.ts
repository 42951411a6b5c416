// What the receiver trusts: signatures of cluster and node keys, vectors of the contract, what a name has proved, two
// keys at once, and that its HMAC is the standard one.

import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type Encodable, encode, REPORT_BYTES } from '../../src/layout/codec.js';
import { enums } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import { type Key, nodeKey } from '../../src/options/keys.js';
import type { BoardReader } from '../../src/shm/reader.js';
import type { Trust } from '../../src/shm/trust.js';
import { type BoardOptions, openWriter, writerOptions } from '../../src/shm/writer.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { deliver } from '../kit/testwriter.js';
import { until } from '../kit/until.js';
import { verbChild, verbRun } from '../kit/verbchild.js';
import { agree } from './hmacs.js';

const run = verbRun(t);

type Test = Parameters<typeof boardPath>[0];

const clusterKey = (id: number): Key => ({ id, node: undefined, secret: randomBytes(32) });
const ONE = clusterKey(1);
const TWO = clusterKey(2);
const NOW = 1_000_000_000_000_000n;
const REAL = 1_700_000_000_000_000_000n;

/** A report, signed if there is a key; the tag covers `values`. */
function signed(values: Encodable<'report'>, key?: Key, cluster = ''): Uint8Array {
  const alg = key === undefined ? 'none' : key.node === undefined ? 'cluster' : 'node';
  const report = makeReport({ ...values, auth_alg: enums.auth_alg.indexOf(alg), key_id: key?.id ?? 0 }, cluster);
  if (key !== undefined) sign(report, key);
  return report;
}

const trusting = (required: Trust['required'], ...keys: Key[]): Trust => ({ keys, required, clockWindow: 60_000 });
const options = (path: string, trust: Trust | undefined, more: Partial<BoardOptions> = {}): BoardOptions => ({
  path,
  cluster: '',
  capacity: 4,
  uncertainAfter: 4500,
  silentAfter: 10_500,
  nodes: [],
  trust,
  ...more,
});

/** A node's record and reports, of a new snapshot; undefined if it has no record. */
function find(reader: BoardReader, name: string) {
  const node = [...reader.snapshot().nodes()].find(node => node.name === name);
  return node && { record: node.record, report: node.report, lastRefusal: node.lastRefusal };
}

/** A board, and consecutive reports of a node, one second apart. */
function bench(t: Test, trust: Trust | undefined, more: Partial<BoardOptions> = {}) {
  const path = boardPath(t);
  let writer = openWriter(options(path, trust, more));
  t.teardown(() => writer.close());
  const reader = openReader(t, path);
  let seconds = 0;
  const step = (key: Key | undefined, values: Encodable<'report'> = {}) => {
    seconds++;
    const ns = BigInt(seconds) * 1_000_000_000n;
    return { seq: seconds, t_boot_ns: 100_000_000_000n + ns, t_real_ns: REAL + ns, ...values, key };
  };
  const lay = (datagram: Uint8Array) => {
    const ns = BigInt(seconds) * 1_000_000_000n;
    return deliver(writer, datagram, NOW + ns, REAL + ns);
  };
  return {
    path,
    get writer() {
      return writer;
    },
    /** Sends the next report; returns the result. */
    next(key: Key | undefined, values: Encodable<'report'> = {}) {
      const { key: by, ...all } = step(key, values);
      return lay(signed(all, by, more.cluster));
    },
    /** Sends exactly these bytes. */
    lay,
    /** Another receiver takes over the board. */
    restart(other: Trust | undefined) {
      writer.close();
      writer = openWriter(options(path, other, more));
    },
    node: (name = 'node1') => find(reader, name),
    /** The rejected senders: reason, name and count, by reason. */
    refused() {
      reader.snapshot();
      return reader.senders().map(({ reason, name, count }) => [enums.reason[reason], name, count]);
    },
    header: () => reader.snapshot(),
  };
}

t.test('random messages and keys have the same HMAC by OpenSSL, by our own code, and by node:crypto', async t => {
  agree(t, 5000);
});

t.test('the vectors of the contract are accepted, and no other', async t => {
  const section = readFileSync(join(ROOT, 'proto', 'stat-v1.md'), 'utf8').split('\n## Vectors\n')[1] ?? '';
  const vector = new Uint8Array(REPORT_BYTES);
  for (const [, offset = '', hex = ''] of section.matchAll(/^ *(\d+) {2}([0-9a-f ]+)$/gm))
    vector.set(Buffer.from(hex.replaceAll(' ', ''), 'hex'), Number(offset));
  const [, cluster = '', own = ''] = /its tag is `([0-9a-f]{32})`.*`([0-9a-f]{32})`/s.exec(section) ?? [];
  const secret = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
  for (const [alg, tag] of [
    ['cluster', cluster],
    ['node', own],
  ] as const) {
    const report = vector.slice();
    encode('report', new DataView(report.buffer), 0, { key_id: 7, auth_alg: enums.auth_alg.indexOf(alg) });
    report.set(Buffer.from(tag, 'hex'), 1200);
    const b = bench(t, { keys: [{ id: 7, secret }], required: alg, clockWindow: 'off' }, { cluster: 'example' });
    for (const at of [0, 70, 200, 700, 1183, 1199, 1200, 1215]) {
      const forged = report.slice();
      forged[at] = (forged[at] ?? 0) ^ 1;
      t.not(b.lay(forged), 'accepted', `${alg}: a bit of byte ${at}`);
    }
    t.equal(b.header().nodes().next().done, true, 'and no record is made of them');
    t.equal(b.lay(report), 'accepted', alg);
    t.equal(b.node('n0117.rack4')?.record.auth_proved, enums.auth_alg.indexOf(alg));
  }
});

t.test('what a receiver requires', async t => {
  const own = nodeKey(ONE, 'node1');
  const table: [required: Trust['required'], key: Key | undefined, outcome: string][] = [
    ['none', undefined, 'accepted'],
    ['none', ONE, 'accepted'],
    ['none', own, 'accepted'],
    ['cluster', undefined, 'auth_missing'],
    ['cluster', ONE, 'accepted'],
    ['cluster', own, 'accepted'],
    ['node', undefined, 'auth_missing'],
    ['node', ONE, 'auth_missing'],
    ['node', own, 'accepted'],
    // A wrong signature is rejected even where none is required: every signature has to be valid.
    ['none', TWO, 'key_id'],
    ['none', { ...ONE, secret: TWO.secret }, 'tag'],
    ['none', nodeKey(ONE, 'node2'), 'tag'],
    ['none', nodeKey({ ...TWO, id: 1 }, 'node1'), 'tag'],
    // The cluster key itself is not valid as a node's key.
    ['node', { ...ONE, node: 'node1' }, 'tag'],
  ];
  for (const [required, key, outcome] of table) {
    const b = bench(t, trusting(required, ONE));
    const what = `${required}: ${key === undefined ? 'no tag' : key.node === undefined ? `cluster key ${key.id}` : 'a node key'}`;
    t.equal(b.next(key), outcome, what);
    t.equal(b.node() !== undefined, outcome === 'accepted', 'a forged report makes no record');
    t.equal(b.header().refused[outcome as 'tag'] ?? 0, outcome === 'accepted' ? 0 : 1, 'and is counted');
    t.equal(b.next(key), outcome, 'the next is taken alike');
  }
});

t.test('a receiver without keys takes a tagged report as if it had no tag', async t => {
  const b = bench(t, undefined);
  t.equal(b.next(ONE), 'accepted');
  t.equal(b.next({ ...ONE, secret: TWO.secret }), 'accepted');
  t.equal(b.next(undefined), 'accepted');
  t.equal(b.node()?.record.auth_proved, 0, 'and nothing is proved');
});

t.test('a node that has proved a key is rejected with a weaker one, until it is forgotten', async t => {
  const own = nodeKey(ONE, 'node1');
  const b = bench(t, trusting('none', ONE));
  t.equal(b.next(undefined), 'accepted');
  t.equal(b.next(ONE), 'accepted', 'more is believed at once');
  t.equal(b.next(undefined), 'auth_missing');
  t.equal(b.next(own), 'accepted');
  t.equal(b.next(ONE), 'auth_missing');
  t.match(b.node(), { record: { auth_proved: 2, order_proved: 2, refused: 2 }, lastRefusal: undefined });
  t.match(b.refused(), [['auth_missing', 'node1', 2]], 'which is told of whoever sent it, and not of the node');
  t.equal(b.next(undefined, { hostname: 'node2' }), 'accepted', 'of that name only');
  // This holds across a restart, and a change of the board.
  b.restart(trusting('none', ONE));
  t.equal(b.next(ONE), 'auth_missing');
  b.writer.change(writerOptions(options(b.path, trusting('none', ONE), { capacity: 8 })));
  t.equal(b.next(ONE), 'auth_missing');
  t.equal(b.next(own), 'accepted');
  // Without keys nothing is verified; with keys it holds again.
  b.restart(undefined);
  t.equal(b.next(undefined), 'accepted');
  t.match(b.node(), { record: { auth_proved: 2, order_proved: 0 } });
  b.restart(trusting('none', ONE));
  t.equal(b.next(ONE), 'auth_missing');
  t.equal(b.next(own), 'accepted');
  t.strictSame(b.writer.forget(['node1']), [true]);
  t.equal(b.next(undefined), 'accepted');
});

t.test('a forged report changes nothing of the order', async t => {
  const b = bench(t, trusting('cluster', ONE));
  t.equal(b.next(ONE), 'accepted');
  const before = b.node();
  const forger = { ...ONE, secret: TWO.secret };
  t.equal(b.next(forger, { boot_id: 9n, t_real_ns: 1n }), 'tag');
  t.equal(b.next(forger, { t_boot_ns: 10n ** 18n, seq: 4_000_000_000 }), 'tag');
  const after = b.node();
  const { known, history, history_seq, start_boot_ns, accepted, lost } = after?.record ?? {};
  t.match(before?.record, { known, history, history_seq, start_boot_ns, accepted, lost } as object);
  t.match(after, { record: { refused: 2 }, lastRefusal: undefined }, 'and nothing is told of the node');
  t.match(b.refused(), [['tag', 'node1', 2]]);
  t.equal(b.next(forger, { t_real_ns: 1n, interval_ms: 1 }), 'interval', 'which is seen before the tag is looked at');
  t.equal(b.node()?.lastRefusal, undefined, 'and is no more believed');
  t.strictSame(b.refused(), [
    ['interval', 'node1', 1],
    ['tag', 'node1', 2],
  ]);
  t.strictSame(after?.report, before?.report);
  t.equal(b.next(ONE), 'accepted');
});

t.test('a boot without an id is not remembered: a report from before another boot is a replay after it', async t => {
  const b = bench(t, trusting('node', ONE));
  const key = nodeKey(ONE, 'node1');
  const old = signed({ boot_id: 0n, seq: 0, t_real_ns: REAL }, key);
  t.equal(b.lay(old), 'accepted');
  t.equal(b.next(key, { boot_id: 5n }), 'accepted');
  t.equal(b.lay(old), 'replay');
  t.equal(b.next(key, { boot_id: 0n, t_boot_ns: 5n }), 'accepted', 'and it comes back with an earlier uptime');
  t.match(b.node()?.record, { reboots: 2, refused: 1 });
});

t.test('two keys are valid during a change of keys', async t => {
  const own = (key: Key) => nodeKey(key, 'node1');
  const b = bench(t, trusting('cluster', ONE));
  const change = (...keys: Key[]) => b.writer.change(writerOptions(options(b.path, trusting('cluster', ...keys))));
  t.equal(b.next(own(ONE)), 'accepted');
  t.equal(b.next(own(TWO)), 'key_id');
  change(ONE, TWO);
  t.equal(b.next(own(ONE)), 'accepted', 'the old one');
  t.equal(b.next(own(TWO)), 'accepted', 'and the new one, of the same run');
  t.equal(b.next(own(ONE)), 'accepted');
  change(TWO);
  t.equal(b.next(own(ONE)), 'key_id');
  t.equal(b.next(own(TWO)), 'accepted');
  change({ ...TWO, secret: ONE.secret });
  t.equal(b.next(own(TWO)), 'tag', 'no derived key outlives its cluster key');
});

t.test('keys of nodes stay with their names when records get other numbers', async t => {
  const b = bench(t, trusting('node', ONE));
  const names = ['node1', 'node2', 'node3'];
  const all = () => names.map(name => b.next(nodeKey(ONE, name), { hostname: name }));
  t.strictSame(all(), ['accepted', 'accepted', 'accepted']);
  b.writer.forget(['node1']);
  t.strictSame(all(), ['accepted', 'accepted', 'accepted']);
  t.equal(b.next(nodeKey(ONE, 'node1'), { hostname: 'node2' }), 'tag');
  b.writer.change(writerOptions(options(b.path, trusting('node', ONE), { capacity: 3 })));
  t.strictSame(all(), ['accepted', 'accepted', 'accepted']);
  t.equal(b.next(nodeKey(ONE, 'node4'), { hostname: 'node4' }), 'full');
});

const line = ({ id, node, secret }: Key) =>
  `${id} ${node === undefined ? 'cluster' : `node ${node}`} ${secret.toString('hex')}\n`;

t.test('senders and a receiver: three commands, a change of keys by SIGHUP, and who has no key', async t => {
  const at = folder(t);
  const file = (name: string) => join(at, name);
  t.match(await run(['keygen', file('cluster.key')]), { code: 0, stderr: '' });
  t.match(await run(['keygen', '--key-file', file('cluster.key'), '--nodes', 'node[1-2]', file('keys/')]), { code: 0 });
  const board = boardPath(t);
  const receiver = await startReceiver(t, board, ['--key-file', file('cluster.key'), '--require', 'node']);
  t.match(receiver.output().stderr, /verifies with key 1: a report needs a signature with a node key/);
  const sending = (name: string, key?: string) =>
    start(t, [
      'send',
      ...['--to', `127.0.0.1:${receiver.port}`, '--name', name, '--interval', '100ms'],
      ...(key === undefined ? [] : ['--key-file', key]),
    ]);
  const one = sending('node1', file('keys/node1.key'));
  sending('node2');
  const reader = openReader(t, board);
  const accepted = () => find(reader, 'node1')?.record.accepted ?? 0;
  const refused = (reason: string) => reader.snapshot().refused[reason as 'tag'] ?? 0;
  await until('node1 is believed', () => accepted() > 2);
  await until('node2 is not', () => refused('auth_missing') > 2);
  t.equal(find(reader, 'node2'), undefined);
  await until('the receiver says so', () => /auth_missing \(no signature/.test(receiver.output().stderr));

  // A change of keys: first both are valid, then the senders change, then the old key is removed.
  const hangup = async (child: typeof receiver, text: RegExp) => {
    const seen = child.output().stderr.length;
    child.child.kill('SIGHUP');
    await until(`it says ${text}`, () => text.test(child.output().stderr.slice(seen)));
  };
  await run(['keygen', '--key-id', '2', file('next.key')]);
  await run(['keygen', '--key-file', file('next.key'), '--nodes', 'node1', file('node1.next')]);
  const next = readFileSync(file('next.key'), 'utf8');
  writeFileSync(file('cluster.key'), readFileSync(file('cluster.key'), 'utf8') + next);
  await hangup(receiver, /verifies with keys 1 and 2/);
  writeFileSync(file('keys/node1.key'), readFileSync(file('node1.next')));
  one.child.kill('SIGHUP');
  await until('it signs with the new key', () => find(reader, 'node1')?.report?.key_id === 2);
  writeFileSync(file('cluster.key'), next);
  await hangup(receiver, /verifies with key 2:/);
  const seen = accepted();
  await until('it is still believed', () => accepted() > seen + 2);
  t.equal(refused('key_id') + refused('tag'), 0, 'and was all the time');
  t.equal(find(reader, 'node1')?.record.lost, 0);

  // The removal of the key file is logged, too.
  writeFileSync(file('receive.toml'), '');
  const without = await startReceiver(t, boardPath(t), ['--config', file('receive.toml')]);
  writeFileSync(file('receive.toml'), `key-file = "${file('cluster.key')}"\nrequire = "none"\n`);
  await hangup(without, /verifies with key 2: also accepts reports without a signature/);
  writeFileSync(file('receive.toml'), '');
  await hangup(without, /without --key-file from now on: reports are not verified/);

  // An invalid file changes nothing.
  writeFileSync(file('cluster.key'), line(nodeKey(ONE, 'node7')));
  await hangup(receiver, /SIGHUP: .*line 1 is the key of node7; give the cluster key.*nothing has changed/);
  const before = accepted();
  await until('it goes on', () => accepted() > before + 2);
});

t.test('forged reports on the network are rejected, and the node continues', async t => {
  const at = folder(t);
  writeFileSync(join(at, 'cluster.key'), line(ONE), { mode: 0o600 });
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--key-file', join(at, 'cluster.key')]);
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  t.teardown(() => {
    socket.close();
  });
  const real = () => BigInt(Date.now()) * 1_000_000n;
  const reader = openReader(t, board);
  const node = () => find(reader, 'node1');
  socket.send(signed({ t_real_ns: real(), seq: 1 }, ONE));
  await until('it is believed', () => node()?.report?.seq === 1);
  socket.send(signed({ t_real_ns: real(), seq: 2, t_boot_ns: 10n ** 18n }, { ...ONE, secret: TWO.secret }));
  await until('the forged one is refused', () => node()?.record.refused === 1);
  t.match(reader.senders(), [{ reason: enums.reason.indexOf('tag'), address: '127.0.0.1', name: 'node1', count: 1 }]);
  socket.send(signed({ t_real_ns: real(), seq: 3, t_boot_ns: 101_000_000_000n }, ONE));
  await until('the next is believed', () => node()?.report?.seq === 3);
  // A restarted receiver keeps what was proved.
  t.equal(node()?.record.auth_proved, 1);
});

t.test('invalid keys and options of a receiver, each in one line', async t => {
  const at = folder(t);
  const runHere = verbChild(t);
  const hex = ONE.secret.toString('hex');
  const table: [text: string | undefined, mode: number, what: RegExp][] = [
    [undefined, 0o600, /cannot be read: no such file/],
    [
      `1 cluster ${hex}\n`,
      0o640,
      /can be read by others; run chmod 600, and replace the key if somebody may have read it/,
    ],
    [`1 cluster ${hex}\n`, 0o604, /can be read by others/],
    [`1 cluster ${hex.slice(1)}g\n`, 0o600, /line 1 is not "KEY_ID cluster HEX64"/],
    [`1 cluster ${hex}\n1 cluster ${hex}\n`, 0o600, /line 2 has the key id of line 1; give each key an id of its own/],
    [`1 cluster ${hex}\n2 cluster ${hex}\n3 cluster ${hex}\n`, 0o600, /holds more than 2 keys/],
    [`1 cluster ${hex}\n2 node node1 ${hex}\n`, 0o600, /line 2 is the key of node1; give the cluster key/],
    ['', 0o600, /holds no key/],
  ];
  for (const [i, [text, mode, what]] of table.entries()) {
    const path = join(at, String(i));
    if (text !== undefined) writeFileSync(path, text, { mode });
    const { code, stderr } = await runHere([
      'receive',
      '--board',
      join(at, 'board'),
      '--listen',
      '127.0.0.1:0',
      '--key-file',
      path,
    ]);
    t.equal(code, 2, String(what));
    t.match(stderr, what);
    t.equal(stderr.trimEnd().split('\n').length, 1, stderr);
    t.notMatch(stderr, new RegExp(hex.slice(1, 20)), 'no message shows a key');
  }
  const without = await runHere(['receive', '--board', join(at, 'board'), '--require', 'cluster']);
  t.match(without, { code: 2, stderr: /--require cluster needs a key to verify with; give --key-file/ });
  for (const [window, what] of [
    ['1ms', /--clock-window: '1ms' is out of bounds; write 100ms to 24h/],
    ['25h', /--clock-window: '25h' is out of bounds/],
    ['never', /--clock-window: 'never' is not a time; .*, or off\n$/],
  ] as const)
    t.match(await runHere(['receive', '--clock-window', window]), { code: 2, stderr: what });
  const wrong = await runHere(['receive', '--board', join(at, 'board'), '--require', 'all']);
  t.match(wrong, { code: 2, stderr: /--require: 'all' is not a valid value; use none, cluster or node/ });
});
