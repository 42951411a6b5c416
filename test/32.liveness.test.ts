// How a node is, by the design's rules, each a numbered row: what the board and the last report say, and what follows.
// Evidence first: nobody is called live or silent without any.

import t from 'tap';
import { STATES, type State } from '../src/shm/liveness.js';
import { type Evidence, isStalled, judge, type LastReport } from './judging.js';

const MS = 1_000_000n;
const S = 1000n * MS;
const NOW = 1_000_000n * S;
const HOUR = 3600n * S;

/** Times in ns before now, negative ones ahead of it. What is not given is as on a quiet day. */
interface Row {
  rule: string;
  /** Of the last report; none: there is no report. */
  age?: bigint;
  interval?: number;
  goodbye?: boolean;
  heartbeat?: bigint;
  /** For how long the receiver has heard everything, up to its heartbeat. */
  listened?: bigint;
  uncertainAfter?: bigint;
  silentAfter?: bigint;
  retired?: boolean;
  is: State;
}

const rows: Row[] = [
  // Live: the age alone counts, and all of it.
  { rule: 'a report just now', age: 0n, is: 'live' },
  { rule: 'at the first limit exactly', age: 4500n * MS, is: 'live' },
  { rule: '1 ns beyond it', age: 4500n * MS + 1n, is: 'uncertain' },
  { rule: 'whoever listened: a receiver that has just begun', age: 4500n * MS, listened: 0n, is: 'live' },
  { rule: 'whoever listened: a report from before it began', age: 4n * S, listened: 1n * S, is: 'live' },
  {
    rule: 'the full age, up to now: a young report at an old heartbeat',
    age: 4600n * MS,
    heartbeat: 2900n * MS,
    is: 'uncertain',
  },

  // Silent: measured up to the heartbeat, and only while somebody listened.
  { rule: 'at the second limit exactly', age: 10_500n * MS, heartbeat: 0n, is: 'uncertain' },
  { rule: '1 ns beyond it', age: 10_500n * MS + 1n, heartbeat: 0n, is: 'silent' },
  { rule: 'a day', age: 24n * HOUR, listened: 48n * HOUR, is: 'silent' },
  {
    rule: 'never to now: up to a heartbeat 2.9 s ago it was 10.5 s',
    age: 13_400n * MS,
    heartbeat: 2900n * MS,
    is: 'uncertain',
  },
  { rule: 'never to now: and 1 ns more', age: 13_400n * MS + 1n, heartbeat: 2900n * MS, is: 'silent' },
  { rule: 'never to now: up to a heartbeat 100 ms ago', age: 10_600n * MS, heartbeat: 100n * MS, is: 'uncertain' },
  {
    rule: 'the heartbeat is a little ahead of the reader',
    age: 10_400n * MS + 1n,
    heartbeat: -100n * MS,
    is: 'silent',
  },

  // A receiver that has not listened for long: a start, a pause of its process or of the machine, an overflow.
  { rule: 'a start: it has listened for 10.5 s exactly', age: HOUR, listened: 10_500n * MS, is: 'uncertain' },
  { rule: 'a start: and 1 ns more', age: HOUR, listened: 10_500n * MS + 1n, is: 'silent' },
  { rule: 'a start a moment ago', age: HOUR, listened: 0n, is: 'uncertain' },
  { rule: 'a pause since the report, over for 3 s', age: 60n * S, listened: 3n * S, is: 'uncertain' },
  { rule: 'a pause before the report', age: 11n * S, heartbeat: 0n, listened: 12n * S, is: 'silent' },
  { rule: 'a pause just behind the report', age: 12n * S, heartbeat: 0n, listened: 10n * S, is: 'uncertain' },
  {
    rule: 'listening since later than the heartbeat: the drain after a pause is not done',
    age: 60n * S,
    listened: -1n * S,
    is: 'uncertain',
  },
  { rule: 'the same, and a young report', age: 2n * S, listened: -1n * S, is: 'live' },

  // The limits are for intervals up to a second, and grow with longer ones.
  { rule: '250 ms: the same first limit', age: 4500n * MS, interval: 250, is: 'live' },
  { rule: '250 ms: and 1 ns more', age: 4500n * MS + 1n, interval: 250, is: 'uncertain' },
  { rule: '250 ms: the same second limit', age: 10_500n * MS, heartbeat: 0n, interval: 250, is: 'uncertain' },
  { rule: '250 ms: and 1 ns more', age: 10_500n * MS + 1n, heartbeat: 0n, interval: 250, is: 'silent' },
  { rule: '1,001 ms: 4.5 of these', age: 4_504_500n * 1000n, interval: 1001, is: 'live' },
  { rule: '1,001 ms: and 1 ns more', age: 4_504_500n * 1000n + 1n, interval: 1001, is: 'uncertain' },
  { rule: '10 s: 45 s', age: 45n * S, interval: 10_000, is: 'live' },
  { rule: '10 s: and 1 ns more', age: 45n * S + 1n, interval: 10_000, is: 'uncertain' },
  { rule: '10 s: 105 s', age: 105n * S, heartbeat: 0n, interval: 10_000, is: 'uncertain' },
  { rule: '10 s: and 1 ns more', age: 105n * S + 1n, heartbeat: 0n, interval: 10_000, is: 'silent' },
  {
    rule: '10 s: the receiver has listened for 105 s',
    age: HOUR,
    listened: 105n * S,
    interval: 10_000,
    is: 'uncertain',
  },
  { rule: '10 s: and 1 ns more', age: HOUR, listened: 105n * S + 1n, interval: 10_000, is: 'silent' },
  { rule: '10 min: 45 min', age: 2700n * S, interval: 600_000, is: 'live' },
  { rule: '10 min: and 1 ns more', age: 2700n * S + 1n, interval: 600_000, is: 'uncertain' },
  { rule: 'a limit of the site: 2 s', age: 2n * S + 1n, uncertainAfter: 2n * S, is: 'uncertain' },
  { rule: 'a limit of the site: 5 s', age: 5n * S + 1n, heartbeat: 0n, silentAfter: 5n * S, is: 'silent' },
  {
    rule: 'a limit of the site of 2 s is 2 intervals of 10 s',
    age: 20n * S,
    interval: 10_000,
    uncertainAfter: 2n * S,
    is: 'live',
  },
  { rule: 'and 1 ns more', age: 20n * S + 1n, interval: 10_000, uncertainAfter: 2n * S, is: 'uncertain' },

  // A stamp ahead of the reader's clock.
  { rule: 'a stamp ahead by 1 ms, which came while the reader looked', age: -1n * MS, heartbeat: -1n * MS, is: 'live' },
  { rule: 'a stamp ahead by 1 s exactly', age: -1n * S, is: 'live' },
  { rule: 'a stamp ahead by 1 ns more is no evidence', age: -1n * S - 1n, is: 'uncertain' },
  { rule: 'a stamp ahead by an hour', age: -HOUR, is: 'uncertain' },

  // The monitor's failure is not the nodes'.
  { rule: 'a heartbeat 3 s ago exactly: a live node', heartbeat: 3n * S, age: 3n * S, is: 'live' },
  { rule: 'a heartbeat 3 s ago exactly: a silent node', heartbeat: 3n * S, age: 60n * S, is: 'silent' },
  {
    rule: 'a heartbeat 3 s and 1 ns ago: no evidence about a live node',
    heartbeat: 3n * S + 1n,
    age: 3n * S,
    is: 'unknown',
  },
  { rule: 'nor about a silent one', heartbeat: 3n * S + 1n, age: 60n * S, is: 'unknown' },
  { rule: 'nor about one that left', heartbeat: 3n * S + 1n, age: 60n * S, goodbye: true, is: 'unknown' },
  { rule: 'nor about one that never came', heartbeat: 3n * S + 1n, is: 'unknown' },
  { rule: 'a heartbeat ahead by 1 s exactly', heartbeat: -1n * S, age: 0n, is: 'live' },
  { rule: 'a heartbeat ahead by 1 ns more is of another clock', heartbeat: -1n * S - 1n, age: 0n, is: 'unknown' },
  { rule: 'no heartbeat at all', heartbeat: NOW, age: NOW, listened: 0n, is: 'unknown' },
  { rule: 'a retired board: a live node', retired: true, age: 0n, is: 'unknown' },
  { rule: 'a retired board: one that never came', retired: true, is: 'unknown' },

  // What does not depend on time.
  { rule: 'no report on this board', is: 'never' },
  { rule: 'no report, and a receiver that has just begun', listened: 0n, is: 'never' },
  { rule: 'a goodbye just now', goodbye: true, age: 0n, is: 'left' },
  { rule: 'a goodbye a day ago', goodbye: true, age: 24n * HOUR, listened: 48n * HOUR, is: 'left' },
  { rule: 'a goodbye, and the receiver has just begun', goodbye: true, age: 24n * HOUR, listened: 0n, is: 'left' },
];

