// How long processes waited for a CPU, as the kernel counts it. No test of its own.

import { readdirSync, readFileSync } from 'node:fs';

/** The words of a file in /proc, without the name of the program, which may be several; none of what is absent. */
export function wordsOf(path: string): string[] {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(/\s+/)
      .filter(word => word !== '');
  } catch {
    return [];
  }
}

/** A process, and all that it started and that they started. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(wordsOf(`${name}/stat`)[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const family = [pid];
  // It grows while it is walked through.
  for (const member of family) family.push(...(children.get(member) ?? []));
  return family;
}

/** Adds up for how long threads were ready to run, and no CPU was free. */
export class Starving {
  readonly #waited = new Map<string, number>();

  /**
   * The sum so far, ns, with all threads of these processes; undefined where the kernel does not count it. What has
   * ended stays in the sum, and what is not seen counts as nothing.
   */
  look(pids: Iterable<number>): number | undefined {
    for (const pid of pids) for (const task of tasksOf(pid)) this.#add(`${pid}/task/${task}`);
    if (this.#waited.size === 0) return undefined;
    return [...this.#waited.values()].reduce((sum, ns) => sum + ns, 0);
  }

  #add(task: string): void {
    const [, waited] = wordsOf(`${task}/schedstat`);
    if (waited !== undefined) this.#waited.set(task, Number(waited));
  }
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
