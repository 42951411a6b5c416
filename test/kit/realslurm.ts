// A real Slurm for a test: slurmctld, one slurmd for each node (all on this machine), and its own munged, in the
// foreground, in their own folder and in the test's own network, where all ports are free. No systemd, no cgroups, no
// database. Each daemon can be ended, stopped and started again; no job outlives the test. No test of its own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { fold } from '../../src/text/hostlists.js';
import { ended } from './children.js';
import { INSIDE, inOwnNetwork } from './network.js';
import { folder } from './places.js';
import { until } from './until.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/**
 * The network that Slurm needs: it does not resolve addresses, not even that of loopback, if there is no other address.
 */
export const NETWORK = [
  'ip link set lo up',
  'ip link add eth0 type veth peer name far',
  'ip address add 10.86.0.1/24 dev eth0',
  'ip link set eth0 up',
].join(' && ');

const PORT = 17_000;
/** The daemons are in these folders, which may be missing in a user's PATH. */
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const PROGRAMS = ['munged', 'munge', 'slurmctld', 'slurmd', 'scontrol', 'srun', 'sbatch', 'squeue', 'sinfo', 'scancel'];

/**
 * Runs a test file again in a network in which a Slurm can be started, and calls `body` there. Without Slurm this is a
 * skip with the reason; in CI it is required.
 */
export function withSlurm(t: Test, file: string, body: () => void): void {
  const missing = PROGRAMS.filter(
    name => spawnSync(name, ['-V'], { env: { ...process.env, PATH } }).error !== undefined,
  );
  const why = `${missing.join(', ')} missing: apt-get install slurmctld slurmd slurm-client munge`;
  if (missing.length > 0)
    t.ok(process.env.CI !== 'true', 'Slurm is installed', { skip: process.env.CI !== 'true' && why });
  else if (INSIDE) body();
  else inOwnNetwork(t, NETWORK, file, 'a real Slurm');
}

/** node001 and so on. */
export function nodeNames(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `node${String(i + 1).padStart(3, '0')}`);
}

interface Daemon {
  readonly argv: readonly [program: string, ...args: string[]];
  readonly child: ChildProcess;
  readonly exit: Promise<unknown>;
}

interface Kind {
  readonly nodes: readonly string[];
  /** The nodes with a running slurmd; by default all. The other nodes are idle as well. */
  readonly slurmd?: readonly string[];
  /** Lines of slurm.conf that replace the ones below. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** The lines of topology.conf. */
  readonly topology?: readonly string[];
}

export class Slurm {
  /** The folder with all its files. */
  readonly path: string;
  readonly #daemons = new Map<string, Daemon>();

  private constructor(t: Teardown) {
    // Not in shared memory: munged and slurmd check who may write the folders above.
    this.path = folder(t);
    chmodSync(this.path, 0o755);
  }

