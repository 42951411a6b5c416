// /proc/loadavg: the load averages, and how many threads exist. Refuses everything but the kernel's own form.

import { type Count, hundredths, u64 } from './text.js';

export interface Loadavg {
  load1_c: Count;
  load5_c: Count;
  load15_c: Count;
  threads: Count;
}

/** Loads in hundredths. Nothing is optional but the last number, the newest pid, which nobody wants. */
export function parseLoadavg(text: string): Loadavg | undefined {
  const match = /^(\S{1,23}) (\S{1,23}) (\S{1,23}) \d{1,20}\/(\d{1,20}) -?\d{1,20}\n$/.exec(text);
  const load1_c = hundredths(match?.[1]);
  const load5_c = hundredths(match?.[2]);
  const load15_c = hundredths(match?.[3]);
  const threads = u64(match?.[4]);
  if (load1_c === undefined || load5_c === undefined || load15_c === undefined || threads === undefined)
    return undefined;
  return { load1_c, load5_c, load15_c, threads };
}
