// The bridge and the gate with a real Slurm of eight nodes and the default limits: a node dies, and gets no job; it
// comes back; a node that is powered down is woken. Then faults that are not the nodes': of the receiver, its link and
// slurmctld, and forged reports. Not part of `npm test`.
//   npm run test:long -- bridge

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { LastTick } from '../../src/schedulers/bridge/bridgestatus.js';
import { readJournal } from '../../src/schedulers/bridge/journal.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { commandOf, run, start, startReceiver } from '../kit/program.js';
import { nodeNames, Slurm, withSlurm } from '../kit/realslurm.js';
import { writeCommand } from '../kit/slurmstandin.js';
import { keyFile, SigningNodes } from './signingnodes.js';

t.setTimeout(3_600_000);

const NODES = nodeNames(8);
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Waits longer than `until` does. */
async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (const end = performance.now() + 180_000; ; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`waited three minutes in vain until ${what}`);
    await sleep(200);
  }
}

/** Queries Slurm about nodes and jobs, and reads the journal. */
class Beside {
  constructor(
    readonly t: Test,
    readonly slurm: Slurm,
    readonly journal: string,
  ) {}

  async show(name: string): Promise<{ state: string; reason: string | undefined }> {
    const { stdout } = await this.slurm.run('scontrol', '-o', 'show', 'node', name);
    const [, state = '', reason] = / State=(\S+) .*?(?: Reason=(.*) \[\S+@\S+\])?$/m.exec(stdout) ?? [];
    return { state, reason };
  }

  becomes(name: string, state: RegExp) {
    return eventually(`${name} is ${state}`, async () => state.test((await this.show(name)).state) && this.show(name));
  }

  async submit(...argv: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.slurm.run('sbatch', '--parsable', '-o', '/dev/null', ...argv);
    if (code !== 0) throw new Error(stderr);
    return stdout.trim();
  }

  /** Jobs of any state, as `number state nodes`. */
  async jobs(): Promise<string[]> {
    return (await this.slurm.run('squeue', '-h', '-t', 'all', '-o', '%A %T %N')).stdout.trim().split('\n');
  }

  acts(): string[] {
    return (readJournal(this.journal)?.entries ?? []).flatMap(entry =>
      entry.what === 'intent' ? [`${entry.act} ${entry.node}`] : [],
    );
  }

  last(): LastTick {
    return JSON.parse(readFileSync(join(this.journal, 'status'), 'utf8')) as LastTick;
  }

  async tick(): Promise<void> {
    const before = this.last().mono_ms;
    await eventually('a tick is over', () => this.last().mono_ms !== before);
  }
}

