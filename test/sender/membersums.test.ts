// A sum whose members come, go, are replaced or cannot be read moves only by what each member grew between two reads of
// the same member: each sum, in both senders, by one table.
//
// @seconds 10

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
import { makeIn, SANITIZED } from '../kit/compiling.js';
import { memoryFolder } from '../kit/places.js';

type Files = Readonly<Record<string, string>>;

/** What there is of a member: its count; nothing; what cannot be read; or another one of the same name. */
type State = number | 'gone' | 'unread' | { other: number };
const [gone, unread] = ['gone', 'unread'] as const;
const other = (count: number): State => ({ other: count });

/** A sum: the files of its members, and what a report says of it; undefined: it is not known. */
interface Sum {
  files(members: readonly State[]): Files;
  told(report: Readonly<Record<string, unknown>>): unknown;
  set: keyof typeof bits.valid;
  isTally?: true;
  /** It needs all of its members. */
  isOfAll?: true;
}

const countOf = (state: State) => (typeof state === 'object' ? state.other : state === unread ? 'x' : state);
const isOther = (state: State) => typeof state === 'object';
const each = (members: readonly State[], files: (state: State, i: number) => Files): Files =>
  Object.assign({}, ...members.map((state, i) => (state === gone ? {} : files(state, i))));

const entry = (report: Readonly<Record<string, unknown>>, name: string) =>
  Number((report[name] as Record<string, unknown>).rx_packets);

const sums: Readonly<Record<string, Sum>> = {
  disks: {
    set: 'disk',
    told: report => Number(report.disk_reads),
    files: members => ({
      'proc/diskstats': members
        .map((state, i) => `8 ${i * 16} sd${'ab'[i]} ${state === gone ? 50 : countOf(state)} 0 0 0 0 0 0 0 0 0 0\n`)
        .join(''),
      ...Object.assign(
        {},
        ...members.map((state, i) => ({
          [`sys/block/sd${'ab'[i]}/size`]: state === gone ? '0\n' : '8\n',
          [`sys/block/sd${'ab'[i]}/diskseq`]: isOther(state) ? '9\n' : `${i}\n`,
        })),
      ),
    }),
  },
  throttle: {
    set: 'throttle',
    isTally: true,
    told: report => report.throttle_events,
    files: members => {
      const cpu = (state: State, i: number) => (isOther(state) ? i + 2 : i);
      const online = members.flatMap((state, i) => (state === gone ? [] : [cpu(state, i)]));
      const at = 'sys/devices/system/cpu';
      return {
        [`${at}/online`]: `${online.join()}\n`,
        [`${at}/cpu0/thermal_throttle/package_throttle_count`]: '1\n',
        ...each(members, (state, i) => ({
          [`${at}/cpu${cpu(state, i)}/topology/physical_package_id`]: `${cpu(state, i)}\n`,
          [`${at}/cpu${cpu(state, i)}/thermal_throttle/package_throttle_count`]: `${countOf(state)}\n`,
        })),
      };
    },
  },
  edac: {
    set: 'edac',
    isTally: true,
    told: report => report.edac_ce,
    files: members =>
      each(members, (state, i) => ({
        [`sys/devices/system/edac/mc/mc${i}/ce_count`]: `${countOf(state)}\n`,
        [`sys/devices/system/edac/mc/mc${i}/ue_count`]: '0\n',
        [`sys/devices/system/edac/mc/mc${i}/csrow${isOther(state) ? 7 : 0}/size_mb`]: '1\n',
      })),
  },
  energy: {
    set: 'energy_cpu',
    isOfAll: true,
    told: report => Number(report.energy_cpu_mj) / 1000,
    files: members =>
      each(members, (state, i) => ({
        [`sys/class/powercap/intel-rapl:${i}/name`]: `package-${isOther(state) ? 7 : i}\n`,
        [`sys/class/powercap/intel-rapl:${i}/max_energy_range_uj`]: '1000000000\n',
        [`sys/class/powercap/intel-rapl:${i}/energy_uj`]: state === unread ? 'x\n' : `${countOf(state)}000000\n`,
      })),
  },
  fabric: {
    set: 'fabric',
    told: report => entry(report, 'fabric'),
    files: members =>
      each(members, (state, i) =>
        Object.fromEntries(
          ['port_rcv_data', 'port_xmit_data', 'port_rcv_packets', 'port_xmit_packets'].map(leaf => [
            `sys/class/infiniband/mlx5_${isOther(state) ? 7 : i}/ports/1/counters/${leaf}`,
            `${countOf(state)}\n`,
          ]),
        ),
      ),
  },
  'interfaces beyond three': {
    set: 'net',
    told: report => entry(report, 'net_rest'),
    files: members => {
      const all: readonly State[] = [1, 1, 1, ...members];
      const line = (state: State, i: number) => `eth${i}: 0 ${countOf(state)} 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n`;
      const lines = all.map((state, i) => (state === gone ? '' : line(state, i)));
      return {
        'proc/net/dev': `Inter-|\n face |\n${lines.join('')}`,
        ...each(all, (state, i) => ({
          [`sys/class/net/eth${i}/device/x`]: '',
          [`sys/class/net/eth${i}/ifindex`]: `${i + 2}\n`,
          [`sys/class/net/eth${i}/address`]: `02:00:00:00:00:0${isOther(state) ? 9 : i}\n`,
        })),
      };
    },
  },
};

