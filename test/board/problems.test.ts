// Problems of nodes that are heard: the table of the contract, row by row, by libbeoboard and by the readers in
// TypeScript; and what the program says about them to admins, monitors and scripts.
//
// @whole

import { spawnSync } from 'node:child_process';
import t from 'tap';
import type { Encodable } from '../../src/layout/codec.js';
import { bits, enums } from '../../src/layout/layout.gen.js';
import { PROBLEMS, type Problem } from '../../src/shm/problems.js';
import { openWriter } from '../../src/shm/writer.js';
import { now } from '../kit/clocks.js';
import { makeIn } from '../kit/compiling.js';
import { lacks } from '../kit/lacking.js';
import { validOf } from '../kit/madeboard.js';
import { openReader } from '../kit/openreader.js';
import { boardPath } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';
import { unlike } from '../kit/schemacheck.js';
import { deliver } from '../kit/testwriter.js';
import { verbRun } from '../kit/verbchild.js';
import { NOT_WHOLE } from '../kit/whole.js';

const run = verbRun(t);

t.setTimeout(600_000);
const SECOND = 1_000_000_000n;
const ALL = validOf(
  'health',
  'edac',
  'memory',
  'gpu',
  'gpu_errors',
  'root',
  'scratch',
  'vmstat',
  'hung_tasks',
  'throttle',
);
const WELL: Encodable<'report'> = {
  valid: ALL,
  health: enums.health.indexOf('ok'),
  mem_total_mib: 1000,
  mem_avail_mib: 500,
  root_total_mib: 1000,
  root_avail_mib: 50,
  root_inodes_free_pm: 20,
  scratch_total_mib: 4_000_000_000,
  scratch_avail_mib: 200_000_000,
  scratch_inodes_free_pm: 1000,
  gpu_count: 2,
  gpu_flags: [1, 1, 0, 0, 0, 0, 0, 0],
  oom_kills: 7,
  hung_tasks: 7,
  throttle_events: 7,
  edac_ce: 7,
  gpu_errors: 7,
};
const flag = (name: keyof typeof bits.flags) => 1 << bits.flags[name];
const gpu = (name: keyof typeof bits.gpu_flags) => 1 << bits.gpu_flags[name];
const without = (set: Parameters<typeof validOf>[0]) => ALL & ~validOf(set);

/** The newest report, the report before it (null: there is none), and the problems that result. */
const ROWS: [about: string, now: Encodable<'report'>, before: Encodable<'report'> | null, problem: Problem[]][] = [
  ['nothing', {}, {}, []],
  ['nothing that was measured', { ...blank(), valid: 0n }, {}, []],
  ['held', { flags: flag('held') }, {}, ['held']],
  ['bad health', { health: enums.health.indexOf('bad') }, {}, ['bad_health']],
  ['health that warns', { health: enums.health.indexOf('warning') }, {}, ['health_warning']],
  ['health that was not measured', { health: enums.health.indexOf('bad'), valid: without('health') }, {}, []],
  ['a root that is read-only', { flags: flag('root_readonly') }, {}, ['root_readonly']],
  ['memory that is wrong', { edac_ue: 1 }, {}, ['memory_errors']],
  ['memory that the kernel took away', { mem_corrupted_kib: 4 }, {}, ['memory_errors']],
  ['a GPU that is gone', { gpu_flags: [1, gpu('off_the_bus'), 0, 0, 0, 0, 0, 0] }, {}, ['gpu_lost']],
  ['one that the node has not', { gpu_flags: [1, 1, gpu('off_the_bus'), 0, 0, 0, 0, 0] }, {}, []],
  ['an ECC error of a GPU', { gpu_flags: [gpu('ecc_error'), 1, 0, 0, 0, 0, 0, 0] }, {}, ['gpu_errors']],
  ['errors that were not corrected', { gpu_ecc_ue: 1 }, {}, ['gpu_errors']],
  ['another error of a GPU', { gpu_errors: 8 }, {}, ['gpu_errors']],
  ['a root with less than 5 %', { root_avail_mib: 49 }, {}, ['root_full']],
  ['a root with few inodes', { root_inodes_free_pm: 19 }, {}, ['root_full']],
  ['a root of no size', { root_total_mib: 0, root_avail_mib: 0, root_inodes_free_pm: 0 }, {}, []],
  ['a scratch with less than 5 %', { scratch_avail_mib: 199_999_999 }, {}, ['scratch_full']],
  ['a scratch with few inodes', { scratch_inodes_free_pm: 0 }, {}, ['scratch_full']],
  ['killed for memory', { oom_kills: 8 }, {}, ['oom']],
  ['hung tasks', { hung_tasks: 9 }, {}, ['hung_tasks']],
  ['throttled', { throttle_events: 8 }, {}, ['throttled']],
  ['a GPU that is throttled', { gpu_flags: [1, gpu('throttled'), 0, 0, 0, 0, 0, 0] }, {}, ['throttled']],
  ['corrected errors', { edac_ce: 8 }, {}, ['ecc']],
  ['over the end of a counter', { edac_ce: 3 }, { edac_ce: 2 ** 32 - 1 }, ['ecc']],
  ['a counter that went back', { oom_kills: 6, edac_ce: 0, throttle_events: 0 }, {}, []],
  ['no report before', { oom_kills: 8, edac_ce: 8 }, null, []],
  ['another boot before', { oom_kills: 8, boot_id: 9n }, {}, []],
  ['a set that was not measured before', { oom_kills: 8 }, { valid: without('vmstat') }, []],
  [
    'several, the worst first',
    { flags: flag('held'), health: enums.health.indexOf('bad'), edac_ce: 8, root_avail_mib: 0, oom_kills: 8 },
    {},
    ['held', 'bad_health', 'root_full', 'oom', 'ecc'],
  ],
];

