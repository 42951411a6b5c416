// Serves documents over TCP with limits on clients and times, each client as fast as it reads; none waits for another.
// Knows nothing of the contents.

import { BlockList, createServer, isIPv6, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Admission } from '../net/admission.js';
import { Guest, originOf, type Unread } from '../net/clients.js';
import { type Address, type Network, plainName } from '../text/addresses.js';

/** Clients at once. */
const MOST_CLIENTS = 64;
/** For how long a client may read nothing, ms. gmetad itself gives up after as long a silence. */
const PATIENCE_MS = 10_000;
/** How long a client has to ask, and to close the connection when it has its answer. */
const MANNERS_MS = 10_000;

/** For how long one client is served before others get their turn, ms. */
const TURN_MS = 1;

/** What happened to clients so far. */
export interface Counts {
  /** Documents and answers that were sent completely. */
  served: number;
  /** Disconnected because they stopped reading, or to make room. */
  stuck: number;
  /** Gone before the end. */
  left: number;
  /** Clients that are not allowed. */
  refused: number;
  /** Invalid or too long queries. */
  bad: number;
  /** Clients that came while there was nothing to send. */
  empty: number;
}

/** Bytes to send, piece by piece, each valid until the next is asked for; no bytes: not ready yet. */
export type Chunks = Iterable<Uint8Array>;

/**
 * Reads the client's query, if it sends one, and returns the answer; undefined: there is none, close the connection.
 */
export type Serve = (client: Client) => Promise<Chunks | undefined>;

/** A client that is being served. */
export class Client extends Guest {
  /** Whether it was given some. */
  begun = false;
  /** Whether the whole answer is in the kernel, which continues to send it after the socket is closed. */
  answered = false;

  constructor(socket: Socket, from = '', unread?: Unread) {
    super(socket, from, unread);
  }

  /** No answer at all must not look like a whole one either. */
  override get mayEnd(): boolean {
    return this.answered;
  }

  /** One that has its answer can go at once. */
  override standing(now: number): readonly [number, number] {
    return this.answered ? [0, this.lastMoved] : super.standing(now);
  }

  /** The first line, without its end; undefined if there is no line of at most so many bytes within its time. */
  line(most: number): Promise<string | undefined> {
    const { socket } = this;
    return new Promise(resolve => {
      let text = '';
      const done = (line?: string) => {
        clearTimeout(late);
        socket.off('data', hear).off('end', none).off('close', none).pause();
        resolve(line);
      };
      const none = () => done();
      const hear = (chunk: Buffer) => {
        text += chunk.toString('latin1');
        const end = text.search(/[\r\n]/);
        if (end === -1 ? text.length > most : end > most) done();
        else if (end !== -1) done(text.slice(0, end));
      };
      const late = setTimeout(none, MANNERS_MS);
      socket.on('data', hear).on('end', none).on('close', none);
    });
  }

  /**
   * Sends bytes. They may be overwritten after that or, if it returns a promise, when this is fulfilled: it is rejected
   * if the client is gone.
   */
  send(bytes: Uint8Array): Promise<void> | undefined {
    this.begun = true;
    const { socket } = this;
    const sent = new Promise<void>((resolve, reject) => {
      socket.write(bytes, error => {
        if (error) reject(error);
        else resolve();
      });
    });
    // Mostly the kernel takes all of them at once, and there is nothing to wait for. If the client goes before the
    // callback is called, the next send rejects.
    if (socket.writableLength > 0 || socket.destroyed || socket.errored !== null) return sent;
    sent.catch(() => undefined);
    return undefined;
  }
}

/** The clients that are allowed: all if there are no networks; this machine always. */
function trust(networks: readonly Network[]): (socket: Socket) => boolean {
  if (networks.length === 0) return () => true;
  const list = new BlockList();
  for (const { host, bits } of [{ host: '127.0.0.0', bits: 8 }, { host: '::1', bits: 128 }, ...networks])
    list.addSubnet(host, bits, isIPv6(host) ? 'ipv6' : 'ipv4');
  return ({ remoteAddress = '' }) => {
    const address = plainName(remoteAddress);
    return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  };
}

export class Ports {
  readonly counts: Counts = { served: 0, stuck: 0, left: 0, refused: 0, bad: 0, empty: 0 };
  readonly #clients: Admission<Client>;
  readonly #originOf = originOf([]);
  readonly #isTrusted: (socket: Socket) => boolean;

  /** `patience`: for how long a client may read nothing, ms. */
  constructor(
    trusted: readonly Network[],
    readonly patience = PATIENCE_MS,
    readonly unread?: Unread,
  ) {
    this.#isTrusted = trust(trusted);
    const isStuck = (client: Client, now: number) => {
      if (client.busySince !== undefined) client.look();
      return client.lastMoved < now - patience;
    };
    this.#clients = new Admission({ most: MOST_CLIENTS, patience, isStuck, counts: this.counts });
  }

  /** Listens, and serves all clients. Returns the address that was bound. Throws one line for people. */
  async listen(address: Address, serve: Serve): Promise<Address> {
    // Half open: some clients close their side before they read.
    const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => void this.#meet(socket, serve));
    return await this.#clients.listen(server, address);
  }

  get clients(): number {
    return this.#clients.size;
  }

  async #meet(socket: Socket, serve: Serve): Promise<void> {
    // Errors are reported by write() and by reading.
    socket.on('error', () => undefined);
    if (!this.#isTrusted(socket)) {
      this.counts.refused++;
      socket.destroy();
      return;
    }
    const client = new Client(socket, this.#originOf(socket), this.unread);
    this.#clients.admit(client);
    try {
      const answer = await serve(client);
      client.begin();
      this.#clients.makeRoom();
      if (answer !== undefined) await this.#send(client, answer);
      this.#end(client);
    } catch {
      if (!client.begun && !socket.destroyed) {
        this.counts.empty++;
        this.#end(client);
        return;
      }
      // Half a document is worse than none, and half a gzip stream hangs gmetad forever: this one ends with a reset.
      if (!client.isDropped) this.counts.left++;
      if (!socket.destroyed) socket.resetAndDestroy();
    }
  }

  async #send(client: Client, answer: Chunks): Promise<void> {
    let began = performance.now();
    for (const bytes of answer) {
      if (client.socket.destroyed) throw new Error('the client is gone');
      const sent = bytes.length > 0 ? client.send(bytes) : undefined;
      if (sent !== undefined) await client.wait(sent);
      if (performance.now() - began < TURN_MS) continue;
      // Other clients and signals get their turn, even if this client takes everything at once.
      await turn();
      began = performance.now();
    }
    this.counts.served++;
  }

  /**
   * Ends cleanly, with FIN. What the client still sends is read and thrown away, because otherwise a reset would
   * follow.
   */
  #end(client: Client): void {
    const { socket } = client;
    client.answered = true;
    client.end();
    socket.resume();
    socket.end();
    socket.setTimeout(MANNERS_MS, () => socket.destroy());
    socket.once('end', () => socket.destroySoon());
  }

  /** Stops listening, and disconnects all clients. */
  close(): void {
    this.#clients.close();
  }
}
