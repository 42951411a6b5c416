// Says what a script is doing: one line a step, and on a terminal for how long already. Steps go to stderr, because
// stdout has results. Plain JavaScript without dependencies, because it runs before there are any.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

let ticking;
// What a closed terminal does not take is not needed.
process.stderr.on('error', () => undefined);

/** Whether stderr is a terminal, and we are in its foreground (isInForeground of src/text/foreground.ts says how it is known). */
function hasTerminal() {
  if (!process.stderr.isTTY) return false;
  const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'latin1').replace(/.*\)./s, '').split(' ');
  return foreground === '-1' || foreground === group;
}

/** Shows a line that the next one replaces; only on a terminal. */
export function show(line) {
  if (hasTerminal()) process.stderr.write(`\r\x1b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
}

/** Removes that line. */
export const clear = () => show('');

/** Begins a step; on a terminal its line shows the seconds until `end` is called. */
export function begin(name, what) {
  end();
  if (!hasTerminal()) return void process.stderr.write(`${name}: ${what} …\n`);
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

/** The commands that run, and the signal that ends them and this process. */
const running = new Set();
let ending;
const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

function stop() {
  for (const { pid } of running)
    try {
      process.kill(-pid, 'SIGTERM');
    } catch {
      // It has just ended.
    }
}

function stopBy(signal) {
  ending = signal;
  stop();
}

process.on('exit', stop);

/** While commands run (from `on` to `off`), a signal ends first them, and then this process. */
function guard(how) {
  for (const signal of ENDS) process[how](signal, stopBy);
}

/**
 * Runs a command to its end; returns its exit code (undefined if it could not be started), its stdout, and all its
 * output. It is a process group of its own, which SIGTERM ends as a whole: make removes what is half made.
 */
export function finished(command, args, options = {}) {
  return new Promise(resolve => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options, detached: true });
    let [stdout, output] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', text => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', text => {
      output += text;
    });
    child.once('error', error =>
      resolve({ code: undefined, stdout, output: `${error}`, missing: error.code === 'ENOENT' }),
    );
    if (child.pid === undefined) return;
    if (running.size === 0) guard('on');
    running.add(child);
    child.once('close', (code, signal) => {
      running.delete(child);
      if (running.size === 0) guard('off');
      if (ending === undefined) return resolve({ code: code ?? signal, stdout, output, missing: false });
      if (running.size > 0) return;
      end();
      process.kill(process.pid, ending);
    });
  });
}
