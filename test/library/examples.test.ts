// The examples as a reader of the documentation would run them: with a receiver and a simulated cluster; and those that
// read the layout themselves, with a writer at full speed.
//
// @seconds 15
// @waits
// @rest

import { spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bits, enums } from '../../src/layout/layout.gen.js';
import { random } from '../../src/load/simulatednode.js';
import { BoardReader } from '../../src/shm/reader.js';
import { openWriter } from '../../src/shm/writer.js';
import { follow } from '../kit/children.js';
import { monotonicNs } from '../kit/clocks.js';
import { makeIn } from '../kit/compiling.js';
import { keepAlive } from '../kit/heart.js';
import { makeLinkBoard } from '../kit/linkboard.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { run as runProgram, start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { deliver } from '../kit/testwriter.js';
import { until } from '../kit/until.js';

const OUT = folder(t);
const EXAMPLES = join(ROOT, 'examples');
const NODES = 20;

function run(command: string, args: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  return { status, stdout: stdout ?? '', stderr: stderr ?? String(error) };
}

const MADE = makeIn('', {}, 'lib', 'examples', 'OUT/test/lib/threads');
const example = (name: string, ...args: string[]) => run(join(MADE, name), args);

/**
 * How to run a reader in another language, which writes lines of NAME STATE AGE_MS SEQ LOAD1, or why it cannot run.
 * Python must be there in CI; without Go or Rust only their tests are skipped.
 */
interface Reader {
  what: string;
  skip: string | false;
  command: string[];
  env?: Record<string, string>;
}

