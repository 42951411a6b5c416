// thermal_throttle below /sys/devices/system/cpu: how often packages slowed down because of their temperature. Reads
// one CPU of each package, because all of them have the same count; adds up those that answer.

import { parseCpuList, parsePackageId } from '../collect/cpus.js';
import { add, type KernelCount, modulo32 } from '../collect/kerneltext.js';
import { readOnce } from '../kernelfile.js';
import { parseCount, type SlowSource, source } from './source.js';

/** The first CPU of each package; undefined if a CPU does not name its package. */
function firstOfPackages(sys: string, online: readonly number[]): number[] | undefined {
  const first = new Map<number, number>();
  for (const cpu of online) {
    const id = parsePackageId(readOnce(`${sys}/devices/system/cpu/cpu${cpu}/topology/physical_package_id`) ?? '');
    if (id === undefined) return undefined;
    if (!first.has(id)) first.set(id, cpu);
  }
  return [...first.values()];
}

export function makeThrottle(): SlowSource {
  // Reading the package of every CPU takes a thousand files: it is repeated only when the online CPUs change.
  let known: { key: string; cpus: number[] | undefined } | undefined;
  return source('throttle', (now, { sys }) => {
    const dir = `${sys}/devices/system/cpu`;
    const count = (cpu: number, how: 'maybe' | 'parse') =>
      now[how](`${dir}/cpu${cpu}/thermal_throttle/package_throttle_count`, parseCount);
    const list = now.parse(`${dir}/online`, text => parseCpuList(text) && text);
    const online = list === undefined ? undefined : parseCpuList(list);
    // Only Intel's CPUs have it: if the first CPU has none, the others are not read.
    if (online === undefined || count(online[0] ?? 0, 'maybe') === undefined) return;
    const key = `${sys}\n${list}`;
    if (known?.key !== key || known.cpus === undefined) known = { key, cpus: firstOfPackages(sys, online) };
    if (known.cpus === undefined) now.complain(`a CPU below ${dir} does not name its package`);
    const events = (known.cpus ?? []).map(cpu => count(cpu, 'parse')).filter(count => count !== undefined);
    if (events.length > 0) now.put('throttle', { throttle_events: modulo32(events.reduce<KernelCount>(add, 0)) });
  });
}
