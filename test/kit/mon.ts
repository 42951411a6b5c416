// Shared by the tests of beoboard-mon: the program, run once over stdin and stdout, or listening. No test of its own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { follow } from './children.js';
import { until } from './until.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** Sends it these words and then the end of its input; returns all its output. */
export function say(program: string, words: string, ...argv: string[]) {
  const [command = '', ...before] = program.split(' ');
  return spawnSync(command, [...before, '--stdio', ...argv], {
    input: Buffer.from(words, 'latin1'),
    encoding: 'latin1',
    timeout: 60_000,
  });
}

interface Mon {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  readonly exit: Promise<number | string>;
  stderr(): string;
}

/** Runs it on a free port of this machine until the test ends. */
export async function startMon(t: Teardown, program: string, ...argv: string[]): Promise<Mon> {
  const child = spawn(program, ['--listen', '127.0.0.1:0', ...argv], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = follow(child, t);
  const port = await until('it listens', () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`it has ended: ${said.stderr}`);
    return Number(/ answers at 127\.0\.0\.1:(\d+)/.exec(said.stderr)?.[1] ?? 0) || undefined;
  });
  return { child, pid: child.pid as number, port, exit: said.exit, stderr: () => said.stderr };
}

/** Values of a process in /proc: a field of `status`, and its share of memory in KiB. */
export const statusOf = (pid: number, key: string) =>
  new RegExp(`^${key}:[ \\t]*(.*?)[ \\t]*$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
export const pssOf = (pid: number) =>
  Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]);
