// The rules of order for proved reports, each a numbered row: a sequence of reports, the result for each, and for how
// long a node that has its key can be kept out at most. The clock is the test's own; the code is the receive thread's.

import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bits, enums } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import { type Key, keyLine, nodeKey } from '../../src/options/keys.js';
import type { BoardReader } from '../../src/shm/reader.js';
import { openWriter } from '../../src/shm/writer.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { run, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { type DatagramOutcome, deliver } from '../kit/testwriter.js';
import { until } from '../kit/until.js';

const S = 1_000_000_000n;
const NOW = 1_000_000n * S; // the master's clocks when a row begins
const REAL = 1_700_000_000n * S;
/** The seconds from the row's beginning to 1970, and to 2099. */
const IN_1970 = -1_700_000_000;
const IN_2099 = 2_371_000_000;

const CLUSTER: Key = { id: 1, node: undefined, secret: randomBytes(32) };
const KEYS = { none: undefined, cluster: CLUSTER, node: nodeKey(CLUSTER, 'node1') };

interface Sent {
  boot?: number;
  /** The sender's start, in seconds after boot. */
  start?: number;
  /** The time of this report, in seconds after boot. */
  t: number;
  seq: number;
  /** By how many seconds the node's wall clock is ahead of the master's. */
  skew?: number;
  /** When it was made, if it is sent again later. */
  made?: number;
  interval?: number;
  goodbye?: boolean;
  by?: keyof typeof KEYS;
}

/** When it arrives, in seconds after the row's beginning; what arrives; the result. */
type Step = [at: number, sent: Sent, outcome: DatagramOutcome];

interface Row {
  rule: string;
  /** How long this keeps out a node that has its key; not at all, if it says nothing. */
  most?: string;
  window?: number | 'off';
  /** uncertain_after and silent_after in ms, if they are not the defaults. */
  limits?: [number, number];
  steps: Step[];
  /** Fields of the record; others are not compared. */
  record?: Record<string, number>;
  /** The last rejection that counts as the node's own. */
  refusal?: (typeof enums.reason)[number];
  /** The reason of a rejection whose sender is not proved. */
  stray?: (typeof enums.reason)[number];
}

/** Reports for every second from one time to another; their t is `at` plus `plus`. */
const each = (from: number, to: number, plus: number, outcome: DatagramOutcome, sent: Partial<Sent> = {}): Step[] =>
  Array.from({ length: to - from + 1 }, (_, i) => [
    from + i,
    { t: from + i + plus, seq: from + i + plus, ...sent },
    outcome,
  ]);

