// `beoboard journal` beside a real receiver: silences to their reports, jobs for those who may read them, orders of the
// bridge, a daemon that is killed, a second one, and a disk that is full.
//
// @seconds 25
// @waits
// @rest

import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ordersText } from '../../src/schedulerfile/orderfile.js';
import {
  monotonicMs,
  type OddMark,
  SCHEMA,
  type SchedulerState,
  stateText,
} from '../../src/schedulerfile/statefile.js';
import { BoardReader } from '../../src/shm/reader.js';
import { startIn } from '../kit/hanging.js';
import { linesIn } from '../kit/journals.js';
import { folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(600_000);

/** Nodes that report five times a second. */
class Nodes {
  readonly heard = new Set<string>();
  #seq = 0;

  static async begin(t: Test, port: number, ...names: string[]): Promise<Nodes> {
    const nodes = new Nodes();
    for (const name of names) nodes.heard.add(name);
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const timer = setInterval(() => {
      nodes.#seq++;
      for (const hostname of nodes.heard) {
        const t_boot_ns = BigInt(Math.round(performance.now() * 1e6));
        const interval_ms = 200;
        socket.send(makeReport({ hostname, seq: nodes.#seq, t_boot_ns, interval_ms }), port, '127.0.0.1');
      }
    }, 200);
    t.teardown(() => {
      clearInterval(timer);
      socket.close();
    });
    return nodes;
  }
}

const files = (dir: string, kind: string) =>
  existsSync(dir) ? readdirSync(dir).filter(name => name.startsWith(kind)) : [];

/** What the reader of a scheduler leaves: one job, and the marks on its nodes. */
function jobState(nodes: string, marks: readonly OddMark[] = []): SchedulerState {
  const now = { time_ms: Date.now(), mono_ms: monotonicMs() };
  const node = { name: 'n1', state: 'ALLOCATED', cpus: 4 };
  const job = { id: '4711', state: 'RUNNING', user: 'anna', partition: 'long', cpus: 4, nodes, name: 'secret' };
  return {
    ...{ schema: SCHEMA, scheduler: 'Slurm', daemon: 'slurmd', user: 'root', cluster: 'c', version: '24' },
    ...{ pid: process.pid, ...now, next_ms: now.mono_ms + 600_000, names: {}, differences: [] },
    ...{ nodes: { ...now, list: [node] }, jobs: { ...now, list: [job] } },
    odd: { marks, unjudged: {} },
  };
}

t.test('a journal beside a receiver', async t => {
  const at = folder(t);
  const [board, dir, runs, slurm, bridge] = ['board', 'journal', 'run', 'slurm', 'bridge'].map(name =>
    join(at, name),
  ) as [string, string, string, string, string];
  for (const made of [runs, slurm, bridge]) mkdirSync(made);
  writeFileSync(join(slurm, 'state'), stateText(jobState('n1')));
  const order = { time_ms: Date.now() - 60_000, act: 'drain', node: 'n3', outcome: 'done', why: 'silent' };
  writeFileSync(join(bridge, 'orders'), ordersText({ since_ms: 5, count: 1, orders: [{ n: 1, ...order }] }));
  const { port } = await startReceiver(t, board, ['--uncertain-after', '1s', '--silent-after', '2s']);
  const nodes = await Nodes.begin(t, port, 'n1', 'n2', 'n3');
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  const argv = ['journal', '--board', board, '--journal-dir', dir, '--journal-run', runs, '--slurm-dir', slurm];
  argv.push('--bridge-dir', bridge);
  const journal = start(t, argv);
  await journal.ready;
  await until('it begins', () => linesIn(dir).some(({ event }) => event === 'begin'));
  await until('all report', () => reader.snapshot().count === 3);

  nodes.heard.delete('n1');
  const orders = [
    { n: 1, ...order },
    { n: 2, ...order, time_ms: Date.now() + 1, act: 'resume' },
  ];
  writeFileSync(join(bridge, 'orders'), ordersText({ since_ms: 5, count: 2, orders }));
  const of = (...events: string[]) => linesIn(dir).filter(({ event }) => events.includes(event));
  const silent = await until('it is silent', () => of('silent')[0]);
  t.match(silent, { counts: { n1: 1 } });
  await until('each segment counts all', () => of('counts').length > 0);
  t.match(silent, { nodes: 'n1', count: 1, last_words: [], board: 'default' });
  /** When the last report of a node came, by the board. */
  const stampOf = (name: string) => Number((reader.snapshotOf(name).node(0).lastRealNs ?? 0n) / 1_000_000n);
  const near = (time: string | undefined, ms: number, what: string) =>
    t.ok(Math.abs(Date.parse(time ?? '') - ms) <= 10, `${what}: ${time}, ${new Date(ms).toISOString()}`);
  const fell = stampOf('n1');
  near(silent.from, fell, 'from its last report');
  const ack = (...argv: string[]) => run(['ack', 'silent', ...argv, '--board', board], { SUDO_USER: 'eva' });
  t.match(await ack('--until', '+1h', '--reason', 'PSU'), { code: 0 });
  const acknowledged = await until('it is acknowledged', () => of('acknowledged')[0]);
  t.match(acknowledged, { key: 'silent', by: 'eva', nodes: 'n1', count: 1, why: 'PSU' });
  t.ok(Date.parse(acknowledged.until ?? '') > Date.now());
  t.match(await ack('--withdraw'), { code: 0 });
  t.match(await until('that is withdrawn', () => of('withdrawn')[0]), { key: 'silent' });
  t.match(
    (await run(['events', '--since', '1h ago', '--journal-dir', dir])).stdout,
    /n1 silent acknowledged by eva until \S+ \S+: PSU\n.*silent is no longer acknowledged\n/,
  );
  t.match(await ack('--until', '+2h'), { code: 0 });
  await until('it is acknowledged again', () => of('acknowledged')[1]);
  const before = Date.now();
  nodes.heard.add('n1');
  const again = await until('it is heard again', () => of('heard_again')[0]);
  near(again.from, fell, 'from its last report');
  const to = Date.parse(again.to ?? '');
  t.ok(to >= before - 10 && to <= stampOf('n1') + 10, 'to the next');

  const [jobs = ''] = files(dir, 'jobs-');
  const path = join(dir, jobs);
  t.strictSame(JSON.parse(readFileSync(path, 'utf8')), {
    ...{ id: silent.id },
    ...{ jobs: [{ id: '4711', user: 'anna', partition: 'long', name: 'secret', nodes: 'n1' }] },
  });
  t.equal(statSync(path).mode & 0o777, 0o640, 'not for everybody');
  for (const name of files(dir, 'events-'))
    t.notMatch(readFileSync(join(dir, name), 'utf8'), /"4711"|anna|secret/, 'and in no other file');
  const resumed = await until('the bridge has done something', () => of('order')[0]);
  t.match(resumed, { act: 'resume', nodes: 'n3', why: 'silent', outcome: 'done' }, 'since the journal began');

  t.match(await run(argv), { code: 1, stderr: /another beoboard journal writes there; end it first/ });

  journal.child.kill('SIGKILL');
  await journal.exit;
  const [events = ''] = files(dir, 'events-');
  appendFileSync(join(dir, events), '{"id":"half');
  t.match(await ack('--withdraw'), { code: 0 }, 'while there is no journal');
  nodes.heard.delete('n2');
  const states = async () => (await run(['nodes', '--board', board, '--state', 'silent'])).stdout;
  await until('n2 is silent', async () => (await states()) === 'n2\n', 100);
  const gone = stampOf('n2');
  nodes.heard.add('n2');
  await until('n2 is back', async () => (await states()) === '', 100);
  const next = start(t, argv);
  await next.ready;
  const late = await until('it is found', () => of('silent')[1]);
  t.match(late, { nodes: 'n2', late: true });
  near(late.from, gone, 'from its last report');
  await until('its end, too', () => of('heard_again').length === 2);
  t.equal((await until('that is withdrawn, too', () => of('withdrawn')[1])).key, 'silent');
  t.same([of('order').length, of('acknowledged', 'withdrawn').length], [1, 4], 'nothing is told twice');
  const ids = linesIn(dir).map(({ id }) => Number(id.split('-')[2]));
  t.strictSame(
    ids,
    ids.map((_, i) => i + 1),
    'the numbers go on',
  );
  t.ok(existsSync(join(runs, 'default.json')));

  next.child.kill('SIGTERM');
  t.equal(await next.exit, 0);
  t.equal(linesIn(dir).at(-1)?.event, 'end');
  t.notOk(existsSync(join(runs, 'default.json')), 'a journal that was ended is no trouble');
});

t.test('marks on odd nodes, and their job for those who may read it', async t => {
  const at = folder(t);
  const [board, dir, runs, slurm] = ['board', 'journal', 'run', 'slurm'].map(name => join(at, name)) as [
    ...[string, string, string, string],
  ];
  for (const made of [runs, slurm]) mkdirSync(made);
  const marked = (...marks: readonly OddMark[]) => {
    writeFileSync(join(slurm, 'new'), stateText(jobState('n[1-2]', marks)));
    renameSync(join(slurm, 'new'), join(slurm, 'state'));
  };
  marked();
  const { port } = await startReceiver(t, board);
  await Nodes.begin(t, port, 'n1', 'n2');
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  await until('both report', () => reader.snapshot().count === 2);
  start(t, ['journal', '--board', board, '--journal-dir', dir, '--journal-run', runs, '--slurm-dir', slurm]);
  await until('it begins', () => linesIn(dir).some(({ event }) => event === 'begin'));
  const since_ms = monotonicMs() - 15_000;
  const of = { job: '4711', reading: 'mhz', value: 1200, peers: 7, median: 2900, lowest: 2900, highest: 2920 };
  marked({ ...of, node: 'n2', since_ms });
  const odd = await until('the mark is told', () => linesIn(dir).find(({ event }) => event === 'odd'), 100);
  t.match(odd, { nodes: 'n2', reading: 'mhz', value: 1200 });
  const [jobs = ''] = files(dir, 'jobs-');
  t.strictSame(JSON.parse(readFileSync(join(dir, jobs), 'utf8')), {
    ...{ id: odd.id },
    jobs: [{ id: '4711', user: 'anna', partition: 'long', name: 'secret', nodes: 'n2' }],
  });
  for (const name of files(dir, 'events-'))
    t.notMatch(readFileSync(join(dir, name), 'utf8'), /"4711"|anna|secret/, 'in no other file');
  marked();
  const ended = await until('its end, too', () => linesIn(dir).find(({ event }) => event === 'odd_ended'), 100);
  t.match(ended, { nodes: 'n2', reading: 'mhz', from: odd.from, why: undefined });
});

const isFullable =
  spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs none /run']).status === 0 || process.env.CI === 'true'
    ? false
    : 'no mount namespaces here';

t.test('a disk that is full', { skip: isFullable }, async t => {
  const at = folder(t);
  const [board, dir, runs] = ['board', 'disk', 'run'].map(name => join(at, name)) as [string, string, string];
  mkdirSync(runs);
  mkdirSync(dir);
  const { port } = await startReceiver(t, board);
  const nodes = await Nodes.begin(t, port, 'n1');
  const script = `mount -t tmpfs -o size=64k,mode=755 none ${dir}\nexec "$@"`;
  const argv = ['journal', '--board', board, '--journal-dir', join(dir, 'journal'), '--journal-run', runs];
  const journal = startIn(t, { prefix: ['unshare', '-m', 'sh', '-ec', script, 'sh'] }, argv);
  const inside = join(`/proc/${journal.child.pid}/root`, dir);
  const lines = () => linesIn(join(inside, 'journal'));
  await until('it begins', () => lines().some(({ event }) => event === 'begin'));
  const filler = join(inside, 'filler');
  for (let size = 65536; size >= 1; size >>= 1)
    try {
      appendFileSync(filler, Buffer.alloc(size, 'x'));
    } catch {}
  const before = lines().length;
  const state = () => JSON.parse(readFileSync(join(runs, 'default.json'), 'utf8')) as Record<string, unknown>;
  // Names that no host list makes short: more than what is left of the last page.
  for (let i = 1; i <= 500; i++) nodes.heard.add(`m${i * i}x${i}`);
  await until('a line does not fit any more', () => state().error !== undefined);
  t.match(state().error, /^cannot write .*: ENOSPC$/);
  const check = await run(['check', '--board', board, '--journal-run', runs]);
  t.match(check, { code: 1, stdout: /the journal .*ENOSPC/ });
  t.match(journal.lines().join(), /cannot write .*ENOSPC; lines wait/);
  rmSync(filler);
  await until('it goes on', () => state().error === undefined && lines().length > before);
  await until('what waited is written', () => lines().some(({ nodes }) => nodes?.includes('m250000x500')));
  await until('it says so', () => /writes again, after/.test(journal.lines().join()));
  t.match(await run(['check', '--board', board, '--journal-run', runs]), { code: 0 });
});
