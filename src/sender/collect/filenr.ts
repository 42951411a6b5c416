// /proc/sys/fs/file-nr: open files of the whole node. Ignores the limit.

import { type KernelCount, less, u64 } from './kerneltext.js';

/** Allocated minus unused; 0 if a race makes that negative. All three numbers are required. From 2^63 on one is below zero. */
export function parseFileNr(text: string): { files_open: KernelCount } | undefined {
  const match = /^(\d{1,20})\t(\d{1,20})\t\d{1,20}\n$/.exec(text);
  const allocated = u64(match?.[1]);
  const unused = u64(match?.[2]);
  if (allocated === undefined || unused === undefined || allocated >= 2 ** 63 || unused >= 2 ** 63) return undefined;
  return { files_open: less(allocated, unused) };
}
