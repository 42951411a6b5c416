// Shared by the tests: reports made by hand, separate boards, starting and ending programs. No test of its own.

import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Encodable, encode, REPORT_BYTES } from '../src/layout/codec.js';
import { clusterId } from '../src/layout/identity.js';
import { constants } from '../src/layout/layout.gen.js';
import { type Rates, rates } from '../src/shm/rates.js';

/** The part of tap that a test needs: something to do at its end. */
export interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** The part of tap that a file needs to run itself again. */
interface Spawning {
  pass(what: string, extra: { skip: string }): unknown;
  spawn(command: string, args: string[], options: { env: NodeJS.ProcessEnv }, name: string): unknown;
}

/** The root of the project. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const PROGRAM = join(ROOT, 'dist', 'bin', 'beoboard.cjs');
/** A program to run instead of `beoboard send` in the tests of a process: the sender in C. Empty: none. */
export const SENDER = process.env.BEOBOARD_TEST_SENDER ?? '';

/** The C files of the board's writer in c/, as listed for make. */
export function writerSources(): string[] {
  const [, names = ''] = /^WRITER = (.*)$/m.exec(readFileSync(join(ROOT, 'c', 'writer.mk'), 'utf8')) ?? [];
  return names.split(' ').map(name => `${name}.c`);
}

/** The command that runs `beoboard argv`. */
export function commandOf(
  argv: readonly string[],
  node: readonly string[] = [],
  sender = SENDER,
): [program: string, ...args: string[]] {
  if (sender !== '' && argv[0] === 'send') return [sender, ...argv.slice(1)];
  return [process.execPath, ...node, PROGRAM, ...argv];
}

/** A report that a receiver accepts, with the given values. */
export function makeReport(values: Encodable<'report'> = {}, cluster = ''): Uint8Array {
  const bytes = new Uint8Array(REPORT_BYTES);
  encode('report', new DataView(bytes.buffer), 0, {
    magic: constants.stat.magic,
    version: constants.stat.version,
    length: REPORT_BYTES,
    cluster_id: clusterId(cluster),
    boot_id: 1n,
    interval_ms: 1000,
    t_real_ns: 1_700_000_000_000_000_000n,
    t_boot_ns: 100_000_000_000n,
    start_boot_ns: 50_000_000_000n,
    hostname: 'node1',
    ...values,
  });
  return bytes;
}

/** The rates between two reports, each in its own bytes. */
export function ratesOf(before: Uint8Array | undefined, after: Uint8Array | undefined): Rates | undefined {
  const both = new Uint8Array(2 * REPORT_BYTES);
  if (before !== undefined) both.set(before);
  if (after !== undefined) both.set(after, REPORT_BYTES);
  return rates(new DataView(both.buffer), before && 0, after && REPORT_BYTES);
}

const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/**
 * A folder that is removed at the end of the test; by default in shared memory, of which containers may have only 64
 * MB.
 */
export function folder(t: Teardown, within = MEMORY): string {
  const path = mkdtempSync(join(within, `beoboard-test.${process.pid}.`));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A path for a board of this test only. */
export function boardPath(t: Teardown): string {
  return join(folder(t), 'board');
}

export interface Running {
  child: ChildProcess;
  /** The message that it sent when it was ready. */
  ready: Promise<{ listening?: string[]; reporting?: string }>;
  /** All its output so far. */
  output(): { stdout: string; stderr: string };
  /** The exit code, or the signal that ended it. */
  exit: Promise<number | string>;
}

/** Starts `beoboard argv` as a child process that reports when it is ready; it is ended with the test. */
export function start(t: Teardown, argv: string[]): Running {
  const [program, ...args] = commandOf(argv);
  const other = program === SENDER;
  const child = other
    ? spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    : fork(PROGRAM, argv, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (data: Buffer) => {
    stdout += data.toString();
  });
  child.stderr?.on('data', (data: Buffer) => {
    stderr += data.toString();
    const [, reporting] = /: ready: .* to (.*)\n/.exec(stderr) ?? [];
    // The message that our own programs send over the channel of fork().
    if (other && reporting !== undefined) child.emit('message', { reporting });
  });
  const exit = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  const ready = Promise.race([
    once(child, 'message').then(([message]) => message as { listening?: string[]; reporting?: string }),
    exit.then(code => {
      throw new Error(`beoboard ${argv[0]} ended with ${code} before it was ready: ${stderr}`);
    }),
  ]);
  ready.catch(() => undefined);
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exit;
  });
  return { child, ready, output: () => ({ stdout, stderr }), exit };
}

/** Ports of 127.0.0.1 that are free now, for foreign programs that cannot choose one themselves. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map(server => once(server, 'listening')));
  const ports = servers.map(server => (server.address() as { port: number }).port);
  await Promise.all(servers.map(server => once(server.close(), 'close')));
  return ports;
}

/** Starts a receiver on a free port of 127.0.0.1; returns the port as well. */
export async function startReceiver(
  t: Teardown,
  board: string,
  more: string[] = [],
): Promise<Running & { port: number }> {
  const running = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '2048', ...more]);
  const { listening } = await running.ready;
  return { ...running, port: Number(listening?.[0]?.split(':').at(-1)) };
}

/** Runs `beoboard argv` to its end. */
export async function run(
  argv: string[],
  env: Record<string, string> = {},
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  const [program, ...args] = commandOf(argv);
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data: Buffer) => {
    stdout += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code: code ?? signal ?? '', stdout, stderr };
}

/**
 * Waits until something that another process does is true: checks it every so many ms, and gives up only after a
 * minute.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  everyMs = 10,
): Promise<T> {
  const end = performance.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`waited a minute in vain until ${what}`);
    await new Promise(resolve => setTimeout(resolve, everyMs));
  }
}

/** Whether this process was started by `inOwnNetwork`. */
export const INSIDE = process.env.BEOBOARD_TEST_NAMESPACE === 'yes';

/**
 * Runs a test file again, as one test, in its own network namespace, where all ports are free and nothing leaves this
 * machine; INSIDE is true there. `setup` is a shell command that prepares the namespace; in a new one no interface is
 * up. Without namespaces this is a skip with the reason, and in CI a failure.
 */
export function inOwnNetwork(t: Spawning, setup: string, file: string, name = 'in a network of its own'): void {
  const tried = spawnSync('unshare', ['-n', 'sh', '-c', setup], { encoding: 'utf8' });
  if (tried.status !== 0 && process.env.CI !== 'true')
    return void t.pass('skipped', { skip: `no network namespace here: ${tried.stderr || tried.error}` });
  const command = ['-n', 'sh', '-c', `${setup} && exec "$0" "$1"`, process.execPath, fileURLToPath(file)];
  t.spawn('unshare', command, { env: { ...process.env, BEOBOARD_TEST_NAMESPACE: 'yes' } }, name);
}
