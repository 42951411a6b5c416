// All destinations of a report, and the change from some to others while reports are sent. No destination waits for
// another.

import { type Address, formatAddress } from '../common/addresses.js';
import type { Log } from '../common/log.js';
import { Destination } from './send.js';

/** The destinations, as in the options. */
export interface Roads {
  to: readonly (Address | '-')[];
  /** For multicast groups. */
  interface: string | undefined;
  ttl: number;
}

/** All destinations: masters, groups, and stdout. */
export class Outlets {
  readonly #log: Log;
  #destinations = new Map<string, Destination>();
  #stdout = false;

  constructor(roads: Roads, log: Log) {
    this.#log = log;
    this.change(roads);
  }

  /** Drops reports that wait for a name look-up. */
  forget(): void {
    for (const destination of this.#destinations.values()) destination.forget();
  }

  /** Changes the destinations between two reports: one that stays keeps its socket. */
  change({ to, interface: name, ttl }: Roads): void {
    const before = this.#destinations;
    const next = new Map<string, Destination>();
    for (const address of to) {
      if (address === '-') continue;
      const key = `${formatAddress(address)} ${name ?? ''} ${ttl}`;
      next.set(key, before.get(key) ?? new Destination(address, { interface: name, ttl }, this.#log));
    }
    this.#stdout = to.includes('-');
    this.#destinations = next;
    for (const [key, destination] of before) if (!next.has(key)) void destination.close();
  }

  /**
   * Every destination gets the same bytes, and none waits for another. `done` is called with the number of those that
   * took them.
   */
  send(report: Uint8Array, done: (count: number) => void): void {
    let open = this.count;
    let count = 0;
    const settle = (sent: boolean) => {
      if (sent) count++;
      if (--open === 0) done(count);
    };
    for (const destination of this.#destinations.values()) destination.send(report, settle);
    if (this.#stdout) settle(this.#print(report));
  }

  /** To stdout; while nobody reads it, reports are dropped and not kept. */
  #print(report: Uint8Array): boolean {
    if (process.stdout.writableNeedDrain) return false;
    process.stdout.write(report);
    return true;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#destinations.values()].map(destination => destination.close()));
  }

  get failed(): number {
    return [...this.#destinations.values()].reduce((sum, destination) => sum + destination.failed, 0);
  }

  get count(): number {
    return this.#destinations.size + (this.#stdout ? 1 : 0);
  }

  get names(): string {
    return [...[...this.#destinations.values()].map(({ label }) => label), ...(this.#stdout ? ['stdout'] : [])].join(
      ', ',
    );
  }
}
