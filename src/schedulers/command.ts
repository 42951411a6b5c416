// Runs one of a scheduler's commands with limits: one that takes too long, or writes too much, is ended with all its
// children. Knows nothing of the questions and orders.

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { NoAnswer } from '../schedulerfile/scheduler.js';
import { formatDuration } from '../text/durations.js';
import { attempt } from '../text/failure.js';
import { brief, ending } from '../text/text.js';

/** Slurm's own timeout for a controller that hangs is 10 s, and a minute if there is no configuration. */
const LIMIT_MS = 5000;
/** 10,000 nodes are 6 MB. */
const MOST_BYTES = 256 << 20;
const ERROR_MOST = 201;
const ENDED = 'the program is ending';

/** Replacements for tests. */
export interface CallOptions {
  /** The folder of the commands; undefined: PATH is used. */
  readonly folder?: string | undefined;
  readonly limitMs?: number;
  readonly stop?: AbortSignal;
}

/** The output of a command that has ended. `code` is null if a signal ended it. */
export interface CommandOutput {
  readonly code: number | null;
  readonly stdout: string;
  /** The end of its stderr. */
  readonly stderr: string;
}

/** Where the commands find their configuration. */
const CONFIGURATION = [
  ...['SLURM_CONF', 'SLURM_CONF_SERVER'],
  ...['SGE_ROOT', 'SGE_CELL', 'SGE_QMASTER_PORT', 'SGE_EXECD_PORT', 'SGE_CLUSTER_NAME'],
];

/** The part of our environment that the commands get: nothing that changes their output. */
function environment(more: Record<string, string>): Record<string, string> {
  const { PATH = '/usr/local/bin:/usr/bin:/bin' } = process.env;
  const own = CONFIGURATION.flatMap(name => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { PATH, ...Object.fromEntries(own), LC_ALL: 'C', TZ: 'UTC', SLURM_TIME_FORMAT: '%s', ...more };
}

/** Kills a process and all its children: it leads its own process group. */
function endGroup({ pid }: ChildProcess): void {
  // The process group may have ended by itself meanwhile.
  if (pid !== undefined) attempt(() => process.kill(-pid, 'SIGKILL'));
}

/** The message of a command in words: mostly the last line that it wrote. */
export function failureOf(name: string, { code, stderr }: CommandOutput): string {
  const said = stderr.trim().split('\n').at(-1) ?? '';
  const line = brief(said, ERROR_MOST);
  return line === '' ? `${name} ended with ${code ?? 'a signal'}` : line;
}

/**
 * Runs a command to its end, whatever its exit code is. `input`: what it is to read, which may come later than its
 * start. Rejects with NoAnswer if it does not get there.
 */
export function runCommand(
  name: string,
  argv: readonly string[],
  { folder, limitMs = LIMIT_MS, stop }: CallOptions,
  env: Record<string, string> = {},
  input?: Promise<string>,
): Promise<CommandOutput> {
  return new Promise((resolve, reject) => {
    if (stop?.aborted) return void reject(new NoAnswer(ENDED));
    const child = spawn(folder === undefined ? name : join(folder, name), argv, {
      detached: true,
      env: environment(env),
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
    // It may end without reading all of it.
    child.stdin?.on('error', () => undefined);
    void input?.then(text => child.stdin?.end(text));
    const pieces: Buffer[] = [];
    let [bytes, stderr] = [0, ''];
    let refused: string | undefined;
    const end = (why: string) => {
      refused ??= why;
      endGroup(child);
      // A process that left its group may still hold the pipes: we do not wait for it.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const limit = setTimeout(() => end(`${name} took longer than ${formatDuration(limitMs)}`), limitMs);
    const stopped = () => end(ENDED);
    stop?.addEventListener('abort', stopped, { once: true });
    child.stdout.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes > MOST_BYTES) end(`${name} said more than ${MOST_BYTES >> 20} MiB`);
      else pieces.push(piece);
    });
    child.stderr.on('data', (piece: Buffer) => {
      stderr = ending(stderr + piece.toString(), 4096);
    });
    const done = (settle: () => void) => {
      clearTimeout(limit);
      stop?.removeEventListener('abort', stopped);
      settle();
    };
    child.on('error', ({ code, message }: NodeJS.ErrnoException) =>
      done(() =>
        reject(new NoAnswer(code === 'ENOENT' ? `${name} was not found; give its folder by --slurm-bin` : message)),
      ),
    );
    child.on('close', code =>
      done(() => {
        if (refused !== undefined) reject(new NoAnswer(refused));
        else resolve({ code, stdout: Buffer.concat(pieces).toString('utf8'), stderr });
      }),
    );
  });
}

/** The output of a command that succeeds. Rejects with NoAnswer. */
export async function outputOf(
  name: string,
  argv: readonly string[],
  options: CallOptions,
  env: Record<string, string> = {},
): Promise<string> {
  const said = await runCommand(name, argv, options, env);
  if (said.code !== 0) throw new NoAnswer(failureOf(name, said));
  // Cut within a line, IDLE+DRAIN is IDLE. What ends with an element is judged by who reads it.
  if (!/^$|[\n>]$/.test(said.stdout.slice(-1))) throw new NoAnswer(`${name} ended in the middle of a line`);
  return said.stdout;
}
