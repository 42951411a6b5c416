// /proc/loadavg: the load averages, and the number of threads. Accepts only the kernel's own form.

import { type KernelCount, TextCursor } from './kerneltext.js';

interface Loadavg {
  load1_c: KernelCount;
  load5_c: KernelCount;
  load15_c: KernelCount;
  threads: KernelCount;
}

/** No kernel has more tasks, and so no higher load. */
const MOST_TASKS = 4 << 20;

/** Loads in hundredths. Everything is required; the number of running threads and the newest pid are ignored. */
export function parseLoadavg(text: string): Loadavg | undefined {
  const at = new TextCursor(text);
  const load1_c = at.hundredths();
  const load5_c = at.eat(' ') ? at.hundredths() : undefined;
  const load15_c = at.eat(' ') ? at.hundredths() : undefined;
  if (!at.eat(' ')) return undefined;
  at.eat('-'); // The running threads: some kernels have less than none.
  if (!at.eatDigits()) return undefined;
  const threads = at.eat('/') ? at.digits() : undefined;
  if (!at.eat(' ')) return undefined;
  at.eat('-'); // The newest pid, as another namespace sees it.
  if (!at.eatDigits() || !at.isAtLineEnd() || at.at + 1 !== text.length) return undefined;
  if (load1_c === undefined || load5_c === undefined || load15_c === undefined || threads === undefined)
    return undefined;
  if ([load1_c, load5_c, load15_c].some(load => load > MOST_TASKS * 100) || threads > MOST_TASKS) return undefined;
  if (threads === 0) return undefined; // One reads it.
  return { load1_c, load5_c, load15_c, threads };
}
