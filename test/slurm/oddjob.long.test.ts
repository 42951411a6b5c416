// A job of a real Slurm on eight nodes, whose senders read made trees of /proc and /sys: all are as busy, and after
// ten minutes one has a lower clock rate. The reader of Slurm marks it; `status`, the job's page and the journal tell it,
// and that it is over. Not part of `npm test`: some thirteen minutes.
//   npm run test:long -- slurm/oddjob

import { closeSync, constants, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readState } from '../../src/schedulerfile/statefile.js';
import { pause } from '../../src/service/pause.js';
import { boardPath, folder, type Teardown } from '../kit/places.js';
import { run, start, startReceiver } from '../kit/program.js';
import { nodeNames, Slurm, withSlurm } from '../kit/realslurm.js';
import { parseArchive, textOf, unpack } from '../kit/tree.js';
import { until } from '../kit/until.js';

t.setTimeout(1_200_000);

const LEARNING_S = 640;
/** Ticks, so many that their numbers do not get longer. */
const SINCE_BOOT = 200_000_000;
const [USUAL_KHZ, SLOW_KHZ] = [2_900_000, 1_900_000];

/** The /proc and /sys of a node with two CPUs that are busy for 97 % of the time. */
class Tree {
  readonly #root: string;

  constructor(t: Teardown, khz: number) {
    this.#root = folder(t);
    unpack(parseArchive(textOf('vm', 'tree.txt')), this.#root);
    this.clock(khz);
    const began = performance.now();
    const stat = join(this.#root, 'proc/stat');
    const rest = readFileSync(stat, 'utf8').replace(/^cpu.*\n/gm, '');
    const work = () => {
      const ticks = SINCE_BOOT + Math.round((performance.now() - began) / 10);
      const idle = Math.round(ticks * 0.03);
      const row = (name: string, cpus: number) => `${name} ${cpus * (ticks - idle)} 0 0 ${cpus * idle} 0 0 0 0 0 0\n`;
      this.#write('proc/stat', `${row('cpu ', 2)}${row('cpu0', 1)}${row('cpu1', 1)}${rest}`);
    };
    writeFileSync(stat, '');
    work();
    const timer = setInterval(work, 100);
    t.teardown(() => clearInterval(timer));
  }

  get options(): string[] {
    return ['--proc', join(this.#root, 'proc'), '--sys', join(this.#root, 'sys')];
  }

  clock(khz: number): void {
    for (const cpu of [0, 1]) {
      const path = `sys/devices/system/cpu/cpu${cpu}/cpufreq`;
      mkdirSync(join(this.#root, path), { recursive: true });
      this.#write(`${path}/scaling_cur_freq`, `${khz}\n`);
    }
  }

  /** In place and at once, as the kernel's: the sender holds files open. Of the same length as before. */
  #write(path: string, text: string): void {
    const fd = openSync(join(this.#root, path), constants.O_WRONLY | constants.O_CREAT);
    writeSync(fd, text, 0);
    closeSync(fd);
  }
}

const markIt = async (t: Test) => {
  const names = nodeNames(8);
  const slurm = await Slurm.start(t, { nodes: names });
  const at = folder(t);
  const [path, dir, runs] = ['slurm', 'journal', 'run'].map(name => join(at, name)) as [string, string, string];
  mkdirSync(runs);
  const board = boardPath(t);
  const { port } = await startReceiver(t, board);
  const [usual, slowed] = [new Tree(t, USUAL_KHZ), new Tree(t, USUAL_KHZ)];
  for (const name of names) {
    const { options } = name === 'node003' ? slowed : usual;
    await start(t, ['send', '--to', `127.0.0.1:${port}`, '--name', name, ...options]).ready;
  }
  process.env.SLURM_CONF = slurm.env.SLURM_CONF;
  t.teardown(() => delete process.env.SLURM_CONF);
  start(t, ['journal', '--board', board, '--journal-dir', dir, '--journal-run', runs, '--slurm-dir', path]);
  await start(t, ['slurm', '--slurm-dir', path, '--board', board, '--interval', '1s']).ready;
  const submitted = await slurm.run(
    'sbatch',
    '--parsable',
    '-N8',
    '--exclusive',
    '-o',
    '/dev/null',
    '--wrap',
    'sleep 3600',
  );
  t.equal(submitted.code, 0, submitted.stderr);
  const id = submitted.stdout.trim();

  const left = () => {
    const found = readState(path);
    return found.why === undefined ? found.state : undefined;
  };
  const odd = () => left()?.odd;
  const young = await until('the job is seen', () => odd()?.unjudged[id]);
  t.equal(young, 'young');
  // What it has in the first ten minutes would be its own.
  await pause(LEARNING_S * 1000, new AbortController().signal);
  t.same(odd()?.marks, [], 'all are alike');
  slowed.clock(SLOW_KHZ);
  const slowedMs = Date.now();
  const [mark] = await until(
    'the node is marked',
    () => {
      const { marks = [] } = odd() ?? {};
      return marks.length > 0 && marks;
    },
    200,
  );
  const markedMs = Date.now();
  t.comment(`marked ${((markedMs - slowedMs) / 1000).toFixed(1)} s after its clock fell`);
  t.match(mark, { job: id, node: 'node003', reading: 'mhz', value: 1900, peers: 7, lowest: 2900, highest: 2900 });
  t.equal(odd()?.marks.length, 1, 'and nothing else');

  const said = new RegExp(`node003: differs from the other 7 nodes of job ${id}: clock 1\\.9 GHz, others 2\\.9 GHz`);
  const flat = ({ stdout }: { stdout: string }) => stdout.replaceAll(/\s+/g, ' ');
  t.match(flat(await run(['status', '--board', board, '--slurm-dir', path])), said);
  const page = flat(await run(['jobs', id, '--board', board, '--slurm-dir', path]));
  t.match(page, said);
  t.match(page, /DIFFERS node003 live .* clock 1\.9 GHz, others 2\.9 GHz node001 live /);

  slowed.clock(USUAL_KHZ);
  await until('it differs no longer', () => odd()?.marks.length === 0, 200);
  t.comment(`over ${((Date.now() - markedMs) / 1000).toFixed(1)} s later`);
  const told = await until(
    'the journal has both',
    async () => {
      const { stdout } = await run(['events', '--since', '1h ago', '--kind', 'odd', '--json', '--journal-dir', dir]);
      return stdout.includes('"to":') && stdout;
    },
    500,
  );
  t.match(JSON.parse(told), { event: 'odd', nodes: 'node003', reading: 'mhz', value: 1900, jobs: [{ id }] });
};

withSlurm(t, import.meta.url, () => void t.test('the odd node of its job', markIt));
