// A sum whose members come, go, are replaced or cannot be read moves only by what each member grew between two reads of
// the same member: each sum, in both senders, by one table.
//
// @seconds 10
// @whole
// @days 3

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { decode, REPORT_BYTES } from '../../src/layout/codec.js';
import { bits } from '../../src/layout/layout.gen.js';
import { Collector } from '../../src/sender/collect.js';
import { detailsOf, fillSlow } from '../../src/sender/slow/fill.js';
import { makeSources } from '../../src/sender/slow/index.js';
import { machineWorld } from '../../src/sender/slow/slowworld.js';
import { CHECKED, makeIn } from '../kit/compiling.js';
import { memoryFolder } from '../kit/places.js';
import { partOf, SEED } from '../kit/whole.js';
import { gone, off, other, type State, sums, unread } from './sums.js';

type Told = number | undefined;

/** Rounds over two members, and the sum after each: of one that has rates, and of a tally where that is another. */
// biome-ignore format: a table
const rows: [
  what: string,
  rounds: State[][],
  rated: Told[],
  tally?: Told[] | undefined,
  seconds?: number,
  isAtOnce?: true,
][] = [
  ['both grow', [[100, 50], [101, 52]], [150, 153]],
  ['one leaves', [[100, 50], [101, gone], [102, gone]], [150, 151, 152]],
  ['returns with its count', [[100, 50], [101, gone], [102, 50], [102, 51]], [150, 151, 152, 153]],
  ['returns with more', [[100, 50], [101, gone], [102, 53], [102, 54]], [150, 151, 152, 153], [150, 151, 155, 156]],
  ['returns from zero', [[100, 50], [100, gone], [100, 2], [100, 4]], [150, 150, 150, 152]],
  ['begins anew, and nobody saw it leave', [[100, 50], [101, 2], [101, 4]], [150, 151, 153]],
  ['is replaced by another', [[100, 50], [100, other(70)], [101, other(72)]], [150, 150, 153]],
  ['is replaced at once', [[100, 50], [100, other(70)], [101, other(72)]],
    [150, 150, 153], undefined, 1, true],
  ['is replaced, and returns', [[100, 50], [100, other(70)], [100, 50], [100, 51]], [150, 150, 150, 151]],
  ['comes', [[100, gone], [100, 50], [100, 55]], [100, 100, 105]],
  ['cannot be read once', [[100, 50], [101, unread], [102, 53]], [150, undefined, 155]],
  ['stands still', [[100, 50], [101, 50], [102, 51]], [150, 151, 153]],
  ['is switched off, and stands still', [[100, off], [100, off], [102, 51]], [150, 150, 153]],
  ['is switched off, and others do not stand still', [[100, off], [101, off], [103, 51]], [150, 151, 154]],
  ['cannot be read for a minute', [[100, 50], [101, unread], [101, unread], [101, unread], [102, gone]],
    [150, undefined, undefined, 151, 152], undefined, 30],
];

/** The sender in TypeScript, reading the same trees. */
function hereOf(trees: readonly string[], stepMs: number): Uint8Array[] {
  const sources = makeSources();
  let collector: Collector | undefined;
  let tree = '';
  return trees.map((next, i) => {
    const isLaidOver = next.startsWith('+');
    if (isLaidOver) execFileSync('cp', ['-r', `${next.slice(1)}/.`, tree]);
    else tree = next;
    const [proc, sys] = [join(tree, 'proc'), join(tree, 'sys')];
    const bootNs = 1_000_000_000_000n + BigInt(i * stepMs) * 1_000_000n;
    const world = {
      ...machineWorld({ proc, sys, run: '/dev/null', etc: '/dev/null', scratch: '/' }),
      bootNs: () => bootNs,
    };
    const report = new Uint8Array(REPORT_BYTES);
    const view = new DataView(report.buffer);
    const readings = sources.map(source => source.read(world));
    fillSlow(view, readings, bootNs);
    if (collector === undefined) collector = new Collector({ proc, sys });
    else if (!isLaidOver) collector.moveTo({ proc, sys });
    collector.collect(view, bootNs, detailsOf(readings.map(({ details }) => details)));
    return report;
  });
}

const program = join(makeIn('.', CHECKED, 'OUT/test/sums'), 'test/sums');
const inC = (trees: readonly string[], stepMs: number) =>
  execFileSync(program, [String(stepMs), ...trees], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ASAN_OPTIONS: 'detect_leaks=0' },
  })
    .split('\n')
    .filter(Boolean)
    .map(line => Buffer.from(line, 'hex'));

for (const [name, { files, told, set, isTally, isOfAll }] of Object.entries(sums))
  t.test(name, async t => {
    const root = memoryFolder(t);
    for (const [r, [what, rounds, rated, tally, seconds = 1, isAtOnce]] of partOf([...rows.entries()], 3, SEED)) {
      const lay = (whose: string): string[] =>
        rounds.map((members, i) => {
          // Where nothing changed it is the same tree: counters stay open.
          const same = rounds.findIndex(other => other.join() === members.join());
          const tree = join(root, `${whose}${r}-${i > 0 && same === i - 1 ? same : i}`);
          for (const [path, text] of Object.entries(files(members))) {
            mkdirSync(dirname(join(tree, path)), { recursive: true });
            writeFileSync(join(tree, path), text);
          }
          return isAtOnce && i > 0 ? `+${tree}` : tree;
        });
      const ofReport = (report: Uint8Array) => {
        const view = new DataView(report.buffer, report.byteOffset, REPORT_BYTES);
        const fields = decode('report', view, 0) as Readonly<Record<string, unknown>>;
        return ((fields.valid as bigint) >> BigInt(bits.valid[set])) & 1n ? told(fields) : undefined;
      };
      const expected = (isTally ? (tally ?? rated) : rated).map((sum, i) =>
        isOfAll && rounds[i]?.includes(unread) ? undefined : sum,
      );
      // What stands still once was measured until then.
      if (isOfAll && rounds[1]?.includes(off)) expected[1] = undefined;
      // Half of the range at once proves nothing.
      if (isOfAll && rounds[1]?.[1] === 2) expected[1] = undefined;
      // What was unread for longer than a counter takes to come round gives nothing for that time.
      if (isOfAll && seconds > 1) expected[4] = 150;
      t.strictSame(hereOf(lay('ts'), seconds * 1000).map(ofReport), expected, what);
      t.strictSame(inC(lay('c'), seconds * 1000).map(ofReport), expected, `${what}, in C`);
    }
  });
