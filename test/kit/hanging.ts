// Shared by the tests of hangs: a master that only listens, a sender in its own environment, and two simulations of
// things that hang: statfs by preloading, and a file system. No test of its own.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { bitNames, decodeReport, type Report } from '../../src/layout/codec.js';
import { follow } from './children.js';
import { testProgram } from './compiling.js';
import { folder } from './places.js';
import { commandOf } from './program.js';
import { until } from './until.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** A report with its bits by name. */
export interface Heard extends Report {
  sets: string[];
  marks: string[];
}

/** A master that stores the reports it receives. */
export class Hearer {
  readonly reports: Heard[] = [];
  readonly raw: Buffer[] = [];
  #isOpen = true;

  private constructor(readonly socket: Socket) {
    socket.on('message', message => {
      this.raw.push(message);
      const report = decodeReport(new DataView(message.buffer, message.byteOffset, message.length), 0);
      this.reports.push({ ...report, sets: bitNames('valid', report.valid), marks: bitNames('flags', report.flags) });
    });
  }

  static async open(t: Teardown, address = '127.0.0.1', port = 0): Promise<Hearer> {
    const socket = createSocket('udp4');
    socket.bind(port, address);
    await once(socket, 'listening');
    const hearer = new Hearer(socket);
    t.teardown(() => hearer.close());
    return hearer;
  }

  async close(): Promise<void> {
    if (this.#isOpen) await new Promise<void>(resolve => this.socket.close(resolve));
    this.#isOpen = false;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  get last(): Heard {
    const last = this.reports.at(-1);
    if (last === undefined) throw new Error('nothing was heard yet');
    return last;
  }

  /** The next report for which the condition is true. */
  async next(what: string, isSo: (report: Heard) => boolean): Promise<Heard> {
    const from = this.reports.length;
    return until(what, () => this.reports.slice(from).find(isSo));
  }

  /** The next so many reports. */
  async more(count: number): Promise<Heard[]> {
    const from = this.reports.length;
    // One by one: all together may take longer than anything is waited for.
    for (let n = 1; n <= count; n++)
      await until(`${n} of ${count} more reports were heard`, () => this.reports.length >= from + n);
    return this.reports.slice(from);
  }
}

export interface Surroundings {
  /** The command that runs the program. */
  prefix?: string[];
  /** Options for Node. */
  node?: string[];
  env?: Record<string, string>;
  /** A program to run instead of `beoboard send`. */
  sender?: string | undefined;
  stdio?: ('ignore' | 'pipe' | number)[];
}

/** Starts `beoboard argv`; a `prefix` must exec the program, without another process. Ended with the test. */
export function startIn(
  t: Teardown,
  { prefix = [], node = [], env = {}, sender, stdio = ['ignore', 'pipe', 'pipe'] }: Surroundings,
  argv: string[],
) {
  const [command = '', ...rest] = [...prefix, ...commandOf(argv, node, sender)];
  const child: ChildProcess = spawn(command, rest, { env: { ...process.env, ...env }, stdio });
  // 'close' comes after 'exit', when the last of its output has arrived.
  const exit = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  const said = follow(child, t, ['stderr']);
  return { child, exit, closed: said.exit, pid: child.pid as number, lines: () => said.stderr.trimEnd().split('\n') };
}

/** The children of a process. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(child => statOf(child)?.parent === pid);
}

/** A process's state (D: stuck in the kernel, Z: zombie) and its parent; undefined if it has ended. */
export function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const [state = '', parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

export const isAlive = (pid: number) => !['Z', 'X', undefined].includes(statOf(pid)?.state);

/** Makes statfs of a path hang, and opening it in another thread than the first. */
export class HangingCalls {
  readonly env: Record<string, string>;
  readonly #fifo: string;
  #open = -1;

  constructor(t: Teardown, path: string) {
    this.#fifo = join(folder(t), 'hang');
    this.env = { LD_PRELOAD: testProgram('test/hangcalls.so'), HANG_PATH: path, HANG_FIFO: this.#fifo };
    t.teardown(() => this.release());
    t.teardown(() => this.#close());
  }

  hang(): void {
    this.#close();
    if (!existsSync(this.#fifo)) execFileSync('mkfifo', [this.#fifo]);
  }

  /** Releases the call that waits, and one that is just about to wait. */
  release(): void {
    if (!existsSync(this.#fifo)) return;
    this.#open = openSync(this.#fifo, constants.O_RDWR | constants.O_NONBLOCK);
    unlinkSync(this.#fifo);
  }

  #close(): void {
    if (this.#open !== -1) closeSync(this.#open);
    this.#open = -1;
  }
}

/** The call in which a file system hangs. */
export type Moment = 'look-up' | 'open' | 'read';

/** Why we cannot mount our own file system here; undefined if we can. */
export function noFileSystem(): string | undefined {
  const tried = spawnSync(
    'unshare',
    ['-m', 'sh', '-c', 'mount -t tmpfs none /run && test -w /dev/fuse && : <>/dev/fuse'],
    { encoding: 'utf8' },
  );
  return tried.status === 0
    ? undefined
    : `needs root, mount namespaces and /dev/fuse. ${tried.stderr || (tried.error ?? '')}`.trim();
}

/** A file system with the files of `shows` that hangs on request, in a sender's own mount namespace. */
export class HangingFolder {
  readonly shows: string;
  /** The command prefix of a program that is to see it. */
  readonly prefix: string[];
  readonly #control: number;

  /**
   * @param at where it is mounted; the rest of /run is empty
   * @param script run before the mount
   */
  constructor(t: Teardown, at: string, script = '') {
    const own = folder(t);
    this.shows = join(own, 'shows');
    mkdirSync(this.shows);
    const control = join(own, 'control');
    execFileSync('mkfifo', [control]);
    // The file system ends when this descriptor is closed, also after a crash of this process.
    this.#control = openSync(control, constants.O_RDWR | constants.O_NONBLOCK);
    t.teardown(() => closeSync(this.#control));
    this.prefix = [...inNamespace(`mkdir -p ${at}\n${script}`), testProgram('test/hangfs'), at, this.shows, control];
  }

  write(files: Record<string, string>): void {
    writeTree(this.shows, files);
  }

  hang(at: Moment): void {
    writeSync(this.#control, at.charAt(0));
  }

  release(): void {
    writeSync(this.#control, 'g');
  }
}

/** The command prefix that gives a program its own, empty /run, and runs a script before it. */
export function inNamespace(script: string): string[] {
  return ['unshare', '-m', 'sh', '-ec', `mount -t tmpfs none /run\n${script}\nexec "$@"`, 'sh'];
}

export function writeTree(root: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
