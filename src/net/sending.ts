// Sends documents over HTTP piece by piece, as fast as the client reads, compressed if it accepts that.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import type { Guest } from './clients.js';

/** The size from which a write is worthwhile. */
const GZIP_CHUNK = 1 << 18;

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

/** Writes bytes and waits until they are sent, so that they may be overwritten. Throws if the client is gone. */
function write(response: ServerResponse, client: Guest, bytes: Uint8Array): Promise<void> {
  const taken = new Promise<void>((resolve, reject) => {
    const gone = () => reject(new Error('the client is gone'));
    response.once('close', gone);
    response.write(bytes, error => {
      response.off('close', gone);
      if (error) reject(error);
      else resolve();
    });
  });
  return client.wait(taken);
}

/** Sends pieces as they are, and ends the answer. Throws if the client is gone. */
export async function sendPlain(response: ServerResponse, client: Guest, pieces: Pieces): Promise<void> {
  for (const bytes of pieces) {
    if (response.destroyed) throw new Error('the client is gone');
    if (bytes !== undefined && bytes.length > 0) await write(response, client, bytes);
    // Other clients and signals get their turn, even if this client takes everything at once.
    await turn();
  }
  response.end();
}

/** The same with gzip. */
export async function sendPacked(response: ServerResponse, client: Guest, pieces: Pieces): Promise<void> {
  // The fastest level: it shrinks what is served here to a twentieth; better levels reach a thirtieth for several times
  // the CPU time.
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: GZIP_CHUNK });
  const gone = new Promise<never>((_, reject) => {
    const tell = () => reject(new Error('the client is gone'));
    response.once('close', tell);
    gzip.once('error', tell);
  });
  // The timer must not keep the process alive when there is nothing to wait for.
  gone.catch(() => undefined);
  gzip.on('data', (chunk: Buffer) => {
    if (response.write(chunk)) return;
    gzip.pause();
    const drained = new Promise<void>(resolve => response.once('drain', resolve));
    void client.wait(Promise.race([drained, gone])).then(
      () => gzip.resume(),
      () => undefined,
    );
  });
  try {
    for (const bytes of pieces) {
      if (response.destroyed) throw new Error('the client is gone');
      if (bytes === undefined || bytes.length === 0) await turn();
      else await Promise.race([gone, new Promise<void>(done => gzip.write(bytes, () => done()))]);
    }
    gzip.end();
    await Promise.race([gone, once(gzip, 'end')]);
    response.end();
  } finally {
    gzip.destroy();
  }
}
