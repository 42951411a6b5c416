// The state of a node by the design's rules, each a numbered row: what the board and the last report say, and the
// result. Nobody is called live or silent without evidence. For each row a board is made, and the product is compared
// with the rule in test/kit/judging.ts. library/library compares both at random times.

import t from 'tap';
import { STATES, type State } from '../../src/shm/liveness.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { type Evidence, isStalled, judge, type LastReport } from '../kit/judging.js';
import { type MadeBoard, type MadeNode, madeBoard, NOW } from '../kit/madeboard.js';

const MS = 1_000_000n;
const S = 1000n * MS;
const HOUR = 3600n * S;

/** Times in ns before now; negative ones are in the future. Values that are not given are those of a normal board. */
interface Row {
  rule: string;
  /** Of the last report; absent: there is no report. */
  age?: bigint;
  interval?: number;
  goodbye?: boolean;
  heartbeat?: bigint;
  /** How long the receiver has listened without a gap, up to its heartbeat. */
  listened?: bigint;
  /** The number of the link by which the report came; 1 by default. */
  link?: number | bigint;
  /**
   * The times of links, by number. By default, links 1 and 31 have those of the receiver, and other links have none.
   */
  links?: Readonly<Record<number, { heartbeat?: bigint; listened?: bigint }>>;
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

  // Silent: measured up to the heartbeat, and only over time in which the receiver listened.
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

  // A receiver that has not listened for long: after a start, a pause of its process or of the machine, or an overflow.
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

  // The limits are for intervals up to one second, and grow with longer ones.
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

  // A failure of the monitor is not a failure of the nodes.
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

