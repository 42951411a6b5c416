// What the reader of a scheduler finds of odd nodes: from jobs as a scheduler tells them and boards as they are, at made
// times; and what it leaves in its file.
//
// @seconds 6
// @waits

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { match } from '../../src/schedulerfile/matching.js';
import type { SchedulerJob } from '../../src/schedulerfile/scheduler.js';
import { unjudgedText } from '../../src/schedulerfile/schedulerview.js';
import {
  marksIn,
  monotonicMs,
  type OddMark,
  readState,
  type SchedulerState,
  stateText,
} from '../../src/schedulerfile/statefile.js';
import { OddNodes } from '../../src/schedulers/oddnodes.js';
import type { Round } from '../../src/schedulers/poll.js';
import { busy, type MadeNode, madeBoard, validOf } from '../kit/madeboard.js';
import { boardPath, folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';

const MINUTE = 60_000;
const names = Array.from({ length: 9 }, (_, i) => `n${i + 1}`);
const VALID = validOf('cpus', 'cpu_share', 'groups', 'topology', 'hw_hash', 'temp_hottest', 'net');

/** Nine live nodes at work, of which n3 has another clock rate. */
function nodes(mhz: number, silent: readonly string[] = []): MadeNode[] {
  return names.map(name => {
    const more = {
      ...{ valid: VALID, hw_hash: 7, groups: 1, cpu_busy_pm: 970 },
      group: [{ cpus: 64, mhz: name === 'n3' ? mhz : 2900 }],
    };
    return { name, age: silent.includes(name) ? 3600 : 0.3, ...busy(60, more) };
  });
}

const job = (id: string, list: string, more: Partial<SchedulerJob> = {}): SchedulerJob => ({
  ...{ id, state: 'RUNNING', user: 'anna', partition: 'p', cpus: 512, start_s: Date.now() / 1000 - 3600 },
  ...{ nodes: list, name: 'x', ...more },
});

/** A round in which the scheduler told these jobs, by names that are those of the board in upper case. */
function round(
  jobs: readonly SchedulerJob[],
  told: Partial<SchedulerState['jobs']> = { whole: true },
  hidden?: string,
): Round {
  const matched = match(
    names.map(name => ({ name: name.toUpperCase() })),
    names,
  );
  const state = { scheduler: 'LSF', hidden, jobs: { list: jobs, ...told } } as SchedulerState;
  return { state, answered: true, closed: undefined, matched, skip: undefined, names: undefined };
}

/** Looks at a board each 5 s for so long; after each look the scheduler says the same again. */
function after(odd: OddNodes, clock: { ms: number }, ms: number, said: Round) {
  for (const end = clock.ms + ms; clock.ms < end; clock.ms += 5000) {
    odd.learn(said);
    odd.look();
  }
  return odd.told;
}

function scene(mhz = 2300, silent: readonly string[] = [], stood: readonly OddMark[] = []) {
  const clock = { ms: 1e9 };
  let snapshot = madeBoard(nodes(mhz, silent));
  const odd = new OddNodes({ pieces: () => [snapshot].values() as never }, stood, () => clock.ms);
  const change = (mhz: number) => {
    snapshot = madeBoard(nodes(mhz));
  };
  return { clock, odd, change };
}

/** One of which a node had the clock rate of the others for eleven minutes. */
function sceneOfFault(said: Round) {
  const made = scene(2900);
  after(made.odd, made.clock, 11 * MINUTE, said);
  made.change(2300);
  return made;
}

t.test('a node that differs is marked, by its name on the board', async t => {
  const said = round([job('4711', 'N[1-8]')]);
  const { odd, clock } = sceneOfFault(said);
  const told = after(odd, clock, MINUTE, said);
  t.match(told, {
    marks: [{ job: '4711', node: 'n3', reading: 'mhz', value: 2300, peers: 7, median: 2900, lowest: 2900 }],
    unjudged: {},
  });
  t.equal(told.marks.length, 1);
  t.equal(odd.look(), false, 'nothing is new');
  odd.learn(round([]));
  t.equal(odd.look(), true, 'the job has ended');
  t.same(odd.told, { marks: [], unjudged: {} });
  const usual = scene(2900);
  t.same(after(usual.odd, usual.clock, MINUTE, round([job('4711', 'N[1-8]')])), { marks: [], unjudged: {} });
});

t.test('a mark that an earlier reader left stands until its node is as the others', async t => {
  const said = round([job('4711', 'N[1-8]')]);
  const first = sceneOfFault(said);
  const { marks } = after(first.odd, first.clock, MINUTE, said);
  const left = (time_ms: number) =>
    stateText({
      ...{ ...said.state, nodes: { list: [] }, differences: [], odd: first.odd.told },
      ...{ time_ms, mono_ms: monotonicMs() },
    });
  t.same(marksIn(left(Date.now())), marks);
  t.same(marksIn(left(1)), [], 'of another boot');
  for (const text of ['', '{', '{"odd":7}', '{"odd":{"marks":[7]}}']) t.same(marksIn(text), []);
  const { odd, clock } = scene(2300, [], marks);
  odd.learn(said);
  t.same(odd.told.marks, marks, 'before the first look');
  t.equal(after(odd, clock, 5000, said).marks[0]?.since_ms, marks[0]?.since_ms);
  t.equal(after(odd, clock, 60 * MINUTE, said).marks[0]?.since_ms, marks[0]?.since_ms, 'it is the same, and no shape');
  const well = scene(2900, [], marks);
  t.equal(after(well.odd, well.clock, 5000, said).marks.length, 1);
  t.same(after(well.odd, well.clock, MINUTE, said).marks, []);
  const over = scene(2300, [], marks);
  t.same(after(over.odd, over.clock, 5000, round([])).marks, [], 'its job has ended');
  const again = scene(2300, [], marks);
  const begun = round([job('4711', 'N[1-8]', { start_s: Date.now() / 1000 + 3600 })]);
  t.same(after(again.odd, again.clock, 5000, begun).marks, [], 'it was begun again');
});

t.test('what is not judged, and why', async t => {
  const whole = [job('4711', 'N[1-8]')];
  const cases: [what: string, said: Round, told: object][] = [
    ['another job on most of its nodes', round([...whole, job('5', 'N[2-8]')]), { unjudged: { 4711: 'shared' } }],
    [
      'a job that ends there',
      round([...whole, job('5', 'N[2-8]', { state: 'COMPLETING' })]),
      { unjudged: { 4711: 'shared' } },
    ],
    ['too few of them on the board', round([job('4711', 'N[1-3],x[1-9]')]), { unjudged: { 4711: 'few' } }],
    [
      'it has just begun',
      round([job('4711', 'N[1-8]', { start_s: Date.now() / 1000 + 10 })]),
      { unjudged: { 4711: 'young' } },
    ],
    ['a small job', round([job('4711', 'N[1-3]')]), { unjudged: {} }],
    ['a job that does not run', round([job('4711', 'N[1-8]', { state: 'SUSPENDED' })]), { unjudged: {} }],
    ['hidden jobs', round(whole, {}, 'jobs of others are hidden'), { unjudged_all: 'jobs of others are hidden' }],
    ['a partial answer', round(whole, { left_out: 2 }), { unjudged_all: /^not all that LSF says/ }],
    ['no answer', round(whole, { error: 'timeout' }), { unjudged_all: 'LSF does not answer: timeout' }],
    ['no board', { ...round(whole), matched: undefined }, { unjudged_all: /board/ }],
  ];
  for (const [what, said, expected] of cases) {
    const { odd, clock } = scene();
    const told = after(odd, clock, MINUTE, said);
    t.match(told, expected, what);
    t.same(told.marks, [], `${what}: no marks`);
  }
  const { odd, clock } = scene(2300, names.slice(0, 6));
  t.match(after(odd, clock, MINUTE, round(whole)).unjudged, { 4711: 'few' }, 'most are silent');
  const alone = scene();
  const told = after(alone.odd, alone.clock, MINUTE, round([...whole, job('5', 'N3')]));
  t.same(told.marks, [], 'the odd one has another job, too');
  t.same(told.unjudged, {}, 'the others are judged');
});

t.test('the file has it, and one that is broken is refused', async t => {
  const dir = folder(t);
  const base = { schema: 2, pid: 1, mono_ms: 1, next_ms: 2, time_ms: 3, scheduler: 'LSF', daemon: 'd', cluster: 'c' };
  const answers = { version: '1', user: 'u', nodes: { list: [] }, jobs: { list: [] }, names: {}, differences: [] };
  const state = { ...base, ...answers } as unknown as SchedulerState;
  const said = round([job('4711', 'N[1-8]')]);
  const { odd, clock } = sceneOfFault(said);
  const told = after(odd, clock, MINUTE, said);
  writeFileSync(join(dir, 'state'), stateText({ ...state, odd: told }));
  t.match(readState(dir), { state: { odd: { marks: [{ node: 'n3' }] } } });
  writeFileSync(join(dir, 'state'), stateText(state));
  t.ok(readState(dir).why === undefined, 'of an earlier reader, without it');
  for (const broken of [
    {},
    { marks: [{}], unjudged: {} },
    { marks: [], unjudged: { 1: 2 } },
    { marks: 'x', unjudged: {} },
  ]) {
    writeFileSync(join(dir, 'state'), JSON.stringify({ ...state, odd: broken }));
    t.match(readState(dir).why, /holds what no reader writes/);
  }
});

t.test('beoboard scheduler judges the jobs of a file beside real reports', async t => {
  const [board, dir] = [boardPath(t), folder(t)];
  const { port } = await startReceiver(t, board);
  const path = join(dir, 'jobs');
  const jobs = ['--jobs', '2', '--jobs-file', path, '--odd', 'link'];
  start(t, ['load', '--to', `127.0.0.1:${port}`, '--size', '30', '--interval', '200ms', ...jobs]);
  await until('the jobs are told', () => existsSync(path));
  start(t, ['slurm', '--board', board, '--slurm-dir', dir, '--scheduler', `file:${path}`, '--interval', '1s']);
  await until('its file says whether jobs are judged', () => {
    const found = readState(dir);
    return found.why === undefined && found.state.odd !== undefined && found.state.odd.unjudged_all === undefined;
  });
});

t.test('why a job is not judged, by a word of a file', async t => {
  t.equal(unjudgedText('few'), 'fewer than four of its nodes can be compared');
  t.equal(unjudgedText('constructor'), 'constructor', 'a word that is not known');
});
