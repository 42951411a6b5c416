// /proc/stat: CPU times of all CPUs, and the scheduler's counters. Ignores the lines of single CPUs.

import type { FieldsOf } from '../../layout/codec.js';
import {
  add,
  type KernelCount,
  type LeaveOut,
  less,
  quietly,
  TextCursor,
  thousandths,
  times,
  whole,
} from './kerneltext.js';

/** Everything is required: every kernel since 2.6.11 has it, and a text without it was cut. */
export type ProcStat = FieldsOf<'stat'>;

/** The kernel shows times in ticks of USER_HZ, which is 100 on every architecture that Node runs on. */
const MS_PER_TICK = 10;

const BUSY = ['cpu_user_ms', 'cpu_nice_ms', 'cpu_system_ms', 'cpu_irq_ms', 'cpu_softirq_ms', 'cpu_steal_ms'] as const;
const TIMES = [...BUSY, 'cpu_idle_ms', 'cpu_iowait_ms'] as const;

/** A larger number of tasks is one below zero. */
const MOST_TASKS = 2 ** 31 - 1;

/** CPU times in ms; undefined if a line or number is missing. Counts below zero, as some kernels have them, are 0. */
export function parseStat(text: string, leaveOut: LeaveOut = quietly): ProcStat | undefined {
  const line = new TextCursor(text);
  if (!line.line('cpu ')) return undefined;
  // In the order of the line.
  const ticks = whole({
    cpu_user_ms: line.count(),
    cpu_nice_ms: line.count(),
    cpu_system_ms: line.count(),
    cpu_idle_ms: line.count(),
    cpu_iowait_ms: line.count(),
    cpu_irq_ms: line.count(),
    cpu_softirq_ms: line.count(),
    cpu_steal_ms: line.count(),
  });
  // CPUs that never did anything, not even nothing, were not counted.
  if (ticks === undefined || Object.values(ticks).every(time => time === 0)) return undefined;
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
  const out: ProcStat = { ...ticks, ...counts };
  for (const key of TIMES) out[key] = times(out[key], MS_PER_TICK);
  return out;
}

/** Shares of the time between two ticks, in thousandths, rounded down; undefined if no time passed. */
export function cpuShare(before: ProcStat, now: ProcStat): FieldsOf<'cpu_share'> | undefined {
  // The kernel lets iowait (and with it idle) decrease a little; a negative difference counts as 0.
  const passed = (key: keyof ProcStat) => less(now[key], before[key]);
  const busy = BUSY.reduce<KernelCount>((sum, key) => add(sum, passed(key)), 0);
  const iowait = passed('cpu_iowait_ms');
  const total = add(add(busy, iowait), passed('cpu_idle_ms'));
  if (total === 0) return undefined;
  return { cpu_busy_pm: thousandths(busy, total), cpu_iowait_pm: thousandths(iowait, total) };
}
