// The base of all servers: who may connect, who has to go when there are too many, who is too slow, and how a connection
// and the server end. Knows no protocol.

import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../service/log.js';
import { SlicedLook } from '../service/slices.js';
import { type Address, type Network, parseNetwork } from '../text/addresses.js';
import { AnswerMemory, type ClientConnection, isFrom, originOf, victim } from './clients.js';
import { listenAt } from './listening.js';
import { Turns } from './turns.js';

/** How often it looks for clients that are too slow, at most, ms. */
const LOOK_MS = 1000;
/** For how long a client may take nothing of its answer, and may keep the connection when it has its last, ms. */
export const PATIENCE_MS = 10_000;
/** What a client may still send after its last answer, bytes. */
const MOST_DISCARDED = 16 << 20;
/** How long answers may still take when the server ends, ms. */
const END_MS = 2000;
/** See `memory` of the options. */
const MOST_MEMORY = 64 << 20;
/** After so long another client gets its turn, ms. */
const TURN_MS = 1;

export interface TcpOptions {
  /** Clients at once. With one more, one has to go. */
  readonly most: number;
  /** See PATIENCE_MS. */
  readonly patience?: number;
  /** The same for a client of a stream. */
  readonly streamPatience?: number;
  /** For how long a client may keep the server waiting during one answer, ms; by default as long as it takes some. */
  readonly answerPatience?: number;
  /** For how long a client may ask nothing, ms; by default forever. */
  readonly silence?: number;
  /** For answers that are under way, bytes: see AnswerMemory. */
  readonly memory?: number;
  /** The networks whose clients are allowed, besides this machine; by default all are. */
  readonly trusted?: readonly Network[];
  /** The addresses of proxies: their clients do not share places. */
  readonly proxies?: readonly Network[];
}

/** What happened to clients so far. */
export interface ClientCounts {
  served: number;
  /** Cut off during their answer because they stopped reading, or to make room. */
  stuck: number;
  refused: number;
}

export abstract class TcpServer<C extends ClientConnection, Counts extends ClientCounts = ClientCounts> {
  readonly #clients = new Map<Socket, C>();
  protected readonly servers: Server[] = [];
  readonly #timers: NodeJS.Timeout[];
  protected readonly options: Required<TcpOptions>;
  readonly #isTrusted: (socket: Socket) => boolean;
  readonly #originOf: (socket: Socket) => string;
  readonly turns = new Turns();
  readonly memory: AnswerMemory<C>;
  protected isEnding = false;

  protected constructor(
    readonly counts: Counts,
    readonly connection: new (socket: Socket, from: string) => C,
    options: TcpOptions,
  ) {
    const [silence, answerPatience] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const patiences = { patience: PATIENCE_MS, streamPatience: PATIENCE_MS, silence, answerPatience };
    this.options = { ...patiences, trusted: [], proxies: [], memory: MOST_MEMORY, ...options };
    const { patience, trusted, proxies } = this.options;
    const own = ['127.0.0.0/8', '::1'].map(parseNetwork);
    this.#isTrusted = trusted.length === 0 ? () => true : isFrom([...own, ...trusted]);
    this.#originOf = originOf(proxies);
    this.memory = new AnswerMemory(this.options.memory, patience, client => this.drop(client));
    this.#timers = [setInterval(() => this.#dropStuck(), Math.min(LOOK_MS, patience)).unref()];
  }

  get clients(): number {
    return this.#clients.size;
  }

  [Symbol.iterator](): IterableIterator<C> {
    return this.#clients.values();
  }

  /** What happened to clients, for the log. */
  get summary(): string {
    return `${this.counts.served} served, ${this.counts.stuck} cut off`;
  }

  /** The client of a socket; undefined: it has gone, or was cut off. */
  protected of(socket: Socket): C | undefined {
    return this.#clients.get(socket);
  }

