// Versions from before the board remembered trouble, beside this one: their library, their gate and their `status` on a
// board of today's receiver, ours on one of theirs, and both receivers in turns on one board. They are built from the
// history of the repository. What of this needs no history is in test/library/library.test.ts (no memory is not the
// same as no trouble), test/board/board.test.ts (boards of older layouts are copied), and test/library/examples.test.ts:
// examples/go/board.go is a reader of 2.0.

import { fork, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bits, enums } from '../../src/layout/layout.gen.js';
import { PROBLEMS } from '../../src/shm/problems.js';
import { must } from '../kit/children.js';
import { monotonicNs } from '../kit/clocks.js';
import { compiled, makeIn } from '../kit/compiling.js';
import { isInHistory, unpackCommit } from '../kit/history.js';
import { validOf } from '../kit/madeboard.js';
import { boardPath, folder, ROOT, type Teardown } from '../kit/places.js';
import { PROGRAM, runningOf } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';

t.setTimeout(900_000);
const S = 1_000_000_000n;

/** What of a version reads and writes boards. */
interface Version {
  calls: string;
  gate: string;
  program: string;
}

function compileCalls(t: Teardown, source: string, library: string): string {
  const to = join(folder(t), 'calls');
  const link = [`-L${library}`, '-lbeoboard', `-Wl,-rpath,${library}`];
  must('gcc', ['-std=c11', '-D_GNU_SOURCE', '-o', to, source, ...link]);
  return to;
}

/** Builds a commit, with the packages of today. */
function build(t: Teardown, commit: string): Version {
  const root = folder(t);
  unpackCommit(commit, root);
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  must(process.execPath, ['scripts/build.mjs'], { cwd: root });
  must('make', ['-s', '-C', 'c', 'lib'], { cwd: root });
  must('make', ['-s', '-C', 'c/gate', `OUT=${join(root, 'gate')}`], { cwd: root });
  const source = ['c/lib/test/calls.c', 'c/test/lib/calls.c'].map(path => join(root, path)).find(existsSync) ?? '';
  return {
    calls: compileCalls(t, source, join(root, 'build')),
    gate: join(root, 'gate', 'beoboard-gate'),
    program: join(root, 'dist', 'bin', 'beoboard.cjs'),
  };
}

