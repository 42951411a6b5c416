// A real Slurm on loopback for one test: slurmctld, a few slurmd that all are this machine, munged with a key of its own. Nothing outside of
// one folder, no port that anybody chose, no job that outlives it. No test of its own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { folder, until } from './lib.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** Daemons are where ordinary users do not look. */
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const NEEDED = ['munged', 'slurmctld', 'slurmd', 'scontrol', 'sbatch', 'squeue'];

/** Why there is no Slurm here; false when there is. In CI it has to be. */
export function noSlurm(): string | false {
  const missing = NEEDED.filter(name => spawnSync('sh', ['-c', `command -v ${name}`], { env: { PATH } }).status !== 0);
  if (missing.length === 0) return false;
  if (process.env.CI === 'true') throw new Error(`${missing.join(', ')} is not installed`);
  return `needs the packages slurmctld, slurmd, slurm-client and munge: there is no ${missing.join(', ')}`;
}

/** Ports that are free now. All are held until the last is found, so that none comes twice. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map(server => once(server, 'listening')));
  const ports = servers.map(server => (server.address() as { port: number }).port);
  await Promise.all(servers.map(server => once(server.close(), 'close')));
  return ports;
}

export class SlurmCluster {
  readonly #children = new Map<string, ChildProcess>();
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(at: string) {
    this.#folder = at;
    this.#environment = { PATH, SLURM_CONF: this.conf };
  }

  get conf(): string {
    return join(this.#folder, 'slurm.conf');
  }

  /** Starts one of as many nodes, node001 and so on; it has ended when the test has. */
  static async start(t: Teardown, nodes: number): Promise<SlurmCluster> {
    // The socket of munged needs a short path.
    const cluster = new SlurmCluster(folder(t, tmpdir()));
    t.teardown(() => cluster.#end());
    await cluster.#begin(nodes);
    return cluster;
  }

  /** Runs one of Slurm's commands. */
  run(program: string, ...argv: string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(program, argv, { env: this.#environment, encoding: 'utf8' });
  }

  /** Sends a signal to the controller. */
  signal(signal: NodeJS.Signals): void {
    this.#children.get('slurmctld')?.kill(signal);
  }

  #spawn(name: string, program: string, argv: string[]): void {
    const log = openSync(join(this.#folder, `${name}.out`), 'a');
    this.#children.set(name, spawn(program, argv, { env: this.#environment, stdio: ['ignore', log, log] }));
  }

  async #begin(count: number): Promise<void> {
    const at = this.#folder;
    for (const name of ['state', 'spool']) mkdirSync(join(at, name));
    chmodSync(at, 0o755);
    const socket = join(at, 'munge');
    writeFileSync(join(at, 'key'), randomBytes(128), { mode: 0o400 });
    this.#spawn('munged', 'munged', [
      ...[
        '--foreground',
        `--socket=${socket}`,
        `--key-file=${join(at, 'key')}`,
        `--pid-file=${join(at, 'munged.pid')}`,
      ],
      ...[`--log-file=${join(at, 'munged.log')}`, `--seed-file=${join(at, 'seed')}`, '--num-threads=2'],
    ]);
    const [port, ...ports] = await freePorts(count + 1);
    const names = ports.map((_, i) => `node${String(i + 1).padStart(3, '0')}`);
    const [host = ''] = hostname().split('.');
    const user = userInfo().username;
    const lines = {
      ClusterName: 'tested',
      SlurmctldHost: `${host}(127.0.0.1)`,
      SlurmctldPort: port,
      SlurmUser: user,
      SlurmdUser: user,
      AuthType: 'auth/munge',
      AuthInfo: `socket=${socket}`,
      CredType: 'cred/munge',
      CommunicationParameters: 'NoCtldInAddrAny,NoInAddrAny',
      StateSaveLocation: join(at, 'state'),
      SlurmdSpoolDir: join(at, 'spool', '%n'),
      SlurmctldPidFile: join(at, 'slurmctld.pid'),
      SlurmdPidFile: join(at, '%n.pid'),
      SlurmctldLogFile: join(at, 'slurmctld.log'),
      SlurmdLogFile: join(at, '%n.log'),
      ProctrackType: 'proctrack/linuxproc',
      TaskPlugin: 'task/none',
      JobAcctGatherType: 'jobacct_gather/none',
      AccountingStorageType: 'accounting_storage/none',
      SelectType: 'select/cons_tres',
      SelectTypeParameters: 'CR_Core',
      SlurmdParameters: 'config_overrides',
      DebugFlags: 'NO_CONF_HASH',
      ReturnToService: 1,
      SlurmdTimeout: 60,
      KillWait: 2,
      SuspendProgram: '/bin/true',
      ResumeProgram: '/bin/true',
      SuspendTime: 3600,
    };
    const rows = [
      ...Object.entries(lines).map(([key, value]) => `${key}=${value}`),
      ...names.map(
        (name, i) => `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${ports[i]} CPUs=4 RealMemory=1000`,
      ),
      `PartitionName=batch Nodes=${names.join(',')} Default=YES State=UP`,
    ];
    writeFileSync(this.conf, `${rows.join('\n')}\n`);
    writeFileSync(join(at, 'cgroup.conf'), 'CgroupAutomount=no\nConstrainCores=no\nConstrainRAMSpace=no\n');
    await until('munged listens', () => this.run('munge', '-n', `--socket=${socket}`).status === 0);
    this.#spawn('slurmctld', 'slurmctld', ['-D', '-c', '-i', '-f', this.conf]);
    for (const name of names) {
      mkdirSync(join(at, 'spool', name));
      this.#spawn(name, 'slurmd', ['-D', '-N', name, '-f', this.conf]);
    }
    await until('all nodes are idle', () => {
      for (const [name, { exitCode }] of this.#children)
        if (exitCode !== null) throw new Error(`${name} has ended: ${readFileSync(join(at, `${name}.out`), 'utf8')}`);
      return this.run('sinfo', '-h', '-N', '-o', '%t').stdout === 'idle\n'.repeat(count);
    });
  }

  /** Ends jobs first: what runs for them is no child of ours. */
  async #end(): Promise<void> {
    this.signal('SIGCONT');
    const { stdout } = this.run('squeue', '-h', '-o', '%A');
    const jobs = stdout.split('\n').filter(job => job !== '');
    if (jobs.length > 0) this.run('scancel', '--signal=KILL', '--full', ...jobs);
    if (jobs.length > 0) this.run('scancel', ...jobs);
    if (jobs.length > 0) await until('no job is left', () => this.run('squeue', '-h', '-o', '%A').stdout === '');
    for (const child of [...this.#children.values()].reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      const last = setTimeout(() => child.kill('SIGKILL'), 5000);
      await ended;
      clearTimeout(last);
    }
  }
}