  /** Listens, and serves each client until `serve` returns; the same with an error is half of an answer. */
  protected async accept(address: Address, serve: (client: C) => Promise<void>): Promise<Address> {
    const meet = async (socket: Socket) => {
      const client = this.admit(socket);
      if (client === undefined) return;
      try {
        await serve(client);
        this.finish(client);
      } catch {
        client.cut();
      }
    };
    // Half open: some clients close their side before they read.
    const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => void meet(socket));
    this.servers.push(server);
    return await listenAt(server, address);
  }

  /** Admits who has connected; undefined: it is not allowed, or has to go at once. */
  protected admit(socket: Socket): C | undefined {
    // Errors are reported by writing and reading.
    socket.on('error', () => undefined);
    if (!this.#isTrusted(socket)) {
      this.counts.refused++;
      socket.destroy();
      return undefined;
    }
    const client = new this.connection(socket, this.#originOf(socket));
    this.#clients.set(socket, client);
    socket.once('close', () => this.#clients.delete(socket));
    this.#makeRoom();
    return client.isDropped ? undefined : client;
  }

  /** Begins an answer in the client's turn; returns how the work for it yields. Throws if it is gone when it is its turn. */
  protected async begin(client: C): Promise<SlicedLook> {
    client.begin();
    this.#makeRoom();
    const slices = new SlicedLook(async () => {
      await this.turns.wait(client);
      if (client.isGone) throw new Error('the client is gone');
    }, TURN_MS);
    await slices.wait();
    return slices;
  }

  /** Cuts off the one that gets on least, if there are too many. */
  #makeRoom(): void {
    const gone = victim(this, this.options.most);
    if (gone !== undefined) this.drop(gone);
  }

  protected drop(client: C): void {
    this.#clients.delete(client.socket);
    client.isDropped = true;
    if (client.busySince !== undefined) this.counts.stuck++;
    client.cut();
  }

  /**
   * Ends a connection after its last answer: closes our side, and throws away what the client still sends. Closing it
   * altogether would be a reset then, which destroys what the client has not taken yet (RFC 9112, 9.6).
   */
  protected finish(client: C): void {
    const { socket } = client;
    if (client.leftAt !== undefined || socket.destroyed) return;
    client.end();
    client.leftAt = performance.now();
    const most = socket.bytesRead + MOST_DISCARDED;
    socket.on('data', () => {
      if (socket.bytesRead > most) socket.destroy();
    });
    socket.resume().end();
  }

  #dropStuck(): void {
    const now = performance.now();
    for (const client of this) if (this.#isStuck(client, now)) this.drop(client);
  }

  /** Whether a client has kept the server waiting for too long: for its request, for taking the answer, for its end. */
  #isStuck(client: C, now: number): boolean {
    const { patience, streamPatience, answerPatience, silence } = this.options;
    if (client.leftAt !== undefined) return now - client.leftAt > patience;
    if (client.busySince === undefined) return now - client.lastMoved > silence;
    client.look();
    const most = client.stream === undefined ? patience : streamPatience;
    return client.stalledFor(now) > most || client.waited(now) > answerPatience;
  }

  /** From now on logs, at long intervals and in these words, how many more clients there are of each kind. */
  logCounts(words: Readonly<Partial<Record<keyof Counts, string>>>, log: Log): void {
    let last = { ...this.counts };
    const look = () => {
      for (const [kind, why] of Object.entries(words) as [keyof Counts & string, string][]) {
        const more = Number(this.counts[kind]) - Number(last[kind]);
        if (more > 0) log.seldom(kind, `${more} ${more === 1 ? 'client' : 'clients'} ${why}`);
      }
      last = { ...this.counts };
    };
    this.#timers.push(setInterval(look, LOOK_MS).unref());
  }

  /**
   * Stops listening, and disconnects those that wait for nothing. Returns when the others have taken their answers, or
   * have had so much time, and are cut off. Streams are ended; they are never complete.
   */
  async end(patience = END_MS): Promise<void> {
    this.isEnding = true;
    for (const server of this.servers) server.close();
    const closed: Promise<unknown>[] = [];
    for (const client of this) {
      if (client.busySince === undefined && client.leftAt === undefined) this.drop(client);
      else closed.push(new Promise(resolve => client.socket.once('close', resolve)));
      client.stream?.end();
    }
    await Promise.race([Promise.all(closed), delay(patience, undefined, { ref: false })]);
    this.close();
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const server of this.servers) server.close();
    for (const client of this) this.drop(client);
  }
}
