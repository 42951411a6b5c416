// Ten minutes of 100,000 nodes that report once a second and, on another board at the same time, of 10,000, made by
// `beoboard load`: lost reports, CPU and memory, and how soon a report is visible. Another program only watches the
// clock, so that losses in pauses of the machine can be recognized.

import { rmSync } from 'node:fs';
import { latencies, quantile } from './latency.bench.mjs';
import { cpuOf, end, folder, pssOf, sleep, watchClock } from './processes.mjs';
import { compile, openLoad, openReceiver } from './receiving.mjs';

/** How many reports are timed on their way to the board, every ten seconds. */
const PROBES = 300;
const EVERY_S = 10;

/** A receiver and its simulated nodes, all of which have reported. */
async function open(nodes) {
  const receiver = await openReceiver();
  const load = openLoad(receiver.port, nodes, nodes);
  while (receiver.header().count < nodes) await sleep(0.5);
  const look = () => ({
    ...receiver.counters(),
    cpu: cpuOf(receiver.pid),
    load: cpuOf(load.pid),
    atMs: performance.now(),
  });
  return { nodes, receiver, load, look, times: [] };
}

/** The rows of one of them: what has changed since `before`. */
function rowsOf({ nodes, receiver, times, look, before }, seconds) {
  const after = look();
  const took = (after.atMs - before.atMs) / 1000;
  const accepted = after.accepted - before.accepted;
  times.sort((a, b) => a - b);
  return [
    ['accepted', 'reports/s', accepted / took],
    ['lost by sequence number', 'reports', after.lost - before.lost, 0],
    ['dropped by the kernel for lack of buffer', 'datagrams', after.kernel_drops - before.kernel_drops, 0],
    ['receiver', 'us of CPU a report', (after.cpu - before.cpu) / accepted],
    ['receiver', '% of a core', (after.cpu - before.cpu) / took / 1e4],
    ['simulation on the same machine', '% of a core', (after.load - before.load) / took / 1e4],
    [
      'memory of the receiver, with half of its board (a reader maps it, too)',
      'MiB of PSS',
      pssOf(receiver.pid) / 1024,
    ],
    ...[0.5, 0.99, 0.999].map(part => [`visible after, p${part * 100}`, 'ms', quantile(times, part)]),
  ].map(([figure, unit, sample, bound]) => ({
    figure: `${nodes} nodes for ${seconds} s: ${figure}`,
    ...{ unit, samples: [sample], bound },
  }));
}

export async function bench({ quick, say }) {
  const own = folder();
  const programs = compile(own);
  const seconds = quick ? 20 : 600;
  const held = [await open(100_000), await open(10_000)];
  const watch = watchClock();
  await sleep(quick ? 2 : 20);
  for (const one of held) one.before = one.look();
  const began = performance.now();
  for (let at = EVERY_S; at <= seconds; at += EVERY_S) {
    for (const { receiver, times } of held) times.push(...(await latencies(programs.latency, receiver, PROBES)));
    const states = held.map(({ receiver }) =>
      Object.entries(receiver.states())
        .filter(([, n]) => n > 0)
        .map(([state, n]) => `${n} ${state}`)
        .join(' '),
    );
    say(`${at} of ${seconds} s: ${states.join('; ')}`);
    await sleep(Math.max(0, began + at * 1000 - performance.now()) / 1000);
  }
  const rows = held.flatMap(one => rowsOf(one, seconds));
  const pauses = await watch.pauses();
  for (const { receiver, load } of held) {
    await end(load);
    await receiver.close();
  }
  rmSync(own, { recursive: true });
  return [
    ...rows,
    { figure: 'pauses of the machine longer than 0.2 s during the run', unit: 'pauses', samples: [pauses.length] },
    { figure: 'longest pause', unit: 's', samples: [Math.max(0, ...pauses) / 1000] },
  ];
}
