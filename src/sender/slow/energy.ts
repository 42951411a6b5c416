// /sys/class/powercap: the energy that packages and memory used, corrected for wraps. Refuses a sum that lacks a zone;
// ignores zones that measure something else (the platform, parts of a package, the same package by another path).

import { constants } from '../../layout/layout.gen.js';
import { type KernelCount, over, times, whole } from '../collect/kerneltext.js';
import { MemberSum } from '../collect/membersum.js';
import { readOnce } from '../kernelfile.js';
import { bootMs, keeping, names, parseCount, type ReadingBuilder, type SlowSource } from './source.js';

interface Zone {
  /** By its package, because folders are numbered as zones come. */
  id: string;
  counts: { uj: KernelCount };
  modulo: { uj: KernelCount };
}

/** In so long a counter may have come round unseen, ms. */
const MOST_UNSEEN_MS = 60_000;

/** What the zones of one kind used, microjoules. */
function add(sum: MemberSum<'uj'>, zones: readonly Zone[] | undefined, nowMs: number): KernelCount | undefined {
  if (!zones?.length) return undefined;
  const total = sum.add(zones, nowMs);
  return sum.isDoubtful ? undefined : total?.uj;
}

/** Whole joules, in mJ: finer values would show an attacker what the CPU computes. */
export const wholeJoules = (uj: KernelCount): KernelCount => times(over(uj, 1_000_000), 1000);

/** The kernel numbers zones in hexadecimal. */
const ZONE = /^intel-rapl:[0-9a-f]{1,8}$/;
const SUBZONE = /^intel-rapl:[0-9a-f]{1,8}:[0-9a-f]{1,8}$/;
const PACKAGE = /^package-\d+(?:-die-\d+)?\n$/;
const DRAM = /^dram\n$/;

/**
 * The zones of one kind; empty if there are none, undefined if one of them cannot be read, or is switched off and its
 * counter stands still. Mostly `enabled` is of limits alone.
 */
function readZones(
  dir: string,
  zones: RegExp,
  kind: RegExp,
  now: ReadingBuilder,
  before: Map<string, KernelCount>,
): Zone[] | undefined {
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
      if (uj === undefined) return undefined;
      const isStill = uj === 0 || uj === before.get(name);
      before.set(name, uj);
      if (range === undefined || uj > range) return undefined;
      if (isStill && readOnce(`${dir}/${name}/enabled`) === '0\n') return undefined;
      // A part has the name of the zone that it is a part of, whose folder is named alike.
      const [owner = name] = /^[^:]*:[^:]*/.exec(name) ?? [];
      return { id: readOnce(`${dir}/${owner}/name`) ?? name, counts: { uj }, modulo: { uj: range } };
    }),
  );
}

export function makeEnergy(): SlowSource {
  const options = { room: constants.most.zones, unseenMs: MOST_UNSEEN_MS };
  const [cpu, dram] = [new MemberSum(['uj'], options), new MemberSum(['uj'], options)];
  const kept = { before: new Map<string, KernelCount>() };
  return keeping('energy', [cpu.kept, dram.kept, kept], (now, world) => {
    const dir = `${world.sys}/class/powercap`;
    const cpuUj = add(cpu, readZones(dir, ZONE, PACKAGE, now, kept.before), bootMs(world));
    now.put('energy_cpu', cpuUj === undefined ? undefined : { energy_cpu_mj: wholeJoules(cpuUj) });
    const dramUj = add(dram, readZones(dir, SUBZONE, DRAM, now, kept.before), bootMs(world));
    now.put('energy_dram', dramUj === undefined ? undefined : { energy_dram_mj: wholeJoules(dramUj) });
  });
}
