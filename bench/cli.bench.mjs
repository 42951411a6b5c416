// The cost of commands on a board of 10,000 nodes. Each command is a whole process; its wall time is compared with a
// bare `node -e 0` just before it, because at the end of a lap the machine may be half as fast as at its beginning.
// Then `beoboard-gate` and the short verbs in C, beside `true`, and `beoboard nodes` and `beoboard check` of the same
// nodes; what a page of fresh memory costs, because that is most of the time of short programs where it is dear; when
// the first byte of the commands that write much comes, and how much more memory they need than for 100 nodes; and the
// share of a core for `status --watch` on a terminal and for `events`. With BEOBOARD_OTHER the CPU of each command beside
// that of another build. The start of the daemons is in `start`.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { compileOne, cpuOf, folder, MAIN, make, notes, OTHER, ownMiB, sleep, spent } from './processes.mjs';
import { fill, openReceiver } from './receiving.mjs';

const NODES = 10_000;
/** So many of the nodes are silent; the others have so long an interval that they stay live. */
const SILENT = 100;
/** The nodes of a small board. */
const FEW = 100;

/** The time of a process from its start until it has ended and its output has been read, and until its first byte, ms. */
async function times(argv, expected = 0) {
  const began = process.hrtime.bigint();
  const since = () => Number(process.hrtime.bigint() - began) / 1e6;
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', expected === 0 ? 'inherit' : 'ignore'] });
  let first;
  child.stdout.once('data', () => {
    first = since();
  });
  child.stdout.resume();
  const [code] = await once(child, 'close');
  if (code !== expected) throw new Error(`${argv.join(' ')} ended with ${code}`);
  return { all: since(), first };
}

const time = async (...how) => (await times(...how)).all;

/** The time of a whole process without what it costs Node.js to start one, by timed.c, ms. */
const bareTime = (timed, [argv, program = process.execPath]) =>
  Number(execFileSync(timed, [program, ...argv], { encoding: 'utf8' })) / 1e6;

/** What it costs to touch a page of memory for the first time, ns. */
function freshPage() {
  const pages = 16_384;
  const fresh = new Uint8Array(pages * 4096);
  const began = process.hrtime.bigint();
  for (let page = 0; page < pages; page++) fresh[page * 4096] = 1;
  return Number(process.hrtime.bigint() - began) / pages;
}