/** Every problem at once, for sets that are not valid and must be ignored. */
function blank(): Encodable<'report'> {
  return { health: 3, edac_ue: 1, root_avail_mib: 0, scratch_avail_mib: 0, gpu_ecc_ue: 1, oom_kills: 99 };
}

const nameOf = (i: number) => `row${String(i).padStart(2, '0')}`;

/** A board with a node for each row, and its heartbeat. */
function board(t: { teardown(end: () => void): void }): { path: string; beat: () => void } {
  const path = boardPath(t);
  const limits = { uncertainAfter: 60_000, silentAfter: 120_000 };
  const writer = openWriter({ path, cluster: '', capacity: 64, ...limits, nodes: [] });
  t.teardown(() => writer.close());
  writer.listeningSince(now().mono);
  const lay = (i: number, seq: number, values: Encodable<'report'>) => {
    const { mono, real } = now();
    const report = {
      hostname: nameOf(i),
      seq,
      t_boot_ns: 100n * SECOND + BigInt(seq) * SECOND,
      start_boot_ns: 1n,
      boot_id: 5n,
    };
    deliver(writer, makeReport({ ...report, ...WELL, ...values }), mono, real);
  };
  ROWS.forEach(([, values, before], i) => {
    if (before !== null) lay(i, 1, before);
    // A report of another boot is accepted at once only after a goodbye.
    const other = values.boot_id !== undefined;
    if (other) lay(i, 2, { ...before, flags: flag('goodbye') });
    lay(i, 3, values);
  });
  const beat = () => writer.heartbeat(now().mono);
  beat();
  const heart = setInterval(beat, 100);
  t.teardown(() => clearInterval(heart));
  return { path, beat };
}

t.test('each row, by TypeScript', async t => {
  const { path } = board(t);
  const reader = openReader(t, path);
  const found = new Map([...reader.snapshot().nodes()].map(node => [node.name, node.problems]));
  for (const [i, [about, , , problems]] of ROWS.entries()) t.same(found.get(nameOf(i)), problems, about);
});

t.test('each row, by libbeoboard', { skip: NOT_WHOLE || lacks('python3', 'python3') }, async t => {
  const { path } = board(t);
  const out = makeIn('', {}, 'lib');
  const ask = `
import ctypes, json, sys
lib = ctypes.CDLL(sys.argv[1] + '/libbeoboard.so.1')
word = sys.argv[3]
of, name, text = (getattr(lib, 'beoboard_' + word + ending) for ending in ('s', '_name', '_text'))
name.restype = text.restype = ctypes.c_char_p
handle = ctypes.c_void_p()
assert lib.beoboard_open(ctypes.byref(handle), sys.argv[2].encode(), 0) == 0
told = {}
for node in sys.argv[4:]:
    bits = of(handle, lib.beoboard_index(handle, node.encode()))
    told[node] = bits if bits < 0 else [name(i).decode() for i in range(31) if bits >> i & 1]
print(json.dumps([told, of(handle, 9999), name(-1), name(31), text(0).decode()]))`;
  // By the names of now, and by those of programs that were built earlier.
  for (const word of ['problem', 'ailment']) {
    const { stdout, stderr } = spawnSync('python3', ['-c', ask, out, path, word, ...ROWS.map((_, i) => nameOf(i))], {
      encoding: 'utf8',
    });
    t.equal(stderr, '');
    const [told, beyond, below, above, text] = JSON.parse(stdout);
    // In the order of their numbers, which is the order of their ranks so far.
    for (const [i, [about, , , problems]] of ROWS.entries())
      t.same(told[nameOf(i)], problems, `${about}, by the library`);
    t.same([beyond, below, above], [-22, null, null]);
    t.match(text, /put on hold by its administrator/);
  }
});

