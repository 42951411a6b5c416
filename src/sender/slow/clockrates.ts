// Clock rates of the CPU groups, from a few CPUs of each: on older kernels each reading interrupts its CPU, and a mean
// needs no more of them.

import { type KernelCount, over } from '../collect/kerneltext.js';
import { MOST_MHZ } from '../collect/system.js';
import { makePackages } from './packages.js';
import { parseCount, type SlowSource, source } from './source.js';

/** How many CPUs of each group are read. */
const MOST_ASKED = 8;

/** At most eight of the CPUs, evenly spread. */
export function spread(cpus: readonly number[]): number[] {
  if (cpus.length <= MOST_ASKED) return [...cpus];
  return Array.from({ length: MOST_ASKED }, (_, i) => cpus[Math.floor((i * cpus.length) / MOST_ASKED)] as number);
}

/** MHz, rounded down, from some rates in kHz; 0 (unknown) without any. */
export function meanMhz(khz: readonly KernelCount[]): number {
  if (khz.length === 0) return 0;
  const sum = khz.reduce<bigint>((sum, one) => sum + BigInt(one), 0n);
  return Number(over(sum, 1000 * khz.length));
}

export function makeClockRates(): SlowSource {
  const readPackages = makePackages();
  return source('clock_rates', (now, { sys }) => {
    const groups = readPackages(sys, now)?.groups;
    if (groups === undefined) return;
    // Of those that know it: where a driver does not, the kernel writes 0 or <unknown>.
    const rateOf = (cpu: number) => {
      const khz = now.maybe(`${sys}/devices/system/cpu/cpu${cpu}/cpufreq/scaling_cur_freq`, parseCount) ?? 0;
      return khz > 0 && over(khz, 1000) <= MOST_MHZ ? [khz] : [];
    };
    now.detail({ mhz: groups.map(cpus => meanMhz(spread(cpus).flatMap(rateOf))) });
  });
}
