// Starts `beoboard VERB` as users do, or a sender in its place, and ends it with the test. No test of its own.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ended, follow } from './children.js';
import { ROOT, type Teardown } from './places.js';
import { awaited } from './until.js';

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
  const running = runningOf(t, child, argv);
  // The message that our own programs send over the channel of fork().
  if (other)
    child.stderr?.on('data', () => {
      const [, reporting] = /: ready: .* to (.*)\n/.exec(running.output().stderr) ?? [];
      if (reporting !== undefined) child.emit('message', { reporting });
    });
  return running;
}

/** The same of a child that was started with `argv`. */
export function runningOf(t: Teardown, child: ChildProcess, argv: readonly string[]): Running {
  const said = follow(child, t);
  const message = once(child, 'message').then(([message]) => message as { listening?: string[]; reporting?: string });
  const ready = awaited(`beoboard ${argv[0]} is ready`, message, { of: child });
  ready.catch(() => undefined);
  return { child, ready, output: () => ({ stdout: said.stdout, stderr: said.stderr }), exit: said.exit };
}

/** Room for 1,024 nodes, if an option asks for no other: by default a board has 35 MiB, half of a container's memory. */
export const roomIn = (options: readonly string[]): string[] =>
  options.includes('--capacity') ? [] : ['--capacity', '1024'];

/** Starts a receiver on a free port of 127.0.0.1; returns the port as well. */
export async function startReceiver(
  t: Teardown,
  board: string,
  more: string[] = [],
): Promise<Running & { port: number }> {
  // A node that says so stays live for the whole of a test, also without keys.
  const longest = more.includes('--longest-interval') ? [] : ['--longest-interval', '10m'];
  const fixed = ['receive', '--board', board, '--listen', '127.0.0.1:0'];
  const running = start(t, [...fixed, ...roomIn(more), ...longest, ...more]);
  const { listening } = await running.ready;
  return { ...running, port: Number(listening?.[0]?.split(':').at(-1)) };
}

/** Runs `beoboard argv` to its end, and kills it if it has none. */
export function run(argv: string[], env: Record<string, string> = {}) {
  const [program, ...args] = commandOf(argv);
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const end = awaited(`beoboard ${argv.join(' ')} has ended`, ended(child));
  return end.finally(() => child.kill('SIGKILL'));
}
