// AMD's GPUs from /sys/class/drm, where their driver has all values for the report. Ignores other vendors' cards, and
// guesses no value: one that cannot be read, or is impossible, is unknown.

import { existsSync } from 'node:fs';
import { bits } from '../../layout/layout.gen.js';
import { add, type KernelCount, u64, whole } from '../collect/kerneltext.js';
import { readOnce } from '../kernelfile.js';
import { type GpuReading, memoryMib } from './gpu.js';
import { parsePower } from './hwmon.js';
import { names, parseCount, parseInteger, type ReadingBuilder } from './source.js';

const AMD = '0x1002\n';

/** Per cent; undefined beyond 100. */
export function parseBusy(text: string): number | undefined {
  const busy = parseCount(text);
  return busy === undefined || busy > 100 ? undefined : Number(busy);
}

/** Whole °C from thousandths, rounded down; undefined beyond 0 to 150. */
export function parseGpuTemperature(text: string): number | undefined {
  const milli = parseInteger(text);
  return milli === undefined || milli < 0 || milli > 150_000 ? undefined : Math.floor(milli / 1000);
}

/** The RAS counters of one block: `ue: N`, `ce: N`, and more on new kernels. */
export function parseRas(text: string): { ue: KernelCount; ce: KernelCount } | undefined {
  const match = /^ue: (\d{1,19})\nce: (\d{1,19})\n/.exec(text);
  return whole({ ue: u64(match?.[1]), ce: u64(match?.[2]) });
}

/** Errors of all blocks, corrected ones, too, and uncorrected ones of the memory. Undefined: RAS does not answer. */
function readRas(dir: string, now: ReadingBuilder): Pick<GpuReading, 'errors' | 'eccUe'> {
  const unknown = { errors: undefined, eccUe: undefined };
  const blocks = whole(
    names(dir, /^[a-z0-9_]{1,32}_err_count$/).map(name => {
      const counts = now.parse(`${dir}/${name}`, parseRas);
      return counts && { name, ...counts };
    }),
  );
  if (blocks === undefined) return unknown;
  const memory = blocks.find(({ name }) => name === 'umc_err_count');
  if (memory === undefined) return unknown;
  return { errors: blocks.reduce<KernelCount>((total, { ue, ce }) => add(total, add(ue, ce)), 0), eccUe: memory.ue };
}

const flag = (name: keyof typeof bits.gpu_flags, on: boolean) => (on ? 1 << bits.gpu_flags[name] : 0);

function readCard(device: string, now: ReadingBuilder): GpuReading {
  const hwmon = names(`${device}/hwmon`, /^hwmon\d+$/)[0];
  const sensor = <T>(leaf: string, parser: (text: string) => T | undefined) =>
    hwmon === undefined ? undefined : now.maybe(`${device}/hwmon/${hwmon}/${leaf}`, parser);
  const leaf = <T>(name: string, parser: (text: string) => T | undefined) => now.maybe(`${device}/${name}`, parser);
  const utilPct = leaf('gpu_busy_percent', parseBusy);
  const partition = leaf('current_compute_partition', text => text.trim());
  const ras = existsSync(`${device}/ras`) ? readRas(`${device}/ras`, now) : { errors: undefined, eccUe: undefined };
  return {
    utilPct,
    // The edge sensor; the large models have only the junction sensor.
    tempC: sensor('temp1_input', parseGpuTemperature) ?? sensor('temp2_input', parseGpuTemperature),
    powerW: sensor('power1_average', parsePower) ?? sensor('power1_input', parsePower),
    ...memoryMib(leaf('mem_info_vram_used', parseCount), leaf('mem_info_vram_total', parseCount)),
    flags:
      flag('present', true) |
      flag('in_use', utilPct !== undefined && utilPct > 0) |
      flag('ecc_error', ras.eccUe !== undefined && ras.eccUe > 0) |
      // SPX is the whole GPU as one.
      flag('partitioned', partition !== undefined && /^(?:[DTQC]PX)$/.test(partition)),
    ...ras,
  };
}

/** AMD's cards, in the order of their numbers; empty if there are none. */
export function readAmd(sys: string, now: ReadingBuilder): GpuReading[] {
  const root = `${sys}/class/drm`;
  // Without connectors like card0-DP-1, and without entries that have no vendor: the parts of a partitioned GPU.
  return names(root, /^card\d+$/)
    .map(card => `${root}/${card}/device`)
    .filter(device => readOnce(`${device}/vendor`) === AMD)
    .map(device => readCard(device, now));
}
