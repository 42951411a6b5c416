// The wall: looks at a board once a second, keeps the looks, and sends them to its clients. Opens no port.

import { readlinkSync } from 'node:fs';
import { EventFeed } from '../events/eventfeed.js';
import { pastOf } from '../events/past.js';
import { grouping as groupingValue } from '../options/values.js';
import { SCALES } from '../readings/scales.js';
import { attempt } from '../text/failure.js';
import { areInRacks } from '../text/hostlists.js';
import { didYouMean, InputError, nearest, quote } from '../text/text.js';
import { jsonFrame } from './framing.js';
import { RiverHistory } from './history.js';
import { JobLook } from './joblook.js';
import { Queries } from './queries.js';
import { StreamHeaders } from './streamheaders.js';
import { type News, Streams, type StreamView } from './streams.js';
import { TICK_MS, Watcher, type WatcherTick } from './watcher.js';
import { AUTO, type Hello, type ReadingInfo, RIVER, type WallHead } from './wire.js';

/** What a page needs to know about a reading. */
export const READINGS: readonly ReadingInfo[] = SCALES.map(({ take: _, ...info }) => info);

interface WallOptions {
  readonly board: string;
  readonly owner?: number | string | undefined;
  readonly named?: string;
  readonly build: string;
  /** The folder with Slurm's answers; undefined: they are not shown. */
  readonly slurmDir?: string | undefined;
  /** The folder where journals say how they are. */
  readonly journalRun: string;
}

/** Named like the zone of this machine, in a folder of zones. */
const ZONE_FILE = attempt(() => readlinkSync('/etc/localtime')) ?? 'UTC';

/** A larger difference between this machine's clocks means that it slept, or that its wall clock was set, s. */
const CLOCKS_APART_S = 5;

/** A wall without a look for so long hangs, ms. */
const STUCK_MS = 15_000;

const withoutTimes = ({ seq: _, now_ms: __, ...rest }: WallHead) => JSON.stringify(rest);

export class Wall {
  readonly watcher: Watcher;
  readonly streams: Streams;
  readonly queries: Queries;
  readonly river = new RiverHistory();
  readonly events: EventFeed;
  /** Undefined: they are not shown. */
  readonly jobs: JobLook | undefined;
  readonly heads: StreamHeaders;
  /** Distinguishes one start of this server from another. */
  readonly #started = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #news: News | undefined;
  #headText = '';
  /** When the first look would have been, by the head that was sent last. */
  #headBegan = 0;
  #own: { readonly key: string; readonly rule: string | null } = { key: '', rule: null };
  /** The wall clock of the first look, ms, and how many seconds this machine has slept since. */
  #beganMs = 0;
  #slept = 0;
  #lookedAt = performance.now();

  constructor(private readonly options: WallOptions) {
    this.watcher = new Watcher(options.board, options.owner);
    this.queries = new Queries(this.watcher);
    this.jobs = options.slurmDir === undefined ? undefined : new JobLook(options.slurmDir);
    this.events = new EventFeed(this.watcher.reader, options.journalRun, this.jobs !== undefined);
    this.heads = new StreamHeaders(this.watcher, options.journalRun, () => this.jobs?.view(this.watcher.names));
    this.streams = new Streams(
      this.watcher,
      tick => this.#hello(tick),
      (view, more) => this.queries.use(view, more),
    );
  }

