// /proc/stat: CPU times of all CPUs, and the scheduler's counters. Ignores the lines of single CPUs.

import { add, type KernelCount, type LeaveOut, less, quietly, TextCursor, thousandths, times } from './kerneltext.js';

/** Everything is required: every kernel since 2.6.11 has it, and a text without it was cut. */
export interface ProcStat {
  cpu_user_ms: KernelCount;
  cpu_nice_ms: KernelCount;
  cpu_system_ms: KernelCount;
  cpu_idle_ms: KernelCount;
  cpu_iowait_ms: KernelCount;
  cpu_irq_ms: KernelCount;
  cpu_softirq_ms: KernelCount;
  cpu_steal_ms: KernelCount;
  ctxt: KernelCount;
  intr: KernelCount;
  forks: KernelCount;
  runnable: KernelCount;
  blocked: KernelCount;
}

/** The kernel shows times in ticks of USER_HZ, which is 100 on every architecture that Node runs on. */
const MS_PER_TICK = 10;

/** A larger number of tasks is one below zero. */
const MOST_TASKS = 2 ** 31 - 1;

/** CPU times in ms; undefined if a line or number is missing. Counts below zero, as some kernels have them, are 0. */
export function parseStat(text: string, leaveOut: LeaveOut = quietly): ProcStat | undefined {
  const line = new TextCursor(text);
  if (!line.line('cpu ')) return undefined;
  const user = line.count();
  const nice = line.count();
  const system = line.count();
  const idle = line.count();
  const iowait = line.count();
  const irq = line.count();
  const softirq = line.count();
  const steal = line.count();
  if (user === undefined || nice === undefined || system === undefined || idle === undefined) return undefined;
  if (iowait === undefined || irq === undefined || softirq === undefined || steal === undefined) return undefined;
  // CPUs that never did anything, not even nothing, were not counted.
  if ([user, nice, system, idle, iowait, irq, softirq, steal].every(ticks => ticks === 0)) return undefined;
  const count = (key: string, most = Number.POSITIVE_INFINITY) => {
    const line = new TextCursor(text);
    const value = line.line(key) ? line.natural(most, leaveOut) : undefined;
    // Behind the sum of interrupts there are many numbers.
    return line.isAtLineEnd() || (key === 'intr ' && line.isBetweenWords() && line.isWhole) ? value : undefined;
  };
  const ctxt = count('ctxt ');
  const intr = count('intr ');
  const forks = count('processes ');
  const runnable = count('procs_running ', MOST_TASKS);
  const blocked = count('procs_blocked ', MOST_TASKS);
  if (!line.isWhole || ctxt === undefined || intr === undefined || forks === undefined) return undefined;
  if (runnable === undefined || blocked === undefined) return undefined;
  return {
    cpu_user_ms: times(user, MS_PER_TICK),
    cpu_nice_ms: times(nice, MS_PER_TICK),
    cpu_system_ms: times(system, MS_PER_TICK),
    cpu_idle_ms: times(idle, MS_PER_TICK),
    cpu_iowait_ms: times(iowait, MS_PER_TICK),
    cpu_irq_ms: times(irq, MS_PER_TICK),
    cpu_softirq_ms: times(softirq, MS_PER_TICK),
    cpu_steal_ms: times(steal, MS_PER_TICK),
    ctxt,
    intr,
    forks,
    runnable,
    blocked,
  };
}

interface CpuShare {
  cpu_busy_pm: number;
  cpu_iowait_pm: number;
}

const BUSY = ['cpu_user_ms', 'cpu_nice_ms', 'cpu_system_ms', 'cpu_irq_ms', 'cpu_softirq_ms', 'cpu_steal_ms'] as const;

/** Shares of the time between two ticks, in thousandths, rounded down; undefined if no time passed. */
export function cpuShare(before: ProcStat, now: ProcStat): CpuShare | undefined {
  // The kernel lets iowait (and with it idle) decrease a little; a negative difference counts as 0.
  const passed = (key: keyof ProcStat) => less(now[key], before[key]);
  const busy = BUSY.reduce<KernelCount>((sum, key) => add(sum, passed(key)), 0);
  const iowait = passed('cpu_iowait_ms');
  const total = add(add(busy, iowait), passed('cpu_idle_ms'));
  if (total === 0) return undefined;
  return { cpu_busy_pm: thousandths(busy, total), cpu_iowait_pm: thousandths(iowait, total) };
}
