// thermal_throttle below /sys/devices/system/cpu: how often packages slowed down because of their temperature. Reads
// one CPU of each package, because all of them have the same count.

import { constants } from '../../layout/layout.gen.js';
import { parseCpuList, parsePackageId } from '../collect/cpus.js';
import { modulo32 } from '../collect/kerneltext.js';
import { MemberSum } from '../collect/membersum.js';
import { readOnce } from '../kernelfile.js';
import { bootMs, endMembers, keeping, parseCount, type SlowSource } from './source.js';

/** The first CPU of each package; undefined if a CPU does not name its package. */
function firstOfPackages(sys: string, online: readonly number[]): [id: number, cpu: number][] | undefined {
  const first = new Map<number, number>();
  for (const cpu of online) {
    const id = parsePackageId(readOnce(`${sys}/devices/system/cpu/cpu${cpu}/topology/physical_package_id`) ?? '');
    if (id === undefined) return undefined;
    if (!first.has(id)) first.set(id, cpu);
  }
  return [...first];
}

export function makeThrottle(): SlowSource {
  const sum = new MemberSum(['count'], { room: constants.most.members, isTally: true });
  // Reading the package of every CPU takes a thousand files: it is repeated only when the online CPUs change.
  let known: { key: string; cpus: [id: number, cpu: number][] | undefined } | undefined;
  return keeping('throttle', [sum.kept], (now, world) => {
    const { sys } = world;
    const dir = `${sys}/devices/system/cpu`;
    const count = (cpu: number, how: 'maybe' | 'parse') =>
      now[how](`${dir}/cpu${cpu}/thermal_throttle/package_throttle_count`, parseCount);
    const list = now.parse(`${dir}/online`, text => parseCpuList(text) && text);
    const online = list === undefined ? undefined : parseCpuList(list);
    // Only Intel's CPUs have it: if the first CPU has none, the others are not read.
    if (online === undefined || count(online[0] ?? 0, 'maybe') === undefined) return;
    const key = `${sys}\n${list}`;
    if (known?.key !== key || known.cpus === undefined) known = { key, cpus: firstOfPackages(sys, online) };
    if (known.cpus === undefined) {
      now.complain(`a CPU below ${dir} does not name its package`);
      return;
    }
    // Each CPU counts for itself, and only while it is online.
    const all = known.cpus.map(([id, cpu]) => {
      const events = count(cpu, 'parse');
      return { id: `${id} ${cpu}`, counts: events === undefined ? undefined : { count: events } };
    });
    const total = endMembers(now, sum, all, bootMs(world), 'packages');
    now.put('throttle', total && { throttle_events: modulo32(total.count) });
  });
}
