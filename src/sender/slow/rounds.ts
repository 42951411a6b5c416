// The slow side: has sources that can hang read in child processes that can be killed, and gives reports what they last
// said. Never waits for any of them: a source that hangs loses its own readings and nobody else's.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bits, structs } from '../../layout/layout.gen.js';
import type { Tell } from '../kernelfile.js';
import { detailsOf, overlay, type SlowPart } from './fill.js';
import { type Orders, sharedMs, type Word } from './serve.js';
import { type Busy, type ClosedRound, PAGE_WORDS, Slate } from './slate.js';
import type { Details, SlowSource } from './source.js';

/** What the rounds need to know of a source; how it is read stands in the child. */
export type Asked = Pick<SlowSource, 'name' | 'periodMs' | 'mostMs' | 'rated'>;

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
/** A round is closed once per interval, and at most once a second. */
const LEAST_ROUND_MS = 1000;
/** A source that reads for longer hangs, ms. */
const MOST_READING_MS = 1000;
/** Rounds for which a child may say nothing without reading anything: a program takes its time on a busy machine. */
const PATIENCE = 10;
/** How long a source is left alone in which a child has died, ms. */
const REST_MS = 10_000;
/** How often somebody who waits looks for what hangs, ms. */
const IMPATIENCE_MS = 100;

/** Where a page has its flags, and when the last round was closed, in words. */
const FLAGS = structs.report.fields.flags.offset / 4;
const STALE = 1 << bits.flags.slow_stale;
const SLOW_BOOT = structs.report.fields.slow_boot_ns.offset / 4;

/** What a source last said. */
interface Latest {
  page: Uint32Array;
  /** When the round in which it was read was seen. */
  atMs: number;
}

/** One child process, and what it says. */
class Reader {
  readonly #slate: Slate;
  readonly #child: ChildProcess;
  #isOpen = true;
  busy: Busy = { source: undefined, sinceMs: 0 };
  /** When it was last seen to read something or to have closed a round. */
  lastMs = performance.now();
  /** Of each source the round of this child in which it was read last. */
  readonly readIn: Uint32Array;

