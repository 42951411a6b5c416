// What each command takes, as a whole process, on a board of 10,000 nodes: on the clock, beyond what a bare `node -e 0` takes
// just before it, since at a lap's end the machine may be half as fast as at its beginning. What `beoboard-gate` takes, beside
// `check --nodes` of the same nodes, each as a whole process. And what `status --watch` on a
// terminal and `events` take of a core. How long the daemons take to start is in `start`.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuOf, folder, MAIN, sleep } from './processes.mjs';
import { fill, openReceiver } from './receiving.mjs';

const NODES = 10_000;
/** Of the nodes, so many are silent: the others report so seldom that they stay live. */
const SILENT = 100;

/** What a process takes from before it is started until it has ended, and what it says has been read, in ms. */
async function time(argv, expected = 0, program = process.execPath) {
  const began = process.hrtime.bigint();
  const child = spawn(program, argv, { stdio: ['ignore', 'pipe', expected === 0 ? 'inherit' : 'ignore'] });
  child.stdout.resume();
  const [code] = await once(child, 'close');
  if (code !== expected) throw new Error(`${argv.join(' ')} ended with ${code}`);
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

/** Per cent of a core that what goes on until it is ended takes, over spans of so many seconds. */
async function watching(argv, seconds, spans) {
  const child = spawn('python3', ['-c', TERMINAL, process.execPath, MAIN, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const pid = Number(line);
  await sleep(20); // until it is compiled: it stands on a screen for days
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
  const receiver = await openReceiver('--uncertain-after', '1s', '--silent-after', '2s');
  const { board } = receiver;
  await fill(receiver.port, NODES, i => (i % (NODES / SILENT) === 7 ? 1000 : 600_000));
  while (receiver.states().silent < SILENT) await sleep(0.1);

  const own = folder();
  const make = ['-s', '-j2', '-C', fileURLToPath(new URL('../c/gate', import.meta.url)), `OUT=${own}`];
  execFileSync('make', make, { stdio: 'pipe' });
  const at = ['--board', board];
  const job = ['--nodes', 'node[00101-00107,00109-00165]', ...at];
  /** What is measured: its command line, its bound in ms, and how it ends. */
  const commands = {
    'status of 10,000 nodes': { argv: ['status', ...at], bound: 100 },
    'status --by': { argv: ['status', '--by', '/^node../', ...at] },
    'status --json': { argv: ['status', '--json', ...at], seldom: true },
    'nodes --state silent': { argv: ['nodes', '--state', 'silent', ...at], bound: 45 },
    'nodes --state live': { argv: ['nodes', '--state', 'live', ...at] },
    "nodes --where 'load > 60'": { argv: ['nodes', '--where', 'load > 60', ...at] },
    check: { argv: ['check', '--critical', '50%', '--warning', '50%', ...at] },
    'check --nodes, of 64': { argv: ['check', ...job] },
    'forget, of a node that is not there': { argv: ['forget', 'nobody', ...at], ends: 1 },
    'xml, all metrics': { argv: ['xml', ...at], seldom: true },
    'dump, of the file': { argv: ['dump', ...at], seldom: true },
    'describe, all fields': { argv: ['describe'] },
    'nodeset --expand, to 10,000 names': { argv: ['nodeset', '--expand', 'node[00001-10000]'] },
    'keygen, to stdout': { argv: ['keygen', '-'] },
    'status --help': { argv: ['status', '--help'] },
    '--help': { argv: ['--help'] },
    '--version': { argv: ['--version'] },
  };
  const laps = quick ? 5 : 21;
  say(`${NODES} nodes, ${SILENT} of them silent, ${laps} laps`);
  /** What each took, beside what `node -e 0` took. */
  const pairs = new Map(Object.keys(commands).map(command => [command, []]));
  /** Of the gate and of `check`, both as whole processes. */
  const gates = { gate: [], check: [] };
  for (let lap = 0; lap < laps; lap++) {
    gates.gate.push(await time(job, 0, join(own, 'beoboard-gate')));
    gates.check.push(await time([MAIN, 'check', ...job]));
    for (const [command, { argv, ends, seldom }] of Object.entries(commands)) {
      if (seldom && lap % 3 !== 0) continue;
      const bare = await time(['-e', '0']);
      pairs.get(command).push({ bare, beyond: (await time([MAIN, ...argv], ends)) - bare });
    }
  }
  rmSync(own, { recursive: true });
  const lasting = {};
  for (const command of ['status --watch', 'status --watch --sort in', 'status --watch --by /^node../', 'events'])
    lasting[command] = await watching([...command.split(' '), ...at], quick ? 5 : 20, quick ? 1 : 3);
  await receiver.close();
  return [
    { figure: 'node -e 0, whole process', unit: 'ms', samples: [...pairs.values()].flat().map(({ bare }) => bare) },
    ...Object.entries(commands).map(([command, { bound }]) => ({
      figure: `${command}, beyond it`,
      unit: 'ms',
      samples: pairs.get(command).map(({ beyond }) => beyond),
      bound,
    })),
    { figure: 'beoboard-gate, of 64, whole process', unit: 'ms', samples: gates.gate, bound: 10 },
    { figure: 'check --nodes, of the same, whole process', unit: 'ms', samples: gates.check },
    ...Object.entries(lasting).map(([figure, samples]) => ({
      figure,
      unit: '% of a core',
      samples,
      ...(figure === 'status --watch' || figure === 'events' ? { bound: 3 } : {}),
    })),
  ];
}
