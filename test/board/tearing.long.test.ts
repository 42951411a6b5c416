// The proofs of test/board/tearing.test.ts at length: every interleaving, every takeover killed after each of its
// instructions, tens of thousands of kills. Not part of `npm test`.
//   npm run test:long -- tearing          SEED=n repeats a run, KILLS=n makes it shorter or longer

import { spawnSync } from 'node:child_process';
import t from 'tap';
import { boardPath, folder } from '../kit/places.js';
import { NOT_NEEDED, takeAway } from './guards.js';
import { build, compare, edited, SANITIZED, scenarios, tear } from './tearing.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const KILLS = Number(process.env.KILLS ?? 25_000);

t.setTimeout(3_600_000);
t.comment(`SEED=${SEED}, ${KILLS} kills`);

t.test('every interleaving', async t => {
  const weave = await build(t, 'weave');
  // Two halves in parallel.
  const halves = await Promise.all([0, 1].map(half => weave(boardPath(t), 2, half)));
  for (const { status, stdout, stderr } of halves) {
    t.strictSame([status, stderr], [0, ''], stdout);
    t.comment(stdout.trim());
  }
});

t.test('killed after each instruction, in every takeover, too', async t => {
  const compilers = ['gcc', 'clang'];
  const ended = await Promise.all(
    compilers.map(async compiler => (await build(t, 'steps', { compiler }))(folder(t), 1, SEED)),
  );
  for (const { status, stdout, stderr } of ended) {
    if (status === 3) t.pass('single steps', { skip: `this machine lets nobody trace a process: ${stderr.trim()}` });
    else t.equal(status, 0, `${stdout}${stderr}`);
    t.comment(stdout.trim());
  }
});

t.test('what C11 allows', async t => {
  const litmus = await build(t, 'litmus');
  for (const [scenario, loads] of await scenarios(litmus, 18)) {
    const { status, stdout, stderr } = await litmus('check', folder(t), scenario, loads);
    t.strictSame([status, stderr], [0, ''], `${scenario}: ${stdout}`);
    t.comment(`${scenario}: ${stdout.trim()}`);
  }
});

t.test('what C11 allows, and real processes, sanitized', async t => {
  const litmus = await build(t, 'litmus', { flags: SANITIZED });
  for (const [scenario, loads] of await scenarios(litmus, 5)) {
    const { status, stdout, stderr } = await litmus('check', folder(t), scenario, loads);
    t.strictSame([status, stderr], [0, ''], `${scenario}: ${stdout}`);
  }
  const torn = await build(t, 'torn', { flags: SANITIZED });
  const { status, stdout, stderr, fault } = await tear(t, torn, boardPath(t), 60, SEED);
  t.strictSame([status, stderr], [0, ''], stdout);
  t.equal(fault, undefined, 'seen by TypeScript');
  t.comment(stdout.trim());
});

for (const [what, edits] of NOT_NEEDED)
  t.test(`not needed: ${what}`, async t => {
    const from = edited(t, edits);
    const flags = ['-O2', '-w'];
    const litmus = await build(t, 'litmus', { from, flags });
    for (const [scenario, loads] of await scenarios(litmus, 12)) {
      const { status, stdout } = await litmus('check', folder(t), scenario, loads);
      t.equal(status, 0, `${scenario}: ${stdout}`);
    }
    const weave = await (await build(t, 'weave', { from, flags }))(boardPath(t), 97, SEED);
    t.equal(weave.status, 0, weave.stdout);
  });

t.test('herd7, where there is one', async t => {
  if (spawnSync('herd7', ['-version']).error !== undefined) return t.comment('herd7 is not here');
  const litmus = await build(t, 'litmus');
  for (const as of ['c', 'aarch64'] as const) {
    let tests = 0;
    let outcomes = 0;
    for (const [scenario] of await scenarios(litmus, 6)) {
      const compared = await compare(t, litmus, scenario, 6, as);
      t.strictSame([compared.different, compared.wrong], [[], []], `${as} ${scenario}`);
      tests += compared.tests;
      outcomes += compared.outcomes;
    }
    t.comment(`${as}: ${tests} tests, ${outcomes} outcomes that are allowed, none of them wrong`);
  }
});

t.test(`${KILLS} kills`, async t => {
  const torn = await build(t, 'torn');
  const { status, stdout, stderr, looks, fault } = await tear(t, torn, boardPath(t), KILLS, SEED);
  t.strictSame([status, stderr], [0, ''], stdout);
  t.equal(fault, undefined, 'seen by TypeScript');
  t.comment(`${stdout.trim()}, ${looks} by TypeScript`);
});

takeAway(t, 'all', SEED);