const has = (program: string, ...args: string[]) => spawnSync(program, args).error === undefined;
const python = !has('python3', '--version') && !process.env.CI && 'python3 missing: apt-get install python3';
function compiled(
  what: string,
  program: string,
  packages: string,
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Reader {
  const to = join(OUT, `board-${program}`);
  if (!has(command, program === 'go' ? 'version' : '--version'))
    return { what, skip: `${command} missing: apt-get install ${packages}`, command: [] };
  const { status, stderr } = run(
    command,
    args.map(arg => arg.replace('TO', to)),
    env,
  );
  t.strictSame([status, stderr], [0, ''], `${what} is compiled without a word`);
  return { what, skip: false, command: [to] };
}

const readers: Reader[] = [
  {
    what: 'Python',
    skip: python,
    command: ['python3', join(EXAMPLES, 'python', 'nodes.py')],
    env: {
      PYTHONPATH: join(ROOT, 'python'),
      PYTHONDONTWRITEBYTECODE: '1',
      BEOBOARD_LIBRARY: join(MADE, 'libbeoboard.so.1'),
    },
  },
  compiled('Go', 'go', 'golang-go', 'go', ['build', '-o', 'TO', join(EXAMPLES, 'go', 'board.go')], {
    GOFLAGS: '-mod=mod',
    CGO_ENABLED: '0',
  }),
  compiled('Rust', 'rust', 'rustc', 'rustc', [
    '-O',
    '--edition',
    '2021',
    '-D',
    'warnings',
    '-o',
    'TO',
    join(EXAMPLES, 'rust', 'board.rs'),
  ]),
];

function read(reader: Reader, ...args: string[]) {
  const [command = '', ...first] = reader.command;
  const { status, stdout, stderr } = run(command, [...first, ...args], reader.env);
  const lines = stdout.split('\n').filter(line => line !== '');
  return { status, stderr, rows: lines.map(line => line.split(' ')) };
}

t.test('the least loaded node, of a board whose loads are known', async t => {
  const path = boardPath(t);
  const writer = openWriter({
    path,
    cluster: '',
    capacity: 16,
    uncertainAfter: 4500,
    silentAfter: 10_500,
    nodes: ['busy', 'small', 'good', 'unmeasured', 'held', 'ill', 'gone', 'silent', 'uncertain', 'never'],
  });
  t.teardown(() => writer.close());
  const now = monotonicNs();
  const valid = (['load', 'cpus', 'memory', 'health'] as const).reduce(
    (all, set) => all | (1n << BigInt(bits.valid[set])),
    0n,
  );
  const lay = (hostname: string, ageS: bigint, values: object) =>
    deliver(
      writer,
      makeReport({ hostname, valid, cpus_online: 64, mem_avail_mib: 1000, ...values }),
      now - ageS * 1_000_000_000n,
      0n,
    );
  writer.listeningSince(now - 100_000_000_000n);
  lay('busy', 0n, { load1_c: 3200 });
  lay('small', 0n, { load1_c: 100, cpus_online: 1 });
  lay('good', 0n, { load1_c: 640, mem_avail_mib: 2000 });
  lay('unmeasured', 0n, { valid: 0n });
  lay('held', 0n, { load1_c: 0, flags: 2 ** bits.flags.held });
  lay('ill', 0n, { load1_c: 0, health: 3 });
  lay('gone', 0n, { load1_c: 0, flags: 2 ** bits.flags.goodbye });
  lay('silent', 60n, { load1_c: 0 });
  lay('uncertain', 6n, { load1_c: 0 });
  writer.heartbeat(now);
  t.strictSame(example('least-loaded', '-b', path), {
    status: 0,
    stdout: 'good 6.40 of 64 CPUs, 2000 MiB free\n',
    stderr: '',
  });
  t.equal(example('least-loaded', '-b', path, '3000').status, 1, 'with more memory than any has free');
  t.strictSame(example('may-start', '-b', path, 'good', 'busy'), { status: 0, stdout: '', stderr: '' });
  t.strictSame(
    example('may-start', '-b', path, 'good', 'held', 'ill', 'gone', 'silent', 'uncertain', 'never', 'nobody'),
    {
      status: 1,
      stdout:
        'held: put on hold by its administrator\nill: its health check failed\ngone: left\nsilent: silent\nuncertain: uncertain\nnever: never\nnobody: not on the board\n',
      stderr: '',
    },
  );
  t.equal(example('may-start', '-b', path).status, 2);
  t.equal(example('may-start', '-b', `${path}.nothing`, 'good').status, 4);
});

t.test('why a job may not start: it may be the network', async t => {
  const path = boardPath(t);
  const S = 1_000_000_000n;
  const keys = [{ id: 1, secret: Buffer.alloc(32, 7) }];
  const options = { path, cluster: '', capacity: 16, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] };
  const writer = openWriter({ ...options, trust: { keys, required: 'none', clockWindow: 60_000 } });
  t.teardown(() => writer.close());
  const now = monotonicNs();
  const lay = (hostname: string, ageS: bigint, link: string, values: object = {}) =>
    writer.deliver(makeReport({ hostname, ...values }), now - ageS * S, 1_700_000_000n * S, link);
  lay('d1', 12n, 'eth0');
  lay('d2', 12n, 'eth0');
  lay('u1', 12n, 'eth1');
  lay('s1', 12n, 'eth2');
  lay('s2', 0n, 'eth2');
  lay('r1', 6n, 'eth2');
  // A report of another boot is rejected while the first boot is still reporting.
  t.equal(lay('r1', 5n, 'eth2', { boot_id: 77n, t_real_ns: 1_699_999_990n * S }), enums.reason.indexOf('rival'));
  writer.listeningSince(now - 25n * S);
  writer.linkState(2, 0, false, monotonicNs());
  writer.heartbeat(monotonicNs());
  writer.survey();
  t.strictSame(example('may-start', '-b', path, 'd1', 'u1', 's1', 's2', 'r1'), {
    status: 1,
    stdout: [
      'd1: silent; 2 nodes on link eth0 fell together',
      "u1: uncertain; the master's link eth1 is down",
      's1: silent',
      'r1: uncertain; reports in its name are rejected: rival, clock -10.000 s off; they may be recordings',
      '',
    ].join('\n'),
    stderr: '',
  });
});

