// The connection to the NATS servers: connects and stays connected, with the necessary credentials. Knows none of our
// messages.

import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import type { Log } from '../service/log.js';
import { own } from '../text/tables.js';
import { oneLine } from '../text/text.js';
import { type AccessOptions, accessOf } from './natsaccess.js';

/** A message as it arrived. */
export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  /** The subject for the answer; empty: none is wanted. */
  readonly reply: string;
}

/** What relays and mirrors need of NATS, and no more. */
export interface Bus {
  /** While this is false, whatever is published is lost. */
  readonly connected: boolean;
  publish(subject: string, data: Uint8Array, reply?: string): void;
  /** Calls `act` for each message of the subject; returns a function that ends the subscription. */
  subscribe(subject: string, act: (message: Message) => void): () => void;
}

/** The options of a verb about access to the servers. */
export const NATS_OPTIONS = ['nats-creds', 'nats-nkey', 'nats-login', 'nats-ca', 'nats-cert', 'nats-cert-key'] as const;

/** When no server was reached, they are tried again about four times a second, indefinitely. */
const WAIT_MS = 250;
const JITTER_MS = 100;
/** For so long the end waits until the server has what was published. */
const FLUSH_MS = 500;
/** For how long a connection may take, from its first byte to the answer to the login. */
const PATIENCE_MS = 2000;
/** So often the servers that are not used are tried. */
const PROBE_MS = 600_000;
const SILENT = 'the server does not answer';
const CLOSED = 'the server closed the connection';

/** What the library says of a connection that ended without an error, before the greeting and behind it. */
const ENDED = {
  'error connecting - node provided an undefined error': CLOSED,
  'connection refused': CLOSED,
};

/** The sockets of a connection that is being made: the library leaves open what a server does not greet. */
const opened = new AsyncLocalStorage<Socket[]>();
subscribe('net.client.socket', made => void opened.getStore()?.push((made as { socket: Socket }).socket));

/** Connects to a server by its URL, and logs in. Throws an Error that says why not. */
async function connectTo(url: string, name: string, options: AccessOptions): Promise<NatsConnection> {
  const access = accessOf(options, url);
  const sockets: Socket[] = [];
  try {
    return await opened.run(sockets, () =>
      connect({
        ...access,
        name,
        servers: url,
        timeout: PATIENCE_MS,
        // A frozen server is noticed by two pings that it does not answer.
        pingInterval: 1000,
        maxPingOut: 2,
        // Who connects again reads the files again, and chooses the server.
        reconnect: false,
        ignoreClusterUpdates: true,
        resolve: false,
        noEcho: true,
      }),
    );
  } catch (error) {
    for (const socket of sockets) socket.destroy();
    const { name: kind, message, code, cause } = error as NodeJS.ErrnoException;
    if (kind === 'TimeoutError') throw new Error(SILENT);
    const words = message || String(code);
    throw new Error((cause === undefined && own(ENDED, words)) || words);
  }
}

const shuffled = (servers: readonly string[]) =>
  servers
    .map(server => ({ server, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ server }) => server);

const signOf = ({ nats, natsCreds, natsNkey, natsLogin, natsCa, natsCert, natsCertKey }: AccessOptions) =>
  JSON.stringify([nats, natsCreds, natsNkey, natsLogin, natsCa, natsCert, natsCertKey]);

/** What somebody wants to hear, whichever server says it. */
interface Wanted {
  readonly subject: string;
  readonly act: (message: Message) => void;
  /** By the connection of now. */
  subscription?: Subscription;
}

/** A bus that is connected sooner or later: relay, mirror and server may start in any order. */
export class NatsBus implements Bus {
  readonly #wanted = new Set<Wanted>();
  #servers: string[];
  #nats: NatsConnection | undefined;
  /** A connection on which something that we want to hear was refused. */
  #refuses: NatsConnection | undefined;
  /** Counts the wishes for a connection. One that comes about for an earlier wish than the last is closed. */
  #turn = 0;
  #sinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #probing: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * Connects in the background. Throws an InputError about files and options. `lost` is called, with a reason, when
   * messages may have been lost; `slow`: because we did not keep up.
   */
  constructor(
    private readonly name: string,
    private options: AccessOptions,
    private readonly log: Log,
    private readonly lost: (why: string, slow: boolean) => void,
  ) {
    accessOf(options);
    this.#servers = shuffled(options.nats);
    void this.#connect();
  }

  get connected(): boolean {
    return this.#nats !== undefined;
  }

  /** The server that it is connected to now; empty: none. */
  get server(): string {
    return this.#nats?.getServer() ?? '';
  }

