// How often nodes that died one by one are said to have fallen silent together, at any look, and how often a rack that
// died at once: the tables of docs/internals/liveness.md.

import t from 'tap';
import { chanceOf, falselySaid, rightlySaid } from './silences.js';

const SEED = Number(process.env.SEED ?? 20261123);
const TRIALS = Number(process.env.TRIALS ?? 400);
t.setTimeout(3_600_000);
t.comment(`SEED=${SEED} TRIALS=${TRIALS}`);

const percent = (told: number) => `${((100 * told) / TRIALS).toFixed(1)}`;

t.test('nodes that die one by one', async t => {
  const chance = chanceOf(SEED);
  const counts = [3, 6, 8, 12, 30, 60, 100, 200];
  for (const intervalS of [1, 10])
    for (const overS of [5, 16, 60, 600]) {
      const told = counts.map(count => falselySaid(TRIALS, count, overS, intervalS, chance));
      t.comment(`| ${intervalS} s | ${overS} s | ${told.map(percent).join(' | ')} |`);
      // Deaths can be told apart only if they are spread over several intervals.
      if (overS >= 5 * intervalS)
        t.ok(Math.max(...told) <= 0.03 * TRIALS, `over ${overS} s, at ${intervalS} s: at most 3 in 100`);
    }
});

t.test('a rack that dies at once', async t => {
  const chance = chanceOf(SEED);
  for (const rate of [0, 0.05, 0.2, 1, 3, 6]) {
    const told = [5, 8, 12, 30].map(count => rightlySaid(TRIALS, count, rate, 1, chance));
    t.comment(`| ${rate} | ${told.map(percent).join(' | ')} |`);
    if (rate <= 3) t.equal(told[3], TRIALS, `30 nodes beside ${rate} deaths per interval: always`);
  }
});
