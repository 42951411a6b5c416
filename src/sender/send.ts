// Sends a report to one master, and knows whether it can be reached. Never fails and never keeps the next report
// waiting: what cannot be sent is counted, told once, and tried again.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SocketAsPromised } from 'dgram-as-promised';
import { type Address, formatAddress } from '../common/addresses.js';
import type { Log } from '../common/log.js';

/** The shortest time between two look-ups of a master that cannot be reached, ms: a resolver that is down is not asked every tick. */
const RETRY_MS = 5000;
/** How long a report waits for an attempt that another one began, ms: nothing that hangs may delay an end for long. */
const PATIENCE_MS = 1000;
/** The most reports that wait so. */
const MOST_WAITING = 10;
/** How long a name that works is believed, ms: over UDP nobody tells that a master has moved. */
const BELIEVE_MS = 60_000;

/** How multicasts leave this machine. */
export interface Multicast {
  /** The interface by name; undefined: the routing table decides. */
  interface: string | undefined;
  /** Routers that they may pass, plus one. */
  ttl: number;
}

/** A connected socket, and where it leads. Only a connected one learns that nobody listens at the other end. */
interface Connection {
  address: string;
  socket: SocketAsPromised;
  /** What was heard of the report before, which the kernel had taken. */
  error?: Error | undefined;
}

export class Destination {
  /** Reports that could not be sent or that nobody took. */
  failed = 0;
  readonly label: string;
  readonly #address: Address;
  readonly #isName: boolean;
  readonly #multicast: Multicast;
  readonly #log: Log;
  #connection: Connection | undefined;
  #opening: Promise<void> | undefined;
  #openedAt = Number.NEGATIVE_INFINITY;
  #failing = false;
  #failedBefore = 0;
  #closed = false;
  #waiting = 0;

  constructor(address: Address, multicast: Multicast, log: Log) {
    this.#address = address;
    this.#isName = isIP(address.host) === 0;
    this.#multicast = multicast;
    this.#log = log;
    this.label = formatAddress(address);
  }