  /** Throws when there is no memory for it. */
  constructor(
    module: string,
    sources: number,
    world: unknown,
    orders: Orders,
    onWord: (word: Word) => void,
    onEnd: (reader: Reader) => void,
  ) {
    this.readIn = new Uint32Array(sources);
    this.#slate = Slate.make(sources);
    this.#child = fork(module, [JSON.stringify({ world, orders })], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', this.#slate.fd],
    });
    this.#child.on('message', onWord);
    const end = () => {
      this.look();
      this.#close();
      onEnd(this);
    };
    this.#child.once('exit', end);
    this.#child.once('error', end);
    // A child that hangs in the kernel may outlive us: it is not waited for.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /** Looks what it does now; gives the round that it has closed since it was looked last. */
  look(): ClosedRound | undefined {
    if (!this.#isOpen) return undefined;
    const { busy, closed } = this.#slate.look();
    this.busy = busy;
    if (closed !== undefined || busy.source !== undefined) this.lastMs = performance.now();
    return closed;
  }

  /** The number of the source that it has been reading for too long. */
  get hangsIn(): number | undefined {
    const { source, sinceMs } = this.busy;
    return source !== undefined && (sharedMs() - sinceMs) % 2 ** 32 > MOST_READING_MS ? source : undefined;
  }

  order(orders: Orders): void {
    if (this.#child.connected) this.#child.send(orders, () => undefined);
  }

  kill(): void {
    this.#child.removeAllListeners('exit');
    this.#child.kill('SIGKILL');
    if (this.#child.connected) this.#child.disconnect();
    this.#close();
  }

  #close(): void {
    if (this.#isOpen) this.#slate.close();
    this.#isOpen = false;
  }
}

export interface Rounds {
  sources: readonly Asked[];
  /** For the child: where it reads. */
  world: unknown;
  intervalMs: number;
  tell?: Tell;
  /** The child's program; tests have their own. */
  module?: string;
}

export class SlowSide implements SlowPart {
  readonly #options: Rounds;
  #roundMs: number;
  /** What is current, by the number of its source. */
  readonly #latest = new Map<number, Latest>();
  /** Words of the sources' own, by their names. */
  readonly #details = new Map<string, Details | undefined>();
  /** What was told: a source says the same words for the same trouble. */
  readonly #troubles = new Set<string>();
  /** Sources in which a child has died, and until when they are left alone. */
  readonly #resting = new Map<string, number>();
  /** Sources that hang, each in a child of its own that waits for it, and what that was seen to do. */
  readonly #hung = new Map<string, { reader: Reader; busy: Busy }>();
  #common: Reader | undefined;
  #openedMs = Number.NEGATIVE_INFINITY;
  /** What reports hold: all of it as of the end of the same round, for rates are taken over the time between two ends. */
  readonly #published = new Uint32Array(PAGE_WORDS);
  #publishedDetails: Details = {};
  #timer: NodeJS.Timeout | undefined;
  /** Whether there is anything new among the details. */
  #haveWords = false;
  #isClosed = false;
  #onClosed: (() => void)[] = [];

  constructor(options: Rounds) {
    this.#options = options;
    this.#roundMs = Math.max(options.intervalMs, LEAST_ROUND_MS);
  }

  /** Begins with a round at once, and goes on with one per interval. */
  start(): void {
    this.#common ??= this.#open();
    clearInterval(this.#timer);
    // Reports come too seldom to notice in time what hangs.
    if (this.#roundMs > 2 * LEAST_ROUND_MS) this.#timer = setInterval(() => this.look(), LEAST_ROUND_MS).unref();
  }

  /** Goes over to rounds of another interval; what was read stays. */
  change(intervalMs: number): void {
    if (intervalMs === this.#options.intervalMs) return;
    this.#options.intervalMs = intervalMs;
    this.#roundMs = Math.max(intervalMs, LEAST_ROUND_MS);
    this.start();
    this.#common?.order(this.#orders());
  }

  /** Settles when the first round of the child that reads now is closed, whatever hangs meanwhile, or when none will be. */
  async closed(): Promise<void> {
    if (this.#isClosed) return;
    const timer = setInterval(() => this.look(), IMPATIENCE_MS);
    await new Promise<void>(resolve => this.#onClosed.push(resolve));
    clearInterval(timer);
  }

  look(): Details {
    for (const [name, { reader, busy }] of this.#hung) {
      reader.look();
      if (reader.busy.source !== busy.source || reader.busy.sinceMs !== busy.sinceMs) this.#release(name);
    }
    const nowMs = performance.now();
    let rested = false;
    for (const [name, untilMs] of this.#resting) if (untilMs <= nowMs) rested = this.#resting.delete(name);
    if (rested) this.#common?.order(this.#orders());
    // One that ended is followed by another, but not if that ends at once, too.
    if (this.#common === undefined && nowMs - this.#openedMs >= this.#roundMs) this.#common = this.#open();
    if (this.#common !== undefined) this.#lookAt(this.#common, nowMs);
    return this.#publishedDetails;
  }

  fill(view: DataView): void {
    overlay(view, this.#published);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#common?.kill();
    for (const { reader } of this.#hung.values()) reader.kill();
    this.#settle();
  }

  #lookAt(reader: Reader, nowMs: number): void {
    const round = reader.look();
    if (round !== undefined) this.#take(reader, round, nowMs);
    const hangsIn = reader.hangsIn;
    if (hangsIn !== undefined) this.#setAside(reader, hangsIn);
    else if (nowMs - reader.lastMs > PATIENCE * this.#roundMs) {
      reader.kill();
      this.#common = this.#open();
      this.#settle();
    }
  }

  #orders(): Orders {
    const sources = this.#options.sources
      .map(({ name }) => name)
      .filter(name => !this.#hung.has(name) && !this.#resting.has(name));
    return { sources, roundMs: this.#roundMs };
  }

  #open(): Reader | undefined {
    const { module = CHILD, world, sources } = this.#options;
    this.#openedMs = performance.now();
    this.#isClosed = false;
    try {
      return new Reader(
        module,
        sources.length,
        world,
        this.#orders(),
        word => this.#hear(word),
        reader => this.#lose(reader),
      );
    } catch (error) {
      this.#complain(`the slow sources cannot be read: ${(error as Error).message}`);
      this.#settle();
      return undefined;
    }
  }

  #hear(word: Word): void {
    if (word === 'closed') {
      this.look();
      this.#settle();
      return;
    }
    this.#details.set(word.source, word.details);
    this.#haveWords = true;
    if (word.trouble !== undefined) this.#complain(word.trouble);
  }

  #complain(trouble: string): void {
    if (this.#troubles.has(trouble)) return;
    this.#troubles.add(trouble);
    this.#options.tell?.(trouble);
  }

  /** A child ended by itself or by somebody: another follows, which does not read at once that of which this one may have died. */
  #lose(reader: Reader): void {
    const { source } = reader.busy;
    const name = source === undefined ? undefined : this.#options.sources[source]?.name;
    if (this.#common === reader) this.#common = undefined;
    if (name !== undefined) this.#resting.set(name, performance.now() + REST_MS);
    for (const [name, waiting] of this.#hung) if (waiting.reader === reader) this.#release(name);
  }

  /** What hangs keeps its child for itself, which is the first to know when it comes back; the rest goes on in a new one. */
  #setAside(reader: Reader, source: number): void {
    const name = this.#options.sources[source]?.name ?? '';
    this.#hung.set(name, { reader, busy: reader.busy });
    this.#options.tell?.(`the slow source ${name} does not answer: its readings are left out until it does`);
    this.#common = this.#open();
  }

  /** A hung source has answered, or its child has ended: it is read with the others again. */
  #release(name: string): void {
    this.#hung.get(name)?.reader.kill();
    this.#hung.delete(name);
    this.#common?.order(this.#orders());
    this.#options.tell?.(`the slow source ${name} answers again`);
  }

  #take(reader: Reader, { round, closedBootNs, readIn, pages, changed }: ClosedRound, nowMs: number): void {
    let other = changed;
    for (const [i, { periodMs, rated, name }] of this.#options.sources.entries()) {
      const latest = this.#latest.get(i);
      // Others are trusted for two of their periods, but what is read in every round and hangs is gone with that round.
      const isGone = (rated && readIn[i] !== round) || (periodMs === 0 && this.#hung.has(name));
      if (readIn[i] !== reader.readIn[i] && !isGone) {
        const isSame = latest !== undefined && !changed;
        const page = isSame ? latest.page : pages.slice(i * PAGE_WORDS, (i + 1) * PAGE_WORDS);
        this.#latest.set(i, { page, atMs: nowMs });
        other ||= !isSame;
      } else if (latest !== undefined) {
        const isOld = nowMs - latest.atMs > 2 * Math.max(periodMs, this.#roundMs);
        if (isGone || isOld) other = this.#latest.delete(i);
      }
    }
    reader.readIn.set(readIn);
    this.#publish(other, closedBootNs);
  }

  /** @param other whether what is current has changed since this was done last */
  #publish(other: boolean, closedBootNs: bigint): void {
    if (other) {
      this.#published.fill(0);
      const view = new DataView(this.#published.buffer);
      for (const { page } of this.#latest.values()) overlay(view, page);
    }
    const flags = this.#published[FLAGS] ?? 0;
    this.#published[FLAGS] = this.#hung.size > 0 ? flags | STALE : flags & ~STALE;
    this.#published[SLOW_BOOT] = Number(closedBootNs & 0xffffffffn);
    this.#published[SLOW_BOOT + 1] = Number(closedBootNs >> 32n);
    if (!other && !this.#haveWords) return;
    this.#haveWords = false;
    const believed = this.#options.sources.filter((_, i) => this.#latest.has(i));
    this.#publishedDetails = detailsOf(believed.map(({ name }) => this.#details.get(name)));
  }

  #settle(): void {
    this.#isClosed = true;
    for (const resolve of this.#onClosed.splice(0)) resolve();
  }
}
