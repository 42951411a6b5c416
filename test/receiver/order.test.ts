// The rules of order without keys, each a numbered row: a sequence of reports, and the result for each. The clock is
// the test's own; the code is the receive thread's.

import t from 'tap';
import type { Encodable } from '../../src/layout/codec.js';
import { bits } from '../../src/layout/layout.gen.js';
import { BoardReader } from '../../src/shm/reader.js';
import { deliver, type Outcome, openWriter } from '../../src/shm/writer.js';
import { boardPath } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';

const S = 1_000_000_000n;
const NOW = 1_000_000n * S; // the master's clock when a row begins
const REAL = 1_700_000_000n * S;
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

interface Sent {
  boot?: number;
  /** The sender's start, in seconds after boot. */
  start?: number;
  /** The time of this report, in seconds after boot. */
  t: number;
  seq: number;
  interval?: number;
  goodbye?: boolean;
}

/** When it arrives, in seconds after the row's beginning; what arrives; the result. */
type Step = [at: number, sent: Sent, outcome: Outcome] | [at: number, 'resumed'];

interface Row {
  rule: string;
  /** uncertain_after and silent_after in ms, if they are not the defaults. */
  limits?: [number, number];
  steps: Step[];
  counts: Partial<
    Record<
      'accepted' | 'lost' | 'unheard' | 'duplicate' | 'late' | 'refused' | 'restarts' | 'reboots' | 'resets',
      number
    >
  >;
  refusal?: string;
}

