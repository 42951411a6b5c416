// Signed reports: the vectors of the contract, the signature in the datagram, valid and refused key files.

import { createHmac } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { decodeReport, REPORT_BYTES } from '../../src/layout/codec.js';
import { sign } from '../../src/layout/tag.js';
import { parseKeys } from '../../src/options/keys.js';
import { folder, ROOT } from '../kit/places.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

const CLUSTER = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
const NODE = createHmac('sha256', CLUSTER).update('node1').digest();
const TAG = 1200;

const tagOf = (report: Uint8Array) => Buffer.from(report.subarray(TAG)).toString('hex');
const expected = (report: Uint8Array, key: Buffer) =>
  createHmac('sha256', key).update(report.subarray(0, TAG)).digest('hex').slice(0, 32);

t.test('the vectors of the contract', async t => {
  const text = readFileSync(join(ROOT, 'proto', 'stat-v1.md'), 'utf8');
  const [, nodeKey] = /\| `node1` \| `([0-9a-f]{64})` \|/.exec(text) ?? [];
  const [, clusterTag, nodeTag] =
    /has the tag `([0-9a-f]{32})`; with that\s+node key `([0-9a-f]{32})`/.exec(text) ?? [];
  t.equal(NODE.toString('hex'), nodeKey);
  for (const [secret, tag] of [
    [CLUSTER, clusterTag],
    [NODE, nodeTag],
  ] as const) {
    const report = new Uint8Array(REPORT_BYTES);
    sign(report, { secret });
    t.equal(tagOf(report), tag);
    t.ok(
      report.subarray(0, TAG).every(byte => byte === 0),
      'nothing else is touched',
    );
  }
});

t.test('lines of a key file', async t => {
  const hex = CLUSTER.toString('hex');
  t.strictSame(parseKeys(`7 cluster ${hex}\n`), [{ id: 7, node: undefined, secret: CLUSTER }]);
  t.strictSame(parseKeys(`65535 node node1 ${hex.toUpperCase()}\n0 cluster ${hex}`), [
    { id: 65_535, node: 'node1', secret: CLUSTER },
    { id: 0, node: undefined, secret: CLUSTER },
  ]);
  const bad = [
    '',
    '\n',
    `65536 cluster ${hex}`,
    `-1 cluster ${hex}`,
    `1  cluster ${hex}`,
    `1 cluster ${hex}0`,
    `1 cluster ${hex.slice(1)}`,
    `1 cluster x${hex.slice(1)}`,
    `1 Cluster ${hex}`,
    `1 node ${hex}`,
    `1 node Node1 ${hex}`,
    `1 cluster ${hex} `,
    `1 cluster ${hex}\r\n`,
    `1 cluster ${hex}\n\n`,
    `1 cluster ${hex}\n2 cluster ${hex}\n3 cluster ${hex}\n`,
    `1 cluster ${hex}\n1 cluster ${hex}\n`,
    `1 node node1 ${hex}\n01 cluster ${hex}\n`,
  ];
  for (const text of bad) {
    const message = (() => {
      try {
        return void parseKeys(text);
      } catch (error) {
        return (error as Error).message;
      }
    })();
    t.type(message, 'string', JSON.stringify(text.slice(0, 12)));
    t.notOk(message?.includes(hex.slice(1, 20)), 'no message shows a key');
  }
});

/** The only report of a sender with this key file. */
async function once1(t: Parameters<typeof start>[0], file: string): Promise<Buffer> {
  const sender = start(t, ['send', '--once', '--to', '-', '--name', 'node1', '--key-file', file]);
  const chunks: Buffer[] = [];
  sender.child.stdout?.on('data', (data: Buffer) => chunks.push(data));
  const code = await sender.exit;
  if (code !== 0) throw new Error(sender.output().stderr);
  return Buffer.concat(chunks);
}

t.test('the tag on the wire', async t => {
  const file = join(folder(t), 'key');
  for (const [line, key, auth_alg, key_id] of [
    [`3 cluster ${CLUSTER.toString('hex')}\n`, CLUSTER, 1, 3],
    [`65535 node node1 ${NODE.toString('hex')}\n`, NODE, 2, 65_535],
  ] as const) {
    writeFileSync(file, line, { mode: 0o600 });
    const report = await once1(t, file);
    t.match(decodeReport(new DataView(report.buffer, report.byteOffset, report.length), 0), { auth_alg, key_id });
    t.equal(tagOf(report), expected(report, key));
  }
});

t.test('files that are refused, each in one line', async t => {
  const file = join(folder(t), 'key');
  const line = `3 cluster ${CLUSTER.toString('hex')}\n`;
  const refused = async (what: RegExp, path = file) => {
    const { code, stderr } = await run(['send', '--once', '--to', '-', '--name', 'node1', '--key-file', path]);
    t.equal(code, 2, String(what));
    t.match(stderr, what);
    t.equal(stderr.trimEnd().split('\n').length, 1, stderr);
  };
  await refused(/cannot be read: no such file/);
  writeFileSync(file, line, { mode: 0o600 });
  for (const mode of [0o640, 0o604, 0o620, 0o601]) {
    chmodSync(file, mode);
    await refused(/can be read by others; run chmod 600/);
  }
  chmodSync(file, 0o600);
  writeFileSync(file, `1 node node2 ${NODE.toString('hex')}\n`);
  await refused(/is the key of node2, and this node is node1/);
  writeFileSync(file, 'x'.repeat(5000));
  await refused(/is not a key file/);
  mkdirSync(`${file}.d`);
  await refused(/is not a key file/, `${file}.d`);
  if (process.getuid?.() !== 0) return;
  writeFileSync(file, line);
  chownSync(file, 12_345, 0);
  await refused(/belongs to user 12345/);
});

t.test('SIGHUP changes to another key, and keeps the old one if the file cannot be read', async t => {
  const file = join(folder(t), 'key');
  writeFileSync(file, `1 cluster ${CLUSTER.toString('hex')}\n`, { mode: 0o600 });
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.teardown(() => {
    socket.close();
  });
  const raw: Buffer[] = [];
  socket.on('message', message => raw.push(message));
  const to = `127.0.0.1:${socket.address().port}`;
  const { child, ready, output, exit } = start(t, [
    'send',
    ...['--to', to, '--name', 'node1', '--interval', '100ms', '--key-file', file],
  ]);
  await ready;
  const last = (key: Buffer) => raw.length > 0 && tagOf(raw.at(-1) as Buffer) === expected(raw.at(-1) as Buffer, key);
  await until('it signs', () => last(CLUSTER));
  writeFileSync(file, `2 cluster ${NODE.toString('hex')}\n`);
  child.kill('SIGHUP');
  await until('it signs with the other', () => last(NODE));
  writeFileSync(file, 'nonsense\n');
  child.kill('SIGHUP');
  await until('it says so', () => /nothing has changed/.test(output().stderr));
  const seen = raw.length;
  await until('it goes on', () => raw.length > seen + 2);
  t.ok(last(NODE));
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});
