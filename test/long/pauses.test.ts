// Pauses of the receiver as long as a machine may stand still: a minute, with a sampler that looks a thousand times a second.

import t from 'tap';
import { type Limits, pauseReceiver } from '../pausing.js';
import { MS, S } from '../sampler.js';

/** Reports so seldom that a minute of them waits in the smallest buffer that a kernel grants by itself. */
const rows: [rule: string, limits: Limits][] = [
  ['the usual limits', { uncertainAfter: 4500 * MS, silentAfter: 10_500 * MS, intervalMs: 1000 }],
  ['limits of a tenth', { uncertainAfter: 450 * MS, silentAfter: 1050 * MS, intervalMs: 1000 }],
  ['limits longer than the pause', { uncertainAfter: 90 * S, silentAfter: 120 * S, intervalMs: 1000 }],
];

t.jobs = rows.length;

rows.forEach(([rule, limits], i) => {
  // Nobody waits two minutes for a node to be silent.
  const patient = limits.silentAfter < 60 * S;
  t.test(`${i + 1}. a pause of 60 s, ${rule}`, { buffered: true }, t => pauseReceiver(t, 60 * S, limits, { patient }));
});
