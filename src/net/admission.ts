// What all servers share: which clients they have, who has to go when there are too many, who is too slow, and how a
// connection ends. Knows no protocol.

import type { Server, Socket } from 'node:net';
import type { Address } from '../text/addresses.js';
import { type Guest, loser } from './clients.js';
import { listenAt } from './listening.js';

/** How often it looks for clients that are too slow, at most, ms. */
const LOOK_MS = 1000;

export interface AdmissionOptions<G extends Guest> {
  /** Clients at once. With one more, one has to go. */
  readonly most: number;
  /** For how long a client may read nothing, ms. */
  readonly patience: number;
  /** Whether it has kept the server waiting for too long. */
  readonly isStuck: (client: G, now: number) => boolean;
  /** Counts those that are cut off while they are being answered. */
  readonly counts: { stuck: number };
}

/** The clients of a server, on all of its addresses. */
export class Admission<G extends Guest> {
  readonly #options: AdmissionOptions<G>;
  readonly #clients = new Map<Socket, G>();
  readonly #servers: Server[] = [];
  readonly #guard: NodeJS.Timeout;

  constructor(options: AdmissionOptions<G>) {
    this.#options = options;
    this.#guard = setInterval(() => this.#dropStuck(), Math.min(LOOK_MS, options.patience)).unref();
  }

  get size(): number {
    return this.#clients.size;
  }

  [Symbol.iterator](): IterableIterator<G> {
    return this.#clients.values();
  }

  /** The client of a socket; undefined: it has gone, or was dropped. */
  of(socket: Socket): G | undefined {
    return this.#clients.get(socket);
  }

  /** Makes a server listen; returns the address that was bound. Throws one line for people. */
  async listen(server: Server, address: Address): Promise<Address> {
    const bound = await listenAt(server, address);
    this.#servers.push(server);
    return bound;
  }

  /** Somebody has come. */
  admit(client: G): void {
    this.#clients.set(client.socket, client);
    client.socket.once('close', () => this.#clients.delete(client.socket));
    this.makeRoom();
  }

  /** Drops one if there are too many: somebody has come, or asks. */
  makeRoom(): void {
    this.dropOneOf(this.#clients.values(), this.#options.most);
  }

  /** Drops the one that gets on least, if there are more than so many. */
  dropOneOf(clients: Iterable<G>, most: number): void {
    const gone = loser(clients, most);
    if (gone !== undefined) this.drop(gone);
  }

  /** Disconnects: by a reset if it has a part of an answer, which must not look like a whole one. */
  drop(client: G): void {
    this.#clients.delete(client.socket);
    client.isDropped = true;
    if (client.busySince !== undefined) this.#options.counts.stuck++;
    // The last answer may still be on its way, and will arrive.
    if (client.mayEnd) client.socket.destroy();
    else client.socket.resetAndDestroy();
  }

  #dropStuck(): void {
    const now = performance.now();
    for (const client of this.#clients.values()) if (this.#options.isStuck(client, now)) this.drop(client);
  }

  /** Stops listening. */
  stop(): void {
    for (const server of this.#servers) server.close();
  }

  /** Stops listening, and disconnects all clients. */
  close(): void {
    clearInterval(this.#guard);
    this.stop();
    for (const client of this.#clients.values()) this.drop(client);
  }
}
