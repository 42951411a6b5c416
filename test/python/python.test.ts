// The Python module: each field as the reader in TypeScript has it, on boards that a writer made; older and newer
// libraries; types by mypy. What it does is asked in Python, by test_module.py. debians.long.test.ts has this done by the
// Python of other systems, with the module that is installed there.
//
// @seconds 3
// @whole

import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Encodable } from '../../src/layout/codec.js';
import { bits, enums, structs } from '../../src/layout/layout.gen.js';
import { random } from '../../src/load/simulatednode.js';
import { BoardReader } from '../../src/shm/reader.js';
import { openWriter } from '../../src/shm/writer.js';
import { monotonicNs } from '../kit/clocks.js';
import { makeIn } from '../kit/compiling.js';
import { EXPANDED, FOLDED, REFUSED } from '../kit/hostlistcases.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';
import { makeBoard } from '../kit/stateboard.js';
import { NOT_WHOLE, SEED } from '../kit/whole.js';

t.comment(`SEED=${SEED}`);
const S = 1_000_000_000n;
const OUT = folder(t);
const MODULE = join(ROOT, 'python');
/** The Python of another system. */
const OTHER = process.env.BEOBOARD_TEST_PYTHON;
const own =
  OTHER === undefined
    ? { PYTHONPATH: MODULE, BEOBOARD_LIBRARY: join(makeIn('', {}, 'lib'), 'libbeoboard.so.1') }
    : { PYTHONPATH: '' };
const env = { ...process.env, ...own, PYTHONDONTWRITEBYTECODE: '1' };

function run(command: string, args: string[]) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', env, cwd: OUT });
  return { status, said: `${stdout}${stderr}${error ?? ''}` };
}

/** The Python that has Debian's packages, if another one comes first in the PATH. */
const pythons = OTHER === undefined ? ['/usr/bin/python3', 'python3'] : [OTHER];
function pythonWith(module: string, packages: string): { python: string; skip: string | false } {
  const python = pythons.find(python => run(python, ['-c', `import ${module}`]).status === 0);
  const may = OTHER !== undefined || !process.env.CI;
  const skip = python === undefined && may && `${module} missing: apt-get install ${packages}`;
  return { python: python ?? 'python3', skip };
}

const next = random(SEED);
const pick = (n: number) => Math.floor(next() * n);
/** The largest value of a type that a number can hold. */
const MOST: Record<string, number> = { u8: 255, u16: 65_535, u32: 2 ** 32 - 1, i16: 32_767, i32: 2 ** 31 - 1 };

/** Values for the fields of a struct, but of sets that are left out. */
function values(struct: keyof typeof structs, leaves: (set: string) => boolean): Record<string, unknown> {
  const one = (type: string, unit: string, name: string): unknown => {
    const [what, table = ''] = unit.split(' ');
    if (what === 'enum') return pick(enums[table as keyof typeof enums].length);
    if (what === 'bits' && table !== 'of') return pick(2 ** Object.keys(bits[table as keyof typeof bits]).length);
    if (name in structs) return undefined;
    if (/^(net|gpu_|cpu_)/.test(type)) return values(type as keyof typeof structs, leaves);
    if (unit === 'ns' || (unit === 'id' && type === 'u64')) return BigInt(pick(2 ** 50)) + 1n;
    return type === 'char' ? pick(3) && `t${pick(100)}` : pick((MOST[type] ?? 2 ** 52) + 1);
  };
  const rows = Object.entries<{ type: string; count: number; unit: string; kind: string; set?: string }>(
    structs[struct].fields,
  ).flatMap(([name, { type, count, unit, kind, set = '' }]) => {
    if (kind === 'reserved' || leaves(set)) return [];
    const value = () => one(type, unit, name) || (type === 'char' ? '' : 0);
    return [[name, count > 0 && type !== 'char' ? Array.from({ length: count }, value) : value()]];
  });
  return Object.fromEntries(rows);
}

