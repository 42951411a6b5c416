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
}

const rows: [rule: string, is: State, row?: Row][] = [
  // Live: the age alone counts, and all of it.
  ['a report just now', 'live', { age: 0n }],
  ['at the first limit exactly', 'live', { age: 4500n * MS }],
  ['1 ns beyond it', 'uncertain', { age: 4500n * MS + 1n }],
  ['whoever listened: a receiver that has just begun', 'live', { age: 4500n * MS, listened: 0n }],
  ['whoever listened: a report from before it began', 'live', { age: 4n * S, listened: 1n * S }],
  [
    'the full age, up to now: a young report at an old heartbeat',
    'uncertain',
    { age: 4600n * MS, heartbeat: 2900n * MS },
  ],

  // Silent: measured up to the heartbeat, and only over time in which the receiver listened.
  ['at the second limit exactly', 'uncertain', { age: 10_500n * MS, heartbeat: 0n }],
  ['1 ns beyond it', 'silent', { age: 10_500n * MS + 1n, heartbeat: 0n }],
  ['a day', 'silent', { age: 24n * HOUR, listened: 48n * HOUR }],
  [
    'never to now: up to a heartbeat 2.9 s ago it was 10.5 s',
    'uncertain',
    { age: 13_400n * MS, heartbeat: 2900n * MS },
  ],
  ['never to now: and 1 ns more', 'silent', { age: 13_400n * MS + 1n, heartbeat: 2900n * MS }],
  ['never to now: up to a heartbeat 100 ms ago', 'uncertain', { age: 10_600n * MS, heartbeat: 100n * MS }],
  ['the heartbeat is a little ahead of the reader', 'silent', { age: 10_400n * MS + 1n, heartbeat: -100n * MS }],

  // A receiver that has not listened for long: after a start, a pause of its process or of the machine, or an overflow.
  ['a start: it has listened for 10.5 s exactly', 'uncertain', { age: HOUR, listened: 10_500n * MS }],
  ['a start: and 1 ns more', 'silent', { age: HOUR, listened: 10_500n * MS + 1n }],
  ['a start a moment ago', 'uncertain', { age: HOUR, listened: 0n }],
  ['a pause since the report, over for 3 s', 'uncertain', { age: 60n * S, listened: 3n * S }],
  ['a pause before the report', 'silent', { age: 11n * S, heartbeat: 0n, listened: 12n * S }],
  ['a pause just behind the report', 'uncertain', { age: 12n * S, heartbeat: 0n, listened: 10n * S }],
  [
    'listening since later than the heartbeat: the drain after a pause is not done',
    'uncertain',
    { age: 60n * S, listened: -1n * S },
  ],
  ['the same, and a young report', 'live', { age: 2n * S, listened: -1n * S }],

  // The limits are for intervals up to one second, and grow with longer ones.
  ['250 ms: the same first limit', 'live', { age: 4500n * MS, interval: 250 }],
  ['250 ms: and 1 ns more', 'uncertain', { age: 4500n * MS + 1n, interval: 250 }],
  ['250 ms: the same second limit', 'uncertain', { age: 10_500n * MS, heartbeat: 0n, interval: 250 }],
  ['250 ms: and 1 ns more', 'silent', { age: 10_500n * MS + 1n, heartbeat: 0n, interval: 250 }],
  ['1,001 ms: 4.5 of these', 'live', { age: 4_504_500n * 1000n, interval: 1001 }],
  ['1,001 ms: and 1 ns more', 'uncertain', { age: 4_504_500n * 1000n + 1n, interval: 1001 }],
  ['10 s: 45 s', 'live', { age: 45n * S, interval: 10_000 }],
  ['10 s: and 1 ns more', 'uncertain', { age: 45n * S + 1n, interval: 10_000 }],
  ['10 s: 105 s', 'uncertain', { age: 105n * S, heartbeat: 0n, interval: 10_000 }],
  ['10 s: and 1 ns more', 'silent', { age: 105n * S + 1n, heartbeat: 0n, interval: 10_000 }],
  ['10 s: the receiver has listened for 105 s', 'uncertain', { age: HOUR, listened: 105n * S, interval: 10_000 }],
  ['10 s: and 1 ns more', 'silent', { age: HOUR, listened: 105n * S + 1n, interval: 10_000 }],
  ['10 min: 45 min', 'live', { age: 2700n * S, interval: 600_000 }],
  ['10 min: and 1 ns more', 'uncertain', { age: 2700n * S + 1n, interval: 600_000 }],
  ['a limit of the site: 2 s', 'uncertain', { age: 2n * S + 1n, uncertainAfter: 2n * S }],
  ['a limit of the site: 5 s', 'silent', { age: 5n * S + 1n, heartbeat: 0n, silentAfter: 5n * S }],
  [
    'a limit of the site of 2 s is 2 intervals of 10 s',
    'live',
    { age: 20n * S, interval: 10_000, uncertainAfter: 2n * S },
  ],
  ['and 1 ns more', 'uncertain', { age: 20n * S + 1n, interval: 10_000, uncertainAfter: 2n * S }],

  // A stamp ahead of the reader's clock.
  ['a stamp ahead by 1 ms, which came while the reader looked', 'live', { age: -1n * MS, heartbeat: -1n * MS }],
  ['a stamp ahead by 1 s exactly', 'live', { age: -1n * S }],
  ['a stamp ahead by 1 ns more is no evidence', 'uncertain', { age: -1n * S - 1n }],
  ['a stamp ahead by an hour', 'uncertain', { age: -HOUR }],

  // A failure of the monitor is not a failure of the nodes.
  ['a heartbeat 3 s ago exactly: a live node', 'live', { heartbeat: 3n * S, age: 3n * S }],
  ['a heartbeat 3 s ago exactly: a silent node', 'silent', { heartbeat: 3n * S, age: 60n * S }],
  ['a heartbeat 3 s and 1 ns ago: no evidence about a live node', 'unknown', { heartbeat: 3n * S + 1n, age: 3n * S }],
  ['nor about a silent one', 'unknown', { heartbeat: 3n * S + 1n, age: 60n * S }],
  ['nor about one that left', 'unknown', { heartbeat: 3n * S + 1n, age: 60n * S, goodbye: true }],
  ['nor about one that never came', 'unknown', { heartbeat: 3n * S + 1n }],
  ['a heartbeat ahead by 1 s exactly', 'live', { heartbeat: -1n * S, age: 0n }],
  ['a heartbeat ahead by 1 ns more is of another clock', 'unknown', { heartbeat: -1n * S - 1n, age: 0n }],
  ['no heartbeat at all', 'unknown', { heartbeat: NOW, age: NOW, listened: 0n }],
  ['a retired board: a live node', 'unknown', { retired: true, age: 0n }],
  ['a retired board: one that never came', 'unknown', { retired: true }],

  // Only the node's own link decides whether it is silent.
  [
    'a link that is down: since 20 s, and the report came 1 s before that',
    'uncertain',
    { age: 21n * S, links: { 1: { heartbeat: 20n * S } } },
  ],
  [
    'a link that is down: an hour later nothing more is known',
    'uncertain',
    { age: HOUR + S, links: { 1: { heartbeat: HOUR } } },
  ],
  [
    'a link that is down: the report came 10.5 s before that',
    'uncertain',
    { age: 30_500n * MS, links: { 1: { heartbeat: 20n * S } } },
  ],
  [
    'and 1 ns more: who was silent before, stays so',
    'silent',
    { age: 30_500n * MS + 1n, links: { 1: { heartbeat: 20n * S } } },
  ],
  ['a link that went down a second ago: a young report', 'live', { age: 4500n * MS, links: { 1: { heartbeat: S } } }],
  [
    'a link that went down before a report that came after all',
    'uncertain',
    { age: 5n * S, links: { 1: { heartbeat: 20n * S } } },
  ],
  ['a link that is down: a goodbye', 'left', { age: HOUR, goodbye: true, links: { 1: { heartbeat: HOUR } } }],
  ['a link that began anew 10.5 s ago', 'uncertain', { age: HOUR, links: { 1: { listened: 10_500n * MS } } }],
  ['and 1 ns more', 'silent', { age: HOUR, links: { 1: { listened: 10_500n * MS + 1n } } }],
  [
    'a link that began anew after its heartbeat: it has just come up',
    'uncertain',
    { age: HOUR, links: { 1: { heartbeat: 20n * S, listened: -20n * S } } },
  ],
  [
    'a link that began anew, and a node of every 10 s',
    'uncertain',
    { age: HOUR, interval: 10_000, links: { 1: { listened: 105n * S } } },
  ],
  ['and 1 ns more', 'silent', { age: HOUR, interval: 10_000, links: { 1: { listened: 105n * S + 1n } } }],
  ['another link that is down', 'silent', { age: HOUR, links: { 1: {}, 2: { heartbeat: HOUR } } }],
  ['another link that listens', 'uncertain', { age: HOUR, link: 2, links: { 1: {}, 2: { heartbeat: HOUR } } }],
  [
    'a link that listened for longer than the receiver',
    'silent',
    { age: HOUR, listened: S, links: { 1: { listened: HOUR } } },
  ],
  [
    'a link whose heartbeat is a little ahead of the reader',
    'silent',
    { age: 10_400n * MS + 1n, links: { 1: { heartbeat: -100n * MS } } },
  ],
  ['the last link that may have an entry', 'silent', { age: HOUR, link: 30, links: { 30: {} } }],
  ['the last link, down', 'uncertain', { age: HOUR, link: 30, links: { 30: { heartbeat: HOUR } } }],
  ['link 31: by its own evidence', 'silent', { age: HOUR, link: 31 }],
  [
    'link 31: by its own evidence, which began anew',
    'uncertain',
    { age: HOUR, link: 31, links: { 31: { listened: 10_500n * MS } } },
  ],
  ['link 31: when all other links are down', 'silent', { age: HOUR, link: 31, links: { 1: { heartbeat: HOUR } } }],
  ['link 0: not known, and nobody is silent by it', 'uncertain', { age: HOUR, link: 0 }],
  ['link 0: not known, and live by age alone', 'live', { age: 4500n * MS, link: 0 }],
  ['link 0: a goodbye', 'left', { age: HOUR, link: 0, goodbye: true }],
  ['a number without an entry', 'uncertain', { age: HOUR, link: 5 }],
  ['a number without an entry: live by age alone', 'live', { age: S, link: 5 }],
  ['a number that there is not', 'uncertain', { age: HOUR, link: 32 }],
  ['no number at all', 'uncertain', { age: HOUR, link: 2n ** 64n - 1n }],
  [
    "the receiver's heartbeat decides what is stalled: its link's is young",
    'unknown',
    { age: HOUR, heartbeat: 3n * S + 1n, links: { 1: { heartbeat: 0n } } },
  ],
  ["and not its link's: that is an hour old", 'live', { age: S, links: { 1: { heartbeat: HOUR } } }],
  ["nor its link's that was never stored", 'uncertain', { age: HOUR, links: { 1: { heartbeat: NOW, listened: 0n } } }],

  // States that do not depend on time.
  ['no report on this board', 'never'],
  ['no report, and a receiver that has just begun', 'never', { listened: 0n }],
  ['a goodbye just now', 'left', { goodbye: true, age: 0n }],
  ['a goodbye a day ago', 'left', { goodbye: true, age: 24n * HOUR, listened: 48n * HOUR }],
  ['a goodbye, and the receiver has just begun', 'left', { goodbye: true, age: 24n * HOUR, listened: 0n }],
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
  rows.forEach(([what, is, row = {}], i) => {
    const rule = `${i + 1}. ${what}`;
    const said = evidence(row);
    t.equal(judge(said, last(row)), is, `${rule}: as it is written`);
    const snapshot = boardOf(row);
    t.equal(snapshot.node(0).state, is, rule);
    const then = judge({ ...said, nowNs: said.heartbeatNs, retired: false }, last(row));
    // Where the state is unknown, the last known state is given, too.
    t.equal(snapshot.node(0).knownState, is === 'unknown' ? then : is, `${rule}: known at the heartbeat`);
    const age = row.age === undefined || row.age > 0n ? row.age : 0n;
    t.equal(snapshot.overview.ages[0], age === undefined ? -1 : Number(age) / 1e6, `${rule}: its age`);
  });
  t.strictSame([...new Set(rows.map(([, is]) => is))].sort(), [...STATES].sort(), 'every state has a row');
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
    const row: Row = { heartbeat, listened: 0n };
    t.equal(boardOf(row).stalled, stalled, `a heartbeat ${heartbeat} ns ago`);
    t.equal(isStalled(evidence(row)), stalled, 'as it is written');
  }
});

t.test('time alone makes no node silent: none becomes silent while the heartbeat stands still', async t => {
  // What a reader sees after the receiver was killed, or while its link is down: only the clock moves.
  const seen = (age: bigint, stands: (passed: bigint) => Partial<Row>) => {
    const states: State[] = [];
    for (let passed = 0n; passed <= 20n * S; passed += 100n * MS) {
      const { state } = boardOf({ age: age + passed, ...stands(passed) }).node(0);
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
