// What the verbs that read the board once cost, as whole processes: status, nodes and check of 10,000 nodes, beside a bare
// `node -e 0` in the same lap. Bounds are on what they take beyond it. And what `status --watch` on a terminal takes of a core.

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REPORT_BYTES } from '../dist/src/layout/codec.js';
import { Cluster } from '../dist/src/load/node.js';
import { BulkSender } from '../dist/src/native/index.js';
import { BoardReader } from '../dist/src/shm/reader.js';
import { cpuOf, end, folder, sleep } from './processes.mjs';

const MAIN = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));
const NODES = 10_000;
/** Of the nodes, so many are silent: the others report so seldom that they stay live. */
const SILENT = 100;

/** ms that a process takes, from before it is started until it has ended. */
async function time(argv) {
  const began = process.hrtime.bigint();
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`);
  return Number(process.hrtime.bigint() - began) / 1e6;
}

/** Runs a command on a terminal of 50 lines and 200 columns, and says its process id first. */
const TERMINAL = `
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 200, 0, 0))
print(pid, flush=True)
try:
    while os.read(terminal, 65536): pass
except OSError: pass
os.waitpid(pid, 0)
`;

/** Per cent of a core that `status --watch` takes, over spans of so many seconds. */
async function watching(argv, seconds, spans) {
  const child = spawn('python3', ['-c', TERMINAL, process.execPath, MAIN, 'status', '--watch', ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const pid = Number(line);
  await sleep(5); // until it is compiled
  const shares = [];
  for (let i = 0; i < spans; i++) {
    const before = cpuOf(pid);
    await sleep(seconds);
    shares.push((cpuOf(pid) - before) / seconds / 10_000);
  }
  process.kill(pid, 'SIGTERM');
  await once(child, 'close');
  return shares;
}

export async function bench({ quick, say }) {
  const own = folder();
  const board = join(own, 'board');
  const limits = ['--uncertain-after', '1s', '--silent-after', '2s'];
  const child = fork(MAIN, ['receive', '--board', board, '--listen', '127.0.0.1:0', ...limits], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const [{ listening }] = await once(child, 'message');
  const sender = new BulkSender('127.0.0.1', Number(listening[0].split(':').at(-1)));
  const bootNs = 1_000_000_000_000n;
  const name = i => `node${String(i + 1).padStart(5, '0')}`;
  const intervalMs = i => (i % (NODES / SILENT) === 7 ? 1000 : 600_000);
  const cluster = new Cluster(
    NODES,
    i => ({ name: name(i), cluster: undefined, intervalMs: intervalMs(i), agentVersion: 1, bootNs }),
    1,
  );
  const reader = new BoardReader(board);
  const count = state =>
    reader
      .snapshot()
      .states()
      .filter(other => other === state).length;
  for (const second of [1n, 2n]) {
    for (let i = 0; i < NODES; i++) cluster.move(i, second * 1_000_000_000n, bootNs + second * 1_000_000_000n);
    for (let sent = 0; sent < NODES; ) sent += sender.send(cluster.reports, REPORT_BYTES, sent, NODES - sent);
    await sleep(0.5);
  }
  while (count('silent') < SILENT) await sleep(0.1);
  sender.close();
  reader.close();

  const verbs = {
    status: ['status'],
    'nodes --state silent': ['nodes', '--state', 'silent'],
    'nodes --state live': ['nodes', '--state', 'live'],
    check: ['check', '--critical', '50%', '--warning', '50%'],
  };
  const laps = quick ? 5 : 21;
  say(`${NODES} nodes, ${SILENT} of them silent, ${laps} laps`);
  const samples = [];
  for (let lap = 0; lap < laps; lap++) {
    const bare = await time(['-e', '0']);
    const sample = { bare };
    for (const [verb, argv] of Object.entries(verbs))
      sample[verb] = (await time([MAIN, ...argv, '--board', board])) - bare;
    samples.push(sample);
  }
  const watch = await watching(['--board', board], quick ? 5 : 20, quick ? 1 : 3);
  const sorted = await watching(['--board', board, '--sort', 'in'], quick ? 5 : 20, quick ? 1 : 3);
  await end(child);
  rmSync(own, { recursive: true });
  const row = (figure, of, bound) => ({ figure, unit: 'ms', samples: samples.map(of), bound });
  return [
    row('node -e 0, whole process', ({ bare }) => bare),
    row('status, beyond it', sample => sample.status, 90),
    row('nodes --state silent, beyond it', sample => sample['nodes --state silent'], 30),
    row('nodes --state live, beyond it', sample => sample['nodes --state live']),
    row('check, beyond it', sample => sample.check),
    { figure: 'status --watch', unit: '% of a core', samples: watch, bound: 3 },
    { figure: 'status --watch --sort in', unit: '% of a core', samples: sorted },
  ];
}
