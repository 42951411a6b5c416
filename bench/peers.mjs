// Agents and their masters: ours, the bare minimum, and peers as in Debian 12. Each peer is configured to cost as
// little as possible while it reports about the same data as ours: the sum of all CPUs if it can do that, data that
// seldom change every ten seconds if it can do that, one thread instead of a pool, no processes, services or cgroups,
// no compression, and a master that writes nothing, unless that is its only purpose.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { BoardReader } from '../dist/src/shm/reader.js';
import { gmondConf } from './gmond.mjs';
import { MAIN, until } from './processes.mjs';

const HEARD = ['ignore', 'pipe', 'ignore'];

// A kind has a `name`, and what it `needs`: a program and Debian's package. Its functions get a place: the namespace in
// which it runs (`space`), its own folder (`own`), and the compiled programs (`programs`).
//   hears, port            what its master is, and its port, if these matter
//   master(place, count)   starts the master for so many nodes: one process, or a list
//   node(place, name, i)   starts an agent
//   heard(place)           the number of nodes from which the master has heard within some seconds
//   pulls                  the master polls, so it starts after the nodes
//   partly                 a variant of another kind: only CPU and traffic matter
//   unit                   what a figure is for, if not for one report a second

/** Our receiver, with room for all that a benchmark sends. */
async function receiver({ space, own }) {
  const board = join(own, 'board');
  const argv = ['receive', '--board', board, '--listen', '127.0.0.1:8677', '--capacity', '20000'];
  const child = space.run(process.execPath, [MAIN, ...argv]);
  await until(() => existsSync(board), board);
  return child;
}

function heardByUs({ own }) {
  const reader = new BoardReader(join(own, 'board'));
  const live = [...reader.snapshot().nodes()].filter(({ state }) => state === 'live').length;
  reader.close();
  return live;
}

const ofOurs = (name, start, more = {}) => ({
  name,
  hears: 'beoboard receive',
  master: receiver,
  heard: heardByUs,
  node: (place, node) => {
    const [program, ...argv] = start(place.programs);
    return place.space.run(program, [...argv, '--to', '127.0.0.1', '--name', node]);
  },
  ...more,
});

export const bare = {
  name: 'bare C program that reads and sends',
  async master(place) {
    const child = place.space.run(place.programs.bareReceiver, [join(place.own, 'slots'), '100'], { stdio: HEARD });
    const [port] = await once(child.stdout, 'data');
    place.port = String(Number(port));
    return child;
  },
  node: ({ space, programs, port }) => space.run(programs.bareSender, [port]),
};

export const ours = ofOurs('beoboard-send', ({ sender }) => [sender]);
export const oursUnderSeccomp = ofOurs('beoboard-send --seccomp', ({ sender }) => [sender, '--seccomp'], {
  partly: true,
});
export const oursSeldom = ofOurs('beoboard-send --interval 10s', ({ sender }) => [sender, '--interval', '10s'], {
  partly: true,
  unit: 'a second',
});
export const oursInNode = ofOurs('beoboard send', ({ node }) => [node, MAIN, 'send']);

const ofGmond = (name, everySecond, more = {}) => {
  const run = ({ space, own }, file, options) => {
    const path = join(own, file);
    writeFileSync(path, gmondConf({ everySecond, ...options }));
    return space.run('gmond', ['-c', path]);
  };
  return {
    name,
    needs: ['gmond', 'ganglia-monitor'],
    hears: 'gmond as receiver',
    port: 8649,
    master: place => run(place, 'master.conf', { does: ['hears'] }),
    node: (place, node) => run(place, `${node}.conf`, { does: ['sends'], name: node }),
    async heard({ space }) {
      const script = `exec 3<>/dev/tcp/127.0.0.1/8649; grep -cE '<HOST [^>]* TN="[0-5]"' <&3`;
      const [count] = await once(space.run('bash', ['-c', script], { stdio: HEARD }).stdout, 'data');
      return Number(count);
    },
    ...more,
  };
};

