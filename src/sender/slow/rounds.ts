// The slow side: asks sources that can hang, in child processes that can be killed, and gives reports what they last
// said. Never waits for any of them: a source that hangs loses its own readings and nobody else's.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { REPORT_BYTES } from '../../layout/codec.js';
import type { Tell } from '../kernelfile.js';
import { detailsOf, fillSlow, overlay, type SlowPart } from './fill.js';
import type { Details, SlowReading, SlowSource } from './source.js';

/** What the rounds need to know of a source; how it reads stands in the child. */
export type Asked = Pick<SlowSource, 'name' | 'periodMs' | 'mostMs' | 'rated'>;

/** A child's word: it begins to read a source, or it has read it. */
export type Word = { source: string; round: number; reading?: SlowReading };

/** A parent's word: which sources to read, in this order. */
export interface Ask {
  round: number;
  sources: string[];
}

const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));
/** A round is closed once per interval, and at most once a second. */
const LEAST_ROUND_MS = 1000;
/** A source that reads for longer hangs, ms. */
const MOST_READING_MS = 1000;
/** Rounds that a child may take to start. */
const PATIENCE = 10;
/** How long a source is left alone in which a child has died, ms. */
const REST_MS = 10_000;

/** The number of an ask between two rounds, for sources that must not be left alone for so long: it is not published. */
const BETWEEN = 0;

interface Latest {
  reading: SlowReading;
  round: number;
  atMs: number;
}

/** One child process, and which source it is reading now. */
class Reader {
  readonly #child: ChildProcess;
  reading: string | undefined;
  waiting: string[] = [];
  /** Rounds for which it was waited for before it began to read. */
  patience = 0;

  constructor(module: string, world: string, onWord: (word: Word) => void, onEnd: (reader: Reader) => void) {
    this.#child = fork(module, [world], { serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    this.#child.on('message', (word: Word) => {
      this.reading = word.reading === undefined ? word.source : undefined;
      this.patience = 0;
      if (word.reading !== undefined) this.waiting = this.waiting.filter(name => name !== word.source);
      onWord(word);
    });
    this.#child.once('exit', () => onEnd(this));
    this.#child.once('error', () => onEnd(this));
    // A child that hangs in the kernel may outlive us: it is not waited for.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  ask(round: number, sources: string[]): void {
    this.waiting = [...sources];
    if (this.#child.connected) this.#child.send({ round, sources } satisfies Ask, () => undefined);
  }

  kill(): void {
    this.#child.removeAllListeners('exit');
    this.#child.kill('SIGKILL');
    if (this.#child.connected) this.#child.disconnect();
  }
}

export interface Rounds {
  sources: readonly Asked[];
  /** Argument of the child: where it reads. */
  world: string;
  intervalMs: number;
  /** CLOCK_BOOTTIME, ns. */
  bootNs: () => bigint;
  tell?: Tell;
  /** The child's program; tests have their own. */
  module?: string;
}

export class SlowSide implements SlowPart {
  readonly #options: Rounds;
  #roundMs: number;
  readonly #latest = new Map<string, Latest>();
  readonly #askedMs = new Map<string, number>();
  /** Sources whose next reading does not go on from the one before. */
  readonly #broken = new Set<string>();
  /** What was told: a source says the same words for the same trouble. */
  readonly #troubles = new Set<string>();
  readonly #restUntilMs = new Map<string, number>();
  /** Sources that hang, each in a child of its own that waits for it. */
  readonly #hung = new Map<string, Reader>();
  #common: Reader | undefined;
  #round = 0;
  #closed = true;
  #closedBootNs = 0n;
  /** What reports hold: all of it as of the end of the same round, for rates are taken over the time between two ends. */
  #published = new Uint32Array(REPORT_BYTES / 4);
  #details: Details = {};
  #timer: NodeJS.Timeout | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #onClosed: (() => void)[] = [];

  constructor(options: Rounds) {
    this.#options = options;
    this.#roundMs = Math.max(options.intervalMs, LEAST_ROUND_MS);
  }

