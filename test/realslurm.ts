// A real Slurm for a test: slurmctld, one slurmd for each of a few nodes, and a munged of its own, on the loopback, in the foreground and in a
// folder of their own. It needs a network of the test's own (`inOwnNetwork` in lib.ts, with NETWORK), in which it has every port. No systemd,
// no cgroups, no database. No test of its own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { folder, until } from './lib.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** What Slurm wants of a network: it looks no address up, not even the loopback's, where there is no other one. */
export const NETWORK = [
  'ip link set lo up',
  'ip link add eth0 type veth peer name far',
  'ip address add 10.86.0.1/24 dev eth0',
  'ip link set eth0 up',
].join(' && ');

const PORT = 17_000;
/** Daemons lie there, and not always in the PATH of users. */
const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;

/** Why there is no Slurm here; in CI there has to be. */
export function noSlurm(): string | false {
  const missing = ['slurmctld', 'slurmd', 'srun', 'munged'].filter(
    program => spawnSync(program, ['-V'], { env: { ...process.env, PATH } }).error !== undefined,
  );
  return (
    missing.length > 0 &&
    !process.env.CI &&
    `${missing.join(', ')} missing: apt-get install slurmctld slurmd slurm-client munge`
  );
}

export class Slurm {
  readonly #dir: string;
  readonly #daemons: { child: ChildProcess; exit: Promise<unknown> }[] = [];
  readonly #env: NodeJS.ProcessEnv;

  private constructor(t: Teardown) {
    // Not in shared memory: munged and slurmd look at who may write the folders above.
    this.#dir = folder(t, tmpdir());
    chmodSync(this.#dir, 0o755);
    this.#env = { PATH, SLURM_CONF: join(this.#dir, 'slurm.conf') };
  }

  /** Waits until all nodes are idle. `lines`: more of slurm.conf. */
  static async start(t: Teardown, nodes: readonly string[], lines: readonly string[] = []): Promise<Slurm> {
    const slurm = new Slurm(t);
    t.teardown(() => slurm.#end());
    slurm.#configure(nodes, lines);
    slurm.#begin('munged', [
      '--foreground',
      `--key-file=${slurm.#at('munge.key')}`,
      `--socket=${slurm.#at('munge.sock')}`,
      `--pid-file=${slurm.#at('munged.pid')}`,
      `--seed-file=${slurm.#at('munged.seed')}`,
    ]);
    await until('munged answers', async () => {
      const child = spawn('munge', ['-n', '-S', slurm.#at('munge.sock')], { stdio: 'ignore' });
      return (await once(child, 'close'))[0] === 0;
    });
    slurm.#begin('slurmctld', ['-D', '-c', '-i']);
    for (const node of nodes) slurm.#begin('slurmd', ['-D', '-N', node]);
    const idle = async () => {
      const states = (await slurm.run('sinfo', '-h', '-N', '-o', '%T')).stdout.trim().split('\n');
      return states.length === nodes.length && states.every(state => state === 'idle');
    };
    await until('all nodes are idle', idle).catch((error: Error) => {
      throw new Error(`${error.message}; Slurm says:\n${slurm.log()}`);
    });
    return slurm;
  }

  #at(name: string): string {
    return join(this.#dir, name);
  }

  #configure(nodes: readonly string[], lines: readonly string[]): void {
    for (const name of ['state', 'spool', 'log']) mkdirSync(this.#at(name));
    writeFileSync(this.#at('munge.key'), randomBytes(128), { mode: 0o600 });
    writeFileSync(this.#at('cgroup.conf'), 'CgroupAutomount=no\nConstrainCores=no\nConstrainRAMSpace=no\n');
    const host = hostname().split('.')[0];
    const user = userInfo().username;
    const node = (name: string, i: number) =>
      `NodeName=${name} NodeHostname=${host} NodeAddr=127.0.0.1 Port=${PORT + 1 + i} CPUs=4 RealMemory=100 State=UNKNOWN`;
    const text = `
ClusterName=test
SlurmctldHost=${host}(127.0.0.1)
SlurmctldPort=${PORT}
SlurmUser=${user}
SlurmdUser=${user}
AuthType=auth/munge
AuthInfo=socket=${this.#at('munge.sock')}
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=${this.#at('state')}
SlurmdSpoolDir=${this.#at('spool')}/%n
SlurmctldPidFile=${this.#at('slurmctld.pid')}
SlurmdPidFile=${this.#at('slurmd')}-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
DebugFlags=NO_CONF_HASH
SlurmdTimeout=0
${nodes.map(node).join('\n')}
PartitionName=batch Nodes=${nodes.join(',')} Default=YES State=UP
${lines.join('\n')}
`;
    writeFileSync(this.#at('slurm.conf'), text);
  }

  #begin(program: string, args: string[]): void {
    const log = openSync(this.#at(`log/${program}-${this.#daemons.length}`), 'a');
    const child = spawn(program, args, { env: this.#env, stdio: ['ignore', log, log] });
    this.#daemons.push({ child, exit: once(child, 'close') });
  }

  /** Runs one of Slurm's commands to its end. */
  async run(command: string, ...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(command, args, { env: this.#env, cwd: this.#dir, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (data: Buffer) => {
        said[name] += data.toString();
      });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...said };
  }

  /** What the daemons have logged. */
  log(): string {
    return this.#daemons
      .map(({ child }, i) => readFileSync(this.#at(`log/${child.spawnfile.split('/').at(-1)}-${i}`), 'utf8'))
      .join('\n');
  }

  async #end(): Promise<void> {
    // Jobs first: what runs of them is no child of ours.
    await this.run('scancel', '--state=PENDING,RUNNING,SUSPENDED', '--user', userInfo().username);
    await until('no job is left', async () => {
      const { code, stdout } = await this.run('squeue', '-h');
      return code !== 0 || stdout === '';
    });
    for (const { child, exit } of this.#daemons.reverse()) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exit;
    }
  }
}