  /** Sends; `done` hears whether the kernel has it. */
  send(report: Uint8Array, done: (sent: boolean) => void): void {
    if (this.#connection !== undefined && !this.#isDue()) this.#deliver(this.#connection, report, done);
    else void this.#sendPatiently(report, done);
  }

  /**
   * A report that finds no connection waits for the attempt that it began; so do a few that find it under way, but not for
   * long, so that none pile up.
   */
  async #sendPatiently(report: Uint8Array, done: (sent: boolean) => void): Promise<void> {
    if (this.#connection === undefined && this.#opening !== undefined) {
      // What fails is told of when the attempt has ended.
      if (this.#waiting < MOST_WAITING) await this.#patiently(this.#opening);
    } else if (this.#isDue()) {
      const opening = this.#open();
      if (this.#connection === undefined) await opening;
    }
    if (this.#connection === undefined) done(this.#fail());
    else this.#deliver(this.#connection, report, done);
  }

  async #patiently(opening: Promise<void>): Promise<void> {
    this.#waiting++;
    const patience = new AbortController();
    const { signal } = patience;
    await Promise.race([opening, sleep(PATIENCE_MS, undefined, { signal }).catch(() => undefined)]);
    patience.abort();
    this.#waiting--;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#disconnect();
  }

  /** Whether to look the master up now: for the first time, because it does not answer, or because that was long ago. */
  #isDue(): boolean {
    if (this.#opening !== undefined) return false;
    const since = performance.now() - this.#openedAt;
    if (this.#connection === undefined || this.#failing) return since >= RETRY_MS;
    return this.#isName && since >= BELIEVE_MS;
  }

  #open(): Promise<void> {
    this.#openedAt = performance.now();
    this.#opening = this.#connect()
      .catch(error => {
        this.#tell(reasonOf(error));
      })
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  async #connect(): Promise<void> {
    const { address, family } = await lookup(this.#address.host);
    if (this.#connection?.address === address) return;
    // An ES module alone: CommonJS, as which we are bundled, loads it only so.
    const { DgramAsPromised } = await import('dgram-as-promised');
    const socket = DgramAsPromised.createSocket({ type: family === 6 ? 'udp6' : 'udp4' });
    try {
      await socket.bind({ port: 0, exclusive: true });
      // A bound socket would keep the process alive.
      socket.unref();
      const scoped = isMulticast(address) ? this.#setMulticast(socket, address) : address;
      await new Promise<void>((resolve, reject) => {
        socket.socket.connect(this.#address.port, scoped, (error?: Error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      await socket.close().catch(() => undefined);
      throw error;
    }
    const before = this.#connection;
    const connection: Connection = { address, socket };
    socket.socket.on('error', error => {
      connection.error = error;
    });
    this.#connection = this.#closed ? undefined : connection;
    if (before !== undefined) {
      await before.socket.close().catch(() => undefined);
      this.#log.info(`${this.label} is at ${address} now`);
    }
    if (this.#closed) await socket.close().catch(() => undefined);
  }

  /** The group's address, with its interface where one is named: IPv6 groups of link scope need it. */
  #setMulticast(socket: SocketAsPromised, group: string): string {
    const { interface: name, ttl } = this.#multicast;
    const v6 = isIP(group) === 6;
    socket.setMulticastTTL(ttl);
    if (name === undefined) return group;
    socket.setMulticastInterface(v6 ? `::%${name}` : interfaceAddress(name));
    return v6 ? `${group}%${name}` : group;
  }

  #deliver(connection: Connection, report: Uint8Array, done: (sent: boolean) => void): void {
    const fail = (error: Error) => {
      // ECONNREFUSED tells of the report before: this one has not left yet.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') transmit(connection.socket, report, () => {});
      else void this.#disconnect();
      this.#tell(reasonOf(error));
      done(this.#fail());
    };
    const { error } = connection;
    connection.error = undefined;
    if (error !== undefined) fail(error);
    else
      transmit(connection.socket, report, error => {
        if (error) return fail(error);
        this.#success();
        done(true);
      });
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.socket.close().catch(() => undefined);
  }

  /** Counts a report; always false. */
  #fail(): false {
    this.failed++;
    return false;
  }

  /** Tells of the first of a row of failures. */
  #tell(why: string): void {
    if (!this.#failing) this.#log.warn(`${this.label} ${why}; reports to it are lost until it answers`);
    this.#failing = true;
  }

  #success(): void {
    if (this.#failing)
      this.#log.info(`${this.label} takes reports again, ${this.failed - this.#failedBefore} were missed`);
    this.#failing = false;
    this.#failedBefore = this.failed;
  }
}

/** 224.0.0.0/4 and ff00::/8. */
function isMulticast(address: string): boolean {
  return isIP(address) === 6 ? /^ff/i.test(address) : (Number(address.split('.')[0]) & 0xf0) === 0xe0;
}

/** The IPv4 address by which the kernel knows an interface in this call. */
function interfaceAddress(name: string): string {
  const address = networkInterfaces()[name]?.find(({ family }) => family === 'IPv4')?.address;
  if (address === undefined) throw new Error(`there is no interface ${name} with an IPv4 address`);
  return address;
}

/** Without a promise, which would cost as much again as the sending: this is done each second. */
function transmit({ socket }: SocketAsPromised, report: Uint8Array, done: (error: Error | null) => void): void {
  try {
    socket.send(report, 0, report.length, done);
  } catch (error) {
    done(error as Error); // closed meanwhile
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'is there, but nobody listens',
  ENETUNREACH: 'cannot be reached: no route',
  EHOSTUNREACH: 'cannot be reached: no such host on the network',
  ENETDOWN: 'cannot be reached: the network is down',
  EPERM: 'cannot be reached: a firewall of this machine forbids it',
  EACCES: 'cannot be reached: it is a broadcast address or forbidden',
  ENOTFOUND: 'is not known to the name service',
  EAI_AGAIN: 'cannot be looked up: the name service does not answer',
};

function reasonOf(error: unknown): string {
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? `cannot be reached: ${message}`;
}
