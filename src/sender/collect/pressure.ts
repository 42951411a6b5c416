// /proc/pressure/*: how long tasks waited. Does not report avg300; kernels without PSI (before 4.20, or psi=0) have no
// such file.

import { type KernelCount, TextCursor, whole } from './kerneltext.js';

/** A share of time: more than 100 % is none. */
function share(line: TextCursor): KernelCount | undefined {
  const hundredths = line.hundredths();
  return hundredths !== undefined && hundredths <= 100 * 100 ? hundredths : undefined;
}

/** Means of the last 10 s and so on in hundredths of a per cent, and the total in microseconds. */
function pressure(text: string, who: 'some ' | 'full ') {
  const line = new TextCursor(text);
  if (!line.line(who)) return undefined;
  const avg10 = line.eat('avg10=') ? share(line) : undefined;
  const avg60 = line.eat(' avg60=') ? share(line) : undefined;
  const avg300 = line.eat(' avg300=') ? share(line) : undefined;
  const total = line.eat(' total=') ? line.digits() : undefined;
  return line.isAtLineEnd() ? whole({ avg10, avg60, avg300, total }) : undefined;
}

/** Only `some` is required: `full` came to this file with 5.13 and has no meaning there. */
export function parseCpuPressure(text: string) {
  const some = pressure(text, 'some ');
  return some && { psi_cpu_some10: some.avg10, psi_cpu_some60: some.avg60, psi_cpu_some_us: some.total };
}

/** Both lines are required. */
function parseBoth<Resource extends 'mem' | 'io'>(text: string, of: Resource) {
  const some = pressure(text, 'some ');
  const full = pressure(text, 'full ');
  if (some === undefined || full === undefined) return undefined;
  return {
    [`psi_${of}_some10`]: some.avg10,
    [`psi_${of}_some60`]: some.avg60,
    [`psi_${of}_some_us`]: some.total,
    [`psi_${of}_full10`]: full.avg10,
    [`psi_${of}_full60`]: full.avg60,
    [`psi_${of}_full_us`]: full.total,
  } as Record<`psi_${Resource}_${'some' | 'full'}${'10' | '60' | '_us'}`, KernelCount>;
}

export const parseMemoryPressure = (text: string) => parseBoth(text, 'mem');
export const parseIoPressure = (text: string) => parseBoth(text, 'io');

/** This file has only `full`. */
export function parseIrqPressure(text: string) {
  const full = pressure(text, 'full ');
  return full && { psi_irq_full10: full.avg10, psi_irq_full_us: full.total };
}
