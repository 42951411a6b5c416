// Nodes are taken out of service by the scheduler's own command: what is printed can be pasted, what is run has each text
// whole, whatever is in it; who, why and until when are shown with the node's trouble; and nobody else's drain is touched.
//
// @seconds 6
// @whole

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { drainOf, markedReason, REASON_MOST } from '../../src/schedulerfile/drains.js';
import type { SchedulerJob, SchedulerNode } from '../../src/schedulerfile/scheduler.js';
import { stateText } from '../../src/schedulerfile/statefile.js';
import { parseNodes } from '../../src/schedulers/slurm/answers.js';
import { replaceFile } from '../../src/service/replacefile.js';
import { keepAlive } from '../kit/heart.js';
import { madeState } from '../kit/madejobs.js';
import { folder } from '../kit/places.js';
import { PROGRAM, runningOf, run as runProgram } from '../kit/program.js';
import { writeCommand } from '../kit/slurmstandin.js';
import { makeBoard } from '../kit/stateboard.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { NOT_WHOLE } from '../kit/whole.js';

const run = verbRun(t);

const HOSTILE = [
  "it's down; $(touch never) `touch never`",
  '"quoted"',
  'a=b, c\\d | e & f > never',
  'Lüfter 3 – 扇 (neu)',
];

/** A folder of commands that write down what they are called with, and the files of a scheduler's reader. */
function site(t: Parameters<typeof folder>[0], scheduler = 'Slurm') {
  const path = folder(t);
  const [slurmDir, asked] = [join(path, 'slurm'), join(path, 'asked')];
  mkdirSync(slurmDir);
  for (const name of ['scontrol', 'qmod', 'clush'])
    writeCommand(join(path, name), `#!/bin/sh\nprintf '%s\\0' ${name} "$@" >>${asked}\nexit "$(cat ${path}/code)"\n`);
  const fails = (code: number) => writeFileSync(join(path, 'code'), `${code}`);
  fails(0);
  const leave = (nodes: readonly SchedulerNode[], jobs: readonly SchedulerJob[] = [], more = {}) =>
    replaceFile(slurmDir, 'state', stateText(madeState(nodes, jobs, { scheduler, ...more })), 0o644);
  const env = { PATH: `${path}:${process.env.PATH}`, SUDO_USER: 'eva', TZ: 'UTC' };
  const at = (board = join(path, 'none')) => ['--slurm-dir', slurmDir, '--board', board];
  /** What the commands were called with since the last question. */
  const calls = () => {
    const words = existsSync(asked) ? readFileSync(asked, 'utf8').split('\0').slice(0, -1) : [];
    rmSync(asked, { force: true });
    return words;
  };
  return { path, env, at, leave, fails, calls };
}

const node = (name: string, more: Partial<SchedulerNode> = {}): SchedulerNode => ({
  ...{ name, state: 'IDLE', base: 'idle', cpus: 4, takes_jobs: true },
  ...more,
});
const drained = (name: string, reason: string, reason_by = 'root') =>
  node(name, { state: 'IDLE+DRAIN', takes_jobs: undefined, aside: 'drained', reason, reason_by });

t.test('who, why and until when come back from the reason', async t => {
  const texts = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: REASON_MOST })
    .filter(text => text.trim() === text);
  const untils = fc.option(fc.integer({ min: 0, max: 4e9 }), { nil: undefined });
  fc.assert(
    fc.property(texts, fc.constantFrom('anna', 'AD\\john doe', 'a.b@example.org'), untils, (reason, by, minutes) => {
      const drain = { reason, by, ...(minutes !== undefined && { until_ms: minutes * 60 }) };
      const found = drainOf({ aside: 'drained', reason: markedReason(drain) });
      const { until_ms } = drain;
      const expected = until_ms === undefined ? {} : { until_ms: Math.ceil(until_ms / 60_000) * 60_000 };
      t.strictSame(found, { reason, by, ...expected });
    }),
    { seed: 84 },
  );
  t.equal(drainOf({ aside: 'drained', reason: 'fan 3' }), undefined);
  t.equal(
    drainOf({ aside: undefined, reason: markedReason({ reason: 'x', by: 'anna' }) }),
    undefined,
    'a reason that is left',
  );
  t.equal(drainOf({ aside: 'drained', reason: 'x (drained by eva, until 2026-99-99 99:99 UTC)' }), undefined);
  const both = { reason: 'x (drained by root)', by: 'a(b), until 2000-01-01 00:00 UTC)' };
  t.match(
    drainOf({ aside: 'drained', reason: markedReason(both) }),
    { reason: both.reason, by: /^a\?b\?/ },
    'none is forged',
  );
  const row = `NodeName=n1 CPUAlloc=0 CPUTot=4 State=IDLE+DRAIN Partitions=x Reason=${markedReason({ reason: 'fan', by: 'anna' })} [root@1795640000]`;
  t.strictSame(parseNodes(row).map(drainOf), [{ reason: 'fan', by: 'anna' }], 'as Slurm shows it');
});