  /** Starts it, and waits until all nodes are idle; it ends before the test does. */
  static async start(t: Teardown, { nodes, slurmd = nodes, settings = {}, topology = [] }: Kind): Promise<Slurm> {
    const slurm = new Slurm(t);
    t.teardown(() => slurm.#end());
    slurm.#configure(nodes, settings);
    if (topology.length > 0) writeFileSync(slurm.#at('topology.conf'), `${topology.join('\n')}\n`);
    slurm.#begin('munged', [
      'munged',
      '--foreground',
      `--key-file=${slurm.#at('munge.key')}`,
      `--socket=${slurm.#at('munge.sock')}`,
      `--pid-file=${slurm.#at('munged.pid')}`,
      `--seed-file=${slurm.#at('munged.seed')}`,
    ]);
    await until(
      'munged answers',
      async () => (await slurm.run('munge', '-n', '-S', slurm.#at('munge.sock'))).code === 0,
    );
    // -c: without the jobs and drains of an earlier run; a restart omits it and keeps both.
    slurm.#begin('slurmctld', ['slurmctld', '-D', '-i', '-c']);
    for (const node of slurmd) slurm.#begin(node, ['slurmd', '-D', '-N', node]);
    const runs = new Set(slurmd);
    const without = nodes.filter(node => !runs.has(node));
    if (without.length > 0) {
      const set = (state: string) =>
        slurm.run('scontrol', 'update', `nodename=${fold(without)}`, `state=${state}`, 'reason=new');
      await until('slurmctld answers', async () => (await set('down')).code === 0);
      await set('resume');
    }
    // Slurm marks nodes that have no running slurmd with a star.
    const wanted = nodes.map(node => `${node} idle${runs.has(node) ? '' : '*'}`).sort();
    await until('all nodes are idle', async () => {
      slurm.#stillThere();
      const { stdout } = await slurm.run('sinfo', '-h', '-N', '-o', '%N %T');
      return stdout.trim().split('\n').sort().join() === wanted.join();
    });
    return slurm;
  }

  /** The environment for Slurm's commands, and for programs that call them. */
  get env(): { PATH: string; SLURM_CONF: string } {
    return { PATH, SLURM_CONF: this.#at('slurm.conf') };
  }

  #at(name: string): string {
    return join(this.path, name);
  }

  #configure(nodes: readonly string[], settings: Readonly<Record<string, string | number>>): void {
    for (const name of ['state', 'spool', 'log']) mkdirSync(this.#at(name));
    writeFileSync(this.#at('munge.key'), randomBytes(128), { mode: 0o600 });
    writeFileSync(this.#at('cgroup.conf'), 'CgroupAutomount=no\nConstrainCores=no\nConstrainRAMSpace=no\n');
    const [host = ''] = hostname().split('.');
    const user = userInfo().username;
    const all = {
      ClusterName: 'test',
      SlurmctldHost: `${host}(127.0.0.1)`,
      SlurmctldPort: PORT,
      SlurmUser: user,
      SlurmdUser: user,
      AuthType: 'auth/munge',
      AuthInfo: `socket=${this.#at('munge.sock')}`,
      CredType: 'cred/munge',
      CommunicationParameters: 'NoCtldInAddrAny,NoInAddrAny',
      StateSaveLocation: this.#at('state'),
      SlurmdSpoolDir: this.#at('spool/%n'),
      SlurmctldPidFile: this.#at('slurmctld.pid'),
      SlurmdPidFile: this.#at('%n.pid'),
      ProctrackType: 'proctrack/linuxproc',
      TaskPlugin: 'task/none',
      JobAcctGatherType: 'jobacct_gather/none',
      AccountingStorageType: 'accounting_storage/none',
      JobCompType: 'jobcomp/none',
      SwitchType: 'switch/none',
      MpiDefault: 'none',
      SelectType: 'select/cons_tres',
      SelectTypeParameters: 'CR_Core',
      SlurmdParameters: 'config_overrides',
      DebugFlags: 'NO_CONF_HASH',
      ReturnToService: 1,
      KillWait: 2,
      ...settings,
    };
    const rows = [
      ...Object.entries(all).map(([key, value]) => `${key}=${value}`),
      ...nodes.map(
        (name, i) =>
          `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${PORT + 1 + i} CPUs=4 RealMemory=1000`,
      ),
      `PartitionName=batch Nodes=${fold(nodes)} Default=YES State=UP`,
    ];
    writeFileSync(this.#at('slurm.conf'), `${rows.join('\n')}\n`);
  }

  #begin(name: string, argv: Daemon['argv']): void {
    const log = openSync(this.#at(`log/${name}`), 'a');
    const [program, ...args] = argv;
    const child = spawn(program, args, { env: this.env, stdio: ['ignore', log, log] });
    this.#daemons.set(name, { argv, child, exit: once(child, 'close') });
  }

  /** Runs one of Slurm's commands to its end. */
  run(command: string, ...args: string[]) {
    return ended(spawn(command, args, { env: this.env, cwd: this.path, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  #daemon(name: string): Daemon {
    const daemon = this.#daemons.get(name);
    if (daemon === undefined) throw new Error(`there is no daemon ${name}`);
    return daemon;
  }

  /** Sends a signal to `slurmctld`, or to the slurmd of a node. */
  signal(name: string, signal: NodeJS.Signals): void {
    this.#daemon(name).child.kill(signal);
  }

  /** Kills `slurmctld`, or the slurmd of a node, and waits until it has ended. */
  async kill(name: string): Promise<void> {
    this.signal(name, 'SIGKILL');
    await this.#daemon(name).exit;
  }

  /** Starts a killed daemon again, with its saved state. `more`: additional arguments for this run. */
  again(name: string, ...more: string[]): void {
    const [program, ...args] = this.#daemon(name).argv;
    this.#begin(name, [program, ...args.filter(word => word !== '-c'), ...more]);
  }

  /** The log of a daemon: `slurmctld`, or the slurmd of a node. */
  log(name: string): string {
    return readFileSync(this.#at(`log/${name}`), 'utf8');
  }

  #stillThere(): void {
    for (const [name, { child }] of this.#daemons)
      if (hasEnded(child)) throw new Error(`${name} has ended:\n${this.log(name)}`);
  }

  async #end(): Promise<void> {
    // First Slurm has to end the jobs, because their processes are not our children.
    for (const [name, { child }] of this.#daemons) {
      child.kill('SIGCONT');
      if (hasEnded(child)) this.again(name);
    }
    const isEmpty = async () => (await this.run('squeue', '-h')).stdout === '';
    await until('slurmctld answers', async () => {
      this.#stillThere();
      return (await this.run('scontrol', 'ping')).code === 0;
    });
    if (!(await isEmpty())) {
      await this.run('scancel', '--user', userInfo().username);
      await until('no job is left', isEmpty);
    }
    for (const { child, exit } of [...this.#daemons.values()].reverse()) {
      child.kill('SIGKILL');
      await exit;
    }
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
