// The sender in TypeScript through stops of all kinds: see stops.ts.
//
// @seconds 22
// @waits
// @rest

import t from 'tap';
import { stopTests } from './stops.js';

t.setTimeout(600_000);
// They sleep most of the time.
t.jobs = 5;
stopTests(t);
