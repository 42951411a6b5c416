// Sends a report to one master, and knows whether it can be reached. Never fails and never keeps the next report
// waiting: what cannot be sent is counted, told once, and tried again.

import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SocketAsPromised } from 'dgram-as-promised';
import { type Address, formatAddress } from '../common/addresses.js';
import type { Log } from '../common/log.js';

/**
 * The shortest time between two questions for the name of a master that cannot be reached, ms: a resolver that is down is not asked
 * every tick. Addresses that are known are tried again with each report.
 */
const RETRY_MS = 5000;
/** How long a report waits for a look-up that another one began, ms: nothing that hangs may delay an end for long. */
const PATIENCE_MS = 1000;
/** The most reports that wait so. */
const MOST_WAITING = 10;
/** How long the address of a name that works is used without a new look-up, ms: over UDP nobody tells that a master has moved. */
const BELIEVE_MS = 60_000;

/**
 * How long nobody may have refused a report before a master that did takes them again, ms: a machine tells a peer once a second at
 * most that nobody listens, and one that has many of them more seldom.
 */
const REFUSAL_MS = 10_000;

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
  /** Where it is: as it was written, or where its name was when that was last found. */
  #known: LookupAddress | undefined;
  #asking: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #connecting: Promise<void> | undefined;
  #failing = false;
  /** Whether it was told that its name cannot be looked up now. */
  #unnamed = false;
  #failedBefore = 0;
  /** When a report was refused last; undefined: the last failure was another one. */
  #refusedAt: number | undefined;
  /** Reports since then, of which nothing was heard. */
  #doubtful = 0;
  #closed = false;
  #waiting = 0;
  /** Grows when reports that wait are no longer to be sent. */
  #forgotten = 0;

  constructor(address: Address, multicast: Multicast, log: Log) {
    this.#address = address;
    const family = isIP(address.host);
    this.#isName = family === 0;
    if (!this.#isName) this.#known = { address: address.host, family };
    this.#multicast = multicast;
    this.#log = log;
    this.label = formatAddress(address);
  }

  /** Sends; `done` hears whether the kernel has it. */
  send(report: Uint8Array, done: (sent: boolean) => void): void {
    const asking = this.#asking;
    if (this.#isDue()) this.#ask();
    if (this.#connection !== undefined) this.#deliver(this.#connection, report, done);
    else void this.#sendPatiently(report, done, asking === undefined);
  }

  /**
   * A report that finds no address waits for the look-up that it began; so do a few that find it under way, but not for long, so
   * that none pile up. Where there is an address, connecting to it waits for nobody.
   */
  async #sendPatiently(report: Uint8Array, done: (sent: boolean) => void, isFirst: boolean): Promise<void> {
    const forgotten = this.#forgotten;
    if (this.#known !== undefined) await this.#connectOnce(this.#known);
    else if (this.#asking !== undefined && isFirst) await this.#asking;
    // What fails is told of when the look-up has ended.
    else if (this.#asking !== undefined && this.#waiting < MOST_WAITING) await this.#patiently(this.#asking);
    if (this.#connection === undefined || forgotten !== this.#forgotten) done(this.#fail());
    else this.#deliver(this.#connection, report, done);
  }

  /** Drops reports that wait for a look-up: they would tell of what is no more. */
  forget(): void {
    if (this.#known === undefined) this.#forgotten++;
  }

  async #patiently(asking: Promise<void>): Promise<void> {
    this.#waiting++;
    const patience = new AbortController();
    const { signal } = patience;
    await Promise.race([asking, sleep(PATIENCE_MS, undefined, { signal }).catch(() => undefined)]);
    patience.abort();
    this.#waiting--;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#connection !== undefined) await this.#disconnect(this.#connection);
  }

  /** Whether to ask for the name now: for the first time, because the master does not answer, or because that was long ago. */
  #isDue(): boolean {
    if (!this.#isName || this.#asking !== undefined) return false;
    const since = performance.now() - this.#askedAt;
    return since >= (this.#connection === undefined || this.#failing ? RETRY_MS : BELIEVE_MS);
  }

  #ask(): void {
    this.#askedAt = performance.now();
    this.#asking = this.#lookUp().finally(() => {
      this.#asking = undefined;
    });
  }

  async #lookUp(): Promise<void> {
    try {
      this.#known = await lookup(this.#address.host);
    } catch (error) {
      if (this.#known === undefined) this.#tell(reasonOf(error));
      else this.#tellUnnamed(this.#connection ?? this.#known);
      return;
    }
    this.#unnamed = false;
    await this.#connecting; // to where it was
    await this.#connectOnce(this.#known);
  }

  /** One attempt at a time. What is connected stays so when it can be connected to nothing better. */
  #connectOnce(to: LookupAddress): Promise<void> {
    this.#connecting ??= this.#connect(to)
      .catch(error => {
        if (this.#connection === undefined) this.#tell(reasonOf(error));
      })
      .finally(() => {
        this.#connecting = undefined;
      });
    return this.#connecting;
  }

  async #connect({ address, family }: LookupAddress): Promise<void> {
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
      const { code = '' } = error as NodeJS.ErrnoException;
      // ECONNREFUSED tells of the report before: this one has not left yet.
      this.#refusedAt = code === 'ECONNREFUSED' ? performance.now() : undefined;
      this.#doubtful = 0;
      if (code === 'ECONNREFUSED') transmit(connection.socket, report, () => {});
      else if (!IS_FULL.has(code)) void this.#disconnect(connection);
      this.#tell(reasonOf(error));
      done(this.#fail());
    };
    const { error } = connection;
    connection.error = undefined;
    if (error !== undefined) fail(error);
    else
      transmit(connection.socket, report, error => {
        if (error) return fail(error);
        done(this.#success() || this.#fail());
      });
  }

  async #disconnect(connection: Connection): Promise<void> {
    if (this.#connection === connection) this.#connection = undefined;
    await connection.socket.close().catch(() => undefined);
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

  /** Tells once that its name is not found, where there is another way. */
  #tellUnnamed({ address }: { address: string }): void {
    if (!this.#unnamed) this.#log.warn(`${this.label} cannot be looked up now; keeps sending to ${address}`);
    this.#unnamed = true;
  }

  /** Whether a report that the kernel has sent is known to have been taken, as far as that can be known. */
  #success(): boolean {
    if (!this.#failing) {
      this.#failedBefore = this.failed;
      return true;
    }
    if (this.#refusedAt !== undefined && performance.now() - this.#refusedAt < REFUSAL_MS) {
      this.#doubtful++;
      return false;
    }
    this.failed -= this.#doubtful;
    this.#doubtful = 0;
    this.#refusedAt = undefined;
    this.#log.info(`${this.label} accepts reports again, ${this.failed - this.#failedBefore} were missed`);
    this.#failing = false;
    return true;
  }
}

/** A queue on the way is full: the socket is as good as before. */
const IS_FULL = new Set(['EAGAIN', 'ENOBUFS']);

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
  ECONNREFUSED: 'cannot be reached: connection refused',
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
