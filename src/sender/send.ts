// Sends a report to one master, and knows whether it can be reached. Never fails and never keeps the next report
// waiting: what cannot be sent is counted, told once, and tried again.

import { lookup } from 'node:dns/promises';
import { DgramAsPromised, type SocketAsPromised } from 'dgram-as-promised';
import { type Address, formatAddress } from '../common/addresses.js';
import type { Log } from '../common/log.js';

/** The shortest time between two attempts to find a master by name, ms: a resolver that is down is not asked every tick. */
const RETRY_MS = 5000;

export class Destination {
  /** Reports that could not be sent or that nobody took. */
  failed = 0;
  readonly #address: Address;
  readonly #log: Log;
  readonly #label: string;
  #socket: SocketAsPromised | undefined;
  #busy = false;
  #tellNothing = false;
  #lastOpening = Number.NEGATIVE_INFINITY;
  #failedBefore = 0;

  constructor(address: Address, log: Log) {
    this.#address = address;
    this.#log = log;
    this.#label = formatAddress(address);
  }

  /** Sends; settles when the kernel has it or it has failed, and never rejects. */
  async send(report: Uint8Array): Promise<void> {
    if (this.#busy) return this.#failure('is still being looked up');
    this.#busy = true;
    try {
      this.#socket ??= await this.#open();
      if (this.#socket !== undefined) await this.#deliver(this.#socket, report);
    } catch (error) {
      this.#failure(reasonOf(error));
    } finally {
      this.#busy = false;
    }
  }

  async close(): Promise<void> {
    await this.#socket?.close().catch(() => undefined);
    this.#socket = undefined;
  }

  /** A connected socket: only such a one learns that nobody listens at the other end. */
  async #open(): Promise<SocketAsPromised | undefined> {
    if (performance.now() - this.#lastOpening < RETRY_MS) {
      this.failed++;
      return undefined;
    }
    this.#lastOpening = performance.now();
    const { address, family } = await lookup(this.#address.host);
    const socket = DgramAsPromised.createSocket({ type: family === 6 ? 'udp6' : 'udp4' });
    await new Promise<void>((resolve, reject) => {
      socket.socket.once('error', reject);
      socket.socket.connect(this.#address.port, address, () => {
        socket.socket.off('error', reject);
        resolve();
      });
    });
    // Connecting binds, and a bound socket would keep the process alive.
    socket.unref();
    return socket;
  }

  async #deliver(socket: SocketAsPromised, report: Uint8Array): Promise<void> {
    try {
      await transmit(socket, report);
      this.#success();
    } catch (error) {
      this.#failure(reasonOf(error));
      // ECONNREFUSED tells of the report before: this one has not left yet.
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED')
        await transmit(socket, report).catch(() => undefined);
      else await this.close();
    }
  }

  #failure(why: string): void {
    this.failed++;
    if (this.#tellNothing) return;
    this.#tellNothing = true;
    this.#failedBefore = this.failed - 1;
    this.#log.warn(`${this.#label} ${why}; goes on trying`);
  }

  #success(): void {
    if (!this.#tellNothing) return;
    this.#tellNothing = false;
    this.#log.info(`${this.#label} takes reports again, ${this.failed - this.#failedBefore} were missed`);
  }
}

/** On a connected socket `send` takes offset and length where an unconnected one takes the port; the types know only the latter. */
function transmit(socket: SocketAsPromised, report: Uint8Array): Promise<number> {
  const send = socket.send as unknown as (data: Uint8Array, offset: number, length: number) => Promise<number>;
  return send.call(socket, report, 0, report.length);
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
