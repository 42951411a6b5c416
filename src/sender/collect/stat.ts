// /proc/stat: CPU times of all CPUs, and the scheduler's counters. Ignores the lines of single CPUs.

import type { FieldsOf } from '../../layout/codec.js';
import { growth } from './cpugroups.js';
import { type KernelCount, type LeaveOut, quietly, TextCursor, thousandths, times, whole } from './kerneltext.js';

/** Everything is required: every kernel since 2.6.11 has it, and a text without it was cut. */
export type ProcStat = FieldsOf<'stat'>;

/** The kernel shows times in ticks of USER_HZ, which is 100 on every architecture that Node runs on. */
const MS_PER_TICK = 10;

/** In the order of the line. */
const TIMES = [
  ...(['cpu_user_ms', 'cpu_nice_ms', 'cpu_system_ms', 'cpu_idle_ms'] as const),
  ...(['cpu_iowait_ms', 'cpu_irq_ms', 'cpu_softirq_ms', 'cpu_steal_ms'] as const),
];

/** A larger number of tasks is one below zero. */
const MOST_TASKS = 2 ** 31 - 1;

/** CPU times in ms; undefined if a line or number is missing. Counts below zero, as some kernels have them, are 0. */
export function parseStat(text: string, leaveOut: LeaveOut = quietly): ProcStat | undefined {
  const line = new TextCursor(text);
  if (!line.line('cpu ')) return undefined;
  const ticks = whole(TIMES.map(() => line.count()));
  // CPUs that never did anything, not even nothing, were not counted.
  if (ticks === undefined || ticks.every(time => time === 0)) return undefined;
  const count = (key: string, most = Number.POSITIVE_INFINITY) => {
    const line = new TextCursor(text);
    const value = line.line(key) ? line.natural(most, leaveOut) : undefined;
    // Behind the sum of interrupts there are many numbers.
    return line.isAtLineEnd() || (key === 'intr ' && line.isBetweenWords() && line.isWhole) ? value : undefined;
  };
  const counts = whole({
    ctxt: count('ctxt '),
    intr: count('intr '),
    forks: count('processes '),
    runnable: count('procs_running ', MOST_TASKS),
    blocked: count('procs_blocked ', MOST_TASKS),
  });
  if (!line.isWhole || counts === undefined) return undefined;
  const ms = TIMES.map((key, i) => [key, times(ticks[i] as KernelCount, MS_PER_TICK)]);
  return { ...(Object.fromEntries(ms) as Record<(typeof TIMES)[number], KernelCount>), ...counts };
}

/** Shares of the time between two ticks, in thousandths, rounded down; undefined if no time passed. */
export function cpuShare(before: ProcStat, now: ProcStat): FieldsOf<'cpu_share'> | undefined {
  const { total, busy, iowait } = growth(
    TIMES.map(key => before[key]),
    TIMES.map(key => now[key]),
  );
  return total === 0 ? undefined : { cpu_busy_pm: thousandths(busy, total), cpu_iowait_pm: thousandths(iowait, total) };
}
