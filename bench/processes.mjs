// What the benchmarks share: what a process costs, waiting and ending, and where boards lie.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** CPU time of a process, all its threads, in us; 0 when it is gone. */
export function cpuOf(pid) {
  const tasks = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  const ns = tasks.map(task => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]));
  return ns.reduce((a, b) => a + b, 0) / 1000;
}

/** Proportional memory of a process, KiB. */
export const pssOf = pid => Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);

export const sleep = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000));

/** Ends a process of ours, and waits until it is gone. */
export async function end(child) {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** A new folder, in shared memory where there is some, as boards have it. */
export const folder = () => mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'beoboard-bench.'));

/** Runs a file again in a network namespace as `FILE inside quick|long`, and gives the rows that it prints. */
export async function inOwnNetwork(file, { quick, say }) {
  const script = 'ip link set lo up && exec "$0" "$1" inside "$2"';
  const argv = ['-n', 'sh', '-c', script, process.execPath, fileURLToPath(file), quick ? 'quick' : 'long'];
  const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  child.stdout.on('data', data => {
    told += data;
  });
  const [code] = await once(child, 'close');
  if (code === 0) return JSON.parse(told);
  say(`it ended with ${code}; a network namespace needs root`);
  return [];
}

/** There: measures, and prints the rows. */
export async function printRows(name, measure) {
  const say = text => console.error(`bench: ${name}: ${text}`);
  console.log(JSON.stringify(await measure({ quick: process.argv[3] === 'quick', say })));
}
