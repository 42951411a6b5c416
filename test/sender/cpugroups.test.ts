// CPU groups: which CPUs belong to which group, and their shares of a tick. Tables for pure functions, then a tree.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { decodeReport, REPORT_BYTES } from '../../src/layout/codec.js';
import { groupShares, groupsOf, parseCpuTimes } from '../../src/sender/collect/cpugroups.js';
import { Collector } from '../../src/sender/collect.js';
import { memoryFolder } from '../kit/places.js';

/** A line of /proc/stat: ticks by name, others are 0. */
function line(
  cpu: string | number,
  ticks: Partial<Record<'user' | 'nice' | 'system' | 'idle' | 'iowait' | 'irq' | 'softirq' | 'steal', number>>,
): string {
  const { user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0 } = ticks;
  return `cpu${cpu} ${user} ${nice} ${system} ${idle} ${iowait} ${irq} ${softirq} ${steal} 0 0\n`;
}

const times = (...lines: string[]) => parseCpuTimes(`${line(' ', {})}${lines.join('')}intr 1 2 3\n`) ?? new Map();

t.test('groups are packages in their order; the fifth and later are added to the fourth', async t => {
  const rows: [Record<number, number>, number[][]][] = [
    [{ 0: 0 }, [[0]]],
    [
      { 0: 0, 1: 1, 2: 0, 3: 1 },
      [
        [0, 2],
        [1, 3],
      ],
    ],
    [{ 0: 7, 1: 3 }, [[1], [0]]],
    [{ 0: -1, 1: -1 }, [[0, 1]]],
    [{ 0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 0 }, [[0, 6], [1], [2], [3, 4, 5]]],
  ];
  for (const [packages, groups] of rows)
    t.strictSame(groupsOf(new Map(Object.entries(packages).map(([cpu, id]) => [Number(cpu), id]))), groups);
});

t.test('shares', async t => {
  const rows: [string, string[], string[], number[][], ReturnType<typeof groupShares>][] = [
    [
      'averages hide what the busiest shows',
      [line(0, {}), line(1, {})],
      [line(0, { user: 60, nice: 10, system: 10, irq: 10, softirq: 5, steal: 5 }), line(1, { idle: 50, iowait: 50 })],
      [[0, 1]],
      [{ busy_pm: 500, user_pm: 350, system_pm: 125, iowait_pm: 250, busiest_pm: 1000 }],
    ],
    [
      'rounded down, each group for itself',
      [line(0, { user: 100 }), line(1, { user: 100 })],
      [line(0, { user: 101, idle: 2 }), line(1, { user: 100, idle: 3 })],
      [[0], [1]],
      [
        { busy_pm: 333, user_pm: 333, system_pm: 0, iowait_pm: 0, busiest_pm: 333 },
        { busy_pm: 0, user_pm: 0, system_pm: 0, iowait_pm: 0, busiest_pm: 0 },
      ],
    ],
    [
      'a CPU that came or went does not count',
      [line(0, {}), line(1, {})],
      [line(0, { idle: 10 }), line(2, { user: 10 })],
      [[0, 2]],
      [{ busy_pm: 0, user_pm: 0, system_pm: 0, iowait_pm: 0, busiest_pm: 0 }],
    ],
    [
      'iowait that goes back is not a time',
      [line(0, { iowait: 100, idle: 100 })],
      [line(0, { iowait: 90, idle: 105, user: 5 })],
      [[0]],
      [{ busy_pm: 500, user_pm: 500, system_pm: 0, iowait_pm: 0, busiest_pm: 500 }],
    ],
    ['no time passed', [line(0, { user: 1 })], [line(0, { user: 1 })], [[0]], undefined],
    ['no CPU in common', [line(0, {})], [line(1, { user: 1 })], [[0, 1]], undefined],
  ];
  for (const [what, before, now, groups, expected] of rows)
    t.strictSame(groupShares(times(...before), times(...now), groups), expected, what);
});

t.test('invalid lines cost themselves', async t => {
  t.strictSame([...times(line(0, {}), 'cpu1 1 2 3 4 5 6 7 -8\n', 'cpux 1\n', line(2, {})).keys()], [0, 2]);
  t.equal(times(line(1, {}), line(0, {})).size, 0, 'another order is no order');
  for (const text of [
    '',
    'cpu  1 2 3\n',
    'cpu0 1 2 3\n',
    'cpu0 1 2 3 4 5 6 7 -8\n',
    'cpu0 a b c d e f g h\n',
    `cpu0 ${'9'.repeat(400)} 1 1 1 1 1 1 1\n`,
  ])
    t.equal(parseCpuTimes(text), undefined, JSON.stringify(text.slice(0, 30)));
  t.equal(
    parseCpuTimes(`${line(0, { user: 1 })}intr ${'1 '.repeat(1_000_000)}\n`)?.size,
    1,
    'a million interrupts are not looked at',
  );
});

t.test('through the collector: shares from the second report on', async t => {
  const root = memoryFolder(t);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const rest = 'intr 1\nctxt 1\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n';
  write('sys/devices/system/cpu/online', '0-1\n');
  write('sys/devices/system/cpu/present', '0-1\n');
  for (const cpu of [0, 1]) {
    write(`sys/devices/system/cpu/cpu${cpu}/topology/physical_package_id`, `${cpu}\n`);
    write(`sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`, `${cpu}\n`);
  }
  const collector = new Collector({ proc: join(root, 'proc'), sys: join(root, 'sys') });
  t.teardown(() => collector.close());
  const look = (now: bigint) => {
    const view = new DataView(new ArrayBuffer(REPORT_BYTES));
    collector.collect(view, now);
    return decodeReport(view, 0);
  };
  write('proc/stat', `${line(' ', { idle: 1 })}${line(0, {})}${line(1, {})}${rest}`);
  t.strictSame(look(1n).group, [{ cpus: 1 }, { cpus: 1 }]);
  write(
    'proc/stat',
    `${line(' ', { user: 3, idle: 2 })}${line(0, { user: 2 })}${line(1, { user: 1, idle: 1 })}${rest}`,
  );
  const { group, groups } = look(2n);
  t.equal(groups, 2);
  t.strictSame(group, [
    { cpus: 1, busy_pm: 1000, user_pm: 1000, system_pm: 0, iowait_pm: 0, busiest_pm: 1000 },
    { cpus: 1, busy_pm: 500, user_pm: 500, system_pm: 0, iowait_pm: 0, busiest_pm: 500 },
  ]);
});
