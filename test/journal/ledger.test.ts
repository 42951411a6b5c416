// That a journal is a whole ledger: whatever fails, each silence, episode, boot and goodbye of a made cluster stands in its
// files once, or is counted there, and nothing else does. A seed is a run of a quarter of an hour.
//
// @seconds 8
// @whole
// @days 3

import t from 'tap';
import { eachOnce } from '../kit/ledgers.js';
import { WHOLE } from '../kit/whole.js';

eachOnce(t, Number(process.env.SEED ?? 1), Number(process.env.SEEDS ?? (WHOLE ? 16 : 2)));
