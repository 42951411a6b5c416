// The same as ledger.test.ts with thousands of clusters, and with segments of a few lines in half of them: of these some
// fail still, as seed 20798 does. A daemon that is killed within a minute of its start, and has begun two segments since,
// loses boots that it had only counted until then.
//   npm run test:long -- journal          SEEDS=n (2000), SEED=n

import t from 'tap';
import { eachOnce } from '../kit/ledgers.js';

eachOnce(t, Number(process.env.SEED ?? Date.now() % 1_000_000), Number(process.env.SEEDS ?? 2000), true);
