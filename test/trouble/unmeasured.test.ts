// What is not measured any more is neither well nor ill: each problem, by what its node reported in the last minutes, on
// the faces that tell problems; and what a person clears.
//
// @seconds 4

import t from 'tap';
import type { Encodable, SetName } from '../../src/layout/codec.js';
import { bits, enums } from '../../src/layout/layout.gen.js';
import { unmeasuredLimitMs } from '../../src/native/index.js';
import { nodeSheet } from '../../src/presentation/nodesheet.js';
import { nodeTeller } from '../../src/presentation/statusjson.js';
import { ScrapedBoard } from '../../src/prometheus/boards.js';
import { Exporter } from '../../src/prometheus/exporter.js';
import { survey } from '../../src/query/survey.js';
import { lookAt } from '../../src/schedulers/bridge/boardlook.js';
import { PROBLEM_TEXT, PROBLEMS, type Problem, problemBit } from '../../src/shm/problems.js';
import type { Node, Snapshot } from '../../src/shm/snapshot.js';
import { painter } from '../../src/terminal/style.js';
import { troubleOf } from '../../src/trouble/trouble.js';
import { monotonicNs } from '../kit/clocks.js';
import { EVERYTHING, validOf } from '../kit/madeboard.js';
import { keptBoard } from '../kit/writtenboard.js';

/** A report every so many seconds, of so many. */
const [EVERY, SPAN] = [10, 260];
const gpu = (flag: keyof typeof bits.gpu_flags) => [1 << bits.gpu_flags[flag], 0, 0, 0, 0, 0, 0, 0];

/** How each problem is shown, and by which sets; `rises`: once a second as long as it lasts. */
const SHOWN: Readonly<
  Record<Exclude<Problem, 'held'>, { sets: SetName[]; bad: (second: number) => Encodable<'report'> }>
> = {
  bad_health: { sets: ['health'], bad: () => ({ health: enums.health.indexOf('bad') }) },
  root_readonly: { sets: ['root'], bad: () => ({ flags: 1 << bits.flags.root_readonly }) },
  memory_errors: { sets: ['edac'], bad: () => ({ edac_ue: 1 }) },
  gpu_lost: { sets: ['gpu_errors', 'gpu'], bad: () => ({ gpu_count: 1, gpu_flags: gpu('off_the_bus') }) },
  gpu_errors: { sets: ['gpu', 'gpu_errors'], bad: () => ({ gpu_count: 1, gpu_flags: gpu('ecc_error') }) },
  root_full: { sets: ['root'], bad: () => ({ root_avail_mib: 1 }) },
  scratch_full: { sets: ['scratch'], bad: () => ({ scratch_avail_mib: 1 }) },
  health_warning: { sets: ['health'], bad: () => ({ health: enums.health.indexOf('warning') }) },
  oom: { sets: ['vmstat'], bad: second => ({ oom_kills: second }) },
  hung_tasks: { sets: ['hung_tasks'], bad: second => ({ hung_tasks: second }) },
  throttled: { sets: ['throttle'], bad: second => ({ throttle_events: second }) },
  ecc: { sets: ['edac'], bad: second => ({ edac_ce: second }) },
};

const WELL: Encodable<'report'> = {
  ...{
    interval_ms: EVERY * 1000,
    valid: EVERYTHING,
    health: enums.health.indexOf('ok'),
    mem_total_mib: 1000,
    mem_avail_mib: 500,
  },
  ...{ root_total_mib: 1000, root_avail_mib: 900, root_inodes_free_pm: 500 },
  ...{ scratch_total_mib: 1000, scratch_avail_mib: 900, scratch_inodes_free_pm: 500 },
};

/** `part`: all sets but the last. */
type Phase = 'bad' | 'none' | 'part' | 'well';
type Is = 'present' | 'unmeasured' | 'ended';

