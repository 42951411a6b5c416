// /sys/devices/system/cpu and node: the number of CPUs and their topology. Does not visit the CPUs each second.

import type { FieldsOf } from '../../layout/codec.js';
import { readOnce } from '../kernelfile.js';

/** No kernel has more CPUs; a longer list is invalid, and would cost time. */
const MOST_CPUS = 1 << 16;
/** The number of entries `group` in a report. */
export const MOST_GROUPS = 4;

/** The numbers in a list like `0-3,5`, which must be ascending; undefined if it is empty or invalid. */
export function parseCpuList(text: string): number[] | undefined {
  // Five digits and a comma for each.
  if (text.length > 6 * MOST_CPUS) return undefined;
  const out: number[] = [];
  let next = 0;
  for (const part of text.trimEnd().split(',')) {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
    const first = Number(match?.[1]);
    const last = Number(match?.[2] ?? first);
    // Written so that the NaN of a part that did not match ends it too.
    if (!(first >= next && last >= first && last < MOST_CPUS)) return undefined;
    for (let cpu = first; cpu <= last; cpu++) out.push(cpu);
    next = last + 1;
  }
  return out;
}

/** A package's number; the kernel writes -1 where the firmware does not say. */
export function parsePackageId(text: string): number | undefined {
  return /^-?\d{1,10}\n?$/.test(text) ? Number(text) : undefined;
}

/**
 * Reads the package and the siblings of every CPU of `online`. Each CPU must have both. A kernel without NUMA has no
 * /sys/devices/system/node, and counts as one node.
 */
export function readTopology(
  sys: string,
  online: readonly number[],
): { fields: FieldsOf<'topology'>; packageOf: Map<number, number> } | undefined {
  const packageOf = new Map<number, number>();
  let threads = 0;
  for (const cpu of online) {
    const dir = `${sys}/devices/system/cpu/cpu${cpu}/topology`;
    const id = parsePackageId(readOnce(`${dir}/physical_package_id`) ?? '');
    const siblings = parseCpuList(readOnce(`${dir}/thread_siblings_list`) ?? '');
    if (id === undefined || siblings === undefined) return undefined;
    packageOf.set(cpu, id);
    threads = Math.max(threads, siblings.length);
  }
  const nodes = readOnce(`${sys}/devices/system/node/online`);
  const numa = nodes === undefined ? [0] : parseCpuList(nodes);
  if (numa === undefined) return undefined;
  const packages = new Set(packageOf.values()).size;
  const groups = Math.min(packages, MOST_GROUPS);
  return { fields: { packages, groups, threads_per_core: threads, numa_nodes: numa.length }, packageOf };
}