const rows: Row[] = [
  {
    rule: 'reports in order are accepted',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, { t: 101, seq: 1 }, 'accepted'],
      [2, { t: 102, seq: 2 }, 'accepted'],
    ],
    counts: { accepted: 3 },
  },
  {
    rule: 'the first report may have any number',
    steps: [[0, { t: 100, seq: 4_000_000_000 }, 'accepted']],
    counts: { accepted: 1 },
  },
  {
    rule: 'a gap is lost',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [4, { t: 104, seq: 4 }, 'accepted'],
    ],
    counts: { accepted: 2, lost: 3 },
  },
  {
    rule: 'a gap over a stop or pause of the receiver is unheard, not lost; the next gap is lost again',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [3, 'resumed'],
      [4, { t: 104, seq: 4 }, 'accepted'],
      [6, { t: 106, seq: 6 }, 'accepted'],
    ],
    counts: { accepted: 3, unheard: 3, lost: 1 },
  },
  {
    rule: 'the same report by two roads: the first wins, the other is a duplicate and no refusal',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [0.001, { t: 100, seq: 0 }, 'duplicate'],
      [1, { t: 101, seq: 1 }, 'accepted'],
      [1.5, { t: 100, seq: 0 }, 'duplicate'],
    ],
    counts: { accepted: 2, duplicate: 2 },
  },
  {
    rule: 'a late report takes back one lost, and coming twice it is a duplicate',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [2, { t: 102, seq: 2 }, 'accepted'],
      [2.1, { t: 101, seq: 1 }, 'late'],
      [2.2, { t: 101, seq: 1 }, 'duplicate'],
    ],
    counts: { accepted: 2, lost: 0, late: 1, refused: 1, duplicate: 1 },
    refusal: 'late',
  },
  {
    rule: 'a late report from before the first one takes back nothing',
    steps: [
      [0, { t: 110, seq: 10 }, 'accepted'],
      [0.1, { t: 109, seq: 9 }, 'late'],
      [4, { t: 114, seq: 14 }, 'accepted'],
    ],
    counts: { accepted: 2, lost: 3, late: 1, refused: 1 },
    refusal: 'late',
  },
  {
    rule: 'a late report from an unheard gap takes back one unheard',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, 'resumed'],
      [3, { t: 103, seq: 3 }, 'accepted'],
      [3.1, { t: 102, seq: 2 }, 'late'],
      [3.2, { t: 102, seq: 2 }, 'duplicate'],
    ],
    counts: { accepted: 2, unheard: 1, lost: 0, late: 1, refused: 1, duplicate: 1 },
    refusal: 'late',
  },
  {
    rule: 'back by 63 is within the history, by 64 is a replay',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, { t: 200, seq: 100 }, 'accepted'],
      [1.1, { t: 137, seq: 37 }, 'late'],
      [1.2, { t: 136, seq: 36 }, 'replay'],
    ],
    counts: { accepted: 2, lost: 98, late: 1, refused: 2 },
    refusal: 'replay',
  },
  {
    rule: 'the number wraps at 2^32 without a loss',
    steps: [
      [0, { t: 100, seq: 4_294_967_295 }, 'accepted'],
      [1, { t: 101, seq: 0 }, 'accepted'],
      [3, { t: 103, seq: 2 }, 'accepted'],
      [3.1, { t: 102, seq: 1 }, 'late'],
    ],
    counts: { accepted: 3, lost: 0, late: 1, refused: 1 },
    refusal: 'late',
  },
  {
    rule: 'a later start on the same boot is a restart; counting of losses begins anew',
    steps: [
      [0, { t: 100, seq: 50 }, 'accepted'],
      [1, { start: 101, t: 101, seq: 3 }, 'accepted'],
      [2, { start: 101, t: 102, seq: 4 }, 'accepted'],
    ],
    counts: { accepted: 3, restarts: 1, lost: 0 },
  },
  {
    rule: 'the old run beside the new one: not beyond is late, beyond is a rival while the new one is live',
    steps: [
      [0, { t: 100, seq: 50 }, 'accepted'],
      [1, { start: 101, t: 101, seq: 0 }, 'accepted'],
      [1.1, { t: 100.5, seq: 51 }, 'late'],
      [1.5, { t: 101.5, seq: 52 }, 'rival'],
      [5.5, { t: 105.5, seq: 56 }, 'rival'],
      [5.6, { t: 105.6, seq: 57 }, 'accepted'],
    ],
    counts: { accepted: 3, restarts: 2, late: 1, refused: 3 },
    refusal: 'rival',
  },
  {
    rule: 'the old run is accepted at once when the new one has said goodbye',
    steps: [
      [0, { t: 100, seq: 50 }, 'accepted'],
      [1, { start: 101, t: 101, seq: 0, goodbye: true }, 'accepted'],
      [1.5, { t: 101.5, seq: 52 }, 'accepted'],
    ],
    counts: { accepted: 3, restarts: 2 },
  },
  {
    rule: 'another boot is a rival until 4.5 s after the last report, and then a reboot',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [4.5, { boot: 2, start: 5, t: 10, seq: 0 }, 'rival'],
      [4.501, { boot: 2, start: 5, t: 10, seq: 0 }, 'accepted'],
      [5.5, { boot: 2, start: 5, t: 11, seq: 1 }, 'accepted'],
    ],
    counts: { accepted: 3, reboots: 1, refused: 1 },
    refusal: 'rival',
  },
  {
    rule: 'another boot after a goodbye is accepted at once',
    steps: [
      [0, { t: 100, seq: 0, goodbye: true }, 'accepted'],
      [0.5, { boot: 2, start: 5, t: 10, seq: 0 }, 'accepted'],
    ],
    counts: { accepted: 2, reboots: 1 },
  },
  {
    rule: 'with an interval of 10 s another boot is a rival until 45 s',
    steps: [
      [0, { t: 100, seq: 0, interval: 10_000 }, 'accepted'],
      [45, { boot: 2, start: 5, t: 10, seq: 0, interval: 10_000 }, 'rival'],
      [45.001, { boot: 2, start: 5, t: 10, seq: 0, interval: 10_000 }, 'accepted'],
    ],
    counts: { accepted: 2, reboots: 1, refused: 1 },
    refusal: 'rival',
  },
  {
    rule: 'of two intervals the shorter decides how long another boot is a rival',
    steps: [
      [0, { t: 100, seq: 0, interval: 10_000 }, 'accepted'],
      [4.501, { boot: 2, start: 5, t: 10, seq: 0, interval: 1000 }, 'accepted'],
    ],
    counts: { accepted: 2, reboots: 1 },
  },
  {
    rule: 'two clones that both report: the first stays, the other is a rival for ever',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [0.5, { boot: 2, start: 5, t: 10, seq: 0 }, 'rival'],
      [1, { t: 101, seq: 1 }, 'accepted'],
      [1.5, { boot: 2, start: 5, t: 11, seq: 1 }, 'rival'],
      [2, { t: 102, seq: 2 }, 'accepted'],
    ],
    counts: { accepted: 3, refused: 2 },
    refusal: 'rival',
  },
  {
    rule: 'a machine restored from far back is a replay until 7.5 s after the last report, then a reset',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [1, { t: 200, seq: 100 }, 'replay'],
      [7.5, { t: 206, seq: 106 }, 'replay'],
      [7.500000001, { t: 207, seq: 107 }, 'accepted'],
      [8.5, { t: 208, seq: 108 }, 'accepted'],
    ],
    counts: { accepted: 3, resets: 1, refused: 2 },
    refusal: 'replay',
  },
  {
    rule: 'a boot that comes back with an earlier time is not bound by what it reached before',
    steps: [
      [0, { boot: 1, t: 1000, seq: 0 }, 'accepted'],
      [5, { boot: 2, start: 5, t: 10, seq: 0 }, 'accepted'],
      [10, { boot: 1, start: 60, t: 100, seq: 0 }, 'accepted'],
      [11, { boot: 1, start: 60, t: 101, seq: 1 }, 'accepted'],
      [12, { boot: 1, start: 60, t: 102, seq: 2 }, 'accepted'],
    ],
    counts: { accepted: 5, reboots: 2 },
  },
  {
    rule: 'a later start with an earlier time (a restored machine) is a restart, and goes on',
    steps: [
      [0, { start: 50, t: 1000, seq: 0 }, 'accepted'],
      [1, { start: 60, t: 100, seq: 0 }, 'accepted'],
      [2, { start: 60, t: 101, seq: 1 }, 'accepted'],
    ],
    counts: { accepted: 3, restarts: 1 },
  },
  {
    rule: 'a stray later run with an interval of ten minutes keeps the own sender out for 4.5 s only',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [0.5, { start: 100.4, t: 100.5, seq: 0, interval: 600_000 }, 'accepted'],
      [1, { t: 101, seq: 1 }, 'rival'],
      [5, { t: 105, seq: 5 }, 'rival'],
      [6, { t: 106, seq: 6 }, 'accepted'],
      [7, { t: 107, seq: 7 }, 'accepted'],
    ],
    counts: { accepted: 4, restarts: 2, refused: 2 },
    refusal: 'rival',
  },
  {
    rule: 'the very report that is held is never news, however late its copy',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [60, { t: 100, seq: 0 }, 'duplicate'],
    ],
    counts: { accepted: 1, duplicate: 1 },
  },
  {
    rule: 'a report after a long silence of the same run is the next one, and what is missing was lost',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [100, { t: 200, seq: 100 }, 'accepted'],
    ],
    counts: { accepted: 2, lost: 99 },
  },
  {
    rule: 'a machine restored by a few reports, too: late or a duplicate until 7.5 s, then a reset',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [2, { t: 102, seq: 2 }, 'accepted'],
      [3, { t: 100, seq: 0 }, 'duplicate'],
      [4, { t: 101, seq: 1 }, 'late'],
      [5, { t: 102, seq: 2 }, 'duplicate'],
      [9.5, { t: 101, seq: 1 }, 'duplicate'],
      [9.500000001, { t: 102, seq: 2 }, 'duplicate'], // exactly the report that the board holds
      [9.500000001, { t: 101, seq: 1 }, 'accepted'],
    ],
    counts: { accepted: 3, late: 1, refused: 1, duplicate: 4, resets: 1 },
    refusal: 'late',
  },
  {
    rule: 'an earlier run that is not beyond is late until 7.5 s, then a reset',
    steps: [
      [0, { start: 900, t: 1000, seq: 900 }, 'accepted'],
      [7.5, { start: 50, t: 206, seq: 106 }, 'late'],
      [7.500000001, { start: 50, t: 207, seq: 107 }, 'accepted'],
    ],
    counts: { accepted: 2, late: 1, refused: 1, resets: 1 },
    refusal: 'late',
  },
  {
    rule: 'a sender whose t_boot_ns goes back while it reports each second is heard long before 10.5 s, were two reports lost',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      ...[1, 2, 3, 4, 5, 6, 7].map((at): Step => [at, { t: 200 + at, seq: 900 + at }, 'replay']),
      [8, { t: 208, seq: 908 }, 'accepted'],
      ...[9, 10, 11, 12, 13, 14, 15].map((at): Step => [at, { t: 100 + at, seq: 900 + at }, 'replay']),
      [18, { t: 118, seq: 918 }, 'accepted'],
    ],
    counts: { accepted: 3, refused: 14, resets: 2 },
    refusal: 'replay',
  },
  {
    rule: 'with an interval of 10 s a reset is taken after 75 s',
    steps: [
      [0, { t: 1000, seq: 900, interval: 10_000 }, 'accepted'],
      [75, { t: 200, seq: 100, interval: 10_000 }, 'replay'],
      [75.000000001, { t: 201, seq: 101, interval: 10_000 }, 'accepted'],
    ],
    counts: { accepted: 2, refused: 1, resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'stray older reports after a goodbye, however many and however late, do not bring the node back',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [3, { t: 103, seq: 3 }, 'accepted'],
      [4, { t: 104, seq: 4, goodbye: true }, 'accepted'],
      [4.5, { t: 101, seq: 1 }, 'late'],
      [21, { t: 101, seq: 1 }, 'duplicate'],
      [40, { t: 102, seq: 2 }, 'late'], // delayed for longer than they are apart
      [40.3, { t: 103, seq: 3 }, 'duplicate'],
      [41.3, { t: 103, seq: 3 }, 'duplicate'], // repeated
      [41.4, { t: 103.1, seq: 5 }, 'replay'], // made at once
      [42.3, { start: 49, t: 104, seq: 4 }, 'late'], // of another run
      [43.3, { t: 102, seq: 2 }, 'duplicate'],
      [44.3, { t: 104, seq: 4, goodbye: true }, 'duplicate'],
    ],
    counts: { accepted: 3, lost: 0, late: 3, refused: 4, duplicate: 5 },
    refusal: 'late',
  },
  {
    rule: 'a machine that was restored from before its goodbye is accepted with the second report that continues the first',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [1, { t: 1001, seq: 901, goodbye: true }, 'accepted'],
      [6, { t: 200, seq: 100 }, 'replay'],
      [7.2, { t: 201, seq: 101 }, 'replay'], // not before the reset limit
      [9.1, { t: 203, seq: 103 }, 'accepted'],
      [10, { t: 204, seq: 104 }, 'accepted'],
    ],
    counts: { accepted: 4, refused: 2, resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'also long after it, and with an interval of 10 s',
    steps: [
      [0, { t: 1000, seq: 900, goodbye: true }, 'accepted'],
      [900, { t: 200, seq: 100, interval: 10_000 }, 'replay'],
      [914.9, { t: 210, seq: 101, interval: 10_000 }, 'accepted'],
    ],
    counts: { accepted: 2, refused: 1, resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'also where each report is a run of its own, as with --once',
    steps: [
      [0, { start: 1000, t: 1000, seq: 0, goodbye: true }, 'accepted'],
      [600, { start: 200, t: 200, seq: 0, goodbye: true }, 'late'],
      [1200, { start: 800, t: 800, seq: 0, goodbye: true }, 'accepted'],
      [1800, { start: 1400, t: 1400, seq: 0, goodbye: true }, 'accepted'],
    ],
    counts: { accepted: 3, refused: 1, late: 1, resets: 1, restarts: 1 },
    refusal: 'late',
  },
  {
    rule: 'a stray report of a boot that is over does not bring a node back that said goodbye, and its second one does',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [10, { boot: 2, start: 5, t: 10, seq: 0 }, 'accepted'],
      [11, { boot: 2, start: 5, t: 11, seq: 1, goodbye: true }, 'accepted'],
      [12, { t: 999, seq: 899 }, 'replay'],
      [30, { t: 999, seq: 899 }, 'replay'],
      [40, { t: 900, seq: 800 }, 'replay'],
      [41, { t: 901, seq: 801 }, 'accepted'],
    ],
    counts: { accepted: 4, refused: 3, reboots: 2 },
    refusal: 'replay',
  },
  {
    rule: 'of two intervals the shorter decides when a reset is taken',
    steps: [
      [0, { t: 1000, seq: 900, interval: 10_000 }, 'accepted'],
      [7.5, { t: 200, seq: 100 }, 'replay'],
      [7.500000001, { t: 201, seq: 101 }, 'accepted'],
      [15.000000001, { t: 101, seq: 1, interval: 600_000 }, 'replay'],
      [15.000000002, { t: 102, seq: 2, interval: 600_000 }, 'accepted'],
    ],
    counts: { accepted: 3, refused: 2, resets: 2 },
    refusal: 'replay',
  },
  {
    rule: 'with an interval below a second a reset waits as long as with one of a second',
    steps: [
      [0, { t: 1000, seq: 900, interval: 100 }, 'accepted'],
      [7.5, { t: 200, seq: 100, interval: 100 }, 'replay'],
      [7.500000001, { t: 201, seq: 101, interval: 100 }, 'accepted'],
    ],
    counts: { accepted: 2, refused: 1, resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'with other limits a reset is taken in the middle between them',
    limits: [500, 1501],
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [1.0005, { t: 200, seq: 100 }, 'replay'],
      [1.000500001, { t: 201, seq: 101 }, 'accepted'],
    ],
    counts: { accepted: 2, refused: 1, resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'with limits of days, and an interval of ten minutes, in the middle between them',
    limits: [24 * HOUR_MS, 48 * HOUR_MS],
    steps: [
      [0, { t: 1e9, seq: 900, interval: 600_000 }, 'accepted'],
      [36 * 3600 * 600, { t: 200, seq: 100, interval: 600_000 }, 'replay'],
      [36 * 3600 * 600 + 1e-6, { t: 201, seq: 101, interval: 600_000 }, 'accepted'],
    ],
    counts: { accepted: 2, refused: 1, resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'with limits of centuries no reset is taken within a century',
    limits: [200 * YEAR_MS, 290 * YEAR_MS],
    steps: [
      [0, { t: 1e9, seq: 900 }, 'accepted'],
      [1, { t: 200, seq: 100 }, 'replay'],
      [3.1e9, { t: 201, seq: 101 }, 'replay'],
    ],
    counts: { accepted: 1, refused: 2 },
    refusal: 'replay',
  },
  ...[1001, 1537, 2000, 4096, 10_000, 65_536, 600_000].map(
    (interval): Row => ({
      rule: `with limits of centuries, and an interval of ${interval} ms, neither is a rival let in nor a reset taken`,
      limits: [200 * YEAR_MS, 290 * YEAR_MS],
      steps: [
        [0, { t: 1e9, seq: 900, interval }, 'accepted'],
        [1, { t: 200, seq: 100, interval }, 'replay'],
        [2, { boot: 2, t: 200, seq: 100, interval }, 'rival'],
        [3.1e9, { t: 201, seq: 101, interval }, 'replay'],
        [3.2e9, { boot: 2, t: 201, seq: 101, interval }, 'rival'],
      ],
      counts: { accepted: 1, refused: 4 },
      refusal: 'rival',
    }),
  ),
  {
    rule: 'each takes back what it was counted as, also after further gaps and beyond a gap longer than the history',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, 'resumed'],
      [3, { t: 103, seq: 3 }, 'accepted'],
      [6, { t: 106, seq: 6 }, 'accepted'],
      [6.1, { t: 101, seq: 1 }, 'late'],
      [6.2, { t: 104, seq: 4 }, 'late'],
      [7, 'resumed'],
      [106, { t: 206, seq: 106 }, 'accepted'],
      [106.1, { t: 143, seq: 43 }, 'late'],
      [107, { t: 207, seq: 107 }, 'accepted'],
      [107.1, { t: 205, seq: 105 }, 'late'],
    ],
    counts: { accepted: 5, unheard: 98, lost: 1, late: 4, refused: 4 },
    refusal: 'late',
  },
];

