// /proc/net/snmp: TCP segments sent again. Refuses to count columns: a kernel names them in the line above.

import { type Count, lineStart, u64 } from './text.js';

/** Required are two lines `Tcp:`, the first naming RetransSegs. */
export function parseSnmp(text: string): { tcp_retrans: Count } | undefined {
  const start = lineStart(text, 'Tcp: ');
  if (start === -1) return undefined;
  const middle = text.indexOf('\n', start);
  const end = middle === -1 ? -1 : text.indexOf('\n', middle + 1);
  if (end === -1 || !text.startsWith('Tcp: ', middle + 1)) return undefined;
  const column = text.slice(start, middle).split(' ').indexOf('RetransSegs');
  const tcp_retrans = u64(text.slice(middle + 1, end).split(' ')[column]);
  return tcp_retrans === undefined ? undefined : { tcp_retrans };
}