t.test('every problem has a row', async t => {
  const seen = new Set(ROWS.flatMap(([, , , problems]) => problems));
  t.same(
    PROBLEMS.filter(problem => !seen.has(problem)),
    [],
  );
});

t.test('its texts', async t => {
  const { path } = board(t);
  const unhealthy = ROWS.flatMap(([, , , problems], i) => (problems.length > 0 ? [nameOf(i)] : []));
  const well = ROWS.flatMap(([, , , problems], i) => (problems.length === 0 ? [nameOf(i)] : []));
  const names = async (...argv: string[]) =>
    (await run([...argv, '--board', path])).stdout.trim().split('\n').filter(Boolean);
  t.same(await names('nodes', '--healthy', '--expand'), well);
  t.same(await names('nodes', '--state', 'live', '--count'), [String(ROWS.length)]);
  t.same(await names('nodes', '--healthy', '--state', 'silent', '--count'), ['0']);

  const held = ROWS.findIndex(([about]) => about === 'held');
  const { stdout } = await run(['status', '-w', `${nameOf(0)},${nameOf(held)}`, '--board', path]);
  t.match(stdout, /^2 of \d+ nodes: 2 live, 1 unhealthy now;/);
  t.match(stdout, new RegExp(`^${nameOf(0)} +live `, 'm'));
  t.match(stdout, new RegExp(`^${nameOf(held)} +live! .* held`, 'm'));
  t.match(
    stdout,
    /^notice +\d+ s +\S+ +row02: put on hold by its administrator$/m,
    'of those that were asked about alone',
  );
  const exceptions = (await run(['status', '-x', '--board', path])).stdout;
  for (const name of unhealthy) t.match(exceptions, new RegExp(`^${name} +live!`, 'm'));
  for (const name of well) t.notMatch(exceptions, new RegExp(`^${name} `, 'm'));
  t.match(
    (await run(['status', '--plain', '-w', nameOf(held), '--board', path])).stdout,
    /row\d+ is live, put on hold by its administrator/,
  );
  const printed = JSON.parse((await run(['status', '--json', '--board', path])).stdout);
  t.strictSame(unlike('Status', printed), []);
  const { nodes, anomalies } = printed;
  t.same(
    // The worst first, and not in the order of the board.
    nodes
      .sort((a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name))
      .map(({ problems = [] }: { problems?: string[] }) => problems),
    ROWS.map(([, , , problems]) => problems),
  );
  t.ok(
    anomalies.some(({ kind, nodes }: { kind: string; nodes: string }) => kind === 'unhealthy' && nodes.includes('row')),
  );

  const check = async (...argv: string[]) => {
    const { code, stdout } = await run(['check', '--board', path, ...argv]);
    return [code, stdout.replace(/ \|.*/s, '')];
  };
  t.same(await check('--nodes', nameOf(0)), [0, 'BEOBOARD OK: 1 node, 1 live']);
  t.same(await check('--nodes', nameOf(held)), [1, `BEOBOARD WARNING: of 1 node 1 held (${nameOf(held)})`]);
  t.same(await check('--nodes', nameOf(held), '--ignore', 'ecc,held'), [0, 'BEOBOARD OK: 1 node, 1 live']);
  t.same(await check('--nodes', nameOf(held), '--warning', '1'), [
    0,
    `BEOBOARD OK: of 1 node 1 held (${nameOf(held)})`,
  ]);
  t.same(await check('--health', 'off'), [0, `BEOBOARD OK: ${ROWS.length} nodes, ${ROWS.length} live`]);
  const [code, text] = await check();
  t.equal(code, 1);
  t.match(text, /^BEOBOARD WARNING: of \d+ nodes 2 held \(.*\), 2 bad_health \(/);
  t.match((await run(['check', '--board', path, '--ignore', 'cold'])).stdout, /UNKNOWN: .*'cold' is not a problem/);
});