t.test('nodes of many links, of each of which something else is known', async t => {
  const next = random(Number(process.env.SEED ?? 1));
  const pick = (n: number) => Math.floor(next() * n);
  const seen = new Set<string>();
  for (let round = 0; round < 4; round++) {
    const path = boardPath(t);
    const wanted = makeLinkBoard(path, pick).map(({ name, link, state }) => `${name} of ${link}: ${state}`);
    for (const line of wanted)
      seen.add(
        line.replace(
          /^\S+ of (0|31|\d+): /,
          (_, link) => `${{ 0: 'none', 31: 'others' }[link as string] ?? 'a link'} `,
        ),
      );
    const links = wanted.map(line => line.replace(/: .*/, ''));
    keepAlive(t, path, []);
    for (const one of readers.filter(({ skip }) => skip === false)) {
      const { status, rows, stderr } = read(one, path);
      t.equal(status, 0, stderr);
      t.strictSame(
        rows.map(([, state], i) => `${links[i]}: ${state}`),
        wanted,
        `round ${round}: ${one.what}`,
      );
    }
  }
  for (const kind of ['a link silent', 'a link uncertain', 'others silent', 'none uncertain'])
    t.ok(seen.has(kind), kind);
});

t.test('a receiver and a simulated cluster', async t => {
  const path = boardPath(t);
  // Started before there is a board, a receiver, or a node of that name.
  const waiting = spawn(join(MADE, 'wait-for-node'), ['-b', path, 'back1', '120']);
  const waited = follow(waiting, t);
  await until('it has said that there is no board', () => waited.stdout.includes('no such board'));

  const receiver = await startReceiver(t, path, ['--uncertain-after', '2s', '--silent-after', '4s']);
  const to = `127.0.0.1:${receiver.port}`;
  const load = start(t, ['load', '--to', to, '--size', String(NODES), '--prefix', 'n', '--interval', '500ms']);
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  const look = () => {
    const snapshot = existsSync(path) ? reader.snapshot() : undefined;
    return snapshot === undefined
      ? []
      : [...snapshot.nodes()].map(node => ({
          name: node.name,
          state: node.state,
          seq: node.report?.seq ?? -1,
          previous: node.previous?.seq ?? -1,
        }));
  };
  await until(
    'all nodes have reported twice',
    () => look().filter(node => node.state === 'live' && node.previous >= 0).length === NODES,
  );
  const names = look().map(node => node.name);

  await t.test('the least loaded', async t => {
    const { status, stdout } = example('least-loaded', '-b', path, '1000');
    t.equal(status, 0);
    const [, name = '', shown = ''] = /^(\S+) (\d+\.\d+) of 64 CPUs, \d+ MiB free\n$/.exec(stdout) ?? [];
    t.ok(names.includes(name), stdout);
    t.ok(Number(shown) <= 64);
  });

  await t.test('may a job start', async t => {
    t.strictSame(example('may-start', '-b', path, ...names), { status: 0, stdout: '', stderr: '' });
    t.strictSame(example('may-start', '-b', path, ...names, 'n99'), {
      status: 1,
      stdout: 'n99: not on the board\n',
      stderr: '',
    });
  });

  for (const one of readers)
    await t.test(one.what, { skip: one.skip }, async t => {
      const before = look();
      const { status, rows, stderr } = read(one, path);
      const after = look();
      t.equal(status, 0, stderr);
      t.strictSame(
        rows.map(row => row[0]),
        names,
      );
      rows.forEach((row, i) => {
        t.equal(row.length, 5);
        t.equal(row[1], 'live');
        t.ok(Number(row[2]) >= 0 && Number(row[2]) < 2000, `age ${row[2]}`);
        const seq = Number(row[3]);
        t.ok(
          seq >= (before[i]?.seq ?? 0) && seq <= (after[i]?.seq ?? 0),
          `${row[0]}: report ${seq}, between ${before[i]?.seq} and ${after[i]?.seq}`,
        );
        t.ok(Number(row.at(-1)) <= 64);
      });
      if (one.what !== 'Python') return;
      t.strictSame(
        read(one, path, 'n07').rows.map(row => row.slice(0, 2)),
        [['n07', 'live']],
        'found by its name',
      );
      t.equal(read(one, path, 'n99').status, 1);
      t.equal(read(one, `${path}.nothing`).status, 4);
    });

  await t.test('a node comes back', async t => {
    await until('it has said that the node is not there', () => waited.stdout.includes('back1: not on the board'));
    start(t, ['load', '--to', to, '--size', '1', '--prefix', 'back', '--interval', '500ms']);
    t.equal(await waited.exit, 0);
    t.match(
      waited.stdout,
      /^back1: no such board.*\n(back1: the board is.*\n)*back1: not on the board\nback1: live\n$/,
    );
  });

  await t.test('the cluster falls silent', async t => {
    load.child.kill('SIGKILL');
    await load.exit;
    await until('all are silent', () =>
      look()
        .filter(node => node.name.startsWith('n'))
        .every(node => node.state === 'silent'),
    );
    const { status, stdout } = example('may-start', '-b', path, ...names);
    // 21 with back1, unless back1 was silent before.
    const why = `silent; ${/ 21 nodes/.test(stdout) ? 21 : 20} nodes on link lo fell together`;
    t.strictSame([status, stdout], [1, names.map(name => `${name}: ${why}\n`).join('')]);
    t.equal(example('least-loaded', '-b', path).status, 1);
    for (const one of readers.filter(({ skip }) => skip === false))
      t.strictSame(
        [
          ...new Set(
            read(one, path)
              .rows.filter(row => row[0] !== 'back1')
              .map(row => row[1]),
          ),
        ],
        ['silent'],
        one.what,
      );
    t.equal(example('wait-for-node', '-b', path, names[0] ?? '', '0').status, 1, 'whose time is over at once');
  });

  await t.test('the receiver is killed: nobody is blamed', async t => {
    receiver.child.kill('SIGKILL');
    await receiver.exit;
    await until('the board is stalled', () => reader.snapshot().stalled);
    // libbeoboard reads a coarse clock, which is up to one tick of the kernel behind, so it sees the stall later.
    const seenMs = reader.snapshot().heartbeatAgeMs ?? 0;
    await until('a tick has passed', () => (reader.snapshot().heartbeatAgeMs ?? 0) > seenMs + 50);
    t.strictSame(
      [example('may-start', '-b', path, ...names).status, example('least-loaded', '-b', path).status],
      [4, 4],
    );
    for (const one of readers.filter(({ skip }) => skip === false)) {
      const { status, rows } = read(one, path);
      t.strictSame([status, [...new Set(rows.map(row => row[1]))]], [4, ['unknown']], one.what);
    }
  });
});

