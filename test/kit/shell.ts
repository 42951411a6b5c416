// An interactive shell with jobs on a terminal of its own, as a person has it: what is typed there, and what is shown.
// No test of its own.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endWith, follow } from './children.js';
import { lacks } from './lacking.js';
import { folder, type Teardown } from './places.js';
import { until } from './until.js';

/** Why there can be none here. */
export const NO_SHELL = lacks('bash bsdutils', 'bash', 'script');

interface Shell {
  /** All that was shown since it was typed last. */
  shown(): string;
  /** Types; a line ends with `\r`. */
  type(keys: string): void;
  /** Waits until what was shown since then matches. */
  shows(what: RegExp): Promise<RegExpExecArray>;
  /** Types a line, and waits for the next prompt; returns what the shell and its jobs have shown until then. */
  run(line: string): Promise<string>;
  /** Closes the window. */
  close(): void;
  /** The end of the terminal. */
  readonly exit: Promise<unknown>;
}

const PROMPT = '<ready>';

/** Starts it; the test ends it by closing its window. */
export async function onShell(t: Teardown, env: NodeJS.ProcessEnv = {}): Promise<Shell> {
  const home = folder(t);
  const inputrc = join(home, 'inputrc');
  writeFileSync(inputrc, 'set enable-bracketed-paste off\n');
  // A prompt that is not in the line that sets it.
  const rc = join(home, 'rc');
  writeFileSync(rc, `PS1='${PROMPT}'; unset HISTFILE; stty rows 40 columns 200\n`);
  const child = spawn('script', ['-qfec', `exec bash --noprofile --rcfile '${rc}' -i`, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '1', SHELL: '/bin/sh', INPUTRC: inputrc, ...env },
  });
  const exit = endWith(t, child);
  const said = follow(child, undefined, ['stdout']);
  child.stdin.on('error', () => undefined);
  let from = 0;
  const shown = () => said.stdout.slice(from);
  const shell: Shell = {
    shown,
    exit,
    type(keys) {
      from = said.stdout.length;
      child.stdin.write(keys);
    },
    shows: what =>
      until(`the shell shows ${what}`, () => what.exec(shown()) ?? undefined).catch(error => {
        throw new Error(`${(error as Error).message}; it shows\n${shown()}`);
      }),
    async run(line) {
      shell.type(`${line}\r`);
      await shell.shows(new RegExp(`\n[\\s\\S]*${PROMPT}`));
      return shown();
    },
    close: () => void child.kill('SIGKILL'),
  };
  await shell.shows(new RegExp(PROMPT));
  return shell;
}
