// Simulated jobs: the same seed makes the same, a fault changes what it is a fault of, and a reader of schedulers and a
// master get them.
//
// @seconds 8
// @waits

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { KINDS, QUANTITIES, SimulatedJob } from '../../src/load/jobs.js';
import { FAULTS } from '../../src/options/faults.js';
import { COMPARED } from '../../src/outliers/readings.js';
import { readingOf } from '../../src/readings/readings.js';
import { contentsOf } from '../../src/schedulers/file.js';
import { atOnce } from '../../src/service/slices.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { startReceiver } from '../kit/program.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

/** The values of a job after half an hour. */
function after(kind: (typeof KINDS)[number], seed: number, fault?: (typeof FAULTS)[number]) {
  const job = new SimulatedJob(kind, 6, seed);
  for (let s = 0; s < 1800; s += 5) {
    if (s === 1200) job.fail(3, fault);
    job.step(5);
  }
  return (node: number, quantity: (typeof QUANTITIES)[number]) =>
    job.values[node * QUANTITIES.length + QUANTITIES.indexOf(quantity)] as number;
}

t.test('the same seed makes the same job, another one another', async t => {
  for (const kind of KINDS) {
    const all = (seed: number) => {
      const of = after(kind, seed);
      return [0, 1, 5].flatMap(node => QUANTITIES.map(quantity => of(node, quantity)));
    };
    t.same(all(3), all(3), kind);
    t.notSame(all(3), all(4), kind);
  }
});

t.test('all that is compared is simulated', async t => {
  for (const { reading, gpu } of COMPARED)
    t.ok(gpu !== undefined || (QUANTITIES as readonly string[]).includes(reading), reading);
});

t.test('a fault changes what it is a fault of, on its node', async t => {
  const changes: Record<(typeof FAULTS)[number], [quantity: (typeof QUANTITIES)[number], factor: number]> = {
    clock: ['mhz', 0.8],
    gpu_power: ['gpu_power', 0.75],
    link: ['fabric_speed', 0.1],
    swapping: ['swapping', Number.POSITIVE_INFINITY],
    gpu_gone: ['gpus_up', 0.75],
    neighbour: ['pressure_cpu', 20],
  };
  for (const fault of FAULTS) {
    const [quantity, factor] = changes[fault];
    const of = after(fault.startsWith('gpu') ? 'training' : 'compute', 11, fault);
    const ratio = of(3, quantity) / of(2, quantity);
    if (factor > 1) t.ok(ratio >= factor, `${fault}: ${ratio}`);
    else t.ok(Math.abs(ratio - factor) < 0.1, `${fault}: ${ratio}`);
  }
});

t.test('load --jobs sends them and tells them', async t => {
  const [board, path] = [boardPath(t), join(folder(t), 'jobs')];
  const { port } = await startReceiver(t, board);
  const { code, stderr } = await run([
    ...['load', '--to', `127.0.0.1:${port}`, '--size', '60', '--interval', '100ms', '--for', '2s'],
    ...['--jobs', '9', '--jobs-file', path, '--odd', 'gpu_gone,link', '--full', 'node[01,60]'],
  ]);
  t.equal(code, 0, stderr);
  const { nodes, jobs } = atOnce(contentsOf(readFileSync(path, 'utf8'), path, 0));
  t.same([nodes.leftOut.count, jobs.leftOut.count, nodes.list.length], [0, 0, 60], 'all of it is understood');
  t.match(jobs.list[0], { name: 'training', nodes: /^node01,.*node08$/, cpus: 512, state: 'RUNNING' });
  const held = jobs.list.flatMap(job => job.nodes.split(','));
  t.equal(new Set(held).size, held.length, 'no node has two jobs');
  t.equal(held.length, nodes.list.filter(({ state }) => state === 'allocated').length);
  const reader = openReader(t, board);
  const [snapshot] = [reader.snapshot()];
  const of = (reading: string) => [...snapshot.nodes()].map(node => readingOf(reading)?.value(node));
  t.same(of('gpus_up').slice(0, 9), [4, 4, 3, 4, 4, 4, 4, 4, of('gpus_up')[8]]);
  const speeds = of('fabric_speed') as number[];
  const slow = speeds.flatMap((speed, i) => (speed === Math.max(...speeds) / 10 ? [i] : []));
  t.same(slow, [10], 'one node of the second job has another fault');
  const full = [...snapshot.nodes()].filter(({ report }) => (report?.root_avail_mib as number) < 1000);
  t.same(full.map(({ record }) => record.name).sort(), ['node01', 'node60']);
  t.same(of('links_up'), Array(60).fill(1));
  for (const reading of ['mhz', 'cpu', 'temp', 'fabric_speed', 'link_speed', 'hw_hash', 'edac_ce', 'pressure_mem'])
    t.ok(
      of(reading).every(value => typeof value === 'number'),
      reading,
    );
});
