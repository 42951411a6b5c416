// Looks at the board once a second, node by node, and keeps the data for pages from each look: a cell for each node and
// reading. Reads the board in pieces, and yields to the event loop in between. Serves no clients.

import { Cursor } from '../readings/cursor.js';
import { SCALES, type Scale } from '../readings/scales.js';
import { SlicedLook } from '../service/slices.js';
import { NoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import { instantOf } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { type BoardStatus, CELL, NOT_MEASURED, partOf, STATES, VALUE_MOST } from './wire.js';

/** The time from one look to the next, ms. */
export const TICK_MS = 1000;
/** How many looks are kept, for requests about one of them. */
const KEPT_TICKS = 10;
/** How many nodes are copied at a time: as many as stay in the CPU's cache. */
const PIECE_NODES = 256;
/** How often a board is looked at again if it is replaced meanwhile. */
const TRIES = 3;

const UNKNOWN = STATES.indexOf('unknown');

/** A look. */
export interface WatcherTick {
  readonly seq: number;
  /** The wall clock, ms since 1970. */
  readonly nowMs: number;
  readonly state: BoardStatus;
  /** Identifies the nodes: the same number means the same names in the same order, but later looks may have more. */
  readonly roster: number;
  readonly count: number;
  /** For each of SCALES the cells of all nodes, in the order of the board; the buffer may be larger. */
  readonly cells: readonly Uint16Array[];
}

/** The value of a cell for a number. */
export function cellValue(scale: Pick<Scale, 'low' | 'high' | 'scale'>, number: number): number {
  return Number.isNaN(number) ? NOT_MEASURED : Math.round(partOf(scale, number) * VALUE_MOST);
}

/** Something that reads each node at each look, while the reports are at hand. */
export interface NodeConsumer {
  /**
   * The nodes of the piece begin at number `first`. Reads those from the piece's number `from` on, for SLICE_MS at most
   * where strangers have said what is computed; returns the number of the first one that is left.
   */
  ask(piece: Snapshot, first: number, from: number): number;
  /** Before the first piece of a look at so many nodes, whose numbers may mean other nodes than before. */
  begin(count: number, isAnother: boolean): void;
}

/** Has all nodes of a piece read; also one without nodes, which tells of its board. */
export async function evaluateAll(consumer: NodeConsumer, piece: Snapshot, first: number, slices: SlicedLook) {
  let from = 0;
  do {
    from = consumer.ask(piece, first, from);
    const pause = slices.next();
    if (pause !== undefined) await pause;
  } while (from < piece.count);
}

export class Watcher {
  readonly reader: BoardReader;
  /** The names of all nodes, in the order of the board. */
  names: string[] = [];
  /** Another number means another board, in which nodes have other numbers. */
  roster = 0;
  trouble: string | undefined;
  cluster: string | undefined;
  readonly consumers = new Set<NodeConsumer>();
  /** The last looks, the newest first. */
  readonly ticks: WatcherTick[] = [];
  readonly #cursor = new Cursor();
  #opened = 0;
  #seq = 0;

  constructor(path: string, owner?: number | string) {
    this.reader = new BoardReader(path, owner);
  }

  get last(): WatcherTick | undefined {
    return this.ticks[0];
  }

  tick(seq: number): WatcherTick | undefined {
    return this.ticks.find(tick => tick.seq === seq);
  }

  async look(): Promise<WatcherTick> {
    let tick: WatcherTick | undefined;
    for (let left = TRIES - 1; left >= 0 && tick === undefined; left--)
      try {
        tick = await this.#pass(left === 0);
      } catch (error) {
        if (!(error instanceof NoBoard)) throw error;
        tick = this.#blind(error);
      }
    this.ticks.unshift(tick as WatcherTick);
    return tick as WatcherTick;
  }

  /** Buffers for the cells of so many nodes: those of the oldest look, which is dropped. */
  #room(count: number): Uint16Array[] {
    const old = this.ticks.length >= KEPT_TICKS ? this.ticks.pop() : undefined;
    const size = old?.cells[0]?.length ?? 0;
    if (old !== undefined && size >= count && size <= 2 * count + PIECE_NODES) return [...old.cells];
    const room = count + (count >> 4);
    return SCALES.map(() => new Uint16Array(room));
  }

  /** What is shown without a board: the last cells, and all states unknown. */
  #blind(why: NoBoard): WatcherTick {
    const count = this.names.length;
    const { last } = this;
    const cells = this.#room(count);
    for (const [i, column] of cells.entries()) {
      const before = last?.cells[i];
      for (let node = 0; node < count; node++)
        column[node] = ((before?.[node] ?? NOT_MEASURED << CELL.valueShift) & ~15) | UNKNOWN;
    }
    this.trouble = why.message;
    const state = why.state === 'retired' ? 'retired' : 'absent';
    return { seq: ++this.#seq, nowMs: Date.now(), state, roster: this.roster, count, cells };
  }

  /** One pass over all nodes; undefined: another board has replaced this one meanwhile, unless this is the last try. */
  async #pass(isLast: boolean): Promise<WatcherTick | undefined> {
    const slices = new SlicedLook();
    let cells: Uint16Array[] | undefined;
    let [count, first] = [0, 0];
    let [state, nowMs]: [BoardStatus, number] = ['ok', 0];
    for (const piece of this.reader.pieces(PIECE_NODES)) {
      if (piece.retired && !isLast) return undefined;
      if (cells === undefined) {
        count = piece.total;
        this.#follow(piece);
        cells = this.#room(count);
        nowMs = instantOf(piece, 0);
        state = piece.retired ? 'retired' : !piece.stalled ? 'ok' : piece.closed ? 'closed' : 'stalled';
      }
      if (first + piece.count > this.names.length) this.names.push(...piece.names().slice(this.names.length - first));
      this.#encode(piece, Math.min(piece.count, count - first), first, cells);
      for (const consumer of this.consumers) await evaluateAll(consumer, piece, first, slices);
      first += piece.count;
      // A visitor that is added meanwhile begins at the next look.
      if (first >= count) break;
      const pause = slices.next();
      if (pause !== undefined) await pause;
    }
    this.trouble = undefined;
    return { seq: ++this.#seq, nowMs, state, roster: this.roster, count, cells: cells ?? this.#room(0) };
  }

  #follow(piece: Snapshot): void {
    const isAnother = this.reader.opened !== this.#opened;
    if (isAnother) {
      this.#opened = this.reader.opened;
      this.roster++;
      this.names = [];
      // The numbers of nodes mean other nodes in it.
      this.ticks.length = 0;
    }
    this.cluster = piece.header.cluster_name || undefined;
    for (const consumer of this.consumers) consumer.begin(piece.total, isAnother);
  }

  #encode(piece: Snapshot, nodes: number, first: number, cells: readonly Uint16Array[]): void {
    const cursor = this.#cursor;
    const { states, problems } = piece.overview;
    for (let i = 0; i < nodes; i++) {
      cursor.moveTo(piece, i);
      const low = (states[i] as number) | (problems[i] === 0 ? 0 : CELL.unhealthy);
      for (let s = 0; s < SCALES.length; s++) {
        const scale = SCALES[s] as Scale;
        (cells[s] as Uint16Array)[first + i] = (cellValue(scale, scale.take(cursor)) << CELL.valueShift) | low;
      }
    }
  }
}