/** A board whose reports hold anything, and what the reader in TypeScript sees. */
function anyReports(): { path: string; expected: unknown } {
  const path = boardPath(t);
  const writer = openWriter({ path, cluster: '', capacity: 64, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] });
  t.teardown(() => writer.close());
  for (let i = 0; i < 40; i++) {
    const sets = Object.keys(bits.valid).filter(() => i < 10 || pick(3) > 0);
    const leaves = (set: string) => set !== '' && !sets.includes(set);
    const valid = sets.reduce((all, set) => all | (1n << BigInt(bits.valid[set as keyof typeof bits.valid])), 0n);
    const fixed = { valid, hostname: `node${i}`, auth_alg: 0, key_id: 0, tag: Array<number>(16).fill(0) };
    const { magic, version, length, cluster_id, t_real_ns, boot_id, start_boot_ns, interval_ms, flags, ...free } =
      values('report', leaves);
    for (const seq of [10 * i + 1, 10 * i + 2]) {
      const report = {
        ...free,
        ...fixed,
        groups: Math.min(4, Number(free.groups ?? 0)),
        seq,
        t_boot_ns: BigInt(100 + seq) * S,
        slow_boot_ns: 90n * S,
      };
      const reason = writer.deliver(
        makeReport(report as Encodable<'report'>),
        monotonicNs() - BigInt(10 - (seq % 10)) * S,
        5n,
        'eth0',
      );
      t.equal(enums.reason[reason], 'none', `report ${seq} is taken`);
    }
  }
  const reader = new BoardReader(path);
  t.teardown(() => reader.close());
  const expected = [...reader.snapshot().nodes()].map(({ name, report }) => ({ name, report }));
  return { path, expected };
}

/** A board with a past: trouble, a silence, a rejection, a restart. `first`: a node before all others. */
function pastBoard(first?: string): string {
  const path = boardPath(t);
  const trust = { keys: [], required: 'none' as const, clockWindow: 60_000 };
  const limits = { uncertainAfter: 4500, silentAfter: 10_500 };
  const writer = openWriter({
    path,
    cluster: 'alpha',
    capacity: 64,
    ...limits,
    nodes: first ? [first, 'well'] : [],
    trust,
  });
  t.teardown(() => writer.close());
  const begun = monotonicNs();
  const lay = (hostname: string, seq: number, ago: number, values: Encodable<'report'> = {}) => {
    const back = BigInt(ago) * S;
    const times = { t_boot_ns: BigInt(1000 + seq) * S, t_real_ns: 1_800_000_000n * S - back };
    const report = makeReport({ hostname, seq, ...times, ...values }, 'alpha');
    return enums.reason[writer.deliver(report, begun - back, 1_800_000_000n * S - back, 'eth0')];
  };
  const valid = (1n << BigInt(bits.valid.vmstat)) | (1n << BigInt(bits.valid.stat));
  writer.listeningSince(begun - 310n * S);
  if (first === undefined) {
    lay('trouble', 1, 300, { valid });
    lay('trouble', 2, 299, { valid, oom_kills: 1, flags: 2 ** bits.flags.held });
    writer.heartbeat(begun - 240n * S);
    const still = { flags: 2 ** bits.flags.late + 2 ** bits.flags.skipped, late_us: 58_000_123 };
    const sets = valid | (1n << BigInt(bits.valid.sender));
    for (let ago = 239; ago > 0; ago--)
      lay('trouble', 242 - ago, ago, { valid: sets, oom_kills: 1, ctxt: 250 * (242 - ago), ...(ago === 239 && still) });
    lay('again', 1, 20);
    lay('again', 2, 10, { start_boot_ns: 60n * S, flags: 2 ** bits.flags.first });
  }
  lay('well', 77, 2);
  t.equal(lay('well', 1, 1, { boot_id: 7n }), 'rival');
  writer.heartbeat(monotonicNs());
  return path;
}

/** Nodes in every state, none of which changes with time. */
function stateBoard() {
  const names = (...numbers: number[]) => numbers.map(n => `n${String(n).padStart(3, '0')}`);
  const nodes = { live: names(1, 2, 3), silent: names(4, 5), uncertain: names(6), left: names(7), never: names(8) };
  const { path } = makeBoard(t, { ...nodes, held: names(9) });
  const stalled = boardPath(t);
  copyFileSync(path, stalled);
  const bytes = readFileSync(stalled);
  bytes.writeBigUInt64LE(monotonicNs() - 60n * S, structs.board_header.fields.heartbeat_ns.offset);
  writeFileSync(stalled, bytes);
  return { path, stalled, states: { ...nodes, live: [...nodes.live, 'n009'] } };
}

/** Libraries of other versions. */
function otherLibraries(): Record<string, string> {
  const made = Object.entries({ older: '-DOLDER', newer: '-DNEWER', major: '-DMAJOR=2' }).map(([name, flag]) => {
    const to = join(OUT, `${name}.so`);
    const flags = ['-std=c11', '-D_GNU_SOURCE', '-Wall', '-Wextra', '-Werror', '-O1', '-fPIC', '-shared'];
    const { status, said } = run('gcc', [...flags, flag, '-o', to, join(ROOT, 'c/test/lib/otherversion.c')]);
    t.strictSame([status, said], [0, ''], name);
    return [name, to];
  });
  return Object.fromEntries(made);
}

