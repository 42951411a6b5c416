// The streams: the clients, their views, and what each is sent at each look. What several clients share is made once. A
// client that has not read everything gets nothing more until it has, and then a full picture.

import type { EventLog } from '../events/eventlog.js';
import type { Sink } from '../net/http.js';
import type { Grouping } from '../options/options.js';
import { SCALES } from '../readings/scales.js';
import { getOrInsert } from '../text/maps.js';
import { changesFrame, jsonFrame, pictureFrame } from './framing.js';
import { Arrangement, type CellLayout, type Chosen, type Grouped } from './layouts.js';
import type { Watcher, WatcherTick } from './watcher.js';
import type { Hello, LayoutInfo, WallHead } from './wire.js';

export interface StreamView {
  /** The index into SCALES. */
  readonly scale: number;
  readonly by: { readonly text: string; readonly grouping: Grouping; readonly grouped: Grouped } | undefined;
  readonly chosen: Chosen | undefined;
}

interface Client {
  readonly sink: Sink;
  /** It is sent one of so many looks. */
  readonly every: number;
  /** The last look that it was sent, and its layout; 0: none. */
  seq: number;
  layout: number;
  roster: number;
  head: Uint8Array | undefined;
  /** The number of the last event of this log that it was sent. */
  event: number;
  log: EventLog | undefined;
}

/** What all streams share at a look. */
export interface News {
  readonly tick: WatcherTick;
  readonly head: WallHead;
  /** The same object as at the last look if only its times have changed. */
  readonly headFrame: Uint8Array;
  /** Its first event has the number `count - kept.length + 1`. */
  readonly log: EventLog;
}

class Channel {
  readonly clients = new Set<Client>();
  #layout: CellLayout | undefined;
  #cells = new Uint16Array();
  #before = new Uint16Array();
  #seq = 0;
  #layoutFrame: Uint8Array | undefined;
  #pictureFrame: Uint8Array | undefined;

  constructor(
    readonly view: StreamView,
    readonly arrangement: Arrangement,
  ) {}

  end(): void {
    for (const { sink } of this.clients) sink.end();
  }

  /** Takes the view's cells from a look; the frame for clients with the last look; undefined: a picture is shorter. */
  #follow(tick: WatcherTick): Uint8Array | undefined {
    const layout = this.arrangement.at(tick);
    const column = tick.cells[this.view.scale] as Uint16Array;
    const { order } = layout;
    const isSame = layout === this.#layout;
    [this.#cells, this.#before] = [this.#before, this.#cells];
    if (this.#cells.length !== order.length) this.#cells = new Uint16Array(order.length);
    const cells = this.#cells;
    for (let i = 0; i < order.length; i++) cells[i] = column[order[i] as number] as number;
    const seqBefore = this.#seq;
    this.#seq = tick.seq;
    this.#pictureFrame = undefined;
    if (isSame) return changesFrame(layout.number, tick.seq, seqBefore, this.#before, cells);
    this.#layout = layout;
    this.#layoutFrame = undefined;
    return undefined;
  }

  get #picture(): Uint8Array {
    this.#pictureFrame ??= pictureFrame((this.#layout as CellLayout).number, this.#seq, this.#cells);
    return this.#pictureFrame;
  }

  get #layoutBytes(): Uint8Array {
    if (this.#layoutFrame === undefined) {
      const { number, groups, order } = this.#layout as CellLayout;
      this.#layoutFrame = jsonFrame('layout', { layout: number, count: order.length, groups } satisfies LayoutInfo);
    }
    return this.#layoutFrame;
  }

