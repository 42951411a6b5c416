// /proc/loadavg: the load averages, and the number of threads. Accepts only the kernel's own form.

import type { FieldsOf } from '../../layout/codec.js';
import { TextCursor, whole } from './kerneltext.js';

/** No kernel has more tasks, and so no higher load. */
const MOST_TASKS = 4 << 20;

/** Loads in hundredths. Everything is required; the number of running threads and the newest pid are ignored. */
export function parseLoadavg(text: string): FieldsOf<'load'> | undefined {
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
  const all = whole({ load1_c, load5_c, load15_c, threads });
  if (all === undefined || all.threads === 0 || all.threads > MOST_TASKS) return undefined; // One reads it.
  return [all.load1_c, all.load5_c, all.load15_c].some(load => load > MOST_TASKS * 100) ? undefined : all;
}