  /** The longest message that this server accepts, bytes; 0: unknown. */
  get mostBytes(): number {
    return Number(this.#nats?.info?.max_payload ?? 0);
  }

  publish(subject: string, data: Uint8Array, reply = ''): void {
    // Without a connection a message is dropped: when the server is back, it would be outdated.
    try {
      this.#nats?.publish(subject, data, { reply });
    } catch (error) {
      this.log.seldom('publish', `cannot publish ${data.length} bytes: ${oneLine((error as Error).message)}`);
    }
  }

  subscribe(subject: string, act: (message: Message) => void): () => void {
    const wanted: Wanted = { subject, act };
    this.#wanted.add(wanted);
    if (this.#nats !== undefined) this.#hear(this.#nats, wanted);
    return () => {
      if (this.#wanted.delete(wanted)) wanted.subscription?.unsubscribe();
    };
  }

  /** Takes other options, and if they differ another connection. Throws an InputError; then nothing has changed. */
  change(options: AccessOptions): void {
    accessOf(options);
    const isSame = signOf(options) === signOf(this.options);
    this.options = options;
    if (isSame) return;
    this.#servers = shuffled(options.nats);
    if (this.#nats === undefined) this.#again(0);
    else this.#leave(this.#nats, 'the options about NATS have changed');
  }

  /** Ends when the server has what was published, or has not answered for a while. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#probing);
    const nats = this.#nats;
    this.#nats = undefined;
    const late = new AbortController();
    await Promise.race([nats?.flush(), sleep(FLUSH_MS, undefined, { signal: late.signal })]).catch(() => undefined);
    late.abort();
    void nats?.close();
  }

  #again(ms: number): void {
    if (this.#isClosed) return;
    this.#turn++;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#connect(), ms);
  }

  /** Tries each server once, with what the files say now. */
  async #connect(): Promise<void> {
    const turn = ++this.#turn;
    const whys: string[] = [];
    for (const server of [...this.#servers]) {
      this.#sinceMs = performance.now();
      try {
        const nats = await connectTo(server, this.name, this.options);
        if (turn !== this.#turn || this.#isClosed) void nats.close();
        else this.#begin(nats);
        return;
      } catch (error) {
        whys.push(`${server}: ${oneLine((error as Error).message)}`);
      }
      if (turn !== this.#turn || this.#isClosed) return;
      this.#servers.push(this.#servers.shift() as string);
    }
    this.log.seldom('connect', `cannot connect to ${whys.join('; ')}; tries on`);
    this.#again(WAIT_MS + Math.random() * JITTER_MS);
  }

  #begin(nats: NatsConnection): void {
    this.#nats = nats;
    this.log.info(`connected to ${this.server}`);
    void this.#watch(nats);
    void nats.closed().then(error => this.#leave(nats, error?.message ?? CLOSED));
    for (const wanted of this.#wanted) this.#hear(nats, wanted);
    void this.#probe(nats);
  }

  /**
   * Tries the other servers now and then: one that would refuse us is told while it is not needed, and one that refuses
   * what we want to hear is left for one that does not.
   */
  async #probe(nats: NatsConnection): Promise<void> {
    for (const server of this.#servers.slice(1)) {
      if (nats !== this.#nats) return;
      try {
        await this.#try(server);
        if (this.#refuses === nats) return this.#leave(nats, 'it refuses what we want to hear');
      } catch (error) {
        const why = oneLine((error as Error).message);
        this.log.seldom(`probe ${server}`, `${server} would not take over from ${this.server}: ${why}`);
      }
    }
    if (nats === this.#nats) this.#probing = setTimeout(() => void this.#probe(nats), PROBE_MS).unref();
  }

  /** Throws an Error that says why that server would refuse us, or what we want to hear. */
  async #try(server: string): Promise<void> {
    const nats = await connectTo(server, this.name, this.options);
    const whys: Error[] = [];
    for (const { subject } of this.#wanted)
      nats.subscribe(subject, { callback: error => void (error !== null && whys.push(error)) });
    await Promise.race([nats.flush(), nats.closed(), sleep(PATIENCE_MS)]);
    void nats.close();
    if (whys[0] !== undefined) throw whys[0];
  }

  #hear(nats: NatsConnection, wanted: Wanted): void {
    // The library says by an error that it has no permission, which #watch tells.
    wanted.subscription = nats.subscribe(wanted.subject, {
      callback: (error, { subject, data, reply = '' }) => {
        if (error !== null) this.#refuses = nats;
        // By a message without bytes the server says that nobody hears what was published.
        if (error === null && nats === this.#nats && data.length > 0) wanted.act({ subject, data, reply });
      },
    });
  }

  async #watch(nats: NatsConnection): Promise<void> {
    for await (const status of nats.status()) {
      // The library would first wait until it has sent everything, for a quarter of an hour.
      if (status.type === 'staleConnection') this.#leave(nats, SILENT);
      if (status.type !== 'error' || nats !== this.#nats) continue;
      const why = oneLine(status.error.message);
      this.log.seldom('server', `the server says: ${why}`);
      // The server ends the connection of a slow consumer, and says why.
      if (/^slow consumer/i.test(why)) this.lost('the server closed the connection: too slow', true);
    }
  }

  #leave(nats: NatsConnection, why: string): void {
    if (nats !== this.#nats) return;
    const { server } = this;
    this.#nats = undefined;
    clearTimeout(this.#probing);
    void nats.close();
    // Another one is tried first.
    this.#servers.push(this.#servers.shift() as string);
    this.lost(`lost the server ${server}: ${oneLine(why)}`, false);
    this.#again(Math.max(0, this.#sinceMs + WAIT_MS - performance.now()));
  }
}
