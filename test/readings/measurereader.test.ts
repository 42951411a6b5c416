// Numbers that the addon reads for renderers, compared with the same numbers taken one by one, on random reports; and
// what is no number of a report.
//
// @rest

import fc from 'fast-check';
import t from 'tap';
import { type Encodable, encode } from '../../src/layout/codec.js';
import { structs } from '../../src/layout/layout.gen.js';
import { ALWAYS, extractor, GATHERED } from '../../src/native/index.js';
import { Cursor } from '../../src/readings/cursor.js';
import { MeasureReader } from '../../src/readings/measurereader.js';
import { field, type Measure, map, rate, share, taken, times, traffic } from '../../src/readings/measures.js';
import { readingNames, readingOf } from '../../src/readings/readings.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { type MadeNode, madeBoard, S } from '../kit/madeboard.js';
import { SEED } from '../kit/whole.js';

t.comment(`seed ${SEED}`);

const READINGS = readingNames().flatMap(name => {
  const { measure } = readingOf(name) ?? {};
  return measure === undefined ? [] : [[name, measure] as const];
});
/** Each reading alone, in a smaller and in a larger unit, in one that is no round part, and as something computed. */
const MEASURES: readonly (readonly [name: string, measure: Measure])[] = [
  ...READINGS,
  ...READINGS.map(([name, measure]) => [`${name} * 1024`, times(measure, 1024)] as const),
  ...READINGS.map(([name, measure]) => [`${name} / 1000`, times(measure, 0.001)] as const),
  ...READINGS.map(([name, measure]) => [`${name} * 0.3`, times(times(measure, 3), 0.1)] as const),
  ...READINGS.map(([name, measure]) => [`${name} + 1`, map(measure, value => value + 1)] as const),
  ['all that is system time', share('softirq', 'system', 'irq')],
  ['packets', traffic('tx_packets')],
];

/** What the addon says of a node, and what is taken one by one; the values that differ. */
function differences(snapshot: Snapshot, index: number): string[] {
  const values = new Float64Array(MEASURES.length + 1).fill(-7);
  const gathering = new MeasureReader(
    MEASURES.map(([, measure]) => measure),
    values,
  );
  const [one, other] = [new Cursor(), new Cursor()];
  one.moveTo(snapshot, index);
  other.moveTo(snapshot, index);
  if (one.report < 0) return [];
  const { buffer, byteOffset, byteLength } = one.view;
  gathering.read(one, new Uint8Array(buffer, byteOffset, byteLength));
  const wrong = MEASURES.flatMap(([name, measure], i) => {
    const expected = taken(measure, other);
    return Object.is(values[i], expected) ? [] : [`${name}: ${values[i]}, not ${expected}`];
  });
  return values.at(-1) === -7 ? wrong : ['the number behind the last one was changed'];
}

// Few values, so that equal names, counters that go back and unchanged counters are frequent.
const wide = fc.constantFrom(0n, 1n, 5_000_000_000n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n);
const narrow = fc.constantFrom(0, 1, 1000, 2 ** 31, 2 ** 32 - 1);
const entry = (...names: string[]) =>
  fc.record({
    name: fc.constantFrom(...names),
    rx_bytes: wide,
    tx_bytes: wide,
    rx_packets: wide,
    tx_packets: wide,
    errors: narrow,
    state: fc.constantFrom(3, 0x1_0003, 0x2_0003),
  });
/** Fields that rules refer to; the bytes of all others are random. */
const ruled = (...seconds: bigint[]): fc.Arbitrary<Encodable<'report'>> =>
  fc.record(
    {
      valid: fc.constantFrom(2n ** 64n - 1n, 2n ** 64n - 1n, 0n, 0x5555_5555_5555_5555n, 0xaaaa_aaaa_aaaa_aaaan),
      boot_id: fc.constantFrom(7n, 7n, 7n, 8n),
      start_boot_ns: fc.constantFrom(5n * S, 5n * S, 6n * S),
      t_boot_ns: fc.constantFrom(...seconds).map(second => second * S),
      slow_boot_ns: fc.constantFrom(...seconds).map(second => second * S),
      cpus_online: fc.constantFrom(64, 64, 65),
      cpu_idle_ms: wide,
      cpu_user_ms: wide,
      gpu_count: fc.nat(9),
      net: fc.array(entry('', 'eth0', 'eth1', 'a-name-of-15-by'), { maxLength: 4 }),
      net_rest: entry('', 'rest'),
      fabric: entry('fabric', 'fabric', ''),
    },
    { requiredKeys: ['boot_id', 't_boot_ns', 'slow_boot_ns'] },
  );

interface Two {
  random: readonly [Uint8Array, Uint8Array];
  before: Encodable<'report'> | undefined;
  after: Encodable<'report'>;
}
const random = fc.uint8Array({ minLength: structs.report.bytes, maxLength: structs.report.bytes });
const two: fc.Arbitrary<Two> = fc.record({
  random: fc.oneof(
    fc.tuple(random, random),
    // Counters that stand still.
    random.map(bytes => [bytes, bytes] as const),
  ),
  before: fc.option(ruled(1000n, 1001n), { nil: undefined, freq: 8 }),
  after: ruled(1001n, 1003n, 1003n),
});

