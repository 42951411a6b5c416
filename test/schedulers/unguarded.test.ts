// A board that has none of a scheduler's hosts, because their names differ: status and check say so, and what to write;
// and which short names stand for hosts of the one stated domain.
//
// @seconds 4

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { likelyPair, match } from '../../src/schedulerfile/matching.js';
import type { SchedulerNode } from '../../src/schedulerfile/scheduler.js';
import { stateText } from '../../src/schedulerfile/statefile.js';
import { beat } from '../kit/linkboard.js';
import { madeState } from '../kit/madejobs.js';
import { folder } from '../kit/places.js';
import { makeBoard } from '../kit/stateboard.js';
import { verbChild } from '../kit/verbchild.js';

const ask = verbChild(t);

const idle = (name: string, more: Partial<SchedulerNode> = {}): SchedulerNode => ({
  ...{ name, state: 'IDLE', base: 'idle', cpus: 4, takes_jobs: true },
  ...more,
});

t.test('status and check', async t => {
  const board = makeBoard(t, { live: ['n1', 'n2'], silent: ['n3'] });
  const beats = setInterval(() => beat(board.path), 100);
  t.teardown(() => clearInterval(beats));
  await ask(['--version']);
  const slurmDir = join(folder(t), 'slurm');
  mkdirSync(slurmDir);
  const leave = (nodes: readonly SchedulerNode[], more = {}) =>
    writeFileSync(join(slurmDir, 'state'), stateText(madeState(nodes, [], { scheduler: 'Grid Engine', ...more })));
  const told = async (...options: string[]) => {
    const { stdout } = await ask(['status', '--json', '--board', board.path, '--slurm-dir', slurmDir]);
    const check = await ask(['check', '--critical', '9', '--warning', '9', '--board', board.path, ...options]);
    const lines = JSON.parse(stdout).trouble as { kind: string; severity: string; text: string }[];
    return { lines: lines.filter(({ kind }) => kind === 'unguarded' || kind === 'scheduler'), check };
  };
  const at = ['--slurm-dir', slurmDir];

  leave(['n1', 'n2', 'n3'].map(name => idle(`${name}.cluster.example.org`)));
  const none = await told(...at);
  t.match(none.lines, [{ kind: 'unguarded', severity: 'warning', count: 0 }], 'one line, in place of two');
  t.equal(none.lines.length, 1);
  t.match(
    none.check.stdout,
    /^BEOBOARD WARNING: .*of 3 hosts that Grid Engine expects to be on, none is on the board, .* "n1\.cluster\.example\.org n1" .* or give --domain cluster\.example\.org \|/,
  );
  t.equal(none.check.code, 1);
  t.match((await told(...at, '--where', 'load > 1000')).check, { code: 1, stdout: /of 3 hosts that/ });
  t.match((await told()).check, { code: 0 }, 'without a reader there is nothing to say');

  leave([idle('n1'), idle('n2.cluster.example.org'), idle('m3')]);
  const some = await told(...at);
  t.match(some.lines, [{ kind: 'scheduler' }, { kind: 'scheduler', severity: 'notice' }]);
  t.match(some.check, { code: 0 });

  const off = [idle('m1', { asleep: true }), idle('m2', { base: 'down' }), idle('m3', { base: 'future' })];
  leave(off);
  t.match(await told(...at), { check: { code: 0 } }, 'hosts that nobody expects to be on');
  leave(off, { next_ms: 0, mono_ms: 0 });
  t.match((await told(...at)).check, { code: 0 }, 'an old answer proves nothing');
  leave([idle('m1')]);
  t.match((await told(...at)).check.stdout, /of 1 host that .* none is on the board, .* "m1 BOARDNAME" /);

  board.writer.listeningSince(process.hrtime.bigint());
  t.match((await told(...at)).check.stdout, /^(?!.*of 1 host)/, 'before a minute, it may be about to hear them');
});

t.test('short names of the one stated domain', async t => {
  const names = (nodes: readonly string[], board: readonly string[], domain?: string, exceptions = {}) =>
    Object.fromEntries(
      match(
        nodes.map(name => idle(name)),
        board,
        exceptions,
        domain,
      ).boardName,
    );
  const far = ['N1.a.org', 'n2.b.org'];
  t.same(names(far, ['n1', 'n2']), {}, 'none is guessed, as for orders');
  t.same(names(far, ['n1', 'n2'], 'a.org'), { 'N1.a.org': 'n1' });
  t.same(names(far, ['n1', 'n2.b.org'], 'a.org'), { 'n2.b.org': 'n2.b.org' }, 'never where the board has domains');
  t.same(names(['n1', ...far], ['n1'], 'a.org'), { n1: 'n1' }, 'the name itself comes first');
  t.same(names(['N1.a.org', 'n1.a.org'], ['n1'], 'a.org'), {}, 'two of one name');
  t.same(names(far, ['n1', 'x'], 'a.org', { 'N1.a.org': 'x' }), { 'N1.a.org': 'x' }, 'an exception holds');
  t.equal(likelyPair(['m', 'N1'], ['n1.a.org']), 'N1 n1.a.org');
  t.equal(likelyPair(['m'], ['n1']), undefined);
});