/** What a node measures from so many seconds before now on; whether it is booted then; and how the problem is told. */
const SCENES: Readonly<Record<string, { from: [number, Phase][]; booted?: number; is: Is; isUnsettled: boolean }>> = {
  bad: { from: [[250, 'bad']], is: 'present', isUnsettled: false },
  brief: {
    from: [
      [250, 'bad'],
      [20, 'none'],
    ],
    is: 'present',
    isUnsettled: true,
  },
  long: {
    from: [
      [250, 'bad'],
      [70, 'none'],
    ],
    is: 'unmeasured',
    isUnsettled: true,
  },
  partly: {
    from: [
      [250, 'bad'],
      [70, 'part'],
    ],
    is: 'unmeasured',
    isUnsettled: true,
  },
  back: {
    from: [
      [250, 'bad'],
      [150, 'none'],
      [20, 'bad'],
    ],
    is: 'present',
    isUnsettled: false,
  },
  mended: {
    from: [
      [250, 'bad'],
      [150, 'none'],
      [20, 'well'],
    ],
    is: 'present',
    isUnsettled: false,
  },
  waned: {
    from: [
      [250, 'bad'],
      [150, 'well'],
      [140, 'none'],
    ],
    is: 'unmeasured',
    isUnsettled: false,
  },
  booted: {
    from: [
      [250, 'bad'],
      [150, 'none'],
    ],
    booted: 100,
    is: 'ended',
    isUnsettled: false,
  },
  cleared: {
    from: [
      [250, 'bad'],
      [150, 'none'],
    ],
    is: 'ended',
    isUnsettled: false,
  },
  // Its boot came after it was over, or before.
  renewed: {
    from: [
      [250, 'bad'],
      [200, 'well'],
    ],
    booted: 60,
    is: 'ended',
    isUnsettled: false,
  },
};

/** What ended a problem, and how long ago: a boot is believed when nothing of the one before has come for a while. */
const ENDS: Readonly<Record<string, (quietS: number) => readonly [what: string, ago: number]>> = {
  booted: () => ['; ended by a boot', 60],
  cleared: () => ['; ended by beoboard clear', 0],
  renewed: quietS => (quietS > 150 ? ['; ended by a boot', 20] : ['', 210]),
};
const QUIET: Partial<Record<Problem, number>> = {
  gpu_errors: 600,
  oom: 600,
  hung_tasks: 600,
  throttled: 600,
  ecc: 3600,
};

function reportAt(problem: keyof typeof SHOWN, scene: string, ago: number): Encodable<'report'> {
  const { from, booted = -1 } = SCENES[scene]!;
  const phase = from.findLast(([since]) => ago <= since)?.[1] ?? 'well';
  const { sets, bad } = SHOWN[problem];
  const boot = ago <= booted ? { boot_id: 6n, start_boot_ns: 2n, t_boot_ns: BigInt(1000 - ago) * 1_000_000_000n } : {};
  // What rose stays as it was.
  const second = SPAN - (phase === 'bad' ? ago : phase === 'well' ? Math.max(ago, (from[1]?.[0] ?? 0) + EVERY) : SPAN);
  const rising = Object.keys(bad(1)).some(field => /kills|tasks|events|edac_ce/.test(field));
  const more = phase === 'bad' || (phase === 'well' && rising) ? bad(second) : {};
  const missing = phase === 'none' ? sets : phase === 'part' ? sets.slice(-1) : [];
  const valid = EVERYTHING & ~validOf(...missing);
  return { ...WELL, ...more, ...boot, valid };
}

const KEYS = PROBLEMS.filter(problem => problem !== 'held') as (keyof typeof SHOWN)[];
const nameOf = (problem: Problem, scene: string) => `${problem.replaceAll('_', '-')}-${scene}`;
const rows = KEYS.flatMap(problem => Object.keys(SCENES).map(scene => ({ problem, scene })));

const nodeOf = (snapshot: Snapshot, name: string) => [...snapshot.nodes()].find(node => node.name === name) as Node;

t.test('for so long a source may be unread: three rounds, by the longest interval, and a minute at least', async t => {
  for (const [intervalMs, longestMs, limitMs] of [
    [1000, 0, 60_000],
    [20_000, 600_000, 60_000],
    [20_001, 600_000, 60_003],
    [600_000, 30_000, 90_000],
    [600_000, 0, 1_800_000],
  ] as const)
    t.equal(unmeasuredLimitMs(intervalMs, longestMs), limitMs);
});

