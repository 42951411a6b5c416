// All parts on one machine: a receiver, a sender, a simulated cluster with jobs, a web page and a live status, as children
// of this process, on their own board, which is removed at the end. Does none of the work itself, and leaves nothing
// behind, also when its terminal is closed.

import { type ChildProcess, fork, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { defaultNodeName } from '../options/hostname.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { isHungUp, isRunning, onStdoutGone } from '../service/process.js';
import { writeDuration } from '../text/durations.js';
import { attempt, Failure } from '../text/failure.js';
import { hasScreen } from '../text/output.js';
import { shellWord } from '../text/text.js';

const SHM = '/dev/shm';

const uid = process.getuid?.() ?? 0;

/** Containers may share this memory, and what is the number of a process here is that of another one there. */
const pidNamespace = () => /\d+/.exec(attempt(() => readlinkSync('/proc/self/ns/pid')) ?? '')?.[0] ?? '';

/** Removes the folders of this user whose demos have ended. Nobody else can replace them: the memory is sticky. */
function removeDead(named: string): void {
  for (const name of readdirSync(SHM)) {
    const pid = name.startsWith(named) ? Number.parseInt(name.slice(named.length), 10) : Number.NaN;
    // If another process has the number of a dead demo by now, its folder is removed once that has ended.
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    // Another demo may be faster.
    attempt(() => {
      const path = join(SHM, name);
      const status = lstatSync(path);
      if (status.isDirectory() && status.uid === uid) rmSync(path, { recursive: true, force: true });
    });
  }
}

/** Makes this demo's folder. However this process ends, except by kill -9, the folder is removed. */
function demoFolder(): string {
  const named = `beoboard-demo.${uid}.${pidNamespace()}.`;
  removeDead(named);
  const path = mkdtempSync(join(SHM, `${named}${process.pid}.`));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Folders of the path that only npm's own children have; and those that depend on where a shell is. */
const NOT_OF_SHELLS = /\/node_modules\/\.bin$|^[^/]|^$/;

function isFound(name: string, file: string): boolean {
  const folders = (process.env.PATH ?? '').split(':').filter(folder => !NOT_OF_SHELLS.test(folder));
  const found = folders.map(folder => join(folder, name)).find(existsSync);
  return found !== undefined && realpathSync(found) === realpathSync(file);
}

/** The command that runs this program: its name if it is installed, else its file, which says that Node.js runs it. */
function commandOf(program: string): string {
  if (isFound('beoboard', program)) return 'beoboard';
  const { execPath } = process;
  return [...(isFound('node', execPath) ? [] : [execPath]), program].map(shellWord).join(' ');
}

export const verb = defineVerb({
  name: 'demo',
  options: ['alone', 'silent-from', 'silent-for', 'for', 'interval'],
  examples: ['beoboard demo', 'beoboard demo --alone --for 10s'],
  notes: `It shows this machine beside 480 simulated nodes, sim-r01n01 to sim-r10n48, with jobs, odd nodes and trouble. After half a minute rack
sim-r07 falls silent, and after two it is back. --alone leaves them out. The first line of the screen is the address of a page for browsers,
and below it is status --watch: q quits, ? lists all keys. If stdout is not a terminal, or in the background of one (&, timeout), it prints
that address, the status once, three commands to go on with, and then, as events does, a line when something changes. --for, Ctrl-C, SIGTERM
and the end of its terminal stop it, too; after Ctrl-Z its daemons go on. It uses its own folder under /dev/shm and removes it at the end;
what one left that was killed (kill -9) is removed by the next one.`,
});

/** This program. */
const PROGRAM = process.argv[1] as string;
const PATIENCE_MS = 5000;
/** Keyboard and screen are those of the demo. */
const HERE: StdioOptions = ['inherit', 'inherit', 'inherit', 'ipc'];
/** How often to look whether the terminal is still there: not everybody is told by SIGHUP. */
const LOOK_MS = 500;
/** How many characters of the daemons' output are kept while the status has the screen, and shown afterwards. */
const KEPT_MOST = 4000;

/** The children in the order of their start. They end in reverse order, so that the receiver gets the goodbye. */
class ChildProcesses {
  readonly #children: ChildProcess[] = [];
  #ending = false;
  /** What children wrote while another one had the screen. */
  #kept = '';
  #isKeeping = false;

  /** `onEnd` is called when a child ends that was not asked to. */
  constructor(readonly onEnd: (verb: string, code: number | null) => void) {}

  /** Starts a daemon, and shows what it writes. In a group of its own: signals of the terminal are for this process. */
  start(argv: string[], env: Record<string, string> = {}): ChildProcess {
    const child = this.#fork(argv, ['ignore', 'ignore', 'pipe', 'ipc'], { env, detached: true });
    child.stderr?.setEncoding('utf8').on('data', this.#tell);
    return child;
  }

  startReader(argv: string[], env: Record<string, string> = {}): void {
    this.#fork(argv, HERE, { env });
  }

  /** Starts a reader that has the whole screen: what the daemons print meanwhile is shown after it has ended. */
  startScreen(argv: string[], env: Record<string, string>): void {
    this.#isKeeping = true;
    this.startReader(argv, env);
  }

  /** Runs one to its end. */
  async runReader(argv: string[]): Promise<void> {
    const child = this.#fork(argv, HERE, { mayEnd: true });
    await once(child, 'close');
  }

  #fork(argv: string[], stdio: StdioOptions, { env = {}, detached = false, mayEnd = false } = {}): ChildProcess {
    if (this.#ending) throw new Error('the demo is ending');
    const child = fork(PROGRAM, argv, { stdio, detached, env: { ...process.env, ...env } });
    // By then all its output has been read.
    child.once('close', code => {
      if (!this.#ending && !(mayEnd && code === 0)) this.onEnd(argv[0] ?? '', code);
    });
    this.#children.push(child);
    return child;
  }

  readonly #tell = (text: string): void => {
    if (this.#isKeeping) this.#kept = `${this.#kept}${text}`.slice(-KEPT_MOST);
    else process.stderr.write(text);
  };

  async end(): Promise<void> {
    this.#ending = true;
    const [receiver] = this.#children;
    for (const child of [...this.#children].reverse()) {
      let last = '';
      // When the receiver ends cleanly it says where its board stays, but this board is removed.
      if (child === receiver)
        child.stderr?.off('data', this.#tell).on('data', (text: string) => {
          last += text;
        });
      if (child.exitCode === null && child.signalCode === null) {
        const closed = once(child, 'close');
        child.kill('SIGTERM');
        // If it is stopped, it ends only when it goes on.
        child.kill('SIGCONT');
        const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
        await closed;
        clearTimeout(patience);
      }
      this.#isKeeping = false;
      this.#tell(this.#kept + (child.exitCode === 0 ? '' : last));
      this.#kept = '';
    }
  }
}

/** The address that a daemon reports when it is ready. */
async function listening(daemon: ChildProcess): Promise<string> {
  const [ready] = (await once(daemon, 'message')) as [{ listening: [string] }];
  return ready.listening[0];
}

/** Names of nodes and of the board say what is simulated, wherever they are shown. */
const CLUSTER = ['--cluster', 'demo-with-480-simulated-nodes'];
/** The jobs fill nine racks; the first of them have odd nodes. A rack without these dies, and comes back. */
const SIMULATED = [
  ...['--nodes', 'sim-r[01-10]n[01-48]', '--jobs', '40', '--odd', 'link,gpu_gone', '--full', 'sim-r10n33'],
  ...['--silent', 'sim-r07n[01-48]'],
];
/** What to type next; of the simulated cluster, and of this machine alone. */
const NEXT = ["status --by '/^sim-r[0-9]+/'", 'show sim-r01n11', 'nodes --where unhealthy'];
const NEXT_ALONE = ['status --json', 'metrics', 'xml'];

type DemoOptions = ValuesOf<typeof verb>;

/**
 * Starts the simulated cluster, and the reader of its jobs, which `slurm` says where to leave. `isKnown`: all nodes have
 * reported, and the jobs have been read.
 */
async function simulate(
  family: ChildProcesses,
  to: string,
  folder: string,
  slurm: string[],
  { silentFrom, silentFor }: DemoOptions,
): Promise<{ isKnown: Promise<unknown> }> {
  const [board, jobs] = ['board', 'jobs'].map(name => join(folder, name)) as [string, string];
  const rack = ['--silent-from', `${silentFrom}ms`, '--silent-for', `${silentFor}ms`];
  const load = family.start(['load', '--to', to, ...CLUSTER, ...SIMULATED, ...rack, '--jobs-file', jobs], {
    BEOBOARD_BESIDE: defaultNodeName(),
  });
  const haveReported = new Promise<void>(resolve =>
    load.on('message', message => Object.hasOwn(message as object, 'reported') && resolve()),
  );
  await once(load, 'message');
  const source = ['--scheduler', `file:${jobs}`, '--interval', '10s'];
  const reader = family.start(['scheduler', ...source, '--board', board, ...slurm]);
  return { isKnown: Promise.all([haveReported, once(reader, 'message')]) };
}

/** Starts everything in its order; done when there is something to see. */
async function show(family: ChildProcesses, folder: string, options: DemoOptions): Promise<void> {
  const { alone, interval } = options;
  const listen = ['--listen', '127.0.0.1:0'];
  const board = ['--board', join(folder, 'board')];
  const [cluster, capacity] = alone ? [[], '16'] : [CLUSTER, '1024'];
  const slurm = alone ? [] : ['--slurm-dir', join(folder, 'slurm')];
  const receiver = family.start(['receive', ...listen, ...board, '--capacity', capacity, ...cluster]);
  const to = await listening(receiver);
  const sender = family.start(['send', '--to', to, '--interval', `${interval}ms`, ...cluster]);
  const web = family.start(['web', ...listen, ...board, ...slurm, ...(alone ? [] : ['--show-jobs'])]);
  const simulation = alone ? undefined : simulate(family, to, folder, slurm, options);
  const [page, simulated] = await Promise.all([listening(web), simulation, once(sender, 'message')]);
  if (hasScreen())
    return family.startScreen(['status', '--watch', ...board, ...slurm], { BEOBOARD_PAGE: `http://${page}/` });
  await simulated?.isKnown;
  process.stdout.write(`in a browser: http://${page}/\n`);
  await family.runReader(['status', ...board, ...slurm]);
  const next = (alone ? NEXT_ALONE : NEXT).map(words => [commandOf(PROGRAM), words, ...board.map(shellWord)].join(' '));
  const [from, lasts] = [options.silentFrom, options.silentFor].map(writeDuration);
  const soon = alone ? '' : `rack sim-r07 falls silent ${from} after the start, for ${lasts}\n\n`;
  process.stdout.write(`\nnext, in a shell while this runs:\n${next.join('\n')}\n\n${soon}`);
  family.startReader(['events', ...board]);
}

const ENDS = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP'] as const;

export async function main(argv: string[]): Promise<number> {
  const { values, given } = parseVerb(verb, argv);
  const ofRack = values.alone && ['silent-from', 'silent-for'].find(name => given.has(name));
  if (ofRack) throw new UsageError(`--${ofRack} is for a simulated rack; leave it or --alone out`);
  let end: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    [end, fail] = [resolve, reject];
  });
  ended.catch(() => undefined); // It may end before anybody waits for it.
  for (const signal of ENDS) process.on(signal, end);
  // A reader that uses the terminal from the background is stopped by these signals, which its whole process group
  // gets. This process ignores them, so that it can end the reader.
  for (const signal of ['SIGTTIN', 'SIGTTOU'] as const) process.on(signal, () => undefined);
  setInterval(() => isHungUp() && end(), LOOK_MS).unref();
  // A terminal that is gone takes no more lines, which shall not keep the children from ending.
  onStdoutGone(end);
  process.stderr.on('error', () => undefined);
  const folder = demoFolder();
  const family = new ChildProcesses((name, code) => {
    // A user has pressed q, or the reader of the output has ended (head, less): this is not an error.
    if ((name === 'status' || name === 'events') && code === 0) end();
    else fail(new Failure(`beoboard ${name} has ended by itself; see above`, 1));
  });
  try {
    await Promise.race([show(family, folder, values), ended]);
    // The time counts from when there is something to see.
    if (values.for !== undefined) setTimeout(end, values.for).unref();
    await ended;
    return 0;
  } finally {
    await family.end();
  }
}
