// /proc/vmstat: major faults, swapping, out-of-memory kills. Ignores the other two hundred lines.

import type { FieldsOf } from '../../layout/codec.js';
import { countAfter, modulo32, whole } from './kerneltext.js';

/** All are required; oom_kill came last, with Linux 4.13. */
export function parseVmstat(text: string): FieldsOf<'vmstat'> | undefined {
  const counts = whole({
    majfaults: countAfter(text, 'pgmajfault '),
    swapin_pages: countAfter(text, 'pswpin '),
    swapout_pages: countAfter(text, 'pswpout '),
    oom_kills: countAfter(text, 'oom_kill '),
  });
  return counts && { ...counts, oom_kills: modulo32(counts.oom_kills) };
}