const rows: Row[] = [
  {
    rule: 'reports in order are accepted, and a gap is lost',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, { t: 101, seq: 1 }, 'accepted'],
      [3, { t: 103, seq: 3 }, 'accepted'],
    ],
    record: { accepted: 3, lost: 1, auth_proved: 2, order_proved: 2, reboots: 0 },
  },
  {
    rule: 'the same by two roads is a duplicate, and what was overtaken is late and takes back its loss',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [0.1, { t: 100, seq: 0, made: 0 }, 'duplicate'],
      [2, { t: 102, seq: 2 }, 'accepted'],
      [2.1, { t: 101, seq: 1, made: 1 }, 'late'],
      [2.2, { t: 101, seq: 1, made: 1 }, 'duplicate'],
    ],
    record: { accepted: 2, lost: 0, duplicate: 2, late: 1 },
    refusal: 'late',
  },
  {
    rule: 'window: 60 s ahead is inside',
    steps: [[0, { t: 100, seq: 0, skew: 60 }, 'accepted']],
    record: { offset_us: 60_000_000 },
  },
  {
    rule: 'window: 60 s behind is inside',
    steps: [[0, { t: 100, seq: 0, skew: -60 }, 'accepted']],
    record: { offset_us: -60_000_000 },
  },
  {
    rule: 'window: a microsecond more ahead is outside, and the node gets a record that says so',
    most: 'until its clock is right, or the window wider',
    steps: [[0, { t: 100, seq: 0, skew: 60.000001 }, 'clock']],
    record: { accepted: 0, refused: 1, refusal_offset_us: 60_000_001, auth_proved: 0 },
    refusal: 'clock',
  },
  {
    rule: 'window: a microsecond more behind is outside',
    most: 'until its clock is right, or the window wider',
    steps: [[0, { t: 100, seq: 0, skew: -60.000001 }, 'clock']],
    record: { accepted: 0, refused: 1, refusal_offset_us: -60_000_001 },
    refusal: 'clock',
  },
  {
    rule: 'window: of another width',
    most: 'until its clock is right, or the window wider',
    window: 5000,
    steps: [
      [0, { t: 100, seq: 0, skew: 5.000001 }, 'clock'],
      [1, { t: 101, seq: 1, skew: 5 }, 'accepted'],
    ],
    refusal: 'clock',
  },
  {
    rule: 'window: off takes any clock',
    window: 'off',
    steps: [
      [0, { t: 100, seq: 0, skew: IN_1970 }, 'accepted'],
      [1, { boot: 2, t: 60, seq: 0, skew: IN_2099 }, 'accepted'],
    ],
    record: { accepted: 2, reboots: 1 },
  },
  {
    rule: 'reboot: accepted at once, even while the boot before it is live',
    steps: [
      [0, { t: 100, seq: 50 }, 'accepted'],
      [0.5, { boot: 2, start: 5, t: 6, seq: 0 }, 'accepted'],
      [1.5, { boot: 2, start: 5, t: 7, seq: 1 }, 'accepted'],
    ],
    record: { accepted: 3, reboots: 1, lost: 0 },
  },
  {
    rule: 'reboot: seven within a minute are all accepted',
    steps: [1, 2, 3, 4, 5, 6, 7].map(boot => [boot * 8, { boot, start: 5, t: 6, seq: 0 }, 'accepted']),
    record: { accepted: 7, reboots: 6 },
  },
  {
    rule: 'reboot: what the boot before it sent, and took its time, is not believed any more',
    steps: [
      [0, { t: 100, seq: 50 }, 'accepted'],
      [3, { boot: 2, start: 5, t: 6, seq: 0 }, 'accepted'],
      [3.5, { t: 100, seq: 50, made: 0 }, 'replay'],
      [3.6, { t: 101, seq: 51, made: 1 }, 'rival'],
      [4, { boot: 2, start: 5, t: 7, seq: 1 }, 'accepted'],
    ],
    record: { accepted: 3, reboots: 1 },
    refusal: 'rival',
  },
  {
    rule: 'restart: a later start is accepted at once, whatever the clock says, and counting begins anew',
    steps: [
      [0, { t: 100, seq: 50 }, 'accepted'],
      [1, { start: 101, t: 101, seq: 3, skew: 4000 }, 'accepted'],
      [2, { start: 101, t: 102, seq: 4, skew: 4000 }, 'accepted'],
    ],
    record: { accepted: 3, restarts: 1, lost: 0 },
  },
  {
    rule: 'restart: a later start that is not beyond is no restart but a replay',
    steps: [
      [0, { start: 101, t: 101, seq: 0 }, 'accepted'],
      [10, { start: 50, t: 111, seq: 60 }, 'accepted'],
      [11, { start: 50, t: 112, seq: 61 }, 'accepted'],
      [12, { start: 101, t: 101, seq: 0, made: 0 }, 'replay'],
      [60, { start: 101, t: 101, seq: 0, made: 0 }, 'replay'],
    ],
    record: { accepted: 3, restarts: 1 },
    refusal: 'replay',
  },
  {
    rule: 'clock: stepped forwards by an hour and back within a run',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, { t: 101, seq: 1, skew: 3600 }, 'accepted'],
      [2, { t: 102, seq: 2, skew: -3600 }, 'accepted'],
      [3, { t: 103, seq: 3 }, 'accepted'],
    ],
    record: { accepted: 4, lost: 0 },
  },
  {
    rule: 'clock: a dead RTC boots in 1970, and is believed when its clock is set',
    most: 'until its clock is set',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [30, { boot: 2, start: 5, t: 6, seq: 0, skew: IN_1970 }, 'clock'],
      [31, { boot: 2, start: 5, t: 7, seq: 1, skew: IN_1970 }, 'clock'],
      [32, { boot: 2, start: 5, t: 8, seq: 2 }, 'accepted'],
    ],
    record: { accepted: 2, reboots: 1, refused: 2 },
    refusal: 'clock',
  },
  {
    rule: 'clock: once in 2099 within a run, then a reboot with the right one',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, { t: 101, seq: 1, skew: IN_2099 }, 'accepted'],
      [2, { boot: 2, start: 5, t: 6, seq: 0 }, 'accepted'],
      [3, { boot: 2, start: 5, t: 7, seq: 1 }, 'accepted'],
    ],
    record: { accepted: 4, reboots: 1 },
  },
  {
    rule: 'clock: in 2099 from the first report on, then set right',
    most: 'until its clock is set',
    steps: [
      [0, { t: 100, seq: 0, skew: IN_2099 }, 'clock'],
      [1, { t: 101, seq: 1 }, 'accepted'],
    ],
    record: { accepted: 1, refused: 1 },
    refusal: 'clock',
  },
  {
    rule: "clock: the master's own is wrong by an hour: who runs goes on, who boots has to wait",
    most: "until the master's clock is right",
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, { t: 101, seq: 1, skew: -3600 }, 'accepted'],
      [2, { boot: 2, start: 5, t: 6, seq: 0, skew: -3600 }, 'clock'],
      [3, { boot: 2, start: 5, t: 7, seq: 1 }, 'accepted'],
    ],
    refusal: 'clock',
  },
  {
    rule: 'suspend: eight hours later the same run goes on, with a clock that was not set yet',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [28_800, { t: 28_900, seq: 1, skew: -28_800 }, 'accepted'],
      [28_801, { t: 28_901, seq: 2 }, 'accepted'],
    ],
    record: { accepted: 3, lost: 0, resets: 0 },
  },
  {
    rule: 'restored machine: a replay for 7.5 s, then a reset; fresh until it has passed what it had reached',
    most: 'the mean of both limits, 7.5 s',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [1, { t: 200, seq: 100 }, 'replay'],
      [7.5, { t: 206.5, seq: 107 }, 'replay'],
      [7.500000001, { t: 206.6, seq: 108 }, 'accepted'],
      ...each(12, 40, 199, 'accepted', {}),
      // Reports from before: the history has some of them, and the others are not fresh.
      [40.1, { t: 999, seq: 899, made: -1 }, 'replay'],
      [40.2, { t: 1000, seq: 900, made: 0 }, 'replay'],
      [41, { t: 240, seq: 240, skew: 61 }, 'replay'],
      [42, { t: 241, seq: 241, skew: 59 }, 'accepted'],
      [43, { t: 1001, seq: 242, skew: 4000 }, 'accepted'],
    ],
    record: { resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'restored machine: not before its clock is set',
    most: 'until its clock is set, and 7.5 s at least; else until it has passed what it had reached',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [20, { t: 200, seq: 100, skew: -820 }, 'replay'],
      [21, { t: 201, seq: 101 }, 'accepted'],
    ],
    record: { resets: 1, refusal_offset_us: -820_000_000 },
    refusal: 'replay',
  },
  {
    rule: 'restored machine: by less than 64 reports, those of its history are other ones and late until 7.5 s have passed',
    most: 'the mean of both limits, 7.5 s',
    steps: [...each(0, 30, 100, 'accepted'), ...each(31, 37, 70, 'late'), ...each(38, 63, 70, 'accepted')],
    record: { resets: 1, late: 7, duplicate: 0 },
    refusal: 'late',
  },
  {
    rule: 'restored machine: to an earlier run of its sender, it is late until 7.5 s have passed',
    most: 'the mean of both limits, 7.5 s',
    steps: [
      [0, { start: 900, t: 1000, seq: 100 }, 'accepted'],
      [5, { start: 50, t: 200, seq: 150 }, 'late'],
      [7.5, { start: 50, t: 202, seq: 152 }, 'late'],
      [7.500000001, { start: 50, t: 203, seq: 153 }, 'accepted'],
      [8.5, { start: 50, t: 204, seq: 154 }, 'accepted'],
    ],
    record: { resets: 1, late: 2 },
    refusal: 'late',
  },
  {
    rule: 'restored machine: and once more, and its sender is restarted meanwhile',
    most: 'the mean of both limits, 7.5 s, each time',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [11, { t: 500, seq: 400 }, 'accepted'],
      [12, { start: 501, t: 501, seq: 0 }, 'accepted'],
      [13, { start: 501, t: 502, seq: 1 }, 'accepted'],
      [13.5, { t: 1000, seq: 900, made: 0 }, 'late'],
      [14, { t: 200, seq: 100 }, 'late'],
      [20.5, { t: 206, seq: 106 }, 'late'],
      [20.6, { t: 207, seq: 107 }, 'accepted'],
      [21.6, { t: 208, seq: 108 }, 'accepted'],
    ],
    record: { resets: 2, restarts: 1 },
    refusal: 'late',
  },
  {
    rule: 'restored machine: its clock is set back by 50 s: later than the last one said, in time',
    most: 'by how much the clock was set back, at most twice the window',
    steps: [
      [0, { t: 1000, seq: 900, skew: 50 }, 'accepted'],
      [49, { t: 200, seq: 100 }, 'replay'],
      [51, { t: 202, seq: 102 }, 'accepted'],
    ],
    refusal: 'replay',
  },
  {
    rule: 'restored machine: after a clock in 2099 the window is the measure',
    most: 'twice the window, 120 s',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [1, { t: 1001, seq: 901, skew: IN_2099 }, 'accepted'],
      [61, { t: 200, seq: 100 }, 'replay'],
      [62, { t: 201, seq: 101 }, 'accepted'],
      [63, { t: 202, seq: 102 }, 'accepted'],
    ],
    refusal: 'replay',
  },
  {
    rule: 'restored machine: with an interval of 10 s it waits for 75 s',
    most: '7.5 of its intervals',
    steps: [
      [0, { t: 1000, seq: 900, interval: 10_000 }, 'accepted'],
      [75, { t: 300, seq: 100, interval: 10_000 }, 'replay'],
      [75.000000001, { t: 301, seq: 101, interval: 10_000 }, 'accepted'],
    ],
    record: { resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'restored machine: with other limits it waits until the middle between them',
    most: 'the mean of both limits',
    limits: [500, 1501],
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [1.0005, { t: 200, seq: 100 }, 'replay'],
      [1.000500001, { t: 201, seq: 101 }, 'accepted'],
    ],
    record: { resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'restored machine: while it reports each second it is heard long before 10.5 s, were two reports lost',
    most: 'the mean of both limits, 7.5 s, each time',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      ...each(1, 7, 200, 'replay'),
      ...each(8, 20, 200, 'accepted'),
      ...each(21, 27, 79, 'replay'),
      [30, { t: 109, seq: 109 }, 'accepted'],
    ],
    record: { resets: 2, lost: 0, refused: 14 },
    refusal: 'replay',
  },
  {
    rule: 'restored machine: what it sent before is not fresh after 7.5 s either',
    most: 'the mean of both limits, 7.5 s',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [1, { t: 1001, seq: 901 }, 'accepted'],
      [8.6, { t: 936, seq: 836, made: -64 }, 'replay'],
      [9, { t: 1001, seq: 901, made: 1 }, 'duplicate'],
      [10, { t: 500, seq: 400, made: -500 }, 'replay'],
      [11, { t: 300, seq: 200 }, 'accepted'],
    ],
    record: { resets: 1 },
    refusal: 'replay',
  },
  {
    rule: 'restored machine: to before its last boot, a replay until it has passed what that boot had reached',
    most: 'by how much it was set back, or until it is forgotten',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [1, { boot: 2, start: 5, t: 6, seq: 0 }, 'accepted'],
      [10, { t: 990, seq: 890 }, 'replay'],
      [20, { t: 1000, seq: 900 }, 'replay'],
      [21, { t: 1001, seq: 901 }, 'accepted'],
    ],
    record: { reboots: 2 },
    refusal: 'replay',
  },
  {
    rule: 'clones: the clone takes the place at once, and the real node has it back when the clone has ended',
    most: 'uncertain_after, 4.5 s, after the last report of the clone',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      ...each(1, 60, 10, 'accepted', { boot: 2, start: 5 }).flatMap((step, i) => [
        step,
        [i + 1.5, { t: 101.5 + i, seq: i + 1 }, 'rival'] as Step,
      ]),
      [64.5, { t: 164.5, seq: 64 }, 'rival'],
      [64.6, { t: 164.6, seq: 65 }, 'accepted'],
      [65.6, { t: 165.6, seq: 66 }, 'accepted'],
      // A report that the clone has sent before is a replay.
      [66, { boot: 2, start: 5, t: 70, seq: 70, made: 60 }, 'replay'],
    ],
    record: { reboots: 2 },
    refusal: 'replay',
  },
  {
    rule: 'clones: at once when the clone has said goodbye',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, { boot: 2, start: 5, t: 10, seq: 0, goodbye: true }, 'accepted'],
      [2, { t: 102, seq: 2 }, 'accepted'],
    ],
    record: { reboots: 2 },
  },
  {
    rule: 'clones: a remembered boot needs the right clock, too',
    most: 'until its clock is right',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, { boot: 2, start: 5, t: 10, seq: 0 }, 'accepted'],
      [30, { t: 130, seq: 30, skew: 100 }, 'clock'],
      [31, { t: 131, seq: 31 }, 'accepted'],
    ],
    refusal: 'clock',
  },
  {
    rule: 'clones: two that were one machine a moment ago are one run; the one behind waits for the other to end',
    most: 'the mean of both limits, 7.5 s, after the last report of the other',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [0.5, { t: 800, seq: 700 }, 'replay'],
      [1, { t: 1001, seq: 901 }, 'accepted'],
      [1.5, { t: 801, seq: 701 }, 'replay'],
      [8.5, { t: 808, seq: 708 }, 'replay'],
      [8.500000001, { t: 809, seq: 709 }, 'accepted'],
    ],
    refusal: 'replay',
  },
  {
    rule: 'two senders with one name on one node: the later start stays, the other is a rival while it lives',
    most: 'uncertain_after, 4.5 s, after the last report of the other',
    steps: [
      [0, { t: 100, seq: 50 }, 'accepted'],
      [1, { start: 101, t: 101, seq: 0 }, 'accepted'],
      [1.1, { t: 100.5, seq: 51 }, 'late'],
      [1.5, { t: 101.5, seq: 52 }, 'rival'],
      [5.5, { t: 105.5, seq: 56 }, 'rival'],
      [5.6, { t: 105.6, seq: 57 }, 'accepted'],
    ],
    record: { restarts: 2 },
    refusal: 'rival',
  },
  {
    rule: 'replay: after the node went silent, by the history a duplicate, beyond it a replay, and never live',
    steps: [
      ...each(0, 70, 100, 'accepted'),
      [90, { t: 170, seq: 170, made: 70 }, 'duplicate'],
      [91, { t: 107, seq: 107, made: 7 }, 'duplicate'],
      [92, { t: 106, seq: 106, made: 6 }, 'replay'],
      [93, { t: 100, seq: 100, made: 0 }, 'replay'],
      [4000, { t: 100, seq: 100, made: 0 }, 'replay'],
    ],
    record: { accepted: 71, resets: 0 },
    refusal: 'replay',
  },
  {
    rule: 'replay: of an earlier run, and of an earlier boot, inside and outside of the window',
    steps: [
      [0, { t: 100, seq: 0 }, 'accepted'],
      [1, { start: 101, t: 101, seq: 0 }, 'accepted'],
      [2, { boot: 2, start: 5, t: 6, seq: 0 }, 'accepted'],
      [3, { boot: 2, start: 6.5, t: 7, seq: 0 }, 'accepted'],
      [30, { boot: 2, start: 5, t: 6, seq: 0, made: 2 }, 'late'],
      [31, { start: 101, t: 101, seq: 0, made: 1 }, 'replay'],
      [32, { t: 100, seq: 0, made: 0 }, 'replay'],
      [62, { start: 101, t: 101, seq: 0, made: 1 }, 'clock'],
    ],
    record: { accepted: 4 },
    refusal: 'clock',
  },
  {
    rule: 'replay: of a boot that is no longer remembered, only the window keeps out',
    steps: [
      ...[1, 2, 3, 4, 5, 6].map(boot => [boot * 60, { boot, start: 5, t: 6, seq: 0 }, 'accepted'] as Step),
      [400, { boot: 1, start: 5, t: 6, seq: 0, made: 60 }, 'clock'],
    ],
    refusal: 'clock',
  },
  {
    rule: 'replay: without a window nothing does',
    window: 'off',
    steps: [
      ...[1, 2, 3, 4, 5, 6].map(boot => [boot * 60, { boot, start: 5, t: 6, seq: 0 }, 'accepted'] as Step),
      [400, { boot: 2, start: 5, t: 6, seq: 0, made: 120 }, 'replay'],
      [401, { boot: 1, start: 5, t: 6, seq: 0, made: 60 }, 'accepted'],
    ],
    refusal: 'replay',
  },
  {
    rule: 'replay: against a restored machine nothing of before is fresh',
    steps: [
      [0, { t: 1000, seq: 900 }, 'accepted'],
      [1, { t: 1001, seq: 901 }, 'accepted'],
      [12, { t: 500, seq: 400 }, 'accepted'],
      [30, { t: 1000, seq: 900, made: 0 }, 'replay'],
      [31, { t: 1001, seq: 901, made: 1 }, 'replay'],
      [32, { t: 520, seq: 420 }, 'accepted'],
    ],
    refusal: 'replay',
  },
  {
    rule: 'replay: of a new record (a new board), the last minute can be sent again until the node speaks',
    steps: [
      [0, { t: 100, seq: 0, made: -61 }, 'clock'],
      [1, { t: 142, seq: 42, made: -59 }, 'accepted'],
      [2, { t: 202, seq: 102 }, 'accepted'],
    ],
    refusal: 'clock',
  },
  {
    rule: 'proof: what was accepted without one keeps nobody out who has one',
    steps: [
      [0, { t: 100, seq: 0, by: 'none' }, 'accepted'],
      [1, { t: 4_000_000_000, seq: 5000, skew: IN_2099, by: 'none' }, 'accepted'],
      [2, { t: 102, seq: 2 }, 'accepted'],
      [3, { t: 103, seq: 3 }, 'accepted'],
      [4, { t: 4_000_000_001, seq: 5001, by: 'none' }, 'auth_missing'],
    ],
    record: { accepted: 4, reboots: 0, auth_proved: 2, order_proved: 2 },
    stray: 'auth_missing',
  },
  {
    rule: "proof: nor what was accepted with the cluster's key keeps out who has the node's own",
    steps: [
      [0, { t: 100, seq: 0, by: 'cluster' }, 'accepted'],
      [1, { boot: 2, start: 5, t: 4_000_000_000, seq: 5000, by: 'cluster' }, 'accepted'],
      [2, { boot: 1, t: 102, seq: 2 }, 'accepted'],
      [3, { boot: 2, start: 5, t: 10, seq: 0 }, 'accepted'],
      [4, { boot: 2, start: 5, t: 4_000_000_001, seq: 5001, by: 'cluster' }, 'auth_missing'],
    ],
    record: { accepted: 4, auth_proved: 2, order_proved: 2 },
    stray: 'auth_missing',
  },
  {
    rule: 'proof: the first that is proved needs the right clock; what was accepted before stays as it was',
    most: 'until its clock is right',
    steps: [
      [0, { t: 100, seq: 0, by: 'none' }, 'accepted'],
      [1, { t: 101, seq: 1, skew: 100 }, 'clock'],
      [2, { t: 102, seq: 2, by: 'none' }, 'accepted'],
      [3, { t: 103, seq: 3 }, 'accepted'],
      [4, { t: 104, seq: 4, by: 'none' }, 'auth_missing'],
    ],
    record: { accepted: 3, auth_proved: 2, order_proved: 2 },
    refusal: 'clock',
    stray: 'auth_missing',
  },
  {
    rule: 'proof: one that is sent again a year later pins its name to no key',
    steps: [
      [0, { t: 100, seq: 0, by: 'cluster' }, 'accepted'],
      [1, { boot: 9, t: 50, seq: 5, made: -365 * 86_400 }, 'clock'],
      [2, { t: 102, seq: 2, by: 'cluster' }, 'accepted'],
      [3, { boot: 9, t: 51, seq: 6, made: -365 * 86_400 }, 'clock'],
      [4, { t: 104, seq: 4, by: 'cluster' }, 'accepted'],
    ],
    record: { accepted: 3, auth_proved: 1, order_proved: 1 },
    refusal: 'clock',
  },
  {
    rule: 'proof: without one, the rules without keys hold beside it',
    most: 'the mean of both limits, 7.5 s',
    steps: [
      [0, { t: 1000, seq: 900, by: 'none' }, 'accepted'],
      [7.5, { t: 200, seq: 100, by: 'none', skew: IN_1970 }, 'replay'],
      [7.500000001, { t: 210, seq: 110, by: 'none', skew: IN_1970 }, 'accepted'],
    ],
    record: { resets: 1, auth_proved: 0, order_proved: 0 },
    refusal: 'replay',
  },
];

