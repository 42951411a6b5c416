// Tells people what goes on in the receive thread: what was refused, dropped, and what goes wrong. Changes nothing.

import type { Log } from '../common/log.js';
import { enums } from '../layout/layout.gen.js';
import type { ReceiverStatus } from '../native/index.js';

/** What one report takes of a socket buffer as the kernel counts it, bytes: seen on x86-64. */
const BUFFER_PER_REPORT = 2305;
const WANTED_BUFFER = 64 * 1024 * 1024;

/** What to say about the buffer that the kernel granted; undefined when it is what was asked for. */
export function bufferAdvice(granted: number): string | undefined {
  // The kernel doubles what is asked for, to make room for its own.
  if (granted >= 2 * WANTED_BUFFER) return undefined;
  const reports = Math.floor(granted / BUFFER_PER_REPORT).toLocaleString('en');
  return `the kernel granted a socket buffer for ${reports} reports at once; for more set net.core.rmem_max=${WANTED_BUFFER}`;
}

/** Compares two looks at the thread and tells what is new, each kind at most once a minute. */
export function tellChanges(before: ReceiverStatus, after: ReceiverStatus, log: Log): void {
  if (after.trouble !== '') log.seldom('trouble', after.trouble);
  if (after.publications > before.publications)
    log.warn('the board was deleted, replaced, cut or its mode changed, and was published again; see who does that');
  const drops = after.kernelDrops - before.kernelDrops;
  if (after.filtering)
    log.seldom('flood', `a flood: the kernel drops what is no report, and counts it among its drops (${drops} more)`);
  else if (drops > 0)
    log.seldom('drops', `the kernel dropped ${drops} datagrams: the socket buffer was full; see net.core.rmem_max`);
  enums.reason.forEach((reason, i) => {
    const more = (after.refused[i] ?? 0) - (before.refused[i] ?? 0);
    if (more > 0)
      log.seldom(reason, `refused ${more} ${more === 1 ? 'datagram' : 'datagrams'}: ${reason}${hint(reason)}`);
  });
}

const HINTS: Partial<Record<(typeof enums.reason)[number], string>> = {
  cluster: ' (reports of another cluster; compare --cluster here and there)',
  auth_missing: ' (no tag, or a lesser one than --require says or the name has proved; see --key-file on the nodes)',
  key_id: ' (signed with a key that is not in --key-file)',
  tag: ' (signed with another key under the same number, or forged)',
  clock: ' (the wall clock of a node is off by more than --clock-window)',
  stranger: ' (not in --nodes)',
  full: ' (give a higher --capacity)',
  rival: ' (two senders with one name?)',
};

function hint(reason: (typeof enums.reason)[number]): string {
  return HINTS[reason] ?? '';
}