/** Every metric is sent whenever it is due, even if it has not changed. */
export const gmond = ofGmond('gmond, every second', true);
/** Sends only changes, and everything else rarely. */
export const gmondAtThresholds = ofGmond('gmond, at its default thresholds', false, { partly: true, unit: 'a second' });

const collectdConf = (own, name, what) => `Hostname "${name}"
FQDNLookup false
BaseDir "${own}"
PIDFile "${own}/${name}.pid"
Interval 1
ReadThreads 1
WriteThreads 1
LoadPlugin network
${what}`;

export const collectd = {
  name: 'collectd',
  needs: ['collectd', 'collectd-core'],
  hears: 'collectd as receiver',
  port: 25826,
  // The chain keeps received values in the cache, from which unixsock answers.
  master({ space, own }) {
    const path = join(own, 'master.conf');
    const what = `LoadPlugin unixsock
<Plugin network>
  Listen "127.0.0.1" "25826"
</Plugin>
<Plugin unixsock>
  SocketFile "${own}/socket"
</Plugin>
PostCacheChain "end"
<Chain "end">
  Target "stop"
</Chain>
`;
    writeFileSync(path, collectdConf(own, 'master', what));
    return space.run('collectd', ['-f', '-C', path]);
  },
  // Only the protocols that are in our report; vmem without its verbose part.
  node({ space, own }, name) {
    const path = join(own, `${name}.conf`);
    const what = `${['load', 'memory', 'swap', 'vmem', 'interface', 'disk', 'contextswitch', 'fhcount', 'uptime']
      .map(plugin => `LoadPlugin ${plugin}\n`)
      .join('')}<LoadPlugin df>
  Interval 10
</LoadPlugin>
<Plugin df>
  MountPoint "/"
  MountPoint "/tmp"
  ReportInodes true
</Plugin>
LoadPlugin cpu
<Plugin cpu>
  ReportByCpu false
</Plugin>
LoadPlugin protocols
<Plugin protocols>
  Value "Tcp:RetransSegs"
</Plugin>
<Plugin network>
  Server "127.0.0.1" "25826"
</Plugin>
`;
    writeFileSync(path, collectdConf(own, name, what));
    return space.run('collectd', ['-f', '-C', path]);
  },
  async heard({ own }) {
    const socket = connect(join(own, 'socket'));
    socket.setEncoding('utf8').write('LISTVAL\n');
    const nodes = new Set();
    const since = Date.now() / 1000 - 5;
    let rest = '';
    let left = Number.POSITIVE_INFINITY;
    for await (const piece of socket) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const [first, value] = line.split(' ');
        if (left === Number.POSITIVE_INFINITY) left = Number(first);
        else {
          left--;
          if (Number(first) > since) nodes.add(value.split('/')[0]);
        }
      }
      if (left <= 0) break;
    }
    return nodes.size;
  },
};

const COLLECTORS = [
  ...['cpu', 'diskstats', 'edac', 'filefd', 'filesystem', 'hwmon', 'infiniband', 'loadavg', 'meminfo', 'netdev'],
  ...['netstat', 'pressure', 'rapl', 'stat', 'timex', 'uname', 'vmstat'],
];

/** Its master is a program that polls, reads and ignores the answer, which is far less work than in a Prometheus. */
export const nodeExporter = {
  name: 'node_exporter',
  needs: ['prometheus-node-exporter', 'prometheus-node-exporter'],
  pulls: true,
  hears: 'bare C program that asks and reads',
  master: ({ space, programs }, count) =>
    space.run(
      programs.scraper,
      Array.from({ length: count }, (_, i) => String(9100 + i)),
    ),
  node: ({ space }, _name, i) =>
    space.run('prometheus-node-exporter', [
      `--web.listen-address=127.0.0.1:${9100 + i}`,
      '--web.disable-exporter-metrics',
      '--log.level=error',
      '--collector.disable-defaults',
      '--collector.netstat.fields=^Tcp_RetransSegs$',
      '--no-collector.cpu.guest',
      ...COLLECTORS.map(collector => `--collector.${collector}`),
    ]),
};

