// CPU groups: the packages of a node, each with its shares and its busiest CPU. Pure: the caller passes topology and
// /proc/stat. Does not report single CPUs.

import { MOST_GROUPS } from './cpus.js';
import { add, type KernelCount, type LeaveOut, less, quietly, TextCursor, thousandths } from './kerneltext.js';

/** Ticks of the kernel since boot: user, nice, system, idle, iowait, irq, softirq, steal. */
export type CpuTimes = readonly KernelCount[];

/** The columns that are known; the kernel's lines have more. */
const COLUMNS = 8;

/** The lines of single CPUs in /proc/stat, by CPU; undefined if none is understood, or they do not ascend. */
export function parseCpuTimes(text: string, leaveOut: LeaveOut = quietly): Map<number, CpuTimes> | undefined {
  const out = new Map<number, CpuTimes>();
  const line = new TextCursor(text);
  let last = -1;
  // They are at the beginning, and the line of interrupts is long.
  while (text.startsWith('cpu', line.at)) {
    const end = text.indexOf('\n', line.at);
    if (end === -1) break;
    if (!text.startsWith('cpu ', line.at)) {
      const cpu = line.eat('cpu') ? line.digits(5) : undefined;
      const times = parseTimes(line);
      if (cpu === undefined || times === undefined || cpu <= last) leaveOut();
      if (cpu !== undefined && times !== undefined) {
        if (cpu <= last) return undefined;
        last = Number(cpu);
        out.set(last, times);
      }
    }
    line.at = end + 1;
  }
  return out.size > 0 ? out : undefined;
}

/** The numbers up to the end of the line, with one blank before each; there may be more than we know. */
function parseTimes(line: TextCursor): CpuTimes | undefined {
  const ticks: KernelCount[] = [];
  while (line.eat(' ')) {
    const value = ticks.length < COLUMNS ? line.digits() : undefined;
    if (value !== undefined) ticks.push(value);
    else if (ticks.length < COLUMNS || !line.eatDigits()) return undefined;
  }
  return line.isAtLineEnd() && ticks.length === COLUMNS ? ticks : undefined;
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

const KINDS = ['total', 'busy', 'user', 'system', 'iowait'] as const;
type Kind = (typeof KINDS)[number];
/** Times by kind, each a sum of columns. */
type Growth = Record<Kind, KernelCount>;

export type GroupShare = Record<`${Exclude<Kind, 'total'> | 'busiest'}_pm`, number>;

/**
 * What passed between two ticks. Each column is compared on its own: the kernel lets idle and iowait decrease a little,
 * and steal by any amount when a virtual machine moves. A negative difference counts as 0.
 */
export function growth(before: CpuTimes, now: CpuTimes): Growth {
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = now.map((ticks, i) =>
    less(ticks, before[i] ?? 0),
  );
  const ofUsers = add(user, nice);
  const ofKernel = add(add(system, irq), softirq);
  const busy = add(add(ofUsers, ofKernel), steal);
  return { total: add(add(busy, iowait), idle), busy, user: ofUsers, system: ofKernel, iowait };
}

const share = (part: KernelCount, whole: KernelCount) => (whole === 0 ? 0 : thousandths(part, whole));

/**
 * Shares of each group between two ticks, in thousandths, rounded down. A CPU that was added or removed in between does
 * not count; undefined if no time passed for any CPU.
 */
export function groupShares(
  before: ReadonlyMap<number, CpuTimes>,
  now: ReadonlyMap<number, CpuTimes>,
  groups: readonly (readonly number[])[],
): GroupShare[] | undefined {
  let passed = false;
  const shares = groups.map(cpus => {
    const sum: Growth = { total: 0, busy: 0, user: 0, system: 0, iowait: 0 };
    let busiest_pm = 0;
    for (const cpu of cpus) {
      const [earlier, later] = [before.get(cpu), now.get(cpu)];
      if (earlier === undefined || later === undefined) continue;
      const grown = growth(earlier, later);
      for (const key of KINDS) sum[key] = add(sum[key], grown[key]);
      busiest_pm = Math.max(busiest_pm, share(grown.busy, grown.total));
    }
    passed ||= sum.total > 0;
    return {
      busy_pm: share(sum.busy, sum.total),
      user_pm: share(sum.user, sum.total),
      system_pm: share(sum.system, sum.total),
      iowait_pm: share(sum.iowait, sum.total),
      busiest_pm,
    };
  });
  return passed ? shares : undefined;
}
