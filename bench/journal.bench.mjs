// What `beoboard journal` costs beside a receiver of 10,000 nodes that report each second: CPU and memory, while nothing
// happens, and while a thousand of them fall silent and come back, again and again.

import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cpuOf, end, folder, pssOf, sleep, start } from './processes.mjs';
import { openLoad, openReceiver, WARM_S } from './receiving.mjs';

const NODES = 10_000;
const FLAPPING = 1000;

export async function bench({ quick, say }) {
  const own = folder();
  const [journal, ...others] = ['journal', 'run', 'slurm', 'bridge'].map(name => join(own, name));
  for (const other of others) mkdirSync(other);
  const [runs, slurm, bridge] = others;
  const receiver = await openReceiver('--uncertain-after', '1500ms', '--silent-after', '3s');
  const steady = NODES - FLAPPING;
  const load = openLoad(receiver.port, steady, steady);
  const flapping = openLoad(receiver.port, FLAPPING, FLAPPING, '--prefix', 'flap');
  while ((receiver.states().live ?? 0) < NODES) await sleep(0.2);
  const child = start(
    ...['journal', '--board', receiver.board, '--journal-dir', journal, '--journal-run', runs],
    ...['--slurm-dir', slurm, '--bridge-dir', bridge],
  );
  await once(child, 'message');
  await sleep(quick ? 5 : WARM_S);
  /** The share of a core while something is done, %. */
  const share = async work => {
    const [cpu, began] = [cpuOf(child.pid), performance.now()];
    await work();
    return (cpuOf(child.pid) - cpu) / (performance.now() - began) / 10;
  };
  const laps = quick ? 2 : 9;
  const [quiet, trouble] = [[], []];
  say(`${NODES} nodes, ${laps} times`);
  for (let lap = 0; lap < laps; lap++) quiet.push(await share(() => sleep(quick ? 4 : 10)));
  const pss = pssOf(child.pid);
  const written = () => readdirSync(journal).reduce((sum, name) => sum + statSync(join(journal, name)).size, 0);
  const before = written();
  for (let lap = 0; lap < laps; lap++)
    trouble.push(
      await share(async () => {
        flapping.kill('SIGSTOP');
        while ((receiver.states().silent ?? 0) < FLAPPING) await sleep(0.5);
        flapping.kill('SIGCONT');
        while ((receiver.states().live ?? 0) < NODES) await sleep(0.5);
      }),
    );
  const grown = written() - before;
  for (const process of [child, flapping, load]) await end(process);
  await receiver.close();
  rmSync(own, { recursive: true });
  return [
    { figure: `journal, ${NODES} nodes`, unit: '% of a core', samples: quiet, bound: 2 },
    { figure: `journal, ${FLAPPING} of them fall silent and come back`, unit: '% of a core', samples: trouble },
    { figure: 'what it writes of that, each time', unit: 'KiB', samples: [grown / 1024 / laps] },
    { figure: 'journal: memory (PSS)', unit: 'KiB', samples: [pss] },
  ];
}