/** A receiver of a version; resolves when it is ready. */
async function receive(t: Teardown, { program }: Version, board: string) {
  const limits = ['--uncertain-after', '500ms', '--silent-after', '1500ms', '--longest-interval', '10m'];
  const argv = ['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '64', ...limits];
  const child = fork(program, argv, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const running = runningOf(t, child, argv);
  const { listening } = await running.ready;
  return {
    port: Number(listening?.[0]?.split(':').at(-1)),
    async end() {
      child.kill();
      return running.exit;
    },
  };
}

interface Seen {
  name: string;
  state: number;
  check: number;
  reports: number;
  newest: { seq: number };
  recent?: number;
  memory?: { error?: number; remembers: number; recent: number; silences: number; episodes: number[][] };
}

/** What a version's library says of each node, by name. */
function look({ calls }: Version, board: string): Record<string, Seen> {
  const { node } = JSON.parse(must(calls, ['show', board])) as { node: Seen[] };
  return Object.fromEntries(node.map(seen => [seen.name, seen]));
}

/** The same as far as every version knows it. */
const plain = (nodes: Record<string, Seen>) =>
  Object.values(nodes).map(({ name, state, check, reports, newest }) => [name, state, check, reports, newest.seq]);

/** What the gate answers: its exit code, and the nodes that it names. */
function ask({ gate }: Version, board: string, nodes: string, ...more: string[]): [number | null, string[]] {
  const argv = ['--board', board, '--nodes', nodes, '--wait', '0s', '--brake', '100%', ...more];
  const { status, stderr } = spawnSync(gate, argv, { encoding: 'utf8' });
  return [status, [...new Set(stderr.match(/\bn\d\b/g))]];
}

const states = ({ program }: Version, board: string) =>
  JSON.parse(spawnSync(process.execPath, [program, 'status', '--board', board, '--json'], { encoding: 'utf8' }).stdout)
    .states as unknown;

const valid = validOf('vmstat', 'health');
const LONG = { valid, interval_ms: 600_000, health: enums.health.indexOf('ok') };
const OOM = PROBLEMS.indexOf('oom');

/**
 * A node that goes on, of which a program was killed; one whose health is bad; one that falls silent, and one that says
 * goodbye. `seq` is of their first report.
 */
async function report(port: number, seq: number): Promise<void> {
  const socket = createSocket('udp4');
  const boot = { boot_id: 5n, start_boot_ns: 1n };
  const send = (hostname: string, n: number, values: object) =>
    new Promise(resolve =>
      socket.send(
        makeReport({ hostname, seq: n, t_boot_ns: 100n * S + BigInt(n) * S, ...boot, ...values }),
        port,
        '127.0.0.1',
        resolve,
      ),
    );
  await send('n1', seq, { ...LONG, oom_kills: seq });
  await send('n1', seq + 1, { ...LONG, oom_kills: seq + 1 });
  await send('n2', seq, { ...LONG, health: enums.health.indexOf('bad') });
  await send('n3', seq, { valid });
  await send('n4', seq, { flags: 1 << bits.flags.goodbye });
  socket.close();
}

const OLD = [
  ['adbff188', 'board 2.0'],
  ['902a49de', 'board 2.1, whose memory knows no trouble'],
] as const;

const ours: Version = {
  calls: compileCalls(t, join(ROOT, 'c', 'test', 'lib', 'calls.c'), makeIn('', {}, 'lib')),
  gate: compiled(t, 'gate', 'beoboard-gate'),
  program: PROGRAM,
};

for (const [commit, what] of OLD) {
  t.test(`${commit}: ${what}`, { skip: !isInHistory(commit) && 'the history is not here' }, async t => {
    const theirs = build(t, commit);
    const board = boardPath(t);

    /** Both read what the receiver of one has written, and know the same of it. */
    const agree = (who: string) => {
      const [a, b] = [look(ours, board), look(theirs, board)];
      t.same(plain(b), plain(a), `${who}: their library says what ours says`);
      t.same(
        Object.values(a).map(({ state }) => state),
        [1, 1, 3, 4],
        'live, live, silent, left',
      );
      for (const [nodes, ...more] of [['n1'], ['n[1-2]'], ['n[1-2]', '--health'], ['n1,n3'], ['n[3-4]'], ['n1,n5']]) {
        const answer = ask(ours, board, nodes ?? '', ...more);
        t.same(ask(theirs, board, nodes ?? '', ...more), answer, `the gate for ${nodes} ${more}: ${answer}`);
      }
      t.equal(ask(theirs, board, 'n1')[0], 0);
      t.equal(ask(theirs, board, 'n[1-2]', '--health')[0], 1);
      t.equal(ask(theirs, board, 'n1,n3')[0], 1);
      t.same(states(theirs, board), states(ours, board), 'and so does status');
      return a;
    };
    const silent = () =>
      until('n3 is silent', () => {
        const n3 = look(ours, board).n3;
        return n3?.state === 3 && (n3.memory?.error !== undefined || n3.memory?.silences === 1);
      });

    const first = await receive(t, ours, board);
    await report(first.port, 1);
    await silent();
    const { n1, n3 } = agree('our board');
    t.same([n1?.recent, n3?.memory?.silences], [1 << OOM, 1], 'of which ours remembers more');
    t.equal(await first.end(), 0);

    const second = await receive(t, theirs, board);
    t.same(look(ours, board), {}, 'their receiver begins a new board');
    await report(second.port, 1);
    await silent();
    for (const { name, recent, memory } of Object.values(agree('their board')))
      t.same(
        [recent, memory],
        [-61, { error: -61 }],
        `${name}: nothing is known of its trouble, not even that it had none`,
      );
    t.equal(await second.end(), 0);

    const before = monotonicNs();
    const third = await receive(t, ours, board);
    const taken = look(ours, board);
    t.same(Object.keys(taken), ['n1', 'n2', 'n3', 'n4'], 'ours takes it over');
    for (const { name, memory } of Object.values(taken)) {
      // By the last heartbeat of theirs n3 was silent, and it still is.
      t.same([memory?.recent, memory?.silences], [0, Number(name === 'n3')], name);
      t.ok(BigInt(memory?.remembers ?? 0) <= monotonicNs() - before, 'none since then');
    }
    await report(third.port, 3);
    await silent();
    const last = agree('a board that was theirs');
    t.same(last.n1?.memory?.episodes[OOM]?.[2], 1, 'what happens from then on is remembered');
    t.equal(last.n1?.reports, 2);
    t.equal(await third.end(), 0);
  });
}
