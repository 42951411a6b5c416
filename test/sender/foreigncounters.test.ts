// Counters that go back, and those of the whole 64-bit range: both senders make the same shares of /proc/stat, and those
// that the contract says, which are computed here once more.
//
// @seconds 3
// @rest

import fc from 'fast-check';
import t from 'tap';
import { type Files, ForeignTrees } from './foreigntrees.js';

const SEED = Number(process.env.SEED ?? 42);
const RUNS = Number(process.env.RUNS ?? 60);
t.comment(`seed ${SEED}, another one by SEED=n; RUNS=${RUNS}`);

const COLUMNS = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'] as const;
type Times = Readonly<Record<(typeof COLUMNS)[number], bigint>>;
const ZERO = Object.fromEntries(COLUMNS.map(name => [name, 0n])) as Times;
const MOST = 2n ** 64n - 1n;

/** The times of all CPUs together, and those of each. */
interface Tick {
  all: Times;
  cpus: readonly Times[];
}

const line = (name: string, times: Times) => `${name} ${COLUMNS.map(column => times[column]).join(' ')} 0 0\n`;

const stat = ({ all, cpus }: Tick): Files => ({
  'proc/stat': [
    line('cpu ', all),
    ...cpus.map((times, i) => line(`cpu${i}`, times)),
    'intr 1\nctxt 1\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n',
  ].join(''),
});

/** The files of so many CPUs, in packages of two. */
const topology = (cpus: number): Files => ({
  'sys/devices/system/cpu/online': `0-${cpus - 1}\n`,
  'sys/devices/system/cpu/present': `0-${cpus - 1}\n`,
  ...Object.fromEntries(
    Array.from({ length: cpus }, (_, i) => [
      [`sys/devices/system/cpu/cpu${i}/topology/physical_package_id`, `${i >> 1}\n`],
      [`sys/devices/system/cpu/cpu${i}/topology/thread_siblings_list`, `${i}\n`],
    ]).flat(),
  ),
});

/** What each column grew by, added to the kinds of the contract. */
function growth(before: Times, now: Times) {
  const grown = (...names: (keyof Times)[]) =>
    names.reduce((sum, name) => sum + (now[name] > before[name] ? now[name] - before[name] : 0n), 0n);
  const [user, system, iowait] = [grown('user', 'nice'), grown('system', 'irq', 'softirq'), grown('iowait')];
  const busy = user + system + grown('steal');
  return { user, system, iowait, busy, total: busy + iowait + grown('idle') };
}

const share = (part: bigint, whole: bigint) => (whole === 0n ? 0 : Number((part * 1000n) / whole));

/** The shares that a report must have; undefined where no time passed. */
function expected(before: Tick, now: Tick) {
  const all = growth(before.all, now.all);
  const cpus = now.cpus.map((times, i) => growth(before.cpus[i] ?? ZERO, times));
  const groups = Array.from({ length: Math.ceil(cpus.length / 2) }, (_, g) => cpus.slice(2 * g, 2 * g + 2));
  const of = (group: typeof cpus, kind: keyof (typeof cpus)[number]) => group.reduce((sum, one) => sum + one[kind], 0n);
  return {
    cpu: all.total > 0n ? { cpu_busy_pm: share(all.busy, all.total), cpu_iowait_pm: share(all.iowait, all.total) } : {},
    group: cpus.some(({ total }) => total > 0n)
      ? groups.map(group => ({
          ...Object.fromEntries(
            (['busy', 'user', 'system', 'iowait'] as const).map(kind => [
              `${kind}_pm`,
              share(of(group, kind), of(group, 'total')),
            ]),
          ),
          busiest_pm: Math.max(...group.map(({ busy, total }) => share(busy, total))),
        }))
      : groups.map(() => ({})),
  };
}

const value = fc.oneof(
  fc.bigInt({ min: 0n, max: 1000n }),
  fc.bigInt({ min: 0n, max: 2n ** 33n }),
  fc.constantFrom(31n, 32n, 53n, 63n).chain(bits => fc.bigInt({ min: 2n ** bits - 9n, max: 2n ** bits + 9n })),
  fc.bigInt({ min: 0n, max: MOST }),
);
const step = fc.oneof(
  { arbitrary: fc.bigInt({ min: 0n, max: 200n }), weight: 4 },
  { arbitrary: fc.bigInt({ min: -200n, max: -1n }), weight: 2 },
  { arbitrary: fc.bigInt({ min: -(2n ** 34n), max: -(2n ** 31n) }), weight: 2 },
  { arbitrary: fc.bigInt({ min: -MOST, max: MOST }), weight: 1 },
);
const within = (number: bigint) => (number < 0n ? 0n : number > MOST ? MOST : number);
const record = <T>(of: fc.Arbitrary<T>) =>
  fc.tuple(...COLUMNS.map(() => of)).map(all => Object.fromEntries(COLUMNS.map((name, i) => [name, all[i]])));
