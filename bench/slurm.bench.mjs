// What Slurm beside the board costs where there are 10,000 nodes, in CPU time, which a busy machine changes little: what `status --jobs` takes
// beyond `status`, a tick of the reader beyond the commands that it calls, and the gate beside `check --nodes`. Slurm is a real one, slurmctld
// alone, in a network of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { NETWORK } from '../dist/test/realslurm.js';

export async function bench({ quick }) {
  const inside = fileURLToPath(new URL('slurmrows.mjs', import.meta.url));
  const argv = [
    '-n',
    'sh',
    '-c',
    `${NETWORK} && exec "$0" "$@"`,
    process.execPath,
    inside,
    ...(quick ? ['quick'] : []),
  ];
  const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  child.stdout.on('data', data => {
    told += data;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the measurement ended with ${code}`);
  return JSON.parse(told);
}
