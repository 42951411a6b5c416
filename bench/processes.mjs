// What the benchmarks share: what a process costs, and waiting.

import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** CPU time of a process, all its threads, in us; 0 when it is gone. */
export function cpuOf(pid) {
  const tasks = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  const ns = tasks.map(task => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]));
  return ns.reduce((a, b) => a + b, 0) / 1000;
}

export const sleep = seconds => new Promise(resolve => setTimeout(resolve, seconds * 1000));
