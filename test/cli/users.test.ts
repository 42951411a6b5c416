// beoboard users: one row a user, beside made boards (test/golden/users.txt; to write it again, after reading the
// difference: node dist/test/cli/users.test.js --write), and the command on a board file.
//
// @seconds 4

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { showUsers } from '../../src/cli/users.js';
import { bits } from '../../src/layout/layout.gen.js';
import { stateText } from '../../src/schedulerfile/statefile.js';
import { painter } from '../../src/terminal/style.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { UNSEEN } from '../../src/text/unseen.js';
import { node, writeLiveBoard } from '../kit/ganglia.js';
import { busy, EVERYTHING, type MadeNode, madeBoard } from '../kit/madeboard.js';
import { madeJob, madeLook, madeState } from '../kit/madejobs.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { verbChild } from '../kit/verbchild.js';

const GOLDEN = join(ROOT, 'test', 'golden', 'users.txt');
const ask = verbChild(t);

/** Half busy; some with GPUs. */
const NODES = expand('n[01-20]', BOARD_MOST).map((name, i): MadeNode => {
  const gpus = { valid: EVERYTHING, gpu_count: 2, gpu_busy: 1, gpu: [{ util_pct: 90 }, { util_pct: 30 }] };
  return { name, age: 0.4, ...busy(32, i >= 16 ? gpus : {}) };
});
const told = (name: string, cpus_used: number, gpus_used?: number) => ({
  ...{ name, state: 'ALLOCATED', cpus: 64, cpus_used },
  ...(gpus_used !== undefined && { gpus: 2, gpus_used }),
});
const TOLD = [
  ...expand('n[01-16]', BOARD_MOST).map(name => told(name, 64)),
  ...expand('n[17-20]', BOARD_MOST).map(name => told(name, 64, name === 'n20' ? 1 : 2)),
  told('n99', 64),
];
const JOBS = [
  madeJob('4711', 'n[01-10]', { cpus: 640 }),
  madeJob('4712', 'n[10-12]', { user: 'bert', cpus: 100 }),
  madeJob('4713', 'n[17-20]', { user: 'cora', cpus: 256 }),
  madeJob('4714_2', 'n13', { user: 'bert', cpus: 64 }),
  madeJob('4715', 'n99', { user: 'dora', cpus: 64 }),
  madeJob('4716', 'n14', { user: '', cpus: 0 }),
  madeJob('4717', 'n15', { user: `e\u202e\x1b[2J${'x'.repeat(300)}`, cpus: 1 }),
];
const ILL = NODES.map(made => {
  if (made.name === 'n03') return { ...made, age: 60 };
  if (made.name === 'n18') return { ...made, ...busy(32, { flags: 1 << bits.flags.root_readonly }) };
  return made;
});

const MANY = Array.from({ length: 42 }, (_, i) => madeJob(String(i), 'n16', { user: `user${i}`, cpus: 1 }));

function golden(): string {
  const state = madeState(TOLD, JOBS);
  const all = (nodes: MadeNode[], among?: string[], of = state) =>
    showUsers(madeLook(madeBoard(nodes), of, among))
      .lines(painter('never'))
      .join('\n');
  return [
    ...['all is well', all(NODES), '', 'some nodes are not', all(ILL), '', 'of some nodes', all(ILL, ['n10'])],
    ...['', 'no jobs', all(NODES, ['n16']), '', 'nobody knows', all(NODES, [], madeState(TOLD, [], { mono_ms: 9e15 }))],
    ...['', 'two more than are shown', all(NODES, undefined, madeState(TOLD, MANY))],
    '',
  ].join('\n');
}

t.test('the rows are those of test/golden/users.txt, and fit', async t => {
  const text = golden();
  if (process.argv.includes('--write')) writeFileSync(GOLDEN, text);
  t.equal(text, readFileSync(GOLDEN, 'utf8'));
  for (const line of text.split('\n')) t.ok(line.length <= 80, line);
});

t.test('for programs: use is that of the live nodes, and said to be shared where it is', async t => {
  const look = madeLook(madeBoard(ILL), madeState(TOLD, JOBS));
  const users = showUsers(look).json() as Record<string, unknown>[];
  t.same(
    users.map(({ user, node_count }) => [user, node_count]).slice(0, 3),
    [
      ['anna', 10],
      ['bert', 4],
      ['cora', 4],
    ],
    'who has the most nodes first',
  );
  const of = (name: string) => users.find(({ user }) => user === name);
  t.match(of('anna'), {
    ...{ job_count: 1, jobs: ['4711'], nodes: 'n[01-10]', cpus: 640, gpus: 0 },
    ...{ shared_count: 1, shared: 'n10', trouble_count: 1, trouble: 'n03' },
  });
  t.equal(Number(of('anna')?.cpu_use).toFixed(3), '0.499', 'nine of ten are live');
  t.match(of('cora'), { gpus: 7, shared_count: 0, trouble: 'n18' });
  // Two GPUs at 90 % and 30 % on each of four nodes, of one of which only one was given to a job; n18 tells no GPUs.
  t.equal(Number(of('cora')?.gpu_use).toFixed(3), (3.6 / 5).toFixed(3));
  t.match(of('dora'), { nodes: 'n99', trouble: 'n99' });
  t.notOk('cpu_use' in (JSON.parse(JSON.stringify(of('dora'))) as object), 'nothing is known of it');
});

t.test('the command: hostile names, the choice of nodes, the exit codes', async t => {
  const [board, path] = [boardPath(t), folder(t)];
  writeLiveBoard(t, board, [node('n01'), node('n15')]);
  const users = (...argv: string[]) => ask(['users', '--board', board, '--slurm-dir', path, ...argv]);
  t.match(await users(), { code: 1, stdout: '', stderr: /^beoboard users: nothing is known about jobs: / });
  writeFileSync(join(path, 'state'), stateText(madeState(TOLD, JOBS)));
  const shown = await users();
  t.match(shown, { code: 0, stderr: '', stdout: /^USER +JOBS +NODES +CPUS +CPU +GPUS +GPU +TROUBLE\nanna +1 +10 / });
  t.match(shown.stdout, /\nknown to Slurm, and not on the board: n\[02-14,16-20,99\] \(19 of 21\)\n/);
  t.match(shown.stdout, /\ne…x+ +1 /);
  const json = await users('--json', 'n[10-11]');
  t.strictSame((shown.stdout + json.stdout).replaceAll('\n', '').match(UNSEEN), null);
  t.match(JSON.parse(json.stdout), {
    schema: 1,
    slurm: { cluster: 'alpha' },
    users: [{ user: 'anna' }, { user: 'bert' }],
  });
  t.match(await users('n[01'), { code: 2 });
  const sheet = await ask(['show', 'n15', '--board', board, '--slurm-dir', path], { COLUMNS: '400' });
  t.match(sheet.stdout, /, 1 CPU on 1 node, /);
  t.match(await users('n[98-99]'), {
    code: 1,
    stdout: /\ndora /,
    stderr: /: not on the board, and not known to Slurm: n98\n$/,
  });
});
