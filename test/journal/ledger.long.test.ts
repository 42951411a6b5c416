// The same as ledger.test.ts with thousands of clusters.
//   npm run test:long -- journal          SEEDS=n (2000), SEED=n

import t from 'tap';
import { eachOnce } from '../kit/ledgers.js';

eachOnce(t, Number(process.env.SEED ?? Date.now() % 1_000_000), Number(process.env.SEEDS ?? 2000));
