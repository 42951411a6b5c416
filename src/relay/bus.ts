// The connection to the NATS servers: connects and stays connected, with the necessary credentials. Knows none of our
// messages.

import type { Log } from '../common/log.js';
import { oneLine } from '../common/text.js';
import { type AccessOptions, accessOf } from './natsaccess.js';
import { type Message, NatsLink, type Told } from './natslink.js';
import { MOST_MESSAGE } from './natswire.js';

export type { Message } from './natslink.js';

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

/** A bus that is connected sooner or later. */
export interface Connection extends Bus {
  /** The server that it is connected to now; empty: none. */
  readonly server: string;
  /** The longest message that this server accepts, bytes; 0: unknown. */
  readonly mostBytes: number;
  /** Takes other options, and if they differ another connection. Throws an InputError; then nothing has changed. */
  change(options: AccessOptions): void;
  close(): void;
}

const shuffled = (servers: readonly string[]) => {
  const mixed = [...servers];
  for (let i = mixed.length; i > 1; ) {
    const other = Math.floor(Math.random() * i--);
    [mixed[i], mixed[other]] = [mixed[other] as string, mixed[i] as string];
  }
  return mixed;
};

/** What makes another connection necessary. */
const signOf = ({ nats, natsCreds, natsNkey, natsLogin, natsCa, natsCert, natsCertKey }: AccessOptions) =>
  JSON.stringify([nats, natsCreds, natsNkey, natsLogin, natsCa, natsCert, natsCertKey]);

interface Subscription {
  readonly subject: string;
  readonly act: (message: Message) => void;
}

class Staying implements Connection {
  readonly #name: string;
  readonly #log: Log;
  readonly #lost: (why: string, slow: boolean) => void;
  readonly #subscriptions = new Map<number, Subscription>();
  #options: AccessOptions;
  #servers: string[];
  #link: NatsLink | undefined;
  #lastSid = 0;
  /** Which connection is wanted: what an earlier one says does not count any more. */
  #turn = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(name: string, options: AccessOptions, log: Log, lost: (why: string, slow: boolean) => void) {
    accessOf(options);
    this.#name = name;
    this.#options = options;
    this.#log = log;
    this.#lost = lost;
    this.#servers = shuffled(options.nats);
    void this.#connect();
  }

  get connected(): boolean {
    return this.#link !== undefined;
  }

  get server(): string {
    return this.#link?.server ?? '';
  }

  get mostBytes(): number {
    return this.#link?.mostBytes ?? 0;
  }

  publish(subject: string, data: Uint8Array, reply = ''): void {
    // Nothing is kept for a server that is away: it would be outdated by then.
    const link = this.#link;
    if (link === undefined) return;
    // The server would end the connection.
    if (link.mostBytes > 0 && data.length > link.mostBytes)
      this.#log.seldom('publish', `cannot publish: ${data.length} bytes are more than max_payload of ${link.server}`);
    else link.publish(subject, data, reply);
  }

  subscribe(subject: string, act: (message: Message) => void): () => void {
    const sid = ++this.#lastSid;
    this.#subscriptions.set(sid, { subject, act });
    this.#link?.subscribe(subject, sid);
    return () => {
      if (this.#subscriptions.delete(sid)) this.#link?.unsubscribe(sid);
    };
  }

  change(options: AccessOptions): void {
    accessOf(options);
    const isSame = signOf(options) === signOf(this.#options);
    this.#options = options;
    if (isSame) return;
    this.#servers = shuffled(options.nats);
    if (this.#link === undefined) this.#again(0);
    else this.#link.end('the options about NATS have changed');
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const link = this.#link;
    this.#link = undefined;
    link?.end('closed');
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
    let why = '';
    for (const server of [...this.#servers]) {
      try {
        const link = await NatsLink.connect(server, this.#name, accessOf(this.#options), this.#told(turn));
        if (turn !== this.#turn || this.#isClosed) link.end('');
        else this.#begin(link);
        return;
      } catch (error) {
        why = (error as Error).message;
      }
      if (turn !== this.#turn || this.#isClosed) return;
      this.#servers.push(this.#servers.shift() as string);
    }
    this.#log.seldom('connect', `cannot connect to ${this.#options.nats.join(', ')}: ${oneLine(why)}; tries on`);
    this.#again(WAIT_MS + Math.random() * JITTER_MS);
  }

  #begin(link: NatsLink): void {
    this.#link = link;
    this.#log.info(`connected to ${link.server}`);
    if (link.mostBytes > MOST_MESSAGE)
      this.#log.seldom(
        'payload',
        `max_payload of ${link.server} is ${link.mostBytes}: with more than ${MOST_MESSAGE} any login there can end this connection; set 1MB`,
      );
    for (const [sid, { subject }] of this.#subscriptions) link.subscribe(subject, sid);
  }

  #told(turn: number): Told {
    return {
      message: (sid, message) => {
        if (turn === this.#turn) this.#subscriptions.get(sid)?.act(message);
      },
      error: why => {
        if (turn !== this.#turn) return;
        this.#log.seldom('server', `the server says: ${oneLine(why)}`);
        // The server ends the connection of a slow consumer, and says why.
        if (/slow consumer/i.test(why)) this.#lost('the server closed the connection: too slow', true);
      },
      ended: why => {
        if (turn !== this.#turn || this.#link === undefined) return;
        const { server } = this.#link;
        this.#link = undefined;
        // Another one is tried first.
        this.#servers.push(this.#servers.shift() as string);
        this.#lost(`lost the server ${server}: ${oneLine(why)}`, false);
        this.#again(0);
      },
    };
  }
}

/**
 * Connects in the background: relay, mirror and server may start in any order. Throws an InputError about files and
 * options. `lost` is called, with a reason, when messages may have been lost.
 */
export function connectBus(
  name: string,
  options: AccessOptions,
  log: Log,
  lost: (why: string, slow: boolean) => void,
): Connection {
  return new Staying(name, options, log, lost);
}