t.test('what is printed can be pasted, and what is run is the same', async t => {
  const { path, env, at, leave, calls } = site(t);
  leave(['n1', 'n2', 'n10'].map(name => node(name)));
  for (const reason of HOSTILE) {
    const argv = ['drain', '-w', 'n[1-2],n10', '--reason', reason, '--until', '@1795640000000', ...at()];
    t.match(await run(argv, env), { code: 2 }, 'too far away');
    argv[6] = '2999-01-01 00:00Z';
    const { code, stdout, stderr } = await run(argv, env);
    t.equal(code, 0, stderr);
    t.match(stderr, /^beoboard drain: not run; --do runs it as you\n$/);
    const [free, line = '', end] = stdout.split('\n');
    t.strictSame([free, end], ['free now', '']);
    t.strictSame(calls(), []);
    execFileSync('sh', ['-c', line], { env, cwd: path });
    const pasted = calls();
    const quote = reason.startsWith('"') ? '"' : '';
    const marked = `reason=${quote}${reason} (drained by eva, until 2999-01-01 00:00 UTC)`;
    t.strictSame(pasted, ['scontrol', 'update', 'nodename=n[1-2,10]', 'state=drain', marked]);
    t.match(await run([...argv, '--do'], env), { code: 0, stdout, stderr: '' });
    t.strictSame(calls(), pasted);
  }
  t.notOk(existsSync(join(path, 'never')));
  const long = await run(['drain', '-w', 'n1', '--reason', 'x'.repeat(10_000), ...at()], env);
  t.match(long, { code: 2, stderr: /write one to 200 characters/ });
  const forged = await run(['drain', '-w', 'n1', '--reason', 'x [root@1795640000]', ...at()], env);
  t.match(forged, {
    code: 2,
    stderr: /--reason: write at most 150 characters, no \[name@seconds\], and no beoboard: in front/,
  });
  t.match(await run(['drain', '-w', 'n1', ...at()], env), { code: 2, stderr: /why\?/ });
  t.match(await run(['drain', '--reason', 'x', ...at()], env), { code: 2, stderr: /-w LIST/ });
});

