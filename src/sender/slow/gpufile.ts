// The GPU file, which a helper writes for GPUs that are not in /sys; see "Files of others" in proto/stat-v1.md. One
// invalid word makes the whole file invalid: no helper of this version wrote it.

import { bits, enums } from '../../layout/layout.gen.js';
import { type KernelCount, lines, u64, whole } from '../collect/kerneltext.js';
import type { GpuReading, Vendor } from './gpu.js';

/** `gpu_count` cannot hold more. */
const MOST_GPUS = 255;
const MOST_FLAGS = 2 ** Object.keys(bits.gpu_flags).length - 1;
const MOST_U32 = 2 ** 32 - 1;

/** The possible values of one word; null: it is invalid. */
type GpuWord = KernelCount | undefined | null;

function word(token: string | undefined, most: number): GpuWord {
  if (token === '-') return undefined;
  const value = u64(token);
  return value === undefined || value > most ? null : value;
}

const small = (value: KernelCount | undefined) => (value === undefined ? undefined : Number(value));

function parseLine(line: string): GpuReading | undefined {
  const tokens = line.split(' ');
  const limits = [100, 150, 65_534, MOST_U32, MOST_U32, MOST_FLAGS, MOST_U32, MOST_U32];
  const found = limits.map((most, i) => word(tokens[i], most));
  if (tokens.length !== limits.length || found.includes(null)) return undefined;
  const [util, temp, powerW, memUsedMib, memTotalMib, flags, errors, eccUe] = found as (KernelCount | undefined)[];
  if (flags === undefined) return undefined;
  if (memUsedMib !== undefined && memTotalMib !== undefined && memUsedMib > memTotalMib) return undefined;
  return {
    utilPct: small(util),
    tempC: small(temp),
    powerW,
    memUsedMib,
    memTotalMib,
    flags: Number(flags),
    errors,
    eccUe,
  };
}

/** A line `gpu 1 VENDOR COUNT`, then COUNT lines, each with its line end. */
export function parseGpuFile(text: string): { vendor: Vendor; gpus: GpuReading[] } | undefined {
  if (!text.endsWith('\n')) return undefined;
  const [head, ...rest] = lines(text);
  const match = /^gpu 1 ([a-z]{1,16}) (\d{1,3})$/.exec(head ?? '');
  const vendor = enums.gpu_vendor.find(name => name !== 'none' && name === match?.[1]);
  const count = Number(match?.[2]);
  if (vendor === undefined || count > MOST_GPUS || rest.length !== count) return undefined;
  const gpus = whole(rest.map(parseLine));
  return gpus && { vendor, gpus };
}
