// The receiver is stopped for a minute, as long as a machine may be suspended, with a sampler that looks a thousand
// times a second.

import t from 'tap';
import { type Limits, pauseReceiver } from '../kit/pausing.js';
import { MS, S } from '../kit/sampler.js';

/** The interval is so long that the reports of a minute fit in a socket buffer of the kernel's default size. */
const rows: [rule: string, limits: Limits][] = [
  ['the usual limits', { uncertainAfter: 4500 * MS, silentAfter: 10_500 * MS, intervalMs: 1000 }],
  ['limits of a tenth', { uncertainAfter: 450 * MS, silentAfter: 1050 * MS, intervalMs: 1000 }],
  ['limits longer than the pause', { uncertainAfter: 90 * S, silentAfter: 120 * S, intervalMs: 1000 }],
];

t.jobs = rows.length;

rows.forEach(([rule, limits], i) => {
  // With the longest limits the test does not wait until a node is silent.
  const patient = limits.silentAfter < 60 * S;
  t.test(`${i + 1}. a pause of 60 s, ${rule}`, { buffered: true }, t => pauseReceiver(t, 60 * S, limits, { patient }));
});
