// The GPUs in the report: their number, up to eight entries, their errors. Reads nothing; gpufile and gpuamd do.

import type { FieldsOf } from '../../layout/codec.js';
import { bits, enums } from '../../layout/layout.gen.js';
import { add, type KernelCount, less, modulo32, over } from '../collect/kerneltext.js';

/** A GPU as its source reports it; an unknown value is undefined. */
export interface GpuReading {
  utilPct: number | undefined;
  tempC: number | undefined;
  powerW: KernelCount | undefined;
  memUsedMib: KernelCount | undefined;
  memTotalMib: KernelCount | undefined;
  /** Bits of `gpu_flags`. */
  flags: number;
  errors: KernelCount | undefined;
  eccUe: KernelCount | undefined;
}

export type Vendor = (typeof enums.gpu_vendor)[number];

const SLOTS = 8;
const IN_USE = 1 << bits.gpu_flags.in_use;

/** Sentinels of the contract, and the largest valid readings. */
const UNKNOWN_BYTE = 255;
const UNKNOWN_WATTS = 65_535;

/** The sum of all; unknown if any of them is. */
function sum(counts: readonly (KernelCount | undefined)[]): KernelCount | undefined {
  return counts.reduce(
    (total, count) => (total === undefined || count === undefined ? undefined : add(total, count)),
    0,
  );
}

const known = (numbers: readonly (number | undefined)[]) => numbers.filter(number => number !== undefined);

/** GPUs added into one: memory and power summed, utilisation averaged, the highest temperature, flags or-ed. */
function together(gpus: readonly GpuReading[]): GpuReading {
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

function slot({ utilPct, tempC, powerW, memUsedMib, memTotalMib }: GpuReading) {
  // Memory has no sentinel except a total of 0; half of the pair would look like a reading.
  const memory = memUsedMib !== undefined && memTotalMib !== undefined;
  return {
    util_pct: utilPct ?? UNKNOWN_BYTE,
    temp_degc: tempC ?? UNKNOWN_BYTE,
    power_w: powerW === undefined ? UNKNOWN_WATTS : powerW < UNKNOWN_WATTS ? powerW : UNKNOWN_WATTS - 1,
    mem_used_mib: memory ? memUsedMib : 0,
    mem_total_mib: memory ? memTotalMib : 0,
  };
}

/** The fields of the set `gpu`; the eighth entry includes the ninth and all later ones. */
export function gpuFields(vendor: Vendor, gpus: readonly GpuReading[]): FieldsOf<'gpu'> {
  const entries = gpus.length <= SLOTS ? gpus : [...gpus.slice(0, SLOTS - 1), together(gpus.slice(SLOTS - 1))];
  return {
    gpu_count: gpus.length,
    gpu_busy: gpus.filter(({ flags }) => (flags & IN_USE) !== 0).length,
    gpu_vendor: enums.gpu_vendor.indexOf(vendor),
    gpu_flags: entries.map(({ flags }) => flags),
    gpu: entries.map(slot),
  };
}

/** The fields of the set `gpu_errors`; undefined if one GPU does not report them. */
export function errorFields(gpus: readonly GpuReading[]): FieldsOf<'gpu_errors'> | undefined {
  const { errors, eccUe } = together(gpus);
  if (errors === undefined || eccUe === undefined) return undefined;
  return { gpu_errors: modulo32(errors), gpu_ecc_ue: modulo32(eccUe) };
}

/** MiB of two counts of bytes, both or neither; more used than there is, or a total of 0, is invalid. */
export function memoryMib(
  used: KernelCount | undefined,
  total: KernelCount | undefined,
): Pick<GpuReading, 'memUsedMib' | 'memTotalMib'> {
  const sane = used !== undefined && total !== undefined && total > 0 && less(used, total) === 0;
  return {
    memUsedMib: sane ? over(used, 1 << 20) : undefined,
    memTotalMib: sane ? over(total, 1 << 20) : undefined,
  };
}
