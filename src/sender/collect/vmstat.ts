// /proc/vmstat: major faults, swapping, out-of-memory kills. Ignores the other two hundred lines.

import { countAfter, type KernelCount, modulo32 } from './kerneltext.js';

/** All are required; oom_kill came last, with Linux 4.13. */
interface Vmstat {
  majfaults: KernelCount;
  swapin_pages: KernelCount;
  swapout_pages: KernelCount;
  /** Modulo 2^32. */
  oom_kills: number;
}

export function parseVmstat(text: string): Vmstat | undefined {
  const majfaults = countAfter(text, 'pgmajfault ');
  const swapin_pages = countAfter(text, 'pswpin ');
  const swapout_pages = countAfter(text, 'pswpout ');
  const kills = countAfter(text, 'oom_kill ');
  if (majfaults === undefined || swapin_pages === undefined) return undefined;
  if (swapout_pages === undefined || kills === undefined) return undefined;
  return { majfaults, swapin_pages, swapout_pages, oom_kills: modulo32(kills) };
}
