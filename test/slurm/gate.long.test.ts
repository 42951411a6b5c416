// The gate in a real Slurm, as PrologSlurmctld: a job on live nodes starts; a job on a silent node does not, gets the
// gate's message, and starts when the node is back. Then with eight nodes that report and the reader of Slurm: nodes
// that die or sleep, forged reports, a receiver that fails, and what displays show meanwhile. Not part of `npm test`:
// some minutes.
//   npm run test:long -- slurm/gate

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { SchedulerState } from '../../src/schedulerfile/statefile.js';
import { openWriter } from '../../src/shm/writer.js';
import { monotonicNs } from '../kit/clocks.js';
import { beat } from '../kit/linkboard.js';
import { Namespace } from '../kit/netns.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { type Running, run } from '../kit/program.js';
import { nodeNames, Slurm, withSlurm } from '../kit/realslurm.js';
import { makeReport } from '../kit/reports.js';
import { startIn } from '../kit/sampler.js';
import { until } from '../kit/until.js';

t.setTimeout(3_600_000);

const S = 1_000_000_000n;

const beforeIt = async (t: Test) => {
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

  // Slurm's names differ from the board's. Slurm 22.05 accepts only one path as prolog, and runs it without a PATH.
  const said = join(out, 'said');
  const exceptions = join(out, 'names');
  writeFileSync(exceptions, 'Node3 cn003\n', { mode: 0o644 });
  const prolog = join(out, 'prolog');
  const call = `${out}/beoboard-gate --board ${path} --names ${exceptions}`;
  writeFileSync(prolog, `#!/bin/sh\necho "$SLURM_JOB_NODELIST" >>${said}\nexec ${call} 2>>${said}\n`);
  chmodSync(prolog, 0o755);
  const slurm = await Slurm.start(t, { nodes: ['node001', 'Node2', 'Node3'], settings: { PrologSlurmctld: prolog } });
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

  await t.test('a task of an array is named as squeue names it', async t => {
    const argv = ['--parsable', '--array=5', '-w', 'Node2', '-o', '/dev/null', '--wrap', 'true'];
    const array = (await slurm.run('sbatch', ...argv)).stdout.trim();
    await until('it was refused', () => told().includes(`; job ${array}_5 should not start there\n`));
    t.equal((await slurm.run('scancel', array)).code, 0);
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
};

/** Runs a command of beoboard, and returns its wall time and its CPU time, ms. */
async function timed(t: Test, argv: string[]): Promise<{ wall: number; cpu: number }> {
  const began = performance.now();
  const prefix = ['sh', '-c', '"$@" >&2 || exit; times', 'sh'];
  const { exit, output } = startIn(t, { prefix }, argv);
  t.equal(await exit, 0, argv.join(' '));
  const wall = performance.now() - began;
  // `times` prints two lines: for the shell, and for its children.
  const [user = 0, system = 0] = [...output().stdout.matchAll(/(\d+)m([\d.]+)s/g)]
    .slice(2)
    .map(([, minutes, seconds]) => 1000 * (60 * Number(minutes) + Number(seconds)));
  return { wall, cpu: user + system };
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** How often each command is measured. */
const ROUNDS = 7;

/** A node that has died is silent after this time: an interval, the limit, and a heartbeat. */
const DEAD_MS = 11_000;

const amongNodes = async (t: Test) => {
  const out = folder(t);
  const made = spawnSync('make', ['-s', '-j2', '-C', join(ROOT, 'c', 'gate'), `OUT=${out}`, 'CC=gcc', 'LDFLAGS='], {
    encoding: 'utf8',
  });
  t.equal(made.status, 0, made.stderr);
  const [board, left] = [boardPath(t), join(out, 'slurm')];
  const [said, suspended, resumed, prolog] = ['said', 'suspended', 'resumed', 'prolog'].map(name =>
    join(out, name),
  ) as [string, string, string, string];
  const script = (path: string, text: string) => {
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const text = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  /** A file of the reader's without its comments. */
  const rows = (name: string) => text(join(left, name)).replace(/^#.*\n/gm, '');
  const gate = `${out}/beoboard-gate --board ${board}`;
  script(prolog, `exec ${gate} --skip @${left}/skip --names ${left}/names 2>>${said}`);

  // Nodes are behind their own interface, so that it can fail.
  const far = await Namespace.make(t);
  const ip = (words: string) => t.equal(spawnSync('ip', words.split(' ')).status, 0, `ip ${words}`);
  ip(`link add v1 type veth peer name v1 netns ${far.pid}`);
  ip('addr add 10.87.0.1/24 dev v1');
  ip('link set v1 up');
  far.ip('addr add 10.87.0.2/24 dev v1', 'link set v1 up');

  const nodes = nodeNames(8);
  const receive = ['receive', '--board', board, '--listen', '10.87.0.1:8677', '--nodes', 'node[001-008]'];
  let receiver = startIn(t, {}, receive);
  await receiver.ready;
  const senders = new Map<string, Running>();
  const send = (name: string) =>
    senders.set(name, startIn(t, { prefix: far.prefix }, ['send', '--to', '10.87.0.1:8677', '--name', name]));
  for (const name of nodes) send(name);
  const states = async () => {
    const { stdout } = await run(['status', '--json', '-o', 'state', '--board', board]);
    const all = JSON.parse(stdout) as { nodes: { name: string; state: string }[] };
    return Object.fromEntries(all.nodes.map(({ name, state }) => [name, state]));
  };
  const live = (names: readonly string[]) =>
    until(
      `${names} are live`,
      async () => {
        const all = await states();
        return names.every(name => all[name] === 'live');
      },
      500,
    );

  const slurm = await Slurm.start(t, {
    nodes,
    settings: {
      PrologSlurmctld: prolog,
      SuspendProgram: script(join(out, 'suspend'), `echo "$1" >>${suspended}`),
      ResumeProgram: script(join(out, 'resume'), `echo "$1" >>${resumed}`),
      SuspendTime: 36_000,
      SuspendTimeout: 2,
      ResumeTimeout: 300,
      BatchStartTimeout: 300,
      SlurmdTimeout: 300,
    },
  });
  const reader = startIn(t, { env: slurm.env }, ['slurm', '--slurm-dir', left, '--board', board, '--interval', '1s']);
  await reader.ready;
  await live(nodes);
  const state = () => JSON.parse(readFileSync(join(left, 'state'), 'utf8')) as SchedulerState;
  /** Waits for an answer of Slurm that was requested after now. */
  const asked = async () => {
    const began = Date.now();
    await until(
      'the reader has asked again',
      () => (state().nodes.time_ms ?? 0) - (state().nodes.took_ms ?? 0) > began,
    );
  };
  const srun = (...words: string[]) => slurm.run('srun', ...words);
  const submit = async (...words: string[]) => {
    const { code, stdout, stderr } = await slurm.run('sbatch', '--parsable', '-o', '/dev/null', ...words);
    if (code !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  /** Kills the sender and the slurmd of a node. */
  const kill = async (name: string) => {
    senders.get(name)?.child.kill('SIGKILL');
    await Promise.all([slurm.kill(name), senders.get(name)?.exit]);
  };
  const revive = async (name: string, ...words: string[]) => {
    send(name);
    slurm.again(name, ...words);
    await live([name]);
  };
  const direct = (...words: string[]) =>
    spawnSync('sh', ['-c', `exec ${gate} "$@"`, 'sh', ...words], { encoding: 'utf8' });

  // This job runs until the end. With --no-requeue it would not start again if the gate or Slurm killed it.
  const lasting = await submit('--no-requeue', '-w', 'node001,node002', '-N2', '-n2', '--wrap', 'srun sleep 3600');
  const lasts = async (t: Test) =>
    t.match((await slurm.run('squeue', '-h', '-j', lasting, '-o', '%T')).stdout, /^RUNNING$/m, 'no job is killed');
  await until('it runs', async () => (await slurm.run('squeue', '-h', '-j', lasting, '-o', '%t')).stdout === 'R\n');

  await t.test('a node dies: 11 s after that no job starts there', async t => {
    await kill('node003');
    const died = performance.now();
    await sleep(DEAD_MS - (performance.now() - died));
    t.match(direct('--nodes', 'node003'), { status: 1, stderr: /: no: node003 has been silent for / });
    t.match((await slurm.run('sinfo', '-h', '-n', 'node003', '-o', '%T')).stdout, /^idle/, 'for Slurm it is as before');
    t.not((await srun('-w', 'node003', 'true')).code, 0);
    const jobs = Array.from({ length: 30 }, () =>
      submit('--no-requeue', '-n1', '--exclusive', '--wrap', `echo "$SLURMD_NODENAME" >>${out}/ran`),
    );
    const ids = new Set(await Promise.all(jobs));
    await until('all have ended', async () => {
      const { stdout } = await slurm.run('squeue', '-h', '-o', '%A');
      return !stdout.split('\n').some(id => ids.has(id));
    });
    t.notMatch(text(join(out, 'ran')), /node003/);
    t.ok(text(join(out, 'ran')).split('\n').length > 10, 'most of them ran');
    t.match(text(said), /: no: node003 has been silent for \d+s; job \d+ should not start there\n/);
    await lasts(t);
  });

  await t.test('forged names change nothing', async t => {
    for (const name of [
      'x\nNodeName=node003 CPUAlloc=0 CPUTot=4 State=IDLE+POWERED_DOWN ',
      'x\nnode003\n',
      '|5|RUNNING|root|batch|4|1700000000|node003|x',
    ])
      await submit('--no-requeue', '-w', 'node004', '-n1', '-J', name, '--wrap', 'sleep 3600');
    const comment = 'x\nNodeName=node003 CPUAlloc=0 CPUTot=4 State=IDLE+POWERED_DOWN \nnode003 node001';
    t.equal((await slurm.run('scontrol', 'update', 'nodename=node005', `comment=${comment}`)).code, 0);
    await until('they run', () => state().jobs.list.filter(({ nodes }) => nodes === 'node004').length === 3);
    await asked();
    t.equal(rows('skip'), '');
    t.equal(rows('names'), '');
    t.equal(state().nodes.list.length, 8);
    const { status } = spawnSync(prolog, [], { env: { SLURM_JOB_NODELIST: 'node003' } });
    t.equal(status, 1, 'it is refused as before');
    t.equal((await slurm.run('scontrol', 'update', 'nodename=node005', 'comment=')).code, 0);
    const { stdout } = await slurm.run('squeue', '-h', '-w', 'node004', '-o', '%A');
    await slurm.run('scancel', ...stdout.trim().split('\n'));
    await revive('node003');
    const idle = async () => (await slurm.run('sinfo', '-h', '-n', 'node003', '-o', '%T')).stdout === 'idle\n';
    await until('Slurm hears it', idle);
    t.match(await srun('-w', 'node003', 'echo', 'back'), { code: 0, stdout: 'back\n' });
  });

  await t.test('a node that sleeps is woken by its job', async t => {
    t.equal((await slurm.run('scontrol', 'update', 'nodename=node008', 'state=power_down')).code, 0);
    await until('it is to sleep', () => text(suspended) === 'node008\n');
    await kill('node008');
    await until('it is silent', async () => (await states()).node008 === 'silent', 500);
    await until('it sleeps', async () => {
      const { stdout } = await slurm.run('scontrol', 'show', 'node', 'node008');
      return /State=IDLE\+(?:CLOUD\+)?POWERED_DOWN/.test(stdout);
    });
    await asked();
    t.equal(rows('skip'), 'node008\n');
    t.match(direct('--nodes', 'node008'), { status: 1 }, 'by the board alone it would be refused, for ever');
    const job = srun('-w', 'node008', 'echo', 'awake');
    await until('it is to wake', () => text(resumed) === 'node008\n');
    await revive('node008', '-b');
    t.match(await job, { code: 0, stdout: 'awake\n' });
    t.match(text(said), /: yes, though node008 has been silent for .*: left out by --skip/);
  });

  /** Checks that a job on the other six nodes starts while something is wrong with the board. */
  const starts = async (t: Test, why: RegExp) => {
    const from = text(said).length;
    t.match(await srun('-N6', '-w', 'node[003-008]', 'echo', 'ran'), { code: 0, stdout: 'ran\n'.repeat(6) });
    t.match(text(said).slice(from), why);
    await lasts(t);
  };
  for (const [what, fail, mend, why] of [
    [
      'the receiver hangs',
      async () => {
        receiver.child.kill('SIGSTOP');
        await sleep(DEAD_MS);
      },
      () => receiver.child.kill('SIGCONT'),
      /: yes, fails open: the receiver is stalled/,
    ],
    [
      'the receiver is killed, and another one begins as the job does',
      async () => {
        receiver.child.kill('SIGKILL');
        await receiver.exit;
        receiver = startIn(t, {}, receive);
      },
      () => receiver.ready,
      /^$/,
    ],
    [
      'the receiver has ended',
      async () => {
        receiver.child.kill('SIGTERM');
        await receiver.exit;
        await sleep(DEAD_MS);
      },
      async () => {
        receiver = startIn(t, {}, receive);
        await receiver.ready;
      },
      /: yes, fails open: the receiver was stopped/,
    ],
    [
      'the link is down',
      async () => {
        ip('link set v1 down');
        await sleep(DEAD_MS);
      },
      () => ip('link set v1 up'),
      /: yes, though .*: its link v1 is down/,
    ],
    [
      'the link is dark',
      async () => {
        far.ip('addr del 10.87.0.2/24 dev v1');
        await sleep(DEAD_MS);
      },
      () => far.ip('addr add 10.87.0.2/24 dev v1'),
      /: yes, though .*: its link v1 is dark/,
    ],
  ] as [string, () => unknown, () => unknown, RegExp][])
    await t.test(what, async t => {
      await fail();
      await starts(t, why);
      await mend();
      await live(nodes);
    });

  await t.test('displays do not wait for slurmctld', async t => {
    const verbs = [['status', '--jobs'], ['jobs'], ['show', 'node001'], ['status']];
    const argv = (verb: string[]) => [...verb, '--board', board, '--slurm-dir', left];
    /** Measures each verb before and after, alternating, because the load of the machine varies. */
    const compare = async (what: string, before: () => unknown, after: () => unknown) => {
      const found = verbs.map(() => [[], []] as { wall: number; cpu: number }[][]);
      for (let i = 0; i < 2 * ROUNDS; i++) {
        await (i % 2 === 0 ? before : after)();
        for (const [at, verb] of verbs.entries()) found[at]?.[i % 2]?.push(await timed(t, argv(verb)));
      }
      for (const [at, verb] of verbs.entries()) {
        const [usual, now] = (found[at] ?? []).map(some => ({
          wall: Math.round(median(some.map(({ wall }) => wall))),
          cpu: Math.round(median(some.map(({ cpu }) => cpu))),
        })) as [{ wall: number; cpu: number }, { wall: number; cpu: number }];
        t.comment(
          `${verb.join(' ')}, slurmctld ${what}: ${now.wall} ms, ${now.cpu} of CPU; usually ${usual.wall} ms, ${usual.cpu} of CPU`,
        );
        // A command that waited for slurmctld as Slurm's own do would take 9 s and more, thirty times as long.
        t.ok(now.wall / now.cpu < 3 * (usual.wall / usual.cpu), `${verb.join(' ')}, slurmctld ${what}`);
      }
    };
    await compare(
      'hung',
      () => slurm.signal('slurmctld', 'SIGCONT'),
      () => slurm.signal('slurmctld', 'SIGSTOP'),
    );
    slurm.signal('slurmctld', 'SIGCONT');
    const answers = () => until('slurmctld answers', async () => (await slurm.run('scontrol', 'ping')).code === 0);
    let isGone = false;
    await compare(
      'gone',
      async () => {
        if (isGone) slurm.again('slurmctld');
        await answers();
      },
      async () => {
        await slurm.kill('slurmctld');
        isGone = true;
      },
    );
    slurm.again('slurmctld');
    await answers();
    await lasts(t);
  });
};

withSlurm(t, import.meta.url, () => {
  void t.test('jobs before the gate', beforeIt);
  void t.test('eight nodes', amongNodes);
});