const find = (reader: BoardReader, name: string) => [...reader.snapshot().nodes()].find(node => node.name === name);

const ns = (seconds: number) => BigInt(Math.round(seconds * 1e9));

function datagram(at: number, sent: Sent): Uint8Array {
  const by = sent.by ?? 'node';
  const key = KEYS[by];
  const report = makeReport({
    boot_id: BigInt(sent.boot ?? 1),
    start_boot_ns: ns(sent.start ?? 50),
    t_boot_ns: ns(sent.t),
    t_real_ns: REAL + ns(sent.made ?? at) + ns(sent.skew ?? 0),
    seq: sent.seq,
    interval_ms: sent.interval ?? 1000,
    flags: sent.goodbye ? 2 ** bits.flags.goodbye : 0,
    auth_alg: enums.auth_alg.indexOf(by),
    key_id: key?.id ?? 0,
  });
  if (key !== undefined) sign(report, key);
  return report;
}

rows.forEach((row, i) => {
  t.test(`${i + 1}. ${row.rule}. Kept out: ${row.most ?? 'not at all'}`, async t => {
    const path = boardPath(t);
    const [uncertainAfter, silentAfter] = row.limits ?? [4500, 10_500];
    const writer = openWriter({
      ...{ path, cluster: '', capacity: 4, uncertainAfter, silentAfter, nodes: [] },
      trust: { keys: [CLUSTER], required: 'none', clockWindow: row.window ?? 60_000 },
    });
    t.teardown(() => writer.close());
    writer.resumed(0n); // the receiver has been listening since long before the row
    for (const [at, sent, outcome] of row.steps)
      t.equal(
        deliver(writer, datagram(at, sent), NOW + ns(at), REAL + ns(at)),
        outcome,
        `at ${at} s: ${JSON.stringify(sent)}`,
      );
    const reader = openReader(t, path);
    const node = reader.snapshot().node(0);
    t.match(node.record, row.record ?? {});
    // A report without the required proof can come from anybody: it counts for its sender, and not for the node.
    t.equal(node.lastRefusal?.reason, row.refusal);
    if (row.stray !== undefined)
      t.match(reader.senders(), [{ reason: enums.reason.indexOf(row.stray), name: 'node1' }]);
    const last = row.steps.filter(step => step[2] === 'accepted').at(-1)?.[1];
    t.equal(node.report?.seq, last?.seq, 'the board holds the last accepted report');
    if (last !== undefined) t.equal(node.report?.t_boot_ns, ns(last.t));
  });
});