t.test('the reader of an example may close the pipe early, as head does', async t => {
  const path = boardPath(t);
  const { port } = await startReceiver(t, path);
  await runProgram(['load', '--to', `127.0.0.1:${port}`, '--size', '3', '--interval', '100ms', '--for', '200ms']);
  const pipe = join(OUT, 'left');
  t.equal(run('mkfifo', [pipe]).status, 0);
  for (const one of readers.filter(({ skip }) => skip === false)) {
    const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const writing = openSync(pipe, constants.O_WRONLY);
    closeSync(reading);
    const [command = '', ...first] = one.command;
    const env = { ...process.env, ...one.env };
    const { signal, stderr } = spawnSync(command, [...first, path], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', writing, 'pipe'],
    });
    closeSync(writing);
    t.equal(signal, 'SIGPIPE', one.what);
    t.equal(stderr, '', 'without a word of it');
  }
});

t.test('a writer at full speed tears nothing', async t => {
  const path = boardPath(t);
  const writer = spawn(join(MADE, 'test', 'lib', 'threads'), [path, '2000000000', 'alone'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 300_000,
    killSignal: 'SIGKILL',
  });
  const gone = new Promise(resolve => writer.once('close', resolve));
  t.teardown(async () => {
    writer.kill('SIGKILL');
    await gone;
  });
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  await until('there is a board', () => existsSync(path) && reader.snapshot().count >= 4);
  for (const one of readers.filter(({ skip }) => skip === false)) {
    const seen = new Set<string>();
    for (let i = 0; i < 4; i++) {
      for (const [name, , , seq, load] of read(one, path).rows) {
        if (name === 'guest') continue;
        // This writer's reports have their number as the load, in hundredths.
        if (load !== (Number(seq) / 100).toFixed(2)) t.fail(`${one.what}: report ${seq} with the load ${load}`);
        seen.add(seq ?? '');
      }
    }
    t.ok(seen.size > 2, `${one.what}: ${seen.size} different reports`);
  }
});
