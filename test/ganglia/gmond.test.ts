// Every metric of a default gmond, compared with a real gmond 3.7.2 beside our sender on one machine. Both see the
// same: a network with traffic at a steady rate, this machine's memory and load held constant, and CPU times that grow
// evenly, so that the moment of reading does not matter. Runs in its own network.
//
// @rest

import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { clustersOf, gmondFacts, type Host } from '../kit/ganglia.js';
import { ask, missing, ORPHANED } from '../kit/gmetad.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { boardPath, folder } from '../kit/places.js';
import { run, startReceiver } from '../kit/program.js';
import { startIn } from '../kit/sampler.js';
import { until } from '../kit/until.js';

const GMOND = '/usr/sbin/gmond';
const skip = missing({ [GMOND]: 'ganglia-monitor' });

/** The two ends of a private cable: packets that leave one arrive at the other. */
const SETUP = [
  'ip link set lo up',
  'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6',
  'ip link add v0 type veth peer name v1 address 02:00:00:00:00:01',
  'ip link set v0 up && ip link set v1 up',
  'ip addr add 10.86.51.1/24 dev v0',
  'ip neigh add 10.86.51.2 lladdr 02:00:00:00:00:01 dev v0',
].join(' && ');

/**
 * The ticks of each kind that one step of the simulated /proc/stat adds for each CPU, and the percentages that result.
 */
const TICKS = { user: 400, nice: 20, system: 70, idle: 280, iowait: 150, irq: 10, softirq: 20, steal: 50 };
const SHARES: Record<string, number> = {
  cpu_user: 40,
  cpu_nice: 2,
  cpu_system: 10,
  cpu_idle: 28,
  cpu_wio: 15,
  cpu_steal: 5,
};

const PACKETS_PER_SECOND = 200;
/** Bytes of UDP payload; on the cable 42 bytes of Ethernet, IP and UDP headers come in addition. */
const PAYLOAD = 958;
const TRAFFIC: Record<string, number> = {
  bytes_in: 1000 * PACKETS_PER_SECOND,
  bytes_out: 1000 * PACKETS_PER_SECOND,
  pkts_in: PACKETS_PER_SECOND,
  pkts_out: PACKETS_PER_SECOND,
};

/**
 * This machine's own files under /proc, with constant memory and load, and CPU times that grow. Stopped with the test.
 */
function heldStill(t: Test): string[] {
  const dir = folder(t);
  const read = (name: string) => readFileSync(join('/proc', name), 'utf8');
  // A reader is running itself, so at least one process runs: gmond subtracts itself, and would get 2^32 from zero.
  writeFileSync(join(dir, 'loadavg'), read('loadavg').replace(/ \d+\/(\d+) /, ' 4/$1 '));
  writeFileSync(join(dir, 'meminfo'), read('meminfo'));
  const stat = read('stat').replace(/^procs_running \d+$/m, 'procs_running 4');
  const cpus = stat.match(/^cpu\d+ /gm)?.length ?? 1;
  const file = openSync(join(dir, 'stat'), 'w');
  let passed = 0;
  const write = () => {
    passed++;
    // All lines have a constant length, so that one write replaces the whole file.
    const line = (name: string, share: number) =>
      [name, ...Object.values(TICKS).map(ticks => 1_000_000_000 + ticks * passed * share), '0', '0'].join(' ');
    const text = stat.replace(/^(cpu\d*) .*$/gm, (_, name: string) => line(name, name === 'cpu' ? cpus : 1));
    writeSync(file, text, 0);
  };
  write();
  const timer = setInterval(write, 50);
  t.teardown(() => {
    clearInterval(timer);
    closeSync(file);
  });
  const mounts = ['loadavg', 'meminfo', 'stat'].map(name => `mount --bind ${join(dir, name)} /proc/${name}`);
  // And a /sys with the interfaces of this network.
  return ['unshare', '-m', 'sh', '-ec', `${mounts.join('\n')}\nmount -t sysfs none /sys\nexec "$@"`, 'sh'];
}

/** Sends at a constant rate by the clock: late packets are sent at once. */
function traffic(t: Test): void {
  const socket = createSocket('udp4');
  const payload = Buffer.alloc(PAYLOAD);
  const began = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - began) * PACKETS_PER_SECOND) / 1000);
    for (; sent < due; sent++) socket.send(payload, 9999, '10.86.51.2');
  }, 5);
  t.teardown(() => {
    clearInterval(timer);
    socket.close();
  });
}