  /** Begins with a round at once, and goes on with one per interval. */
  start(): void {
    const most = this.#options.sources.flatMap(({ mostMs }) => (mostMs === undefined ? [] : [mostMs]));
    const perRound = Math.ceil(this.#roundMs / Math.min(this.#roundMs, ...most));
    let tick = 0;
    const next = () => {
      if (tick % perRound > 0) {
        this.#askBetween();
      } else if (this.#closed || this.#giveUp()) {
        this.#begin();
      }
      tick++;
    };
    next();
    this.#timer = setInterval(next, this.#roundMs / perRound);
    this.#timer.unref();
  }

  /** Goes over to rounds of another interval, as if it were started anew; what was read stays. */
  change(intervalMs: number): void {
    if (intervalMs === this.#options.intervalMs) return;
    this.#options.intervalMs = intervalMs;
    this.#roundMs = Math.max(intervalMs, LEAST_ROUND_MS);
    clearInterval(this.#timer);
    this.start();
  }

  /** Reads again what counts so fast that it would wrap unseen in a round as long as this. */
  #askBetween(): void {
    if (!this.#closed || this.#common === undefined) return;
    const names = this.#options.sources.filter(({ mostMs }) => mostMs !== undefined).map(({ name }) => name);
    this.#common.ask(
      BETWEEN,
      names.filter(name => !this.#hung.has(name)),
    );
  }

  /** Settles when the round under way is closed: when all have answered, or when its time is over. */
  closed(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    // Somebody waits: the clock that ends the round keeps the process alive now.
    this.#timer?.ref();
    this.#watchdog?.ref();
    return new Promise(resolve => this.#onClosed.push(resolve));
  }

  details(): Details {
    return this.#details;
  }

  fill(view: DataView): void {
    overlay(view, this.#published);
  }

  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#watchdog);
    this.#common?.kill();
    for (const reader of this.#hung.values()) reader.kill();
    this.#close();
  }

  #begin(): void {
    this.#round++;
    this.#closed = false;
    const now = performance.now();
    const due = this.#options.sources.filter(({ name, periodMs }) => {
      const asked = this.#askedMs.get(name);
      // Half a round early rather than half a round late.
      if (this.#hung.has(name) || now < (this.#restUntilMs.get(name) ?? 0)) return false;
      return asked === undefined || now - asked >= periodMs - this.#roundMs / 2;
    });
    for (const { name } of due) this.#askedMs.set(name, now);
    this.#common ??= this.#open();
    const names = due.map(({ name }) => name);
    this.#common.ask(this.#round, names);
    if (names.length === 0) this.#close();
  }

  #open(): Reader {
    const { module = CHILD, world } = this.#options;
    return new Reader(
      module,
      world,
      word => this.#hear(word),
      reader => {
        // Ended by itself or by somebody: the next round has a new one, and what this one owed is asked again; but not at once
        // what it was reading, of which it may have died.
        if (this.#common === reader) this.#common = undefined;
        for (const name of reader.waiting) if (name !== reader.reading) this.#askedMs.delete(name);
        if (reader.reading !== undefined) this.#restUntilMs.set(reader.reading, performance.now() + REST_MS);
        for (const [name, waiting] of this.#hung) if (waiting === reader) this.#release(name);
      },
    );
  }

  #hear({ source, round, reading }: Word): void {
    if (reading === undefined) {
      this.#watch(source);
      return;
    }
    if (reading.trouble !== undefined && !this.#troubles.has(reading.trouble)) {
      this.#troubles.add(reading.trouble);
      this.#options.tell?.(reading.trouble);
    }
    if (this.#hung.has(source)) this.#release(source);
    if (round === BETWEEN) {
      // What was lost between two rounds (a counter began anew) is not measured in the next: it would look like growth.
      const before = this.#latest.get(source)?.reading.sets ?? [];
      if (before.some(set => !reading.sets.includes(set))) this.#broken.add(source);
      return;
    }
    if (this.#broken.delete(source)) this.#latest.delete(source);
    else this.#latest.set(source, { reading, round, atMs: performance.now() });
    if (round === this.#round && this.#common?.waiting.length === 0) this.#close();
  }

  /** A hung source has answered, or its child has ended: it is asked with the others again. */
  #release(name: string): void {
    this.#hung.get(name)?.kill();
    this.#hung.delete(name);
    this.#options.tell?.(`the slow source ${name} answers again`);
  }

  /** Something is being read: if it is not done within a second, it hangs. */
  #watch(name: string): void {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => {
      const reader = this.#common;
      if (!this.#closed && reader?.reading === name) this.#setAside(reader, name);
    }, MOST_READING_MS);
    if (this.#onClosed.length === 0) this.#watchdog.unref();
  }

  /** What hangs keeps its child for itself, which is the first to know when it comes back; the rest goes on in a new one. */
  #setAside(reader: Reader, name: string): void {
    const rest = reader.waiting.filter(waiting => waiting !== name);
    reader.waiting = [name];
    this.#hung.set(name, reader);
    this.#options.tell?.(`the slow source ${name} does not answer: its readings are left out until it does`);
    this.#common = this.#open();
    if (rest.length === 0) this.#close();
    else this.#common.ask(this.#round, rest);
  }

  /** Gives up a child that has not begun to read: a program takes its time to start on a busy machine, but not for ever. */
  #giveUp(): boolean {
    const reader = this.#common;
    if (reader !== undefined && (reader.reading !== undefined || ++reader.patience < PATIENCE)) return false;
    this.#common = undefined;
    reader?.kill();
    this.#close();
    return true;
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#closedBootNs = this.#options.bootNs();
    const now = performance.now();
    for (const { name, periodMs, rated } of this.#options.sources) {
      const latest = this.#latest.get(name);
      if (latest === undefined || latest.round === this.#round) continue;
      // Others are believed for two of their periods, but what is read in every round and hangs is gone with that round.
      const gone = rated || (periodMs === 0 && this.#hung.has(name));
      if (gone || now - latest.atMs > 2 * Math.max(periodMs, this.#roundMs)) this.#latest.delete(name);
    }
    const readings = [...this.#latest.values()].map(({ reading }) => reading);
    this.#details = detailsOf(readings);
    this.#published = new Uint32Array(REPORT_BYTES / 4);
    fillSlow(new DataView(this.#published.buffer), readings, this.#hung.size > 0, this.#closedBootNs);
    this.#timer?.unref();
    for (const resolve of this.#onClosed.splice(0)) resolve();
  }
}
