// /proc/sys/kernel/random/boot_id: distinguishes one boot of the node from the next. Accepts only a UUID.

import { readOnce } from '../kernelfile.js';

/** The first 16 hex digits as one number. */
export function parseBootId(text: string): bigint | undefined {
  if (!/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\n?$/i.test(text)) return undefined;
  return BigInt(`0x${text.replaceAll('-', '').slice(0, 16)}`);
}

/** The boot id of the kernel whose /proc is at `proc`; undefined if it cannot be read. */
export function bootId(proc: string): bigint | undefined {
  const text = readOnce(`${proc}/sys/kernel/random/boot_id`);
  return text === undefined ? undefined : parseBootId(text);
}
