// Sends documents piece by piece, as fast as the client reads, compressed if it accepts that.

import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import type { ClientConnection } from './clients.js';

/** The size from which a write is worthwhile; the default is meant for small streams. */
const GZIP_CHUNK = 1 << 18;
/** For how long one client is served before others get their turn, ms. */
const TURN_MS = 1;

/**
 * Bytes to send, piece by piece, each valid until the next is asked for; undefined: not ready yet. An array is in memory
 * as a whole, and waits for no place.
 */
export type Pieces = Iterable<Uint8Array | undefined>;

/** Whether the client accepts gzip; its answer for all codings counts if it does not name gzip. */
export function takesGzip(header: string): boolean {
  const parts = header.split(',').map(part => part.split(';').map(text => text.trim().toLowerCase()));
  const [, ...parameters] = parts.find(([coding]) => coding === 'gzip') ??
    parts.find(([coding]) => coding === '*') ?? ['', 'q=0'];
  return !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter));
}

/** Sends pieces to a client, by its socket or what writes to that. Throws if the client is gone. */
export async function send(
  client: ClientConnection,
  pieces: Pieces | AsyncIterable<Uint8Array>,
  to?: Writable,
): Promise<void> {
  let began = performance.now();
  for await (const bytes of pieces) {
    if (client.socket.destroyed) throw new Error('the client is gone');
    if (bytes !== undefined && bytes.length > 0) await client.write(bytes, to);
    if (performance.now() - began < TURN_MS) continue;
    // Other clients and signals get their turn, even if this client takes everything at once.
    await turn();
    began = performance.now();
  }
}

/** Compresses pieces, in a thread of its own. */
export async function* gzipped(pieces: Pieces): AsyncGenerator<Uint8Array> {
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
      if (bytes === undefined || bytes.length === 0) await turn();
      else await new Promise<void>(done => gzip.write(bytes, () => done()));
      yield* chunks.splice(0);
    }
    gzip.end();
    await ended;
    yield* chunks;
  } finally {
    gzip.destroy();
  }
}
