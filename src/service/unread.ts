// How far the client at the other end of a connection has read, which only the kernel knows.

import type { Socket } from 'node:net';
import { unread as unreadOf } from '../native/index.js';

/** How many bytes the kernel keeps of what was written to a socket because its peer has not taken them. */
export function unread(socket: Socket): number {
  // Node gives no other way to the descriptor.
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly fd?: number } | null };
  const fd = handle?.fd ?? -1;
  return fd < 0 ? 0 : unreadOf(fd);
}
