// Which nodes fell silent together: for nodes that died one by one this is hardly ever said, for a rack that died at
// once always. With more trials: npm run test:long -- together.
//
// @rest

import t from 'tap';
import { fellTogether } from '../../src/changes/silences.js';
import { SEED, todayOf } from '../kit/whole.js';
import { chanceOf, falselySaid, rightlySaid } from './silences.js';

t.comment(`seed ${SEED}, another one by SEED=n`);
t.setTimeout(600_000);

t.test('nodes that die one by one', async t => {
  const clusters = [
    [3, 5, 1, 0],
    [12, 5, 1, 4],
    [200, 5, 1, 1],
    [30, 16, 1, 3],
    [200, 16, 1, 1],
    [60, 60, 1, 3],
    [200, 600, 1, 1],
    [30, 60, 10, 5],
    [100, 600, 10, 1],
  ] as const;
  for (const [count, overS, intervalS, most] of todayOf(clusters, 3)) {
    // With many nodes a trial takes longer, and has more chances to be wrong.
    const trials = count < 100 ? 200 : 20;
    const told = falselySaid(trials, count, overS, intervalS, chanceOf(SEED));
    t.ok(told <= most, `${count} over ${overS} s, which report every ${intervalS} s: told ${told} times of ${trials}`);
  }
});

t.test('a rack that dies at once', async t => {
  for (const [count, rate, least] of [
    [30, 0, 200],
    [30, 1, 200],
    [30, 3, 200],
    [12, 0, 200],
    [12, 0.2, 180],
    [8, 0, 200],
    [8, 0.05, 160],
    [6, 0, 200],
  ] as const) {
    const told = rightlySaid(200, count, rate, 1, chanceOf(SEED));
    t.ok(told >= least, `${count} nodes beside ${rate} others per interval: told ${told} times of 200`);
  }
});

/** Nodes whose last reports have these ages, s. */
const unheard = (ages: readonly number[], isSilent = true, intervalMs = 1000) =>
  ages.map(age => ({ ageMs: 1000 * age, intervalMs, isSilent }));
/** So many ages, spread evenly over one second from this age. */
const within = (count: number, age: number) => Array.from({ length: count }, (_, i) => age + i / count);
const sizes = (nodes: ReturnType<typeof unheard>) => fellTogether(nodes, 3).map(group => group.length);

t.test('the rule', async t => {
  t.same(sizes([]), []);
  t.same(sizes(unheard(within(5, 60))), [], 'five never are enough');
  t.same(sizes(unheard(within(6, 60))), [6]);
  t.same(sizes(unheard(within(10_000, 60))), [10_000]);
  t.same(sizes(unheard(new Array(30).fill(60))), [30], 'in one moment');
  t.same(sizes(unheard([...within(30, 60), ...within(30, 63)])), [30, 30], 'two racks, three seconds apart');
  // Each rack adds to the rate of deaths around the other, but in one window they are still too many for chance.
  for (const apart of [0.3, 0.7, 1, 1.3, 1.5, 1.8, 2, 2.5]) {
    const told = sizes(unheard([...within(30, 60), ...within(30, 60 + apart)])).reduce((sum, size) => sum + size, 0);
    t.ok(told >= 55, `two racks, ${apart} s apart: ${told} of 60`);
  }
  t.same(sizes(unheard([...within(30, 60), ...within(40, 7200)])), [40, 30], 'the largest first');
  t.same(sizes(unheard(within(4, 60).flatMap(age => within(10, 100 * age)))), [10, 10, 10], 'three at most');
  t.same(
    sizes([...unheard(within(30, 60)), ...unheard(within(12, 600), true, 10_000)]),
    [30, 12],
    'each by its own interval',
  );
  t.same(sizes(unheard(within(30, 600), true, 10_000)), [30]);
  t.same(sizes(unheard(within(30, 6), false)), [], 'not before they are silent');
  const dying = within(12, 10.5).flatMap((age, i) => [age, age - 1 - i / 4, age - 4 - i / 8]);
  t.same(sizes(unheard(dying.filter(age => age >= 10.5))), [12], 'by those alone that are silent');
  t.same(
    sizes(dying.map(age => ({ ageMs: 1000 * age, intervalMs: 1000, isSilent: age >= 10.5 }))),
    [],
    'but others go on dying',
  );
  // A burst of single deaths elsewhere, though larger than the rack, does not hide it.
  const burst = Array.from({ length: 400 }, (_, i) => 7200 + i / 40);
  t.same(sizes(unheard([...burst, ...within(30, 60)])), [30]);
});
