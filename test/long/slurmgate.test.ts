// The gate in a real Slurm, as PrologSlurmctld: a job on live nodes starts; one on a silent node does not, is told of in the gate's words, and
// starts when the node is back. Not part of `npm test`.
//   npm run test:long -- slurmgate

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openWriter } from '../../src/shm/writer.js';
import { boardPath, folder, INSIDE, inOwnNetwork, makeReport, ROOT, until } from '../lib.js';
import { beat, monotonicNs } from '../linkboard.js';
import { NETWORK, noSlurm, Slurm } from '../realslurm.js';

t.setTimeout(600_000);

const S = 1_000_000_000n;
const skip = noSlurm();

if (skip !== false) t.pass('skipped', { skip });
else if (!INSIDE) inOwnNetwork(t, NETWORK, import.meta.url);
else
  t.test('jobs before the gate', async t => {
    const out = folder(t);
    const made = spawnSync('make', ['-s', '-j2', '-C', join(ROOT, 'c', 'gate'), `OUT=${out}`, 'CC=gcc', 'LDFLAGS='], {
      encoding: 'utf8',
    });
    t.equal(made.status, 0, made.stderr);

    const path = boardPath(t);
    const names = ['node001', 'node002', 'cn003'];
    const writer = openWriter({
      ...{ path, cluster: '', capacity: 8, uncertainAfter: 4500, silentAfter: 10_500, nodes: names },
    });
    t.teardown(() => writer.close());
    let seq = 1;
    const lay = (hostname: string, agoS: bigint, interval_ms = 600_000) =>
      writer.deliver(
        makeReport({ hostname, seq, t_boot_ns: BigInt(seq++) * S, interval_ms }),
        monotonicNs() - agoS * S,
        0n,
        'eth0',
      );
    lay('node001', 0n);
    lay('cn003', 0n);
    lay('node002', 40n, 1000);
    writer.listeningSince(monotonicNs() - 60n * S);
    writer.heartbeat(monotonicNs());
    const beating = setInterval(() => beat(path), 200);
    t.teardown(() => clearInterval(beating));

    // Slurm's names are not the board's; 22.05 takes one path, and gives it no PATH.
    const said = join(out, 'said');
    const exceptions = join(out, 'names');
    writeFileSync(exceptions, 'Node3 cn003\n', { mode: 0o644 });
    const prolog = join(out, 'prolog');
    const call = `${out}/beoboard-gate --board ${path} --names ${exceptions}`;
    writeFileSync(prolog, `#!/bin/sh\necho "$SLURM_JOB_NODELIST" >>${said}\nexec ${call} 2>>${said}\n`);
    chmodSync(prolog, 0o755);
    const slurm = await Slurm.start(t, ['node001', 'Node2', 'Node3'], ['PrologSlurmctld='.concat(prolog)]);
    writeFileSync(exceptions, 'Node3 cn003\nNode2 node002\n', { mode: 0o644 });
    const told = () => (existsSync(said) ? readFileSync(said, 'utf8') : '');

    await t.test('on live nodes it starts', async t => {
      const { code, stdout, stderr } = await slurm.run('srun', '-w', 'node001,Node3', '-N', '2', 'echo', 'ran');
      t.strictSame([code, stdout, stderr], [0, 'ran\nran\n', '']);
      t.match(told(), /Node3/);
      t.notMatch(told(), /beoboard-gate/);
    });

    await t.test('on a silent node srun is refused', async t => {
      const { code, stdout } = await slurm.run('srun', '-w', 'Node2', 'echo', 'ran');
      t.not(code, 0);
      t.equal(stdout, '');
      t.match(told(), /beoboard-gate: no: Node2 has been silent for \d+[sm]; job \d+ should not start there\n/);
    });

    const ran = join(out, 'ran');
    await t.test('a batch job waits, the node is not drained', async t => {
      const { code, stdout } = await slurm.run(
        'sbatch',
        '--parsable',
        '-w',
        'Node2',
        '-o',
        '/dev/null',
        '--wrap',
        `touch ${ran}`,
      );
      t.equal(code, 0);
      const job = stdout.trim();
      const show = async () => (await slurm.run('scontrol', 'show', 'job', '-o', job)).stdout;
      await until('it is in the queue again', async () => / JobState=PENDING .* Restarts=[1-9]/.test(await show()));
      t.notOk(existsSync(ran));
      t.match((await slurm.run('sinfo', '-h', '-n', 'Node2', '-o', '%T')).stdout, /^(idle|completing)/);

      lay('node002', 0n);
      await until(
        'it may begin',
        async () => (await slurm.run('scontrol', 'update', `jobid=${job}`, 'starttime=now')).code === 0,
      );
      await until('it has run', () => existsSync(ran));
    });
  });