  /** Sends a look to all clients that are ready for it. */
  tell(news: News, hello: () => Uint8Array, eventsFrame: (since: number) => Uint8Array | undefined): void {
    const { tick, log } = news;
    const before = this.#seq;
    const changes = tick.seq === before ? undefined : this.#follow(tick);
    const whole = new Map<string, Uint8Array>();
    for (const client of this.clients) {
      if (!client.sink.isFree) continue;
      if (client.seq === tick.seq || (client.seq > 0 && tick.seq - client.seq < client.every)) continue;
      const parts: (Uint8Array | undefined)[] = [];
      if (client.roster !== tick.roster) parts.push(hello());
      const { number } = this.#layout as CellLayout;
      if (client.layout !== number || client.roster !== tick.roster) parts.push(this.#layoutBytes, this.#picture);
      else parts.push(client.seq === before && changes !== undefined ? changes : this.#picture);
      if (client.head !== news.headFrame) parts.push(news.headFrame);
      // Those that come from elsewhere are not new: the page asks for them.
      if (client.log !== log) [client.log, client.event] = [log, log.count];
      if (client.event < log.count) parts.push(eventsFrame(client.event));
      // Nearly all clients are sent the same.
      const key = `${parts.length} ${client.seq === before} ${client.layout} ${client.roster} ${client.event} ${client.head === news.headFrame}`;
      client.sink.write(getOrInsert(whole, key, () => Buffer.concat(parts.filter(part => part !== undefined))));
      client.seq = tick.seq;
      client.layout = number;
      client.roster = tick.roster;
      client.head = news.headFrame;
      client.event = log.count;
    }
  }
}

export class Streams {
  readonly #channels = new Map<string, Channel>();
  readonly #arrangements = new Map<string, Arrangement>();
  #news: News | undefined;

  constructor(
    readonly watcher: Watcher,
    /** The beginning of a stream, except its view. */
    readonly hello: (tick: WatcherTick) => Omit<Hello, 'reading' | 'by' | 'where'>,
    /** Called when a stream begins or ends to use rules and conditions. */
    readonly uses: (view: StreamView, more: 1 | -1) => void,
  ) {}

  get count(): number {
    let count = 0;
    for (const { clients } of this.#channels.values()) count += clients.size;
    return count;
  }

  /** Sends the last look to a client, and one of `every` looks that follow. */
  add(view: StreamView, sink: Sink, every = 1): void {
    const [by, where] = [view.by?.text ?? '', view.chosen?.text ?? ''];
    const order = JSON.stringify([by, where]);
    const key = `${view.scale} ${order}`;
    const arranged = () => new Arrangement(this.watcher, view.by?.grouped, view.chosen);
    const channel = getOrInsert(
      this.#channels,
      key,
      () => new Channel(view, getOrInsert(this.#arrangements, order, arranged)),
    );
    const log = this.#news?.log;
    const client: Client = { sink, every, seq: 0, layout: 0, roster: -1, head: undefined, event: log?.count ?? 0, log };
    const { clients } = channel;
    clients.add(client);
    this.uses(view, 1);
    sink.onGone(() => {
      clients.delete(client);
      this.uses(view, -1);
      if (clients.size > 0) return;
      this.#channels.delete(key);
      if (![...this.#channels.values()].some(other => other.arrangement === channel.arrangement))
        this.#arrangements.delete(order);
    });
    if (this.#news !== undefined) this.#tell(channel, this.#news);
  }

  tell(news: News): void {
    this.#news = news;
    for (const channel of this.#channels.values()) this.#tell(channel, news);
  }

  #tell(channel: Channel, news: News): void {
    const { view } = channel;
    // The client asks again, and gets an error with the reason.
    if (view.chosen?.isTooSlow || view.by?.grouped.isTooSlow) {
      channel.end();
      return;
    }
    const hello = () => {
      const shown = {
        reading: (SCALES[view.scale] as (typeof SCALES)[number]).name,
        by: view.by?.text ?? null,
        where: view.chosen?.text ?? null,
      };
      return jsonFrame('hello', { ...this.hello(news.tick), ...shown } satisfies Hello);
    };
    channel.tell(news, hello, since => {
      const { kept, count } = news.log;
      const more = kept.slice(Math.max(0, kept.length - (count - since)));
      return more.length > 0 ? jsonFrame('events', more) : undefined;
    });
  }
}