const PCP = '/usr/lib/pcp';

/** Names of metrics with their prefix. */
const below = (prefix, names) => names.split(' ').map(name => `${prefix}.${name}`);

const METRICS = [
  ...below('kernel.all.cpu', 'user nice sys idle wait.total irq.hard irq.soft steal'),
  ...below('kernel.all', 'load intr pswitch sysfork running blocked nprocs pressure'),
  ...below('mem', 'physmem vmstat.pgmajfault vmstat.pswpin vmstat.pswpout vmstat.oom_kill'),
  ...below(
    'mem.util',
    'free available bufmem cached shmem slabReclaimable slabUnreclaimable anonpages dirty writeback',
  ),
  ...below('mem.util', 'committed_AS commitLimit hugepagesTotal hugepagesFree unevictable pageTables corrupthardware'),
  ...below('mem.util', 'swapTotal swapFree'),
  ...below('network', 'tcp.retranssegs'),
  ...below('network.interface.in', 'bytes packets errors drops'),
  ...below('network.interface.out', 'bytes packets errors drops'),
  ...below('disk.all', 'read write read_bytes write_bytes avactive aveq inflight'),
  ...below('vfs.files', 'count free'),
];
const METRICS_SELDOM = [
  ...['hinv.ncpu', 'network.interface.speed', 'kernel.uname.release'],
  ...below('filesys', 'capacity avail maxfiles freefiles'),
];

const pcpPort = i => 44321 + i;
const pcpEnv = at => ({ ...process.env, PCP_RUN_DIR: at, PCP_TMP_DIR: at, PCP_LOG_DIR: at });

/**
 * pmcd with only its agent for Linux, in the same process. Its master is one pmlogger for each node, whose purpose is
 * to write, here to memory.
 */
export const pcp = {
  name: 'PCP',
  needs: [`${PCP}/bin/pmcd`, 'pcp'],
  pulls: true,
  hears: 'a pmlogger for each node',
  master({ space, own }, count) {
    const config = join(own, 'pmlogger.conf');
    const every = (time, metrics) => `log mandatory on ${time} {\n  ${metrics.join('\n  ')}\n}\n`;
    writeFileSync(config, every('1 sec', METRICS) + every('10 sec', METRICS_SELDOM));
    return Array.from({ length: count }, (_, i) => {
      const at = join(own, `master${i}`);
      mkdirSync(at);
      const argv = ['-h', `127.0.0.1:${pcpPort(i)}`, '-c', config, '-l', join(at, 'log'), '-U', 'root'];
      return space.run(`${PCP}/bin/pmlogger`, [...argv, join(at, 'archive')], { env: pcpEnv(at) });
    });
  },
  async node({ space, own }, name, i) {
    const at = join(own, name);
    mkdirSync(at);
    const names = join(at, 'names');
    const parts = ['root_linux', 'root_pmcd'].map(part => `${PCP}/pmns/${part}`);
    execFileSync(`${PCP}/bin/pmnsmerge`, [...parts, names]);
    const config = join(at, 'pmcd.conf');
    const agents = Object.entries({ pmcd: 2, linux: 60 }).map(
      ([agent, id]) => `${agent} ${id} dso ${agent}_init /var/lib/pcp/pmdas/${agent}/pmda_${agent}.so\n`,
    );
    writeFileSync(config, `${agents.join('')}[access]\nallow "*" : all;\nallow "local:*" : all;\n`);
    const socket = join(at, 'pmcd.socket');
    const argv = ['-f', '-n', names, '-c', config, '-p', String(pcpPort(i)), '-i', '127.0.0.1', '-s', socket];
    const child = space.run(`${PCP}/bin/pmcd`, [...argv, '-l', join(at, 'log'), '-U', 'root'], { env: pcpEnv(at) });
    await until(() => existsSync(socket), socket);
    return child;
  },
};
