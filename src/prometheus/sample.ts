// Takes the numbers of nodes off a board, once for a scrape: a column for each series, since the format wants all nodes of one family
// together, and the board has all of a node together. Makes no objects for nodes.

import { structs } from '../layout/layout.gen.js';
import { Cursor } from '../readings/cursor.js';
import { NUMBERED } from '../shm/liveness.js';
import type { BoardReader } from '../shm/reader.js';
import type { NodeNames } from './names.js';
import type { Plan } from './plan.js';

/** Which nodes are asked for: all, or those of these names, and of these those of one shard of so many. */
export interface Selection {
  readonly names?: ReadonlySet<string> | undefined;
  /** From 1 on. */
  readonly shard: number;
  readonly shards: number;
}

export const EVERYBODY: Selection = { shard: 1, shards: 1 };

/** Nodes that are copied at a time: as many as stay in the cache. */
const PIECE_NODES = 256;

/** Samples' rooms that are kept: of one scrape at a time, mostly. */
const ROOMS = 2;

const { boot_id } = structs.report.fields;

/** What is known of a node in that state; see `Plan.kindOf`. */
const KNOWN = NUMBERED.map(state => (state === 'unknown' ? 0 : state === 'live' ? 3 : state === 'uncertain' ? 2 : 1));

/** What samples are made of, kept from one scrape to the next: to ask the system for it anew costs as much as to fill it. */
export class Rooms {
  readonly #free: { numbers: Float64Array; labels: Uint32Array }[] = [];

  take(numbers: number, labels: number): { numbers: Float64Array; labels: Uint32Array } {
    const at = this.#free.findIndex(room => room.numbers.length >= numbers && room.labels.length >= labels);
    const room = at < 0 ? { numbers: new Float64Array(numbers), labels: new Uint32Array(labels) } : this.#free[at];
    if (at >= 0) this.#free.splice(at, 1);
    return room as { numbers: Float64Array; labels: Uint32Array };
  }

  /** The largest are kept. */
  give({ numbers, labels }: Sample): void {
    this.#free.push({ numbers, labels });
    this.#free.sort((a, b) => b.numbers.length - a.numbers.length);
    this.#free.length = Math.min(this.#free.length, ROOMS);
  }
}

/** Numbers of some nodes: of row i in column c at `numbers[c * room + i]`; NaN: not known. */
export class Sample {
  rows = 0;
  readonly numbers: Float64Array;
  /** For each column of labels, which of `texts`; likewise. */
  readonly labels: Uint32Array;
  readonly texts: Uint8Array[] = [];
  /** The labels of the node of row i: from `starts[i]` to `ends[i]` of `names`. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;

  constructor(
    readonly room: number,
    readonly names: Uint8Array,
    plan: Plan,
    rooms: Rooms,
  ) {
    const length = room * plan.takes.length;
    const { numbers, labels } = rooms.take(length, room * plan.labels.length);
    this.numbers = numbers.fill(Number.NaN, 0, length);
    this.labels = labels;
    this.starts = new Uint32Array(room);
    this.ends = new Uint32Array(room);
  }
}

/** The numbers of rows that are wanted. */
function rowsOf({ names, hashes }: NodeNames, { names: wanted, shard, shards }: Selection): Uint32Array {
  const rows = new Uint32Array(names.length);
  let count = 0;
  for (let i = 0; i < names.length; i++) {
    if (shards > 1 && (hashes[i] as number) % shards !== shard - 1) continue;
    if (wanted !== undefined && !wanted.has(names[i] as string)) continue;
    rows[count++] = i;
  }
  return rows.subarray(0, count);
}

/**
 * Takes what the plan says of the nodes that are wanted; undefined where another board than the one of these names is there by now, or takes
 * its place meanwhile, unless `isLast` says that there is no other try.
 * Gives back the turn from time to time. Throws NoBoard.
 */
export function* takeSample(
  reader: BoardReader,
  names: NodeNames,
  plan: Plan,
  selection: Selection,
  rooms: Rooms,
  isLast = false,
): Generator<undefined, Sample | undefined> {
  const rows = rowsOf(names, selection);
  const taker = new Taker(plan, names, new Sample(rows.length, names.labels, plan, rooms));
  let next = 0;
  let first = 0;
  for (const snapshot of reader.pieces(PIECE_NODES)) {
    // All pieces are of the board of the first.
    if (first === 0 && reader.opened !== names.opened) return undefined;
    // Another has taken its place: of the nodes that follow nothing would be known.
    if (snapshot.retired && !isLast) return undefined;
    const end = first + snapshot.count;
    for (; next < rows.length && (rows[next] as number) < end; next++)
      taker.take(snapshot, (rows[next] as number) - first, rows[next] as number);
    first = end;
    if (next >= rows.length) break;
    yield undefined;
  }
  return taker.sample;
}

/** Takes one node after the other. */
class Taker {
  readonly #cursor = new Cursor();
  readonly #texts = new Map<string, number>();
  /** Those of the sample's labels: names that are added meanwhile come into others. */
  readonly #starts: Uint32Array;

  constructor(
    readonly plan: Plan,
    readonly names: NodeNames,
    readonly sample: Sample,
  ) {
    this.#starts = names.starts;
  }

  /** The node of number `index` of the snapshot, which is number `node` of the board. */
  take(snapshot: Parameters<Cursor['lay']>[0], index: number, node: number): void {
    const { plan, sample, names } = this;
    const cursor = this.#cursor;
    cursor.lay(snapshot, index);
    const row = sample.rows++;
    sample.starts[row] = this.#starts[node] as number;
    sample.ends[row] = this.#starts[node + 1] as number;
    const { view, report } = cursor;
    const known = KNOWN[snapshot.overview.states[index] as number] as number;
    const { columns, labels } = plan.kindOf(known, view, report, plan.hasRates && cursor.moving);
    const { numbers, room } = sample;
    const { takes, kept, per } = plan;
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i] as number;
      let number = (takes[column] as (cursor: Cursor) => number)(cursor);
      const keep = kept[column];
      if (keep !== undefined && !Number.isNaN(number)) number = names.keep(node, keep, bootOf(view, report), number);
      const divide = per[column];
      // Where there is nothing to divide by there is no mean.
      numbers[column * room + row] = divide === undefined ? number : number / (divide(cursor) || Number.NaN);
    }
    for (let i = 0; i < labels.length; i++) {
      const label = labels[i] as number;
      sample.labels[label * room + row] = this.#text((plan.labels[label] as (cursor: Cursor) => string)(cursor));
    }
  }

  #text(text: string): number {
    let number = this.#texts.get(text);
    if (number === undefined) {
      number = this.sample.texts.push(Buffer.from(text)) - 1;
      this.#texts.set(text, number);
    }
    return number;
  }
}

/** The boot of a report as a number that is another one for another boot: its 53 lowest bits suffice. */
function bootOf(view: DataView, report: number): number {
  return (
    (view.getUint32(report + boot_id.offset + 4, true) & 0x1fffff) * 2 ** 32 +
    view.getUint32(report + boot_id.offset, true)
  );
}