/** A gmond with its default configuration that receives its own metrics, and reads and sends every second. */
function startGmond(t: Test, prefix: readonly string[]): void {
  const standard = spawnSync(GMOND, ['-t'], { encoding: 'utf8' }).stdout;
  // Debian's configuration lacks some metrics, but has the path of the modules.
  const modules = /path = "(.*)\/modcpu\.so"/.exec(readFileSync('/etc/ganglia/gmond.conf', 'utf8'))?.[1];
  const groups = standard
    .slice(standard.indexOf('modules {'))
    .replace(/path = "(?=mod)/g, `path = "${modules}/`)
    .replace(/^ *(collect_every|time_threshold) *= *\d+/gm, '$1 = 1')
    .replace(/^ *value_threshold *=.*$/gm, '')
    .replace(/^include .*$/m, '');
  const channels = `globals {
  daemonize = no
  setuid = no
  host_dmax = 0
  send_metadata_interval = 1
}
cluster { name = "theirs" }
udp_send_channel { host = 127.0.0.1 port = 8649 }
udp_recv_channel { bind = 127.0.0.1 port = 8649 }
tcp_accept_channel { bind = 127.0.0.1 port = 8649 }
`;
  const conf = join(folder(t), 'gmond.conf');
  writeFileSync(conf, channels + groups);
  const child = spawn('setpriv', [...ORPHANED, ...prefix, GMOND, '-c', conf], { stdio: 'ignore' });
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
}

/** The allowed difference between the two, for values that cannot be identical. */
function tolerance(name: string, theirs: number): number {
  // The board has whole MiB.
  if (/^(mem|swap)_/.test(name)) return 1024;
  if (/^(bytes|pkts)_/.test(name)) return 0.03 * theirs;
  // Other programs write to this disk.
  if (/^disk_/.test(name)) return 0.02;
  // Each rounds for itself, from the same numbers or from two readings of the clock.
  if (/^cpu_(?!num|speed)|^part_max_used$/.test(name)) return 0.11;
  return name === 'boottime' ? 1 : 0;
}

/** The two values of a metric, if they differ. */
function difference(name: string, ours: Host | undefined, theirs: Host | undefined): string | undefined {
  const [a, b] = [ours?.metrics[name]?.VAL, theirs?.metrics[name]?.VAL];
  const told = `${name}: we ${a}, gmond ${b}`;
  if (a === undefined || b === undefined) return told;
  if (a === b) return undefined;
  const truth = SHARES[name] ?? TRAFFIC[name] ?? Number(b);
  const most = tolerance(name, truth);
  const near = (x: string) => Math.abs(Number(x) - truth) <= most;
  return Math.abs(Number(a) - Number(b)) <= most && near(a) && near(b) ? undefined : told;
}

async function inside(): Promise<void> {
  const prefix = heldStill(t);
  traffic(t);
  startGmond(t, prefix);
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--cluster', 'ours']);
  startIn(t, { prefix }, ['send', '--to', `127.0.0.1:${port}`, '--cluster', 'ours', '--name', 'here']);
  const look = async () => {
    const theirs = clustersOf(await ask(8649).catch(() => '')).theirs?.hosts ?? {};
    const ours = clustersOf((await run(['xml', '--board', board])).stdout).ours?.hosts ?? {};
    return { ours: ours.here, theirs: Object.values(theirs)[0] };
  };
  const facts = gmondFacts();

  const first = await until('both tell of every metric', async () => {
    const { ours, theirs } = await look();
    const all = facts.every(({ name }) => ours?.metrics[name] !== undefined && theirs?.metrics[name] !== undefined);
    return all && { ours: ours!, theirs: theirs! };
  });
  t.test('the same metrics, under the same names and with the same facts', async t => {
    t.same(
      Object.keys(first.theirs.metrics).sort(),
      facts.map(({ name }) => name).sort(),
      'the list of test/vectors is that of this gmond',
    );
    for (const { name } of facts) {
      const of = ({ metrics }: Host) => {
        const { VAL, TN, ...same } = metrics[name]!;
        return { ...same, digits: same.TYPE === 'string' ? 0 : (VAL?.split('.')[1]?.length ?? 0) };
      };
      t.same(of(first.ours), of(first.theirs), name);
    }
  });

  t.test('the same values', async t => {
    const left = new Set(facts.map(({ name }) => name));
    let last: string[] = [];
    // Each metric has to agree once. Rates cover different times, and a delay on a busy machine can affect only one of
    // the two; but a wrong metric never agrees.
    await until('all have agreed', async () => {
      const { ours, theirs } = await look();
      last = [];
      for (const name of left) {
        const found = difference(name, ours, theirs);
        if (found === undefined) left.delete(name);
        else last.push(found);
      }
      return left.size === 0;
    }).catch(() => undefined);
    for (const { name } of facts) t.ok(!left.has(name), last.find(line => line.startsWith(`${name}:`)) ?? name);
  });
}

t.setTimeout(600_000);

if (skip) t.pass('skipped', { skip });
else if (INSIDE) await inside();
else inOwnNetwork(t, SETUP, import.meta.url);