t.test('each problem, measured and not, is told the same everywhere', async t => {
  const past = Object.fromEntries(
    rows.map(({ problem, scene }) => [nameOf(problem, scene), (ago: number) => reportAt(problem, scene, ago)]),
  );
  const { reader, writer } = keptBoard(t, past, SPAN, EVERY);
  const cleared = KEYS.map(problem => nameOf(problem, 'cleared'));
  t.same(writer.clear([...cleared, 'bad-health-bad', 'nobody']), [...cleared.map(() => 2), 1, 0]);
  t.same(
    writer.clear(cleared),
    cleared.map(() => 1),
    'nothing is left to clear',
  );
  writer.heartbeat(monotonicNs());
  const snapshot = reader.snapshot();
  const selection = { names: undefined, shard: 1, shards: 1 };
  const exporter = new Exporter([new ScrapedBoard(undefined, reader.path, undefined)]);
  const pieces = [...exporter.metrics({ collectors: ['health', 'state'], selection }, 'text')];
  const metrics = Buffer.concat(pieces.filter(piece => piece !== undefined)).toString();
  const tell = nodeTeller();
  const bridge = lookAt([snapshot], () => 1);
  for (const { problem, scene } of rows) {
    const name = nameOf(problem, scene);
    const { is, isUnsettled } = SCENES[scene]!;
    const node = nodeOf(snapshot, name);
    t.equal(node.unmeasured.includes(problem), is === 'unmeasured', `${name}: unmeasured`);
    t.equal(node.doubts.includes(problem), is === 'unmeasured' || isUnsettled, `${name}: in doubt`);
    const isMeasured = ((snapshot.overview.measured[node.index] as number) & problemBit(problem)) !== 0;
    if (is !== 'ended') t.equal(isMeasured, is === 'present' && !isUnsettled, `${name}: measured`);
    const { unsettled = [], unknown = [] } = bridge.nodes.get(name) ?? {};
    t.equal(unsettled.includes(problem), isUnsettled, `${name}: in doubt for the bridge`);
    // The others have a set left that shows them.
    const isUnknown = scene === 'booted' && problem !== 'memory_errors' && problem !== 'throttled';
    t.equal(unknown.includes(problem), isUnknown, `${name}: a boot alone mends nothing`);
    const lines = troubleOf(survey(snapshot, { among: [name] })).filter(({ kind, key }) =>
      kind === 'unmeasured' ? key === `unmeasured:${problem}` : kind === problem,
    );
    const told = lines.map(({ kind, dim }) => (kind === 'unmeasured' ? kind : (dim ?? 'present')));
    t.same(told, [is], `${name}: in the list of trouble`);
    const end = ENDS[scene]?.(QUIET[problem] ?? 60);
    if (end !== undefined && lines[0] !== undefined) {
      t.equal(lines[0].what, `${PROBLEM_TEXT[problem]}${end[0]}`, `${name}: what ended it`);
      const ended = Number(snapshot.realNs / 1_000_000n) - Date.parse(lines[0].ended ?? '');
      t.ok(Math.abs(ended / 1000 - end[1]) < 12, `${name}: ended ${ended} ms ago`);
    }
    const sheet = nodeSheet(node, painter('never'), 200).lines.join('\n');
    t.equal(/not measured since/.test(sheet), is === 'unmeasured' || isUnsettled, `${name}: show`);
    if (is !== 'ended') t.notMatch(sheet, /no problems$/m, `${name}: show`);
    const { unmeasured = {} } = JSON.parse(tell(node)).memory;
    t.same(Object.keys(unmeasured).includes(problem), is === 'unmeasured', `${name}: JSON`);
    if (is === 'unmeasured')
      t.ok(Math.abs(unmeasured[problem] / 1000 - (/long|partly/.test(scene) ? 71 : 146)) < 30, `${name}: since`);
    const series = `beoboard_node_problem_unmeasured_since_timestamp_seconds{problem="${problem}",node="${name}"`;
    t.equal(metrics.includes(series), is === 'unmeasured' || isUnsettled, `${name}: metrics`);
  }
});

t.test('a source that is gone is a notice, until somebody clears it', async t => {
  const without =
    (...sets: SetName[]) =>
    (ago: number) => ({ ...WELL, valid: ago < 80 ? EVERYTHING & ~validOf(...sets) : EVERYTHING });
  const { reader, writer } = keptBoard(t, { n1: without('health'), n2: without('gpu'), n3: () => WELL }, 200);
  const told = () =>
    troubleOf(survey(reader.snapshot()))
      .filter(({ kind }) => kind === 'unmeasured')
      .map(({ key, severity, nodes }) => [key, severity, nodes]);
  t.same(told(), [
    ['unmeasured:gpu', 'notice', 'n2'],
    ['unmeasured:health', 'notice', 'n1'],
  ]);
  const sheets = () => {
    const snapshot = reader.snapshot();
    return ['n1', 'n2', 'n3'].map(name => nodeSheet(nodeOf(snapshot, name), painter('never'), 200).lines.join('\n'));
  };
  const shown = sheets();
  t.match(shown[0], /not measured since \S+ \(\S+\): its health file is gone/);
  t.match(shown[1], /not measured since \S+ \(\S+\): what reads its GPUs has stopped/);
  t.same(
    shown.map(text => text.includes('no problems')),
    [false, false, true],
    'neither well nor ill',
  );
  t.same(writer.clear(['n1', 'n2', 'n3']), [2, 2, 1]);
  t.same(told(), []);
  t.ok(sheets().every(text => text.includes('no problems')));
});
