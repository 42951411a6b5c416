// beoboard odd: the minority in each family of made boards (test/golden/odd.txt; to write it again, after reading the
// difference: node dist/test/cli/odd.test.js --write), and the command on a board file.
//
// @seconds 6

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { oddLines } from '../../src/cli/odd.js';
import type { Encodable } from '../../src/layout/codec.js';
import { bits } from '../../src/layout/layout.gen.js';
import { hotOnes } from '../../src/outliers/heat.js';
import { oddOnes } from '../../src/outliers/odd.js';
import { survey } from '../../src/query/survey.js';
import { atOnce } from '../../src/service/slices.js';
import { painter } from '../../src/terminal/style.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { UNSEEN } from '../../src/text/unseen.js';
import { leastCpuMs } from '../kit/cputime.js';
import { beating, node, writeBoard, writeLiveBoard } from '../kit/ganglia.js';
import { busy, EVERYTHING, type MadeNode, madeBoard, tenThousand } from '../kit/madeboard.js';
import { boardPath, ROOT } from '../kit/places.js';
import { verbChild } from '../kit/verbchild.js';

const GOLDEN = join(ROOT, 'test', 'golden', 'odd.txt');
const ask = verbChild(t);

const CARRIER = (1 << bits.net_state.up) | (1 << bits.net_state.carrier);
const link = (mbps: number) => [{ name: 'eth0', mbps, state: CARRIER }];
/** What all have in common. */
const SAME: Encodable<'report'> = {
  ...{ valid: EVERYTHING, agent_version: 0x000200, interval_ms: 1000, sw_hash: 1, hw_hash: 2, gpu_count: 4 },
  ...{ mem_total_mib: 515_584, net: link(25_000), os_release: '6.1.0-21-amd64' },
};

function rack(names: string, change: (name: string) => Encodable<'report'> | undefined = () => undefined): MadeNode[] {
  return expand(names, BOARD_MOST).map(name => ({ name, age: 0.3, ...busy(1, { ...SAME, ...change(name) }) }));
}

const OLD = { os_release: '6.1.0-18-amd64', sw_hash: 3 };
const drifted: MadeNode[] = [
  ...rack('rack11n[01-48]', name => (/n0[1-9]$/.test(name) ? OLD : undefined)),
  ...rack('rack12n[01-48]', name => {
    const changes: Record<string, Encodable<'report'>> = {
      rack12n05: { interval_ms: 10_000 },
      rack12n06: { agent_version: 0x000100 },
      rack12n07: { mem_total_mib: 483_328, hw_hash: 4 },
      rack12n08: { gpu_count: 3, hw_hash: 5 },
      rack12n09: { net: link(10_000) },
      rack12n10: { flags: 1 << bits.flags.clock_unsync },
      rack12n11: { cpus_online: 32, hw_hash: 6 },
      rack12n12: { hw_hash: 7 },
      rack12n13: { sw_hash: 8 },
      rack12n14: { mem_total_mib: 515_200 },
    };
    return changes[name];
  }),
  ...rack('rack13n[01-48]', name => (/n(0|1)/.test(name) ? OLD : undefined)),
  ...rack('login[1-2]', name => (name === 'login2' ? { mem_total_mib: 128_000, hw_hash: 9 } : undefined)),
];
const hostile = rack('n[1-9]', name =>
  name === 'n3' ? { os_release: '6\u202e.1\x1b[2J\u0007' } : name === 'n4' ? { os_release: '' } : undefined,
);
const many = rack('n[001-100]', name => {
  const number = Number(name.slice(1));
  return number <= 30 && number % 2 === 0 ? { os_release: `5.${number}` } : undefined;
});
/** Idle nodes at 40 °C, busy ones at 60 °C; some are hotter, and one is as hot as busy ones although it is idle. */
const hot = rack('n[01-48]', name => {
  const number = Number(name.slice(1));
  const isBusy = number > 24;
  const own: Record<string, number> = { n03: 60, n05: 52, n30: 90, n31: 95, n40: 70 };
  const gpu = (at: number) => [{ util_pct: isBusy ? 99 : 0, temp_degc: at }];
  return {
    cpu_busy_pm: isBusy ? 990 : 5,
    temp_hottest_dc: 10 * (own[name] ?? (isBusy ? 60 : 40) + (number % 3)),
    gpu_count: 1,
    gpu: gpu(name === 'n26' ? 94 : isBusy ? 65 : 35),
  };
});
/** Those that are no longer heard are not compared. */
const silent = rack('n[1-9]', name => (name === 'n3' ? OLD : undefined)).map(made =>
  made.name === 'n3' ? { ...made, age: 60 } : made,
);
/** The same hardware, whose hash a sender of another version makes otherwise. */
const versions = rack('n[1-9]', name => (name === 'n3' ? { agent_version: 0x1_0000, hw_hash: 77n } : undefined));

function shown(nodes: MadeNode[], width = 80): string {
  const snapshot = madeBoard(nodes);
  const found = survey(snapshot);
  const odd = [oddOnes, hotOnes].flatMap(ones => atOnce(ones([found])));
  return [...oddLines(snapshot, odd, { width, paint: painter('never') }), '', ''].join('\n');
}

