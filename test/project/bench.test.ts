// The benchmarks' own parts: their programs compile and do what their heads say, and the documents' tables have the
// measured figures. The figures themselves are for `npm run bench`.
//
// @rest

import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bits } from '../../src/layout/layout.gen.js';
import { follow } from '../kit/children.js';
import { monotonicNs } from '../kit/clocks.js';
import { makeIn } from '../kit/compiling.js';
import { folder, ROOT } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';
import { makeBoard } from '../kit/stateboard.js';

const BENCH = join(ROOT, 'bench');
const LOAD = { valid: 1n << BigInt(bits.valid.load), load1_c: 150, interval_ms: 600_000 };
const run = (...argv: string[]) => spawnSync(process.execPath, argv, { cwd: ROOT, encoding: 'utf8' });

t.test('the tables in the documents are those of bench/results.json', async t => {
  const { status, stderr } = run(join(BENCH, 'results.mjs'), '--check');
  t.equal(stderr, '');
  t.equal(status, 0);
});

t.test('rows: whether they hold, and how curves grow', async t => {
  const { verdict, slopes } = await import(join(BENCH, 'results.mjs'));
  t.equal(verdict({ median: 2 }), '');
  t.equal(verdict({ median: 2, bound: 2 }), 'at most 2: holds');
  t.equal(verdict({ median: 2.1, bound: 2 }), 'at most 2: BROKEN');
  t.equal(verdict({ median: 2, atLeast: 2 }), 'at least 2: holds');
  t.equal(verdict({ median: 1.9, atLeast: 2 }), 'at least 2: BROKEN');
  const point = (x: number, median: number) => ({ median, plot: { name: 'readers', series: 'a scan', x } });
  const [row, ...more] = slopes([point(10, 30), point(100, 300), point(1000, 3000), { median: 5 }]);
  t.match(row, { figure: 'a scan: grows with the nodes to the power of', median: 1 });
  t.strictSame(more, []);
  t.match(slopes([point(1, 3), point(4, 6), point(16, 12)]), [{ median: 0.5 }]);
  t.strictSame(slopes([point(1, 3), point(4, 6)]), [], 'two points are no curve');
});

t.test('a name of a benchmark that does not exist', async t => {
  const { status, stderr, stdout } = run(join(BENCH, 'run.mjs'), 'receivr');
  t.match(stderr, /^bench: no benchmark is called receivr; there are .*\breceiver\b.*\n$/);
  t.strictSame([status, stdout], [2, '']);
});

t.test('every benchmark finds what it takes of the product', async t => {
  const names = readdirSync(BENCH).filter(name => name.endsWith('.bench.mjs'));
  t.ok(names.length > 10);
  for (const name of names) t.type((await import(join(BENCH, name))).bench, 'function', name);
});

