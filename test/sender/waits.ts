// How a process spends its time, seen by a separate process that does nothing else: the system call in which its first
// thread waits, and its CPU time. No test of its own: `Waits` starts it as node waits.js PID.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CLOCK, clocks } from '../../src/native/index.js';

/**
 * One look: its time (CLOCK_BOOTTIME), the system call (its number, or `running`), and the CPU time so far; times in
 * ns.
 */
type Look = [at: number, call: string, cpu: number];

const EVERY_MS = 20;
/**
 * So many looks in a row are more than a wait for a lock, or for a new child process to begin on a busy machine; what
 * hangs in these tests hangs for seconds.
 */
const LONG = 25;

/** The fields of a report. */
interface Told {
  readonly t_boot_ns: bigint;
  readonly interval_ms: number;
}

export class Waits {
  readonly #child;
  #looks: Look[] | undefined;

  /** Begins to watch a process; ends with the test. */
  static async open(t: { teardown(end: () => void): void }, pid: number): Promise<Waits> {
    const waits = new Waits(pid);
    t.teardown(() => waits.#child.kill('SIGKILL'));
    await once(waits.#child, 'message');
    return waits;
  }

  private constructor(pid: number) {
    this.#child = fork(fileURLToPath(import.meta.url), [String(pid)]);
  }

  /** Stops watching. */
  async stop(): Promise<void> {
    if (this.#looks !== undefined) return;
    this.#child.send('enough');
    const [looks] = await once(this.#child, 'message');
    this.#looks = looks as Look[];
  }

  get #seen(): Look[] {
    if (this.#looks === undefined) throw new Error('it still looks');
    return this.#looks;
  }

  /** The system calls in which it waited for long. */
  places(): string[] {
    let [last, row] = ['', 0];
    const found = new Set<string>();
    for (const [, call] of this.#seen) {
      row = call === last ? row + 1 : 1;
      last = call;
      if (row === LONG && /^\d+$/.test(call)) found.add(call);
    }
    return [...found];
  }

  /**
   * Whether the machine delayed a report: since the report before, the process spent less than half of the delay on a
   * CPU or in system calls other than the one in which it waits for its tick.
   */
  wasHeldUp(before: Told | undefined, report: Told): boolean {
    const [first] = this.#seen;
    if (before === undefined || first === undefined || Number(before.t_boot_ns) < first[0]) return false;
    const [from, to] = [Number(before.t_boot_ns), Number(report.t_boot_ns)];
    const [tick] = this.places();
    let own = 0;
    for (const [i, [at, call, cpu]] of this.#seen.entries()) {
      const [since, , had] = this.#seen[i - 1] ?? [at, '', cpu];
      if (at < from || since > to) continue;
      own += call === tick || call === 'running' ? cpu - had : at - since;
    }
    return own < (to - from - report.interval_ms * 1e6) / 2;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = (name: string) => readFileSync(`/proc/${process.argv[2]}/${name}`, 'utf8');
  const looks: Look[] = [];
  const time = new BigUint64Array(3);
  const timer = setInterval(() => {
    try {
      const [call = '', cpu] = [file('syscall').split(/\s/)[0], file('schedstat').split(' ')[0]];
      clocks(time);
      looks.push([Number(time[CLOCK.boot]), call, Number(cpu)]);
    } catch {
      clearInterval(timer); // it has ended
    }
    if (looks.length === 1) process.send?.('looking');
  }, EVERY_MS);
  process.on('message', () => {
    clearInterval(timer);
    process.send?.(looks, () => process.exit());
  });
  process.on('disconnect', () => process.exit());
}
