// The sender in C, as it is installed, is stopped again and again for a minute: see test/sender/stops.ts. Not part of
// `npm test`.
//   npm run test:long -- csenderstops         SEED=n repeats a run

import t from 'tap';
import { compileSender } from '../kit/compiling.js';
import { stopTests } from './stops.js';

t.setTimeout(300_000);
t.jobs = 5;
process.env.SEED ??= String(Date.now() % 1_000_000);
stopTests(t, compileSender(t), 60);