  // Only the node's own link decides whether it is silent.
  {
    rule: 'a link that is down: since 20 s, and the report came 1 s before that',
    age: 21n * S,
    links: { 1: { heartbeat: 20n * S } },
    is: 'uncertain',
  },
  {
    rule: 'a link that is down: an hour later nothing more is known',
    age: HOUR + S,
    links: { 1: { heartbeat: HOUR } },
    is: 'uncertain',
  },
  {
    rule: 'a link that is down: the report came 10.5 s before that',
    age: 30_500n * MS,
    links: { 1: { heartbeat: 20n * S } },
    is: 'uncertain',
  },
  {
    rule: 'and 1 ns more: who was silent before, stays so',
    age: 30_500n * MS + 1n,
    links: { 1: { heartbeat: 20n * S } },
    is: 'silent',
  },
  {
    rule: 'a link that went down a second ago: a young report',
    age: 4500n * MS,
    links: { 1: { heartbeat: S } },
    is: 'live',
  },
  {
    rule: 'a link that went down before a report that came after all',
    age: 5n * S,
    links: { 1: { heartbeat: 20n * S } },
    is: 'uncertain',
  },
  { rule: 'a link that is down: a goodbye', age: HOUR, goodbye: true, links: { 1: { heartbeat: HOUR } }, is: 'left' },
  { rule: 'a link that began anew 10.5 s ago', age: HOUR, links: { 1: { listened: 10_500n * MS } }, is: 'uncertain' },
  { rule: 'and 1 ns more', age: HOUR, links: { 1: { listened: 10_500n * MS + 1n } }, is: 'silent' },
  {
    rule: 'a link that began anew after its heartbeat: it has just come up',
    age: HOUR,
    links: { 1: { heartbeat: 20n * S, listened: -20n * S } },
    is: 'uncertain',
  },
  {
    rule: 'a link that began anew, and a node of every 10 s',
    age: HOUR,
    interval: 10_000,
    links: { 1: { listened: 105n * S } },
    is: 'uncertain',
  },
  { rule: 'and 1 ns more', age: HOUR, interval: 10_000, links: { 1: { listened: 105n * S + 1n } }, is: 'silent' },
  { rule: 'another link that is down', age: HOUR, links: { 1: {}, 2: { heartbeat: HOUR } }, is: 'silent' },
  { rule: 'another link that listens', age: HOUR, link: 2, links: { 1: {}, 2: { heartbeat: HOUR } }, is: 'uncertain' },
  {
    rule: 'a link that listened for longer than the receiver',
    age: HOUR,
    listened: S,
    links: { 1: { listened: HOUR } },
    is: 'silent',
  },
  {
    rule: 'a link whose heartbeat is a little ahead of the reader',
    age: 10_400n * MS + 1n,
    links: { 1: { heartbeat: -100n * MS } },
    is: 'silent',
  },
  { rule: 'the last link that may have an entry', age: HOUR, link: 30, links: { 30: {} }, is: 'silent' },
  { rule: 'the last link, down', age: HOUR, link: 30, links: { 30: { heartbeat: HOUR } }, is: 'uncertain' },
  { rule: 'link 31: by its own evidence', age: HOUR, link: 31, is: 'silent' },
  {
    rule: 'link 31: by its own evidence, which began anew',
    age: HOUR,
    link: 31,
    links: { 31: { listened: 10_500n * MS } },
    is: 'uncertain',
  },
  {
    rule: 'link 31: when all other links are down',
    age: HOUR,
    link: 31,
    links: { 1: { heartbeat: HOUR } },
    is: 'silent',
  },
  { rule: 'link 0: not known, and nobody is silent by it', age: HOUR, link: 0, is: 'uncertain' },
  { rule: 'link 0: not known, and live by age alone', age: 4500n * MS, link: 0, is: 'live' },
  { rule: 'link 0: a goodbye', age: HOUR, link: 0, goodbye: true, is: 'left' },
  { rule: 'a number without an entry', age: HOUR, link: 5, is: 'uncertain' },
  { rule: 'a number without an entry: live by age alone', age: S, link: 5, is: 'live' },
  { rule: 'a number that there is not', age: HOUR, link: 32, is: 'uncertain' },
  { rule: 'no number at all', age: HOUR, link: 2n ** 64n - 1n, is: 'uncertain' },
  {
    rule: "the receiver's heartbeat decides what is stalled: its link's is young",
    age: HOUR,
    heartbeat: 3n * S + 1n,
    links: { 1: { heartbeat: 0n } },
    is: 'unknown',
  },
  { rule: "and not its link's: that is an hour old", age: S, links: { 1: { heartbeat: HOUR } }, is: 'live' },
  {
    rule: "nor its link's that was never stored",
    age: HOUR,
    links: { 1: { heartbeat: NOW, listened: 0n } },
    is: 'uncertain',
  },

  // States that do not depend on time.
  { rule: 'no report on this board', is: 'never' },
  { rule: 'no report, and a receiver that has just begun', listened: 0n, is: 'never' },
  { rule: 'a goodbye just now', goodbye: true, age: 0n, is: 'left' },
  { rule: 'a goodbye a day ago', goodbye: true, age: 24n * HOUR, listened: 48n * HOUR, is: 'left' },
  { rule: 'a goodbye, and the receiver has just begun', goodbye: true, age: 24n * HOUR, listened: 0n, is: 'left' },
];

/** The input of judging.ts for a row. */
function evidence(row: Row): Evidence {
  const heartbeatNs = NOW - (row.heartbeat ?? 50n * MS);
  const listeningSinceNs = heartbeatNs - (row.listened ?? 2n * HOUR);
  const number = Number(row.link ?? 1);
  const links: NonNullable<Row['links']> = { 1: {}, 31: {}, ...row.links };
  const link = links[number];
  const linkHeartbeatNs = NOW - (link?.heartbeat ?? row.heartbeat ?? 50n * MS);
  const linkSinceNs = linkHeartbeatNs - (link?.listened ?? row.listened ?? 2n * HOUR);
  return {
    nowNs: NOW,
    heartbeatNs,
    listeningSinceNs,
    uncertainAfterNs: row.uncertainAfter ?? 4500n * MS,
    silentAfterNs: row.silentAfter ?? 10_500n * MS,
    retired: row.retired ?? false,
    link: link === undefined ? NO_EVIDENCE : { heartbeatNs: linkHeartbeatNs, listeningSinceNs: linkSinceNs },
  };
}

