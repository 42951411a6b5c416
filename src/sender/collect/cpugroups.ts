// CPU groups: the packages of a node, each with its shares and its busiest CPU. Pure: the caller passes topology and
// /proc/stat. Does not report single CPUs.

import { MOST_GROUPS } from './cpus.js';
import { Cursor } from './kerneltext.js';

/**
 * The times of one CPU since boot, in the kernel's ticks: all, idle and waiting, user and nice, system and interrupts.
 */
export interface CpuTimes {
  total: number;
  idle: number;
  iowait: number;
  user: number;
  system: number;
}

/** The lines of single CPUs in /proc/stat, by CPU; undefined if one of them is invalid. */
export function parseCpuTimes(text: string): Map<number, CpuTimes> | undefined {
  const out = new Map<number, CpuTimes>();
  const line = new Cursor(text);
  // They are at the beginning, and the line of interrupts is long.
  while (text.startsWith('cpu', line.at)) {
    const end = text.indexOf('\n', line.at);
    if (end === -1) break;
    if (!text.startsWith('cpu ', line.at)) {
      const cpu = line.eat('cpu') ? line.digits(5) : undefined;
      const times = parseTimes(line);
      if (cpu === undefined || times === undefined) return undefined;
      out.set(Number(cpu), times);
    }
    line.at = end + 1;
  }
  return out.size > 0 ? out : undefined;
}

/** The numbers up to the end of the line, with one blank before each; there may be more than we know. */
function parseTimes(line: Cursor): CpuTimes | undefined {
  const ticks: number[] = [];
  while (line.eat(' ')) {
    const value = line.digits(15);
    if (value === undefined) return undefined;
    ticks.push(Number(value));
  }
  if (!line.isAtLineEnd() || ticks.length < 8) return undefined;
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = ticks;
  return {
    total: user + nice + system + idle + iowait + irq + softirq + steal,
    idle,
    iowait,
    user: user + nice,
    system: system + irq + softirq,
  };
}

/** Whether two ticks have lines of the same CPUs; also if neither has any valid ones. */
export function sameCpus(before: Map<number, CpuTimes> | undefined, now: Map<number, CpuTimes> | undefined): boolean {
  if (before === undefined || now === undefined) return before === now;
  if (before.size !== now.size) return false;
  for (const cpu of now.keys()) if (!before.has(cpu)) return false;
  return true;
}

/** Online CPUs by package, in the order of the packages; the fifth and later packages are added to the fourth. */
export function groupsOf(packageOf: ReadonlyMap<number, number>): number[][] {
  const packages = [...new Set(packageOf.values())].sort((a, b) => a - b);
  const place = new Map(packages.map((id, i) => [id, Math.min(i, MOST_GROUPS - 1)]));
  const groups: number[][] = Array.from({ length: Math.min(packages.length, MOST_GROUPS) }, () => []);
  for (const [cpu, id] of packageOf) groups[place.get(id) ?? 0]?.push(cpu);
  return groups;
}

export interface GroupShare {
  busy_pm: number;
  user_pm: number;
  system_pm: number;
  iowait_pm: number;
  busiest_pm: number;
}

/**
 * The growth of a CPU's times. The kernel lets idle and iowait decrease a little; a negative difference counts as 0.
 */
function growth(before: CpuTimes, now: CpuTimes): CpuTimes & { busy: number } {
  const grown = (key: keyof CpuTimes) => Math.max(0, now[key] - before[key]);
  const [idle, iowait] = [grown('idle'), grown('iowait')];
  const busy = Math.max(0, now.total - now.idle - now.iowait - (before.total - before.idle - before.iowait));
  return { total: busy + idle + iowait, idle, iowait, busy, user: grown('user'), system: grown('system') };
}

const thousandths = (part: number, whole: number) =>
  whole > 0 ? Math.min(1000, Math.floor((part * 1000) / whole)) : 0;

/**
 * Shares of each group between two ticks, in thousandths, rounded down. A CPU that was added or removed in between does
 * not count; undefined if no time passed for any CPU.
 */
export function groupShares(
  before: ReadonlyMap<number, CpuTimes>,
  now: ReadonlyMap<number, CpuTimes>,
  groups: readonly (readonly number[])[],
): GroupShare[] | undefined {
  let passed = 0;
  const shares = groups.map(cpus => {
    const sum = { total: 0, busy: 0, user: 0, system: 0, iowait: 0 };
    let busiest_pm = 0;
    for (const cpu of cpus) {
      const [earlier, later] = [before.get(cpu), now.get(cpu)];
      if (earlier === undefined || later === undefined) continue;
      const grown = growth(earlier, later);
      for (const key of ['total', 'busy', 'user', 'system', 'iowait'] as const) sum[key] += grown[key];
      busiest_pm = Math.max(busiest_pm, thousandths(grown.busy, grown.total));
    }
    passed += sum.total;
    return {
      busy_pm: thousandths(sum.busy, sum.total),
      user_pm: thousandths(sum.user, sum.total),
      system_pm: thousandths(sum.system, sum.total),
      iowait_pm: thousandths(sum.iowait, sum.total),
      busiest_pm,
    };
  });
  return passed > 0 ? shares : undefined;
}
