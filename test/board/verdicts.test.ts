// The verdicts about a thousand nodes on a small scale: nodes that die, reports that are lost, a master that stands
// still or is killed. Judged by the board's own times, so that a slow machine changes nothing. Clocks that step are in
// receiver/pauses; the figures come from `npm run test:long -- liveness`; see docs/internals/liveness.md.
//
// @seconds 18
// @rest
// @days 3

import t from 'tap';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { S } from '../kit/sampler.js';
import { SEED } from '../kit/whole.js';
import {
  comingUp,
  dying,
  expectedSilences,
  losing,
  pausing,
  poissonBounds,
  QUICK,
  runsLeftOut,
  runToSilence,
  type Setting,
  starving,
  USUAL,
} from './watching.js';

const NODES = 500;
const DEAD = 50;

let port = 9000;
/** Five hundred nodes and their own port. */
const setting = (more: Partial<Setting> = {}): Setting => ({
  limits: QUICK,
  count: NODES,
  address: `127.0.0.1:${port++}`,
  ...more,
});

function arithmetic(): void {
  t.test('how many false silences there are by arithmetic, and in the reports that load leaves out', async t => {
    t.same([runToSilence(USUAL), runToSilence(QUICK)], [10, 10], 'ten in a row, whatever the interval');
    t.ok(Math.abs(expectedSilences(1e6, 0.3, 10) - 4.13) < 0.01);
    t.same(poissonBounds(4.13), [0, 14]);
    const [reports, loss] = [5e6, 0.4];
    const [least, most] = poissonBounds(expectedSilences(reports, loss, 10));
    const runs = runsLeftOut(SEED, loss, NODES, reports, 10);
    t.ok(runs >= least && runs <= most, `${runs} runs, ${least} to ${most} were to be expected`);
  });
}

function scenes(): void {
  t.test('nodes that die, at one report a second and the usual limits', { buffered: true }, async t => {
    await dying(t, setting({ limits: USUAL, dying: DEAD }));
  });
  t.test('the whole master stands still, until it is stalled', { buffered: true }, async t => {
    await pausing(t, setting({ dying: DEAD }), 'master', 4 * S);
  });
  t.test('the receiver is killed and started again', { buffered: true }, async t => {
    await pausing(t, setting({ dying: DEAD }), 'killed', 2 * S);
  });
  for (const [percent, seconds] of [
    [20, 5],
    [50, 5],
  ] as const)
    t.test(`${percent} % of the reports are lost`, { buffered: true }, async t => {
      const load = ['--loss', `${percent}%`, '--seed', String(SEED)];
      const { falsely, watched, nodeIntervals, drops } = await losing(t, setting({ load }), seconds * S);
      t.equal(nodeIntervals, NODES * 10 * seconds);
      const runs = runsLeftOut(SEED, percent / 100, NODES, nodeIntervals, 10);
      // A report that nobody looked at hides the gap before it.
      if (drops === 0 && watched.unseen === 0)
        t.equal(watched.gaps.length, runs, 'what load left out is what the board misses');
      t.comment(`${falsely.length} silences, ${runs} runs, ${drops} drops`);
      if (percent <= 20) t.equal(falsely.length, 0, 'nobody is falsely silent');
      else t.ok(falsely.length > 0, 'and it can be seen');
    });
  t.test('ten thousand nodes come up at once', { buffered: true }, async t => {
    await comingUp(t, 10_000, `127.0.0.1:${port++}`);
  });
  t.test('a sender that stands still again and again says how late it is', { buffered: true }, async t => {
    await starving(t, {}, { times: 6, intervalMs: 200, seed: SEED });
  });
}

t.jobs = 5;
t.comment(`SEED=${SEED}`);

if (INSIDE) scenes();
else {
  arithmetic();
  inOwnNetwork(t, 'ip link set lo up', import.meta.url, 'scenes');
}
