// Sends a report to one master, and notices whether it can be reached. Never fails and never delays the next report:
// what cannot be sent is counted, logged once, and tried again.

import * as dgram from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { getSystemErrorName } from 'node:util';
import type { SocketAsPromised } from 'dgram-as-promised';
import { REPORT_BYTES } from '../layout/codec.js';
import { refusableSocket, refusals } from '../native/index.js';
import type { Log } from '../service/log.js';
import { pause } from '../service/pause.js';
import { type Address, formatAddress } from '../text/addresses.js';
import { Deliveries } from './deliveries.js';

/**
 * The shortest time between two look-ups of the name of a master that cannot be reached, ms, so that a broken resolver
 * is not asked every tick. Known addresses are tried again with each report.
 */
const RETRY_MS = 5000;
/** How long a report waits for a look-up that another one began, ms: nothing that hangs may delay the end for long. */
const PATIENCE_MS = 1000;
const MOST_WAITING = 10;
/** For how long a working address is used without new look-up, ms: over UDP nobody reports that a master has moved. */
const BELIEVE_MS = 60_000;

/**
 * For how long, in ms, and how many reports, none may have been refused before a master that refused one counts as
 * reachable again: a machine sends such a refusal to a peer at most once a second, and less often if it has many peers.
 */
const REFUSAL_MS = 10_000;
const REFUSAL_REPORTS = 3;
/** The shortest time between two lines about causes of one failure that change, ms. */
const CAUSE_MS = 60_000;

interface Multicast {
  /** The interface by name; undefined: the routing table decides. */
  interface: string | undefined;
  ttl: number;
}

/** A connected socket and its destination. Only a connected socket learns that nobody listens at the other end. */
interface DestinationSocket {
  address: string;
  socket: dgram.Socket;
  /** The same socket, whose binding and closing can be awaited. */
  promised: SocketAsPromised;
  readonly fd: number;
  /** How many reports that the kernel had taken were refused since the last one, and why. */
  refused: number;
  cause: string;
}

export class Destination {
  /** Reports that could not be sent, or that nobody received. */
  failed = 0;
  readonly label: string;
  readonly deliveries = new Deliveries();
  readonly #isName: boolean;
  #connection: DestinationSocket | undefined;
  /** Its address: as given, or the last result of the look-up. */
  #known: LookupAddress | undefined;
  #asking: Promise<void> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #connecting: Promise<void> | undefined;
  #failing = false;
  /** The cause of the present failure, as logged at that time. */
  #told = '';
  #toldAt = 0;
  /** Whether it was logged that its reports travel in pieces. */
  #pieces = false;
  /** Whether it was logged that its name cannot be looked up now. */
  #unnamed = false;
  #failedBefore = 0;
  /** When a report was refused last; undefined: the last failure was another one. */
  #refusedAt: number | undefined;
  /** Reports since then that were not refused. */
  #doubtful = 0;
  #closed = false;
  #waiting = 0;
  /** Is increased when waiting reports must not be sent any more. */
  #forgotten = 0;

