// Median, median absolute deviation and the distance in units of it, and the table of what is compared.
//
// @seconds 1

import t from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { deviation, deviations, findMiddle, floorAt, median } from '../../src/outliers/deviation.js';
import { COMPARED, type Compared, measureOf } from '../../src/outliers/readings.js';
import { readingOf } from '../../src/readings/readings.js';

const of = (more: Partial<Compared>): Compared => ({
  ...{ reading: 'x', label: 'x', class: 'condition', direction: 'both', floor: 0, floorShare: 0, why: '' },
  ...more,
});

t.test('the median is that of the sorted values, in any order and with equal ones', async t => {
  const seed = Number(process.env.SEED ?? 1);
  t.comment(`SEED=${seed}`);
  const next = random(seed);
  for (let round = 0; round < 500; round++) {
    const values = Float64Array.from({ length: 1 + Math.floor(next() * 70) }, () => Math.floor(next() * 30) - 9);
    const sorted = [...values].sort((a, b) => a - b);
    const [a = 0, b = 0] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
    if (median(values) !== (a + b) / 2) t.fail(`of ${sorted.join()}`);
  }
  t.ok(Number.isNaN(median(new Float64Array(0))));
  t.equal(median(Float64Array.of(3, 1, 99), 2), 2, 'only the first two');
});

t.test('the unit is the deviation of the values, but never below the floor', async t => {
  const middle = { count: 0, median: 0, unit: 0 };
  const values = Float64Array.of(10, 12, Number.NaN, 14, 16, 90);
  findMiddle(of({ floor: 1 }), values, 6, new Float64Array(6), middle);
  t.match(middle, { count: 5, median: 14 });
  t.ok(Math.abs(middle.unit - 2 * 1.4826) < 1e-9, 'the odd one does not move it');
  findMiddle(of({ floor: 1, floorShare: 0.5 }), values, 6, new Float64Array(6), middle);
  t.equal(middle.unit, 7, 'a share of the median');
  t.equal(floorAt(of({ floor: 8, floorShare: 0.5 }), -14), 8, 'whichever is more');
  t.same(values, Float64Array.of(10, 12, Number.NaN, 14, 16, 90), 'the values stay');
});

t.test('a distance is positive on the bad side', async t => {
  const middle = { count: 4, median: 10, unit: 2 };
  const tables = [
    ['low', 4, 3],
    ['low', 16, -3],
    ['high', 16, 3],
    ['high', 4, -3],
    ['both', 4, 3],
    ['both', 16, 3],
    ['low', 10, 0],
  ] as const;
  for (const [direction, value, expected] of tables)
    t.equal(deviation(of({ direction }), value, middle), expected, `${direction}: ${value}`);
  t.equal(deviation(of({}), 10, { count: 5, median: 10, unit: 0 }), 0, 'equal values without a floor');
  t.ok(Number.isNaN(deviation(of({}), 10, { ...middle, count: 1 })), 'alone there is no distance');
  for (const direction of ['low', 'high', 'both'] as const)
    t.ok(Number.isNaN(deviation(of({ direction }), Number.NaN, middle)), `${direction}: not measured`);
});

t.test('"8 %, others 97 %"', async t => {
  const cpu = COMPARED.find(({ reading }) => reading === 'cpu') as Compared;
  const { each, middle } = deviations(cpu, Float64Array.of(97, 96, 8, 98, Number.NaN, 97));
  t.match(middle, { count: 5, median: 97, unit: 5 });
  t.same([...each], [0, 0.2, 17.8, 0.2, Number.NaN, 0]);
});

t.test('each reading of the table is one of a node, and has a floor where it can be', async t => {
  for (const compared of COMPARED) {
    const { reading, floor, floorShare, atEqual } = compared;
    t.ok(readingOf(reading) && measureOf(compared), reading);
    t.ok(floor > 0 || floorShare > 0, `${reading} has a floor`);
    if (atEqual !== undefined)
      t.ok(
        COMPARED.some(other => other.reading === atEqual),
        `${atEqual} is read, too`,
      );
  }
  t.equal(new Set(COMPARED.map(({ reading }) => reading)).size, COMPARED.length);
});