t.test('through sockets: rejected for its clock, shown so, and accepted once the clock is right', async t => {
  const key = join(folder(t), 'key');
  writeFileSync(key, keyLine(CLUSTER), { mode: 0o600 });
  const board = boardPath(t);
  const { port, output } = await startReceiver(t, board, [
    '--key-file',
    key,
    '--require',
    'node',
    '--clock-window',
    '30s',
  ]);
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  t.teardown(() => {
    socket.close();
  });
  const now = () => BigInt(Date.now()) * 1_000_000n;
  const send = (skew: number, sent: Sent) => socket.send(datagram(Number(now() - REAL) / 1e9, { ...sent, skew }));
  const reader = openReader(t, board);
  const status = async () => JSON.parse((await run(['status', '--json', '--board', board])).stdout).nodes[0];
  const refusal = () => find(reader, 'node1')?.lastRefusal;

  send(-3600, { t: 100, seq: 0 });
  await until('it is refused', () => refusal()?.reason === 'clock');
  const never = await status();
  t.match(never, { name: 'node1', state: 'never', reports: 0, last_refusal: { reason: 'clock' } });
  t.ok(Math.abs(never.last_refusal.offset_us / 1e6 + 3600) < 60, `${never.last_refusal.offset_us} us`);
  await until('the receiver says so', () => /rejected 1 datagram: clock \(the wall clock/.test(output().stderr));

  send(0, { t: 101, seq: 1 });
  await until('it is believed', () => find(reader, 'node1')?.record.accepted === 1);
  t.match(await status(), { state: 'live', last_refusal: { reason: 'clock' } });
  // The same run continues with any clock; another boot needs a right clock; a captured report is a replay.
  send(5000, { t: 102, seq: 2 });
  await until('the run goes on', () => find(reader, 'node1')?.report?.seq === 2);
  send(31, { boot: 2, start: 5, t: 6, seq: 0 });
  await until('its next boot is refused', () => find(reader, 'node1')?.record.refused === 2);
  send(29, { boot: 2, start: 5, t: 7, seq: 1 });
  await until('and believed', () => find(reader, 'node1')?.record.reboots === 1);
  send(0, { t: 102, seq: 2 });
  await until('the capture is refused', () => refusal()?.reason === 'replay');
  t.equal(find(reader, 'node1')?.report?.boot_id, 2n);
});

t.test('a killed receiver: the next one knows what was accepted and what was proved', async t => {
  const key = join(folder(t), 'key');
  writeFileSync(key, keyLine(CLUSTER), { mode: 0o600 });
  const board = boardPath(t);
  const socket = createSocket('udp4');
  t.teardown(() => {
    socket.close();
  });
  const reader = openReader(t, board);
  const real = Number(BigInt(Date.now()) * 1_000_000n - REAL) / 1e9;
  const receive = () => startReceiver(t, board, ['--key-file', key, '--require', 'none']);
  const first = await receive();
  socket.send(datagram(real, { t: 100, seq: 7 }), first.port, '127.0.0.1');
  await until('it is believed', () => find(reader, 'node1')?.record.accepted === 1);
  first.child.kill('SIGKILL');
  await first.exit;
  const second = await receive();
  const refused = (count: number) =>
    until(`${count} are refused or known`, () => {
      const record = find(reader, 'node1')?.record;
      return (record?.refused ?? 0) + (record?.duplicate ?? 0) === count;
    });
  socket.send(datagram(real, { t: 100, seq: 7 }), second.port, '127.0.0.1');
  await refused(1);
  t.match(find(reader, 'node1')?.record, { accepted: 1, duplicate: 1 });
  socket.send(datagram(real, { t: 101, seq: 8, by: 'none' }), second.port, '127.0.0.1');
  await refused(2);
  t.match(reader.senders(), [{ reason: enums.reason.indexOf('auth_missing'), address: '127.0.0.1', name: 'node1' }]);
  t.match(await run(['forget', 'node1', '--board', board]), { code: 0 });
  socket.send(datagram(real, { t: 101, seq: 8, by: 'none' }), second.port, '127.0.0.1');
  await until('released by forget', () => find(reader, 'node1')?.record.accepted === 1);
});
