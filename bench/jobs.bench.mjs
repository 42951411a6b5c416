// What it costs to judge all jobs of a cluster: `beoboard scheduler` beside a receiver of 10,000 nodes that report each
// second and work at 1,000 jobs, which a file tells.

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { cpuOf, end, folder, pssOf, sleep, start } from './processes.mjs';
import { openLoad, openReceiver, WARM_S } from './receiving.mjs';

const NODES = 10_000;
const JOBS = 1000;
/** In a job's first two minutes nothing is judged. */
const YOUNG_S = 120;

export async function bench({ quick, say }) {
  const own = folder();
  const receiver = await openReceiver();
  const jobs = join(own, 'jobs');
  const load = openLoad(receiver.port, NODES, NODES, '--jobs', String(JOBS), '--jobs-file', jobs);
  while ((receiver.states().live ?? 0) < NODES) await sleep(0.2);
  const scheduler = ['--scheduler', `file:${jobs}`];
  const child = start('slurm', '--board', receiver.board, '--slurm-dir', join(own, 'state'), ...scheduler);
  await once(child, 'message');
  await sleep(quick ? 5 : YOUNG_S + WARM_S);
  const samples = [];
  const laps = quick ? 2 : 9;
  say(`${NODES} nodes, ${laps} times`);
  for (let lap = 0; lap < laps; lap++) {
    const [cpu, began] = [cpuOf(child.pid), performance.now()];
    await sleep(quick ? 5 : 20);
    samples.push((cpuOf(child.pid) - cpu) / (performance.now() - began) / 10);
  }
  const pss = pssOf(child.pid);
  for (const process of [child, load]) await end(process);
  await receiver.close();
  rmSync(own, { recursive: true });
  return [
    { figure: `${NODES} nodes, ${JOBS} jobs, judged every 5 s`, unit: '% of a core', samples, bound: 3 },
    { figure: 'its memory (PSS)', unit: 'KiB', samples: [pss] },
  ];
}
