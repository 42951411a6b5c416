// Instructions by callgrind, of programs as they are shipped: what each thing costs that is done often. Times are noisy,
// and small steps add up unseen; counts are the same on every machine with the same compiler and C libraries, and a test
// holds them. What the kernel does for a program is not in them.
//
// What machines differ in is pinned: valgrind shows every program the same processor, or one without AVX2, and glibc is
// told to use nothing that only some have; a network of its own has one interface and one address; the seeds of boards
// are fixed; /proc and /sys are those of test/fixtures. There is no OpenSSL in `counted`, so signatures are hashed by
// our own code, the same way as by programs in C.

import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArchive, textOf, unpack } from '../dist/test/kit/tree.js';
import { at, compileOne, end, isInstalled, make } from './processes.mjs';

/** The address lookups of the receive thread take longer with more addresses. */
export const network = 'ip link set lo up && { ip -6 addr flush dev lo || true; }';

const NO_VARIANTS = ['AVX2', 'AVX', 'AVX_Fast_Unaligned_Load', 'ERMS', 'FSRM', 'BMI1', 'BMI2', 'LZCNT', 'MOVBE']
  .concat(['POPCNT', 'SSE4_2', 'SSE4_1', 'SSSE3'])
  .map(name => `-${name}`);
/** All of the environment: it lies on the stack, and what lies behind it moves. */
const ENVIRONMENT = { LC_ALL: 'C', PATH: process.env.PATH, GLIBC_TUNABLES: `glibc.cpu.hwcaps=${NO_VARIANTS}` };

/** What is compiled with and counted with: other versions give other counts. */
export function tools() {
  const first = (program, ...argv) => spawnSync(program, argv, { encoding: 'utf8' }).stdout?.split('\n')[0] ?? '';
  const musl = spawnSync('dpkg-query', ['-W', '-f', `\${Version}`, 'musl-dev'], { encoding: 'utf8' }).stdout ?? '';
  const glibc = process.report.getReport().header.glibcVersionRuntime;
  return [first('cc', '--version'), `glibc ${glibc}`, `musl ${musl}`, first('valgrind', '--version')].join(', ');
}

/** Of a processor of its own, too: that of cachegrind would have this machine's caches. */
const CACHES = ['--cache-sim=yes', '--I1=32768,8,64', '--D1=32768,8,64', '--LL=8388608,16,64'];

