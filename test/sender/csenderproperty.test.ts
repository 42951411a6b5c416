// Both senders with the same corrupt trees: whatever is wrong with a file, they leave out the same readings, and log
// the same. The C sender is built to end at the first access outside of an object.
//
// @seconds 5
// @shared 34
// @whole
// @days 3

import fc from 'fast-check';
import t from 'tap';
import { compileSender, SANITIZED } from '../kit/compiling.js';
import { NOBODY, noOrdinaryUser, ROOT_USER } from '../kit/ordinary.js';
import { machines } from '../kit/tree.js';
import { differences, harms, Patient, pretences } from '../kit/twosenders.js';
import { partOf } from '../kit/whole.js';

const SEED = Number(process.env.SEED ?? 71);
const RUNS = Number(process.env.RUNS ?? 6);

t.comment(`seed ${SEED}, another one by SEED=n; RUNS=${RUNS} for each machine`);
t.setTimeout(300_000 + RUNS * 10_000);
const sender = compileSender(t, SANITIZED);

for (const machine of partOf(machines(), 4, SEED))
  t.test(`${machine}, spoiled`, async t => {
    const patient = new Patient(t, machine);
    await fc.assert(
      fc.asyncProperty(harms, async all => {
        patient.harm(all);
        const { c, ts } = await patient.ask(sender).finally(() => patient.heal());
        const found = differences(c, ts);
        if (found.length > 0) throw new Error([...patient.tell(all), ...found].join('\n'));
      }),
      { seed: SEED, numRuns: RUNS },
    );
    const { c, ts } = await patient.ask(sender);
    t.strictSame(c, ts, 'and when all is well again');
  });

t.test(
  'read by a user who may not read everything',
  { skip: ROOT_USER ? noOrdinaryUser() : 'needs root, to become another' },
  async t => {
    const patient = new Patient(t, 'two-sockets');
    const locked = harms.map(all => all.map((harm, i) => (i % 2 === 0 ? { ...harm, kind: 'locked' as const } : harm)));
    await fc.assert(
      fc.asyncProperty(locked, async all => {
        patient.harm(all);
        const { c, ts } = await patient.ask(sender, NOBODY).finally(() => patient.heal());
        const found = differences(c, ts);
        if (found.length > 0) throw new Error([...patient.tell(all), ...found].join('\n'));
      }),
      { seed: SEED, numRuns: RUNS },
    );
  },
);

t.test('what a pretend file may say', async t => {
  const patient = new Patient(t, 'vm');
  const refused = { both: 0 };
  await fc.assert(
    fc.asyncProperty(pretences, async changes => {
      patient.pretend(changes);
      const { c, ts } = await patient.ask(sender).finally(() => patient.heal());
      // Both reject an invalid pretend file with one line, each in its own words.
      const line = /^\S+pretend\.toml:.*\n$/;
      if (c.code === 2 && ts.code === 2 && line.test(c.said) && line.test(ts.said)) refused.both++;
      else {
        const found = differences(c, ts);
        if (found.length > 0) throw new Error(found.join('\n'));
      }
    }),
    { seed: SEED, numRuns: 3 * RUNS },
  );
  t.comment(`${refused.both} refused`);
  t.ok(refused.both < 3 * RUNS);
});
