// How a process spends its time, seen by a separate process that does nothing else: the system call in which its first
// thread waits, its CPU time, and how long it and its children waited for a CPU. No test of its own: `Waits` starts it
// as node waits.js PID.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CLOCK, clocks } from '../../src/native/index.js';
import { Starving, wordsOf } from '../kit/starving.js';

/**
 * One look: its time (CLOCK_BOOTTIME), the system call (its number, `running`, or `birth`), the CPU time so far, and for
 * how long its threads and its children were ready so far, and no CPU was free; times in ns.
 */
type Look = [at: number, call: string, cpu: number, starved: number];

const EVERY_MS = 20;
/** So many looks in a row are more than a wait for a lock; what hangs in these tests hangs for seconds. */
const LONG = 10;

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

  /** The system call in which it mostly waits, for its tick, and then all others in which it waited for long. */
  places(): string[] {
    let [last, row] = ['', 0];
    const counts = new Map<string, number>();
    const found = new Set<string>();
    for (const [, call] of this.#seen) {
      row = call === last ? row + 1 : 1;
      last = call;
      if (!isWait(call)) continue;
      counts.set(call, (counts.get(call) ?? 0) + 1);
      if (row === LONG) found.add(call);
    }
    const [tick] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
    return [...new Set([...(tick === undefined ? [] : [tick]), ...found])];
  }

  /** For how long it and its children waited for a CPU between two times; what is not seen counts as nothing. */
  starvedNs(from: bigint, to: bigint): number {
    const before = this.#seen.findLast(([at]) => at <= Number(from)) ?? this.#seen[0];
    const after = this.#seen.find(([at]) => at >= Number(to)) ?? this.#seen.at(-1);
    return Math.max(0, (after?.[3] ?? 0) - (before?.[3] ?? 0));
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
      own += [tick, 'running', 'birth'].includes(call) ? cpu - had : at - since;
    }
    return own < (to - from - report.interval_ms * 1e6) / 2;
  }
}

const isWait = (call: string) => /^\d+$/.test(call);

/** The kernel's flag of a process that was forked and has not called exec yet. */
const PF_FORKNOEXEC = 0x40;

/** Looks at a process again and again, until it is told that this is enough. */
function watch(pid: string): void {
  const starving = new Starving();
  const looks: Look[] = [];
  const time = new BigUint64Array(3);
  const look = (): Look | undefined => {
    const [call] = wordsOf(`${pid}/syscall`);
    if (call === undefined) return undefined;
    const cpu = Number(wordsOf(`${pid}/schedstat`)[0]);
    const children = wordsOf(`${pid}/task/${pid}/children`);
    // The thread that forks waits until its child has called exec. Only the kernel and the C library work in that time,
    // and the child may have to wait for a CPU.
    const isBirth = children.some(child => (Number(wordsOf(`${child}/stat`)[6]) & PF_FORKNOEXEC) !== 0);
    const starved = starving.look([pid, ...children].map(Number)) ?? 0;
    clocks(time);
    return [Number(time[CLOCK.boot]), isBirth && isWait(call) ? 'birth' : call, cpu, starved];
  };
  const timer = setInterval(() => {
    const seen = look();
    if (seen === undefined)
      clearInterval(timer); // it has ended
    else looks.push(seen);
    if (looks.length === 1) process.send?.('looking');
  }, EVERY_MS);
  process.on('message', () => {
    clearInterval(timer);
    process.send?.(looks, () => process.exit());
  });
  process.on('disconnect', () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) watch(process.argv[2] ?? '');
