// /sys/class/powercap: the energy that packages and memory used, corrected for wraps. Refuses a sum that lacks a zone;
// ignores zones that measure something else (the platform, parts of a package, the same package by another path).

import { constants } from '../../layout/layout.gen.js';
import { add, type KernelCount, less, over, times } from '../collect/kerneltext.js';
import { names, parseCount, type ReadingBuilder, type SlowSource, source, whole } from './source.js';

/** One zone as read, microjoules. */
export interface Zone {
  name: string;
  uj: KernelCount;
  /** The value at which it wraps. */
  range: KernelCount;
}

/**
 * Adds up the growth of counters that wrap. The first sum is their present value, so that a new process (a child that
 * replaced a hung one, a restarted sender) never begins above the old one: its sum decreases, for which readers make no
 * rate, or it is right.
 */
export class Unwinder {
  #last: ReadonlyMap<string, KernelCount> | undefined;
  #sum: KernelCount = 0;

  /**
   * Undefined once if the sum had to begin again, because zones came or went or a counter decreased without a wrap:
   * then a round without a value lies between the old sum and the new one, and nobody makes a rate across it.
   */
  add(zones: readonly Zone[]): KernelCount | undefined {
    const growth = this.#growth(zones);
    const first = this.#last === undefined;
    this.#sum = add(
      growth === undefined ? 0 : this.#sum,
      growth ?? zones.reduce<KernelCount>((sum, { uj }) => add(sum, uj), 0),
    );
    this.#last = new Map(zones.map(({ name, uj }) => [name, uj]));
    return growth === undefined && !first ? undefined : this.#sum;
  }

  #growth(zones: readonly Zone[]): KernelCount | undefined {
    if (zones.length !== this.#last?.size) return undefined;
    let sum: KernelCount = 0;
    for (const { name, uj, range } of zones) {
      const from = this.#last.get(name);
      if (from === undefined) return undefined;
      const by = uj >= from ? less(uj, from) : add(less(range, from), uj);
      // It grew by more than half of its range within a round: it was reset, and its growth is unknown.
      if (times(by, 2) >= range) return undefined;
      sum = add(sum, by);
    }
    return sum;
  }
}

/** Whole joules, in mJ: finer values would show an attacker what the CPU computes. */
export function wholeJoules(uj: KernelCount): KernelCount {
  return times(over(uj, 1_000_000), 1000);
}

/** The kernel numbers zones in hexadecimal. */
const ZONE = /^intel-rapl:[0-9a-f]{1,8}$/;
const SUBZONE = /^intel-rapl:[0-9a-f]{1,8}:[0-9a-f]{1,8}$/;
const PACKAGE = /^package-\d+(?:-die-\d+)?\n$/;
const DRAM = /^dram\n$/;

/** The zones of one kind; empty if there are none, undefined if one of them cannot be read. */
function readZones(dir: string, zones: RegExp, kind: RegExp, now: ReadingBuilder): Zone[] | undefined {
  const all = whole(
    names(dir, zones).map(zone => {
      const name = now.parse(`${dir}/${zone}/name`, text => text);
      return name === undefined ? undefined : { zone, name };
    }),
  );
  const ours = all?.filter(({ name }) => kind.test(name)).map(({ zone }) => zone);
  if (ours === undefined) return undefined;
  if (ours.length > constants.most.zones) {
    now.tooMany(constants.most.zones, zones === ZONE ? 'zones of packages' : 'zones of dram');
    return undefined;
  }
  return whole(
    ours.map(name => {
      const range = now.parse(`${dir}/${name}/max_energy_range_uj`, parseCount);
      // Only root may read it, since CVE-2020-8694.
      const uj = now.parse(`${dir}/${name}/energy_uj`, parseCount);
      return uj === undefined || range === undefined || uj > range ? undefined : { name, uj, range };
    }),
  );
}

export function makeEnergy(): SlowSource {
  const cpu = new Unwinder();
  const dram = new Unwinder();
  return source('energy', (now, { sys }) => {
    const dir = `${sys}/class/powercap`;
    const packages = readZones(dir, ZONE, PACKAGE, now);
    const cpuUj = packages?.length ? cpu.add(packages) : undefined;
    now.put('energy_cpu', cpuUj === undefined ? undefined : { energy_cpu_mj: wholeJoules(cpuUj) });
    const memory = readZones(dir, SUBZONE, DRAM, now);
    const dramUj = memory?.length ? dram.add(memory) : undefined;
    now.put('energy_dram', dramUj === undefined ? undefined : { energy_dram_mj: wholeJoules(dramUj) });
  });
}