const zero = {
  accepted: 0,
  lost: 0,
  unheard: 0,
  duplicate: 0,
  late: 0,
  refused: 0,
  restarts: 0,
  reboots: 0,
  resets: 0,
};

rows.forEach((row, i) => {
  t.test(`${i + 1}. ${row.rule}`, async t => {
    const path = boardPath(t);
    const [uncertainAfter, silentAfter] = row.limits ?? [4500, 10_500];
    const writer = openWriter({ path, cluster: '', capacity: 4, uncertainAfter, silentAfter, nodes: [] });
    t.teardown(() => writer.close());
    writer.resumed(0n); // the receiver has been listening since long before the row
    const ns = (seconds: number) => BigInt(Math.round(seconds * 1e9));
    /** When a report was made that comes again. */
    const made = new Map<string, number>();
    for (const [at, sent, outcome] of row.steps) {
      if (sent === 'resumed') {
        writer.resumed(NOW + ns(at));
        continue;
      }
      const what = JSON.stringify(sent);
      if (!made.has(what)) made.set(what, at);
      const values: Encodable<'report'> = {
        boot_id: BigInt(sent.boot ?? 1),
        start_boot_ns: ns(sent.start ?? 50),
        t_boot_ns: ns(sent.t),
        t_real_ns: REAL + ns(made.get(what) ?? at),
        seq: sent.seq,
        interval_ms: sent.interval ?? 1000,
        flags: sent.goodbye ? 2 ** bits.flags.goodbye : 0,
      };
      t.equal(
        deliver(writer, makeReport(values), NOW + ns(at), REAL + ns(at)),
        outcome,
        `at ${at} s: ${JSON.stringify(sent)}`,
      );
    }
    const reader = new BoardReader(path);
    t.teardown(() => reader.close());
    const node = reader.snapshot().node(0);
    const { record } = node;
    const counts = Object.fromEntries(Object.keys(zero).map(name => [name, record[name as keyof typeof record]]));
    t.same(counts, { ...zero, ...row.counts });
    t.equal(node.lastRefusal?.reason, row.refusal);
    const last = row.steps.filter(step => step[2] === 'accepted').at(-1)?.[1] as Sent;
    t.equal(node.report?.seq, last.seq, 'the board holds the last accepted report');
    t.equal(node.report?.t_boot_ns, ns(last.t));
  });
});
