// The slow side: child processes, which can be killed, read sources that can hang; reports get their last values. Never
// waits for any of them: a source that hangs loses only its own readings.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bits, structs } from '../../layout/layout.gen.js';
import type { Tell } from '../kernelfile.js';
import { V8_FLAGS } from '../v8flags.js';
import { detailsOf, overlay, type SlowPart } from './fill.js';
import { type ChildMessage, type RoundOrders, sharedMs } from './serve.js';
import { type Busy, type ClosedRound, PAGE_WORDS, SlowValues } from './slowvalues.js';
import type { Details, SlowSource } from './source.js';

/** What the rounds need to know about a source; the child knows how to read it. */
export type RoundSource = Pick<SlowSource, 'name' | 'periodMs' | 'mostMs' | 'rated'>;

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
/** A round ends once per interval, and at most once a second. */
const LEAST_ROUND_MS = 1000;
/** A source that reads for longer counts as hung, ms. */
const MOST_READING_MS = 1000;
/** For how many rounds a child may say nothing without reading anything: a program may be slow on a busy machine. */
const PATIENCE = 10;
/** For how long a source is not read after a child died in it, ms. */
const REST_MS = 10_000;
/** How often a waiting caller checks for hung sources, ms. */
const IMPATIENCE_MS = 100;

/** The offsets of a page's flags, and of the time when the last round ended, in words. */
const FLAGS = structs.report.fields.flags.offset / 4;
const STALE = 1 << bits.flags.slow_stale;
const SLOW_BOOT = structs.report.fields.slow_boot_ns.offset / 4;

class Reader {
  readonly #values: SlowValues;
  readonly #child: ChildProcess;
  #isOpen = true;
  #kept: Buffer = Buffer.alloc(0);
  busy: Busy = { source: undefined, sinceMs: 0 };
  /** When it was last seen to read something or to have ended a round. */
  lastMs = performance.now();
  /** For each source this child's round in which it was read last. */
  readonly readIn: Uint32Array;

