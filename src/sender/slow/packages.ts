// The packages of the node, as the entries `group` of a report have them. Two files per CPU: read again only when CPUs
// came or went.

import { groupsOf } from '../collect/cpugroups.js';
import { parseCpuList, readTopology } from '../collect/cpus.js';
import type { Reading } from './source.js';

export interface Packages {
  /** Numbers of the packages, growing. */
  ids: number[];
  /** Online CPUs of each entry, growing. */
  groups: number[][];
}

/** Reads the packages below one /sys, and remembers them as long as the same CPUs are online. */
export function makePackages(): (sys: string, now: Reading) => Packages | undefined {
  let key = '';
  let packages: Packages | undefined;
  return (sys, now) => {
    const online = now.maybe(`${sys}/devices/system/cpu/online`, parseCpuList);
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
