// Reads many numbers of one node after another: by the addon, with one call for each node, what is only read and scaled.
// A few numbers of one node are taken one by one (measures.ts).

import { structs } from '../layout/layout.gen.js';
import { ALWAYS, type Extract, extractor, GATHERED } from '../native/index.js';
import type { Cursor } from './cursor.js';
import { type Measure, type Plain, taken } from './measures.js';
import { perOf } from './units.js';

const VALID = structs.report.fields.valid.offset;

type GatheredKind = (typeof GATHERED)[number];

/** The kind of a number, and where it lies; of a rate also two rules. */
function described(plain: Plain): [kind: GatheredKind, at: number, slow?: boolean, ofRun?: boolean] {
  switch (plain.kind) {
    case 'field':
      return [plain.type as GatheredKind, plain.offset];
    case 'bit':
      return ['bit', plain.offset * 8 + plain.place];
    case 'rate': {
      const { offset, wide, slow, ofRun } = plain.counter;
      return [wide ? 'rate_u64' : 'rate_u32', offset, slow, ofRun];
    }
    case 'share':
      return ['share', plain.places.reduce((mask, place) => mask | (1 << place), 0)];
    case 'traffic':
      return ['traffic', plain.place];
  }
}

/** Reads measures of nodes, each into its place. */
export class MeasureReader<C extends Cursor> {
  readonly #gather: Extract;
  readonly #values: Float64Array;
  /**
   * The measures that are more than plain numbers, and their places. All have the same properties in the same order,
   * because the engine then finds them faster.
   */
  readonly #others: readonly (Measure<C> & { place: number })[];

  /** The value of a measure goes to its own place among `values`, of which there may be more. */
  constructor(measures: readonly Measure<C>[], values: Float64Array) {
    const rows: number[] = [];
    const scales: number[] = [];
    const others: (Measure<C> & { place: number })[] = [];
    measures.forEach(({ set, rate, ofRecord, take }, place) => {
      if (take.plain === undefined) {
        others.push({ place, set, rate, ofRecord, take });
        return;
      }
      const [kind, at, slow = false, ofRun = false] = described(take.plain);
      const number = set === undefined ? ALWAYS : (set.word - VALID) * 8 + 31 - Math.clz32(set.mask);
      rows.push(GATHERED.indexOf(kind), at, number, Number(slow), Number(ofRun), place);
      scales.push(take.plain.factor, perOf(take.plain.factor));
    });
    this.#others = others;
    this.#values = values;
    this.#gather = extractor(Uint32Array.from(rows), Float64Array.from(scales), values);
  }

  /** Reads those of a node that has a report; NaN: unknown. `bytes` is the cursor's memory. */
  read(cursor: C, bytes: Uint8Array): void {
    this.#gather(bytes, cursor.before, cursor.report);
    for (const other of this.#others) this.#values[other.place] = taken(other, cursor);
  }
}
