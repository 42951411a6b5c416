// What there is to know of a receiver before any node has reported. What was rejected is a stranger's: its numbers prove
// nothing.

import { basename, dirname } from 'node:path';
import { enums } from '../layout/layout.gen.js';
import { reasonWords } from '../layout/wording.gen.js';
import type { ReceiverStatus } from '../native/index.js';
import { replaceFile } from '../service/replacefile.js';
import { noticePath } from '../shm/notice.js';
import { attempt } from '../text/failure.js';
import { counted } from '../text/text.js';

/** What no other machine can reach. */
const LOOPBACK = /^(127\.|\[::1\]|\[::ffff:127\.)/;

/** So many reasons are told, those with the most reports. */
const REASONS_MOST = 3;

/** Leaves it beside the board; a board without it is read as ever. */
export function leaveNotice(board: string, text: string): void {
  const notice = noticePath(board);
  const file = `${JSON.stringify({ schema: 1, pid: process.pid, text })}\n`;
  attempt(() => replaceFile(dirname(notice), basename(notice), file, 0o644));
}

/** `bound`: the addresses at which it listens; `cluster`: the id of its cluster. */
export function noticeText(
  bound: readonly string[],
  { received, refused }: Pick<ReceiverStatus, 'received' | 'refused'>,
  cluster: number,
): string {
  const at = bound.join(', ');
  const told = refused
    .map((count, reason) => ({ count, reason: enums.reason[reason] ?? String(reason) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, REASONS_MOST)
    .map(({ count, reason }) => {
      const id = reason === 'cluster' ? ` (ours has the id ${cluster.toString(16).padStart(8, '0')})` : '';
      const why = `${reasonWords[reason]?.meaning || reason}${id}`;
      return `${counted(count, 'report')} rejected: ${why}`;
    });
  if (bound.every(address => LOOPBACK.test(address)))
    told.unshift(
      `the receiver listens on ${at} only, which no other machine can reach: write listen = ["0.0.0.0"] into ` +
        '/etc/beoboard/receive.toml, then systemctl restart beoboard-receive; with the socket unit, ListenDatagram= by ' +
        'systemctl edit beoboard-receive.socket',
    );
  if (told.length > 0) return told.join('; ');
  if (received > 0) return '';
  return `no node has reported, and nothing has arrived at all at ${at}: see to and the port in send.toml of the nodes, and a firewall`;
}
