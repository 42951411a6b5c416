// /proc/loadavg: the load averages, and how many threads exist. Refuses everything but the kernel's own form.

import { type Count, Cursor } from './kerneltext.js';

export interface Loadavg {
  load1_c: Count;
  load5_c: Count;
  load15_c: Count;
  threads: Count;
}

/** Loads in hundredths. Nothing is optional; the number running and the newest pid, nobody wants. */
export function parseLoadavg(text: string): Loadavg | undefined {
  const at = new Cursor(text);
  const load1_c = at.hundredths();
  const load5_c = at.eat(' ') ? at.hundredths() : undefined;
  const load15_c = at.eat(' ') ? at.hundredths() : undefined;
  if (!at.eat(' ') || !at.eatDigits()) return undefined; // those that run
  const threads = at.eat('/') ? at.digits() : undefined;
  if (!at.eat(' ')) return undefined;
  at.eat('-'); // the newest pid as another namespace sees it
  if (!at.eatDigits() || !at.isAtLineEnd() || at.at + 1 !== text.length) return undefined;
  if (load1_c === undefined || load5_c === undefined || load15_c === undefined || threads === undefined)
    return undefined;
  return { load1_c, load5_c, load15_c, threads };
}