const NO_EVIDENCE = { heartbeatNs: 0n, listeningSinceNs: 0n };

function last(row: Row): LastReport | undefined {
  if (row.age === undefined) return undefined;
  return { stampNs: NOW - row.age, intervalMs: row.interval ?? 1000, goodbye: row.goodbye ?? false };
}

/** A board with the values of a row. */
function boardOf(row: Row): Snapshot {
  const { uncertainAfterNs, silentAfterNs } = evidence(row);
  const made: MadeBoard = {
    heartbeat: row.heartbeat ?? 50n * MS,
    listened: row.listened ?? 2n * HOUR,
    links: { 1: {}, 31: {}, ...row.links },
    state: row.retired ? ['retired'] : [],
    header: { uncertain_after_ns: uncertainAfterNs, silent_after_ns: silentAfterNs },
  };
  const node: MadeNode = { name: 'n', link: row.link ?? 1, goodbye: row.goodbye ?? false };
  return madeBoard(
    [row.age === undefined ? node : { ...node, age: row.age, report: { interval_ms: row.interval ?? 1000 } }],
    made,
  );
}

t.test('states', async t => {
  rows.forEach((row, i) => {
    const rule = `${i + 1}. ${row.rule}`;
    const said = evidence(row);
    t.equal(judge(said, last(row)), row.is, `${rule}: as it is written`);
    const snapshot = boardOf(row);
    t.equal(snapshot.node(0).state, row.is, rule);
    const then = judge({ ...said, nowNs: said.heartbeatNs, retired: false }, last(row));
    // Where the state is unknown, the last known state is given, too.
    t.equal(snapshot.node(0).knownState, row.is === 'unknown' ? then : row.is, `${rule}: known at the heartbeat`);
    const age = row.age === undefined || row.age > 0n ? row.age : 0n;
    t.equal(snapshot.overview.ages[0], age === undefined ? -1 : Number(age) / 1e6, `${rule}: its age`);
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
  for (const [heartbeat, stalled] of table) {
    const row: Row = { rule: '', heartbeat, listened: 0n, is: 'live' };
    t.equal(boardOf(row).stalled, stalled, `a heartbeat ${heartbeat} ns ago`);
    t.equal(isStalled(evidence(row)), stalled, 'as it is written');
  }
});

t.test('time alone makes no node silent: none becomes silent while the heartbeat stands still', async t => {
  // What a reader sees after the receiver was killed, or while its link is down: only the clock moves.
  const seen = (age: bigint, stands: (passed: bigint) => Partial<Row>) => {
    const states: State[] = [];
    for (let passed = 0n; passed <= 20n * S; passed += 100n * MS) {
      const { state } = boardOf({ rule: '', age: age + passed, ...stands(passed), is: 'unknown' }).node(0);
      if (state !== states.at(-1)) states.push(state);
    }
    return states;
  };
  const killed = (passed: bigint) => ({ heartbeat: passed });
  t.strictSame(seen(0n, killed), ['live', 'unknown']);
  t.strictSame(seen(2n * S, killed), ['live', 'uncertain', 'unknown']);
  t.strictSame(seen(8n * S, killed), ['uncertain', 'unknown']);
  t.strictSame(seen(10_500n * MS, killed), ['uncertain', 'unknown']);
  t.strictSame(seen(11n * S, killed), ['silent', 'unknown'], 'who was silent before, stays so');
  const down = (passed: bigint) => ({ links: { 1: { heartbeat: passed } } });
  t.strictSame(seen(0n, down), ['live', 'uncertain']);
  t.strictSame(seen(10_500n * MS, down), ['uncertain']);
  t.strictSame(seen(11n * S, down), ['silent'], 'and of a link that is down');
});
