// How much the client at the other end of a connection has taken, which only the kernel knows.

import type { Socket } from 'node:net';
import { unread } from '../native/index.js';

/** What Node has of a socket, and shows in no other way; null: it is closed. */
type Handle = { readonly fd?: number; readonly bytesWritten: number; readonly writeQueueSize: number } | null;

/** How many of the bytes that were written to a socket its peer has acknowledged: neither we nor the kernel keep them. */
export function takenFrom(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Handle };
  if (!handle) return socket.bytesWritten;
  const { fd = -1, bytesWritten, writeQueueSize } = handle;
  return bytesWritten - writeQueueSize - (fd < 0 ? 0 : unread(fd));
}