/** Starts a program under callgrind; `counts` waits for its end, and gives what was counted. */
function begin(own, argv, { how = [], input } = {}) {
  const file = join(own, `counts${Math.random()}`);
  const child = spawn('valgrind', ['-q', '--tool=callgrind', `--callgrind-out-file=${file}`, ...how, ...argv], {
    env: ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.on('data', data => {
    told += data;
  });
  child.stdin.end(input);
  return {
    child,
    async counts() {
      if (child.exitCode === null) await once(child, 'exit');
      if (child.exitCode !== 0) throw new Error(`${argv.join(' ')} ended with ${child.exitCode}: ${told}`);
      const text = readFileSync(file, 'utf8');
      const [names, numbers] = ['events', 'totals'].map(key =>
        new RegExp(`^${key}: (.*)$`, 'm').exec(text)[1].trim().split(' '),
      );
      return Object.fromEntries(names.map((name, i) => [name, Number(numbers[i] ?? 0)]));
    },
  };
}

const count = (own, argv, options) => begin(own, argv, options).counts();

/** The part of a program that says itself where to count. */
const PART = ['--instr-atstart=no', '--collect-atstart=no', ...CACHES];

/** Compiles everything, and returns the paths. */
function compile(into) {
  const objects = at('../build');
  const receive = join(objects, 'receive/receive.o');
  if (!existsSync(receive)) throw new Error('no objects of the addon: npm run build');
  const [lib, own] = [join(into, 'lib'), join(into, 'receive.o')];
  make('.', lib, 'lib');
  const shown = ['drain', 'keep_house'].map(name => `--globalize-symbol=${name}`);
  const done = spawnSync('objcopy', [...shown, '--redefine-sym', 'pthread_create=no_thread', receive, own]);
  if (done.status !== 0) throw new Error(String(done.stderr));
  const others = readdirSync(objects, { recursive: true })
    .filter(name => name.endsWith('.o') && name !== 'receive/receive.o')
    // Those in C, and not the tests' in other folders of build/.
    .filter(name => existsSync(at(`../c/${name.replace(/o$/, 'c')}`)))
    .map(name => join(objects, name));
  // Of these what is needed: some call what only the addon has.
  const archive = join(into, 'others.a');
  if (spawnSync('ar', ['rcs', archive, ...others]).status !== 0) throw new Error('no archive of the addon: ar failed');
  const more = [own, archive, `-L${lib}`, `-Wl,-rpath,${lib}`, '-lbeoboard', '-lpthread', '-ldl', '-lm'];
  const programs = { counted: compileOne(into, 'counted', { flags: ['-O2', '-g'], more }) };
  for (const [room, ...names] of [
    ['sender', 'beoboard-send'],
    ['mon', 'beoboard-mon'],
    ['gate', 'beoboard-gate'],
    ['verbs', 'beoboard-check', 'beoboard-nodes'],
  ]) {
    make(room, join(into, room), 'CC=musl-gcc');
    for (const name of names) programs[name] = join(into, room, name);
  }
  return programs;
}

/** A board of live nodes, kept alive. */
async function hold(own, program, nodes) {
  const board = join(own, `board${nodes}`);
  const child = spawn(program, ['hold', board, String(nodes)], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return { board, close: () => end(child) };
}

const range = number => Array.from({ length: number }, (_, i) => i);
const four = i => String(i).padStart(4, '0');

const small = root => unpack(parseArchive(textOf('vm', 'tree.txt')), root);

/**
 * Machines to be reported: a folder with proc/ and sys/. Its numbers have to move before the next report, on a busy
 * machine too, so intervals are long.
 */
const MACHINES = {
  '2 CPUs': { interval: '1s', make: small },
  '512 CPUs': { interval: '1s', make: root => unpack(parseArchive(textOf('cpus-512', 'tree.txt')), root) },
  '4,000 interfaces': {
    interval: '1s',
    make: root => {
      small(root);
      const line = i =>
        `w${four(i)}: 1${four(i)}1000 3${four(i)} 0 0 0 0 0 0 2${four(i)}2000 4${four(i)} 0 0 0 0 0 0\n`;
      appendFileSync(join(root, 'proc/net/dev'), range(4000).map(line).join(''));
      for (const i of range(4000)) {
        const leaves = {
          type: 1,
          flags: '0x1003',
          ifindex: 10 + i,
          mtu: 1500,
          operstate: 'up',
          carrier: 1,
          speed: 10000,
        };
        const folder = join(root, 'sys/class/net', `w${four(i)}`);
        mkdirSync(folder);
        for (const [leaf, value] of Object.entries(leaves)) writeFileSync(join(folder, leaf), `${value}\n`);
      }
    },
  },
  '8,000 disks': {
    interval: '1s',
    make: root => {
      small(root);
      const line = i =>
        ` ${8 + (i >> 8)} ${i & 255} sd${four(i)} 9${four(i)} 12 7${four(i)} 40 8${four(i)} 30 6${four(i)} 50 0 60 90\n`;
      appendFileSync(join(root, 'proc/diskstats'), range(8000).map(line).join(''));
      for (const i of range(8000)) {
        for (const part of ['device', 'slaves'])
          mkdirSync(join(root, 'sys/block', `sd${four(i)}`, part), { recursive: true });
        writeFileSync(join(root, 'sys/block', `sd${four(i)}`, 'size'), '1000000\n');
      }
    },
  },
};

/**
 * The texts of a machine in which numbers move, a tick later each time it is called. They keep their lengths and are
 * never cut meanwhile: whoever reads too early finds a mixture and no less.
 */
function clockwork(root) {
  const texts = ['proc/stat', 'proc/diskstats', 'proc/net/dev'].map(path => join(root, path));
  const next = n => (/^99/.test(n) ? n : String(Number(n) + 1 + (Number(n) % 7)));
  return () => {
    for (const path of texts) {
      const now = readFileSync(path, 'latin1').replace(/(?<= )[1-9]\d{3,}(?=[ \n])/g, next);
      writeFileSync(path, now, { encoding: 'latin1', flag: 'r+' });
    }
  };
}

/** What so many reports of a machine count, and how many there were. */
async function reports(own, programs, root, interval, wanted) {
  const move = clockwork(root);
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const to = ['--to', `127.0.0.1:${socket.address().port}`, '--name', 'node1', '--interval', interval];
  const from = ['--proc', join(root, 'proc'), '--sys', join(root, 'sys')];
  // Without the slow side, which goes by seconds.
  const how = ['--collect-atstart=no', '--toggle-collect=send_report'];
  const run = begin(own, [programs['beoboard-send'], ...to, ...from], { how });
  let heard = 0;
  socket.on('message', () => {
    if (++heard === wanted) run.child.kill('SIGTERM');
    else move();
  });
  const { Ir } = await run.counts();
  // The goodbye.
  while (heard < wanted + 1) await once(socket, 'message');
  socket.close();
  return { Ir, heard };
}

export async function bench({ say }) {
  if (!isInstalled('valgrind', 'valgrind', say) || !isInstalled('musl-gcc', 'musl-tools', say)) return [];
  // On the disk: a board of 100,000 nodes, and thousands of devices, would be much of a test's shared memory.
  const own = mkdtempSync(join(tmpdir(), 'beoboard-bench.'));
  const programs = compile(own);
  const rows = [];
  const row = (figure, unit, value, more) => rows.push({ figure, unit, samples: [value], digits: 5, ...more });
  /** Rows of what was counted; `local`: it depends on the machine, and no test holds it. */
  const tell = (figure, counts, times, more) => row(figure, 'instructions', counts.Ir / times, more);
  /** The same, and data that are not in caches, which is most of what it costs. */
  const tellMisses = (figure, counts, times) => {
    tell(figure, counts, times);
    row(`${figure}, not in 32 KiB`, 'misses', (counts.D1mr + counts.D1mw) / times, { local: true });
    row(`${figure}, not in 8 MiB`, 'misses', (counts.DLmr + counts.DLmw) / times, { local: true });
  };

  const BATCH = 64;
  const part = (...argv) => count(own, [programs.counted, ...argv.map(String)], { how: PART });
  const receiving = async (what, nodes, times, ...how) => {
    const board = join(own, 'received');
    const counts = await part(what, board, nodes, times, ...how);
    for (const name of readdirSync(own).filter(name => name.startsWith('received'))) rmSync(join(own, name));
    return counts;
  };
  say('reports received');
  tellMisses('report received, 1,000 nodes', await receiving('receive', 1000, 128, 'none'), 128 * BATCH);
  tellMisses('report received, 100,000 nodes', await receiving('receive', 100_000, 128, 'none'), 128 * BATCH);
  for (const [how, words] of [
    ['cluster', "the cluster's key"],
    ['node', "nodes' own keys"],
    ['ring', "nodes' own keys, two keys of the cluster"],
  ])
    tell(`report received, 1,000 nodes, ${words}`, await receiving('receive', 1000, 16, how), 16 * BATCH);
  tell('HMAC of a report', await part('hmac', '-', 100), 100);
  tell('drain of nothing', await receiving('tick', 4, 1000), 1000, { local: true });
  tell('drain of one report, 4 nodes', await receiving('single', 4, 1000), 1000, { local: true });
  tell("receiver's housekeeping of a second, 4 nodes", await receiving('house', 4, 100), 100, { local: true });

  say('looks at a board');
  const [small, large] = [await hold(own, programs.counted, 1000), await hold(own, programs.counted, 3000)];
  for (const [look, words] of [
    ['state', 'libbeoboard: state of a node'],
    ['tally', 'libbeoboard: states counted, a node'],
    ['read', 'libbeoboard: a node read alone'],
    ['read_all', 'libbeoboard: a node read with all'],
    ['states', 'addon: state of a node in a snapshot of states'],
    ['snapshot', 'addon: a node in a snapshot'],
    ['sweep', "relay's sweep: a node that has changed"],
    ['quiet', "relay's sweep: a node that has not"],
  ])
    (look === 'snapshot' || look === 'read_all' ? tellMisses : tell)(words, await part(look, small.board, 5), 5000);
  const verb = async (name, board, ...argv) => (await count(own, [programs[name], '--board', board, ...argv])).Ir;
  for (const [name, ...argv] of [
    ['beoboard-check'],
    ['beoboard-nodes', '--state', 'live'],
    ['beoboard-nodes', '--state', 'silent'],
  ]) {
    const [few, many] = [await verb(name, small.board, ...argv), await verb(name, large.board, ...argv)];
    row(`${[name, ...argv].join(' ')}: a node`, 'instructions', (many - few) / 2000);
  }
  row(
    'beoboard-gate, 64 nodes: whole process',
    'instructions',
    await verb('beoboard-gate', small.board, '--nodes', 'node[000001-000064]'),
  );
  await small.close();
  await large.close();

  say('reports sent, and samples');
  const sending = async ([machine, { make, interval }]) => {
    const root = join(own, machine);
    make(root);
    const few = await reports(own, programs, root, interval, 3);
    const many = await reports(own, programs, root, interval, 9);
    return [machine, (many.Ir - few.Ir) / (many.heard - few.heard)];
  };
  for (const [machine, instructions] of await Promise.all(Object.entries(MACHINES).map(sending)))
    row(`report sent, ${machine}`, 'instructions', instructions);
  const root = join(own, '2 CPUs');
  const argv = ['--stdio', '--most', '100000', '--name', 'node1'];
  const from = ['--proc', join(root, 'proc'), '--sys', join(root, 'sys')];
  const samples = async number =>
    (await count(own, [programs['beoboard-mon'], ...argv, ...from], { input: 'S\n'.repeat(number) })).Ir;
  row('sample of beoboard-mon, 2 CPUs', 'instructions', ((await samples(41)) - (await samples(1))) / 40);
  rmSync(own, { recursive: true });
  return rows;
}