/** A board of one node with these reports. */
function boardOf({ random: [first, last], before, after }: Two): Snapshot {
  const node: MadeNode = { name: 'n1', age: 0.5, report: after, ...(before && { before }) };
  const snapshot = madeBoard([node]);
  const { view } = snapshot;
  const { record, slot } = structs;
  const at = snapshot.recordWord(0) * 4 + record.bytes;
  for (const [i, bytes, values] of [
    [0, first, before],
    [1, last, after],
  ] as const) {
    if (values === undefined) continue;
    const report = at + i * slot.bytes + slot.fields.report.offset;
    new Uint8Array(view.buffer, view.byteOffset + report, bytes.length).set(bytes);
    encode('report', view, report, { hostname: 'n1', ...values });
  }
  return snapshot;
}

t.test('the same numbers, for every reading', async t => {
  const count = MEASURES.filter(([, { take }]) => take.plain !== undefined).length;
  t.ok(count > MEASURES.length / 3, `${count} of ${MEASURES.length} are read by the addon`);
  const kinds = new Set(MEASURES.map(([, { take }]) => take.plain?.kind));
  t.strictSame([...kinds].sort(), ['bit', 'field', 'rate', 'share', 'traffic', undefined]);
  let rates = 0;
  fc.assert(
    fc.property(two, made => {
      const snapshot = boardOf(made);
      const cursor = new Cursor();
      cursor.moveTo(snapshot, 0);
      if (cursor.moving) rates++;
      const wrong = differences(snapshot, 0);
      if (wrong.length > 0) throw new Error(wrong.join('\n'));
    }),
    { seed: SEED, numRuns: 2000 },
  );
  t.ok(rates > 500, `${rates} pairs with rates`);
});

t.test('a measure that is computed from a plain one is not plain', async t => {
  const plain = field('runnable');
  t.ok(plain.take.plain);
  t.equal({ ...plain, take: map(plain, value => value).take }.take.plain, undefined);
  t.strictSame(times(field('load1_c', 0.01), 100).take.plain, field('load1_c', 1).take.plain);
  t.equal(times(plain, 1), plain);
  t.equal(times(rate('ctxt', 2), 3).take.plain?.factor, 6);
  // A sum of two keeps both, in every unit.
  const disk = readingOf('disk')?.measure as Measure;
  const counters = { valid: 2n ** 64n - 1n, net: [], disk_read_bytes: 0, disk_write_bytes: 0 };
  const board = madeBoard([
    { name: 'n1', age: 0.5, before: counters, report: { ...counters, disk_read_bytes: 3000, disk_write_bytes: 4000 } },
  ]);
  const cursor = new Cursor();
  cursor.moveTo(board, 0);
  t.strictSame([taken(disk, cursor), taken(times(disk, 0.001), cursor)], [7000, 7]);
});

t.test('what is no number of a report', async t => {
  const { bytes } = structs.report;
  const kind = (name: (typeof GATHERED)[number]) => GATHERED.indexOf(name);
  const gather = (...row: number[]) => extractor(Uint32Array.from(row), Float64Array.of(1, 0), new Float64Array(2));
  const last = gather(kind('u32'), bytes - 4, ALWAYS, 0, 0, 1);
  for (const [what, ...row] of [
    ['another kind', GATHERED.length, 0, ALWAYS, 0, 0, 0],
    ['behind the report', kind('u32'), bytes - 3, ALWAYS, 0, 0, 0],
    ['far behind it', kind('u64'), 2 ** 32 - 4, ALWAYS, 0, 0, 0],
    ['a bit behind it', kind('bit'), bytes * 8, ALWAYS, 0, 0, 0],
    ['a counter behind it', kind('rate_u64'), bytes - 7, ALWAYS, 0, 0, 0],
    ['no such set', kind('u8'), 0, 64, 0, 0, 0],
    ['no such kind of CPU time', kind('share'), 256, ALWAYS, 0, 0, 0],
    ['no such traffic', kind('traffic'), 4, ALWAYS, 0, 0, 0],
    ['no such place', kind('u8'), 0, ALWAYS, 0, 0, 2],
  ] as [what: string, ...row: number[]][])
    t.throws(() => gather(...row), TypeError, what);
  t.throws(() => extractor(new Uint32Array(12), Float64Array.of(1, 0), new Float64Array(2)), TypeError, 'no scale');
  const memory = new Uint8Array(2 * bytes + 8);
  memory.set([1, 2, 3, 4], bytes - 4);
  t.doesNotThrow(() => last(memory, -1, 0));
  for (const [what, error, before, after] of [
    ['a report that ends behind the memory', RangeError, -1, bytes + 16],
    ['one before it', RangeError, -1, -8],
    ['none', RangeError, -1, Number.NaN],
    ['an earlier one that is not there', RangeError, bytes + 16, 0],
    ['one at an odd place', TypeError, -1, 4],
  ] as const)
    t.throws(() => last(memory, before, after), error, what);
});
