// Programs that tests start: what they print, and how they end. No test of its own.

import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Teardown } from './places.js';
import { startedAs } from './started.js';
import { awaited } from './until.js';

/** What a program has printed so far, and its end. */
export interface Followed {
  stdout: string;
  stderr: string;
  /** Both, as they came. */
  all: string;
  readonly exit: Promise<number | string>;
}

/** The exit code, or the signal that ended it, when all of its output has come. */
const closed = (child: ChildProcess) =>
  once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);

const TELLING = ['SIGTERM', 'SIGINT', 'SIGKILL'];

/** The same of a program that has to end when it is told to. */
function exitOf(child: ChildProcess, end: Promise<number | string>): Promise<number | string> {
  const exit = new Promise<number | string>((resolve, reject) => {
    end.then(resolve, reject);
    const kill = child.kill.bind(child);
    child.kill = (signal = 'SIGTERM') => {
      if (TELLING.includes(String(signal)))
        awaited(`it has ended after ${signal}: ${child.spawnargs.join(' ')}`, end).catch(reject);
      return kill(signal);
    };
  });
  // Not everybody asks.
  exit.catch(() => undefined);
  return exit;
}

function endedWith(t: Teardown, child: ChildProcess): Promise<number | string> {
  const end = closed(child);
  const exit = exitOf(child, end);
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await end;
  });
  return exit;
}

function willLast(child: ChildProcess): void {
  const started = startedAs(child);
  if (started !== undefined) started.isLasting = true;
}

/**
 * Ends a program that lasts with the test; gives its exit code, or the signal that ended it, and fails if it was told to
 * end and does not.
 */
export function endWith(t: Teardown, child: ChildProcess): Promise<number | string> {
  willLast(child);
  return endedWith(t, child);
}

type Stream = 'stdout' | 'stderr';

/** What each of our daemons says of itself, and after that it lasts. */
const READY = /^beoboard[ -][^:]*: ready: /m;

/** Keeps what a program prints, by default on both streams; with a test, the program is ended with that. */
export function follow(child: ChildProcess, t?: Teardown, streams: readonly Stream[] = ['stdout', 'stderr']): Followed {
  const exit = t === undefined ? closed(child) : endedWith(t, child);
  const followed = { stdout: '', stderr: '', all: '', exit };
  const started = startedAs(child);
  if (started !== undefined) started.said = () => followed.all;
  for (const name of streams) {
    const utf8 = new TextDecoder();
    child[name]?.on('data', (data: Buffer) => {
      const text = utf8.decode(data, { stream: true });
      followed[name] += text;
      followed.all += text;
      if (name === 'stderr' && READY.test(text)) willLast(child);
    });
  }
  return followed;
}

/** Runs a command to its end, and returns its stdout. Throws with its output if it fails. */
export function must(
  command: string,
  argv: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; input?: string } = {},
): string {
  const { status, error, stdout, stderr } = spawnSync(command, argv, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...options,
  });
  if (status !== 0) throw new Error(`${command} ${argv.join(' ')}: ${error ?? ''}${stdout}${stderr}`);
  return stdout;
}

/** What a program that was started prints until its end. */
export async function ended(child: ChildProcess): Promise<{ code: number | string; stdout: string; stderr: string }> {
  const followed = follow(child);
  const code = await followed.exit;
  return { code, stdout: followed.stdout, stderr: followed.stderr };
}
