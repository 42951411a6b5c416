// Sends documents piece by piece, as fast as the client reads, compressed if it accepts that.

import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { SlicedLook } from '../service/slices.js';
import type { ClientConnection } from './clients.js';

/** The size from which a write is worthwhile; the default is meant for small streams. */
const GZIP_CHUNK = 1 << 18;

/** Bytes to send, piece by piece, each valid until the next is asked for; undefined: not ready yet. */
export type Pieces = Iterable<Uint8Array | undefined>;

/** Whether the client accepts gzip; its answer for all codings counts if it does not name gzip. */
export function takesGzip(header: string): boolean {
  const parts = header.split(',').map(part => part.split(';').map(text => text.trim().toLowerCase()));
  const [, ...parameters] = parts.find(([coding]) => coding === 'gzip') ??
    parts.find(([coding]) => coding === '*') ?? ['', 'q=0'];
  return !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter));
}

/** Sends pieces to a client in its turns, by its socket or what writes to that. Throws if the client is gone. */
export async function send(
  client: ClientConnection,
  pieces: Pieces | AsyncIterable<Uint8Array>,
  slices: SlicedLook,
  to?: Writable,
): Promise<void> {
  for await (const bytes of pieces) {
    if (client.isGone) throw new Error('the client is gone');
    if (bytes !== undefined && bytes.length > 0) await client.write(bytes, to);
    await slices.next();
  }
}

/** Compresses pieces, in a thread of its own. */
export async function* gzipped(pieces: Pieces, slices = new SlicedLook()): AsyncGenerator<Uint8Array> {
  // The fastest level: it shrinks what is served here to a twentieth; better levels reach a thirtieth for several times
  // the CPU time.
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: GZIP_CHUNK });
  const chunks: Buffer[] = [];
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = once(gzip, 'end');
  // It is waited for at the end only.
  ended.catch(() => undefined);
  try {
    for (const bytes of pieces) {
      if (bytes !== undefined && bytes.length > 0) await new Promise<void>(done => gzip.write(bytes, () => done()));
      await slices.next();
      yield* chunks.splice(0);
    }
    gzip.end();
    await ended;
    yield* chunks;
  } finally {
    gzip.destroy();
  }
}
