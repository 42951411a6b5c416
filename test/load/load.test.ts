// The simulated cluster: what a master sees of it, of the reports that it leaves out, and of its simulated faults.
//
// @seconds 8
// @waits

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { decodeReport, REPORT_BYTES } from '../../src/layout/codec.js';
import { Cluster } from '../../src/load/simulatednode.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { ratesOf } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.test('reports that are left out count as lost, restarts are counted, silent nodes are not heard', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board);
  const load = await run([
    'load',
    ...['--to', `127.0.0.1:${port}`, '--size', '20', '--interval', '100ms', '--for', '4s', '--seed', '7'],
    ...['--loss', '30%', '--restart-every', '2s', '--json'],
    ...['--silent', 'node[05-06]', '--silent-from', '1s', '--silent-for', '1h'],
  ]);
  t.equal(load.code, 0, load.stderr);
  const told = JSON.parse(load.stdout);
  t.match(told, { schema: 1, nodes: 20 });
  t.equal(told.reports + told.left_out, 800, 'so many were due');
  t.ok(told.left_out > 150 && told.left_out < 400, `${told.left_out} left out`);
  const reader = openReader(t, board);
  const nodes = [...reader.snapshot().nodes()].map(({ record }) => record);
  const sum = (of: 'accepted' | 'lost' | 'restarts') => nodes.reduce((all, node) => all + (node[of] ?? 0), 0);
  t.equal(sum('accepted'), told.reports, 'all that was sent is there');
  t.ok(sum('lost') > 50 && sum('lost') <= told.left_out, `${sum('lost')} of them counted as lost`);
  t.ok(sum('restarts') > 5 && sum('restarts') <= told.restarts, `${sum('restarts')} of ${told.restarts} restarts seen`);
  for (const { name, accepted } of nodes)
    t.equal((accepted ?? 0) <= 11, /^node0[56]$/.test(name), `${name}: ${accepted}`);
});

t.test('names from a host list', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board);
  const lists = ['--nodes', 'r[1-2]n[08-09],login1', '--silent', 'login1', '--silent-from', '0ms'];
  const { code, stdout, stderr } = await run([
    ...['load', '--to', `127.0.0.1:${port}`, '--interval', '100ms', '--for', '500ms', '--json'],
    ...lists,
  ]);
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout), { nodes: 5, left_out: 5 });
  const reader = openReader(t, board);
  await until('all four have reported', () => reader.snapshot().count === 4);
  t.same(reader.snapshot().names().sort(), ['r1n08', 'r1n09', 'r2n08', 'r2n09']);
});

t.test('with a key file each node signs with its own key', async t => {
  const [board, key] = [boardPath(t), join(folder(t), 'cluster.key')];
  writeFileSync(key, `7 cluster ${'5a'.repeat(32)}\n`, { mode: 0o600 });
  const { port } = await startReceiver(t, board, ['--key-file', key, '--require', 'node']);
  const argv = ['load', '--to', `127.0.0.1:${port}`, '--size', '12', '--interval', '100ms', '--for', '500ms'];
  const unsigned = await run([...argv, '--prefix', 'stranger']);
  t.equal(unsigned.code, 0, unsigned.stderr);
  const signed = await run([...argv, '--key-file', key, '--json']);
  t.equal(signed.code, 0, signed.stderr);
  const reader = openReader(t, board);
  const { reports } = JSON.parse(signed.stdout);
  await until('the receiver has taken all', () => reader.snapshot().header.accepted === reports);
  t.equal(reader.snapshot().count, 12);
  t.same(reader.snapshot().refused, { auth_missing: 60 }, 'of those who have no key');
  writeFileSync(key, `7 node node01 ${'5a'.repeat(32)}\n`);
  const wrong = await run([...argv, '--key-file', key]);
  t.match([wrong.code, wrong.stderr], [2, /cluster\.key: line 1 is the key of node01; give the cluster key/]);
});

t.test('its nodes have plausible readings', async t => {
  const S = 1_000_000_000n;
  const nodes = 24;
  const node = (i: number) => ({
    name: `n${i}`,
    cluster: undefined,
    intervalMs: 1000,
    agentVersion: 1,
    bootNs: 100n * S,
  });
  const cluster = new Cluster(nodes, node, 1);
  const reports: Uint8Array[] = [];
  for (let second = 1n; second <= 30n; second++)
    for (let i = 0; i < nodes; i++) {
      cluster.move(i, 1_700_000_000n * S + second * S, 100n * S + second * S);
      reports.push(cluster.reports.slice(i * REPORT_BYTES, (i + 1) * REPORT_BYTES));
    }
  const between = (value: unknown, low: number, high: number, what: string) =>
    t.ok(typeof value === 'number' && value >= low && value <= high, `${what}: ${value}`);
  for (let at = nodes; at < reports.length; at += 7) {
    const bytes = reports[at] as Uint8Array;
    const report = decodeReport(new DataView(bytes.buffer), 0);
    const rates = ratesOf(reports[at - nodes], bytes);
    between(report.load1_c, 0, 6400, 'load');
    between(report.load15_c, 0, 6400, 'load over 15 minutes');
    between(report.mem_free_mib, 1, report.mem_total_mib ?? 0, 'free memory');
    between(report.mem_avail_mib, report.mem_free_mib ?? 0, report.mem_total_mib ?? 0, 'available memory');
    between(rates?.cpu_idle_pct, 0, 100, 'idle');
    between(rates?.net?.[0]?.rx_bytes, 0, 25e9 / 8, 'traffic, of a link of 25 Gbit/s');
    between(rates?.disk_write_bytes, 0, 2e9, 'disk');
    between((rates?.energy_cpu_mj as number) / 1000, 150, 500, 'power of the CPUs, W');
    between(report.power_node_w, (rates?.energy_cpu_mj as number) / 1000, 800, 'power of the node, W');
    const gpus = (at % nodes) % 8 === 0;
    t.equal(report.gpu?.length, gpus ? 4 : undefined, 'GPUs');
    if (gpus)
      t.ok(report.gpu?.every(({ temp_degc = 0 }) => temp_degc >= 35 && temp_degc < 80) && (report.gpu_busy ?? 9) <= 4);
  }
});

t.test('invalid simulations', async t => {
  for (const [argv, why] of [
    [['--loss', '101%'], /is not a percentage/],
    [['--loss', 'some'], /is not a percentage/],
    [
      ['--silent', 'node[1-5]', '--size', '10'],
      /--silent: node1 is not one of the nodes; name some of node01 to node10/,
    ],
    [['--nodes', 'a,b', '--silent', 'node01'], /--silent: node01 is not one of the nodes; name some of a to b/],
    [['--nodes', 'a,b', '--rate', '1M'], /change --nodes or --rate/],
    [['--seed', '-1'], /is not a whole number/],
    [['--restart-every', '1ms'], /out of bounds/],
  ] as const) {
    const { code, stderr } = await run(['load', '--to', '127.0.0.1:9', ...argv]);
    t.equal(code, 2, argv.join(' '));
    t.match(stderr, why);
    t.equal(stderr.trim().split('\n').length, 1, 'in one line');
  }
});