  constructor(
    private readonly address: Address,
    private readonly multicast: Multicast,
    private readonly log: Log,
  ) {
    const family = isIP(address.host);
    this.#isName = family === 0;
    if (!this.#isName) this.#known = { address: address.host, family };
    this.label = formatAddress(address);
  }

  /** Sends a report that says this interval; `done` is called with whether the kernel has taken it. */
  send(report: Uint8Array, intervalMs: number, done: (sent: boolean) => void): void {
    const asking = this.#asking;
    const note = (sent: boolean) => done(this.deliveries.note(sent, intervalMs, performance.now()));
    if (this.#isDue()) this.#ask();
    if (this.#connection !== undefined) this.#deliver(this.#connection, report, note);
    else void this.#sendPatiently(report, note, asking === undefined);
  }

  /**
   * A report without an address waits for the look-up that it starts. A few further reports wait for the same one, but
   * not for long, so that they do not pile up. With an address, connecting waits for nobody.
   */
  async #sendPatiently(report: Uint8Array, done: (sent: boolean) => void, isFirst: boolean): Promise<void> {
    const forgotten = this.#forgotten;
    if (this.#known !== undefined) await this.#connectOnce(this.#known);
    else if (this.#asking !== undefined && isFirst) await this.#asking;
    // A failure is logged when the look-up has ended.
    else if (this.#asking !== undefined && this.#waiting < MOST_WAITING) await this.#patiently(this.#asking);
    if (this.#connection === undefined || forgotten !== this.#forgotten) done(this.#fail());
    else this.#deliver(this.#connection, report, done);
  }

  /** Drops reports that wait for a look-up, because they are outdated. */
  forget(): void {
    if (this.#known === undefined) this.#forgotten++;
  }

  async #patiently(asking: Promise<void>): Promise<void> {
    this.#waiting++;
    const patience = new AbortController();
    const { signal } = patience;
    await Promise.race([asking, pause(PATIENCE_MS, signal)]);
    patience.abort();
    this.#waiting--;
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#connection !== undefined) await this.#disconnect(this.#connection);
  }

  /** Whether to look up the name now: at first, if the master does not answer, or if the last time was long ago. */
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
      this.#known = await lookup(this.address.host);
    } catch (error) {
      if (this.#known === undefined) this.#tell(reasonOf(error));
      else this.#tellUnnamed(this.#connection ?? this.#known);
      return;
    }
    this.#unnamed = false;
    await this.#connecting; // To the last known address.
    await this.#connectOnce(this.#known);
  }

  /** One attempt at a time. A connected socket is kept if no better one can be had. */
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
    // An ES module only: this bundle is CommonJS, which can load it only in this way.
    const { DgramAsPromised } = await import('dgram-as-promised');
    const type = family === 6 ? 'udp6' : 'udp4';
    const socket = dgram.createSocket(type);
    const fd = refusableSocket(family === 6);
    if (fd < 0) throw new Error(`no socket: ${getSystemErrorName(fd)}`);
    // The package cannot connect, so it is given a socket that we can connect.
    const promised = DgramAsPromised.createSocket({ type, dgram: { ...dgram, createSocket: () => socket } });
    try {
      await promised.bind({ fd, exclusive: true });
      // A bound socket would keep the process alive.
      promised.unref();
      const scoped = isMulticast(address) ? this.#setMulticast(promised, address) : address;
      await new Promise<void>((resolve, reject) => {
        socket.connect(this.address.port, scoped, (error?: Error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      await promised.close().catch(() => undefined);
      throw error;
    }
    const before = this.#connection;
    const connection: DestinationSocket = { address, socket, promised, fd, refused: 0, cause: '' };
    socket.on('error', error => this.#learn(connection, error));
    this.#learn(connection);
    this.#connection = this.#closed ? undefined : connection;
    if (before !== undefined) {
      await before.promised.close().catch(() => undefined);
      this.log.info(`${this.label} is at ${address} now`);
    }
    if (this.#closed) await promised.close().catch(() => undefined);
  }

  /** The group's address, with its interface if one is given: IPv6 groups of link scope need it. */
  #setMulticast(socket: SocketAsPromised, group: string): string {
    const { interface: name, ttl } = this.multicast;
    const v6 = isIP(group) === 6;
    socket.setMulticastTTL(ttl);
    if (name === undefined) return group;
    socket.setMulticastInterface(v6 ? `::%${name}` : interfaceAddress(name));
    return v6 ? `${group}%${name}` : group;
  }

  /** What has come back about earlier reports, when the socket has an error, or is new. */
  #learn(connection: DestinationSocket, error?: Error): void {
    const { count, cause, pieces } = refusals(connection.fd, REPORT_BYTES);
    // Where the kernel keeps nothing.
    const one = count === 0 && codeOf(error) === 'ECONNREFUSED';
    connection.refused += one ? 1 : count;
    if (one || count > 0) connection.cause = one ? reasonOf(error) : cause;
    if (pieces !== '' && !this.#pieces) this.log.warn(`${this.label} ${pieces}`);
    this.#pieces ||= pieces !== '';
  }

  #deliver(connection: DestinationSocket, report: Uint8Array, done: (sent: boolean) => void): void {
    // What comes back from now on may be about this report, and counts with the next one.
    let { refused } = connection;
    connection.refused = 0;
    const end = (error: Error | null) => {
      if (error && !IS_KEPT.has(codeOf(error))) void this.#disconnect(connection);
      if (refused > 0) {
        this.#refuse(refused, connection.cause);
        return done(false);
      }
      if (error) {
        this.#refusedAt = undefined;
        this.#doubtful = 0;
        this.#tell(reasonOf(error));
      }
      done((!error && this.#success()) || this.#fail());
    };
    const learn = (error: Error) => {
      if (connection === this.#connection) this.#learn(connection, error);
      refused += connection.refused;
      connection.refused = 0;
    };
    transmit(connection.socket, report, error => {
      if (!error) return end(null);
      // Mostly this is about the last report, which told nobody anything: this one has not been sent yet.
      learn(error);
      transmit(connection.socket, report, again => {
        if (again) learn(again);
        end(again);
      });
    });
  }

  /**
   * Earlier reports, which nobody received: they announced nothing. This one, and those since the refusal before, count
   * as lost as well, until it is known better.
   */
  #refuse(count: number, cause: string): void {
    this.failed += 1 + Math.max(0, count - this.#doubtful);
    this.#doubtful = 1;
    this.#refusedAt = performance.now();
    this.deliveries.takeBack(count);
    this.#tell(cause);
  }

  async #disconnect(connection: DestinationSocket): Promise<void> {
    if (this.#connection === connection) this.#connection = undefined;
    await connection.promised.close().catch(() => undefined);
  }

  /** Counts a report; always false. */
  #fail(): false {
    this.failed++;
    return false;
  }

  /** Logs the first of consecutive failures, and another cause. */
  #tell(why: string): void {
    const now = performance.now();
    if (this.#failing && (why === this.#told || now - this.#toldAt < CAUSE_MS)) return;
    this.#failing = true;
    this.#told = why;
    this.#toldAt = now;
    this.log.warn(`${this.label} ${why}; reports to it are lost until it answers`);
  }

  /** Whether somebody objected to what was sent for 6 s; says so if nobody did. `name`: of this node. */
  isOpposed(name: string): boolean {
    if (this.#connection === undefined) this.#tell('is not looked up after 6 s');
    if (!this.#failing)
      this.log.info(
        `${this.label} may be reached: nobody objected for 6 s; ask on the master whether reports arrive: beoboard show ${name}`,
      );
    return this.#failing;
  }

  /** Logs once that its name cannot be resolved, if there is another destination. */
  #tellUnnamed({ address }: { address: string }): void {
    if (!this.#unnamed) this.log.warn(`${this.label} cannot be looked up now; keeps sending to ${address}`);
    this.#unnamed = true;
  }

  /** Whether a report that the kernel has sent was received, as far as that can be known. */
  #success(): boolean {
    if (!this.#failing) {
      this.#failedBefore = this.failed;
      return true;
    }
    const since = performance.now() - (this.#refusedAt ?? Number.NEGATIVE_INFINITY);
    if (since < REFUSAL_MS || (this.#refusedAt !== undefined && this.#doubtful < REFUSAL_REPORTS)) {
      this.#doubtful++;
      return false;
    }
    this.failed -= this.#doubtful;
    this.#doubtful = 0;
    this.#refusedAt = undefined;
    this.log.info(`${this.label} accepts reports again, ${this.failed - this.#failedBefore} were missed`);
    this.#failing = false;
    return true;
  }
}

/** A queue on the way is full, or nobody listens: the socket is still good. */
const IS_KEPT = new Set(['EAGAIN', 'ENOBUFS', 'ECONNREFUSED']);

/** 224.0.0.0/4 and ff00::/8. */
function isMulticast(address: string): boolean {
  return isIP(address) === 6 ? /^ff/i.test(address) : (Number(address.split('.')[0]) & 0xf0) === 0xe0;
}

/** The IPv4 address that identifies an interface in this system call. */
function interfaceAddress(name: string): string {
  const address = networkInterfaces()[name]?.find(({ family }) => family === 'IPv4')?.address;
  if (address === undefined) throw new Error(`there is no interface ${name} with an IPv4 address`);
  return address;
}

/** Without a promise, which would cost as much as the sending itself, every second. */
function transmit(socket: dgram.Socket, report: Uint8Array, done: (error: Error | null) => void): void {
  try {
    socket.send(report, 0, report.length, done);
  } catch (error) {
    done(error as Error); // It was closed meanwhile.
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'cannot be reached: nothing listens there',
  ENETUNREACH: 'cannot be reached: no route',
  EHOSTUNREACH: 'cannot be reached: this machine has no way there',
  EINVAL: 'cannot be reached: this machine has no way there', // The route is a hole.
  ENETDOWN: 'cannot be reached: the network is down',
  EPERM: 'cannot be reached: a firewall of this machine forbids it',
  EACCES: 'cannot be reached: it is a broadcast address or forbidden',
  EMSGSIZE: 'cannot be reached: a report is too large for the way there',
  ENOTFOUND: 'is not known to the name service',
  EAI_AGAIN: 'cannot be looked up: the name service does not answer',
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? '';

function reasonOf(error: unknown): string {
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? `cannot be reached: ${code || message}`;
}
