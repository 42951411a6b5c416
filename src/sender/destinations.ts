// All destinations of a report, and the change from some to others while reports are sent. No destination waits for
// another.

import { setTimeout } from 'node:timers/promises';
import { REPORT_BYTES } from '../layout/codec.js';
import type { Log } from '../service/log.js';
import { type Address, formatAddress } from '../text/addresses.js';
import { allKnow, Deliveries } from './deliveries.js';
import { Destination } from './send.js';

interface DestinationOptions {
  to: readonly (Address | '-')[];
  interface: string | undefined;
  ttl: number;
}

const CHECKED_S = 6;

/** All destinations: masters, groups, and stdout. */
export class Destinations {
  #destinations = new Map<string, Destination>();
  /** What stdout was told; undefined: it is none of them. */
  #stdout: Deliveries | undefined;

  constructor(
    roads: DestinationOptions,
    private readonly log: Log,
  ) {
    this.change(roads);
  }

  /** For another node: drops reports that wait for a name look-up, and no destination was told anything of it. */
  forget(): void {
    for (const destination of this.#destinations.values()) destination.forget();
    for (const each of this.#deliveries) each.forget();
  }

  get #deliveries(): Deliveries[] {
    const all = [...this.#destinations.values()].map(destination => destination.deliveries);
    return this.#stdout === undefined ? all : [...all, this.#stdout];
  }

  /** Whether every destination was told that this is the next interval. */
  know(intervalMs: number): boolean {
    return allKnow(this.#deliveries, intervalMs, performance.now());
  }

  /** Changes the destinations between two reports: one that stays keeps its socket. Returns whether one is new. */
  change({ to, interface: name, ttl }: DestinationOptions): boolean {
    const known = new Set(this.#deliveries);
    const before = this.#destinations;
    const next = new Map<string, Destination>();
    for (const address of to) {
      if (address === '-') continue;
      const key = `${formatAddress(address)} ${name ?? ''} ${ttl}`;
      next.set(key, before.get(key) ?? new Destination(address, { interface: name, ttl }, this.log));
    }
    this.#stdout = to.includes('-') ? (this.#stdout ?? new Deliveries()) : undefined;
    this.#destinations = next;
    for (const [key, destination] of before) if (!next.has(key)) void destination.close();
    return this.#deliveries.some(each => !known.has(each));
  }

  /**
   * Every destination gets the same bytes, which say this interval, and none waits for another. `done` is called with
   * the number of those that took them.
   */
  send(report: Uint8Array, intervalMs: number, done: (count: number) => void): void {
    let open = this.count;
    let count = 0;
    const settle = (sent: boolean) => {
      if (sent) count++;
      if (--open === 0) done(count);
    };
    for (const destination of this.#destinations.values()) destination.send(report, intervalMs, settle);
    if (this.#stdout !== undefined) settle(this.#stdout.note(this.#print(report), intervalMs, performance.now()));
  }

  /**
   * Sends for 6 s what no receiver takes: neighbour discovery takes 3 s, more on a busy machine, and what the kernel
   * learns of one datagram it tells at the next. Says who objected, or that nobody did; returns the latter.
   *
   * @param name of this node
   */
  async check(name: string): Promise<boolean> {
    const nothing = new Uint8Array(REPORT_BYTES);
    for (let s = 0; s <= CHECKED_S; s++) {
      this.send(nothing, 0, () => undefined);
      await setTimeout(s < CHECKED_S ? 1000 : 100);
    }
    return [...this.#destinations.values()].filter(destination => destination.isOpposed(name)).length === 0;
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
    return this.#destinations.size + (this.#stdout === undefined ? 0 : 1);
  }

  get names(): string {
    return [
      ...[...this.#destinations.values()].map(({ label }) => label),
      ...(this.#stdout === undefined ? [] : ['stdout']),
    ].join(', ');
  }
}