function evidence(row: Row): Evidence {
  const heartbeatNs = NOW - (row.heartbeat ?? 50n * MS);
  return {
    nowNs: NOW,
    heartbeatNs,
    listeningSinceNs: heartbeatNs - (row.listened ?? 2n * HOUR),
    uncertainAfterNs: row.uncertainAfter ?? 4500n * MS,
    silentAfterNs: row.silentAfter ?? 10_500n * MS,
    retired: row.retired ?? false,
  };
}

function last(row: Row): LastReport | undefined {
  if (row.age === undefined) return undefined;
  return { stampNs: NOW - row.age, intervalMs: row.interval ?? 1000, goodbye: row.goodbye ?? false };
}

t.test('states', async t => {
  rows.forEach((row, i) => {
    t.equal(judge(evidence(row), last(row)), row.is, `${i + 1}. ${row.rule}`);
  });
  t.strictSame([...new Set(rows.map(row => row.is))].sort(), [...STATES].sort(), 'every state has a row');
});

t.test('stalled', async t => {
  const table: [heartbeat: bigint, stalled: boolean][] = [
    [0n, false],
    [100n * MS, false],
    [3n * S, false],
    [3n * S + 1n, true],
    [HOUR, true],
    [NOW, true], // not stored yet
    [-1n * MS, false],
    [-1n * S, false],
    [-1n * S - 1n, true],
    [-HOUR, true],
  ];
  for (const [heartbeat, stalled] of table)
    t.equal(isStalled(evidence({ rule: '', heartbeat, is: 'live' })), stalled, `a heartbeat ${heartbeat} ns ago`);
});

t.test('time alone blames nobody: while the heart does not beat, no node becomes silent', async t => {
  // As a reader sees a board whose receiver was killed: everything stands still but the clock.
  const seen = (age: bigint) => {
    const states: State[] = [];
    for (let passed = 0n; passed <= 20n * S; passed += 100n * MS) {
      const row: Row = { rule: '', age: age + passed, heartbeat: passed, is: 'unknown' };
      const state = judge(evidence(row), last(row));
      if (state !== states.at(-1)) states.push(state);
    }
    return states;
  };
  t.strictSame(seen(0n), ['live', 'unknown']);
  t.strictSame(seen(2n * S), ['live', 'uncertain', 'unknown']);
  t.strictSame(seen(8n * S), ['uncertain', 'unknown']);
  t.strictSame(seen(10_500n * MS), ['uncertain', 'unknown']);
  t.strictSame(seen(11n * S), ['silent', 'unknown'], 'who was silent before, stays so');
});
