// Says what a script is doing: one line a step, and on a terminal for how long already. Steps go to stderr, because
// stdout has results. Plain JavaScript without dependencies, because it runs before there are any.

import { spawn } from 'node:child_process';

const terminal = process.stderr.isTTY === true;
let ticking;

/** Shows a line that the next one replaces; only on a terminal. */
export function show(line) {
  if (terminal) process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns ?? 80) - 1)}`);
}

/** Removes that line. */
export const clear = () => show('');

/** Begins a step; on a terminal its line shows the seconds until `end` is called. */
export function begin(name, what) {
  end();
  if (!terminal) return void process.stderr.write(`${name}: ${what} …\n`);
  const since = performance.now();
  const tick = () => show(`${name}: ${what} … ${Math.floor((performance.now() - since) / 1000)} s`);
  tick();
  ticking = setInterval(tick, 1000);
}

/** Ends the current step. */
export function end() {
  if (ticking === undefined) return;
  clearInterval(ticking);
  ticking = undefined;
  clear();
}

/** Runs a command to its end; returns its exit code (undefined if it could not be started) and all its output. */
export function finished(command, args, options = {}) {
  return new Promise(resolve => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text));
    child.once('error', error => resolve({ code: undefined, output: `${error}`, missing: error.code === 'ENOENT' }));
    child.once('close', (code, signal) => resolve({ code: code ?? signal, output, missing: false }));
  });
}