const pair = fc
  .tuple(record(value), record(step))
  .map(([before, by]) => [
    before as Times,
    Object.fromEntries(COLUMNS.map(name => [name, within((before[name] ?? 0n) + (by[name] ?? 0n))])) as Times,
  ]);

const CPUS = 4;
const ticks = fc
  .tuple(pair, fc.array(pair, { minLength: CPUS, maxLength: CPUS }))
  .map(([all, cpus]) => [0, 1].map(i => ({ all: all[i] ?? ZERO, cpus: cpus.map(cpu => cpu[i] ?? ZERO) })));

t.test('shares of random pairs of ticks with steps back', async t => {
  const trees = new ForeignTrees(t);
  trees.write(topology(CPUS), topology(CPUS));
  await fc.assert(
    fc.asyncProperty(ticks, async ([before = { all: ZERO, cpus: [] }, now = before]) => {
      trees.write(stat(before), stat(now));
      const { report } = await trees.ask();
      const { cpu, group } = expected(before, now);
      const shares = (report.group as Record<string, number>[]).map(
        ({ cpus: _, mhz: __, temp_dc: ___, ...rest }) => rest,
      );
      const found = JSON.stringify({
        cpu: Object.fromEntries(
          Object.entries(report).filter(([name]) => name in { cpu_busy_pm: 0, cpu_iowait_pm: 0 }),
        ),
        group: shares,
      });
      if (found !== JSON.stringify({ cpu, group }))
        throw new Error(`${found}\ninstead of ${JSON.stringify({ cpu, group })}`);
    }),
    { seed: SEED, numRuns: RUNS },
  );
});

t.test('steal of a virtual machine that moved', async t => {
  const trees = new ForeignTrees(t);
  trees.write(topology(2), topology(2));
  const passed = { user: 40n, system: 20n, idle: 40n };
  for (const back of [100n, 3_000_000_000n, 2n ** 63n]) {
    const before = { ...ZERO, steal: back };
    trees.write(
      stat({ all: before, cpus: [before, before] }),
      stat({ all: { ...ZERO, ...passed }, cpus: [0, 1].map(() => ({ ...ZERO, ...passed })) }),
    );
    const { report } = await trees.ask();
    t.match(report, {
      cpu_busy_pm: 600,
      group: [{ busy_pm: 600, user_pm: 400, system_pm: 200, iowait_pm: 0, busiest_pm: 600 }],
    });
  }
});

t.test('lines of CPUs that no kernel writes', async t => {
  const trees = new ForeignTrees(t);
  trees.write(topology(2), topology(2));
  const plain: Tick = { all: { ...ZERO, idle: 1n }, cpus: [ZERO, ZERO] };
  const later: Tick = { all: { ...plain.all, user: 1n }, cpus: [0, 1].map(() => ({ ...ZERO, user: 1n })) };
  const { 'proc/stat': text } = stat(later);
  for (const [what, from, to, isKnown, ofAll = isKnown] of [
    ['as they are', '', '', true],
    ['beyond 64 bits: of the others', 'cpu1 1 ', `cpu1 ${MOST + 1n} `, true, false],
    ['the largest number', 'cpu1 1 ', `cpu1 ${MOST} `, true],
    ['twice', 'cpu1', 'cpu0', false],
    ['out of order', /(cpu0.*\n)(cpu1.*\n)/, '$2$1', false],
    ['a column that nobody knows, and beyond 64 bits', / 0\nintr/, ' 99999999999999999999\nintr', true],
  ] as const) {
    trees.write(stat(plain), { 'proc/stat': (text ?? '').replace(from, to) });
    const { report } = await trees.ask();
    t.equal((report.valid as string[]).includes('group_share'), isKnown, what);
    t.equal((report.valid as string[]).includes('cpu_share'), ofAll, `${what}: of all CPUs`);
    t.ok((report.valid as string[]).includes('stat'), `${what}: the sums`);
  }
});
