// The cost of Slurm for 10,000 nodes, in CPU time, which depends little on other load: of `status --jobs` in addition
// to `status`, of a tick of the reader in addition to the commands that it calls, and of the gate beside `check
// --nodes`. Slurm is a real slurmctld, without slurmd, in its own network.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { NETWORK, Slurm } from '../dist/test/kit/realslurm.js';
import { cpuOf, end, folder, MAIN, make, sleep, spent } from './processes.mjs';
import { fill, openReceiver } from './receiving.mjs';

const NODES = 10_000;

export const network = NETWORK;

export async function bench({ quick, say }) {
  const undo = [];
  try {
    const receiver = await openReceiver();
    undo.push(() => receiver.close());
    await fill(receiver.port, NODES);
    const nodes = Array.from({ length: NODES }, (_, i) => `node${String(i + 1).padStart(5, '0')}`);
    const slurm = await Slurm.start(
      { teardown: act => undo.push(act) },
      { nodes, slurmd: [], settings: { SlurmdTimeout: 0 } },
    );
    say(`${(await slurm.run('sinfo', '-V')).stdout.trim()}, ${NODES} nodes`);
    const own = folder();
    undo.push(() => rmSync(own, { recursive: true }));
    const left = join(own, 'slurm');
    const at = ['--board', receiver.board];
    const reader = fork(MAIN, ['slurm', ...at, '--slurm-dir', left, '--interval', '1s'], {
      env: { ...process.env, ...slurm.env },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    undo.push(() => end(reader));
    await once(reader, 'message');
    const written = () => statSync(join(left, 'state')).ino;
    const nextTick = async () => {
      for (const before = written(); written() === before; ) await sleep(0.02);
    };

    const ticks = [];
    for (let i = 0; i < 5; i++) await nextTick(); // until it is compiled: it runs for months
    for (let i = 0; i < (quick ? 3 : 20); i++) {
      const before = cpuOf(reader.pid);
      await nextTick();
      ticks.push((cpuOf(reader.pid) - before) / 1000);
    }
    process.kill(reader.pid, 'SIGSTOP'); // it would use part of the following time

    make('gate', own);
    const job = ['--nodes', 'node[00101-00107,00109-00165]', ...at];
    const taken = { status: [], beyond: [], gate: [], check: [] };
    for (let i = 0; i < (quick ? 3 : 21); i++) {
      const status = await spent(process.execPath, MAIN, 'status', ...at);
      const beside = await spent(process.execPath, MAIN, 'status', '--jobs', ...at, '--slurm-dir', left);
      taken.status.push(status);
      taken.beyond.push(beside - status);
      taken.gate.push(await spent(join(own, 'beoboard-gate'), ...job));
      taken.check.push(await spent(process.execPath, MAIN, 'check', ...job));
    }
    process.kill(reader.pid, 'SIGCONT');
    const row = (figure, samples, bound) => ({ figure, unit: 'ms of CPU', samples, bound });
    return [
      row('status of 10,000 nodes', taken.status),
      row('status --jobs, above status', taken.beyond, 150),
      row('one update by beoboard scheduler, without the commands that it calls', ticks, 500),
      row('beoboard-gate, 64 nodes', taken.gate, 10),
      row('check --nodes, the same 64 nodes', taken.check),
    ];
  } finally {
    for (const act of undo.reverse()) await act();
  }
}