const scenes: [title: string, width: number, nodes: MadeNode[]][] = [
  ...[80, 120, 200].map((width): (typeof scenes)[0] => [`racks that have drifted, ${width} columns`, width, drifted]),
  ['all alike', 80, rack('n[1-9]')],
  ['texts of an enemy', 80, hostile],
  ['more values than are named', 80, many],
  ['a silent node', 80, silent],
  ['a sender of another version', 80, versions],
  ['hot nodes', 80, hot],
  ['hot nodes, too few to compare', 80, [...hot.slice(0, 3), ...hot.slice(29, 30)]],
];

t.test('the lines are those of test/golden/odd.txt, and fit', async t => {
  let text = '';
  for (const [title, width, nodes] of scenes) {
    const lines = shown(nodes, width);
    for (const line of lines.split('\n')) t.ok(line.length <= width, line);
    t.strictSame(lines.replaceAll('\n', '').match(UNSEEN), null, title);
    text += `==== ${title}\n${lines}`;
  }
  if (process.argv.includes('--write')) writeFileSync(GOLDEN, text);
  t.equal(text, readFileSync(GOLDEN, 'utf8'));
});

t.test('ten times the nodes take less than forty times the CPU time', async t => {
  const nodes = tenThousand().map((made, i) =>
    made.report === undefined ? made : { ...made, ...busy(1, { ...SAME, ...(i % 97 === 0 ? OLD : {}) }) },
  );
  const least = (count: number) => {
    const snapshot = madeBoard(nodes.slice(0, count));
    const found = survey(snapshot);
    const look = () => {
      const odd = [oddOnes, hotOnes].flatMap(ones => atOnce(ones([found])));
      oddLines(snapshot, odd, { width: 80, paint: painter('never') });
    };
    return Math.max(1, leastCpuMs(look));
  };
  // The many first: then the few are measured in code that is compiled.
  const [ten, one] = [least(10_000), least(1000)];
  t.ok(ten < 40 * one, `${ten.toFixed(0)} ms for 10,000, ${one.toFixed(1)} ms for 1,000`);
});

interface Row {
  family: string;
  trait: string;
  minority: boolean;
  groups: { value: string; nodes: string; count: number }[];
}

t.test('the command: families, chosen nodes, JSON, exit codes', async t => {
  const board = boardPath(t);
  const of = (name: string, changed: Encodable<'report'> = {}) => node(name, 0.2, { ...SAME, ...changed });
  const nodes = [
    ...expand('a[1-5]', BOARD_MOST).map(name => of(name, name === 'a2' ? { os_release: 'x' } : {})),
    ...expand('b[1-3]', BOARD_MOST).map(name => of(name, { mem_total_mib: 128_000 })),
  ];
  writeLiveBoard(t, board, nodes);
  const odd = (...argv: string[]) => ask(['odd', '--board', board, ...argv]);
  t.match(await odd(), { code: 0, stderr: '', stdout: /^kernel +a2: x, 4 others 6\.1\.0-21-amd64\n$/ });
  t.match(await odd('a1'), { code: 0, stdout: 'no node differs from its family\n' }, 'none of its lines names it');
  t.match(await odd('-w', 'a[1-2]'), { code: 0, stdout: /^kernel +a2: x, 4 others/ }, 'compared with the whole family');
  t.match(await odd('--where', 'name == "a2"'), { code: 0, stdout: /^kernel +a2: x, 4 others/ });
  t.match(await odd('a2,c1'), { code: 1, stdout: /^kernel/, stderr: 'beoboard odd: not on the board: c1\n' });
  const { stdout, code } = await odd('--by', '/^./', '--json');
  t.equal(code, 0);
  const { schema, odd: rows } = JSON.parse(stdout) as { schema: number; odd: Row[] };
  t.equal(schema, 1);
  t.match(rows, [
    { family: 'a', trait: 'kernel', minority: true, groups: [{ count: 4 }, { value: 'x', nodes: 'a2' }] },
  ]);
  const none = JSON.parse((await odd('--by', '/^()/', '--json')).stdout) as { odd: Row[] };
  t.same(none.odd, [], 'an empty match is no family');
  const byWord = JSON.parse((await odd('--by', 'arch', '--json')).stdout) as { odd: Row[] };
  t.match(
    byWord.odd.find(({ trait }) => trait === 'memory'),
    { minority: false, groups: [{ count: 5 }, { count: 3 }] },
  );
  t.match(await odd('--by', 'nothing'), { code: 2, stderr: /nothing/ });
});

t.test('a stalled board tells nothing', async t => {
  const board = boardPath(t);
  const { now = 0n, ...more } = beating();
  writeBoard(board, [node('a1'), node('a2')], { now: now - 3_600_000_000_000n, ...more });
  t.match(await ask(['odd', '--board', board]), { code: 4, stdout: '', stderr: /nothing is known about nodes/ });
});
