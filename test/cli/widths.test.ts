// Verbs fit a terminal from 40 columns on, however long names of nodes, users, jobs and partitions are and whatever
// letters they have; and one long name takes no column from the rows of others.
//
// @seconds 6
// @whole

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { TroubleInfo } from '../../src/acks/info.js';
import { troubleLines } from '../../src/cli/troublelist.js';
import { bits } from '../../src/layout/layout.gen.js';
import { readState } from '../../src/schedulerfile/statefile.js';
import { painter } from '../../src/terminal/style.js';
import { widest, widthOf } from '../../src/text/layout.js';
import { keepAlive } from '../kit/heart.js';
import { folder } from '../kit/places.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';
import { WHOLE } from '../kit/whole.js';
import { writtenBoard } from '../kit/writtenboard.js';

const LONG = 'rack12-chassis07-blade03-with-a-long-name.cluster.example.org';
const NAMES = ['n1', 'n2', LONG, 'n8', 'n9'];
const ARRAY = '3_[1-9999999,1000000000-3333333333]';
const SERVED = '77[3].pbs01.cluster.long.example.org';
const USERS = {
  cjk: 'ünïcödé-ユーザー名前前前前前前',
  domain: 'anna@ad.long-domain.example.org',
  marks: 'e\u0301'.repeat(40),
};

const valid = Object.values<number>(bits.valid).reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
const reportsOf = (name: string) => (ago: number) =>
  name === 'n8' && ago < 20
    ? undefined
    : {
        ...{ valid, os_release: '日本語カーネル', interval_ms: name === 'n8' ? 1000 : 600_000 },
        flags: name === 'n9' ? 1 << bits.flags.root_readonly : 0,
      };
const { path: board } = writtenBoard(t, Object.fromEntries(NAMES.map(name => [name, reportsOf(name)])), 40);
keepAlive(t, board);
const dir = folder(t);
const ask = verbChild(t);

t.before(async () => {
  const jobs = [
    { job: '1', nodes: 'n1', user: 'bo', name: 'a', cpus: 3 },
    { job: ARRAY, nodes: NAMES.join(), user: USERS.cjk, name: '大きな計算😀'.repeat(9), partition: '区'.repeat(30) },
    { job: SERVED, nodes: 'n2,n8', user: USERS.domain, name: 'n'.repeat(200), cpus: 100_000 },
    { job: '99', nodes: 'n9', user: USERS.marks, name: USERS.marks, cpus: 1 },
  ];
  const nodes = ['gone-計算ノード', ...NAMES].map((node, i) => ({
    ...{
      node,
      state: i % 2 === 0 ? 'drained' : 'idle',
      reason: '故障'.repeat(40),
      reason_by: '管理者',
      switch: 'スイッチ',
    },
  }));
  const file = join(dir, 'file');
  const rows = [{ schema: 1, scheduler: 'X' }, ...nodes, ...jobs, { end: true }];
  writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''));
  start(t, ['scheduler', '--board', board, '--slurm-dir', dir, '--scheduler', `file:${file}`, '--public-jobs']);
  await until('the file is read', () => {
    const found = readState(dir);
    return found.why === undefined && found.state.jobs.list.length === jobs.length;
  });
});

/** The lines that a verb prints on so many columns. */
async function linesOf(argv: readonly string[], width: number): Promise<string[]> {
  const env = { ...process.env, COLUMNS: String(width), LC_ALL: 'C.UTF-8' };
  const { code, stdout, stderr } = await ask([...argv, '--board', board, '--slurm-dir', dir], env);
  t.equal(code, 0, `${argv.join(' ')}: ${stderr}`);
  return stdout.split('\n');
}

t.test('no line is wider than the terminal', async t => {
  for (const argv of [
    ...[[], ['--jobs'], ['-x'], ['-l'], ['--by', '/^./'], ['--by', '/^.*/', '-l']].map(more => ['status', ...more]),
    ...[[], [ARRAY], [SERVED], ['99'], [USERS.domain]].map(more => ['jobs', ...more]),
    ...[[], ['anna']].map(more => ['users', ...more]),
    ...NAMES.flatMap(name => [
      ['show', name],
      ['show', '--raw', name],
    ]),
  ])
    for (const width of WHOLE ? [40, 41, 47, 60, 80, 132, 200] : [40, 80]) {
      const lines = await linesOf(argv, width);
      t.same(
        lines.filter(line => widthOf(line) > width),
        [],
        `${argv.join(' ')}: ${width} columns`,
      );
    }
});

t.test('a list of trouble whose times are those of other days', async t => {
  const line = { key: 'x', severity: 'critical', kind: 'x', what: 'a long sentence about an unheard-ofly-long-word' };
  const trouble = [{ ...line, since: '2026-03-01T12:00:00Z' }] as unknown as TroubleInfo[];
  for (let width = 40; width < 60; width++) {
    const lines = troubleLines(trouble, { nowMs: Date.UTC(2026, 10, 29), width, paint: painter('never') }).flat();
    t.ok(widest(lines) <= width, lines.join('\n'));
  }
});

t.test('one long name takes no column from other rows', async t => {
  const found = async (argv: readonly string[], width: number) => (await linesOf(argv, width)).join('\n');
  const nodes = await found(['status', '--jobs', '-o', 'name,state,load'], 80);
  t.match(nodes, /^n1 {2,26}live {2,}idle {2,}bo,\S{1,20} +1, 3_\S+ +0\.00$/m, 'of users and jobs on nodes');
  t.match(await found(['jobs', ARRAY], 60), /^NODE .* CPU .*DIFFERS/m, 'of the members of a job');
  t.match(await found(['users'], 200), /^bo {2,30}1 /m, 'of users');
  t.match(await found(['jobs'], 80), /^ +1 {2}bo .*running/im, 'of jobs');
});
