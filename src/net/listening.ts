// Listening on an address, for every TCP server, and the reasons for failure in words for people.

import { once } from 'node:events';
import type { Server } from 'node:net';
import { type Address, formatAddress } from '../text/addresses.js';
import { Failure } from '../text/failure.js';

const NOT_BOUND: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there already; end it, or give another address or port',
  EADDRNOTAVAIL: 'no interface here has that address; give one of this machine',
  EACCES: 'ports below 1024 are for root; give another port',
  ENOTFOUND: 'the name is not known; give an address of this machine',
};

/** Makes the server listen; returns the address that was bound. Throws one line for people. */
export async function listenAt(server: Server, { host, port }: Address): Promise<Address> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = NOT_BOUND[code ?? ''] ?? message;
    throw new Failure(`cannot listen on ${formatAddress({ host, port })}: ${why}`, 1);
  }
  // A later error (no descriptors left) affects one client only.
  server.on('error', () => undefined);
  const bound = server.address() as { address: string; port: number };
  return { host: bound.address, port: bound.port };
}
