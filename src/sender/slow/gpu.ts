// The GPUs in the report: how many of them, up to eight entries, their errors. Refuses to read any of it; see gpufile
// and gpuamd for where it comes from.

import type { FieldsOf } from '../../layout/codec.js';
import { bits, enums } from '../../layout/layout.gen.js';
import { add, type Count, less, modulo32, over } from '../collect/kerneltext.js';

/** A GPU as its source tells; what is not known is undefined. */
export interface Gpu {
  utilPct: number | undefined;
  tempC: number | undefined;
  powerW: Count | undefined;
  memUsedMib: Count | undefined;
  memTotalMib: Count | undefined;
  /** Bits of `gpu_flags`. */
  flags: number;
  errors: Count | undefined;
  eccUe: Count | undefined;
}

export type Vendor = (typeof enums.gpu_vendor)[number];

const SLOTS = 8;
const IN_USE = 1 << bits.gpu_flags.in_use;

/** Sentinels of the contract, and the most that is still a reading. */
const UNKNOWN_BYTE = 255;
const UNKNOWN_WATTS = 65_535;

/** The sum of all; unknown as soon as one is. */
function sum(counts: readonly (Count | undefined)[]): Count | undefined {
  return counts.reduce(
    (total, count) => (total === undefined || count === undefined ? undefined : add(total, count)),
    0,
  );
}

const known = (numbers: readonly (number | undefined)[]) => numbers.filter(number => number !== undefined);

/** GPUs added into one: memory and power summed, utilisation averaged, the highest temperature, flags or-ed. */
function together(gpus: readonly Gpu[]): Gpu {
  const utils = known(gpus.map(gpu => gpu.utilPct));
  const temps = known(gpus.map(gpu => gpu.tempC));
  return {
    utilPct: utils.length === 0 ? undefined : Math.floor(utils.reduce((a, b) => a + b, 0) / utils.length),
    tempC: temps.length === 0 ? undefined : Math.max(...temps),
    powerW: sum(gpus.map(gpu => gpu.powerW)),
    memUsedMib: sum(gpus.map(gpu => gpu.memUsedMib)),
    memTotalMib: sum(gpus.map(gpu => gpu.memTotalMib)),
    flags: gpus.reduce((all, gpu) => all | gpu.flags, 0),
    errors: sum(gpus.map(gpu => gpu.errors)),
    eccUe: sum(gpus.map(gpu => gpu.eccUe)),
  };
}

function slot({ utilPct, tempC, powerW, memUsedMib, memTotalMib }: Gpu) {
  // Memory has no sentinel but a total of nothing: half of the pair would look like a reading.
  const memory = memUsedMib !== undefined && memTotalMib !== undefined;
  return {
    util_pct: utilPct ?? UNKNOWN_BYTE,
    temp_degc: tempC ?? UNKNOWN_BYTE,
    power_w: powerW === undefined ? UNKNOWN_WATTS : powerW < UNKNOWN_WATTS ? powerW : UNKNOWN_WATTS - 1,
    mem_used_mib: memory ? memUsedMib : 0,
    mem_total_mib: memory ? memTotalMib : 0,
  };
}

/** The fields of the set `gpu`; the eighth entry holds the ninth and all later ones too. */
export function gpuFields(vendor: Vendor, gpus: readonly Gpu[]): FieldsOf<'gpu'> {
  const entries = gpus.length <= SLOTS ? gpus : [...gpus.slice(0, SLOTS - 1), together(gpus.slice(SLOTS - 1))];
  return {
    gpu_count: gpus.length,
    gpu_busy: gpus.filter(({ flags }) => (flags & IN_USE) !== 0).length,
    gpu_vendor: enums.gpu_vendor.indexOf(vendor),
    gpu_flags: entries.map(({ flags }) => flags),
    gpu: entries.map(slot),
  };
}

/** The fields of the set `gpu_errors`; undefined when one GPU does not tell. */
export function errorFields(gpus: readonly Gpu[]): FieldsOf<'gpu_errors'> | undefined {
  const { errors, eccUe } = together(gpus);
  if (errors === undefined || eccUe === undefined) return undefined;
  return { gpu_errors: modulo32(errors), gpu_ecc_ue: modulo32(eccUe) };
}

/** MiB of two counts of bytes, both or none; more in use than there is, or nothing there, is not a reading. */
export function memoryMib(used: Count | undefined, total: Count | undefined): Pick<Gpu, 'memUsedMib' | 'memTotalMib'> {
  const sane = used !== undefined && total !== undefined && total > 0 && less(used, total) === 0;
  return {
    memUsedMib: sane ? over(used, 1 << 20) : undefined,
    memTotalMib: sane ? over(total, 1 << 20) : undefined,
  };
}
