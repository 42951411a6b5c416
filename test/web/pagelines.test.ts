// A page behind a slow line: it never says that it is live while what it shows is old, it takes as much as the line
// carries, and all again when the line is better. More lines, and proxies: pagelines.long.test.ts.
//
// @seconds 60
// @waits
// @rest
// @days 3

import t from 'tap';
import { Pace } from '../../src/web/page/pace.js';
import { NO_BROWSER } from '../kit/browser.js';
import { behindLines } from './behindlines.js';

t.test('how old a look is follows from the clocks, and the interval from that', async t => {
  const pace = new Pace();
  t.equal(pace.age(0), undefined);
  // The server's clock is an hour ahead, and a second of the way was its answer's.
  pace.measured(1000, 3000, 3_601_000);
  t.equal(pace.serverMs(3000), 3_602_500);
  pace.measured(4000, 4020, 3_604_010);
  pace.measured(5000, 9000, 3_607_000);
  t.equal(pace.serverMs(5000), 3_605_000, 'the shortest way tells best');
  pace.measured(10_000, 10_100, 10_050);
  t.equal(pace.serverMs(10_000), 10_000, 'and a clock that was set counts at once');
  pace.opened();
  pace.looked(10_000, 10_100);
  let now = 10_100;
  /** A look each second for so long, each so late. */
  const lasts = (seconds: number, late: number) => {
    for (let i = 0; i < seconds; i++) {
      now += 1000;
      if ((now - 10_100) % (1000 * pace.every) === 0) pace.looked(now - late, now);
      const wanted = pace.wanted(now);
      if (wanted !== undefined) {
        pace.opened(wanted);
        pace.looked(now - Math.min(late, 700), now);
      }
    }
    return pace.every;
  };
  t.equal(lasts(60, 100), 1);
  t.equal(pace.behind(now), undefined);
  t.equal(pace.behind(now + 4000), 4);
  t.ok(lasts(2, 9500) > 1, '9 s late: opened anew');
  t.equal(lasts(60, 100), 1, 'and at once again when the line can do more');
  // The wall clock and one that nobody sets, ms; and how far the page's clock has come.
  for (const [wall, steady, passed] of [
    [10_000, 4000, 0],
    [3_611_000, 5000, 3_601_000], // It slept.
    [11_000, 5000, 3_601_000], // The wall clock was set back, and nothing is younger for that.
    [31_000, 25_000, 3_621_000],
    [92_000, 26_000, 3_682_000], // It slept again.
  ] as const)
    t.equal(pace.now(wall, steady) - 10_000, passed);
});

t.test('a page behind a slow line', { skip: NO_BROWSER ?? false }, t =>
  behindLines(t, { nodes: 'rack[1-40]n[01-50]', rates: [2000], loadsAt: 10_000_000, seconds: 30 }),
);
