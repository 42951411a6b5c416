// The packages of the node, as the entries `group` of a report. Two files per CPU are read again only when CPUs are
// added or removed.

import { groupsOf } from '../collect/cpugroups.js';
import { parseCpuList, readTopology } from '../collect/cpus.js';
import type { ReadingBuilder } from './source.js';

export interface Packages {
  ids: number[];
  /** The online CPUs of each entry, ascending. */
  groups: number[][];
}

/** Reads the packages below one /sys, and keeps them as long as the same CPUs are online. `how` is about the list of these. */
export function makePackages(): (sys: string, now: ReadingBuilder, how?: 'maybe' | 'parse') => Packages | undefined {
  let key = '';
  let packages: Packages | undefined;
  return (sys, now, how = 'maybe') => {
    const online = now[how](`${sys}/devices/system/cpu/online`, parseCpuList);
    if (online === undefined) return undefined;
    const next = `${sys} ${online}`;
    if (packages === undefined || next !== key) {
      const topology = readTopology(sys, online);
      key = next;
      packages = topology && {
        ids: [...new Set(topology.packageOf.values())].sort((a, b) => a - b),
        groups: groupsOf(topology.packageOf),
      };
    }
    return packages;
  };
}
