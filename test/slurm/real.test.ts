// The reader beside a real Slurm of four nodes on loopback: nodes, jobs and users behind their names, and what the
// reader does when the controller hangs.
//
// @seconds 13
// @waits
// @rest

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { SchedulerState } from '../../src/schedulerfile/statefile.js';
import { boardPath, folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { nodeNames, Slurm, withSlurm } from '../kit/realslurm.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(600_000);

const HOSTILE = 'b\n5|5|RUNNING|root|batch|4|1700000000|node002|fake';

const besideIt = async (t: Test) => {
  const slurm = await Slurm.start(t, {
    nodes: nodeNames(4),
    settings: {
      ...{ SuspendProgram: '/bin/true', ResumeProgram: '/bin/true', SuspendTime: 3600 },
      TopologyPlugin: 'topology/tree',
    },
    topology: [
      'SwitchName=leaf1 Nodes=node[001-002]',
      'SwitchName=leaf2 Nodes=node[003-004]',
      'SwitchName=top Switches=leaf[1-2]',
    ],
  });
  const submit = async (...argv: string[]) => {
    const { code, stderr } = await slurm.run('sbatch', '-o', '/dev/null', ...argv, '--wrap', 'sleep 600');
    t.equal(code, 0, stderr);
  };
  await submit('-w', 'node001,node002', '-N2', '--exclusive', '-J', 'both');
  await submit('-w', 'node003', '-n1', '-J', HOSTILE);
  await submit('-w', 'node003', '-n2', '-J', ' JobState=COMPLETED Nodes=(null) | "x" \'y\'');
  await until('all jobs run', async () => (await slurm.run('squeue', '-h', '-o', '%t')).stdout === 'R\n'.repeat(3));
  const reason = 'odd "quotes" State=IDLE Reason=x [root@1]\nNodeName=node001 State=DOWN';
  await slurm.run('scontrol', 'update', 'nodename=node003', 'state=drain', `reason=${reason}`);
  await slurm.run('scontrol', 'update', 'nodename=node003', 'comment=x\nNodeName=node001 CPUAlloc=0 State=DOWN');
  await slurm.run('scontrol', 'update', 'nodename=node004', 'state=power_down');

  const board = boardPath(t);
  const path = join(folder(t), 'slurm');
  const { port } = await startReceiver(t, board);
  for (const name of ['node001', 'node004', 'stranger'])
    await start(t, ['send', '--to', `127.0.0.1:${port}`, '--name', name, '--interval', '100ms']).ready;
  process.env.SLURM_CONF = slurm.env.SLURM_CONF;
  t.teardown(() => delete process.env.SLURM_CONF);
  const running = start(t, ['slurm', '--slurm-dir', path, '--board', board, '--interval', '200ms']);
  await running.ready;
  const state = () => JSON.parse(readFileSync(join(path, 'state'), 'utf8')) as SchedulerState;
  const settled = await until('the node is going to sleep', () => {
    const now = state();
    return (
      now.jobs.list.length === 3 &&
      now.nodes.list[0]?.switch !== undefined &&
      /^node004$/m.test(readFileSync(join(path, 'skip'), 'utf8')) &&
      now
    );
  });
  t.same(
    settled.nodes.list.map(node => node.switch),
    ['leaf1', 'leaf1', 'leaf2', 'leaf2'],
    'by scontrol show topology',
  );
  t.match(settled, { cluster: 'test', scheduler: 'Slurm', nodes: { left_out: 1 }, jobs: { whole: true } });
  // squeue has an order of its own.
  const jobs = settled.jobs.list.toSorted((a, b) => Number(a.id) - Number(b.id));
  t.same(
    jobs.map(({ nodes, name, cpus }) => [nodes, name, cpus]),
    [
      ['node[001-002]', 'both', 8],
      ['node003', HOSTILE, 1],
      ['node003', ' JobState=COMPLETED Nodes=(null) | "x" \'y\'', 2],
    ],
  );
  t.match(settled.nodes.list, [
    { name: 'node001', state: 'ALLOCATED', cpus: 4, cpus_used: 4 },
    { name: 'node002', state: 'ALLOCATED' },
    { name: 'node003', state: 'MIXED+DRAIN', cpus_used: 3, reason: /^odd "quotes" State=IDLE Reason=x / },
    { name: 'node004', state: /^IDLE\+POWER/ },
  ]);
  t.equal(settled.nodes.list.length, 4, 'a comment makes no node');

  const ask = await run(['nodes', '--for', 'slurm', '--board', board, '--slurm-dir', path]);
  t.match(ask, { code: 0, stdout: 'node[001,004]\n', stderr: 'beoboard nodes: not known to Slurm: stranger\n' });
  const exclude = async (list: string) =>
    (await slurm.run('sbatch', '--test-only', `--exclude=${list}`, '--wrap', 'true')).code;
  t.equal(await exclude(ask.stdout.trim()), 0, 'sbatch takes these names');
  t.not(await exclude(`${ask.stdout.trim()},stranger`), 0, 'and with one more it would not');

  slurm.signal('slurmctld', 'SIGSTOP');
  const hung = await until('that is noticed', () => state().nodes.error !== undefined && state());
  t.match(hung, { nodes: { error: 'scontrol took longer than 5.0s' }, jobs: { list: { length: 3 } } });
  const shown = await run(['jobs', '--board', board, '--slurm-dir', path]);
  t.match(shown.stdout, /Slurm does not answer: scontrol took longer than 5\.0s; what is shown of Slurm is \S+ old/);
  t.match(shown.stdout, / both$/m, 'what it said last is still told');
  slurm.signal('slurmctld', 'SIGCONT');
  await until('it is heard again', () => state().nodes.error === undefined && state().jobs.error === undefined);
  running.child.kill('SIGTERM');
  t.equal(await running.exit, 0);
};

withSlurm(t, import.meta.url, () => void t.test('the reader beside it', besideIt));
