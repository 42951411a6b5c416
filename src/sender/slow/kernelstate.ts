// Single numbers of the kernel: its taint flags, and the tasks that it found hung. Refuses numbers that do not fit into
// their fields.

import { type KernelCount, modulo32 } from '../collect/kerneltext.js';
import { parseCount, source } from './source.js';

/** The bits of each field: a larger number is not a reading. */
export function parseTaint(text: string): { taint: KernelCount } | undefined {
  const taint = parseCount(text);
  return taint === undefined || taint > 0xffffffff ? undefined : { taint };
}

export const taint = source('taint', (now, { proc }) => {
  now.put('taint', now.parse(`${proc}/sys/kernel/tainted`, parseTaint));
});

export function parseHungTasks(text: string): { hung_tasks: number } | undefined {
  const tasks = parseCount(text);
  return tasks === undefined ? undefined : { hung_tasks: modulo32(tasks) };
}

export const hungTasks = source('hung_tasks', (now, { proc }) => {
  // Linux 6.13 and later.
  now.put('hung_tasks', now.maybe(`${proc}/sys/kernel/hung_task_detect_count`, parseHungTasks));
});
