// Reads the numbers of nodes from a board, once for a scrape: a column for each series, because the format wants all
// nodes of a family together, and the board has all values of a node together. Makes no objects for nodes.

import { structs } from '../layout/layout.gen.js';
import { Cursor } from '../readings/cursor.js';
import { NUMBERED } from '../shm/liveness.js';
import type { BoardReader } from '../shm/reader.js';
import { getOrInsert } from '../text/maps.js';
import type { NodeNames } from './names.js';
import type { ScrapePlan } from './plan.js';

/** The requested nodes: all, or those of these names; and of these, one shard of so many. */
export interface SampleSelection {
  readonly names?: Pick<ReadonlySet<string>, 'has' | 'size'> | undefined;
  /** Counted from 1. */
  readonly shard: number;
  readonly shards: number;
}

/** How many nodes are copied at a time: as many as stay in the CPU's cache. */
const PIECE_NODES = 256;
/** How many names are looked for in a list before others get their turn. */
const CHOSEN_AT_ONCE = 64;

/** How many buffers are kept: mostly there is one scrape at a time. */
const POOLED = 2;

const { boot_id } = structs.report.fields;

/** What is known about a node in that state; see `ScrapePlan.kindOf`. */
const KNOWN = NUMBERED.map(state => (state === 'unknown' ? 0 : state === 'live' ? 3 : state === 'uncertain' ? 2 : 1));

/** Buffers for samples, kept from one scrape to the next: new memory from the system costs as much as filling it. */
export class BufferPool {
  readonly #free: { numbers: Float64Array; labels: Uint32Array }[] = [];

  take(numbers: number, labels: number): { numbers: Float64Array; labels: Uint32Array } {
    const at = this.#free.findIndex(one => one.numbers.length >= numbers && one.labels.length >= labels);
    const found = at < 0 ? { numbers: new Float64Array(numbers), labels: new Uint32Array(labels) } : this.#free[at];
    if (at >= 0) this.#free.splice(at, 1);
    return found as { numbers: Float64Array; labels: Uint32Array };
  }

  give({ numbers, labels }: Sample): void {
    this.#free.push({ numbers, labels });
    this.#free.sort((a, b) => b.numbers.length - a.numbers.length);
    this.#free.length = Math.min(this.#free.length, POOLED);
  }
}

/** The numbers of some nodes: row i of column c is at `numbers[c * room + i]`; NaN: unknown. */
export class Sample {
  rows = 0;
  readonly numbers: Float64Array;
  /** For each column of labels, the index into `texts`; in the same layout. */
  readonly labels: Uint32Array;
  readonly texts: Uint8Array[] = [];
  /** The labels of the node of row i: from `starts[i]` to `ends[i]` of `names`. */
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;

  constructor(
    readonly room: number,
    readonly names: Uint8Array,
    plan: ScrapePlan,
    pool: BufferPool,
  ) {
    const length = room * plan.takes.length;
    const { numbers, labels } = pool.take(length, room * plan.labels.length);
    this.numbers = numbers.fill(Number.NaN, 0, length);
    this.labels = labels;
    this.starts = new Uint32Array(room);
    this.ends = new Uint32Array(room);
  }
}

function* rowsOf(
  { names, hashes }: NodeNames,
  { names: wanted, shard, shards }: SampleSelection,
): Generator<undefined, Uint32Array> {
  const rows = new Uint32Array(names.length);
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    // A list may have a thousand ranges, in each of which a name is looked for.
    if (i % CHOSEN_AT_ONCE === 0) yield undefined;
    if (shards > 1 && (hashes[i] as number) % shards !== shard - 1) continue;
    if (wanted !== undefined && !wanted.has(names[i] as string)) continue;
    rows[count++] = i;
  }
  return rows.subarray(0, count);
}

/**
 * Reads the plan's values for the requested nodes; undefined if the board of these names was replaced before or
 * meanwhile, unless `isLast` says that there is no further try. Yields to the event loop from time to time. Throws
 * NoBoard.
 */
export function* takeSample(
  reader: BoardReader,
  names: NodeNames,
  plan: ScrapePlan,
  selection: SampleSelection,
  pool: BufferPool,
  isLast = false,
): Generator<undefined, Sample | undefined> {
  const rows = yield* rowsOf(names, selection);
  const taker = new Taker(plan, names, new Sample(rows.length, names.labels, plan, pool));
  let next = 0;
  let first = 0;
  for (const snapshot of reader.pieces(PIECE_NODES)) {
    // All pieces are of the same board as the first one.
    if (first === 0 && reader.opened !== names.opened) return undefined;
    // The board was replaced: nothing would be known about the nodes that follow.
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

class Taker {
  readonly #cursor = new Cursor();
  readonly #texts = new Map<string, number>();
  /** The names for the sample's labels: names that are added meanwhile are stored elsewhere. */
  readonly #starts: Uint32Array;

  constructor(
    readonly plan: ScrapePlan,
    readonly names: NodeNames,
    readonly sample: Sample,
  ) {
    this.#starts = names.starts;
  }

  /** Reads the node of number `index` of the snapshot, which is number `node` of the board. */
  take(snapshot: Parameters<Cursor['moveTo']>[0], index: number, node: number): void {
    const { plan, sample, names } = this;
    const cursor = this.#cursor;
    cursor.moveTo(snapshot, index);
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
      if (keep !== undefined && !Number.isNaN(number))
        number = names.keep(node, keep, bootOf(view, report), number, keep.epoch?.take(cursor));
      const divide = per[column];
      // Without a divisor there is no mean.
      numbers[column * room + row] = divide === undefined ? number : number / (divide(cursor) || Number.NaN);
    }
    for (let i = 0; i < labels.length; i++) {
      const label = labels[i] as number;
      sample.labels[label * room + row] = this.#text((plan.labels[label] as (cursor: Cursor) => string)(cursor));
    }
  }

  #text(text: string): number {
    return getOrInsert(this.#texts, text, () => this.sample.texts.push(Buffer.from(text)) - 1);
  }
}

/**
 * The boot of a report as a number that differs from boot to boot: its 53 lowest bits suffice. NaN, which equals
 * nothing: the node could not read its boot id, so nothing can be kept for it.
 */
function bootOf(view: DataView, report: number): number {
  const high = view.getUint32(report + boot_id.offset + 4, true) & 0x1fffff;
  return high * 2 ** 32 + view.getUint32(report + boot_id.offset, true) || Number.NaN;
}