/** The most anonymous memory that a command has while it writes, MiB: looked at whenever a piece of its output has come. */
async function memory(argv) {
  const child = spawn(process.execPath, [MAIN, ...argv], { stdio: ['ignore', 'pipe', 'inherit'] });
  let most = 0;
  child.stdout.on('data', () => {
    most = Math.max(most, ownMiB(child.pid));
  });
  await once(child, 'close');
  return most;
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

/** The share of a core, in per cent, that a running program takes, over spans of so many seconds. */
async function watching(argv, seconds, spans) {
  const child = spawn('python3', ['-c', TERMINAL, process.execPath, MAIN, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const pid = Number(line);
  await sleep(20); // until it is compiled: it runs for days
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
  for (const room of ['gate', 'verbs']) make(room, join(own, room));
  const timed = compileOne(own, 'timed');
  const at = ['--board', board];
  const job = ['--nodes', 'node[00101-00107,00109-00165]', ...at];
  /** What is measured: its command line, its bound in ms, and how it ends. */
  const commands = {
    'status of 10,000 nodes': { argv: ['status', ...at], bound: 100 },
    'status --by': { argv: ['status', '--by', '/^node../', ...at] },
    'status --json': { argv: ['status', '--json', ...at], seldom: true, bound: 450, isBulk: true },
    'status --csv': { argv: ['status', '--csv', ...at], seldom: true, bound: 200, isBulk: true },
    'nodes --state silent': { argv: ['nodes', '--state', 'silent', ...at], bound: 45 },
    'nodes --state live': { argv: ['nodes', '--state', 'live', ...at] },
    "nodes --where 'load > 60'": { argv: ['nodes', '--where', 'load > 60', ...at] },
    check: { argv: ['check', '--critical', '50%', '--warning', '50%', ...at] },
    'check --nodes, 64 nodes': { argv: ['check', ...job] },
    'forget of an unknown node': { argv: ['forget', 'nobody', ...at], ends: 1 },
    'xml, all metrics': { argv: ['xml', ...at], seldom: true, isBulk: true },
    'dump of the file': { argv: ['dump', ...at], seldom: true, bound: 1200, isBulk: true },
    'dump --json': { argv: ['dump', '--json', ...at], seldom: true, bound: 700, isBulk: true },
    'describe, all fields': { argv: ['describe'] },
    'nodeset --expand, to 10,000 names': { argv: ['nodeset', '--expand', 'node[00001-10000]'] },
    'keygen, to stdout': { argv: ['keygen', '-'] },
    'status --help': { argv: ['status', '--help'] },
    '--help': { argv: ['--help'] },
    '--version': { argv: ['--version'] },
  };
  const laps = quick ? 4 : 21;
  say(`${NODES} nodes, ${SILENT} of them silent, ${laps} laps`);
  /** For each command its times, each with that of `node -e 0`. */
  const pairs = new Map(Object.keys(commands).map(command => [command, []]));
  const half = ['--critical', '50%', '--warning', '50%', ...at];
  /** Whole processes, in C and in TypeScript: the command line of each. */
  const inC = (name, ...argv) => [argv, join(own, 'verbs', `beoboard-${name}`)];
  const inNode = (...argv) => [[MAIN, ...argv]];
  const whole = {
    true: { run: [[], '/bin/true'] },
    'beoboard-gate, 64 nodes': { run: [job, join(own, 'gate', 'beoboard-gate')], bound: 10 },
    'beoboard-check, 64 nodes': { run: inC('check', ...job), bound: 5 },
    'check --nodes, the same 64 nodes': { run: inNode('check', ...job) },
    'beoboard-nodes --state silent': { run: inC('nodes', '--state', 'silent', ...at), bound: 5 },
    'nodes --state silent': { run: inNode('nodes', '--state', 'silent', ...at) },
    'beoboard-nodes --state live': { run: inC('nodes', '--state', 'live', ...at), bound: 10 },
    'nodes --state live': { run: inNode('nodes', '--state', 'live', ...at) },
    'beoboard-check --health off': { run: inC('check', '--health', 'off', ...half), bound: 5 },
    'beoboard-check': { run: inC('check', ...half), bound: 10 },
    check: { run: inNode('check', ...half) },
  };
  const { samples: others, note } = notes();
  const wholes = new Map(Object.keys(whole).map(name => [name, []]));
  for (let lap = 0; lap < laps; lap++) {
    for (const [name, { run }] of Object.entries(whole)) wholes.get(name).push(bareTime(timed, run));
    for (const [command, { argv, ends, seldom }] of Object.entries(commands)) {
      if (seldom && lap % 3 !== 0) continue;
      const bare = await time(['-e', '0']);
      const { all, first } = await times([MAIN, ...argv], ends);
      pairs.get(command).push({ bare, beyond: all - bare, first: first - bare });
      if (OTHER === undefined || ends !== undefined) continue;
      const of = program => spent(process.execPath, program, ...argv);
      note(command, (await of(MAIN)) / (await of(OTHER)));
    }
  }
  rmSync(own, { recursive: true });
  const pages = Array.from({ length: laps }, freshPage);
  const bulk = Object.entries(commands).filter(([, { isBulk }]) => isBulk);
  const small = await openReceiver();
  await fill(small.port, FEW);
  const copied = ((NODES - FEW) * receiver.header().record_stride) / 2 ** 20;
  // All except `dump` take a copy of the records first, so that it is of one moment.
  const isCopying = command => !command.startsWith('dump');
  const growths = new Map();
  for (const [command, { argv }] of bulk) {
    const samples = [];
    for (let lap = 0; lap < (quick ? 1 : 3); lap++) {
      const of = board => memory([...argv.slice(0, -1), board]);
      samples.push((await of(board)) - (await of(small.board)) - (isCopying(command) ? copied : 0));
    }
    growths.set(command, samples);
  }
  await small.close();
  const lasting = {};
  for (const command of ['status --watch', 'status --watch --sort in', 'status --watch --by /^node../', 'events'])
    lasting[command] = await watching([...command.split(' '), ...at], quick ? 4 : 20, quick ? 1 : 3);
  await receiver.close();
  return [
    { figure: 'a page of fresh memory', unit: 'ns', samples: pages },
    { figure: 'node -e 0, whole process', unit: 'ms', samples: [...pairs.values()].flat().map(({ bare }) => bare) },
    ...Object.entries(commands).map(([command, { bound }]) => ({
      figure: `${command}, above node -e 0`,
      unit: 'ms',
      samples: pairs.get(command).map(({ beyond }) => beyond),
      bound,
    })),
    ...Object.entries(others).map(([command, samples]) => ({
      figure: `${command}: CPU / that of BEOBOARD_OTHER`,
      unit: 'ratio',
      samples,
    })),
    ...bulk.map(([command]) => ({
      figure: `${command}: first byte, above node -e 0`,
      unit: 'ms',
      samples: pairs.get(command).map(({ first }) => first),
      bound: 60,
    })),
    ...bulk.map(([command]) => ({
      figure: `${command}: memory${isCopying(command) ? ' without its copy of the records' : ''}, above that for ${FEW} nodes`,
      unit: 'MiB',
      samples: growths.get(command),
      bound: 16,
    })),
    ...Object.entries(whole).map(([name, { bound }]) => ({
      figure: `${name}, whole process`,
      unit: 'ms',
      samples: wholes.get(name),
      ...(bound === undefined ? {} : { bound }),
    })),
    ...Object.entries(lasting).map(([figure, samples]) => ({
      figure,
      unit: '% of a core',
      samples,
      ...(figure === 'status --watch' || figure === 'events' ? { bound: 3 } : {}),
    })),
  ];
}