type Told = number | undefined;

/** Rounds over two members, and the sum after each: of one that has rates, and of a tally where that is another. */
const rows: [what: string, rounds: State[][], rated: Told[], tally?: Told[] | undefined, seconds?: number][] = [
  // biome-ignore format: a table
  ['both grow', [[100, 50], [101, 52]], [150, 153]],
  // biome-ignore format: a table
  ['one leaves', [[100, 50], [101, gone], [102, gone]], [150, 151, 152]],
  // biome-ignore format: a table
  ['returns with its count', [[100, 50], [101, gone], [102, 50], [102, 51]], [150, 151, 152, 153]],
  // biome-ignore format: a table
  ['returns with more', [[100, 50], [101, gone], [102, 53], [102, 54]], [150, 151, 152, 153], [150, 151, 155, 156]],
  // biome-ignore format: a table
  ['returns from zero', [[100, 50], [100, gone], [100, 2], [100, 4]], [150, 150, 150, 152]],
  // biome-ignore format: a table
  ['begins anew, and nobody saw it leave', [[100, 50], [101, 2], [101, 4]], [150, 151, 153]],
  // biome-ignore format: a table
  ['is replaced by another', [[100, 50], [100, other(70)], [101, other(72)]], [150, 150, 153]],
  // biome-ignore format: a table
  ['is replaced, and returns', [[100, 50], [100, other(70)], [100, 50], [100, 51]], [150, 150, 150, 151]],
  // biome-ignore format: a table
  ['comes', [[100, gone], [100, 50], [100, 55]], [100, 100, 105]],
  // biome-ignore format: a table
  ['cannot be read once', [[100, 50], [101, unread], [102, 53]], [150, undefined, 155]],
  // biome-ignore format: a table
  ['cannot be read for a minute', [[100, 50], [101, unread], [101, unread], [101, unread], [102, gone]],
    [150, undefined, undefined, 151, 152], undefined, 30],
];

/** The sender in TypeScript, reading the same trees. */
function hereOf(trees: readonly string[], stepMs: number): Uint8Array[] {
  const sources = makeSources();
  let collector: Collector | undefined;
  return trees.map((tree, i) => {
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
    else collector.moveTo({ proc, sys });
    collector.collect(view, bootNs, detailsOf(readings.map(({ details }) => details)));
    return report;
  });
}

const program = join(makeIn('.', SANITIZED, 'OUT/test/sums'), 'test/sums');
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
  t.test(name, t => {
    const root = memoryFolder(t);
    for (const [r, [what, rounds, rated, tally, seconds = 1]] of rows.entries()) {
      const trees = rounds.map((members, i) => {
        const tree = join(root, `${r}-${i}`);
        for (const [path, text] of Object.entries(files(members))) {
          mkdirSync(dirname(join(tree, path)), { recursive: true });
          writeFileSync(join(tree, path), text);
        }
        return tree;
      });
      const ofReport = (report: Uint8Array) => {
        const view = new DataView(report.buffer, report.byteOffset, REPORT_BYTES);
        const fields = decode('report', view, 0) as Readonly<Record<string, unknown>>;
        return ((fields.valid as bigint) >> BigInt(bits.valid[set])) & 1n ? told(fields) : undefined;
      };
      const expected = (isTally ? (tally ?? rated) : rated).map((sum, i) =>
        isOfAll && rounds[i]?.includes(unread) ? undefined : sum,
      );
      // Half of the range at once proves nothing.
      if (isOfAll && rounds[1]?.[1] === 2) expected[1] = undefined;
      // What was unread for longer than a counter takes to come round gives nothing for that time.
      if (isOfAll && seconds > 1) expected[4] = 150;
      t.strictSame(hereOf(trees, seconds * 1000).map(ofReport), expected, what);
      t.strictSame(inC(trees, seconds * 1000).map(ofReport), expected, `${what}, in C`);
    }
    t.end();
  });
