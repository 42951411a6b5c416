// The cost of Slurm for 10,000 nodes, in CPU time, which depends little on other load: of `status --jobs` in addition
// to `status`, of a tick of the reader in addition to the commands that it calls, and of the gate beside `check
// --nodes`. Slurm is a real slurmctld, without slurmd, in its own network.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { NETWORK } from '../dist/test/kit/realslurm.js';

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
