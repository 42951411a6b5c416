// /proc/pressure/*: how long tasks waited. Refuses avg300; kernels without it (before 4.20, or psi=0) have no file.

import { type Count, hundredths, lineAfter, u64 } from './text.js';

interface Pressure {
  /** Hundredths of a per cent. */
  avg10: Count;
  avg60: Count;
  /** Microseconds. */
  total: Count;
}

function pressure(text: string, who: 'some' | 'full'): Pressure | undefined {
  const line = lineAfter(text, `${who} `) ?? '';
  const match = /^avg10=(\S{1,23}) avg60=(\S{1,23}) avg300=\S{1,23} total=(\d{1,20})$/.exec(line);
  const avg10 = hundredths(match?.[1]);
  const avg60 = hundredths(match?.[2]);
  const total = u64(match?.[3]);
  if (avg10 === undefined || avg60 === undefined || total === undefined) return undefined;
  return { avg10, avg60, total };
}

/** `some` alone is required: `full` came to this file with 5.13 and means nothing there. */
export function parseCpuPressure(text: string) {
  const some = pressure(text, 'some');
  return some && { psi_cpu_some10: some.avg10, psi_cpu_some60: some.avg60, psi_cpu_some_us: some.total };
}

/** Both lines are required. */
export function parseMemoryPressure(text: string) {
  const some = pressure(text, 'some');
  const full = pressure(text, 'full');
  if (some === undefined || full === undefined) return undefined;
  return {
    psi_mem_some10: some.avg10,
    psi_mem_some60: some.avg60,
    psi_mem_some_us: some.total,
    psi_mem_full10: full.avg10,
    psi_mem_full60: full.avg60,
    psi_mem_full_us: full.total,
  };
}

/** Both lines are required. */
export function parseIoPressure(text: string) {
  const some = pressure(text, 'some');
  const full = pressure(text, 'full');
  if (some === undefined || full === undefined) return undefined;
  return {
    psi_io_some10: some.avg10,
    psi_io_some60: some.avg60,
    psi_io_some_us: some.total,
    psi_io_full10: full.avg10,
    psi_io_full60: full.avg60,
    psi_io_full_us: full.total,
  };
}

/** This file has `full` alone. */
export function parseIrqPressure(text: string) {
  const full = pressure(text, 'full');
  return full && { psi_irq_full10: full.avg10, psi_irq_full_us: full.total };
}