  /** Throws if there is no memory for it. */
  constructor(
    module: string,
    sources: number,
    world: unknown,
    orders: RoundOrders,
    kept: Buffer,
    onMessage: (message: ChildMessage) => void,
    onEnd: (reader: Reader) => void,
  ) {
    this.readIn = new Uint32Array(sources);
    this.#values = SlowValues.make(sources, kept);
    this.#child = fork(module, [JSON.stringify({ world, orders })], {
      serialization: 'advanced',
      execArgv: [...process.execArgv, ...V8_FLAGS],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', this.#values.fd],
    });
    this.#child.on('message', onMessage);
    const end = () => {
      this.look();
      this.#close();
      onEnd(this);
    };
    this.#child.once('exit', end);
    this.#child.once('error', end);
    // A child that hangs in the kernel may outlive us: we do not wait for it.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /** Checks its state now; returns the round that has ended since the last check. */
  look(): ClosedRound | undefined {
    if (!this.#isOpen) return undefined;
    const { busy, closed } = this.#values.look();
    this.busy = busy;
    if (closed !== undefined || busy.source !== undefined) this.lastMs = performance.now();
    return closed;
  }

  /** What its sources have to remember. */
  get kept(): Buffer {
    return this.#isOpen ? this.#values.kept() : this.#kept;
  }

  /** The number of the source that it has been reading for too long. */
  get hangsIn(): number | undefined {
    const { source, sinceMs } = this.busy;
    return source !== undefined && (sharedMs() - sinceMs) % 2 ** 32 > MOST_READING_MS ? source : undefined;
  }

  order(orders: RoundOrders): void {
    if (this.#child.connected) this.#child.send(orders, () => undefined);
  }

  kill(): void {
    this.#child.removeAllListeners('exit');
    this.#child.kill('SIGKILL');
    if (this.#child.connected) this.#child.disconnect();
    this.#close();
  }

  #close(): void {
    this.#kept = this.kept;
    if (this.#isOpen) this.#values.close();
    this.#isOpen = false;
  }
}

interface RoundsOptions {
  sources: readonly RoundSource[];
  /** Passed to the child: the roots to read from. */
  world: unknown;
  intervalMs: number;
  tell?: Tell;
  /** The child's program; tests have their own. */
  module?: string;
}

export class SlowSide implements SlowPart {
  #roundMs: number;
  /** The current values, by the number of the source, and when the round in which they were read was noticed. */
  readonly #latest = new Map<number, { page: Uint32Array; atMs: number }>();
  /** Texts of the sources, by their names. */
  readonly #details = new Map<string, Details | undefined>();
  /** What was logged: a source uses the same words for the same trouble. */
  readonly #troubles = new Set<string>();
  /** The present trouble with the health file: what people do to that is logged whenever it changes. */
  #ofHealth: string | undefined;
  /** Sources in which a child has died, and until when they are not read. */
  readonly #resting = new Map<string, number>();
  /** Hung sources, each in its own waiting child, and the last state of that child. */
  readonly #hung = new Map<string, { reader: Reader; busy: Busy }>();
  #common: Reader | undefined;
  /** The child that knows most, as long as there is no newer one. */
  #newest: Reader | undefined;
  #openedMs = Number.NEGATIVE_INFINITY;
  /** The values in reports: all from the end of the same round, because rates are for the time between two ends. */
  readonly #published = new Uint32Array(PAGE_WORDS);
  #publishedDetails: Details = {};
  #timer: NodeJS.Timeout | undefined;
  #haveWords = false;
  #isClosed = false;
  #onClosed: (() => void)[] = [];

  constructor(private readonly options: RoundsOptions) {
    this.#roundMs = Math.max(options.intervalMs, LEAST_ROUND_MS);
  }

  /** Starts with a round at once, and continues with one per interval. */
  start(): void {
    this.#common ??= this.#open();
    clearInterval(this.#timer);
    // Reports are too rare to notice a hung source in time.
    if (this.#roundMs > 2 * LEAST_ROUND_MS) this.#timer = setInterval(() => this.look(), LEAST_ROUND_MS).unref();
  }

  /** Changes the interval of the rounds; the values stay. */
  change(intervalMs: number): void {
    if (intervalMs === this.options.intervalMs) return;
    this.options.intervalMs = intervalMs;
    this.#roundMs = Math.max(intervalMs, LEAST_ROUND_MS);
    this.start();
    this.#common?.order(this.#orders());
  }

  /** Resolves when the first round of the present child has ended, whatever hangs, or when there will be none. */
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
    // A child that ended is replaced, but not if the replacement ends at once, too.
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

  #orders(): RoundOrders {
    const sources = this.options.sources
      .map(({ name }) => name)
      .filter(name => !this.#hung.has(name) && !this.#resting.has(name));
    return { sources, roundMs: this.#roundMs };
  }

  #open(): Reader | undefined {
    const { module = CHILD, world, sources } = this.options;
    this.#openedMs = performance.now();
    this.#isClosed = false;
    try {
      this.#newest = new Reader(
        module,
        sources.length,
        world,
        this.#orders(),
        this.#newest?.kept ?? Buffer.alloc(0),
        message => this.#hear(message),
        reader => this.#lose(reader),
      );
      return this.#newest;
    } catch (error) {
      this.#complain(`the slow sources cannot be read: ${(error as Error).message}`);
      this.#settle();
      return undefined;
    }
  }

  #hear(message: ChildMessage): void {
    if (message === 'closed') {
      this.look();
      this.#settle();
      return;
    }
    this.#details.set(message.source, message.details);
    this.#haveWords = true;
    if (message.source === 'health') {
      if (this.#ofHealth !== undefined && this.#ofHealth !== message.trouble) this.#troubles.delete(this.#ofHealth);
      this.#ofHealth = message.trouble;
    }
    if (message.trouble !== undefined) this.#complain(message.trouble);
  }

  #complain(trouble: string): void {
    if (this.#troubles.has(trouble)) return;
    this.#troubles.add(trouble);
    this.options.tell?.(trouble);
  }

  /** A child has ended or was killed: another follows, which does not immediately read what may have been the cause. */
  #lose(reader: Reader): void {
    const { source } = reader.busy;
    const name = source === undefined ? undefined : this.options.sources[source]?.name;
    if (this.#common === reader) this.#common = undefined;
    if (name !== undefined) this.#resting.set(name, performance.now() + REST_MS);
    for (const [name, waiting] of this.#hung) if (waiting.reader === reader) this.#release(name);
  }

  /** A hung source keeps its child, which notices first when it is back; the other sources continue in a new child. */
  #setAside(reader: Reader, source: number): void {
    const name = this.options.sources[source]?.name ?? '';
    this.#hung.set(name, { reader, busy: reader.busy });
    this.options.tell?.(`the slow source ${name} does not answer: its readings are left out until it does`);
    this.#common = this.#open();
  }

  /** A hung source has answered, or its child has ended: it is read together with the others again. */
  #release(name: string): void {
    this.#hung.get(name)?.reader.kill();
    this.#hung.delete(name);
    this.#common?.order(this.#orders());
    this.options.tell?.(`the slow source ${name} answers again`);
  }

  #take(reader: Reader, { round, closedBootNs, readIn, pages, changed }: ClosedRound, nowMs: number): void {
    let other = changed;
    for (const [i, { periodMs, rated, name }] of this.options.sources.entries()) {
      const latest = this.#latest.get(i);
      // Values are valid for two periods of their source; but those of a source that is read in every round end with
      // the round in which it hangs.
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

  /** @param other whether the current values have changed since the last call */
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
    const believed = this.options.sources.filter((_, i) => this.#latest.has(i));
    this.#publishedDetails = detailsOf(believed.map(({ name }) => this.#details.get(name)));
  }

  #settle(): void {
    this.#isClosed = true;
    for (const resolve of this.#onClosed.splice(0)) resolve();
  }
}
