// Starts `beoboard VERB` as users do, or a sender in its place, and ends it with the test. No test of its own.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT, type Teardown } from './places.js';

export const PROGRAM = join(ROOT, 'dist', 'bin', 'beoboard.cjs');

/** A program to run instead of `beoboard send` in the tests of a process: the sender in C. Empty: none. */
export const SENDER = process.env.BEOBOARD_TEST_SENDER ?? '';

/** The command that runs `beoboard argv`. */
export function commandOf(
  argv: readonly string[],
  node: readonly string[] = [],
  sender = SENDER,
): [program: string, ...args: string[]] {
  if (sender !== '' && argv[0] === 'send') return [sender, ...argv.slice(1)];
  return [process.execPath, ...node, PROGRAM, ...argv];
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

/** Starts a receiver on a free port of 127.0.0.1; returns the port as well. */
export async function startReceiver(
  t: Teardown,
  board: string,
  more: string[] = [],
): Promise<Running & { port: number }> {
  // A node that says so stays live for the whole of a test, also without keys.
  const longest = more.includes('--longest-interval') ? [] : ['--longest-interval', '10m'];
  const fixed = ['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '2048'];
  const running = start(t, [...fixed, ...longest, ...more]);
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