/** What C says of the sizes of the structures. */
function sizesOf(classes: Record<string, string>): Record<string, number> {
  const source = join(OUT, 'sizes.c');
  const rows = Object.keys(classes).map(name => `printf("${name} %zu\\n", sizeof(struct ${name}));`);
  writeFileSync(source, `#include <stdio.h>\n#include "beoboard.h"\nint main(void) { ${rows.join(' ')} return 0; }\n`);
  const { status, said } = run('gcc', [`-I${join(ROOT, 'c')}`, '-o', join(OUT, 'sizes'), source]);
  t.strictSame([status, said], [0, '']);
  const lines = run(join(OUT, 'sizes'), []).said.trim().split('\n');
  return Object.fromEntries(lines.map(line => [line.split(' ')[0], Number(line.split(' ')[1])]));
}

const examples = [
  'examples/python/nodes.py',
  'examples/flux/beoboard-flux',
  'examples/htcondor/beoboard-forget',
  'examples/oar/beoboard-pinger',
  'packaging/ansible/beoboard-inventory',
].map(path => join(ROOT, path));

/** What docs/python.md shows, as it stands there. */
const shown = () => /```python\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs', 'python.md'), 'utf8'))?.[1] ?? '';

const pytest = pythonWith('pytest', 'python3-pytest');
t.test('what the module does', { skip: pytest.skip }, async t => {
  const { path, expected } = anyReports();
  const board = stateBoard();
  const classes = {
    ...{ beoboard_receiver: 'Receiver', beoboard_link: 'Link', beoboard_node: 'Node', beoboard_slot: 'Report' },
    ...{ beoboard_refusal: 'Refusal', beoboard_sender: 'Sender', beoboard_event: 'Event', beoboard_rates: 'Rates' },
    ...{ beoboard_episode: 'Episode', beoboard_memory: 'Memory', beoboard_net_rates: 'NetRates' },
  };
  const given = {
    shown: shown(),
    heartbeatAt: structs.board_header.fields.heartbeat_ns.offset,
    ...{ reports: path, expected, states: board.path, stalled: board.stalled, past: pastBoard() },
    ...{ moved: pastBoard('first'), wanted: board.states, libraries: otherLibraries(), examples },
    ...{ classes, sizes: sizesOf(classes) },
    layout: readFileSync(join(ROOT, 'c/lib/abi-1.0.txt'), 'utf8').trim().split('\n'),
    hosts: JSON.parse(readFileSync(join(ROOT, 'test/vectors/hostlists.json'), 'utf8')),
    folded: FOLDED.map(([names, list]) => [names.split(' ').filter(Boolean), list]),
    expanded: EXPANDED.map(([list, names]) => [list, names.split(' ')]),
    refused: REFUSED.map(([list, column]) => [list, column]),
  };
  const file = join(OUT, 'case.json');
  const json = JSON.stringify(given, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
  writeFileSync(file, json);
  Object.assign(env, { BEOBOARD_CASE: file });
  const test = join(ROOT, 'test', 'python', 'test_module.py');
  const { status, said } = run(pytest.python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', test]);
  t.equal(status, 0, said);
  t.match(said, /\d\d passed/);
});

const mypy = pythonWith('mypy', 'mypy');
t.test('its types', { skip: NOT_WHOLE || mypy.skip }, async t => {
  const strict = [
    '-m',
    'mypy',
    '--strict',
    '--scripts-are-modules',
    '--python-version',
    '3.9',
    '--cache-dir',
    join(OUT, 'mypy'),
  ];
  const page = join(OUT, 'shown.py');
  writeFileSync(page, shown());
  const { status, said } = run(mypy.python, [...strict, join(MODULE, 'beoboard'), ...examples, page]);
  t.equal(status, 0, said);
  // What a program does with them, and what it may not do.
  const uses = join(OUT, 'uses.py');
  writeFileSync(
    uses,
    [
      'from typing import Optional',
      'import beoboard',
      'with beoboard.open() as b:',
      '    for n in b.nodes():',
      '        mib: Optional[int] = n.report.mem_avail_mib',
      '        rate: Optional[float] = n.rates.disk_read_bytes',
      '        state: beoboard.State = n.state',
      '        held: bool = beoboard.Problem.HELD in n.problems',
      '        print(mib, rate, state, held, n.report.seq + 1)',
      '        n.report.mem_avail_mib + 1',
      '        n.report.mem_avail',
    ].join('\n'),
  );
  const wrong = run(mypy.python, [...strict, uses]);
  t.strictSame(
    [...wrong.said.matchAll(/uses\.py:(\d+): error/g)].map(([, line]) => line),
    ['10', '11'],
    wrong.said,
  );
});
