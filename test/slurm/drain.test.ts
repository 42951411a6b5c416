// Nodes of a real Slurm are drained with hostile reasons, which come back as they were; a job is waited for; and what
// others drained stays theirs.
//
// @seconds 12
// @waits
// @rest

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { drainOf } from '../../src/schedulerfile/drains.js';
import type { SchedulerState } from '../../src/schedulerfile/statefile.js';
import { folder } from '../kit/places.js';
import { PROGRAM, runningOf, start } from '../kit/program.js';
import { nodeNames, Slurm, withSlurm } from '../kit/realslurm.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(600_000);

const REASONS = [
  'PDU is replaced',
  `it's "down"; $(touch /never) \`x\` | & < > \\n %s`,
  '"quoted"',
  'State=IDLE Comment=x Extra=y [root@1]',
  'Lüfter 3 – 扇 (drained by eve, until 2001-01-01 00:00 UTC)',
  'x'.repeat(150),
];

const beside = async (t: Test) => {
  const slurm = await Slurm.start(t, { nodes: nodeNames(4), slurmd: ['node001'] });
  const path = join(folder(t), 'jobs');
  process.env.SLURM_CONF = slurm.env.SLURM_CONF;
  t.teardown(() => delete process.env.SLURM_CONF);
  const at = ['--slurm-dir', path, '--board', join(path, 'none')];
  await start(t, ['scheduler', ...at, '--interval', '200ms']).ready;
  const env = { ...slurm.env, SUDO_USER: 'eva' };
  const drain = (list: string, reason: string, ...more: string[]) =>
    run(['drain', '-w', list, '--reason', reason, '--do', ...more, ...at], env);
  const state = () => JSON.parse(readFileSync(join(path, 'state'), 'utf8')) as SchedulerState;
  const node = (name: string) => state().nodes.list.find(node => node.name === name) ?? { aside: undefined };

  for (const reason of REASONS) {
    t.match(await drain('node[002-003]', reason, '--until', '2999-01-01 00:00Z'), { code: 0 }, reason);
    for (const name of ['node002', 'node003']) {
      const found = await until(`${name} has that reason`, () => {
        const drain = drainOf(node(name));
        return drain?.reason === reason && drain;
      });
      t.strictSame(found, { reason, by: 'eva', until_ms: Date.UTC(2999, 0) });
    }
  }
  const { stdout } = await slurm.run('sinfo', '-R', '-h', '-o', '%E');
  t.match(stdout, /x{150} \(drained by eva, until 2999-01-01 00:00 UTC\)\n/, 'as sinfo -R shows it');

  await slurm.run('scontrol', 'update', 'nodename=node004', 'state=drain', 'reason=fan');
  await until('the reader has seen it', () => node('node004').aside !== undefined);
  const half = await run(['resume', '-w', 'node[002-005]', '--do', ...at], env);
  t.match(half, {
    code: 1,
    stderr: /node005: not known to Slurm\n.*node004: drained by \S+ \(fan\), not by beoboard drain/s,
  });
  await until('they are back', () => node('node002').aside === undefined && node('node003').aside === undefined);
  t.equal(node('node004').aside, 'drained');

  const job = await slurm.run('sbatch', '-o', '/dev/null', '-w', 'node001', '-t', '60', '--wrap', 'sleep 600');
  t.equal(job.code, 0, job.stderr);
  await until('its job runs', () => state().jobs.list.some(({ state }) => state === 'RUNNING'));
  const argv = ['drain', '-w', 'node001', '--reason', 'x', '--do', '--wait', ...at];
  const child = spawn(process.execPath, [PROGRAM, ...argv], { env: { ...process.env, ...env } });
  const waiting = runningOf(t, child, argv);
  await until('it waits', () => waiting.output().stderr.includes('waiting for 1'));
  t.match(
    waiting.output().stdout,
    /^ {2}job 1 of \S+ on node001, for \S+, ends by [\d: -]+\nfree by [\d: -]+ at the latest\n/,
  );
  await slurm.run('scancel', '1');
  t.equal(await waiting.exit, 0);
  t.match(waiting.output().stdout, /\nnode001: free now\n$/);
};

withSlurm(t, import.meta.url, () => void t.test('drained, and given back', beside));
