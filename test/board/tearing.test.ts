// No reader ever sees a report that is torn, has vanished or is older than an earlier one, whatever the moment at which
// the writer is killed. Shown with real processes, by single steps, by interleavings, and against the memory model of
// C11; and guards of test/board/guards.ts are taken away, some of them in each run, which one of these must find.
// test/board/tearing.long.test.ts takes all away. docs/internals/tearing.md says what that proves.
//
// @seconds 13
// @whole
// @days 3

import { spawnSync } from 'node:child_process';
import t from 'tap';
import { boardPath, folder } from '../kit/places.js';
import { NOT_WHOLE, partOf, SEED, WHOLE } from '../kit/whole.js';
import { guards, NOT_NEEDED, takeAway } from './guards.js';
import { build, compare, SANITIZED, scenarios, tear, textsOf } from './tearing.js';

t.comment(`SEED=${SEED}`);
t.setTimeout(600_000);

/** Of c/test/steps.c: what it kills the writer in. */
const SCENES = ['another name', 'the second report', 'a duplicate', 'a stranger', 'a link that goes down'];

const has = (program: string) => spawnSync(program, ['--version']).error === undefined;

t.test('the axioms judge as the literature does', async t => {
  const classics = await build(t, 'classics');
  const { status, stdout } = await classics();
  t.equal(status, 0, stdout);
  t.comment(stdout.trim());
});

t.test('and as herd7 does, where there is one', async t => {
  if (!has('herd7')) return t.comment('herd7 is not here');
  const litmus = await build(t, 'litmus');
  for (const [scenario] of await scenarios(litmus, 4)) {
    const { different, wrong } = await compare(t, litmus, scenario, 4, 'c');
    t.strictSame([different, wrong], [[], []], scenario);
  }
});

t.test('killed after each instruction', async t => {
  const steps = await build(t, 'steps');
  // The first name, and another scene.
  for (const scene of WHOLE ? [[]] : [['the first name'], partOf(SCENES, SCENES.length, SEED)]) {
    const { status, stdout, stderr } = await steps(folder(t), WHOLE ? 600 : 0, SEED, ...scene);
    if (status === 3) t.pass('single steps', { skip: `this machine lets nobody trace a process: ${stderr.trim()}` });
    else t.equal(status, 0, `${stdout}${stderr}`);
    t.comment(stdout.trim());
  }
});

t.test('what C11 allows', async t => {
  const litmus = await build(t, 'litmus');
  for (const [scenario, loads] of partOf(await scenarios(litmus, 6), 48, SEED, 3)) {
    const { status, stdout, stderr } = await litmus('check', folder(t), scenario, loads);
    t.strictSame([status, stderr], [0, ''], `${scenario}: ${stdout}`);
  }
});

const WOVEN = [
  ['optimised', ['-O2'], 199],
  ['sanitized', SANITIZED, 9999],
] as const;
for (const [what, flags, every] of WOVEN)
  t.test(`ways to interleave, ${what}`, { skip: NOT_WHOLE }, async t => {
    const weave = await build(t, 'weave', { flags: [...flags] });
    const { status, stdout, stderr } = await weave(boardPath(t), every, SEED);
    t.strictSame([status, stderr], [0, ''], stdout);
    t.comment(stdout.trim());
  });

t.test('real processes', async t => {
  const torn = await build(t, 'torn');
  const { status, stdout, stderr, looks, fault } = await tear(t, torn, boardPath(t), 100, SEED);
  t.strictSame([status, stderr], [0, ''], stdout);
  t.equal(fault, undefined, 'seen by TypeScript');
  t.ok(looks > 0);
  t.comment(`${stdout.trim()}, ${looks} by TypeScript`);
});

t.test('each guard stands where it is taken away from', async t => {
  for (const [what, edits] of [...guards, ...NOT_NEEDED]) t.doesNotThrow(() => textsOf(edits), what);
});

t.jobs = 2;
if (WHOLE) takeAway(t, 'some', SEED);