t.test('the reader of `readers` does all its commands', async t => {
  // Compiled before anything is on the board: a board that nobody writes is stalled after some seconds.
  const env = { ...process.env, BEOBOARD_LIBRARY: join(makeIn('', {}, 'lib'), 'libbeoboard.so.1') };
  const { writer, path } = makeBoard(t, {});
  let seq = 0;
  const report = () => {
    seq++;
    for (const hostname of ['n1', 'n2'])
      writer.deliver(makeReport({ ...LOAD, hostname, seq }), monotonicNs(), 0n, 'eth0');
    writer.heartbeat(monotonicNs());
  };
  report();
  const commands = ['scan', 'memory', 'one', 'object', 'copy', 'whole'];
  const told = spawnSync(process.execPath, [join(BENCH, 'reader.mjs'), path], {
    input: `${commands.join('\n')}\n`,
    encoding: 'utf8',
  });
  t.equal(told.stderr, '');
  const [first, ...answers] = told.stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  t.equal(first.nodes, 2);
  t.equal(answers.filter(({ ns }) => ns > 0).length, commands.length);
  // While Python starts, which may take its time, both nodes go on to report.
  report();
  const reporting = setInterval(report, 200);
  const child = spawn('python3', [join(BENCH, 'reader.py'), 'module', path], {
    env: { ...env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  const python = follow(child, t);
  child.stdin.end('scan\none\nwhole\n');
  await python.exit;
  clearInterval(reporting);
  t.match([python.stderr, python.stdout], ['', /^\{"nodes": 2\}\n(\{"ns": .*, "least": .*\}\n){3}$/]);
});

t.test('all datagrams arrive: at our receiver, with keys and without, and at the bare loop', async t => {
  const { compile, openBare, openReceiver, openStorm, SECRET, writeKeyFile } = await import(
    join(BENCH, 'receiving.mjs')
  );
  const { latencies, quantile } = await import(join(BENCH, 'latency.bench.mjs'));
  const own = folder(t);
  const programs = compile(own);
  const until = async (taken: () => number, wanted: number) => {
    while (taken() < wanted) await new Promise(resolve => setTimeout(resolve, 10));
  };
  for (const kind of [undefined, 'cluster', 'node']) {
    const receiver = await openReceiver(...(kind ? ['--key-file', writeKeyFile(own), '--require', kind] : []));
    t.teardown(() => receiver.close());
    const key = kind && { kind, secret: SECRET };
    // 100 nodes, 20 reports each; the second sender is a restart of the first's.
    for (const round of [1, 2]) {
      const storm = await openStorm(programs.storm, receiver.port, 100, 0, 2000, key);
      t.ok((await storm.done()) >= 0);
      await until(receiver.taken, round * 2000);
    }
    const { accepted, received, lost, count } = receiver.counters();
    t.strictSame([received, accepted, lost, count], [4000, 4000, 0, 100], kind ?? 'no key');
    if (kind !== undefined) continue;
    const times = await latencies(programs.latency, receiver, 20);
    t.ok(times.length === 20 && quantile(times, 0.5) > 0 && times.every(Number.isFinite), 'every report could be seen');
  }
  for (const how of [[], ['stamps'], ['tick=0']]) {
    const bare = await openBare(programs.bare, 100, ...how);
    t.teardown(() => bare.close());
    const storm = await openStorm(programs.storm, bare.port, 100, 20_000, 2000);
    t.ok((await storm.done()) >= 0.09, 'at the rate that was asked for, and not faster');
    await until(bare.taken, 2000);
    t.equal(bare.taken(), 2000, `bare loop ${how.join(' ')}`);
    const times = await latencies(programs.latency, bare, 20, 'bare');
    t.ok(times.every(Number.isFinite), 'every probe lies in its slot');
  }
});

t.test('no figure of the README comes from elsewhere', async t => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, table = ''] = /<!-- bench headlines -->([\s\S]*?)<!-- end -->/.exec(readme) ?? [];
  const rows = table
    .split('\n')
    .filter(line => line.startsWith('| '))
    .slice(2);
  t.ok(rows.length >= 5);
  for (const row of rows) t.match(row, /\| `npm run bench -- \w+( --quick)?`, \d{4}-\d\d-\d\d \|$/);
  const { peers } = JSON.parse(readFileSync(join(ROOT, 'bench', 'results.json'), 'utf8'));
  const compared = readFileSync(join(ROOT, 'docs', 'compare.md'), 'utf8');
  for (const [program, peer] of Object.entries({
    beoboard: 'beoboard-send',
    Ganglia: 'gmond, every second',
    'node_exporter and Prometheus': 'node_exporter',
    PCP: 'PCP',
    collectd: 'collectd',
  })) {
    const { median } = peers.rows.find((row: { figure: string }) => row.figure === `${peer}: CPU on the node`);
    const cells = compared.split('\n').find(line => line.startsWith(`| ${program} |`));
    t.equal(cells?.split('|').at(-2)?.trim(), `${median.toLocaleString('en')} µs`, `${program} in docs/compare.md`);
  }
});