t.test(
  'also in ASCII, beside a command that talks, and without a reader of what is printed',
  { skip: NOT_WHOLE },
  async t => {
    const { path, env, at, leave, calls } = site(t);
    leave([node('n1')]);
    const argv = (...more: string[]) => ['drain', '-w', 'n1', '--reason', "Lüfter 3's \\ 扇", ...more, ...at()];
    const reason = "reason=Lüfter 3's \\ 扇 (drained by eva)";
    const { stdout } = await run(argv(), { ...env, LC_ALL: 'C' });
    t.match(stdout, /^free now\n[ -~]+\n$/);
    execFileSync('bash', ['-c', stdout.split('\n')[1] ?? ''], { env });
    t.equal(calls().at(-1), reason);
    const script = readFileSync(join(path, 'scontrol'), 'utf8');
    writeCommand(join(path, 'scontrol'), script.replace('\n', '\necho done\n'));
    // What the command says goes past this process's own streams.
    const answer = await runProgram(argv('--do', '--json'), env);
    t.equal(JSON.parse(answer.stdout).done, true, 'nothing else is printed');
    t.equal(answer.stderr, 'done\n');
    t.equal(calls().at(-1), reason);
    const child = spawn(process.execPath, [PROGRAM, ...argv('--do')], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.destroy();
    await once(child, 'exit');
    t.equal(calls().at(-1), reason, 'it is done all the same');
  },
);

t.test('nothing is done by half without saying for which, and nobody else is overruled', async t => {
  const { env, at, leave, calls, fails } = site(t);
  const bridges = 'beoboard: silent [ab12cd]';
  leave([
    node('n1'),
    drained('n2', 'fan'),
    drained('n3', bridges),
    drained('n4', 'PDU (drained by anna)'),
    node('all'),
  ]);
  const drain = await run(['drain', '-w', 'n[1-5],all', '--reason', 'x', '--do', ...at()], env);
  t.equal(drain.code, 1);
  t.strictSame(drain.stderr.trim().split('\n'), [
    'beoboard drain: n4: drained by anna: PDU',
    'beoboard drain: n3: drained by the bridge, which lets go of it',
    'beoboard drain: n5: not known to Slurm',
    "beoboard drain: all: Slurm's commands do not take this name for one node",
    'beoboard drain: n2: IDLE+DRAIN already by root (fan); left as it is',
  ]);
  t.strictSame(calls(), ['scontrol', 'update', 'nodename=n[1,3-4]', 'state=drain', 'reason=x (drained by eva)']);
  const resume = await run(['resume', '-w', 'n[1-4]', '--do', ...at()], env);
  t.equal(resume.code, 1);
  t.strictSame(resume.stderr.trim().split('\n'), [
    'beoboard resume: n4: drained by anna: PDU',
    'beoboard resume: n1: not drained',
    'beoboard resume: n2: drained by root (fan), not by beoboard drain; scontrol update nodename=n2 state=undrain ends it',
    `beoboard resume: n3: drained by the bridge (${bridges}), which resumes it when it is well; beoboard bridge --undrain-own does so at once`,
  ]);
  t.strictSame(calls(), ['scontrol', 'update', 'nodename=n4', 'state=undrain']);
  fails(3);
  const failed = await run(['drain', '-w', 'n1', '--reason', 'x', '--do', ...at()], env);
  t.match(failed, { code: 1, stderr: 'beoboard drain: scontrol ended with 3; some nodes may have been reached\n' });
});

t.test('what others declared failed or down stays theirs; what Slurm says of a dead node does not', async t => {
  const { env, at, leave, calls } = site(t);
  const out = (name: string, state: string, reason: string | undefined, more: Partial<SchedulerNode> = {}) =>
    node(name, { state, takes_jobs: undefined, ...(reason && { reason, reason_by: 'root' }), ...more });
  leave([
    out('n1', 'IDLE+FAIL', 'vendor says replace'),
    out('n2', 'DOWN', 'RMA 123', { base: 'down' }),
    out('n3', 'DOWN+NOT_RESPONDING', 'Not responding', { base: 'down' }),
    out('n4', 'IDLE+MAINTENANCE', undefined, { aside: 'in maintenance' }),
    out('n5', 'IDLE', 'an old reason'),
  ]);
  const { code, stderr } = await run(['drain', '-w', 'n[1-5]', '--reason', 'x', '--do', ...at()], env);
  t.equal(code, 1);
  t.match(stderr, /n1: IDLE\+FAIL already by root \(vendor says replace\); left as it is\n.*n2: DOWN already/s);
  t.strictSame(calls(), ['scontrol', 'update', 'nodename=n[3-5]', 'state=drain', 'reason=x (drained by eva)']);
});

t.test('by the names of either, also without a board, and not by an answer that is old', async t => {
  const { env, at, leave, calls } = site(t);
  const names = { CN1: 'cn1', y: 'x', z: 'y' };
  const nodes = ['CN1', 'x', 'y', 'z'].map(name => node(name));
  leave(nodes, [], { names });
  const drain = async (name: string, ...more: string[]) => {
    const answer = await run(['drain', '-w', name, '--reason', 'x', ...at(), ...more], env);
    return [answer.code, /nodename=\S+|two nodes of that name|not known/.exec(answer.stdout + answer.stderr)?.[0]];
  };
  t.strictSame(await drain('cn1'), [0, 'nodename=CN1']);
  t.strictSame(await drain('x'), [1, 'two nodes of that name'], 'x of the board is y, and there is an x');
  t.strictSame(await drain('z'), [0, 'nodename=z']);
  leave(nodes, [], { names, next_ms: 0, mono_ms: 0 });
  const old = await run(['drain', '-w', 'z', '--reason', 'x', '--do', ...at()], env);
  t.match(old, { code: 1, stderr: /what is true now is not known: .*; without --do the command is printed\n$/ });
  t.match(await run(['drain', '-w', 'z', '--reason', 'x', ...at()], env), {
    code: 0,
    stdout: /^free now, by an answer that is old\n/,
  });
  t.strictSame(calls(), []);
});

t.test('the jobs, and when the nodes are free', async t => {
  const { env, at, leave } = site(t);
  const job = (id: string, more: Partial<SchedulerJob>): SchedulerJob => ({
    ...{ id, state: 'RUNNING', user: 'anna', partition: 'p', cpus: 4, nodes: 'n[1-2]', name: 'x' },
    ...more,
  });
  const nowS = Math.floor(Date.now() / 1000);
  const nodes = ['n1', 'n2', 'n3'].map(name => node(name));
  const ask = async (...argv: string[]) => (await run(['drain', '--reason', 'x', ...at(), ...argv], env)).stdout;
  const end_s = Date.UTC(2999, 0) / 1000;
  leave(nodes, [job('7', { start_s: nowS - 3600, end_s }), job('8', { end_s: end_s - 60, nodes: 'n2' })], {});
  const told = await ask('-w', 'n[1-2]');
  t.match(
    told,
    /^ {2}job 7 of anna on n\[1-2\], for 1h\S*, ends by 2999-01-01\n {2}job 8 of anna on n2, ends by 2998-12-31\n/,
  );
  t.match(told, /\nfree by 2999-01-01 at the latest(, as far as jobs are shown)?\nscontrol /);
  t.match(await ask('-w', 'n3'), /^free now/);
  leave(nodes, [job('7', {})]);
  t.match(await ask('-w', 'n2'), /no end is known\nfree when 7 has ended: no end is known/);
  t.match(JSON.parse(await ask('-w', 'n2', '--json')), {
    ...{ schema: 1, done: false, nodes: 'n2', scheduler: 'Slurm', left: [], jobs: [{ id: '7', user: 'anna' }] },
    commands: [/^scontrol update nodename=n2 state=drain /],
  });
  const wait = ['drain', '-w', 'n1', '--reason', 'x', '--do', '--wait', ...at()];
  const child = spawn(process.execPath, [PROGRAM, ...wait], { env: { ...process.env, ...env } });
  const waiting = runningOf(t, child, wait);
  await until('it waits for the job', () => {
    leave(nodes, [job('7', {})]);
    return waiting.output().stderr.includes('waiting for 7');
  });
  await until('it has ended', () => {
    leave(nodes);
    return waiting.output().stdout.endsWith('n1: free now\n');
  });
  t.equal(await waiting.exit, 0);
});

t.test('Grid Engine, another scheduler, and none', async t => {
  const grid = site(t, 'Grid Engine');
  grid.leave([node('n1'), node('n2', { aside: 'disabled' })]);
  const drain = await run(['drain', '-w', 'n[1-2]', '--reason', 'x', '--do', ...grid.at()], grid.env);
  t.match(drain, { code: 1, stderr: /keeps no reason.*\n.*n2: IDLE already; left as it is/ });
  t.strictSame(grid.calls(), ['qmod', '-d', '*@n1']);
  await run(['resume', '-w', 'n2', '--do', ...grid.at()], grid.env);
  t.strictSame(grid.calls(), ['qmod', '-e', '*@n2']);
  const other = site(t, 'LSF');
  other.leave([node('n1')]);
  const lsf = await run(['drain', '-w', 'n1', '--reason', 'x', ...other.at()], other.env);
  t.match(lsf, { code: 1, stderr: /only Slurm's and Grid Engine's commands are known; use those of LSF/ });
  const none = site(t);
  // No scheduler's commands are in PATH.
  const bin = join(none.path, 'bin');
  mkdirSync(bin);
  for (const name of ['clush', 'cat'])
    symlinkSync(name === 'cat' ? '/bin/cat' : join(none.path, name), join(bin, name));
  rmSync(join(none.path, 'slurm'), { recursive: true });
  const there = await run(['drain', '-w', 'n1', '--reason', 'x', '--do', ...none.at()], none.env);
  t.match(there, { code: 1, stderr: /nothing is known about jobs: .*state is not there; start beoboard scheduler/ });
  t.strictSame(none.calls(), [], 'where there are commands of a scheduler, its state is missing');
  none.env.PATH = bin;
  const held = await run(['drain', '-w', 'n[1-2]', '--reason', "it's $(x) `y`", '--do', ...none.at()], none.env);
  t.match(held, { code: 0, stderr: /no scheduler is known here, so this is about \/run\/beoboard\/hold on the nodes/ });
  const [clush, , , nodes, script = ''] = none.calls();
  t.strictSame([clush, nodes], ['clush', 'n[1-2]']);
  t.match(script, /echo "it\?s \?\(x\) \?y\? \(drained by eva\)" > "\$t" && mv -fT "\$t" \/run\/beoboard\/hold /);
  await run(['resume', '-w', 'n1', '--do', ...none.at()], none.env);
  t.equal(none.calls().at(-1), "sh -c 'rm -f /run/beoboard/hold'");
  const wait = await run(['drain', '-w', 'n1', '--reason', 'x', '--do', '--wait', ...none.at()], none.env);
  t.match(wait, { code: 1, stderr: /--wait asks what beoboard scheduler has left/ });
  mkdirSync(join(none.path, 'slurm'));
  writeFileSync(join(none.path, 'slurm', 'state'), '{}');
  const unread = await run(['drain', '-w', 'n1', '--reason', 'x', ...none.at()], none.env);
  t.match(
    unread,
    { code: 1, stderr: /nothing is known about jobs: / },
    'a file that cannot be read is no scheduler that is not there',
  );
});

t.test('wherever the node does: dimmed, who and why, and when it is overdue', async t => {
  const { env, at, leave } = site(t);
  const board = makeBoard(t, { live: ['n1'], silent: ['n2', 'n3'] });
  keepAlive(t, board.path);
  const mark = (until_ms: number) => markedReason({ reason: 'PDU', by: 'anna', until_ms });
  leave([node('n1'), drained('n2', mark(Date.UTC(2999, 0))), drained('n3', mark(Date.UTC(2020, 0)))]);
  const { stdout } = await run(['status', '--json', '--jobs', ...at(board.path)], env);
  const { trouble, nodes } = JSON.parse(stdout);
  t.match(
    trouble.find(({ kind }: { kind: string }) => kind === 'silent'),
    { dim: 'aside', aside: { count: 2, why: /drained by anna until 2999-01-01 00:00:00: PDU/ } },
  );
  const overdue = trouble.find(({ key }: { key: string }) => key === 'scheduler:overdue');
  t.match(overdue, { nodes: 'n3', what: /still drained: anna's drain was to end at 2020-01-01 00:00:00/ });
  t.equal(overdue.dim, undefined);
  const side = nodes.find(({ name }: { name: string }) => name === 'n2').slurm;
  t.match(side, { drain: { reason: 'PDU', by: 'anna', until_ms: Date.UTC(2999, 0) } });
  t.match(
    (await run(['show', 'n2', ...at(board.path)], env)).stdout.replaceAll(/\s+/g, ' '),
    /PDU \(drained by anna, until 2999-01-01 00:00 UTC\)/,
  );
  const resume = await run(['resume', '-w', 'n3', ...at(board.path)], env);
  t.match(resume, { code: 0, stdout: /^still silent: n3\nscontrol update nodename=n3 state=undrain\n$/ });
});
