// /proc/stat: CPU times of all CPUs, and the counters of the scheduler. Refuses lines of single CPUs.

import { add, type Count, firstWord, less, lineAfter, thousandths, times, u64, words } from './text.js';

/** All of it is required: every kernel since 2.6.11 has it, and a text without it was cut. */
export interface Stat {
  cpu_user_ms: Count;
  cpu_nice_ms: Count;
  cpu_system_ms: Count;
  cpu_idle_ms: Count;
  cpu_iowait_ms: Count;
  cpu_irq_ms: Count;
  cpu_softirq_ms: Count;
  cpu_steal_ms: Count;
  ctxt: Count;
  intr: Count;
  forks: Count;
  runnable: Count;
  blocked: Count;
}

/** The kernel shows times in ticks of USER_HZ, which is 100 on every architecture that Node runs on. */
const MS_PER_TICK = 10;

/** CPU times in ms; undefined when a line or number is missing. */
export function parseStat(text: string): Stat | undefined {
  const ticks = words(lineAfter(text, 'cpu ') ?? '')
    .slice(0, 8)
    .map(u64);
  const [user, nice, system, idle, iowait, irq, softirq, steal] = ticks.map(n =>
    n === undefined ? undefined : times(n, MS_PER_TICK),
  );
  const ctxt = u64(lineAfter(text, 'ctxt '));
  const intr = u64(firstWord(lineAfter(text, 'intr ')));
  const forks = u64(lineAfter(text, 'processes '));
  const runnable = u64(lineAfter(text, 'procs_running '));
  const blocked = u64(lineAfter(text, 'procs_blocked '));
  if (user === undefined || nice === undefined || system === undefined || idle === undefined) return undefined;
  if (iowait === undefined || irq === undefined || softirq === undefined || steal === undefined) return undefined;
  if (ctxt === undefined || intr === undefined || forks === undefined) return undefined;
  if (runnable === undefined || blocked === undefined) return undefined;
  return {
    cpu_user_ms: user,
    cpu_nice_ms: nice,
    cpu_system_ms: system,
    cpu_idle_ms: idle,
    cpu_iowait_ms: iowait,
    cpu_irq_ms: irq,
    cpu_softirq_ms: softirq,
    cpu_steal_ms: steal,
    ctxt,
    intr,
    forks,
    runnable,
    blocked,
  };
}

export interface CpuShare {
  cpu_busy_pm: number;
  cpu_iowait_pm: number;
}

/** Shares of the time between two ticks, in thousandths, rounded down; undefined when no time passed. */
export function cpuShare(before: Stat, now: Stat): CpuShare | undefined {
  // The kernel lets iowait (and with it idle) go back a little; a negative difference is no time.
  const passed = (...keys: (keyof Stat)[]) =>
    keys.reduce<Count>((sum, key) => add(sum, less(now[key], before[key])), 0);
  const busy = passed('cpu_user_ms', 'cpu_nice_ms', 'cpu_system_ms', 'cpu_irq_ms', 'cpu_softirq_ms', 'cpu_steal_ms');
  const iowait = passed('cpu_iowait_ms');
  const total = add(add(busy, iowait), passed('cpu_idle_ms'));
  if (total === 0) return undefined;
  return { cpu_busy_pm: thousandths(busy, total), cpu_iowait_pm: thousandths(iowait, total) };
}