/** Makes a network namespace at the other end of a cable, from which all nodes report. */
async function farEnd(t: Test): Promise<string[]> {
  const holder = spawn('unshare', ['-n', 'sh', '-c', 'echo ready; exec sleep infinity'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  const inside = ['nsenter', '-t', String(holder.pid), '-n'];
  const far = 'ip address add 10.86.0.2/24 dev far && ip link set far up';
  // Slurm resolves no names if there is no address besides the loopback's, so this makes another one.
  const here = `ip link set far netns ${holder.pid} && ip link add spare type veth peer name other && ip address add 10.87.0.1/24 dev spare && ip link set spare up`;
  for (const command of [here, `${inside.join(' ')} sh -c '${far}'`]) {
    const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }
  return inside;
}

const eight = async (whole: Test) => {
  const t = whole;
  const inside = await farEnd(t);
  const own = folder(t);
  chmodSync(own, 0o755);
  const made = spawnSync('make', ['-s', '-j2', '-C', join(ROOT, 'c', 'gate'), `OUT=${own}`, 'CC=gcc', 'LDFLAGS='], {
    encoding: 'utf8',
  });
  t.equal(made.status, 0, made.stderr);
  const board = boardPath(t);
  const key = keyFile(own);
  const receive = [...['receive', '--board', board, '--capacity', '64', '--key-file', key], '--listen'];
  let receiver = start(t, [...receive, '10.86.0.1:0']);
  const at = (await receiver.ready).listening?.[0] as string;
  const senders = new Map<string, ChildProcess>();
  const report = (name: string) => {
    const [program = '', ...argv] = [...inside, ...commandOf(['send', '--to', at, '--name', name, '--key-file', key])];
    const child = spawn(program, argv, { stdio: 'ignore' });
    senders.set(name, child);
    t.teardown(() => child.kill('SIGKILL'));
  };
  for (const name of NODES) report(name);

  const left = join(own, 'slurm');
  const [said, prolog, woken] = [join(own, 'said'), join(own, 'prolog'), join(own, 'woken')];
  const journal = join(own, 'journal');
  const gate = `${own}/beoboard-gate --board ${board} --skip @${left}/skip --requests ${journal}/requests`;
  writeFileSync(prolog, `#!/bin/sh\nexec ${gate} 2>>${said}\n`);
  writeFileSync(join(own, 'resume'), `#!/bin/sh\necho "$1" >>${woken}\n`);
  for (const name of ['prolog', 'resume']) chmodSync(join(own, name), 0o755);
  const slurm = await Slurm.start(t, {
    nodes: NODES,
    settings: {
      ...{
        SlurmdTimeout: 300,
        PrologSlurmctld: prolog,
        SuspendProgram: '/bin/true',
        ResumeProgram: join(own, 'resume'),
      },
      ...{ SuspendTime: 36_000, SuspendTimeout: 2, ResumeTimeout: 120, MinJobAge: 3600 },
    },
  });
  process.env.SLURM_CONF = slurm.env.SLURM_CONF;
  t.teardown(() => delete process.env.SLURM_CONF);
  const reader = start(t, ['slurm', '--slurm-dir', left, '--board', board]);
  await reader.ready;
  // When each command had its answer, and when each order was written to the command that waits for it.
  const [bin, times] = [join(own, 'bin'), join(own, 'times')];
  mkdirSync(bin);
  writeCommand(
    join(bin, 'scontrol'),
    `#!/bin/bash
real=/usr/bin/scontrol
if [ $# = 0 ]; then { read -r line && echo "$EPOCHREALTIME order" >>${times}; echo "$line"; } | $real; exit; fi
$real "$@"; code=$?
echo "$EPOCHREALTIME $*" >>${times}; exit $code
`,
  );
  const argv = [
    'bridge',
    '--enforce',
    '--slurm-bin',
    bin,
    '--journal',
    journal,
    '--board',
    board,
    '--resume-after',
    '20s',
    '--kill-switch',
    join(own, 'off'),
  ];
  let bridge = start(t, argv);
  await bridge.ready;
  const it = new Beside(t, slurm, journal);
  const refuses = (name: string) =>
    spawnSync(`${own}/beoboard-gate`, ['--board', board, '--nodes', name, '--wait', '0s'], { encoding: 'utf8' })
      .status === 1;
  await eventually('all are heard, and watched', async () => {
    const { stdout } = await run(['nodes', '--state', 'live', '--count', '--board', board]);
    return stdout === '8\n' && it.last().nodes === 8;
  });
  await sleep(40_000);

  await t.test('a node dies, and comes back', async t => {
    const killed = performance.now();
    senders.get('node008')?.kill('SIGKILL');
    await slurm.kill('node008');
    let first: number | undefined;
    let passed = 0;
    while (!(await it.show('node008')).state.includes('DRAIN')) {
      const asked = performance.now() - killed;
      const no = refuses('node008');
      if (no) first ??= asked;
      else if (asked > 11_000) passed++;
      if (asked > 120_000) throw new Error('it is not drained');
      await sleep(100);
    }
    const drained = performance.now() - killed;
    t.equal(passed, 0, `from 11 s on the gate refuses; it did from ${seconds(first ?? 0)} on`);
    t.ok(drained < 50_000, `drained after ${seconds(drained)}`);
    const before = new Set(await it.jobs());
    for (let i = 0; i < 100; i++) await it.submit('-n1', '--wrap', 'true');
    const jobs = await eventually('all jobs have run', async () => {
      const now = (await it.jobs()).filter(job => !before.has(job));
      return now.length === 100 && now.every(job => / COMPLETED /.test(job)) && now;
    });
    t.equal(jobs.filter(job => job.includes('node008')).length, 0, 'none of 100 jobs has landed on it');

    const back = performance.now();
    report('node008');
    slurm.again('node008');
    await eventually('it is given back', async () => !(await it.show('node008')).state.includes('DRAIN'));
    t.comment(`given back ${seconds(performance.now() - back)} after it was started, with --resume-after 20s`);
    await it.submit('-w', 'node008', '--wrap', 'true');
    await eventually('a job has run there', async () => (await it.jobs()).some(job => / COMPLETED node008$/.test(job)));
    t.same(it.acts(), ['drain node008', 'undrain node008']);
  });

  await t.test('a node that is powered down is left alone, and its job wakes it', async t => {
    await slurm.run('scontrol', 'update', 'nodename=node007', 'state=power_down');
    await it.becomes('node007', /POWERED_DOWN/);
    senders.get('node007')?.kill('SIGKILL');
    await slurm.kill('node007');
    await sleep(60_000);
    const acts = it.acts().length;
    t.equal(acts, 2, 'silent for 60 s');
    const job = await it.submit('-w', 'node007', '--wrap', 'true');
    await eventually('it is woken', () => existsSync(woken) && readFileSync(woken, 'utf8').includes('node007'));
    // -b as after a boot: otherwise Slurm does not accept the node as woken.
    const slurmd = spawn('slurmd', ['-D', '-b', '-N', 'node007'], { env: slurm.env, stdio: 'ignore' });
    t.teardown(() => slurmd.kill('SIGKILL'));
    await sleep(10_000);
    report('node007');
    await eventually('its job has run', async () => (await it.jobs()).some(row => row.startsWith(`${job} COMPLETED`)));
    await sleep(30_000);
    t.equal(it.acts().length, 2, 'nor is it drained where slurmd is there before its sender');
    slurmd.kill('SIGKILL');
    await once(slurmd, 'close');
    slurm.again('node007');
    await it.becomes('node007', /^IDLE/);
  });

  await t.test('a job is refused because of a silent node: no job is refused later than 10 s after that', async t => {
    const nos = () => (existsSync(said) ? readFileSync(said, 'utf8').split(' no: node006 ').length - 1 : 0);
    const acts = it.acts().length;
    senders.get('node006')?.kill('SIGKILL');
    await slurm.kill('node006');
    await eventually('it is silent', () => refuses('node006'));
    let [first, last, count] = [0, 0, nos()];
    const jobs: string[] = [];
    for (const begin = performance.now(); performance.now() - begin < 20_000; ) {
      jobs.push(await it.submit('-w', 'node006', '-n1', '--wrap', 'true'));
      await sleep(300);
      if (nos() === count) continue;
      count = nos();
      last = performance.now();
      first ||= last;
    }
    t.ok(first > 0, 'a job was refused');
    t.ok(last - first < 10_000, `the last one ${seconds(last - first)} after the first, of ${count}`);
    t.comment(`${count} of ${jobs.length} jobs were refused, the last ${seconds(last - first)} after the first`);
    t.same(it.acts().slice(acts), ['drain node006']);
    await slurm.run('scancel', ...jobs);
    report('node006');
    slurm.again('node006');
    await eventually('it is given back', () => it.acts().length === acts + 2);
    await it.becomes('node006', /^IDLE(?!.*DRAIN)/);
  });

  await t.test('slurmctld starts without its state: a node that is still silent is drained again', async t => {
    const acts = it.acts().length;
    senders.get('node006')?.kill('SIGKILL');
    await it.becomes('node006', /DRAIN/);
    await it.submit('-w', 'node001', '-n1', '--wrap', 'sleep 300');
    await it.becomes('node001', /^(MIXED|ALLOCATED)/);
    await sleep(15_000);
    await slurm.kill('slurmctld');
    slurm.again('slurmctld', '-c');
    await eventually('it is drained again', () => it.acts().length === acts + 2);
    t.same(it.acts().slice(acts), ['drain node006', 'drain node006']);
    t.match(bridge.output().stderr, /node006 is no longer drained: slurmctld has started without its state/);
    report('node006');
    await eventually('it is given back', () => it.acts().length === acts + 3);
    await it.becomes('node006', /^IDLE(?!.*DRAIN)/);
  });

  await t.test('a drain that an administrator lifts is not set again, even after restarts', async t => {
    senders.get('node008')?.kill('SIGKILL');
    await slurm.kill('node008');
    await it.becomes('node008', /DRAIN/);
    const acts = it.acts();
    await slurm.run('scontrol', 'update', 'nodename=node008', 'state=undrain');
    await eventually('it has let go', () =>
      (readJournal(journal)?.entries ?? []).some(({ what }) => what === 'let_go'),
    );
    receiver.child.kill('SIGKILL');
    bridge.child.kill('SIGKILL');
    await Promise.all([receiver.exit, bridge.exit, slurm.kill('slurmctld')]);
    receiver = start(whole, [...receive, at]);
    slurm.again('slurmctld');
    await receiver.ready;
    bridge = start(whole, argv);
    await bridge.ready;
    await sleep(90_000);
    t.same(it.acts(), acts);
    report('node008');
    slurm.again('node008');
    await it.becomes('node008', /^IDLE/);
    await sleep(30_000);
  });

  const submitted = await Promise.all(NODES.map(name => it.submit('-w', name, '-n1', '--wrap', 'sleep 3000')));
  // Beside them the job of an earlier test may still run: slurmd told slurmctld of it.
  const running = async () => {
    const jobs = await it.jobs();
    return submitted.filter(number => jobs.some(job => job.startsWith(`${number} RUNNING `))).length;
  };
  await eventually('they run', async () => (await running()) === NODES.length);
  const acts = it.acts();
  /** Checks that the bridge did nothing, that all jobs still run, and that no node is drained. */
  const unharmed = async (t: Test) => {
    await it.tick();
    t.same(it.acts(), acts);
    t.equal(await running(), NODES.length);
    for (const name of NODES) t.notMatch((await it.show(name)).state, /DRAIN|DOWN/, name);
  };

  await t.test('the receiver is stopped for a minute', async t => {
    receiver.child.kill('SIGSTOP');
    await sleep(60_000);
    t.match(it.last().trouble, /stalled/);
    receiver.child.kill('SIGCONT');
    await sleep(30_000);
    await unharmed(t);
  });

  await t.test('the receiver is killed, and started after a minute', async t => {
    receiver.child.kill('SIGKILL');
    await receiver.exit;
    await sleep(60_000);
    receiver = start(whole, [...receive, at]);
    await receiver.ready;
    await sleep(60_000);
    await unharmed(t);
  });

  await t.test('the link is down for a minute', async t => {
    spawnSync('ip', ['link', 'set', 'eth0', 'down']);
    await sleep(60_000);
    spawnSync('ip', ['link', 'set', 'eth0', 'up']);
    await sleep(60_000);
    await unharmed(t);
  });

  await t.test('a dead switch: all are silent at once for two minutes', async t => {
    spawnSync(inside[0] as string, [...inside.slice(1), 'ip', 'link', 'set', 'lo', 'up']);
    for (const child of senders.values()) child.kill('SIGSTOP');
    await sleep(120_000);
    const { stdout } = await run(['nodes', '--state', 'live', '--count', '--board', board]);
    t.equal(stdout, '0\n');
    t.match(
      (await run(['bridge', '--status', '--journal', journal])).stdout,
      /BRAKE: no more drains|its link eth0 is dark/,
    );
    for (const child of senders.values()) child.kill('SIGCONT');
    await sleep(30_000);
    await unharmed(t);
  });

  await t.test('forged names', async t => {
    const forger = new SigningNodes(t, Number(at.split(':').at(-1)), [], 1000);
    for (let second = 0; second < 60; second++) {
      for (const name of [...NODES, 'node009', 'stranger'])
        forger.send({ hostname: name, boot_id: BigInt(second + 2), seq: second, flags: second % 2 }, false);
      await sleep(1000);
    }
    await sleep(15_000);
    await unharmed(t);
  });

  await t.test('slurmctld is stopped: the bridge does nothing, and displays are as fast as before', async t => {
    const least = async () => {
      let ms = Number.POSITIVE_INFINITY;
      for (let i = 0; i < 10; i++) {
        const begin = performance.now();
        const { code } = await run(['status', '--jobs', '--board', board, '--slurm-dir', left]);
        if (code === 0) ms = Math.min(ms, performance.now() - begin);
      }
      return ms;
    };
    const usual = await least();
    slurm.signal('slurmctld', 'SIGSTOP');
    await eventually(
      'that is noticed',
      () => it.last().trouble === 'Slurm does not answer: scontrol took longer than 5.0s',
    );
    senders.get('node006')?.kill('SIGSTOP');
    const stopped = await least();
    t.ok(stopped < usual + 100, `${usual.toFixed(0)} ms, and ${stopped.toFixed(0)} ms while it is stopped`);
    await sleep(60_000);
    senders.get('node006')?.kill('SIGCONT');
    await sleep(15_000);
    slurm.signal('slurmctld', 'SIGCONT');
    await eventually('it is heard again', () => it.last().trouble === undefined);
    await it.tick();
    await unharmed(t);
  });

  bridge.child.kill('SIGTERM');
  t.equal(await bridge.exit, 0);
  const all = windows(readFileSync(times, 'utf8')).sort((a, b) => a - b);
  const ms = (at: number) => (all.at(at) ?? Number.NaN).toFixed(1);
  t.ok(all.length > 0);
  t.comment(
    `from Slurm's answer to the order: ${ms(all.length >> 1)} ms (${ms(0)} to ${ms(-1)}) in ${all.length} orders`,
  );
};

/** From the last answer about a node to the order, ms, for each order. */
function windows(times: string): number[] {
  const rows = times.split('\n').map(line => ({ ms: Number(line.split(' ')[0]) * 1000, what: line }));
  return rows.flatMap(({ ms, what }, i) => {
    if (!what.endsWith(' order')) return [];
    const look = rows.slice(0, i).findLast(({ what }) => what.includes(' show node '));
    return look === undefined ? [] : [ms - look.ms];
  });
}

const returning = async (t: Test) => {
  for (const [returns, booted, not] of [
    [0, /^DOWN$/, /^DOWN$/],
    [1, /^DOWN$/, /^DOWN$/],
    [2, /^IDLE/, /^IDLE/],
  ] as const)
    await t.test(`ReturnToService=${returns}`, async t => {
      const own = folder(t);
      const board = boardPath(t);
      const slurm = await Slurm.start(t, { nodes: NODES, settings: { SlurmdTimeout: 10, ReturnToService: returns } });
      process.env.SLURM_CONF = slurm.env.SLURM_CONF;
      const { port } = await startReceiver(t, board, [
        ...['--key-file', keyFile(own), '--uncertain-after', '400ms', '--silent-after', '1s'],
      ]);
      const nodes = new SigningNodes(t, port, NODES, 100);
      const journal = join(own, 'journal');
      const argv = [
        '--enforce',
        '--drain-after',
        '1s',
        '--resume-after',
        '5s',
        '--interval',
        '1s',
        '--kill-switch',
        join(own, 'off'),
      ];
      const bridge = start(t, ['bridge', '--board', board, '--journal', journal, ...argv]);
      await bridge.ready;
      const it = new Beside(t, slurm, journal);
      await sleep(3000);
      for (const name of ['node001', 'node002']) {
        nodes.kill(name);
        await slurm.kill(name);
      }
      for (const name of ['node001', 'node002']) await it.becomes(name, /DRAIN/);
      for (const name of ['node001', 'node002']) await it.becomes(name, /^DOWN\+DRAIN/);
      nodes.boot('node001');
      nodes.revive('node002');
      for (const name of ['node001', 'node002']) slurm.again(name);
      await eventually('both are given back', () => it.acts().length === 4);
      await sleep(15_000);
      t.match((await it.show('node001')).state, booted, 'booted');
      t.match((await it.show('node002')).state, not, 'not booted');
      t.comment(it.acts().join(', '));
      if (returns < 2) t.match(bridge.output().stderr, /it stays DOWN in Slurm: resume it yourself/);
      bridge.child.kill('SIGTERM');
      await bridge.exit;
    });
};

/** CPU seconds of a process, and of the commands that it has run. */
function cpuOf(pid: number): { own: number; called: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  const at = (i: number) => Number(fields[i]) / 100;
  return { own: at(11) + at(12), called: at(13) + at(14) };
}

const tenThousand = async (t: Test) => {
  const names = nodeNames(10_000);
  const own = folder(t);
  const board = boardPath(t);
  // Without slurmd all nodes would be DOWN after the default of 300 s, and nodes that are DOWN are not drained.
  const slurm = await Slurm.start(t, { nodes: names, slurmd: [], settings: { SlurmdTimeout: 3600 } });
  process.env.SLURM_CONF = slurm.env.SLURM_CONF;
  const receiver = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0', '--key-file', keyFile(own)]);
  const port = Number((await receiver.ready).listening?.[0]?.split(':').at(-1));
  const nodes = new SigningNodes(t, port, names, 10_000);
  const journal = join(own, 'journal');
  const argv = ['--enforce', '--board', board, '--journal', journal, '--kill-switch', join(own, 'off')];
  const bridge = start(t, ['bridge', ...argv]);
  await bridge.ready;
  const it = new Beside(t, slurm, journal);
  await eventually('all are known to both', () => it.last().nodes === 10_000);
  const pid = bridge.child.pid as number;
  const ticks = 12;
  await it.tick();
  const before = cpuOf(pid);
  for (let i = 0; i < ticks; i++) await it.tick();
  const after = cpuOf(pid);
  const tick = { own: (after.own - before.own) / ticks, called: (after.called - before.called) / ticks };
  t.ok(
    tick.own <= tick.called,
    `a tick takes ${tick.own.toFixed(2)} s of CPU, no more than the commands that it calls: ${tick.called.toFixed(2)} s`,
  );
  // With an interval of 10 s the limits are ten times as long: a node is silent after 105 s.
  const killed = performance.now();
  const dead = ['node001', 'node5000', 'node10000'];
  for (const name of dead) nodes.kill(name);
  for (const name of dead) await it.becomes(name, /DRAIN/);
  t.comment(
    `of 10,000 that report every 10 s three are drained ${seconds(performance.now() - killed)} after they died`,
  );
  t.equal(it.acts().length, 3, it.acts().join(', '));
  bridge.child.kill('SIGTERM');
  await bridge.exit;
};

withSlurm(t, import.meta.url, () => {
  void t.test('ten thousand nodes', tenThousand);
  void t.test('when a node that is DOWN returns to service', returning);
  void t.test('eight nodes', eight);
});
