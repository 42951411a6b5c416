// Three real NATS servers and a leaf, with the permissions of packaging/nats/, a real receiver, relay and mirror: a
// mirror that was started first becomes whole; and servers and a relay that are killed or frozen cost it some time in
// which nothing is known, but no wrong verdict.
//
// @seconds 21
// @waits
// @rest
// @days 3

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { mirrorText } from '../../src/shm/sentences.js';
import { noServers, type Server, startServers } from '../kit/natsservers.js';
import { folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { unlike } from '../kit/schemacheck.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(600_000);
const skip = noServers();
const NODES = 20;

t.test('servers and a leaf, which are killed and frozen', { skip }, async t => {
  const at = folder(t);
  const key = join(at, 'relay.key');
  t.match(await run(['keygen', '--relay', key]), { code: 0 });
  const logins = { relay: 'relay-m1:relay-m1-password', mirror: 'mirror-login1:mirror-password' };
  for (const [who, text] of Object.entries(logins))
    writeFileSync(join(at, `${who}.login`), `${text}\n`, { mode: 0o600 });
  // Nodes sign their reports, and the mirror verifies these signatures, too.
  const nodes = join(at, 'cluster.key');
  t.match(await run(['keygen', nodes]), { code: 0 });
  const { hubs, leaf } = await startServers(t, at);
  const board = join(at, 'mirror', 'board');
  const mirrorArgs = (port: number, name: string) => [
    ...['mirror', '--board', name, '--nats', `nats://127.0.0.1:${port}`, '--site', 'home', '--cluster', 'alpha'],
    ...['--trust', `m1=${key}.pub`, '--name', 'login1', '--nats-login', join(at, 'mirror.login')],
    ...['--key-file', nodes],
  ];
  const mirror = start(t, mirrorArgs(leaf.port, board));
  await mirror.ready;
  const source = join(at, 'board');
  const receiver = await startReceiver(t, source, ['--cluster', 'alpha', '--key-file', nodes]);
  const sent = ['--size', String(NODES), '--cluster', 'alpha', '--key-file', nodes];
  const load = start(t, ['load', '--to', `127.0.0.1:${receiver.port}`, ...sent]);
  const relayArgs = [
    ...['relay', '--board', source, '--site', 'home', '--master', 'm1', '--key-file', key],
    ...hubs.flatMap(({ port }) => ['--nats', `nats://127.0.0.1:${port}`]),
    ...['--nats-login', join(at, 'relay.login')],
  ];
  let relay = start(t, relayArgs);
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());

  /** States that were ever seen, and the longest time without a heartbeat. */
  const seen = new Set<string>();
  let longestMs = 0;
  const look = () => {
    const snapshot = reader.snapshot();
    longestMs = Math.max(longestMs, snapshot.heartbeatAgeMs ?? 0);
    if (snapshot.stalled) return { text: mirrorText(snapshot), live: 0, heartbeatNs: snapshot.evidence.heartbeatNs };
    const states = Array.from(snapshot.nodes(), ({ state }) => state);
    for (const state of states) seen.add(state);
    const live = states.filter(state => state === 'live').length;
    return { text: mirrorText(snapshot), live, heartbeatNs: snapshot.evidence.heartbeatNs };
  };
  const back = async (what: string) => {
    // Only heartbeats from after the fault count.
    const since = look().heartbeatNs;
    longestMs = 0;
    const isBack = (found: ReturnType<typeof look>) =>
      found.heartbeatNs > since + 1_000_000_000n && found.live === NODES && found;
    // Servers that have lost each other try again more and more rarely.
    const found = await until(`${what}: all is known again`, () => isBack(look()), 20, { withinMs: 60_000 });
    t.comment(`${what}: without a heartbeat for ${Math.round(longestMs)} ms at most`);
    t.notOk(seen.has('silent'), `${what}: nobody was called silent`);
    return found;
  };

  await until('the mirror is whole', () => look().live === NODES);
  t.match(look().text, /^mirror of alpha by m1, \d+ ms behind$/);
  const status = await run(['status', '--board', board]);
  t.match(status.stdout, /^alpha: 20 nodes: 20 live; mirror of alpha by m1, \d+ ms behind; listening without gaps for/);
  const json = JSON.parse((await run(['status', '--board', board, '--json'])).stdout);
  t.strictSame(unlike('Status', json), []);
  t.match(json.board.mirror, { site: 'home', master: 'm1', heard: true, others: [], vetoed: 0 });
  for (const refused of [
    ['receive', '--listen', '127.0.0.1:0', '--cluster', 'alpha'],
    ['forget', 'node1'],
  ]) {
    const { code, stderr } = await run([refused[0] as string, '--board', board, ...refused.slice(1)]);
    t.not(code, 0);
    t.match(stderr, /mirror/, `${refused[0]} refuses it`);
  }
  const other = await run([...mirrorArgs(leaf.port, source)]);
  t.equal(other.code, 1, 'and a mirror refuses the board of a receiver');

  /** The server by which the relay publishes now. */
  const used = () => {
    const port = /.*connected to 127\.0\.0\.1:(\d+)/s.exec(relay.output().stderr)?.[1];
    return hubs.find(hub => hub.port === Number(port)) as Server;
  };
  const first = used();
  first.child.kill('SIGKILL');
  await back('a server is killed');
  first.restart();
  await back('it is back');
  const second = used();
  t.not(second, first, 'the relay has gone to another server');
  second.child.kill('SIGSTOP');
  await back('a server is frozen');
  second.child.kill('SIGCONT');
  await back('it goes on');
  leaf.child.kill('SIGKILL');
  await once(leaf.child, 'close');
  leaf.restart();
  await back("the mirror's own server is killed and restarted");
  relay.child.kill('SIGKILL');
  await until('nothing is known', () => look().live === 0);
  relay = start(t, relayArgs);
  await back('the relay is killed and restarted');
  load.child.kill('SIGTERM');
  relay.child.kill('SIGTERM');
  mirror.child.kill('SIGTERM');
  t.equal(await mirror.exit, 0);
  t.match(mirror.output().stderr, /clean shutdown; the board stays/);
  t.notMatch(mirror.output().stderr, /not believed|permission|did not prove/i);
  t.match(mirror.output().stderr, /verifies with key 1: a report needs a signature with a cluster key/);
  t.notMatch(relay.output().stderr, /permission/i);
  await until('it is stalled', () => reader.snapshot().stalled);
  t.ok(reader.snapshot().closed);
});