  #hello({ nowMs, roster }: WatcherTick): Omit<Hello, 'reading' | 'by' | 'where'> {
    const { cluster } = this.watcher;
    return {
      schema: 1,
      build: this.options.build,
      ...(cluster !== undefined && { cluster }),
      ...(this.options.named && { named: this.options.named }),
      boardId: `${this.#started.toString(36)}.${roster}`,
      now_ms: nowMs,
      interval_ms: TICK_MS,
      zone: process.env.TZ?.replace(/^:/, '') ?? ZONE_FILE.replace(/^.*zoneinfo\/(posix\/|right\/)?/, ''),
      readings: READINGS,
      jobs: this.jobs !== undefined,
    };
  }

  get isAlive(): boolean {
    return performance.now() - this.#lookedAt < STUCK_MS;
  }

  /** Makes the first look, and one each second from then on. */
  async begin(): Promise<void> {
    await this.#readFiles();
    await this.#look(0);
    const past = pastOf(this.watcher.reader, this.options.journalRun, Date.now() - RIVER.columns * TICK_MS);
    if (past !== undefined) this.river.recall(past);
    const began = performance.now();
    const again = (number: number) => {
      const wait = Math.max(0, began + number * TICK_MS - performance.now());
      this.#timer = setTimeout(async () => {
        await this.#look(number);
        // Missed looks are not made up for.
        const next = Math.max(number + 1, Math.ceil((performance.now() - began) / TICK_MS));
        if (!this.#isClosed) again(next);
      }, wait);
    };
    again(1);
  }

  async #readFiles(): Promise<void> {
    await Promise.all([this.heads.acks.look(), this.jobs?.look()]);
  }

  /** The column of the river for second number `number`: seconds in which this machine slept are left out. */
  #column(number: number, nowMs: number): number {
    if (number === 0) this.#beganMs = nowMs;
    const apart = Math.round((nowMs - this.#beganMs) / TICK_MS) - number - this.#slept;
    if (apart > CLOCKS_APART_S) this.#slept += apart;
    // The wall clock was set back: the machine did not sleep.
    else if (apart < -CLOCKS_APART_S) this.#beganMs += apart * TICK_MS;
    // The columns before are those of before this server began.
    return number + this.#slept + RIVER.columns;
  }

  async #look(number: number): Promise<void> {
    // No look waits for them.
    void this.#readFiles();
    const tick = await this.watcher.look();
    this.#lookedAt = performance.now();
    if (this.#isClosed) return;
    this.events.follow(tick.seq, this.watcher.trouble === undefined ? this.heads.digest : undefined);
    const head = { ...this.heads.at(tick), events: this.events.from };
    const text = withoutTimes(head);
    // Whoever has the head before knows the time of each look that follows.
    const began = tick.nowMs - tick.seq * TICK_MS;
    const isSame = text === this.#headText && Math.abs(began - this.#headBegan) < TICK_MS / 4;
    this.#headText = text;
    if (!isSame) this.#headBegan = began;
    this.#news = {
      tick,
      head,
      headFrame: isSame && this.#news !== undefined ? this.#news.headFrame : jsonFrame('head', head),
      log: this.events.log,
    };
    this.streams.tell(this.#news);
    this.queries.tidy();
    this.river.keep(grouped => this.queries.has(grouped));
    this.river.take(tick, this.watcher.names, this.#column(number, tick.nowMs));
  }

  /** The view that a stream asks for. Throws an InputError, or TooMuch. */
  async view(query: URLSearchParams): Promise<StreamView> {
    const reading = query.get('reading') ?? (SCALES[0] as (typeof SCALES)[number]).name;
    const scale = SCALES.findIndex(({ name }) => name === reading);
    const names = SCALES.map(({ name }) => name);
    if (scale < 0)
      throw new InputError(
        `reading: ${quote(reading)} is none; ${didYouMean(nearest(reading, names), `there are ${names.join(', ')}`)}`,
      );
    const asked = query.get('by');
    const by = asked === AUTO.by ? this.#ownRule() : asked;
    const where = query.get('where');
    return {
      scale,
      by: by === null ? undefined : await this.queries.grouped(by, groupingValue.parse(by)),
      chosen: where === null ? undefined : await this.queries.chosen(where),
    };
  }

  /** The rule that fits the names; null: there is none. */
  #ownRule(): string | null {
    const { names, roster } = this.watcher;
    const key = `${roster} ${names.length}`;
    if (this.#own.key !== key) {
      this.#own = { key, rule: areInRacks(names) ? AUTO.rule : null };
    }
    return this.#own.rule;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.heads.close();
    this.events.close();
    this.queries.close();
    this.watcher.reader.close();
  }
}
