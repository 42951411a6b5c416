// What scripts say while they work: on a terminal a line that counts seconds and is gone at the end, elsewhere a line
// for each step.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { shellWord } from '../../src/text/text.js';
import { ROOT } from '../kit/places.js';
import { NO_SHELL, onShell } from '../kit/shell.js';
import { NO_TERMINAL, onTerminal } from '../kit/terminal.js';

/** Two steps, each until it is told to go on, and a result. */
const STEPS = `const { begin, end } = await import(${JSON.stringify(join(ROOT, 'scripts', 'progress.mjs'))});
  const told = () => process.stderr.isTTY && new Promise(go => process.once('SIGUSR2', go));
  begin('build', 'compiling the addon'); await told();
  begin('build', 'checking types'); await told();
  end(); console.log('the result');`;
const USR2 = 12;
const COMMAND = [process.execPath, '--input-type=module', '-e', STEPS.replace(/\n\s*/g, ' ')];

t.test('on a terminal', { skip: NO_TERMINAL ?? false }, async t => {
  const terminal = await onTerminal(t, COMMAND);
  await terminal.shows(/^build: compiling the addon … 0 s$/);
  await terminal.shows(/^build: compiling the addon … 1 s$/);
  terminal.send({ signal: USR2 });
  await terminal.shows(/^build: checking types … 0 s$/m);
  terminal.send({ signal: USR2 });
  t.match(await terminal.exit, { exit: 0 });
  t.match(
    terminal.screen.lines().filter(line => line !== ''),
    ['the result'],
    'nothing else is left',
  );
});

t.test('on a narrow terminal the line is cut, so that it can be replaced', { skip: NO_TERMINAL ?? false }, async t => {
  for (const [columns, shown] of [
    [20, 'build: compiling th'],
    [0, 'build: compiling the addon … 0 s'],
  ] as const) {
    const terminal = await onTerminal(t, COMMAND, { columns });
    await terminal.shows(new RegExp(`^${shown}$`));
  }
});

t.test('in the background of a shell, as elsewhere', { skip: NO_SHELL }, async t => {
  const shell = await onShell(t);
  shell.type(`${COMMAND.map(shellWord).join(' ')} &\r`);
  await shell.shows(/build: compiling the addon …\r\n/);
  t.notMatch(shell.shown(), /\x1b\[K/);
});

t.test('elsewhere', async t => {
  const [program = '', ...argv] = COMMAND;
  const { stdout, stderr } = spawnSync(program, argv, { input: '', encoding: 'utf8' });
  t.equal(stdout, 'the result\n');
  t.equal(stderr, 'build: compiling the addon …\nbuild: checking types …\n');
});
